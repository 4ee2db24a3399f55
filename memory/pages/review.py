"""Page data of the review queue, the decisions page and the memory rules page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.utils import timezone
from pgvector.django import CosineDistance

from accounts.models import User
from memory.facts.contradiction import CHOICES, Choice
from memory.facts.evidence import FactView, build_fact_views
from memory.facts.undo import UNDO_FOR, can_be_undone
from memory.forms import StatementForm
from memory.librarian.decision import Rule
from memory.librarian.policies import MEANS, NAMES, SUCH_AS, default_rule, rules_of, subject_of
from memory.librarian.precision import precision_of
from memory.models import Fact, KindPolicy, ReviewAction

QUEUE_LENGTH: Final = 50
"""Proposals on one page; the next ones move up when the page is loaded again."""
MAX_RECENT: Final = 5
"""Latest decisions that the review page offers to undo; the others stand on the page of decisions."""
MAX_SIMILAR: Final = 3
"""Known facts that a merge offers to take along."""
MAX_SIMILAR_DISTANCE: Final = 0.45
"""Cosine distance up to which a known fact is close enough to be offered: generous, since the person chooses."""

DONE: Final = {
    ReviewAction.Verb.ACCEPT: "Accepted",
    ReviewAction.Verb.EDIT: "Saved and accepted",
    ReviewAction.Verb.REJECT: "Rejected",
    ReviewAction.Verb.KEEP_BOTH: "Both kept",
    ReviewAction.Verb.UNRELATED: "Kept, no contradiction",
    ReviewAction.Verb.MERGE: "Merged",
}
"""What a page says once a decision is committed, and not before."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fact as a page shows it, with what was just done to it."""

    shown: FactView
    action: ReviewAction | None = None
    """The decision just taken, which may be undone."""
    sentence: str = ""
    """What happened, or why nothing did."""
    form: StatementForm | None = None
    """The user's own wording where it could not be taken."""

    @property
    def subject(self) -> str:
        """What a rule for proposals like this one would be about, in words."""
        return NAMES[subject_of(self.shown.fact)].lower()

    @property
    def choices(self) -> Sequence[Choice]:
        """What may be said of the contradiction, if there is one."""
        return CHOICES if self.shown.older is not None else ()


@dataclass(frozen=True, slots=True)
class Group:
    """The proposals of one conversation."""

    conversation: Any
    """None: they come from no conversation."""
    rows: list[Row]

    @property
    def waiting(self) -> list[int]:
        """Facts that are still open to a decision on all."""
        return [row.shown.fact.pk for row in self.rows if row.shown.fact.status == Fact.Status.PROPOSED]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the person has come."""

    waiting: int
    decided: int
    """Today, where the person is, in decisions that stand."""
    kept: Sequence[Fact] = ()
    """What they chose to remember of it, once nothing waits any more."""

    @property
    def rejected(self) -> int:
        """Of those decided; known once nothing waits any more."""
        return self.decided - len(self.kept)

    @property
    def total(self) -> int:
        """All there was to decide today, as far as one knows."""
        return self.waiting + self.decided


@dataclass(frozen=True, slots=True)
class BatchNotice:
    """What the page says above the queue after something was done to several."""

    sentence: str
    action: ReviewAction | None = None
    """Undoing it undoes all of it."""
    offer: Sequence[int] = field(default_factory=list)
    """Proposals that a new rule is about, and that could be decided like it in one go."""
    offered: str = ""
    """`accept` or `reject`: how."""


def build_queue(user: User, changed: Row | None = None, told: BatchNotice | None = None) -> dict[str, Any]:
    """What the review page shows; `changed` stands in its place instead of the plain row, `told` above them all."""
    proposals = with_evidence(Fact.objects.for_user(user).proposed())
    in_order = proposals.order_by(
        F("message__conversation__last_activity_at").desc(nulls_last=True),
        "message__conversation_id",
        "message__seq",
        "id",
    )
    rows = [Row(item) for item in build_fact_views(list(in_order[:QUEUE_LENGTH]))]
    if changed is not None:
        rows = [changed if row.shown.fact.pk == changed.shown.fact.pk else row for row in rows]
    so_far = load_progress(user)
    return {
        "groups": group_by_conversation(rows),
        "kinds": group_by_kind(rows),
        "shown_count": len(rows),
        "waiting_count": so_far.waiting,
        "progress": so_far,
        "recent": can_be_undone(user)[:MAX_RECENT],
        "told": told,
        "page": "review",
    }


def load_progress(user: User) -> Progress:
    """What waits, and what was decided today. Two statements; a third when nothing waits, for what was kept."""
    waiting = Fact.objects.for_user(user).proposed().count()
    midnight = timezone.now().astimezone(user.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    today = ReviewAction.objects.for_user(user).filter(by=user, undone_at=None, created_at__gte=midnight)
    if waiting:
        return Progress(waiting, today.count())
    taken = today.select_related("fact").defer("fact__vector", "fact__search").order_by("-created_at", "-pk")
    kept = [action.fact for action in taken if action.verb != ReviewAction.Verb.REJECT]
    return Progress(0, len(taken), kept)


def group_by_kind(rows: Iterable[Row]) -> list[tuple[str, list[int]]]:
    """Each kind that several proposals are of, with their ids: they may be decided alike."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.shown.fact.status == Fact.Status.PROPOSED:
            found.setdefault(row.shown.fact.get_kind_display(), []).append(row.shown.fact.pk)
    return [(kind, pks) for kind, pks in sorted(found.items()) if len(pks) > 1]


