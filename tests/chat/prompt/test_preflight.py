"""No request exceeds the plan, tool rounds included, and tool results are shortened with a way to the whole."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import pytest
from asgiref.sync import sync_to_async

from budget.counting.calibration import forget_known_ratios
from budget.models import Receipt
from budget.planning.plan import SMALL, ResolvedPlan, Section, resolve
from budget.planning.preflight import MIN_HEAD, PreflightResult, Verdict
from chat.models import Message
from chat.prompt import inputs, preflight
from chat.prompt.system_prompt import FULL_NEEDS
from chat.tools.output_budget import SentToolResult
from chat.turn import ToolUse
from chat.turns import agent_loop
from memory.documents import revisions
from memory.models import Document, Revision
from recall.llm import client as provider_module
from tests.chat.conftest import Provider, Tab, Tabs, settled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]

SENTENCE = "The harbour of Lisbon was rebuilt after the earthquake, street by street, and each has a story. "


def with_plan(monkeypatch: pytest.MonkeyPatch, plan: ResolvedPlan) -> None:
    monkeypatch.setattr(inputs, "plan_for", lambda user, window: plan)


def roomy(task: int) -> ResolvedPlan:
    """The small plan with a total that its tools don't fill."""
    plan = resolve(SMALL, 1_000_000)
    return replace(plan, total=20_000, ceilings={**plan.ceilings, Section.TASK: task})


@pytest.fixture
def long_document(alice: Any) -> str:
    origin = revisions.Origin(Document.Source.USER)
    revisions.add(alice, "/reference/lisbon", SENTENCE * 150, Revision.Author.USER, origin)
    return "/reference/lisbon"


def reading(path: str) -> dict[str, Any]:
    return {"tools": [{"name": "read_document", "input": {"path": path}}]}


