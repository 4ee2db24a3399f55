"""Memory's pages: each loads what is the user's own, calls, and renders. They work without JavaScript, too."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from memory import review, tree, uploads
from memory.documents import DocumentChangedError, Origin, PathTakenError, add, changes, revert, save
from memory.evidence import Shown
from memory.forms import (
    BoundaryForm,
    DocumentForm,
    MoveForm,
    NewDocumentForm,
    PlaceForm,
    RemoveForm,
    RevertForm,
    SearchForm,
    StatementForm,
    TagsForm,
    TimelineForm,
    UploadForm,
)
from memory.models import Boundary, Document, Episode, Fact, ReviewAction, Revision, Upload
from memory.pages import knowledge, profile, timeline
from memory.pages.profile import Editor, editor
from memory.pages.review import DONE, Row, as_it_stands, queue
from memory.pages.search import search_page
from recall.nudges import nudge

ROWS: Final = {"review": "memory/review.html#row", "profile": "memory/profile.html#fact"}
"""How each page that shows a fact renders it again after a decision."""


# Review ----------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def review_queue(request: HttpRequest) -> HttpResponse:
    """All proposals that wait, by conversation."""
    return render(request, "memory/review.html", queue(_user(request)))


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


def _row(request: HttpRequest, row: Row, status: int = 200) -> HttpResponse:
    """The fact again: alone for htmx, else on its whole page."""
    page = "profile" if request.POST.get("page") == "profile" else "review"
    if _is_htmx(request):
        waiting = Fact.objects.for_user(_user(request)).proposed().count()
        context = {"row": row, "page": page, "is_answer": True, "waiting_count": waiting}
        return render(request, ROWS[page], context, status=status)
    if row.form is not None:
        return render(request, "memory/review.html", queue(_user(request), row), status=status)
    messages.add_message(request, messages.SUCCESS if status == 200 else messages.WARNING, row.sentence)
    return redirect(f"{reverse(f'memory:{page}')}#fact-{row.shown.fact.pk}")


def _shown(fact: Fact) -> Shown:
    try:
        return as_it_stands(fact)
    except Fact.DoesNotExist:
        raise Http404 from None


# Profile ---------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def profile_page(request: HttpRequest) -> HttpResponse:
    """What Recall knows of the user: documents, boundaries, facts."""
    return render(request, "memory/profile.html", _profile(request))


@require_safe
@login_required
def fact(request: HttpRequest, pk: int) -> HttpResponse:
    """Where on the profile page this fact stands."""
    own = get_object_or_404(Fact.objects.for_user(_user(request)).only("status", "user"), pk=pk)
    tab, number = profile.place_of(own)
    return redirect(f"{reverse('memory:profile')}?show={tab}&page={number}#fact-{pk}")


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


def _boundaries_changed(request: HttpRequest, sentence: str) -> HttpResponse:
    nudge(f"user-{_user(request).pk}", "memory")
    messages.success(request, sentence)
    return redirect(f"{reverse('memory:profile')}#boundaries")


def _profile(request: HttpRequest, **instead: Any) -> dict[str, Any]:
    query = request.GET
    return profile.profile(_user(request), tab=query.get("show", ""), number=query.get("page"), **instead)


# The knowledge base ----------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """Where memory begins: the search over everything, beside the tree of documents."""
    form = SearchForm(request.GET)
    found = search_page(_user(request), form)
    status = 200 if form.is_valid() else 422
    if _is_htmx(request):
        return render(request, "memory/memory.html#results", found, status=status)
    return _home(request, found, status=status)


def _home(request: HttpRequest, found: dict[str, Any], status: int = 200) -> HttpResponse:
    tree_beside = {"tree": knowledge.whole_tree(_user(request)), "page": "knowledge"}
    context = {**tree_beside, **knowledge.uploads_list(_user(request)), **found}
    return render(request, "memory/memory.html", context, status=status)


@require_safe
@login_required
@never_cache
def document(request: HttpRequest, path: str = "") -> HttpResponse:
    """The document at a path, or else the folder of that name (with `?below` the folder in any case), or a tag's."""
    if not path and "tag" in request.GET:
        return render(request, "memory/tagged.html", knowledge.tag_page(_user(request), request.GET["tag"]))
    place = _place(PlaceForm({"path": path} if path else request.GET))
    found = Document.objects.for_user(_user(request)).filter(path=place).first()
    if found is None or "below" in request.GET:
        return _folder(request, place)
    number = request.GET.get("part", "")
    context = knowledge.document_page(_user(request), found, int(number) if number.isdecimal() else 1)
    return render(request, "memory/document.html", context)


