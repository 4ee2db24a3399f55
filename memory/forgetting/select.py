"""Selects what a topic in words means: every memory that may be meant, in order, with the clear ones ticked.

`scope.decide` rules on each text; this module finds the texts. Meaning (vectors) only orders the rest. If the words
decide nothing, the closest match is ticked, and what answers a question for the topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from django.db.models import Q
from django.utils import timezone
from pgvector.django import CosineDistance

from memory.answers.answers import chance
from memory.embeddings.port import embedder
from memory.facts.keys import split_key
from memory.forgetting.scope import (
    SYNONYMS,
    Reason,
    Ruling,
    Topic,
    Verdict,
    decide,
    least_prefix,
    patterns_of_values,
    read_topic,
    settle,
    with_aliases,
)
from memory.forgetting.targets import of_chat
from memory.models import Document, Episode, Fact
from memory.retrieval.recall import FOLLOWED, retrieve
from memory.text.identifiers import canonical, fold
from memory.text.keywords import words as words_of
from memory.text.parts import parts_of, sentence_spans
from memory.text.relations import PEOPLE, PETS
from recall.redaction import FORGOTTEN

if TYPE_CHECKING:
    from accounts.models import User

MAX_MATCHES: Final = 100
MAX_ROWS: Final = 500
"""Maximum messages and documents read for one topic, the latest first."""
MAX_SIMILAR: Final = 20
CLOSE: Final = 0.55
"""Cosine from which the closest fact may be ticked without a common word."""
AHEAD: Final = 0.08
"""How much closer it must be than the next one."""
_GAP: Final = "[^[:alnum:]]*"
AND: Final = re.compile(r",? and (?:about )?", re.IGNORECASE)
"""Between two topics: “Remontowa and the interview”, where no memory has both."""
TOLD_FROM: Final = 0.8
"""Probability from which another part of a message tells the topic, too: it answers the question for it."""
MAX_READ, MAX_PARTS = 5, 20
"""Messages, and parts of each, that are read so."""
_ONESELF: Final = frozenset({"i", "i'm", "i've", "i'd", "my", "me", "we", "our"})
_OTHERS: Final = frozenset({"he", "she", "his", "her", "him", "they", "their"})
_POSSESSIVE: Final = re.compile(r"(?i)\W*(?:(?:and|but|so) )?(?:his|her|their|its|whose)\b")
_OF_A_BEING: Final = re.compile(rf"{_POSSESSIVE.pattern}|\W*(?:(?:and|but|so) )?(?:s?he|they|who)\b", re.IGNORECASE)
"""Opens what says more of the thing, or of the being, that the part before it names."""
_SAYS_MORE: Final = re.compile(r"(?i)^(?:it(?:['’]?s)?|they(?:['’]\w+)?|their)\b|\bthem\b")
"""In a sentence of what the one before it is about."""
_ASKS: Final = re.compile(r"(?i)(?:who|whom|what|where|when|how|why|which)\b")
"""The start of a topic that is a question: “who I work for”."""


@dataclass(frozen=True, slots=True)
class Match:
    """One memory, and how it relates to the topic."""

    ref: str
    """In the form of `Target.refs`; `fact:12:1,2` names parts of a fact."""
    kind: str
    """`fact`, `episode`, `document`, `message` or `answer`."""
    text: str
    """What would be forgotten, or the whole memory."""
    ruling: Ruling
    status: str = ""
    """Status of a fact."""
    cosine: float = 0.0
    is_likely: bool = False
    """Whether the search takes it for the answer to a question for the topic."""

    @property
    def is_ticked(self) -> bool:
        """Whether it is clearly meant."""
        return self.ruling.is_ticked


def select_topic(user: User, words: str) -> list[Match]:
    """Memories that may belong to the topic: those that are meant, then their neighbors, then those similar in
    meaning. Of several topics (“the therapist; my weight”) those of each."""
    found = [match for topic in words.split(";") if topic.strip() for match in _select(user, topic.strip())]
    rows: dict[str, Match] = {}
    for match in sorted(found, key=lambda one: not one.is_ticked):
        whole = ":".join(match.ref.split(":")[:2])
        rows[whole] = _merged(rows[whole], match) if whole in rows else match
    return list(rows.values())[:MAX_MATCHES]


def _merged(one: Match, other: Match) -> Match:
    """A memory that was found twice; of different parts that two topics mean, both."""
    if not other.is_ticked or one.ruling.verdict == Verdict.MEANT:
        return one
    if not one.is_ticked or other.ruling.verdict == Verdict.MEANT:
        return other
    parts = tuple(sorted({*one.ruling.parts, *other.ruling.parts}))
    ref = f"{one.ref.rpartition(':')[0]}:{','.join(map(str, parts))}"
    text = one.text if other.text in one.text else f"{one.text} … {other.text}"
    return replace(one, ref=ref, text=text, ruling=replace(one.ruling, parts=parts))


def _select(user: User, words: str) -> list[Match]:
    found = _load_topic(user, words)
    if not any(match.is_ticked for match in found):
        of_each = [match for topic in AND.split(words) for match in _load_topic(user, topic)]
        found = of_each if any(match.is_ticked for match in of_each) else found
    if not any(match.is_ticked for match in found):
        found = _with_the_closest(found)
    shown = [match for match in found if match.is_ticked or match.ruling.coverage > 0 or match.ruling.has_anchors]
    shown.sort(key=lambda one: (not one.is_ticked, -one.ruling.coverage, -one.cosine, one.kind, one.ref))
    similar = list(_load_similar(user, words))
    if not any(match.is_ticked for match in shown):
        similar = [_as_meant(user, match, words) if match.is_likely else match for match in similar]
    return [*shown, *similar]


def _load_topic(user: User, words: str) -> list[Match]:
    topic = read_topic(words)
    found = _load_matches(user, topic)
    if not any(match.is_ticked for match in found) and topic.text[:1].isupper():
        return _load_matches(user, read_topic(topic.text[:1].lower() + topic.text[1:]))  # read as a word, not a name
    return found


def _with_the_closest(found: list[Match]) -> list[Match]:
    """The matches with the one that is clearly closest ticked: by its words, then by its meaning."""
    open_ones = [match for match in found if match.ruling.reason not in (Reason.OPPOSITE, Reason.OTHER_SUBJECT)]
    facts = [match for match in open_ones if match.kind == "fact"]  # the message repeats the fact
    for share in (_by_words, attrgetter("cosine")):
        some = facts if any(map(share, facts)) else open_ones
        ranked = sorted(some, key=share, reverse=True)
        best = share(ranked[0]) if ranked else 0.0
        following = share(ranked[1]) if len(ranked) > 1 else 0.0
        if (best >= 1 and best > following) or (CLOSE <= best < 1 and best - following >= AHEAD):
            return [_chosen(one) if one is ranked[0] else one for one in found]
    return found


def _chosen(match: Match) -> Match:
    """The match, ticked: of a message or fact with several parts the nearest one."""
    ruling = replace(match.ruling, verdict=Verdict.MEANT, reason=Reason.LIKELY)
    if not ruling.parts or match.kind not in ("message", "fact"):
        return replace(match, ruling=ruling)
    part = _match(_Row(match.kind, match.ref, match.text), replace(ruling, verdict=Verdict.PART))
    return replace(part, status=match.status, cosine=match.cosine)


def _by_words(match: Match) -> float:
    return 1 + match.ruling.coverage if match.ruling.has_anchors else 0.0


# Loading -----------------------------------------------------------------------------------------------------------


def _load_matches(user: User, topic: Topic) -> list[Match]:
    if topic.is_empty:
        return []
    rows = list(_rows(user, topic))
    known = with_aliases(topic, (row.text for row in rows))
    if known.identifiers != topic.identifiers:
        rows = list(_rows(user, known))
    rulings = settle(known, [_rule(known, row) for row in rows])
    for place in [n for n, row in enumerate(rows) if row.kind == "message" and rulings[n].parts][:MAX_READ]:
        rulings[place] = _with_sequel(topic, rows[place], _with_answers(topic, rows[place], rulings[place]))
    return [_match(row, ruling) for row, ruling in zip(rows, rulings, strict=True)]


@dataclass(frozen=True, slots=True)
class _Row:
    """A text of the user, with what else is known about it."""

    kind: str
    ref: str
    text: str
    name: str = ""
    """A document's path."""
    known_as: str = ""
    status: str = ""
    cosine: float = 0.0


