"""Truth filter: what is no memory, or no longer true, is left out before ranking, each candidate by one named rule.

`apply_truth` is pure. Rules about messages were decided when they were indexed (`Chunk.omit`); rules about facts follow
their status at once. From a longer text only the sentences go that state what is no longer held true.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from memory.retrieval.ranking import Candidate
from memory.speech_acts.made_up import MADE_UP, is_about_fiction
from memory.text import message_kinds
from memory.text.denials import read_denials
from memory.text.keywords import content, words
from memory.text.parts import verb_span

if TYPE_CHECKING:
    from memory.retrieval.query import Question

TruthRule = Literal[
    "rejected",
    "retracted",
    "superseded",
    "ended",
    "only asks",
    "small talk",
    "a command",
    "states nothing",
    "unfinished answer",
    "did not know",
    "answered from memories",
    "forgotten",
    "made up",
    "on the list",
]
REJECTED: Final = "rejected"
RETRACTED: Final = "retracted"
SUPERSEDED: Final = "superseded"
ENDED: Final = "ended"
ON_LIST: Final = "on the list"

RULES: Final[Mapping[str, str]] = {
    REJECTED: "It rests on something you rejected.",
    RETRACTED: "It rests on something you took back.",
    SUPERSEDED: "Newer information replaced it.",
    ENDED: "It is no longer true.",
    message_kinds.ONLY_ASKS: "It only asks a question.",
    message_kinds.SMALL_TALK: "It is small talk.",
    message_kinds.COMMAND: "It only gives a command.",
    message_kinds.STATES_NOTHING: "It states nothing that a question could be answered from.",
    message_kinds.UNFINISHED: "The answer was stopped or failed.",
    message_kinds.NOT_KNOWN: "The answer said that it didn't know.",
    message_kinds.FROM_MEMORIES: "Recall wrote it from other memories, which are searched themselves.",
    message_kinds.FORGOTTEN_BEFORE: "It repeats something you had forgotten.",
    MADE_UP: "It makes something up, and the question asks for what is so.",
    ON_LIST: "It changed the list that answers.",
}
"""Each rule, with its reason as pages show it."""
SAYS_LITTLE: Final[frozenset[TruthRule]] = frozenset({message_kinds.STATES_NOTHING, message_kinds.ONLY_ASKS})
"""Of messages that alone answer nothing: “ok was the battery”."""
HISTORY: Final[frozenset[TruthRule]] = frozenset({SUPERSEDED, ENDED})
"""What was true once: recalled for a question about the past, with a qualifier."""
CURRENT: Final = "current"
"""Qualifier of a memory that nothing known has ended or replaced."""
WAITING: Final = "waiting"
"""Qualifier of a message whose facts all wait for the user's decision."""
ASKED: Final = "asked, not stated"
"""Qualifier of a message of the user's that asks and states nothing, and is too long to be left out."""
NOT_STATED: Final = f"{MADE_UP}, not stated"
"""Qualifier of a message of the user's that tells a story, plays a role or gives words to work on."""
QUALIFIER_CHARS: Final = 160
"""Of the statement that a qualifier repeats."""

