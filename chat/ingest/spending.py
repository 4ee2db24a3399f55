"""What does memory's background work cost a person? Chat's side of `memory.librarian.spending.UsageLedger`, as the two
do
not know each other."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal

from accounts.models import User
from budget.spending import limits, usage
from memory.librarian.engine import Usage
from memory.librarian.spending import SpendingStop


class DayBook:
    """The person's counters of the day."""

    def add(self, user_id: int, used: Usage) -> Decimal:
        """Count the tokens; their price."""
        return usage.add_background(user_id, used.model, used.input_tokens, used.output_tokens, calls=used.calls)

    def spending_stop(self, user_id: int) -> SpendingStop | None:
        """The limit of tokens or money that is used up, until its next period begins."""
        user = User.objects.get(pk=user_id)
        used_up = limits.stops_spending(user)
        if used_up is None:
            return None
        return SpendingStop(datetime.combine(used_up.free_on, time.min, user.zone), used_up.sentence)
