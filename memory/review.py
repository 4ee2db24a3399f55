"""What does a human decide about a proposal? Accept, edit and accept, reject, undo: each one transaction.

A human decision is final for the librarian: a rejected fact stays as a row, so that it is not proposed again. Each
decision keeps the changed columns of each changed row as they stood before, so that undo restores them exactly.

Two decisions at once wait for one another in the row locks; the later one finds the state changed and is refused with
a sentence. Locks are taken in one order (the action, then facts by id), so that none waits for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from memory.embedding import embedder
from memory.links import give_back, give_way, take_place
from memory.models import Fact, ReviewAction
from recall.nudges import nudge
from recall.tokens import count

if TYPE_CHECKING:
    from accounts.models import User

DECIDABLE: Final[Mapping[str, frozenset[str]]] = {
    ReviewAction.Verb.ACCEPT: frozenset({Fact.Status.PROPOSED}),
    ReviewAction.Verb.EDIT: frozenset({Fact.Status.PROPOSED}),
    ReviewAction.Verb.REJECT: frozenset({Fact.Status.PROPOSED, Fact.Status.ACTIVE}),  # what was learned unasked, too
}
"""In which states of a fact each decision may be taken."""

LEAVES: Final[Mapping[str, str]] = {
    ReviewAction.Verb.ACCEPT: Fact.Status.ACTIVE,
    ReviewAction.Verb.EDIT: Fact.Status.ACTIVE,
    ReviewAction.Verb.REJECT: Fact.Status.REJECTED,
}
"""The state each decision leaves the fact in; undo asks for it."""

CERTAIN: Final = 1.0
"""Confidence of a statement the user worded themselves."""

_BY_ACCEPTING = ("status", "reason", "accepted_at")
_BY_EDITING = (*_BY_ACCEPTING, "statement", "value", "source", "confidence", "tokens", "vector", "embedded_by")
_BY_REJECTING = ("status", "reason", "withdrawn_at")
_BY_SUPERSEDING = ("status", "reason", "superseded_at", "superseded_by_id")

type Before = dict[str, dict[str, Any]]


class RefusedError(Exception):
    """This decision cannot be taken; the message is a sentence for the user."""


def accept(fact: Fact, *, by: User) -> ReviewAction:
    """Make a proposal an active fact; the active fact with the same key, if there is one, is superseded by it.

    Raises:
        RefusedError: it no longer waits for a decision.
    """
    with _decision(fact, ReviewAction.Verb.ACCEPT) as (locked, others):
        now, older = timezone.now(), [fact.pk for fact in others]
        before = _snapshot([locked], _BY_ACCEPTING) | _snapshot(others, _BY_SUPERSEDING)
        give_way(older, at=now)
        locked.status, locked.reason = Fact.Status.ACTIVE, f"accepted by {_whom(locked, by)}"
        locked.accepted_at = now
        locked.save(update_fields=_BY_ACCEPTING)
        take_place(locked, older)
        return _record(locked, ReviewAction.Verb.ACCEPT, by, before)


def edit(fact: Fact, statement: str, value: str | None = None, *, by: User) -> ReviewAction:
    """Accept a proposal in the user's own wording; `value` None keeps a keyed fact's value.

    Raises:
        RefusedError: it no longer waits for a decision.
    """
    model = embedder()
    vector = model.embed([statement])[0].tolist()  # before the transaction: no lock is held meanwhile
    with _decision(fact, ReviewAction.Verb.EDIT) as (locked, others):
        now, older = timezone.now(), [fact.pk for fact in others]
        before = _snapshot([locked], _BY_EDITING) | _snapshot(others, _BY_SUPERSEDING)
        give_way(older, at=now)
        locked.status, locked.reason = Fact.Status.ACTIVE, f"edited by {_whom(locked, by)}"
        locked.accepted_at = now
        locked.statement, locked.source, locked.confidence = statement, Fact.Source.EDITED, CERTAIN
        locked.value = locked.value if value is None else value
        locked.vector, locked.embedded_by = vector, model.name
        locked.tokens = count(locked.statement)
        locked.save(update_fields=_BY_EDITING)
        take_place(locked, older)
        return _record(locked, ReviewAction.Verb.EDIT, by, before)


def reject(fact: Fact, *, by: User) -> ReviewAction:
    """Say that a proposal, or a fact that was learned, is not to be remembered.

    Raises:
        RefusedError: it is neither proposed nor active any more.
    """
    with _decision(fact, ReviewAction.Verb.REJECT) as (locked, _):
        before = _snapshot([locked], _BY_REJECTING)
        if locked.status == Fact.Status.ACTIVE:
            locked.withdrawn_at = timezone.now()
        locked.status, locked.reason = Fact.Status.REJECTED, f"rejected by {_whom(locked, by)}"
        locked.save(update_fields=_BY_REJECTING)
        return _record(locked, ReviewAction.Verb.REJECT, by, before)


def undo(action: ReviewAction) -> Fact:
    """Put every row the action changed back as it was.

    Raises:
        RefusedError: it was undone before, or a fact it touched has changed since.
    """
    with _one_change():
        action = ReviewAction.objects.select_for_update(no_key=True).get(pk=action.pk)
        if action.undone_at is not None:
            raise RefusedError("This was already undone.")
        rows = _locked(Q(pk__in=[int(pk) for pk in action.before]))
        _check_untouched(action, rows)
        # The decided fact first: it leaves its key before the superseded one takes it again.
        for fact in sorted(rows.values(), key=lambda row: row.pk != action.fact_id):
            _restore(fact, action.before[str(fact.pk)])
        give_back(rows[action.fact_id], [pk for pk in rows if pk != action.fact_id])
        action.undone_at = timezone.now()
        action.save(update_fields=["undone_at"])
        nudge(f"user-{action.user_id}", "memory")
        return rows[action.fact_id]


def to_be_superseded(proposals: Iterable[Fact]) -> dict[int, Fact]:
    """By proposal id: the active fact that accepting it would supersede."""
    keyed = {fact.pk: (fact.user_id, fact.kind, fact.key) for fact in proposals if fact.key}
    if not keyed:
        return {}
    users, kinds, keys = (set(column) for column in zip(*keyed.values(), strict=True))
    active = Fact.objects.filter(user__in=users, kind__in=kinds, key__in=keys, status=Fact.Status.ACTIVE)
    by_key = {(fact.user_id, fact.kind, fact.key): fact for fact in active.defer("vector", "search")}
    return {pk: by_key[key] for pk, key in keyed.items() if key in by_key}


# One decision ----------------------------------------------------------------------------------------------------


@contextmanager
def _decision(fact: Fact, verb: ReviewAction.Verb) -> Iterator[tuple[Fact, list[Fact]]]:
    """The fact, locked and still open to `verb`, and the active fact whose key it would take."""
    with _one_change():
        same_key = Q(user=fact.user_id, kind=fact.kind, key=fact.key, status=Fact.Status.ACTIVE)
        rows = _locked(Q(pk=fact.pk) | same_key if fact.key else Q(pk=fact.pk))
        locked = rows.pop(fact.pk, None)
        if locked is None:
            raise RefusedError("This fact is no longer there.")
        if locked.status not in DECIDABLE[verb]:
            raise RefusedError(f"This fact has changed meanwhile: it is {locked.get_status_display().lower()} now.")
        yield locked, list(rows.values())


@contextmanager
def _one_change() -> Iterator[None]:
    """One transaction; a fact with the same key that became active in the same moment wins."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if "one_active_fact_a_key" not in str(error):
            raise
        raise RefusedError("Another fact took this one’s place a moment ago. Look again, then decide.") from None


