"""What does memory's background work cost a person? Chat's side of `memory.costs.Book`, as the two do not know each
other."""

from __future__ import annotations

from decimal import Decimal

from budget import usage
from memory.extraction import Usage


class DayBook:
    """The person's counters of the day."""

    def add(self, user_id: int, used: Usage) -> Decimal:
        """Count the tokens; their price."""
        return usage.add_background(user_id, used.model, used.input_tokens, used.output_tokens, calls=used.calls)
