"""The context panel of one answer: figures and texts computed from its receipt; the template has the layout."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from budget.counting.accuracy import prediction_error
from budget.counting.cached_prefix import apportion
from budget.models import Receipt
from budget.planning.fit import PRUNING_ORDER
from budget.planning.plan import Section
from budget.receipts.memory_use import fit_of, was_retrieved
from budget.receipts.profile_snapshots import HOLDS_NO_LONGER, NEW
from budget.receipts.retention import REMOVED
from recall.figures import caching_effect, money, percent

BAR_WIDTH: Final = 1000
"""Width of the bar in its own units; it is stretched to the panel."""
MIN_WIDTH: Final = 4
"""Minimum width of a section, to be visible."""
KEYED_FACTS_CUT: Final = next(step.last_resort for step in PRUNING_ORDER if step.section is Section.PROFILE)
EXPLAINED: Final = (Section.MEMORIES, Section.PROFILE)
"""Sections whose items link to a page with reasons; turns and tool results don't."""
OF_OWN_ANSWERS: Final = frozenset({"answered from memories", "did not know", "unfinished answer"})
"""Rules that leave out Recall's own answers only (memory/text/message_kinds.py)."""
TIMINGS: Final = {
    "history": "Load history",
    "profile": "Load profile",
    "retrieve": "Find memories",
    "compile": "Build prompt",
    "first_token": "First token",
    "total": "Total",
}

QUALIFIERS: Final = {
    "until": "Until {day}",
    "superseded by": "Replaced",
    "perhaps changed by": "Perhaps changed",
    "before": "Said before",
    "contested by": "A proposal contradicts it",
    "waiting": "Waits for your review",
    "asked": "You asked this",
    "made": "Made up",
    "ended": "No longer true",
    "retracted": "You took it back",
    "rejected": "You rejected it",
}
"""Starts of a memory's qualifier (`MemoryItem.qualifier`), as the page says it. What is current needs no words."""
BY_NEWER: Final = (QUALIFIERS["superseded by"], QUALIFIERS["perhaps changed by"])
"""States that the newer statement is named after."""
_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_NEWER: Final = re.compile(r"\((.+)\)")
"""The statement that a qualifier names."""
_CHANGED_BY: Final = re.compile(r"perhaps changed by (message:\d+)")


@dataclass(frozen=True, slots=True)
class Bar:
    """One section of the budget bar and its legend."""

    section: str
    heading: str
    tokens: int
    ceiling: int | None
    cut: int
    """Pieces cut."""
    cut_tokens: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """The room reserved for the answer, at the end of the bar."""

    tokens: int
    """Tokens of the plan that the ceilings leave."""
    width: int
    """Units of the bar."""

    @property
    def x(self) -> int:
        """Where it starts, in units of the bar."""
        return BAR_WIDTH - self.width


@dataclass(frozen=True, slots=True)
class ItemView:
    """One memory, profile line or run of turns, kept or cut."""

    label: str
    heading: str
    tokens: int
    in_profile: bool
    """A profile line that is always included and is relevant."""
    is_opening: bool
    """Recalled because the conversation was new."""
    rule: str
    url: str
    ref: str = ""
    """Set if the answer can be retried without it."""
    name: str = ""
    """Its ref, if it has a page with reasons."""
    quote: str = ""
    """The words it was learned from; empty: unknown, the statement itself, or it is itself a text."""
    state: str = ""
    """Whether it still holds, in words; empty: it does."""
    newer: str = ""
    """The statement that replaces, contradicts or reads it."""
    fact: int | None = None
    """The id of the fact that it is, if the user may correct it."""
    origin: str = ""
    """The title of the document or conversation that it is a part of."""


@dataclass(frozen=True, slots=True)
class Known:
    """What other rows say of a receipt's items, by ref; see `panel`."""

    quotes: Mapping[str, str]
    replaced: Mapping[str, str]
    origins: Mapping[str, tuple[str, str]]
    editable: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Panel:
    """A receipt as the page shows it."""

    receipt: Receipt
    bars: list[Bar]
    answer: AnswerRoom
    recalled: list[ItemView]
    """Items found by the question, in the profile or not, best first."""
    profile: list[ItemView]
    """The other profile lines."""
    cut: list[ItemView]
    own_answers: list[ItemView]
    """Recall's own answers among what was left out: of little interest, for what they say is in other memories."""
    unlisted: int
    """Candidates left out by retrieval with lower scores than all listed ones."""
    cut_before: list[tuple[str, int]]
    """After retention removed the list of cut items: rules with their counts, the most frequent first."""
    facts_were_cut: bool
    """Even keyed facts were cut, which the user must know."""
    off_by: str
    """The estimate's error against the provider's figure; empty if they can't be compared."""
    is_demo: bool
    cost: str
    caching_effect: str
    timings: list[tuple[str, int]]
    """Name and milliseconds."""

    @property
    def cut_count(self) -> int:
        """Number of items left out and listed, Recall's own answers included."""
        return len(self.cut) + len(self.own_answers)

    @property
    def shown_bars(self) -> list[Bar]:
        """Sections with kept or cut items."""
        return [bar for bar in self.bars if bar.tokens or bar.cut]


