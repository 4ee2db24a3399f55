"""Topics of a stretch of conversation: its most significant words, names and two-word phrases. No model, no dictionary.

A word counts for the turns it occurs in: more if the user wrote it, it is spelled like a name or used as a noun, or the
rest of the conversation lacks it. English first; other alphabetic languages with fewer signals; in scripts without
spaces (Chinese, Japanese), runs of characters.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory.retrieval.cues import ENGLISH as ENGLISH_CUES
from memory.text.language import ENGLISH, NEIGHBOURS

USER_WEIGHT: Final = 1.0
"""A word counts once for each turn in which the user wrote it …"""
ANSWER_WEIGHT: Final = 0.35
"""… and this much for each in which only the answer has it: answers are long and name much that was not asked for."""
NAME_FACTOR: Final = 1.5
"""Spelled like a name inside a sentence: Lisbon, FAISS, PostgreSQL, Qwen3."""
NOUN_FACTOR: Final = 1.2
"""After “the”, “a”, “about”, “for”, … in at least half of its occurrences."""
PHRASE_FACTOR: Final = 1.4
"""Two words together in at least two turns, or two names: “vector databases”. Replaces the words."""
ELSEWHERE_DISCOUNT: Final = 1.0
"""Discount for words the rest of the conversation has too: 1 / (1 + share of the turns there)."""
PHRASE_TURNS: Final = 2
MIN_TELLING_TOPICS: Final = 5
"""Words of a single turn that look like neither noun nor name are topics only if there are fewer others than this."""
MAX_WORD: Final = 40
"""Longer words are addresses, keys, or not words at all."""
READ_CHARACTERS: Final = 4_000
"""Characters read of each text: a long answer names its topic at the start."""


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COMMON: Final = _word_set("""
    able actually add again ago already always another answer anything around ask asked asking away back bad become
    before being believe below best better between big bit both bring call called case change check choose come
    compare consider course day days decide decided definitely depends describe different difference difficult done
    down easy either else enough especially even ever every everything example explain fact far few find fine first
    follow found full give given goes gone good great guess hand happen hard hear hello help here high hope idea
    important instead issue keep kind last later least less lets long look looking lot low main maybe mean means
    mention might mind moment most must myself need needs never new next nice nothing now number often ok okay old
    once open order other others part people perhaps place plan please point possible prefer pretty probably problem
    put question quite rather read ready really reason recommend remember remind right said same say saying second
    see seem seems set several show side simple since small someone something sometimes soon sort sound sounds start
    started still stop such suggest sure take talk tell thank thanks therefore think third though thought three
    through time times today together told tomorrow tonight too took top tried true try trying turn turns two type
    under understand until upon use used useful uses using usually wait wanted wants whether while whole without
    wonder wondering word work working works worth write wrong year years yesterday yet hi hey ll ve re don didn
    doesn isn aren couldn shouldn wouldn won cannot gonna got get gets getting went been i'd i'll i've i'm it's
    let's live lived lives living that's there's what's
""")
"""Words that occur in any conversation."""
_FOREIGN: Final = frozenset(word for words in NEIGHBOURS.values() for word in words)
NO_TOPIC: Final = ENGLISH_CUES.empty_words | ENGLISH_CUES.time_words | ENGLISH | _COMMON | _FOREIGN
_BEFORE_NOUNS: Final = _word_set("""
    the a an my our your his her their this that these those of for about with on in from to between and or some any
    each no der die das ein eine le la les un une el los las il o os as um uma de