def _folder(request: HttpRequest, place: str, status: int = 200, **more: Any) -> HttpResponse:
    context = knowledge.folder_page(_user(request), place, request.GET.get("page"))
    return render(request, "memory/folder.html", {**_found(context), **more}, status=status)


@require_POST
@login_required
def new_document(request: HttpRequest) -> HttpResponse:
    """Begin a document at a path that is free."""
    form = NewDocumentForm(request.POST)
    try:
        if not form.is_valid():
            return _not_begun(request, form, _first_error(form), status=422)
        path, text = form.cleaned_data["path"], form.cleaned_data["text"].replace("\r\n", "\n")
        add(_user(request), path, text, Revision.Author.USER, Origin())
    except PathTakenError as taken:
        return _not_begun(request, form, str(taken), status=409)
    messages.success(request, f"There is a new document at {path}.")
    return redirect(knowledge.address(path))


def _not_begun(request: HttpRequest, form: NewDocumentForm, sentence: str, status: int) -> HttpResponse:
    found = search_page(_user(request), SearchForm({}))
    return _home(request, {**found, "new": form, "not_begun": sentence}, status=status)


@require_POST
@login_required
def move(request: HttpRequest) -> HttpResponse:
    """Give a document or a folder another path."""
    place = _place(PlaceForm(request.POST))
    _found(Document.objects.for_user(_user(request)).under(place).exists())
    form = MoveForm(request.POST)
    if not form.is_valid():
        return _refused(request, place, _first_error(form), status=422)
    try:
        moved = tree.move(_user(request), place, form.cleaned_data["to"])
    except tree.NotMovedError as refusal:
        return _refused(request, place, str(refusal), status=409)
    if moved:
        messages.success(request, f"Moved to {form.cleaned_data['to']}.")
    return redirect(knowledge.address(form.cleaned_data["to"]))


@require_POST
@login_required
def tag(request: HttpRequest) -> HttpResponse:
    """Give a document these tags and no others."""
    place = _place(PlaceForm(request.POST))
    document = get_object_or_404(Document.objects.for_user(_user(request)), path=place)
    form = TagsForm(request.POST)
    if not form.is_valid():
        return _refused(request, place, _first_error(form), status=422)
    try:
        tree.set_tags(document, form.cleaned_data["tags"])
    except ValidationError as refusal:
        return _refused(request, place, refusal.messages[0], status=422)
    messages.success(request, "The tags were saved.")
    return redirect(knowledge.address(place))


