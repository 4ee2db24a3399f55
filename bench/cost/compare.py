"""Comparison of Recall's layout with the alternatives: one row each, and each target reached or missed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import numpy as np

from bench.cost.alternatives import LAYOUTS, Uncached, send, turn_tokens
from bench.cost.conversations import SCENES, talk
from bench.cost.meter import PRICED, Billed, Meter, dollars, price_of, read_share, share
from bench.cost.optimum import Rules, Step, cheapest, pay
from bench.cost.optimum import dollars as schedule_dollars
from bench.cost.replay import WINDOW, Conversation, Sent, replay
from bench.results import Figures
from budget.planning.history_cut import FIRST_TURNS, LAST_TURNS
from budget.planning.plan import PRESETS, Section, resolve
from chat.prompt.request import SUMMARY_NOTE
from offline.protocol import tokenizer

LENGTHS: Final = (10, 40, 200, 1_000)
RECALL, OPTIMUM, UNCACHED = "Recall", "optimiser", "whole history, no cache"
WHOLE_CACHED: Final = "whole history, cached"
WHOLE_CACHED_UNTIL: Final = 200
"""Turns: beyond this, rendering the requests would take longer than everything else."""

# Targets at 200 turns and more.
STATIC_SHARE: Final = 95.0
AGAIN_SHARE: Final = 95.0
COST_SHARE: Final = 15.0
"""Percentage of the cost of the whole history without a cache, at 200 turns."""
OPTIMUM_FACTOR: Final = 1.25
READ_SHARE: Final = 90.0
"""Percentage of all input, in `long`."""
READ_POINTS: Final = 3.0
"""Percentage points, in `standard`: maximum distance from the optimizer's share."""
JUDGED_FROM: Final = 200
"""Turns: from here on, what is written once hardly counts."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way to send one conversation. Dollars by model."""

    tokens: int
    read: float
    """Percentage of all input that came from the cache."""
    cost: dict[str, float]
    """Cost of the input."""
    whole: dict[str, float]
    """Cost including the answers."""


@dataclass(slots=True)
class Result:
    """One scene in one plan: rows by length and way, and the figures for the targets."""

    scene: str
    plan: str
    rows: dict[tuple[int, str], Row] = field(default_factory=dict)
    optimum_read: dict[tuple[int, str], float] = field(default_factory=dict)
    """The optimum's share read from the cache, by length and model."""
    static: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Percentage of the static prefix that came from the cache: of all, and of what was sent within the hour."""
    again: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Percentage of the tokens already sent and unchanged that came from the cache: of all, and within the hour."""
    folds: dict[str, int] = field(default_factory=dict)
    lasted: float = 0.0


# One scene in one plan -------------------------------------------------------------------------------------------


def compare(scene_name: str, plan_name: str, turns: int) -> Result:
    began = time.perf_counter()
    scene = next(one for one in SCENES if one.name == scene_name)
    ways = _Ways()
    conversation = Conversation(resolve(PRESETS[plan_name], WINDOW))
    for sent in replay(talk(scene, turns), conversation):
        ways.take(sent)
    result = Result(scene_name, plan_name, folds=conversation.folds)
    for length in (one for one in LENGTHS if one <= turns):
        requests = conversation.meter.all(length)
        result.rows[length, RECALL] = _row(requests)
        result.rows |= {(length, name): row for name, row in ways.rows(length)}
        _optimise(result, length, ways.notes, conversation)
        _shares(result, length, requests)
    result.lasted = time.perf_counter() - began
    return result


class _Ways:
    """The other ways to send the same turns, and the optimizer's input."""

    def __init__(self) -> None:
        self.meters = {name: Meter() for name in LAYOUTS}
        self.uncached = Uncached()
        self.notes: list[Note] = []

    def take(self, sent: Sent) -> None:
        """Add one turn."""
        self.notes.append(Note.of(sent))
        self.uncached.send(sent)
        for name, meter in self.meters.items():
            if name != WHOLE_CACHED or len(self.notes) <= WHOLE_CACHED_UNTIL:
                send(sent, LAYOUTS[name], meter)

    def rows(self, length: int) -> Iterator[tuple[str, Row]]:
        """The rows by name, for the first `length` turns."""
        for name, meter in self.meters.items():
            if len(meter.billed) >= length:
                yield name, _row(meter.all(length))
        yield UNCACHED, _row([one for turn in self.uncached.billed[:length] for one in turn])


