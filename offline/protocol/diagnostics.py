"""Cache diagnostics of a message: why an earlier request's prefix couldn't be reused.

A request names the previous message (`previous_message_id`, null on the first turn); the answer compares the two
requests. None means no divergence was found.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from offline.protocol.cache import InputUsage
from offline.protocol.prompt import Prompt

Json = dict[str, Any]

KEPT = 1_000  # fingerprints of earlier requests


@dataclass(frozen=True, slots=True)
class Fingerprint:
    model: str
    tools: bytes
    system: bytes
    messages: tuple[bytes, ...]
    parameters: str
    tokens: int


class Fingerprints:
    """The latest requests by the id of the message that answered them, per workspace."""

    def __init__(self) -> None:
        self.kept: OrderedDict[tuple[str, str], Fingerprint] = OrderedDict()

    def remember(self, workspace: str, message_id: str, fingerprint: Fingerprint) -> None:
        self.kept[workspace, message_id] = fingerprint
        if len(self.kept) > KEPT:
            self.kept.popitem(last=False)

    def diagnose(self, workspace: str, body: Json, now: Fingerprint, usage: InputUsage) -> Json | None:
        """`{"cache_miss_reason": {...}}`, or None if nothing was asked or nothing diverged."""
        previous_id = (body.get("diagnostics") or {}).get("previous_message_id")
        if previous_id is None:
            return None
        before = self.kept.get((workspace, previous_id))
        reason = "previous_message_not_found" if before is None else divergence(before, now)
        if reason is None:
            return None
        detail: Json = {"type": reason}
        if before is not None and reason != "unavailable":
            detail["cache_missed_input_tokens"] = max(0, before.tokens - usage.read)
        return {"cache_miss_reason": detail}


def fingerprint(body: Json, prompt: Prompt) -> Fingerprint:
    """The parts of a request that decide whether a later one can read its cache."""
    thinking = body.get("thinking") or {}
    parameters = (body.get("tool_choice"), thinking.get("type"), body.get("output_config"))
    return Fingerprint(
        model=f"{body['model']} {body.get('speed') or 'standard'}",
        tools=prompt.tools_mark,
        system=prompt.system_mark,
        messages=tuple(prompt.message_marks),
        parameters=repr(parameters),
        tokens=prompt.total,
    )


def divergence(before: Fingerprint, now: Fingerprint) -> str | None:
    """The first difference, in the order of the prefix; appended messages aren't a difference."""
    if before.model != now.model:
        return "model_changed"
    if before.tools != now.tools:
        return "tools_changed"
    if before.system != now.system:
        return "system_changed"
    if now.messages[: len(before.messages)] != before.messages:
        return "messages_changed"
    return "unavailable" if before.parameters != now.parameters else None
