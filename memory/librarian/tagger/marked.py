"""Marked messages, from which the tagger learns and by which it is judged.

A marked message is a line with the values in brackets: `I'm in [home:Ghent] now, not in [-home:Lublin]`,
`we [~partner:split up]`, `mum's in [*home:Filey]`. What has no mark is as important: questions, plans, stories.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.librarian.tagger.tags import LABELS, OUTPUTS, STATES, WEIGHTS, Tag, tags_of
from memory.network.pieces import Pieces, pieces_of
from memory.network.reader import read_scores
from memory.network.training import Example, Head

HEADS: Final = tuple(Head(outputs, weight) for outputs, weight in zip(OUTPUTS, (1.0, 0.3, 0.3), strict=True))
SIGNS: Final = {"": "now", "-": "not", "~": "end"}
_MARK: Final = re.compile(r"\[([-~]?)(\*?)([a-z]+):([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class MarkedMessage:
    """A message, and the tags it should be given."""

    pieces: Pieces
    tags: Sequence[Tag]

    @property
    def example(self) -> Example:
        """What the network should say of each piece: label, state and whose."""
        places = self.pieces.places
        labels = [0 if start < end else -1 for start, end in places]
        states, whose = [-1] * len(places), [-1] * len(places)
        for tag in self.tags:
            for number, (start, end) in enumerate(places):
                if start < end and start < tag.end and end > tag.start:
                    labels[number] = 1 + LABELS.index(tag.label)
                    states[number], whose[number] = STATES.index(tag.state), int(tag.other)
        return Example(self.pieces.ids, (labels, states, whose))


def read_marked(line: str) -> MarkedMessage:
    """A line of marked text.

    Raises:
        ValueError: an unknown label.
    """
    text, tags, at = "", [], 0
    for mark in _MARK.finditer(line):
        sign, star, label, words = mark.groups()
        if label not in LABELS:
            raise ValueError(f"There is no label {label}: {line}")
        text += line[at : mark.start()]
        tags.append(Tag(len(text), len(text) + len(words), label, SIGNS[sign], bool(star), 1.0))  # type: ignore[arg-type]
        text += words
        at = mark.end()
    return MarkedMessage(pieces_of(text + line[at:]), tags)


@dataclass(slots=True)
class Score:
    """How many tags were right (label, state and whose, over some of the words), wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __str__(self) -> str:
        precision = 100 * self.right / max(1, self.right + self.wrong)
        recall = 100 * self.right / max(1, self.right + self.missed)
        return f"precision {precision:.1f} %, recall {recall:.1f} % of {self.right + self.missed}"


def judge(messages: Sequence[MarkedMessage], least: float) -> Score:
    """The score of tags that are at least so sure."""
    score = Score()
    for message in messages:
        found = [tag for tag in tags_of(message.pieces, read_scores(WEIGHTS, message.pieces.ids)) if tag.sure >= least]
        for wanted in message.tags:
            same = next((tag for tag in found if _is_same(tag, wanted)), None)
            if same is None:
                score.missed += 1
            else:
                found.remove(same)
                score.right += 1
        score.wrong += len(found)
    return score


def _is_same(tag: Tag, wanted: Tag) -> bool:
    overlaps = tag.start < wanted.end and tag.end > wanted.start
    return overlaps and (tag.label, tag.state, tag.other) == (wanted.label, wanted.state, wanted.other)
