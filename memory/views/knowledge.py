"""Views of what Recall knows about the user, of documents and of the timeline. All of them work without JavaScript."""

from collections.abc import Sized
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from chat.ingest import librarian_triggers
from chat.prompt.user_context import stages_reached
from memory import trash
from memory.documents import tree, uploads
from memory.documents.revisions import DocumentChangedError, Origin, PathTakenError, add, changes, revert, save
from memory.forms import (
    BoundaryForm,
    DocumentForm,
    MoveForm,
    NewDocumentForm,
    PlaceForm,
    RestoreForm,
    RevertForm,
    TagsForm,
    TimelineForm,
    UploadForm,
)
from memory.models import Boundary, Document, Episode, Revision, Upload
from memory.pages import about, knowledge, timeline
from memory.pages.about import Editor, build_editor
from memory.pages.review import is_reading
from memory.pages.time_travel import build_past_profile, build_sliders
from memory.text.fact_lines import with_marks_of
from memory.text.second_person import document_to_user
from memory.tombstones import ForgottenTextError
from recall.db.notify import publish_event
from recall.db.quotas import QuotaError
from recall.text import whole_number
from recall.views import first_error, is_htmx, post_only, signed_in_form, signed_in_page, signed_in_post, signed_in_user

MOVED: Final = "memory-moved"
"""Session key: the old and new path of the last move, until the next page has offered to undo it."""

# Profile ---------------------------------------------------------------------------------------------------------


@signed_in_page
def about_you(request: HttpRequest) -> HttpResponse:
    """What Recall knows about the user: facts, profile documents, boundaries. While messages are to be read, the page
    asks again with the state it shows as `was`."""
    context = _build_about(request)
    if is_htmx(request) and request.GET.get("was") == context["reading"]:
        return HttpResponse(status=204)
    return render(request, "memory/about.html", context)


@signed_in_page
def time_travel(request: HttpRequest) -> HttpResponse:
    """What Recall knew on the day `at`, of what was true on the day `true`; today without them."""
    user, now = signed_in_user(request), timezone.now()
    days = {name: request.GET[name] for name in ("at", "true") if name in request.GET}
    if not days:
        return render(request, "memory/time_travel.html", {"sliders": build_sliders(user, now)})
    past = build_past_profile(user, days, now)
    template = "memory/time_travel.html#then" if is_htmx(request) else "memory/time_travel.html"
    context = {"then": past, "sliders": (past.known, past.true)}
    return render(request, template, context, status=422 if past.errors else 200)


@post_only("memory:about", at="boundaries")
def add_boundary(request: HttpRequest) -> HttpResponse:
    form = BoundaryForm(request.POST)
    if form.is_valid():
        try:
            Boundary.add(signed_in_user(request), form.cleaned_data["text"])
        except QuotaError as full:
            form.add_error("text", full)
    if form.errors:
        return render(request, "memory/about.html", _build_about(request, new_boundary=form), status=422)
    return _redirect_to_boundaries(request, "Boundary added. It applies from the next answer.")


