"""A turn through the API: server-sent events, with debug lines for those who may see them."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import AsyncClient

from chat.models import Message
from chat.turns.live import TURN_REGISTRY
from memory.index.indexer import embed_pending
from recall.db.notify import PROCESS_KEY
from recall.llm.client import close
from tests.chat.conftest import Provider, settled
from tests.memory.index.test_indexer import said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]

CELLO = "I bought a cello in Cremona from a man called Bertolotti."
Event = tuple[str, dict[str, Any]]


@pytest.fixture
async def api(provider: Provider) -> AsyncIterator[AsyncClient]:
    yield AsyncClient()
    await settled()
    await close()


async def signed_in(api: AsyncClient, user: Any) -> AsyncClient:
    await api.aforce_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return api


async def say(api: AsyncClient, text: str, address: str = "/api/v1/turns", **fields: Any) -> Any:
    headers = fields.pop("headers", None)
    return await api.post(address, {"text": text, **fields}, content_type="application/json", headers=headers)


async def heard(response: Any) -> tuple[list[Event], dict[str, Any]]:
    """The events and the comments of a stream."""
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "text/event-stream"
    events: list[Event] = []
    comments: dict[str, Any] = {}
    text = "".join([part.decode() async for part in response])
    for block in filter(None, text.split("\n\n")):
        lines = block.split("\n")
        for one in [line for line in lines if line.startswith(": ")]:
            name, _, view = one.removeprefix(": ").partition(" ")
            comments[name] = json.loads(view)
        fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":"))
        events.append((fields["event"], json.loads(fields["data"])))
    return events, comments


async def test_the_answer_comes_as_events_and_is_kept(api: AsyncClient, alice: Any, provider: Provider) -> None:
    provider.script({"text": "Good morning to you, Alice."})
    await signed_in(api, alice)

    events, comments = await heard(await say(api, "Good morning"))

    names = [name for name, _ in events]
    assert names[0] == "accepted"
    assert names[-1] == "done"
    assert "error" not in names
    assert comments == {}
    done = events[-1][1]
    assert "".join(data["text"] for name, data in events if name == "delta") == done["text"]
    assert done["text"] == "Good morning to you, Alice."
    assert done["outcome"] == "complete"
    assert done["usage"]["output"] > 0
    kept = await Message.objects.aget(pk=events[0][1]["message"])
    assert kept.text == done["text"]


async def test_a_conversation_goes_on_and_a_repeat_changes_nothing(api: AsyncClient, alice: Any) -> None:
    await signed_in(api, alice)
    first, _ = await heard(await say(api, "Good morning"))
    conversation, client_id = first[0][1]["conversation"], str(uuid4())

    second, _ = await heard(await say(api, "And now?", conversation=conversation, client_id=client_id))
    again, _ = await heard(await say(api, "And now?", conversation=conversation, client_id=client_id))

    assert second[0][1]["conversation"] == conversation
    assert second[-1][1]["turn"] == 2
    assert again[0][1]["duplicate"]
    assert again[-1][1] == second[-1][1]
    assert await Message.objects.filter(conversation=conversation, role="user").acount() == 2


async def test_a_repeat_at_another_process_follows_the_answer_to_its_end(api: AsyncClient, alice: Any) -> None:
    """A row of another process stands for it: it is written there, and ends there."""
    await signed_in(api, alice)
    client_id = str(uuid4())
    first, _ = await heard(await say(api, "Good morning", client_id=client_id))
    row = Message.objects.filter(pk=first[0][1]["message"])
    await row.aupdate(status=Message.Status.STREAMING, process_key=PROCESS_KEY + 1, text="Good ")

    stream = aiter(await say(api, "Good morning", client_id=client_id))
    begun = [(await anext(stream)).decode() for _ in range(2)]
    await row.aupdate(text="Good morning")
    begun.append((await anext(stream)).decode())
    await row.aupdate(status=Message.Status.INTERRUPTED, process_key=None)
    (done,) = [json.loads(part.decode().split("data: ")[1]) async for part in stream]

    written = [json.loads(part.split("data: ")[1]) for part in begun]
    assert written[0]["duplicate"]
    assert [(delta["offset"], delta["text"]) for delta in written[1:]] == [(0, "Good "), (5, "morning")]
    assert (done["outcome"], done["text"]) == ("interrupted", "Good morning")


async def test_who_goes_away_in_the_middle_finds_the_whole_answer(
    api: AsyncClient, alice: Any, provider: Provider
) -> None:
    provider.fail("slow:0.02")
    await signed_in(api, alice)
    response = await say(api, "Tell me about the sea.")
    stream = aiter(response)
    accepted = json.loads((await anext(stream)).decode().split("data: ")[1])
    await anext(stream)

    await stream.aclose()

    assert TURN_REGISTRY.writes(accepted["message"]), "the turn goes on"
    await settled()
    answer = await Message.objects.aget(pk=accepted["message"])
    assert answer.status == Message.Status.COMPLETE
    assert answer.text


async def test_a_failure_is_an_event_before_the_end(api: AsyncClient, alice: Any, provider: Provider) -> None:
    provider.fail("unauthorized", times=3)
    await signed_in(api, alice)

    events, _ = await heard(await say(api, "Good morning"))

    assert [name for name, _ in events][-2:] == ["error", "done"]
    assert events[-2][1]["sentence"].endswith(".")
    assert events[-1][1]["outcome"] == "failed"


async def test_strangers_and_wrong_messages_are_refused_before_anything_is_sent(
    api: AsyncClient, alice: Any, bob: Any
) -> None:
    assert (await say(api, "Good morning")).status_code == 401
    await signed_in(api, alice)
    mine, _ = await heard(await say(api, "Good morning"))
    await signed_in(api, bob)

    foreign = await say(api, "And now?", conversation=mine[0][1]["conversation"])
    empty = await say(api, "  ")

    assert foreign.status_code == 404
    assert foreign["Content-Type"] == "application/problem+json"
    assert empty.status_code == 400
    assert await Message.objects.filter(user=bob).acount() == 0


async def test_without_a_csrf_token_nothing_is_sent(alice: Any, provider: Provider) -> None:
    strict = AsyncClient(enforce_csrf_checks=True)
    await signed_in(strict, alice)
    assert (await say(strict, "Good morning")).status_code == 403
    assert await Message.objects.acount() == 0


@sync_to_async
def a_memory(user: Any) -> None:
    from chat.ingest.source import ChatSource

    ChatSource().import_conversation(user, "Instruments", said(("user", CELLO)))
    embed_pending()


async def test_staff_may_ask_for_debug_lines(api: AsyncClient, charlie: Any, provider: Provider) -> None:
    provider.script(
        {"tools": [{"name": "search_knowledge", "input": {"query": "luthiers"}}]}, {"text": "Bertolotti did."}
    )
    await a_memory(charlie)
    await signed_in(api, charlie)
    address = "/api/v1/turns?debug=memory&debug=rag&debug=search"

    events, told = await heard(await say(api, "Who sold me the cello from Cremona?", address))

    assert events[-1][0] == "done"
    assert set(told) == {"MEMORY_DEBUG", "RAG_DEBUG", "SEARCH_DEBUG"}
    (best, *_) = told["RAG_DEBUG"]["candidates"]
    assert best["kept"]
    assert best["text"] == CELLO
    assert best["parts"]["keyword"] > 0
    assert told["RAG_DEBUG"]["kept"] == 1
    assert told["SEARCH_DEBUG"]["query"] == "Who sold me the cello from Cremona?"
    assert told["SEARCH_DEBUG"]["legs"]["words"] == 1
    assert {"retrieve", "embed", "rank"} <= set(told["SEARCH_DEBUG"]["milliseconds"])
    (call,) = told["SEARCH_DEBUG"]["tools"]
    assert call["tool"] == "search_knowledge"
    assert call["input"] == {"query": "luthiers"}
    assert not call["failed"]
    tiers = {one["section"]: one["tier"] for one in told["MEMORY_DEBUG"]["sections"]}
    assert tiers.items() >= {"profile": "semantic", "memories": "semantic and episodic", "clock": ""}.items()


async def test_others_are_told_that_debug_lines_are_for_staff(api: AsyncClient, alice: Any) -> None:
    await signed_in(api, alice)

    refused = await say(api, "Good morning", headers={"X-Recall-Debug": "rag"})
    unknown = await say(api, "Good morning", headers={"X-Recall-Debug": "everything"})

    assert refused.status_code == 403
    assert unknown.status_code == 422
    assert await Message.objects.acount() == 0


async def test_an_operator_opens_one_of_them_to_all(
    api: AsyncClient, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.ENVIRONMENT, "rag_debug", True)
    await signed_in(api, alice)

    _, told = await heard(await say(api, "Good morning", headers={"X-Recall-Debug": "rag"}))
    refused = await say(api, "Good morning", headers={"X-Recall-Debug": "rag, memory"})

    assert set(told) == {"RAG_DEBUG"}
    assert refused.status_code == 403


async def test_the_panel_shows_the_same_to_staff_only(api: AsyncClient, alice: Any, charlie: Any) -> None:
    await signed_in(api, charlie)
    events, _ = await heard(await say(api, "Good morning"))
    address = f"/receipts/{events[0][1]['message']}"

    panel = (await api.get(address)).content.decode()
    shown = await api.get(f"{address}/debug")

    assert f"{address}/debug" in panel
    for name in ("MEMORY_DEBUG", "RAG_DEBUG", "SEARCH_DEBUG"):
        assert name in shown.content.decode()
    await signed_in(api, alice)
    assert (await api.get(f"{address}/debug")).status_code == 404, "it is another's"
    mine, _ = await heard(await say(api, "Good morning"))
    address = f"/receipts/{mine[0][1]['message']}"
    assert (await api.get(f"{address}/debug")).status_code == 403
    own = (await api.get(address)).content.decode()
    assert "/debug" not in own


async def test_two_listeners_do_not_disturb_each_other(api: AsyncClient, alice: Any, provider: Provider) -> None:
    provider.fail("slow:0.01")
    await signed_in(api, alice)
    client_id = str(uuid4())
    first = await say(api, "Tell me about the sea.", client_id=client_id)
    second = await say(api, "Tell me about the sea.", client_id=client_id)

    (one, _), (other, _) = await asyncio.gather(heard(first), heard(second))

    assert one[-1] == other[-1]
    for events in (one, other):
        assert "".join(data["text"] for name, data in events if name == "delta").strip() == events[-1][1]["text"]