def _locked(which: Q) -> dict[int, Fact]:
    """Facts by id, locked in the order of their ids."""
    return {fact.pk: fact for fact in Fact.objects.filter(which).order_by("pk").select_for_update(no_key=True)}


def _record(fact: Fact, verb: ReviewAction.Verb, by: User, before: Before) -> ReviewAction:
    nudge(f"user-{fact.user_id}", "memory")
    action: ReviewAction = ReviewAction.objects.create(user_id=fact.user_id, fact=fact, verb=verb, by=by, before=before)
    return action


def _whom(fact: Fact, by: User) -> str:
    return "you" if fact.user_id == by.pk else "staff"


# Before and after ------------------------------------------------------------------------------------------------


def _snapshot(facts: Iterable[Fact], columns: Iterable[str]) -> Before:
    return {str(fact.pk): {column: _as_json(getattr(fact, column)) for column in columns} for fact in facts}


def _as_json(value: Any) -> Any:
    # A vector is a list of floats already: each number of half precision keeps its value as a double.
    return value.isoformat() if isinstance(value, datetime) else value


def _restore(fact: Fact, columns: Mapping[str, Any]) -> None:
    for column, value in columns.items():
        is_time = column.endswith("_at") and value is not None
        setattr(fact, column, datetime.fromisoformat(value) if is_time else value)
    fact.save(update_fields=list(columns))


def _check_untouched(action: ReviewAction, rows: Mapping[int, Fact]) -> None:
    """Refuse where a fact is gone, is not as the action left it, or was decided on again."""
    decided = rows.get(action.fact_id)
    as_left = decided is not None and decided.status == LEAVES[action.verb] and len(rows) == len(action.before)
    others_as_left = all(row.superseded_by_id == action.fact_id for pk, row in rows.items() if pk != action.fact_id)
    later = ReviewAction.objects.filter(fact__in=rows, undone_at=None, pk__gt=action.pk)
    if not as_left or not others_as_left or later.exists():
        raise RefusedError("This fact has changed since, so that decision can no longer be undone.")
