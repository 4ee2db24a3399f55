"""Retention: how long each kind of data is kept, what is deleted after that, and what stays.

    cut            of a receipt: what was left out of the prompt; the count by rule stays
    receipts       of a receipt: the texts in the prompt; figures and references stay
    conversations  as if the user had deleted them; what was learned from them stays, with the quoted words
    artifacts      documents made from tool results

A conversation is kept or deleted as a whole, by its last message: history, branches, summaries, receipts and episodes
depend on earlier messages. One that the librarian has yet to read waits for that.

A period of 0 keeps forever. The scheduler runs once a day; a round is short and queues the next while there is more.
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
    """Kinds of data with a retention period."""

    CUT = "cut"
    RECEIPTS = "receipts"
    CONVERSATIONS = "conversations"
    ARTIFACTS = "artifacts"


PERIODS: Final[Mapping[What, Callable[[], int]]] = {
    # The longest part of a receipt, and rarely needed after months: 90 days by default.
    What.CUT: lambda: settings.ENVIRONMENT.cut_candidate_retention_days,
    # Costs must stay true, and forgetting must find the answers that used a memory; texts need not stay.
    What.RECEIPTS: lambda: settings.ENVIRONMENT.receipt_retention_days,
    # Conversations may have to go while learned facts stay: those do not depend on them.
    What.CONVERSATIONS: lambda: settings.ENVIRONMENT.message_retention_days,
    # A tool can be called again.
    What.ARTIFACTS: lambda: settings.ENVIRONMENT.artifact_retention_days,
}
"""The operator's setting in days; 0: forever."""

BATCH: Final = 200
"""Rows per round: a few seconds of work, and a few megabytes of receipts."""
UNFINISHED: Final = (LibrarianRun.State.PENDING, LibrarianRun.State.RUNNING)


def apply(what: What, now: datetime) -> bool:
    """Run one round of a rule; returns whether there may be more. Safe to repeat."""
    days = PERIODS[what]()
    return bool(days) and _REMOVE[what](now - timedelta(days=days), days) >= BATCH


def periods() -> dict[str, int]:
    """Days by rule, for pages; 0: forever."""
    return {what.value: days() for what, days in PERIODS.items()}


# Removal ---------------------------------------------------------------------------------------------------------


def _remove_cut_lists(before: datetime, days: int) -> int:
    return _remove_per_user(receipts.listing_cut(before), lambda found: receipts.remove_cut(found, days))


def _remove_receipt_texts(before: datetime, days: int) -> int:
    return max(
        _remove_per_user(receipts.with_words(before), lambda found: receipts.remove_words(found, days)),
        _remove_per_user(receipts.pinned_for(before), lambda found: found.delete()[0]),
    )


def _remove_conversations(before: datetime, days: int) -> int:
    due = quiet_since(before)
    found = list(due.order_by("last_activity_at", "pk").values_list("pk", flat=True)[:BATCH])
    owners = [owner for owner in (trash.remove(pk, due) for pk in found) if owner is not None]
    for owner in {owner.pk: owner for owner in owners}.values():
        trash.notify_lists(owner)
    return len(owners)


def quiet_since(before: datetime) -> ConversationQuerySet:
    """Conversations without a message since then, pinned and archived ones too, with no work in progress."""
    quiet = Conversation.objects.not_deleted().filter(last_activity_at__lt=before)
    found: ConversationQuerySet = quiet.exclude(librarian_runs__state__in=UNFINISHED).exclude(
        messages__status=Message.Status.STREAMING
    )
    return found


def _remove_artifacts(before: datetime, days: int) -> int:
    return remove_old_artifacts(before, BATCH)


def _remove_per_user(due: QuerySet[Any], remove: Callable[[QuerySet[Any]], int]) -> int:
    """Remove the oldest due rows in one transaction per user that holds the user's row: forgetting rewrites the same
    columns. Returns how many rows were changed."""
    found = sorted(due.order_by("created_at", "pk").values_list("user_id", "pk")[:BATCH])
    changed = 0
    for user_id, rows in groupby(found, key=itemgetter(0)):
        with transaction.atomic():
            if try_lock_user(user_id):
                changed += remove(due.filter(pk__in=[pk for _, pk in rows]))
    return changed


_REMOVE: Final[Mapping[What, Callable[[datetime, int], int]]] = {
    What.CUT: _remove_cut_lists,
    What.RECEIPTS: _remove_receipt_texts,
    What.CONVERSATIONS: _remove_conversations,
    What.ARTIFACTS: _remove_artifacts,
}
"""Rule → a function that takes the cutoff and the days, and returns how many rows one round changed."""
