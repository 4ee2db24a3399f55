"""The staff access log: one entry per page and owner for each admin page that shows another user's rows.

An entry says who, whose, what and when; never the text. A list of 100 facts of three users makes three entries. Viewing
your own rows, or rows without an owner, makes none. Entries are written before the page is rendered
(`accounts/staff/logged_admin.py`): if that fails, nothing is shown.
"""

from collections.abc import Iterable
from typing import Any

from accounts.models import AccessLog, User
from recall.db.acting import by

_MAX_CHARS = 120


def log_access(reader: User, owner: int | None, what: str) -> None:
    """Log that `reader` is about to see `what` of the user with the id `owner`."""
    log_accesses(reader, [owner], what)


def log_accesses(reader: User, owners: Iterable[int | None], what: str) -> None:
    """Log one access for each of `owners`. One statement at most."""
    others = sorted({owner for owner in owners if owner is not None and owner != reader.pk})
    if others:
        AccessLog.objects.bulk_create(
            AccessLog(reader=reader, user_id=owner, what=what[:_MAX_CHARS]) for owner in others
        )


def latest(user: User) -> Any:
    """Accesses to this user's data, latest first; for their readers see `load_readers`."""
    return AccessLog.objects.filter(user=user)


def load_readers(entries: Iterable[AccessLog]) -> list[AccessLog]:
    """The entries, each with its reader."""
    loaded = list(entries)
    with by("reader of a memory"):
        readers = User.objects.in_bulk({entry.reader_id for entry in loaded if entry.reader_id is not None})
    for entry in loaded:
        entry.reader = readers.get(entry.reader_id or 0)
    return loaded
