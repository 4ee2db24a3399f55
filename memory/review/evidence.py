"""Evidence of a fact: its quote in context, the source message, and the fact it would supersede."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.documents.revisions import Change, changes
from memory.facts.contradiction import load_contradictions
from memory.models import Fact
from memory.ports import source
from memory.text.second_person import second_person

AROUND: Final = 160
"""Characters shown before and after a quote: about two lines, enough to see what it answered."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote with its context in the message."""

    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class FactView:
    """A fact with everything needed to judge it."""

    fact: Fact
    passage: Passage | None
    """None: the fact has no quote."""
    link: str
    """Address of its source message; empty if the message is gone."""
    older: Fact | None
    """The active fact that it contradicts, which accepting it would supersede."""
    diff: Sequence[Change]
    """Word diff against the older statement; empty without one."""
    guaranteed: bool
    """Whether it is in every prompt now."""


def build_fact_views(facts: Sequence[Fact]) -> list[FactView]:
    """Each fact with its evidence. Load the facts with `message` and its `conversation` to save queries."""
    older = load_contradictions(fact for fact in facts if fact.status == Fact.Status.PROPOSED)
    links = links_of(facts)
    keyed = [fact.pk for fact in facts if fact.key and fact.status == Fact.Status.ACTIVE]
    guaranteed = set(Fact.objects.guaranteed().filter(pk__in=keyed).values_list("pk", flat=True)) if keyed else set()
    return [
        FactView(
            fact,
            load_passage(fact),
            links.get(fact.message_id or 0, ""),
            older.get(fact.pk),
            changes(second_person(older[fact.pk].statement), second_person(fact.statement)) if fact.pk in older else (),
            fact.pk in guaranteed,
        )
        for fact in facts
    ]


def load_passage(fact: Fact) -> Passage | None:
    """The fact's quote in its message; without context if the message is gone or its conversation was deleted."""
    if not fact.quote:
        return None
    return passage(fact.message.text if fact.message and _is_there(fact) else "", fact.quote)


def links_of(facts: Iterable[Fact]) -> dict[int, str]:
    """By message id: the address of each source message that can still be shown."""
    return source.message_urls(fact.message_id for fact in facts if _is_there(fact))


def _is_there(fact: Fact) -> bool:
    return fact.message is not None and fact.message.conversation.deleted_at is None


def passage(text: str, quote: str) -> Passage:
    """The quote in its context in `text`, ignoring white space between words; the bare quote if it isn't found."""
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    found = re.search(pattern, text) if pattern else None
    if found is None:
        return Passage("", quote, "")
    return Passage(_end(text[: found.start()]), found[0], _beginning(text[found.end() :]))


def _beginning(text: str) -> str:
    if len(text) <= AROUND:
        return text.rstrip()
    cut = text[:AROUND]
    return (cut.rsplit(None, 1)[0] if " " in cut else cut) + " …"


def _end(text: str) -> str:
    if len(text) <= AROUND:
        return text.lstrip()
    cut = text[-AROUND:]
    return "… " + (cut.split(None, 1)[-1] if " " in cut else cut)
