"""Time travel: the profile of a past day, and what was added or removed since.

It has two times: when something was *true*, and when Recall *knew* it. A day counts to its end in the user's time
zone, today to the current moment.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import Final

from django import forms
from django.db.models import Max, Min

from accounts.models import User
from memory.documents.profile import FOLDER
from memory.documents.revisions import Change, changes
from memory.forms import DayField
from memory.models import Document, Fact, Revision
from memory.models.facts import FactQuerySet
from memory.models.kinds import Kind
from memory.pages.about import FACT_ORDER
from memory.ports import source
from memory.text.second_person import document_to_user, second_person

MAX_FACTS: Final = 300
"""Facts shown; a day with more says so."""


class DaysForm(forms.Form):
    """The two days; an empty one equals the other, or today if both are empty."""

    at = DayField("Learned by", "Only what Recall had learned by the end of this day.", is_end=True)
    true = DayField("True on", "Only what was true on this day, as far as Recall knows.", is_end=True)


@dataclass(frozen=True, slots=True)
class Slider:
    """One of the two day inputs."""

    field: forms.BoundField
    first: date
    last: date
    day: date

    @property
    def length(self) -> int:
        """Days from the first to the last."""
        return (self.last - self.first).days

    @property
    def place(self) -> int:
        """Days from the first to the chosen one."""
        return (self.day - self.first).days


@dataclass(frozen=True, slots=True)
class PastFact:
    """A fact as of that day, or one added later."""

    fact: Fact
    since: str
    """Why it was removed, or when it was added; empty: unchanged."""
    link: str
    """URL of its source message; empty: none."""


@dataclass(frozen=True, slots=True)
class PastDocument:
    """A profile document at the end of that day."""

    document: Document
    number: int
    """Version number."""
    text: str
    diff: Sequence[Change]
    """Changes since then; empty: none."""


@dataclass(frozen=True, slots=True)
class PastProfile:
    """The profile of a past day."""

    known: Slider
    true: Slider
    errors: list[str]
    is_past: bool
    groups: list[tuple[str, list[PastFact]]]
    """Known facts by kind."""
    shown: int
    """Number of facts shown."""
    more: bool
    """There are others beyond MAX_FACTS."""
    gone: int
    """Number of facts removed since."""
    came: list[PastFact]
    """Facts added since."""
    documents: list[PastDocument]


def build_sliders(user: User, now: datetime) -> tuple[Slider, Slider]:
    """The two day inputs before a day is chosen. Two queries."""
    return _sliders(user, DaysForm({}), now)


def build_past_profile(user: User, fields: dict[str, str], now: datetime) -> PastProfile:
    """What Recall knew at the end of one day to be true on another. `fields`: those of `DaysForm`.

    Eight statements at most.
    """
    form = DaysForm(fields)
    known, true = _sliders(user, form, now)
    moment, world = _end_of(known.day, user, now), _end_of(true.day, user, now)
    facts_of_user = Fact.objects.for_user(user)
    facts = list(_in_page_order(facts_of_user.known_at(moment, true_at=world))[: MAX_FACTS + 1])
    known_now = set(facts_of_user.known_at(now).values_list("pk", flat=True))
    later = facts_of_user.known_at(now).exclude(pk__in=facts_of_user.known_at(moment, true_at=world).values("pk"))
    added = list(_in_page_order(later).order_by("-recorded_at", "-pk")[:MAX_FACTS])
    shown, links = facts[:MAX_FACTS], source.message_urls(fact.message_id for fact in [*facts, *added])
    reasons = {fact.pk: "" if fact.pk in known_now else _why_gone(fact, user) for fact in shown}
    past_facts = [_build_past_fact(fact, reasons[fact.pk], links) for fact in shown]
    return PastProfile(
        known=known,
        true=true,
        errors=[str(error) for errors in form.errors.values() for error in errors],
        is_past=(known.day, true.day) != (known.last, true.last),
        groups=[(Kind(kind).label, list(group)) for kind, group in groupby(past_facts, lambda past: past.fact.kind)],
        shown=len(shown),
        more=len(facts) > len(shown),
        gone=sum(bool(past.since) for past in past_facts),
        came=[_build_past_fact(fact, _why_new(fact, user, moment), links) for fact in added],
        documents=list(_load_documents(user, moment)),
    )


def _in_page_order(facts: FactQuerySet) -> FactQuerySet:
    return facts.select_related("superseded_by").defer("vector", "search").order_by(*FACT_ORDER)


# The days ----------------------------------------------------------------------------------------------------------


def _sliders(user: User, form: DaysForm, now: datetime) -> tuple[Slider, Slider]:
    """The form's days, each within its range; what can't be read is shown again as it was typed."""
    days = form.cleaned_data if form.is_valid() else {}
    today = now.astimezone(user.zone).date()
    learned, began = _first_days(user, today)
    at, true = days.get("at"), days.get("true")
    known_on = _clamp(learned, at or true or today, today)
    true_on = _clamp(began, true or at or today, today)
    shown = form if form.errors else DaysForm(initial={"at": known_on, "true": true_on})
    return Slider(shown["at"], learned, today, known_on), Slider(shown["true"], began, today, true_on)


def _first_days(user: User, today: date) -> tuple[date, date]:
    """The first days with something learned and something true."""
    facts = Fact.objects.for_user(user).aggregate(learned=Min("recorded_at"), began=Min("valid_from"))
    written = Revision.objects.filter(user=user).aggregate(first=Min("created_at"))["first"]
    learned = [moment.astimezone(user.zone).date() for moment in (facts["learned"], written) if moment]
    first = min([*learned, today])
    began = facts["began"].astimezone(user.zone).date() if facts["began"] else first
    return first, min(first, began)


def _clamp(first: date, day: date, last: date) -> date:
    return max(first, min(day, last))


def _end_of(day: date, user: User, now: datetime) -> datetime:
    """The last moment of that day in the user's time zone; today: now."""
    next_day = datetime.combine(day + timedelta(days=1), time.min, user.zone)
    return min(next_day - timedelta(microseconds=1), now)