def _rule(topic: Topic, row: _Row) -> Ruling:
    if row.kind == "document" and _is_about(topic, row.name):
        return Ruling(Verdict.MEANT, Reason.NAMED, coverage=1.0, has_anchors=True)
    ruling = decide(topic, row.text, row.known_as)
    if row.kind == "episode" and ruling.verdict == Verdict.PART:
        return replace(ruling, verdict=Verdict.MEANT, reason=Reason.NAMED, parts=())  # it will be summarized again
    return ruling


def _match(row: _Row, ruling: Ruling) -> Match:
    text, ref = row.text, row.ref
    if ruling.verdict == Verdict.PART:
        going = [part for part in parts_of(row.text) if part.number in ruling.parts]
        text = " … ".join(row.text[part.start : part.end] for part in going)
        ref = f"{row.ref}:{','.join(map(str, ruling.parts))}"
        ruling = replace(ruling, reason=Reason.IN_ANSWER) if row.kind == "answer" else ruling
    shown = f"{row.name}: {text}" if row.name else text
    return Match(ref, row.kind, shown, ruling, row.status, row.cosine)


def _is_about(topic: Topic, path: str) -> bool:
    """Whether a document's own name is the topic's."""
    name = canonical(path.rpartition("/")[2])
    return not (topic.words or topic.dates) and any(
        {name} == identifier.forms & {name} for identifier in topic.identifiers
    )


