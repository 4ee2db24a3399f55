"""What happens to a proposal, and why: a table of cases for one pure function."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.facts.deduplication import REJECTED_TOO, SAME_MEANING_COSINE
from memory.librarian.decision import DEFAULT_POLICY, SURE_CONFIDENCE, Decision, Outcome, Policy, Reason, Rule, decide
from memory.librarian.engine import KnownFact, ProposedFact, Relation
from memory.models.kinds import Kind, default_importance
from memory.ports.source import Utterance
from memory.text.user_text import mask_foreign_text
from recall.environment import BASE_DIR

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)
WEDNESDAY = MONDAY + timedelta(days=2)
SAID = "I live in Lisbon and I like jazz. My sister Mary lives in Porto. I moved to Faro."
UTTERANCES = [
    Utterance(10, 1, "user", SAID, TUESDAY),
    Utterance(11, 2, "assistant", "So you live in Lisbon and keep bees.", TUESDAY),
    Utterance(12, 3, "user", "> I keep bees\nHe wrote “I own a yacht” there. I live in Lisbon!", TUESDAY),
    Utterance(13, 4, "assistant", "I keep three horses in Atlantis.", TUESDAY),
    Utterance(
        14, 5, "user", "I keep three horses in Atlantis. Yes, that's right. I'm vegan now, and call me Al.", TUESDAY,
        echoes=[(0, 31)],
    ),
    Utterance(15, 6, "user", "I don't eat meat. If I move, I will live in Rome. Do I like opera? I have 2 cats.", TUESDAY),  # noqa: E501
    Utterance(16, 7, "user", "My boss says I like golf. She moved to Faro yesterday. Is my cat Tom too old for jam?", TUESDAY),  # noqa: E501
]  # fmt: skip


def propose(**fields: Any) -> ProposedFact:
    """A proposal that would be stored at once, except for `fields`."""
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
            "attribute": "home",
            "value": "Lisbon",
            "quote": "I live in Lisbon",
            **fields,
        }
    )


def known(**fields: Any) -> KnownFact:
    """An active fact said on Monday, except for `fields`."""
    return KnownFact(
        **{
            "fact_id": 5,
            "statement": "The user lives in Braga.",
            "kind": Kind.BIOGRAPHY,
            "key": "user/home",
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
KEEP, END, PROPOSE, QUARANTINE, REINFORCE, DROP = Outcome

CASES: dict[str, tuple[ProposedFact, list[KnownFact], Policy, Outcome, str]] = {
    # stored at once
    "verbatim, stated, sure": (propose(), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "just sure enough": (propose(confidence=0.8), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "quoted from another message than it says": (propose(number=3), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "an unrelated fact is known": (propose(), [known()], DEFAULT_POLICY, KEEP, Reason.STATED),
    # no evidence
    "not said at all": (propose(quote="I adore jazz"), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "in other letters": (propose(quote="i like JAZZ"), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "said by the assistant": (propose(quote="keep bees", number=2), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "in a quoted line": (propose(quote="I keep bees", number=3), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "in quotation marks": (propose(quote="I own a yacht", number=3), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    "no word at all": (propose(quote=". "), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_QUOTED),
    # said to the user before
    "the assistant's words pasted back": (
        propose(quote="I keep three horses in Atlantis", number=5, statement="The user keeps three horses."),
        [], DEFAULT_POLICY, QUARANTINE, Reason.ECHO,
    ),
    "the assistant's words agreed to": (
        propose(quote="Yes, that's right", number=5, statement="The user keeps three horses in Atlantis."),
        [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_SAID,
    ),
    "an agreement makes nothing surer that is known": (
        propose(quote="Yes, that's right", number=5, statement="The user likes jazz."),
        [jazz()], DEFAULT_POLICY, DROP, Reason.KNOWN,
    ),
    # not supported by the quote
    "a quote of one word": (propose(quote="I"), [], DEFAULT_POLICY, KEEP, Reason.STATED),
    "a quote of one word beside it": (
        propose(quote="I", number=7, statement="The user keeps bees."), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_SAID,
    ),
    "a name that was never said": (
        propose(statement="The user likes jazz with Ulysses."), [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_SAID,
    ),
    "a name that was said before": (
        propose(statement="The user's sister Mary moved to Faro.", quote="She moved to Faro", number=7,
                about_third_party=True),
        [], DEFAULT_POLICY, PROPOSE, Reason.THIRD_PARTY,
    ),
    "a name that is known": (
        propose(statement="The user's aunt Rosa moved to Faro.", quote="She moved to Faro", number=7),
        [known(statement="The user has an aunt called Rosa.", key="")], DEFAULT_POLICY, KEEP, Reason.STATED,
    ),
    "a name that only waits": (
        propose(statement="The user's aunt Rosa moved to Faro.", quote="She moved to Faro", number=7),
        [known(statement="The user has an aunt called Rosa.", key="", status="proposed")],
        DEFAULT_POLICY, QUARANTINE, Reason.NOT_SAID,
    ),
    "a number that was never said": (
        propose(statement="The user has 3 cats.", quote="I have 2 cats", number=6),
        [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_SAID,
    ),
    "a number told in a word": (
        propose(statement="The user has two cats.", quote="I have 2 cats", number=6), [], DEFAULT_POLICY, KEEP,
        Reason.STATED,
    ),
    "a day told by its distance": (
        propose(statement="The user's sister moved to Faro on 16 November 2026.", quote="She moved to Faro yesterday",
                number=7),
        [], DEFAULT_POLICY, KEEP, Reason.STATED,
    ),
    "embellished": (
        propose(statement="The user lives in Lisbon near the harbour with a garden.", quote="I live in Lisbon"),
        [], DEFAULT_POLICY, QUARANTINE, Reason.NOT_SAID,
    ),
    "cut out of a negation": (
        propose(statement="The user eats meat.", quote="eat meat", number=6), [], DEFAULT_POLICY, QUARANTINE,
        Reason.NEGATED,
    ),
    "a negation told as one": (
        propose(statement="The user does not eat meat.", quote="eat meat", number=6), [], DEFAULT_POLICY, KEEP,
        Reason.STATED,
    ),
    "cut out of a question": (
        propose(statement="The user likes opera.", quote="I like opera", number=6), [], DEFAULT_POLICY, QUARANTINE,
        Reason.ASKED,
    ),
    "what a question takes for granted": (
        propose(statement="The user has a cat called Tom.", quote="my cat Tom", number=7), [], DEFAULT_POLICY, KEEP,
        Reason.STATED,
    ),
    "cut out of a supposition": (
        propose(statement="The user moves.", quote="I move", number=6), [], DEFAULT_POLICY, PROPOSE,
        Reason.HYPOTHETICAL,
    ),
    "cut out of a report": (
        propose(statement="The user likes golf.", quote="I like golf", number=7), [], DEFAULT_POLICY, PROPOSE,
        Reason.REPORTED,
    ),
    # dropped
    "too uncertain": (propose(confidence=0.39), [], DEFAULT_POLICY, DROP, Reason.UNSURE_DROPPED),
    "too unimportant": (propose(importance=0.19), [], DEFAULT_POLICY, DROP, Reason.UNIMPORTANT),
    "just enough of both": (propose(confidence=0.4, importance=0.2), [], DEFAULT_POLICY, PROPOSE, Reason.UNSURE),
    "rejected before": (propose(), [jazz(status="rejected", said_at=WEDNESDAY)], DEFAULT_POLICY, DROP, Reason.REJECTED),
    "rejected before, and said again since": (
        propose(), [jazz(status="rejected")], DEFAULT_POLICY, PROPOSE, Reason.SAID_AGAIN,
    ),
    "rejected before, said again, and waiting": (
        propose(), [jazz(status="rejected"), jazz(fact_id=6, status="proposed")], DEFAULT_POLICY,
        REINFORCE, Reason.WAITING,
    ),
    "the same words rejected before": (
        propose(statement="The user adores jazz."),
        [jazz(status="rejected", statement="The user likes all music.", quote="I like jazz.", said_at=WEDNESDAY)],
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
        [known(value="lisbon", status="rejected", said_at=WEDNESDAY)],
        DEFAULT_POLICY,
        DROP,
        Reason.REJECTED,
    ),
    "rejected outweighs every other answer but a secret": (
        propose(quote="I adore jazz", hypothetical=True), [jazz(status="rejected"), jazz(fact_id=6)], DEFAULT_POLICY,
        DROP, Reason.REJECTED,
    ),
    "another person of that name": (
        propose(statement="Mary lives in Porto.", subject="mary", attribute="home", value="Porto",
                quote="My sister Mary lives in Porto", kind=Kind.PERSON, about_third_party=True),
        [known(statement="Mary lives in Faro.", kind=Kind.PERSON, key="mary/home", value="Faro",
               quote="My boss Mary lives in Faro")],
        DEFAULT_POLICY, PROPOSE, f"{Reason.SAME_NAME}: “Mary lives in Faro.”",
    ),
    "the same person's new home": (
        propose(statement="Mary lives in Porto.", subject="mary", attribute="home", value="Porto",
                quote="My sister Mary lives in Porto", kind=Kind.PERSON, about_third_party=True),
        [known(statement="Mary lives in Faro.", kind=Kind.PERSON, key="mary/home", value="Faro",
               quote="My sister Mary lives in Faro")],
        DEFAULT_POLICY, KEEP, Reason.STATED,
    ),
    "another value of the key was rejected": (
        home(), [known(status="rejected")], DEFAULT_POLICY, KEEP, Reason.STATED,
    ),
    "a secret that was rejected": (
        propose(value="ghp_abcdefghijklmnopqrstuvwxyz0123456789"), [jazz(status="rejected")], DEFAULT_POLICY,
        DROP, Reason.SECRET,
    ),
    "too uncertain, and never wanted": (
        propose(confidence=0.1, health=True), [], NEVER_HEALTH, DROP, Reason.NEVER,
    ),
    # known
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
    # not claimed
    "supposed": (propose(hypothetical=True), [], DEFAULT_POLICY, PROPOSE, Reason.HYPOTHETICAL),
    "somebody else's claim": (propose(reported=True), [], DEFAULT_POLICY, PROPOSE, Reason.REPORTED),
    "said to the assistant": (propose(addressed_to_assistant=True), [], DEFAULT_POLICY, PROPOSE, Reason.TO_ASSISTANT),
    # asked
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
        propose(
            kind=Kind.CONSTRAINT, attribute="diet", value="vegan", statement="The user is vegan.", quote="I'm vegan now"
        ),
        [known(kind=Kind.CONSTRAINT, key="user/diet", value="vegetarian", statement="The user is vegetarian.")],
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
    assert decision.outcome == (KEEP if outweighs and new >= SURE_CONFIDENCE else PROPOSE)
    assert decision.supersedes == 5, "what waits says, too, what would give way"


def test_turn_by_turn_the_seeds_example_comes_out_as_told_there() -> None:
    """Seed 002: 1.0 is stored, .6 doesn't replace it. There .95 does after 1.0: the seed's own rule forbids that."""
    alex = known(
        kind=Kind.IDENTITY, key="user/name", value="Alex", statement="The user is called Alex.", confidence=1.0
    )
    al = propose(
        kind=Kind.IDENTITY, attribute="name", value="Al", statement="The user is called Al.", quote="call me Al"
    )
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
    assert decide(propose(), UTTERANCES, facts, similarity={5: SAME_MEANING_COSINE}).outcome == REINFORCE
    assert decide(propose(), UTTERANCES, facts, similarity={5: SAME_MEANING_COSINE - 0.01}).outcome == KEEP


def test_however_near_two_statements_are_their_words_may_deny_it() -> None:
    facts = [jazz(statement="The user dislikes jazz."), jazz(fact_id=6, statement="The user does not like jazz.")]
    assert decide(propose(), UTTERANCES, facts, similarity={5: 0.99, 6: 0.99}).outcome == KEEP


def test_a_no_holds_in_other_words_too_and_sooner() -> None:
    facts = [jazz(status="rejected", statement="The user is fond of jazz music.", said_at=WEDNESDAY)]
    decision = decide(propose(), UTTERANCES, facts, similarity={5: REJECTED_TOO})
    assert (decision.outcome, decision.reason) == (DROP, Reason.REJECTED)
    assert decide(propose(), UTTERANCES, facts, similarity={5: REJECTED_TOO - 0.01}).outcome == KEEP
    assert REJECTED_TOO < SAME_MEANING_COSINE


def test_another_value_of_a_key_is_never_the_same_however_near() -> None:
    assert decide(home(), UTTERANCES, [known()], similarity={5: 1.0}).supersedes == 5
    assert decide(home(), UTTERANCES, [known(status="rejected")], similarity={5: 1.0}).outcome == KEEP


# What holds for every proposal -----------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["I live in Lisbon", "I like jazz", "I keep bees", "I own a yacht", "I", "Yes, that's right", "eat meat", "I move",
     "I like golf", "I like opera", "keep three horses in Atlantis", "my cat Tom", "I adore jazz", "", " "]
)  # fmt: skip
STATEMENTS = st.sampled_from(
    ["The user lives in Lisbon.", "The user likes jazz.", "The user keeps bees.", "The user owns a yacht.",
     "The user eats meat.", "The user keeps three horses in Atlantis.", "The user likes golf."]
)  # fmt: skip
PROPOSALS = st.builds(
    propose,
    statement=STATEMENTS,
    quote=WORDS.filter(str.strip),
    number=st.integers(1, 8),
    kind=st.sampled_from(Kind),
    attribute=st.sampled_from(["", "home", "diet"]),
    value=st.sampled_from(["", "Lisbon", "vegan"]),
    confidence=st.floats(0, 1),
    importance=st.floats(0, 1),
    relation=st.sampled_from(Relation),
    related_to=st.sampled_from([None, 1, 9]),
    hypothetical=st.booleans(),
    reported=st.booleans(),
    about_third_party=st.booleans(),
    addressed_to_assistant=st.booleans(),
    health=st.booleans(),
    correction=st.booleans(),
)
KNOWN = st.lists(
    st.builds(
        known,
        fact_id=st.integers(1, 4),
        statement=STATEMENTS,
        kind=st.sampled_from(Kind),
        key=st.sampled_from(["", "user/home", "user/diet"]),
        value=st.sampled_from(["", "Lisbon", "Porto"]),
        confidence=st.floats(0, 1),
        status=st.sampled_from(["active", "proposed", "archived", "rejected"]),
        quote=WORDS,
        said_at=st.sampled_from([MONDAY, TUESDAY + timedelta(days=1)]),
        number=st.sampled_from([None, 1]),
    ),
    max_size=3,
    unique_by=lambda fact: fact.fact_id,
)
RULES = st.sampled_from(Rule)
POLICIES = st.builds(
    Policy, by_kind=st.dictionaries(st.sampled_from(Kind), RULES, max_size=4), health=RULES, third_parties=RULES
)
NEARNESS = st.dictionaries(st.integers(1, 4), st.floats(-1, 1), max_size=4)
MANY = settings(max_examples=150)


@MANY
@given(PROPOSALS, KNOWN, POLICIES, NEARNESS)
def test_nothing_is_kept_whose_quote_is_not_the_users_own_words(
    proposal: ProposedFact, facts: list[KnownFact], policy: Policy, near: dict[int, float]
) -> None:
    decision = decide(proposal, UTTERANCES, facts, policy, near)
    if decision.outcome in (KEEP, REINFORCE):
        assert decision.evidence is not None
        assert decision.evidence.speaker == "user"
        own = mask_foreign_text(decision.evidence.text, decision.evidence.echoes)
        assert proposal.quote in own
    if decision.outcome == KEEP:  # what is reinforced is the known fact that the quote states
        assert not {"bees", "yacht", "horses", "Atlantis"} & set(re.findall(r"\w+", proposal.statement))


@MANY
@given(PROPOSALS, KNOWN, POLICIES, NEARNESS)
def test_what_was_rejected_never_comes_back(
    proposal: ProposedFact, facts: list[KnownFact], policy: Policy, near: dict[int, float]
) -> None:
    no = known(fact_id=77, statement=proposal.statement.upper(), kind=proposal.kind, key=proposal.key,
               value=proposal.value, status="rejected", quote="something else", said_at=WEDNESDAY)  # fmt: skip
    decision = decide(proposal, UTTERANCES, [*facts, no], policy, near)
    assert decision.outcome == DROP


@MANY
@given(PROPOSALS, POLICIES)
def test_what_was_rejected_and_is_said_again_is_never_kept_unasked(proposal: ProposedFact, policy: Policy) -> None:
    no = known(fact_id=77, statement=proposal.statement.upper(), kind=proposal.kind, key=proposal.key,
               value=proposal.value, status="rejected", quote="something else")  # fmt: skip
    assert decide(proposal, UTTERANCES, [no], policy).outcome in (DROP, PROPOSE)


@MANY
@given(PROPOSALS, KNOWN, POLICIES, NEARNESS)
def test_deciding_twice_gives_the_same(
    proposal: ProposedFact, facts: list[KnownFact], policy: Policy, near: dict[int, float]
) -> None:
    assert decide(proposal, UTTERANCES, facts, policy, near) == decide(proposal, UTTERANCES, facts, policy, near)


@MANY
@given(PROPOSALS, KNOWN, POLICIES, NEARNESS, st.sampled_from([*Kind, "health", "third_parties"]), RULES)
def test_a_stricter_policy_never_keeps_more(
    proposal: ProposedFact, facts: list[KnownFact], policy: Policy, near: dict[int, float], about: str, rule: Rule
) -> None:
    strictness = [Rule.AUTOMATIC, Rule.ASK, Rule.NEVER]

    def stricter(one: Rule) -> Rule:
        return max(one, rule, key=strictness.index)

    if about == "health":
        changed = replace(policy, health=stricter(policy.health))
    elif about == "third_parties":
        changed = replace(policy, third_parties=stricter(policy.third_parties))
    else:
        kind = Kind(about)
        before = policy.by_kind.get(kind, Rule.AUTOMATIC)
        changed = replace(policy, by_kind={**policy.by_kind, kind: stricter(before)})
    stored = (KEEP, PROPOSE, QUARANTINE)
    one, other = (decide(proposal, UTTERANCES, facts, each, near).outcome for each in (policy, changed))
    assert not (other == KEEP and one != KEEP)
    assert not (other in stored and one == DROP)


@MANY
@given(PROPOSALS, KNOWN, POLICIES, NEARNESS)
def test_an_outcome_says_what_it_concerns(
    proposal: ProposedFact, facts: list[KnownFact], policy: Policy, near: dict[int, float]
) -> None:
    decision = decide(proposal, UTTERANCES, facts, policy, near)
    assert decision.reason
    assert (decision.reinforces is not None) == (decision.outcome == REINFORCE)
    assert decision.supersedes is None or decision.outcome in (KEEP, END, PROPOSE)
    active = {fact.fact_id for fact in facts if fact.status == "active"}
    assert decision.supersedes is None or decision.supersedes in active


def test_every_reason_fits_its_column() -> None:
    long = known(statement="The user lives in " + "Llanfair" * 60)
    decision = decide(home(confidence=0.85), UTTERANCES, [long])
    assert len(decision.reason) <= 200
    assert all(len(reason) <= 200 for reason in Reason)


def test_the_sisters_home_has_no_key() -> None:
    proposal = home(about_third_party=True).normalized()
    assert (proposal.key, proposal.kind) == ("", Kind.BIOGRAPHY)


def test_a_key_is_spelt_by_the_scheme_and_brings_its_kind() -> None:
    proposal = propose(attribute="Allergy: Tree nuts", kind=Kind.FACT).normalized()
    assert (proposal.key, proposal.kind) == ("user/allergy:tree_nuts", Kind.CONSTRAINT)
    assert propose(attribute="hobby").normalized().key == ""


def test_the_documented_importance_of_each_kind_is_its_default() -> None:
    page = (BASE_DIR / "docs" / "memory.md").read_text()
    table = page.partition("## Kinds")[2].partition("## States")[0]
    rows = re.findall(r"^\| ([a-z, ]+) \| (\.\d) \|", table, re.MULTILINE)
    documented = {kind: float(importance) for kinds, importance in rows for kind in kinds.split(", ")}
    assert documented == {kind.value: default_importance(kind) for kind in Kind}


# Secrets: which there are is asked in test_sensitive.py -----------------------------------------------------------

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize("field", ["quote", "statement", "value", "subject", "tags"])
def test_a_secret_is_dropped_wherever_it_stands(field: str) -> None:
    held = propose(**{field: (SECRET,) if field == "tags" else SECRET})
    assert decide(held, [Utterance(1, 1, "user", SECRET, MONDAY)], []) == Decision(DROP, Reason.SECRET)


def _evidence(proposal: ProposedFact) -> int | None:
    evidence = decide(proposal, UTTERANCES, []).evidence
    return evidence.message_id if evidence else None
