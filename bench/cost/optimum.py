"""The cheapest schedule in hindsight. Pure: takes sizes, pauses and prices, returns choices.

A dynamic program over the turns. At each one it chooses

- how far history is compacted: not at all, or up to any later turn than before, but never the first and last turns,
  and so that the rest takes no more than the ceiling (if the turns that must stay are longer than it, only these
  stay). Compacted turns become summaries, as long as Recall's own for as many turns;
- the lifetime of the entries it writes, 5 minutes or 1 hour: of tools and system whenever these are rewritten, of
  the history whenever it is, and never longer than theirs;
- whether the breakpoint in the history moves to its end, stays where it was (then the newer turns are plain input,
  at most `LAG` turns long), or is left out.

It knows all pauses and sizes in advance. It pays what the cache rules say for breakpoints at the end of the system
blocks and in the history, and the same as Recall for everything after the history. A changed profile costs it nothing:
the system blocks are as long as Recall's at each turn, and never invalidate what follows. Not counted: that an entry
after the first turns, from before any compaction, is read once more after one. Not tried: a one-hour entry within a
history whose other entries live 5 minutes, a second breakpoint in the history, and requests sent only to keep entries
alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from budget.spending.prices import ListPrice

LIFETIMES: Final = {"5m": 300.0, "1h": 3_600.0}
"""Seconds."""
LAG: Final = 3
"""Turns that the breakpoint may lag behind."""
NONE: Final = ""
"""Used in place of a lifetime: no breakpoint in the history."""

type Floats = NDArray[np.float64]
type Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rules:
    """Constraints on a schedule."""

    ceiling: int
    """Maximum tokens of history."""
    first: int
    last: int
    """Turns that are always kept verbatim."""
    summary: Sequence[int]
    """Tokens of the summaries if all turns from `first` up to this one are compacted; one entry per turn, and 0."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn."""

    pause: float
    """Seconds since the previous turn started."""
    static: int
    """Tokens of tools and system."""
    tail: int
    """Tokens after the history."""
    turn: int
    """Tokens of this turn as part of the history."""
    rounds: int = 0
    """Number of further requests, for tools."""
    more: tuple[int, int, int] = (0, 0, 0)
    """Tokens these read, write for 5 minutes, and pay in full after the history."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice made at one turn."""

    folded: int
    """The last compacted turn; `Rules.first`: none."""
    static: str
    """Lifetime of tools and system."""
    history: str
    """Lifetime of the history's entry, or NONE."""
    covered: int
    """The turn after which the history's breakpoint is; 0 if there is none."""


@dataclass(frozen=True, slots=True)
class Paid:
    """Tokens of one turn's requests."""

    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    plain: int = 0

    @property
    def total(self) -> int:
        return self.read + self.write_5m + self.write_1h + self.plain

    def dollars(self, rates: _Rates) -> float:
        """Dollars that they cost."""
        return (
            self.read * rates.read
            + self.write_5m * rates.write["5m"]
            + self.write_1h * rates.write["1h"]
            + self.plain * rates.plain
        )


@dataclass(frozen=True, slots=True)
class _Rates:
    """Dollars per token."""

    plain: float
    read: float
    write: dict[str, float]

    @classmethod
    def of(cls, rates: ListPrice) -> _Rates:
        plain, read, short, long = (
            float(rate) / 1e6 for rate in (rates.input, rates.read, rates.write_5m, rates.write_1h)
        )
        return cls(plain, read, {"5m": short, "1h": long, NONE: plain})


def dollars(paid: Sequence[Paid], rates: ListPrice) -> float:
    """Input cost of a schedule in dollars."""
    each = _Rates.of(rates)
    return sum(part.dollars(each) for part in paid)


# What a schedule pays --------------------------------------------------------------------------------------------


def pay(steps: Sequence[Step], choices: Sequence[Choice], rules: Rules) -> list[Paid]:
    """The tokens of each turn, by the cache rules."""
    sizes = _Sizes.of(steps, rules)
    paid = []
    before: Choice | None = None
    for n, (step, choice) in enumerate(zip(steps, choices, strict=True)):
        static_is_there = before is not None and _lives(before.static, step.pause)
        covered_before = before.covered if before is not None and _is_read(before, choice, step.pause) else 0
        history = sizes.history(n, choice.folded)
        marked = history - (sizes.before[n] - sizes.before[choice.covered]) if choice.history else 0
        read = marked - (sizes.before[choice.covered] - sizes.before[covered_before]) if covered_before else 0
        paid.append(_paid(step, choice, int(history), int(marked), int(read), static_is_there=static_is_there))
        before = choice
    return paid


def _is_read(before: Choice, now: Choice, pause: float) -> bool:
    """Whether the history's earlier entry is still the start of what is sent."""
    return bool(before.history and now.history) and before.folded == now.folded and _lives(before.history, pause)


