"""The review queue of all people, in the admin: what waits, whose it is, and the same decisions as on the review page.

Looking takes the right to view facts, deciding the right to change them. Each look is a line in the access log of
everybody whose proposals the page shows, written before it is rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from accounts.staff.access_log import note_all
from memory.facts import review
from memory.facts.bulk_review import batch_of, decide_batch, undo_batch
from memory.facts.evidence import build_fact_views
from memory.facts.merge import merge
from memory.facts.undo import UNDO_FOR
from memory.forms import StatementForm
from memory.models import Fact, ReviewAction
from memory.models.kinds import Kind
from memory.pages.review import DONE, Row, by_conversation, left_out, told_of, with_evidence

A_PAGE: Final = 50
"""Proposals on one page. The next page begins after the last one's number: no page needs a count of all."""
RECENT: Final = 10
"""Of their own latest decisions that staff are offered to undo."""
LISTED: Final = "proposals to review"
"""What the access log says was looked at."""

ONE: Final[dict[str, Callable[..., ReviewAction]]] = {
    ReviewAction.Verb.ACCEPT: review.accept,
    ReviewAction.Verb.REJECT: review.reject,
    ReviewAction.Verb.KEEP_BOTH: review.keep_both,
    ReviewAction.Verb.UNRELATED: review.not_a_contradiction,
}
MAY_LOOK: Final = ("memory.view_fact", "memory.change_fact")
MAY_DECIDE: Final = "memory.change_fact"


@require_safe
def staff_queue(request: HttpRequest, **site: Any) -> HttpResponse:
    """One page of all that waits, the longest waiting first."""
    reader = _reader(request)
    if not any(reader.has_perm(right) for right in MAY_LOOK):
        raise PermissionDenied
    facts = list(_asked(request)[: A_PAGE + 1])
    page, more = facts[:A_PAGE], len(facts) > A_PAGE
    recent = _recent(reader)
    note_all(reader, {fact.user_id for fact in page} | {action.user_id for action in recent}, LISTED)
    context = {
        **site,
        "title": "Review queue",
        "groups": by_conversation(Row(item) for item in build_fact_views(page)),
        "recent": recent,
        "may_decide": reader.has_perm(MAY_DECIDE),
        "kinds": Kind.choices,
        "asked": {name: request.GET.get(name, "") for name in ("user", "kind")},
        "next": page[-1].pk if more else None,
    }
    return TemplateResponse(request, "admin/memory/queue.html", context)


@require_POST
def staff_decide(request: HttpRequest) -> HttpResponse:
    """Decide on one (`one=accept:12`), on the selected (`verb=reject`), merge them, or undo (`undo=34`)."""
    reader = _reader(request)
    if not reader.has_perm(MAY_DECIDE):
        raise PermissionDenied
    try:
        sentence = _done(request, reader)
    except review.RefusedError as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, sentence)
    asked = request.POST.get("back", "")
    return redirect(f"{reverse('admin:memory_fact_queue')}{f'?{asked}' if asked else ''}")


def _done(request: HttpRequest, by: User) -> str:
    """What was done, as a sentence without anybody's text.

    Raises:
        RefusedError: nothing was.
    """
    if "undo" in request.POST:
        return _undo(_number(request.POST["undo"]))
    if "one" in request.POST:
        verb, _, number = request.POST["one"].partition(":")
        return _one(request, _fact(_number(number)), verb, by)
    facts = list(Fact.objects.filter(pk__in=map(_number, request.POST.getlist("fact"))).order_by("pk"))
    verb = request.POST.get("verb", "")
    if verb == ReviewAction.Verb.MERGE:
        return _merge(request, facts, by)
    if verb not in {ReviewAction.Verb.ACCEPT, ReviewAction.Verb.REJECT}:
        raise review.RefusedError("Choose a decision.")
    outcome = decide_batch(facts, ReviewAction.Verb(verb), by=by)
    return told_of(verb, len(outcome.actions), outcome.refusals)


def _one(request: HttpRequest, fact: Fact, verb: str, by: User) -> str:
    if verb == ReviewAction.Verb.EDIT:
        form = StatementForm({"statement": request.POST.get(f"statement-{fact.pk}", "")})
        if not form.is_valid():
            raise review.RefusedError(str(form.errors["statement"][0]))
        review.edit(fact, form.cleaned_data["statement"], by=by)
    elif verb in ONE:
        ONE[verb](fact, by=by)
    else:
        raise review.RefusedError("Choose a decision.")
    return f"{DONE[ReviewAction.Verb(verb)]}: fact {fact.pk}."


def _merge(request: HttpRequest, facts: Sequence[Fact], by: User) -> str:
    if not facts:
        raise review.RefusedError("Nothing is selected.")
    action = merge(facts, facts[0], " ".join(request.POST.get("merged", "").split()), by=by)
    return f"{DONE[ReviewAction.Verb.MERGE]}: {len(facts)} into fact {action.fact_id}."


def _undo(number: int) -> str:
    action = ReviewAction.objects.select_related("fact").filter(pk=number).first()
    if action is None:
        raise review.RefusedError("That decision no longer exists.")
    facts, refusals = undo_batch(batch_of(action, of_everybody=True))
    if not facts:
        raise review.RefusedError(" ".join(refusals))
    return " ".join([f"Undone: {len(facts)}.", *left_out(refusals)])


def _asked(request: HttpRequest) -> Any:
    """The proposals that the filters leave."""
    facts = with_evidence(Fact.objects.proposed()).select_related("message__conversation", "user").order_by("pk")
    user, kind, after = (request.GET.get(name, "") for name in ("user", "kind", "after"))
    if user:
        facts = facts.filter(user__email__iexact=user)
    if kind in Kind.values:
        facts = facts.filter(kind=kind)
    return facts.filter(pk__gt=_number(after)) if after else facts


def _recent(reader: User) -> list[ReviewAction]:
    since = timezone.now() - UNDO_FOR
    mine = ReviewAction.objects.filter(by=reader, undone_at=None, created_at__gte=since)
    return list(mine.select_related("user").order_by("-pk")[:RECENT])


def _fact(number: int) -> Fact:
    fact: Fact | None = Fact.objects.filter(pk=number).first()
    if fact is None:
        raise review.RefusedError(review.GONE)
    return fact


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 19 else 0


def _reader(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
