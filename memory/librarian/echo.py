"""Which of a user's words were somebody else's first? Those are an echo, and no evidence.

What the assistant said, what a tool brought up, what Recall itself put into the prompt and what an uploaded file holds
comes back in users' messages: pasted, quoted without marks, repeated. Whoever said a run of words first owns it; what
the user said before anybody else stays theirs. Case, punctuation and spacing do not count. Linear in all that was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.ports.source import ContextText, Utterance
from memory.text.user_text import Span, mask_foreign_text

RUN: Final = 7
"""Words in a row that are no chance. In 731 messages of talk between two people (LoCoMo, development part) such a run
that the other had said before stands in 13 % of the messages for 5 words, 6 % for 6, 4 % for 7 and 3 % for 8; a whole
sentence said again is found by itself."""
WHOLE: Final = 3
"""Words of a sentence that is a whole sentence of another's; shorter ones (“Yes, please.”) are anybody's."""

_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"[^.!?…\n:;\"“”«»]+")
type _Run = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


def mark_echoes(utterances: Sequence[Utterance], heard: Iterable[ContextText]) -> list[Utterance]:
    """The utterances, each of the user's with the spans of its text that are an echo.

    `heard` is what else stood in the conversation; what came with a message counts as said before it.
    """
    owners = _Owners()
    marked: list[Utterance] = []
    everything: list[ContextText | Utterance] = [*heard, *utterances]
    for one in sorted(everything, key=lambda one: (one.number, isinstance(one, Utterance))):
        if isinstance(one, ContextText):
            owners.take(mask_foreign_text(one.text) if one.is_users else one.text, is_users=one.is_users)
        else:
            marked.append(_marked(one, owners))
    return marked


def _marked(said: Utterance, owners: _Owners) -> Utterance:
    """The utterance with its echoes; from now on what it says first is its speaker's."""
    if said.speaker != "user":
        owners.take(said.text, is_users=False)
        return said
    echoes = tuple(owners.echoes(said.text))
    owners.take(mask_foreign_text(said.text, echoes), is_users=True)
    return replace(said, echoes=echoes)


class _Owners:
    """Who said which words first: runs of words, and whole sentences."""

    def __init__(self) -> None:
        self._runs: dict[_Run, bool] = {}  # whether it is the user's
        self._sentences: dict[_Run, bool] = {}

    def take(self, text: str, *, is_users: bool) -> None:
        for run in _runs(_words(text)):
            self._runs.setdefault(tuple(word.text for word in run), is_users)
        for sentence in _sentences(text):
            self._sentences.setdefault(tuple(word.text for word in sentence), is_users)

    def echoes(self, text: str) -> Iterator[Span]:
        """Spans of a user's text that are another's, in order, merged."""
        spans = [
            *(_span(run) for run in _runs(_words(text)) if self._is_anothers(self._runs, run)),
            *(_span(words) for words in _sentences(text) if self._is_anothers(self._sentences, words)),
        ]
        yield from _merged(sorted(spans))

    @staticmethod
    def _is_anothers(owners: dict[_Run, bool], words: Sequence[_Word]) -> bool:
        return not owners.get(tuple(word.text for word in words), True)


def _words(text: str) -> list[_Word]:
    return [_Word(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text)]


def _runs(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    return (words[start : start + RUN] for start in range(len(words) - RUN + 1))


def _sentences(text: str) -> Iterator[Sequence[_Word]]:
    for found in _SENTENCE.finditer(text):
        words = [_Word(word.text, word.start + found.start(), word.end + found.start()) for word in _words(found[0])]
        if len(words) >= WHOLE:
            yield words


def _span(words: Sequence[_Word]) -> Span:
    return words[0].start, words[-1].end


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    current: Span | None = None
    for start, end in spans:
        if current is None:
            current = start, end
        elif start <= current[1]:
            current = current[0], max(current[1], end)
        else:
            yield current
            current = start, end
    if current is not None:
        yield current
