"""Explains in words why a memory was recalled for an answer, or left out, from one item of its receipt. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.pages.search import RULES, Reason, explain_score
from recall.figures import percent

RULE_WORDS: Final[Mapping[str, str]] = {
    **{str(rule): words for rule, words in RULES.items()},
    "beyond top-K": "Relevant, but other memories match the question better.",
    "over the token budget": "Relevant, but better matches had filled the space for memories.",
    "near-duplicate": "Another memory that was sent says the same.",
}
"""Each retrieval rule that leaves a memory out, in words."""
NO_ROOM: Final = "There was no room left."
"""For rules of the budget (docs/budget.md)."""
SEARCH_PARTS: Final = frozenset({"semantic", "keyword"})
"""Score parts that only a search produces."""
ALWAYS: Final = "Every answer gets it."
ALWAYS_AND_FITS: Final = "Always included, and relevant to this question."
OPENING: Final[Mapping[str, str]] = {
    "episode": "It starts the conversation: your latest episode.",
    "fact": "It starts the conversation: one of your open goals.",
    "message": "It starts the conversation: you said it last time.",
}
"""By the kind of memory that was recalled because a conversation was new (`retrieval/conversation_start.py`)."""


@dataclass(frozen=True, slots=True)
class Explanation:
    kept: bool
    verdict: str
    """Whether it was sent for the answer."""
    because: str
    """The reason, in one sentence."""
    rule: str
    """The name of the rule that left it out; empty: none."""
    place: str
    """Its rank; empty: it was not searched for."""
    counted: Sequence[Reason]
    """The parts of its score, the largest first."""
    uncounted: Sequence[Reason]
    """Signals not used for ranking."""


def explain_recall(item: Mapping[str, Any], place: int | None, among: int, last_kept: float | None) -> Explanation:
    """Explain one item of a receipt: its rank `place` of `among`, and the lowest score kept."""
    counted, uncounted = explain_score(item["parts"])
    kept = bool(item["kept"])
    return Explanation(
        kept=kept,
        verdict="Sent for this answer" if kept else "Left out of this answer",
        because=_because(item),
        rule=item["rule"],
        place=_place(item, place, among, last_kept),
        counted=counted,
        uncounted=uncounted,
    )


def _because(item: Mapping[str, Any]) -> str:
    if item["rule"]:
        return RULE_WORDS.get(item["rule"], NO_ROOM)
    if "fits" in item:
        return ALWAYS_AND_FITS
    if SEARCH_PARTS & item["parts"].keys():
        return "Relevant to the question, and there was room for it."
    return OPENING[item["ref"].partition(":")[0]] if "opening" in item["parts"] else ALWAYS


def _place(item: Mapping[str, Any], place: int | None, among: int, last_kept: float | None) -> str:
    if place is None or not SEARCH_PARTS & item["parts"].keys():
        return ""
    where = f"Ranked {place} of {among}, with a score of {percent(item['score'])}."
    if item["kept"] or last_kept is None:
        return where
    return f"{where} The lowest score included was {percent(last_kept)}."
