"""Why did a memory come up for a question, and why did it find room or not? One receipt's item, in plain words. Pure.

What a receipt says stands as it was then; the words for it are today's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.pages.search import RULES, Reason, explain_score

RULE_WORDS: Final[Mapping[str, str]] = {
    **{str(rule): words for rule, words in RULES.items()},
    "beyond top-K": "Relevant, but other memories match the question better.",
    "over the token budget": "Relevant, but better matches had filled the space for memories.",
    "the same question": "It repeats your question and adds nothing.",
    "near-duplicate": "Another memory in the prompt says the same.",
}
"""Each rule by which a memory is left out before anything has to fit, in plain words."""
PROMPT_FULL: Final = "The prompt was full, so this rule applied: {rule}."
"""Where the budget cut it: its rules are sentences by themselves (docs/budget.md)."""
SEARCH_PARTS: Final = frozenset({"semantic", "keyword"})
"""Parts of a score that only a search gives."""
ALWAYS: Final = "Always included in every prompt."
ALWAYS_AND_FITS: Final = "Always included, and relevant to this question."
OPENING: Final = "It opened the conversation, as your latest significant memory."


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation."""

    kept: bool
    verdict: str
    """One sentence: it stood in the prompt, or it did not."""
    because: str
    """One sentence on the rule."""
    rule: str
    """The rule by its name; empty: none cut it."""
    place: str
    """Where it stood among the others; empty: it was not searched for."""
    counted: Sequence[Reason]
    """What made its score, the most first."""
    uncounted: Sequence[Reason]
    """Known of it, too, and without weight."""


def explain_recall(item: Mapping[str, Any], place: int | None, among: int, last_kept: float | None) -> Explanation:
    """Explain one item of a receipt; `place` among so many, and the lowest score that was `last_kept`."""
    counted, uncounted = explain_score(item["parts"])
    kept = bool(item["kept"])
    return Explanation(
        kept=kept,
        verdict="Used in this answer" if kept else "Left out of this answer",
        because=_because(item),
        rule=item["rule"],
        place=_place(item, place, among, last_kept),
        counted=counted,
        uncounted=uncounted,
    )


def _because(item: Mapping[str, Any]) -> str:
    if item["rule"]:
        return RULE_WORDS.get(item["rule"], PROMPT_FULL.format(rule=item["rule"]))
    if "fits" in item:
        return ALWAYS_AND_FITS
    if SEARCH_PARTS & item["parts"].keys():
        return "Relevant to the question, and there was room for it."
    return OPENING if item["parts"] else ALWAYS


def _place(item: Mapping[str, Any], place: int | None, among: int, last_kept: float | None) -> str:
    if place is None or not SEARCH_PARTS & item["parts"].keys():
        return ""
    where = f"Ranked {place} of {among}, with a score of {_percent(item['score'])}."
    if item["kept"] or last_kept is None:
        return where
    return f"{where} The lowest score included was {_percent(last_kept)}."


def _percent(score: float) -> str:
    return f"{round(100 * score)}%"
