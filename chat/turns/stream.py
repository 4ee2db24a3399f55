"""The model's reply, assembled from the events of its stream.

The SDK's own helper keeps a snapshot of the whole message with every event, which takes a third of the time of a short
answer (`bench/turn`); a turn only needs the text as it arrives and, for the tool loop, the final blocks unchanged.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from recall.text import model_json, storable_json

DELTA_FIELDS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Kind of delta → the field that it extends, in the delta and in its block."""

CALLS: Final = ("tool_use", "server_tool_use")
"""Blocks whose input arrives in pieces: a call that Recall runs, and one that the provider runs."""
SEARCHED: Final = "web_search_tool_result"


@dataclass(frozen=True, slots=True)
class Search:
    """A web search by the provider's own tool. Its pages are encrypted; only title and URL are readable."""

    id: str
    name: str
    input: dict[str, Any]
    result: str
    """JSON `{"results": [{"title", "url"}]}`; if it failed, the provider's error code."""
    failed: bool


@dataclass(slots=True)
class ModelReply:
    """One answer of the model."""

    stop_reason: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    """As the provider sent them; the tool loop sends them back unchanged."""
    _input: str = ""
    """JSON of the current tool call."""

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The blocks that ask for a tool."""
        return [block for block in self.blocks if block["type"] == "tool_use"]

    @property
    def searches(self) -> list[Search]:
        """The web searches that the provider ran in this reply, in order."""
        found = {block["tool_use_id"]: block["content"] for block in self.blocks if block["type"] == SEARCHED}
        return [
            Search(block["id"], block["name"], block["input"], *_pages(found.get(block["id"])))
            for block in self.blocks
            if block["type"] == "server_tool_use" and block["name"] == "web_search"
        ]

    def apply_event(self, event: Mapping[str, Any]) -> str:
        """Apply one event of the provider's API; returns the text it adds to the answer, if any."""
        match event["type"]:
            case "content_block_start":
                self.blocks.append(event["content_block"])
                self._input = ""
            case "content_block_delta":
                return self._extend(event["delta"])
            case "content_block_stop":
                self._end_block()
            case "message_delta":
                self.stop_reason = event["delta"].get("stop_reason") or self.stop_reason
        return ""

    def _extend(self, delta: Mapping[str, Any]) -> str:
        block, kind = self.blocks[-1], delta["type"]
        if kind in DELTA_FIELDS:
            name = DELTA_FIELDS[kind]
            block[name] = block.get(name, "") + delta[name]
            return str(delta[name]) if name == "text" else ""
        if kind == "input_json_delta":
            self._input += delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        return ""

    def _end_block(self) -> None:
        block = self.blocks[-1]
        if block["type"] in CALLS:
            block["input"] = _parse_input(self._input)
        self.blocks[-1] = storable_json(block)  # a lone surrogate could not be sent back


def _pages(content: Any) -> tuple[str, bool]:
    """The results as JSON, and whether the search failed: then its content is an error, or is missing."""
    if not isinstance(content, list):
        return f"The search failed ({(content or {}).get('error_code', 'broken off')}).", True
    shown = [{"title": page["title"], "url": page["url"]} for page in content]
    return model_json({"results": shown}), False


def _parse_input(text: str) -> dict[str, Any]:
    """A tool call's input. Empty or truncated JSON is `{}`; after a length stop no tool runs anyway."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
