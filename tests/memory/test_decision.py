"""What becomes of a proposal, and why: a table of cases for one pure function."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.decision import DEFAULT_POLICY, SURE, Decision, Outcome, Policy, Reason, Rule, decide
from memory.extraction import KnownFact, ProposedFact, Relation
from memory.kinds import Kind, default_importance
from memory.source import Utterance

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)
SAID = "I live in Lisbon and I like jazz. My sister Mary lives in Porto. I moved to Faro."
UTTERANCES = [
    Utterance(10, 1, "user", SAID, TUESDAY),
    Utterance(11, 2, "assistant", "So you live in Lisbon and keep bees.", TUESDAY),
    Utterance(12, 3, "user", "> I keep bees\nHe wrote “I own a yacht” there. I live in Lisbon!", TUESDAY),
]


def propose(**fields: Any) -> ProposedFact:
    """A proposal that would be kept at once, but for `fields`."""
    return ProposedFact(
        **{
            "statement": "The user likes jazz.",
            "kind": Kind.PREFERENCE,
            "quote": "I like jazz",
            "number": 1,
            "confidence": 0.9,
            "importance": 0.6,
            **fields,
        }
    )


def home(**fields: Any) -> ProposedFact:
    return propose(
        **{
            "statement": "The user lives in Lisbon.",
            "kind": Kind.BIOGRAPHY,
            "key": "home",
            "value": "Lisbon",
            "quote": "I live in Lisbon",
            **fields,
        }
    )


def known(**fields: Any) -> KnownFact:
    """An active fact said on Monday, but for `fields`."""
    return KnownFact(
        **{
            "fact_id": 5,
            "statement": "The user lives in Braga.",
            "kind": Kind.BIOGRAPHY,
            "key": "home",
            "value": "Braga",
            "confidence": 0.9,
            "status": "active",
            "quote": "I live in Braga",
            "said_at": MONDAY,
            "number": 1,
            **fields,
        }
    )


def jazz(**fields: Any) -> KnownFact:
    return known(
        **{
            "statement": "The user likes jazz!",
            "kind": Kind.PREFERENCE,
            "key": "",
            "value": "",
            "quote": "Jazz is what I like",
            **fields,
        }
    )


ASK_FOR_PREFERENCES = Policy(by_kind={Kind.PREFERENCE: Rule.ASK})
NEVER_HEALTH = Policy(health=Rule.NEVER)
KEEP, PROPOSE, QUARANTINE, REINFORCE, DROP = Outcome

CASES: dict[str, tuple[ProposedFact, list[KnownFact], Policy, Outcome, str]] = {
    # what is kept
    "verbatim, stated, sure": (propose(), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "just sure enough": (propose(confidence=0.8), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "quoted from another message than it says": (propose(number=3), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "an unrelated fact is known": (propose(), [known()], DEFAULT_POLICY, KEEP, Reason.STATED),
    # what is no evidence
    "not said at all": (propose(quote="I adore jazz"), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "in other letters": (propose(quote="i like JAZZ"), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "said by the assistant": (propose(quote="keep bees", number=2), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "in a quoted line": (propose(quote="I keep bees", number=3), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "in quotation marks": (propose(quote="I own a yacht", number=3), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "no word at all": (propose(quote=". "), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    # what is dropped
    "too uncertain": (propose(confidence=0.39), [], DEFAULT_POLICY, DROP, Reason.UNSURE_DROPPED),
    "too unimportant": (propose(importance=0.19), [], DEFAULT_POLICY, DROP, Reason.UNIMPORTANT),
    "just enough of both": (propose(confidence=0.4, importance=0.2), [], DEFAULT_POLICY, PROPOSE, Reason.UNSURE),
    "rejected before": (propose(), [jazz(status="rejected")], DEFAULT_POLICY, DROP, Reason.REJECTED),
    "the same words rejected before": (
        propose(statement="The user adores jazz."),
        [jazz(status="rejected", statement="The user likes all music.", quote="I like jazz.")],
        DEFAULT_POLICY,
        DROP,
        Reason.REJECTED,
    ),
    "the same words rejected as another kind": (
        propose(),
        [jazz(status="rejected", kind=Kind.EVENT, statement="The user went to a concert.", quote="I like jazz")],
        DEFAULT_POLICY,
        KEEP,
        Reason.STATED,
    ),
    "the same value of the key rejected before": (
        home(statement="The user's home is Lisbon."),
        [known(value="lisbon", status="rejected")],
        DEFAULT_POLICY,
        DROP,
        Reason.REJECTED,
    ),
    # what is known
    "known": (propose(), [jazz()], DEFAULT_POLICY, REINFORCE, Reason.KNOWN),
    "known under the same key and value": (
        home(statement="Lisbon is where the user lives."),
        [known(value="lisbon")],
        DEFAULT_POLICY,
        REINFORCE,
        Reason.KNOWN,
    ),
    "named as the same by the engine": (
        propose(relation=Relation.SAME, related_to=1),
        [jazz(statement="The user is fond of jazz.")],
        DEFAULT_POLICY,
        REINFORCE,
        Reason.KNOWN,
    ),
    "known, archived": (propose(), [jazz(status="archived")], DEFAULT_POLICY, REINFORCE, Reason.KNOWN),
    "waits for review": (propose(), [jazz(status="proposed")], DEFAULT_POLICY, REINFORCE, Reason.WAITING),
    "known, but not said": (propose(quote="I adore jazz"), [jazz()], DEFAULT_POLICY, DROP, Reason.KNOWN),
    "known, but only supposed": (propose(hypothetical=True), [jazz()], DEFAULT_POLICY, DROP, Reason.KNOWN),
    # what is not claimed
    "supposed": (propose(hypothetical=True), [], DEFAULT_POLICY, PROPOSE, Reason.HYPOTHETICAL),
    "somebody else's claim": (propose(reported=True), [], DEFAULT_POLICY, PROPOSE, Reason.REPORTED),
    "said to the assistant": (propose(addressed_to_assistant=True), [], DEFAULT_POLICY, PROPOSE, Reason.TO_ASSISTANT),
    # what is asked
    "about somebody": (propose(about_third_party=True), [], DEFAULT_POLICY, PROPOSE, Reason.THIRD_PARTY),
    "about health": (propose(health=True), [], DEFAULT_POLICY, PROPOSE, Reason.HEALTH),
    "a constraint": (propose(kind=Kind.CONSTRAINT), [], DEFAULT_POLICY, PROPOSE, Reason.ASK_KIND),
    "an instruction": (propose(kind=Kind.INSTRUCTION), [], DEFAULT_POLICY, PROPOSE, Reason.ASK_KIND),
    "a kind the user asked about": (propose(), [], ASK_FOR_PREFERENCES, PROPOSE, Reason.ASK_KIND),
    "what the user never wants": (propose(health=True), [], NEVER_HEALTH, DROP, Reason.NEVER),
    "never outweighs ask": (propose(health=True, about_third_party=True), [], NEVER_HEALTH, DROP, Reason.NEVER),
    "not sure enough": (propose(confidence=0.79), [], DEFAULT_POLICY, PROPOSE, Reason.UNSURE),
    # contradictions of a key
    "a new value, as sure": (home(), [known()], DEFAULT_POLICY, KEEP, Reason.STATED),
    "a new value, surer than the old": (home(confidence=0.95), [known()], DEFAULT_POLICY, KEEP, Reason.STATED),
    "a new value, less sure": (
        home(confidence=0.85),
        [known()],
        DEFAULT_POLICY,
        PROPOSE,
        f"{Reason.LESS_SURE}: “The user lives in Braga.”",
    ),
    "a correction outweighs certainty": (
        home(confidence=0.85, correction=True),
        [known(confidence=1.0)],
        DEFAULT_POLICY,
        KEEP,
        Reason.STATED,
    ),
    "old words do not undo newer ones": (
        home(confidence=0.95),
        [known(said_at=TUESDAY + timedelta(days=1))],
        DEFAULT_POLICY,
        PROPOSE,
        f"{Reason.OUTDATED}: “The user lives in Braga.”",
    ),
    "an asked kind waits although it is surer": (
        propose(kind=Kind.CONSTRAINT, key="diet", value="vegan", statement="The user is vegan."),
        [known(kind=Kind.CONSTRAINT, key="diet", value="vegetarian", statement="The user is vegetarian.")],
        DEFAULT_POLICY,
        PROPOSE,
        Reason.ASK_KIND,
    ),
    "a new value, surer than a doubtful old one, yet not sure enough to be kept unasked": (
        home(confidence=0.7),
        [known(confidence=0.6)],
        DEFAULT_POLICY,
        PROPOSE,
        Reason.UNSURE,
    ),
    "a hedged correction outweighs certainty, yet waits for a yes": (
        home(confidence=0.67, correction=True),
        [known(confidence=1.0)],
        DEFAULT_POLICY,
        PROPOSE,
        Reason.UNSURE,
    ),
    "a correction said before what is known now": (
        home(confidence=0.95, correction=True),
        [known(said_at=TUESDAY + timedelta(days=1))],
        DEFAULT_POLICY,
        PROPOSE,
        f"{Reason.OUTDATED}: “The user lives in Braga.”",
    ),
    "the same key of another kind is another key": (
        home(),
        [known(kind=Kind.IDENTITY)],
        DEFAULT_POLICY,
        KEEP,
        Reason.STATED,
    ),
    "an archived value gives way to nobody": (home(), [known(status="archived")], DEFAULT_POLICY, KEEP, Reason.STATED),
    "a value that only waits is no contradiction": (
        home(),
        [known(status="proposed")],
        DEFAULT_POLICY,
        KEEP,
        Reason.STATED,
    ),
    # contradictions of free facts
    "a free fact is contradicted": (
        propose(relation=Relation.CONTRADICTS, related_to=1),
        [jazz(statement="The user dislikes jazz.")],
        DEFAULT_POLICY,
        PROPOSE,
        f"{Reason.CONTRADICTS}: “The user dislikes jazz.”",
    ),
    "a relation to a number nobody was shown": (
        propose(relation=Relation.CONTRADICTS, related_to=9),
        [jazz(statement="The user dislikes jazz.")],
        DEFAULT_POLICY,
        KEEP,
        Reason.STATED,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("proposal", "facts", "policy", "outcome", "reason"), CASES.values(), ids=CASES.keys())
def test_the_outcome_and_its_reason_are(
    proposal: ProposedFact, facts: list[KnownFact], policy: Policy, outcome: Outcome, reason: str
) -> None:
    decision = decide(proposal, UTTERANCES, facts, policy)
    assert (decision.outcome, decision.reason) == (outcome, reason)


@pytest.mark.parametrize("case", [case for case in CASES if "value" in case and "new" in case])
def test_a_new_value_of_a_key_says_what_gives_way(case: str) -> None:
    proposal, facts, policy, _, _ = CASES[case]
    assert decide(proposal, UTTERANCES, facts, policy).supersedes == 5


@given(new=st.floats(0.4, 1), old=st.floats(0, 1), correction=st.booleans())
def test_of_two_values_of_a_key_the_surer_one_holds_and_an_equal_one_supersedes(
    new: float, old: float, correction: bool
) -> None:
    decision = decide(home(confidence=new, correction=correction), UTTERANCES, [known(confidence=old)])
    outweighs = correction or new >= old
    assert decision.outcome == (KEEP if outweighs and new >= SURE else PROPOSE)
    assert decision.supersedes == 5, "what waits says, too, what would give way"


def test_turn_by_turn_the_seeds_example_comes_out_as_told_there() -> None:
    """Seed 002: 1.0 is stored, .6 is not taken over it. There .95 after 1.0 is: the seed's own rule forbids that."""
    alex = known(kind=Kind.IDENTITY, key="name", value="Alex", statement="The user is called Alex.", confidence=1.0)
    al = propose(kind=Kind.IDENTITY, key="name", value="Al", statement="The user is called Al.", quote="I live in")
    assert decide(al.model_copy(update={"confidence": 0.6}), UTTERANCES, [alex]).outcome == PROPOSE
    assert decide(al.model_copy(update={"confidence": 0.95}), UTTERANCES, [alex]).outcome == PROPOSE
    assert decide(al.model_copy(update={"confidence": 1.0}), UTTERANCES, [alex]).outcome == KEEP
    corrected = al.model_copy(update={"confidence": 0.95, "correction": True})
    assert decide(corrected, UTTERANCES, [alex]).outcome == KEEP