def _rows(user: User, topic: Topic) -> Iterator[_Row]:
    vector = embedder().embed([topic.text])[0].tolist()
    facts = Fact.objects.for_user(user).defer("vector", "search").order_by("pk")
    for fact in facts.annotate(distance=CosineDistance("vector", vector)):
        near = 1 - fact.distance if fact.embedded_by == embedder().name and fact.distance is not None else 0.0
        subject, attribute = split_key(fact.key)
        known_as = f"{re.sub(r'[_/:]', ' ', f'{subject} {attribute}')} {fact.value}" if fact.key else fact.value
        yield _Row("fact", fact.ref, fact.statement, "", known_as, fact.get_status_display().lower(), near)
    for pk, title, summary in Episode.objects.for_user(user).values_list("pk", "title", "summary"):
        yield _Row("episode", f"episode:{pk}", f"{title}\n{summary}")
    mentions = Q(text__iregex=_pattern(topic))
    documents = Document.objects.for_user(user).filter(mentions | Q(title__iregex=_pattern(topic)))
    for pk, path, text in documents.order_by("-pk").values_list("pk", "path", "text")[:MAX_ROWS]:
        yield _Row("document", f"document:{pk}", text, path)
    said = of_chat("Message", user).filter(mentions, role__in=("user", "assistant")).exclude(text__in=("", FORGOTTEN))
    for pk, role, text in said.order_by("-pk").values_list("pk", "role", "text")[:MAX_ROWS]:
        yield _Row("message" if role == "user" else "answer", f"message:{pk}", text)


def _pattern(topic: Topic) -> str:
    """A PostgreSQL pattern that narrows down the texts to read; `decide` rules on what it finds."""
    forms = [form for identifier in topic.identifiers for form in identifier.forms]
    if forms:
        return "|".join(_spaced(form) for form in forms)
    words = topic.words.union(*(group for group in SYNONYMS if group & topic.words))
    starts = {word[: least_prefix(word)] for word in words} | topic.dates
    return "|".join([*(rf"\m{re.escape(start)}" for start in sorted(starts)), *patterns_of_values(topic)])


def _spaced(form: str) -> str:
    """A pattern for an identifier's letters in any case and with any accents, with any signs in between."""
    letters = [f"[{''.join(sorted(_variants(char)))}]" for char in form]
    return "|".join(_GAP.join(one) for one in (letters, _with_sharp_s(form, letters)) if one)


def _with_sharp_s(form: str, letters: list[str]) -> list[str]:
    place = form.find("ss")
    return [*letters[:place], "ß", *letters[place + 2 :]] if place >= 0 else []


@cache
def _variants(char: str) -> frozenset[str]:
    """The characters whose casefold is this one."""
    return frozenset({char, char.upper()}) | _foldings().get(char, frozenset())


@cache
def _foldings() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for start, end in ((0xC0, 0x250), (0x370, 0x530), (0x1E00, 0x2000), (0xFF10, 0xFF5B)):
        for number in range(start, end):
            char = chr(number)
            if char.isalnum() and len(fold(char)) == 1:
                found.setdefault(fold(char), set()).add(char)
    return {char: frozenset(others) for char, others in found.items()}