""")

_TOKEN: Final = re.compile(r"[^\W\d_](?:[\w+#]|['’.\-/](?=\w))*|[.!?\n:;,()]")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")
_KANA: Final = re.compile("[\u3040-\u309f]+")
"""Hiragana: the small words and endings of Japanese."""
_ODD_SPELLING: Final = re.compile(r"^[A-Z]{2,}s?$|[a-z][A-Z]|^[A-Z]{2,}[a-z]|[A-Za-z]\d")
"""Unusual spellings: FAISS, PostgreSQL, HNSWlib, H2O."""


@dataclass(slots=True)
class _Word:
    """One lexeme: where it occurs and how it is spelled."""

    asked: set[int] = field(default_factory=set)
    """Turns in which the user wrote it."""
    answered: set[int] = field(default_factory=set)
    spelling: Counter[str] = field(default_factory=Counter)
    places: int = 0
    as_noun: int = 0
    as_name: int = 0
    seen: int = 0
    """Order of first occurrence."""

    @property
    def turns(self) -> int:
        return len(self.asked | self.answered)

    @property
    def tells(self) -> bool:
        """Whether it is likely a name, a noun, or a recurring subject."""
        return self.turns > 1 or 2 * max(self.as_name, self.as_noun) >= self.places

    def weight(self) -> float:
        """The number of its turns, less those where only the answer has it; logarithmic, because frequent words say
        little more."""
        counted = USER_WEIGHT * len(self.asked) + ANSWER_WEIGHT * len(self.answered - self.asked)
        name = NAME_FACTOR if 2 * self.as_name >= self.places else 1.0
        noun = NOUN_FACTOR if 2 * self.as_noun >= self.places else 1.0
        return math.log1p(counted) * name * noun


@dataclass(frozen=True, slots=True)
class _Occurrence:
    lexeme: str
    spelling: str
    as_noun: bool
    as_name: bool


def topics_of(asked: Sequence[str], answers: Sequence[str], most: int, elsewhere: Sequence[str] = ()) -> list[str]:
    """At most `most` topics, most significant first; one question and one answer per turn.

    `elsewhere`: the rest of the conversation, one text per turn.
    """
    words, phrases = _words(asked, answers)
    common = _shares(elsewhere, words)
    weights = {lexeme: word.weight() / (1 + ELSEWHERE_DISCOUNT * common[lexeme]) for lexeme, word in words.items()}
    for pair, phrase in phrases.items():
        if phrase.turns >= PHRASE_TURNS or phrase.as_name == phrase.places:
            weights[pair] = PHRASE_FACTOR * phrase.weight() + max(weights[part] for part in pair.split(" ")) / 10
    known = words | phrases
    ordered = sorted(weights, key=lambda lexeme: (-weights[lexeme], known[lexeme].seen, lexeme))
    telling = [lexeme for lexeme in ordered if known[lexeme].tells]
    ordered = telling if len(telling) >= MIN_TELLING_TOPICS else ordered
    return [_spelling(known[lexeme]) for lexeme in _without_parts(ordered, most)]


def _spelling(word: _Word) -> str:
    return min(word.spelling, key=lambda spelling: (-word.spelling[spelling], spelling))


def _without_parts(ordered: Iterable[str], most: int) -> list[str]:
    """The first `most` of them, without words of a chosen phrase and phrases of chosen words."""
    chosen: list[str] = []
    covered: set[str] = set()
    for lexeme in ordered:
        parts = set(lexeme.split(" "))
        if len(chosen) < most and not parts <= covered:
            chosen.append(lexeme)
            covered |= parts
    return chosen


# Words -----------------------------------------------------------------------------------------------------------


def _words(asked: Sequence[str], answers: Sequence[str]) -> tuple[dict[str, _Word], dict[str, _Word]]:
    """Words and phrases by lexeme."""
    words: dict[str, _Word] = {}
    phrases: dict[str, _Word] = {}
    for texts, is_user in ((asked, True), (answers, False)):
        for turn, text in enumerate(texts):
            before: _Occurrence | None = None
            for place in _occurrences(text[:READ_CHARACTERS]):
                if place is not None:
                    _count_occurrence(words, place, turn, is_user)
                if place is not None and before is not None and before.lexeme != place.lexeme:
                    _count_occurrence(phrases, _join_pair(before, place), turn, is_user)
                before = place
    return words, phrases


def _count_occurrence(words: dict[str, _Word], place: _Occurrence, turn: int, is_user: bool) -> None:
    word = words.setdefault(place.lexeme, _Word(seen=len(words)))
    (word.asked if is_user else word.answered).add(turn)
    word.spelling[place.spelling] += 1
    word.places += 1
    word.as_noun += place.as_noun
    word.as_name += place.as_name


def _join_pair(first: _Occurrence, second: _Occurrence) -> _Occurrence:
    return _Occurrence(
        f"{first.lexeme} {second.lexeme}",
        f"{first.spelling} {second.spelling}",
        first.as_noun,
        first.as_name and second.as_name,
    )


def _occurrences(text: str) -> Iterator[_Occurrence | None]:
    """Possible topic words in order; None where something separates two of them."""
    yield from _unspaced(text)
    begins, before = True, ""
    for found in _TOKEN.finditer(_UNSPACED.sub(" . ", text)):
        spelling = found[0].removesuffix("'s").removesuffix("’s")
        lower = spelling.casefold().replace("’", "'")
        if not spelling[0].isalpha():
            begins, before = spelling not in ",()", ""
            yield None
            continue
        if lower in NO_TOPIC or not 3 <= len(spelling) <= MAX_WORD:
            yield None
        else:
            yield _build_occurrence(spelling, lower, before, begins)
        begins, before = False, lower


def _build_occurrence(spelling: str, lower: str, before: str, begins: bool) -> _Occurrence:
    odd = bool(_ODD_SPELLING.search(spelling))
    is_name = odd or (spelling[0].isupper() and not begins)
    return _Occurrence(_lexeme(lower), spelling if odd or is_name else lower, before in _BEFORE_NOUNS, is_name)


def _lexeme(lower: str) -> str:
    """One spelling for singular and plural: database, databases; story, stories."""
    if lower.endswith("ies") and len(lower) > 5:
        return f"{lower[:-3]}y"
    return lower[:-1] if lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and len(lower) > 3 else lower


def _unspaced(text: str) -> Iterator[_Occurrence | None]:
    """Words of scripts without spaces: short runs between endings, and character pairs of longer runs."""
    for run in _UNSPACED.findall(text):
        for word in _KANA.split(run):
            pieces = [word] if 2 <= len(word) <= 4 else [word[n : n + 2] for n in range(len(word) - 1)]
            for piece in pieces:
                yield _Occurrence(piece, piece, as_noun=False, as_name=False)
                yield None


def _shares(elsewhere: Sequence[str], words: Collection[str]) -> Counter[str] | dict[str, float]:
    """For each word, the share of the other texts that contain it."""
    held: Counter[str] = Counter()
    for text in elsewhere:
        held.update({place.lexeme for place in _occurrences(text[:READ_CHARACTERS]) if place is not None})
    return {word: held[word] / max(1, len(elsewhere)) for word in words}
