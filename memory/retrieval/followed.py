"""What the user wrote right after the message that answers, and later of the same: it corrects it, or says more.

“400 kg of rye flour” is followed by “nope, it's 450”, which has no word of the question. Pure.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from memory.retrieval.query import Question
from memory.retrieval.ranking import Candidate, Part, RankedCandidate, Rule, relevance
from memory.retrieval.reading import ANSWERED_FROM
from memory.retrieval.truth import CURRENT, SAYS_LITTLE, WAITING, CandidateRow, TruthRule, mark_changed
from memory.text.dates import DAYS_AND_MONTHS, MONTHS, WEEKDAYS
from memory.text.denials import read_denials
from memory.text.keywords import content, without_dates
from memory.text.language import alternatives
from memory.text.mended_names import find_mended_name, name_like
from memory.text.message_kinds import is_small_talk
from memory.text.relations import GROUPS, PEOPLE, PET_GROUPS, PETS

WITHIN: Final = 4
"""Places in a conversation, the model's answers included: of the user's own, the next two messages."""
MAX_WORDS: Final = 24
"""A longer message is found for itself, unless it corrects the answer."""
FOLLOWS_FROM: Final = -1.5
"""Log odds from which what was written next is about the same, if it was read beside the question. Of 90 such messages
in 180 scenarios that were read, of those below one in thirty was."""
_OF_IT: Final = re.compile(
    r"(?i)\W*(?:no|nope|oops|wait|sorry|actually|correction|hang on|hmm+|ah|oh|argh|typo|i meant?|make (?:it|that)"
    r"|s?he|it|they|that|this|same|his|her|its|their|\d+)\b"
)
"""Opens what is about the same, where it wasn't read: “nope, it's 450”."""
SURE_FROM: Final = 4.0
"""Log odds from which a later date or amount takes the place of an earlier one, or what says that something changed. Of
75 pairs of messages that both answer, in 420 read scenarios, 23 of the 39 that change are found so, with 5 others."""
CHANGED_FROM: Final = 0.7
"""Probability from which a later message that answers, too, changes what an earlier one says, in whatever words: with
these, 29 of the 39, with 8 others."""
OTHER_BELOW: Final = 0.05
"""Probability below which a later date or amount is of something else: your father's birthday, of your anniversary."""
FARTHER: Final = 2.5
"""Log odds by which what changes an answer may be less sure than it, if it has no word of the question."""
MAX_READ: Final = 2
"""Later messages that are read beside what leads, and earlier ones beside that."""
type Doubt = Callable[[str, str], float]
"""How likely what was known doesn't hold as it is any more, after a later message: 0 to 1."""
AS_LIKELY: Final = 2.0
"""Log odds by which an earlier message may be less sure than what leads and is marked, too. Of 600 read scenarios, in
9 it says what is asked where what leads doesn't, and in 2 what it says is over."""
_WAS: Final = re.compile(r"(?i)\b(?:was|were|used to|before|first|last|originally|previous(?:ly)?|former(?:ly)?)\b")
"""In a question for what an earlier message said: “How much was my rent?”, but not “In what year did I move?”."""
_MISTAKEN: Final = r"wrong|mis(?:heard|spoke|read)|mixed up|mistake|spel(?:t|led)|typo|scratch that"
_CHANGES: Final = re.compile(
    r"(?i)\b(?:now|nowadays|these days|any ?more|no longer|instead|after all|actually|turns out|as of|from now"
    rf"|from today|since (?:{DAYS_AND_MONTHS}|last|this|the)|(?:my|our|the|a) new|changed?|switched|swapped|moved"
    r"|renamed|became|sold|quit|gave up|got rid of"
    rf"|cancelled|again|back (?:in|on|at|to)|{_MISTAKEN})\b"
)
"""Words with which someone says that it is otherwise than before."""
_CORRECTS: Final = re.compile(rf"(?i)\b(?:{_MISTAKEN})\b")
"""The same of what was never so: it holds for the past, too."""
_ASKS_VALUE: Final = re.compile(
    r"\b(?:when|(?:what|which) (?:date|day|time|year|month|age|number)|how (?:many|much|old|long|far|tall|heavy|often)"
    r"|age|best|dose|pb|price|rent|salary|size|weight)\b",
    re.IGNORECASE,
)
"""A question for a date or an amount: someone has one of them at a time."""
_ASKS_PLACE: Final = re.compile(
    r"(?i)\bwhere\b|\b(?:which|what) (?:city|town|country|village|street|airport|station|hotel)\b"
)
_PLACE: Final = re.compile(
    rf"(?:(?<=[a-z,] )|^)(?!(?i:I|{DAYS_AND_MONTHS})\b|(?:The|My|Our|It|He|She|We|They|So|Oh)\b)[A-ZÀ-ÞĀ-Ž]\w"
    rf"|\b(?:in|at|to|from|near) (?!(?i:I|{DAYS_AND_MONTHS})\b)[^\W\d]"
)
"""What may be one: a name, or “at the mill”; not “the wedding is on 16 September”."""
_MONTH_NAMES: Final = frozenset(name.casefold() for name in (*WEEKDAYS, *MONTHS))
_COUNTED: Final = re.compile(r"(?i)\bhow many (\w+)")
_ASKS_ONE: Final = re.compile(rf"{_ASKS_VALUE.pattern}|\bwho(?:['’]?s| is) (?:my|our|the)\b", re.IGNORECASE)
"""The same, or for who someone is: one at a time."""
_VALUE: Final = re.compile(
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    rf"|(?:{DAYS_AND_MONTHS})s?)\b"
)
TOO_FAR: Final[frozenset[Rule]] = frozenset({"below the floor", "beyond top-K"})
"""Rules that a message loses by following."""


