"""Attachment drafts: bound to a message in the transaction that commits it, deleted if unsent for a day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from django.utils import timezone

from chat.attachments.limits import DRAFT_LIFETIME, MAX_MESSAGE_BYTES, MAX_PER_MESSAGE, MEGABYTE
from chat.models import Attachment, Message

if TYPE_CHECKING:
    from accounts.models import User

GONE: Final = "An attachment has expired. Attach it again; your text is still here."
SENT: Final = "An attachment was already sent. Attach it again; your text is still here."
TOO_MANY: Final = f"A message can have at most {MAX_PER_MESSAGE} attachments."
TOO_MUCH: Final = f"Attachments of one message are limited to {MAX_MESSAGE_BYTES // MEGABYTE} MB in total."


class NotBoundError(Exception):
    """The message can't have these attachments; the text is one sentence for the user."""


def bind(question: Message, ids: Sequence[int]) -> None:
    """Attach these drafts to the message, in this order.

    Raises:
        NotBoundError: one isn't the user's or was already sent, or there are too many.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    if len(wanted) > MAX_PER_MESSAGE:
        raise NotBoundError(TOO_MANY)
    attachments = Attachment.objects.for_user(question.user).filter(pk__in=wanted).defer("content", "text")
    found = {row.pk: row for row in attachments.select_for_update()}
    if len(found) < len(wanted):
        raise NotBoundError(GONE)
    if sum(row.size for row in found.values()) > MAX_MESSAGE_BYTES:
        raise NotBoundError(TOO_MUCH)
    if any(row.message_id is not None for row in found.values()):
        raise NotBoundError(SENT)
    for number, pk in enumerate(wanted, start=1):
        Attachment.objects.filter(pk=pk).update(message=question, number=number)


def remove_old_drafts() -> int:
    """Delete drafts that were not sent within a day; returns how many."""
    return Attachment.objects.filter(message=None, created_at__lt=timezone.now() - DRAFT_LIFETIME).delete()[0]


def names(user: User, ids: Sequence[int]) -> str:
    """Title of a conversation that starts with attachments and no text."""
    found = Attachment.objects.for_user(user).filter(pk__in=ids).values_list("name", flat=True)
    return ", ".join(found)