def _paid(step: Step, choice: Choice, history: int, marked: int, read: int, *, static_is_there: bool) -> Paid:
    """Tokens paid for a step. `marked`: tokens of the history up to its breakpoint; `read`: those of them in
    the cache."""
    tokens = {"read": read, "5m": 0, "1h": 0, "plain": step.tail + history - marked}
    tokens["read" if static_is_there else choice.static] += step.static
    if choice.history:
        tokens[choice.history] += marked - read
    if step.rounds:
        rest = history - marked  # the first round writes it together with its results, the others read it
        tokens["read"] += step.rounds * (step.static + marked) + (step.rounds - 1) * rest + step.more[0]
        tokens["5m"] += rest + step.more[1]
        tokens["plain"] += step.more[2]
    return Paid(tokens["read"], tokens["5m"], tokens["1h"], tokens["plain"])


def _lives(lifetime: str, pause: float) -> bool:
    return pause < LIFETIMES[lifetime]


@dataclass(frozen=True, slots=True)
class _Sizes:
    before: Ints
    """Tokens of the first n turns."""
    first: int
    summary: Ints

    @classmethod
    def of(cls, steps: Sequence[Step], rules: Rules) -> _Sizes:
        before = np.concatenate([[0], np.cumsum([step.turn for step in steps])]).astype(np.int64)
        return cls(before, rules.first, np.asarray(rules.summary, dtype=np.int64))

    def history(self, turns: int, folded: int) -> int:
        """Tokens of the history of `turns` turns."""
        if turns <= folded:
            return int(self.before[turns])
        kept = self.before[turns] - self.before[folded]
        return int(self.before[self.first] + self.summary[folded] + kept)

    def histories(self, turns: int, folded: Ints) -> Ints:
        """The same for several values of `folded`."""
        if turns <= self.first:
            return np.full(len(folded), self.before[turns])
        kept = self.before[turns] - self.before[folded]
        found: Ints = self.before[self.first] + self.summary[folded] + kept
        return found


# The cheapest schedule -------------------------------------------------------------------------------------------

type _Kind = tuple[str, str, int]
"""Lifetime of the system, of the history, and how many turns its breakpoint lags behind."""

KINDS: Final[tuple[_Kind, ...]] = (
    *(("1h", "1h", lag) for lag in range(LAG + 1)),
    *(("1h", "5m", lag) for lag in range(LAG + 1)),
    *(("5m", "5m", lag) for lag in range(LAG + 1)),
    ("1h", NONE, 0),
    ("5m", NONE, 0),
)


def cheapest(steps: Sequence[Step], rules: Rules, rates: ListPrice) -> list[Choice]:
    search = _Search(steps, rules, _Rates.of(rates))
    for n in range(len(steps)):
        search.advance(n)
    return search.choices()


