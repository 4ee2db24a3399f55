"""Views that start a turn over HTTP: messages too long for a frame, and answers without some memories."""

from typing import Any, cast
from uuid import NAMESPACE_OID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from pydantic import ValidationError

from accounts.models import User
from chat.protocol import OPTION_FIELDS, VERSION, Send, Without, error_frame
from chat.turn import TurnRejectedError
from chat.turns.start import STATUS, accept
from recall.db.connections import run_in_thread
from recall.views import signed_in_post


@signed_in_post
async def answer_without(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer again without these memories, and lead to the page that shows both answers.

    A form's `nonce` and the excluded memories make the client id: submitted twice, it runs once.
    """
    user = cast(User, await request.auser())
    refs = request.POST.getlist("without")
    client_id = uuid5(NAMESPACE_OID, f"{request.POST.get('nonce', uuid4())} {pk} {sorted(refs)}")
    fields: dict[str, Any] = {"v": VERSION, "type": "without", "client_id": client_id, "message": pk, "refs": refs}
    try:
        accepted = await accept(user.pk, Without.model_validate(fields))
    except ValidationError:
        raise Http404 from None
    except TurnRejectedError as rejection:
        if rejection.code == "not_found":
            raise Http404 from None
        await run_in_thread(messages.warning, request, rejection.sentence)
        return redirect("message", pk=pk)
    return redirect("compare_answers", pk=accepted["message"])


@signed_in_post
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
        return JsonResponse(error_frame("bad_frame", str(error.errors()[0]["msg"])), status=400)
    except TurnRejectedError as rejection:
        return JsonResponse(error_frame(rejection.code, rejection.sentence), status=STATUS.get(rejection.code, 400))


def posted_text(request: HttpRequest) -> str:
    """The text of a form, with the line ends the user typed: browsers send two characters for each."""
    return request.POST.get("text", "").replace("\r\n", "\n")
