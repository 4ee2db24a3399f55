"""Decides what happens to a proposed fact: store it, ask the user, count it as a duplicate, or drop it; and why.

`decide` is pure. It tries its steps in order, and the first one with an answer decides. The user sees the reason.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.facts.deduplication import REJECTED_TOO, SAME_MEANING_COSINE, is_same_statement, relations_differ
from memory.facts.keys import USER, split_key
from memory.facts.replacement import states_change
from memory.librarian.engine import KnownFact, ProposedFact, Relation
from memory.librarian.quote_support import Doubt, doubt
from memory.models.kinds import Kind
from memory.ports.source import Utterance
from memory.secrets.secrets_filter import sensitive
from memory.text.user_text import mask_foreign_text, mask_spans
from recall.environment import setting

MIN_CONFIDENCE = setting("librarian_min_confidence", 0.4)
"""Proposals below it are dropped."""
MIN_IMPORTANCE = setting("librarian_min_importance", 0.2)
"""Proposals below it are dropped."""
SURE_CONFIDENCE = setting("librarian_sure_confidence", 0.8)
"""From this confidence, a fact may be stored without asking."""
CORRECTED = 1.0
"""Confidence of an explicit correction by the user, compared with the known fact's."""
MIN_OWN_SHARE = 0.5
"""Minimum share of a quote's letters that must be the user's own words rather than a quotation."""


HISTORY = ("superseded", "expired")
"""States of facts that were known and no longer hold."""


class Outcome(StrEnum):
    """What to do with a proposal."""

    KEEP = "keep"  # store as an active fact, or as history if it is over
    END = "end"  # the known fact was true and has ended
    PROPOSE = "propose"  # ask the user
    QUARANTINE = "quarantine"  # ask the user, without evidence in their words
    REINFORCE = "reinforce"  # already known; saying it again raises its confidence
    DROP = "drop"  # counted, not stored


class Reason(StrEnum):
    """The reason, as the user reads it. The values are stored with facts and runs."""

    STATED = "you said so"
    SECRET = "a password, key, card or identity number: never stored"  # noqa: S105 - a sentence, not a password
    NEVER = "you asked never to remember this kind"
    UNSURE_DROPPED = "too uncertain"
    UNIMPORTANT = "too unimportant"
    REJECTED = "you rejected this before"
    SAID_AGAIN = "you rejected this before, and said it again"
    FORGOTTEN = "you had this forgotten"
    FORGOTTEN_ANEW = "you had this forgotten before, and said it again"
    KNOWN = "already known"
    PAST = "no longer true by your later words"
    NOT_KNOWN = "takes back what is not known"
    DOUBTED = "may no longer be true"
    WAITING = "already waits for your review"
    NOT_QUOTED = "does not rest on your own words"
    ECHO = "repeats what was said to you"
    NOT_SAID = "your words there do not say this"
    NEGATED = "you denied it there"
    ASKED = "asked, not claimed"
    HYPOTHETICAL = "said as a supposition, not as a fact"
    REPORTED = "somebody else's claim"
    TO_ASSISTANT = "an instruction for the assistant"
    OUTDATED = "said before what is known now"
    SAME_NAME = "may be about someone else of that name"
    LESS_SURE = "contradicts what is known with more confidence"
    CONTRADICTS = "contradicts what is known"
    HEALTH = "about health"
    THIRD_PARTY = "about another person"
    ASK_KIND = "of a kind you want to be asked about"
    UNSURE = "not sure enough to save it without asking"


class Rule(StrEnum):
    """What a user lets the librarian do with a kind of fact."""

    AUTOMATIC = "automatic"
    ASK = "ask"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Policy:
    """A user's memory rules; if several apply, the strictest wins."""

    by_kind: Mapping[Kind, Rule] = field(default_factory=dict)
    """Kinds not named are automatic."""
    health: Rule = Rule.ASK
    third_parties: Rule = Rule.ASK
    forgotten_at: Callable[[str, str, str, str], datetime | None] = lambda *_: None
    """When the user had a fact forgotten, by its statement, key, value and quote."""