class _Search:
    """The lowest cost of each state, turn by turn: a state is a kind, and how far history is compacted."""

    def __init__(self, steps: Sequence[Step], rules: Rules, rates: _Rates) -> None:
        self.steps, self.rules, self.rates = steps, rules, rates
        self.sizes = _Sizes.of(steps, rules)
        self.cost: dict[_Kind, Floats] = {}
        self.low = rules.first
        """How far history is compacted in the first entry of each array."""
        self.came: list[tuple[int, dict[_Kind, Ints]]] = []
        """Per turn, `low`, and by kind the previous state: kind number times FOLDS plus how far it is compacted."""

    def advance(self, n: int) -> None:
        """Advance to the turn with `n` turns before it."""
        low, high = self._bounds(n)
        folded = np.arange(low, high + 1)
        history = self.sizes.histories(n, folded)
        step = self.steps[n]
        cost: dict[_Kind, Floats] = {}
        came: dict[_Kind, Ints] = {}

        def offer(kind: _Kind, dollars: Floats, source: Ints) -> None:
            if kind not in cost:
                cost[kind], came[kind] = dollars.copy(), source.copy()
                return
            better = dollars < cost[kind]
            cost[kind][better], came[kind][better] = dollars[better], source[better]

        for kind, least in self._aligned(folded, step.pause):
            self._continue(n, kind, least, history, offer)
        for static, is_there, least, source in self._restarts(folded, step.pause):
            self._restart(n, static, is_there, least, source, history, offer)
        self.cost, self.low = cost, low
        self.came.append((low, came))

    def _bounds(self, n: int) -> tuple[int, int]:
        """The least and most turns that may be compacted."""
        most = max(self.rules.first, n - self.rules.last)
        every = np.arange(self.rules.first, most + 1)
        fits = every[self.sizes.histories(n, every) <= self.rules.ceiling] if n > self.rules.first else every
        return (int(fits[0]) if len(fits) else most), most

    def _aligned(self, folded: Ints, pause: float) -> list[tuple[_Kind, Floats]]:
        """States whose entry in the history can still be read, for the new range of compactions."""
        return [
            (kind, self._shifted(cost, folded))
            for kind, cost in self.cost.items()
            if kind[1] != NONE and _lives(kind[1], pause)
        ]

    def _shifted(self, cost: Floats, folded: Ints) -> Floats:
        found = np.full(len(folded), np.inf)
        offset = int(folded[0]) - self.low
        part = cost[offset : offset + len(folded)]
        found[: len(part)] = part
        return found

    def _continue(self, n: int, kind: _Kind, least: Floats, history: Ints, offer: _Offer) -> None:
        """The history's entry is read; its breakpoint moves to the end, or stays."""
        static, lifetime, lag = kind
        step, rates = self.steps[n], self.rates
        covered = n - 1 - lag
        new = int(self.sizes.before[n] - self.sizes.before[covered])
        folded = np.arange(len(least)) + (self._bounds(n)[0])
        source = KINDS.index(kind) * FOLDS + folded
        known = history - new
        reading = (step.static + known) * rates.read
        moved = least + reading + new * rates.write[lifetime] + self._rest(step, history, history * 0)
        offer((static, lifetime, 0), moved, source)
        if lag < LAG:
            stayed = least + reading + new * rates.plain + self._rest(step, known, known * 0 + new)
            offer((static, lifetime, lag + 1), stayed, source)

    def _restarts(self, folded: Ints, pause: float) -> list[tuple[str, bool, Floats, Ints]]:
        """For each lifetime of the system: whether it is cached, and the cheapest previous state compacted this far or
        less."""
        if not self.cost:
            nothing = np.zeros(len(folded)), np.full(len(folded), -1)
            return [("1h", False, *nothing), ("5m", False, *nothing)]
        groups: dict[tuple[str, bool], list[_Kind]] = {}
        for kind in self.cost:
            if _lives(kind[0], pause):
                groups.setdefault((kind[0], True), []).append(kind)
            else:
                groups.setdefault(("1h", False), []).append(kind)
                groups.setdefault(("5m", False), []).append(kind)
        return [(static, is_there, *self._least(kinds, folded)) for (static, is_there), kinds in groups.items()]

    def _least(self, kinds: Sequence[_Kind], folded: Ints) -> tuple[Floats, Ints]:
        """The cheapest of these kinds that is compacted this far or less, and which state it is."""
        stacked = np.stack([self.cost[kind] for kind in kinds])
        best = stacked.argmin(axis=0)
        least = stacked.min(axis=0)
        running = np.minimum.accumulate(least)
        place = np.maximum.accumulate(np.where(least == running, np.arange(len(least)), 0))
        at = np.minimum(folded - self.low, len(least) - 1)
        numbers = np.array([KINDS.index(kind) for kind in kinds])
        return running[at], numbers[best[place[at]]] * FOLDS + place[at] + self.low

    def _restart(
        self, n: int, static: str, is_there: bool, least: Floats, source: Ints, history: Ints, offer: _Offer
    ) -> None:
        """The history is rewritten, or not marked at all."""
        step, rates = self.steps[n], self.rates
        begun = least + step.static * (rates.read if is_there else rates.write[static])
        for lifetime in ("1h", "5m") if static == "1h" else ("5m",):
            if n:
                written = begun + history * rates.write[lifetime] + self._rest(step, history, history * 0)
                offer((static, lifetime, 0), written, source)
        offer((static, NONE, 0), begun + history * rates.plain + self._rest(step, history * 0, history), source)

    def _rest(self, step: Step, marked: Ints, rest: Ints) -> Floats:
        """Dollars for what follows the history, and for further rounds."""
        rates = self.rates
        dollars = np.full(len(marked), step.tail * rates.plain)
        if step.rounds:
            read, written, plain = step.more
            dollars += (step.rounds * (step.static + marked) + (step.rounds - 1) * rest + read) * rates.read
            dollars += (rest + written) * rates.write["5m"] + plain * rates.plain
        return dollars

    def choices(self) -> list[Choice]:
        """The choices that led to the cheapest end."""
        kind = min(self.cost, key=lambda one: float(self.cost[one].min()))
        folded = int(self.cost[kind].argmin()) + self.low
        found = []
        for n in range(len(self.came) - 1, -1, -1):
            static, lifetime, lag = kind
            found.append(Choice(folded, static, lifetime, n - lag if lifetime else 0))
            low, came = self.came[n]
            source = int(came[kind][folded - low])
            if source >= 0:
                kind, folded = KINDS[source // FOLDS], source % FOLDS
        return found[::-1]


FOLDS: Final = 1_000_000
"""More than there are turns."""


class _Offer(Protocol):
    def __call__(self, kind: _Kind, dollars: Floats, source: Ints) -> None: ...
