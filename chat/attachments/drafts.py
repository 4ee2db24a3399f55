"""How does a draft become part of a message? In the transaction that commits the message, once and for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from django.utils import timezone

from chat.attachments.limits import DRAFTS_LIVE, MEGABYTE, MOST_A_MESSAGE, MOST_BYTES_A_MESSAGE
from chat.models import Attachment, Message

if TYPE_CHECKING:
    from accounts.models import User

GONE: Final = "An attachment is not there any more. Attach it again; what you wrote stays here."
SENT: Final = "An attachment went with another message already. Attach it again; what you wrote stays here."
TOO_MANY: Final = f"At most {MOST_A_MESSAGE} attachments go with one message."
TOO_MUCH: Final = f"The attachments of one message have at most {MOST_BYTES_A_MESSAGE // MEGABYTE} MB together."


class NotBoundError(Exception):
    """The message cannot have these attachments; the text is one sentence for the person."""


def bind(question: Message, ids: Sequence[int]) -> None:
    """Give the message these drafts, in this order.

    Raises:
        NotBoundError: one is not the person's, or is sent already, or they are too many.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    if len(wanted) > MOST_A_MESSAGE:
        raise NotBoundError(TOO_MANY)
    mine = Attachment.objects.for_user(question.user).filter(pk__in=wanted).defer("content", "text")
    found = {one.pk: one for one in mine.select_for_update()}
    if len(found) < len(wanted):
        raise NotBoundError(GONE)
    if sum(one.size for one in found.values()) > MOST_BYTES_A_MESSAGE:
        raise NotBoundError(TOO_MUCH)
    if any(one.message_id is not None for one in found.values()):
        raise NotBoundError(SENT)
    for number, pk in enumerate(wanted, start=1):
        Attachment.objects.filter(pk=pk).update(message=question, number=number)


def remove_old_drafts() -> int:
    """Delete drafts that were not sent within a day; returns how many."""
    return Attachment.objects.filter(message=None, created_at__lt=timezone.now() - DRAFTS_LIVE).delete()[0]


def names(user: User, ids: Sequence[int]) -> str:
    """What a conversation is called that begins with attachments and no word."""
    found = Attachment.objects.for_user(user).filter(pk__in=ids).values_list("name", flat=True)
    return ", ".join(found)
