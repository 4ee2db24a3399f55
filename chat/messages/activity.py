"""What did the model do before it answered, as people read it? While it does it, and folded away behind the answer.

Kept with the answer are the name of the tool, what it was asked and how much it brought; all it brought stands in the
events below the answer, and is not read to show a page.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from chat.turn import ToolUse
from recall.text import storable

NAME_CHARS: Final = 80
ABOUT_CHARS: Final = 100
"""Characters told of what a tool was asked."""


@dataclass(frozen=True, slots=True)
class ToolLabels:
    """How a tool's use is told."""

    doing: str
    done: str
    once: str
    """In the line that all of them are folded into; {n} where it was more than once."""
    often: str
    about: str = ""
    """Field of the input that says what it is about."""


TOOL_LABELS: Final[dict[str, ToolLabels]] = {
    "search_knowledge": ToolLabels(
        "Searching your memory",
        "Searched your memory",
        "searched your memory",
        "searched your memory {n} times",
        about="query",
    ),
    "search_conversation": ToolLabels(
        "Searching what was said",
        "Searched what was said",
        "searched what was said",
        "searched what was said {n} times",
        about="query",
    ),
    "read_document": ToolLabels("Reading a document", "Read", "read 1 document", "read {n} documents", about="path"),
    "remember": ToolLabels(
        "Proposing a memory", "Proposed to remember", "proposed 1 memory", "proposed {n} memories", about="statement"
    ),
    "update_task": ToolLabels("Noting the task", "Noted the task", "noted the task", "noted the task", about="goal"),
    "web_search": ToolLabels(
        "Searching the web", "Searched the web", "searched the web", "searched the web {n} times", about="query"
    ),
}
OTHER_TOOL: Final = ToolLabels("Looking something up", "Called a tool", "called a tool", "called {n} tools")
"""A model may invent a name."""


@dataclass(frozen=True, slots=True)
class Step:
    """One use of a tool."""

    name: str
    about: str = ""
    found: int | None = None
    """Results; None: what it brings is not counted."""
    failed: bool = False

    @property
    def labels(self) -> ToolLabels:
        """How it is told."""
        return TOOL_LABELS.get(self.name, OTHER_TOOL)

    @property
    def beginning(self) -> str:
        """While it is done."""
        return f"{self.labels.doing}: {self.about}" if self.about else self.labels.doing

    @property
    def line(self) -> str:
        """Once it is done."""
        return f"{self.labels.done}{f' “{self.about}”' if self.about else ''}{self._outcome}"

    @property
    def _outcome(self) -> str:
        if self.failed:
            return ": that did not work"
        if self.found is None:
            return ""
        return f": {self.found or 'nothing'} found"


def step_of(call: ToolUse) -> Step:
    """A tool's use in short; before it was run, what it is asked alone."""
    found = None if call.is_error else _found(call.result)
    return Step(storable(call.name)[:NAME_CHARS], about(call.name, call.input), found, call.is_error)


def about(name: str, asked: Any) -> str:
    """What a tool was asked about, by its input."""
    named = asked.get(TOOL_LABELS.get(name, OTHER_TOOL).about, "") if isinstance(asked, dict) else ""
    shown = " ".join(storable(named).split()) if isinstance(named, str) else ""
    return shown if len(shown) <= ABOUT_CHARS else f"{shown[: ABOUT_CHARS - 1]}…"


def readable(result: str) -> str:
    """What a tool answered, as people read it: the words it found, without what is for the model."""
    try:
        answer = json.loads(result)
    except ValueError:  # a sentence of its own, or what stands for what was moved or forgotten
        return result
    if not isinstance(answer, dict):
        return result
    results = answer.get("results")
    if isinstance(results, list):
        return " … ".join(filter(None, map(_titled, results))) or "Nothing was found."
    return _titled(answer) or str(answer.get("outcome", "")) or result


def _titled(found: Any) -> str:
    """“Title: text”, as far as it has them."""
    told = [found.get(name) for name in ("title", "text")] if isinstance(found, dict) else []
    return ": ".join(one for one in told if one and isinstance(one, str))


def _found(result: str) -> int | None:
    try:
        results = json.loads(result or "{}").get("results")
    except (ValueError, AttributeError):  # a tool that answers otherwise
        return None
    return len(results) if isinstance(results, list) else None


def serialize_steps(calls: Iterable[ToolUse]) -> list[dict[str, Any]]:
    """The steps as an answer's event data holds them."""
    told = (asdict(step_of(call)) for call in calls)
    return [{name: value for name, value in one.items() if value is not None and value is not False} for one in told]


def steps_of(event_data: dict[str, Any]) -> list[Step]:
    """The steps of an answer; of one from before they were kept, the names in its tool lines."""
    if "tools" in event_data:
        return [
            Step(one["name"], one.get("about", ""), one.get("found"), one.get("failed", False))
            for one in event_data["tools"]
        ]
    lines = (re.match(r"\[(\w+) ", line) for line in event_data.get("tool_lines", ()))
    return [Step(line[1]) for line in lines if line]


def folded(steps: Sequence[Step], thought: float | None) -> str:
    """All of it in one line: “Thought for 4 s, searched your memory, read 1 document”. Empty: there was none."""
    names = Counter(step.name if step.name in TOOL_LABELS else "" for step in steps)
    parts = [f"thought for {max(1, round(thought))} s"] if thought is not None else []
    for name, times in names.items():
        labels = TOOL_LABELS.get(name, OTHER_TOOL)
        parts.append(labels.once if times == 1 else labels.often.format(n=times))
    line = ", ".join(parts)
    return line[:1].upper() + line[1:]