ATTRIBUTE_WORDS: Final[Mapping[str, frozenset[str]]] = {
    attribute: frozenset(content(said))
    for attribute, said in {
        "home": "live lives living lived home house flat based reside address moved move",
        "employer": "work works working job employed employer company office",
        "job": "work works working job profession occupation",
        "name": "name names called call calls",
        "partner": "partner wife husband girlfriend boyfriend married dating fiance",
        "relationship": "single married divorced engaged relationship",
        "diet": "diet vegan vegetarian eat eats",
        "age": "age old years turned",
        "birthday": "birthday born",
        "studies": "study studies studying degree course university",
        "car": "car drive drives",
        "phone": "phone",
        "allergy": "allergic allergy intolerant react",
        "pastime": "play plays playing train trains practise practice pastime hobby do does",
        "pet": "have has own owns got keep keeps pet",
    }.items()
}
"""Words that make a sentence with the value of a fact state it in other words: “I'm based in Nantes”."""
TASTE_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "likes": frozenset(content("like love enjoy fond fan favourite favorite adore")),
    "dislikes": frozenset(content("dislike hate loathe detest stand")),
}
"""Words that state a taste, by its value."""
OF_THE_USER: Final = frozenset(words("i i'm i've i'd me my mine we we're we've our us user user's you you're your"))
"""Words of a sentence about the user: their own, a statement's, or an answer's."""
OF_OTHERS: Final = frozenset(words("he she they he's she's they're his her their"))
SHORT: Final = 6
"""Words of a note without a subject: “lives in Nantes”."""
_DENIES: Final = re.compile(
    r"\b(?:not|no|never|cannot|longer|any ?more|instead|rather|isn|wasn|don|doesn|didn|used to|formerly|left|leaving"
    r"|from \w+ to|moved (?:away|from|out)|stopped|quit|sold|until|till|before|ago|back then|was|were|had|lived|worked"
    r"|called off)\b",
    re.IGNORECASE,
)
"""A sentence with one of these corrects a fact, or is about the past; it does not state it as true now."""
_OF_IT: Final = re.compile(r"\b(?:it|that|them|those|one|there)\b", re.IGNORECASE)
"""A clause with one of these may speak of what the clause before it names: “… about latex, I'm not allergic to it”."""
BEING: Final = frozenset({"job", "diet", "relationship", "age"})
"""Attributes that someone *is*: “I'm an engineer at Acme”."""
MAX_BESIDE: Final = 4
"""Maximum further content words of such a sentence."""
_IS: Final = re.compile(r"\b(?:am|is|are|was)\b|['’](?:m|s|re)\b|\b(?:im|as an?)\b", re.IGNORECASE)
_OF_ONESELF: Final = re.compile(
    r"(?i)\b(?:do|am|can|have|did|was|the [\w'-]+(?: [\w'-]+)?(?<! what)(?<! that)) i\b"
    r"(?! (?:\w+ly |just |ever )?(?:call|name|sa(?:y|id)|t(?:ell|old)|ask|wr(?:[io]te|itten)|ma[dk]e|invent|creat"
    r"|imagin|describ|play|mention|want|g[ia]ve|c[oa]me up))"
)
"""“How many languages do I speak?”, “the team I led”: asks what is so, and not what I said or made up."""
CHANGED: Final = "[changed]"
"""Takes the place of a value that a newer one has replaced, where its sentence says more than that."""
_CHANGED_TWICE: Final = re.compile(rf"{re.escape(CHANGED)}(?:\W?{re.escape(CHANGED)})+")
MIN_BESIDE: Final = 2
"""Content words that say more than the fact."""
_WORD: Final = re.compile(r"[\w'’-]+")
TOPICS: Final = re.compile(r"(?m)^\W*Topics: .*$")
_HEADER: Final = re.compile(r"(?m)^\W*\d{1,2} \w+ \d{4}, \d+ turns?\..*$|^\W*#+ .*$")
"""The frame of a conversation's document (`chat/ingest/conversation_digest.py`): its topics repeat words of sentences
that may be cut, and neither it nor a heading says anything."""
_MONTH: Final = re.compile(r"^\d{4}-\d{2}-")
_CLAUSE: Final = re.compile(r"\s*[,;–—]\s+(?:(?:and|but|so)\s+)?|\s+(?:and|but|so|because)\s+", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.!?\n”]+(?:[.!?]*”|[.!?]+(?=\s|$)|\n+|$|[.!?])")