# Changes since then ------------------------------------------------------------------------------------------------


def _build_past_fact(fact: Fact, since: str, links: dict[int, str]) -> PastFact:
    return PastFact(fact, since, links.get(fact.message_id or 0, ""))


def _why_gone(fact: Fact, user: User) -> str:
    """Why a fact is no longer known."""
    if fact.superseded_at is not None:
        instead = f": {second_person(fact.superseded_by.statement).rstrip('.')}" if fact.superseded_by else ""
        return f"Replaced on {_format_day(fact.superseded_at, user)}{instead}"
    if fact.withdrawn_at is not None:
        return f"Rejected on {_format_day(fact.withdrawn_at, user)}"
    if fact.valid_until is not None:
        return f"No longer true since {_format_day(fact.valid_until, user)}"
    return "No longer known"


def _why_new(fact: Fact, user: User, moment: datetime) -> str:
    """When a fact that was unknown then was learned."""
    learned = fact.accepted_at or fact.recorded_at
    if learned > moment:
        return f"Learned on {_format_day(learned, user)}"
    if fact.valid_from is not None:
        return f"True since {_format_day(fact.valid_from, user)}"
    return "Known again"


def _format_day(moment: datetime, user: User) -> str:
    local = moment.astimezone(user.zone)
    return f"{local.day} {local:%B %Y}"


def _load_documents(user: User, moment: datetime) -> Iterator[PastDocument]:
    """The profile documents that existed then. Two queries."""
    documents = Document.objects.for_user(user).under(FOLDER).order_by("path")
    by_id = {document.pk: document for document in documents}
    latest = Revision.objects.filter(document__in=by_id, created_at__lte=moment)
    numbers = dict(latest.order_by().values_list("document").annotate(Max("number")))
    revisions = {row.document_id: row for row in latest if numbers.get(row.document_id) == row.number}
    for pk, document in by_id.items():
        if pk in revisions and revisions[pk].text:
            now, before = document_to_user(document.text), document_to_user(revisions[pk].text)
            yield PastDocument(document, revisions[pk].number, before, changes(before, now) if now != before else ())
