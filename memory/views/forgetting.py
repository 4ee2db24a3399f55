"""Forgetting, page by page: what would go, the deed, its receipt, and a look whether it is gone. Plain forms."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import reauthentication
from accounts.models import User
from memory.forgetting.execute import ChangedError, forget, preview
from memory.forgetting.targets import NothingThereError, Target, What
from memory.forgetting.verify import look_for
from memory.pages.forgetting import MOST_RECEIPTS, matches, receipts, shown, standing_in
from memory.ports.forgettable import BusyError

CONFIRMED_BY: Final = "forget everything"
"""What a person types, so that no slip of the finger empties their memory."""
LONGEST_WORDS: Final = 200


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def forgetting(request: HttpRequest) -> HttpResponse:
    """First what would go; then the deed, if what was listed is still all there is.

    Everything is shown and forgotten to the person themselves only, not to whoever finds a browser signed in.
    """
    asked = request.POST if request.method == "POST" else request.GET
    target = _target(asked)
    if target.what == What.EVERYTHING and not reauthentication.is_confirmed(request):
        return reauthentication.redirect_to_reauthentication(
            back_to=f"{reverse('memory:forget')}?what={What.EVERYTHING}"
        )
    if request.method != "POST":
        return _dry_run(request, target)
    if target.what == What.EVERYTHING and asked.get("confirmed", "").strip().casefold() != CONFIRMED_BY:
        return _dry_run(request, target, f"Nothing was deleted. Type “{CONFIRMED_BY}” to confirm.", status=422)
    try:
        receipt = forget(_user(request), target, by=_user(request), expected=asked.get("expected", ""))
    except NothingThereError:
        raise Http404 from None
    except (ChangedError, BusyError) as refusal:
        return _dry_run(request, target, str(refusal), status=409)
    messages.success(request, f"Forgotten. Recall searched for it again and found {receipt.found_again} traces.")
    return redirect("memory:forgotten")


def _dry_run(request: HttpRequest, target: Target, sentence: str = "", status: int = 200) -> HttpResponse:
    try:
        would = preview(_user(request), target)
    except NothingThereError:
        raise Http404 from None
    context = {**shown(would), "target": target, "sentence": sentence, "confirmed_by": CONFIRMED_BY}
    return render(request, "memory/forget.html", context, status=status)


@require_POST
@login_required
@never_cache
def topic(request: HttpRequest) -> HttpResponse:
    """Everything about these words, each with a tick. By POST: words in an address end up in logs and histories."""
    words = _words(request)
    found = matches(_user(request), words) if words else []
    return render(request, "memory/forget_topic.html", {"words": words, "found": found})


@require_safe
@login_required
@never_cache
def forgotten(request: HttpRequest) -> HttpResponse:
    """The receipts: when, how much, and that it is found no more."""
    return _receipts(request)


@require_POST
@login_required
@never_cache
def check_again(request: HttpRequest) -> HttpResponse:
    """Look whether words stand anywhere in what is kept of the person. They are not kept."""
    words = _words(request)
    found = look_for(_user(request), words) if words else {}
    return _receipts(request, {"looked_for": words, "standing": standing_in(_user(request), words, found)})


def _receipts(request: HttpRequest, more: dict[str, Any] | None = None) -> HttpResponse:
    context = {"receipts": receipts(_user(request)), "most": MOST_RECEIPTS, **(more or {})}
    return render(request, "memory/forgotten.html", context)


def _target(asked: QueryDict) -> Target:
    what = asked.get("what", "")
    if what not in What.values:
        raise Http404
    return Target(
        What(what),
        asked.get("id", ""),
        tuple(asked.getlist("ref")),
        learned_too=asked.get("learned") != "keep",
    )


def _words(request: HttpRequest) -> str:
    return " ".join(request.POST.get("words", "").replace("\x00", "").split())[:LONGEST_WORDS]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