class FactState:
    """A fact that a candidate is, rests on, or was the source of."""

    def __init__(
        self,
        pk: int,
        status: str,
        statement: str,
        quote: str,
        key: str,
        value: str,
        until: str | None,
        by: int | None,
        newer: str | None,
        contest: tuple[int, str] | None = None,
    ) -> None:
        self.pk, self.status, self.statement, self.key, self.value = pk, status, statement, key, value
        self.contest = contest
        """Id and statement of a proposal that contradicts it, until the user decides."""
        self.quote = " ".join(words(quote))
        self.until = None if until is None else datetime.fromisoformat(until)
        self.by, self.newer = by, newer or ""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Content words of the statement."""
        return frozenset(content(self.statement))

    @cached_property
    def value_stems(self) -> frozenset[str]:
        """Content words of the value; of a taste, of what is liked or not, as the statement has them.

        “Lactose intolerance” is said as “lactose intolerant”.
        """
        _, colon, thing = self.attribute.partition(":")
        meant = frozenset(content(thing.replace("_", " ") if colon else self.value))
        return (meant & self.stems or meant) if colon else meant

    @cached_property
    def longest_stem(self) -> str:
        """Of its value, or else of its statement: the one that fewest texts hold."""
        return max(self.value_stems or self.stems, key=len, default="")

    @property
    def attribute(self) -> str:
        """Attribute of its key; empty without one."""
        return self.key.rpartition("/")[2]

    def rule(self, now: datetime) -> TruthRule | None:
        """The rule by which it is not recalled; None: it holds, or waits."""
        if self.status == "rejected":
            return REJECTED
        if self.status == "superseded":
            return SUPERSEDED if self.by is not None else ENDED if self.until else RETRACTED
        return ENDED if self.status == "expired" or (self.until is not None and self.until <= now) else None

    def qualifier(self, now: datetime) -> str:
        """Whether it holds, as prompts and receipts say it."""
        rule = self.rule(now)
        if rule == SUPERSEDED:
            return f"superseded by fact:{self.by} ({self.newer[:QUALIFIER_CHARS]})"
        if self.status == "proposed":
            return WAITING
        if self.until is not None:
            return f"until {self.until:%Y-%m-%d}"
        if rule is not None:
            return rule
        if self.contest is not None:
            return f"contested by fact:{self.contest[0]} ({self.contest[1][:QUALIFIER_CHARS]})"
        return CURRENT

    def is_stated_in(self, sentence: str, stems: frozenset[str]) -> bool:
        """Whether a sentence states it as true, in the same words or with its value beside a word of its attribute."""
        if self.is_denied_in(sentence) or not self.is_subject_of(sentence):
            return False
        if len(self.stems) > 1 and self.stems <= stems:
            return True
        if not self.value_stems or not self.value_stems <= stems:
            return False
        words_of = TASTE_WORDS.get(self.value) if self.attribute.startswith("taste:") else None
        family = self.attribute.partition(":")[0]
        beside = ATTRIBUTE_WORDS.get(family, frozenset()) if words_of is None else words_of
        is_told = self.attribute in BEING and _IS.search(sentence) and len(stems) <= len(self.value_stems) + MAX_BESIDE
        return bool(beside & stems) or len(stems) == len(self.value_stems) or bool(is_told)

    def is_denied_in(self, sentence: str) -> bool:
        """Whether the sentence denies it: “I'm allergic to shellfish, so no paella” denies something else."""
        meant = self.value_stems or self.stems
        if not _DENIES.search(sentence):
            return any(content(denial.old) & meant for denial in read_denials(sentence))  # “has dropped the violin”
        said = [(clause, frozenset(content(clause))) for clause in _CLAUSE.split(sentence)]
        clauses = [clause for clause, stems in said if meant <= stems or (_OF_IT.search(clause) and self.stems & stems)]
        clauses = clauses or [clause for clause, stems in said if meant & stems]
        return not clauses or any(_DENIES.search(clause) for clause in clauses)

    def is_subject_of(self, sentence: str) -> bool:
        """Whether a sentence can be about the fact's subject: “Max lives in Berlin” says nothing of the user."""
        said = set(words(sentence))
        subject = self.key.partition("/")[0]
        if subject in ("", "user"):
            return bool(said & OF_THE_USER) or (not said & OF_OTHERS and len(said) <= SHORT)
        return subject.startswith("project:") or bool(set(subject.split("_")) & said)

    def is_quoted_in(self, text: str) -> bool:
        """Whether a text has the words it rests on; a quote that an engine made up is in none."""
        return bool(self.quote) and self.quote in " ".join(words(text))

    def supports(self, stems: frozenset[str]) -> bool:
        """Whether a sentence it was quoted from still says it: an edited fact has the quote of the one it replaced."""
        return not self.value_stems or self.value_stems <= stems


