"""Forgetting pages: preview, confirmation, receipts, and the check that nothing is left. Plain forms."""

from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from accounts import reauthentication, sessions
from chat.models import Message
from memory.forget_requests.requests import find_request
from memory.forgetting.execute import ChangedError, forget, preview
from memory.forgetting.targets import NothingThereError, Target, What
from memory.forgetting.verify import search_rows
from memory.models import Forgetting, Tombstone
from memory.pages.forgetting import (
    MAX_RECEIPTS,
    build_preview,
    build_table_hits,
    find_matches,
    load_receipts,
    name_target,
    sum_up,
)
from memory.ports.forgettable import BusyError
from recall.text import whole_number
from recall.views import signed_in_form, signed_in_page, signed_in_post, signed_in_user

CONFIRMED_BY: Final = "forget everything"
"""Typed to confirm, so that a wrong click can't empty the memory."""
MAX_TOPIC_LENGTH: Final = 200


@signed_in_form
def forgetting(request: HttpRequest) -> HttpResponse:
    """GET previews; POST forgets what the preview listed, unless that has changed.

    Forgetting everything needs reauthentication: a signed-in browser is not enough.
    """
    params = request.POST if request.method == "POST" else request.GET
    target = _parse_target(params)
    if target.what == What.EVERYTHING and not reauthentication.is_confirmed(request):
        return reauthentication.redirect_to_reauthentication(
            back_to=f"{reverse('memory:forget')}?what={What.EVERYTHING}"
        )
    if request.method != "POST":
        return _render_preview(request, target)
    if target.what == What.EVERYTHING and params.get("confirmed", "").strip().casefold() != CONFIRMED_BY:
        return _render_preview(request, target, f"Nothing was deleted. Type “{CONFIRMED_BY}” to confirm.", status=422)
    try:
        user, chosen = signed_in_user(request), params.getlist("restore")
        receipt = forget(user, target, by=user, expected=params.get("expected", ""), restore=chosen)
    except NothingThereError:
        raise Http404 from None
    except (ChangedError, BusyError) as refusal:
        return _render_preview(request, target, str(refusal), status=409)
    sessions.forget_words(signed_in_user(request), request.session)  # which this request would store as it was
    left = f"{receipt.found_again} mentions are left" if receipt.found_again else "nothing of it is left"
    messages.success(request, f"Forgotten. Recall searched for it again: {left}.")
    return redirect("memory:forgotten")


def _render_preview(request: HttpRequest, target: Target, sentence: str = "", status: int = 200) -> HttpResponse:
    try:
        would = preview(signed_in_user(request), target)
    except NothingThereError:
        raise Http404 from None
    context = {
        **build_preview(would),
        "target": target,
        "name": name_target(target, would),
        "others": sum_up(target, would),
        "sentence": sentence,
        "confirmed_by": CONFIRMED_BY,
        "back": _way_back(request, target),
    }
    return render(request, "memory/forget.html", context, status=status)


def _way_back(request: HttpRequest, target: Target) -> str:
    """Where Cancel leads: the page of this site that led here, which the form hands on, but not one that signs in."""
    came_from = request.POST.get("back") or request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(came_from, {request.get_host()}) and "/accounts/" not in came_from:
        return came_from
    return reverse("memory:forgotten" if target.what == What.EVERYTHING else "memory:about")


@signed_in_form
def topic(request: HttpRequest) -> HttpResponse:
    """Everything that matches the words, each with a checkbox.

    The words come by POST, or from the message that asks to forget them: URLs end up in logs and histories.
    """
    words = _parse_words(request) or _topic_of_message(request)
    found = find_matches(signed_in_user(request), words) if words else []
    return render(request, "memory/forget_topic.html", {"words": words, "found": found})


@signed_in_page
def forgotten(request: HttpRequest) -> HttpResponse:
    """The receipts of forgetting."""
    return _render_receipts(request)


@signed_in_post
@never_cache
def check_again(request: HttpRequest) -> HttpResponse:
    """Search all of the user's data for words, which are not stored."""
    words = _parse_words(request)
    hits = search_rows(signed_in_user(request), words) if words else {}
    return _render_receipts(
        request, {"looked_for": words, "standing": build_table_hits(signed_in_user(request), words, hits)}
    )


@signed_in_post
@never_cache
def allow_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Let in again what one forgetting keeps out."""
    receipt = get_object_or_404(Forgetting.objects.for_user(signed_in_user(request)), pk=pk)
    Tombstone.objects.for_user(signed_in_user(request)).filter(forgetting=receipt).delete()
    messages.success(request, "Allowed. Recall remembers it if it comes up again.")
    return redirect("memory:forgotten")


def _render_receipts(request: HttpRequest, more: dict[str, Any] | None = None) -> HttpResponse:
    context = {"receipts": load_receipts(signed_in_user(request)), "most": MAX_RECEIPTS, **(more or {})}
    return render(request, "memory/forgotten.html", context)


def _parse_target(params: QueryDict) -> Target:
    what = params.get("what", "")
    if what not in What.values:
        raise Http404
    return Target(
        What(what),
        params.get("id", ""),
        tuple(params.getlist("ref")),
        learned_too=params.get("learned") != "keep",
    )


def _topic_of_message(request: HttpRequest) -> str:
    number = whole_number(request.GET.get("message", ""))
    message = Message.objects.not_deleted().for_user(signed_in_user(request)).filter(pk=number).first()
    asked = find_request(message.text) if message is not None else None
    return asked.topic if asked is not None else ""


def _parse_words(request: HttpRequest) -> str:
    return " ".join(request.POST.get("words", "").replace("\x00", "").split())[:MAX_TOPIC_LENGTH]
