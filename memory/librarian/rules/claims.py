"""Claim or not: two linear classifiers over sentence vectors, in a chain.

The first judges the message: is it made up, an exercise, a joke, or someone else's words? The second judges each
statement, by its vector, how it was read, and the first one's score: is it worth keeping, or over in an hour?
`manage.py train-claims` fits the weights in `claims.json`. Notes, orders and secrets have forms of their own and are
not judged.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from memory.embeddings.port import embedder
from memory.librarian.engine import ProposedFact
from memory.models.kinds import Kind

FORMS: Final = ("table", "elided", "words", "elided_words", "mention", "name", "lexicon", "note", "whole",
                      "fragment")  # fmt: skip
"""How a judged candidate was read."""
DROPPED_BELOW: Final = {"words": 0.58, "elided_words": 0.58, "whole": 0.6, "fragment": 0.7}
"""Probability of a claim, by form. Chosen by leaving out one labeled set at a time."""
KNOWN_BELOW: Final = 0.4
"""The same for what the table or a name's form recognizes: an allergy is worth a question."""
SURE_FROM: Final = 0.98
"""From here on a claim of the user's own is kept unasked."""
READ_FROM: Final = 0.5
"""From here on what the table reads keeps its confidence."""
SURE: Final = 0.85
ASK: Final = 0.7
"""Confidence of a claim that is sure, and of one that is not."""
MAX_CONTEXT: Final = 1_500
"""Characters of a message by which it is judged; the model reads no more."""
WEIGHTS: Final = Path(__file__).with_name("claims.json")
_PAST: Final = re.compile(r"\b(?:was|were|had|got|went|did|\w{3,}ed)\b")
_SOON: Final = re.compile(r"(?i)\b(?:today|tonight|now|this (?:morning|evening|afternoon))\b")
_LASTING: Final = re.compile(r"(?i)\b(?:always|never|usually|every|each|since|for years|\d+ years|on \w+days)\b")
_YOU: Final = re.compile(r"(?i)\b(?:you|your|it|this|that|them|one|something|some)\b")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may be proposed, and the words it is judged by."""

    fact: ProposedFact
    words: str
    form: str
    """How it was read: one of FORMS, or one that is not judged."""


def kept(found: Sequence[Candidate], message: str) -> list[ProposedFact]:
    """The candidates in `message` that are claims, as surely as they are."""
    whole = [one for one in found if one.fact.confidence > 0]
    judged = [one for one in whole if one.form in FORMS]
    chances = dict(zip(map(id, judged), probabilities(judged, message), strict=True))
    facts = [(one, fact) for one in whole if (fact := _weighed(one, chances.get(id(one)))) is not None]
    told = [fact.statement for one, fact in facts if one.form != "mention"]
    return [fact for one, fact in facts if one.form != "mention" or not _is_told(fact, told)]


def _is_told(mention: ProposedFact, statements: Sequence[str]) -> bool:
    """Whether a statement that is kept already says who someone is: “the user's sister Mary lives in Lisbon”."""
    return (
        bool(mention.tags)
        and any(all(tag in statement for tag in mention.tags) for statement in statements)
        and mention.value in mention.tags
    )


def _weighed(one: Candidate, chance: float | None) -> ProposedFact | None:
    if chance is None:
        return one.fact
    if chance < DROPPED_BELOW.get(one.form, KNOWN_BELOW):
        return None
    confidence = one.fact.confidence
    if one.form.endswith("words") and chance >= SURE_FROM and confidence >= ASK:
        confidence = SURE
    elif chance < READ_FROM:
        confidence = min(confidence, ASK)
    return one.fact.model_copy(update={"confidence": confidence})


def probabilities(found: Sequence[Candidate], message: str) -> list[float]:
    """How likely each is a claim worth keeping, 0 to 1."""
    if not found:
        return []
    whole, *vectors = embedder().embed([message[:MAX_CONTEXT], *(one.fact.statement for one in found)])
    unreal = context(_dot(_weights()["unreal"], [1.0, *whole]))
    rows = ([1.0, *features(one), unreal, *vector] for one, vector in zip(found, vectors, strict=True))
    return [1 / (1 + math.exp(-max(-30.0, min(30.0, _dot(_weights()["claim"], row))))) for row in rows]


def context(score: float) -> float:
    """The message's score as a feature of its statements."""
    return max(-6.0, min(6.0, score)) / 3


def features(one: Candidate) -> list[float]:
    """What the vector does not say: the form, and signs of time."""
    words = one.words
    signs = (_PAST, _SOON, _LASTING, _YOU)
    return [
        *(float(one.form == form) for form in FORMS),
        *(float(sign.search(words) is not None) for sign in signs),
        float(one.fact.about_third_party),
        *(float(one.fact.kind is kind) for kind in (Kind.DECISION, Kind.PREFERENCE, Kind.PROCEDURE)),
        float(any(char.isdigit() for char in words)),
        float(re.search(r"\b[A-Z][a-z]", words[2:]) is not None),
        min(len(words.split()), 20) / 20,
    ]


def _dot(weights: Sequence[float], row: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, row, strict=True))


@cache
def _weights() -> dict[str, list[float]]:
    """Of each classifier: of the constant, the features and the vector."""
    return {name: list(map(float, row)) for name, row in json.loads(WEIGHTS.read_text(encoding="utf-8")).items()}
