"""The replayed conversations: texts and pauses. The same seed always gives the same thousand turns.

A shorter conversation is the start of the long one. Texts are English sentences from the documentation of the standard
library: real words, so that both tokenizers count them as prose.
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
# Characters, as median and spread of the logarithm: on average 150 tokens per question and 400 per answer (FACTS §1.4).
QUESTION: Final = (310, 1.0)
ANSWER: Final = (1_130, 0.7)
MEMORY: Final = (250, 0.7)
RESULT: Final = (1_800, 0.6)
MAX_STRETCH: Final = 4.0
"""Times the median: the maximum length of a text."""
MEMORIES: Final = 5
"""Memories recalled for each question (`memory/retrieval/ranking.py: TOP_K`): about 800 tokens."""
TOPIC_TURNS: Final = 40
"""Average turns per topic; a shift is noticed in the new topic's second turn (`chat/compaction/topic_shift.py`)."""
FACT_EVERY: Final = 12
"""Average turns until the librarian adds a line to the profile."""
PROFILE: Final = 30
"""Lines of the profile at the start: about 600 tokens."""
MAX_FACTS: Final = 40
"""Maximum lines added: anything learned after that is recalled and isn't in the profile."""

# Seconds between the starts of two turns, as share of the turns and the range.
AT_ONE_GO: Final = ((1.0, 20, 180),)
WITH_PAUSES: Final = (
    (0.75, 20, 240),
    (0.20, 360, 3_000),  # an interruption: longer than five minutes, shorter than an hour
    (0.05, 2 * 3_600, 16 * 3_600),  # another session: no cache lives this long
)
ROUNDS: Final = ((0.60, 0), (0.25, 1), (0.10, 2), (0.05, 4))
"""Tool rounds as share of the turns, in scenes with tools."""
TASK_TURNS: Final = 35
"""Average turns per task, in scenes with tools: then the model says that it is done."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One kind of conversation."""

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
    thought: str
    query: str
    result: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn, with everything that will happen in it."""

    number: int
    pause: float
    """Seconds since the previous turn started."""
    question: str
    answer: str
    memories: Sequence[str]
    calls: Sequence[Call]
    """One call per round."""
    learned: str
    """The profile line learned in this turn; empty: nothing new."""
    topic_has_shifted: bool
    task_is_done: bool


def profile() -> list[str]:
    """The profile's lines at the start."""
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
            learned if facts <= MAX_FACTS else "",
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
    """Sentences of about the given size."""
    median, spread = size
    length = int(min(chance.lognormvariate(math.log(median), spread), median * MAX_STRETCH))
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
