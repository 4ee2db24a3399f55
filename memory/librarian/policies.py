"""Memory rules: what the librarian may do with each kind of fact, set by the user over the defaults in `decision.py`.

A rule is about a subject: a kind of fact, or health and other people, which cut across the kinds. If several rules
apply to a fact, the strictest wins (`decision.py: _rule`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Count, F, Func, TextField, Value
from django.db.models.functions import Cast

from memory import tombstones
from memory.librarian.decision import DEFAULT_POLICY, SURE_CONFIDENCE, Policy, Reason, Rule
from memory.models import Fact, KindPolicy, ReviewAction
from memory.models.kinds import Kind
from recall.db.prepared import PreparedQuery
from recall.figures import percent

if TYPE_CHECKING:
    from accounts.models import User
    from memory.models.facts import FactQuerySet

HEALTH: Final = "health"
THIRD_PARTIES: Final = "third_parties"
SUBJECTS: Final = (*Kind.values, HEALTH, THIRD_PARTIES)
"""What a rule may be about."""

BY_REASON: Final[Mapping[str, str]] = {Reason.HEALTH: HEALTH, Reason.THIRD_PARTY: THIRD_PARTIES}
"""The subject of a proposal by its reason; with any other reason it is the kind."""

MEANS: Final[Mapping[Rule, str]] = {
    Rule.AUTOMATIC: f"Saved right away if you said it yourself, Recall is at least {percent(SURE_CONFIDENCE)} sure "
    "and nothing contradicts it. You are asked about the rest.",
    Rule.ASK: "Asks you before saving.",
    Rule.NEVER: "Never saved, not even as a proposal. What Recall already knows stays until you reject or forget it.",
}
"""What each rule does, in the words of the page."""

NAMES: Final[Mapping[str, str]] = {
    **dict(Kind.choices),
    Kind.FACT: "Other facts",
    HEALTH: "Health",
    THIRD_PARTIES: "Other people",
}
SUCH_AS: Final[Mapping[str, str]] = {
    Kind.IDENTITY: "your name, what to call you",
    Kind.BIOGRAPHY: "home, origin, job, birthday",
    Kind.PERSON: "family, friends, colleagues",
    Kind.PLACE: "places that matter to you",
    Kind.EVENT: "plans with a date, past events",
    Kind.PREFERENCE: "likes and dislikes",
    Kind.CONSTRAINT: "allergies, diets, things to avoid",
    Kind.INSTRUCTION: "how Recall should behave",
    Kind.GOAL: "what you want to achieve",
    Kind.DECISION: "what you decided",
    Kind.PROCEDURE: "how you do something",
    Kind.ENTITY: "pets, things, projects",
    Kind.FACT: "everything else",
    HEALTH: "of any kind",
    THIRD_PARTIES: "of any kind",
}


def policy_for(user: User) -> Policy:
    """The user's policy, with defaults where they set no rule. Two statements."""
    rules = rules_of(user)
    return Policy(
        by_kind={Kind(subject): rule for subject, rule in rules.items() if subject in Kind.values},
        health=rules[HEALTH],
        third_parties=rules[THIRD_PARTIES],
        forgotten_at=tombstones.load(user.pk).forgotten_at,
    )


def rules_of(user: User) -> dict[str, Rule]:
    """The rule for every subject. One statement."""
    chosen = dict(_OWN(user=user.pk))
    return {subject: Rule(chosen[subject]) if subject in chosen else default_rule(subject) for subject in SUBJECTS}


_OWN: Final = PreparedQuery(
    lambda user: KindPolicy.objects.filter(user=user, subject__in=SUBJECTS).values_list("subject", "rule"), user=int
)


def default_rule(subject: str) -> Rule:
    """The rule for a subject without a setting.

    Raises:
        ValueError: unknown subject.
    """
    across = {HEALTH: DEFAULT_POLICY.health, THIRD_PARTIES: DEFAULT_POLICY.third_parties}
    return across[subject] if subject in across else DEFAULT_POLICY.by_kind.get(Kind(subject), Rule.AUTOMATIC)


@transaction.atomic
def set_rules(user: User, rules: Mapping[str, Rule]) -> None:
    """Set these rules and leave the others. Defaults aren't stored.

    Raises:
        ValueError: unknown subject.
    """
    for subject, rule in sorted(rules.items()):
        if rule == default_rule(subject):
            KindPolicy.objects.for_user(user).filter(subject=subject).delete()
        else:
            KindPolicy.objects.update_or_create(user=user, subject=subject, defaults={"rule": rule})


def subject_of(fact: Fact) -> str:
    """The subject whose rule decides on this proposal."""
    return BY_REASON.get(fact.reason, fact.kind)


def waiting_about(user: User, subject: str) -> FactQuerySet:
    """The proposals that the rule about `subject` decides on."""
    waiting: FactQuerySet = Fact.objects.for_user(user).proposed()
    reasons = [reason for reason, about in BY_REASON.items() if about == subject]
    if reasons:
        return waiting.filter(reason__in=reasons)
    return waiting.filter(kind=subject).exclude(reason__in=BY_REASON)


# Review precision by kind: accepted / (accepted + rejected), by the latest decision on each fact. Proposals without a
# decision are not counted; what was accepted with edits counts as accepted, and on its own.

MIN_DECISIONS: Final = 5
"""With fewer decisions, only the counts are shown."""


@dataclass(slots=True)
class Tally:
    """Decisions about one subject."""

    accepted: int = 0
    """Decisions to accept as proposed, next to another fact, or merged."""
    edited: int = 0
    """Accepted with edits."""
    rejected: int = 0

    @property
    def decided(self) -> int:
        return self.accepted + self.edited + self.rejected

    @property
    def precision(self) -> float | None:
        """0–1; None with too few decisions."""
        return (self.accepted + self.edited) / self.decided if self.decided >= MIN_DECISIONS else None

    @property
    def words(self) -> str:
        """The counts above zero, such as “3 accepted, 1 rejected”."""
        counts = {"accepted": self.accepted, "edited": self.edited, "rejected": self.rejected}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)

    def add(self, verb: str, times: int) -> None:
        """Count decisions of one kind."""
        match verb:
            case ReviewAction.Verb.REJECT:
                self.rejected += times
            case ReviewAction.Verb.EDIT:
                self.edited += times
            case _:
                self.accepted += times


def precision_of(user: User) -> dict[str, Tally]:
    """The tally of every subject. One statement."""
    return tally_decisions(_counts(user))


def tally_decisions(counts: Iterable[tuple[str, str, str | None, int]]) -> dict[str, Tally]:
    """By subject, from (kind, verb, the proposal's reason, count).

    A proposal about health or another person counts for that subject and for its kind.
    """
    tallies = {subject: Tally() for subject in SUBJECTS}
    for kind, verb, reason, times in counts:
        for subject in {kind, BY_REASON.get(reason or "", kind)}:
            tallies[subject].add(verb, times)
    return tallies


def _counts(user: User) -> Iterable[tuple[str, str, str | None, int]]:
    latest = (
        ReviewAction.objects.for_user(user).filter(undone_at=None).order_by("fact", "-pk").distinct("fact").values("pk")
    )
    # The decision stores the proposal's reason; accepting it overwrote the one in the fact.
    waited = Func(
        F("before"),
        Cast("fact_id", TextField()),
        Value("reason"),
        function="jsonb_extract_path_text",
        output_field=TextField(),
    )
    decided = ReviewAction.objects.filter(pk__in=latest).annotate(waited=waited)
    return decided.values_list("fact__kind", "verb", "waited").annotate(times=Count("pk")).order_by()
