"""The forget list at work: recognizes what was forgotten when it comes in again, by any way and in any text.

What is stored are keyed digests (`memory/models/tombstones.py`), never words:

    a phrase         a forgotten sentence or quote, wherever it occurs within a text, in any case and punctuation
    an identifier    such as KV-7291, an address or a phone number, however it is spelled and whatever is around it
    a value          of a key: `user/home` was Lisbon, in any wording that yields the same key and value

A text is looked up by the keyed hash of each two words, so the cost is that of its length, not of the list's.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from uuid import UUID

from memory.models import ForgetList, Tombstone
from recall.db.prepared import PreparedQuery, Read
from recall.redaction import FORGOTTEN, merge_marks, words_of

if TYPE_CHECKING:
    from memory.models import Forgetting

MIN_PHRASE: Final = (2, 1)
"""Minimum words, and minimum meaningful words among them, of a fact's statement or quote: “love jazz” counts."""
MIN_SENTENCE: Final = (4, 2)
"""The same for other sentences: “That sounds good” is in every second conversation, and isn't forgotten with one."""
MAX_PHRASE_WORDS: Final = 60
"""Only the start of a longer sentence is used."""
MIN_IDENTIFIER: Final = 6
"""Minimum letters and digits of an identifier with both; “2024”, “8080” and “B12” are in too many other texts."""
MIN_NUMBER: Final = 7
"""Minimum digits of an identifier without letters: a phone number, not a year or a port."""
MAX_PARTS: Final = 5
"""Maximum words of one identifier in another spelling: KV 7291 QRTX."""
MIN_QUOTE_SHARE: Final = 0.5
"""Share of a quote's words that must be forgotten ones, so that a fact about the rest of the sentence is still
learned."""
LIST_AT_ONCE: Final = 2_000
ALLOW_FIRST: Final = "This contains something you had forgotten. Take it out, or allow it again under Forgetting."


class ForgottenTextError(Exception):
    """A text typed by hand contains something forgotten; nothing was saved."""

    def __init__(self) -> None:
        super().__init__(ALLOW_FIRST)


_HIDDEN: Final = r"\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
"""Characters that show nothing: soft hyphens, spaces without width, joiners and marks of direction."""
_SPELLED: Final = rf"[^\W_](?:[^\W_]|[\u0300-\u036f{_HIDDEN}])*"
"""A word, with its accents (a letter and its accent may be two characters) and what is hidden within it."""
_INVISIBLE: Final = re.compile(f"[{_HIDDEN}]")
_PART: Final = re.compile(r"[^\W_]+")
_WORD: Final = re.compile(_SPELLED)
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
_IDENTIFIER: Final = re.compile(rf"{_SPELLED}(?:[-_.@:/+#][{_HIDDEN}]*{_SPELLED})*")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something to recognize again; never stored as such."""

    start: str
    words: int
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    """A word of a text in its compared form, and its place."""

    word: str
    begin: int
    end: int


# What is remembered of it ----------------------------------------------------------------------------------------


def phrases_of(text: str, least: tuple[int, int] = MIN_SENTENCE) -> Iterator[Phrase]:
    """The sentences of a text that say enough to be recognized."""
    for sentence in _SENTENCE.split(text):
        found = spelled(sentence)[:MAX_PHRASE_WORDS]
        if len(found) >= least[0] and len(words_of(sentence)) >= least[1]:
            yield Phrase(" ".join(found[:2]), len(found), " ".join(found))


def identifiers_of(text: str) -> Iterator[tuple[str, Phrase]]:
    """The identifiers of a text as written, each with the phrase it is recognized by."""
    for found in _IDENTIFIER.finditer(text):
        normalized = _fold(found[0])
        if _is_identifier(normalized) or "@" in found[0]:
            yield found[0], Phrase(normalized, 1, normalized)


def value_of(key: str, value: str) -> Iterator[Phrase]:
    spelled = _normal(value)
    if key and spelled:
        yield Phrase(f"{key}={spelled}", 0, spelled)


def turns_of(conversation: UUID | None, first: int, last: int) -> Iterator[Phrase]:
    """The turns of a conversation that must not become an episode again."""
    for turn in range(first, last + 1 if conversation else first):
        yield from value_of(f"episode:{conversation}", str(turn))


def record(user_id: int, phrases: Iterable[Phrase], forgetting: Forgetting | None) -> int:
    """Add these to the user's forget list; return how many there are."""
    wanted = set(phrases)
    if not wanted:
        return 0
    forget_list = ForgetList.objects.filter(user=user_id).order_by("pk").first() or ForgetList.objects.create(
        user_id=user_id
    )
    rows = (
        Tombstone(
            user_id=user_id,
            of=forget_list,
            forgetting=forgetting,
            start=_start(forget_list.key, phrase.start),
            words=phrase.words,
            digest=_digest(forget_list.key, phrase),
        )
        for phrase in wanted
    )
    Tombstone.objects.bulk_create(rows, batch_size=LIST_AT_ONCE, ignore_conflicts=True)
    return len(wanted)


