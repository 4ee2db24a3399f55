"""The pages on which a person decides what is remembered: review, decisions, policies, and who looked at it.

They work without JavaScript: each deed answers htmx with the part of the page that changed, and a plain form with a
redirect and a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from accounts.staff import access_log
from memory.facts import review
from memory.facts.bulk_review import batch_of, decide_batch, undo_batch
from memory.facts.evidence import FactView
from memory.facts.merge import merge
from memory.forms import FactsForm, MergeForm, PoliciesForm, RuleForm, StatementForm
from memory.librarian.decision import Rule
from memory.librarian.policies import NAMES, set_rules, subject_of, waiting_about
from memory.models import Fact, ReviewAction
from memory.pages.decisions import decisions
from memory.pages.policies import LABELS, policies
from memory.pages.review import DONE, BatchNotice, Row, as_it_stands, left_out, merge_form, progress, queue, told_of
from recall.views import post_only

ROWS: Final = {"review": "memory/review.html#row", "profile": "memory/profile.html#fact"}
"""How each page that shows a fact renders it again after a decision."""
PAGES: Final = {*ROWS, "decisions", "fact"}
"""Pages that decide on facts: each is gone back to. That of one fact is the fact's own."""
LOOKS_A_PAGE: Final = 100

TAKE: Final[dict[str, Callable[..., ReviewAction]]] = {
    ReviewAction.Verb.ACCEPT: review.accept,
    ReviewAction.Verb.REJECT: review.reject,
    ReviewAction.Verb.KEEP_BOTH: review.keep_both,
    ReviewAction.Verb.UNRELATED: review.not_a_contradiction,
}
"""The decisions that need no words of the user's."""


@require_safe
@login_required
@never_cache
def review_queue(request: HttpRequest) -> HttpResponse:
    """All proposals that wait, by conversation."""
    return render(request, "memory/review.html", queue(_user(request)))


# One -------------------------------------------------------------------------------------------------------------


@post_only("memory:review")
@login_required
def decide(request: HttpRequest, pk: int, verb: ReviewAction.Verb) -> HttpResponse:
    """Accept, edit and accept, keep beside the other, or reject."""
    fact = get_object_or_404(Fact.objects.for_user(_user(request)), pk=pk)
    form = StatementForm(request.POST) if verb == ReviewAction.Verb.EDIT else None
    if form is not None and not form.is_valid():
        return _row(request, Row(_shown(fact), sentence=_first_error(form), form=form), status=422)
    try:
        action = _take(fact, verb, _user(request), form)
    except review.RefusedError as refusal:
        return _row(request, Row(_shown(fact), sentence=str(refusal), form=form), status=409)
    return _row(request, Row(_shown(fact), action, f"{DONE[verb]}: {truncatechars(action.fact.statement, 120)}"))