def lead_with_later(
    ranked: Sequence[RankedCandidate], found: Sequence[CandidateRow], question: Question, doubt: Doubt
) -> Sequence[RankedCandidate]:
    """The ranking with the latest message first that most likely answers, if it changes what leads: “they moved the
    wedding to the 28th” has fewer words of the question than the invitation. The earlier ones that it changes say so.
    """
    lead = ranked[0] if ranked else None
    if lead is None or not _leads(lead):
        return ranked
    asks_value = _ASKS_VALUE.search(question.text) is not None
    asks_was = _WAS.search(question.text) is not None or (question.asks_past and not asks_value)
    answers = [row for row in ranked[1:] if row.odds >= ANSWERED_FROM and row.rule in (None, *TOO_FAR) and _is_own(row)]
    messages = [row for row in _fitting(question, [lead, *answers]) if row.candidate.source == "message"]
    later = [row for row in messages if _is_later(row.candidate, lead.candidate)]
    if asks_was:  # what was never so wasn't so in the past either
        later = [row for row in later if _CORRECTS.search(row.candidate.text)]
    later.sort(key=_order, reverse=True)
    newest = next((row for row in later[:MAX_READ] if _changes(question, row, lead, doubt)), lead)
    if not newest.candidate.message_id or (asks_was and newest is lead):
        return ranked
    before = [row for row in answers if row is not newest and _is_later(newest.candidate, row.candidate)][:MAX_READ]
    changed = {row.candidate.ref for row in before if _changes(question, newest, row, doubt)}
    changed |= {lead.candidate.ref} if newest is not lead else set()
    for row in found:
        if row.candidate.ref in changed and row.qualifier.startswith((CURRENT, WAITING)):
            row.qualifier = f"perhaps changed by message:{newest.candidate.message_id}"
    lead.is_answer = lead is newest and lead.is_answer
    newest.is_answer, newest.rule = newest.is_answer or lead is not newest, None
    return [newest, *(row for row in ranked if row is not newest)]


def _changes(question: Question, later: RankedCandidate, earlier: RankedCandidate, doubt: Doubt) -> bool:
    """Whether a later message changes what an earlier one, or a fact, says."""
    if earlier.odds - later.odds >= FARTHER and _lacks_asked(question, later, earlier):
        return False
    if _is_of_the_user_alone(question, later.candidate.text, earlier.candidate.text):
        return False
    is_sure = later.odds >= SURE_FROM
    is_keyed = earlier.candidate.source == "fact" and earlier.candidate.keyed_answer > 0  # the librarian changes it
    has_more = earlier.candidate.source == "message" and earlier.candidate.keyed_answer > later.candidate.keyed_answer
    if is_sure and not is_keyed and _CHANGES.search(later.candidate.text):
        return True
    is_value = (is_sure or later.is_answer) and _ASKS_VALUE.search(question.text) is not None
    is_value = is_value and _is_of_the_same(question, later.candidate, earlier.candidate)
    if has_more and earlier.odds > later.odds and not is_value:  # of the attribute that is asked for
        return False
    return doubt(earlier.candidate.text, later.candidate.text) >= (OTHER_BELOW if is_value else CHANGED_FROM)


