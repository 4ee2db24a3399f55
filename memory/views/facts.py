"""The pages about one memory: a fact with all that is known of it, and why a memory came up for a question.

An edge: it alone joins what memory knows of a fact to what the budget's receipts say of it.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from budget.models import Receipt
from budget.receipts import memory_use
from memory.facts import review
from memory.facts.validity import validity_of
from memory.forms import FactForm
from memory.models import Fact
from memory.pages.fact import fact_page
from memory.pages.why import why
from recall.views import post_only


@require_safe
@login_required
@never_cache
def fact(request: HttpRequest, pk: int) -> HttpResponse:
    """One fact: where it comes from, what was decided about it, and which answers it stood in."""
    return _page(request, _own(request, pk))


@post_only("memory:fact", "pk")
@login_required
def correct(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a fact that is in use right: its words, or when it is true."""
    own, user = _own(request, pk), _user(request)
    form = FactForm(request.POST)
    if not form.is_valid():
        return _page(request, own, status=422, form=form, sentence=str(next(iter(form.errors.values()))[0]))
    value = form.cleaned_data["value"] if own.key and "value" in request.POST else None
    validity = form.validity(validity_of(own), user.zone)
    try:
        action = review.correct(own, form.cleaned_data["statement"], value, validity, by=user)
    except review.RefusedError as refusal:
        return _page(request, own, status=409, form=form, sentence=str(refusal))
    messages.success(request, _saved(own, action.fact))
    return redirect("memory:fact", action.fact_id)


def _saved(old: Fact, now: Fact) -> str:
    """What came of it, as the page says it."""
    if now.status == Fact.Status.EXPIRED:
        return "Saved. It's in the past, so answers no longer use it."
    history = "" if now.pk == old.pk else " The old wording is in History."
    if now.valid_from and now.valid_from > timezone.now():
        return f"Saved. Answers will use it from that day.{history}"
    return f"Saved. It applies from the next answer.{history}"


@require_safe
@login_required
@never_cache
def why_recalled(request: HttpRequest, message_id: int, ref: str) -> HttpResponse:
    """Why one memory stood in the prompt of an answer, or did not."""
    user = _user(request)
    try:
        found = memory_use.load_placement(user, message_id, ref)
    except Receipt.DoesNotExist:
        raise Http404 from None
    explained = why(found.item, found.place, found.among, found.last_kept)
    named = ref.removeprefix("fact:")
    still = Fact.objects.for_user(user).filter(pk=named).only("status", "user").first() if named.isdecimal() else None
    context = {"found": found, "item": found.item, "why": explained, "fact": still, "page": "profile"}
    return render(request, "memory/why.html", context)


def _page(request: HttpRequest, own: Fact, status: int = 200, **more: Any) -> HttpResponse:
    user = _user(request)
    tally = memory_use.tally(user, own.ref)
    share = f"{100 * tally.tokens / tally.prompts:.2g}%" if tally.prompts else ""
    told = {"prompts": memory_use.prompts_with(user, own.ref), "tally": tally, "share": share}
    told["cut_days"] = settings.ENVIRONMENT.cut_candidate_retention_days
    return render(request, "memory/fact.html", {**fact_page(user, own, **more), **told}, status=status)


def _own(request: HttpRequest, pk: int) -> Fact:
    found: Fact = get_object_or_404(Fact.objects.for_user(_user(request)).select_related("user"), pk=pk)
    return found


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
