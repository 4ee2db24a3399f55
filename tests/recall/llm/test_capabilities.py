"""What a server's Models API says about a model, however much it leaves out."""

from dataclasses import asdict
from typing import Any

import anthropic
import httpx2
import pytest

from offline.protocol.models import MODELS, model_info
from recall.llm import client

WHOLE: dict[str, Any] = dict(model_info(MODELS["claude-sonnet-5-5"]))
SWITCHES = ("structured_output", "thinking", "effort", "images", "web_search")


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`answering(body)` looks a model up on a server that returns `body`."""

    def answering(body: Any) -> client.Capabilities:
        transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=body))
        sdk = anthropic.Anthropic(
            api_key="test", base_url="http://test", http_client=httpx2.Client(transport=transport)
        )
        monkeypatch.setattr(client, "get_sync_client", lambda: sdk)
        client._known.clear()
        return client.get_capabilities("a-model")

    yield answering
    client._known.clear()


def test_the_whole_answer_is_read(answering: Any) -> None:
    found = answering(WHOLE)
    assert found.structured_output
    assert found.thinking
    assert found.context_window == WHOLE["max_input_tokens"]


@pytest.mark.parametrize("absent", sorted(WHOLE["capabilities"]))
@pytest.mark.parametrize("how", ["left out", "null", "empty"])
def test_a_field_that_is_left_out_is_off_and_the_others_stay(answering: Any, absent: str, how: str) -> None:
    capabilities = {name: value for name, value in WHOLE["capabilities"].items() if name != absent}
    if how != "left out":
        capabilities[absent] = None if how == "null" else {}
    whole, partial = asdict(answering(WHOLE)), asdict(answering({**WHOLE, "capabilities": capabilities}))
    off = {name for name in whole if whole[name] != partial[name]}
    assert off <= {
        "structured_outputs": {"structured_output"},
        "thinking": {"thinking"},
        "effort": {"effort"},
        "image_input": {"images"},
        "server_tools": {"web_search"},
    }.get(absent, set())
    assert not any(partial[name] for name in off)


@pytest.mark.parametrize(
    "body", [{"id": "a-model"}, {"id": "a-model", "capabilities": {}}, {"id": "x", "capabilities": []}, []]
)
def test_a_server_that_says_next_to_nothing_offers_nothing(answering: Any, body: Any) -> None:
    found = answering(body)
    assert not any(getattr(found, name) for name in SWITCHES)
    assert found.context_window == client.configured_capabilities().context_window
