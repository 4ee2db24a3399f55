"""Review decisions on proposals: accept, edit, keep both, reject. Each is one transaction and can be undone
(`memory/review/undo.py`).

A human decision is final for the librarian: a rejected fact stays as a row, so that it is not proposed again.
Many at once: `memory/review/bulk_review.py`; several into one: `memory/review/merge.py`; contradictions:
`memory/facts/contradiction.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Final

from django.db.models import Q
from django.utils import timezone

from memory import tombstones
from memory.documents.fact_line_edits import TAKEN_BACK
from memory.embeddings.port import embedder
from memory.facts.contradiction import NOTHING_AGAINST, against, no_longer_opposed
from memory.facts.links import GAVE_WAY, link_superseded, mark_superseded
from memory.facts.validity import BACKWARDS, OVER, Validity, validity_of
from memory.index.indexer import reindex
from memory.models import Fact, ReviewAction
from memory.review.undo import Before, RefusedError, locked_facts, one_change, record, snapshot, undo
from memory.secrets.secrets_filter import sensitive
from memory.text.keywords import words
from recall.llm.tokens import count_tokens

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["RefusedError", "accept", "correct", "edit", "keep_both", "not_a_contradiction", "reject", "undo"]

DECIDABLE: Final[Mapping[str, frozenset[str]]] = {
    ReviewAction.Verb.ACCEPT: frozenset({Fact.Status.PROPOSED}),
    ReviewAction.Verb.EDIT: frozenset({Fact.Status.PROPOSED}),
    ReviewAction.Verb.KEEP_BOTH: frozenset({Fact.Status.PROPOSED}),
    ReviewAction.Verb.UNRELATED: frozenset({Fact.Status.PROPOSED}),
    # also facts learned without asking
    ReviewAction.Verb.REJECT: frozenset({Fact.Status.PROPOSED, Fact.Status.ACTIVE}),
    ReviewAction.Verb.MERGE: frozenset({Fact.Status.PROPOSED, Fact.Status.ACTIVE}),
}
"""States of a fact in which each decision is allowed."""

CORRECTABLE: Final = frozenset({Fact.Status.ACTIVE, Fact.Status.EXPIRED})
"""States that a user may correct; the end of an expired fact may have been a mistake."""

GONE: Final = "This fact no longer exists."
NEVER_KEPT: Final = "That looks like a password, key or ID number. Recall never remembers those."
HOLDS_AGAIN: Final = "what had replaced it was rejected"
NO_FACT: Final = Q(pk__in=())
CERTAIN: Final = 1.0
"""Confidence of a statement the user worded themselves."""

BY_ACCEPTING: Final = ("status", "reason", "accepted_at")
BY_EDITING: Final = (*BY_ACCEPTING, "statement", "value", "source", "confidence", "tokens", "vector", "embedded_by")
BY_REJECTING: Final = ("status", "reason", "withdrawn_at")
BY_SUPERSEDING: Final = ("status", "reason", "superseded_at", "superseded_by_id")
BY_DATING: Final = ("status", "reason", "valid_from", "valid_until")
"""The columns each decision changes."""


def accept(fact: Fact, *, by: User) -> ReviewAction:
    """Make a proposal an active fact; it supersedes the active fact it contradicts, if any.

    If the active value of its key was stated later, the proposal becomes history: the latest statement wins.

    Raises:
        RefusedError: it no longer waits for a decision.
    """
    with _decision(fact, ReviewAction.Verb.ACCEPT) as (locked, others):
        later = next(
            (other for other in others if locked.key and other.key == locked.key and _is_later(other, locked)), None
        )
        if later is not None:
            return _accept_as_past(locked, later, by)
        older = [other.pk for other in others]
        before = snapshot([locked], BY_ACCEPTING) | snapshot(others, BY_SUPERSEDING)
        mark_superseded(older, at=timezone.now())
        _activate(locked, f"accepted by {whom(locked, by)}")
        locked.save(update_fields=BY_ACCEPTING)
        link_superseded(locked, older)
        return record(locked, ReviewAction.Verb.ACCEPT, by, before)


def _is_later(fact: Fact, proposal: Fact) -> bool:
    """Whether an active fact was stated after a proposal."""
    if fact.message is None or proposal.message is None:
        return False
    return bool(fact.message.created_at > proposal.message.created_at)


def _accept_as_past(fact: Fact, later: Fact, by: User) -> ReviewAction:
    before = snapshot([fact], (*BY_ACCEPTING, *BY_SUPERSEDING))
    fact.status, fact.reason = Fact.Status.SUPERSEDED, f"accepted by {whom(fact, by)}, and superseded by a newer fact"
    fact.accepted_at = fact.superseded_at = timezone.now()
    fact.superseded_by = later
    fact.save(update_fields=[*BY_ACCEPTING, "superseded_at", "superseded_by"])
    link_superseded(later, [fact.pk])
    return record(fact, ReviewAction.Verb.ACCEPT, by, before)


def edit(fact: Fact, statement: str, value: str | None = None, *, by: User) -> ReviewAction:
    """Accept a proposal in the user's own wording; `value` None: taken from it, if it has the form of the old one.

    Raises:
        RefusedError: it no longer waits for a decision, or the wording contains a secret or something forgotten.
    """
    check_wording(fact, statement, value)
    vector = embedder().embed([statement])[0].tolist()  # before the transaction: no lock is held meanwhile
    with _decision(fact, ReviewAction.Verb.EDIT) as (locked, others):
        older = [other.pk for other in others]
        before = snapshot([locked], BY_EDITING) | snapshot(others, BY_SUPERSEDING)
        mark_superseded(older, at=timezone.now())
        _activate(locked, f"edited by {whom(locked, by)}")
        locked.value = (_reworded_value(locked, statement) or locked.value) if value is None else value
        reword(locked, statement, vector)
        locked.save(update_fields=BY_EDITING)
        link_superseded(locked, older)
        return record(locked, ReviewAction.Verb.EDIT, by, before)


def correct(
    fact: Fact,
    statement: str,
    value: str | None = None,
    validity: Validity | None = None,
    *,
    by: User,
    typed: str = "",
) -> ReviewAction:
    """Correct an active or expired fact: its wording, or when it is true.

    New wording creates a new fact, edited by the user, which supersedes the old one. If only the dates change, the fact
    and its evidence stay. Both can be undone. `value` None: taken from the new wording, if it has the form of the old
    one; `validity` None: unchanged; `typed`: the user's own words, which become the quote; empty: the statement. An
    active fact that already says the same is superseded too.

    Raises:
        RefusedError: it is no longer in use, is unchanged, ends before it starts, or contains a secret or something
            forgotten.
    """
    check_wording(fact, statement, value)
    vector = embedder().embed([statement])[0].tolist()  # before the transaction: no lock is held meanwhile
    same = _ids_of_same_words(fact, statement)
    with one_change():
        rows = locked_facts(Q(pk=fact.pk) | Q(pk__in=same, status=Fact.Status.ACTIVE))
        old, twins = rows.pop(fact.pk, None), list(rows.values())
        validity = validity or validity_of(old or fact)
        _check_correctable(old, statement, value, validity)
        assert old is not None
        if statement == old.statement and value in (None, old.value):
            return _dated(old, validity, by)
        gone = [old.pk, *(twin.pk for twin in twins)]
        before = snapshot([old, *twins], BY_SUPERSEDING)
        mark_superseded(gone, at=timezone.now())
        model = next((twin for twin in twins if twin.key), old)
        value = _reworded_value(model, statement) if value is None else value
        new = _successor(model, statement, typed or statement, value, vector, validity, by)
        link_superseded(new, gone)
        return record(new, ReviewAction.Verb.EDIT, by, before | _not_remembered(new))


def _ids_of_same_words(fact: Fact, statement: str) -> list[int]:
    active = Fact.objects.filter(user=fact.user_id, status=Fact.Status.ACTIVE).exclude(pk=fact.pk)
    return [pk for pk, other in active.values_list("pk", "statement") if words(other) == words(statement)]


def _reworded_value(fact: Fact, statement: str) -> str:
    """The value in the old value's place: “lives in Porto” → “lives in Lyon”; empty if the new wording names none."""
    if fact.value.casefold() in statement.casefold():
        return fact.value
    before, _, after = fact.statement.partition(fact.value)
    if statement.startswith(before) and statement.endswith(after):
        return statement.removeprefix(before).removesuffix(after)
    return ""


