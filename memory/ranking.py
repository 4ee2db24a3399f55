"""In what order do memories come back, and which are left out? Pure: no database, no clock, no model.

`rank` scores candidates by named parts and says of each one left out by which rule. Two profiles of weights: `MEASURED`
(the default) and `SEED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a cosine means under one embedding model."""

    unrelated: float
    """Typical cosine of a question and a statement that have nothing to do with each other: `semantic` is 0."""
    close: float
    """Cosine at which a statement says just what is asked: `semantic` is 1."""
    floor: float
    """Least cosine at which meaning alone recalls a memory."""


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    # 55 questions on 20 statements, told in the third person (memory/retrieval.py): the right statement has a cosine of
    # .55 (median), .29 (lowest twentieth) to .75 (highest); a wrong one .16, small talk .06 (19 of 20 times below .20).
    # The floor keeps 95 of 100 right statements, and lets small talk recall nothing nearly always. The seeds' 0.7
    # belongs to another model: here it would lose nine of ten.
    "all-MiniLM-L6-v2": Calibration(unrelated=0.12, close=0.70, floor=0.28),
}
UNKNOWN_MODEL: Final = Calibration(unrelated=0.0, close=1.0, floor=0.4)
"""For a model nobody has measured: the plain cosine, and a floor that rather leaves out than adds noise."""

WORDS_FLOOR: Final = 0.3
"""Least share of the question's words (weighted by rarity) at which words alone recall a memory."""

TOP_K: Final = 5
"""At most so many facts in one prompt (seeds 000 and 003)."""

SAME_WORDS: Final = 0.8
"""Two statements that share this much of their words say the same, unless a name, a number or a “not” differs."""

RECENCY_HALF_LIFE_DAYS: Final = 30.0
"""`recency` halves in this time (seed 004)."""
RECENT_DAYS: Final = 7.0
"""Younger than this counts as recent for a profile's boost (seed 000)."""
USES_THAT_COUNT: Final = 10
"""`access` is full at so many uses; further ones prove nothing more."""

