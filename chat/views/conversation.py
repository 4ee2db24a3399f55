"""Views of the chat page and its partials."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from budget.pages.live import load_filling_turn
from chat.attachments.view import attached_to
from chat.compaction import jobs
from chat.conversations.provenance import answers_until
from chat.forms import UntilForm
from chat.ingest import librarian_triggers
from chat.messages.branches import IS_BRANCH, KEPT
from chat.messages.rendering import build_message_view, librarian_line
from chat.models import Conversation, Message
from chat.pages import message_window
from chat.pages.compacted_turns import compaction_status
from chat.pages.conversation import PAGE, get_own_conversation, header_context, list_for
from chat.pages.message_window import build_messages_context
from chat.turn import BESIDE, WITHHOLDS, TurnRejectedError
from chat.turns import intake
from chat.turns.comparison import comparison
from chat.turns.oversized_message import keep_as_document
from memory.librarian import run as librarian
from memory.models import LibrarianRun
from recall.db.quotas import QuotaError
from recall.text import whole_number
from recall.views import is_htmx, signed_in_page, signed_in_post, signed_in_user

PREVIEW_CHARS = 400

WINDOWS: dict[str, Callable[[Conversation, int], message_window.Window]] = {
    "at": message_window.around,
    "until": message_window.up_to,
    "after": message_window.following,
    "since": message_window.since,
}


@require_safe
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    """The chat page with a new conversation; the landing page for visitors."""
    if not request.user.is_authenticated:
        wanted = urlencode({"next": request.get_full_path()}) if request.GET else ""
        return render(request, "chat/landing.html", {"next": f"?{wanted}" if wanted else ""})
    return render(request, PAGE, {"list": list_for(request), "conversation": None})


@signed_in_page
def conversation(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The chat page with this conversation."""
    found = _get_own(request, pk)
    context = {"list": list_for(request), **header_context(found), **_messages(request, found)}
    return render(request, PAGE, {**context, "filling": load_filling_turn(found.pk)})


@signed_in_page
def new_messages(request: HttpRequest) -> HttpResponse:
    """The empty chat in place of another's messages, with the header and the options of a new conversation."""
    return render(request, f"{PAGE}#new_conversation", {"conversation": None, "swap_oob": True})


