"""The usage pages and their forms: totals and limits; the latest turn, trends, the token plan, and memory costs."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from budget.pages import limits as limiting
from budget.pages import live
from budget.pages import plan as planning
from budget.pages.trends import cost_chart, trends
from budget.planning import user_plan
from budget.planning.fit import PRUNING_ORDER
from budget.receipts import memory_cost
from memory.models import Chunk, Episode, Fact, ReviewAction
from memory.refs import ids_by_kind
from memory.review import decisions
from recall.figures import percent
from recall.text import whole_number
from recall.views import is_htmx, post_only, signed_in_page, signed_in_post, signed_in_user

PAGE = "budget/usage.html"
ADVANCED = "budget/advanced.html"
type Labels = dict[str, tuple[str, str]]
"""Ref → label and address."""


@signed_in_page
def home(request: HttpRequest) -> HttpResponse:
    """Today, this month, the cost by day, and limits."""
    return _render_usage(request)


@signed_in_page
def now(request: HttpRequest) -> HttpResponse:
    """The figures and the chart, updated after each turn."""
    return render(request, f"{PAGE}#live", _load_totals(signed_in_user(request)))


@signed_in_page
def advanced(request: HttpRequest) -> HttpResponse:
    """The latest turn, caching, trends, the token plan, and memory costs."""
    return _render_advanced(request)


@signed_in_page
def turn(request: HttpRequest) -> HttpResponse:
    """The latest turn, updated while it is answered."""
    context = {"now": live.build_live_status(signed_in_user(request)), "is_update": True}
    return render(request, f"{ADVANCED}#turn", context)


@signed_in_page
def charts(request: HttpRequest) -> HttpResponse:
    """The charts, updated after each turn."""
    return render(request, f"{ADVANCED}#trends", {"charts": trends(signed_in_user(request))})


@post_only("usage_advanced", at="plan")
def plan(request: HttpRequest) -> HttpResponse:
    """Preview a plan, start from a preset, save it, or reset to the default."""
    user, deed = signed_in_user(request), request.POST.get("do", "preview")
    if deed == "default":
        user_plan.reset_to_default(user)
        messages.success(request, "Reset to the default plan. It applies from your next message.")
        return redirect(f"{reverse('usage_advanced')}#plan")
    latest = live.latest(user)
    window = live.context_window(latest)
    if deed == "preset":
        return _plan(request, planning.of_preset(user, request.POST.get("preset", ""), latest, window), "planning")
    found = planning.trial_form(user, request.POST, latest, window)
    if deed != "save" or found.errors:
        return _plan(request, found, "preview", status=422 if deed == "save" else 200)
    choice, _ = planning.read(request.POST)
    user_plan.save(user, choice.preset, choice.total, choice.reserve, choice.ceilings, window)
    messages.success(request, "Plan saved. It applies from your next message.")
    return redirect(f"{reverse('usage_advanced')}#plan")


@post_only("usage", at="limits")
def limits(request: HttpRequest) -> HttpResponse:
    """Save the user's limits, all at once."""
    errors = limiting.save(signed_in_user(request), request.POST)
    if errors:
        fields = limiting.fields(signed_in_user(request), request.POST, errors)
        return _render_usage(request, status=422, limit_fields=fields)
    messages.success(request, "Limits saved.")
    return redirect(f"{reverse('usage')}#limits")


