"""Assigns keys to facts that were stored without one, and asks about those that then contradict each other.

Facts from releases before keys had subjects, from imports and from edits may have no key although their attribute has
one value at a time. The rule engine reads each statement again, in the first person; its key is used if it reads
exactly one fact. `manage.py assign-keys` shows the plan and carries it out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models.functions import Coalesce

from accounts.models import User
from memory.documents.profile_updates import refresh_profile
from memory.embeddings.port import embedder
from memory.facts.keys import kind_of
from memory.facts.links import link
from memory.forget_epoch import lock_user
from memory.librarian.changes.corrections import doubted_statement
from memory.librarian.decision import Reason
from memory.librarian.engine import ExtractionInput, ProposedFact
from memory.librarian.known_facts import to_known_fact
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.store import create_fact
from memory.models import Fact, FactLink
from memory.models.kinds import Kind
from memory.ports.source import Utterance

EXTRACTED_BY: Final = "assign-keys"
SURE: Final = 0.8
"""Minimum confidence of the reading: a reading that the engine hedges doesn't justify a key."""
_VERB: Final = re.compile(r"\b[Tt]he user ((?:[a-z]+ly |never |often |also |still |now )*)([a-z]+)")
_FORMS: Final = {"is": "am", "has": "have", "does": "do", "was": "was", "goes": "go"}


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A fact without a key, and the key it gets; or the active fact that already has this key, with another value."""

    fact: Fact
    key: str
    value: str
    holder: Fact | None = None


def in_first_person(statement: str) -> str:
    """“The user's sister lives here, and the user works.” → “My sister lives here, and I work.”"""
    spoken = re.sub(r"\bThe user['’]s\b", "My", re.sub(r"\bthe user['’]s\b|\btheir\b", "my", statement))
    return _VERB.sub(lambda found: f"I {found[1]}{_first_person(found[2])}", spoken)


def plan_keys(user: User) -> list[KeyChange]:
    """The planned changes, the latest facts first: if two collide, the later one keeps the key."""
    active = Fact.objects.for_user(user).active().defer("vector", "search")
    holders = {fact.key: (fact, fact.value) for fact in active.exclude(key="")}
    free = active.filter(key="").order_by(Coalesce("message__created_at", "recorded_at").desc(), "-pk")
    return list(_changes(free.iterator(), holders, user))


def assign_keys(user: User, changes: Sequence[KeyChange]) -> None:
    """Carry out the plan. For a collision, review asks about the older fact: “It is no longer true that …”."""
    with transaction.atomic():
        lock_user(user.pk)
        for change in changes:
            if change.holder is not None:
                _ask(user, *sorted((change.fact, change.holder), key=_said_at))
                continue
            unchanged = Fact.objects.for_user(user).active().filter(pk=change.fact.pk, key="")
            unchanged.update(key=change.key, value=change.value, kind=kind_of(change.key) or change.fact.kind)
        refresh_profile(user)


def _changes(free: Iterator[Fact], holders: dict[str, tuple[Fact, str]], user: User) -> Iterator[KeyChange]:
    for fact in free:
        read = _read(fact, user)
        if read is None:
            continue
        holder, value = holders.setdefault(read.key, (fact, read.value))
        if holder is fact:
            yield KeyChange(fact, read.key, read.value)
        elif value.casefold() != read.value.casefold():
            yield KeyChange(fact, read.key, read.value, holder)


def _read(fact: Fact, user: User) -> ProposedFact | None:
    """The keyed fact that the statement says; None if it says none, or more than one thing."""
    said = Utterance(0, 1, "user", in_first_person(fact.statement), _said_at(fact))
    facts = RuleEngine().extract(ExtractionInput([said], user.preferred_name, user.zone)).facts
    read = facts[0].normalized() if len(facts) == 1 else None
    is_sure = read is not None and read.key and read.value and read.confidence >= SURE and not read.is_no_claim
    return read if is_sure and not (read and read.valid_until) else None


def _ask(user: User, older: Fact, newer: Fact) -> None:
    """Propose that the older fact has ended, unless that was proposed before."""
    statement = doubted_statement(to_known_fact(older, _said_at(older)))
    if Fact.objects.for_user(user).filter(statement=statement).exists():
        return
    proposal = ProposedFact(
        statement=statement, kind=Kind(newer.kind), quote=newer.statement, number=0, confidence=0.5, importance=0.5
    )
    asked = create_fact(
        user.pk,
        proposal,
        status=Fact.Status.PROPOSED,
        reason=Reason.DOUBTED,
        source=Fact.Source.INFERRED,
        said=None,
        vector=embedder().embed([statement])[0],
        extracted_by=EXTRACTED_BY,
    )
    link(user.pk, asked.pk, FactLink.Relation.CONTRADICTS, older.pk, proposal.confidence)


def _said_at(fact: Fact) -> datetime:
    return fact.message.created_at if fact.message_id and fact.message else fact.recorded_at


def _first_person(verb: str) -> str:
    if verb in _FORMS or not verb.endswith("s") or verb.endswith("ss"):
        return _FORMS.get(verb, verb)
    if verb.endswith("ies"):
        return f"{verb.removesuffix('ies')}y"
    return re.sub(r"(?<=sh|ch|ss)es$|(?<=[xz])es$|s$", "", verb)