@dataclass(slots=True)
class CandidateRow:
    """One row of the search: the candidate, and what pages and this filter need of it."""

    candidate: Candidate
    message_id: int | None
    title: str
    said_by: str
    conversation_id: str
    """The conversation it was said in or is about; empty: none."""
    omit: TruthRule | None = None
    """The rule by which its message is no memory, or that it makes something up."""
    facts: tuple[FactState, ...] = ()
    """Itself, if it is a fact; those an episode rests on; those learned from a message."""
    changed_by: tuple[int, str] | None = None
    """Id and time (ISO 8601) of the user's message by which it no longer holds as it is."""
    qualifier: str = CURRENT
    """Whether it holds, as `apply_truth` found."""
    answers: str = ""
    """The attribute that the question asks for and it has the value of, as `mark_answers` found."""


def apply_truth(
    rows: Iterable[CandidateRow],
    question: Question,
    now: datetime,
    *,
    as_of: bool = False,
    asks_attribute: bool = False,
) -> tuple[list[CandidateRow], list[tuple[CandidateRow, TruthRule]]]:
    """The rows to rank, their texts without untrue sentences and with qualifiers; and those left out, with the rule.

    `as_of`: the rows are what was known at a past moment, when today's facts say nothing. `asks_attribute`: whether the
    question asks for an attribute of someone, such as a home, which nothing made up answers.
    """
    rows = list(rows)
    asks_what_is_so = asks_attribute or _OF_ONESELF.search(question.text) is not None
    asks_what_is_so = asks_what_is_so and not is_about_fiction(question.text)
    facts = [row.facts[0] for row in rows if row.candidate.source == "fact"]
    untrue: list[FactState] = []
    true: list[FactState] = []
    for fact in facts:
        (untrue if fact.rule(now) else true).append(fact)
    untrue = [fact for fact in untrue if not _holds_again(fact, rows, now)]
    kept: list[CandidateRow] = []
    left_out: list[tuple[CandidateRow, TruthRule]] = []
    for row in rows:
        if row.omit == message_kinds.STATES_NOTHING and row.facts:
            row.omit = None  # the librarian has read something in it
        rule = _rule_of_message(row, asks_what_is_so=asks_what_is_so) if as_of or row.omit else None
        if not as_of and (rule in SAYS_LITTLE or not row.omit):  # what says little may follow an answer
            rule = _judge(row, untrue, true, question, now) or rule
        if rule is None:
            kept.append(row)
        else:
            left_out.append((row, rule))
    return kept, left_out


def _holds_again(fact: FactState, rows: Iterable[CandidateRow], now: datetime) -> bool:
    """Whether a later fact says the same, and holds or waits: someone who has moved back lives there."""
    return any(
        other.pk > fact.pk and other.key == fact.key and other.statement == fact.statement and not other.rule(now)
        for row in rows
        for other in row.facts
    )


def _rule_of_message(row: CandidateRow, *, asks_what_is_so: bool) -> TruthRule | None:
    """The rule found when the message was indexed; what is made up is recalled for other questions, and says so."""
    if row.omit == MADE_UP and not asks_what_is_so:
        row.qualifier = NOT_STATED
        return None
    if row.omit == message_kinds.STATES_NOTHING and len(row.candidate.text.split()) > message_kinds.MAX_WORDS:
        row.qualifier = ASKED
        return None
    return row.omit


def _judge(
    row: CandidateRow, untrue: Sequence[FactState], true: Sequence[FactState], question: Question, now: datetime
) -> TruthRule | None:
    """The rule that leaves the row out; else None, and its text and qualifier are set."""
    if row.candidate.source == "fact":
        return _judge_fact(row, question, now)
    if row.candidate.source == "episode" and (rule := _rule_of_all(row.facts, question, now)):
        return rule
    own = row.facts if row.candidate.source == "message" else ()
    if not own and not untrue:
        return None
    if row.candidate.source == "document" and row.conversation_id:
        row.title = _true_title(row.title, untrue)
    return _cut_sentences(row, own, untrue, true, question, now)


def _judge_fact(row: CandidateRow, question: Question, now: datetime) -> TruthRule | None:
    (fact,) = row.facts
    row.qualifier = fact.qualifier(now)
    rule = fact.rule(now)
    return None if question.asks_past and rule in HISTORY else rule


