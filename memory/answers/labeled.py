"""Questions beside memories, from which the network learns.

Labeled questions (`query_encoder/labeled.py`) give what answers each, what helps, and some of what is near and does
neither. Asked of someone else, a question has no answer in what answered it (`counterfactual.py`).
Pairs are given one a line:
`answers → where do i live? → took an apartment up in Duluth`, with tabs for arrows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from memory.answers.answers import ANSWERS, HELPS, NEITHER, OUTPUTS, join
from memory.answers.counterfactual import of_another
from memory.embeddings.limits import Vectors
from memory.network.training import Example, Head
from memory.query_encoder.labeled import Question

HEADS: Final = (Head(len(OUTPUTS), 1.0),)
LABELS: Final = {"neither": NEITHER, "answers": ANSWERS, "helps": HELPS}
NEAREST: Final = 5
"""Of the nearest memories that neither answer nor help so many are chosen from."""
CHOSEN: Final = 2
"""How many of them are learned from."""
HELPFUL: Final = 3
"""How many of those that help."""


@dataclass(frozen=True, slots=True)
class LabeledPair:
    """A question, a memory, and what that is to the question."""

    question: str
    memory: str
    label: int

    @property
    def example(self) -> Example:
        """What the network should say of it."""
        return Example.of_pair(join(self.question, self.memory), self.label)


def read_pairs(lines: Iterable[str]) -> list[LabeledPair]:
    """The pairs of a file.

    Raises:
        ValueError: a line is no pair.
    """
    pairs = []
    for line in filter(str.strip, lines):
        match line.rstrip("\n").split("\t"):
            case label, question, memory if label in LABELS:
                pairs.append(LabeledPair(question, memory, LABELS[label]))
            case _:
                raise ValueError(f"This is no label, question and memory: {line}")
    return pairs


def pairs_of(question: Question, cosines: Vectors, chance: Random) -> Iterator[LabeledPair]:
    """What is learned from a question. `cosines`: of its vector with those of its memories."""
    told = {*question.answers, *question.helps}
    others = [int(place) for place in np.argsort(-cosines) if int(place) not in told][:NEAREST]
    chosen = chance.sample(others, min(CHOSEN, len(others)))
    labeled: Sequence[tuple[Sequence[int], int]] = (
        (question.answers, ANSWERS),
        (question.helps[:HELPFUL], HELPS),
        (chosen, NEITHER),
    )
    for places, label in labeled:
        for place in places:
            yield LabeledPair(question.text, question.memories[place], label)
    for place in question.answers:
        if other := of_another(question.text, question.memories[place], question.memories, chance):
            yield LabeledPair(other, question.memories[place], NEITHER)
