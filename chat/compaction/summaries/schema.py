"""A segment's summary: its fields, their limits, and how it is rendered in a prompt.

Four lists of sentences (decisions, action items, insights, preferences), topics and a short narrative. Rendered: a
heading with the range of turns, a line of topics, and one labeled line per sentence. A `Summary` puts every text on one
line, so that none can look like a heading or another speaker.
"""

import bisect
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

from chat.compaction.summaries.truncate import MIN_READABLE_TOKENS, truncate_chars, truncate_tokens
from recall.environment import setting
from recall.llm.tokens import count_tokens
from recall.text import storable


class Verbosity(StrEnum):
    """How long a summary may be."""

    BRIEF = "brief"
    NORMAL = "normal"
    FULL = "full"

    @property
    def limit(self) -> int:
        """Base tokens of the rendered summary."""
        return min(LIMITS[self], MAX_TOKENS)


MAX_TOKENS: Final = setting("convo_summary_max_tokens", 800)
"""However long a summary is asked to be."""
LIMITS: Final[Mapping[Verbosity, int]] = {Verbosity.BRIEF: 150, Verbosity.NORMAL: 400, Verbosity.FULL: 800}
DEFAULT_VERBOSITY: Final = Verbosity(setting("summary_verbosity", "normal"))
"""400 tokens by default."""
MIN_LIMIT: Final = 40
"""Base tokens in which the heading and a topic surely fit."""

LABELS: Final[Mapping[str, str]] = {
    "narrative": "In short",
    "decisions": "Decision",
    "action_items": "Action item",
    "insights": "Insight",
    "preferences": "Preference",
}
"""Labels of the lines, in the order of the rendered text."""

HEADINGS: Final[Mapping[str, str]] = {
    "decisions": "Decisions",
    "action_items": "Action items",
    "insights": "Insights",
    "preferences": "Preferences",
}
"""Headings of the lists on pages and in documents."""

IMPORTANCE: Final = (
    "narrative",  # says what it was about, without which the rest is unclear
    "decisions",  # what applies from now on
    "action_items",  # what is still open
    "preferences",  # mostly known as facts, too
    "insights",  # can be found again by search
)

"""Which line stays longest. The first of each kind come before the second of any, and so on."""

WROTE: Final = "The user wrote: "
"""Introduces a narrative that consists of the user's own words, in quotation marks."""

TOPICS_SHARE: Final = 0.5
"""Of a prompt's summary, at most: topics are how a segment is found, but do not tell what was said."""
NARRATIVE_SHARE: Final = 0.5
"""The narrative's share, at most: a long one must leave room for decisions."""

MAX_ITEM, MAX_ITEMS = 300, 40
"""Characters of a sentence, sentences of a kind: a merged summary holds those of many segments."""
MAX_TOPIC, MAX_TOPICS = 60, 120
"""Characters of a topic (its column's width), topics."""
MAX_NARRATIVE: Final = 3_200
"""Characters: what 800 tokens hold."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn as engines read it. Recalled memories and tool results are never part of it."""

    number: int
    """Of the turn, along its branch."""
    question: str
    answer: str
    tool_lines: Sequence[str]
    """One line per tool call. Context, not evidence."""
    when: datetime


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary. Its texts are single lines within the limits above, whatever it is made from."""

    decisions: tuple[str, ...] = ()
    action_items: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    narrative: str = ""

    def __post_init__(self) -> None:
        for kind in KINDS:
            object.__setattr__(self, kind, _clean_texts(getattr(self, kind), MAX_ITEM, MAX_ITEMS))
        object.__setattr__(self, "topics", _clean_texts(self.topics, MAX_TOPIC, MAX_TOPICS))
        object.__setattr__(self, "narrative", truncate_chars(to_single_line(self.narrative), MAX_NARRATIVE))

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, field.name) for field in fields(self))

    def as_json(self) -> dict[str, Any]:
        """As stored in `Segment.summary`."""
        return {**{name: list(getattr(self, name)) for name in (*KINDS, "topics")}, "narrative": self.narrative}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse a stored value; an old or damaged one gives less, never an error."""
        stored = value if isinstance(value, dict) else {}
        narrative = stored.get("narrative")
        return cls(
            **{name: _strings(stored.get(name)) for name in (*KINDS, "topics")},
            narrative=narrative if isinstance(narrative, str) else "",
        )


