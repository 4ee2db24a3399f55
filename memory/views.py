"""Memory's pages: each loads what is the user's own, calls, and renders. They work without JavaScript, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from memory import review
from memory.documents import BEGINNINGS, Change, DocumentChangedError, beginnings, changes, revert, save
from memory.evidence import Shown, shown
from memory.forms import BoundaryForm, DocumentForm, RevertForm, StatementForm
from memory.kinds import Kind
from memory.models import Boundary, Document, Fact, ReviewAction, Revision
from memory.profile import FOLDER
from recall.nudges import nudge

QUEUE_LENGTH: Final = 50
"""Proposals on one page; the next ones move up when the page is loaded again."""
RECENT: Final = 5
"""Latest decisions that the review page offers to undo."""
FACTS_A_PAGE: Final = 100
VERSIONS_LISTED: Final = 200

ROWS: Final = {"review": "memory/review.html#row", "profile": "memory/profile.html#fact"}
"""How each page that shows a fact renders it again after a decision."""

TABS: Final = {
    "active": ("In use", Q(status=Fact.Status.ACTIVE)),
    "proposed": ("Waiting for review", Q(status=Fact.Status.PROPOSED)),
    "past": ("Past", ~Q(status__in=[Fact.Status.ACTIVE, Fact.Status.PROPOSED])),
}
"""The facts of the profile page by what has become of them."""

DONE: Final = {
    ReviewAction.Verb.ACCEPT: "Accepted",
    ReviewAction.Verb.EDIT: "Saved and accepted",
    ReviewAction.Verb.REJECT: "Rejected",
}


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Where memory begins: the profile."""
    return redirect("memory:profile")


# Review ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One fact as a page shows it, with what was just done to it."""

    shown: Shown
    action: ReviewAction | None = None
    """The decision just taken, which may be undone."""
    sentence: str = ""
    """What happened, or why nothing did."""
    form: StatementForm | None = None
    """The user's own wording where it could not be taken."""


@require_safe
@login_required
@never_cache
def review_queue(request: HttpRequest) -> HttpResponse:
    """All proposals that wait, by conversation."""
    return render(request, "memory/review.html", _queue(request))


@require_POST
@login_required
def decide(request: HttpRequest, pk: int, verb: ReviewAction.Verb) -> HttpResponse:
    """Accept, edit and accept, or reject."""
    fact = get_object_or_404(Fact.objects.for_user(_user(request)), pk=pk)
    form = StatementForm(request.POST) if verb == ReviewAction.Verb.EDIT else None
    if form is not None and not form.is_valid():
        return _row(request, Row(_shown(fact), sentence=_first_error(form), form=form), status=422)
    try:
        action = _take(fact, verb, _user(request), form)
    except review.RefusedError as refusal:
        return _row(request, Row(_shown(fact), sentence=str(refusal)), status=409)
    return _row(request, Row(_shown(fact), action, f"{DONE[verb]}: {truncatechars(action.fact.statement, 120)}"))


