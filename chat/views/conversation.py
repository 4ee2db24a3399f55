"""The chat's pages and partials: each loads what is the user's own, calls, and renders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
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
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from chat.attachments.view import attached_to
from chat.compaction import jobs
from chat.conversations.provenance import answers_until, parse_day
from chat.ingest import librarian_triggers
from chat.messages.branches import IS_BRANCH, KEPT
from chat.messages.rendering import build_message_view, librarian_line
from chat.models import Conversation, Message
from chat.pages import message_window
from chat.pages.compacted_turns import compaction_status
from chat.pages.message_window import shown_in
from chat.turn import BESIDE, TurnRejectedError
from chat.turns import intake
from chat.turns.comparison import comparison
from chat.turns.oversized_message import keep_as_document
from chat.views.listing import shown_list
from memory.librarian import run as librarian
from memory.models import LibrarianRun

PAGE = "chat/page.html"
BEGINNING_CHARS = 400

WINDOWS: dict[str, Callable[[Conversation, int], message_window.Window]] = {
    "at": message_window.around,
    "until": message_window.up_to,
    "after": message_window.following,
    "since": message_window.since,
}

EXAMPLES = (
    "My sister Mary lives in Lisbon and I'm allergic to peanuts.",
    "What do you know about me?",
    "Where does my sister live?",
)
"""Prompts offered on an empty page: one to be learned from, two that show what was learned."""


@require_safe
@login_required
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    """The chat, with a conversation yet to be begun."""
    return render(request, PAGE, _page(request, None))


@require_safe
@login_required
@never_cache
def conversation(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The chat, with this conversation."""
    return render(request, PAGE, _page(request, _own(request, pk)))


