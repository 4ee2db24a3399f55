"""Memory rules: what may be saved automatically, by kind, and how often proposals were right."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from accounts.models import User
from memory.librarian.decision import Rule
from memory.librarian.policies import NAMES, SUBJECTS, SUCH_AS, default_rule, precision_of, rules_of, set_rules
from recall.openapi.problems import ProblemError

router = Router(tags=["review"])


class PolicyOf(Schema):
    """The rule for one subject."""

    subject: str = Field(description="A kind of fact, “health” or “third_parties”")
    name: str
    such_as: str
    rule: Rule = Field(description="automatic, ask or never")
    default: Rule
    accepted: int = Field(description="Proposals accepted unchanged")
    edited: int
    rejected: int
    precision: float | None = Field(description="0–1; null: too few decisions")


class Rules(Schema):
    """Rules to set; other subjects keep theirs."""

    rules: dict[str, Rule] = Field(max_length=len(SUBJECTS))


@router.get("/policies", response=list[PolicyOf], auth=require_scope("settings"), summary="List memory rules")
def list_policies(request: HttpRequest) -> Any:
    """The rule of every subject, and how often proposals about it were right."""
    return _build_policies(person(request))


@router.patch("/policies", response=list[PolicyOf], auth=require_scope("settings"), summary="Set memory rules")
def set_policies(request: HttpRequest, given: Rules) -> Any:
    """The rules apply to new memories."""
    unknown = given.rules.keys() - set(SUBJECTS)
    if unknown:
        raise ProblemError(422, f"Unknown subject. Choose from: {', '.join(SUBJECTS)}.")
    set_rules(person(request), given.rules)
    return _build_policies(person(request))


def _build_policies(user: User) -> list[PolicyOf]:
    tallies = precision_of(user)
    return [
        PolicyOf(
            subject=subject,
            name=NAMES[subject],
            such_as=SUCH_AS[subject],
            rule=rule,
            default=default_rule(subject),
            accepted=tallies[subject].accepted,
            edited=tallies[subject].edited,
            rejected=tallies[subject].rejected,
            precision=tallies[subject].precision,
        )
        for subject, rule in rules_of(user).items()
    ]
