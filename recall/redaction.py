"""Redaction: replaces forgotten words in a text by `[forgotten]`, and keeps the rest.

`Erasure` says what is being forgotten, in plain data that every app understands: rows by id and by reference, the
texts themselves (in memory only, never in a row or a log), and the words that reveal a trace of them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

FORGOTTEN: Final = "[forgotten]"
"""Replaces what was forgotten, on screen and in prompts."""
BLANKED: Final = frozenset({"label", "text", "title", "summary", "qualifier"})
"""Keys whose values are blanked in a JSON object whose `ref` names something forgotten."""
FIXED: Final = frozenset(
    {"ref", "section", "rule", "url", "kind", "source", "role", "type", "id", "name", "status", "ttl", "print", "code",
     "withholds"}
)  # fmt: skip
"""JSON keys whose values the code reads: a word in them is no trace of a memory."""
CUT_OFF: Final = frozenset({"label", "qualifier"})
"""Keys whose values show the start of a text, and may end within it."""
START_WORDS: Final = 6
"""Words by which the start of a forgotten text is recognized; fewer say too little."""
MAX_START: Final = 100
"""Words that a value that is cut off may hold."""
MIN_TEXT_CHARS: Final = 8
"""Characters. A shorter text counts as a word, and words have rules of their own."""

MAX_HINTS: Final = 200
"""Words in one pattern."""

_WORD: Final = re.compile(r"[^\W_]+")
_ENDS: Final = r"(?![^\W_]|[\u0300-\u036f])"
"""Neither a letter nor an accent follows."""
_REPEATED: Final = re.compile(rf"(?:{re.escape(FORGOTTEN)}[\s,;.:!?…”\"'’)(–-]*)+(?={re.escape(FORGOTTEN)})")
_CUT: Final = re.compile(r"\W*(?:\).*)?", re.DOTALL)
"""What follows where a text was cut off: nothing, or what the bracket around it ends."""
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|\n+")

STOP_WORDS: Final = frozenset(
    word
    for line in (
        "a about above after again against all also always am an and any are aren as at be because been before",
        "being below between both but by can cannot could couldn did didn do does doesn doing don down during each",
        "ever every few for from further get gets getting go goes going got had hadn has hasn have haven having he",
        "her here hers herself him himself his how if in into is isn it its itself just let like likes ll made",
        "make makes many may me might mine more most much must my myself never new no nor not nothing now of off",
        "often ok on once one only or other our ours ourselves out over own please quite re really said same say",
        "says shall she should shouldn since so some such than thanks that the their theirs them themselves then",
        "there these they thing things this those through time to today too two under until up us use used user",
        "uses ve very want wants was wasn way we well were weren what when where which while who whom why will",
        "with won would wouldn yes yet you your yours yourself yourselves",
    )
    for word in line.split()
)
"""English words without meaning of their own (PostgreSQL's list, and the most common verbs)."""


_SPELLINGS: Final = {"ss": "ß|ẞ", "i\u0307": "İ"}
"""What `casefold` makes two characters of, and the characters: ignoring case alone doesn't match them."""


def _split(text: str) -> list[str]:
    """The words, with each accent in one character with its letter: apart, it would end the word."""
    return _WORD.findall(unicodedata.normalize("NFC", text))


def words_of(text: str) -> set[str]:
    """The meaningful words of a text, in lower case; numbers count, single letters don't."""
    found = {word.casefold() for word in _split(text)}
    return {word for word in found if (len(word) > 1 or word.isdigit()) and word not in STOP_WORDS}


@dataclass(frozen=True, slots=True)
class ErasureItem:
    """One thing that is deleted or comes back, as the preview lists it."""

    what: str
    """Type, as in `Forgetting.gone`: fact, answer, receipt …"""
    ref: str
    text: str = ""
    """Shown to the user, and never stored."""
    url: str = ""


@dataclass(slots=True)
class WordMatch:
    """The words that reveal one thing that was said or learned."""

    words: frozenset[str]
    value: frozenset[str] = frozenset()

    def is_in(self, found: set[str]) -> bool:
        """Whether a text with these words repeats it: its value, or at least half of its words and no fewer than two.

        Only for texts that may have known it; for any other, half of the words would prove nothing.
        """
        if self.value and self.value <= found:
            return True
        return len(self.words) > 1 and 2 * len(self.words & found) >= max(4, len(self.words))


@dataclass(slots=True)
class Erasure:
    """Everything that is being forgotten. The caller guarantees that all ids are rows of `user_id`."""

    user_id: int
    facts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    retold: set[int] = field(default_factory=set)
    """Episodes that are rewritten from what remains."""
    documents: set[int] = field(default_factory=set)
    lines: dict[int, int] = field(default_factory=dict)
    """Document → number of deleted lines."""
    conversations: set[UUID] = field(default_factory=set)
    """Conversations deleted with everything in them."""
    messages: set[int] = field(default_factory=set)
    """Messages whose whole text is deleted."""
    thoughts: set[int] = field(default_factory=set)
    """Answers that stay, without what the model thought."""
    quotes: dict[int, set[str]] = field(default_factory=dict)
    """Message → parts of its text that are deleted."""
    parts: dict[str, set[str]] = field(default_factory=dict)
    """Reference of a fact, message or document that stays → parts of its text that are deleted, verbatim."""
    shortened: dict[int, str] = field(default_factory=dict)
    """Fact that stays → its statement without these parts."""
    segments: set[int] = field(default_factory=set)
    """Segments whose summaries are dropped and rewritten."""
    refs: set[str] = field(default_factory=set)
    """References by which receipts and prompts name what is forgotten."""
    echoes: set[str] = field(default_factory=set)
    """Of `refs`, the answers that contained it: what was derived from them is judged by its words."""
    learned_too: bool = True
    """Whether deleting a conversation also deletes what was learned from it."""
    texts: set[str] = field(default_factory=set)
    sayings: list[WordMatch] = field(default_factory=list)
    telling: set[str] = field(default_factory=set)
    """Words of it that the user uses nowhere else."""
    naming: set[str] = field(default_factory=set)
    """Names and codes of it that the user uses nowhere else: traces of it in any answer, unlike other words."""
    words: set[str] = field(default_factory=set)
    """Words of it that no remaining text has: set when all else is erased, for the final check."""
    _patterns: dict[str, tuple[int, re.Pattern[str] | None]] = field(default_factory=dict, repr=False)
    _starts: tuple[int, list[list[str]]] = field(default=(0, []), repr=False)

    @property
    def extent(self) -> int:
        """A size that grows while more is found."""
        sets = (self.facts, self.episodes, self.documents, self.messages, self.quotes, self.segments, self.refs)
        return sum(map(len, (*sets, *self.parts.values()))) + len(self.texts)

    def add_text(self, *texts: str) -> None:
        """Also look for these texts, if they are distinctive enough."""
        self.texts |= {text.strip() for text in texts if _is_telling(text.strip())}

    def is_paraphrased_in(self, text: str) -> bool:
        """Whether a text that may have known it repeats it."""
        found = words_of(text)
        return bool(found & self.telling) or self.occurs_in(text) or any(saying.is_in(found) for saying in self.sayings)

    def occurs_in(self, text: str) -> bool:
        """Whether the text contains one of the forgotten texts, word for word."""
        pattern = self.pattern()
        return pattern is not None and pattern.search(text) is not None

    def pattern(self) -> re.Pattern[str] | None:
        """Matches the forgotten texts in any spacing, punctuation and case; the longest first."""
        return self._cached("texts", self.texts, _texts_pattern)

    def hints(self) -> Iterator[str]:
        """Patterns for PostgreSQL that select the few texts to read: the longest word of each text, and the words.

        Every text that contains it matches one of them; `redact` decides whether a match contains it.
        """
        yield from self.text_hints()
        for words in batches(sorted(self.words), MAX_HINTS):
            yield rf"({'|'.join(map(in_any_case, words))})"

    def text_hints(self) -> Iterator[str]:
        """Those of `hints` that select the forgotten texts."""
        for texts in batches(sorted(self.texts), MAX_HINTS):
            longest = {max(_split(text), key=len, default="") for text in texts} - {""}
            if longest:
                yield rf"(?<![[:alnum:]])({'|'.join(map(in_any_case, sorted(longest)))})(?![[:alnum:]])"

    def start_hints(self) -> Iterator[str]:
        """Patterns for PostgreSQL that select what may end within one of the texts."""
        for some in batches(self._long_texts(), MAX_HINTS):
            starts = {r"[^[:alnum:]]+".join(map(in_any_case, words[:START_WORDS])) for words in some}
            yield rf"(?<![[:alnum:]])({'|'.join(sorted(starts))})"

    def words_pattern(self) -> re.Pattern[str] | None:
        """Matches any of the words that no remaining text has."""
        return self._cached("words", self.words, _words_pattern)

    def _cached(
        self, name: str, texts: set[str], make: Callable[[set[str]], re.Pattern[str] | None]
    ) -> re.Pattern[str] | None:
        """Compiled once for thousands of texts; cached here, so that it is dropped with the erasure."""
        made = self._patterns.get(name)
        if made is None or made[0] != len(texts):
            made = self._patterns[name] = (len(texts), make(texts))
        return made[1]

    def redact(self, text: str, *, words: bool = True) -> str:
        """The text without what is forgotten."""
        pattern, lone = self.pattern(), self.words_pattern() if words else None
        left = text if pattern is None else pattern.sub(FORGOTTEN, text)
        left = left if lone is None else lone.sub(FORGOTTEN, left)
        return text if left == text else merge_marks(left)

    def without_sentences(self, text: str) -> str:
        """The text without what is forgotten, and without sentences that repeat it in other words."""
        text = self.redact(text)
        kept = [FORGOTTEN if self._is_trace(sentence) else sentence for sentence in _SENTENCE.split(text)]
        return merge_marks(" ".join(kept)) if FORGOTTEN in kept else text

    def _is_trace(self, sentence: str) -> bool:
        found = words_of(sentence)
        return bool(found & self.telling) or any(saying.value and saying.value <= found for saying in self.sayings)

    def without_start(self, text: str) -> str:
        """The text without the start of a forgotten one, if it is cut off within it."""
        found = [(word[0].casefold(), word.start(), word.end()) for word in _WORD.finditer(text)]
        for words in self._long_texts():
            for first in range(len(found) - START_WORDS + 1):
                same = _count_same([word for word, *_ in found[first:]], words)
                rest = text[found[first + same - 1][2] :] if same else ""
                if same >= START_WORDS and _CUT.fullmatch(rest):
                    return merge_marks(f"{text[: found[first][1]]}{FORGOTTEN}{rest}")
        return text

    def _long_texts(self) -> list[list[str]]:
        """The first words of the texts that may be cut off, in lower case."""
        if self._starts[0] != len(self.texts):
            split = ([word.casefold() for word in _split(text)[:MAX_START]] for text in sorted(self.texts))
            self._starts = len(self.texts), [words for words in split if len(words) > START_WORDS]
        return self._starts[1]

    def redact_json(self, value: Any) -> Any:
        """Redact every string of a JSON value; objects whose `ref` names it are blanked."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redact_json(inner) for inner in value]
        if isinstance(value, dict):
            return self._redact_object(value)
        return value

    def _redact_object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        if self.names(value.get("ref")):
            shown = {name: FORGOTTEN if name in BLANKED and one else one for name, one in value.items()}
            return {**shown, "ref": self.redact(str(value["ref"]))}
        return {name: self._redact_value(name, one) for name, one in value.items()}

    def _redact_value(self, name: str, value: Any) -> Any:
        if name in FIXED:
            return self._fixed(value)
        return self.redact_json(self.without_start(value) if name in CUT_OFF and isinstance(value, str) else value)

    def _fixed(self, value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return [self.redact(one, words=False) for one in value]
        return self.redact(value, words=False) if isinstance(value, str) else self.redact_json(value)

    def names(self, ref: Any) -> bool:
        """Whether the reference names something forgotten; a document's reference covers its lines."""
        return isinstance(ref, str) and (ref in self.refs or ref.rpartition(":")[0] in self.refs)


def _count_same(said: list[str], words: list[str]) -> int:
    """How many words both start with; the last may be cut off."""
    same = 0
    for one, other in zip(said, words, strict=False):
        if one != other:
            return same + other.startswith(one)
        same += 1
    return same


def merge_marks(text: str) -> str:
    """Merge repeated marks into one."""
    return _REPEATED.sub("", text)


def _is_telling(text: str) -> bool:
    """Whether a text is long enough, and more than one short word: “Form: ____” must not match every “form”."""
    words = _split(text)
    return len(text) >= MIN_TEXT_CHARS and (len(words) > 1 or any(len(word) >= MIN_TEXT_CHARS for word in words))


def _texts_pattern(texts: set[str]) -> re.Pattern[str] | None:
    found = [_sequence_pattern(_split(text)) for text in sorted(texts, key=lambda text: (-len(text), text))]
    wanted = [item for item in found if item]
    return re.compile("|".join(wanted), re.IGNORECASE) if wanted else None


def in_any_case(word: str) -> str:
    """A pattern, for Python and PostgreSQL, of a word that is matched ignoring case and how its accents are encoded:
    “straße” is “STRASSE” as well, and “Zoë” is found with its dots in a character of their own."""
    pattern = "".join(map(_in_either_form, unicodedata.normalize("NFC", word.casefold())))
    for spelling, others in _SPELLINGS.items():
        pattern = pattern.replace(spelling, f"(?:{spelling}|{others})")
    return pattern


def _in_either_form(char: str) -> str:
    apart = unicodedata.normalize("NFD", char)
    return re.escape(char) if apart == char else f"(?:{re.escape(char)}|{re.escape(apart)})"


def _words_pattern(words: set[str]) -> re.Pattern[str] | None:
    any_of = "|".join(map(in_any_case, sorted(words)))
    return re.compile(rf"(?<![^\W_])(?:{any_of}){_ENDS}", re.IGNORECASE) if words else None


def _sequence_pattern(words: Iterable[str]) -> str:
    """A pattern of these words in order, with anything but words between them.

    A character is part of a word or between words, never both: otherwise a line of underscores would be matched in
    as many ways as it can be divided.
    """
    joined = r"[\W_]+".join(map(in_any_case, words))
    return rf"(?<![^\W_]){joined}{_ENDS}" if joined else ""


def batches[T](items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`: long patterns and lists make a statement slow."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
