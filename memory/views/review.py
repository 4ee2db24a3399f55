"""Views of the review queue, the history of decisions and the access log.

They work without JavaScript: htmx gets the part of the page that changed, a plain form a redirect and a message.
"""

from collections.abc import Callable, Collection
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import truncatechars
from django.urls import reverse

from accounts.models import User
from accounts.staff import access_log
from memory.forms import FactsForm, MergeForm, RuleForm, StatementForm
from memory.librarian.decision import Rule
from memory.librarian.policies import NAMES, set_rules, subject_of, waiting_about
from memory.librarian.rules.own_words import as_stored
from memory.models import Fact, ReviewAction
from memory.pages.review import (
    DONE,
    LABELS,
    BatchNotice,
    Row,
    build_history_page,
    build_merge_form,
    build_queue,
    describe_batch,
    describe_refusals,
    load_fact_view,
    load_progress,
)
from memory.review import decisions
from memory.review.bulk_review import batch_of, decide_batch, undo_batch
from memory.review.evidence import FactView
from memory.review.merge import merge
from memory.text.second_person import second_person
from recall.text import whole_number
from recall.views import first_error, is_htmx, post_only, signed_in_form, signed_in_page, signed_in_user

ROWS: Final = {"review": "memory/review.html#row", "about": "memory/about.html#fact"}
"""The template that re-renders a fact after a decision, by page."""
PAGES: Final = {*ROWS, "history", "fact"}
"""Pages with decisions on facts, to redirect back to."""
LOG_PAGE_SIZE: Final = 100

DECISIONS: Final[dict[str, Callable[..., ReviewAction]]] = {
    ReviewAction.Verb.ACCEPT: decisions.accept,
    ReviewAction.Verb.REJECT: decisions.reject,
    ReviewAction.Verb.KEEP_BOTH: decisions.keep_both,
    ReviewAction.Verb.UNRELATED: decisions.not_a_contradiction,
}
"""Decisions that need no wording."""


@signed_in_page
def review_queue(request: HttpRequest) -> HttpResponse:
    """All proposals, by conversation. An empty page asks again while a conversation is being read."""
    queue = build_queue(signed_in_user(request))
    if is_htmx(request):
        return HttpResponse(status=204) if queue["is_reading"] else HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "memory/review.html", queue)


# One -------------------------------------------------------------------------------------------------------------


@post_only("memory:review")
def decide(request: HttpRequest, pk: int, verb: ReviewAction.Verb) -> HttpResponse:
    """Accept, edit and accept, keep both, or reject a proposal."""
    fact = get_object_or_404(Fact.objects.for_user(signed_in_user(request)), pk=pk)
    form = StatementForm(request.POST) if verb == ReviewAction.Verb.EDIT else None
    if form is not None and not form.is_valid():
        return _render_row(request, Row(_load_fact_view(fact), sentence=first_error(form), form=form), status=422)
    try:
        action = _apply_decision(fact, verb, signed_in_user(request), form)
    except decisions.RefusedError as refusal:
        return _render_row(request, Row(_load_fact_view(fact), sentence=str(refusal), form=form), status=409)
    sentence = " ".join([f"{DONE[verb]}: {_shorten(action.fact)}", *_back_in_use(action)])
    return _render_row(request, Row(_load_fact_view(fact), action, sentence))


def _back_in_use(action: ReviewAction) -> list[str]:
    """A sentence for each fact that is in use again after a rejection."""
    if action.verb != ReviewAction.Verb.REJECT:
        return []
    back = Fact.objects.for_user(action.user).filter(pk__in=map(int, action.before)).exclude(pk=action.fact_id)
    return [f"In use again: {_shorten(fact)}" for fact in back.only("statement", "user").order_by("pk")]


