"""Views that rename, pin, archive and delete conversations, one or several, undo that, and change their options.

Each action is a plain form that redirects to a page; htmx gets the list, the header and the notices instead.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from chat.archive.stream import stream_from_thread
from chat.conversations import archiving, markdown_export, trash
from chat.conversations.model_choice import ModelNotOfferedError
from chat.conversations.options import OptionNotFoundError, initial_fields, update_options
from chat.conversations.titles import given_title
from chat.forms import OptionsForm
from chat.models import Conversation
from chat.pages.conversation import PAGE, get_own_conversation, header_context, list_for
from chat.protocol import ConversationOptions
from memory.trash import NOTHING_TO_UNDO
from recall.db.notify import publish_event
from recall.views import first_error, is_htmx, signed_in_page, signed_in_post, signed_in_user

TITLE_CHARS = 200
MAX_SELECTED = 1_000
"""Conversations in one bulk action: more than the list shows after ten times “Earlier conversations”."""
STOP_FIRST = "Recall is still answering {where}. Stop it first, then delete."


# The list --------------------------------------------------------------------------------------------------------


@signed_in_page
def conversations(request: HttpRequest) -> HttpResponse:
    """The conversation list, with the header of the open chat and the number of proposals to review."""
    return render(
        request, f"{PAGE}#list_and_header", _list_and_header(request, _parse_uuid(request.GET.get("current", "")))
    )


def _list_and_header(request: HttpRequest, current: UUID | None) -> dict[str, Any]:
    owned = Conversation.objects.not_deleted().for_user(signed_in_user(request))
    found = owned.filter(pk=current).first() if current else None
    header = header_context(found) if found is not None else {"conversation": None}
    return {"list": list_for(request), "swap_oob": True, **header}


# One conversation ------------------------------------------------------------------------------------------------


@signed_in_page
def menu(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The menu of a row in the list, or without JavaScript a page."""
    partial = f"{PAGE}#conversation_menu" if is_htmx(request) else "chat/conversation_menu.html"
    return render(request, partial, {"conversation": get_own_conversation(signed_in_user(request), pk)})


@signed_in_post
@transaction.atomic
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Rename the conversation: automatic titles no longer replace its title. An empty title changes nothing."""
    found = get_own_conversation(signed_in_user(request), pk)
    title = given_title(request.POST.get("title", ""))[:TITLE_CHARS]
    if title:
        found.title, found.title_is_own = title, True
        found.save(update_fields=["title", "title_is_own"])
    return _done(request, found)


@signed_in_post
@transaction.atomic
def pin(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Pin it to the top of the list, or unpin it (`pinned` is empty)."""
    found = get_own_conversation(signed_in_user(request), pk)
    found.pinned_at = timezone.now() if request.POST.get("pinned") else None
    found.save(update_fields=["pinned_at"])
    return _done(request, found)


