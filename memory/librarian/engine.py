"""The protocol of extraction engines: what an engine reads, and what it may propose.

An engine decides nothing: `decision.py` decides on its proposals, by the same rules for every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Protocol, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from memory.facts.keys import USER, kind_of, make_key, spell_attribute, spell_subject
from memory.models.kinds import EpisodeKind, EpisodeOutcome, Kind
from memory.ports.source import Utterance
from memory.ports.spending import NOTHING_USED, Usage

MAX_STATEMENT = 500
"""Characters. A statement is one sentence; a longer text is a document."""
MAX_TAG = 60
"""Characters: the column's width."""
MAX_TITLE, MAX_SUMMARY, MAX_TONE, MAX_NAME = 200, 2_000, 40, 80
"""Characters of an episode's texts: a summary is a paragraph, the others have their columns' width."""
MAX_LINES = 60
"""Of a proposed document: two pages. Anything longer is a copy, not a note."""


class Relation(StrEnum):
    """What a proposal is to one of the numbered known facts."""

    NONE = "none"
    SAME = "same"
    UPDATES = "updates"
    CONTRADICTS = "contradicts"
    # These change no fact: both stay active, and a link relates them.
    PART_OF = "part_of"
    DEPENDS_ON = "depends_on"
    CAUSED_BY = "caused_by"
    RELATED_TO = "related_to"


def ask_for_all_fields(schema: dict[str, Any]) -> None:
    """A model is to give every field: structured output allows 24 that may be left out, and facts take most of them."""
    schema["required"] = list(schema["properties"])


def _in_one_line(text: str) -> str:
    """No line break of any script: in a prompt a fact or an episode must not look like another heading."""
    return " ".join(text.split())


def _as_name(text: str) -> str:
    """One line without slashes: a title is one name of a path."""
    return _in_one_line(text.replace("/", " ").replace("\x00", ""))


