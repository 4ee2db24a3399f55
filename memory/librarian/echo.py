"""Marks echoes: words of the user that someone else said first, which aren't evidence.

Texts of the assistant, a tool, the prompt or an uploaded file return in users' messages: pasted, quoted without marks,
repeated. The first speaker of a run of words owns it. Case, punctuation and spacing don't count. Linear in the length
of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.ports.source import ContextText, Utterance
from memory.secrets.secrets_filter import merge_spans
from memory.text.user_text import Span, mask_foreign_text

RUN: Final = 7
"""Words in a row that aren't a coincidence. In 731 messages between two people (LoCoMo, development part), 13% of the
messages repeat 5 words of the other person, 6% repeat 6, 4% repeat 7 and 3% repeat 8. Repeated sentences are found
separately.
"""
MIN_SENTENCE_WORDS: Final = 3
"""Shorter whole sentences (“Yes, please.”) belong to no one."""

_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"[^.!?…\n:;\"“”«»]+")
type _Run = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


def mark_echoes(utterances: Sequence[Utterance], heard: Iterable[ContextText]) -> list[Utterance]:
    """The utterances, with the echoed spans of the user's texts.

    `heard`: other texts in the conversation. A text attached to a message counts as said before it.
    """
    owners = _Owners()
    marked: list[Utterance] = []
    everything: list[ContextText | Utterance] = [*heard, *utterances]
    for said in sorted(everything, key=lambda said: (said.number, isinstance(said, Utterance))):
        if isinstance(said, ContextText):
            owners.take(mask_foreign_text(said.text) if said.is_users else said.text, is_users=said.is_users)
        else:
            marked.append(_mark_echo(said, owners))
    return marked


def _mark_echo(said: Utterance, owners: _Owners) -> Utterance:
    """The utterance with its echoes; registers its new words under its speaker."""
    if said.speaker != "user":
        owners.take(said.text, is_users=False)
        return said
    echoes = tuple(owners.echoes(said.text))
    owners.take(mask_foreign_text(said.text, echoes), is_users=True)
    return replace(said, echoes=echoes)


class _Owners:
    """The first speaker of each run of words and each whole sentence."""

    def __init__(self) -> None:
        self._runs: dict[_Run, bool] = {}  # run → whether it is the user's
        self._sentences: dict[_Run, bool] = {}

    def take(self, text: str, *, is_users: bool) -> None:
        for run in _runs(_words(text)):
            self._runs.setdefault(tuple(word.text for word in run), is_users)
        for sentence in _sentences(text):
            self._sentences.setdefault(tuple(word.text for word in sentence), is_users)

    def echoes(self, text: str) -> Sequence[Span]:
        """Spans of a user's text that someone else owns, in order, merged."""
        runs = (_span(run) for run in _runs(_words(text)) if self._is_foreign(self._runs, run))
        sentences = (_span(words) for words in _sentences(text) if self._is_foreign(self._sentences, words))
        return merge_spans([*runs, *sentences])

    @staticmethod
    def _is_foreign(owners: dict[_Run, bool], words: Sequence[_Word]) -> bool:
        return not owners.get(tuple(word.text for word in words), True)


def _words(text: str) -> list[_Word]:
    return [_Word(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text)]


def _runs(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    return (words[start : start + RUN] for start in range(len(words) - RUN + 1))


def _sentences(text: str) -> Iterator[Sequence[_Word]]:
    for found in _SENTENCE.finditer(text):
        words = [_Word(word.text, word.start + found.start(), word.end + found.start()) for word in _words(found[0])]
        if len(words) >= MIN_SENTENCE_WORDS:
            yield words


def _span(words: Sequence[_Word]) -> Span:
    return words[0].start, words[-1].end
