"""The summary engine without a model: it picks sentences and writes none.

    decisions, action items, preferences, insights    the user's own sentences that say so, verbatim in “…”
    topics                                            `chat/conversations/topics.py`
    narrative                                         the start of each turn's question or first sentence

It reads English; of other languages it gives topics and narrative. It misses much, but everything it gives was said.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chat.compaction.summaries.engine import SummaryResult
from chat.compaction.summaries.schema import NARRATIVE_SHARE, WROTE, Exchange, Summary, Verbosity, to_single_line
from chat.compaction.summaries.truncate import fit_evenly, truncate_chars
from chat.conversations.topics import READ_CHARACTERS, topics_of
from memory.librarian.rules.clauses import clauses
from memory.secrets.secrets_filter import sensitive
from memory.text.message_kinds import is_small_talk
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
"""How the clauses of each kind start. A sentence has the first kind that one of its clauses matches."""
_SAYS: Final = {kind: re.compile(rf"(?:{'|'.join(said)})", re.IGNORECASE) for kind, said in SAYS.items()}

ITEMS: Final[Mapping[Verbosity, int]] = {Verbosity.BRIEF: 3, Verbosity.NORMAL: 6, Verbosity.FULL: 12}
"""Sentences per kind; if there are more, the last ones, which are current."""
TOPICS: Final[Mapping[Verbosity, int]] = {Verbosity.BRIEF: 8, Verbosity.NORMAL: 12, Verbosity.FULL: 20}
MAX_QUOTE: Final = 200
"""Characters of a sentence."""
MAX_GIST: Final = 120
"""Characters of a sentence in the narrative."""
MARGIN: Final = 8
"""Tokens kept free: token counts of joined texts don't quite add up."""
MESSAGE_CHARACTERS: Final = 10_000
"""Characters of a message: longer ones are pasted documents."""
FORGOTTEN: Final = "[forgotten]"
"""Replaces forgotten text; its sentence is skipped."""

_SENTENCE: Final = re.compile(r"[^.!?…。！？؟।\n]+(?:[.!?…]+(?![\s\"'”’)]|$)[^.!?…。！？؟।\n]*)*[.!?…。！？؟।]*")
_QUESTION_MARKS: Final = ("?", "？", "؟", ";")  # the last is the Greek one
_ASKS: Final = re.compile(
    r"^(?:(?:and|so|but|ok|okay|now|also|please|hi|hello|hey)[, ]+)*(?:what|how|why|who|where|when|which|can|could"
    r"|would|should|is|are|do|does|did|will|explain|tell me|show me|compare|describe|help me|give me|write|list|suggest"
    r"|recommend)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Picks sentences; never fails."""

    elsewhere: Sequence[str] = ()
    """Messages from the rest of the conversation, one text per turn: a word in every turn there is not a topic here. In
    six long chats (segments of 20 turns), a held-back question then finds its own segment in 22% of cases instead of
    17%.
    """

    @property
    def version(self) -> str:
        return VERSION

    def summarize(self, turns: Sequence[Exchange], verbosity: Verbosity) -> SummaryResult:
        questions = [_clean_message(turn.question) for turn in turns]
        answers = [_clean_message(turn.answer[:READ_CHARACTERS]) for turn in turns]
        said = _classify_sentences(questions)
        summary = Summary(
            **{kind: tuple(sentences[-ITEMS[verbosity] :]) for kind, sentences in said.items()},
            topics=tuple(topics_of(questions, answers, TOPICS[verbosity], self.elsewhere)),
            narrative=_narrative(questions, {text for sentences in said.values() for text in sentences}, verbosity),
        )
        return SummaryResult(summary, self.version)


def _clean_message(message: str) -> str:
    """The author's own words, without sentences with a secret or something forgotten."""
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


def _classify_sentences(messages: Iterable[str]) -> dict[str, list[str]]:
    """The sentences of each kind, quoted, in order."""
    said: dict[str, dict[str, None]] = {kind: {} for kind in SAYS}
    for message in messages:
        for sentence in _sentences(message):
            if (kind := kind_of(sentence)) is not None:
                said[kind][_quoted(sentence, MAX_QUOTE)] = None
    return {kind: list(sentences) for kind, sentences in said.items()}


def kind_of(sentence: str) -> str | None:
    """The kind of a sentence by the table; None: a question, a hypothesis, someone else's words, or anything else."""
    if sentence.endswith(_QUESTION_MARKS):
        return None
    parts = list(clauses(sentence))
    plain = [clause.text for clause in parts if not clause.hypothetical and not clause.reported]
    # Openings such as “it turns out” or “remind me” are not claims, but show the kind.
    plain += [sentence.strip()] if len(plain) == len(parts) else []
    return next((kind for kind, says in _SAYS.items() if any(map(says.match, plain))), None)


def _quoted(text: str, longest: int) -> str:
    return f"“{truncate_chars(to_single_line(text), longest - 2)}”"


# Narrative -------------------------------------------------------------------------------------------------------


def _narrative(messages: Iterable[str], said: Collection[str], verbosity: Verbosity) -> str:
    """The start of what the user wrote, turn by turn, without sentences quoted elsewhere."""
    gists = [gist for message in messages for gist in _gists(message, said)]
    room = int(verbosity.limit * NARRATIVE_SHARE) - count_tokens(WROTE) - MARGIN
    quoted = fit_evenly(list(dict.fromkeys(gists)), room, between=1)
    return WROTE + " ".join(quoted) if quoted else ""


def _gists(message: str, said: Collection[str]) -> list[str]:
    """Its first question and its first other sentence, without greetings, in order."""
    sentences = [
        sentence
        for sentence in _sentences(message)
        if not is_small_talk(sentence) and _quoted(sentence, MAX_QUOTE) not in said
    ]
    first = {_is_question(sentence): sentence for sentence in reversed(sentences)}
    return [_quoted(one, MAX_GIST) for one in sorted(first.values(), key=sentences.index)]


def _is_question(sentence: str) -> bool:
    return sentence.endswith(_QUESTION_MARKS) or _ASKS.match(sentence) is not None