def _check_words(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _check_share(share: float) -> float:
    if not 0.0 <= share <= 1.0:
        raise ValueError("must lie between 0 and 1")
    return share


OneLine = Annotated[str, AfterValidator(_in_one_line)]
Name = Annotated[str, AfterValidator(_as_name)]
Words = Annotated[str, AfterValidator(_check_words)]
Share = Annotated[float, AfterValidator(_check_share)]


class ProposedFact(BaseModel):
    """One statement, with the words it rests on."""

    # The schema a model is given is made from this class; it cannot hold ranges or lengths, so these are checked below.

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    statement: Annotated[Words, AfterValidator(_in_one_line)] = Field(
        description="About “the user”, in the third person, understandable on its own"
    )
    kind: Kind = Field(description="What the fact is about")
    subject: str = Field(
        USER,
        description="Whom or what it is about: user, a person's name, user/sister (relative without a known name), "
        "user/dog, project:atlas",
    )
    attribute: str = Field("", description="From the list of attributes, or empty")
    value: str = Field("", description="The bare value of a fact with an attribute, such as Lisbon")
    quote: Words = Field(description="The user's own words it rests on, copied character by character from one message")
    number: int = Field(description="Number of the message the quote stands in")
    confidence: Share = Field(description="0 to 1: how sure it is that the user means this to be true")
    importance: Share = Field(description="0 to 1: how much it matters in later conversations")
    valid_from: AwareDatetime | None = Field(None, description="When it began to be true, if the user says so")
    valid_until: AwareDatetime | None = Field(None, description="When it stops being true, if the user says so")
    tags: tuple[str, ...] = Field((), description="Names and topics, lower case except for names")
    relation: Relation = Field(Relation.NONE, description="What it is to a known fact")
    related_to: int | None = Field(None, description="Number of that known fact")
    hypothetical: bool = Field(False, description="Supposed, wished, imagined or played, not claimed")
    reported: bool = Field(False, description="Somebody else's claim, which the user only reports")
    about_third_party: bool = Field(False, description="About another person")
    addressed_to_assistant: bool = Field(False, description="An instruction for the assistant")
    health: bool = Field(False, description="About anybody's health")
    correction: bool = Field(False, description="The user expressly corrects what was said or known before")

    @model_validator(mode="after")
    def _fits_its_columns(self) -> Self:
        if len(self.statement) > MAX_STATEMENT:
            raise ValueError(f"statement: at most {MAX_STATEMENT} characters")
        if max(len(self.subject), len(self.attribute)) > MAX_NAME or any(len(tag) > MAX_TAG for tag in self.tags):
            raise ValueError(f"subject and attribute: at most {MAX_NAME} characters, tags: at most {MAX_TAG} each")
        texts = (self.statement, self.subject, self.attribute, self.value, self.quote, *self.tags)
        if any("\x00" in text for text in texts):
            raise ValueError("must not hold NUL characters")
        return self

    @property
    def key(self) -> str:
        """Subject and attribute, such as `user/home`; empty if the attribute is not one of the scheme."""
        return make_key(self.subject, self.attribute)

    @property
    def is_no_claim(self) -> bool:
        """Whether the user supposed, reported or ordered it, rather than claimed it."""
        return self.hypothetical or self.reported or self.addressed_to_assistant

    def normalized(self) -> ProposedFact:
        """The same proposal with subject and attribute spelled by the scheme, and the kind of its key.

        Removes attributes outside the scheme, and any attribute of the user from a fact about someone else: the
        sister's home must never replace the user's.
        """
        subject, attribute = spell_subject(self.subject) or USER, spell_attribute(self.attribute)
        if self.about_third_party and subject == USER and attribute != "partner":
            attribute = ""
        key = make_key(subject, attribute)
        spelled = {"subject": subject, "attribute": attribute if key else "", "kind": kind_of(key) or self.kind}
        return self.model_copy(update=spelled)


class Withdrawal(BaseModel):
    """A known fact that the user's words end or take back, with the words it rests on."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, json_schema_extra=ask_for_all_fields)

    known: int = Field(description="Number of the known fact")
    quote: str = Field(description="The user's own words it rests on, copied character by character from one message")
    number: int = Field(description="Number of the message the quote stands in")
    when: AwareDatetime | None = Field(None, description="When it stopped being true, if the user says so")

    @model_validator(mode="after")
    def _has_words(self) -> Self:
        if not self.quote.strip() or "\x00" in self.quote:
            raise ValueError("quote: must not be empty, no NUL characters")
        return self


class ProposedEpisode(BaseModel):
    """A stretch of the conversation worth remembering, written up as a short narrative."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: EpisodeKind = Field(description="What makes it significant; plain if nothing of the list does")
    title: OneLine = Field(description="A few words, such as “Chose PostgreSQL for the shop”")
    summary: OneLine = Field(description="What happened, and why, in two to four sentences about “the user”")
    first: int = Field(description="Number of the first message that belongs to it")
    last: int = Field(description="Number of the last message that belongs to it")
    significance: float = Field(description="0 to 1: how much it will matter later; .7 and above for key moments")
    context: OneLine = Field("", description="What led to it, in one sentence")
    participants: tuple[str, ...] = Field((), description="Names of the people it is about, besides the user")
    outcome: EpisodeOutcome = Field(EpisodeOutcome.NONE, description="How it ended, if that is told")
    tone: OneLine = Field("", description="The user's mood, in a word")
    valence: float = Field(0.0, description="-1 (bad for the user) to 1 (good)")
    topics: tuple[str, ...] = Field((), description="Topics, lower case")

    @model_validator(mode="after")
    def _is_told_within_its_columns(self) -> Self:
        if not self.title or not self.summary:
            raise ValueError("title and summary: must not be empty")
        if self.last < self.first:
            raise ValueError("last: must not come before first")
        if not 0.0 <= self.significance <= 1.0 or not -1.0 <= self.valence <= 1.0:
            raise ValueError("significance must lie between 0 and 1, valence between -1 and 1")
        sized = [(self.title, MAX_TITLE), (self.summary, MAX_SUMMARY), (self.context, MAX_SUMMARY)]
        sized += [(self.tone, MAX_TONE), *((name, MAX_NAME) for name in self.participants)]
        sized += [(topic, MAX_TAG) for topic in self.topics]
        if any(len(text) > limit or "\x00" in text for text, limit in sized):
            raise ValueError(
                f"title: at most {MAX_TITLE} characters, summary and context {MAX_SUMMARY}, tone {MAX_TONE},"
                f" participants {MAX_NAME} each, topics {MAX_TAG} each; no NUL characters"
            )
        return self


class Folder(StrEnum):
    """Where a document about something belongs (seed 001). The profile, conversations and stories are filed apart."""

    PROJECTS = "projects"
    REFERENCE = "reference"
    INSIGHTS = "insights"


class ProposedLine(BaseModel):
    """One line of a document, with the words it rests on."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, json_schema_extra=ask_for_all_fields)

    text: OneLine = Field(description="One sentence, in Markdown, understandable below the document's title")
    quote: str = Field(description="The user's own words it rests on, copied character by character from one message")
    number: int = Field(description="Number of the message the quote stands in")
    hypothetical: bool = Field(False, description="Supposed, wished or imagined, not claimed")
    reported: bool = Field(False, description="Somebody else's claim, which the user only reports")
    about_third_party: bool = Field(False, description="About another person")
    health: bool = Field(False, description="About anybody's health")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.text or not self.quote.strip():
            raise ValueError("text and quote: must not be empty")
        if len(self.text) > MAX_STATEMENT or "\x00" in self.text + self.quote:
            raise ValueError(f"text: at most {MAX_STATEMENT} characters, no NUL characters")
        return self


class ProposedDocument(BaseModel):
    """Lines for a document on one subject; where it goes is decided separately."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, json_schema_extra=ask_for_all_fields)

    folder: Folder = Field(description="projects: what the user works on; reference: how things are; insights: lessons")
    title: Name = Field(
        description="The subject in a few words, such as “Kitchen garden”; of a known document, its title"
    )
    topic: Name = Field("", description="A wider subject it belongs to, such as “House”, or empty")
    lines: tuple[ProposedLine, ...] = Field(description="What is new")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.title or not self.lines:
            raise ValueError("title and lines: must not be empty")
        if len(self.title) > MAX_NAME or len(self.topic) > MAX_NAME or len(self.lines) > MAX_LINES:
            raise ValueError(f"title and topic: at most {MAX_NAME} characters, lines: at most {MAX_LINES}")
        return self


class ProposedStory(BaseModel):
    """A story from the user's life. It has no words of its own: they are taken from the message."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, json_schema_extra=ask_for_all_fields)

    title: Name = Field(description="A few words, such as “Lost in Lisbon with Mary”")
    number: int = Field(description="Number of the user's message that tells it")
    begins: str = Field(description="Its first words, copied character by character from that message")
    ends: str = Field(description="Its last words, copied likewise")
    people: tuple[str, ...] = Field((), description="Names of the people in it, besides the user")
    when: Name = Field("", description="When it happened, as far as it is told, such as “summer 2019”")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.title or not self.begins.strip() or not self.ends.strip():
            raise ValueError("title, begins and ends: must not be empty")
        if any(len(name) > MAX_NAME for name in (self.title, self.when, *self.people)):
            raise ValueError(f"title, when and people: at most {MAX_NAME} characters each")
        return self


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that is already stored, as engines and decisions see it."""

    fact_id: int
    statement: str
    kind: Kind
    key: str
    value: str
    confidence: float
    status: str
    """A value of `Fact.Status`."""
    quote: str
    said_at: datetime
    """When its evidence was said, the user decided about it, or later words ended it, whichever is last."""
    number: int | None = None
    """How a proposal refers to it; None if the engine wasn't shown it."""
    message_id: int | None = None
    """Of the message that contains its quote."""
    edited: bool = False
    """Whether the user edited it."""
    superseded_by: int | None = None
    """The fact that replaced it."""


@dataclass(frozen=True, slots=True)
class ExtractionInput:
    """What an engine reads: a range of conversation, and known facts."""

    utterances: Sequence[Utterance]
    preferred_name: str
    zone: ZoneInfo
    """The user's time zone, for “tomorrow”."""
    known: Sequence[KnownFact] = ()
    """Numbered, so that a proposal can refer to them."""
    documents: Sequence[str] = ()
    """Paths of documents that may be extended, latest first."""
    waiting: Sequence[str] = ()
    """Statements that wait for the user's decision. They name people; nothing else is taken from them."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an engine found, in the order it was said, and its usage."""

    facts: Sequence[ProposedFact] = field(default_factory=tuple)
    usage: Usage = NOTHING_USED
    episode: ProposedEpisode | None = None
    """The significant episode of this range; most ranges have none."""
    documents: Sequence[ProposedDocument] = ()
    """Lines for documents, by subject."""
    stories: Sequence[ProposedStory] = ()
    """From the user's life; usually none."""
    ends: Sequence[Withdrawal] = ()
    """Known facts that were true and have stopped."""
    retracts: Sequence[Withdrawal] = ()
    """Known facts that were never true, or that the user takes back."""
    skipped: int = 0
    """Messages that took too long to read."""


class ExtractionError(Exception):
    """A failed extraction, with a sentence for the user; never an empty list instead."""

    def __init__(self, sentence: str, *, final: bool = False, usage: Usage = NOTHING_USED) -> None:
        super().__init__(sentence)
        self.usage = usage
        """Tokens used before it failed."""
        self.final = final
        """Whether another attempt would fail the same way."""


class ExtractionEngine(Protocol):
    """Reads a range of conversation and proposes facts, at most one episode, documents and stories."""

    @property
    def version(self) -> str:
        """Name and version as stored on each fact, such as rules/1; at most 60 characters."""

    @property
    def max_duration(self) -> timedelta:
        """Longest time an extraction may take; the run's lease."""

    @property
    def uses_tokens(self) -> bool:
        """Whether it uses tokens, so that a user's limits postpone it."""

    def extract(self, reading: ExtractionInput) -> Extraction:
        """The facts in the user's own words.

        Raises:
            ExtractionError: with a sentence for the user.
        """
