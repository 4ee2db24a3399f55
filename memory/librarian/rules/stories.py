"""Finds stories from the user's life by rules, in English: rather none than a wrong one.

A story is announced (“let me tell you what happened”), or it is long, in the past, and of people: then its own words
are kept, from where it begins to where the user turns back to the assistant. What is pasted, quoted, supposed or asked
is none; nor is what the assistant says.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from memory.librarian.engine import MAX_NAME, ProposedStory
from memory.librarian.rules.clauses import MAX_MESSAGE
from memory.librarian.rules.dates import find_date
from memory.librarian.rules.language import is_english
from memory.librarian.rules.words import FEMALE, MALE
from memory.ports.source import Utterance
from memory.text.user_text import mask_foreign_text


@dataclass(frozen=True, slots=True)
class Measure:
    """What a passage must have to count as a story."""

    words: int
    told: int
    """Sentences that tell what somebody did or was."""
    past_share: float
    """Of all its sentences, those."""


ANNOUNCED: Final = Measure(words=40, told=3, past_share=0.4)
"""“Let me tell you …” says so itself; three sentences make it more than a remark."""
UNANNOUNCED: Final = Measure(words=110, told=6, past_share=0.6)
"""Two paragraphs that mostly tell. A report on a bug or a meeting has the present in it."""


def _any(words: str) -> str:
    return "|".join(words.split())


_ANNOUNCES: Final = re.compile(
    r"\b(?:let me tell you (?:a|the|my|about the (?:time|day)|what happened)"
    r"|i(?:'ll| will| want to| wanted to|'d like to) tell you (?:a|the|my) story"
    r"|here(?:'s| is) (?:a|the|my) story|(?:true|funny|crazy|quick|long) story\b|did i (?:ever )?tell you about"
    r"|you won't believe what happened|something (?:\w+ )?happened (?:to (?:me|us)|today|yesterday|last)"
    r"|the (?:time|day) (?:that |when )?(?:i|we) )",
    re.IGNORECASE,
)
_MADE_UP: Final = re.compile(
    rf"\b(?:{_any('write invent imagine pretend continue improve rewrite edit proofread fictional fiction')}"
    rf"|make up|my (?:{_any('novel character protagonist screenplay essay')}|short story)|chapter \w+"
    r"|once upon a time|dreamed|dreamt"
    rf"|in (?:the|this) (?:{_any('book film movie series show game novel play')}))\b",
    re.IGNORECASE,
)
"""A story that is not theirs, or did not happen."""
_PAST: Final = _any(
    "was were had went came saw said told got took found felt thought knew began ran sat stood left lost met made gave"
    " heard fell woke drove flew kept brought bought ate drank slept spent broke caught held led let paid put read"
    " rode sang sent shook spoke swam taught threw understood wore won wrote did didn't couldn't wasn't weren't hadn't"
    " could"
)
_TELLS: Final = re.compile(
    r"\b(?:i|we|he|she|they|it|there|my \w+|our \w+|the \w+|[A-Z][a-z]+)(?: and (?:i|my \w+|[A-Z][a-z]+))?"
    rf"(?: (?:{_any('just then suddenly finally even both all never always only really had also almost')})){{0,3}}"
    rf" (?:{_PAST}|(?!(?:{_any('need feed speed exceed proceed succeed indeed')})\b)\w{{2,14}}ed)\b",
    re.IGNORECASE,
)
_ONESELF: Final = re.compile(r"\b(?:i|me|my|we|us|our)\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*[\"”’]?")
_TO_THE_ASSISTANT: Final = re.compile(
    r"^\s*(?:(?:so|anyway|ok|okay|now|and)[, ]{1,3}){0,4}(?:can|could|would|will|do|should) (?:you|i)\b"
    r"|^\s*(?:please|what do you|how do you|any (?:ideas|advice)|anyway, )",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    rf"\b(?i:my|our) (?:\w+ )?(?i:{'|'.join(sorted(FEMALE | MALE))}|friend|colleague|neighbour|boss) ([A-Z][a-z]+)"
)
_LEAD_IN: Final = re.compile(r"^\s*(?:(?:so|well|ok|okay|hey|hi|oh)[,!.]{0,3}\s{1,3}){1,4}", re.IGNORECASE)
MAX_TITLE_WORDS: Final = 9
EDGE: Final = 60
"""Characters of the first and last words by which a passage is named."""


def stories_in(utterances: Sequence[Utterance], zone: ZoneInfo) -> list[ProposedStory]:
    """The stories that the user tells, at most one a message."""
    mine = (said for said in utterances if said.speaker == "user")
    return [story for said in mine if (story := _story(said, said.said_at.astimezone(zone).date())) is not None]


def _story(said: Utterance, today: date) -> ProposedStory | None:
    text = said.text[:MAX_MESSAGE]
    own = mask_foreign_text(text, [(start, end) for start, end in said.echoes if end <= len(text)]).replace("’", "'")
    if _MADE_UP.search(own) or "```" in text:
        return None
    sentences = [(found.start(), found.end()) for found in _SENTENCE.finditer(own) if found[0].strip()]
    announced = next((n for n, (start, end) in enumerate(sentences) if _ANNOUNCES.search(own[start:end])), None)
    begun = sentences[announced or 0 :]
    while begun and _is_aside(own[begun[-1][0] : begun[-1][1]]):
        begun.pop()
    while begun and announced is None and _is_aside(own[begun[0][0] : begun[0][1]]):
        begun.pop(0)
    if not begun or not _is_told(
        [own[start:end] for start, end in begun], ANNOUNCED if announced is not None else UNANNOUNCED
    ):
        return None
    return _proposed(said, text[begun[0][0] : begun[-1][1]], text, today, skip=announced is not None)


def _is_aside(sentence: str) -> bool:
    """Said to the assistant, not told."""
    return sentence.rstrip().endswith("?") or _TO_THE_ASSISTANT.match(sentence) is not None


def _is_told(sentences: Sequence[str], measure: Measure) -> bool:
    text = " ".join(sentences)
    told = sum(_TELLS.search(sentence) is not None for sentence in sentences)
    return (
        len(text.split()) >= measure.words
        and told >= measure.told
        and told >= measure.past_share * len(sentences)
        and len(_ONESELF.findall(text)) >= measure.told
        and is_english(text)
    )


def _proposed(said: Utterance, passage: str, text: str, today: date, *, skip: bool) -> ProposedStory | None:
    passage = passage.strip()
    begins, ends = _edges(passage, text)
    found = find_date(passage, today, past=True)
    people = tuple(dict.fromkeys(_NAMED.findall(passage)))
    title = _title(passage, skip=skip)
    if not title or text.find(begins) < 0:
        return None
    return ProposedStory(
        title=title,
        number=said.number,
        begins=begins,
        ends=ends,
        people=tuple(name for name in people if len(name) <= MAX_NAME),
        when=found.words[:MAX_NAME] if found is not None else "",
    )


def _edges(passage: str, text: str) -> tuple[str, str]:
    """First and last words, so long that they name this passage and no other of the message."""
    start, end = text.find(passage), text.find(passage) + len(passage)
    begins = next((passage[:n] for n in range(EDGE, len(passage)) if text.find(passage[:n]) == start), passage)
    last = (passage[-n:] for n in range(EDGE, len(passage)))
    ends = next((words for words in last if text.find(words, start) == end - len(words)), passage)
    return begins, ends


def _title(passage: str, *, skip: bool) -> str:
    """How the story begins; the announcement itself is no title."""
    sentences = [found[0] for found in _SENTENCE.finditer(passage) if found[0].strip()]
    first = (
        sentences[1]
        if skip and len(sentences) > 1 and len(sentences[0].split()) < 2 * MAX_TITLE_WORDS
        else sentences[0]
    )
    words = _LEAD_IN.sub("", first).strip(' \t\n.!?"“”:;,').split()
    title = " ".join(words[:MAX_TITLE_WORDS]).rstrip(",;:")
    return (title[:1].upper() + title[1:] + ("…" if len(words) > MAX_TITLE_WORDS else ""))[:MAX_NAME]
