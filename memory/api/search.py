"""Search over all memory, with score parts and the results left out; and the profile, as in every prompt."""

from datetime import datetime
from typing import Annotated, Any, Final

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import check_scope, get_caller, person, require_scope
from memory.documents.profile import profile_lines
from memory.models.paths import encode
from memory.retrieval.candidates import EVERYTHING, Filters
from memory.retrieval.ranking import Part, Rule, Source
from memory.retrieval.recall import MemoryItem, retrieve
from memory.retrieval.truth import TruthRule
from recall.openapi.fields import Moment

router = Router(tags=["memory"])

MAX_RESULTS: Final = 50
"""Fewer than the candidates of one search leg; more results wouldn't be useful."""
PASSAGES: Final[frozenset[Source]] = frozenset({"message", "segment"})
"""Sources that are conversations."""
CHAT_SCOPE: Final = "chat:read"
MAX_CHOICES: Final = 50
"""Kinds or tags per filter."""
Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Choice = Annotated[str, Field(max_length=80)]


class Search(Schema):
    """A question and its filters."""

    q: Words
    top_k: int = Field(10, ge=1, le=MAX_RESULTS, description="Maximum number of results")
    token_budget: int | None = Field(None, ge=1, le=1_000_000, description="Maximum tokens of all results together")
    source: list[Source] = Field([], description="Empty: all sources that the key may read")
    kind: list[Choice] = Field([], max_length=MAX_CHOICES, description="Kinds of facts or episodes")
    tag: list[Choice] = Field([], max_length=MAX_CHOICES)
    path: str = Field("", max_length=500, description="Only documents at or below this path")
    scope: str = Field(
        "", max_length=500, description="Only this project: its documents and what was learned in its conversations"
    )
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = Field(None, description="Search what was known at this moment")
    minimum_importance: float = Field(
        0.0, ge=0, le=1, description="Of facts, episodes and documents; messages count as 0.5"
    )

    def filters(self, sources: frozenset[Source]) -> Filters:
        """As retrieval filters among `sources`.

        Raises:
            ValidationError: `path` or `scope` is not a path.
        """
        for path in filter(None, (self.path, self.scope)):
            encode(path.rstrip("/"))
        return Filters(
            sources=sources,
            kinds=frozenset(self.kind),
            tags=frozenset(self.tag),
            path=self.path.rstrip("/"),
            since=self.since,
            until=self.until,
            minimum_importance=self.minimum_importance,
            scope=self.scope.rstrip("/"),
        )


class Found(Schema):
    """One memory with its score."""

    ref: str = Field(description="Such as fact:12, episode:3, document:7 or message:55")
    source: Source
    title: str
    text: str
    said_by: str
    when: datetime
    score: float
    parts: dict[Part, float] = Field(description="The parts of the score, by name")
    qualifier: str = Field(
        description="whether it holds: current, until a date, superseded, perhaps changed, said before a fact,"
        " contested, only asked, or waiting for review"
    )


class LeftOut(Schema):
    """A memory that was considered and left out."""

    ref: str
    score: float
    rule: Rule | TruthRule = Field(description="Why it was left out")


class Results(Schema):
    """Search results, the best first."""

    results: list[Found]
    left_out: list[LeftOut]
    milliseconds: dict[str, float]


@router.get(
    "/search", response=Results, auth=require_scope("memory:read"), summary="Search memory",
    operation_id="search_memory",
)  # fmt: skip
def search(request: HttpRequest, given: Query[Search]) -> Results:
    """Searches facts, episodes, documents and messages by meaning and by words; the best first, with reasons.

    A key needs `chat:read`, too, for messages and for segments.
    """
    found = retrieve(
        person(request),
        given.q,
        now=timezone.now(),
        top_k=given.top_k,
        token_budget=given.token_budget,
        filters=given.filters(_readable_sources(request, frozenset(given.source))),
        as_of=given.as_of,
    )
    left_out = [LeftOut(ref=cut.item.ref, score=cut.item.score, rule=cut.rule) for cut in found.cut]
    return Results(
        results=[_build_found(item) for item in found.kept], left_out=left_out, milliseconds=dict(found.timings)
    )


def _readable_sources(request: HttpRequest, asked: frozenset[Source]) -> frozenset[Source]:
    if asked & PASSAGES:
        check_scope(request, CHAT_SCOPE)
    if asked:
        return asked
    return EVERYTHING.sources if get_caller(request).has_scope(CHAT_SCOPE) else EVERYTHING.sources - PASSAGES


def _build_found(item: MemoryItem) -> Found:
    fields = ("ref", "source", "title", "text", "said_by", "when", "score", "qualifier")
    return Found(**{name: getattr(item, name) for name in fields}, parts=dict(item.parts))


class Line(Schema):
    """One line of the profile."""

    ref: str = Field(description="fact:12, or document:/profile/goals:3 for the third line of a document")
    text: str
    importance: float
    kind: str = Field(description="“prose” for your own notes, otherwise the kind of fact")
    heading: str
    message_id: int | None


@router.get("/profile", response=list[Line], auth=require_scope("memory:read"), summary="Read the profile")
def get_profile(request: HttpRequest) -> Any:
    """The profile in every prompt, line by line. Edit its documents as documents and its facts in review."""
    return profile_lines(person(request))
