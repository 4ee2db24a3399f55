"""What can be told of one turn to somebody who looks for a fault? Three views of its receipt, as seed 003 names them.

`MEMORY_DEBUG`: what was always to stand in the prompt, kept or cut and why. `RAG_DEBUG`: every candidate of the
retrieval with its score parts and the rule. `SEARCH_DEBUG`: query, legs and timings, and the model's own searches. They
hold what the person said and Recall knows of them: for their own eyes, or staff's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from budget.models import Receipt
from budget.planning.items import Item
from budget.planning.plan import Section

Told = dict[str, Any]

ALWAYS_THERE: Final = (Section.BOUNDARIES, Section.ROLE, Section.PROFILE, Section.HISTORY)
"""Sections that are not found by a search: what stands in them is known before the question is read."""
LEGS: Final = {"meaning": "semantic", "words": "keyword"}
"""Of the retrieval, with the score part by which a candidate shows that the leg brought it up."""
STEP: Final = "retrieve."
"""Begins the names of the retrieval's own timings on a receipt."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One use of a tool by the model."""

    tool: str
    input: Mapping[str, Any]
    characters: int
    """Of the result."""
    failed: bool


def memory_debug(receipt: Receipt, _: Sequence[ToolCall] = ()) -> Told:
    """What was always to stand in the prompt: profile, boundaries, role, history; kept or cut, and why."""
    standing = [item for item in receipt.items if item["section"] in ALWAYS_THERE]
    return {
        "plan": {"name": receipt.plan, "total": receipt.plan_total, "estimated_input": receipt.estimated_input},
        "snapshot": receipt.snapshot_id,
        "sections": [
            {name: total[name] for name in ("section", "tokens", "ceiling", "cut", "cut_tokens")}
            for total in receipt.sections
        ],
        "items": [_item(item) for item in standing],
    }


def rag_debug(receipt: Receipt, _: Sequence[ToolCall] = ()) -> Told:
    """Every candidate of the retrieval, best first: its score and its parts, kept or cut, and by which rule."""
    candidates = sorted(_candidates(receipt), key=lambda item: -(item["score"] or 0.0))
    return {
        "kept": sum(item["kept"] for item in candidates),
        "tokens": sum(item["tokens"] for item in candidates if item["kept"]),
        "candidates": [{**_item(item), "text": item["label"], "parts": item["parts"]} for item in candidates],
    }


def search_debug(receipt: Receipt, calls: Sequence[ToolCall] = ()) -> Told:
    """What was asked of the index and how long each step took; then what the model itself searched for."""
    candidates = _candidates(receipt)
    steps = {name.removeprefix(STEP): ms for name, ms in receipt.timings.items() if name.startswith(STEP)}
    return {
        "query": next((item["label"] for item in receipt.items if item["section"] == Section.MESSAGE), ""),
        "legs": {leg: sum(item["parts"].get(part, 0) > 0 for item in candidates) for leg, part in LEGS.items()},
        "milliseconds": {"retrieve": receipt.timings.get("retrieve", 0), **steps},
        "tools": [asdict(call) for call in calls],
    }


VIEWS: Final[Mapping[str, Callable[[Receipt, Sequence[ToolCall]], Told]]] = {
    "MEMORY_DEBUG": memory_debug,
    "RAG_DEBUG": rag_debug,
    "SEARCH_DEBUG": search_debug,
}


def build_views(receipt: Receipt, names: Iterable[str]) -> dict[str, Told]:
    """The views of these names. Reads the turn's tool calls: two statements at most."""
    calls = list(tool_calls(receipt)) if "SEARCH_DEBUG" in names else []
    return {name: VIEWS[name](receipt, calls) for name in VIEWS if name in names}


def line(name: str, view: Told) -> str:
    """One view as a comment of an event stream: never more than one line, whatever it holds."""
    return f": {name} {json.dumps(view, ensure_ascii=False, sort_keys=True)}\n"


def tool_calls(receipt: Receipt) -> Iterator[ToolCall]:
    """The model's tool calls in this turn, in order, as their events hang below the answer."""
    events = list(receipt.message.children.filter(role="tool").order_by("seq"))
    results = {event.event_data.get("id"): event for event in events if event.event_type == "tool_result"}
    for event in events:
        if event.event_type == "tool_call":
            result = results.get(event.event_data.get("id"))
            failed = result is None or bool(result.event_data.get("is_error"))
            yield ToolCall(event.author, event.event_data.get("input", {}), len(result.text) if result else 0, failed)


def _candidates(receipt: Receipt) -> list[Item]:
    """What the retrieval brought up; updates of the profile stand in the same section, and were not searched for."""
    in_section = [item for item in receipt.items if item["section"] == Section.MEMORIES]
    return [item for item in in_section if not item["ref"].startswith("update:")]


def _item(item: Item) -> Told:
    return {name: item[name] for name in ("ref", "section", "tokens", "score", "kept", "rule")}
