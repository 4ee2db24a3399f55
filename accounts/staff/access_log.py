"""Who looked at what is another's? Each page of the admin that shows a person's rows
(`accounts/staff/logged_admin.py`) asks here for a line before it is shown.

A line tells who, whose, what and when; never the text. One line a page and owner: a list of 100 facts of three people
is three lines, so that each of them finds it in their own list, and a list says so little more often than it must.
Looking at one's own rows, or at what belongs to nobody, is no line. The line is written before the page is rendered:
where it cannot be written, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accounts.models import AccessLog, User

_LENGTH = 120


def log_access(reader: User, owner: int | None, what: str) -> None:
    """`reader` is about to see `what` of the person with the id `owner`."""
    note_all(reader, [owner], what)


def note_all(reader: User, owners: Iterable[int | None], what: str) -> None:
    """One line for each of `owners`. One statement at most."""
    others = sorted({owner for owner in owners if owner is not None and owner != reader.pk})
    if others:
        AccessLog.objects.bulk_create(AccessLog(reader=reader, user_id=owner, what=what[:_LENGTH]) for owner in others)


def latest(user: User) -> Any:
    """Who looked at what of this person's, the latest first."""
    return AccessLog.objects.filter(user=user).select_related("reader")