def _refused(request: HttpRequest, place: str, sentence: str, status: int) -> HttpResponse:
    """The page again with one sentence on why nothing was done, and what was typed."""
    more = {"not_done": sentence, "typed": request.POST}
    found = Document.objects.for_user(_user(request)).filter(path=place).first()
    if found is None:
        return _folder(request, place, status, **more)
    context = knowledge.document_page(_user(request), found)
    return render(request, "memory/document.html", {**context, **more}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def remove(request: HttpRequest) -> HttpResponse:
    """First what would go; then the deed, if what was listed is still all there is."""
    asked = request.POST if request.method == "POST" else request.GET
    listing = _found(knowledge.what_goes(_user(request), _place(PlaceForm(asked))))
    if request.method != "POST":
        return render(request, "memory/remove.html", listing)
    form = RemoveForm(request.POST)
    if not form.is_valid() or form.cleaned_data["expected"] != len(listing["going"]):
        return render(request, "memory/remove.html", {**listing, "has_changed": True}, status=409)
    gone = tree.delete(_user(request), form.cleaned_data["path"])
    messages.success(request, f"Deleted: {len(gone)} document{'' if len(gone) == 1 else 's'}.")
    return redirect("memory:home")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def upload(request: HttpRequest) -> HttpResponse:
    """Take files to be read in the background (POST), or say how far they are."""
    refused = _take_files(request) if request.method == "POST" else []
    if _is_htmx(request):
        beside = {"tree": knowledge.whole_tree(_user(request)), "is_answer": True}
        return render(
            request, "memory/memory.html#uploads", {**knowledge.uploads_list(_user(request), refused), **beside}
        )
    for name, sentence in refused:
        messages.warning(request, f"{name}: {sentence}")
    return redirect(f"{reverse('memory:home')}#uploads")


def _take_files(request: HttpRequest) -> list[tuple[str, str]]:
    """Accept each file that was sent; (name, sentence) of those that are not taken."""
    form = UploadForm(request.POST)
    if not form.is_valid():
        return [("Folder", _first_error(form))]
    files = request.FILES.getlist("files")
    refused = [] if files else [("Nothing was sent", "Choose a file first.")]
    for file in files:
        name = file.name or "file"
        try:
            uploads.accept(_user(request), name, file.read(), form.cleaned_data["folder"] or uploads.FOLDER)
        except uploads.UploadRefusedError as refusal:
            refused.append((name, str(refusal)))
    return refused


@require_POST
@login_required
def read_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a file read anew whose readers never came to an end."""
    uploads.try_again(get_object_or_404(Upload.objects.for_user(_user(request)).defer("content"), pk=pk))
    return redirect(f"{reverse('memory:home')}#uploads")


def _place(form: PlaceForm) -> str:
    """The path that is asked for; what is no path is nowhere."""
    if not form.is_valid():
        raise Http404
    return str(form.cleaned_data["path"])


def _found[T](found: T | None) -> T:
    if not found:
        raise Http404
    return found


@require_POST
@login_required
def save_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a document, unless somebody else has written it meanwhile."""
    document = get_object_or_404(Document.objects.for_user(_user(request)), pk=pk)
    form = DocumentForm(request.POST)
    if not form.is_valid():
        typed = request.POST.get("text", "")
        shown = editor(document, text=typed.replace("\x00", ""), sentence=_first_error(form), is_open=True)
        return _document(request, shown, status=422)
    text, started_from = form.cleaned_data["text"], form.cleaned_data["started_from"]
    try:
        document = save(_user(request), document.path, text, started_from=started_from)
    except DocumentChangedError as conflict:
        against = changes(conflict.newest.text, text.replace("\r\n", "\n"))
        shown = editor(conflict.document, text=text, sentence=str(conflict), against=against, is_open=True)
        return _document(request, shown, status=409)
    return _document(request, editor(document, sentence=f"Saved: {document.title}"))


def _document(request: HttpRequest, shown: Editor, status: int = 200) -> HttpResponse:
    """The document again: alone for htmx, else on the whole page it was edited on."""
    is_alone = request.POST.get("page") == "document"
    if is_alone and (_is_htmx(request) or status != 200):
        context = knowledge.document_page(_user(request), shown.document, shown=shown)
        template = "memory/document.html#text" if _is_htmx(request) else "memory/document.html"
        return render(request, template, context, status=status)
    if _is_htmx(request):
        return render(request, "memory/profile.html#document", {"editor": shown}, status=status)
    if status != 200:
        return render(request, "memory/profile.html", _profile(request, changed=shown), status=status)
    messages.success(request, shown.sentence)
    if is_alone:
        return redirect(knowledge.address(shown.document.path))
    return redirect(f"{reverse('memory:profile')}#document-{shown.document.pk}")


@require_safe
@login_required
@never_cache
def history(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
    """A document's versions, and what one of them changed."""
    document = get_object_or_404(Document.objects.for_user(_user(request)), pk=pk)
    try:
        return render(request, "memory/history.html", knowledge.history(document, number))
    except Revision.DoesNotExist:
        raise Http404 from None


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


# Episodes --------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def episodes(request: HttpRequest) -> HttpResponse:
    """What happened, by month."""
    context = timeline.timeline(_user(request), TimelineForm(request.GET), request.GET.get("page"))
    return render(request, "memory/timeline.html", {**context, **_beside_timeline(request)})


@require_safe
@login_required
@never_cache
def story(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How one conversation went."""
    try:
        context = timeline.story(_user(request), pk)
    except Episode.DoesNotExist:
        raise Http404 from None
    return render(request, "memory/story.html", {**context, **_beside_timeline(request)})


def _beside_timeline(request: HttpRequest) -> dict[str, Any]:
    return {"tree": knowledge.whole_tree(_user(request)), "page": "timeline"}


def _first_error(form: Any) -> str:
    return str(next(iter(form.errors.values()))[0])


def _is_htmx(request: HttpRequest) -> bool:
    return bool(request.htmx)  # type: ignore[attr-defined]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
