"""What can be done to conversations as a whole: rename, pin, archive, delete, and undo both, one or several at once.

Each deed is a plain form that leads back to a page; by htmx it answers with the list, the header and the notice anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from accounts.models import User
from chat.archive.stream import streamed
from chat.conversations import archiving, markdown_export, trash
from chat.conversations.listing import ConversationList, conversation_list, parse_list_query
from chat.messages.rendering import librarian_line
from chat.models import Conversation
from chat.pages.compacted_turns import compaction_status
from memory.documents.trash import NOTHING_TO_UNDO
from recall.db.notify import publish_event

PAGE = "chat/page.html"
TITLE_CHARS = 200
MOST_AT_ONCE = 1_000
"""Conversations one may archive or delete together: more than a list shows when it is unfolded ten times."""
STOP_FIRST = "An answer is still being written {where}. Stop it first, then delete."


# The list --------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def conversations(request: HttpRequest) -> HttpResponse:
    """The list beside the chat, and with it the title above the chat and the number that waits for review."""
    return render(request, f"{PAGE}#list_and_header", _list_and_header(request, _uuid(request.GET.get("current", ""))))


def shown_list(request: HttpRequest) -> ConversationList:
    """The list as the address asks for it."""
    return conversation_list(_user(request), timezone.now(), parse_list_query(request.GET))


def _list_and_header(request: HttpRequest, current: UUID | None) -> dict[str, Any]:
    context: dict[str, Any] = {"list": shown_list(request), "conversation": None, "swap_oob": True}
    found = Conversation.objects.not_deleted().for_user(_user(request)).filter(pk=current).first() if current else None
    if found is not None:
        context |= {"conversation": found, "librarian": librarian_line(found), "folding": compaction_status(found)}
    return context


# One conversation ------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def menu(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What can be done with it: the sheet of its row, or without JavaScript a page."""
    partial = f"{PAGE}#conversation_menu" if _is_htmx(request) else "chat/conversation_menu.html"
    return render(request, partial, {"conversation": _own(request, pk)})


@require_POST
@login_required
@transaction.atomic
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give the conversation another title, which no automatic one replaces; an empty one changes nothing."""
    found = _own(request, pk)
    title = " ".join(request.POST.get("title", "").replace("\x00", "").split())[:TITLE_CHARS]
    if title:
        found.title, found.title_is_own = title, True
        found.save(update_fields=["title", "title_is_own"])
    return _done(request, found)


@require_POST
@login_required
@transaction.atomic
def pin(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep it on top of the list, or no longer (`pinned` is empty)."""
    found = _own(request, pk)
    found.pinned_at = timezone.now() if request.POST.get("pinned") else None
    found.save(update_fields=["pinned_at"])
    return _done(request, found)


