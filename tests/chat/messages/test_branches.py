"""Reworded questions and repeated answers stay next to the earlier ones: kept, shown, and switched between."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from chat.ingest import librarian_triggers
from chat.ingest.source import ChatSource
from chat.messages.branches import PASSED_OVER, Link, newest_below, path_to, places
from chat.messages.history import active_path
from chat.models import Attachment, Conversation, Message
from chat.prompt.inputs import load_prompt_inputs
from chat.turn import AcceptedTurn, TurnRejectedError
from chat.turns import intake
from memory.index.indexer import index_conversation
from memory.models import Chunk, Fact, LibrarianRun
from tests.chat.conftest import Tabs, settled
from tests.chat.long_talk import answered, begin, fold, go_on, numbered, standing

pytestmark = pytest.mark.django_db
SignIn = Callable[[Any], Client]


def message_of(conversation: Conversation, turn: int, role: str = "user") -> Message:
    """The first message of this turn."""
    found: Message = Message.objects.filter(conversation=conversation, turn=turn, role=role).earliest("seq")
    return found


def edited(
    user: User, message: Message, text: str = "In other words?", answer: str = "Another answer."
) -> AcceptedTurn:
    opened = intake.accept_edit(user, uuid4(), message.pk, text)
    answered(opened, answer)
    return opened


def said(conversation: Conversation) -> list[str]:
    return [message.text for message in active_path(Conversation.objects.get(pk=conversation.pk))]


@pytest.fixture
def talk(alice: User) -> Conversation:
    """Three turns."""
    return begin(alice, numbered(3), index=True)


# Asking in other words ---------------------------------------------------------------------------------------------


def test_an_edited_message_is_a_sibling_and_the_old_branch_is_kept(alice: User, talk: Conversation) -> None:
    old = message_of(talk, 2)
    before = said(talk)
    opened = edited(alice, old)
    assert (opened.question.parent_id, opened.question.turn) == (old.parent_id, 2)
    assert said(talk) == [*before[:2], "In other words?", "Another answer."]
    assert Message.objects.filter(conversation=talk).count() == 8
    intake.follow_branch(alice, old.pk)
    assert said(talk) == before


def test_the_first_message_can_be_edited_and_its_title_goes_with_it(alice: User) -> None:
    first = intake.accept_message(alice, uuid4(), None, "Where is Lisbom?")
    answered(first)
    opened = edited(alice, first.question, "Where is Lisbon?")
    assert opened.question.parent_id is None
    assert Conversation.objects.get().title == "Where is Lisbon?"
    Conversation.objects.update(title="Towns")
    edited(alice, opened.question, "Where is Porto?")
    assert Conversation.objects.get().title == "Towns"


def test_the_same_edit_sent_twice_is_one(alice: User, talk: Conversation) -> None:
    client_id, old = uuid4(), message_of(talk, 3)
    first = intake.accept_edit(alice, client_id, old.pk, "In other words?")
    while_it_is_answered = intake.accept_edit(alice, client_id, old.pk, "In other words?")
    answered(first)
    later = intake.accept_edit(alice, client_id, old.pk, "In other words?")
    assert (first.is_duplicate, while_it_is_answered.is_duplicate, later.is_duplicate) == (False, True, True)
    assert {first.answer.pk} == {while_it_is_answered.answer.pk, later.answer.pk}
    assert Message.objects.filter(conversation=talk).count() == 8


def test_while_an_answer_is_written_nothing_is_edited_answered_again_or_turned_to(
    alice: User, talk: Conversation
) -> None:
    old, answer = message_of(talk, 2), message_of(talk, 1, "assistant")
    edited(alice, old)
    intake.accept_message(alice, uuid4(), talk.pk, "And now?")
    tries: list[Callable[[], object]] = [
        lambda: intake.accept_edit(alice, uuid4(), old.pk, "No"),
        lambda: intake.accept_retry(alice, uuid4(), answer.pk),
        lambda: intake.follow_branch(alice, old.pk),
    ]
    before = list(Message.objects.values_list("pk", "event_data"))
    for attempt in tries:
        with pytest.raises(TurnRejectedError) as refused:
            attempt()
        assert refused.value.code == "busy"
    assert list(Message.objects.values_list("pk", "event_data")) == before


def test_another_persons_messages_are_not_there(alice: User, bob: User, talk: Conversation, sign_in: SignIn) -> None:
    old = message_of(talk, 2)
    edited(alice, old)
    for attempt in (
        lambda: intake.accept_edit(bob, uuid4(), old.pk, "Mine now"),
        lambda: intake.follow_branch(bob, old.pk),
    ):
        with pytest.raises(TurnRejectedError) as refused:
            attempt()
        assert refused.value.code == "not_found"
    client = sign_in(bob)
    assert client.get(f"/m/{old.pk}/edit").status_code == 404
    assert client.post(f"/m/{old.pk}/follow").status_code == 404
    assert client.get(f"/m/{old.pk}").status_code == 404


def test_only_what_one_wrote_oneself_can_be_edited(alice: User, talk: Conversation) -> None:
    answer = message_of(talk, 1, "assistant")
    imported = message_of(talk, 2)
    Message.objects.filter(pk=imported.pk).update(author="Bob")
    for message in (answer, imported):
        with pytest.raises(TurnRejectedError) as refused:
            intake.accept_edit(alice, uuid4(), message.pk, "Mine now")
        assert refused.value.code == "not_yours"


def test_what_was_attached_goes_with_the_new_words_and_stays_with_the_old(alice: User, talk: Conversation) -> None:
    old = message_of(talk, 3)
    Attachment.objects.create(
        user=alice, message=old, number=1, kind="paste", name="notes", media_type="text/plain", size=2, content=b"hi",
        text="hi", content_hash="0" * 64,
    )  # fmt: skip
    opened = edited(alice, old)
    for message in (old, opened.question):
        assert [bytes(one.content) for one in Attachment.objects.filter(message=message)] == [b"hi"]


# Answering again ---------------------------------------------------------------------------------------------------


def test_an_older_answer_can_be_given_again_as_a_branch_from_there(alice: User, talk: Conversation) -> None:
    first = message_of(talk, 1, "assistant")
    again = intake.accept_retry(alice, uuid4(), first.pk)
    answered(again, "Given again.")
    assert said(talk) == ["Question number 1?", "Given again."]
    assert {pk: (one.number, one.count) for pk, one in places([first, again.answer]).items()} == {
        first.pk: (1, 2),
        again.answer.pk: (2, 2),
    }
    intake.follow_branch(alice, first.pk)
    assert len(said(talk)) == 6


def test_an_answer_that_is_only_tried_is_no_branch_until_it_is_kept(alice: User, talk: Conversation) -> None:
    first = message_of(talk, 3, "assistant")
    tried = Message.objects.create(
        user=alice, conversation=talk, seq=talk.next_seq, parent=first.parent, turn=3, role="assistant",
        event_type="assistant_response", text="Without it.", event_data={"without": ["fact:1"], "beside": first.pk},
    )  # fmt: skip
    Conversation.objects.filter(pk=talk.pk).update(next_seq=talk.next_seq + 1)
    assert places([first]) == {}
    with pytest.raises(TurnRejectedError):
        intake.follow_branch(alice, tried.pk)
    intake.choose_answer(alice, tried.pk)
    assert said(talk)[-1] == "Without it."
    assert places([first])[first.pk].next == tried.pk
    intake.follow_branch(alice, first.pk)
    assert said(talk)[-1] == "This is answer number 3."


# Turning to a branch -----------------------------------------------------------------------------------------------


def test_of_the_branches_below_a_message_the_newest_is_followed() -> None:
    links = {1: Link(None, 1, 1), 2: Link(1, 2, 1), 3: Link(2, 3, 2), 4: Link(2, 5, 2), 6: Link(3, 6, 2)}
    assert newest_below(links, 1) == 6
    assert newest_below(links, 4) == 4
    assert path_to(links, 6) == [1, 2, 3, 6]
    assert path_to(links, None) == []


def test_following_what_is_followed_already_changes_nothing(
    alice: User, talk: Conversation, queued: Any, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        intake.follow_branch(alice, message_of(talk, 1).pk)
    assert queued == []


def test_what_was_left_leaves_the_index_at_once_and_comes_back(
    alice: User, talk: Conversation, queued: Any, django_capture_on_commit_callbacks: Any
) -> None:
    old = message_of(talk, 2)
    with django_capture_on_commit_callbacks(execute=True):
        opened = edited(alice, old)
    assert ("memory.tasks.index_conversation", (str(talk.pk),)) in queued
    found = Chunk.objects.filter(conversation=talk, kind="message")
    assert not found.filter(message__turn__gt=1).exists()
    index_conversation(talk.pk)
    assert found.filter(message=opened.question).exists()
    intake.follow_branch(alice, old.pk)
    index_conversation(talk.pk)
    assert found.filter(message=old).exists()
    assert not found.filter(message=opened.question).exists()


def test_a_branch_from_within_folded_turns_reads_the_turns_and_the_other_keeps_its_summary(
    alice: User, offline_server: str
) -> None:
    conversation = begin(alice, numbered(30))
    fold(conversation.pk, "asked")
    inside = message_of(conversation, 10)
    edited(alice, inside)
    conversation.refresh_from_db()
    assert standing(conversation) == (list(range(1, 11)), [])
    intake.follow_branch(alice, inside.pk)
    conversation.refresh_from_db()
    assert standing(conversation) == ([1, 2, *range(21, 31)], [(3, 20)])


def test_a_cut_that_the_branch_does_not_have_is_forgotten(alice: User, talk: Conversation) -> None:
    Conversation.objects.filter(pk=talk.pk).update(cut_from=1, cut_until=2)
    edited(alice, message_of(talk, 2))
    assert Conversation.objects.get(pk=talk.pk).cut_until == 0


# The librarian -----------------------------------------------------------------------------------------------------


def end(conversation: Conversation) -> list[str]:
    """End the conversation and have it read; returns the new texts for the reading, by the current branch."""
    known = set(LibrarianRun.objects.values_list("pk", flat=True))
    librarian_triggers.end(Conversation.objects.get(pk=conversation.pk))
    runs = LibrarianRun.objects.filter(conversation=conversation).exclude(pk__in=known)
    runs.update(state=LibrarianRun.State.DONE, attempts=1)
    return [
        one.text
        for run in runs
        for one in ChatSource().load_range(conversation.pk, run.first_seq, run.last_seq)[0]
        if one.speaker == "user"
    ]


def test_the_librarian_reads_what_was_left_unread_when_it_is_followed_again_and_nothing_twice(
    alice: User, talk: Conversation
) -> None:
    assert end(talk) == ["Question number 1?", "Question number 2?", "Question number 3?"]
    go_on(talk, numbered(2, first=4))
    old = message_of(talk, 4)
    edited(alice, old, "Question 4 in other words?")
    assert end(talk) == ["Question 4 in other words?"]
    intake.follow_branch(alice, old.pk)
    assert end(talk) == ["Question number 4?", "Question number 5?"]
    intake.follow_branch(alice, message_of(talk, 4).pk)
    assert end(talk) == []
    other = Message.objects.get(text="Question 4 in other words?")
    intake.follow_branch(alice, other.pk)
    assert end(talk) == []
    assert not Message.objects.filter(event_data__has_key=PASSED_OVER).exists()


def learned(user: User, message: Message, value: str, **fields: Any) -> Fact:
    common = {"kind": "biography", "key": "user/home", "status": "active", "quote": message.text}
    fact: Fact = Fact.objects.create(
        user=user, statement=f"The user lives in {value}.", value=value, message=message, **{**common, **fields}
    )
    return fact


def states(user: User) -> dict[str, str]:
    return dict(Fact.objects.for_user(user).values_list("value", "status"))


def test_what_was_learned_from_words_that_are_taken_back_waits_and_what_gave_way_to_it_holds_again(
    alice: User, talk: Conversation
) -> None:
    old = message_of(talk, 2)
    home = learned(alice, old, "Porto")
    learned(
        alice, message_of(talk, 1), "Lisbon", status="superseded", superseded_by=home, superseded_at=home.recorded_at
    )
    edited(alice, old)
    assert states(alice) == {"Lisbon": "active", "Porto": "proposed"}
    intake.follow_branch(alice, old.pk)
    assert states(alice) == {"Lisbon": "superseded", "Porto": "active"}


def test_a_fact_that_was_accepted_outlives_the_words_it_came_from(alice: User, talk: Conversation) -> None:
    old = message_of(talk, 2)
    learned(alice, old, "Porto", accepted_at=old.created_at)
    learned(alice, old, "green", kind="preference", key="user/favourite_colour", source="edited")
    edited(alice, old)
    assert states(alice) == {"Porto": "active", "green": "active"}


def test_a_fact_comes_back_beside_no_other_of_its_key(alice: User, talk: Conversation) -> None:
    old = message_of(talk, 2)
    learned(alice, old, "Porto")
    opened = edited(alice, old, "I live in Faro")
    learned(alice, opened.question, "Faro", accepted_at=opened.question.created_at)
    intake.follow_branch(alice, old.pk)
    assert states(alice) == {"Porto": "proposed", "Faro": "active"}


def test_a_reading_that_has_not_begun_is_asked_for_anew(alice: User, talk: Conversation) -> None:
    librarian_triggers.end(talk)
    old = message_of(talk, 2)
    edited(alice, old)
    assert not LibrarianRun.objects.exists()
    assert end(talk) == ["Question number 1?", "In other words?"]
    intake.follow_branch(alice, old.pk)
    assert end(talk) == ["Question number 2?", "Question number 3?"]


# On the page -------------------------------------------------------------------------------------------------------


def test_siblings_show_their_number_and_lead_to_each_other(alice: User, talk: Conversation, sign_in: SignIn) -> None:
    old = message_of(talk, 2)
    opened = edited(alice, old)
    client = sign_in(alice)
    html = client.get(f"/c/{talk.pk}").content.decode()
    assert 'aria-label="Version 2 of 2"' in html
    assert f'formaction="/m/{old.pk}/follow"' in html
    assert f'id="m-{old.pk}"' not in html
    swapped = client.post(f"/m/{old.pk}/follow", headers={"HX-Request": "true"}).content.decode()
    assert swapped.strip().startswith('<div class="messages"')
    assert 'aria-label="Version 1 of 2"' in swapped
    assert "Question number 3?" in swapped
    assert client.post(f"/m/{opened.question.pk}/follow")["Location"] == f"/m/{opened.question.pk}"


def test_where_it_is_busy_the_arrows_say_why_nothing_moves(alice: User, talk: Conversation, sign_in: SignIn) -> None:
    old = message_of(talk, 2)
    intake.accept_edit(alice, uuid4(), old.pk, "In other words?")
    client = sign_in(alice)
    response = client.post(f"/m/{old.pk}/follow", headers={"HX-Request": "true"})
    assert response.status_code == 204
    assert "still being written" in response["HX-Trigger"]
    assert client.post(f"/m/{old.pk}/follow")["Location"] == f"/c/{talk.pk}"


def test_a_message_on_a_branch_that_is_not_followed_is_shown_with_the_way_to_it(
    alice: User, talk: Conversation, sign_in: SignIn
) -> None:
    old = message_of(talk, 2)
    edited(alice, old)
    html = sign_in(alice).get(f"/m/{old.pk}").content.decode()
    assert re.search(rf'id="m-{old.pk}" aria-current="true"', html)
    assert "This is answer number 2." in html
    assert f'action="/m/{old.pk}/follow"' in html


@pytest.mark.django_db(transaction=True)
def test_a_form_shows_the_old_words_for_a_browser_without_scripts(
    alice: User, talk: Conversation, sign_in: SignIn
) -> None:
    Message.objects.filter(pk=message_of(talk, 2).pk).update(text="\nTwo\nlines <b>")
    client = sign_in(alice)
    old = message_of(talk, 2)
    html = client.get(f"/m/{old.pk}/edit").content.decode()
    assert re.search(r"<textarea[^>]*>\n\nTwo\nlines &lt;b&gt;</textarea>", html)
    assert client.get(f"/m/{message_of(talk, 2, 'assistant').pk}/edit").status_code == 404
    refused = client.post(f"/m/{old.pk}/edit", {"client_id": str(uuid4()), "text": " "})
    assert refused.status_code == 422
    assert "message is empty" in refused.content.decode()


# Over the socket, and as a form ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
async def test_an_edit_over_the_socket_replaces_the_old_message_in_every_tab(
    alice: User, tabs: Tabs, queued: Any
) -> None:
    tab, other = await tabs.open(alice), await tabs.open(alice)
    first = await tab.talk("Where does Mary live?")
    await other.tell("open", conversation=first["conversation"])
    await other.hear("opened")
    await tab.tell("edit", client_id=str(uuid4()), message=first["question"], text="Where does Mary work?")
    accepted = await other.hear("accepted")
    assert accepted["replaces"] == first["question"]
    assert accepted["html"].count("<article") == 2
    assert "Where does Mary work?" in accepted["html"]
    assert (await other.hear("done"))["outcome"] == "complete"
    await tab.tell("edit", client_id=str(uuid4()), message=first["message"], text="Not mine")
    assert (await tab.hear("error"))["code"] == "not_yours"


@pytest.mark.django_db(transaction=True)
async def test_a_form_sent_twice_asks_once_and_leads_to_the_new_message(
    alice: User, async_client: Any, tabs: Tabs, queued: Any
) -> None:
    first = await (await tabs.open(alice)).talk("Where does Mary live?")
    await async_client.aforce_login(alice, backend=settings.AUTHENTICATION_BACKENDS[0])
    fields = {"client_id": str(uuid4()), "text": "Where does\r\nMary work?"}
    address = f"/m/{first['question']}/edit"
    led = [(await async_client.post(address, fields))["Location"] for _ in range(2)]
    await settled()
    again = await Message.objects.aget(text="Where does\nMary work?")
    assert led == [f"/m/{again.pk}"] * 2
    fields["client_id"] = str(uuid4())
    told = await async_client.post(address, fields, headers={"Accept": "application/json"})
    await settled()
    assert told.json()["replaces"] == first["question"]
    assert told.json()["request"] == told["X-Request-ID"]


def test_what_is_asked_instead_is_not_recalled_for_itself(alice: User, talk: Conversation) -> None:
    opened = intake.accept_edit(alice, uuid4(), message_of(talk, 2).pk, "Which rivers run through Lisbon and Porto?")
    index_conversation(talk.pk)  # the branch is active, and the worker is faster than the turn
    assert Chunk.objects.filter(message=opened.question).exists()
    recollection = load_prompt_inputs(opened).recalled
    told = [*recollection.kept, *(one.item for one in recollection.cut)]
    assert f"message:{opened.question.pk}" not in {item.ref for item in told}