def _with_answers(topic: Topic, row: _Row, ruling: Ruling) -> Ruling:
    """The ruling on a message of which a part is meant, with its other parts that tell the same of the user in other
    words: “prep me for a pay talk”, and “I make 61k”."""
    if ruling.verdict != Verdict.PART or not topic.is_of_user or topic.is_claim:
        return ruling
    others = [part for part in parts_of(row.text)[:MAX_PARTS] if part.number not in ruling.parts]
    others = [part for part in others if _is_of_user(row.text[part.start : part.end])]
    told = [part for part in others if chance(_question(topic.text), row.text[part.start : part.end]) >= TOLD_FROM]
    return replace(ruling, parts=tuple(sorted({*ruling.parts, *(one.number for one in told)})))


def _with_sequel(topic: Topic, row: _Row, ruling: Ruling) -> Ruling:
    """The ruling on a message of which a part is meant, with what right after it says more of the same thing: the
    sentences “I'm in a dispute with a builder. I paid them 22,000.”, and the rest of “My sister had a boy, his name is
    Noor”. Of “she” more may be said than is meant, unless the whole person is."""
    if ruling.verdict != Verdict.PART:
        return ruling
    parts = parts_of(row.text)
    meant = {part.sentence for part in parts if part.number in ruling.parts}
    sequel: set[int] = set()
    for number, (start, end) in enumerate(sentence_spans(row.text)):
        if number - 1 in meant | sequel and _SAYS_MORE.search(row.text[start:end].strip()):
            sequel.add(number)
    going = {*ruling.parts, *(part.number for part in parts if part.sentence in sequel - meant)}
    opening = _OF_A_BEING if topic.is_being else _POSSESSIVE
    for before, part in pairwise(parts):
        if before.number in going and before.sentence == part.sentence and opening.match(row.text, part.start):
            going.add(part.number)
    return replace(ruling, parts=tuple(sorted(going)))


def _is_of_user(part: str) -> bool:
    """Whether a part of a message speaks of its writer, and of no one else: not “my sister is a nurse”."""
    said = set(words_of(part))
    return not _ONESELF.isdisjoint(said) and said.isdisjoint(PEOPLE | PETS | _OTHERS)


def _question(topic: str) -> str:
    """The topic as a question: “who I work for?”, “what is my salary?”."""
    return f"{topic}?" if _ASKS.match(topic) else f"what is {topic}?"


def _load_similar(user: User, words: str) -> Iterator[Match]:
    similar = Ruling(Verdict.NEIGHBOR, Reason.SIMILAR)
    search = partial(retrieve, user, now=timezone.now(), top_k=MAX_SIMILAR)
    asked_for = () if read_topic(words).is_claim else search(_question(words), reads=True).kept
    likely = {item.ref for item in asked_for if item.answers not in ("", FOLLOWED)}
    for item in {item.ref: item for item in (*search(words).kept, *asked_for)}.values():
        if item.source in ("fact", "episode"):
            status = "active" if item.source == "fact" else ""
            yield Match(item.ref, item.source, item.text, similar, status, is_likely=item.ref in likely)
        elif item.source == "message":
            is_own = item.said_by == "user"
            kind = "message" if is_own else "answer"
            yield Match(item.ref, kind, item.text, similar, is_likely=is_own and item.ref in likely)


def _as_meant(user: User, match: Match, words: str) -> Match:
    """The match, ticked: of a message with several parts the one that is nearest to the topic in meaning."""
    ruling = replace(match.ruling, verdict=Verdict.MEANT, reason=Reason.LIKELY)
    pk = match.ref.partition(":")[2]
    texts = of_chat("Message", user).filter(pk=pk).values_list("text", flat=True) if match.kind == "message" else ()
    text = next(iter(texts), "")
    parts = parts_of(text)
    if len(parts) < 2:
        return replace(match, ruling=ruling)
    topic, *vectors = embedder().embed([words, *(text[part.start : part.end] for part in parts)])
    part, _ = max(zip(parts, vectors, strict=True), key=lambda one: float(topic @ one[1]))
    return _match(_Row(match.kind, match.ref, text), replace(ruling, verdict=Verdict.PART, parts=(part.number,)))