@signed_in_post
def save_boundary(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the text of a boundary."""
    boundary = get_object_or_404(Boundary.objects.for_user(signed_in_user(request)), pk=pk)
    form = BoundaryForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was saved. {first_error(form)}")
        return redirect(f"{reverse('memory:about')}#boundaries")
    boundary.text = form.cleaned_data["text"]
    boundary.save(update_fields=["text"])
    return _redirect_to_boundaries(request, "Boundary saved.")


@signed_in_post
def remove_boundary(request: HttpRequest, pk: int) -> HttpResponse:
    get_object_or_404(Boundary.objects.for_user(signed_in_user(request)), pk=pk).delete()
    return _redirect_to_boundaries(request, "Boundary removed.")


def _redirect_to_boundaries(request: HttpRequest, sentence: str) -> HttpResponse:
    publish_event(f"user-{signed_in_user(request).pk}", "memory")
    messages.success(request, sentence)
    return redirect(f"{reverse('memory:about')}#boundaries")


def _build_about(request: HttpRequest, **instead: Any) -> dict[str, Any]:
    query, user = request.GET, signed_in_user(request)
    unread = librarian_triggers.find_unread(user)
    return {
        **about.build_about_page(user, tab=query.get("show", ""), number=query.get("page"), **instead),
        "unread": unread,
        "reading": "now" if is_reading(user) else "later" if unread else "",
    }


# The knowledge base ----------------------------------------------------------------------------------------------


@signed_in_page
def document(request: HttpRequest, path: str = "") -> HttpResponse:
    """The document at a path, otherwise the folder (always with `?below`), or the documents with a tag."""
    if not path and "tag" in request.GET:
        return render(
            request, "memory/tagged.html", knowledge.build_tag_page(signed_in_user(request), request.GET["tag"])
        )
    if not path and "path" not in request.GET:
        return _render_documents(request)
    path = _parse_path(PlaceForm({"path": path} if path else request.GET))
    found = Document.objects.for_user(signed_in_user(request)).filter(path=path).first()
    if found is None or "below" in request.GET:
        return _render_folder(request, path)
    number = whole_number(request.GET.get("part", ""))
    context = knowledge.build_document_page(signed_in_user(request), found, 1 if number is None else number)
    return render(request, "memory/document.html", {**context, "came_from": _pop_previous_path(request, path)})


def _render_documents(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    user = signed_in_user(request)
    context = {**knowledge.build_documents_page(user), **knowledge.build_uploads(user), **more}
    return render(request, "memory/documents.html", context, status=status)


def _render_folder(request: HttpRequest, path: str, status: int = 200, **more: Any) -> HttpResponse:
    folder = _or_404(knowledge.build_folder_page(signed_in_user(request), path, request.GET.get("page")))
    context = {**folder, "came_from": _pop_previous_path(request, path), **more}
    return render(request, "memory/folder.html", context, status=status)


@post_only("memory:documents")
def new_document(request: HttpRequest) -> HttpResponse:
    """Create a document at an unused path."""
    form = NewDocumentForm(request.POST)
    try:
        if not form.is_valid():
            return _render_documents(request, status=422, new=form, not_begun=first_error(form))
        path, text = form.cleaned_data["path"], form.cleaned_data["text"].replace("\r\n", "\n")
        add(signed_in_user(request), path, text, Revision.Author.USER, Origin())
    except (PathTakenError, ForgottenTextError, QuotaError) as refusal:
        return _render_documents(request, status=409, new=form, not_begun=str(refusal))
    messages.success(request, f"Document created at {path}.")
    return redirect(knowledge.document_url(path))


@post_only("memory:documents")
def move(request: HttpRequest) -> HttpResponse:
    """Move or rename a document or folder."""
    path = _parse_path(PlaceForm(request.POST))
    _or_404(Document.objects.for_user(signed_in_user(request)).under(path).exists())
    form = MoveForm(request.POST)
    if not form.is_valid():
        return _render_not_moved(request, path, first_error(form), status=422)
    try:
        moved = tree.move(signed_in_user(request), path, form.cleaned_data["to"])
    except tree.NotMovedError as refusal:
        return _render_not_moved(request, path, str(refusal), status=409)
    return _render_moved(request, path, form.cleaned_data["to"], moved)


def _render_moved(request: HttpRequest, old: str, new: str, moved: int) -> HttpResponse:
    """After a move: the tree if it was dragged, otherwise the page at the new path.

    If the page being read (`here`) moved, the browser follows it.
    """
    here = request.POST.get("here", "")
    is_read = f"{here}/".startswith(f"{old}/")
    if is_htmx(request) and not is_read:
        return _render_tree(request, here, knowledge.Moved(old, new, moved))
    if moved:
        request.session[MOVED] = [old, new]
    if is_htmx(request):
        return HttpResponse(headers={"HX-Redirect": knowledge.document_url(new + here.removeprefix(old))})
    return redirect(knowledge.document_url(new))


def _render_not_moved(request: HttpRequest, path: str, sentence: str, status: int) -> HttpResponse:
    if is_htmx(request):
        return _render_tree(request, request.POST.get("here", ""), knowledge.Moved(path, path, 0, sentence), status)
    return _render_refusal(request, path, sentence, status)


def _render_tree(request: HttpRequest, here: str, moved: knowledge.Moved, status: int = 200) -> HttpResponse:
    context = {"tree": knowledge.build_tree(signed_in_user(request), here), "moved": moved, "here": here}
    return render(request, "memory/knowledge.html#dragged", context, status=status)


def _pop_previous_path(request: HttpRequest, path: str) -> str:
    """The previous path of what was just moved here, once; empty: it was not moved."""
    old, new = request.session.get(MOVED, ("", ""))
    if not old or not f"{path}/".startswith(f"{new}/"):
        return ""
    del request.session[MOVED]
    return str(old) + path.removeprefix(new)


@post_only("memory:documents")
def tag(request: HttpRequest) -> HttpResponse:
    """Replace a document's tags."""
    path = _parse_path(PlaceForm(request.POST))
    document = get_object_or_404(Document.objects.for_user(signed_in_user(request)), path=path)
    form = TagsForm(request.POST)
    if not form.is_valid():
        return _render_refusal(request, path, first_error(form), status=422)
    try:
        tree.set_tags(document, form.cleaned_data["tags"])
    except ValidationError as refusal:
        return _render_refusal(request, path, refusal.messages[0], status=422)
    messages.success(request, "Tags saved.")
    return redirect(knowledge.document_url(path))


def _render_refusal(request: HttpRequest, path: str, sentence: str, status: int) -> HttpResponse:
    """The page again, with the reason for the refusal and the typed values."""
    more = {"not_done": sentence, "typed": request.POST}
    found = Document.objects.for_user(signed_in_user(request)).filter(path=path).first()
    if found is None:
        return _render_folder(request, path, status, **more)
    context = knowledge.build_document_page(signed_in_user(request), found)
    return render(request, "memory/document.html", {**context, **more}, status=status)


@signed_in_post
def remove(request: HttpRequest) -> HttpResponse:
    """Delete a document or folder; the next page offers to undo it."""
    path = _parse_path(PlaceForm(request.POST))
    moment, deleted = trash.delete(signed_in_user(request), path)
    _or_404(deleted)
    messages.success(request, f"Deleted: {_count_documents(deleted)}.", extra_tags=f"{trash.UNDO} {moment.isoformat()}")
    folder = tree.parent_of(path)
    is_left = (
        Document.objects.for_user(signed_in_user(request)).under(folder).exists() if folder != tree.ROOT else False
    )
    return redirect(knowledge.document_url(folder if is_left else tree.ROOT))


@signed_in_post
def restore(request: HttpRequest) -> HttpResponse:
    """Undo a deletion by its time."""
    form = RestoreForm(request.POST)
    back = trash.undo(signed_in_user(request), form.cleaned_data["deleted"]) if form.is_valid() else []
    if not back:
        messages.warning(request, trash.NOTHING_TO_UNDO)
        return redirect("memory:documents")
    messages.success(request, f"Restored: {_count_documents(back)}.")
    return redirect(knowledge.document_url(back[0].path))


def _count_documents(documents: Sized) -> str:
    return f"{len(documents)} document{'' if len(documents) == 1 else 's'}"


@signed_in_form
def upload(request: HttpRequest) -> HttpResponse:
    """POST accepts files to read in the background; GET shows their progress."""
    refused = _accept_files(request) if request.method == "POST" else []
    if is_htmx(request):
        beside = {"tree": knowledge.build_tree(signed_in_user(request)), "is_answer": True}
        return render(
            request,
            "memory/documents.html#uploads",
            {**knowledge.build_uploads(signed_in_user(request), refused), **beside},
        )
    for name, sentence in refused:
        messages.warning(request, f"{name}: {sentence}")
    return redirect(f"{reverse('memory:documents')}#uploads")


def _accept_files(request: HttpRequest) -> list[tuple[str, str]]:
    """Accept the sent files; (name, reason) of each refused one."""
    form = UploadForm(request.POST)
    if not form.is_valid():
        return [("Folder", first_error(form))]
    files = request.FILES.getlist("files")
    refused = [] if files else [("No file", "Choose a file first.")]
    for file in files:
        name = file.name or "file"
        try:
            uploads.accept(signed_in_user(request), name, file.read(), form.cleaned_data["folder"] or uploads.FOLDER)
        except uploads.UploadRefusedError as refusal:
            refused.append((name, str(refusal)))
    return refused


@signed_in_post
def retry_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Read a file again after the reader timed out or crashed."""
    uploads.retry_upload(get_object_or_404(Upload.objects.for_user(signed_in_user(request)).defer("content"), pk=pk))
    return redirect(f"{reverse('memory:documents')}#uploads")


def _parse_path(form: PlaceForm) -> str:
    """The requested path; 404 if it is not a valid one."""
    if not form.is_valid():
        raise Http404
    return str(form.cleaned_data["path"])


def _or_404[T](found: T | None) -> T:
    if not found:
        raise Http404
    return found


@post_only("memory:documents")
def save_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Save a document, unless it has changed since."""
    document = get_object_or_404(Document.objects.for_user(signed_in_user(request)), pk=pk)
    form = DocumentForm(request.POST)
    if not form.is_valid():
        typed = request.POST.get("text", "")
        shown = build_editor(document, text=typed.replace("\x00", ""), sentence=first_error(form), is_open=True)
        return _render_document(request, shown, status=422)
    text, started_from = form.cleaned_data["text"], form.cleaned_data["started_from"]
    before = document.revisions.filter(number=started_from).values_list("text", flat=True).first() or ""
    text = with_marks_of(before, text.replace("\r\n", "\n"))
    try:
        document = save(signed_in_user(request), document.path, text, started_from=started_from)
    except ForgottenTextError as refusal:
        shown = build_editor(document, text=text, sentence=str(refusal), is_open=True)
        return _render_document(request, shown, status=409)
    except DocumentChangedError as conflict:
        against = changes(document_to_user(conflict.newest.text), document_to_user(text))
        shown = build_editor(conflict.document, text=text, sentence=str(conflict), against=against, is_open=True)
        return _render_document(request, shown, status=409)
    return _render_document(request, build_editor(document, sentence=f"Saved: {document.title}"))


def _render_document(request: HttpRequest, shown: Editor, status: int = 200) -> HttpResponse:
    """The document again: alone for htmx, otherwise on the page where it was edited."""
    is_alone = request.POST.get("page") == "document"
    if is_alone and (is_htmx(request) or status != 200):
        context = knowledge.build_document_page(signed_in_user(request), shown.document, shown=shown)
        template = "memory/document.html#text" if is_htmx(request) else "memory/document.html"
        return render(request, template, context, status=status)
    if is_htmx(request):
        return render(request, "memory/about.html#document", {"editor": shown}, status=status)
    if status != 200:
        return render(request, "memory/about.html", _build_about(request, changed=shown), status=status)
    messages.success(request, shown.sentence)
    if is_alone:
        return redirect(knowledge.document_url(shown.document.path))
    return redirect(f"{reverse('memory:about')}#document-{shown.document.pk}")


@signed_in_page
def versions(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
    """A document's versions and the changes of one."""
    document = get_object_or_404(Document.objects.for_user(signed_in_user(request)), pk=pk)
    try:
        return render(request, "memory/versions.html", knowledge.build_versions_page(document, number))
    except Revision.DoesNotExist:
        raise Http404 from None


@signed_in_post
def revert_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Restore an earlier version as the newest one."""
    document = get_object_or_404(Document.objects.for_user(signed_in_user(request)).select_related("user"), pk=pk)
    form = RevertForm(request.POST)
    if not form.is_valid():
        return HttpResponse("The form is incomplete. Choose a version and try again.", status=422)
    number, started_from = form.cleaned_data["number"], form.cleaned_data["started_from"]
    get_object_or_404(document.revisions, number=number)
    try:
        revert(document, number, started_from=started_from)
    except (DocumentChangedError, ForgottenTextError) as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, f"Restored version {number} of “{document.title}”.")
    return redirect("memory:versions", pk)


# Episodes --------------------------------------------------------------------------------------------------------


@signed_in_page
def episodes(request: HttpRequest) -> HttpResponse:
    """Episodes by month."""
    user = signed_in_user(request)
    form, number = TimelineForm(request.GET), request.GET.get("page")
    context = timeline.build_timeline(user, form, number, stages_reached(user))
    return render(request, "memory/timeline.html", context)


@signed_in_page
def story(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The episodes of one conversation."""
    try:
        context = timeline.build_story(signed_in_user(request), pk)
    except Episode.DoesNotExist:
        raise Http404 from None
    return render(request, "memory/story.html", context)