@require_POST
@login_required
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Put back what a decision changed."""
    action = get_object_or_404(ReviewAction.objects.for_user(_user(request)).select_related("fact"), pk=pk)
    try:
        fact = review.undo(action)
    except review.RefusedError as refusal:
        return _row(request, Row(_shown(action.fact), sentence=str(refusal)), status=409)
    return _row(request, Row(_shown(fact), sentence=f"Undone: {truncatechars(fact.statement, 120)}"))


def _take(fact: Fact, verb: ReviewAction.Verb, by: User, form: StatementForm | None) -> ReviewAction:
    if form is not None:
        value = form.cleaned_data["value"] if fact.key else None
        return review.edit(fact, form.cleaned_data["statement"], value, by=by)
    return review.accept(fact, by=by) if verb == ReviewAction.Verb.ACCEPT else review.reject(fact, by=by)


def _queue(request: HttpRequest, changed: Row | None = None) -> dict[str, Any]:
    """What the review page shows; `changed` stands in its place instead of the plain row."""
    proposals = _with_evidence(Fact.objects.for_user(_user(request)).proposed())
    in_order = proposals.order_by(
        F("message__conversation__last_activity_at").desc(nulls_last=True),
        "message__conversation_id",
        "message__seq",
        "id",
    )
    rows = [Row(item) for item in shown(list(in_order[:QUEUE_LENGTH]))]
    if changed is not None:
        rows = [changed if row.shown.fact.pk == changed.shown.fact.pk else row for row in rows]
    decided = ReviewAction.objects.for_user(_user(request)).filter(undone_at=None).select_related("fact")
    return {
        "groups": [(conversation, list(group)) for conversation, group in groupby(rows, _conversation)],
        "shown_count": len(rows),
        "waiting_count": proposals.count(),
        "recent": decided.order_by("-created_at", "-pk")[:RECENT],
        "page": "review",
    }


def _row(request: HttpRequest, row: Row, status: int = 200) -> HttpResponse:
    """The fact again: alone for htmx, else on its whole page."""
    page = "profile" if request.POST.get("page") == "profile" else "review"
    if request.htmx:  # type: ignore[attr-defined]
        waiting = Fact.objects.for_user(_user(request)).proposed().count()
        context = {"row": row, "page": page, "is_answer": True, "waiting_count": waiting}
        return render(request, ROWS[page], context, status=status)
    if row.form is not None:
        return render(request, "memory/review.html", _queue(request, row), status=status)
    messages.add_message(request, messages.SUCCESS if status == 200 else messages.WARNING, row.sentence)
    return redirect(f"{reverse(f'memory:{page}')}#fact-{row.shown.fact.pk}")


def _shown(fact: Fact) -> Shown:
    """The fact as it stands now, with its evidence."""
    return shown([get_object_or_404(_with_evidence(Fact.objects.filter(pk=fact.pk)))])[0]


def _with_evidence(facts: QuerySet[Fact]) -> QuerySet[Fact]:
    """With the message and conversation; without the vectors, which no page shows."""
    heavy = ("vector", "search", "message__search", "superseded_by__vector", "superseded_by__search")
    return facts.select_related("message__conversation", "superseded_by").defer(*heavy)


def _conversation(row: Row) -> Any:
    message = row.shown.fact.message
    return message.conversation if message else None


# Profile ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Editor:
    """A document to read and to edit in place."""

    document: Document
    number: int
    """Its newest version; 0: nobody has written into it."""
    hint: str
    text: str
    """What the text box holds."""
    sentence: str = ""
    """What happened, or why nothing was saved."""
    against: Sequence[Change] = ()
    """The newest version compared with what the user wrote, where they met."""
    is_open: bool = False


@require_safe
@login_required
@never_cache
def profile(request: HttpRequest) -> HttpResponse:
    """What Recall knows of the user: documents, boundaries, facts."""
    return render(request, "memory/profile.html", _profile(request))


@require_POST
@login_required
def save_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a document, unless somebody else has written it meanwhile."""
    document = get_object_or_404(Document.objects.for_user(_user(request)), pk=pk)
    form = DocumentForm(request.POST)
    if not form.is_valid():
        typed = request.POST.get("text", "")
        editor = _editor(document, text=typed.replace("\x00", ""), sentence=_first_error(form), is_open=True)
        return _document(request, editor, status=422)
    text, started_from = form.cleaned_data["text"], form.cleaned_data["started_from"]
    try:
        document = save(_user(request), document.path, text, started_from=started_from)
    except DocumentChangedError as conflict:
        against = changes(conflict.newest.text, text.replace("\r\n", "\n"))
        editor = _editor(conflict.document, text=text, sentence=str(conflict), against=against, is_open=True)
        return _document(request, editor, status=409)
    return _document(request, _editor(document, sentence=f"Saved: {document.title}"))


