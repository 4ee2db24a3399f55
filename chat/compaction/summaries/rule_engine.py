"""The engine without a model: it picks sentences, it writes none.

    decisions, action items, preferences, insights    the user's own sentences that say so, word for word in “…”
    topics                                            `topics.py`
    narrative                                         how each turn's question, or first sentence, begins

It reads English; of other languages it gives topics and narrative. It misses much, and what it gives was said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chat.compaction.summaries.engine import SummaryResult
from chat.compaction.summaries.schema import NARRATIVE_SHARE, WROTE, Exchange, Summary, Verbosity, folded
from chat.compaction.summaries.truncate import evenly, truncate_chars
from chat.conversations.topics import READ_CHARACTERS, topics_of
from memory.librarian.rules.clauses import clauses
from memory.retrieval.query import is_small_talk
from memory.text.secrets_filter import sensitive
from memory.text.user_text import mask_foreign_text
from recall.llm.tokens import count_tokens

VERSION: Final = "rules/1"

_LEAD: Final = r"(?:so |then |okay |great |alright )?(?:we|i)(?:'ve| have)?(?: both| all| now| finally| also| just)? "
SAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "decisions": (
        r"let's (?!(?:say|see|pretend|imagine|assume|talk|discuss|look|start|think|continue|move on)\b)\w",
        rf"{_LEAD}(?:decided|agreed|chose|chosen|picked|settled on|opted|committed to)\b",
        r"(?:we|i)(?:'ll| will| am|'m| are|'re) (?:just |probably )?(?:go(?:ing)? (?:with|for)"
        r"|stick(?:ing)? (?:with|to)|us(?:e|ing) (?!it\b)|drop(?:ping)? |switch(?:ing)? (?:to|from|back)"
        r"|tak(?:e|ing) the )",
        r"(?:the|my|our|final) (?:final )?(?:decision|choice|pick)(?: is|:)",
    ),
    "action_items": (
        r"(?:i|we)(?: still| also| really| now| then)* (?:(?:need|have|ought|want) to|must)"
        r" (?!(?:know|understand|ask|say|admit)\b)\w",
        r"(?:i|we)(?:'ve| have)? got to \w",
        r"(?:please )?(?:remind me|don't (?:let me )?forget) (?:to|about|that|of)\b",
        r"to-?do\b",
        r"(?:the |my |our )?(?:next|remaining|open|first) (?:steps?|tasks?|points?|things? to do)(?: is| are|:| for)",
        r"(?:i'm|i am|we're|we are) going to (?!be\b)\w",
        r"(?:i|we)(?:'ll| will) (?:send|call|write|book|buy|test|try|check|ask|fix|prepare|finish|meet|email|order|move"
        r"|update|review|talk to|look into|deploy|pay|bring|draft|set up)\b",
    ),
    "insights": (
        r"(?:it )?turns? out\b",
        r"it turned out\b",
        r"(?:the )?(?:real |actual |main |underlying )?(?:problem|cause|root cause|issue|reason|culprit|bug|trick|key"
        r"|bottleneck|fix|solution) (?:was|is|turned out|seems to be|lay)\b",
        r"(?:i|we)(?:'ve| have)? (?:just |finally |also )?(?:realis|realiz|learned|learnt|found out|figured out"
        r"|discovered|noticed)\w*",
        r"(?:i|we)(?: finally)? (?:fixed|solved) (?:it|this|that|the)\b",
        r"(?:that|this|it) (?:finally |now )?(?:worked|fixed it|solved it|did the trick)\b",
    ),
    "preferences": (
        r"(?:i|we)(?: really| also| much| usually| generally| always| still| personally)* (?:prefer|like|love|enjoy"
        r"|hate|dislike|can't stand|favou?r)\b",
        r"(?:i|we) (?:don't|do not|never)(?: really)? (?:like|enjoy|want|eat|drink|use|work)\b",
        r"(?:i|we) (?:always|usually|never) \w",
        r"(?:i'd|i would|we'd) (?:much )?(?:rather|prefer)\b",
        r"my favou?rite\b",
        r"(?:please )?(?:always|never|from now on)\b",
        r"(?:please )?(?:keep|make) (?:your |the )?(?:answers|replies|it) (?:short|brief|simple|long|detailed)",
    ),
}
"""How a clause begins that says so. A sentence is of the first kind that one of its clauses is of."""
_SAYS: Final = {kind: re.compile(rf"(?:{'|'.join(said)})", re.IGNORECASE) for kind, said in SAYS.items()}

ITEMS: Final[Mapping[Verbosity, int]] = {Verbosity.BRIEF: 3, Verbosity.NORMAL: 6, Verbosity.FULL: 12}
"""Sentences of a kind; of more, those said last, which hold."""
TOPICS: Final[Mapping[Verbosity, int]] = {Verbosity.BRIEF: 8, Verbosity.NORMAL: 12, Verbosity.FULL: 20}
MAX_QUOTE: Final = 200
"""Characters of a sentence."""
MAX_GIST: Final = 120
"""Characters of a sentence that only tells what a turn was about."""
MARGIN: Final = 8
"""Tokens kept free: counts of joined texts are not quite sums."""
MESSAGE_CHARACTERS: Final = 10_000
"""Of a message; who writes more pastes a document."""
FORGOTTEN: Final = "[forgotten]"
"""Stands where something was taken out for good; its sentence says nothing any more."""

_SENTENCE: Final = re.compile(r"[^.!?…。！？؟।\n]+(?:[.!?…]+(?![\s\"'”’)]|$)[^.!?…。！？؟।\n]*)*[.!?…。！？؟।]*")
_QUESTION_MARKS: Final = ("?", "？", "؟", ";")  # the last is Greek
_ASKS: Final = re.compile(
    r"^(?:(?:and|so|but|ok|okay|now|also|please|hi|hello|hey)[, ]+)*(?:what|how|why|who|where|when|which|can|could"
    r"|would|should|is|are|do|does|did|will|explain|tell me|show me|compare|describe|help me|give me|write|list|suggest"
    r"|recommend)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Picks what was said; never fails."""

    elsewhere: Sequence[str] = ()
    """What was said in the rest of the conversation, one text a turn: a word of every turn there is no topic here. In
    six long chats of strangers (stretches of 20 turns) a question that was held back then leads to its own stretch in
    22 % of the cases instead of 17 %."""

    @property
    def version(self) -> str:
        """The table's version."""
        return VERSION

    def summarize(self, turns: Sequence[Exchange], verbosity: Verbosity) -> SummaryResult:
        """What of the turns stays."""
        mine = [_own(turn.question) for turn in turns]
        answers = [_own(turn.answer[:READ_CHARACTERS]) for turn in turns]
        said = _sorted_by_kind(mine)
        summary = Summary(
            **{kind: tuple(sentences[-ITEMS[verbosity] :]) for kind, sentences in said.items()},
            topics=tuple(topics_of(mine, answers, TOPICS[verbosity], self.elsewhere)),
            narrative=_narrative(mine, {text for sentences in said.values() for text in sentences}, verbosity),
        )
        return SummaryResult(summary, self.version)