@signed_in_page
def conversation_messages(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The messages, refetched after a change elsewhere; or only those before (`until`) or after what is shown."""
    found = _get_own(request, pk)
    context = _messages(request, found)
    for asked, other_end in (("until", "later"), ("after", "earlier")):
        if asked in request.GET:
            return render(request, f"{PAGE}#window", {**context, other_end: None})
    return render(request, f"{PAGE}#messages", context)


@signed_in_page
def librarian_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The librarian's status of this conversation, and the number of proposals to review."""
    return _render_librarian(request, _get_own(request, pk), "librarian_and_count")


@signed_in_page
def compacted_turns(request: HttpRequest, pk: UUID, segment: int) -> HttpResponse:
    """The messages that one summary replaces."""
    found = _get_own(request, pk)
    row = message_window.find_segment(found, segment)
    if row is None:
        raise Http404
    turns = message_window.compacted_messages(row, signed_in_user(request).zone)
    return render(request, f"{PAGE}#compacted_messages", {"conversation": found, "turns": turns})


@signed_in_page
def compaction_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Whether older turns are being compacted, or will be soon."""
    return _render_compaction(request, _get_own(request, pk))


@signed_in_post
@transaction.atomic
def compact(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Compact the older turns now."""
    found = _get_own(request, pk)
    if compaction_status(found).can_compact:
        jobs.request_compaction(found, "asked")
    return _render_compaction(request, found) if is_htmx(request) else redirect("conversation", pk)


@signed_in_post
def end(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End the conversation: the librarian reads it now."""
    found = _get_own(request, pk)
    has_more = librarian_triggers.end(found)
    if not is_htmx(request):
        return redirect("conversation", pk)
    found.refresh_from_db()
    return _render_librarian(request, found, "librarian", nothing_new=not has_more)


@signed_in_post
def read_again(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Retry the librarian's failed runs."""
    found = _get_own(request, pk)
    runs = LibrarianRun.objects.for_user(signed_in_user(request)).filter(conversation=found)
    for run in runs.filter(state=LibrarianRun.State.FAILED):
        librarian.RUNS.retry_failed(run)
    return _render_librarian(request, found, "librarian") if is_htmx(request) else redirect("conversation", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def keep_message(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm, then save a message that was too long to answer as a document, so that it can be searched."""
    owned = Message.objects.not_deleted().for_user(signed_in_user(request))
    answer = get_object_or_404(owned.select_related("parent", "user"), pk=pk)
    if request.method != "POST" and answer.parent is not None:
        beginning = truncatechars(answer.parent.text, PREVIEW_CHARS)
        return render(request, "chat/keep.html", {"answer": answer, "beginning": beginning})
    try:
        document = keep_as_document(answer)
    except QuotaError as full:
        messages.warning(request, str(full))
        return redirect("conversation", answer.conversation_id)
    if document is None:
        messages.warning(request, "This message wasn't too long, so nothing was saved.")
    else:
        messages.success(request, f"Saved as “{document.title}”. You can ask about it here.")
    return redirect("conversation", answer.conversation_id)


@signed_in_page
def message(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to a message within its conversation, or show it on its own if it is on an inactive branch."""
    owned = Message.objects.not_deleted().for_user(signed_in_user(request)).select_related("conversation", "parent")
    found: Message = get_object_or_404(owned, pk=pk)
    if found.role == Message.Role.TOOL and found.parent is not None:
        return redirect("message", found.parent_id)
    is_on_branch, is_in_first_window = message_window.locate(found.conversation, found.pk)
    url = reverse("conversation", args=[found.conversation_id])
    if is_on_branch:
        there = f"{url}{'' if is_in_first_window else f'?at={found.pk}'}#m-{found.pk}"
        return HttpResponseClientRedirect(there) if is_htmx(request) else redirect(there)
    if BESIDE in found.event_data and KEPT not in found.event_data:
        return redirect("compare_answers", found.pk)
    before, after = [found.parent] if found.parent else [], found.children.filter(IS_BRANCH).order_by("seq")[:1]
    rows, zone = [*before, found, *after], signed_in_user(request).zone
    attached = attached_to(rows)
    turns = [build_message_view(row, zone, attachments=attached.get(row.pk, ())) for row in rows]
    return render(request, "chat/branch.html", {"conversation": found.conversation, "pk": pk, "turns": turns})


@signed_in_page
def answers(request: HttpRequest) -> HttpResponse:
    """Answers up to a day, latest first, with the memories sent for each."""
    user = signed_in_user(request)
    form = UntilForm(request.GET)
    until = (form.is_valid() and form.cleaned_data["until"]) or timezone.localdate()
    context = {
        "form": form if form.errors else UntilForm(initial={"until": until}),
        "until": until,
        "given": answers_until(user, until),
    }
    return render(request, "chat/answers.html", context, status=422 if form.errors else 200)


@signed_in_page
def compare(request: HttpRequest, pk: int) -> HttpResponse:
    """An answer without a memory, beside the original."""
    try:
        pair = comparison(signed_in_user(request), pk)
    except Message.DoesNotExist:
        raise Http404 from None
    partial = "#answers" if is_htmx(request) else ""
    return render(request, f"chat/compare.html{partial}", {"pair": pair})


@signed_in_post
def keep(request: HttpRequest, pk: int) -> HttpResponse:
    """Continue the conversation from this answer instead of the other one."""
    try:
        intake.choose_answer(signed_in_user(request), pk)
    except TurnRejectedError as refused:
        if refused.code == "not_found":
            raise Http404 from None
        messages.warning(request, refused.sentence)
    else:
        messages.success(request, "The conversation continues from this answer.")
    return redirect("message", pk=pk)


@signed_in_post
def keep_using(request: HttpRequest, pk: int) -> HttpResponse:
    """Use again what this message asked to forget."""
    with transaction.atomic():
        asking = Message.objects.not_deleted().for_user(signed_in_user(request)).filter(event_data__has_key=WITHHOLDS)
        message = get_object_or_404(asking.select_for_update(of=("self",)), pk=pk)
        message.event_data = {name: value for name, value in message.event_data.items() if name != WITHHOLDS}
        message.save(update_fields=["event_data"])
    return HttpResponse() if is_htmx(request) else redirect("message", pk=pk)


def _get_own(request: HttpRequest, pk: UUID) -> Conversation:
    return get_own_conversation(signed_in_user(request), pk)


def _messages(request: HttpRequest, found: Conversation) -> dict[str, Any]:
    return build_messages_context(found, _find_window(request, found), signed_in_user(request).zone)


def _find_window(request: HttpRequest, found: Conversation) -> message_window.Window:
    """The part that the query asks for: `at` a message, `until` it, `after` it, all `since` it; else the end."""
    for name, part in WINDOWS.items():
        asked = whole_number(request.GET.get(name, ""))
        if asked is not None:
            return part(found, asked)
    return message_window.latest(found)


def _render_librarian(
    request: HttpRequest, found: Conversation, partial: str, *, nothing_new: bool = False
) -> HttpResponse:
    line = librarian_line(found)
    context = {"conversation": found, "librarian": line, "swap_oob": True, "is_news": True}
    context["nothing_new"] = nothing_new or (line.found_nothing and not line.unread)
    return render(request, f"{PAGE}#{partial}", context)


def _render_compaction(request: HttpRequest, found: Conversation) -> HttpResponse:
    return render(request, f"{PAGE}#compaction", {"conversation": found, "compaction": compaction_status(found)})
