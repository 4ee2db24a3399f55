"""A deleted conversation is hidden at once, can be restored completely, and is purged half an hour later."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from budget.models import ProfileSnapshot, Receipt
from chat import tasks
from chat.compaction.jobs import COMPACTIONS
from chat.conversations import trash
from chat.importing.tree import ImportedConversation, ImportedMessage
from chat.importing.upsert import store_conversation
from chat.ingest import librarian_triggers
from chat.ingest.conversation_digest import build_digest
from chat.models import Compaction, Conversation, Message
from chat.prompt.user_context import load_relationship
from chat.turn import TurnRejectedError
from chat.turns import intake
from memory.documents import revisions
from memory.index.indexer import index_conversation, index_segment
from memory.librarian.run import RUNS
from memory.models import Chunk, Document, Episode, Fact, LibrarianRun
from memory.retrieval.conversation_start import find_opening_memory
from memory.retrieval.recall import retrieve
from recall.schedule import BEAT_SCHEDULE
from tests.chat.pages.test_pages import say

SignIn = Callable[[Any], Client]
WORD = "quokka"


@pytest.fixture
def conversation(alice: Any) -> Conversation:
    """Alice's conversation with one exchange, read and indexed, with an episode and a document."""
    made = Conversation.objects.create(user=alice, title=f"About the {WORD}")
    say(made, f"We saw a {WORD} on Rottnest Island.")
    answer = say(made, f"A {WORD} is a small marsupial.")
    index_conversation(made.pk)
    Episode.objects.create(
        user=alice, conversation=made, title=f"Saw a {WORD}", summary=f"The user saw a {WORD}.", significance=0.9,
        happened_at=timezone.now() - timedelta(days=1),
    )  # fmt: skip
    told(alice, made)
    snapshot = ProfileSnapshot.objects.create(user=alice, conversation=made, text="", reason="new")
    Receipt.objects.create(
        user=alice, conversation=made, message=answer, turn=1, model="m", plan="standard", plan_total=1, items=[],
        request_digest="0" * 64, snapshot=snapshot,
    )  # fmt: skip
    return made


def told(user: Any, conversation: Conversation) -> Document:
    """The document about the conversation."""
    origin = revisions.Origin(Document.Source.LIBRARIAN, f"conversation:{conversation.pk}")
    text = f"The {WORD} of Rottnest Island smiles."
    return revisions.add(user, "/conversations/2026-11-quokka", text, "librarian", origin, title="Quokka")


def recalled(user: Any) -> set[str]:
    """The kinds of memory that a question about it finds, kept or cut."""
    found = retrieve(user, f"What about the {WORD} on Rottnest Island?", now=timezone.now())
    return {item.source for item in found.kept} | {cut.item.source for cut in found.cut}


def delete(conversation: Conversation) -> Any:
    """Delete it; returns the time."""
    moment, many = trash.delete(conversation.user, [conversation.pk])
    assert many == 1
    return moment


# Out of sight ----------------------------------------------------------------------------------------------------


def test_every_page_of_it_is_gone_at_once(sign_in: SignIn, alice: Any, conversation: Conversation) -> None:
    client, answer = sign_in(alice), conversation.active_leaf_id
    story = reverse("memory:story", args=[conversation.pk])
    addresses = [f"/c/{conversation.pk}{part}" for part in ("", "/messages", "/librarian", "/menu", "/export.md")]
    addresses += [f"/m/{answer}", f"/receipts/{answer}", f"/usage/line/{conversation.pk}"]
    assert all(client.get(address).status_code in (200, 302) for address in [*addresses, story])
    delete(conversation)
    assert {client.get(address).status_code for address in [*addresses, story]} == {404}


