"""Undo tokens for deleted roles and projects: the page holds the deleted fields, signed; the server keeps nothing.

A token expires after `OFFERED_FOR`, and when the user has anything forgotten: the token might contain it.
"""

from datetime import timedelta
from typing import Any, Final

from django.core import signing

from accounts.models import User
from memory.forget_epoch import forget_epoch

OFFERED_FOR: Final = timedelta(hours=1)
"""Long enough to notice a mistake."""

EPOCH: Final = "forget_epoch"
"""Key of the forget epoch among the signed fields."""


class UndoExpiredError(Exception):
    """It can't be restored; the message is one sentence for the user."""


def sign_undo(kind: str, user: User, fields: dict[str, Any]) -> str:
    """Sign the fields: readable, but only valid for their owner."""
    return signing.dumps({**fields, EPOCH: forget_epoch(user.pk)}, salt=_salt(kind, user), compress=True)


def load_undo(kind: str, user: User, token: str) -> dict[str, Any]:
    """Return the signed fields.

    Raises:
        UndoExpiredError: the token is too old, another user's or invalid, or something was forgotten since.
    """
    try:
        fields: dict[str, Any] = signing.loads(token, salt=_salt(kind, user), max_age=OFFERED_FOR)
    except signing.BadSignature:
        raise UndoExpiredError("This was deleted too long ago to be restored.") from None
    if fields.pop(EPOCH, None) != forget_epoch(user.pk):
        raise UndoExpiredError("You've had Recall forget something since, so this can't be restored.")
    return fields


def _salt(kind: str, user: User) -> str:
    return f"chat.projects.undo_tokens.{kind}.{user.pk}"
