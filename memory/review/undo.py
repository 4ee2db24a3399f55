"""Records review decisions so that they can be undone exactly, within `UNDO_FOR`.

Each decision stores the previous values of the columns it changed, and the links it removed. Undo restores them, unless
a fact has changed since: then it is refused and changes nothing.

Concurrent decisions are serialized by row locks; the later one sees the new state and is refused with a sentence. Locks
are taken in one order (the action, then facts by id) to avoid deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from memory.documents.profile_updates import refresh_profile
from memory.facts.links import Relation, give_back, link, link_superseded
from memory.models import Fact, FactLink, ReviewAction
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from accounts.models import User

UNDO_FOR: Final = timedelta(days=30)
"""How long a decision can be undone: long enough to notice a mistake in the answers, short enough that nothing
important was built on it since."""

LEAVES: Final[Mapping[str, frozenset[str]]] = {
    ReviewAction.Verb.ACCEPT: frozenset({Fact.Status.ACTIVE}),
    ReviewAction.Verb.EDIT: frozenset({Fact.Status.ACTIVE, Fact.Status.EXPIRED}),  # an edit may have said that it ended
    ReviewAction.Verb.REJECT: frozenset({Fact.Status.REJECTED}),
    ReviewAction.Verb.KEEP_BOTH: frozenset({Fact.Status.ACTIVE}),
    ReviewAction.Verb.UNRELATED: frozenset({Fact.Status.ACTIVE}),
    ReviewAction.Verb.MERGE: frozenset({Fact.Status.ACTIVE}),
}
"""States that each decision may leave the fact in; undo requires one of them."""

TOO_LATE: Final = (
    f"This was decided more than {UNDO_FOR.days} days ago, so it can no longer be undone. "
    "You can still reject the fact on your profile page."
)
UNDONE_BEFORE: Final = "This was already undone."
CHANGED_SINCE: Final = "This fact has changed since, so that decision can no longer be undone."

KEPT: Final = frozenset({
    "status", "reason", "accepted_at", "withdrawn_at", "superseded_at", "superseded_by_id",
    "statement", "value", "source", "confidence", "tokens", "vector", "embedded_by",
    "kind", "key", "importance", "tags", "valid_from", "valid_until",
})  # fmt: skip
"""Columns that a decision may change and undo restores; never the owner or the source. Checked when stored and when
restored, because rows of an imported archive are not trusted."""

MOMENTS: Final = frozenset({"accepted_at", "withdrawn_at", "superseded_at", "valid_from", "valid_until"})
"""Datetime columns, stored as ISO text."""

type Before = dict[str, dict[str, Any]]


class RefusedError(Exception):
    """The decision isn't possible; the message is a sentence for the user."""


def undo(action: ReviewAction) -> Fact:
    """Restore every row that the action changed.

    Raises:
        RefusedError: it was undone before or too long ago, or a fact it touched has changed since.
    """
    with one_change():
        found = ReviewAction.objects.select_for_update(no_key=True).filter(pk=action.pk).first()
        if found is None:  # its fact was forgotten meanwhile
            raise RefusedError(CHANGED_SINCE)
        action = found
        if action.undone_at is not None:
            raise RefusedError(UNDONE_BEFORE)
        if action.created_at < timezone.now() - UNDO_FOR:
            raise RefusedError(TOO_LATE)
        rows = locked_facts(Q(pk__in=[int(pk) for pk in action.before], user=action.user_id))
        _check_untouched(action, rows)
        # What is active now goes first: it must release its key before the other reclaims it.
        for fact in sorted(rows.values(), key=lambda row: row.status != Fact.Status.ACTIVE):
            _restore(fact, action.before[str(fact.pk)])
        others = [pk for pk in rows if pk != action.fact_id]
        if action.verb == ReviewAction.Verb.REJECT:
            link_superseded(rows[action.fact_id], others)
        else:
            give_back(rows[action.fact_id], others)
        _give_links_back(action)
        action.undone_at = timezone.now()
        action.save(update_fields=["undone_at"])
        refresh_profile(action.user)
        publish_event(f"user-{action.user_id}", "memory")
        return rows[action.fact_id]


