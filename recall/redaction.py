"""What becomes of a text when something in it is forgotten? The words go, `[forgotten]` stands there, the rest stays.

`Erasure` says what is being forgotten, in plain data that every app understands: rows by id and by reference, the
texts themselves (in memory only, never in a row or a log), and the words by which a trace of them is known.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

FORGOTTEN: Final = "[forgotten]"
"""What stands where something was forgotten, on screen and in prompts."""
BLANKED: Final = frozenset({"label", "text", "title", "summary"})
"""In JSON, of an object whose `ref` names what is forgotten: what it shows of it."""
FIXED: Final = frozenset(
    {"ref", "section", "rule", "url", "kind", "source", "role", "type", "id", "name", "status", "ttl", "print", "code"}
)
"""In JSON, names of values that the code reads: a word that happens to stand there is no trace of a memory."""
LEAST_TEXT: Final = 8
"""Characters from which on a text is looked for as a whole; a shorter one is a word, and words have rules of their
own."""

HINTS_AT_ONCE: Final = 200
"""Words of one pattern."""

_WORD: Final = re.compile(r"[^\W_]+")
_REPEATED: Final = re.compile(rf"(?:{re.escape(FORGOTTEN)}[\s,;.:!?…”\"'’)(–-]*)+(?={re.escape(FORGOTTEN)})")
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
"""English words that tell nothing by themselves (PostgreSQL's list, and the commonest verbs)."""


def words_of(text: str) -> set[str]:
    """The words of a text that may tell something, in small letters; numbers count, single letters do not."""
    found = {word.casefold() for word in _WORD.findall(text)}
    return {word for word in found if (len(word) > 1 or word.isdigit()) and word not in STOP_WORDS}


@dataclass(frozen=True, slots=True)
class ErasureItem:
    """One thing that goes, or comes back, as the dry run lists it."""

    what: str
    """Type, as in `Forgetting.gone`: fact, answer, receipt …"""
    ref: str
    text: str = ""
    """Shown to the person, and never stored."""
    url: str = ""


@dataclass(slots=True)
class WordMatch:
    """One thing that was said or learned: by which words is it known again?"""

    words: frozenset[str]
    value: frozenset[str] = frozenset()

    def is_in(self, found: set[str]) -> bool:
        """Whether a text of these words says it again: its value, or at least half of its words and no fewer than two.

        Asked only of texts that may have known it: of all others half of the words would be too little.
        """
        if self.value and self.value <= found:
            return True
        return len(self.words) > 1 and 2 * len(self.words & found) >= max(4, len(self.words))


@dataclass(slots=True)
class Erasure:
    """What is being forgotten. Ids are the person's own rows; the one who fills it in has seen to that."""

    user_id: int
    facts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    retold: set[int] = field(default_factory=set)
    """Episodes among them that are told anew from what is left."""
    documents: set[int] = field(default_factory=set)
    lines: dict[int, int] = field(default_factory=dict)
    """Document → how many of its lines go."""
    conversations: set[UUID] = field(default_factory=set)
    """Deleted with everything in them."""
    messages: set[int] = field(default_factory=set)
    """Their whole text goes."""
    quotes: dict[int, set[str]] = field(default_factory=dict)
    """Message → parts of its text that go."""
    parts: dict[str, set[str]] = field(default_factory=dict)
    """Reference of a fact, message or document that stays → its parts that go, each as it is written there."""
    shortened: dict[int, str] = field(default_factory=dict)
    """Fact that stays → its statement without these parts."""
    segments: set[int] = field(default_factory=set)
    """Summaries that are dropped, and written anew."""
    refs: set[str] = field(default_factory=set)
    """All of it as receipts and prompts name it."""
    echoes: set[str] = field(default_factory=set)
    """Those of the refs that name answers in which it stood: what came of them again is told apart by its words."""
    learned_too: bool = True
    """With a conversation goes what was learned from it."""
    texts: set[str] = field(default_factory=set)
    sayings: list[WordMatch] = field(default_factory=list)
    telling: set[str] = field(default_factory=set)
    """Words of it that the person says nowhere else."""
    words: set[str] = field(default_factory=set)
    """Words of it that stand in no text that is left: set when all else is erased, for the last look."""
    _patterns: dict[str, tuple[int, re.Pattern[str] | None]] = field(default_factory=dict, repr=False)

    @property
    def extent(self) -> int:
        """Grows as long as more is found."""
        sets = (self.facts, self.episodes, self.documents, self.messages, self.quotes, self.segments, self.refs)
        return sum(map(len, sets)) + len(self.texts)

    def add_text(self, *texts: str) -> None:
        """Look for these, too, where they say enough to be known again by."""
        self.texts |= {text.strip() for text in texts if _is_telling(text.strip())}

    def is_paraphrased_in(self, text: str) -> bool:
        """Whether a text that may have known it says it again."""
        found = words_of(text)
        return bool(found & self.telling) or self.occurs_in(text) or any(saying.is_in(found) for saying in self.sayings)

    def occurs_in(self, text: str) -> bool:
        """Whether one of the forgotten texts stands in it, word by word."""
        pattern = self.pattern()
        return pattern is not None and pattern.search(text) is not None

    def pattern(self) -> re.Pattern[str] | None:
        """Finds the forgotten texts whatever their blanks, punctuation and case; the longest first."""
        return self._kept("texts", self.texts, _pattern_of)

    def hints(self) -> Iterator[str]:
        """What PostgreSQL looks for, so that few texts are read: the longest word of each text, and the words.

        A text that says it matches one of them; whether a text that matches says it, `cleaned` decides.
        """
        for texts in batches(sorted(self.texts), HINTS_AT_ONCE):
            longest = {max(_WORD.findall(text), key=len, default="") for text in texts} - {""}
            if longest:
                yield rf"(?<![[:alnum:]])({'|'.join(sorted(longest))})(?![[:alnum:]])"
        for words in batches(sorted(self.words), HINTS_AT_ONCE):
            yield rf"({'|'.join(words)})"

    def words_pattern(self) -> re.Pattern[str] | None:
        """Finds any of the words that are left nowhere else."""
        return self._kept("words", self.words, _any_of)

    def _kept(
        self, name: str, texts: set[str], make: Callable[[set[str]], re.Pattern[str] | None]
    ) -> re.Pattern[str] | None:
        """Made once for thousands of texts; kept here, and not in the module, so that it goes when this goes."""
        made = self._patterns.get(name)
        if made is None or made[0] != len(texts):
            made = self._patterns[name] = (len(texts), make(texts))
        return made[1]

    def redact(self, text: str, *, words: bool = True) -> str:
        """The text without what is forgotten."""
        pattern, lone = self.pattern(), self.words_pattern() if words else None
        left = text if pattern is None else pattern.sub(FORGOTTEN, text)
        left = left if lone is None else lone.sub(FORGOTTEN, left)
        return text if left == text else merged(left)

    def without_sentences(self, text: str) -> str:
        """The text without what is forgotten, and without sentences that repeat it in other words."""
        text = self.redact(text)
        kept = [FORGOTTEN if self._is_trace(one) else one for one in _SENTENCE.split(text)]
        return merged(" ".join(kept)) if FORGOTTEN in kept else text

    def _is_trace(self, sentence: str) -> bool:
        found = words_of(sentence)
        return bool(found & self.telling) or any(one.value and one.value <= found for one in self.sayings)

    def redact_json(self, value: Any) -> Any:
        """The same for every string of a JSON value; objects that name it by `ref` show nothing of it."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redact_json(one) for one in value]
        if isinstance(value, dict):
            return self._cleaned_object(value)
        return value

    def _cleaned_object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        if self.names(value.get("ref")):
            shown = {name: FORGOTTEN if name in BLANKED and one else one for name, one in value.items()}
            return {**shown, "ref": self.redact(str(value["ref"]))}
        return {
            name: self._fixed(one) if name in FIXED and isinstance(one, str) else self.redact_json(one)
            for name, one in value.items()
        }

    def _fixed(self, value: str) -> str:
        return self.redact(value, words=False)

    def names(self, ref: Any) -> bool:
        """Whether this reference is to what is forgotten; a line of a document is named by the document's."""
        return isinstance(ref, str) and (ref in self.refs or ref.rpartition(":")[0] in self.refs)


def merged(text: str) -> str:
    """Several marks in a row are one."""
    return _REPEATED.sub("", text)


def _is_telling(text: str) -> bool:
    """Whether a text is long enough, and more than one short word: “Form: ____” stands for no other “form”."""
    words = _WORD.findall(text)
    return len(text) >= LEAST_TEXT and (len(words) > 1 or any(len(word) >= LEAST_TEXT for word in words))


def _pattern_of(texts: set[str]) -> re.Pattern[str] | None:
    found = [_between(_WORD.findall(text)) for text in sorted(texts, key=lambda text: (-len(text), text))]
    wanted = [one for one in found if one]
    return re.compile("|".join(wanted), re.IGNORECASE) if wanted else None


def _any_of(words: set[str]) -> re.Pattern[str] | None:
    any_of = "|".join(map(re.escape, sorted(words)))
    return re.compile(rf"(?<![^\W_])(?:{any_of})(?![^\W_])", re.IGNORECASE) if words else None


def _between(words: Iterable[str]) -> str:
    """A pattern of these words one after the other, whatever stands between them that is no word.

    A character is part of a word or stands between words, never both: else a line to be filled in, of underscores
    alone, would be looked for in as many ways as it can be divided.
    """
    joined = r"[\W_]+".join(map(re.escape, words))
    return rf"(?<![^\W_]){joined}(?![^\W_])" if joined else ""


def batches[T](items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items, so many at a time: a statement takes a pattern or a list of any length, but not quickly."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
