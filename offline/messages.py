"""One request from validation to message: cache read, reply and usage."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from offline.faults import Fault, FaultQueue
from offline.protocol.cache import Booking, InputUsage, PromptCache
from offline.protocol.diagnostics import Fingerprint, Fingerprints, fingerprint
from offline.protocol.models import Model
from offline.protocol.prompt import Prompt, read_prompt
from offline.protocol.reply import Answer, Reply, compose
from offline.protocol.validation import check_length, check_message, check_thinking_blocks
from offline.request_log import RequestLog
from offline.responder.request_facts import question_of, read
from offline.responder.respond import respond, structured
from offline.script import Script
from offline.search import Pages

Json = dict[str, Any]

DEFAULT_DELTA_DELAY = 0.015  # seconds between words: slow enough to see the streaming


class Offline:
    """The server's state: everything that outlives a request."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.admin = environ.get("OFFLINE_ADMIN") == "1"
        self.delta_delay = _seconds("OFFLINE_DELTA_DELAY", environ, DEFAULT_DELTA_DELAY)
        self.cache = PromptCache()
        self.fingerprints = Fingerprints()
        self.faults = FaultQueue()
        self.script = Script()
        self.pages = Pages()
        self.log = RequestLog(enabled=self.admin)


def _seconds(name: str, environ: Mapping[str, str], default: float) -> float:
    """A duration from the environment; raises ValueError with the name of an invalid one."""
    value = environ.get(name) or str(default)
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 60:
        raise ValueError(f"{name} needs a number of seconds from 0 to 60, not {value!r}")
    return seconds


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished message, and what it leaves behind once sending starts."""

    message: Json
    workspace: str
    booking: Booking
    fingerprint: Fingerprint

    def begin(self, offline: Offline) -> None:
        """Start the response: its cache entries become readable, its fingerprint comparable."""
        offline.cache.publish(self.booking)
        offline.fingerprints.remember(self.workspace, self.message["id"], self.fingerprint)


def admit(body: Any) -> tuple[Model, Prompt]:
    """Check a request as the provider does; raises `ApiError`."""
    model = check_message(body)
    prompt = read_prompt(body, model)
    check_length(prompt, model)
    check_thinking_blocks(body, prompt, model)
    return model, prompt


def take_turn(offline: Offline, workspace: str, body: Json, model: Model, prompt: Prompt, fault: Fault) -> Turn:
    """Answer an admitted request. Uses up a scripted reply, and refreshes cache entries that it reads."""
    booking = offline.cache.look_up(workspace, prompt, model.cache_minimum)
    stop = fault.argument if fault.name == "stop_reason" else None
    answer = compose(_choose_reply(offline.script, body), body, model, prompt, stop)
    mark = fingerprint(body, prompt)
    message = {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": model.id,
        "content": answer.content,
        "stop_reason": answer.stop_reason,
        "stop_sequence": answer.stop_sequence,
        "stop_details": answer.stop_details,
        "container": None,
        "diagnostics": offline.fingerprints.diagnose(workspace, body, mark, booking.usage),
        "usage": usage_json(booking.usage, answer),
    }
    return Turn(message, workspace, booking, mark)


def _choose_reply(script: Script, body: Json) -> Reply:
    """A scripted reply if one fits, else the smallest structured answer, else the responder's."""
    if body["max_tokens"] == 0:
        return Reply(())  # the request only warms the cache
    form = (body.get("output_config") or {}).get("format")
    scripted = script.take(question_of(body), structured=form is not None)
    if scripted is not None:
        return scripted
    return structured(form["schema"]) if form is not None else respond(read(body))


def usage_json(usage: InputUsage, answer: Answer) -> Json:
    """The provider's `usage`: `input_tokens` counts only what comes after the last breakpoint."""
    return {
        "input_tokens": usage.plain,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written_5m,
            "ephemeral_1h_input_tokens": usage.written_1h,
        },
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"thinking_tokens": answer.thinking_tokens},
        "server_tool_use": _server_tool_use(answer),
        "service_tier": "standard",
    }


def _server_tool_use(answer: Answer) -> Json | None:
    """What the provider bills separately: its own web searches."""
    searches = sum(block["type"] == "server_tool_use" for block in answer.content)
    return {"web_search_requests": searches, "web_fetch_requests": 0} if searches else None