def keep_both(fact: Fact, *, by: User) -> ReviewAction:
    """Accept a proposal next to the fact it contradicts: both stay active.

    Raises:
        RefusedError: it no longer waits for a decision, or contradicts nothing.
    """
    return _keep_beside(fact, ReviewAction.Verb.KEEP_BOTH, by)


def not_a_contradiction(fact: Fact, *, by: User) -> ReviewAction:
    """Accept a proposal: what it seemed to contradict is about something else.

    Raises:
        RefusedError: it no longer waits for a decision, or contradicts nothing.
    """
    return _keep_beside(fact, ReviewAction.Verb.UNRELATED, by)


def reject(fact: Fact, *, by: User) -> ReviewAction:
    """Reject a proposal or a learned fact; what had given way to it holds again, as a fact from now on.

    What has another value by now stays history: after “quit their job” is rejected, the employer before the new one.

    Raises:
        RefusedError: it is neither proposed nor active any more.
    """
    gave_way = gave_way_to(fact)
    with _decision(fact, ReviewAction.Verb.REJECT, gave_way | _holders_of_keys(fact, gave_way)) as (locked, others):
        taken = {other.key for other in others if other.key and other.status == Fact.Status.ACTIVE}
        gone = [other for other in others if other.status == Fact.Status.SUPERSEDED and other.key not in taken]
        older = {other.key or other.statement: other for other in gone}
        before = snapshot([locked], BY_REJECTING)
        if locked.status == Fact.Status.ACTIVE:
            locked.withdrawn_at = timezone.now()
        locked.status, locked.reason = Fact.Status.REJECTED, f"rejected by {whom(locked, by)}"
        locked.save(update_fields=BY_REJECTING)
        for other in older.values():
            before |= _superseded_again(_holding_again(other), locked)
        return record(locked, ReviewAction.Verb.REJECT, by, before)


