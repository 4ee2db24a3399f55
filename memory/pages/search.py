"""Page data of the memory search: results with their score parts, and the results left out.

It uses the same retrieval as prompts. Memories that are in every prompt are found here, too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, get_args

from django.db.models import Func
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from memory.forms import SearchForm
from memory.librarian.document_updates import CONVERSATIONS
from memory.models import Chunk, Document, Fact
from memory.models.kinds import EpisodeKind, Kind
from memory.pages.knowledge import document_url
from memory.ports import source
from memory.refs import ids_by_kind
from memory.retrieval import truth
from memory.retrieval.candidates import Filters
from memory.retrieval.query import words_of
from memory.retrieval.ranking import DEFAULT_PROFILE, Part, Source
from memory.retrieval.recall import MemoryItem, retrieve
from memory.retrieval.truth import TOPICS
from memory.text.message_kinds import is_small_talk
from memory.text.plain_words import plain_words
from memory.text.second_person import second_person, you_wrote
from recall.text import with_links_by_their_words

MAX_RESULTS: Final = 20
"""Results per page: four times as many as in a prompt."""
MAX_LEFT_OUT: Final = 30
"""The best results left out; the rest is only counted."""
MAX_TAGS: Final = 200
"""Tags offered in the filter."""
EXCERPT_LENGTH: Final = 420
"""Characters shown of a long text: about five lines."""

SOURCES: Final[Mapping[Source, str]] = {
    "fact": "Fact",
    "episode": "Episode",
    "document": "Document",
    "message": "Message",
    "segment": "Summary",
}
SUMMARY: Final = "Conversation summary"
"""Label of a document that the librarian writes about a conversation."""
ICONS: Final[Mapping[Source, str]] = {
    "fact": "check",
    "episode": "calendar-days",
    "document": "file-text",
    "message": "message-square",
    "segment": "receipt-text",
}

PARTS: Final[Mapping[Part, str]] = {
    "keyword": "Words shared with the question",
    "semantic": "Similar meaning",
    "name_match": "Names in the question",
    "own_words": "In your own words",
    "answer": "Follows a matching question",
    "date_match": "Time in the question",
    "session": "Same conversation",
    "time_match": "Mentions a time, as you asked",
    "question": "Only a short question (lowers the score)",
    "recency": "Recently learned",
    "importance": "Important",
    "access": "Often used",
    "decay": "Not faded",
    "project": "Same project",
    "opening": "Starts the conversation",
    "keyed_answer": "Exactly what you asked for",
    "cross_encoder": "Read with the question",
    "read": "Answers, read with the question",
}
"""Each part of a score in words."""

RULES: Final[Mapping[str, str]] = {
    "below the floor": "Not relevant enough to your question.",
    "said by others": "Someone else said this, not the one you ask about.",
    "the same question": "It repeats your question and adds nothing.",
    "archived": "Faded, and not relevant enough to reuse.",
    "already in the window": "Already in this conversation.",
    "near-duplicate": "A better result says the same.",
    "beyond top-K": f"Relevant, but {MAX_RESULTS} others match better.",
    "over the token budget": "There was no room left for it.",
    **truth.RULES,
}
"""Each rule that leaves a memory out, in words."""

_STOP_WORDS: Final = re.compile(
    "a|about|all|am|an|and|any|are|as|at|be|been|but|by|can|did|do|does|for|from|had|has|have|he|her|him|his|how|i|if|in"
    "|into|is|it|its|me|my|no|not|of|on|or|our|out|said|say|she|so|some|tell|than|that|the|their|them|then|there|they"
    "|this|to|up|was|we|were|what|when|where|which|who|whose|why|will|with|would|you|your"
)
"""Words of a question that are not highlighted in results: they occur everywhere."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text, and whether it matches the question."""

    text: str
    is_asked: bool


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of a score with its share of it, or another signal with its strength: whole hundredths."""

    name: Part
    words: str
    percent: int
    """Also the width of its bar."""

    @property
    def share(self) -> float:
        return self.percent / 100


@dataclass(frozen=True, slots=True)
class Result:
    item: MemoryItem
    label: str
    icon: str
    where: str
    link: str
    """URL of its source; empty: deleted."""
    pieces: Sequence[Piece]
    counted: Sequence[Reason]
    """The parts of its score, the largest first."""
    uncounted: Sequence[Reason]
    """Signals not used for ranking."""
    title: str = ""
    """Of a document: its title, which is the link."""
    badge: str = ""
    rule: str = ""
    because: str = ""

    @property
    def text(self) -> str:
        """The text shown."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def percent(self) -> int:
        """Its score in percent, also the width of its bar."""
        return round(100 * self.item.score)


