"""Messages that make something up, or give words to work on: fiction, role play, suppositions, exercises, quotations.

Nothing in them is a claim about the user. A small network tells them from what is said in earnest.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from memory.network.adapted import softmax
from memory.network.pieces import Pieces, pieces_of
from memory.network.reader import read_scores
from memory.network.training import Example, Head

MADE_UP: Final[Literal["made up"]] = "made up"
"""What such a passage is marked with in the index."""
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
HEADS: Final = (Head(2, 1.0),)
"""In earnest or made up, told at the first piece."""
FROM: Final = 0.9
"""Probability from which a message is made up. Of 269 ordinary messages in talks, five reach it: exercises, and one
“if I had won the lotto”."""
SIGNS: Final = {"=": 0, "~": 1}
"""What a labelled line begins with, and the label."""
CACHED: Final = 1_024
"""Messages that a process remembers: index, librarian and documents ask for the same."""
_PLAY_BEGINS: Final = re.compile(
    r"(?i)\b(?:role[- ]?play(?:ing)?|let'?s (?:play|pretend|act|do)|(?:let us|we) (?:pretend|act out)|d ?& ?d|dnd"
    r"|improv|dungeon master|in character|you(?:'re| are|r)? (?:a|an|the|my)\b.{0,80}\bi(?:'m| am|m)"
    r"|be (?:my|the|a|an) )\b"
)
"""In what is made up: it goes on in the messages after it."""
_PLAY_IS_OPENED: Final = re.compile(r"(?i)^\W*let'?s (?:do|start|have|try) (?:a |an |some )?(?:role[- ]?play|improv)")
"""Needs no network."""
_PLAY_ENDS: Final = re.compile(
    r"(?i)\b(?:(?:game|story|scene|role[- ]?play|session)(?:'s| is)? over|out of character|ooc|(?:in )?real life"
    r"|in reality|back to (?:reality|normal|real life)|(?:stop|end|enough|done|finish(?:ed)?|drop)(?: \w+){0,4}"
    r" (?:role[- ]?play(?:ing)?|game|playing|pretending|character|scene))\b"
)
"""What a role play lasts until: what is said in it is no one's, message after message."""


_FICTION: Final = re.compile(
    r"(?i)\b(?:character|protagonist|narrator|heroine|hero|story|novel|poem|script|screenplay|role(?:[- ]?play)?|game"
    r"|campaign|scene|fiction|chapter|d ?& ?d|dnd)s?\b"
)


def is_about_fiction(question: str) -> bool:
    """Whether a question asks about something made up."""
    return _FICTION.search(question) is not None


@lru_cache(maxsize=CACHED)
def is_made_up(own: str) -> bool:
    """Whether the message makes something up or gives words to work on, by its beginning."""
    if not own.strip():
        return False
    shares = softmax(read_scores(WEIGHTS, pieces_of(own).ids, whole=())[0])
    return bool(shares[1] >= FROM)


def made_up(messages: Iterable[str]) -> Iterator[bool]:
    """The same of each of a conversation's messages, in their order: a role play lasts until it is ended."""
    in_play = False
    for own in messages:
        is_opened = _PLAY_IS_OPENED.match(own) is not None
        is_play = is_opened or is_made_up(own)
        begins = is_opened or (is_play and _PLAY_BEGINS.search(own) is not None)
        in_play = begins or (in_play and not _PLAY_ENDS.search(own))
        yield in_play or is_play


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """A message, and whether it is made up."""

    pieces: Pieces
    label: int

    @property
    def example(self) -> Example:
        """What the network should say of it."""
        return Example(self.pieces.ids, ([self.label, *[-1] * (len(self.pieces.ids) - 1)],))


def read_line(line: str) -> LabelledMessage:
    """A labelled line, such as “~ Let's play: I'm a pirate.”; without a sign, it is said in earnest."""
    label = SIGNS.get(line[:1])
    return LabelledMessage(pieces_of(line if label is None else line[2:]), label or 0)


def judge(messages: Sequence[LabelledMessage]) -> str:
    """How many that are made up are told, and how many of those told are."""
    told = [(message.label == 1, is_made_up(message.pieces.text)) for message in messages]
    right, all_, said = told.count((True, True)), sum(one for one, _ in told), sum(one for _, one in told)
    return f"of {all_} made up {100 * right / max(1, all_):.1f} % found; precision {100 * right / max(1, said):.1f} %"