def _holding_again(old: Fact) -> Fact:
    """A new fact that says the same; the old one stays, as the history of the time between."""
    new = copy(old)
    new.pk, new._state.adding = None, True
    new.superseded_at = new.superseded_by = None
    new.recorded_at = timezone.now()
    _activate(new, HOLDS_AGAIN)
    new.save()
    return new


def _superseded_again(new: Fact, by: Fact) -> Before:
    """The state that undo gives such a fact."""
    columns = {"status": Fact.Status.SUPERSEDED, "reason": GAVE_WAY, "superseded_by_id": by.pk}
    return {str(new.pk): {**columns, "superseded_at": new.recorded_at.isoformat()}}


def gave_way_to(fact: Fact) -> Q:
    """The facts that an active fact superseded by being newer, as a condition."""
    gone = Q(user=fact.user_id, superseded_by=fact.pk, status=Fact.Status.SUPERSEDED, reason=GAVE_WAY)
    return gone if fact.status == Fact.Status.ACTIVE else NO_FACT


def _holders_of_keys(fact: Fact, older: Q) -> Q:
    """The other active facts that have a key of these older ones, as a condition."""
    keys = Fact.objects.filter(older).exclude(key="").values("key")
    return Q(user=fact.user_id, status=Fact.Status.ACTIVE, key__in=keys) & ~Q(pk=fact.pk)


def _keep_beside(fact: Fact, verb: ReviewAction.Verb, by: User) -> ReviewAction:
    with _decision(fact, verb) as (locked, others):
        if not others:
            raise RefusedError(NOTHING_AGAINST)
        before = snapshot([locked], (*BY_ACCEPTING, "key"))
        _activate(locked, f"kept beside the other by {whom(locked, by)}")
        locked.key = ""
        locked.save(update_fields=(*BY_ACCEPTING, "key"))
        related = verb == ReviewAction.Verb.KEEP_BOTH
        links = no_longer_opposed(locked, [other.pk for other in others], related=related)
        return record(locked, verb, by, before, links)


def check_wording(fact: Fact, statement: str, value: str | None = None) -> None:
    """Check that the user's own wording may be kept.

    Raises:
        RefusedError: it contains a secret, or something forgotten that the fact doesn't.
    """
    if sensitive(statement) or sensitive(value or ""):
        raise RefusedError(NEVER_KEPT)
    if tombstones.adds_forgotten(fact.user_id, fact.statement, statement):
        raise RefusedError(tombstones.ALLOW_FIRST)


