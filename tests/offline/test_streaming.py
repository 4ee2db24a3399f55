"""A stream is the provider's event sequence, with the same message as a request without streaming."""

import json
from itertools import groupby
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.offline.conftest import Admin
from tests.offline.requests import MARY, SEARCH, current, request, said, user

Json = dict[str, Any]


def events(response: httpx2.Response) -> list[tuple[str, Json]]:
    """The server-sent events of a body, as (name, data)."""
    found = []
    for block in response.text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def stream(raw: httpx2.Client, body: Json) -> list[tuple[str, Json]]:
    response = raw.post("/v1/messages", json={**body, "stream": True})
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    return events(response)


def test_events_come_in_the_providers_order(raw: httpx2.Client, admin: Admin) -> None:
    admin.script(
        {
            "thinking": "I think.",
            "text": "Let me look.",
            "tools": [{"name": "search_knowledge", "input": {"query": "q"}}],
        }
    )
    sent = stream(raw, request(tools=[SEARCH], thinking={"type": "adaptive", "display": "summarized"}))
    assert [name for name, _ in groupby(name for name, _ in sent)] == [
        "message_start",
        "ping",
        *["content_block_start", "content_block_delta", "content_block_stop"] * 3,
        "message_delta",
        "message_stop",
    ]
    assert all(data["type"] == name for name, data in sent)
    kinds = [data["delta"]["type"] for name, data in sent if name == "content_block_delta"]
    assert [kind for kind, _ in groupby(kinds)] == [
        "thinking_delta",
        "signature_delta",
        "text_delta",
        "input_json_delta",
    ]
    assert [data["index"] for name, data in sent if name == "content_block_start"] == [0, 1, 2]


def test_a_text_comes_one_word_a_delta(raw: httpx2.Client, admin: Admin) -> None:
    admin.script({"text": "One two,  three\n\nfour"})
    sent = stream(raw, request())
    words = [data["delta"]["text"] for name, data in sent if name == "content_block_delta"]
    assert words == ["One ", "two,  ", "three\n\n", "four"]


def test_the_start_tells_the_input_and_the_end_the_cumulative_usage(raw: httpx2.Client) -> None:
    sent = dict(stream(raw, request()))
    start, end = sent["message_start"]["message"], sent["message_delta"]
    assert start["content"] == []
    assert start["stop_reason"] is None
    assert start["usage"]["input_tokens"] > 0
    assert start["usage"]["cache_creation"] == {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    assert end["delta"]["stop_reason"] == "end_turn"
    assert end["usage"]["input_tokens"] == start["usage"]["input_tokens"]
    assert end["usage"]["output_tokens"] > start["usage"]["output_tokens"]


async def test_the_sdk_reads_the_same_message_with_and_without_streaming(client: AsyncAnthropic) -> None:
    asked = request(current("Where does my sister live?", MARY))
    whole = await client.messages.create(**asked)
    async with client.messages.stream(**asked) as streamed:
        told = "".join([part async for part in streamed.text_stream])
        final = await streamed.get_final_message()
    assert told == said(whole) == said(final)
    assert final.stop_reason == whole.stop_reason == "end_turn"
    assert final.usage.output_tokens == whole.usage.output_tokens
    assert final.usage.input_tokens == whole.usage.input_tokens
    assert final.id.startswith("msg_")
    assert final.id != whole.id


async def test_a_tools_input_is_pieced_together_by_the_sdk(client: AsyncAnthropic, admin: Admin) -> None:
    given = {"query": "a long “question” with\nlines and ünïcode " * 5, "nested": {"list": [1, 2.5, None, True]}}
    admin.script({"tools": [{"name": "search_knowledge", "input": given}, {"name": "search_knowledge", "input": {}}]})
    async with client.messages.stream(**request(tools=[SEARCH])) as streamed:
        final = await streamed.get_final_message()
    first, second = final.content
    assert first.type == second.type == "tool_use"
    assert first.input == given
    assert second.input == {}
    assert first.id != second.id
    assert final.stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("thinking", "kinds", "shown"),
    [
        (None, ["text"], None),
        ({"type": "adaptive"}, ["thinking", "text"], ""),
        ({"type": "adaptive", "display": "omitted"}, ["thinking", "text"], ""),
        ({"type": "adaptive", "display": "summarized"}, ["thinking", "text"], "I looked."),
    ],
)
async def test_thinking_is_shown_only_when_a_summary_is_asked_for(
    client: AsyncAnthropic, admin: Admin, thinking: Json | None, kinds: list[str], shown: str | None
) -> None:
    admin.script({"thinking": "I looked.", "text": "Found."})
    async with client.messages.stream(**request(**({"thinking": thinking} if thinking else {}))) as streamed:
        final = await streamed.get_final_message()
    assert [block.type for block in final.content] == kinds
    first = final.content[0]
    if first.type == "thinking":
        assert first.thinking == shown
        assert first.signature
        assert final.usage.output_tokens_details
        assert 0 < final.usage.output_tokens_details.thinking_tokens < final.usage.output_tokens


async def test_max_tokens_cuts_the_answer_and_says_so(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "word " * 100})
    answer = await client.messages.create(**request(max_tokens=10))
    assert answer.stop_reason == "max_tokens"
    assert answer.usage.output_tokens <= 10
    assert said(answer) != "word " * 100
    assert said(answer).startswith("word word")


async def test_a_stop_sequence_ends_the_answer_before_itself(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "One. Two. END Three."})
    answer = await client.messages.create(**request(stop_sequences=["Three", "END"]))
    assert said(answer) == "One. Two. "
    assert answer.stop_reason == "stop_sequence"
    assert answer.stop_sequence == "END"


async def test_an_answer_that_fills_the_window_stops_for_that_reason(client: AsyncAnthropic, admin: Admin) -> None:
    admin.script({"text": "word " * 4_000})
    prompt = user("word " * 5_000)
    answer = await client.messages.create(**request(prompt, model="offline-demo-small", max_tokens=4_000))
    assert answer.stop_reason == "model_context_window_exceeded"
    assert answer.usage.input_tokens + answer.usage.output_tokens <= 8_000


def test_every_answer_has_a_request_id(raw: httpx2.Client) -> None:
    assert raw.post("/v1/messages", json=request()).headers["request-id"].startswith("req_")
    assert raw.post("/v1/messages", json=request(stream=True)).headers["request-id"].startswith("req_")