@require_safe
@login_required
@never_cache
def history(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
    """A document's versions, and what one of them changed (the newest, unless `number` names another)."""
    document = get_object_or_404(Document.objects.for_user(_user(request)), pk=pk)
    versions = list(document.revisions.defer("text")[:VERSIONS_LISTED])
    newest = versions[0].number if versions else 0
    chosen, before = None, ""
    if versions:
        chosen = get_object_or_404(document.revisions, number=newest if number is None else number)
        before = document.revisions.filter(number__lt=chosen.number).values_list("text", flat=True).first() or ""
    context = {
        "document": document,
        "versions": versions,
        "newest": newest,
        "chosen": chosen,
        "changes": changes(before, chosen.text) if chosen else [],
    }
    return render(request, "memory/history.html", context)


@require_POST
@login_required
def revert_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Make an earlier version the newest one."""
    document = get_object_or_404(Document.objects.for_user(_user(request)).select_related("user"), pk=pk)
    form = RevertForm(request.POST)
    if not form.is_valid():
        return HttpResponse("Which version? The form was not complete.", status=422)
    number, started_from = form.cleaned_data["number"], form.cleaned_data["started_from"]
    get_object_or_404(document.revisions, number=number)
    try:
        revert(document, number, started_from=started_from)
    except DocumentChangedError as conflict:
        messages.warning(request, str(conflict))
    else:
        messages.success(request, f"“{document.title}” is back to version {number}.")
    return redirect("memory:history", pk)


@require_POST
@login_required
def add_boundary(request: HttpRequest) -> HttpResponse:
    """A new rule of the user's own."""
    form = BoundaryForm(request.POST)
    if not form.is_valid():
        return render(request, "memory/profile.html", _profile(request, new_boundary=form), status=422)
    Boundary.objects.create(user=_user(request), text=form.cleaned_data["text"])
    return _boundaries_changed(request, "The boundary stands from the next answer on.")


@require_POST
@login_required
def save_boundary(request: HttpRequest, pk: int) -> HttpResponse:
    """A rule in other words."""
    boundary = get_object_or_404(Boundary.objects.for_user(_user(request)), pk=pk)
    form = BoundaryForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was saved. {_first_error(form)}")
        return redirect(f"{reverse('memory:profile')}#boundaries")
    boundary.text = form.cleaned_data["text"]
    boundary.save(update_fields=["text"])
    return _boundaries_changed(request, "The boundary was saved.")


@require_POST
@login_required
def remove_boundary(request: HttpRequest, pk: int) -> HttpResponse:
    """A rule that holds no longer."""
    get_object_or_404(Boundary.objects.for_user(_user(request)), pk=pk).delete()
    return _boundaries_changed(request, "The boundary was removed.")


def _profile(
    request: HttpRequest, new_boundary: BoundaryForm | None = None, editor: Editor | None = None
) -> dict[str, Any]:
    user = _user(request)
    tab = request.GET.get("show", "")
    tab = tab if tab in TABS else "active"
    facts, groups = _facts(user, tab, request.GET.get("page"))
    return {
        "editors": [editor if editor and editor.document == own.document else own for own in _editors(user)],
        "tabs": _tabs(user),
        "tab": tab,
        "facts": facts,
        "groups": groups,
        "boundaries": Boundary.objects.for_user(user),
        "global_boundaries": Boundary.objects.global_ones(),
        "new_boundary": new_boundary,
        "page": "profile",
    }


def _editors(user: User) -> list[Editor]:
    """The three documents everybody has, then what else stands in the profile folder."""
    first = beginnings(user)
    further = Document.objects.for_user(user).under(FOLDER).exclude(pk__in=[document.pk for document in first])
    documents = [*first, *sorted(further, key=lambda document: document.path)]
    newest = dict(
        Revision.objects.filter(document__in=documents).values_list("document").annotate(newest=Max("number"))
    )
    return [_editor(document, newest.get(document.pk, 0)) for document in documents]


def _editor(document: Document, number: int | None = None, *, text: str | None = None, **more: Any) -> Editor:
    if number is None:
        number = document.revisions.aggregate(newest=Max("number"))["newest"] or 0
    hints = {beginning.path: beginning.hint for beginning in BEGINNINGS}
    return Editor(document, number, hints.get(document.path, ""), document.text if text is None else text, **more)


def _document(request: HttpRequest, editor: Editor, status: int = 200) -> HttpResponse:
    """The document again: alone for htmx, else on its whole page."""
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "memory/profile.html#document", {"editor": editor}, status=status)
    if status != 200:
        return render(request, "memory/profile.html", _profile(request, editor=editor), status=status)
    messages.success(request, editor.sentence)
    return redirect(f"{reverse('memory:profile')}#document-{editor.document.pk}")


def _tabs(user: User) -> list[tuple[str, str, int]]:
    counts = Fact.objects.for_user(user).aggregate(
        **{name: Count("pk", filter=which) for name, (_, which) in TABS.items()}
    )
    return [(name, label, counts[name]) for name, (label, _) in TABS.items()]


def _facts(user: User, tab: str, number: str | None) -> tuple[Page[Fact], list[tuple[str, list[Row]]]]:
    """One page of facts, and its rows by kind."""
    facts = _with_evidence(Fact.objects.for_user(user).filter(TABS[tab][1]))
    page = Paginator(facts.order_by("kind", "-importance", "-recorded_at", "pk"), FACTS_A_PAGE).get_page(number)
    rows = [Row(item) for item in shown(list(page))]
    by_kind = groupby(rows, lambda row: row.shown.fact.kind)
    return page, [(Kind(kind).label, list(group)) for kind, group in by_kind]


def _boundaries_changed(request: HttpRequest, sentence: str) -> HttpResponse:
    nudge(f"user-{_user(request).pk}", "memory")
    messages.success(request, sentence)
    return redirect(f"{reverse('memory:profile')}#boundaries")


def _first_error(form: Any) -> str:
    return str(next(iter(form.errors.values()))[0])


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
