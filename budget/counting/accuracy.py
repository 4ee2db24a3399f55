"""How far was the prediction of a request from what the provider counted? Of a turn's first request, which it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Round = Mapping[str, Any]
"""The provider's figures of one request, as a receipt keeps them."""


def counted_input(rounds: Sequence[Round]) -> int | None:
    """All input the provider counted of the first request, in tokens; None: it reported nothing."""
    if not rounds or rounds[0]["estimated"]:
        return None
    return sum(int(rounds[0][name]) for name in ("input", "cache_read", "cache_write_5m", "cache_write_1h"))


def predicted_input(rounds: Sequence[Round], estimated_input: int) -> int:
    """All input that was expected of the first request, in tokens.

    `estimated_input`: the receipt's, for a round that is older than predictions of its own.
    """
    predicted: int = (rounds[0].get("predicted") if rounds else 0) or estimated_input
    return predicted


def prediction_error(rounds: Sequence[Round], estimated_input: int) -> float | None:
    """The prediction beyond what was counted, as a share of it; None: they cannot be compared."""
    counted = counted_input(rounds)
    if not counted:
        return None
    return (predicted_input(rounds, estimated_input) - counted) / counted
