"""Page data of one fact: source, history, related facts and locations.

The view adds the prompts that used it, because receipts belong to the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils import timezone

from memory.facts.links import STATABLE, linkable
from memory.models import Document, Episode, Fact, ReviewAction
from memory.pages.about import locate_in_tabs
from memory.pages.graph import RELATIONS, build_graph
from memory.pages.knowledge import document_url
from memory.pages.labels import SOURCES, freshness, reason, sureness
from memory.pages.review import Row, load_fact_view
from memory.review.decisions import CORRECTABLE
from memory.review.evidence import FactView, Passage, links_of, load_passage
from memory.review.undo import UNDO_FOR
from memory.text.fact_lines import lines_of
from memory.text.second_person import second_person

if TYPE_CHECKING:
    from accounts.models import User
    from memory.forms import StatementForm


@dataclass(frozen=True, slots=True)
class Evidence:
    """The source text of a fact, or of a fact it replaced."""

    fact: Fact
    passage: Passage
    link: str
    is_own: bool
    """False: it is the source of a replaced fact."""


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A decision that changed the fact."""

    action: ReviewAction
    by: str
    is_about: bool
    """False: it was about another fact, which replaced this one."""
    may_be_undone: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A document line linked to the fact."""

    document: Document
    address: str
    line: str


def build_fact_page(user: User, fact: Fact, *, form: StatementForm | None = None, sentence: str = "") -> dict[str, Any]:
    """Everything memory knows about a fact; `form`, `sentence`: a refused edit and the reason.

    At most fifteen queries.
    """
    shown = load_fact_view(fact)
    fact = shown.fact
    older = _load_superseded(user, fact)
    tab, number = locate_in_tabs(fact)
    return {
        "row": Row(shown, form=form, sentence=sentence),
        "is_editable": fact.status in CORRECTABLE,
        "is_not_true_yet": fact.valid_from is not None and fact.valid_from > timezone.now(),
        "fact": fact,
        "source": SOURCES[Fact.Source(fact.source)],
        "reason": reason(fact),
        "sureness": sureness(fact.confidence),
        "freshness": freshness(fact, timezone.now()),
        "evidence": build_evidence(shown, older),
        "older": older,
        "decided": load_decisions(user, fact),
        "places": _load_places(user, fact),
        "episodes": list(
            Episode.objects.for_user(user).not_deleted().filter(facts=fact).only("title", "happened_at", "conversation")
        ),
        "graph": build_graph(user, fact),
        "linkable": linkable(user, fact),
        "relations": [(relation.value, RELATIONS[relation][0]) for relation in STATABLE],
        "in_list": f"{reverse('memory:about')}?show={tab}&page={number}#fact-{fact.pk}",
    }


def build_evidence(shown: FactView, older: Sequence[Fact]) -> list[Evidence]:
    """The source of the fact, then of the facts it replaced, which must come with message and conversation loaded."""
    addresses = links_of(older)
    found = [(shown.fact, shown.passage, shown.link, True)]
    found += [(fact, load_passage(fact), addresses.get(fact.message_id or 0, ""), False) for fact in older]
    return [Evidence(fact, words, link, is_this_fact) for fact, words, link, is_this_fact in found if words is not None]


def load_decisions(user: User, fact: Fact) -> list[DecisionView]:
    """Decisions on the fact, or that replaced it, the latest first. One query."""
    touching = ReviewAction.objects.for_user(user).filter(before__has_key=str(fact.pk))
    actions = touching.select_related("fact").defer("fact__vector", "fact__search").order_by("-created_at", "-pk")
    oldest = timezone.now() - UNDO_FOR
    return [_build_decision_view(action, fact, user, young=action.created_at >= oldest) for action in actions]


def _build_decision_view(action: ReviewAction, fact: Fact, user: User, *, young: bool) -> DecisionView:
    by = "you" if action.by_id == user.pk else "staff" if action.by_id else "a deleted account"
    return DecisionView(action, by, action.fact_id == fact.pk, young and action.undone_at is None)


def _load_superseded(user: User, fact: Fact) -> list[Fact]:
    """The facts it replaced, the latest first."""
    gave_way = Fact.objects.for_user(user).filter(superseded_by=fact).select_related("message__conversation")
    return list(gave_way.defer("vector", "search", "message__search").order_by("-superseded_at", "-pk"))


def _load_places(user: User, fact: Fact) -> list[Place]:
    """The document lines linked to it. One query."""
    found = Document.objects.for_user(user).filter(text__contains=f"^fact-{fact.pk}").order_by("path")
    return [
        Place(document, document_url(document.path), second_person(line.unmarked.strip().lstrip("-*+ ")))
        for document in found
        for line in lines_of(document.text)
        if line.fact == fact.pk
    ]
