"""How is a role or a project brought back that was just deleted? By the page that says so, which holds it, signed.

Nothing of it is kept on the server: what was deleted is gone with the page, at the latest after `OFFERED_FOR`, and with
whatever the person has Recall forget meanwhile, since nobody can tell whether it stands in there.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.core import signing

from accounts.models import User
from memory.forget_epoch import forget_epoch

OFFERED_FOR: Final = timedelta(hours=1)
"""Long enough to notice the mistake; a page that lay open for a day brings nothing back."""

EPOCH: Final = "forget_epoch"
"""Among the sealed fields: what had been forgotten by then."""


class UndoExpiredError(Exception):
    """It cannot be brought back; the message is one sentence for the person."""


def sign_undo(kind: str, user: User, fields: dict[str, Any]) -> str:
    """What the page holds: readable by its owner, whose it is, and of no use to anybody else."""
    return signing.dumps({**fields, EPOCH: forget_epoch(user.pk)}, salt=_salt(kind, user), compress=True)


def load_undo(kind: str, user: User, token: str) -> dict[str, Any]:
    """The fields again.

    Raises:
        GoneForGood: it is too old, not this person's, or not ours; or something was forgotten since.
    """
    try:
        fields: dict[str, Any] = signing.loads(token, salt=_salt(kind, user), max_age=OFFERED_FOR)
    except signing.BadSignature:
        raise UndoExpiredError("This was deleted too long ago to be brought back.") from None
    if fields.pop(EPOCH, None) != forget_epoch(user.pk):
        raise UndoExpiredError("Something was forgotten since this was deleted, so it cannot be brought back.")
    return fields


def _salt(kind: str, user: User) -> str:
    return f"chat.projects.undo_tokens.{kind}.{user.pk}"
