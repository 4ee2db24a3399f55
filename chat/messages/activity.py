"""The steps before an answer, as pages show them: while a tool runs, and collapsed into one line afterwards.

The answer's row stores each tool's name, topic and number of results; the results are in events below the answer, and
pages don't read them.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from chat.turn import ToolUse
from memory.text.plain_words import plain_words
from memory.text.second_person import second_person
from recall.text import storable

NAME_CHARS: Final = 80
ABOUT_CHARS: Final = 100
"""Characters shown of a tool's topic."""


@dataclass(frozen=True, slots=True)
class ToolLabels:
    """How pages describe a tool call."""

    doing: str
    done: str
    once: str
    """For the summary line; `often` if it ran {n} times."""
    often: str
    about: str = ""
    """Field of the input with the topic."""


TOOL_LABELS: Final[dict[str, ToolLabels]] = {
    "search_knowledge": ToolLabels(
        "Searching your memory",
        "Searched your memory",
        "searched your memory",
        "searched your memory {n} times",
        about="query",
    ),
    "search_conversation": ToolLabels(
        "Searching your conversations",
        "Searched your conversations",
        "searched your conversations",
        "searched your conversations {n} times",
        about="query",
    ),
    "read_document": ToolLabels("Reading a document", "Read", "read 1 document", "read {n} documents", about="path"),
    "remember": ToolLabels(
        "Proposing a memory", "Proposed a memory", "proposed 1 memory", "proposed {n} memories", about="statement"
    ),
    "update_task": ToolLabels(
        "Updating the task", "Updated the task", "updated the task", "updated the task", about="goal"
    ),
    "web_search": ToolLabels(
        "Searching the web", "Searched the web", "searched the web", "searched the web {n} times", about="query"
    ),
}
OTHER_TOOL: Final = ToolLabels("Looking something up", "Called a tool", "called a tool", "called {n} tools")
"""For a name the model invented."""


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call."""

    name: str
    about: str = ""
    found: int | None = None
    """Number of results; None: not a search."""
    failed: bool = False

    @property
    def labels(self) -> ToolLabels:
        return TOOL_LABELS.get(self.name, OTHER_TOOL)

    @property
    def running_line(self) -> str:
        """Shown while it runs."""
        return f"{self.labels.doing}: {self.about}" if self.about else self.labels.doing

    @property
    def line(self) -> str:
        """Shown once it ran."""
        return f"{self.labels.done}{f' “{self.about}”' if self.about else ''}{self._outcome}"

    @property
    def _outcome(self) -> str:
        if self.failed:
            return ": failed"
        if self.found is None:
            return ""
        return f": {self.found or 'nothing'} found"


def step_of(call: ToolUse) -> Step:
    """The step of a call; before it has run, only its topic."""
    found = None if call.is_error else _count_results(call.result)
    return Step(storable(call.name)[:NAME_CHARS], about(call.name, call.input), found, call.is_error)


def about(name: str, asked: Any) -> str:
    """The topic of a call, from its input."""
    named = asked.get(TOOL_LABELS.get(name, OTHER_TOOL).about, "") if isinstance(asked, dict) else ""
    shown = " ".join(storable(named).split()) if isinstance(named, str) else ""
    return shown if len(shown) <= ABOUT_CHARS else f"{shown[: ABOUT_CHARS - 1]}…"


def readable(result: str) -> str:
    """A tool's result as users read it: titles and texts, without the parts meant for the model."""
    try:
        answer = json.loads(result)
    except ValueError:  # plain text, or the note that replaces a moved or forgotten result
        return result
    if not isinstance(answer, dict):
        return result
    results = answer.get("results")
    if isinstance(results, list):
        return " … ".join(filter(None, map(_titled, results))) or "Nothing was found."
    return _titled(answer) or str(answer.get("outcome", "")) or result


def _titled(result: Any) -> str:
    """“Title: text”, or the one it has, without Markdown; a fact as said to the user."""
    if not isinstance(result, dict):
        return ""
    said = second_person if str(result.get("id")).startswith("fact:") else plain_words
    parts = [result.get(name) for name in ("title", "text")]
    return ": ".join(said(part) for part in parts if part and isinstance(part, str))


def _count_results(result: str) -> int | None:
    try:
        results = json.loads(result or "{}").get("results")
    except (ValueError, AttributeError):  # the result isn't from a search
        return None
    return len(results) if isinstance(results, list) else None


def serialize_steps(calls: Iterable[ToolUse]) -> list[dict[str, Any]]:
    """The steps as an answer's event data stores them."""
    steps = (asdict(step_of(call)) for call in calls)
    return [{name: value for name, value in step.items() if value is not None and value is not False} for step in steps]


def steps_of(event_data: dict[str, Any]) -> list[Step]:
    """The steps of an answer; for an older one that didn't store them, the names in its tool lines."""
    if "tools" in event_data:
        return [
            Step(one["name"], one.get("about", ""), one.get("found"), one.get("failed", False))
            for one in event_data["tools"]
        ]
    lines = (re.match(r"\[(\w+) ", line) for line in event_data.get("tool_lines", ()))
    return [Step(line[1]) for line in lines if line]


def summarize_steps(steps: Sequence[Step], thought: float | None) -> str:
    """The summary line: “Thought for 4 s, searched your memory, read 1 document”; empty without steps."""
    names = Counter(step.name if step.name in TOOL_LABELS else "" for step in steps)
    parts = [f"thought for {max(1, round(thought))} s"] if thought is not None else []
    for name, times in names.items():
        labels = TOOL_LABELS.get(name, OTHER_TOOL)
        parts.append(labels.once if times == 1 else labels.often.format(n=times))
    line = ", ".join(parts)
    return line[:1].upper() + line[1:]