def results_of(request: dict[str, Any]) -> list[str]:
    """The texts of all tool results in a request, oldest first."""
    blocks = [block for message in request["body"]["messages"] for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def counted(request: dict[str, Any]) -> int:
    usage = request["usage"]
    whole: int = usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    return whole


async def receipt_of(message: int) -> Receipt:
    found: Receipt = await Receipt.objects.aget(message_id=message)
    return found


async def test_a_verbose_result_is_shortened_and_a_line_says_how_to_open_the_whole(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_plan(monkeypatch, roomy(task=1_000))
    provider.script(reading(long_document), {"text": "It is about the harbour."})
    tab = await tabs.open(alice)
    done = await tab.talk("What does my document say?")
    (shown,) = results_of(provider.requests()[-1])
    assert "[Shortened: the first" in shown
    assert f"kept at {long_document}" in shown
    told = await Message.objects.aget(event_type=Message.Event.TOOL_RESULT)
    assert told.text.startswith(shown.split("\n[Shortened")[0])
    assert len(told.text) > 3 * len(shown), "the event keeps the whole"
    receipt = await receipt_of(done["message"])
    head, rest = [item for item in receipt.items if item["ref"].startswith("tool:")]
    assert (head["section"], head["kept"], head["rule"]) == ("task", True, "")
    assert (rest["kept"], rest["rule"]) == (False, "task state gives way first")
    assert head["tokens"] <= 500 < rest["tokens"]


async def test_the_whole_of_a_result_that_stands_nowhere_is_kept_as_an_artifact(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_plan(monkeypatch, roomy(task=600))
    monkeypatch.setattr(
        "chat.turns.backend.run_tool", lambda opened, call: setattr(call, "result", json.dumps([SENTENCE] * 90))
    )
    provider.script({"tools": [{"name": "search_knowledge", "input": {"query": "x"}}]}, {"text": "Much."})
    tab = await tabs.open(alice)
    await tab.talk("Search")
    (shown,) = results_of(provider.requests()[-1])
    artifact = await Document.objects.under("/artifacts").aget()
    assert artifact.path in shown
    assert artifact.text == json.dumps([SENTENCE] * 90)


async def test_the_task_ceiling_and_the_total_hold_in_each_of_eight_rounds(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = roomy(task=2_400)
    with_plan(monkeypatch, plan)
    provider.script(*[reading(long_document)] * 8, {"text": "Enough."})
    tab = await tabs.open(alice)
    done = await tab.talk("Read it again and again")
    requests = provider.requests()
    assert len(requests) == 9
    first = counted(requests[0])
    for request in requests:
        assert counted(request) <= plan.available
        assert counted(request) - first <= plan.ceilings[Section.TASK] * 1.1, "by the provider's count"
    receipt = await receipt_of(done["message"])
    assert sum(item["tokens"] for item in receipt.items if item["kept"]) == receipt.estimated_input
    assert sum(section["tokens"] for section in receipt.sections) == receipt.estimated_input
    task = next(section for section in receipt.sections if section["section"] == "task")
    assert task["tokens"] <= plan.ceilings[Section.TASK]
    assert len([item for item in receipt.items if item["ref"].startswith("tool:") and item["kept"]]) == 8
    assert min(len(text) for text in results_of(requests[-1])) > MIN_HEAD, "each has a head"


async def test_the_cap_on_memories_holds_for_what_tools_bring_as_well(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_plan(monkeypatch, replace(roomy(task=3_000), memory_cap=400))
    provider.script(reading(long_document), {"text": "So."})
    tab = await tabs.open(alice)
    done = await tab.talk("What does my document say?")
    items = (await receipt_of(done["message"])).items
    capped = [i for i in items if i["kept"] and (i["ref"].startswith("tool:") or i["section"] == "memories")]
    assert 100 < sum(item["tokens"] for item in capped) <= 400


async def test_each_round_is_booked_with_its_prediction_beside_the_providers_figure(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_known_ratios()  # of the tests before
    with_plan(monkeypatch, roomy(task=3_000))
    provider.script(reading(long_document), reading(long_document), {"text": "So."})
    tab = await tabs.open(alice)
    done = await tab.talk("Read it twice")
    receipt = await receipt_of(done["message"])
    assert len(receipt.rounds) == 3
    known = 0
    for booked, request in zip(receipt.rounds, provider.requests(), strict=True):
        actual = counted(request)
        assert booked["input"] + booked["cache_read"] + booked["cache_write_5m"] + booked["cache_write_1h"] == actual
        assert booked["predicted"] - known == pytest.approx(actual - known, rel=0.4), "no ratio is learned yet"
        known = actual  # what the provider has counted is no longer estimated


async def test_results_that_were_sent_stay_as_they_are_while_there_is_room(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_plan(monkeypatch, roomy(task=6_000))
    provider.script(*[reading(long_document)] * 3, {"text": "So."})
    tab = await tabs.open(alice)
    await tab.talk("Read it")
    second, third, fourth = (results_of(request) for request in provider.requests()[1:])
    assert third[:1] == second
    assert fourth[:2] == third


async def test_a_stop_before_a_round_was_heard_of_books_its_input_as_estimated(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, sent = provider_module.open_stream, []

    async def open_stream(request: Any) -> Any:
        sent.append(request)
        if len(sent) == 2:
            await asyncio.sleep(60)
        return await real(request)

    monkeypatch.setattr(agent_loop, "open_stream", open_stream)
    provider.script(reading(long_document))
    tab = await tabs.open(alice)
    accepted = await tab.ask("Read it")
    while len(sent) < 2:  # noqa: ASYNC110 (the product needs no event for it)
        await asyncio.sleep(0.01)
    await tab.tell("stop", conversation=accepted["conversation"])
    await tab.hear("done")
    await settled()
    receipt = await receipt_of(accepted["message"])
    first, second = receipt.rounds
    assert (first["estimated"], second["estimated"], receipt.usage_is_estimated) == (False, True, True)
    assert second["input"] == second["predicted"] > first["predicted"] / 2


# Near the limit -----------------------------------------------------------------------------------------------------


async def talked(alice: Any, tabs: Tabs, turns: int) -> tuple[Tab, str]:
    tab = await tabs.open(alice)
    conversation = None
    for _ in range(turns):
        conversation = (await tab.talk(SENTENCE * 3, conversation))["conversation"]
    assert conversation is not None
    return tab, conversation


async def near_the_limit(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> tuple[Tab, str, int]:
    """A tab and a conversation, and a plan that the next prompt fills up to a few tokens."""
    tab, conversation = await talked(alice, tabs, 6)
    before, size = (counted(request) for request in provider.requests()[-2:])
    limit = size + (size - before) + 6
    plan = resolve(SMALL, 1_000_000)
    as_before = {**plan.ceilings, Section.SYSTEM_PROMPT: FULL_NEEDS}  # the same system prompt as in earlier turns
    with_plan(monkeypatch, replace(plan, total=limit + plan.output_reserve, ceilings=as_before))
    return tab, conversation, limit


async def test_near_the_limit_the_provider_is_asked(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []
    honest = preflight._count

    async def count(request: dict[str, Any]) -> int | None:
        asked.append(await honest(request))
        return asked[-1]

    monkeypatch.setattr(preflight, "_count", count)
    tab, conversation, limit = await near_the_limit(alice, tabs, provider, monkeypatch)
    assert asked == [], "far from the limit nobody is asked"
    await tab.talk(SENTENCE * 3, conversation)
    assert asked
    assert counted(provider.requests()[-1]) <= limit
    assert counted(provider.requests()[-1]) in asked


async def test_a_count_that_fails_is_no_failure_of_the_turn(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab, conversation, limit = await near_the_limit(alice, tabs, provider, monkeypatch)
    asked: list[str] = []

    async def count_tokens(**request: Any) -> None:
        asked.append(request["model"])
        raise httpx2.ConnectError("no way there")

    monkeypatch.setattr(
        preflight, "get_client", lambda: SimpleNamespace(messages=SimpleNamespace(count_tokens=count_tokens))
    )
    done = await tab.talk(SENTENCE * 3, conversation)
    assert asked
    assert done["outcome"] == "complete"
    assert counted(provider.requests()[-1]) <= limit


async def test_what_the_provider_counts_too_long_is_compiled_for_less(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab, conversation, limit = await near_the_limit(alice, tabs, provider, monkeypatch)
    counts: Iterator[int] = iter([limit + 300])

    async def count(request: dict[str, Any]) -> int | None:
        return next(counts, limit)

    monkeypatch.setattr(preflight, "_count", count)
    done = await tab.talk(SENTENCE * 3, conversation)
    receipt = await receipt_of(done["message"])
    assert any(item["rule"] == "history gives way in its middle" for item in receipt.items)
    assert receipt.estimated_input <= limit - 300


async def test_where_nothing_can_give_way_the_message_is_refused_with_a_sentence(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "check_estimate", lambda *_, **__: PreflightResult(Verdict.SHORTEN, 700))
    tab = await tabs.open(alice)
    done = await tab.talk(SENTENCE * 2)
    answer = await Message.objects.aget(pk=done["message"])
    assert answer.event_data["error"]["code"] == "too_long"
    assert provider.requests() == []


async def test_tools_that_leave_no_room_end_the_turn_with_a_sentence(
    alice: Any, tabs: Tabs, provider: Provider, long_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.script({"text": "Let me see.", **reading(long_document)}, {"text": "never"})
    monkeypatch.setattr(preflight.ToolLoop, "next_request", _no_room)
    tab = await tabs.open(alice)
    done = await tab.talk("Read it")
    answer = await Message.objects.aget(pk=done["message"])
    assert (answer.status, answer.text) == (Message.Status.INTERRUPTED, "Let me see.")
    assert "no room" in answer.event_data["error"]["sentence"]


async def _no_room(*_: Any) -> None:
    return None


async def test_a_small_turn_asks_nobody_and_costs_one_request(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    await tab.talk("Hello")
    paths = [one["path"] for one in await sync_to_async(_all_requests)(provider)]
    assert paths.count("/v1/messages") == 1
    assert "/v1/messages/count_tokens" not in paths


def _all_requests(provider: Provider) -> list[dict[str, Any]]:
    logged: list[dict[str, Any]] = provider.http.get("/offline/requests").raise_for_status().json()["requests"]
    return logged


async def test_a_result_that_cannot_be_kept_is_shortened_all_the_same(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> str:
        raise revisions.PathTakenError("/artifacts/x")

    with_plan(monkeypatch, roomy(task=600))
    monkeypatch.setattr(preflight, "store_artifact", full)
    monkeypatch.setattr(
        "chat.turns.backend.run_tool", lambda opened, call: setattr(call, "result", json.dumps([SENTENCE] * 90))
    )
    provider.script({"tools": [{"name": "search_knowledge", "input": {"query": "x"}}]}, {"text": "Much."})
    tab = await tabs.open(alice)
    done = await tab.talk("Search")
    assert done["outcome"] == "complete"
    (shown,) = results_of(provider.requests()[-1])
    assert "[Shortened: the first" in shown
    assert "kept at" not in shown


@pytest.mark.parametrize(
    ("kind", "body"), [("text/html", "<p>Sign in</p>"), ("application/json", "<p>"), ("application/json", "{}")]
)
async def test_a_proxy_that_answers_for_the_provider_has_not_counted(
    kind: str, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = httpx2.MockTransport(lambda request: httpx2.Response(200, headers={"content-type": kind}, text=body))
    async with anthropic.AsyncAnthropic(api_key="test", http_client=httpx2.AsyncClient(transport=page)) as behind:
        monkeypatch.setattr(preflight, "get_client", lambda: behind)
        assert await preflight._count({"model": "any", "messages": []}) is None


async def test_results_stay_apart_where_a_server_gives_each_round_the_same_ids() -> None:
    shown: list[SentToolResult] = []
    request: dict[str, Any] = {"messages": []}
    for result in ("first", "second", "third"):
        arrived = SentToolResult(ToolUse("call_0", "read_document", {}, result), result, 1, 1, {})
        shown.append(arrived)
        request = preflight._with_results(request, [], [arrived], shown, cached=True)
    assert results_of({"body": request}) == ["first", "second", "third"]
