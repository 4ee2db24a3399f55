"""Memory's pages: each loads what is the user's own, calls, and renders. They work without JavaScript, too."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from chat.projects.projects import projects_of
from chat.prompt.relationship import stages_reached
from memory.documents import trash, tree, uploads
from memory.documents.revisions import DocumentChangedError, Origin, PathTakenError, add, changes, revert, save
from memory.forms import (
    BoundaryForm,
    DocumentForm,
    MoveForm,
    NewDocumentForm,
    PlaceForm,
    RestoreForm,
    RevertForm,
    SearchForm,
    TagsForm,
    TimelineForm,
    UploadForm,
)
from memory.models import Boundary, Document, Episode, Revision, Upload
from memory.pages import knowledge, profile, timeline
from memory.pages.profile import Editor, editor
from memory.pages.search import search_page
from memory.pages.time_travel import build_past_profile, sliders
from memory.text.fact_lines import without_marks
from recall.db.notify import publish_event
from recall.views import post_only

MOVED: Final = "memory-moved"
"""In the session: where something stood and where it was moved to, until the next page has offered to undo it."""

# Profile ---------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def profile_page(request: HttpRequest) -> HttpResponse:
    """What Recall knows of the user: documents, boundaries, facts; with `at` or `true`, what it knew then."""
    user, now = _user(request), timezone.now()
    days = {name: request.GET[name] for name in ("at", "true") if name in request.GET}
    if not days:
        return render(request, "memory/profile.html", {**_profile(request), "sliders": sliders(user, now)})
    found = build_past_profile(user, days, now)
    asked = {"then": found, "sliders": (found.known, found.true)}
    status = 422 if found.errors else 200
    if _is_htmx(request):
        return render(request, "memory/profile.html#then", asked, status=status)
    return render(request, "memory/profile.html", {**_profile(request), **asked}, status=status)


@post_only("memory:profile", at="boundaries")
@login_required
def add_boundary(request: HttpRequest) -> HttpResponse:
    """A new rule of the user's own."""
    form = BoundaryForm(request.POST)
    if not form.is_valid():
        return render(request, "memory/profile.html", _profile(request, new_boundary=form), status=422)
    Boundary.objects.create(user=_user(request), text=form.cleaned_data["text"])
    return _boundaries_changed(request, "Boundary added. It applies from the next answer.")


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
    return _boundaries_changed(request, "Boundary saved.")


@require_POST
@login_required
def remove_boundary(request: HttpRequest, pk: int) -> HttpResponse:
    """A rule that holds no longer."""
    get_object_or_404(Boundary.objects.for_user(_user(request)), pk=pk).delete()
    return _boundaries_changed(request, "Boundary removed.")


def _boundaries_changed(request: HttpRequest, sentence: str) -> HttpResponse:
    publish_event(f"user-{_user(request).pk}", "memory")
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
    of_chat = {"projects": projects_of(_user(request))}
    context = {**tree_beside, **of_chat, **knowledge.uploads_list(_user(request)), **found}
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
    return render(request, "memory/document.html", {**context, "came_from": _came_from(request, place)})


def _folder(request: HttpRequest, place: str, status: int = 200, **more: Any) -> HttpResponse:
    context = _found(knowledge.folder_page(_user(request), place, request.GET.get("page")))
    return render(
        request, "memory/folder.html", {**context, "came_from": _came_from(request, place), **more}, status=status
    )


@post_only("memory:home")
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
    messages.success(request, f"Document created at {path}.")
    return redirect(knowledge.address(path))


def _not_begun(request: HttpRequest, form: NewDocumentForm, sentence: str, status: int) -> HttpResponse:
    found = search_page(_user(request), SearchForm({}))
    return _home(request, {**found, "new": form, "not_begun": sentence}, status=status)


@post_only("memory:home")
@login_required
def move(request: HttpRequest) -> HttpResponse:
    """Give a document or a folder another path."""
    place = _place(PlaceForm(request.POST))
    _found(Document.objects.for_user(_user(request)).under(place).exists())
    form = MoveForm(request.POST)
    if not form.is_valid():
        return _not_moved(request, place, _first_error(form), status=422)
    try:
        moved = tree.move(_user(request), place, form.cleaned_data["to"])
    except tree.NotMovedError as refusal:
        return _not_moved(request, place, str(refusal), status=409)
    return _moved(request, place, form.cleaned_data["to"], moved)