@pytest.mark.parametrize(
    "address", ["/", "/conversations", "/search?q=quokka", "/palette?q=quokka", "/memory/timeline", "/answers"]
)
def test_no_list_names_it(sign_in: SignIn, alice: Any, conversation: Conversation, address: str) -> None:
    client = sign_in(alice)
    marsupial = re.compile(r"About the (<mark>)?quokka|Saw a quokka|small marsupial")
    assert marsupial.search(client.get(address).content.decode())
    delete(conversation)
    assert not marsupial.search(client.get(address).content.decode())


def test_nothing_of_it_is_recalled(alice: Any, conversation: Conversation) -> None:
    index_segment(alice.pk, conversation.pk, segment_of(conversation), f"The {WORD} of Rottnest Island.", place=2)
    assert recalled(alice) >= {"message", "segment", "episode", "document"}
    delete(conversation)
    assert recalled(alice) == set()
    assert find_opening_memory(alice, timezone.now()) is None


def segment_of(conversation: Conversation) -> int:
    """A summary of its first turn."""
    from chat.models import Segment

    made = Segment.objects.create(
        user=conversation.user, conversation=conversation, number=1, first_turn=1, last_turn=1, text="A summary"
    )
    return made.pk


def test_what_was_learned_from_it_stays(alice: Any, conversation: Conversation) -> None:
    message = conversation.messages.earliest("seq")
    fact = Fact.objects.create(user=alice, statement=f"The user saw a {WORD}.", status="active", message=message)
    delete(conversation)
    assert recalled(alice) == {"fact"}
    trash.purge(timezone.now() + timedelta(hours=1))
    fact.refresh_from_db()
    assert fact.message is None


def test_nobody_reads_folds_or_indexes_it(alice: Any, conversation: Conversation) -> None:
    now = timezone.now()
    LibrarianRun.objects.create(user=alice, conversation=conversation, first_seq=1, last_seq=2, trigger="ended")
    Compaction.objects.create(user=alice, conversation=conversation, reason="asked")
    Chunk.objects.all().delete()
    moment = delete(conversation)
    assert not RUNS.due(now + timedelta(days=1)).exists()
    assert not COMPACTIONS.due(now + timedelta(days=1)).exists()
    assert librarian_triggers.queue_missing_indexes() == 0
    assert build_digest(conversation.pk) is None
    trash.undo(alice, moment)
    assert RUNS.due(now + timedelta(days=1)).count() == 1


def test_it_is_no_session_the_model_is_told_of(alice: Any, conversation: Conversation) -> None:
    other = Conversation.objects.create(user=alice)
    assert load_relationship(other).sessions == 2
    delete(conversation)
    assert (load_relationship(other).sessions, load_relationship(other).last_session) == (1, None)


def test_nothing_can_be_said_in_it(alice: Any, conversation: Conversation) -> None:
    delete(conversation)
    with pytest.raises(TurnRejectedError) as refused:
        intake.accept_message(alice, uuid4(), conversation.pk, "Hello?")
    assert refused.value.code == "not_found"
    with pytest.raises(TurnRejectedError):
        intake.accept_retry(alice, uuid4(), conversation.active_leaf_id or 0)


def test_bringing_the_same_export_in_again_brings_it_back(alice: Any) -> None:
    said = ImportedMessage("1", None, "user", ["Hello"])
    thread = ImportedConversation("chatgpt", "abc", "Imported", [said], "1", None, None)
    made = Conversation.objects.get(pk=str(store_conversation(alice, thread).conversation_id))
    delete(made)
    store_conversation(alice, thread)
    assert list(Conversation.objects.not_deleted()) == [made]


# Back again ------------------------------------------------------------------------------------------------------


def test_the_notice_offers_to_undo_it_without_javascript(
    sign_in: SignIn, alice: Any, conversation: Conversation
) -> None:
    client = sign_in(alice)
    html = client.post(f"/c/{conversation.pk}/delete", follow=True).content.decode()
    assert f"“About the {WORD}” deleted." in html
    assert "Undo</button>" in html
    moment = re.search(r'action="/conversations/restore".*?name="deleted" value="([^"]+)"', html, re.DOTALL)
    assert moment is not None
    assert client.post("/conversations/restore", {"deleted": moment[1]})["Location"] == f"/c/{conversation.pk}"
    assert client.get(f"/c/{conversation.pk}").status_code == 200