def _true_title(title: str, untrue: Sequence[FactState]) -> str:
    """The path of a conversation's document, without the first words of the conversation if they aren't true."""
    said = _MONTH.sub("", title.rpartition("/")[2])
    stems = frozenset(content(said))
    is_untrue = any(fact.is_stated_in(said, stems) for fact in untrue if _may_state(said.casefold(), fact))
    return title[: len(title) - len(said)].rstrip("-") if is_untrue else title


def _rule_of_all(facts: Sequence[FactState], question: Question, now: datetime) -> TruthRule | None:
    """The rule of an episode whose every fact has one."""
    rules = [fact.rule(now) for fact in facts]
    lasting = [rule for rule in rules if rule is not None and not (question.asks_past and rule in HISTORY)]
    return lasting[0] if lasting and len(lasting) == len(rules) else None


def _cut_sentences(
    row: CandidateRow,
    own: Sequence[FactState],
    untrue: Sequence[FactState],
    true: Sequence[FactState],
    question: Question,
    now: datetime,
) -> TruthRule | None:
    """Cut the sentences that state what isn't true; the rule if nothing that fits the question is left.

    A document of the user's own is not cut for what was true once: its qualifier says so.
    """
    text = row.candidate.text
    low = text.casefold()
    likely = [fact for fact in untrue if _may_state(low, fact)]
    if not likely and not any(fact.rule(now) for fact in own):
        row.qualifier = _qualifier_of_message(text, own, now)
        return None
    keeps_history = question.asks_past or (row.candidate.source == "document" and not row.conversation_id)
    judged = [
        _judge_sentence(sentence, *_untrue_fact(sentence, own, likely, true, now), now, keeps_history=keeps_history)
        for sentence in _sentences(text)
    ]
    cut = next((rule for _, rule, _ in judged if rule), None)
    if cut:
        rest = TOPICS.sub("", "".join(left for left, _, _ in judged)).strip()
        left = content(_HEADER.sub("", rest))
        is_about_it = bool(left & content(question.text))
        if message_kinds.only_asks(rest) or not (is_about_it or (left and row.candidate.own_words)):
            return cut
        row.candidate.is_rest = not is_about_it or CHANGED in rest
        row.candidate.seldom_leads = CHANGED in rest
        row.candidate.tokens = math.ceil(row.candidate.tokens * len(rest) / len(text))
        row.candidate.text = rest
    past = next((fact for _, _, fact in judged if fact), None)
    row.qualifier = past.qualifier(now) if past else _qualifier_of_message(text, own, now)
    return None


def _judge_sentence(
    sentence: str, fact: FactState | None, says_more: bool, now: datetime, *, keeps_history: bool
) -> tuple[str, TruthRule | None, FactState | None]:
    """What is left of a sentence, the rule by which it is cut, and the fact that it states and that is over.

    `fact`: by which it isn't true; `says_more`: whether it also states one that holds.
    """
    rule = fact.rule(now) if fact else None
    if fact is None or rule is None:
        return sentence, None, None
    if rule not in HISTORY:
        return _without_quote(sentence, fact) if says_more else "", rule, None
    if says_more and not keeps_history and (rest := _without_clause(sentence, fact)):
        return rest, rule, None
    if says_more or keeps_history or (rule == ENDED and fact.is_denied_in(sentence)):
        return sentence, None, fact
    if rule != SUPERSEDED:
        return "", rule, None
    return _without_value(sentence, fact) if fact.key else _without_clause(sentence, fact), rule, None


def _may_state(low: str, fact: FactState) -> bool:
    """A quick look: whether all of its value, or of its statement, may occur in a text in lower case.

    Each passage is searched for each fact that isn't true, and most miss the first stem."""
    return fact.longest_stem in low and all(stem in low for stem in fact.value_stems or fact.stems)


def _untrue_fact(
    sentence: str, own: Sequence[FactState], untrue: Sequence[FactState], true: Sequence[FactState], now: datetime
) -> tuple[FactState | None, bool]:
    """The fact by which a sentence is not true, or None; and whether the sentence also states one that holds."""
    said, stems = " ".join(words(sentence)), frozenset(content(sentence))
    quoted = [fact for fact in own if _overlap(fact.quote, said)]
    wrong = [fact for fact in quoted if fact.rule(now)]
    if wrong:
        holds = any(not fact.rule(now) and fact.supports(stems) for fact in quoted)
        return wrong[0], holds
    corrected = {fact.key for fact in quoted if fact.key}
    found = next((fact for fact in untrue if fact.key not in corrected and fact.is_stated_in(sentence, stems)), None)
    if found is None:
        return None, False
    others = [fact for fact in (*true, *quoted) if not fact.key or fact.key != found.key]
    is_learned_from = any(fact in quoted and not fact.rule(now) for fact in others)
    return found, is_learned_from or any(fact.is_stated_in(sentence, stems) for fact in others)


