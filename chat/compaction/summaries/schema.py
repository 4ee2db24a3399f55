"""What does a segment's summary hold, and how does it stand in a prompt?

Four lists of sentences (decisions, action items, insights, preferences), the topics, and a short narrative. In a prompt
it is a heading that names the turns, a line of topics, and one line for each sentence, behind a label. Every text is
folded into one line when a `Summary` is made, so that none of them can look like a heading or like somebody speaking.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

from chat.compaction.summaries.truncate import READABLE, truncate_chars, truncate_tokens
from recall.environment import setting
from recall.llm.tokens import count_tokens
from recall.text import storable


class Verbosity(StrEnum):
    """How much a summary may say (seed 000: “configurable verbosity”)."""

    BRIEF = "brief"
    NORMAL = "normal"
    FULL = "full"

    @property
    def limit(self) -> int:
        """Base tokens of the rendered summary."""
        return LIMITS[self]


LIMITS: Final[Mapping[Verbosity, int]] = {Verbosity.BRIEF: 150, Verbosity.NORMAL: 400, Verbosity.FULL: 800}
DEFAULT_VERBOSITY: Final = Verbosity(setting("summary_verbosity", "normal"))
"""400 tokens, as seed 003 says (CONVO_SUMMARY_MAX_TOKENS)."""
LEAST_LIMIT: Final = 40
"""Base tokens in which the heading and a topic surely fit."""

LABELS: Final[Mapping[str, str]] = {
    "narrative": "In short",
    "decisions": "Decision",
    "action_items": "Action item",
    "insights": "Insight",
    "preferences": "Preference",
}
"""What stands before a line, in the order of the page."""

HEADINGS: Final[Mapping[str, str]] = {
    "decisions": "Decisions",
    "action_items": "Action items",
    "insights": "Insights",
    "preferences": "Preferences",
}
"""Headings of the lists on pages and in documents."""

IMPORTANCE: Final = (
    "narrative",  # says what it was about: without it the rest hangs in the air
    "decisions",  # what holds from now on
    "action_items",  # what is still open
    "preferences",  # mostly known as facts, too
    "insights",  # can be found again by search
)

"""Which line stays longest. The first of each kind come before the second of any, and so on."""

WROTE: Final = "The user wrote: "
"""How a narrative begins that is made of the user's own words, in quotation marks."""

TOPICS_SHARE: Final = 0.5
"""Of a prompt's summary, at most: topics are how a segment is found, but do not tell what was said."""
NARRATIVE_SHARE: Final = 0.5
"""Likewise of the narrative, so that a long one leaves room for decisions."""

MAX_ITEM, MAX_ITEMS = 300, 40
"""Characters of a sentence, sentences of a kind: a merged summary holds those of many segments."""
MAX_TOPIC, MAX_TOPICS = 60, 120
"""Characters of a topic (its column's width), topics."""
MAX_NARRATIVE: Final = 3_200
"""Characters: what 800 tokens hold."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn as it is summarized. Recalled memories and tool results were never part of it."""

    number: int
    """Of the turn, along its branch."""
    question: str
    """What the user wrote."""
    answer: str
    """What the model answered."""
    tool_lines: Sequence[str]
    """One line for each tool call. Context, and no evidence."""
    when: datetime


@dataclass(frozen=True, slots=True)
class Summary:
    """What stays of a segment. Whatever it is made from, its texts are single lines within the lengths above."""

    decisions: tuple[str, ...] = ()
    action_items: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    narrative: str = ""

    def __post_init__(self) -> None:
        for kind in KINDS:
            object.__setattr__(self, kind, _texts(getattr(self, kind), MAX_ITEM, MAX_ITEMS))
        object.__setattr__(self, "topics", _texts(self.topics, MAX_TOPIC, MAX_TOPICS))
        object.__setattr__(self, "narrative", truncate_chars(folded(self.narrative), MAX_NARRATIVE))

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not any(getattr(self, field.name) for field in fields(self))

    def as_json(self) -> dict[str, Any]:
        """As `Segment.summary` keeps it."""
        return {**{name: list(getattr(self, name)) for name in (*KINDS, "topics")}, "narrative": self.narrative}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """What of a stored value can be read; an old or a damaged one gives less, and never an error."""
        stored = value if isinstance(value, dict) else {}
        narrative = stored.get("narrative")
        return cls(
            **{name: _strings(stored.get(name)) for name in (*KINDS, "topics")},
            narrative=narrative if isinstance(narrative, str) else "",
        )


