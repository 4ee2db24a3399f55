"""Rewrites summaries from the remaining messages, in the background; `Forgetting.to_rewrite` lists them by id.

Until then a segment's summary is a placeholder and an episode is missing. The row is the truth: a task only triggers
the work, and the schedule retries what failed.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction

from accounts.models import User
from memory.forget_epoch import forget_epoch, lock_forget_epoch
from memory.librarian import episodes
from memory.librarian.engine import ExtractionError, ExtractionInput, ProposedEpisode
from memory.models import Forgetting, LibrarianRun
from memory.ports.forgettable import forgettables
from memory.ports.source import Utterance, get_source
from recall.celery import enqueue_on_commit
from recall.db.connections import release_connection

log = logging.getLogger(__name__)

TASK: Final = "memory.tasks.rewrite_summaries"
REQUEUE_LIMIT: Final = 100


def rewrite(receipt_id: int) -> int:
    """Rewrite what one forgetting left to rewrite; return how many items remain."""
    receipt: Forgetting | None = Forgetting.objects.select_related("user").filter(pk=receipt_id).first()
    if receipt is None:
        return 0
    for wanted in list(receipt.to_rewrite):
        if _rewrite_item(receipt.user, wanted):
            _mark_done(receipt_id, wanted)
    return len(Forgetting.objects.filter(pk=receipt_id).values_list("to_rewrite", flat=True).first() or [])


def requeue() -> int:
    """Queue what isn't rewritten yet; return how many receipts."""
    left = list(Forgetting.objects.exclude(to_rewrite=[]).order_by("pk").values_list("pk", flat=True)[:REQUEUE_LIMIT])
    for pk in left:
        enqueue_on_commit(TASK, pk)
    return len(left)


@transaction.atomic
def _mark_done(receipt_id: int, wanted: Mapping[str, Any]) -> None:
    receipt = Forgetting.objects.select_for_update().get(pk=receipt_id)
    receipt.to_rewrite = [item for item in receipt.to_rewrite if item != wanted]
    receipt.save(update_fields=["to_rewrite"])


def _rewrite_item(user: User, wanted: Mapping[str, Any]) -> bool:
    """Rewrite one item; return whether it is done."""
    try:
        if wanted["what"] == "episode":
            return _rewrite_episode(user, wanted)
        return all(keeper.regenerate(user, wanted) for keeper in forgettables())
    except ExtractionError as failure:
        log.warning("A summary could not be rewritten: %s", type(failure).__name__)
        return failure.final
    except ObjectDoesNotExist:  # its conversation was deleted meanwhile
        return True


def _rewrite_episode(user: User, wanted: Mapping[str, Any]) -> bool:
    from memory.librarian.run import choose_engine  # imported late: it imports a module of this package

    began = forget_epoch(user.pk)
    first, last = wanted["first"], wanted["last"]
    owner, utterances = get_source().load_all(UUID(wanted["id"]))
    said = [utterance for utterance in utterances if first <= utterance.turn <= last]
    run = _find_run(user, UUID(wanted["id"]), said)
    if owner != user.pk or run is None:
        return True
    release_connection()
    episode = choose_engine().extract(ExtractionInput(said, user.preferred_name, user.zone)).episode
    return _store_episode(run, episode, said, began)


def _find_run(user: User, conversation_id: UUID, said: list[Utterance]) -> LibrarianRun | None:
    """The librarian run of the episode; None: no messages are left."""
    runs = LibrarianRun.objects.for_user(user).filter(conversation=conversation_id)
    numbers = [utterance.number for utterance in said]
    run: LibrarianRun | None = (
        runs.filter(first_seq__lte=min(numbers), last_seq__gte=min(numbers)).order_by("pk").first() if said else None
    )
    return run


@transaction.atomic
def _store_episode(run: LibrarianRun, episode: ProposedEpisode | None, said: list[Utterance], began: int) -> bool:
    if lock_forget_epoch(run.user_id) != began:
        return False
    if episode is not None and episodes.refusal(episode, said) is None:
        episodes.record(run, episode, said)
        enqueue_on_commit("memory.tasks.embed")
    return True