@signed_in_post
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Reject a fact that costs more than it helps; it can be undone."""
    fact = get_object_or_404(Fact.objects.for_user(signed_in_user(request)), pk=pk)
    try:
        action = decisions.reject(fact, by=signed_in_user(request))
    except decisions.RefusedError as refusal:
        messages.warning(request, str(refusal))
        return redirect(f"{reverse('usage_advanced')}#memories")
    return redirect(f"{reverse('usage_advanced')}?retired={action.pk}#memories")


def _render_usage(request: HttpRequest, status: int = 200, **instead: Any) -> HttpResponse:
    user = signed_in_user(request)
    fields = {} if "limit_fields" in instead else {"limit_fields": limiting.fields(user)}
    return render(request, PAGE, _load_totals(user) | fields | instead, status=status)


def _load_totals(user: User) -> dict[str, Any]:
    return {"now": live.build_totals(user), "chart": cost_chart(user)}


def _render_advanced(request: HttpRequest, status: int = 200, **instead: Any) -> HttpResponse:
    user = signed_in_user(request)
    latest = live.latest(user)
    context = {
        "now": live.build_live_status(user, latest),
        "charts": trends(user),
        "planning": planning.stored(user, latest, live.context_window(latest)) if "planning" not in instead else None,
        "economy": _economy(user, timezone.now()),
        "pruning_order": PRUNING_ORDER,
        "retired": _retired(request),
    }
    return render(request, ADVANCED, context | instead, status=status)


def _plan(request: HttpRequest, found: planning.Planning, partial: str, status: int = 200) -> HttpResponse:
    """The changed part for htmx, else the whole page."""
    if is_htmx(request):
        return render(request, f"{ADVANCED}#{partial}", {"planning": found, "is_update": True}, status=status)
    return _render_advanced(request, status=status, planning=found)


# Memory costs --------------------------------------------------------------------------------------------------------


def _economy(user: User, at: datetime) -> dict[str, Any]:
    """Memory costs, with the current facts and episodes. Five statements."""
    spent, turns = memory_cost.spent_since(user, at - memory_cost.PERIOD)
    facts, importance = _known(user, [row.ref for row in spent])
    active = {ref for ref, fact in facts.items() if fact.status == Fact.Status.ACTIVE}
    gone = {row.ref for row in spent if row.ref.startswith("fact:")} - active
    found = memory_cost.economy(spent, turns, importance, gone)
    shown = [*found.worths, *found.to_retire]
    labels = memory_cost.labels(user, shown) if shown else {}
    labels |= _documents(user, [worth.spent.ref for worth in shown], labels)
    return {
        "found": found,
        "rows": [_row(worth, facts, labels) for worth in found.worths],
        "to_retire": [_row(worth, facts, labels) for worth in found.to_retire],
        "cheaper": found.memories - len(found.worths),
        "days": memory_cost.PERIOD.days,
    }


def _known(user: User, refs: list[str]) -> tuple[dict[str, Fact], dict[str, float]]:
    """Existing facts by ref, and the importance of facts and episodes by ref."""
    ids = ids_by_kind(refs)
    facts = Fact.objects.for_user(user).filter(pk__in=ids["fact"]).only("statement", "importance", "status", "user")
    found = {fact.ref: fact for fact in facts}
    episodes = Episode.objects.for_user(user).filter(pk__in=ids["episode"]).values_list("pk", "significance")
    importance = {ref: fact.importance for ref, fact in found.items()}
    return found, importance | {f"episode:{pk}": significance for pk, significance in episodes}


def _documents(user: User, refs: list[str], labels: Labels) -> Labels:
    """The chunks among `refs`, with their document's address."""
    ids = ids_by_kind(refs)["chunk"]
    passages = Chunk.objects.for_user(user).filter(pk__in=ids, document__isnull=False)
    places = passages.values_list("pk", "document__path")
    return {
        f"chunk:{pk}": (labels.get(f"chunk:{pk}", (path, ""))[0], reverse("memory:document", args=[path[1:]]))
        for pk, path in places
    }


def _row(worth: memory_cost.Worth, facts: dict[str, Fact], labels: Labels) -> dict[str, Any]:
    label, url = labels.get(worth.spent.ref, (worth.spent.ref, ""))
    fact = facts.get(worth.spent.ref)
    return {
        "worth": worth,
        "fact": fact,
        "label": fact.statement if fact is not None else label,
        "url": reverse("memory:fact", args=[fact.pk]) if fact is not None else url,
        "share": percent(worth.share),
        "level": None if worth.importance is None else 1 + round(worth.importance * 4),
    }


def _retired(request: HttpRequest) -> ReviewAction | None:
    """The decision just made on this page, to offer an undo."""
    asked = whole_number(request.GET.get("retired", "")) or 0
    actions = ReviewAction.objects.for_user(signed_in_user(request)).filter(pk=asked, undone_at=None)
    return actions.select_related("fact").first()
