"""The admin's review queue: the proposals of all users, with the same decisions as on the review page.

Viewing needs the permission to view facts, deciding the permission to change them. Before the page is rendered, the
access log of every user it shows gets an entry.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.staff.access_log import log_accesses
from memory.forms import StatementForm
from memory.models import Fact, ReviewAction
from memory.models.kinds import Kind
from memory.pages.review import DONE, Row, describe_batch, describe_refusals, group_by_conversation, with_evidence
from memory.review import decisions
from memory.review.bulk_review import batch_of, decide_batch, undo_batch
from memory.review.evidence import build_fact_views
from memory.review.merge import merge
from memory.review.undo import UNDO_FOR
from memory.views.review import DECISIONS
from recall.text import storable, whole_number
from recall.views import signed_in_user

PAGE_SIZE: Final = 50
"""Proposals per page. The next page starts after the last ID, so no page counts all rows."""
RECENT: Final = 10
"""Recent decisions of the admin that the page offers to undo."""
LOG_ENTRY: Final = "proposals to review"
"""What the access log says was viewed."""

VIEW_PERMISSIONS: Final = ("memory.view_fact", "memory.change_fact")
CHANGE_PERMISSION: Final = "memory.change_fact"


@require_safe
def staff_queue(request: HttpRequest, **site: Any) -> HttpResponse:
    """One page of all proposals, the oldest first."""
    reader = signed_in_user(request)
    if not any(reader.has_perm(permission) for permission in VIEW_PERMISSIONS):
        raise PermissionDenied
    facts = list(_filtered_proposals(request)[: PAGE_SIZE + 1])
    page, more = facts[:PAGE_SIZE], len(facts) > PAGE_SIZE
    recent = _recent_decisions(reader)
    log_accesses(reader, {fact.user_id for fact in page} | {action.user_id for action in recent}, LOG_ENTRY)
    context = {
        **site,
        "title": "Review queue",
        "groups": group_by_conversation(Row(item) for item in build_fact_views(page)),
        "recent": recent,
        "may_decide": reader.has_perm(CHANGE_PERMISSION),
        "kinds": Kind.choices,
        "asked": {name: request.GET.get(name, "") for name in ("user", "kind")},
        "next": page[-1].pk if more else None,
    }
    return TemplateResponse(request, "admin/memory/queue.html", context)


@require_POST
def staff_decide(request: HttpRequest) -> HttpResponse:
    """Decide on one (`one=accept:12`), on the selected (`verb=reject`), merge them, or undo (`undo=34`)."""
    reader = signed_in_user(request)
    if not reader.has_perm(CHANGE_PERMISSION):
        raise PermissionDenied
    try:
        sentence = _apply(request, reader)
    except decisions.RefusedError as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, sentence)
    query = request.POST.get("back", "")
    return redirect(f"{reverse('admin:memory_fact_queue')}{f'?{query}' if query else ''}")


def _apply(request: HttpRequest, by: User) -> str:
    """Apply the decision; the result as a sentence without user text.

    Raises:
        RefusedError: nothing was changed.
    """
    if "undo" in request.POST:
        return _undo(whole_number(request.POST["undo"]) or 0)
    if "one" in request.POST:
        verb, _, number = request.POST["one"].partition(":")
        return _decide(request, _get_fact(whole_number(number) or 0), verb, by)
    facts = list(Fact.objects.filter(pk__in=[*map(whole_number, request.POST.getlist("fact"))]).order_by("pk"))
    verb = request.POST.get("verb", "")
    if verb == ReviewAction.Verb.MERGE:
        return _merge(request, facts, by)
    if verb not in {ReviewAction.Verb.ACCEPT, ReviewAction.Verb.REJECT}:
        raise decisions.RefusedError("Choose a decision.")
    outcome = decide_batch(facts, ReviewAction.Verb(verb), by=by)
    return describe_batch(verb, len(outcome.actions), outcome.refusals)


def _decide(request: HttpRequest, fact: Fact, verb: str, by: User) -> str:
    if verb == ReviewAction.Verb.EDIT:
        form = StatementForm({"statement": request.POST.get(f"statement-{fact.pk}", "")})
        if not form.is_valid():
            raise decisions.RefusedError(str(form.errors["statement"][0]))
        decisions.edit(fact, form.cleaned_data["statement"], by=by)
    elif verb in DECISIONS:
        DECISIONS[verb](fact, by=by)
    else:
        raise decisions.RefusedError("Choose a decision.")
    return f"{DONE[ReviewAction.Verb(verb)]}: fact {fact.pk}."


def _merge(request: HttpRequest, facts: Sequence[Fact], by: User) -> str:
    if not facts:
        raise decisions.RefusedError("Nothing is selected.")
    action = merge(facts, facts[0], " ".join(storable(request.POST.get("merged", "")).split()), by=by)
    return f"{DONE[ReviewAction.Verb.MERGE]}: {len(facts)} into fact {action.fact_id}."


def _undo(number: int) -> str:
    action = ReviewAction.objects.select_related("fact").filter(pk=number).first()
    if action is None:
        raise decisions.RefusedError("That decision no longer exists.")
    facts, refusals = undo_batch(batch_of(action, of_everybody=True))
    if not facts:
        raise decisions.RefusedError(" ".join(refusals))
    return " ".join([f"Undone: {len(facts)}.", *describe_refusals(refusals)])


def _filtered_proposals(request: HttpRequest) -> Any:
    facts = with_evidence(Fact.objects.proposed()).select_related("message__conversation", "user").order_by("pk")
    user, kind, after = (storable(request.GET.get(name, "")) for name in ("user", "kind", "after"))
    if user:
        facts = facts.filter(user__email__iexact=user)
    if kind in Kind.values:
        facts = facts.filter(kind=kind)
    return facts.filter(pk__gt=whole_number(after) or 0) if after else facts


def _recent_decisions(reader: User) -> list[ReviewAction]:
    since = timezone.now() - UNDO_FOR
    decisions = ReviewAction.objects.filter(by=reader, undone_at=None, created_at__gte=since)
    return list(decisions.select_related("user").order_by("-pk")[:RECENT])


def _get_fact(number: int) -> Fact:
    fact: Fact | None = Fact.objects.filter(pk=number).first()
    if fact is None:
        raise decisions.RefusedError(decisions.GONE)
    return fact
