"""Abstention: whether someone that a question names said what it asks about, or only someone else did.

Similarity can't tell: what was never said resembles what was (on LoCoMo's development conversations no cosine, share of
words or margin between ranks separates them better than chance). Who said it can. `attribution_margin` is pure.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from memory.retrieval.query import Question
from memory.text.keywords import content

MIN_MARGIN: Final = -0.22
"""Margin below which nothing that other people said is recalled. On LoCoMo's 112 questions about what was never said
(adversarial: the other person said it) and 383 others, silent for · points of R@10 lost:
-0.40: 38 % · 0.3;  -0.30: 48 % · 0.9;  **-0.22: 59 % · 0.9**;  -0.15: 64 % · 2.4;  0: 76 % · 7.2.
Chosen on two conversations for at most one point, it silences 52 % in the third for 0.8 points; for 60 %, 60 % for
1.6."""
KEYWORD_SHARE: Final = 0.75
ANSWER_SHARE: Final = 0.75
"""Of the margins beside that of the statements: with 0.5 or 1 each, it silences four or two points less."""

_END: Final = re.compile(r"[.!?\n]+")
_OF_THE_SPEAKER: Final = re.compile(r"\b(?:i|my|mine|me|we|our|us)\b")
_OF_THE_OTHER: Final = re.compile(r"\byou(?:r|rs)?\b")
_CAPTION: Final = " [shared image"


class Passage(Protocol):
    """What is read of a candidate."""

    text: str
    author: str


type Scored = tuple[Passage, Mapping[Any, float]]
"""A candidate with the parts of its score."""
type Words = set[int]
"""Numbers of words of the question."""


def attribution_margin(question: Question, scored: Iterable[Scored]) -> float | None:
    """How much better the named person's own statements fit than everyone else's; None: it names no single speaker.

    Questions count for no one, and a sentence about “you” counts for the one who is spoken to. Added to it are the
    margins of the words with their neighbors' and of answers to a matching question.
    """
    if len(question.speakers) != 1:
        return None
    said = [(candidate, parts) for candidate, parts in scored if candidate.author]
    stems = sorted(content(question.keyword_query))
    if not said or not stems:
        return None
    stated = [_stated(candidate.text.lower(), stems) for candidate, _ in said]
    shares = _rarity(len(stems), [words for _, _, words in stated])
    own, others = _Best(), _Best()
    for (candidate, parts), (of_speaker, of_listener, _) in zip(said, stated, strict=True):
        speaker, listener = (own, others) if candidate.author in question.speakers else (others, own)
        speaker.keyword = max(speaker.keyword, parts["keyword"])
        speaker.answer = max(speaker.answer, parts["answer"])
        for side, words in ((speaker, of_speaker), (listener, of_listener)):
            if words is not None:
                side.statement = max(side.statement, _fit(sum(shares[word] for word in words), parts["semantic"]))
    return own.margin(others)


class _Best:
    """The best of one side."""

    def __init__(self) -> None:
        self.statement = self.keyword = self.answer = 0.0

    def margin(self, others: "_Best") -> float:
        beside = KEYWORD_SHARE * (self.keyword - others.keyword) + ANSWER_SHARE * (self.answer - others.answer)
        return self.statement - others.statement + beside


def _fit(words: float, meaning: float) -> float:
    return 0.7 * words + 0.4 * meaning  # as the ranking weighs them


def _rarity(count: int, held: Sequence[Words]) -> list[float]:
    """The weight of each word, of 1 together: more the fewer passages hold it."""
    holders = [sum(word in words for words in held) for word in range(count)]
    rarity = [math.log(1 + (len(held) - found + 0.5) / (found + 0.5)) for found in holders]
    return [weight / sum(rarity) for weight in rarity]


def _stated(text: str, stems: Sequence[str]) -> tuple[Words | None, Words | None, Words]:
    """Words of the question that a passage states of its speaker, and of the one spoken to (None: nothing); and all."""
    found = [(at, word) for word, stem in enumerate(stems) for at in _places(stem, text)]
    every = {word for _, word in found}
    body = text.partition(_CAPTION)[0]
    of_speaker: Words | None = {word for at, word in found if at >= len(body)} if len(body) < len(text) else None
    of_listener: Words | None = None
    start = 0
    for end, is_question in _sentence_ends(body):
        if not is_question:
            words = {word for at, word in found if start <= at < end}
            if words and _OF_THE_OTHER.search(body, start, end) and not _OF_THE_SPEAKER.search(body, start, end):
                of_listener = (of_listener or set()) | words
            else:
                of_speaker = (of_speaker or set()) | words
        start = end
    return of_speaker, of_listener, every


def _places(stem: str, text: str) -> Iterator[int]:
    """Where words with this stem start. A pattern of all stems would take longer to compile than to search."""
    at = text.find(stem)
    while at >= 0:
        if not (at and text[at - 1].isalnum()):
            yield at
        at = text.find(stem, at + 1)


def _sentence_ends(text: str) -> Iterator[tuple[int, bool]]:
    """Where each sentence ends, and whether it is a question."""
    end = 0
    for match in _END.finditer(text):
        end = match.end()
        yield end, "?" in match[0]
    if text[end:].strip():
        yield len(text), False