def group_by_conversation(rows: Iterable[Row]) -> list[Group]:
    """Rows in order, grouped by the conversation they come from."""
    return [Group(conversation, list(group)) for conversation, group in groupby(rows, _conversation)]


def build_merge_form(
    facts: Sequence[Fact], *, statement: str = "", into: int = 0, sentence: str = ""
) -> dict[str, Any]:
    """What the merge form shows: the facts, those known ones that come close, and what was typed."""
    chosen = {fact.pk for fact in facts}
    return {
        "facts": facts,
        "close": [fact for fact in find_similar_facts(facts) if fact.pk not in chosen],
        "into": into or (facts[0].pk if facts else 0),
        "statement": statement,
        "sentence": sentence,
        "page": "review",
    }


def find_similar_facts(facts: Sequence[Fact]) -> list[Fact]:
    """Active facts of the same person that come closest in meaning to the first of `facts`. One statement."""
    first = next((fact for fact in facts if fact.vector is not None), None)
    if first is None:
        return []
    near = (
        Fact.objects.filter(user=first.user_id, embedded_by=first.embedded_by, vector__isnull=False)
        .active()
        .exclude(pk__in=[fact.pk for fact in facts])
        .annotate(distance=CosineDistance("vector", first.vector))
        .filter(distance__lte=MAX_SIMILAR_DISTANCE)
    )
    return list(near.defer("vector", "search").order_by("distance", "pk")[:MAX_SIMILAR])


def describe_batch(verb: str, times: int, refusals: Sequence[str]) -> str:
    """What was done to many, in one sentence, and why the others were left as they are."""
    done = [f"{DONE[ReviewAction.Verb(verb)]}: {times}." if times else "Nothing was changed."]
    return " ".join(done + describe_refusals(refusals))


def describe_refusals(refusals: Sequence[str]) -> list[str]:
    """Each reason once, with how many it holds for."""
    return [f"Skipped: {n}. {why}" for why, n in Counter(refusals).items()]


def load_fact_view(fact: Fact) -> FactView:
    """The fact as it is stored now, with its evidence.

    Raises:
        Fact.DoesNotExist: it is gone.
    """
    return build_fact_views([with_evidence(Fact.objects.filter(pk=fact.pk)).get()])[0]


def with_evidence(facts: QuerySet[Fact]) -> QuerySet[Fact]:
    """With the message and conversation; without the vectors, which no page shows."""
    heavy = ("vector", "search", "message__search", "superseded_by__vector", "superseded_by__search")
    return facts.select_related("message__conversation", "superseded_by").defer(*heavy)


def _conversation(row: Row) -> Any:
    message = row.shown.fact.message
    return message.conversation if message else None


# The decisions page -------------------------------------------------------------------------------------------------

PAGE_SIZE: Final = 100
"""Decisions on one page; those of one click may be cut by its end, and are undone as one all the same."""
MAX_SAVED: Final = 50
"""Facts kept unasked that the page shows; the profile page has them all."""


@dataclass(frozen=True, slots=True)
class Click:
    """What one click decided."""

    actions: list[ReviewAction]

    @property
    def first(self) -> ReviewAction:
        """Undoing it undoes all."""
        return self.actions[0]


def build_decisions_page(user: User, number: str | None) -> dict[str, Any]:
    """Page `number` of what can be undone, and what was kept without asking."""
    page = Paginator(can_be_undone(user), PAGE_SIZE).get_page(number)
    return {
        "clicks": group_by_click(page),
        "decisions": page,
        "kept": saved_automatically(user),
        "days": UNDO_FOR.days,
        "page": "review",
    }


def group_by_click(actions: Iterable[ReviewAction]) -> list[Click]:
    """Decisions in order, those of one click together."""
    return [Click(list(same)) for _, same in groupby(actions, lambda action: action.batch or action.pk)]


def saved_automatically(user: User) -> list[Fact]:
    """What the librarian made a fact by itself in the same time, the latest first."""
    since = timezone.now() - UNDO_FOR
    facts = Fact.objects.for_user(user).filter(status=Fact.Status.ACTIVE, accepted_at=None, recorded_at__gte=since)
    unasked = facts.exclude(extracted_by="").exclude(source=Fact.Source.EDITED)
    return list(unasked.defer("vector", "search").order_by("-recorded_at", "-pk")[:MAX_SAVED])


# The rules page -----------------------------------------------------------------------------------------------------

LABELS: Final = {Rule(value): label for value, label in KindPolicy.Rule.choices}


def build_rules_page(user: User) -> dict[str, Any]:
    """Every subject with its rule and with how often proposals about it were right."""
    rules, tallies = rules_of(user), precision_of(user)
    rows = [
        {
            "subject": subject,
            "name": NAMES[subject],
            "such_as": SUCH_AS[subject],
            "rule": rule,
            "is_default": rule == default_rule(subject),
            "default": default_rule(subject),
            "tally": tallies[subject],
        }
        for subject, rule in rules.items()
    ]
    return {"rows": rows, "rules": [(rule, LABELS[rule], MEANS[rule]) for rule in Rule], "page": "review"}