def test_the_evidence_is_the_numbered_message_first() -> None:
    assert _evidence(home(number=3)) == 12
    assert _evidence(home(number=1)) == 10


def test_the_vectors_of_two_statements_may_say_that_they_are_the_same() -> None:
    facts = [jazz(statement="The user is keen on jazz.")]
    assert decide(propose(), UTTERANCES, facts, similarity={5: 0.98}).outcome == REINFORCE
    assert decide(propose(), UTTERANCES, facts, similarity={5: 0.9}).outcome == KEEP


def test_every_reason_fits_its_column() -> None:
    long = known(statement="The user lives in " + "Llanfair" * 60)
    decision = decide(home(confidence=0.85), UTTERANCES, [long])
    assert len(decision.reason) <= 200
    assert all(len(reason) <= 200 for reason in Reason)


def test_the_sisters_home_has_no_key() -> None:
    proposal = home(about_third_party=True).by_scheme()
    assert (proposal.key, proposal.kind) == ("", Kind.BIOGRAPHY)


def test_a_key_is_spelt_by_the_scheme_and_brings_its_kind() -> None:
    proposal = propose(key="Allergy: Tree nuts", kind=Kind.FACT).by_scheme()
    assert (proposal.key, proposal.kind) == ("allergy:tree_nuts", Kind.CONSTRAINT)
    assert propose(key="hobby").by_scheme().key == ""