Part = Literal["semantic", "keyword", "name_match", "recency", "importance", "access"]
Rule = Literal["below the floor", "near-duplicate", "beyond top-K"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to weigh the parts. The total is Σ weight × part / Σ weight, boosted, and at most 1."""

    name: str
    weights: Mapping[Part, float]
    recent_boost: float
    """Factor for a memory younger than RECENT_DAYS."""
    boosts_recent: Literal["always", "asked"]
    """`asked`: only where the question is for the latest state."""
    importance_boost: float
    """Gain of a memory of importance 1 over one of importance 0, as a share of the total."""


MEASURED: Final = Profile(
    name="measured",
    weights={
        # On 383 questions to long conversations the first ten hold 50 % of the evidence by meaning alone, 66 % by words
        # alone and 69 % by both in equal parts; between 3 : 7 and 6 : 4 the weights move that by about a point.
        "semantic": 0.45,
        "keyword": 0.45,
        "name_match": 0.1,  # the dense model blurs who and where; little, as a rare name weighs in the words already
        "recency": 0.0,  # as a standing term it costs 6 points of recall@10: it only breaks ties
        "importance": 0.0,  # says how much a memory matters, not whether it answers this question
        "access": 0.0,  # what was used before would crowd out what is asked now
    },
    recent_boost=1.2,
    boosts_recent="asked",
    importance_boost=0.0,
)
"""The default: what measurement on long conversations supports."""

SEED: Final = Profile(
    name="seed",
    weights={
        "semantic": 0.4,  # seed 004, “Multi-Strategy Scoring”
        "keyword": 0.3,
        "name_match": 0.0,  # the seeds have no such part
        "recency": 0.2,
        "importance": 0.1,
        "access": 0.0,
    },
    recent_boost=1.2,  # seed 000
    boosts_recent="always",
    importance_boost=0.1,  # seed 000, “by importance score”
)
"""The seeds' own formula, for comparison and for those who prefer it."""

PROFILES: Final[Mapping[str, Profile]] = {profile.name: profile for profile in (MEASURED, SEED)}

ASKS_FOR_LATEST: Final = re.compile(
    r"\b(now(adays)?|current(ly)?|latest|newest|today|these days|at the moment|recent(ly)?|still|any ?more)\b",
    re.IGNORECASE,
)
"""Words by which a question asks for the latest state."""

_WORD = re.compile(r"[^\W_]+")
_OPENERS: Final = frozenset(
    {"the", "a", "an", "i", "in", "on", "at", "every", "when", "if", "his", "her", "their", "my"}
)
"""Words that are capitalised only because a statement begins with them."""
_DIFFERENCE_MAKERS: Final = frozenset({"not", "no", "never", "cannot", "t", "without", "longer", "former", "formerly"})
"""A word that turns a statement round (“t” ends “doesn’t”): statements that differ in it never say the same."""


@dataclass(frozen=True)
class Candidate:
    """One memory that a leg of the search brought up."""

    ref: str
    text: str
    when: datetime
    """When Recall came to know it."""
    distance: float | None
    """Cosine distance to the question, 0–2; None: it has no vector of this model."""
    words: float
    """Share of the question's words it holds, weighted by rarity: 0–1."""
    importance: float
    times_used: int

    @cached_property
    def said(self) -> frozenset[str]:
        """Its words in lower case."""
        return frozenset(_WORD.findall(self.text.lower()))

    @cached_property
    def named(self) -> frozenset[str]:
        """What it names: its capitalised words, in lower case."""
        return frozenset(word.lower() for word in _WORD.findall(self.text) if word[0].isupper()) - _OPENERS


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate with its score, and the rule that left it out (None: it is kept)."""

    candidate: Candidate
    parts: Mapping[Part, float]
    total: float
    rule: Rule | None


def rank(
    question: str,
    candidates: Iterable[Candidate],
    profile: Profile,
    now: datetime,
    *,
    calibration: Calibration,
    top_k: int = TOP_K,
) -> list[Ranked]:
    """All candidates, best first: the kept ones have no rule, the cut ones each name theirs."""
    known = list(candidates)
    asked_names = _asked_names(question, known)
    wants_latest = bool(ASKS_FOR_LATEST.search(question))
    scored = []
    for candidate in known:
        parts = score_parts(candidate, asked_names, now, calibration)
        scored.append((candidate, parts, total(parts, profile, wants_latest=wants_latest, age=now - candidate.when)))
    scored.sort(key=lambda row: (-round(row[2], 2), -row[1]["recency"], row[0].ref))
    return _with_rules(scored, calibration, top_k)


def score_parts(
    candidate: Candidate, asked_names: frozenset[str], now: datetime, calibration: Calibration
) -> dict[Part, float]:
    """Each part of the score, 0–1, whatever its weight."""
    return {
        "semantic": semantic(candidate.distance, calibration),
        "keyword": _clamp(candidate.words),
        "name_match": len(asked_names & candidate.named) / len(asked_names) if asked_names else 0.0,
        "recency": 0.5 ** (max(0.0, _days(now - candidate.when)) / RECENCY_HALF_LIFE_DAYS),
        "importance": _clamp(candidate.importance),
        "access": min(1.0, candidate.times_used / USES_THAT_COUNT),
    }


def semantic(distance: float | None, calibration: Calibration) -> float:
    """Closeness in meaning, 0 (unrelated) to 1 (just what is asked)."""
    if distance is None:
        return 0.0
    return _clamp((1.0 - distance - calibration.unrelated) / (calibration.close - calibration.unrelated))


def total(parts: Mapping[Part, float], profile: Profile, *, wants_latest: bool, age: timedelta) -> float:
    """The weighted mean of the parts with the profile's boosts, 0–1."""
    weighed = sum(weight * parts[part] for part, weight in profile.weights.items())
    score = weighed / sum(profile.weights.values())
    if _days(age) < RECENT_DAYS and (wants_latest or profile.boosts_recent == "always"):
        score *= profile.recent_boost
    return _clamp(score * (1.0 + profile.importance_boost * parts["importance"]))


def says_the_same(one: Candidate, other: Candidate) -> bool:
    """True for two statements with nearly the same words, unless a name, a number or a “not” makes the difference."""
    different = one.said ^ other.said
    either = (len(one.said) + len(other.said) + len(different)) / 2
    if not either:
        return one.text == other.text
    if len(different) > (1 - SAME_WORDS) * either:
        return False
    telling = one.named | other.named | _DIFFERENCE_MAKERS
    return not any(word in telling or any(char.isdigit() for char in word) for word in different)


def _with_rules(
    scored: Sequence[tuple[Candidate, dict[Part, float], float]], calibration: Calibration, top_k: int
) -> list[Ranked]:
    ranked: list[Ranked] = []
    kept: list[Candidate] = []
    for candidate, parts, score in scored:
        rule = _rule(candidate, kept, calibration, top_k)
        if rule is None:
            kept.append(candidate)
        ranked.append(Ranked(candidate, parts, score, rule))
    return sorted(ranked, key=lambda row: row.rule is not None)


def _rule(candidate: Candidate, kept: Sequence[Candidate], calibration: Calibration, top_k: int) -> Rule | None:
    if not _reaches_floor(candidate, calibration):
        return "below the floor"
    if any(says_the_same(candidate, other) for other in kept):
        return "near-duplicate"
    return "beyond top-K" if len(kept) >= top_k else None


def _reaches_floor(candidate: Candidate, calibration: Calibration) -> bool:
    by_meaning = candidate.distance is not None and 1.0 - candidate.distance >= calibration.floor
    return by_meaning or candidate.words >= WORDS_FLOOR


def _asked_names(question: str, candidates: Iterable[Candidate]) -> frozenset[str]:
    """The words of the question, however written, that some candidate uses as a name."""
    named = frozenset[str]().union(*(candidate.named for candidate in candidates))
    return named & frozenset(_WORD.findall(question.lower()))


def _days(age: timedelta) -> float:
    return age.total_seconds() / 86_400


def _clamp(share: float) -> float:
    return min(1.0, max(0.0, share))