DEFAULT_POLICY = Policy(
    by_kind={
        Kind.CONSTRAINT: Rule.ASK,  # allergies, diets: mistakes are dangerous
        Kind.INSTRUCTION: Rule.ASK,  # changes every later answer
    }
)


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome with its reason, and the rows it concerns."""

    outcome: Outcome
    reason: str
    supersedes: int | None = None
    """The fact to supersede: now if the outcome is KEEP, on acceptance if it is a proposal."""
    reinforces: int | None = None
    evidence: Utterance | None = None
    """The user's message that contains the quote verbatim."""


def decide(
    proposal: ProposedFact,
    utterances: Sequence[Utterance],
    known: Sequence[KnownFact],
    policy: Policy = DEFAULT_POLICY,
    similarity: Mapping[int, float] | None = None,
) -> Decision:
    """What to do with `proposal`, and why.

    `known`: the user's facts. `similarity`: cosines of the statement to known facts, by fact id.
    """
    never = _check_storable(proposal, policy)
    if never is not None:
        return never
    similarity = similarity or {}
    evidence = evidence_of_quote(proposal.quote, proposal.number, utterances)
    weak = _check_evidence(proposal, evidence, utterances, known)
    return (
        _check_rejected(proposal, known, evidence, similarity)
        or _check_reread(proposal, known, evidence)
        or _check_settled(proposal, known, evidence, similarity)
        or _check_duplicate(proposal, known, None if weak else evidence, similarity)
        or _check_forgotten(proposal, None if weak else evidence, policy)
        or weak
        or _check_claim(proposal, evidence)
        or _check_contradiction(proposal, known, evidence, policy)
        or _apply_policy(proposal, evidence, policy)
    )


def evidence_of_quote(quote: str, number: int, utterances: Iterable[Utterance]) -> Utterance | None:
    """The user's message that contains the quote verbatim, in their own words: the numbered one, else any."""
    messages = sorted((u for u in utterances if u.speaker == "user"), key=lambda u: u.number != number)
    return next((u for u in messages if _contains_quote(quote, u)), None)


def is_past(proposal: ProposedFact, evidence: Utterance | None) -> bool:
    """Whether the user stated it as something that is over."""
    return evidence is not None and proposal.valid_until is not None and proposal.valid_until <= evidence.said_at


def normal(text: str) -> str:
    """The text for comparison: without case, spacing and punctuation."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


# The steps -------------------------------------------------------------------------------------------------------


def _check_storable(proposal: ProposedFact, policy: Policy) -> Decision | None:
    texts = (proposal.statement, proposal.subject, proposal.attribute, proposal.value, proposal.quote, *proposal.tags)
    if any(sensitive(text) for text in texts):
        return Decision(Outcome.DROP, Reason.SECRET)
    if _rule(proposal, policy)[0] == Rule.NEVER:
        return Decision(Outcome.DROP, Reason.NEVER)
    if proposal.confidence < MIN_CONFIDENCE:
        return Decision(Outcome.DROP, Reason.UNSURE_DROPPED)
    if proposal.importance < MIN_IMPORTANCE:
        return Decision(Outcome.DROP, Reason.UNIMPORTANT)
    return None


def _check_forgotten(proposal: ProposedFact, evidence: Utterance | None, policy: Policy) -> Decision | None:
    """Something forgotten returns only if the user says it again later, and then only as a proposal."""
    at = policy.forgotten_at(proposal.statement, proposal.key, proposal.value, proposal.quote)
    if at is None:
        return None
    if evidence is None or evidence.said_at <= at:
        return Decision(Outcome.DROP, Reason.FORGOTTEN)
    return Decision(Outcome.PROPOSE, Reason.FORGOTTEN_ANEW, evidence=evidence)


def _check_rejected(
    proposal: ProposedFact, known: Sequence[KnownFact], evidence: Utterance | None, similarity: Mapping[int, float]
) -> Decision | None:
    """A rejection is final: a paraphrase, or another reading of the same words, isn't proposed again.

    Only if the user says it again after rejecting it, it becomes a proposal.
    """
    said_again = False
    for fact in known:
        if fact.status != "rejected":
            continue
        same_words = fact.kind == proposal.kind and normal(fact.quote) == normal(proposal.quote)
        if same_words or _is_same_text(proposal, fact) or _is_same_meaning(proposal, fact, similarity, REJECTED_TOO):
            if evidence is None or evidence.said_at <= fact.said_at or proposal.is_no_claim:
                return Decision(Outcome.DROP, Reason.REJECTED)
            said_again = True
    if said_again and not any(_is_known(proposal, fact, similarity) for fact in known):
        return Decision(Outcome.PROPOSE, Reason.SAID_AGAIN, evidence=evidence)
    return None


def _check_reread(proposal: ProposedFact, known: Iterable[KnownFact], evidence: Utterance | None) -> Decision | None:
    """The quote of a fact that the user edited, or that was superseded, doesn't make a second fact."""
    for fact in known:
        settled = fact.status in HISTORY or fact.edited
        if not settled or evidence is None or fact.message_id != evidence.message_id or fact.kind != proposal.kind:
            continue
        new, old = normal(proposal.quote), normal(fact.quote)
        if normal(proposal.statement) == normal(fact.statement) or new in old or old in new:
            return Decision(Outcome.DROP, Reason.KNOWN)
    return None