KINDS: Final = ("decisions", "action_items", "insights", "preferences")

# Rendering -------------------------------------------------------------------------------------------------------


def render(summary: Summary, first: int, last: int, limit_tokens: int) -> str:
    """Render the summary of turns `first` to `last` in at most `limit_tokens` base tokens. Deterministic.

    The least important lines are left out first. The heading always stays, and topics up to half the limit.

    Raises:
        ValueError: the limit is below `MIN_LIMIT`.
    """
    if limit_tokens < MIN_LIMIT:
        raise ValueError(f"A summary needs at least {MIN_LIMIT} tokens, not {limit_tokens}.")
    heading = f"Summary of turns {first}–{last}:" if first != last else f"Summary of turn {first}:"
    topics = fit_topics(summary.topics, max(int(limit_tokens * TOPICS_SHARE), MIN_LIMIT) - count_tokens(heading) - 1)
    head = [heading, *([_topics_line(topics)] if topics else [])]
    return _render_lines(head, _fit_lines(head, _by_importance(summary, limit_tokens), limit_tokens))


def fit_topics(topics: Iterable[str], limit_tokens: int) -> tuple[str, ...]:
    """The topics, in order, whose line fits; one too long for the remaining room is skipped."""
    kept: tuple[str, ...] = ()
    for topic in topics:
        if count_tokens(_topics_line((*kept, topic))) <= limit_tokens:
            kept = (*kept, topic)
    return kept


def _topics_line(topics: Sequence[str]) -> str:
    return f"Topics: {', '.join(topics)}."


@dataclass(frozen=True, slots=True)
class _Line:
    kind: str
    place: int
    text: str

    def __str__(self) -> str:
        return f"{LABELS[self.kind]}: {self.text}"


def _by_importance(summary: Summary, limit_tokens: int) -> list[_Line]:
    """All lines, the most important first."""
    lines = [_Line(kind, place, text) for kind in KINDS for place, text in enumerate(getattr(summary, kind))]
    if narrative := truncate_tokens(summary.narrative, int(limit_tokens * NARRATIVE_SHARE)):
        lines.append(_Line("narrative", 0, narrative))
    return sorted(lines, key=lambda line: (line.place, IMPORTANCE.index(line.kind)))


def _fit_lines(head: Sequence[str], lines: Sequence[_Line], limit_tokens: int) -> list[_Line]:
    """As many lines as fit below the head; the next one shortened, if something readable is left of it."""
    fit = bisect.bisect_left(
        range(1, len(lines) + 1), True, key=lambda n: count_tokens(_render_lines(head, lines[:n])) > limit_tokens
    )
    kept = list(lines[:fit])
    while kept and count_tokens(_render_lines(head, kept)) > limit_tokens:  # counts of joined texts are not quite sums
        kept.pop()
    for line in lines[len(kept) : len(kept) + 1]:
        left = limit_tokens - count_tokens(_render_lines(head, kept)) - count_tokens(f"\n{LABELS[line.kind]}: ")
        shorter = (
            _Line(line.kind, line.place, truncate_tokens(line.text, left)) if left >= MIN_READABLE_TOKENS else line
        )
        if shorter.text and count_tokens(_render_lines(head, [*kept, shorter])) <= limit_tokens:
            kept.append(shorter)
    return kept


def _render_lines(head: Sequence[str], lines: Sequence[_Line]) -> str:
    order = list(LABELS)
    return "\n".join([*head, *map(str, sorted(lines, key=lambda line: (order.index(line.kind), line.place)))])


# Cleaning texts --------------------------------------------------------------------------------------------------

_BIDI_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks that could show a text in another order than it is written."""


def to_single_line(text: str) -> str:
    """The text on one line, without line breaks of any script, control characters and marks that reorder it."""
    plain = "".join(" " if unicodedata.category(char) == "Cc" else char for char in storable(text))
    return " ".join(_BIDI_MARKS.sub("", plain).split())


def deduplicate(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, ignoring case, in its first spelling."""
    seen: dict[str, str] = {}
    for text in texts:
        seen.setdefault(text.casefold(), text)
    return tuple(seen.values())


def _clean_texts(texts: Iterable[str], longest: int, most: int) -> tuple[str, ...]:
    clean = (truncate_chars(to_single_line(text), longest) for text in texts)
    return deduplicate(text for text in clean if text)[:most]


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()
