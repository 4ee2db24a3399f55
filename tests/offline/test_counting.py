"""count_tokens returns the sum of the three input parts of usage."""

from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.offline.requests import MARY, SEARCH, assistant, call, current, mark, request, result, text, user

Json = dict[str, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
NOTES = {"type": "document", "title": "Notes", "source": {"type": "text", "media_type": "text/plain", "data": "a b c"}}


@pytest.mark.parametrize(
    "asked",
    [
        request(),
        request(user("Γειά σου, 世界! " * 50)),
        request(current("Where does my sister live?", MARY), tools=[SEARCH], system="You are Recall."),
        request(user("a"), assistant(call("search_knowledge", {"query": "a"})), user(result("b")), tools=[SEARCH]),
        request(user(IMAGE, NOTES, "What is this?")),
        request(
            user("a"),
            assistant(text("b " * 600, **mark())),
            user("c"),
            system=[text("blueprint " * 400, **mark("1h"))],
            output_config={"effort": "low"},
        ),
    ],
)
async def test_the_count_equals_what_usage_sums_up_to(client: AsyncAnthropic, asked: Json) -> None:
    counted = await client.messages.count_tokens(**{key: asked[key] for key in asked if key != "max_tokens"})
    for _ in range(2):  # from the cache the second time
        usage = (await client.messages.create(**asked)).usage
        parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
        assert counted.input_tokens == sum(part or 0 for part in parts)


async def test_counting_refuses_what_it_does_not_know(client: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="max_tokens: Extra inputs are not permitted"):
        await client.messages.count_tokens(model="claude-sonnet-5-5", messages=[], extra_body={"max_tokens": 5})


async def test_counting_does_not_touch_the_cache(client: AsyncAnthropic) -> None:
    asked = request(system=[text("blueprint " * 400, **mark())])
    for _ in range(2):
        await client.messages.count_tokens(model=asked["model"], messages=asked["messages"], system=asked["system"])
    assert (await client.messages.create(**asked)).usage.cache_read_input_tokens == 0
