"""Memory rules: what the librarian may do with each kind of fact, set by the user over the defaults in `decision.py`.

A rule is about a subject: a kind of fact, or health and other people, which cut across the kinds. If several rules
apply to a fact, the strictest wins (`decision.py: _rule`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from django.db import transaction

from memory import tombstones
from memory.librarian.decision import DEFAULT_POLICY, SURE_CONFIDENCE, Policy, Reason, Rule
from memory.models import Fact, KindPolicy
from memory.models.kinds import Kind
from recall.db.prepared import PreparedQuery

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
    Rule.AUTOMATIC: f"Saved right away if you said it yourself, Recall is at least {100 * SURE_CONFIDENCE:.0f}% sure "
    "and nothing contradicts it. You are asked about the rest.",
    Rule.ASK: "Ask me before saving.",
    Rule.NEVER: "Never saved, not even as a proposal. What Recall already knows stays until you reject or forget it.",
}
"""What each rule does, in the words of the page."""

NAMES: Final[Mapping[str, str]] = {**dict(Kind.choices), HEALTH: "Health", THIRD_PARTIES: "Other people"}
SUCH_AS: Final[Mapping[str, str]] = {
    Kind.IDENTITY: "your name, what to call you",
    Kind.BIOGRAPHY: "home, origin, job, birthday",
    Kind.PERSON: "family, friends, colleagues",
    Kind.PLACE: "places that matter to you",
    Kind.EVENT: "plans with a date, past events",
    Kind.PREFERENCE: "likes and dislikes",
    Kind.CONSTRAINT: "allergies, diets, things to avoid",
    Kind.INSTRUCTION: "how the assistant should behave",
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
    own = dict(_OWN(user=user.pk))
    return {subject: Rule(own[subject]) if subject in own else default_rule(subject) for subject in SUBJECTS}


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