@post_only("memory:review")
@login_required
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Put back what a decision changed, or all that the same click changed."""
    action = get_object_or_404(ReviewAction.objects.for_user(_user(request)).select_related("fact"), pk=pk)
    if action.batch is not None or "whole" in request.POST:
        facts, refusals = undo_batch(batch_of(action))
        return _whole(request, BatchNotice(_undone(facts, refusals)), status=200 if facts else 409)
    try:
        fact = review.undo(action)
    except review.RefusedError as refusal:
        return _row(request, Row(_shown(action.fact), sentence=str(refusal)), status=409)
    sentence = f"Undone: {truncatechars(fact.statement, 120)}"
    if _page(request) == "fact":
        return _back(request, sentence, 200, _that_holds_again(action, fact))
    return _row(request, Row(_shown(fact), sentence=sentence))


def _that_holds_again(action: ReviewAction, fact: Fact) -> int:
    """The fact to be shown when a decision was undone: where a wording was taken back, the one before it."""
    others = [int(pk) for pk in action.before if int(pk) != fact.pk]
    return others[0] if others and fact.status == Fact.Status.REJECTED else fact.pk


def _take(fact: Fact, verb: ReviewAction.Verb, by: User, form: StatementForm | None) -> ReviewAction:
    if form is not None:
        value = form.cleaned_data["value"] if fact.key else None
        return review.edit(fact, form.cleaned_data["statement"], value, by=by)
    return TAKE[verb](fact, by=by)


def _undone(facts: list[Fact], refusals: list[str]) -> str:
    if len(facts) == 1 and not refusals:
        return f"Undone: {truncatechars(facts[0].statement, 120)}"
    if len(refusals) == 1 and not facts:
        return refusals[0]
    return " ".join([f"Undone: {len(facts)}.", *left_out(refusals)])


# Several ---------------------------------------------------------------------------------------------------------


@post_only("memory:review")
@login_required
def together(request: HttpRequest) -> HttpResponse:
    """Accept or reject what was selected, or go on to merging it."""
    form = FactsForm(request.POST)
    if not form.is_valid():
        return _whole(request, BatchNotice(_first_error(form)), status=422)
    chosen, verb = form.cleaned_data["fact"], form.cleaned_data["verb"]
    facts = _facts(request, chosen)
    if verb == ReviewAction.Verb.MERGE:
        return _merge_form(request, facts)
    try:
        outcome = decide_batch(facts, verb, by=_user(request))
    except review.RefusedError as refusal:
        return _whole(request, BatchNotice(str(refusal)), status=409)
    first = outcome.actions[0] if outcome.actions else None
    gone = [review.GONE] * (len(chosen) - len(facts))
    sentence = told_of(verb, len(outcome.actions), [*outcome.refusals, *gone])
    return _whole(request, BatchNotice(sentence, ReviewAction.objects.get(pk=first.pk) if first else None))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def merging(request: HttpRequest) -> HttpResponse:
    """Choose or type the wording of several (GET), and make one of them (POST)."""
    if request.method != "POST":
        asked = FactsForm({"fact": request.GET.getlist("fact"), "verb": ReviewAction.Verb.MERGE})
        return _merge_form(request, _facts(request, asked.cleaned_data["fact"] if asked.is_valid() else [0]))
    form = MergeForm(request.POST)
    if not form.is_valid():
        return _not_merged(request, [], _first_error(form), status=422)
    chosen = {*form.cleaned_data["fact"], form.cleaned_data["into"] or form.cleaned_data["fact"][0]}
    facts = _facts(request, chosen)
    if len(facts) < len(chosen):
        return _not_merged(request, facts, review.GONE, status=409)
    into = next((fact for fact in facts if fact.pk == form.cleaned_data["into"]), facts[0])
    try:
        action = merge(facts, into, form.cleaned_data["statement"], by=_user(request))
    except review.RefusedError as refusal:
        return _not_merged(request, facts, str(refusal), status=409)
    sentence = f"{DONE[ReviewAction.Verb.MERGE]}: {truncatechars(action.fact.statement, 120)}"
    return _whole(request, BatchNotice(sentence, action))


def _merge_form(request: HttpRequest, facts: list[Fact], status: int = 200, **typed: Any) -> HttpResponse:
    if not _is_htmx(request) and request.method == "POST" and not typed:
        chosen = urlencode([("fact", fact.pk) for fact in facts])
        return redirect(f"{reverse('memory:merge')}?{chosen}")
    template = "memory/merge.html#form" if _is_htmx(request) else "memory/merge.html"
    response = render(request, template, merge_form(facts, **typed), status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#merge-panel", "innerHTML"
    return response


def _not_merged(request: HttpRequest, facts: list[Fact], sentence: str, status: int) -> HttpResponse:
    """The form again, with what was typed."""
    chosen = [int(pk) for pk in request.POST.getlist("fact") if pk.isdecimal() and len(pk) < 19]
    into = request.POST.get("into", "")
    typed = {"statement": request.POST.get("statement", ""), "into": int(into) if into.isdecimal() else 0}
    return _merge_form(request, facts or _facts(request, chosen), status, sentence=sentence, **typed)


def _facts(request: HttpRequest, chosen: Collection[int]) -> list[Fact]:
    """Those of the chosen facts that are there, all of them the user's own.

    Raises:
        Http404: none of them is.
    """
    facts = list(Fact.objects.for_user(_user(request)).filter(pk__in=chosen).order_by("pk"))
    if not facts:
        raise Http404
    return facts


# Rules -----------------------------------------------------------------------------------------------------------


@post_only("memory:review")
@login_required
def rule_for(request: HttpRequest, pk: int) -> HttpResponse:
    """Always or never for proposals like this one; those that wait are offered to be decided alike."""
    fact = get_object_or_404(Fact.objects.for_user(_user(request)), pk=pk)
    form = RuleForm(request.POST)
    if not form.is_valid():
        return _whole(request, BatchNotice(_first_error(form)), status=422)
    subject, rule = subject_of(fact), Rule(form.cleaned_data["rule"])
    if fact.status != Fact.Status.PROPOSED:
        return _whole(request, BatchNotice("This proposal has already been decided. No rule was changed."), status=409)
    set_rules(_user(request), {subject: rule})
    waiting = list(waiting_about(_user(request), subject).order_by("pk").values_list("pk", flat=True)[:200])
    sentence = f"New rule for {NAMES[subject].lower()}: {LABELS[rule].lower()}."
    offered = {Rule.NEVER: ReviewAction.Verb.REJECT, Rule.AUTOMATIC: ReviewAction.Verb.ACCEPT}.get(rule)
    return _whole(request, BatchNotice(sentence, offer=waiting if offered else [], offered=offered or ""))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def policy_page(request: HttpRequest) -> HttpResponse:
    """What may be remembered unasked, by kind, beside how often that was right."""
    if request.method != "POST":
        return render(request, "memory/policies.html", policies(_user(request)))
    form = PoliciesForm(request.POST)
    if not form.is_valid():
        more = {"sentence": f"Nothing was saved. {_first_error(form)}"}
        return render(request, "memory/policies.html", {**policies(_user(request)), **more}, status=422)
    set_rules(_user(request), form.rules())
    messages.success(request, "Rules saved. They apply to new memories.")
    return redirect("memory:policies")


# What was decided, and who looked --------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def decision_list(request: HttpRequest) -> HttpResponse:
    """What can be taken back."""
    return render(request, "memory/decisions.html", decisions(_user(request), request.GET.get("page")))


@require_safe
@login_required
@never_cache
def looks(request: HttpRequest) -> HttpResponse:
    """Who of the staff looked at this person's memory."""
    found = Paginator(access_log.latest(_user(request)), LOOKS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "memory/looks.html", {"looks": found, "page": "review"})


