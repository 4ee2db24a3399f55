"""Search over everything that is remembered, with the parts of each score and what was left out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from memory.models.paths import encode
from memory.retrieval.ranking import Part, Rule, Source
from memory.retrieval.recall import EVERYTHING, Filters, MemoryItem, retrieve
from recall.openapi.fields import Moment

router = Router(tags=["memory"])

MOST_RESULTS: Final = 50
"""Of a search: as many candidates as a leg brings up are no longer an answer."""
MOST_CHOSEN: Final = 50
"""Kinds or tags of one filter."""
Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Choice = Annotated[str, Field(max_length=80)]


class Search(Schema):
    """What is looked for, and what it is limited to."""

    q: Words
    top_k: int = Field(10, ge=1, le=MOST_RESULTS, description="Most results")
    token_budget: int | None = Field(None, ge=1, le=1_000_000, description="Most tokens of all results together")
    source: list[Source] = Field([], description="Empty: all of them")
    kind: list[Choice] = Field([], max_length=MOST_CHOSEN, description="Kinds of facts or episodes")
    tag: list[Choice] = Field([], max_length=MOST_CHOSEN)
    path: str = Field("", max_length=500, description="Only what stands at this path or below")
    scope: str = Field(
        "", max_length=500, description="Only this project: its folder's documents, and what its conversations told"
    )
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = Field(None, description="What was known at this moment")
    minimum_importance: float = Field(
        0.0, ge=0, le=1, description="Of facts, episodes and documents; what was said counts as 0.5"
    )

    def filters(self) -> Filters:
        """The same as retrieval takes it.

        Raises:
            ValidationError: `path` or `scope` is no path.
        """
        for path in filter(None, (self.path, self.scope)):
            encode(path.rstrip("/"))
        return Filters(
            sources=frozenset(self.source) or EVERYTHING.sources,
            kinds=frozenset(self.kind),
            tags=frozenset(self.tag),
            path=self.path.rstrip("/"),
            since=self.since,
            until=self.until,
            minimum_importance=self.minimum_importance,
            scope=self.scope.rstrip("/"),
        )


class Found(Schema):
    """One memory, with what its score is made of."""

    ref: str = Field(description="Such as fact:12, episode:3, document:7 or message:55")
    source: Source
    title: str
    text: str
    said_by: str
    when: datetime
    score: float
    parts: dict[Part, float] = Field(description="What the score is made of, by name")


class LeftOut(Schema):
    """One that was considered and left out."""

    ref: str
    score: float
    rule: Rule = Field(description="Why")


class Results(Schema):
    """Best first."""

    results: list[Found]
    left_out: list[LeftOut]
    milliseconds: dict[str, float]


@router.get(
    "/search", response=Results, auth=require_scope("memory:read"), summary="Search everything that is remembered",
    operation_id="search_memory",
)  # fmt: skip
def search(request: HttpRequest, given: Query[Search]) -> Results:
    """By meaning and by words, over facts, episodes, documents and what was said. The best first, with reasons."""
    found = retrieve(
        person(request),
        given.q,
        now=timezone.now(),
        top_k=given.top_k,
        token_budget=given.token_budget,
        filters=given.filters(),
        as_of=given.as_of,
    )
    left_out = [LeftOut(ref=one.item.ref, score=one.item.score, rule=one.rule) for one in found.cut]
    return Results(results=[_found(one) for one in found.kept], left_out=left_out, milliseconds=dict(found.timings))


def _found(item: MemoryItem) -> Found:
    named = ("ref", "source", "title", "text", "said_by", "when", "score")
    return Found(**{name: getattr(item, name) for name in named}, parts=dict(item.parts))
