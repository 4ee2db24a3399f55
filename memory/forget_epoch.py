"""The forget epoch: a job checks it before it commits, and restarts if something was forgotten meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from accounts.models import User
from memory.models import Forgetting
from recall.db.prepared import PreparedQuery, Read

if TYPE_CHECKING:
    from datetime import datetime

_NEWEST: Final = PreparedQuery(
    lambda user: Forgetting.objects.filter(user=user).order_by("-pk").values_list("pk", flat=True)[:1], user=int
)
_PERSON: Final = PreparedQuery(
    lambda user: User.objects.select_for_update(no_key=True).filter(pk=user).values_list("pk", flat=True), user=int
)


def forget_epoch(user_id: int) -> int:
    """Id of the user's latest forgetting, 0 for none. Read it before reading any text."""
    return _NEWEST.first(user=user_id) or 0


def epoch_reads(user_id: int, *, lock: bool = False) -> list[Read]:
    """What `forget_epoch` reads; `lock`: what `lock_forget_epoch` reads."""
    return [*([_PERSON.read(user=user_id)] if lock else []), _NEWEST.read(user=user_id)]


def lock_forget_epoch(user_id: int) -> int:
    """The forget epoch, with the user's row locked, so that nothing can be forgotten until commit.

    Raises:
        User.DoesNotExist: the account is gone.
    """
    lock_user(user_id)
    return forget_epoch(user_id)


def lock_user(user_id: int) -> None:
    """Lock the user's row until the end of the transaction, so that nothing can be forgotten.

    Take this lock before any other row: one order avoids deadlocks.

    Raises:
        User.DoesNotExist: the account is gone.
    """
    if not try_lock_user(user_id):
        raise User.DoesNotExist


def try_lock_user(user_id: int) -> bool:
    """`lock_user` for a job that may outlive the account; False: the account is gone."""
    return _PERSON.first(user=user_id) is not None


def forgotten_since(user_id: int, moment: datetime) -> bool:
    """Whether anything was forgotten after `moment`."""
    return Forgetting.objects.filter(user=user_id, created_at__gt=moment).exists()