@signed_in_post
@transaction.atomic
def archive(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Archive it, with an undo; or unarchive it (`archived` is empty)."""
    found = get_own_conversation(signed_in_user(request), pk)
    named = f"“{found.title or 'Untitled'}”"
    if request.POST.get("archived"):
        moment, _ = archiving.archive(signed_in_user(request), [pk])
        _offer_undo(request, f"{named} archived.", archiving.UNDO, moment)
    else:
        archiving.unarchive(signed_in_user(request), [pk])
        messages.success(request, f"{named} unarchived.")
    return _done(request, found)


@signed_in_post
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Delete the conversation, with an undo."""
    found = get_own_conversation(signed_in_user(request), pk)
    try:
        moment, _ = trash.delete(signed_in_user(request), [pk])
    except trash.AnswerStreamingError:
        messages.error(request, STOP_FIRST.format(where="in this conversation"))
        return _done(request, found)
    _offer_undo(request, f"“{found.title or 'Untitled'}” deleted.", trash.UNDO, moment)
    return _gone(request, [pk])


@signed_in_post
def change_options(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Change the conversation's role, project, model or effort."""
    found = get_own_conversation(signed_in_user(request), pk)
    form = OptionsForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was changed. {first_error(form)}")
        return redirect("conversation", pk)
    try:
        fields = initial_fields(
            found.user,
            ConversationOptions(**{name: form.cleaned_data[name] for name in ConversationOptions.__slots__}),
        )
    except OptionNotFoundError:
        raise Http404 from None
    except ModelNotOfferedError as refused:
        messages.warning(request, f"Nothing was changed. {refused}")
        return redirect("conversation", pk)
    changed = update_options(found, fields)
    if changed:
        messages.success(request, " ".join(changed))
    return redirect("conversation", pk)


@require_safe
@login_required
def export_markdown(request: HttpRequest, pk: UUID) -> StreamingHttpResponse:
    """The active branch as a Markdown file."""
    found = get_own_conversation(signed_in_user(request), pk)
    response = StreamingHttpResponse(
        stream_from_thread(markdown_export.pages, found), content_type="text/markdown; charset=utf-8"
    )
    name = markdown_export.file_name(found)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


# Several ---------------------------------------------------------------------------------------------------------


@signed_in_post
def bulk_action(request: HttpRequest) -> HttpResponse:
    """Archive, unarchive or delete the selected conversations."""
    chosen = [pk for pk in map(_parse_uuid, request.POST.getlist("conversation")[:MAX_SELECTED]) if pk is not None]
    match request.POST.get("do"):
        case "delete":
            return _delete_selected(request, chosen)
        case "archive":
            return _archive_selected(request, chosen)
        case "unarchive":
            return _unarchive_selected(request, chosen)
        case _:
            raise Http404


def _delete_selected(request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse:
    try:
        moment, deleted = trash.delete(signed_in_user(request), chosen)
    except trash.AnswerStreamingError:
        messages.error(request, STOP_FIRST.format(where="in one of these conversations"))
        return _back(request)
    if deleted:
        _offer_undo(request, f"{_count(deleted)} deleted.", trash.UNDO, moment)
    return _gone(request, chosen)


@transaction.atomic
def _archive_selected(request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse:
    moment, archived = archiving.archive(signed_in_user(request), chosen)
    if archived:
        _offer_undo(request, f"{_count(archived)} archived.", archiving.UNDO, moment)
    return _back(request)


@transaction.atomic
def _unarchive_selected(request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse:
    changed = archiving.unarchive(signed_in_user(request), chosen)
    if changed:
        messages.success(request, f"{_count(changed)} unarchived.")
    return _back(request)


@signed_in_post
def restore(request: HttpRequest) -> HttpResponse:
    """Undo the deletion made at that moment."""
    moment = _parse_moment(request.POST.get("deleted", ""))
    found = trash.undo(signed_in_user(request), moment) if moment else []
    if not found:
        messages.warning(request, NOTHING_TO_UNDO)
        return _back(request)
    messages.success(request, f"{_count(len(found))} restored.")
    return _undone(request, found)


@signed_in_post
@transaction.atomic
def unarchive(request: HttpRequest) -> HttpResponse:
    """Undo the archiving made at that moment."""
    moment = _parse_moment(request.POST.get("archived", ""))
    found = archiving.undo(signed_in_user(request), moment) if moment else []
    if not found:
        messages.warning(request, archiving.NOTHING_TO_UNDO)
        return _back(request)
    messages.success(request, f"{_count(len(found))} unarchived.")
    return _undone(request, found)


# Responses ---------------------------------------------------------------------------------------------------------


def _done(request: HttpRequest, found: Conversation) -> HttpResponse:
    """After a change to one conversation: its parts of the page for htmx, else its page."""
    publish_event(f"user-{found.user_id}", "conversations")
    return _parts(request) if is_htmx(request) else redirect("conversation", found.pk)


def _gone(request: HttpRequest, which: Sequence[UUID]) -> HttpResponse:
    """After a deletion: an empty chat, if the open conversation was deleted."""
    if not is_htmx(request):
        return redirect("new")
    return HttpResponseClientRedirect("/") if _open_conversation(request) in which else _parts(request)


def _undone(request: HttpRequest, found: Sequence[UUID]) -> HttpResponse:
    """After an undo: the conversation's page if it was only one, else the list."""
    return redirect("conversation", found[0]) if len(found) == 1 and not is_htmx(request) else _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    return _parts(request) if is_htmx(request) else redirect("new")


def _parts(request: HttpRequest) -> HttpResponse:
    """The list, the header of the conversation that is open, and the notices."""
    return render(request, f"{PAGE}#list_header_and_notices", _list_and_header(request, _open_conversation(request)))


def _open_conversation(request: HttpRequest) -> UUID | None:
    """The conversation of the page that sent the request."""
    try:
        found = resolve((request.htmx.current_url_abs_path or "/").partition("?")[0])  # type: ignore[attr-defined]
    except Resolver404:
        return None
    return found.kwargs["pk"] if found.url_name == "conversation" else None


def _offer_undo(request: HttpRequest, sentence: str, tag: str, moment: datetime) -> None:
    """`tag`: a key of `UNDO_FORMS` (chat/templatetags/page_parts.py)."""
    messages.success(request, sentence, extra_tags=f"{tag} {moment.isoformat()}")


def _count(count: int) -> str:
    return f"{count} conversation{'s' if count > 1 else ''}"


def _parse_moment(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment if moment is not None and timezone.is_aware(moment) else None


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