def build_search_page(user: User, form: SearchForm) -> dict[str, Any]:
    """The results of a question. Without one, or with an invalid form, nothing is found."""
    asked = form.cleaned_data.get("q", "") if form.is_valid() else ""
    kinds = list(dict([*Kind.choices, *EpisodeKind.choices]).items())
    context: dict[str, Any] = {"form": form, "asked": asked, "tags": _load_tags(user), "choices": {"kind": kinds}}
    if not asked:
        return context
    found = retrieve(
        user,
        asked,
        now=timezone.now(),
        as_of=_parse_moment(form, user),
        top_k=MAX_RESULTS,
        filters=_parse_filters(form, user),
    )
    cut = found.cut[:MAX_LEFT_OUT]
    shown = _build_results(user, asked, [*found.kept, *(candidate.item for candidate in cut)])
    return {
        **context,
        "results": shown[: len(found.kept)],
        "left_out": [
            replace(result, rule=one.rule, because=RULES[one.rule])
            for result, one in zip(shown[len(found.kept) :], cut, strict=True)
        ],
        "left_out_count": len(found.cut),
        "is_small_talk": is_small_talk(asked),
    }


def has_memories(user: User) -> bool:
    """Whether there is a fact or a document to find."""
    facts, documents = Fact.objects.for_user(user).active(), Document.objects.for_user(user).exclude(text="")
    return facts.exists() or documents.exists()


# The question ------------------------------------------------------------------------------------------------------


def _parse_moment(form: SearchForm, user: User) -> datetime:
    """The end of the chosen day, or now."""
    chosen: date | None = form.cleaned_data["as_of"]
    return _start_of(chosen + timedelta(days=1), user) if chosen else timezone.now()


def _parse_filters(form: SearchForm, user: User) -> Filters:
    chosen = form.cleaned_data
    since, until = chosen["since"], chosen["until"]
    return Filters(
        sources=frozenset(chosen["source"] or get_args(Source)),
        kinds=frozenset(chosen["kind"]),
        tags=frozenset(chosen["tag"]),
        path=chosen["folder"],
        scope=chosen["scope"],
        minimum_importance=min_importance(int(chosen["least"])) if chosen["least"] else 0.0,
        since=_start_of(since, user) if since else None,
        until=_start_of(until + timedelta(days=1), user) if until else None,
    )


def min_importance(level: int) -> float:
    """The lowest importance shown as this level of 5 (`Fact.importance_level`)."""
    return (level - 1.5) / 4


def _start_of(day: date, user: User) -> datetime:
    """Midnight at the start of the day, in the user's time zone."""
    return datetime(day.year, day.month, day.day, tzinfo=user.zone)


def _load_tags(user: User) -> list[str]:
    """Tags of the user's documents and facts."""
    owned = (Document.objects.for_user(user), Fact.objects.for_user(user))
    tag_lists = [
        rows.annotate(tag=Func("tags", function="unnest")).values_list("tag").distinct()[:MAX_TAGS] for rows in owned
    ]
    return sorted({tag for rows in tag_lists for (tag,) in rows}, key=str.casefold)


# The results -------------------------------------------------------------------------------------------------------


def _build_results(user: User, asked: str, items: Sequence[MemoryItem]) -> list[Result]:
    """Each item with its score parts and source. Two queries."""
    pks = ids_by_kind(item.ref for item in items)
    facts = Fact.objects.for_user(user).only("kind", "status").in_bulk(pks["fact"])
    passages = Chunk.objects.for_user(user).filter(pk__in=pks["chunk"], document__isnull=False)
    of_document = passages.select_related("document").defer("vector", "search", "document__text")
    chunks = {passage.pk: passage for passage in of_document}
    pattern = match_pattern(asked)
    return [_build_result(item, facts, chunks, pattern) for item in items]


def _build_result(
    item: MemoryItem, facts: Mapping[int, Fact], passages: Mapping[int, Chunk], pattern: re.Pattern[str] | None
) -> Result:
    pk = int(item.ref.rpartition(":")[2])
    label, icon = SOURCES[item.source], ICONS[item.source]
    where, link, title, badge = item.title, "", "", ""
    text = item.text
    if item.source == "fact" and pk in facts:
        where, link = facts[pk].get_kind_display(), reverse("memory:fact", args=[pk])
        badge = "" if facts[pk].status == Fact.Status.ACTIVE else facts[pk].get_status_display()
    elif item.source == "document" and pk in passages and (document := passages[pk].document):
        link, title = f"{document_url(document.path)}#passage-{passages[pk].number}", document.title
        where = item.title.removeprefix(document.path).strip()
        text = with_links_by_their_words(text)
        if document.source == Document.Source.LIBRARIAN:
            text = TOPICS.sub("", text).strip() or text
            if document.path.startswith(f"{CONVERSATIONS}/"):
                label, icon = SUMMARY, ICONS["segment"]
    elif item.source == "episode":
        link = f"{_story_url(item.conversation_id)}#episode-{pk}"
    elif item.source == "message":
        where, link = SPEAKERS.get(item.said_by, item.said_by), source.get_source().message_url(pk)
    elif item.conversation_id:
        link = reverse("conversation", args=[item.conversation_id])
    counted, uncounted = explain_score(item.parts)
    text = plain_words(text) if item.source != "fact" else text
    text = second_person(text) if item.source in ("fact", "episode") else you_wrote(text)
    pieces = mark_matches(excerpt(text, pattern), pattern)
    return Result(item, label, icon, where, link, pieces, counted, uncounted, title, badge)


