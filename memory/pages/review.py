"""Page data of the review queue, the decisions page and the memory rules page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.utils import timezone
from pgvector.django import CosineDistance

from accounts.models import User
from memory.facts.contradiction import CHOICES, Choice
from memory.forms import StatementForm
from memory.librarian.decision import STRICTNESS, Reason, Rule
from memory.librarian.policies import (
    MEANS,
    NAMES,
    SUCH_AS,
    THIRD_PARTIES,
    default_rule,
    precision_of,
    rules_of,
    subject_of,
)
from memory.models import Fact, KindPolicy, LibrarianRun, ReviewAction
from memory.models.kinds import Kind
from memory.pages.consolidation import load_reports
from memory.review.evidence import FactView, build_fact_views
from memory.review.undo import UNDO_FOR, can_be_undone

QUEUE_LENGTH: Final = 50
"""Proposals per page; reloading shows the next ones."""
MAX_RECENT: Final = 5
"""Recent decisions on the review page; the decisions page has all of them."""
MAX_SIMILAR: Final = 3
"""Similar facts offered in the merge form."""
MAX_SIMILAR_DISTANCE: Final = 0.45
"""Maximum cosine distance of a similar fact: generous, because the user chooses."""

DONE: Final = {
    ReviewAction.Verb.ACCEPT: "Accepted",
    ReviewAction.Verb.EDIT: "Saved and accepted",
    ReviewAction.Verb.REJECT: "Rejected",
    ReviewAction.Verb.KEEP_BOTH: "Both kept",
    ReviewAction.Verb.UNRELATED: "Kept, no contradiction",
    ReviewAction.Verb.MERGE: "Merged",
}
"""Shown after a decision is committed."""

ASKED_BY_RULE: Final[Mapping[str, str]] = {
    Reason.THIRD_PARTY: "this is about someone else",
    Reason.HEALTH: "this is about health",
    Reason.ASK_KIND: "of the rule for this type",
}
"""Why a rule asks, by the proposal's reason: however sure Recall is."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fact on a page, with the result of the last action."""

    shown: FactView
    action: ReviewAction | None = None
    """The decision just made, which can be undone."""
    sentence: str = ""
    """The result, or the reason for a refusal."""
    form: StatementForm | None = None
    """The user's refused wording."""

    @property
    def subject(self) -> str:
        """The subject of a rule for proposals like this one, in words."""
        return NAMES[subject_of(self.shown.fact)].lower()

    @property
    def asked_because(self) -> str:
        """Why a rule asks, in words; empty if none does."""
        return ASKED_BY_RULE.get(self.shown.fact.reason, "")

    @property
    def choices(self) -> Sequence[Choice]:
        """The possible answers to a contradiction, if there is one."""
        return CHOICES if self.shown.older is not None else ()


@dataclass(frozen=True, slots=True)
class Group:
    """The proposals of one conversation."""

    conversation: Any
    """None: not from a conversation."""
    rows: list[Row]

    @property
    def waiting(self) -> list[int]:
        """IDs of the facts still to be decided."""
        return [row.shown.fact.pk for row in self.rows if row.shown.fact.status == Fact.Status.PROPOSED]


@dataclass(frozen=True, slots=True)
class Progress:
    waiting: int
    decided: int
    """Decisions of today, in the user's time zone, without undone ones."""
    kept: Sequence[Fact] = ()
    """The facts kept today; loaded once the queue is empty."""

    @property
    def rejected(self) -> int:
        """Number rejected today; known once the queue is empty."""
        return self.decided - len(self.kept)

    @property
    def total(self) -> int:
        """All proposals of today, decided or not."""
        return self.waiting + self.decided


@dataclass(frozen=True, slots=True)
class BatchNotice:
    """The notice above the queue after a batch action."""

    sentence: str
    action: ReviewAction | None = None
    """Undoing it undoes the whole batch."""
    offer: Sequence[int] = field(default_factory=list)
    """Pending proposals that a new rule would decide."""
    offered: str = ""
    """`accept` or `reject`."""


def build_queue(user: User, changed: Row | None = None, notice: BatchNotice | None = None) -> dict[str, Any]:
    """The review page's context; `changed` replaces its plain row, `notice` is shown above the queue."""
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
        "is_reading": not so_far.waiting and is_reading(user),
        "recent": can_be_undone(user)[:MAX_RECENT],
        "told": notice,
    }


def is_reading(user: User) -> bool:
    """Whether a conversation is being read, or is next: there may be proposals in a moment."""
    runs = LibrarianRun.objects.for_user(user).filter(not_before__lte=timezone.now())
    return runs.filter(state__in=[LibrarianRun.State.PENDING, LibrarianRun.State.RUNNING]).exists()


