"""Batch review: accept or reject many proposals in one click, and undo them in one.

Each decision is recorded with the batch's id, all in one transaction. A fact that was decided elsewhere in the meantime
is skipped and counted. Undo reverts the latest decision first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from django.db import transaction
from django.db.models import Q

from memory.facts.contradiction import load_contradictions
from memory.models import Fact, ReviewAction
from memory.review.decisions import accept, reject
from memory.review.undo import RefusedError, locked_facts, undo

if TYPE_CHECKING:
    from accounts.models import User

MAX_AT_ONCE: Final = 200
"""Maximum decisions per click."""
TOO_MANY: Final = f"At most {MAX_AT_ONCE} are decided at once. Nothing was changed."
NOTHING_CHOSEN: Final = "Nothing is selected."

DECIDES: Final[Mapping[str, Callable[..., ReviewAction]]] = {
    ReviewAction.Verb.ACCEPT: accept,
    ReviewAction.Verb.REJECT: reject,
}
"""Decisions that need no further input for each fact."""


@dataclass(slots=True)
class Outcome:
    """The result of a batch."""

    actions: list[ReviewAction] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    """Why the others stayed as they were, one sentence each."""


def decide_batch(facts: Iterable[Fact], verb: ReviewAction.Verb, *, by: User) -> Outcome:
    """Accept or reject each of `facts`, as one batch; of several values for a key the newest wins.

    Raises:
        RefusedError: there are none, or too many.
    """
    chosen = sorted(facts, key=lambda fact: fact.pk)
    if not chosen or len(chosen) > MAX_AT_ONCE:
        raise RefusedError(TOO_MANY if chosen else NOTHING_CHOSEN)
    outcome = Outcome()
    with transaction.atomic():
        _lock(chosen)
        for fact in chosen:
            _try(lambda fact=fact: outcome.actions.append(DECIDES[verb](fact, by=by)), outcome)  # type: ignore[misc]
        ReviewAction.objects.filter(pk__in=[action.pk for action in outcome.actions]).update(batch=uuid4())
    return outcome


def batch_of(action: ReviewAction, *, of_everybody: bool = False) -> list[ReviewAction]:
    """Decisions of the same batch that aren't undone, the latest first; the action alone if it has no batch.

    A staff batch spans several users. Each user undoes their own part; staff undo all of it (`of_everybody`).
    """
    if action.batch is None:
        return [action]
    same = ReviewAction.objects.filter(batch=action.batch, undone_at=None).select_related("fact")
    undoable = same if of_everybody else same.filter(user=action.user_id)
    return list(undoable.order_by("-pk")) or [action]


def undo_batch(actions: Sequence[ReviewAction]) -> tuple[list[Fact], list[str]]:
    """Undo a batch. Returns the facts as they are now, and a sentence for each decision that could not be undone."""
    facts: list[Fact] = []
    outcome = Outcome()
    with transaction.atomic():
        _lock([action.fact for action in actions])
        for action in actions:
            _try(lambda action=action: facts.append(undo(action)), outcome)  # type: ignore[misc]
    return facts, outcome.refusals


def _try(decide: Callable[[], object], outcome: Outcome) -> None:
    try:
        decide()
    except RefusedError as refusal:
        outcome.refusals.append(str(refusal))


def _lock(facts: Sequence[Fact]) -> None:
    """Lock all rows in id order before any decision, so that concurrent batches wait and never deadlock."""
    older = load_contradictions([fact for fact in facts if fact.status == Fact.Status.PROPOSED])
    ids = {fact.pk for fact in facts}
    locked_facts(Q(pk__in=ids | {fact.pk for fact in older.values()}) | Q(superseded_by__in=ids))