def can_be_undone(user: User) -> Any:
    """The user's decisions that can still be undone, the latest first."""
    young = ReviewAction.objects.for_user(user).filter(undone_at=None, created_at__gte=timezone.now() - UNDO_FOR)
    return young.select_related("fact").defer("fact__vector", "fact__search").order_by("-created_at", "-pk")


# One change ------------------------------------------------------------------------------------------------------


@contextmanager
def one_change() -> Iterator[None]:
    """One transaction, refused if another fact took the same key concurrently."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if "one_active_fact_a_key" not in str(error):
            raise
        raise RefusedError("Another fact just replaced this one. Reload and decide again.") from None


def locked_facts(which: Q) -> dict[int, Fact]:
    """Facts by id, locked in id order."""
    return {fact.pk: fact for fact in Fact.objects.filter(which).order_by("pk").select_for_update(no_key=True)}


def record(fact: Fact, verb: ReviewAction.Verb, by: User, before: Before, links: Iterable[Any] = ()) -> ReviewAction:
    """Record a decision in the caller's transaction, and notify the owner's pages."""
    publish_event(f"user-{fact.user_id}", "memory")
    action: ReviewAction = ReviewAction.objects.create(
        user_id=fact.user_id, fact=fact, verb=verb, by=by, before=before, links=list(links)
    )
    refresh_profile(fact.user)
    return action


# Before and after ------------------------------------------------------------------------------------------------


def snapshot(facts: Iterable[Fact], columns: Iterable[str]) -> Before:
    """The current values of these columns."""
    kept = list(columns)
    assert KEPT.issuperset(kept), f"undo could not put back {kept}"
    return {str(fact.pk): {column: _as_json(getattr(fact, column)) for column in kept} for fact in facts}


def _as_json(value: Any) -> Any:
    # A vector is already a list of floats: doubles represent half-precision numbers exactly.
    return value.isoformat() if isinstance(value, datetime) else value


def _restore(fact: Fact, columns: Mapping[str, Any]) -> None:
    kept = {column: value for column, value in columns.items() if column in KEPT}
    for column, value in kept.items():
        is_moment = column in MOMENTS and value is not None
        setattr(fact, column, datetime.fromisoformat(value) if is_moment else value)
    fact.save(update_fields=list(kept))


def _give_links_back(action: ReviewAction) -> None:
    """Restore the links that the decision removed, and remove the ones it added."""
    for from_id, to_id, relation, strength in action.links:
        FactLink.objects.filter(from_fact=from_id, to_fact=to_id, relation=Relation.RELATED_TO).delete()
        if strength is not None:
            link(action.user_id, from_id, Relation(relation), to_id, strength)


def _is_as_left(decided: Fact, action: ReviewAction) -> bool:
    """Whether the fact is in a state that the action leaves it in; an accepted one may have become history at once."""
    became_history = "superseded_at" in action.before[str(decided.pk)]
    return decided.status in ({Fact.Status.SUPERSEDED} if became_history else LEAVES[action.verb])


def _check_untouched(action: ReviewAction, rows: Mapping[int, Fact]) -> None:
    """Refuse if a fact is gone, has changed since the action, or was decided again."""
    decided = rows.get(action.fact_id)
    as_left = decided is not None and _is_as_left(decided, action) and len(rows) == len(action.before)
    others = [row for pk, row in rows.items() if pk != action.fact_id]
    if action.verb == ReviewAction.Verb.REJECT:
        others_as_left = all(row.status == Fact.Status.ACTIVE for row in others)
    else:
        others_as_left = all(row.superseded_by_id == action.fact_id for row in others)
    later = ReviewAction.objects.filter(fact__in=rows, undone_at=None, pk__gt=action.pk)
    if not as_left or not others_as_left or later.exists():
        raise RefusedError(CHANGED_SINCE)
