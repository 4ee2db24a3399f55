"""How are many proposals decided by one click, and taken back by one?

Each is a decision of its own with the same batch, all in one transaction: what was decided elsewhere meanwhile is left
out and counted, and does not hold up the rest. Undo takes the latest back first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from django.db import transaction
from django.db.models import Q

from memory.facts.contradiction import load_contradictions
from memory.facts.review import accept, reject
from memory.facts.undo import RefusedError, locked_facts, undo
from memory.models import Fact, ReviewAction

if TYPE_CHECKING:
    from accounts.models import User

MOST: Final = 200
"""Decisions of one click; more come in several."""
TOO_MANY: Final = f"At most {MOST} are decided at once. Nothing was changed."
NOTHING_CHOSEN: Final = "Nothing is selected."

DECIDES: Final[Mapping[str, Callable[..., ReviewAction]]] = {
    ReviewAction.Verb.ACCEPT: accept,
    ReviewAction.Verb.REJECT: reject,
}
"""What may be decided on many: the decisions that need no further answer for each."""


@dataclass(slots=True)
class Outcome:
    """What became of many."""

    actions: list[ReviewAction] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    """Why the others stayed as they were, one sentence each."""


def decide_batch(facts: Iterable[Fact], verb: ReviewAction.Verb, *, by: User) -> Outcome:
    """Accept or reject each of `facts`, as one batch; of rivals for a key the one that came last holds.

    Raises:
        RefusedError: there are none, or too many.
    """
    chosen = sorted(facts, key=lambda fact: fact.pk)
    if not chosen or len(chosen) > MOST:
        raise RefusedError(TOO_MANY if chosen else NOTHING_CHOSEN)
    outcome = Outcome()
    with transaction.atomic():
        _lock(chosen)
        for fact in chosen:
            _try(lambda fact=fact: outcome.actions.append(DECIDES[verb](fact, by=by)), outcome)  # type: ignore[misc]
        ReviewAction.objects.filter(pk__in=[action.pk for action in outcome.actions]).update(batch=uuid4())
    return outcome


def batch_of(action: ReviewAction, *, of_everybody: bool = False) -> list[ReviewAction]:
    """All that the same click decided and that still stands, the latest first; the action alone if it stands alone.

    Staff decide on several people's at once. Each of these takes back what is theirs; staff all (`of_everybody`).
    """
    if action.batch is None:
        return [action]
    same = ReviewAction.objects.filter(batch=action.batch, undone_at=None).select_related("fact")
    mine = same if of_everybody else same.filter(user=action.user_id)
    return list(mine.order_by("-pk")) or [action]


def undo_batch(actions: Sequence[ReviewAction]) -> tuple[list[Fact], list[str]]:
    """Take back what one click decided: the facts as they stand now, and a sentence for each that stays decided."""
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
    """All rows in the order of their ids, before each is decided: a second batch waits, and none waits for ever."""
    older = load_contradictions([fact for fact in facts if fact.status == Fact.Status.PROPOSED])
    locked_facts(Q(pk__in={fact.pk for fact in facts} | {fact.pk for fact in older.values()}))