@post_only("memory:review")
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo a decision, or its whole batch."""
    action = get_object_or_404(ReviewAction.objects.for_user(signed_in_user(request)).select_related("fact"), pk=pk)
    if action.batch is not None or "whole" in request.POST:
        facts, refusals = undo_batch(batch_of(action))
        return _render_queue(request, BatchNotice(_undone_sentence(facts, refusals)), status=200 if facts else 409)
    try:
        fact = decisions.undo(action)
    except decisions.RefusedError as refusal:
        return _render_row(request, Row(_load_fact_view(action.fact), sentence=str(refusal)), status=409)
    sentence = f"Undone: {_shorten(fact)}"
    if _return_page(request) == "fact":
        return _redirect_back(request, sentence, 200, _restored_fact(action, fact))
    return _render_row(request, Row(_load_fact_view(fact), sentence=sentence))


def _shorten(fact: Fact) -> str:
    return truncatechars(second_person(fact.statement), 120)


def _restored_fact(action: ReviewAction, fact: Fact) -> int:
    """The fact to show after an undo; if that undid a new wording, the fact with the old one."""
    others = [int(pk) for pk in action.before if int(pk) != fact.pk]
    return others[0] if others and fact.status == Fact.Status.REJECTED else fact.pk


def _apply_decision(fact: Fact, verb: ReviewAction.Verb, by: User, form: StatementForm | None) -> ReviewAction:
    if form is not None:
        return decisions.edit(fact, form.stored_statement(fact), form.changed_value(fact), by=by)
    return DECISIONS[verb](fact, by=by)


def _undone_sentence(facts: list[Fact], refusals: list[str]) -> str:
    if len(facts) == 1 and not refusals:
        return f"Undone: {_shorten(facts[0])}"
    if len(refusals) == 1 and not facts:
        return refusals[0]
    return " ".join([f"Undone: {len(facts)}.", *describe_refusals(refusals)])


# Several ---------------------------------------------------------------------------------------------------------


@post_only("memory:review")
def decide_selected(request: HttpRequest) -> HttpResponse:
    """Accept or reject the selected facts, or show the merge form."""
    form = FactsForm(request.POST)
    if not form.is_valid():
        return _render_queue(request, BatchNotice(first_error(form)), status=422)
    chosen, verb = form.cleaned_data["fact"], form.cleaned_data["verb"]
    facts = _get_own_facts(request, chosen)
    if verb == ReviewAction.Verb.MERGE:
        return _render_merge_form(request, facts)
    try:
        outcome = decide_batch(facts, verb, by=signed_in_user(request))
    except decisions.RefusedError as refusal:
        return _render_queue(request, BatchNotice(str(refusal)), status=409)
    first = outcome.actions[0] if outcome.actions else None
    missing = [decisions.GONE] * (len(chosen) - len(facts))
    sentence = describe_batch(verb, len(outcome.actions), [*outcome.refusals, *missing])
    return _render_queue(request, BatchNotice(sentence, ReviewAction.objects.get(pk=first.pk) if first else None))


@signed_in_form
def merge_facts(request: HttpRequest) -> HttpResponse:
    """GET shows the merge form, POST merges."""
    if request.method != "POST":
        query = FactsForm({"fact": request.GET.getlist("fact"), "verb": ReviewAction.Verb.MERGE})
        return _render_merge_form(
            request, _get_own_facts(request, query.cleaned_data["fact"] if query.is_valid() else [0])
        )
    form = MergeForm(request.POST)
    if not form.is_valid():
        return _render_merge_refusal(request, [], first_error(form), status=422)
    chosen = {*form.cleaned_data["fact"], form.cleaned_data["into"] or form.cleaned_data["fact"][0]}
    facts = _get_own_facts(request, chosen)
    if len(facts) < len(chosen):
        return _render_merge_refusal(request, facts, decisions.GONE, status=409)
    into = next((fact for fact in facts if fact.pk == form.cleaned_data["into"]), facts[0])
    try:
        action = merge(facts, into, as_stored(form.cleaned_data["statement"]), by=signed_in_user(request))
    except decisions.RefusedError as refusal:
        return _render_merge_refusal(request, facts, str(refusal), status=409)
    sentence = f"{DONE[ReviewAction.Verb.MERGE]}: {_shorten(action.fact)}"
    return _render_queue(request, BatchNotice(sentence, action))


def _render_merge_form(request: HttpRequest, facts: list[Fact], status: int = 200, **typed: Any) -> HttpResponse:
    if not is_htmx(request) and request.method == "POST" and not typed:
        chosen = urlencode([("fact", fact.pk) for fact in facts])
        return redirect(f"{reverse('memory:merge')}?{chosen}")
    template = "memory/merge.html#form" if is_htmx(request) else "memory/merge.html"
    response = render(request, template, build_merge_form(facts, **typed), status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#merge-panel", "innerHTML"
    return response


def _render_merge_refusal(request: HttpRequest, facts: list[Fact], sentence: str, status: int) -> HttpResponse:
    """The merge form again, with the typed values."""
    chosen = [pk for pk in map(whole_number, request.POST.getlist("fact")) if pk is not None]
    into = whole_number(request.POST.get("into", ""))
    typed = {"statement": request.POST.get("statement", ""), "into": into or 0}
    return _render_merge_form(request, facts or _get_own_facts(request, chosen), status, sentence=sentence, **typed)


def _get_own_facts(request: HttpRequest, chosen: Collection[int]) -> list[Fact]:
    """The user's own facts among the chosen ones.

    Raises:
        Http404: there are none.
    """
    facts = list(Fact.objects.for_user(signed_in_user(request)).filter(pk__in=chosen).order_by("pk"))
    if not facts:
        raise Http404
    return facts


# Rules -----------------------------------------------------------------------------------------------------------


@post_only("memory:review")
def rule_for(request: HttpRequest, pk: int) -> HttpResponse:
    """Set “always” or “never” for proposals like this one, and offer the same decision on the pending ones."""
    fact = get_object_or_404(Fact.objects.for_user(signed_in_user(request)), pk=pk)
    form = RuleForm(request.POST)
    if not form.is_valid():
        return _render_queue(request, BatchNotice(first_error(form)), status=422)
    subject, rule = subject_of(fact), Rule(form.cleaned_data["rule"])
    if fact.status != Fact.Status.PROPOSED:
        return _render_queue(
            request, BatchNotice("This proposal has already been decided. No rule was changed."), status=409
        )
    set_rules(signed_in_user(request), {subject: rule})
    waiting = list(waiting_about(signed_in_user(request), subject).order_by("pk").values_list("pk", flat=True)[:200])
    sentence = f"New rule for {NAMES[subject].lower()}: {LABELS[rule].lower()}."
    offered = {Rule.NEVER: ReviewAction.Verb.REJECT, Rule.AUTOMATIC: ReviewAction.Verb.ACCEPT}.get(rule)
    return _render_queue(request, BatchNotice(sentence, offer=waiting if offered else [], offered=offered or ""))


# Decisions and the access log ------------------------------------------------------------------------------------


@signed_in_page
def decision_list(request: HttpRequest) -> HttpResponse:
    """Decisions that can be undone."""
    return render(request, "memory/history.html", build_history_page(signed_in_user(request), request.GET.get("page")))


@signed_in_page
def access_log_page(request: HttpRequest) -> HttpResponse:
    """Which admins viewed the user's memory."""
    entries = Paginator(access_log.latest(signed_in_user(request)), LOG_PAGE_SIZE).get_page(request.GET.get("page"))
    entries.object_list = access_log.load_readers(entries.object_list)
    return render(request, "memory/access_log.html", {"looks": entries})


