"""The request behind an answer is rebuilt from rows, and what was changed or forgotten since is reported."""

import json
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.db import transaction

from budget.models import ProfileSnapshot, Receipt
from budget.receipts.retention import remove_cut, remove_words
from chat.models import Conversation, Message, Role, Segment
from chat.prompt.replay import FIRST_REMOVED, FORGOTTEN, NO_INGREDIENTS, OTHER_WORDING, WORDS_REMOVED, replay
from memory.documents import revisions
from memory.index.indexer import embed_pending
from memory.models import Boundary
from tests.chat.conftest import Provider, Tabs
from tests.chat.long_talk import fold
from tests.memory.index.test_indexer import said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]

CELLO = "I bought a cello in Cremona from a man called Bertolotti."


def receipt_of(message: int) -> Receipt:
    found: Receipt = Receipt.objects.select_related("message__parent", "snapshot").get(message_id=message)
    return found


@sync_to_async
def prepare(user: Any) -> None:
    """Some of everything: boundaries, a profile, memories from elsewhere."""
    from chat.ingest.source import ChatSource

    Boundary.objects.create(text="Never give medical doses.")
    Boundary.objects.create(user=user, text="Do not mention my former employer.")
    revisions.save(user, "/profile/goals", "- play the first suite by spring\n- learn Italian", started_from=0)
    ChatSource().import_conversation(user, "Instruments", said(("user", CELLO)))
    embed_pending()


@sync_to_async
def give_role(user: Any, conversation: str) -> None:
    role = Role.objects.create(user=user, name="Luthier", instructions="Answer as a patient luthier.")
    Conversation.objects.filter(pk=conversation).update(role=role)


@sync_to_async
def add_goal(user: Any) -> None:
    document = revisions.save(user, "/profile/identity", "- Lives in Lisbon", started_from=0)
    assert document.path == "/profile/identity"


async def a_long_talk(user: Any, tabs: Tabs, provider: Provider) -> int:
    """Three turns, with a tool, a role, and a profile that changed meanwhile; returns the last answer's message."""
    await prepare(user)
    provider.script(
        {"text": "I shall look.", "tools": [{"name": "search_knowledge", "input": {"query": "cello"}}]},
        {"text": "You bought it in Cremona."},
        {"text": "Spruce and maple."},
        {"text": "Bertolotti did."},
    )
    tab = await tabs.open(user)
    done = await tab.talk("Where did I buy the cello?")
    await give_role(user, done["conversation"])
    await tab.talk("What is it made of?", done["conversation"])
    await add_goal(user)
    last = await tab.talk("Which man from Cremona sold me the instrument?", done["conversation"])
    return int(last["message"])