# What is recognized ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hit:
    """Something forgotten within a text: where, by which entry of the list, and when it was forgotten."""

    begin: int
    end: int
    entry: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Recognizer:
    """A user's forget list, for lookups. Most users have none, and then nothing is read."""

    user_id: int
    lists: list[tuple[int, str]]
    """Number and key of each list."""

    def mask(self, text: str) -> str:
        """The text with `[forgotten]` in place of what was forgotten."""
        hits = sorted(self.find(text), key=lambda hit: (hit.begin, -hit.end))
        if not hits:
            return text
        left, last = [], 0
        for hit in hits:
            if hit.begin >= last:
                left += [text[last : hit.begin], FORGOTTEN]
            last = max(last, hit.end)
        return merge_marks("".join([*left, text[last:]]))

    def forgotten_at(self, statement: str, key: str = "", value: str = "", quote: str = "") -> datetime | None:
        """When a fact was forgotten: by its words, its value, or the words it is read from. None: it wasn't."""
        found = [hit.at for hit in self.find(statement)] + [at for _, at in self.find_value(key, value)]
        hits = self.find(quote)
        covered = {place.begin + hit.begin for hit in hits for place in _places(quote[hit.begin : hit.end])}
        if covered and len(covered) >= MIN_QUOTE_SHARE * sum(1 for _ in _places(quote)):
            found += [hit.at for hit in hits]
        return max(found, default=None)

    def find(self, text: str) -> list[Hit]:
        """Where forgotten phrases and identifiers are in a text."""
        if not text or not self.lists:
            return []
        places = list(_places(text))
        starts: dict[str, list[int]] = {}
        for number, (one, other) in enumerate(pairwise(places)):
            starts.setdefault(f"{one.word} {other.word}", []).append(number)
        spellings = _spellings(text, places)
        hits = []
        for listed, key in self.lists:
            hashed = {_start(key, start): start for start in (*starts, *spellings)}
            rows = Tombstone.objects.filter(user=self.user_id, of=listed, start__in=list(hashed))
            for row in rows.only("start", "words", "digest", "created_at"):
                said = hashed[row.start]
                runs = [places[number : number + row.words] for number in starts.get(said, ())]
                spans = [(run[0].begin, run[-1].end, " ".join(place.word for place in run)) for run in runs]
                if row.words == 1:
                    spans = [(begin, end, said) for begin, end in spellings.get(said, ())]
                for begin, end, words in spans:
                    if row.digest == _digest(key, Phrase(said, row.words, words)):
                        hits.append(Hit(begin, end, row.pk, row.created_at))
        return hits

    def has_turns(self, conversation: UUID, first: int, last: int) -> bool:
        """Whether an episode of some of these turns was forgotten."""
        return bool(self.lists) and any(
            self.find_value(f"episode:{conversation}", str(turn)) for turn in range(first, last + 1)
        )

    def find_value(self, key: str, value: str) -> list[tuple[int, datetime]]:
        """The entries of the list for exactly this value of a key, and when it was forgotten."""
        found: list[tuple[int, datetime]] = []
        for phrase in value_of(key, value):
            for listed, secret in self.lists:
                rows = Tombstone.objects.filter(user=self.user_id, of=listed, start=_start(secret, phrase.start))
                found += rows.filter(digest=_digest(secret, phrase)).values_list("pk", "created_at")
        return found


_LISTS: Final = PreparedQuery(
    lambda user: ForgetList.objects.filter(user=user).order_by("pk").values_list("pk", "key"), user=int
)


def load(user_id: int) -> Recognizer:
    """The user's forget list. One statement."""
    return Recognizer(user_id, _LISTS(user=user_id))


def lists_read(user_id: int) -> Read:
    """What `load` reads."""
    return _LISTS.read(user=user_id)


def mask(user_id: int, text: str) -> str:
    """The text with `[forgotten]` in place of what the user had forgotten."""
    return load(user_id).mask(text)


def adds_forgotten(user_id: int, before: str, after: str) -> bool:
    """Whether a new version of a text contains something forgotten that the earlier one did not."""
    known = load(user_id)
    return bool({hit.entry for hit in known.find(after)} - {hit.entry for hit in known.find(before)})


def lift(user_id: int, *texts: str, key: str = "", value: str = "") -> int:
    """Remove from the list what these texts say, because the user wants it remembered again; return how many
    entries."""
    known = load(user_id)
    found = {hit.entry for text in texts for hit in known.find(text)}
    found |= {entry for entry, _ in known.find_value(key, value)}
    if found:
        Tombstone.objects.filter(user=user_id, pk__in=found).delete()
    return len(found)


def _spellings(text: str, places: list[_Place]) -> dict[str, list[tuple[int, int]]]:
    """Every identifier of a text, and its places; adjacent words may be parts of one."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in _IDENTIFIER.finditer(text):
        if "@" in match[0]:
            found.setdefault(_fold(match[0]), []).append(match.span())
    for number, first in enumerate(places):
        normalized = ""
        for last in places[number : number + MAX_PARTS]:
            normalized += last.word
            if _is_identifier(normalized):
                found.setdefault(normalized, []).append((first.begin, last.end))
    return found


# Words and digests -----------------------------------------------------------------------------------------------


def _places(text: str) -> Iterator[_Place]:
    for found in _WORD.finditer(text):
        yield _Place(_normal(found[0]), *found.span())


def spelled(text: str) -> list[str]:
    """The words of a text in their compared form."""
    return [place.word for place in _places(text)]


def _normal(text: str) -> str:
    return " ".join(_PART.findall(unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()))


def _fold(text: str) -> str:
    return _normal(text).replace(" ", "")


def _is_identifier(normalized: str) -> bool:
    digits = sum(char.isdigit() for char in normalized)
    if digits == len(normalized):
        return digits >= MIN_NUMBER
    return digits > 0 and len(normalized) >= MIN_IDENTIFIER


def _start(key: str, text: str) -> int:
    return int.from_bytes(_keyed(key, f"start:{text}", 7))


def _digest(key: str, phrase: Phrase) -> str:
    return _keyed(key, f"{phrase.words}:{phrase.start}:{phrase.text}", 16).hex()


def _keyed(key: str, text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), key=bytes.fromhex(key), digest_size=size).digest()