# Responses -------------------------------------------------------------------------------------------------------


def _render_row(request: HttpRequest, row: Row, status: int = 200) -> HttpResponse:
    """The fact again: alone for htmx, otherwise on its page."""
    page = _return_page(request)
    if is_htmx(request) and page in ROWS:
        so_far = load_progress(signed_in_user(request))
        context = {"row": row, "page": page, "is_answer": True, "waiting_count": so_far.waiting, "progress": so_far}
        return render(request, ROWS[page], context, status=status)
    if row.form is not None:
        return render(request, "memory/review.html", build_queue(signed_in_user(request), row), status=status)
    return _redirect_back(request, row.sentence, status, row.shown.fact.pk)


def _render_queue(request: HttpRequest, notice: BatchNotice, status: int = 200) -> HttpResponse:
    """The queue again, with a notice above it."""
    if is_htmx(request):
        context = {**build_queue(signed_in_user(request), notice=notice), "is_answer": True}
        return render(request, "memory/review.html#queue", context, status=status)
    if notice.offer:
        return render(request, "memory/review.html", build_queue(signed_in_user(request), notice=notice), status=status)
    return _redirect_back(request, notice.sentence, status)


def _redirect_back(request: HttpRequest, sentence: str, status: int, fact: int = 0) -> HttpResponse:
    messages.add_message(request, messages.SUCCESS if status == 200 else messages.WARNING, sentence)
    page = _return_page(request)
    if page == "fact":
        return redirect("memory:fact", fact) if fact else redirect("memory:history")
    return redirect(f"{reverse(f'memory:{page}')}{f'#fact-{fact}' if fact and page in ROWS else ''}")


def _return_page(request: HttpRequest) -> str:
    page = request.POST.get("page", "")
    return page if page in PAGES else "review"


def _load_fact_view(fact: Fact) -> FactView:
    try:
        return load_fact_view(fact)
    except Fact.DoesNotExist:
        raise Http404 from None
