"""What happens when a message comes in? It is committed, told to everyone who follows, and its turn is started."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast
from uuid import NAMESPACE_OID, uuid4, uuid5

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from accounts.models import User
from chat.messages.rendering import messages_html
from chat.protocol import OPTION_FIELDS, VERSION, Continue, Edit, Retry, Send, Without
from chat.turn import AcceptedTurn, TurnRejectedError
from chat.turns import intake
from chat.turns.live import AT_ONCE, TURN_REGISTRY, Follower, Frame, RunningTurn
from chat.turns.recovery import waits_here
from chat.turns.run import run_turn
from recall.db.connections import run_in_thread
from recall.db.prepared import PreparedQuery

Accepted = Send | Edit | Retry | Continue | Without
SLOW_DOWN = ("slow_down", f"{AT_ONCE} answers are being written for you already. Wait for one of them.")
SIGNED_OUT = ("signed_out", "You are not signed in any more. Sign in and send again.")
_ACTIVE: Final = PreparedQuery(lambda user: User.objects.filter(pk=user, is_active=True), user=int)
STATUS: dict[str, int] = {
    "not_found": 404,
    "busy": 409,
    "slow_down": 429,
    "limit": 429,
    "too_long": 413,
    "not_given": 409,
    "not_yours": 409,
    "signed_out": 401,
}
"""HTTP status of a refusal; 400 for the rest."""


async def accept(user_id: int, frame: Accepted, follower: Follower | None = None) -> Frame:
    """Accept a message and start its turn; the `accepted` frame, which every follower was told too.

    Raises:
        Refused: nothing was saved.
        OperationalError: the database could not be reached; nothing was saved, or the same client id finds it.
    """
    with TURN_REGISTRY.opening(user_id) as has_place:
        if not has_place:
            raise TurnRejectedError(*SLOW_DOWN)
        return await _accept(user_id, frame, follower)


async def _accept(user_id: int, frame: Accepted, follower: Follower | None) -> Frame:
    opened = await run_in_thread(_open, user_id, frame)
    if follower is not None:
        TURN_REGISTRY.subscribe(opened.conversation.pk, follower)
    if await _has_its_turn(opened):
        return await run_in_thread(_accepted, replace(opened, is_duplicate=True), frame)
    opened = replace(opened, is_duplicate=False)
    turn = RunningTurn(user_id, opened.conversation.pk, opened.answer.pk)
    TURN_REGISTRY.start(
        turn, run_turn(turn, opened)
    )  # at once: whatever becomes of the page, what is committed is answered
    accepted = None
    try:
        accepted = await run_in_thread(_accepted, opened, frame)
        return accepted
    finally:
        turn.announce(None if opened.is_trial else accepted)  # a page that follows shows one branch


async def _has_its_turn(opened: AcceptedTurn) -> bool:
    """Whether somebody writes, or wrote, the answer. Nobody does where the message is new, or where the database died
    after the commit and before it could say so: the message was not known to be there, until it was sent again."""
    answer_id = opened.answer.pk
    if opened.is_duplicate and (TURN_REGISTRY.writes(answer_id) or not await run_in_thread(waits_here, answer_id)):
        return True
    return TURN_REGISTRY.writes(answer_id)  # the same message through another socket was a moment faster


def _open(user_id: int, frame: Accepted) -> AcceptedTurn:
    user = _ACTIVE.first(user=user_id)  # asked anew: a socket outlives a sign-out
    if user is None:
        raise TurnRejectedError(*SIGNED_OUT)
    match frame:
        case Send():
            said = (frame.conversation, frame.text, frame.attachments, frame.chosen)
            opened = intake.accept_message(user, frame.client_id, *said)
        case Edit():
            opened = intake.accept_edit(user, frame.client_id, frame.message, frame.text)
        case Retry():
            opened = intake.accept_retry(user, frame.client_id, frame.message)
        case Continue():
            opened = intake.accept_continue(user, frame.client_id, frame.message)
        case Without():
            opened = intake.accept_exclusion(user, frame.client_id, frame.message, frame.refs)
    return opened


def _accepted(opened: AcceptedTurn, frame: Accepted) -> Frame:
    user = opened.conversation.user
    is_alone = isinstance(frame, Retry) or opened.is_trial
    return {
        "type": "accepted",
        "client_id": str(frame.client_id),
        "conversation": str(opened.conversation.pk),
        "created": opened.created,
        "duplicate": opened.is_duplicate,
        "question": opened.question.pk,
        "message": opened.answer.pk,
        "replaces": frame.message if isinstance(frame, Retry | Edit) else None,
        "html": messages_html([opened.answer] if is_alone else [opened.question, opened.answer], user=user),
    }


@login_required
@require_POST
async def answer_without(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer again without these memories, and lead to the page that shows both answers.

    A form's `nonce` and what is left out make the client id: pressed twice, it is asked once.
    """
    user = cast(User, await request.auser())
    refs = request.POST.getlist("without")
    client_id = uuid5(NAMESPACE_OID, f"{request.POST.get('nonce', uuid4())} {pk} {sorted(refs)}")
    fields: dict[str, Any] = {"v": VERSION, "type": "without", "client_id": client_id, "message": pk, "refs": refs}
    try:
        accepted = await accept(user.pk, Without.model_validate(fields))
    except ValidationError:
        raise Http404 from None
    except TurnRejectedError as refused:
        if refused.code == "not_found":
            raise Http404 from None
        await run_in_thread(messages.warning, request, refused.sentence)
        return redirect("message", pk=pk)
    return redirect("compare_answers", pk=accepted["message"])


def typed(request: HttpRequest) -> str:
    """The text of a form, which ends its lines with two characters where a person typed one."""
    return request.POST.get("text", "").replace("\r\n", "\n")


@login_required
@require_POST
async def send_over_http(request: HttpRequest) -> JsonResponse:
    """A message too long for a frame: the same fields, form-encoded (docs/protocol.md)."""
    user = cast(User, await request.auser())
    fields: dict[str, Any] = {name: request.POST.get(name) for name in ("client_id", "text")}
    conversation = request.POST.get("conversation") or None
    fields["attachments"] = request.POST.getlist("attachments")
    fields |= {name: request.POST[name] for name in OPTION_FIELDS if request.POST.get(name)}
    try:
        frame = Send.model_validate({"v": VERSION, "type": "send", "conversation": conversation, **fields})
        return JsonResponse(await accept(user.pk, frame))
    except ValidationError as error:
        return JsonResponse({"type": "error", "code": "bad_frame", "text": str(error.errors()[0]["msg"])}, status=400)
    except TurnRejectedError as refused:
        body = {"type": "error", "code": refused.code, "text": refused.sentence}
        return JsonResponse(body, status=STATUS.get(refused.code, 400))
