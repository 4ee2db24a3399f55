"""A temporary chat is answered like any other, and leaves nothing: no row, no line in the log, no task."""

import asyncio
import json
import logging
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from budget.models import Limit
from budget.spending import limits, usage
from chat.turns import temporary
from chat.turns.live import TURN_REGISTRY
from memory.documents import revisions
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.index.indexer import embed_pending
from memory.models import Boundary, Fact
from tests.chat.conftest import Frame, Provider, Tab, Tabs, settled
from tests.memory.index.test_indexer import said

pytestmark = pytest.mark.django_db(transaction=True)

Queued = list[tuple[str, tuple[str | int, ...]]]
CELLO = "I bought a cello in Cremona from a man called Bertolotti."
HOME = "The user lives in Lisbon."


@pytest.fixture(autouse=True)
def nothing_goes_out(queued: Queued) -> Queued:
    return queued


@sync_to_async
def known_of(user: Any) -> None:
    """Something of every kind that a prompt could hold: the profile, a fact, an earlier conversation."""
    from chat.ingest.source import ChatSource

    revisions.save(user, "/profile/identity", "I am a nurse.", started_from=0)
    Fact.objects.create(
        user=user, statement=HOME, kind="place", key="user/home", value="Lisbon", importance=0.9, status="active"
    )
    ChatSource().import_conversation(
        user, "Instruments", said(("user", CELLO), ("assistant", "A fine town for a cello."))
    )
    embed_pending()


@sync_to_async
def every_row() -> dict[str, tuple[int, str]]:
    """Of every table of the database, in all schemas: how many rows it has, and a fingerprint of what they hold."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT format('%I.%I', nspname, relname)
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_t'
        """)
        found = {}
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT count(*), coalesce(md5(string_agg(t::text, '' ORDER BY t::text)), '') FROM {table} t"
            )
            found[table] = cursor.fetchone()
    return found


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[list[logging.LogRecord]]:
    """Every line that Recall's own loggers write, down to DEBUG."""
    with caplog.at_level(logging.DEBUG):
        yield caplog.records


def ours(records: list[logging.LogRecord]) -> list[str]:
    apps = ("recall", "chat", "memory", "budget", "accounts", "celery", "django.request")
    return [record.getMessage() for record in records if record.name.startswith(apps)]


async def say(tab: Tab, text: str = "", **fields: Any) -> Frame:
    """One message of the tab's temporary chat; the `accepted` frame."""
    await tab.tell("temporary", client_id=str(uuid4()), text=text, **fields)
    frame = await tab.hear_any("accepted", "error")
    assert frame["type"] == "accepted", frame
    return frame


async def talk(tab: Tab, text: str = "", **fields: Any) -> Frame:
    """The same, with its answer."""
    accepted = await say(tab, text, **fields)
    done = await tab.hear("done")
    await settled()
    return {**accepted, **done}


async def refused(tab: Tab, text: str = "", **fields: Any) -> Frame:
    await tab.tell("temporary", client_id=str(uuid4()), text=text, **fields)
    return await tab.hear("error")


def prompt(provider: Provider) -> str:
    return json.dumps(provider.requests()[-1]["body"], ensure_ascii=False)


def offered(provider: Provider) -> list[str]:
    return [tool["name"] for tool in provider.requests()[-1]["body"].get("tools", [])]


# What it leaves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [True, False])
async def test_it_leaves_no_row_no_line_and_no_task_but_the_counter_of_use(
    memory: bool, alice: Any, tabs: Tabs, provider: Provider, queued: Queued, logged: list[logging.LogRecord]
) -> None:
    await known_of(alice)
    tab = await tabs.open(alice)
    queued.clear()
    before, lines = await every_row(), len(ours(logged))
    used = await sync_to_async(usage.of_day)(alice)
    provider.script(
        {"tools": [{"name": "search_conversation", "input": {"query": "cello from Cremona"}}]}, {"text": "Noted."}
    )

    await talk(tab, "My new telescope is from Jena. Where did I buy the cello in Cremona?", memory=memory)
    await talk(tab, "And which town is mine?", memory=memory)
    provider.script({"tools": [{"name": "remember", "input": {"statement": "The user has a telescope."}}]})
    await talk(tab, "Remember the telescope.", memory=memory)
    provider.script({"tools": [{"name": "update_task", "input": {"goal": "Stars", "steps": [], "done": True}}]})
    await talk(tab, "Help me plan a night of stars.", memory=memory)
    await talk(tab, again="retry", memory=memory)
    await tabs.close(tab)
    await settled()

    after = await every_row()
    counter = "public.budget_usageday"
    assert counter in before
    assert len(before) > 40, "every table of Recall, and of what it is built on"
    changed = {table for table in after if after[table] != before.get(table)}
    assert changed == {counter}
    assert queued == []
    assert ours(logged)[lines:] == []
    now = await sync_to_async(usage.of_day)(alice)
    assert (used.turns, now.turns) == (0, 5)
    figures = [request["usage"] for request in provider.requests()]
    assert now.output_tokens == sum(figure["output_tokens"] for figure in figures)


