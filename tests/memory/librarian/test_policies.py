"""What may be stored without asking: the user's rules, what they mean, and how often past proposals were right."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from memory.librarian.decision import DEFAULT_POLICY, Reason, Rule
from memory.librarian.policies import (
    HEALTH,
    MEANS,
    MIN_DECISIONS,
    NAMES,
    SUBJECTS,
    SUCH_AS,
    THIRD_PARTIES,
    Tally,
    policy_for,
    precision_of,
    rules_of,
    set_rules,
    subject_of,
    tally_decisions,
    waiting_about,
)
from memory.models import Fact, KindPolicy, ReviewAction
from memory.models.kinds import Kind
from memory.review.decisions import accept, edit, reject, undo

type SignIn = Callable[[User], Client]


def propose(user: User, statement: str = "The user keeps bees.", **fields: Any) -> Fact:
    fact: Fact = Fact.objects.create(user=user, statement=statement, **{"kind": "fact", **fields})
    return fact


# Rules -----------------------------------------------------------------------------------------------------------


def test_where_nothing_is_set_the_defaults_hold(alice: User) -> None:
    rules = rules_of(alice)

    assert set(rules) == set(SUBJECTS)
    assert (rules[Kind.CONSTRAINT], rules[Kind.PLACE], rules[HEALTH]) == (Rule.ASK, Rule.AUTOMATIC, Rule.ASK)
    policy = policy_for(alice)
    assert (policy.health, policy.third_parties) == (DEFAULT_POLICY.health, DEFAULT_POLICY.third_parties)


def test_a_rule_holds_for_its_person_only(alice: User, bob: User) -> None:
    set_rules(alice, {Kind.PLACE: Rule.NEVER, THIRD_PARTIES: Rule.AUTOMATIC})

    assert (policy_for(alice).by_kind[Kind.PLACE], policy_for(alice).third_parties) == (Rule.NEVER, Rule.AUTOMATIC)
    assert (policy_for(bob).by_kind[Kind.PLACE], policy_for(bob).third_parties) == (Rule.AUTOMATIC, Rule.ASK)


def test_a_rule_that_is_the_default_again_is_no_row(alice: User) -> None:
    set_rules(alice, {Kind.PLACE: Rule.NEVER})
    set_rules(alice, {Kind.PLACE: Rule.ASK})
    assert KindPolicy.objects.get().rule == "ask"

    set_rules(alice, {Kind.PLACE: Rule.AUTOMATIC})
    assert not KindPolicy.objects.exists()


def test_there_is_no_rule_about_what_is_no_subject(alice: User) -> None:
    with pytest.raises(ValueError, match="weather"):
        set_rules(alice, {Kind.PLACE: Rule.NEVER, "weather": Rule.NEVER})
    assert not KindPolicy.objects.exists()


def test_every_subject_and_rule_has_its_words() -> None:
    assert set(NAMES) == set(SUCH_AS) == set(SUBJECTS)
    assert set(MEANS) == set(Rule)


@pytest.mark.parametrize(
    ("reason", "subject"), [(Reason.HEALTH, HEALTH), (Reason.THIRD_PARTY, THIRD_PARTIES), (Reason.ASK_KIND, "person")]
)
def test_a_proposal_is_about_why_it_waits_or_else_about_its_kind(alice: User, reason: str, subject: str) -> None:
    fact = propose(alice, kind="person", reason=reason)

    assert subject_of(fact) == subject
    for other in {HEALTH, THIRD_PARTIES, "person"}:
        assert list(waiting_about(alice, other)) == ([fact] if other == subject else [])


# Precision -------------------------------------------------------------------------------------------------------


def test_precision_is_what_was_accepted_of_what_was_decided(alice: User, bob: User) -> None:
    for number in range(6):
        accept(propose(alice, f"Right {number}."), by=alice)
    edit(propose(alice), "In other words.", by=alice)
    reject(propose(alice), by=alice)
    reject(propose(bob), by=bob)
    propose(alice, "Nobody decided on it.")

    tally = precision_of(alice)[Kind.FACT]

    assert (tally.accepted, tally.edited, tally.rejected, tally.precision) == (6, 1, 1, 7 / 8)


def test_the_latest_decision_on_a_fact_counts_and_an_undone_one_does_not(alice: User) -> None:
    changed, undone = propose(alice), propose(alice)
    accept(changed, by=alice)
    reject(changed, by=alice)
    undo(reject(undone, by=alice))

    tally = precision_of(alice)[Kind.FACT]

    assert (tally.accepted, tally.rejected) == (0, 1)


def test_what_waited_for_health_counts_for_health_and_for_its_kind(alice: User) -> None:
    accept(propose(alice, kind="constraint", reason=Reason.HEALTH), by=alice)

    tallies = precision_of(alice)

    assert (tallies[HEALTH].accepted, tallies[Kind.CONSTRAINT].accepted, tallies[THIRD_PARTIES].accepted) == (1, 1, 0)


def test_all_kinds_take_one_statement(alice: User, django_assert_num_queries: Any) -> None:
    for kind in Kind.values:
        accept(propose(alice, kind=kind), by=alice)

    with django_assert_num_queries(1):
        precision_of(alice)


@pytest.mark.parametrize(
    ("verb", "counted"),
    [("accept", "accepted"), ("keep_both", "accepted"), ("unrelated", "accepted"), ("merge", "accepted"),
     ("edit", "edited"), ("reject", "rejected")],
)  # fmt: skip
def test_every_decision_is_counted(verb: str, counted: str) -> None:
    assert verb in ReviewAction.Verb.values
    assert getattr(tally_decisions([("fact", verb, None, 3)])["fact"], counted) == 3


def test_too_few_decisions_are_no_percentage() -> None:
    assert Tally(accepted=MIN_DECISIONS - 1).precision is None
    assert Tally(accepted=MIN_DECISIONS).precision == 1


# The page --------------------------------------------------------------------------------------------------------


def test_the_page_shows_each_rule_beside_its_precision(alice: User, sign_in: SignIn) -> None:
    for number in range(5):
        accept(propose(alice, f"Right {number}.", kind="place"), by=alice)

    page = " ".join(sign_in(alice).get("/memory/rules").content.decode().split())

    assert '<b class="number">100%</b> of past proposals were right: 5 accepted.' in page
    assert "0 edited" not in page
    assert page.count("past proposals") == 1, "a row without decisions has no counts"
    assert all(sentence in page for sentence in MEANS.values())
    assert page.count('type="radio"') == len(SUBJECTS) * len(Rule)


@pytest.mark.parametrize(
    ("person", "others", "said"),
    [
        (Rule.AUTOMATIC, Rule.ASK, ["asks first"]),
        (Rule.AUTOMATIC, Rule.NEVER, ["never saves them"]),
        (Rule.ASK, Rule.NEVER, ["never saves them"]),
        (Rule.ASK, Rule.ASK, []),
        (Rule.NEVER, Rule.ASK, []),
    ],
)
def test_the_person_row_says_what_a_stricter_rule_about_other_people_does(
    alice: User, sign_in: SignIn, person: Rule, others: Rule, said: list[str]
) -> None:
    set_rules(alice, {Kind.PERSON: person, THIRD_PARTIES: others})

    page = sign_in(alice).get("/memory/rules").content.decode()

    assert re.findall(r"follow the stricter rule “Other people” below: Recall ([\w ]+)\.", page) == said


def test_saving_sets_the_rules_that_were_sent_and_leaves_the_others(alice: User, sign_in: SignIn) -> None:
    set_rules(alice, {Kind.GOAL: Rule.NEVER})

    response = sign_in(alice).post("/memory/rules", {"rule-place": "never", "rule-health": "automatic"}, follow=True)

    assert "Rules saved. They apply to new memories." in response.content.decode()
    rules = rules_of(alice)
    assert (rules[Kind.PLACE], rules[HEALTH], rules[Kind.GOAL]) == (Rule.NEVER, Rule.AUTOMATIC, Rule.NEVER)


def test_a_rule_that_does_not_exist_is_refused_and_nothing_is_saved(alice: User, sign_in: SignIn) -> None:
    response = sign_in(alice).post("/memory/rules", {"rule-place": "never", "rule-goal": "sometimes"})

    assert response.status_code == 422
    assert "Nothing was saved." in response.content.decode()
    assert not KindPolicy.objects.exists()