def _row(requests: Sequence[Billed]) -> Row:
    return Row(
        sum(request.total for request in requests),
        read_share(requests),
        {model: dollars(requests, model) for model in PRICED},
        {model: dollars(requests, model, with_output=True) for model in PRICED},
    )


def _shares(result: Result, length: int, requests: Sequence[Billed]) -> None:
    static_read, again_read = (
        sum(request.static_read for request in requests),
        sum(request.again_read for request in requests),
    )
    result.static[length] = (
        share(static_read, sum(request.static for request in requests)),
        share(static_read, sum(request.static_alive for request in requests)),
    )
    result.again[length] = (
        share(again_read, sum(request.again for request in requests)),
        share(again_read, sum(request.again_alive for request in requests)),
    )


# The optimiser ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Note:
    """What the optimizer must know about a turn that Recall sent."""

    step: Step
    output: int
    folded: int
    summaries: int
    """Tokens of its summaries."""

    @classmethod
    def of(cls, sent: Sent) -> Note:
        first, *more = sent.billed
        before = first.total - first.input  # up to the last breakpoint
        step = Step(
            pause=sent.exchange.pause,
            static=first.static,
            tail=first.total - before,
            turn=turn_tokens(sent.turns[-1]) if sent.turns else 0,
            rounds=len(more),
            more=(
                sum(item.cache_read - before for item in more),
                sum(item.cache_write_5m for item in more),
                sum(item.input for item in more),
            ),
        )
        return cls(step, sum(sent.outputs), sent.folded_until, _summary_tokens(sent))


def _summary_tokens(sent: Sent) -> int:
    texts = [segment.text for segment in sent.compiled.contents.segments]
    return sum(tokenizer.count(text) for text in (SUMMARY_NOTE, *texts)) if texts else 0


def _optimise(result: Result, length: int, notes: Sequence[Note], conversation: Conversation) -> None:
    """Add the row of the cheapest schedule; its tokens and share are the first model's."""
    steps, rules = _steps(notes[:length]), _rules(notes, conversation)
    output = sum(note.output for note in notes[:length])
    paid = {model: pay(steps, cheapest(steps, rules, price_of(model, 0)), rules) for model in PRICED}
    tokens = {model: sum(turn.total for turn in turns) for model, turns in paid.items()}
    reads = {model: share(sum(turn.read for turn in turns), tokens[model]) for model, turns in paid.items()}
    cost = {model: schedule_dollars(turns, price_of(model, 0)) for model, turns in paid.items()}
    whole = {model: cost[model] + output * float(price_of(model, 0).output) / 1e6 for model in PRICED}
    result.rows[length, OPTIMUM] = Row(tokens[PRICED[0]], reads[PRICED[0]], cost, whole)
    result.optimum_read |= {(length, model): read for model, read in reads.items()}


def _steps(notes: Sequence[Note]) -> list[Step]:
    """The steps. A turn's own tokens are known from the next turn, whose history it is part of."""
    turns = [*(after.step.turn for _, after in pairwise(notes)), 0]
    return [replace(note.step, turn=turn) for note, turn in zip(notes, turns, strict=True)]


def _rules(notes: Sequence[Note], conversation: Conversation) -> Rules:
    """Recall's ceiling and floors; summaries are as long as Recall's own for as many compacted turns."""
    known = {FIRST_TURNS: 0} | {note.folded: note.summaries for note in notes if note.folded}
    folded = sorted(known)
    summary = np.interp(range(len(notes) + 1), folded, [known[part] for part in folded])
    ceiling = conversation.plan.ceilings[Section.HISTORY]
    return Rules(ceiling, FIRST_TURNS, LAST_TURNS, [round(one) for one in summary])


# The page --------------------------------------------------------------------------------------------------------


def table(results: Sequence[Result]) -> Iterator[str]:
    """One row per way, in blocks by scene, plan and length."""

    names = [model.removeprefix("claude-") for model in PRICED]
    head = f"{'':<26}{'tokens':>12}{'cached':>8}" + "".join(
        f"{name:>13}{'+answers':>11}{'÷ full':>8}" for name in names
    )
    for result in results:
        for length in sorted({length for length, _ in result.rows}):
            yield f"\n{result.scene}, plan {result.plan}, {length:,} turns"
            yield head
            full = result.rows[length, UNCACHED]
            for (rows_length, name), row in result.rows.items():
                if rows_length == length:
                    figures = "".join(
                        f"{row.cost[model]:>13.4f}{row.whole[model]:>11.4f}{row.cost[model] / full.cost[model]:>8.1%}"
                        for model in PRICED
                    )
                    yield f"{name:<26}{row.tokens:>12,}{row.read:>7.1f}%{figures}"