def _check_settled(
    proposal: ProposedFact, known: Iterable[KnownFact], evidence: Utterance | None, similarity: Mapping[int, float]
) -> Decision | None:
    """A fact the user has since corrected or ended isn't learned again from older words, however they arrive.

    Words that say it is so again, or now, aren't older words.
    """
    for fact in known:
        if states_change(proposal.statement) and not states_change(fact.statement):
            continue
        if fact.status not in HISTORY or (evidence is not None and evidence.said_at > fact.said_at):
            continue
        if _is_same_text(proposal, fact) or _is_same_meaning(proposal, fact, similarity, SAME_MEANING_COSINE):
            return Decision(Outcome.DROP, Reason.PAST)
    return None


def _check_duplicate(
    proposal: ProposedFact, known: Sequence[KnownFact], evidence: Utterance | None, similarity: Mapping[int, float]
) -> Decision | None:
    same = next((fact for fact in known if _is_known(proposal, fact, similarity)), None)
    if same is None:
        return None
    if is_past(proposal, evidence) and same.status == "active":
        assert evidence is not None
        is_later = evidence.said_at >= same.said_at
        return Decision(Outcome.END, Reason.STATED, same.fact_id, evidence=evidence) if is_later else None
    if evidence is None or proposal.is_no_claim:
        return Decision(Outcome.DROP, Reason.KNOWN)  # an echo doesn't raise confidence
    reason = Reason.WAITING if same.status == "proposed" else Reason.KNOWN
    return Decision(Outcome.REINFORCE, reason, reinforces=same.fact_id, evidence=evidence)


_OUTCOME_OF_DOUBT: Final = {
    Doubt.NOT_SAID: (Outcome.QUARANTINE, Reason.NOT_SAID),
    Doubt.NEGATED: (Outcome.QUARANTINE, Reason.NEGATED),
    Doubt.ASKED: (Outcome.QUARANTINE, Reason.ASKED),
    Doubt.SUPPOSED: (Outcome.PROPOSE, Reason.HYPOTHETICAL),
    Doubt.REPORTED: (Outcome.PROPOSE, Reason.REPORTED),
}
"""The outcome for a proposal whose quote is verbatim but does not support it (`memory/librarian/quote_support.py`)."""


