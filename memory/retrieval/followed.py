"""What the user wrote right after the message that answers, and later of the same: it corrects it, or says more.

“400 kg of rye flour” is followed by “nope, it's 450”, which has no word of the question. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from memory.retrieval.ranking import Candidate, Part, RankedCandidate, Rule, relevance
from memory.retrieval.reading import ANSWERED_FROM
from memory.retrieval.truth import SAYS_LITTLE, CandidateRow, TruthRule
from memory.text.message_kinds import is_small_talk

WITHIN: Final = 4
"""Places in a conversation, the model's answers included: of the user's own, the next two messages."""
MAX_WORDS: Final = 24
"""A longer message is found for itself."""
TOO_FAR: Final[frozenset[Rule]] = frozenset({"below the floor", "beyond top-K"})
"""Rules that a message loses by following."""


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
    others = [row for row in ranked[1:] if not row.follows]
    let_in = [rows[id(row.candidate)] for row in short.values() if row.follows]
    left_out = [(row, rule) for row, rule in untrue if row not in let_in]
    return [ranked[0], *followed, *others], [*found, *let_in], left_out


def _message_of_answer(ranked: Sequence[RankedCandidate], rows: Mapping[int, CandidateRow]) -> CandidateRow | None:
    """The message that leads as the answer, or that the leading fact was learned from; None: nothing leads."""
    lead = ranked[0] if ranked else None
    if lead is None or lead.rule or not (lead.is_answer or lead.candidate.keyed_answer):
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
    return is_next and is_own and is_short


def _answers_later(row: RankedCandidate, answered: Candidate) -> bool:
    """Whether it was said later, and most likely answers too: perhaps otherwise."""
    one = row.candidate
    is_own = one.source in ("message", "fact") and one.own_words and not one.never_leads
    is_later = one.when > answered.when and (one.message_id or 0) > (answered.message_id or 0)
    return is_own and row.odds >= ANSWERED_FROM and is_later


def _unranked(candidate: Candidate) -> RankedCandidate:
    parts: dict[Part, float] = {"keyword": min(1.0, candidate.words), "semantic": 0.0}
    return RankedCandidate(candidate, parts, 0.0, relevance(parts), "below the floor")