def _check_correctable(fact: Fact | None, statement: str, value: str | None, validity: Validity) -> None:
    if fact is None:
        raise RefusedError(GONE)
    if fact.status not in CORRECTABLE:
        raise RefusedError(f"This fact has changed: it is now {fact.get_status_display().lower()}.")
    if validity.is_backwards:
        raise RefusedError(BACKWARDS)
    if statement == fact.statement and value in (None, fact.value) and validity == validity_of(fact):
        raise RefusedError("Nothing was changed: it already says that.")


def _dated(fact: Fact, validity: Validity, by: User) -> ReviewAction:
    """Change the fact's dates: it expires now if it has ended, else it is active."""
    before = snapshot([fact], BY_DATING)
    _give_validity(fact, validity, f"edited by {whom(fact, by)}")
    fact.save(update_fields=BY_DATING)
    return record(fact, ReviewAction.Verb.EDIT, by, before)


def _give_validity(fact: Fact, validity: Validity, reason: str) -> None:
    fact.valid_from, fact.valid_until = validity.since, validity.until
    if validity.is_over(timezone.now()):
        fact.status, fact.reason = Fact.Status.EXPIRED, OVER
    else:
        fact.status, fact.reason = Fact.Status.ACTIVE, reason


def _successor(
    old: Fact, statement: str, quote: str, value: str, vector: list[float], validity: Validity, by: User
) -> Fact:
    """A new fact in the user's own words that inherits everything else from the old one."""
    new = Fact(
        user_id=old.user_id,
        kind=old.kind,
        key=old.key,
        value=value,
        tags=[tag for tag in old.tags if tag.casefold() in statement.casefold()],
        importance=old.importance,
        message_id=old.message_id,
        quote=quote,
    )
    _activate(new, f"edited by {whom(new, by)}")
    _give_validity(new, validity, new.reason)
    reword(new, statement, vector)
    new.save()
    return new


def _not_remembered(new: Fact) -> Before:
    """The state that undo gives a fact that didn't exist before."""
    return {str(new.pk): {"status": Fact.Status.REJECTED, "reason": TAKEN_BACK}}


# One decision ----------------------------------------------------------------------------------------------------


@contextmanager
def _decision(fact: Fact, verb: ReviewAction.Verb, also: Q = NO_FACT) -> Iterator[tuple[Fact, list[Fact]]]:
    """The locked fact, still open to `verb`, and the active facts it contradicts and those of `also`."""
    with one_change():
        rows = locked_facts(Q(pk=fact.pk) | against(fact) | also)
        locked = rows.pop(fact.pk, None)
        check_open(locked, verb)
        assert locked is not None
        yield locked, list(rows.values())
        if locked.status == Fact.Status.ACTIVE:
            allow_again(locked)


def allow_again(fact: Fact) -> None:
    """Remove what the user accepted from the forget list, and let its message be recalled again."""
    lifted = tombstones.lift(fact.user_id, fact.statement, fact.quote, key=fact.key, value=fact.value)
    if lifted and fact.message is not None:
        reindex(fact.message.conversation_id, [fact.message.pk])


def check_open(fact: Fact | None, verb: ReviewAction.Verb) -> None:
    """Check that a locked fact is still open to `verb`.

    Raises:
        RefusedError: it is gone, or was decided in the meantime.
    """
    if fact is None:
        raise RefusedError(GONE)
    if fact.status not in DECIDABLE[verb]:
        raise RefusedError(f"This fact has changed: it is now {fact.get_status_display().lower()}.")


def reword(fact: Fact, statement: str, vector: list[float]) -> None:
    """Give a fact the user's own wording, in memory; `vector` is that of `statement`."""
    fact.statement, fact.source, fact.confidence = statement, Fact.Source.EDITED, CERTAIN
    fact.vector, fact.embedded_by = vector, embedder().name
    fact.tokens = count_tokens(statement)


def whom(fact: Fact, by: User) -> str:
    """Who made the decision, in words for the fact's owner."""
    return "you" if fact.user_id == by.pk else "staff"


def _activate(fact: Fact, reason: str) -> None:
    fact.status, fact.reason, fact.accepted_at = Fact.Status.ACTIVE, reason, timezone.now()