def _check_evidence(
    proposal: ProposedFact, evidence: Utterance | None, utterances: Sequence[Utterance], known: Sequence[KnownFact]
) -> Decision | None:
    """Quotes that are not the user's own words, or don't support the statement."""
    if evidence is None:
        said = [u for u in utterances if u.speaker == "user" and proposal.quote in u.text]
        echoed = any(proposal.quote not in mask_spans(u.text, u.echoes) for u in said)
        return Decision(Outcome.QUARANTINE, Reason.ECHO if echoed else Reason.NOT_QUOTED)
    why = doubt(proposal, evidence, utterances, known)
    if why is None:
        return None
    outcome, reason = _OUTCOME_OF_DOUBT[why]
    return Decision(outcome, reason, evidence=evidence if outcome == Outcome.PROPOSE else None)


def _check_claim(proposal: ProposedFact, evidence: Utterance | None) -> Decision | None:
    """Quotes that the engine itself marks as not being a claim."""
    for flag, reason in (
        (proposal.hypothetical, Reason.HYPOTHETICAL),
        (proposal.reported, Reason.REPORTED),
        (proposal.addressed_to_assistant, Reason.TO_ASSISTANT),
    ):
        if flag:
            return Decision(Outcome.PROPOSE, reason, evidence=evidence)
    return None


def _check_contradiction(
    proposal: ProposedFact, known: Sequence[KnownFact], evidence: Utterance | None, policy: Policy
) -> Decision | None:
    """Keyed facts follow confidence; free facts coexist until the user decides."""
    if evidence is None:
        return None
    holder = next((f for f in known if f.status == "active" and proposal.key and _same_key(proposal, f)), None)
    if is_past(proposal, evidence):
        return None  # a fact that is over replaces nothing
    if holder is not None:
        return _resolve_conflict(proposal, holder, evidence, known, policy)
    other = next((f for f in known if f.status == "active" and f.number == proposal.related_to is not None), None)
    if other is None or proposal.relation not in {Relation.UPDATES, Relation.CONTRADICTS}:
        return None
    is_same = not proposal.key or _is_same_family(proposal, other)
    if proposal.correction and proposal.relation == Relation.UPDATES and is_same:
        return _resolve_conflict(proposal, other, evidence, known, policy)
    return Decision(Outcome.PROPOSE, _reason_against(Reason.CONTRADICTS, other), other.fact_id, evidence=evidence)


def _resolve_conflict(
    proposal: ProposedFact, holder: KnownFact, evidence: Utterance, known: Iterable[KnownFact], policy: Policy
) -> Decision:
    """A new value for a key that already has one."""
    if evidence.said_at < holder.said_at:
        # Reading an old message late or again must not override newer statements or review decisions.
        return Decision(Outcome.PROPOSE, _reason_against(Reason.OUTDATED, holder), holder.fact_id, evidence=evidence)
    if _is_someone_else(proposal, known):
        return Decision(Outcome.PROPOSE, _reason_against(Reason.SAME_NAME, holder), holder.fact_id, evidence=evidence)
    weight = CORRECTED if proposal.correction else proposal.confidence
    if weight < holder.confidence:
        return Decision(Outcome.PROPOSE, _reason_against(Reason.LESS_SURE, holder), holder.fact_id, evidence=evidence)
    verdict = _apply_policy(proposal, evidence, policy)
    if verdict.reason == Reason.THIRD_PARTY and proposal.confidence >= SURE_CONFIDENCE:
        # The user let Recall store this about that person, so its newer value needs no new decision.
        verdict = Decision(Outcome.KEEP, Reason.STATED)
    return Decision(verdict.outcome, verdict.reason, holder.fact_id, evidence=evidence)


def _apply_policy(proposal: ProposedFact, evidence: Utterance | None, policy: Policy) -> Decision:
    rule, reason = _rule(proposal, policy)
    if rule != Rule.AUTOMATIC:
        return Decision(Outcome.PROPOSE, reason, evidence=evidence)
    if proposal.confidence < SURE_CONFIDENCE:
        return Decision(Outcome.PROPOSE, Reason.UNSURE, evidence=evidence)
    return Decision(Outcome.KEEP, Reason.STATED, evidence=evidence)


# Predicates -----------------------------------------------------------------------------------------------------

STRICTNESS = {Rule.AUTOMATIC: 0, Rule.ASK: 1, Rule.NEVER: 2}


