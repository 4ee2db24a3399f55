"""Kinds of questions that are searched and ranked otherwise: those that one memory can't answer, and those for the
model's own words.

Pure: patterns and weights. `manage.py evaluate --ablation` says what each kind is worth.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.text.language import as_set


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """How questions of one kind are searched and ranked, where it differs from all others."""

    name: str
    cue: re.Pattern[str]
    own_words: float | None = None
    """Weight of the user's own words, if not the profile's."""
    more: float = 1.0
    """How many times as many memories are recalled."""
    repeated: float = 1.0
    """Factor of the score for each better memory of the same session: below 1, other sessions come forward."""
    frame: frozenset[str] = frozenset()
    """Words that say how to tell it, not what it is about: they aren't searched for."""

    def topic(self, text: str) -> str:
        """The text without the frame; the whole text if nothing else is left."""
        if not self.frame:
            return text
        words = [word for word in text.split() if _bare(word) not in self.frame]
        return " ".join(words) if any(map(_bare, words)) else text


def _bare(word: str) -> str:
    return word.strip(".,;:!?\"'“”()").lower()


_FRAME: Final = as_set("""
    a about across all an and aspect aspects been bring brought can chat chats chronological clear complete
    comprehensive conversation conversations could cover covered detailed did different discuss discussed discussion
    discussions during each everything far five for four full give have how i in including into item items list me
    mention mentioned nine of on only order our overview please provide raise raised recap sequence session sessions
    seven short six so summaries summarise summarize summary talk talked tell ten the then things three throughout
    time timeline to topic topics two up various walk we were what which with would you
""")

PLAIN: Final = QuestionKind("plain", re.compile(r"(?!)"))
"""Every other question."""

KINDS: Final = (
    QuestionKind(
        "order",
        re.compile(
            r"\b(in (what|which) (order|sequence)|(order|sequence) (in which|that) (i|we)|chronological|timeline of)\b",
            re.IGNORECASE,
        ),
        own_words=0.6,
        more=2.0,
        repeated=0.95,
        frame=_FRAME,
    ),
    QuestionKind(
        "summary",
        re.compile(
            r"\b(summar(y|ies|i[sz]e)|overview of|recap|sum up|everything (i|we|you)(['’]ve)?)\b", re.IGNORECASE
        ),
        own_words=0.0,
        more=2.0,
        frame=_FRAME,
    ),
    QuestionKind(
        "list",
        re.compile(
            r"^\W*(?:(?:what|which)(?: \w+){0,3} \w+s (?:has|have|did|do|does|are|were)"
            r"|(?:what|where|who) (?:has|have))\b",
            re.IGNORECASE,
        ),
        more=2.0,
    ),
    QuestionKind(
        "said by the model",
        re.compile(
            r"\b(?:did|had|have) you (?:\w+ )?(?:recommend|suggest|advise|propose|explain|say|tell|show|give|write|list"
            r"|describe|outline|mention|offer)\w*\b"
            r"|\byou (?:recommended|suggested|advised|proposed|explained|told|showed|gave|wrote|listed|described"
            r"|outlined|mentioned|offered)\b|\byour (?:advice|suggestions?|recommendations?|explanations?)\b",
            re.IGNORECASE,
        ),
        own_words=0.0,
    ),
)
"""Tried in this order. Most of the gain comes from the frame: “aspects” and “conversations” are rare words and outweigh
the topic. Weights were chosen on the development chats; chosen on all but one, orders find 27 % and summaries 13 % of
the first five and ten, on average, in that one."""


def kind_of(text: str, kinds: Sequence[QuestionKind] = KINDS) -> QuestionKind:
    """The first of these kinds that a question is of."""
    return next((kind for kind in kinds if kind.cue.search(text)), PLAIN)