async def test_a_turn_with_tools_history_memories_and_a_profile_update_replays_identically(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    last = await a_long_talk(alice, tabs, provider)

    def check() -> None:
        receipt = receipt_of(last)
        kept = receipt.ingredients["contents"]
        assert kept["turns"]["shown"] == [[1, 2]]
        assert kept["profile_update"] == ["New: - Lives in Lisbon"]
        assert all(kept[name] for name in ("role", "global_boundaries", "own_boundaries", "profile"))
        replayed = replay(receipt)
        assert replayed.identical, replayed.changes
        assert replayed.changes == ()

    await sync_to_async(check)()
    sent = provider.requests()[-1]["body"]
    rebuilt = (await sync_to_async(lambda: replay(receipt_of(last)))()).request
    assert rebuilt is not None
    assert {name: sent[name] for name in rebuilt} == json.loads(json.dumps(rebuilt))


async def test_every_turn_of_the_conversation_replays_identically(alice: Any, tabs: Tabs, provider: Provider) -> None:
    await a_long_talk(alice, tabs, provider)

    def digests() -> list[bool]:
        return [replay(receipt_of(pk)).identical for pk in Receipt.objects.values_list("message_id", flat=True)]

    assert await sync_to_async(digests)() == [True, True, True]


async def test_what_the_receipt_keeps_for_it_is_small(alice: Any, tabs: Tabs, provider: Provider) -> None:
    last = await a_long_talk(alice, tabs, provider)
    kept = (await sync_to_async(receipt_of)(last)).ingredients
    recalled = json.dumps(kept["contents"].pop("recalled"))

    assert len(json.dumps(kept)) < 2_500, "without the recalled memories, which no other row keeps as they were sent"
    assert CELLO in recalled
    assert "What is it made of?" not in json.dumps(kept)


CHANGES = [
    (
        "a message",
        lambda: _edit(Message, "What is it made of?", "What was it made of?"),
        "The question of turn 2 was edited since.",
    ),
    (
        "a forgotten one",
        lambda: _edit(Message, "What is it made of?", FORGOTTEN),
        "The question of turn 2 was forgotten since.",
    ),
    ("a boundary", lambda: Boundary.objects.filter(user=None).update(text="Anything goes."), "was edited since."),
    ("a boundary that is gone", lambda: Boundary.objects.filter(user=None).delete(), "is gone."),
    (
        "the role",
        lambda: Role.objects.update(instructions="Be brief.", version=2),
        "The role (then version 1) was edited since.",
    ),
    ("the snapshot", lambda: ProfileSnapshot.objects.all().delete(), "The profile it was pinned to is gone."),
]


def _edit(model: Any, old: str, new: str) -> None:
    assert model.objects.filter(text=old).update(text=new) == 1


@pytest.mark.parametrize(("change", "sentence"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
async def test_a_change_since_is_told_in_a_sentence(
    change: Any, sentence: str, alice: Any, tabs: Tabs, provider: Provider
) -> None:
    last = await a_long_talk(alice, tabs, provider)

    def check() -> None:
        change()
        replayed = replay(receipt_of(last))
        assert not replayed.identical
        assert [told for told in replayed.changes if told.endswith(sentence)], replayed.changes

    await sync_to_async(check)()


async def test_a_folded_conversation_replays_too_and_a_changed_summary_is_told(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    provider.script(*({"text": f"Bar {number} is in G major."} for number in range(1, 17)))
    tab = await tabs.open(alice)
    done = await tab.talk("In which key is bar 1?")
    for number in range(2, 16):
        await tab.talk(f"In which key is bar {number}?", done["conversation"])
    await sync_to_async(fold)(UUID(done["conversation"]), "asked")
    last = await tab.talk("In which key is bar 16?", done["conversation"])

    def check() -> None:
        receipts = Receipt.objects.order_by("turn").values_list("message_id", flat=True)
        assert all(replay(receipt_of(pk)).identical for pk in receipts), "those before it was folded, too"
        assert receipt_of(int(last["message"])).ingredients["contents"]["segments"]
        Segment.objects.update(text="Something else.")
        (told,) = replay(receipt_of(int(last["message"]))).changes
        assert told.startswith("Segment ")
        assert told.endswith("was edited since.")

    await sync_to_async(check)()


async def test_another_version_of_recall_is_named_when_nothing_else_changed(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    last = await a_long_talk(alice, tabs, provider)

    def check() -> None:
        receipt = receipt_of(last)
        receipt.request_digest = "0" * 64
        assert replay(receipt).changes == (OTHER_WORDING,)
        receipt.ingredients = {}
        assert replay(receipt).changes == (NO_INGREDIENTS,)

    await sync_to_async(check)()


async def test_the_command_proves_it_and_tells_what_changed(alice: Any, tabs: Tabs, provider: Provider) -> None:
    last = await a_long_talk(alice, tabs, provider)

    def check() -> None:
        receipt = receipt_of(last)
        assert receipt.request_digest in run(str(last))
        by_turn = run("--conversation", str(receipt.conversation_id), "--turn", "3")
        assert by_turn == run(str(last))
        assert CELLO not in run(str(last))
        assert CELLO in run(str(last), "--show")
        _edit(Message, "What is it made of?", "What was it made of?")
        with pytest.raises(CommandError, match="The question of turn 2 was edited since"):
            run(str(last))
        with pytest.raises(CommandError, match="No receipt"):
            run("--conversation", str(receipt.conversation_id), "--turn", "99")
        with pytest.raises(CommandError, match="Give either"):
            run()

    await sync_to_async(check)()


def run(*arguments: str) -> str:
    told = StringIO()
    call_command("replay", *arguments, stdout=told)
    return told.getvalue()


async def test_once_its_time_is_over_replay_says_what_is_gone(alice: Any, tabs: Tabs, provider: Provider) -> None:
    last = await a_long_talk(alice, tabs, provider)

    def check() -> None:
        with transaction.atomic():
            remove_cut(Receipt.objects.all(), 90)
        assert "Identical" in run(str(last)), "what was cut is no part of the request"
        with transaction.atomic():
            remove_words(Receipt.objects.all(), 365)
        assert replay(receipt_of(last)).changes == (WORDS_REMOVED.format(365),)
        with pytest.raises(CommandError, match="was removed after 365 days"):
            run(str(last))

    await sync_to_async(check)()


async def test_an_answer_whose_neighbour_lost_its_words_says_so(alice: Any, tabs: Tabs, provider: Provider) -> None:
    last = await a_long_talk(alice, tabs, provider)

    def check() -> None:
        first = Receipt.objects.exclude(message=last).order_by("pk")[0]
        Message.objects.filter(pk=last).update(event_data={"beside": first.message_id, "without": ["fact:1"]})
        Receipt.objects.filter(message=last).update(request_digest="0" * 64)
        with transaction.atomic():
            remove_words(Receipt.objects.filter(pk=first.pk), 365)
        assert replay(receipt_of(last)).changes == (FIRST_REMOVED.format(365),)

    await sync_to_async(check)()