@require_safe
@login_required
@never_cache
def conversation_messages(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Its messages again, since something was written elsewhere; or only those before, or after, what is shown."""
    found = _own(request, pk)
    window = _window(request, found)
    context = shown_in(found, window, _user(request).zone)
    for asked, other_end in (("until", "later"), ("after", "earlier")):
        if asked in request.GET:
            return render(request, f"{PAGE}#window", {**context, other_end: None})
    return render(request, f"{PAGE}#messages", context)


@require_safe
@login_required
@never_cache
def librarian_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What the librarian made of this conversation, and with it the number that waits for review."""
    return _librarian(request, _own(request, pk), "librarian_and_count")


@require_safe
@login_required
@never_cache
def folded_turns(request: HttpRequest, pk: UUID, segment: int) -> HttpResponse:
    """The turns behind one fold, as they were said."""
    found = _own(request, pk)
    fold = message_window.standing_segment(found, segment)
    if fold is None:
        raise Http404
    turns = message_window.folded_turns(fold, _user(request).zone)
    return render(request, f"{PAGE}#folded", {"conversation": found, "turns": turns})


@require_safe
@login_required
@never_cache
def folding_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Whether older turns are folded soon, or just now."""
    return _folding(request, _own(request, pk))


@require_POST
@login_required
@transaction.atomic
def compact(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Have the older turns folded now."""
    found = _own(request, pk)
    if compaction_status(found).can_fold:
        jobs.request_compaction(found, "asked")
    return _folding(request, found) if request.htmx else redirect("conversation", pk)  # type: ignore[attr-defined]


@require_POST
@login_required
def end(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End the conversation: the librarian reads it now."""
    found = _own(request, pk)
    librarian_triggers.end(found)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("conversation", pk)
    found.refresh_from_db()
    return _librarian(request, found, "librarian")


@require_POST
@login_required
def read_again(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Have the librarian try once more what it could not read."""
    found = _own(request, pk)
    for run in LibrarianRun.objects.for_user(_user(request)).filter(
        conversation=found, state=LibrarianRun.State.FAILED
    ):
        librarian.RUNS.retry_failed(run)
    return _librarian(request, found, "librarian") if request.htmx else redirect("conversation", pk)  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def keep_message(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then keep the message that was too long for this answer as a document, so that it can be asked about."""
    mine = Message.objects.not_deleted().for_user(_user(request))
    answer = get_object_or_404(mine.select_related("parent", "user"), pk=pk)
    if request.method != "POST" and answer.parent is not None:
        beginning = truncatechars(answer.parent.text, BEGINNING_CHARS)
        return render(request, "chat/keep.html", {"answer": answer, "beginning": beginning})
    document = keep_as_document(answer)
    if document is None:
        messages.warning(request, "This message was not too long, so that nothing was kept.")
    else:
        messages.success(request, f"Your message is kept as “{document.title}” at {document.path}. Ask about it here.")
    return redirect("conversation", answer.conversation_id)


@require_safe
@login_required
def message(request: HttpRequest, pk: int) -> HttpResponse:
    """Lead to a message where it stands in its conversation; show it by itself where its branch is not followed."""
    mine = Message.objects.not_deleted().for_user(_user(request)).select_related("conversation", "parent")
    found: Message = get_object_or_404(mine, pk=pk)
    if found.role == Message.Role.TOOL and found.parent is not None:
        return redirect("message", found.parent_id)
    is_there, is_shown_at_first = message_window.stands_on_branch(found.conversation, found.pk)
    address = reverse("conversation", args=[found.conversation_id])
    if is_there:
        return redirect(f"{address}{'' if is_shown_at_first else f'?at={found.pk}'}#m-{found.pk}")
    if BESIDE in found.event_data and KEPT not in found.event_data:
        return redirect("compare_answers", found.pk)
    zone, exchange = _user(request).zone, [found, *found.children.filter(IS_BRANCH).order_by("seq")[:1]]
    before = [found.parent] if found.parent else []
    attached = attached_to([*before, *exchange])
    shown_ones = [build_message_view(one, zone, attachments=attached.get(one.pk, ())) for one in [*before, *exchange]]
    return render(request, "chat/branch.html", {"conversation": found.conversation, "pk": pk, "turns": shown_ones})


@require_safe
@login_required
@never_cache
def answers(request: HttpRequest) -> HttpResponse:
    """Which answers were given up to a day, the latest first, and from what."""
    user = _user(request)
    until = parse_day(request.GET.get("until", "")) or timezone.localdate(timezone=user.zone)
    return render(request, "chat/answers.html", {"until": until, "given": answers_until(user, until)})


@require_safe
@login_required
@never_cache
def compare(request: HttpRequest, pk: int) -> HttpResponse:
    """An answer that was tried without a memory, beside the one it was tried for."""
    try:
        pair = comparison(_user(request), pk)
    except Message.DoesNotExist:
        raise Http404 from None
    partial = "#answers" if request.htmx else ""  # type: ignore[attr-defined]
    return render(request, f"chat/compare.html{partial}", {"pair": pair})


@require_POST
@login_required
def keep(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on from this answer instead of the other one to the same question."""
    try:
        intake.choose_answer(_user(request), pk)
    except TurnRejectedError as refused:
        if refused.code == "not_found":
            raise Http404 from None
        messages.warning(request, refused.sentence)
    else:
        messages.success(request, "The conversation goes on from this answer.")
    return redirect("message", pk=pk)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _own(request: HttpRequest, pk: UUID) -> Conversation:
    found: Conversation = get_object_or_404(Conversation.objects.not_deleted().for_user(_user(request)), pk=pk)
    return found


def _page(request: HttpRequest, found: Conversation | None) -> dict[str, Any]:
    context: dict[str, Any] = {"list": shown_list(request), "conversation": found, "examples": EXAMPLES}
    if found is not None:
        context |= _messages(request, found) | {"librarian": librarian_line(found), "folding": compaction_status(found)}
    return context


def _messages(request: HttpRequest, found: Conversation) -> dict[str, Any]:
    return shown_in(found, _window(request, found), _user(request).zone)


def _window(request: HttpRequest, found: Conversation) -> message_window.Window:
    """The part that the address asks for: `at` a message, `until` it, `after` it, all `since` it; else the end."""
    for name, part in WINDOWS.items():
        asked = request.GET.get(name, "")
        if asked.isdecimal() and len(asked) < 19:
            return part(found, int(asked))
    return message_window.latest(found)


def _librarian(request: HttpRequest, found: Conversation, partial: str) -> HttpResponse:
    context = {"conversation": found, "librarian": librarian_line(found), "swap_oob": True}
    return render(request, f"{PAGE}#{partial}", context)


def _folding(request: HttpRequest, found: Conversation) -> HttpResponse:
    return render(request, f"{PAGE}#folding", {"conversation": found, "folding": compaction_status(found)})