def _without_quote(sentence: str, fact: FactState) -> str:
    """A sentence without the clauses that say what a rejected fact says; empty where all of it does."""
    kept = [clause for clause in _CLAUSE.split(sentence) if not _says(clause, fact)]
    return ", ".join(kept) if content(" ".join(kept)) else ""


def _without_clause(sentence: str, fact: FactState) -> str:
    """A sentence without the clauses that have a word of what a fact says; empty if the others say nothing."""
    said = sentence.lstrip(" \n“").rstrip(" \n.!?”")
    opening, _, end = sentence.partition(said)
    clauses = _CLAUSE.split(said)
    meant = fact.value_stems or fact.stems - frozenset(content(fact.statement[: verb_span(fact.statement)[0]]))
    kept = [clause for clause in clauses if not meant & frozenset(content(clause))]
    is_cut = len(kept) < len(clauses) and any(len(content(clause)) > 1 for clause in kept)
    return f"{opening}{', '.join(kept)}{end if end.strip() else '. '}" if is_cut else ""


def _without_value(sentence: str, fact: FactState) -> str:
    """A sentence with CHANGED for the value that was replaced; empty if it says nothing else: “a mail to my supervisor
    [changed], the chapter on kelp is late”."""
    told = mark_changed(sentence, fact.value_stems)
    others = content(sentence) - fact.stems - ATTRIBUTE_WORDS.get(fact.attribute.partition(":")[0], frozenset())
    return told if CHANGED in told and len(others - fact.value_stems) >= MIN_BESIDE else ""


def mark_changed(text: str, stems: Collection[str]) -> str:
    """A text with CHANGED for its words that have one of these stems."""
    told = _WORD.sub(lambda word: word[0] if content(word[0]).isdisjoint(stems) else CHANGED, text)
    return _CHANGED_TWICE.sub(CHANGED, told)


def _says(clause: str, fact: FactState) -> bool:
    """Whether a clause has the fact's value, or the words that its quote has of its statement."""
    meant = fact.value_stems or (fact.stems & content(fact.quote)) or fact.stems
    return bool(meant & content(clause))


def _overlap(quote: str, said: str) -> bool:
    """Whether a sentence holds the quote, or a part of it that a passage's border has left."""
    return bool(quote) and bool(said) and (quote in said or (said.count(" ") >= 2 and said in quote))


def _sentences(text: str) -> Iterator[str]:
    """The sentences; joined, they are the text."""
    end = 0
    for found in _SENTENCE.finditer(text):
        yield text[end : found.end()]
        end = found.end()
    if end < len(text):
        yield text[end:]


def waiting(statements: Iterable[str]) -> str:
    """The qualifier of a message in which these statements wait: “waiting (The user is allergic to latex.)”."""
    told = " ".join(statements)
    return f"{WAITING} ({told[:QUALIFIER_CHARS]})" if told else WAITING


def _qualifier_of_message(text: str, own: Sequence[FactState], now: datetime) -> str:
    """Whether a message holds; what waits in Review is spelled out, as the words alone may not: “*John, with an h”."""
    own = [fact for fact in own if fact.rule(now) is None] or own
    if own and all(fact.status == "proposed" for fact in own):
        quoted = [fact for fact in own if fact.is_quoted_in(text)]
        return waiting(fact.statement for fact in [fact for fact in quoted if fact.key] or quoted[:1])
    if own and all(fact.contest is not None and not fact.rule(now) for fact in own):
        return own[0].qualifier(now)
    lasting = [fact.until for fact in own if fact.rule(now) is None and fact.status != "proposed"]
    ends = [until for until in lasting if until is not None]
    return f"until {max(ends):%Y-%m-%d}" if ends and len(ends) == len(lasting) else CURRENT
