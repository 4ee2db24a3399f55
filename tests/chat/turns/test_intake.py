"""A message is committed once, before anything else happens."""

import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Conversation, Message
from chat.turn import AcceptedTurn, AgentRun, TurnRejectedError
from chat.turns import intake
from chat.turns.finish import finish_turn

pytestmark = pytest.mark.django_db


def say(
    user: Any, text: str = "Hello", conversation: UUID | None = None, client_id: UUID | None = None
) -> AcceptedTurn:
    return intake.accept_message(user, client_id or uuid4(), conversation, text)


def finish(opened: AcceptedTurn, text: str = "Hello to you", **fields: Any) -> None:
    Message.objects.filter(pk=opened.answer.pk).update(text=text, status="complete", **fields)


def test_a_first_message_opens_a_conversation_with_a_title_and_an_empty_answer(alice: Any) -> None:
    opened = say(alice, "Where shall we go in June? I would like somewhere warm and by the sea, please")
    assert opened.created
    assert opened.conversation.title == "Where shall we go in June…"
    assert (opened.question.turn, opened.question.seq, opened.answer.turn, opened.answer.seq) == (1, 1, 1, 2)
    assert opened.answer.status == Message.Status.STREAMING
    assert Conversation.objects.get().active_leaf_id == opened.answer.pk


def test_the_next_message_follows_the_answer(alice: Any) -> None:
    first = say(alice)
    finish(first)
    second = say(alice, "And then?", first.conversation.pk)
    assert second.question.parent_id == first.answer.pk
    assert (second.question.turn, second.question.seq, second.answer.seq) == (2, 3, 4)
    assert not second.created


def test_a_resend_with_the_same_client_id_changes_nothing(alice: Any) -> None:
    client_id = uuid4()
    first = say(alice, client_id=client_id)
    again = intake.accept_message(alice, client_id, None, "Hello")
    in_place = intake.accept_message(alice, client_id, first.conversation.pk, "Hello")
    assert again.is_duplicate
    assert in_place.is_duplicate
    assert again.answer.pk == in_place.answer.pk == first.answer.pk
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 2)


def test_a_conversation_writes_one_answer_at_a_time(alice: Any) -> None:
    first = say(alice)
    with pytest.raises(TurnRejectedError) as refused:
        say(alice, "Quick!", first.conversation.pk)
    assert refused.value.code == "busy"
    assert Message.objects.count() == 2


def test_an_answer_whose_process_died_does_not_keep_its_conversation_busy(alice: Any) -> None:
    first = say(alice)
    Message.objects.filter(pk=first.answer.pk).update(process_key=12345, text="Half an ans")
    second = say(alice, "Still there?", first.conversation.pk)
    first.answer.refresh_from_db()
    assert first.answer.status == Message.Status.INTERRUPTED
    assert first.answer.text == "Half an ans"
    assert first.answer.event_data["stop_reason"] == "process_ended"
    assert second.question.parent_id == first.answer.pk


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty"), (" \n\t", "empty"), ("a\x00b", "bad_text"), ("x" * 400_001, "too_long")],
)
def test_text_that_cannot_be_stored_is_refused_with_a_sentence(alice: Any, text: str, code: str) -> None:
    with pytest.raises(TurnRejectedError) as refused:
        say(alice, text)
    assert refused.value.code == code
    assert refused.value.sentence.endswith(".")
    assert not Message.objects.exists()


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_any_text_is_stored_or_refused(text: str) -> None:
    if "\x00" in text or not text.strip():
        with pytest.raises(TurnRejectedError, match=r"NUL|message is empty"):
            intake.validate_text(text)
    else:
        assert intake.validate_text(text).encode("utf-8")


def test_bob_cannot_write_into_or_retry_in_alices_conversation(alice: Any, bob: Any) -> None:
    opened = say(alice)
    finish(opened)
    tries: list[Callable[[], AcceptedTurn]] = [
        lambda: say(bob, "Hi", opened.conversation.pk),
        lambda: intake.accept_retry(bob, uuid4(), opened.answer.pk),
        lambda: intake.accept_continue(bob, uuid4(), opened.answer.pk),
    ]
    for attempt in tries:
        with pytest.raises(TurnRejectedError) as refused:
            attempt()
        assert refused.value.code == "not_found"
    assert Message.objects.count() == 2


def test_the_same_client_id_of_two_people_is_two_messages(alice: Any, bob: Any) -> None:
    client_id = uuid4()
    assert say(alice, client_id=client_id).question.pk != say(bob, client_id=client_id).question.pk


def test_a_retry_is_a_new_branch_of_the_same_turn(alice: Any) -> None:
    first = say(alice)
    finish(first)
    again = intake.accept_retry(alice, uuid4(), first.answer.pk)
    assert again.question.pk == first.question.pk
    assert again.answer.parent_id == first.question.pk
    assert (again.answer.turn, again.answer.seq) == (1, 3)
    assert Conversation.objects.get().active_leaf_id == again.answer.pk
    assert Message.objects.filter(pk=first.answer.pk).exists()


def test_going_on_is_a_turn_that_names_the_answer_it_continues(alice: Any) -> None:
    first = say(alice)
    finish(first)
    more = intake.accept_continue(alice, uuid4(), first.answer.pk)
    assert more.question.event_data == {"continues": first.answer.pk}
    assert more.question.turn == 2


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_ends_during_an_edit_waits_for_it_without_a_deadlock(alice: Any) -> None:
    opened = say(alice)

    def end() -> None:
        try:
            finish_turn(opened, "Hello to you", None, AgentRun(), time.monotonic())
        finally:
            connection.close()

    ending = threading.Thread(target=end)
    with transaction.atomic(), connection.cursor() as cursor:
        Conversation.objects.select_for_update().get(pk=opened.conversation.pk)  # as an edit begins
        ending.start()
        while not cursor.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall():
            time.sleep(0.01)
        Message.objects.filter(pk=opened.answer.pk).update(event_data={"passed_over": True})  # what an edit leaves
    ending.join()
    opened.answer.refresh_from_db()
    assert (opened.answer.status, opened.answer.text) == ("complete", "Hello to you")


@pytest.mark.django_db(transaction=True)
def test_the_same_frame_from_two_sockets_at_once_is_one_message(alice: Any) -> None:
    client_id, together, results = uuid4(), threading.Barrier(2), []

    def send() -> None:
        together.wait()
        try:
            results.append(intake.accept_message(alice, client_id, None, "Hello"))
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(opened.is_duplicate for opened in results) == [False, True]
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 2)
