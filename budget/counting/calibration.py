"""Calibration: the learned ratios of a model's tokens to base tokens, per text class, stored and cached.

`budget/counting/learning.py` says how they are learned.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from django.db import connection, transaction

from budget.counting.estimate import STARTING_RATIO, TextClass, estimate
from budget.counting.learning import KINDS, Belief, Observation, learn, unknown
from budget.models import Calibration
from recall.llm.tokens import exact

KEEP_RATIOS: Final = 30.0
"""Seconds a process caches the ratios; what it learns applies at once."""
ERROR_OVER_TURNS: Final = 20
"""The shown error is a mean over about this many turns: long enough to be stable, short enough to show a change."""
ESTIMATED: Final = " [estimated]"
"""Suffix of ratios learned without the vocabulary: they don't fit counts with it."""
MODEL_CHARS: Final = Calibration._meta.get_field("model").max_length or 80


@dataclass(frozen=True, slots=True)
class Learned:
    """What is learned of one text class of a model."""

    ratio: float = STARTING_RATIO
    samples: int = 0
    error: float = 0.0
    """Mean of |estimate − actual| ÷ actual."""


@dataclass(frozen=True, slots=True)
class _Known:
    belief: Belief
    classes: Mapping[TextClass, Learned]
    """Only classes seen so far."""


def ratios(model: str) -> dict[TextClass, float]:
    """Tokens of `model` per base token; unseen classes are missing (`estimate` has starting ratios)."""
    return {kind: learned.ratio for kind, learned in _known_of(_name(model)).classes.items()}


def belief(model: str) -> Belief:
    """All ratios of `model` with their uncertainty."""
    return _known_of(_name(model)).belief


def estimate_for(model: str, base_by_class: Mapping[TextClass, int]) -> int:
    """The tokens that `model` is expected to count."""
    return estimate(base_by_class, ratios(model))


def observe(model: str, figures: Sequence[Observation], missed: float | None = None) -> None:
    """Learn from the provider's usage of one request's parts (0 is ignored).

    `missed`: the prediction's relative error; by default that of an estimate from the ratios alone.

    One statement, the last of the closing transaction: every turn with the model writes the same few rows, in the same
    order. Two turns that end at once may learn from the same ratio; the later write wins.
    """
    usable = [figure for figure in figures if figure.tokens > 0 and any(figure.base_by_class.values())]
    if not usable:
        return
    name = _name(model)
    before = _known_of(name)
    now = before.belief
    for figure in usable:
        now = learn(now, figure)
    missed = _missed(before, usable) if missed is None else missed
    seen = {kind for figure in usable for kind, base in figure.base_by_class.items() if base > 0}
    classes = {
        kind: _next(before.classes.get(kind, Learned()), now.ratios[kind], missed if kind in seen else None)
        for kind in KINDS
        if kind in seen or kind in before.classes
    }
    _store(name, now, classes)
    transaction.on_commit(lambda: _remember(name, _Known(now, classes)))


def forget_known_ratios() -> None:
    """Clear the cache."""
    _kept.clear()


_kept: dict[str, tuple[float, _Known]] = {}


def _known_of(name: str) -> _Known:
    until, known = _kept.get(name, (0.0, None))
    if known is not None and time.monotonic() < until:
        return known
    return _remember(name, _read(Calibration.objects.filter(model=name)))


def _read(rows: Iterable[Calibration]) -> _Known:
    ratios, covariance = dict(unknown().ratios), {one: dict(row) for one, row in unknown().covariance.items()}
    classes: dict[TextClass, Learned] = {}
    for row in rows:
        kind = TextClass(row.text_class)
        ratios[kind] = row.ratio
        covariance[kind] |= {TextClass(other): value for other, value in row.covariance.items()}
        classes[kind] = Learned(row.ratio, row.samples, row.error)
    return _Known(Belief(ratios, covariance), classes)


def _store(name: str, now: Belief, classes: Mapping[TextClass, Learned]) -> None:
    rows = [
        {**asdict(one), "text_class": kind, "covariance": {other: now.covariance[kind][other] for other in classes}}
        for kind, one in sorted(classes.items())
    ]
    with connection.cursor() as cursor:
        cursor.execute(_STORE, {"model": name, "rows": json.dumps(rows)})


_STORE: Final = """
    INSERT INTO budget_calibration (model, text_class, ratio, covariance, samples, error, updated_at)
    SELECT %(model)s, text_class, ratio, covariance, samples, error, now()
    FROM jsonb_to_recordset(%(rows)s::jsonb)
        AS learned (text_class text, ratio float8, covariance jsonb, samples integer, error float8)
    ON CONFLICT (model, text_class) DO UPDATE SET ratio = EXCLUDED.ratio, covariance = EXCLUDED.covariance,
        samples = EXCLUDED.samples, error = EXCLUDED.error, updated_at = EXCLUDED.updated_at
"""
"""Not the ORM's `bulk_create`, which asks for the rows' ids and so waits for them, and for the writes before."""


def _remember(name: str, known: _Known) -> _Known:
    _kept[name] = (time.monotonic() + KEEP_RATIOS, known)
    return known


def _missed(known: _Known, figures: Sequence[Observation]) -> float:
    believed = {kind: one.ratio for kind, one in known.classes.items()}
    actual = sum(figure.tokens for figure in figures)
    return abs(sum(estimate(figure.base_by_class, believed) for figure in figures) - actual) / actual


def _next(one: Learned, ratio: float, missed: float | None) -> Learned:
    """What is known of a class after one more ratio. `missed` None: the class wasn't in the request."""
    if missed is None:
        return Learned(ratio, one.samples, one.error)
    turns = min(one.samples + 1, ERROR_OVER_TURNS)
    return Learned(ratio, one.samples + 1, one.error + (missed - one.error) / turns)


def _name(model: str) -> str:
    return model if exact() else model[: MODEL_CHARS - len(ESTIMATED)] + ESTIMATED