SPEAKERS: Final = {"user": "You", "assistant": "Recall"}


def _story_url(conversation_id: str) -> str:
    return reverse("memory:story", args=[conversation_id]) if conversation_id else reverse("memory:timeline")


def explain_score(parts: Mapping[Part, float]) -> tuple[list[Reason], list[Reason]]:
    """The parts of a score, the largest first, and the signals not used for ranking. Pure.

    The shares of the parts add up to 100%; parts below half a percent may be left out.
    """
    weights = DEFAULT_PROFILE.weights
    worth = {part: abs(weights[part] * value) for part, value in parts.items() if weights.get(part)}
    shares = _whole_shares(dict(sorted(worth.items(), key=lambda one: -one[1])))
    counted = [Reason(part, _part_name(part), share) for part, share in shares.items() if share]
    uncounted = [
        Reason(part, _part_name(part), round(100 * value)) for part, value in parts.items() if not weights.get(part)
    ]
    return counted, uncounted


def _whole_shares(worth: Mapping[Part, float]) -> dict[Part, int]:
    """Whole percentages that add up to 100: each rounded down, and the rest to those that lost most."""
    whole = sum(worth.values())
    if not whole:
        return {}
    exact = {part: 100 * value / whole for part, value in worth.items()}
    shares = {part: int(share) for part, share in exact.items()}
    lost_most = sorted(exact, key=lambda part: shares[part] - exact[part])
    for part in lost_most[: 100 - sum(shares.values())]:
        shares[part] += 1
    return shares


def _part_name(part: Part) -> str:
    """The name of a part; old receipts may have parts that ranking no longer knows."""
    return PARTS.get(part, part.replace("_", " ").capitalize())


# Highlighting ------------------------------------------------------------------------------------------------------


def match_pattern(question: str) -> re.Pattern[str] | None:
    """The pattern highlighted in results: the question's words with any usual ending; None: it has none."""
    words = {stem(word) for word in words_of(question) if not _STOP_WORDS.fullmatch(word)}
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    if not longest_first:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})[^\W_]*", re.IGNORECASE)


def stem(word: str) -> str:
    """A word without its English ending: “lives”, “living” and “lived” share the stem “liv”."""
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def mark_matches(text: str, pattern: re.Pattern[str] | None) -> list[Piece]:
    """The text split into matching and other pieces; joined, they are the text."""
    if pattern is None:
        return [Piece(text, False)]
    pieces: list[Piece] = []
    end = 0
    for found in pattern.finditer(text):
        pieces += [Piece(text[end : found.start()], False), Piece(found[0], True)]
        end = found.end()
    return [piece for piece in (*pieces, Piece(text[end:], False)) if piece.text]


_CUT_START: Final = re.compile(r"^\S{1,30}\s")
_CUT_END: Final = re.compile(r"\s\S{1,30}$")
"""The half of a word at an excerpt's edge; without spaces, as in Chinese, nothing is cut off."""


def excerpt(text: str, pattern: re.Pattern[str] | None) -> str:
    """The text, or the part of a long text with the most matches."""
    if len(text) <= EXCERPT_LENGTH:
        return text
    starts = [found.start() for found in pattern.finditer(text)] if pattern else []
    fullest = max(starts, key=lambda start: sum(start <= other < start + EXCERPT_LENGTH for other in starts), default=0)
    begin = min(max(0, fullest - EXCERPT_LENGTH // 6), len(text) - EXCERPT_LENGTH)
    stretch, rest = text[begin : begin + EXCERPT_LENGTH], text[begin + EXCERPT_LENGTH :]
    stretch = _CUT_START.sub("", stretch) if text[:begin][-1:].isalnum() else stretch
    stretch = _CUT_END.sub("", stretch) if rest[:1].isalnum() else stretch
    return f"{'… ' if begin else ''}{stretch.strip()}{' …' if rest else ''}"