def _rule(proposal: ProposedFact, policy: Policy) -> tuple[Rule, Reason]:
    """The strictest rule that applies, and its subject."""
    rules = [(policy.by_kind.get(proposal.kind, Rule.AUTOMATIC), Reason.ASK_KIND)]
    if proposal.health:
        rules.insert(0, (policy.health, Reason.HEALTH))
    if proposal.about_third_party:
        rules.insert(0, (policy.third_parties, Reason.THIRD_PARTY))
    return max(rules, key=lambda rule: STRICTNESS[rule[0]])


def _same_key(proposal: ProposedFact, fact: KnownFact) -> bool:
    return bool(proposal.key) and proposal.key == fact.key


def _is_same_family(proposal: ProposedFact, fact: KnownFact) -> bool:
    """Whether both are of one subject and one attribute per thing: an allergy to walnuts, one to cashews."""
    key, colon, _ = proposal.key.partition(":")
    return bool(colon) and fact.key.partition(":")[0] == key


def _is_someone_else(proposal: ProposedFact, known: Iterable[KnownFact]) -> bool:
    """Whether the user calls the subject of a key what no known fact of that name does: “my colleague Tom”."""
    theirs = " ".join(
        f"{fact.quote} {fact.statement}"
        for fact in known
        if fact.status == "active" and split_key(fact.key)[0] == proposal.subject != USER
    )
    return relations_differ(f"{proposal.quote} {proposal.statement}", theirs)


def _is_same_text(proposal: ProposedFact, fact: KnownFact) -> bool:
    same_value = bool(proposal.value) and normal(proposal.value) == normal(fact.value)
    return normal(proposal.statement) == normal(fact.statement) or (_same_key(proposal, fact) and same_value)


def _is_known(proposal: ProposedFact, fact: KnownFact, similarity: Mapping[int, float]) -> bool:
    if fact.status == "rejected" or fact.status in HISTORY or _corrects(proposal, fact):
        return False
    named = proposal.relation == Relation.SAME and fact.number == proposal.related_to is not None
    return (
        named or _is_same_text(proposal, fact) or _is_same_meaning(proposal, fact, similarity, SAME_MEANING_COSINE)
    ) and not _has_other_value(proposal, fact)


def _corrects(proposal: ProposedFact, fact: KnownFact) -> bool:
    """Whether it says otherwise what the fact says, if with the same key and value: padel on another day."""
    is_of_it = proposal.correction and proposal.relation == Relation.UPDATES and fact.number is not None
    return is_of_it and fact.number == proposal.related_to and normal(proposal.statement) != normal(fact.statement)


def _is_same_meaning(proposal: ProposedFact, fact: KnownFact, similarity: Mapping[int, float], least: float) -> bool:
    near = similarity.get(fact.fact_id, 0.0)
    return not _has_other_value(proposal, fact) and is_same_statement(proposal.statement, fact.statement, near, least)


def _has_other_value(proposal: ProposedFact, fact: KnownFact) -> bool:
    """Whether both give the same key different values."""
    both = bool(proposal.value) and bool(fact.value) and _same_key(proposal, fact)
    return both and normal(proposal.value) != normal(fact.value)


def _reason_against(reason: Reason, fact: KnownFact) -> str:
    """The reason with the contradicted statement, within the column's 200 characters."""
    room = 200 - len(reason) - len(": “”")
    statement = fact.statement if len(fact.statement) <= room else f"{fact.statement[: room - 1]}…"
    return f"{reason}: “{statement}”"


def _contains_quote(quote: str, said: Utterance) -> bool:
    """Whether a message contains `quote` verbatim, mostly in its writer's own words."""
    start = said.text.find(quote)
    if start < 0 or not re.search(r"\w", quote):
        return False
    user_text = mask_foreign_text(said.text, said.echoes)
    while start >= 0:
        kept = sum(char.isalnum() for char in user_text[start : start + len(quote)])
        if kept >= MIN_OWN_SHARE * sum(char.isalnum() for char in quote):
            return True
        start = said.text.find(quote, start + 1)
    return False
