"""The replayed conversations: texts and pauses. The same seed always gives the same thousand turns.

A shorter conversation is the beginning of the long one. Texts are English sentences from the documentation of the
standard library: real words, so that both tokenizers count them as they count prose.
"""

import argparse
import asyncio
import collections
import email
import inspect
import logging
import math
import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

SEED: Final = 4
# Characters, as median and spread of the logarithm: 150 tokens a question, 400 an answer in the mean (FACTS §1.4).
QUESTION: Final = (310, 1.0)
ANSWER: Final = (1_130, 0.7)
MEMORY: Final = (250, 0.7)
RESULT: Final = (1_800, 0.6)
LONGEST: Final = 4.0
"""Times the median: no text is longer."""
MEMORIES: Final = 5
"""Memories recalled for each question (`memory/retrieval/ranking.py: TOP_K`): about 800 tokens."""
TOPIC_TURNS: Final = 40
"""Turns of a topic in the mean; that it has shifted is seen in its second turn (`chat/compaction/topic_shift.py`)."""
FACT_EVERY: Final = 12
"""Turns after which the librarian has added a line to the profile, on average."""
PROFILE: Final = 30
"""Lines of the profile at the beginning: about 600 tokens."""
MOST_FACTS: Final = 40
"""Lines added in all: the rest of what is learned is recalled, and is not in the profile."""

# Seconds between the beginnings of two turns, as share of the turns and the range.
AT_ONE_GO: Final = ((1.0, 20, 180),)
WITH_PAUSES: Final = (
    (0.75, 20, 240),
    (0.20, 360, 3_000),  # something else in between: longer than five minutes, shorter than an hour
    (0.05, 2 * 3_600, 16 * 3_600),  # another sitting: no cache lives so long
)
ROUNDS: Final = ((0.60, 0), (0.25, 1), (0.10, 2), (0.05, 4))
"""Rounds of tools, as share of the turns, where tools are used."""
TASK_TURNS: Final = 35
"""Turns of a task in the mean, where tools are used: then the model says that it is done."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One way to talk."""

    name: str
    pauses: Sequence[tuple[float, float, float]]
    rounds: Sequence[tuple[float, int]] = ((1.0, 0),)


SCENES: Final = (
    Scene("at one go", AT_ONE_GO),
    Scene("with pauses", WITH_PAUSES),
    Scene("with tools", AT_ONE_GO, ROUNDS),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a tool."""

    thought: str
    query: str
    result: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn as it will come about."""

    number: int
    pause: float
    """Seconds since the previous turn started."""
    question: str
    answer: str
    memories: Sequence[str]
    calls: Sequence[Call]
    """One a round."""
    learned: str
    """What the profile holds from the next turn on; empty: nothing new."""
    topic_has_shifted: bool
    task_is_done: bool


def profile() -> list[str]:
    """The profile's lines at the beginning."""
    chance = random.Random(SEED)
    return [_text((75, 0.4), chance) for _ in range(PROFILE)]


def talk(scene: Scene, turns: int, seed: int = SEED) -> Iterator[Exchange]:
    """The first `turns` turns."""
    said, moments = random.Random(f"{seed} words"), random.Random(f"{seed} {scene.name}")
    new_topic = 0
    facts = 0
    for number in range(1, turns + 1):
        if said.random() < 1 / TOPIC_TURNS:
            new_topic = number
        learned = _text((75, 0.4), said) if said.random() < 1 / FACT_EVERY else ""
        facts += bool(learned)
        question, answer = _text(QUESTION, said), _text(ANSWER, said)
        memories = [_text(MEMORY, said) for _ in range(MEMORIES)]
        yield Exchange(
            number,
            _pause(scene, moments) if number > 1 else 0.0,
            question,
            answer,
            memories,
            [_call(moments) for _ in range(_rounds(scene, moments))],
            learned if facts <= MOST_FACTS else "",
            topic_has_shifted=number == new_topic + 1 and new_topic > 0,
            task_is_done=len(scene.rounds) > 1 and moments.random() < 1 / TASK_TURNS,
        )


def _pause(scene: Scene, chance: random.Random) -> float:
    shares = [share for share, *_ in scene.pauses]
    _, least, most = chance.choices(scene.pauses, weights=shares)[0]
    return math.exp(chance.uniform(math.log(least), math.log(most)))


def _rounds(scene: Scene, chance: random.Random) -> int:
    return chance.choices([rounds for _, rounds in scene.rounds], weights=[share for share, _ in scene.rounds])[0]


def _call(chance: random.Random) -> Call:
    return Call(_text((200, 0.5), chance), _text((60, 0.3), chance), _text(RESULT, chance))


def _text(size: tuple[float, float], chance: random.Random) -> str:
    """Sentences of about so many characters."""
    median, spread = size
    length = int(min(chance.lognormvariate(math.log(median), spread), median * LONGEST))
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts.append(chance.choice(_sentences()))
    return " ".join(parts)[: max(20, length)].strip()


@cache
def _sentences() -> Sequence[str]:
    modules = (argparse, asyncio, collections, email, inspect, logging, random, subprocess, threading)
    docs = [inspect.getdoc(value) or "" for module in modules for value in vars(module).values()]
    paragraphs = {" ".join(part.split()) for doc in docs for part in doc.split("\n\n") if ">>>" not in part}
    return sorted(text for text in paragraphs if 50 < len(text) < 500 and text[0].isupper() and text[-1] == ".")