@require_POST
@login_required
@transaction.atomic
def archive(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take it out of the list, which the notice offers to undo; or put it back (`archived` is empty)."""
    found = _own(request, pk)
    named = f"“{found.title or 'Untitled'}”"
    if request.POST.get("archived"):
        moment, _ = archiving.archive(_user(request), [pk])
        _offer_undo(request, f"{named} is in the archive.", archiving.UNDO, moment)
    else:
        archiving.unarchive(_user(request), [pk])
        messages.success(request, f"{named} is in your list again.")
    return _done(request, found)


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Delete the conversation; the notice offers to undo it."""
    found = _own(request, pk)
    try:
        moment, _ = trash.delete(_user(request), [pk])
    except trash.AnswerStreamingError:
        messages.error(request, STOP_FIRST.format(where="here"))
        return _done(request, found)
    _offer_undo(request, f"“{found.title or 'The conversation'}” was deleted.", trash.UNDO, moment)
    return _gone(request, [pk])


@require_safe
@login_required
def export_markdown(request: HttpRequest, pk: UUID) -> StreamingHttpResponse:
    """The branch that is followed, as a Markdown file."""
    found = _own(request, pk)
    response = StreamingHttpResponse(
        streamed(markdown_export.pages, found), content_type="text/markdown; charset=utf-8"
    )
    name = markdown_export.file_name(found)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


# Several ---------------------------------------------------------------------------------------------------------


@require_POST
@login_required
def together(request: HttpRequest) -> HttpResponse:
    """Archive, unarchive or delete all that are ticked."""
    chosen = [pk for pk in map(_uuid, request.POST.getlist("conversation")[:MOST_AT_ONCE]) if pk is not None]
    match request.POST.get("do"):
        case "delete":
            return _delete_together(request, chosen)
        case "archive":
            return _archive_together(request, chosen)
        case "unarchive":
            return _put_back_together(request, chosen)
        case _:
            raise Http404


def _delete_together(request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse:
    try:
        moment, deleted = trash.delete(_user(request), chosen)
    except trash.AnswerStreamingError:
        messages.error(request, STOP_FIRST.format(where="in one of them"))
        return _back(request)
    if deleted:
        _offer_undo(request, f"{_counted(deleted)} deleted.", trash.UNDO, moment)
    return _gone(request, chosen)


@transaction.atomic
def _archive_together(request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse:
    moment, archived = archiving.archive(_user(request), chosen)
    if archived:
        _offer_undo(request, f"{_counted(archived)} archived.", archiving.UNDO, moment)
    return _back(request)


@transaction.atomic
def _put_back_together(request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse:
    changed = archiving.unarchive(_user(request), chosen)
    if changed:
        messages.success(request, _told_back(changed))
    return _back(request)


@require_POST
@login_required
def restore(request: HttpRequest) -> HttpResponse:
    """Undo a deletion: bring back what was deleted at that moment."""
    moment = _moment(request.POST.get("deleted", ""))
    found = trash.undo(_user(request), moment) if moment else []
    if not found:
        messages.warning(request, NOTHING_TO_UNDO)
        return _back(request)
    messages.success(request, f"{_counted(len(found))} brought back.")
    return _undone(request, found)


@require_POST
@login_required
@transaction.atomic
def unarchive(request: HttpRequest) -> HttpResponse:
    """Undo an archiving: put back what was archived at that moment."""
    moment = _moment(request.POST.get("archived", ""))
    found = archiving.undo(_user(request), moment) if moment else []
    if not found:
        messages.warning(request, archiving.NOTHING_TO_UNDO)
        return _back(request)
    messages.success(request, _told_back(len(found)))
    return _undone(request, found)


# What comes back -------------------------------------------------------------------------------------------------


def _done(request: HttpRequest, found: Conversation) -> HttpResponse:
    """After a deed on one that stays: by htmx the parts that show it, else its page."""
    publish_event(f"user-{found.user_id}", "conversations")
    return _parts(request) if _is_htmx(request) else redirect("conversation", found.pk)


def _gone(request: HttpRequest, which: Sequence[UUID]) -> HttpResponse:
    """After a deletion: to an empty page, if the conversation that was open is among them."""
    if not _is_htmx(request):
        return redirect("new")
    return HttpResponseClientRedirect("/") if _open_one(request) in which else _parts(request)


def _undone(request: HttpRequest, found: Sequence[UUID]) -> HttpResponse:
    """After an undo: to the conversation, if it was one, on a page of its own."""
    return redirect("conversation", found[0]) if len(found) == 1 and not _is_htmx(request) else _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    return _parts(request) if _is_htmx(request) else redirect("new")


def _parts(request: HttpRequest) -> HttpResponse:
    """The list, the header of the conversation that is open, and the notices."""
    return render(request, f"{PAGE}#list_header_and_notices", _list_and_header(request, _open_one(request)))


def _open_one(request: HttpRequest) -> UUID | None:
    """The conversation whose page the request came from."""
    try:
        found = resolve((request.htmx.current_url_abs_path or "/").partition("?")[0])  # type: ignore[attr-defined]
    except Resolver404:
        return None
    return found.kwargs["pk"] if found.url_name == "conversation" else None


def _offer_undo(request: HttpRequest, sentence: str, deed: str, moment: datetime) -> None:
    """`deed`: of `UNDO_FORMS` (chat/templatetags/page_parts.py)."""
    messages.success(request, sentence, extra_tags=f"{deed} {moment.isoformat()}")


def _told_back(many: int) -> str:
    return f"{_counted(many)} put back into your list."


def _counted(many: int) -> str:
    return f"{many} conversation{'s' if many > 1 else ''}"


def _moment(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment if moment is not None and timezone.is_aware(moment) else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _own(request: HttpRequest, pk: UUID) -> Conversation:
    found: Conversation = get_object_or_404(Conversation.objects.not_deleted().for_user(_user(request)), pk=pk)
    return found


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _is_htmx(request: HttpRequest) -> bool:
    return bool(request.htmx)  # type: ignore[attr-defined]
