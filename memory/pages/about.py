"""Page data of “About you”: facts by kind, profile documents edited in place, and boundaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Prefetch, Q

from accounts.models import User
from memory.documents.profile import FOLDER
from memory.documents.revisions import BEGINNINGS, Change, beginnings
from memory.forms import BoundaryForm
from memory.models import Boundary, Document, Fact, Revision
from memory.models.kinds import Kind
from memory.pages.review import Row, with_evidence
from memory.review.evidence import build_fact_views
from memory.text.fact_lines import facts_in, without_marks

PAGE_SIZE: Final = 100
FACT_ORDER: Final = ("kind", "-importance", "-recorded_at", "pk")

TABS: Final = {
    "active": ("In use", Q(status=Fact.Status.ACTIVE)),
    "proposed": ("Proposed", Q(status=Fact.Status.PROPOSED)),
    "past": ("Past", ~Q(status__in=[Fact.Status.ACTIVE, Fact.Status.PROPOSED])),
}
"""The facts by status: label and filter."""


@dataclass(frozen=True, slots=True)
class Editor:
    """A document edited in place."""

    document: Document
    number: int
    """Its newest version; 0: it is still empty."""
    hint: str
    text: str
    """The text in the text box."""
    sentence: str = ""
    """The result, or why nothing was saved."""
    has_learned: bool = False
    """Whether Recall learned some of its lines."""
    against: Sequence[Change] = ()
    """After a conflict: the newest version compared with the user's text."""
    is_open: bool = False


def build_about_page(
    user: User,
    *,
    tab: str = "",
    number: str | None = None,
    changed: Editor | None = None,
    new_boundary: BoundaryForm | None = None,
) -> dict[str, Any]:
    """Page `number` of the facts of `tab`, and the rest; `changed` and `new_boundary` replace the stored ones."""
    tab = tab if tab in TABS else "active"
    facts, groups = _load_facts(user, tab, number)
    return {
        "editors": [
            changed if changed and changed.document == editor.document else editor for editor in _build_editors(user)
        ],
        "tabs": _count_tabs(user),
        "tab": tab,
        "facts": facts,
        "groups": groups,
        "boundaries": Boundary.objects.for_user(user),
        "global_boundaries": Boundary.objects.global_ones(),
        "new_boundary": new_boundary,
    }


def build_editor(document: Document, number: int | None = None, *, text: str | None = None, **more: Any) -> Editor:
    """The document's editor, which hides marks; `text` replaces its own text in the text box."""
    if number is None:
        number = document.revisions.aggregate(newest=Max("number"))["newest"] or 0
    hints = {beginning.path: beginning.hint for beginning in BEGINNINGS}
    shown = without_marks(document.text if text is None else text)
    has_learned = bool(facts_in(document.text))
    return Editor(document, number, hints.get(document.path, ""), shown, has_learned=has_learned, **more)


def locate_in_tabs(fact: Fact) -> tuple[str, int]:
    """The tab and page that list this fact. One query."""
    tab = fact.status if fact.status in TABS else "past"
    listed = Fact.objects.filter(TABS[tab][1], user=fact.user_id)
    in_order = list(listed.order_by(*FACT_ORDER).values_list("pk", flat=True))
    return tab, 1 + in_order.index(fact.pk) // PAGE_SIZE


def _build_editors(user: User) -> list[Editor]:
    """The three standard documents, then the others of the profile folder."""
    first = beginnings(user)
    further = Document.objects.for_user(user).under(FOLDER).exclude(pk__in=[document.pk for document in first])
    documents = [*first, *sorted(further, key=lambda document: document.path)]
    newest = dict(
        Revision.objects.filter(document__in=documents).values_list("document").annotate(newest=Max("number"))
    )
    return [build_editor(document, newest.get(document.pk, 0)) for document in documents]


def _count_tabs(user: User) -> list[tuple[str, str, int]]:
    counts = Fact.objects.for_user(user).aggregate(
        **{name: Count("pk", filter=which) for name, (_, which) in TABS.items()}
    )
    return [(name, label, counts[name]) for name, (label, _) in TABS.items()]


def _load_facts(user: User, tab: str, number: str | None) -> tuple[Page[Fact], list[tuple[str, list[Row]]]]:
    """One page of facts, and its rows by kind."""
    gave_way = Prefetch("supersedes", Fact.objects.for_user(user).defer("vector", "search").order_by("pk"))
    facts = with_evidence(Fact.objects.for_user(user).filter(TABS[tab][1])).prefetch_related(gave_way)
    page = Paginator(facts.order_by(*FACT_ORDER), PAGE_SIZE).get_page(number)
    rows = [Row(item) for item in build_fact_views(list(page))]
    by_kind = groupby(rows, lambda row: row.shown.fact.kind)
    return page, [(Kind(kind).label, list(group)) for kind, group in by_kind]
