"""Views of one memory: the page of a fact, and the page on why a memory was recalled.

The only place that joins a fact with the budget's receipts.
"""

from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from budget.models import Receipt
from budget.receipts import memory_use
from memory.facts import links
from memory.facts.validity import validity_of
from memory.forms import FactForm, LinkForm
from memory.models import Fact
from memory.pages.fact import build_fact_page
from memory.pages.why import explain_recall
from memory.review import decisions
from recall.text import whole_number
from recall.views import post_only, signed_in_page, signed_in_user

LINK_STRENGTH: Final = 0.5
"""Of a link stated on the page, which doesn't ask for it."""


@signed_in_page
def fact(request: HttpRequest, pk: int) -> HttpResponse:
    """One fact: its source, its history, and the answers that used it."""
    return _render_fact(request, _get_own_fact(request, pk))


@post_only("memory:fact", "pk")
def correct(request: HttpRequest, pk: int) -> HttpResponse:
    """Correct the wording or validity of an active fact."""
    fact, user = _get_own_fact(request, pk), signed_in_user(request)
    form = FactForm(request.POST)
    if not form.is_valid():
        return _render_fact(request, fact, status=422, form=form, sentence=str(next(iter(form.errors.values()))[0]))
    validity, typed = form.validity(validity_of(fact), user.zone), form.cleaned_data["statement"]
    try:
        action = decisions.correct(
            fact, form.stored_statement(fact), form.changed_value(fact), validity, by=user, typed=typed
        )
    except decisions.RefusedError as refusal:
        return _render_fact(request, fact, status=409, form=form, sentence=str(refusal))
    messages.success(request, _saved_sentence(fact, action.fact))
    return redirect("memory:fact", action.fact_id)


@post_only("memory:fact", "pk")
def link_fact(request: HttpRequest, pk: int) -> HttpResponse:
    fact, user, form = _get_own_fact(request, pk), signed_in_user(request), LinkForm(request.POST)
    if not form.is_valid():
        return _render_fact(request, fact, status=422, sentence="Choose a fact to link to.")
    other = _get_own_fact(request, form.cleaned_data["to"])
    links.link(user.pk, fact.pk, links.Relation(form.cleaned_data["relation"]), other.pk, LINK_STRENGTH)
    messages.success(request, "Linked.")
    return redirect("memory:fact", pk)


@post_only("memory:fact", "pk")
def unlink_fact(request: HttpRequest, pk: int, other: int) -> HttpResponse:
    """Remove the links between two facts that the user may state."""
    if not links.unlink(signed_in_user(request), _get_own_fact(request, pk).pk, other):
        raise Http404
    messages.success(request, "Link removed.")
    return redirect("memory:fact", pk)


def _saved_sentence(old: Fact, now: Fact) -> str:
    """The result, for the page."""
    if now.status == Fact.Status.EXPIRED:
        return "Saved. It's in the past, so answers no longer use it."
    history = "" if now.pk == old.pk else " The old wording is under Before and after."
    if now.valid_from and now.valid_from > timezone.now():
        return f"Saved. Answers will use it from that day.{history}"
    return f"Saved. It applies from the next answer.{history}"


@signed_in_page
def why_recalled(request: HttpRequest, message_id: int, ref: str) -> HttpResponse:
    """Why a memory was sent for an answer, or left out."""
    user = signed_in_user(request)
    try:
        found = memory_use.load_placement(user, message_id, ref)
    except Receipt.DoesNotExist:
        raise Http404 from None
    explanation = explain_recall(found.item, found.place, found.among, found.last_kept)
    named = whole_number(ref.removeprefix("fact:"))
    still = Fact.objects.for_user(user).filter(pk=named).only("status", "user").first()
    context = {"found": found, "item": found.item, "why": explanation, "fact": still}
    return render(request, "memory/why.html", context)


def _render_fact(request: HttpRequest, fact: Fact, status: int = 200, **more: Any) -> HttpResponse:
    user = signed_in_user(request)
    tally = memory_use.tally(user, fact.ref)
    usage: dict[str, Any] = {"prompts": memory_use.prompts_with(user, fact.ref), "tally": tally}
    days = more.get("form") or FactForm.of(fact, user.zone)
    usage["cut_days"] = settings.ENVIRONMENT.cut_candidate_retention_days
    return render(
        request, "memory/fact.html", {**build_fact_page(user, fact, **more), **usage, "days": days}, status=status
    )


def _get_own_fact(request: HttpRequest, pk: int) -> Fact:
    fact: Fact = get_object_or_404(Fact.objects.for_user(signed_in_user(request)).select_related("user"), pk=pk)
    return fact