# Answers ---------------------------------------------------------------------------------------------------------


def _row(request: HttpRequest, row: Row, status: int = 200) -> HttpResponse:
    """The fact again: alone for htmx, else on its whole page."""
    page = _page(request)
    if _is_htmx(request) and page in ROWS:
        so_far = progress(_user(request))
        context = {"row": row, "page": page, "is_answer": True, "waiting_count": so_far.waiting, "progress": so_far}
        return render(request, ROWS[page], context, status=status)
    if row.form is not None:
        return render(request, "memory/review.html", queue(_user(request), row), status=status)
    return _back(request, row.sentence, status, row.shown.fact.pk)


def _whole(request: HttpRequest, told: BatchNotice, status: int = 200) -> HttpResponse:
    """The queue again, with what happened above it."""
    if _is_htmx(request):
        context = {**queue(_user(request), told=told), "is_answer": True}
        return render(request, "memory/review.html#queue", context, status=status)
    if told.offer:
        return render(request, "memory/review.html", queue(_user(request), told=told), status=status)
    return _back(request, told.sentence, status)


def _back(request: HttpRequest, sentence: str, status: int, fact: int = 0) -> HttpResponse:
    messages.add_message(request, messages.SUCCESS if status == 200 else messages.WARNING, sentence)
    page = _page(request)
    if page == "fact":
        return redirect("memory:fact", fact) if fact else redirect("memory:decisions")
    return redirect(f"{reverse(f'memory:{page}')}{f'#fact-{fact}' if fact and page in ROWS else ''}")


def _page(request: HttpRequest) -> str:
    asked = request.POST.get("page", "")
    return asked if asked in PAGES else "review"


def _shown(fact: Fact) -> FactView:
    try:
        return as_it_stands(fact)
    except Fact.DoesNotExist:
        raise Http404 from None


def _first_error(form: Any) -> str:
    return str(next(iter(form.errors.values()))[0])


def _is_htmx(request: HttpRequest) -> bool:
    return bool(request.htmx)  # type: ignore[attr-defined]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
