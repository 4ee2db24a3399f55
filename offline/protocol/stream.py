"""Stream events of a finished message: message_start, ping, the blocks, message_delta, message_stop.

A stream is a pure function of the message the same request would get without streaming.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from offline.errors import ApiError, error_body
from offline.protocol.reply import WORD

Json = dict[str, Any]

JSON_PIECE = re.compile(r".{1,16}", re.DOTALL)  # characters of a tool's input in one delta


class Frame(NamedTuple):
    """One server-sent event; `delta` marks those that are paced and counted."""

    data: bytes
    delta: bool = False


def frames(message: Json) -> Iterator[Frame]:
    """Every event of a message's stream. `usage` in message_delta is cumulative and repeats the input figures."""
    yield Frame(_event("message_start", {"message": _opening(message)}))
    yield Frame(_event("ping", {}))
    for index, block in enumerate(message["content"]):
        yield Frame(_event("content_block_start", {"index": index, "content_block": _empty(block)}))
        for delta in _deltas(block):
            yield Frame(_event("content_block_delta", {"index": index, "delta": delta}), delta=True)
        yield Frame(_event("content_block_stop", {"index": index}))
    closing = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details", "container")}
    yield Frame(_event("message_delta", {"delta": closing, "usage": _closing_usage(message["usage"])}))
    yield Frame(_event("message_stop", {}))


def error_frame(error: ApiError) -> bytes:
    """An error after the stream has started: HTTP 200 is already sent."""
    return f"event: error\ndata: {json.dumps(error_body(error))}\n\n".encode()


def _event(name: str, data: Json) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()


def _opening(message: Json) -> Json:
    """The message as it is before its first word."""
    usage = {**message["usage"], "output_tokens": 1, "output_tokens_details": None}
    return {**message, "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None, "usage": usage}


def _closing_usage(usage: Json) -> Json:
    kept = (
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
        "output_tokens_details",
        "server_tool_use",
    )
    return {key: usage[key] for key in kept}


def _empty(block: Json) -> Json:
    blank: dict[str, Json] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
        "server_tool_use": {"input": {}},
        "web_search_tool_result": {},  # sent whole with its start
    }
    return {**block, **blank[block["type"]]}


def _deltas(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "text":
            for word in WORD.findall(block["text"]):
                yield {"type": "text_delta", "text": word}
        case "thinking":
            for word in WORD.findall(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": word}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use" | "server_tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in JSON_PIECE.findall(json.dumps(block["input"])):
                yield {"type": "input_json_delta", "partial_json": piece}
