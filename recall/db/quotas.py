"""Quotas: how much of each table one user may keep, so that no one fills the database or a prompt.

`make_room` counts under a lock that lasts until the new row is committed: requests at once don't pass a quota together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db.models import BigIntegerField, Count, Func, QuerySet, Sum, Value

from recall.db.postgres import wait_for_turn

MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Quota:
    """The most rows of one user, and the most megabytes in some of their columns."""

    rows: int
    names: str
    """What the rows are called."""
    remedy: str
    """How to make room."""
    megabytes: int = 0
    columns: tuple[str, ...] = ()
    """The columns whose bytes count: what is stored, whatever another column says of it."""


QUOTAS: Final[Mapping[str, Quota]] = {
    # Each has a rate limit of its own: together, 100 times API_RATE_PER_MINUTE.
    "accounts.apikey": Quota(100, "API keys", "Revoke one first."),
    # Every prompt holds them all, and none is cut: at their longest, some 6,000 tokens.
    "memory.boundary": Quota(50, "boundaries", "Remove one first."),
    # Lists and menus show them all. A deleted one can be restored, so these count.
    "chat.role": Quota(200, "roles", "Delete one first."),
    "chat.project": Quota(500, "projects", "Delete one first."),
    # The largest collection whose searches are measured (docs/scale.md).
    "memory.document": Quota(100_000, "documents", "Delete some first."),
    # 100 messages of MAX_MESSAGE_BYTES: 200 such users fill a cell of 1 TB (docs/scale.md).
    "chat.attachment": Quota(
        20_000, "attachments", "Forget messages with attachments first.", 5_000, ("content", "text")
    ),
}
"""By table."""

TOO_MANY: Final = "You have reached the limit of {most:,} {names}. {remedy}"
TOO_MUCH: Final = "Your {names} exceed {most:,} MB. {remedy}"


class QuotaError(ValidationError):
    """There is no room for the row; the message is for its owner."""

    def __str__(self) -> str:
        return str(self.message)


def make_room(rows: QuerySet[Any], user_id: int, more: int = 1, size: int = 0) -> None:
    """Check that `more` rows, of `size` bytes together, fit beside these of the user; within their transaction.

    Raises:
        QuotaError: what the limit is, and how to make room.
    """
    table = rows.model._meta.label_lower
    quota = QUOTAS[table]
    wait_for_turn(f"quota of {table}", user_id)
    sizes = (Func(column, function="octet_length", output_field=BigIntegerField()) for column in quota.columns)
    held = sum(sizes, Value(0))
    kept = rows.order_by().aggregate(count=Count("pk"), size=Sum(held, default=0))
    if kept["count"] + more > quota.rows:
        raise QuotaError(TOO_MANY.format(names=quota.names, most=quota.rows, remedy=quota.remedy))
    if kept["size"] + size > quota.megabytes * MEGABYTE:
        raise QuotaError(TOO_MUCH.format(names=quota.names, most=quota.megabytes, remedy=quota.remedy))
