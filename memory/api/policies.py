"""Policies: what may be remembered unasked, by kind, and how often that was right."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from accounts.models import User
from memory.librarian.decision import Rule
from memory.librarian.policies import NAMES, SUBJECTS, SUCH_AS, default_rule, rules_of, set_rules
from memory.librarian.precision import precision_of
from recall.openapi.problems import ProblemError

router = Router(tags=["review"])


class PolicyOf(Schema):
    """The rule for one subject."""

    subject: str = Field(description="A kind of fact, “health” or “third_parties”")
    name: str
    such_as: str
    rule: Rule = Field(description="automatic, ask or never")
    default: Rule
    accepted: int = Field(description="Proposals about it that were accepted as they were")
    edited: int
    rejected: int
    precision: float | None = Field(description="0–1; null: too few to say")


class Rules(Schema):
    """Rules to set; a subject that is not named keeps its own."""

    rules: dict[str, Rule] = Field(max_length=len(SUBJECTS))


@router.get(
    "/policies", response=list[PolicyOf], auth=require_scope("settings"), summary="List the rules of remembering",
    operation_id="list_policies",
)  # fmt: skip
def list_policies(request: HttpRequest) -> Any:
    """Every subject with its rule, and with how often proposals about it were right."""
    return _policies(person(request))


@router.patch(
    "/policies", response=list[PolicyOf], auth=require_scope("settings"), summary="Set rules of remembering",
    operation_id="set_policies",
)  # fmt: skip
def set_policies(request: HttpRequest, given: Rules) -> Any:
    """They hold for everything that is read from now on."""
    unknown = given.rules.keys() - set(SUBJECTS)
    if unknown:
        raise ProblemError(422, f"There is no such subject; there are: {', '.join(SUBJECTS)}.")
    set_rules(person(request), given.rules)
    return _policies(person(request))


def _policies(user: User) -> list[PolicyOf]:
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
