"""When the librarian gets a conversation: not while someone is writing in it, nor an answer that is half written."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from chat.ingest import librarian_triggers
from chat.models import Conversation, Message
from chat.turns.intake import accept_message
from memory.models import LibrarianRun
from tests.chat.long_talk import answered, begin, numbered

pytestmark = pytest.mark.django_db

Status = Conversation.Status


def quiet(user: User) -> Conversation:
    """Two turns, an hour ago."""
    conversation = begin(user, numbered(2))
    conversation.last_activity_at = timezone.now() - timedelta(hours=1)
    conversation.save()
    return conversation


def ranges() -> list[tuple[str, int, int]]:
    return list(LibrarianRun.objects.order_by("pk").values_list("trigger", "first_seq", "last_seq"))


def comes_before_the_lock(monkeypatch: pytest.MonkeyPatch, deed: Any) -> None:
    """Commit `deed(conversation's id)` after the conversation was chosen and before it is locked."""
    lock = librarian_triggers._lock_conversation

    def overtaken(pk: UUID) -> Conversation | None:
        deed(pk)
        return lock(pk)

    monkeypatch.setattr(librarian_triggers, "_lock_conversation", overtaken)


def test_a_quiet_conversation_is_paused_and_read_once(alice: User) -> None:
    conversation = quiet(alice)
    assert (librarian_triggers.pause_idle(), librarian_triggers.pause_idle()) == (1, 0)
    conversation.refresh_from_db()
    assert (conversation.status, conversation.librarian_watermark) == (Status.PAUSED, 4)
    assert ranges() == [("idle", 1, 4)]


def test_one_that_is_spoken_in_again_at_that_moment_goes_on(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = quiet(alice)
    comes_before_the_lock(monkeypatch, lambda pk: accept_message(alice, uuid4(), pk, "I am back."))
    assert librarian_triggers.pause_idle() == 0
    conversation.refresh_from_db()
    assert (conversation.status, conversation.librarian_watermark) == (Status.ACTIVE, 0)
    assert ranges() == []


def test_one_that_was_ended_or_deleted_at_that_moment_stays_as_it_is(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, deleted = quiet(alice), quiet(alice)

    def decided(pk: UUID) -> None:
        Conversation.objects.filter(pk=ended.pk).update(status=Status.ENDED)
        Conversation.objects.filter(pk=deleted.pk).delete()

    comes_before_the_lock(monkeypatch, decided)
    assert librarian_triggers.pause_idle() == 0
    ended.refresh_from_db()
    assert ended.status == Status.ENDED
    assert ranges() == []


def test_one_that_is_still_answered_when_another_is_begun_is_read_later(alice: User) -> None:
    conversation, new = quiet(alice), begin(alice)
    opened = accept_message(alice, uuid4(), conversation.pk, "And now?")
    librarian_triggers.leave_others(alice, new.pk)
    conversation.refresh_from_db()
    assert (conversation.status, ranges()) == (Status.ACTIVE, [])
    answered(opened)
    librarian_triggers.leave_others(alice, new.pk)
    assert ranges() == [("left", 1, 6)]


def test_what_is_left_for_a_new_one_is_looked_at_again_when_it_is_locked(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation, new = quiet(alice), begin(alice)
    comes_before_the_lock(monkeypatch, lambda pk: accept_message(alice, uuid4(), conversation.pk, "And now?"))
    librarian_triggers.leave_others(alice, new.pk)
    conversation.refresh_from_db()
    assert (conversation.status, conversation.librarian_watermark, ranges()) == (Status.ACTIVE, 0, [])


def test_an_answer_that_is_being_written_is_not_handed_over_with_the_end(alice: User) -> None:
    conversation = quiet(alice)
    opened = accept_message(alice, uuid4(), conversation.pk, "My name is Alex.")
    assert opened.answer.status == Message.Status.STREAMING
    librarian_triggers.end(conversation)
    conversation.refresh_from_db()
    assert (conversation.status, conversation.librarian_watermark) == (Status.ENDED, opened.answer.seq - 1)
    assert ranges() == [("ended", 1, opened.question.seq)]
    answered(opened)
    librarian_triggers.end(conversation)
    assert ranges()[1:] == [("ended", opened.answer.seq, opened.answer.seq)]