def test_the_documented_importance_of_each_kind_is_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "memory.md").read_text()
    table = page.partition("## Kinds")[2].partition("## States")[0]
    rows = re.findall(r"^\| ([a-z, ]+) \| (\.\d) \|", table, re.MULTILINE)
    documented = {kind: float(importance) for kinds, importance in rows for kind in kinds.split(", ")}
    assert documented == {kind.value: default_importance(kind) for kind in Kind}


# Secrets ---------------------------------------------------------------------------------------------------------

SECRETS = [
    "my password is hunter2",
    "The password for the router: swordfish",
    "my PIN is 4711",
    "my API key is abc",
    "sk-ant-api03-abcdefghijklmnopqrstuv",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "-----BEGIN RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    "postgres://me:secret@db.example.org/app",
    "my card is 4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "IBAN DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "my SSN is 078-05-1120",
    "my passport number is C01X00T47",
    "my driver's license is D1234567",
    "the token is Xk7pQ2mZ9vL4nR8sT1wY6bA3cD5e",
]
HARMLESS = [
    "my phone is 912 345 678",
    "I use the password manager Bitwarden",
    "my passport expires on 2027-05-01",
    "order 4111 1111 1111 1112",
    "I was born on 1990-05-04",
    "https://example.org/a/very/long/path-with-many-words-in-it",
    "supercalifragilisticexpialidocious",
    "My goal is to read 1000000000000 words",
    "550e8400-e29b-41d4-a716-446655440000",
]


@pytest.mark.parametrize("field", ["quote", "statement", "value"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_dropped_wherever_it_stands(secret: str, field: str) -> None:
    decision = decide(propose(**{field: secret}), [Utterance(1, 1, "user", secret, MONDAY)], [])
    assert decision == Decision(DROP, Reason.SECRET)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_is_not_dropped(text: str) -> None:
    assert decide(propose(quote=text), [Utterance(1, 1, "user", text, MONDAY)], []).reason != Reason.SECRET


def _evidence(proposal: ProposedFact) -> int | None:
    evidence = decide(proposal, UTTERANCES, []).evidence
    return evidence.message_id if evidence else None
