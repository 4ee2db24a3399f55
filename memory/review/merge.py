"""Merging: several proposals and facts become one, in a chosen or typed wording, which supersedes the others.

The remaining fact inherits, so that merging loses nothing:

- the key, kind and value, if only another fact has them: what was in every prompt stays there;
- the highest importance, and all tags;
- confidence 1.0 if the wording was typed by the user, else the highest confidence.

Facts with two different keys are not merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from memory.embeddings.port import embedder
from memory.facts.contradiction import against
from memory.facts.keys import PREFIXES, split_key
from memory.facts.links import link_superseded, mark_superseded
from memory.models import Fact, ReviewAction
from memory.review.decisions import BY_EDITING, BY_SUPERSEDING, allow_again, check_open, check_wording, reword, whom
from memory.review.undo import RefusedError, locked_facts, one_change, record, snapshot

if TYPE_CHECKING:
    from accounts.models import User

MAX_MERGED: Final = 50
"""Maximum facts merged at once: as many as a page shows."""

BY_MERGING: Final = (*BY_EDITING, "kind", "key", "importance", "tags")
"""Columns of the remaining fact that merging changes."""

TOO_FEW: Final = "Select at least two to merge."
TOO_MANY: Final = f"You can merge at most {MAX_MERGED} at once."
TWO_PEOPLE: Final = "These belong to different users and can't be merged."
TWO_KEYS: Final = "These are different profile entries, so they can't be merged."


def merge(facts: Sequence[Fact], into: Fact, statement: str = "", *, by: User) -> ReviewAction:
    """Merge `facts` into `into`; `statement` is the new wording, empty keeps that of `into`.

    Raises:
        RefusedError: there are fewer than two, they have different keys, one can't be merged any more, or the wording
            contains a secret or something forgotten.
    """
    wanted = {fact.pk for fact in facts} | {into.pk}
    if not 2 <= len(wanted) <= MAX_MERGED:
        raise RefusedError(TOO_FEW if len(wanted) < 2 else TOO_MANY)
    if {fact.user_id for fact in facts} - {into.user_id}:
        raise RefusedError(TWO_PEOPLE)
    typed = bool(statement) and statement != into.statement
    if typed:
        check_wording(into, statement)
    vector = embedder().embed([statement])[0].tolist() if typed else None  # before any lock is taken
    with one_change():
        rows = locked_facts(Q(pk__in=wanted, user=into.user_id) | _against_any(facts, into))
        merged = [rows.get(pk) for pk in sorted(wanted)]
        for fact in merged:
            check_open(fact, ReviewAction.Verb.MERGE)
        stays, *rest = sorted(filter(None, merged), key=lambda fact: fact.pk != into.pk)
        _check_one_key([stays, *rest])
        others = [*rest, *(fact for pk, fact in rows.items() if pk not in wanted)]
        before = snapshot([stays], BY_MERGING) | snapshot(others, (*BY_SUPERSEDING, "accepted_at"))
        _retire(rest, others, by)
        _take_over(stays, rest)
        if vector is not None:
            reword(stays, statement, vector)
        stays.status, stays.reason = Fact.Status.ACTIVE, f"merged from {len(wanted)} by {whom(stays, by)}"
        stays.accepted_at = stays.accepted_at or timezone.now()
        stays.save(update_fields=BY_MERGING)
        link_superseded(stays, [fact.pk for fact in others])
        allow_again(stays)
        return record(stays, ReviewAction.Verb.MERGE, by, before)


def _against_any(facts: Iterable[Fact], into: Fact) -> Q:
    which = against(into)
    for fact in facts:
        if fact.key:
            which |= against(fact)
    return which


def _keys(facts: Iterable[Fact]) -> set[str]:
    return {fact.key for fact in facts if fact.key}


def _check_one_key(facts: Iterable[Fact]) -> None:
    """One attribute has one fact; of a family, such as pastimes, several may be in one statement."""
    if len(_keys(facts)) > 1 and not all(split_key(key)[1].startswith(tuple(PREFIXES)) for key in _keys(facts)):
        raise RefusedError(TWO_KEYS)


def _retire(rest: Sequence[Fact], others: Sequence[Fact], by: User) -> None:
    """Supersede the merged facts; a proposal among them counts as known from this moment on."""
    now = timezone.now()
    mark_superseded([fact.pk for fact in others], at=now)
    Fact.objects.filter(pk__in=[fact.pk for fact in rest]).update(reason=f"merged into another by {whom(rest[0], by)}")
    never_known = [fact.pk for fact in others if fact.status == Fact.Status.PROPOSED]
    Fact.objects.filter(pk__in=never_known).update(accepted_at=Coalesce(F("accepted_at"), now))


def _take_over(stays: Fact, rest: Sequence[Fact]) -> None:
    """Inherit from the merged facts, in memory."""
    keyed = next((fact for fact in rest if fact.key), None)
    if len(_keys([stays, *rest])) > 1:
        stays.key = stays.value = ""
    elif not stays.key and keyed is not None:
        stays.kind, stays.key, stays.value = keyed.kind, keyed.key, keyed.value
    stays.importance = max(fact.importance for fact in (stays, *rest))
    stays.confidence = max(fact.confidence for fact in (stays, *rest))
    stays.tags = list(dict.fromkeys(tag for fact in (stays, *rest) for tag in fact.tags))
