"""The Models API, from which a client learns what it may request."""

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import ModelInfo

from offline.protocol.models import MODELS, model_info


async def test_the_list_holds_every_model_in_the_sdks_shape(client: AsyncAnthropic) -> None:
    listed = [model async for model in client.models.list()]
    assert [model.id for model in listed] == list(MODELS)
    assert {"claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5", "offline-demo-small"} <= set(MODELS)
    for model in listed:
        ModelInfo.model_validate(model.to_dict(), strict=False)
        assert model.capabilities
        assert model.capabilities.structured_outputs.supported


@pytest.mark.parametrize(
    ("model_id", "window", "output", "thinking"),
    [
        ("claude-sonnet-5-5", 1_000_000, 128_000, {"adaptive", "between_tools"}),
        ("claude-haiku-5-5", 1_000_000, 128_000, {"adaptive", "disabled"}),
        ("claude-opus-5-5", 1_000_000, 128_000, {"adaptive"}),
        ("offline-demo-small", 8_000, 4_000, {"adaptive", "disabled"}),
    ],
)
async def test_a_model_tells_its_window_and_the_thinking_it_takes(
    client: AsyncAnthropic, model_id: str, window: int, output: int, thinking: set[str]
) -> None:
    model = await client.models.retrieve(model_id)
    assert (model.max_input_tokens, model.max_tokens) == (window, output)
    assert model.capabilities
    kinds = model.capabilities.thinking.types.to_dict()
    assert {kind for kind, support in kinds.items() if support["supported"]} == thinking  # type: ignore[index]


def test_every_name_says_that_this_is_no_language_model() -> None:
    assert all("no language model" in model_info(model)["display_name"] for model in MODELS.values())


async def test_pages_follow_one_another(client: AsyncAnthropic) -> None:
    first = await client.models.list(limit=2)
    assert len(first.data) == 2
    assert first.has_more
    second = await first.get_next_page()
    assert [model.id for model in (*first.data, *second.data)] == list(MODELS)[:4]
    back = await client.models.list(limit=2, before_id=second.data[0].id)
    assert [model.id for model in back.data] == [model.id for model in first.data]


async def test_an_unknown_model_is_not_found(client: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("claude-nobody")


def test_a_page_of_no_size_is_refused(raw: httpx2.Client) -> None:
    assert raw.get("/v1/models", params={"limit": "0"}).status_code == 400