def _moved(request: HttpRequest, old: str, new: str, moved: int) -> HttpResponse:
    """What stood at `old` stands at `new`: the tree again where it was dragged, else the page of the new place.

    Whoever dragged what they are reading (`here`) is led to where that stands now.
    """
    here = request.POST.get("here", "")
    is_read = f"{here}/".startswith(f"{old}/")
    if _is_htmx(request) and not is_read:
        return _tree(request, here, knowledge.Moved(old, new, moved))
    if moved:
        request.session[MOVED] = [old, new]
    if _is_htmx(request):
        return HttpResponse(headers={"HX-Redirect": knowledge.address(new + here.removeprefix(old))})
    return redirect(knowledge.address(new))


def _not_moved(request: HttpRequest, place: str, sentence: str, status: int) -> HttpResponse:
    if _is_htmx(request):
        return _tree(request, request.POST.get("here", ""), knowledge.Moved(place, place, 0, sentence), status)
    return _refused(request, place, sentence, status)


def _tree(request: HttpRequest, here: str, moved: knowledge.Moved, status: int = 200) -> HttpResponse:
    context = {"tree": knowledge.whole_tree(_user(request), here), "moved": moved, "here": here}
    return render(request, "memory/knowledge.html#dragged", context, status=status)


def _came_from(request: HttpRequest, place: str) -> str:
    """The path that what stands here had until it was moved just now; empty: it was not. Told once."""
    old, new = request.session.get(MOVED, ("", ""))
    if not old or not f"{place}/".startswith(f"{new}/"):
        return ""
    del request.session[MOVED]
    return str(old) + place.removeprefix(new)


@post_only("memory:home")
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
    messages.success(request, "Tags saved.")
    return redirect(knowledge.address(place))


def _refused(request: HttpRequest, place: str, sentence: str, status: int) -> HttpResponse:
    """The page again with one sentence on why nothing was done, and what was typed."""
    more = {"not_done": sentence, "typed": request.POST}
    found = Document.objects.for_user(_user(request)).filter(path=place).first()
    if found is None:
        return _folder(request, place, status, **more)
    context = knowledge.document_page(_user(request), found)
    return render(request, "memory/document.html", {**context, **more}, status=status)


@require_POST
@login_required
def remove(request: HttpRequest) -> HttpResponse:
    """Delete a document or a folder; the page that follows offers to undo it."""
    place = _place(PlaceForm(request.POST))
    moment, gone = trash.delete(_user(request), place)
    _found(gone)
    messages.success(request, f"Deleted: {_counted(gone)}.", extra_tags=f"{trash.UNDO} {moment.isoformat()}")
    folder = tree.parent_of(place)
    is_left = Document.objects.for_user(_user(request)).under(folder).exists() if folder != tree.ROOT else False
    return redirect(knowledge.address(folder if is_left else tree.ROOT))


@require_POST
@login_required
def restore(request: HttpRequest) -> HttpResponse:
    """Undo a deletion: bring back what was deleted at that moment."""
    form = RestoreForm(request.POST)
    back = trash.undo(_user(request), form.cleaned_data["deleted"]) if form.is_valid() else []
    if not back:
        messages.warning(request, trash.NOTHING_TO_UNDO)
        return redirect("memory:home")
    messages.success(request, f"Restored: {_counted(back)}.")
    return redirect(knowledge.address(back[0].path))


def _counted(documents: Sized) -> str:
    return f"{len(documents)} document{'' if len(documents) == 1 else 's'}"


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
    refused = [] if files else [("No file", "Choose a file first.")]
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
    uploads.retry_upload(get_object_or_404(Upload.objects.for_user(_user(request)).defer("content"), pk=pk))
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


@post_only("memory:home")
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
        against = changes(without_marks(conflict.newest.text), without_marks(text.replace("\r\n", "\n")))
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
        return HttpResponse("The form is incomplete. Choose a version and try again.", status=422)
    number, started_from = form.cleaned_data["number"], form.cleaned_data["started_from"]
    get_object_or_404(document.revisions, number=number)
    try:
        revert(document, number, started_from=started_from)
    except DocumentChangedError as conflict:
        messages.warning(request, str(conflict))
    else:
        messages.success(request, f"Restored version {number} of “{document.title}”.")
    return redirect("memory:history", pk)


# Episodes --------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def episodes(request: HttpRequest) -> HttpResponse:
    """What happened, by month."""
    user = _user(request)
    form, number = TimelineForm(request.GET), request.GET.get("page")
    context = timeline.timeline(user, form, number, stages_reached(user))
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
    return {"tree": knowledge.whole_tree(_user(request)), "largest": knowledge.largest(), "page": "timeline"}


def _first_error(form: Any) -> str:
    return str(next(iter(form.errors.values()))[0])


def _is_htmx(request: HttpRequest) -> bool:
    return bool(request.htmx)  # type: ignore[attr-defined]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
