"""What does the context panel say of one answer? The arithmetic of a receipt; the shapes are in the template."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from budget.fit import PRUNING_ORDER
from budget.models import Receipt
from budget.plan import Section

BAR_WIDTH: Final = 1000
"""Units of the bar's own coordinates: it is stretched to the panel."""
THINNEST: Final = 4
"""Units of a section that would be too small to see."""
KEYED_FACTS_CUT: Final = next(step.last_resort for step in PRUNING_ORDER if step.section is Section.PROFILE)
SMALLEST_SHOWN: Final = Decimal("0.0001")
"""US dollars; less is told as “less than”."""
TIMINGS: Final = {
    "history": "Reading the history",
    "profile": "Reading the profile",
    "retrieve": "Recalling memories",
    "compile": "Compiling the prompt",
    "first_token": "First words",
    "total": "Whole turn",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One section in the budget bar and its legend."""

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
class Shown:
    """One memory, profile line or run of turns, kept or cut."""

    label: str
    heading: str
    tokens: int
    score: float | None
    parts: list[tuple[str, float]]
    rule: str
    url: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A receipt in the words and numbers of the page."""

    receipt: Receipt
    bars: list[Bar]
    recalled: list[Shown]
    profile: list[Shown]
    cut: list[Shown]
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
    def answer_room(self) -> int:
        """Tokens the plan keeps free for the answer: what the ceilings leave of it."""
        return self.receipt.plan_total - sum(bar.ceiling or 0 for bar in self.bars)

    @property
    def answer_width(self) -> int:
        """Units of the bar for that room, at its end."""
        return round(BAR_WIDTH * self.answer_room / max(1, self.receipt.plan_total))

    @property
    def answer_x(self) -> int:
        """Where it begins."""
        return BAR_WIDTH - self.answer_width

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
        recalled=_of(Section.MEMORIES, kept),
        profile=_of(Section.PROFILE, kept),
        cut=[_shown(item) for item in cut],
        facts_were_cut=any(item["rule"] == KEYED_FACTS_CUT for item in cut),
        off_by=off_by(receipt),
        is_demo=any(one["demo"] for one in receipt.rounds),
        cost=dollars(receipt.cost),
        cost_uncached=dollars(receipt.cost_uncached),
        timings=[(TIMINGS[name], round(receipt.timings[name])) for name in TIMINGS if name in receipt.timings],
    )


def bars(sections: Iterable[dict[str, Any]], plan_total: int) -> list[Bar]:
    """The sections side by side: each as wide as its share of the plan."""
    placed: list[Bar] = []
    x = 0
    for total in sections:
        width = round(BAR_WIDTH * total["tokens"] / max(1, plan_total))
        width = max(THINNEST, width) if total["tokens"] else 0
        heading = Section(total["section"]).heading
        figures = {name: total[name] for name in ("section", "tokens", "ceiling", "cut", "cut_tokens")}
        placed.append(Bar(heading=heading, x=x, width=width, **figures))
        x += width
    return placed


def off_by(receipt: Receipt) -> str:
    """The prediction of the first request against what the provider counted, as in “2.4 % too high”."""
    if not receipt.rounds or receipt.rounds[0]["estimated"]:
        return ""
    first = receipt.rounds[0]
    actual = first["input"] + first["cache_read"] + first["cache_write_5m"] + first["cache_write_1h"]
    if not actual:
        return ""
    error = (receipt.estimated_input - actual) / actual
    if abs(error) < 0.0005:
        return "exact"
    return f"{abs(error):.1%} too {'high' if error > 0 else 'low'}".replace("%", " %")


def dollars(amount: Decimal | None) -> str:
    """An amount as people read it; empty: not known."""
    if amount is None:
        return ""
    if 0 < amount < SMALLEST_SHOWN:
        return f"less than ${SMALLEST_SHOWN}"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def _of(section: Section, items: Iterable[dict[str, Any]]) -> list[Shown]:
    return [_shown(item) for item in items if item["section"] == section]


def _shown(item: dict[str, Any]) -> Shown:
    return Shown(
        label=item["label"],
        heading=Section(item["section"]).heading,
        tokens=item["tokens"],
        score=item["score"],
        parts=[(name.replace("_", " "), value) for name, value in item["parts"].items()],
        rule=item["rule"],
        url=item["url"],
    )