_RELATIONS: Final = alternatives(PEOPLE | GROUPS | PETS | PET_GROUPS)
_ASKS_OF_ANOTHER: Final = re.compile(rf"(?i)\b(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{_RELATIONS})\b")
_TIMES: Final = content("since until still again now already year month week day")
"""Words that two messages may share without a topic in common."""
_NAMES_ANOTHER: Final = re.compile(rf"(?i)\b(?:s?he|they|it|his|hers?|him|theirs?|them|{_RELATIONS})\b")


def _is_of_the_user_alone(question: Question, later: str, earlier: str) -> bool:
    """Whether someone else is asked for, and a later message names no one and nothing of what it could change: “we've
    been living in Whitby since Easter”, of where the parents live."""
    if not _ASKS_OF_ANOTHER.search(question.text) or _NAMES_ANOTHER.search(later):
        return False
    return (content(later) & content(earlier)) <= content(question.text) | _TIMES


def _lacks_asked(question: Question, later: RankedCandidate, earlier: RankedCandidate) -> bool:
    """Whether the earlier has most words of the question, and the later none: “needs insulin”, “gets half a carrot”."""
    asked = content(question.text) if not _ASKS_VALUE.search(question.text) else set()
    has = asked & content(earlier.candidate.text)
    return 2 * len(has) > len(asked) and not asked & content(later.candidate.text)


def _is_of_the_same(question: Question, later: Candidate, earlier: Candidate) -> bool:
    """Whether a later message may be of what an earlier one answers: it says “it”, or has a word of that or of the
    question; and names no one else, as “Ellie's baby is due in December” does where Shanice is asked for."""
    said_before, said = (_unowned(one.word_set) for one in (earlier, later))
    asked = question.named & _unowned(earlier.named) - _QUESTION_WORDS
    if asked and not asked & said and _unowned(later.named) - said_before:
        return False
    common = content(without_dates(later.text)) & (content(earlier.text) | content(question.text))
    return _OF_IT.match(later.text) is not None or any(not stem.isdigit() for stem in common)


_QUESTION_WORDS: Final = frozenset({"how", "what", "where", "when", "who", "whose", "which", "why"})
"""They may open a sentence, and name no one: “How do I label them?”."""


def _unowned(words: Iterable[str]) -> set[str]:
    return {word.removesuffix("'s").removesuffix("’s") for word in words} - _MONTH_NAMES


def _fitting(question: Question, rows: list[RankedCandidate]) -> list[RankedCandidate]:
    """Of the rows, those that may say what is asked: a place, a date or an amount; of what is counted, if any names it:
    “60 jars” are no number of hives."""
    if _ASKS_PLACE.search(question.text):
        rows = [row for row in rows if _PLACE.search(row.candidate.text)]
    if not _ASKS_VALUE.search(question.text):
        return rows
    rows = [row for row in rows if _VALUE.search(row.candidate.text)]
    counted = _COUNTED.search(question.text)
    stems = content(counted[1]) if counted else set()
    return [row for row in rows if stems <= content(row.candidate.text)] or rows


def mark_as_likely(ranked: Sequence[RankedCandidate], found: Iterable[CandidateRow], question: Question) -> None:
    """Mark the earlier message that is nearly as sure as what leads, unless someone has one of what is asked at a
    time: “label text for honey jars” leads where the hives are asked for, “my first two beehives sit at …” says it."""
    lead = ranked[0] if ranked else None
    if lead is None or not lead.is_answer or lead.rule or _ASKS_ONE.search(question.text):
        return
    if _CHANGES.search(lead.candidate.text) and not question.asks_past:
        return
    holds = {row.candidate.ref for row in found if row.qualifier.startswith((CURRENT, WAITING))}
    least = max(ANSWERED_FROM, lead.odds - AS_LIKELY)
    likely = [row for row in ranked[1:] if row.rule is None and row.odds >= least and row.candidate.ref in holds]
    likely = [row for row in likely if _is_own(row) and not row.candidate.seldom_leads]
    earlier = [row for row in likely if _is_later(lead.candidate, row.candidate)]
    said = [row for row in earlier if row.candidate.source == "message"]
    if said:
        max(said, key=lambda row: row.odds).is_answer = True


def _order(row: RankedCandidate) -> tuple[datetime, int]:
    return row.candidate.when, row.candidate.message_id or 0


def _leads(row: RankedCandidate) -> bool:
    return row.rule is None and (row.is_answer or row.candidate.keyed_answer > 0)