async def test_a_stopped_answer_is_counted_too(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four five six seven eight nine ten"})
    provider.fail("slow:0.15")
    tab = await tabs.open(alice)
    accepted = await say(tab, "Count")
    await tab.hear("delta")
    await tab.tell("stop", conversation=accepted["conversation"])
    done = await asyncio.wait_for(tab.hear("done"), 1.0)
    await settled()
    assert done["outcome"] == "interrupted"
    assert "You stopped this answer." in done["html"]
    assert provider.requests()[-1]["outcome"] == "cancelled"
    assert (await sync_to_async(usage.of_day)(alice)).turns == 1


async def test_it_ends_with_its_socket(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four five six seven eight nine ten"})
    provider.fail("slow:0.15")
    tab = await tabs.open(alice)
    accepted = await say(tab, "The flower is a rosebud.")
    await tab.hear("delta")
    await tabs.close(tab)
    await settled()
    assert TURN_REGISTRY._followers == {}
    assert provider.requests()[-1]["outcome"] == "cancelled"

    again = await tabs.open(alice)
    await talk(again, "What is the flower?")
    assert "rosebud" not in prompt(provider)
    await again.tell("open", conversation=accepted["conversation"])
    assert (await again.hear("error"))["code"] == "not_found"


# What the model is given -------------------------------------------------------------------------------------------


async def test_it_knows_what_was_said_in_it(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    provider.script({"text": "A good word."})
    await talk(tab, "The flower is a rosebud.")
    await talk(tab, "What is the flower?")
    said_before = [
        block["text"] for message in provider.requests()[-1]["body"]["messages"][:-1] for block in message["content"]
    ]
    assert said_before == ["The flower is a rosebud.", "A good word."]


async def test_it_begins_with_the_persons_own_model_and_effort(alice: Any, tabs: Tabs, provider: Provider) -> None:
    alice.chat_model, alice.effort = "claude-opus-5-5", "high"
    await alice.asave()
    await talk(await tabs.open(alice), "hello")
    sent = provider.requests()[-1]["body"]
    assert (sent["model"], sent["output_config"]) == ("claude-opus-5-5", {"effort": "high"})


async def test_it_reads_memory_only_where_the_person_says_so(alice: Any, tabs: Tabs, provider: Provider) -> None:
    await known_of(alice)
    await Boundary.objects.acreate(user=alice, text="Never joke about snakes.")
    tab = await tabs.open(alice)

    await talk(tab, "Where did I buy the cello in Cremona?")

    bare = prompt(provider)
    assert "Never joke about snakes." in bare, "a boundary holds everywhere"
    assert not any(known in bare for known in (CELLO, HOME, "I am a nurse.", 'recalled_memories":'))
    assert offered(provider) == []

    await talk(tab, "Where did I buy the cello in Cremona?", memory=True)

    full = prompt(provider)
    assert all(known in full for known in (CELLO, HOME, "I am a nurse."))
    assert offered(provider) == ["read_document", "search_conversation", "search_knowledge"]


async def test_what_is_forgotten_meanwhile_is_not_sent_again(alice: Any, tabs: Tabs, provider: Provider) -> None:
    await known_of(alice)
    reading, bare = await tabs.open(alice), await tabs.open(alice)
    for tab, memory in ((reading, True), (bare, False)):
        await talk(tab, "Where do I live?", memory=memory)
    home = await Fact.objects.aget(statement=HOME)

    await sync_to_async(forget)(alice, Target(What.FACT, str(home.pk)), by=alice)

    sent = len(provider.requests())
    for fields in ({"text": "And now?", "memory": True}, {"text": "And now?"}, {"again": "retry"}):
        assert (await refused(reading, **fields))["code"] == "forgotten"
    assert len(provider.requests()) == sent
    await talk(bare, "And now?")


@pytest.mark.parametrize("memory", [True, False])
async def test_a_tool_that_writes_is_not_there_even_if_it_is_called(
    memory: bool, alice: Any, tabs: Tabs, provider: Provider
) -> None:
    tab = await tabs.open(alice)
    provider.script({"tools": [{"name": "remember", "input": {"statement": "The user has a telescope."}}]})
    await talk(tab, "Remember the telescope.", memory=memory)
    assert temporary.INSTRUCTIONS in prompt(provider)
    assert "There is no such tool in a temporary chat" in prompt(provider)
    assert not await Fact.objects.aexists()


# What the page is told ---------------------------------------------------------------------------------------------


async def test_the_panel_shows_a_live_budget_that_no_receipt_holds(alice: Any, tabs: Tabs, provider: Provider) -> None:
    await known_of(alice)
    provider.script({"text": "one two three four five six"})
    provider.fail("slow:0.08")
    tab = await tabs.open(alice)
    accepted = await say(tab, "Where did I buy the cello in Cremona?", memory=True)
    first = await tab.hear("context")
    done = await tab.hear("done")
    last = await tab.hear("context")
    assert accepted["message"] == first["message"] == done["message"] == last["message"] < 0
    assert "budget-bar" in first["html"]
    assert "In progress" in first["html"]
    assert CELLO in last["html"]
    output = provider.requests()[-1]["usage"]["output_tokens"]
    assert f'<td class="number">{output}</td>' in last["html"]


async def test_an_answer_can_be_had_again_and_gone_on_from(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    provider.script({"text": "First."}, {"text": "Second."}, {"text": "Third."})
    first = await talk(tab, "Say a number.")
    second = await talk(tab, again="retry")
    assert second["replaces"] == first["message"]
    assert "Second." in second["html"]
    await talk(tab, again="continue")
    history = json.dumps(provider.requests()[-1]["body"]["messages"])
    assert "First." not in history
    assert "Second." in history


async def test_a_failure_is_told_and_can_be_tried_again(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.fail("unauthorized", times=4)
    tab = await tabs.open(alice)
    failed = await talk(tab, "Good morning")
    assert failed["outcome"] == "failed"
    assert "message-outcome" in failed["html"]
    provider.http.delete("/offline/faults")
    assert (await talk(tab, again="retry"))["outcome"] == "complete"


# What it refuses ---------------------------------------------------------------------------------------------------


async def test_limits_hold_and_temporary_answers_count(alice: Any, tabs: Tabs, provider: Provider) -> None:
    await sync_to_async(limits.set_limit)(alice, Limit.What.TURNS, Limit.Per.DAY, Decimal(2))
    provider.script({"text": "one two three four"}, {"text": "one two three four"})
    provider.fail("slow:0.2", times=2)
    one, other, third = [await tabs.open(alice) for _ in range(3)]
    await say(one, "Tell me of rivers")
    await say(other, "Tell me of hills")
    at_once = await refused(third, "Tell me of woods")
    assert at_once["code"] == "limit"
    assert "You've used 2 of 2 turns today." in at_once["text"]
    for tab in (one, other):
        await tab.hear("done")
    await settled()
    assert (await refused(third, "And now?"))["code"] == "limit"


async def test_one_that_is_being_answered_counts_for_a_stored_one(alice: Any, tabs: Tabs, provider: Provider) -> None:
    await sync_to_async(limits.set_limit)(alice, Limit.What.TURNS, Limit.Per.DAY, Decimal(1))
    provider.script({"text": "one two three four"})
    provider.fail("slow:0.2")
    one, other = [await tabs.open(alice) for _ in range(2)]
    await say(one, "Tell me of rivers")
    await other.tell("send", client_id=str(uuid4()), conversation=None, text="Tell me of hills")
    assert (await other.hear("error"))["code"] == "limit"
    await one.hear("done")


async def test_a_second_message_waits_for_the_first_answer(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four"})
    provider.fail("slow:0.2")
    tab = await tabs.open(alice)
    await say(tab, "Tell me of rivers")
    assert (await refused(tab, "And of hills"))["code"] == "busy"
    assert (await tab.hear("done"))["outcome"] == "complete"


async def test_the_same_message_twice_is_answered_once(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four"})
    tab = await tabs.open(alice)
    accepted = await talk(tab, "Tell me of rivers")
    await tab.tell("temporary", client_id=accepted["client_id"], text="Tell me of rivers")
    assert (await refused(tab, "  "))["code"] == "empty"  # the first thing that is heard after it
    assert len(provider.requests()) == 1


@pytest.mark.parametrize(("text", "code"), [("  ", "empty"), ("a\x00b", "bad_text")])
async def test_what_cannot_be_sent_is_refused_as_always(text: str, code: str, alice: Any, tabs: Tabs) -> None:
    assert (await refused(await tabs.open(alice), text))["code"] == code


@pytest.mark.parametrize("again", ["retry", "continue"])
async def test_there_is_nothing_to_go_on_from_at_first(again: str, alice: Any, tabs: Tabs) -> None:
    assert (await refused(await tabs.open(alice), again=again))["code"] == "not_last"


async def test_it_cannot_grow_without_bound(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "MAX_TURNS", 2)
    tab = await tabs.open(alice)
    for text in ("One", "Two"):
        await talk(tab, f"Say {text}")
    assert (await refused(tab, "Say Three"))["code"] == "full"
    monkeypatch.setattr(temporary, "MAX_TURNS", 9)
    monkeypatch.setattr(temporary, "MAX_CHARS", 500)
    assert (await refused(tab, "x" * 500))["code"] == "full"


async def test_who_may_not_sign_in_any_more_is_told_so(alice: Any, tabs: Tabs) -> None:
    tab = await tabs.open(alice)
    alice.is_active = False
    await alice.asave()
    assert (await refused(tab, "Good morning"))["code"] == "signed_out"


async def test_bob_cannot_stop_it(alice: Any, bob: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four"})
    provider.fail("slow:0.1")
    tab, his = await tabs.open(alice), await tabs.open(bob)
    accepted = await say(tab, "Tell me of rivers")
    await his.tell("stop", conversation=accepted["conversation"])
    assert (await his.hear("error"))["code"] == "not_found"
    assert (await tab.hear("done"))["outcome"] == "complete"


def test_it_may_read_and_nothing_else() -> None:
    names = {tool["name"] for tool in temporary.READING_TOOLS}
    assert names == {"read_document", "search_conversation", "search_knowledge"}
