"""How many of a model's own tokens is one base token? Ratios per model and text class, learned from every turn."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from budget.counting import STARTING_RATIO, TextClass, estimate, learn_from_turn
from budget.models import Calibration
from recall.tokens import exact

KEEP_RATIOS: Final = 30.0
"""Seconds a process believes the ratios it has read; what it learns itself it knows at once."""
ERROR_OVER_TURNS: Final = 20
"""The error shown is the mean over about so many turns: long enough to be calm, short enough to show a change."""
ESTIMATED: Final = " [estimated]"
"""Marks a model's ratios to a base count without the vocabulary: they do not fit the other count."""
MODEL_CHARS: Final = Calibration._meta.get_field("model").max_length or 80


@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of one text class under one model."""

    ratio: float = STARTING_RATIO
    samples: int = 0
    error: float = 0.0
    """Mean of |estimate − actual| ÷ actual."""


def ratios(model: str) -> dict[TextClass, float]:
    """Tokens of `model` per base token; classes that were never seen are missing (`estimate` knows where to start)."""
    return {kind: learned.ratio for kind, learned in _learned(_name(model)).items()}


def estimate_for(model: str, base_by_class: Mapping[TextClass, int]) -> int:
    """The tokens that `model` will count, expected."""
    return estimate(base_by_class, ratios(model))


def observe(model: str, base_by_class: Mapping[TextClass, int], actual_input: int) -> None:
    """Learn from one request: what was counted here, and all input tokens the provider reports (0: nothing to learn).

    One statement, to be the last of the closing transaction: every turn with the model writes the same few rows, in
    the same order. Two turns that end at once may each learn from the same ratio; the later one's is kept.
    """
    name, seen = _name(model), {kind: base for kind, base in base_by_class.items() if base > 0}
    if not seen or actual_input <= 0:
        return
    known = _learned(name)
    before = {kind: one.ratio for kind, one in known.items()}
    missed = abs(estimate(seen, before) - actual_input) / actual_input
    after = learn_from_turn(before, seen, actual_input)
    now_known = {kind: _next(known.get(kind, Learned()), after[kind], missed) for kind in sorted(seen)}
    Calibration.objects.bulk_create(
        [
            Calibration(model=name, text_class=kind, ratio=one.ratio, samples=one.samples, error=one.error)
            for kind, one in now_known.items()
        ],
        update_conflicts=True,
        unique_fields=["model", "text_class"],
        update_fields=["ratio", "samples", "error", "updated_at"],
    )
    transaction.on_commit(lambda: _remember(name, {**known, **now_known}))


def forget_known_ratios() -> None:
    """Read the table again at the next question."""
    _known.clear()


_known: dict[str, tuple[float, dict[TextClass, Learned]]] = {}


def _learned(name: str) -> dict[TextClass, Learned]:
    until, known = _known.get(name, (0.0, {}))
    if time.monotonic() < until:
        return known
    rows = Calibration.objects.filter(model=name)
    return _remember(name, {TextClass(r.text_class): Learned(r.ratio, r.samples, r.error) for r in rows})


def _remember(name: str, learned: dict[TextClass, Learned]) -> dict[TextClass, Learned]:
    _known[name] = (time.monotonic() + KEEP_RATIOS, learned)
    return learned


def _next(one: Learned, ratio: float, missed: float) -> Learned:
    turns = min(one.samples + 1, ERROR_OVER_TURNS)
    return Learned(ratio, one.samples + 1, one.error + (missed - one.error) / turns)


def _name(model: str) -> str:
    return model if exact() else model[: MODEL_CHARS - len(ESTIMATED)] + ESTIMATED
