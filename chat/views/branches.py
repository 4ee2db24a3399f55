"""Views that edit a message and switch branches, with or without JavaScript."""

import json
from typing import Any, cast
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from accounts.models import User
from chat.models import Message
from chat.pages.message_window import around, build_messages_context
from chat.protocol import VERSION, Edit, error_frame
from chat.turn import TurnRejectedError
from chat.turns import intake
from chat.turns.start import STATUS, accept
from chat.views.turns import posted_text
from recall.db.connections import run_in_thread
from recall.views import is_htmx, signed_in_post, signed_in_user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
async def edit_message(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit one of the user's messages: the original and all that followed are kept on their branch.

    Scripts get the `accepted` frame as JSON (docs/protocol.md), forms a redirect to the new message.
    """
    user = cast(User, await request.auser())
    if request.method != "POST":
        return await run_in_thread(_edit_page, request, user, pk)
    fields: dict[str, Any] = {"v": VERSION, "type": "edit", "message": pk, "client_id": request.POST.get("client_id")}
    try:
        accepted = await accept(user.pk, Edit.model_validate({**fields, "text": posted_text(request)}))
    except ValidationError:
        raise Http404 from None
    except TurnRejectedError as refused:
        return await run_in_thread(_edit_error, request, user, pk, refused)
    if _wants_json(request):
        return JsonResponse(accepted)
    return redirect("message", pk=accepted["question"])


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _edit_page(request: HttpRequest, user: User, pk: int, error: str = "") -> HttpResponse:
    try:
        message = intake.editable(user, pk)
    except TurnRejectedError:
        raise Http404 from None
    context = {
        "message": message,
        "text": posted_text(request) if error else message.text,
        "error": error,
        "client_id": uuid4(),
    }
    return render(request, "chat/edit.html", context, status=422 if error else 200)


def _edit_error(request: HttpRequest, user: User, pk: int, refused: TurnRejectedError) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse(error_frame(refused.code, refused.sentence), status=STATUS.get(refused.code, 400))
    return _edit_page(request, user, pk, refused.sentence)


@signed_in_post
def follow_branch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch to the newest branch that contains this message."""
    try:
        conversation = intake.follow_branch(signed_in_user(request), pk)
    except TurnRejectedError as refused:
        if refused.code == "not_found":
            raise Http404 from None
        return _follow_error(request, pk, refused)
    if not is_htmx(request):
        return redirect("message", pk=pk)
    context = build_messages_context(conversation, around(conversation, pk), conversation.user.zone)
    return render(request, "chat/page.html#messages", context)


def _follow_error(request: HttpRequest, pk: int, refused: TurnRejectedError) -> HttpResponse:
    """Show the reason; the page stays as it is."""
    if is_htmx(request):
        return HttpResponse(status=204, headers={"HX-Trigger": json.dumps({"refused": refused.sentence})})
    messages.warning(request, refused.sentence)
    message = Message.objects.for_user(signed_in_user(request)).only("conversation").get(pk=pk)
    return redirect("conversation", message.conversation_id)
