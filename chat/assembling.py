"""What has the model said? Its blocks, put together from the events of its stream as they arrive.

The SDK's own helper keeps a snapshot of the whole message beside every event, which takes a third of the time that a
short answer costs this process (`bench/turn.py`); a turn needs the text as it comes and, for the tool loop, the blocks
at the end, unchanged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import RawMessageStreamEvent

GROWING: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Kind of delta → the field that it makes longer, in the delta and in its block."""


@dataclass(slots=True)
class Reply:
    """One answer of the model."""

    stop_reason: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    """As the provider sent them, and as they go back to it in the tool loop."""
    _input: str = ""
    """JSON of the tool call that is being written."""

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The blocks that ask for a tool."""
        return [block for block in self.blocks if block["type"] == "tool_use"]

    def take(self, event: RawMessageStreamEvent) -> str:
        """Take in one event; the text it adds to the answer, if any."""
        if event.type == "content_block_start":
            self.blocks.append(event.content_block.to_dict())
            self._input = ""
        elif event.type == "content_block_delta":
            return self._grow(event.delta)
        elif event.type == "content_block_stop":
            self._end_block()
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
        return ""

    def _grow(self, delta: Any) -> str:
        block = self.blocks[-1]
        if delta.type in GROWING:
            name = GROWING[delta.type]
            block[name] = block.get(name, "") + getattr(delta, name)
            return str(delta.text) if name == "text" else ""
        if delta.type == "input_json_delta":
            self._input += delta.partial_json
        elif delta.type == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta.citation.to_dict()]
        return ""

    def _end_block(self) -> None:
        block = self.blocks[-1]
        if block["type"] == "tool_use":
            block["input"] = _parsed(self._input)


def _parsed(text: str) -> dict[str, Any]:
    """A tool call's input; nothing is `{}`, and so is what a length stop cut off in its middle: no tool will run."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