def _own(message: str) -> str:
    """The writer's own words, without sentences that hold a secret or something forgotten."""
    text = mask_foreign_text(message[:MESSAGE_CHARACTERS]).replace("’", "'")
    if FORGOTTEN in text or sensitive(text):
        for sentence in _sentences(text):
            if FORGOTTEN in sentence or sensitive(sentence):
                text = text.replace(sentence, " ")
    return text


def _sentences(text: str) -> Iterator[str]:
    return (
        stripped for found in _SENTENCE.finditer(text) if any(map(str.isalnum, stripped := found[0].strip(" \t-*•>")))
    )


# Sentences by kind -----------------------------------------------------------------------------------------------


def _sorted_by_kind(messages: Iterable[str]) -> dict[str, list[str]]:
    """The sentences of each kind, quoted, in the order they were said."""
    said: dict[str, dict[str, None]] = {kind: {} for kind in SAYS}
    for message in messages:
        for sentence in _sentences(message):
            if (kind := kind_of(sentence)) is not None:
                said[kind][_quoted(sentence, MAX_QUOTE)] = None
    return {kind: list(sentences) for kind, sentences in said.items()}


def kind_of(sentence: str) -> str | None:
    """What a sentence is, by the table; None: a question, a supposition, somebody else's words, or anything else."""
    if sentence.endswith(_QUESTION_MARKS):
        return None
    told = list(clauses(sentence))
    plain = [clause.text for clause in told if not clause.hypothetical and not clause.reported]
    # What opens a sentence (“it turns out”, “remind me”) is no clause that claims something, and yet says its kind.
    plain += [sentence.strip()] if len(plain) == len(told) else []
    return next((kind for kind, says in _SAYS.items() if any(map(says.match, plain))), None)


def _quoted(text: str, longest: int) -> str:
    return f"“{truncate_chars(folded(text), longest - 2)}”"


# Narrative -------------------------------------------------------------------------------------------------------


def _narrative(messages: Iterable[str], said: Collection[str], verbosity: Verbosity) -> str:
    """What the user wrote, turn by turn, as far as it begins; not what stands among the sentences `said` anyway."""
    gists = [gist for message in messages for gist in _gists(message, said)]
    room = int(verbosity.limit * NARRATIVE_SHARE) - count_tokens(WROTE) - MARGIN
    quoted = evenly(list(dict.fromkeys(gists)), room, between=1)
    return WROTE + " ".join(quoted) if quoted else ""


def _gists(message: str, said: Collection[str]) -> list[str]:
    """Its first sentence that asks something, and its first that does not, greetings aside; in their order."""
    sentences = [one for one in _sentences(message) if not is_small_talk(one) and _quoted(one, MAX_QUOTE) not in said]
    first = {_is_question(one): one for one in reversed(sentences)}
    return [_quoted(one, MAX_GIST) for one in sorted(first.values(), key=sentences.index)]


def _is_question(sentence: str) -> bool:
    return sentence.endswith(_QUESTION_MARKS) or _ASKS.match(sentence) is not None