def test_what_comes_back_is_recalled_as_before(alice: Any, conversation: Conversation) -> None:
    Chunk.objects.update(times_used=3)
    before = recalled(alice)
    trash.undo(alice, delete(conversation))
    assert recalled(alice) == before
    assert set(Chunk.objects.values_list("times_used", flat=True)) == {3}


@pytest.mark.parametrize(
    "moment", ["", "yesterday", "2026-13-45T99:00Z", "2026-11-22T10:00:00", "2026-11-22T10:00:00Z"]
)
def test_an_undo_of_nothing_says_so(sign_in: SignIn, alice: Any, moment: str) -> None:
    html = sign_in(alice).post("/conversations/restore", {"deleted": moment}, follow=True).content.decode()
    assert "Nothing to restore" in html


def test_nobody_brings_back_what_somebody_else_deleted(sign_in: SignIn, bob: Any, conversation: Conversation) -> None:
    moment = delete(conversation)
    sign_in(bob).post("/conversations/restore", {"deleted": moment.isoformat()})
    assert not Conversation.objects.not_deleted().exists()


def test_deleting_the_open_conversation_leads_to_an_empty_page(
    sign_in: SignIn, alice: Any, conversation: Conversation
) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver/c/{conversation.pk}"}
    response = sign_in(alice).post(f"/c/{conversation.pk}/delete", headers=headers)
    assert response["HX-Redirect"] == "/"


def test_deleting_another_one_leaves_the_page_where_it_is(
    sign_in: SignIn, alice: Any, conversation: Conversation
) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/"}
    html = sign_in(alice).post(f"/c/{conversation.pk}/delete", headers=headers).content.decode()
    assert "conversation-list" in html
    assert "Undo</button>" in html


def test_a_conversation_is_not_deleted_under_an_answer(sign_in: SignIn, alice: Any, conversation: Conversation) -> None:
    say(conversation, "And now?")
    say(conversation, "", status=Message.Status.STREAMING, process_key=1)
    response = sign_in(alice).post(f"/c/{conversation.pk}/delete", follow=True)
    assert "Stop it first" in response.content.decode()
    assert Conversation.objects.not_deleted().filter(pk=conversation.pk).exists()


# For good --------------------------------------------------------------------------------------------------------


def test_half_an_hour_later_it_is_gone_with_what_was_told_of_it(alice: Any, conversation: Conversation) -> None:
    moment = delete(conversation)
    assert trash.purge(moment + trash.UNDO_FOR - timedelta(seconds=1)) == 0
    assert trash.purge(moment + trash.UNDO_FOR) == 1
    for model in (Conversation, Message, Chunk, Episode, Receipt, Document):
        assert not model.objects.exists(), model
    assert trash.undo(alice, moment) == []


def test_a_document_of_it_that_the_person_wrote_in_is_theirs(alice: Any, conversation: Conversation) -> None:
    revisions.save(alice, "/conversations/2026-11-quokka", "My own words.", "user", started_from=1)
    trash.purge(delete(conversation) + trash.UNDO_FOR)
    assert Document.objects.get().text == "My own words."
    assert recalled_document(alice)


def recalled_document(user: Any) -> bool:
    """Whether the user's own words in it are found."""
    found = retrieve(user, "My own words?", now=timezone.now())
    return any(item.source == "document" for item in (*found.kept, *(cut.item for cut in found.cut)))


def test_the_clock_empties_the_trash(alice: Any, conversation: Conversation) -> None:
    delete(conversation)
    Conversation.objects.update(deleted_at=timezone.now() - timedelta(hours=1))
    assert BEAT_SCHEDULE["empty-trash"]["task"] == tasks.empty_trash.name
    tasks.empty_trash()
    assert not Conversation.objects.exists()