def targets(results: Sequence[Result]) -> Iterator[str]:
    """The result for each target, in each scene and plan."""
    yield f"\n{'scene, plan, turns':<30}{'target':<50}{'figure':<27}verdict"
    for result in results:
        for length in sorted({length for length, _ in result.rows if length >= JUDGED_FROM}):
            for what, figure, reached in _judged(result, length):
                where = f"{result.scene}, {result.plan}, {length:,}"
                yield f"{where:<30}{what:<50}{figure:<27}{'reached' if reached else 'MISSED'}"


def _judged(result: Result, length: int) -> Iterator[tuple[str, str, bool]]:
    yield from _judged_shares(result, length)
    mine, best = result.rows[length, RECALL], result.rows[length, OPTIMUM]
    if length == JUDGED_FROM:
        full = result.rows[length, UNCACHED]
        shares = [100 * mine.cost[model] / full.cost[model] for model in PRICED]
        figure = " · ".join(f"{part:.1f}" for part in shares) + " %"
        yield f"cost ≤ {COST_SHARE:.0f} % of the whole history, no cache", figure, max(shares) <= COST_SHARE
    factors = [mine.cost[model] / best.cost[model] for model in PRICED]
    figure = " · ".join(f"{factor:.2f}" for factor in factors) + " ×"
    yield f"cost ≤ {OPTIMUM_FACTOR} × the optimiser’s", figure, max(factors) <= OPTIMUM_FACTOR
    best_read = max(result.optimum_read[length, model] for model in PRICED)
    figure = f"{mine.read:.1f} % (optimiser {best_read:.1f})"
    if result.plan == "long":
        yield f"of all input from cache ≥ {READ_SHARE:.0f} %", figure, mine.read >= READ_SHARE
    if result.plan == "standard":
        reached = best_read - mine.read <= READ_POINTS
        yield f"of all input from cache: optimiser’s − {READ_POINTS:.0f} points", figure, reached


def _judged_shares(result: Result, length: int) -> Iterator[tuple[str, str, bool]]:
    """Shares of the static prefix and of what was sent before; in brackets, of what was sent within the last hour."""
    for what, (of_all, of_alive), least in (
        ("static prefix from cache", result.static[length], STATIC_SHARE),
        ("sent before, unchanged, from cache", result.again[length], AGAIN_SHARE),
    ):
        yield f"{what} ≥ {least:.0f} %", f"{of_all:.1f} % ({of_alive:.1f})", of_all >= least


# The file of results ---------------------------------------------------------------------------------------------


def figures(results: Sequence[Result]) -> Figures:
    """Dollars of the input at the first model's prices, and shares from the cache, for the first judged length."""
    found: Figures = {}
    for result in results:
        name = f"{result.scene}, {result.plan}"
        for (length, way), row in result.rows.items():
            if length == JUDGED_FROM:
                found[f"{name}, {way}"] = (row.cost[PRICED[0]], "$")
                found[f"{name}, {way}, read"] = (row.read, "%")
        found[f"{name}, static, read"] = (result.static[JUDGED_FROM][0], "%")
        found[f"{name}, sent before, read"] = (result.again[JUDGED_FROM][0], "%")
        for model, over_full, over_best in _by_model(result):
            found[f"{name}, {model}, of the whole history"] = (100 * over_full, "%")
            found[f"{name}, {model}, over the optimiser"] = (over_best, "")
    return found


def ratios(results: Sequence[Result]) -> dict[str, float]:
    """Recall's cost over the optimizer's, with the model where it is highest."""
    return {
        f"{result.scene}, {result.plan}, over the optimiser": max(over for _, _, over in _by_model(result))
        for result in results
    }


def _by_model(result: Result) -> Iterator[tuple[str, float, float]]:
    """Each model's name, and Recall's cost over that of the whole history without a cache and over the optimizer's."""
    mine, full, best = (result.rows[JUDGED_FROM, way] for way in (RECALL, UNCACHED, OPTIMUM))
    for model in PRICED:
        yield (
            model.removeprefix("claude-").partition("-")[0],
            mine.cost[model] / full.cost[model],
            mine.cost[model] / best.cost[model],
        )
