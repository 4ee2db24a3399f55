"""Finds the remembered sentence that answers a question: shared word stems, rarer ones weighing more.

No language model and no vectors: stems are words cut to `STEM_LENGTH` letters after their endings, a question word
prefers sentences with the fitting verbs or names, and a sentence must cover more than `ENOUGH` of the question.
"""

import math
import re
from dataclasses import dataclass

from offline.responder.request_facts import Memory

ENOUGH = 0.5  # of the question's weight; a sentence sharing one of two rare words is not an answer
OTHER_SUBJECT = 0.5  # factor for a sentence about the user's sister when the question does not name her
KIND_WEIGHT = 0.5  # of a question word, next to the mean weight of the question's stems
STEM_LENGTH = 6  # allergic, allergy and allergies meet at six letters
MOST_SENTENCES = 3

STOPWORD_LINES = """
a an the and or but of to in on at by for from with as is are was were be been am do does did done have has had
i me my mine you your yours we our us he she it its they them their this that these those there here so if not
no yes any some can could will would shall should may might must what where who whom whose when which how why
name names called tell know remember please again about user user's users just really very much many
"""
STOPWORDS = frozenset(STOPWORD_LINES.split())
SAME_STEM = {
    "resid": "liv", "home": "liv", "addres": "liv", "job": "work", "employ": "work", "compan": "work",
    "birthd": "born", "favour": "lik", "favori": "lik", "prefer": "lik", "lov": "lik", "enjoy": "lik",
    "marri": "spous", "marry": "spous", "wife": "spous", "husban": "spous", "eat": "food",
}  # fmt: skip
# Question word → what a fitting sentence shows.
KINDS = {
    "where": re.compile(r"\b(?:live[sd]?|living|moved?|born|based|located|work(?:s|ed)? (?:at|in)|from|in|at)\b"),
    "when": re.compile(r"\b(?:\d{1,4}|mon|tues|wednes|thurs|fri|satur|sun|yester|to|birth)(?:day)?\b|\b(?:Jan|Feb|Mar|"
                       r"Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"),
    "who": re.compile(r"(?<!^)\b[A-Z][a-z]+"),
    "name": re.compile(r"(?<!^)\b[A-Z][a-z]+"),
}  # fmt: skip
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*")
OWNED = re.compile(r"^(?:the )?(?:user['’]s|my) (\w+)", re.IGNORECASE)
ENDINGS = ("ing", "ed", "es", "s", "ly")


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence that answers, and its memory."""

    sentence: str
    memory: Memory


def best_matches(question: str, memories: list[Memory]) -> list[Match]:
    """The sentences that cover the question best, at most three of equal score; empty when none covers enough."""
    asked = stems(question)
    candidates = [Match(sentence, memory) for memory in memories for sentence in sentences(memory.text)]
    if not asked or not candidates:
        return []
    known = [stems(match.sentence) for match in candidates]
    weights = {stem: _rarity(stem, known) for stem in asked}
    scored = [
        (_score(question, asked, weights, match.sentence, own), match)
        for match, own in zip(candidates, known, strict=True)
    ]
    top = max(score for score, _ in scored)
    if top <= ENOUGH:
        return []
    return _distinct([match for score, match in scored if math.isclose(score, top)])[:MOST_SENTENCES]


def sentences(text: str) -> list[str]:
    """The statements of a text; questions answer nothing."""
    found = (sentence.strip() for sentence in SENTENCE.findall(text))
    return [sentence for sentence in found if sentence and not sentence.endswith("?")]


def stems(text: str) -> frozenset[str]:
    words = (word.lower().removesuffix("'s").removesuffix("’s") for word in WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in STOPWORDS)


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    stem = word.removesuffix("e")[:STEM_LENGTH]
    return SAME_STEM.get(stem, stem)


def _rarity(stem: str, known: list[frozenset[str]]) -> float:
    seen = sum(stem in own for own in known)
    return math.log(1 + len(known) / max(seen, 0.5))


def _score(
    question: str, asked: frozenset[str], weights: dict[str, float], sentence: str, own: frozenset[str]
) -> float:
    """The covered share of the question's weight, 0 to 1; the question word counts as half a stem."""
    total = sum(weights.values())
    covered = sum(weights[stem] for stem in asked & own)
    kind = next(
        (pattern for word, pattern in KINDS.items() if re.search(rf"\b{word}\b", question, re.IGNORECASE)), None
    )
    if kind is not None and covered:
        extra = KIND_WEIGHT * total / len(asked)
        total += extra
        covered += extra if kind.search(sentence) else 0.0
    share = covered / total
    return share * OTHER_SUBJECT if _about_another(sentence, asked, own) else share


def _about_another(sentence: str, asked: frozenset[str], own: frozenset[str]) -> bool:
    """True for "The user's sister lives in Lisbon" when the question was "Where do I live?"."""
    owned = OWNED.match(sentence)
    if owned is None or _stem(owned[1].lower()) in asked:
        return False
    names = stems(" ".join(re.findall(r"(?<!^)\b[A-Z]\w+", sentence)))
    return not (asked & own & names)


def _distinct(matches: list[Match]) -> list[Match]:
    return list({match.sentence.lower().rstrip("."): match for match in reversed(matches)}.values())[::-1]