def panel(
    receipt: Receipt,
    quotes: Mapping[str, str] | None = None,
    replaced: Mapping[str, str] | None = None,
    origins: Mapping[str, tuple[str, str]] | None = None,
    editable: Mapping[str, int] | None = None,
) -> Panel:
    """The whole panel of `receipt`.

    `quotes`: by ref, the words of a memory, or those it was learned from; `replaced`: by ref, what is true instead of a
    fact that was replaced since; `origins`: by ref, title and URL of what a passage or an episode is a part of;
    `editable`: by ref, the id of a fact that the user may correct.
    """
    known = Known(quotes or {}, replaced or {}, origins or {}, editable or {})
    facts = {item["label"] for item in receipt.items if item["kept"] and item["ref"].startswith("fact:")}
    kept = [item for item in receipt.items if item["kept"] and new_statement(item) not in facts]
    cut = [item for item in receipt.items if not item["kept"]]
    return Panel(
        receipt,
        bars=bars(receipt.sections, receipt.plan_total),
        answer=answer_room(receipt.sections, receipt.plan_total),
        recalled=[
            _build_item_view(item, known) for item in sorted(kept, key=fit_of, reverse=True) if was_retrieved(item)
        ],
        profile=[
            _build_item_view(item, known) for item in kept if item["section"] == Section.PROFILE and "fits" not in item
        ],
        cut=[_build_item_view(item, known) for item in cut if item["rule"] not in OF_OWN_ANSWERS],
        own_answers=[_build_item_view(item, known) for item in cut if item["rule"] in OF_OWN_ANSWERS],
        unlisted=receipt.ingredients.get("unlisted", 0),
        cut_before=sorted(receipt.cut_rules.items(), key=lambda one: (-one[1], one[0])),
        facts_were_cut=KEYED_FACTS_CUT in {*receipt.cut_rules, *(item["rule"] for item in cut)},
        off_by=off_by(receipt),
        is_demo=any(model_round["demo"] for model_round in receipt.rounds),
        cost=money(receipt.cost),
        caching_effect=caching_effect((receipt.cost_uncached or 0) - (receipt.cost or 0)),
        timings=[(TIMINGS[name], round(receipt.timings[name])) for name in TIMINGS if name in receipt.timings],
    )


def answer_room(sections: Iterable[dict[str, Any]], plan_total: int) -> AnswerRoom:
    """The room that the section ceilings leave."""
    tokens = plan_total - sum(total["ceiling"] or 0 for total in sections)
    return AnswerRoom(tokens, round(BAR_WIDTH * tokens / max(1, plan_total)))


def bars(sections: Sequence[dict[str, Any]], plan_total: int) -> list[Bar]:
    """Sections side by side, each as wide as its share of the plan, ending before the answer's room."""
    placed: list[Bar] = []
    x = 0
    for total, width in zip(sections, _widths(sections, plan_total), strict=True):
        section = Section(total["section"])
        figures = {name: total[name] for name in ("section", "tokens", "ceiling", "cut", "cut_tokens")}
        placed.append(Bar(heading=section.heading, x=x, width=width, **figures))
        x += width
    return placed


def _widths(sections: Sequence[dict[str, Any]], plan_total: int) -> list[int]:
    """Width of each section. If the minimum widths exceed the bar, all shrink in proportion."""
    sizes = [total["tokens"] for total in sections]
    widths = [max(MIN_WIDTH, round(BAR_WIDTH * size / max(1, plan_total))) if size else 0 for size in sizes]
    has_ceilings = any(total["ceiling"] for total in sections)
    end = answer_room(sections, plan_total).x if has_ceilings else BAR_WIDTH
    return widths if sum(widths) <= end else apportion(end, widths)


def off_by(receipt: Receipt) -> str:
    """The estimate of the first request against the provider's count, such as “2.4% too high”."""
    error = prediction_error(receipt.rounds, receipt.estimated_input)
    if error is None:
        return ""
    if abs(error) < 0.0005:
        return "exact"
    return f"{percent(abs(error))} too {'high' if error > 0 else 'low'}"


def qualifier_in_words(qualifier: str) -> tuple[str, str]:
    """Whether a memory still holds, as the page says it, and the statement that its qualifier names."""
    start = next((start for start in QUALIFIERS if qualifier.startswith(start)), "")
    if not start:
        return "", ""
    newer, ends = _NEWER.search(qualifier), _DAY.search(qualifier)
    day = date.fromisoformat(ends[0]) if ends else None
    return QUALIFIERS[start].format(day=f"{day.day} {day:%B %Y}" if day else ""), newer[1] if newer else ""


def named_in(item: Mapping[str, Any]) -> str:
    """The ref of the message that perhaps changed a memory; empty: none has."""
    found = _CHANGED_BY.fullmatch(item.get("qualifier", ""))
    return found[1] if found else ""


def new_statement(item: Mapping[str, Any]) -> str:
    """The statement that is new in the profile since the conversation was pinned to it; empty: the item is none."""
    label: str = item["label"]
    return label.removeprefix(NEW) if item["ref"].startswith("update:") and label.startswith(NEW) else ""


def _build_item_view(item: dict[str, Any], known: Known) -> ItemView:
    state, newer = qualifier_in_words(item.get("qualifier", ""))
    if item["ref"] in known.replaced:
        state, newer = QUALIFIERS["superseded by"], known.replaced[item["ref"]]
    newer = newer or known.quotes.get(named_in(item), "")
    new = new_statement(item)
    label: str = new or item["label"]
    quote = known.quotes.get(item["ref"], "")
    origin, place = known.origins.get(item["ref"], ("", ""))
    has_source = new or item["ref"].startswith("fact:")  # a message is shown itself
    return ItemView(
        label=label,
        heading=Section(item["section"]).heading,
        tokens=item["tokens"],
        in_profile=item["kept"] and "fits" in item,
        is_opening="opening" in item["parts"],
        rule=item["rule"],
        url=item["url"] or place,
        ref="" if item["rule"] or item["label"].startswith((HOLDS_NO_LONGER, REMOVED)) else item["ref"],
        name=item["ref"] if item["section"] in EXPLAINED else "",
        quote=quote if has_source and quote != label else "",
        state=f"{state} by" if newer and state in BY_NEWER else state,
        newer=newer,
        fact=known.editable.get(item["ref"]),
        origin=origin,
    )
