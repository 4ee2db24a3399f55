"""Accuracy of the token estimate: the prediction of a turn's first request against the provider's count. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

Round = Mapping[str, Any]
"""The provider's usage of one request, as a receipt stores it."""


def counted_input(rounds: Sequence[Round]) -> int | None:
    """The provider's input count of the first request, in tokens; None: not reported."""
    if not rounds or rounds[0]["estimated"]:
        return None
    return sum(int(rounds[0][name]) for name in ("input", "cache_read", "cache_write_5m", "cache_write_1h"))


def predicted_input(rounds: Sequence[Round], estimated_input: int) -> int:
    """The predicted input of the first request, in tokens.

    `estimated_input`: the receipt's, for old rounds without their own prediction.
    """
    predicted: int = (rounds[0].get("predicted") if rounds else 0) or estimated_input
    return predicted


def prediction_error(rounds: Sequence[Round], estimated_input: int) -> float | None:
    """(predicted − counted) ÷ counted; None: they can't be compared."""
    counted = counted_input(rounds)
    if not counted:
        return None
    return (predicted_input(rounds, estimated_input) - counted) / counted