def add_followed(
    ranked: Sequence[RankedCandidate],
    found: Sequence[CandidateRow],
    untrue: Sequence[tuple[CandidateRow, TruthRule]],
    token_budget: int | None,
) -> tuple[Sequence[RankedCandidate], Sequence[CandidateRow], Sequence[tuple[CandidateRow, TruthRule]]]:
    """The ranking with what followed the answer right behind it; the rows found, with those that were left out till
    now; and the rows still left out."""
    little = [row for row, rule in untrue if rule in SAYS_LITTLE]
    rows = {id(row.candidate): row for row in (*found, *little)}
    answered = _message_of_answer(ranked, rows)
    if answered is None:
        return ranked, found, untrue
    known = {row.candidate.ref for row in ranked}
    short = {row.candidate.ref: _unranked(row.candidate) for row in little if row.candidate.ref not in known}
    after = [row for row in (*ranked, *short.values()) if _follows(row, answered)]
    after.sort(key=lambda row: (row.candidate.when, row.candidate.place))
    used = sum(row.candidate.tokens for row in ranked if row.rule is None)
    for row in after:
        used += row.candidate.tokens if row.rule else 0
        if token_budget is None or used <= token_budget:
            row.rule, row.follows = None, True
    followed = [row for row in after if row.follows]
    _mark_denied(answered.candidate, followed)
    others = [row for row in ranked[1:] if not row.follows]
    let_in = [rows[id(row.candidate)] for row in short.values() if row.follows]
    left_out = [(row, rule) for row, rule in untrue if row not in let_in]
    return [ranked[0], *followed, *others], [*found, *let_in], left_out


def _mark_denied(answered: Candidate, followed: Iterable[RankedCandidate]) -> None:
    """Mark in the message that answers what a later one says isn't so, but something else: “its 37 not 31”."""
    for stems in (one for row in followed for one in _denied_in(answered.text, row.candidate.text)):
        answered.text = mark_changed(answered.text, stems)


def _denied_in(text: str, later: str) -> Iterator[set[str]]:
    """Content words of the text that a later one says are others: “it is NOT the 6th it is the 16th”, “*Bram”."""
    said = [content(one.old) for one in read_denials(later) if one.new]
    if mended := find_mended_name(later):
        said.append(content(name_like(mended["name"], text)))
    return (stems for stems in said if stems and stems <= content(text))


def _message_of_answer(ranked: Sequence[RankedCandidate], rows: Mapping[int, CandidateRow]) -> CandidateRow | None:
    """The message that leads as the answer, or that the leading fact was learned from; None: nothing leads."""
    lead = ranked[0] if ranked else None
    if lead is None or not _leads(lead):
        return None
    ref = f"message:{rows[id(lead.candidate)].message_id}"
    said = (row for row in rows.values() if row.candidate.ref == ref and row.candidate.own_words)
    return next((row for row in said if row.candidate.thread is not None), None)


def _follows(row: RankedCandidate, answer: CandidateRow) -> bool:
    one, answered = row.candidate, answer.candidate
    if row.rule is not None and row.rule not in TOO_FAR:
        return False
    if (answer.changed_by and one.ref == f"message:{answer.changed_by[0]}") or _answers_later(row, answered):
        return True
    is_next = one.thread == answered.thread and 0 < one.place - answered.place <= WITHIN
    is_own = one.source == "message" and one.own_words and one.session == answered.session
    is_short = len(one.text.split()) <= MAX_WORDS and not (one.asks or is_small_talk(one.text))
    is_of_it = _OF_IT.match(one.text) is not None if row.odds == -math.inf else row.odds >= FOLLOWS_FROM
    return is_next and is_own and ((is_short and is_of_it) or any(_denied_in(answered.text, one.text)))


def _answers_later(row: RankedCandidate, answered: Candidate) -> bool:
    """Whether it was said later, and most likely answers too: perhaps otherwise."""
    is_later = row.candidate.when > answered.when and _is_later(row.candidate, answered)
    return _is_own(row) and row.leading_odds >= ANSWERED_FROM and is_later


def _is_own(row: RankedCandidate) -> bool:
    one = row.candidate
    return one.source in ("message", "fact") and one.own_words and not one.never_leads


def _is_later(one: Candidate, other: Candidate) -> bool:
    return one.when >= other.when and (one.message_id or 0) > (other.message_id or 0)


def _unranked(candidate: Candidate) -> RankedCandidate:
    parts: dict[Part, float] = {"keyword": min(1.0, candidate.words), "semantic": 0.0}
    return RankedCandidate(candidate, parts, 0.0, relevance(parts), "below the floor")
