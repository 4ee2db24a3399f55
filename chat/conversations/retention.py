"""How long is what kept? The operator's periods, what goes when one is over, and what stays all the same.

    cut            of a receipt: which things were left out of the prompt; by which rule how many stays
    receipts       of a receipt: what stood in the prompt said; every figure, and which things they were, stays
    conversations  as a person deletes them; what was learned from them stays, with the words that it rests on
    artifacts      documents that tool results were moved into

A conversation is kept or goes as a whole, by its last message, and never a message by itself: the history that the
model is given, branches, summaries, receipts and episodes rest on the messages before them, and a conversation that had
lost its beginning would go on as if that were all there was. One that the librarian has still to read waits for that.

A period of 0 keeps for ever. The clock asks once a day; a round is short, and asks for the next while there is more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction

from budget.receipts import retention as receipts
from chat.conversations import trash
from chat.models import Conversation, Message
from memory.documents.artifacts import remove_old_artifacts
from memory.forget_epoch import try_lock_user
from memory.models import LibrarianRun

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from chat.models import ConversationQuerySet


class What(StrEnum):
    """What is kept for a while."""

    CUT = "cut"
    RECEIPTS = "receipts"
    CONVERSATIONS = "conversations"
    ARTIFACTS = "artifacts"


PERIODS: Final[Mapping[What, Callable[[], int]]] = {
    # The longest part of a receipt, and nobody asks after months why something was not recalled: 90 days by itself.
    What.CUT: lambda: settings.ENVIRONMENT.cut_candidate_retention_days,
    # What was paid must stay true, and forgetting must find the answers that a memory stood in; words need not stay.
    What.RECEIPTS: lambda: settings.ENVIRONMENT.receipt_retention_days,
    # Talk may have to go while what was learned may stay: that is the person's own, and stands by itself.
    What.CONVERSATIONS: lambda: settings.ENVIRONMENT.message_retention_days,
    # A tool can be asked again.
    What.ARTIFACTS: lambda: settings.ENVIRONMENT.artifact_retention_days,
}
"""Days, as the operator chose; 0: for ever."""

AT_ONCE: Final = 200
"""Rows of one round: some seconds of work, and a few megabytes of receipts."""
WAITING: Final = (LibrarianRun.State.PENDING, LibrarianRun.State.RUNNING)


def apply(what: What, now: datetime) -> bool:
    """One round of a rule; whether there may be more to do. Done again at the same moment, it finds what is left."""
    days = PERIODS[what]()
    return bool(days) and _REMOVE[what](now - timedelta(days=days), days) >= AT_ONCE


def periods() -> dict[str, int]:
    """The days of each rule, for pages; 0: for ever."""
    return {what.value: days() for what, days in PERIODS.items()}


# What each removes -----------------------------------------------------------------------------------------------


def _cut(before: datetime, days: int) -> int:
    return _by_person(receipts.listing_cut(before), lambda found: receipts.remove_cut(found, days))


def _receipts(before: datetime, days: int) -> int:
    return max(
        _by_person(receipts.with_words(before), lambda found: receipts.remove_words(found, days)),
        _by_person(receipts.pinned_for(before), lambda found: found.delete()[0]),
    )


def _conversations(before: datetime, days: int) -> int:
    due = quiet_since(before)
    found = list(due.order_by("last_activity_at", "pk").values_list("pk", flat=True)[:AT_ONCE])
    owners = [owner for owner in (trash.remove(pk, due) for pk in found) if owner is not None]
    for owner in {one.pk: one for one in owners}.values():
        trash.notify_lists(owner)
    return len(owners)


def quiet_since(before: datetime) -> ConversationQuerySet:
    """Conversations, pinned and archived ones too, in which nothing was said since then and that nobody works on."""
    quiet = Conversation.objects.not_deleted().filter(last_activity_at__lt=before)
    found: ConversationQuerySet = quiet.exclude(librarian_runs__state__in=WAITING).exclude(
        messages__status=Message.Status.STREAMING
    )
    return found


def _artifacts(before: datetime, days: int) -> int:
    return remove_old_artifacts(before, AT_ONCE)


def _by_person(due: QuerySet[Any], remove: Callable[[QuerySet[Any]], int]) -> int:
    """Remove the oldest of what is due, a transaction a person that holds their row: nothing is forgotten meanwhile,
    which rewrites the same columns. How many rows were changed."""
    found = sorted(due.order_by("created_at", "pk").values_list("user_id", "pk")[:AT_ONCE])
    changed = 0
    for user_id, rows in groupby(found, key=itemgetter(0)):
        with transaction.atomic():
            if try_lock_user(user_id):
                changed += remove(due.filter(pk__in=[pk for _, pk in rows]))
    return changed


_REMOVE: Final[Mapping[What, Callable[[datetime, int], int]]] = {
    What.CUT: _cut,
    What.RECEIPTS: _receipts,
    What.CONVERSATIONS: _conversations,
    What.ARTIFACTS: _artifacts,
}
"""Given the moment before which it is too old, and the days: how many rows one round changed."""
