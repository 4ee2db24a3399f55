"""The blocks put together from a stream are those of the SDK's own helper, byte for byte."""

from typing import Any

import anthropic
import pytest

from chat.turns.stream import ModelReply
from recall.llm import client as client_module
from tests.chat.conftest import Provider

ONE_OF_EACH: list[dict[str, Any]] = [
    {"text": "Naïve café, 東京 – two\n\nparagraphs."},
    {"thinking": "Where is it? Let me see.", "text": "In Lisbon."},
    {"text": "Let me look.", "tools": [{"name": "search_knowledge", "input": {"query": "sister’s “home”"}}]},
    {"tools": [{"name": "one", "input": {}}, {"name": "two", "input": {"a": {"b": [1, None, 2.5, "\\"]}}}]},
    {"text": "", "stop_reason": "refusal"},
    {"searches": [{"query": "the tide", "pages": []}], "text": "Nothing was found."},
    {
        "searches": [{"query": "tide", "pages": [{"title": "Tides", "url": "https://a.org", "page_age": "May 5"}]}],
        "text": "At nine.",
        "tools": [{"name": "one", "input": {"a": 1}}],
    },
]
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("one", "search_knowledge", "two")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scripted", ONE_OF_EACH)
async def test_the_blocks_are_those_of_the_sdks_helper(
    scripted: dict[str, Any], provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.script(scripted, scripted)
    request: dict[str, Any] = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 2_000,
        "messages": [{"role": "user", "content": "Where?"}],
        "tools": TOOLS,
        "thinking": {"type": "adaptive"},
    }
    async with anthropic.AsyncAnthropic(api_key="test", base_url=str(provider.http.base_url)) as client:
        async with client.messages.stream(**request) as stream:
            expected = await stream.get_final_message()
        reply, text = ModelReply(), ""
        monkeypatch.setattr(client_module, "get_client", lambda: client)
        async with await client_module.open_stream(request) as events:
            async for event in events:
                text += reply.apply_event(event)

    assert _without_ids(reply.blocks) == _without_ids([block.to_dict() for block in expected.content])
    assert reply.stop_reason == expected.stop_reason
    assert text == "".join(block.text for block in expected.content if block.type == "text")


def test_a_tool_call_that_a_length_stop_cut_off_has_no_input() -> None:
    call = {"type": "tool_use", "id": "t", "name": "one", "input": {}}
    cut_off = {"type": "input_json_delta", "partial_json": '{"query": "si'}
    reply = ModelReply()
    for event in (
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": cut_off},
        {"type": "content_block_stop", "index": 0},
    ):
        reply.apply_event(event)
    assert reply.tool_calls[0]["input"] == {}


SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "tide"}}
PAGE = {"type": "web_search_result", "title": "Tides", "url": "https://example.org", "encrypted_content": "x"}
OUTCOMES: list[tuple[Any, str, bool]] = [
    ([PAGE], '{"results": [{"title": "Tides", "url": "https://example.org"}]}', False),
    ([], '{"results": []}', False),
    (
        {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        "The search failed (max_uses_exceeded).",
        True,
    ),
    (None, "The search failed (broken off).", True),
]


@pytest.mark.parametrize(("content", "result", "failed"), OUTCOMES)
def test_a_search_of_the_provider_tells_what_it_found(content: Any, result: str, failed: bool) -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": content}
    (search,) = ModelReply(blocks=[SEARCH, found] if content is not None else [SEARCH]).searches
    assert (search.id, search.name, search.input) == ("s", "web_search", {"query": "tide"})
    assert (search.result, search.failed) == (result, failed)


def test_a_search_is_no_call_that_recall_answers() -> None:
    assert ModelReply(blocks=[SEARCH]).tool_calls == []


def _without_ids(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The offline server gives each call an id and each thought a signature of its own."""
    return [{name: value for name, value in block.items() if name not in ("id", "signature")} for block in blocks]


def test_half_of_a_surrogate_pair_can_be_sent_back() -> None:
    reply = ModelReply()
    block = {"type": "tool_use", "id": "t", "name": "search_knowledge", "input": {}}
    for event in (
        {"type": "content_block_start", "index": 0, "content_block": block},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": r'{"query": "tea \ud83d"}'},
        },
        {"type": "content_block_stop", "index": 0},
    ):
        reply.apply_event(event)
    assert reply.tool_calls[0]["input"] == {"query": "tea ?"}
