"""Debug views of one turn's receipt, for troubleshooting.

`MEMORY_DEBUG`: the always-included sections, kept or cut and why. `RAG_DEBUG`: every retrieval candidate with its score
parts and rule. `SEARCH_DEBUG`: query, retrieval legs, timings, and the model's own searches. They contain the user's
text: for the user and staff only.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from budget.models import Receipt
from budget.planning.items import Item
from budget.planning.plan import Section

View = dict[str, Any]

ALWAYS_THERE: Final = (Section.BOUNDARIES, Section.ROLE, Section.PROFILE, Section.HISTORY)
"""Sections that don't depend on a search."""
LEGS: Final = {"meaning": "semantic", "words": "keyword"}
"""Retrieval leg → the score part that shows it found a candidate."""
STEP: Final = "retrieve."
"""Prefix of the retrieval's timings on a receipt."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    tool: str
    input: Mapping[str, Any]
    characters: int
    """Length of the result."""
    failed: bool


def memory_debug(receipt: Receipt, _: Sequence[ToolCall] = ()) -> View:
    """The always-included sections (profile, boundaries, role, history), kept or cut and why."""
    always = [item for item in receipt.items if item["section"] in ALWAYS_THERE]
    return {
        "plan": {"name": receipt.plan, "total": receipt.plan_total, "estimated_input": receipt.estimated_input},
        "snapshot": receipt.snapshot_id,
        "sections": [
            {
                **{name: total[name] for name in ("section", "tokens", "ceiling", "cut", "cut_tokens")},
                "tier": Section(total["section"]).tier,
            }
            for total in receipt.sections
        ],
        "items": [_item(item) for item in always],
    }


def rag_debug(receipt: Receipt, _: Sequence[ToolCall] = ()) -> View:
    """Every retrieval candidate, best first, with its score parts, kept or cut by which rule."""
    candidates = sorted(_candidates(receipt), key=lambda item: -(item["score"] or 0.0))
    return {
        "kept": sum(item["kept"] for item in candidates),
        "tokens": sum(item["tokens"] for item in candidates if item["kept"]),
        "candidates": [{**_item(item), "text": item["label"], "parts": item["parts"]} for item in candidates],
    }


def search_debug(receipt: Receipt, calls: Sequence[ToolCall] = ()) -> View:
    """The index query with the time of each step, then the model's own searches."""
    candidates = _candidates(receipt)
    steps = {name.removeprefix(STEP): ms for name, ms in receipt.timings.items() if name.startswith(STEP)}
    return {
        "query": next((item["label"] for item in receipt.items if item["section"] == Section.MESSAGE), ""),
        "legs": {leg: sum(item["parts"].get(part, 0) > 0 for item in candidates) for leg, part in LEGS.items()},
        "milliseconds": {"retrieve": receipt.timings.get("retrieve", 0), **steps},
        "tools": [asdict(call) for call in calls],
    }


VIEWS: Final[Mapping[str, Callable[[Receipt, Sequence[ToolCall]], View]]] = {
    "MEMORY_DEBUG": memory_debug,
    "RAG_DEBUG": rag_debug,
    "SEARCH_DEBUG": search_debug,
}


def build_views(receipt: Receipt, names: Iterable[str]) -> dict[str, View]:
    """The named views. Reads the turn's tool calls: two statements at most."""
    calls = list(tool_calls(receipt)) if "SEARCH_DEBUG" in names else []
    return {name: VIEWS[name](receipt, calls) for name in VIEWS if name in names}


def line(name: str, view: View) -> str:
    """One view as an event-stream comment; always a single line."""
    return f": {name} {json.dumps(view, ensure_ascii=False, sort_keys=True)}\n"


def tool_calls(receipt: Receipt) -> Iterator[ToolCall]:
    """The model's tool calls in this turn, in order."""
    events = list(receipt.message.children.filter(role="tool").order_by("seq"))
    results = {event.event_data.get("id"): event for event in events if event.event_type == "tool_result"}
    for event in events:
        if event.event_type == "tool_call":
            result = results.get(event.event_data.get("id"))
            failed = result is None or bool(result.event_data.get("is_error"))
            yield ToolCall(event.author, event.event_data.get("input", {}), len(result.text) if result else 0, failed)


def _candidates(receipt: Receipt) -> list[Item]:
    """Retrieval candidates, without the profile updates in the same section."""
    in_section = [item for item in receipt.items if item["section"] == Section.MEMORIES]
    return [item for item in in_section if not item["ref"].startswith("update:")]


def _item(item: Item) -> View:
    return {name: item[name] for name in ("ref", "section", "tokens", "score", "kept", "rule")}