KINDS: Final = ("decisions", "action_items", "insights", "preferences")

# How it stands in a prompt ---------------------------------------------------------------------------------------


def render(summary: Summary, first: int, last: int, limit_tokens: int) -> str:
    """The summary of turns `first` to `last` in at most `limit_tokens` base tokens; the same bytes each time.

    The least important lines go first. The range of turns always stays, and topics do as far as half the limit holds.

    Raises:
        ValueError: the limit is below `LEAST_LIMIT`.
    """
    if limit_tokens < LEAST_LIMIT:
        raise ValueError(f"A summary needs at least {LEAST_LIMIT} tokens, not {limit_tokens}.")
    heading = f"Summary of turns {first}–{last}:" if first != last else f"Summary of turn {first}:"
    topics = fitting_topics(
        summary.topics, max(int(limit_tokens * TOPICS_SHARE), LEAST_LIMIT) - count_tokens(heading) - 1
    )
    head = [heading, *([_topics_line(topics)] if topics else [])]
    return _page(head, _within(head, _by_importance(summary, limit_tokens), limit_tokens))


def fitting_topics(topics: Iterable[str], limit_tokens: int) -> tuple[str, ...]:
    """The topics, in their order, whose line fits; one that is too long for what is left is passed over."""
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
    """Every line, those first that stay longest."""
    lines = [_Line(kind, place, text) for kind in KINDS for place, text in enumerate(getattr(summary, kind))]
    if narrative := truncate_tokens(summary.narrative, int(limit_tokens * NARRATIVE_SHARE)):
        lines.append(_Line("narrative", 0, narrative))
    return sorted(lines, key=lambda line: (line.place, IMPORTANCE.index(line.kind)))


def _within(head: Sequence[str], lines: Sequence[_Line], limit_tokens: int) -> list[_Line]:
    """As many of the lines as fit below the head, and the next one shortened if something readable is left of it."""
    fit = bisect.bisect_left(
        range(1, len(lines) + 1), True, key=lambda n: count_tokens(_page(head, lines[:n])) > limit_tokens
    )
    kept = list(lines[:fit])
    while kept and count_tokens(_page(head, kept)) > limit_tokens:  # counts of joined texts are not quite sums
        kept.pop()
    for line in lines[len(kept) : len(kept) + 1]:
        left = limit_tokens - count_tokens(_page(head, kept)) - count_tokens(f"\n{LABELS[line.kind]}: ")
        shorter = _Line(line.kind, line.place, truncate_tokens(line.text, left)) if left >= READABLE else line
        if shorter.text and count_tokens(_page(head, [*kept, shorter])) <= limit_tokens:
            kept.append(shorter)
    return kept


def _page(head: Sequence[str], lines: Sequence[_Line]) -> str:
    order = list(LABELS)
    return "\n".join([*head, *map(str, sorted(lines, key=lambda line: (order.index(line.kind), line.place)))])


# What a text may hold --------------------------------------------------------------------------------------------

_TURNS_ROUND: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks by which a text could show itself in another order than it is written."""


def folded(text: str) -> str:
    """The text on one line, without line breaks of any script, control characters and marks that reorder it."""
    plain = "".join(" " if unicodedata.category(char) == "Cc" else char for char in storable(text))
    return " ".join(_TURNS_ROUND.sub("", plain).split())


def without_repeats(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, whatever its case, as it is spelt first."""
    seen: dict[str, str] = {}
    for text in texts:
        seen.setdefault(text.casefold(), text)
    return tuple(seen.values())


def _texts(texts: Iterable[str], longest: int, most: int) -> tuple[str, ...]:
    clean = (truncate_chars(folded(text), longest) for text in texts)
    return without_repeats(text for text in clean if text)[:most]


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()
