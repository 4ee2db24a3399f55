"""Labeled questions, from which the query encoder learns and by which it is judged.

A line says what it is: `person:` starts another person, `speakers:` names those who talk, if they are two others;
`3 fact:`, `3 said:` or `3 answered:` is the third memory, `ask:` is a question of a later conversation. Below a
question are the numbers of the memories that answer it (`answers: 2, 5`) and of those that a good answer heeds
(`helps: 7`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from memory.embeddings.limits import Vectors

_MEMORY: Final = re.compile(r"\d+ (fact|said|answered): (.+)")


@dataclass(slots=True)
class Question:
    """A question, the memories of its author, and which of them it is about."""

    text: str
    speakers: tuple[str, ...]
    memories: Sequence[str]
    kinds: Sequence[str]
    """Of each memory: `fact`, `said` or `answered`."""
    answers: list[int] = field(default_factory=list)
    """Indices of the memories that answer it."""
    helps: list[int] = field(default_factory=list)


def read_questions(text: str) -> list[Question]:
    """The questions of a file.

    Raises:
        ValueError: a line is none of these.
    """
    questions: list[Question] = []
    memories: list[str] = []
    kinds: list[str] = []
    speakers: tuple[str, ...] = ()
    for line in filter(str.strip, text.splitlines()):
        kind, _, rest = line.partition(": ")
        if kind == "person":
            memories, kinds, speakers = [], [], ()
        elif kind == "speakers":
            speakers = tuple(rest.split(", "))
        elif found := _MEMORY.fullmatch(line):
            kinds.append(found[1])
            memories.append(found[2])
        elif kind == "ask":
            questions.append(Question(rest, speakers, memories, kinds))
        elif kind in ("answers", "helps"):
            getattr(questions[-1], kind).extend(int(number) - 1 for number in rest.split(", "))
        else:
            raise ValueError(f"This is no line of labeled questions: {line}")
    return questions


def judge(questions: Sequence[Question], cosines: Sequence[Vectors], least: float) -> str:
    """For how many questions the nearest memory answers, and how many others nothing is near enough for.

    `cosines`: of each question with its memories.
    """
    answered = [(one, near) for one, near in zip(questions, cosines, strict=True) if one.answers]
    others = [near for one, near in zip(questions, cosines, strict=True) if not one.answers and not one.helps]
    first = [int(near.argmax()) in one.answers and bool(near.max() >= least) for one, near in answered]
    silent = [bool(near.max() < least) for near in others]
    return (
        f"an answer first for {100 * np.mean(first):.1f} % of {len(first)}, "
        f"nothing for {100 * np.mean(silent):.1f} % of {len(silent)} that have none"
    )
