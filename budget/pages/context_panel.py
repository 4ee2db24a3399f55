"""What does the context panel say of one answer? The arithmetic of a receipt; the shapes are in the template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from budget.counting.accuracy import prediction_error
from budget.counting.cached_prefix import apportion
from budget.models import Receipt
from budget.planning.fit import PRUNING_ORDER
from budget.planning.plan import Section
from budget.receipts.memory_use import fit_of, was_retrieved
from budget.receipts.profile_snapshots import HOLDS_NO_LONGER
from budget.receipts.retention import REMOVED

BAR_WIDTH: Final = 1000
"""Units of the bar's own coordinates: it is stretched to the panel."""
THINNEST: Final = 4
"""Units of a section that would be too small to see."""
KEYED_FACTS_CUT: Final = next(step.last_resort for step in PRUNING_ORDER if step.section is Section.PROFILE)
EXPLAINED: Final = (Section.MEMORIES, Section.PROFILE)
"""Sections whose items have a page that says why they came up; turns and tool results need none."""
SMALLEST_SHOWN: Final = Decimal("0.0001")
"""US dollars; less is told as “less than”."""
TIMINGS: Final = {
    "history": "Load history",
    "profile": "Load profile",
    "retrieve": "Find memories",
    "compile": "Build prompt",
    "first_token": "First token",
    "total": "Total",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One section in the budget bar and its legend."""

    section: str
    heading: str
    tier: str
    """The memory tier it shows; empty: none."""
    tokens: int
    ceiling: int | None
    cut: int
    """Pieces cut."""
    cut_tokens: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """What the plan keeps free for the answer, at the end of the bar."""

    tokens: int
    """What the ceilings leave of the plan."""
    width: int
    """Units of the bar."""

    @property
    def x(self) -> int:
        """Where it begins."""
        return BAR_WIDTH - self.width


@dataclass(frozen=True, slots=True)
class Shown:
    """One memory, profile line or run of turns, kept or cut."""

    label: str
    heading: str
    tokens: int
    score: float
    in_profile: bool
    """It stood there whatever was asked, and fits."""
    parts: list[tuple[str, float]]
    rule: str
    url: str
    ref: str = ""
    """Where the answer can be had again without it."""
    name: str = ""
    """Its ref, if the page of reasons has something to say of it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A receipt in the words and numbers of the page."""

    receipt: Receipt
    bars: list[Bar]
    answer: AnswerRoom
    recalled: list[Shown]
    """What the question called for, and told anyway by the profile or not, best first."""
    profile: list[Shown]
    """Its other lines."""
    cut: list[Shown]
    unlisted: int
    """Candidates that retrieval left out and the receipt does not list: they scored lower than all that it does."""
    cut_before: list[tuple[str, int]]
    """Once the list of what was cut is gone (`budget/receipts/retention.py`): each rule, and how many were cut by
    it, the most first."""
    facts_were_cut: bool
    """Even keyed facts gave way, which the person must be told."""
    off_by: str
    """How far the prediction was from the provider's figure; empty where they cannot be compared."""
    is_demo: bool
    cost: str
    cost_uncached: str
    timings: list[tuple[str, int]]
    """Name and milliseconds."""

    @property
    def shown_bars(self) -> list[Bar]:
        """The sections that there is something to say about."""
        return [bar for bar in self.bars if bar.tokens or bar.cut]


def panel(receipt: Receipt) -> Panel:
    """Everything the panel shows of `receipt`."""
    kept = [item for item in receipt.items if item["kept"]]
    cut = [item for item in receipt.items if not item["kept"]]
    return Panel(
        receipt,
        bars=bars(receipt.sections, receipt.plan_total),
        answer=answer_room(receipt.sections, receipt.plan_total),
        recalled=[_shown(item) for item in sorted(kept, key=_best_first) if was_retrieved(item)],
        profile=[_shown(item) for item in kept if item["section"] == Section.PROFILE and "fits" not in item],
        cut=[_shown(item) for item in cut],
        unlisted=receipt.ingredients.get("unlisted", 0),
        cut_before=sorted(receipt.cut_rules.items(), key=lambda one: (-one[1], one[0])),
        facts_were_cut=KEYED_FACTS_CUT in {*receipt.cut_rules, *(item["rule"] for item in cut)},
        off_by=off_by(receipt),
        is_demo=any(one["demo"] for one in receipt.rounds),
        cost=dollars(receipt.cost),
        cost_uncached=dollars(receipt.cost_uncached),
        timings=[(TIMINGS[name], round(receipt.timings[name])) for name in TIMINGS if name in receipt.timings],
    )


def answer_room(sections: Iterable[dict[str, Any]], plan_total: int) -> AnswerRoom:
    """The room that the ceilings of a receipt's sections leave."""
    tokens = plan_total - sum(total["ceiling"] or 0 for total in sections)
    return AnswerRoom(tokens, round(BAR_WIDTH * tokens / max(1, plan_total)))


def bars(sections: Sequence[dict[str, Any]], plan_total: int) -> list[Bar]:
    """The sections side by side, each as wide as its share of the plan; together they end where the answer's room
    begins, at the latest."""
    placed: list[Bar] = []
    x = 0
    for total, width in zip(sections, _widths(sections, plan_total), strict=True):
        section = Section(total["section"])
        figures = {name: total[name] for name in ("section", "tokens", "ceiling", "cut", "cut_tokens")}
        placed.append(Bar(heading=section.heading, tier=section.tier, x=x, width=width, **figures))
        x += width
    return placed


def _widths(sections: Sequence[dict[str, Any]], plan_total: int) -> list[int]:
    """Units of each section. What the thinnest are given beyond their share may be more than there is: all give."""
    sizes = [total["tokens"] for total in sections]
    widths = [max(THINNEST, round(BAR_WIDTH * size / max(1, plan_total))) if size else 0 for size in sizes]
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
    return f"{abs(error):.1%} too {'high' if error > 0 else 'low'}"


def dollars(amount: Decimal | None) -> str:
    """An amount as people read it; empty: not known."""
    if amount is None:
        return ""
    if 0 < amount < SMALLEST_SHOWN:
        return f"less than ${SMALLEST_SHOWN}"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def _best_first(item: dict[str, Any]) -> float:
    return -fit_of(item)


def _shown(item: dict[str, Any]) -> Shown:
    return Shown(
        label=item["label"],
        heading=Section(item["section"]).heading,
        tokens=item["tokens"],
        score=fit_of(item),
        in_profile=item["kept"] and "fits" in item,
        parts=[(name.replace("_", " "), value) for name, value in item["parts"].items()],
        rule=item["rule"],
        url=item["url"],
        ref="" if item["rule"] or item["label"].startswith((HOLDS_NO_LONGER, REMOVED)) else item["ref"],
        name=item["ref"] if item["section"] in EXPLAINED else "",
    )
