"""Who does the model's work behind a talk when a limit stops a person's spending? The rules.

Folding, summaries that are written anew and titles are not put off, as reading for memory is
(`chat/ingest/spending.py`): the next prompt must fit, and a placeholder or the first words of a question should not
stand there until the month ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget.spending import limits

if TYPE_CHECKING:
    from accounts.models import User


def is_left_to_rules(user: User) -> bool:
    """Whether the rules do it, as a limit of tokens or money is used up. Asked before each call of the model."""
    return limits.stops_spending(user) is not None