def load_progress(user: User) -> Progress:
    """Pending proposals and today's decisions. Two queries; a third for the kept facts once the queue is empty."""
    waiting = Fact.objects.for_user(user).proposed().count()
    midnight = timezone.now().astimezone(user.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    today = ReviewAction.objects.for_user(user).filter(by=user, undone_at=None, created_at__gte=midnight)
    if waiting:
        return Progress(waiting, today.count())
    taken = today.select_related("fact").defer("fact__vector", "fact__search").order_by("-created_at", "-pk")
    kept = [action.fact for action in taken if action.verb != ReviewAction.Verb.REJECT]
    return Progress(0, len(taken), kept)


def group_by_kind(rows: Iterable[Row]) -> list[tuple[str, list[int]]]:
    """The IDs of the proposals of each kind with several, for a decision on all of them."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.shown.fact.status == Fact.Status.PROPOSED:
            found.setdefault(row.shown.fact.get_kind_display(), []).append(row.shown.fact.pk)
    return [(kind, pks) for kind, pks in sorted(found.items()) if len(pks) > 1]


def group_by_conversation(rows: Iterable[Row]) -> list[Group]:
    """Rows in order, grouped by conversation."""
    return [Group(conversation, list(group)) for conversation, group in groupby(rows, _conversation)]


def build_merge_form(
    facts: Sequence[Fact], *, statement: str = "", into: int = 0, sentence: str = ""
) -> dict[str, Any]:
    """The merge form's context: the facts, similar active ones, and the typed values."""
    chosen = {fact.pk for fact in facts}
    return {
        "facts": facts,
        "close": [fact for fact in find_similar_facts(facts) if fact.pk not in chosen],
        "into": into or (facts[0].pk if facts else 0),
        "statement": statement,
        "sentence": sentence,
    }


def find_similar_facts(facts: Sequence[Fact]) -> list[Fact]:
    """The user's active facts closest in meaning to the first of `facts`. One query."""
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
    """The result of a batch decision in one sentence, with the reasons for skipped facts."""
    done = [f"{DONE[ReviewAction.Verb(verb)]}: {times}." if times else "Nothing was changed."]
    return " ".join(done + describe_refusals(refusals))


def describe_refusals(refusals: Sequence[str]) -> list[str]:
    """Each reason once, with its count."""
    return [f"Skipped: {n}. {why}" for why, n in Counter(refusals).items()]


def load_fact_view(fact: Fact) -> FactView:
    """The current fact with its evidence.

    Raises:
        Fact.DoesNotExist: it was deleted.
    """
    return build_fact_views([with_evidence(Fact.objects.filter(pk=fact.pk)).get()])[0]


def with_evidence(facts: QuerySet[Fact]) -> QuerySet[Fact]:
    """With message and conversation, without vectors, which no page shows."""
    heavy = ("vector", "search", "message__search", "superseded_by__vector", "superseded_by__search")
    return facts.select_related("message__conversation", "superseded_by").defer(*heavy)


def _conversation(row: Row) -> Any:
    message = row.shown.fact.message
    return message.conversation if message else None


# The decisions page ------------------------------------------------------------------------------------------------

PAGE_SIZE: Final = 100
"""Decisions per page. A page break may split a batch, which is still undone as one."""
MAX_SAVED: Final = 50
"""Automatically saved facts on the page; the profile has all of them."""


def build_history_page(user: User, number: str | None) -> dict[str, Any]:
    """Page `number` of the decisions that can be undone, by click, and the automatically saved facts."""
    page = Paginator(can_be_undone(user), PAGE_SIZE).get_page(number)
    return {
        "clicks": [list(same) for _, same in groupby(page, lambda action: action.batch or action.pk)],
        "decisions": page,
        "kept": saved_automatically(user),
        "days": UNDO_FOR.days,
    }


def saved_automatically(user: User) -> list[Fact]:
    """Facts the librarian saved without review in the same period, the latest first."""
    since = timezone.now() - UNDO_FOR
    facts = Fact.objects.for_user(user).filter(status=Fact.Status.ACTIVE, accepted_at=None, recorded_at__gte=since)
    unasked = facts.exclude(extracted_by="").exclude(source=Fact.Source.EDITED)
    return list(unasked.defer("vector", "search").order_by("-recorded_at", "-pk")[:MAX_SAVED])


# The rules page ----------------------------------------------------------------------------------------------------

LABELS: Final = {Rule(value): label for value, label in KindPolicy.Rule.choices}


def build_rules_page(user: User) -> dict[str, Any]:
    """Every subject with its rule and the share of correct proposals; the latest clean-ups."""
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
            "overruled_by": rules[THIRD_PARTIES]
            if subject == Kind.PERSON and STRICTNESS[rules[THIRD_PARTIES]] > STRICTNESS[rule]
            else "",
        }
        for subject, rule in rules.items()
    ]
    return {"rows": rows, "rules": [(rule, LABELS[rule], MEANS[rule]) for rule in Rule], **load_reports(user)}
