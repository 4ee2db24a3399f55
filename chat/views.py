"""The chat's pages and partials: each loads what is the user's own, calls, and renders."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from chat import reading
from chat.history import active_path
from chat.models import Conversation, Message
from chat.pages import LISTED, SHOWN, ConversationList, conversation_list, librarian_line, shown_messages
from memory import librarian
from memory.models import LibrarianRun
from recall.nudges import nudge

PAGE = "chat/page.html"
TITLE_CHARS = 200
MOST_LISTED = 10_000

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
    """The conversation's messages again: something was written in another tab or process."""
    return render(request, f"{PAGE}#messages", _messages(request, _own(request, pk)))


@require_safe
@login_required
@never_cache
def conversations(request: HttpRequest) -> HttpResponse:
    """The list beside the chat, and with it the title above the chat and the number that waits for review."""
    current = _current(request)
    context: dict[str, Any] = {"list": _list(request), "current": current, "swap_oob": True}
    if current is not None:
        context |= {"conversation": current, "librarian": librarian_line(current)}
    return render(request, f"{PAGE}#list_and_header", context)


@require_safe
@login_required
@never_cache
def librarian_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What the librarian made of this conversation, and with it the number that waits for review."""
    return _librarian(request, _own(request, pk), "librarian_and_count")


@require_POST
@login_required
def end(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End the conversation: the librarian reads it now."""
    found = _own(request, pk)
    reading.end(found)
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
        librarian.retry(run)
    return _librarian(request, found, "librarian") if request.htmx else redirect("conversation", pk)  # type: ignore[attr-defined]


@require_POST
@login_required
@transaction.atomic
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give the conversation another title; an empty one changes nothing."""
    found = _own(request, pk)
    title = " ".join(request.POST.get("title", "").replace("\x00", "").split())[:TITLE_CHARS]
    if title:
        found.title = title
        found.save(update_fields=["title"])
        nudge(f"user-{found.user_id}", "conversations")
    return redirect("conversation", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Ask, then delete the conversation with its messages and receipts."""
    found = _own(request, pk)
    if request.method != "POST":
        learned = librarian_line(found)
        return render(request, "chat/delete.html", {"conversation": found, "librarian": learned})
    with transaction.atomic():
        get_object_or_404(Conversation.objects.for_user(_user(request)).select_for_update(), pk=pk)
        if Message.objects.streaming().filter(conversation=found).exists():
            messages.error(request, "An answer is still being written here. Stop it first, then delete.")
            return redirect("conversation", pk)
        found.delete()
        nudge(f"user-{found.user_id}", "conversations")
    messages.success(request, f"“{found.title or 'The conversation'}” was deleted.")
    return redirect("new")


@require_safe
@login_required
def message(request: HttpRequest, pk: int) -> HttpResponse:
    """Lead to a message where it stands in its conversation."""
    found = get_object_or_404(Message.objects.for_user(_user(request)).select_related("conversation"), pk=pk)
    is_early = found.conversation.next_seq - found.seq > SHOWN
    address = reverse("conversation", args=[found.conversation_id])
    return redirect(f"{address}{'?earlier=1' if is_early else ''}#m-{found.pk}")


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _own(request: HttpRequest, pk: UUID) -> Conversation:
    found: Conversation = get_object_or_404(Conversation.objects.for_user(_user(request)), pk=pk)
    return found


def _page(request: HttpRequest, found: Conversation | None) -> dict[str, Any]:
    context: dict[str, Any] = {"list": _list(request), "current": found, "conversation": found, "examples": EXAMPLES}
    if found is not None:
        context |= _messages(request, found) | {"librarian": librarian_line(found)}
    return context


def _messages(request: HttpRequest, found: Conversation) -> dict[str, Any]:
    path = active_path(found)
    whole = "earlier" in request.GET
    shown = shown_messages(path, _user(request).zone, all_of_them=whole)
    latest = next((m.id for m in reversed(shown) if m.role == Message.Role.ASSISTANT), None)
    return {"conversation": found, "messages_shown": shown, "earlier": len(path) - len(shown), "latest_answer": latest}


def _list(request: HttpRequest) -> ConversationList:
    wanted = request.GET.get("listed", "")
    listed = min(int(wanted), MOST_LISTED) if wanted.isdecimal() and len(wanted) < 7 else LISTED
    return conversation_list(_user(request), timezone.now(), listed=max(listed, LISTED))


def _current(request: HttpRequest) -> Conversation | None:
    """The conversation the page shows; None where it shows none, or one that is gone."""
    try:
        pk = UUID(request.GET.get("current", ""))
    except ValueError:
        return None
    found: Conversation | None = Conversation.objects.for_user(_user(request)).filter(pk=pk).first()
    return found


def _librarian(request: HttpRequest, found: Conversation, partial: str) -> HttpResponse:
    context = {"conversation": found, "librarian": librarian_line(found), "swap_oob": True}
    return render(request, f"{PAGE}#{partial}", context)
