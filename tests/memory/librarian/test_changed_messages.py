"""What the user wrote earlier and a new message changes: it is marked, and recalled as what no longer holds."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, Message
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.index.indexer import embed_pending, index_conversation, reindex
from memory.librarian.changes import learned
from memory.librarian.run import run_extraction
from memory.models import MessageChange
from memory.retrieval.recall import AlreadyInPrompt, retrieve
from memory.updates.pairs import Pair, Update
from tests.memory.librarian.test_run import add, ask, say

PLAN = "boots for Iceland in June, leather or not? three weeks on foot"
OFF = "The boots for Iceland in June have to wait, my passport has run out. How do I cancel a ferry?"
OTHER = "My tomatoes have brown spots, and the Iceland poppies too."


@pytest.fixture(autouse=True)
def _reads_what_is_called_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The network, as far as these messages go."""

    def read(pair: Pair) -> Update:
        is_off = "have to wait" in pair.message and pair.fact == PLAN
        return Update("ended", 0.9, doubted=0.9) if is_off else Update("holds", 0.9, doubted=0.05)

    monkeypatch.setattr(learned, "read", read)


def told(user: User, *texts: str) -> Conversation:
    """A conversation that is indexed and read."""
    conversation = say(user, *texts)
    index_conversation(conversation.pk)
    while embed_pending():
        pass
    run_extraction(ask(conversation).pk)
    return conversation


def changed(user: User) -> dict[str, str]:
    """The passages that no longer hold, and what says so."""
    rows = MessageChange.objects.for_user(user).select_related("message", "changed_by")
    return {row.message.text: row.changed_by.text for row in rows}


def qualifier_of(user: User, text: str) -> str:
    found = retrieve(user, "Which boots for Iceland?", now=timezone.now() + timedelta(days=1))
    return next(item.qualifier for item in found.kept if item.text == text)


@pytest.mark.django_db
def test_a_message_of_another_conversation_is_recalled_with_what_changed_it(alice: User, bob: User) -> None:
    told(bob, PLAN)
    told(alice, PLAN, OTHER)
    told(alice, OFF)
    newer = Message.objects.get(user=alice, text=OFF)
    assert changed(alice) == {PLAN: OFF}
    assert qualifier_of(alice, PLAN) == f"perhaps changed by message:{newer.pk}"
    assert changed(bob) == {}


@pytest.mark.django_db
def test_so_is_one_of_the_same_conversation_and_never_a_later_one(alice: User) -> None:
    told(alice, OFF, PLAN)
    assert changed(alice) == {}
    Conversation.objects.for_user(alice).delete()
    told(alice, PLAN, OTHER, OFF)
    assert changed(alice) == {PLAN: OFF}


@pytest.mark.django_db
def test_what_mends_the_message_before_changes_it_however_far(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "read", lambda pair: Update("replaced", 0.9, "430", "340", 0.9))
    budget = "Flower budget for the Brightwells is 430 all in, one arch and eight table pieces."
    told(alice, OTHER, budget, "typo up there, it's 340")
    assert changed(alice) == {budget: "typo up there, it's 340"}


@pytest.mark.django_db
def test_it_holds_again_when_the_newer_message_is_gone(alice: User) -> None:
    told(alice, PLAN)
    newer = told(alice, OFF)
    newer.deleted_at = timezone.now()
    newer.save()
    assert qualifier_of(alice, PLAN) == "current", "its text isn't shown either"
    Conversation.objects.filter(pk=newer.pk).delete()
    assert changed(alice) == {}


@pytest.mark.django_db
def test_a_search_without_the_newer_message_does_not_show_it(alice: User) -> None:
    told(alice, PLAN)
    told(alice, OFF)
    newer = Message.objects.get(user=alice, text=OFF)
    now, without = timezone.now() + timedelta(days=1), [f"message:{newer.pk}"]
    found = retrieve(alice, "Which boots for Iceland?", now=now, exclude_refs=without)
    assert {item.qualifier for item in found.kept if item.text == PLAN} == {"current"}


@pytest.mark.django_db
def test_beside_the_newer_message_in_the_window_the_older_one_is_not_current(alice: User) -> None:
    told(alice, PLAN)
    told(alice, OFF)
    newer = Message.objects.get(user=alice, text=OFF)
    now, said = timezone.now() + timedelta(days=1), frozenset({f"message:{newer.pk}"})
    found = retrieve(alice, "Which boots for Iceland?", now=now, exclude_refs=said, told=AlreadyInPrompt(said=said))
    assert [item.qualifier[:10] for item in found.kept if item.text == PLAN] == ["perhaps ch"]


@pytest.mark.django_db
def test_it_outlives_a_new_index_of_the_message(alice: User) -> None:
    talk = told(alice, PLAN)
    told(alice, OFF)
    reindex(talk.pk, [Message.objects.get(conversation=talk, text=PLAN).pk])
    assert qualifier_of(alice, PLAN).startswith("perhaps changed")


@pytest.mark.django_db
def test_what_is_forgotten_of_the_newer_message_changes_nothing(alice: User) -> None:
    told(alice, PLAN)
    newer = told(alice, OFF)
    said = Message.objects.get(conversation=newer, text=OFF)
    forget(alice, Target(What.TOPIC, refs=(f"message:{said.pk}:0",)), by=alice)
    assert Message.objects.get(pk=said.pk).text != OFF
    assert changed(alice) == {}


@pytest.mark.django_db
def test_a_role_play_changes_nothing(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    told(alice, PLAN)
    monkeypatch.setattr("memory.librarian.run._made_up_in", lambda reading: [reading.utterances[0].message_id])
    told(alice, OFF)
    assert changed(alice) == {}


@pytest.mark.django_db
def test_news_of_someone_else_and_the_same_again_change_nothing(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    told(alice, PLAN)
    monkeypatch.setattr(learned, "read", lambda pair: Update("ended", 0.9, doubted=0.9))
    told(alice, "She has to leave her boots for Iceland at home in June.")
    assert changed(alice) == {}
    monkeypatch.setattr(learned, "read", lambda pair: Update("replaced", 0.9, "leather", "leather", 0.9))
    told(alice, "My boots for Iceland in June are leather, three weeks on foot.")
    assert changed(alice) == {}


@pytest.mark.django_db
def test_what_only_asks_is_not_read(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(pair: Pair) -> Update:
        read.append(pair.message)
        return Update("holds", 0.9)

    monkeypatch.setattr(learned, "read", noted)
    conversation = told(alice, PLAN)
    add(conversation, "Which boots, then?")
    run_extraction(ask(conversation, 3).pk)
    assert read == []
