"""A receipt covers the whole prompt: every candidate with its outcome, and parts that add up."""

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync, sync_to_async

from budget.models import Receipt
from chat.ingest.source import ChatSource
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.turns import intake
from memory.index.indexer import embed_pending
from memory.retrieval.recall import retrieve
from tests.chat.conftest import Provider, Tabs
from tests.memory.index.test_indexer import said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]


@sync_to_async
def memories(user: Any) -> None:
    for number in range(8):
        ChatSource().import_conversation(
            user, f"Talk {number}", said(("user", f"My cello number {number} comes from Cremona."))
        )
    embed_pending()


async def a_receipt(user: Any, tabs: Tabs, provider: Provider) -> Receipt:
    await memories(user)
    search = {"tools": [{"name": "search_knowledge", "input": {"query": "cello"}}]}
    provider.script({"text": "Hello."}, search, search, {"text": "From Cremona."})
    tab = await tabs.open(user)
    done = await tab.talk("Good morning")
    last = await tab.talk("Where do my cellos come from?", done["conversation"])
    return await Receipt.objects.aget(message=last["message"])


async def test_the_sum_of_the_parts_is_the_whole(alice: Any, tabs: Tabs, provider: Provider) -> None:
    receipt = await a_receipt(alice, tabs, provider)

    kept = [item for item in receipt.items if item["kept"]]
    assert {"task"} <= {item["section"] for item in kept}, "what the tool rounds added stands there too"
    assert sum(item["tokens"] for item in kept) == receipt.estimated_input
    assert sum(section["tokens"] for section in receipt.sections) == receipt.estimated_input
    for section in receipt.sections:
        of_it = [item for item in receipt.items if item["section"] == section["section"]]
        assert sum(item["tokens"] for item in of_it if item["kept"]) == section["tokens"]
        assert sum(item["tokens"] for item in of_it if not item["kept"]) == section["cut_tokens"]


async def test_every_candidate_has_its_fate_score_and_parts(alice: Any, tabs: Tabs, provider: Provider) -> None:
    receipt = await a_receipt(alice, tabs, provider)

    candidates = [item for item in receipt.items if item["section"] == "memories"]
    assert len(candidates) == 8
    for item in candidates:
        assert item["kept"] == (not item["rule"])
        assert item["parts"]["keyword"] > 0
        assert 0 < item["score"] <= 1
        assert item["tokens"] > 0
    assert {item["rule"] for item in candidates} > {""}


async def test_the_providers_figures_cost_and_times_are_those_of_all_requests(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    receipt = await a_receipt(alice, tabs, provider)

    assert len(receipt.rounds) == 3
    assert receipt.input_tokens == sum(one["input"] for one in receipt.rounds)
    assert receipt.cache_read_tokens == sum(one["cache_read"] for one in receipt.rounds)
    assert receipt.output_tokens == sum(one["output"] for one in receipt.rounds)
    assert receipt.cost is not None
    assert receipt.cost_uncached is not None
    assert 0 < receipt.cost < receipt.cost_uncached
    times = receipt.timings
    assert times["total"] >= times["first_token"] > 0
    assert times["compile"] >= times["history"] + times["profile"] + times["retrieve"]
    assert {name for name in times if name.startswith("retrieve.")} >= {"retrieve.read", "retrieve.rank"}
    assert len(receipt.request_digest) == 64


@pytest.mark.django_db(transaction=True)
def test_a_tighter_top_k_lowers_the_prompt_by_just_the_memories_it_leaves_out(
    alice: Any, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 003: “Tightening RAG_FINAL_TOP_K reduces prompt tokens predictably.”"""
    async_to_sync(memories)(alice)
    opened = intake.accept_message(alice, uuid4(), None, "Where do my cellos come from?")
    opened.conversation.user = alice

    defaults = retrieve.__kwdefaults__ or {}

    def compiled_with(top_k: int) -> AssembledPrompt:
        monkeypatch.setitem(defaults, "top_k", top_k)  # what RAG_FINAL_TOP_K sets at startup
        return assemble_prompt(opened)

    whole = compiled_with(5)
    best_first = [piece.tokens for piece in whole.fitted.kept if piece.section == "memories"]
    assert len(best_first) == 5
    for top_k in (4, 3, 1, 0):
        assert compiled_with(top_k).fitted.tokens == whole.fitted.tokens - sum(best_first[top_k:])


async def test_candidates_that_are_not_listed_are_counted(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch, sign_in: Any
) -> None:
    monkeypatch.setattr("chat.prompt.assemble.CANDIDATES_KEPT", 1)

    receipt = await a_receipt(alice, tabs, provider)

    client = await sync_to_async(sign_in)(alice)
    shown = await sync_to_async(client.get)(f"/receipts/{receipt.message_id}")
    assert receipt.ingredients["unlisted"] > 0
    assert f"And {receipt.ingredients['unlisted']} more with lower scores" in shown.content.decode()
