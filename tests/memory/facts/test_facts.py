"""Facts in the design's terms: what is active, what waits, what was known on a date; and one value per key."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from memory.consolidation.consolidate import consolidate
from memory.facts.links import link_superseded, mark_superseded
from memory.models import Fact, ReviewAction
from memory.models.facts import FactQuerySet
from memory.retrieval.recall import mark_used
from memory.review.decisions import RefusedError, accept, edit, reject, undo

HOUR = timedelta(hours=1)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def fact(user: User, statement: str = "The user keeps bees.", **fields: Any) -> Fact:
    made: Fact = Fact.objects.create(
        user=user, statement=statement, **{"status": Fact.Status.ACTIVE, "recorded_at": NOON, **fields}
    )
    return made


def said(facts: FactQuerySet) -> list[str]:
    return list(facts.order_by("pk").values_list("statement", flat=True))


# Words -----------------------------------------------------------------------------------------------------------


def test_each_word_names_the_facts_it_says(alice: User, bob: User) -> None:
    for status in Fact.Status:
        fact(alice, status.value, status=status)
    fact(bob, "Bob's", status=Fact.Status.ACTIVE)
    mine = Fact.objects.for_user(alice)
    assert said(mine.active()) == ["active"]
    assert said(mine.proposed()) == ["proposed"]
    assert said(mine.known_at(NOON)) == ["active", "superseded", "expired", "archived"]


def test_guaranteed_are_important_keyed_facts_that_hold_the_most_important_first(alice: User) -> None:
    fact(alice, "free")
    fact(alice, "weak", key="user/units", importance=0.49)
    fact(alice, "home", key="user/home", importance=0.5)
    fact(alice, "name", key="user/name", importance=0.8)
    fact(alice, "over", key="user/job", importance=0.9, valid_until=NOON)
    assert [one.statement for one in Fact.objects.for_user(alice).guaranteed()] == ["name", "home"]
    assert said(Fact.objects.for_user(alice).keyed()) == ["weak", "home", "name", "over"]


@pytest.mark.parametrize(
    ("since", "until", "holds"),
    [
        (None, None, True),
        (NOON, None, True),
        (NOON + HOUR, None, False),
        (None, NOON, False),
        (None, NOON + HOUR, True),
        (NOON - HOUR, NOON + HOUR, True),
    ],
)
def test_a_fact_holds_from_its_beginning_until_just_before_its_end(
    alice: User, since: datetime | None, until: datetime | None, holds: bool
) -> None:
    fact(alice, valid_from=since, valid_until=until)
    assert Fact.objects.valid_at(NOON).exists() is holds


def test_what_a_person_stated_worded_or_accepted_is_somebodys(alice: User) -> None:
    for source in Fact.Source:
        fact(alice, source.value, source=source)
        fact(alice, f"{source.value}, accepted", source=source, accepted_at=NOON)
    assert said(Fact.objects.for_user(alice).unconfirmed()) == ["imported", "inferred"]


# One value for a key ---------------------------------------------------------------------------------------------


def test_the_database_refuses_a_second_active_fact_for_a_key(alice: User) -> None:
    fact(alice, kind="biography", key="user/home")
    with pytest.raises(IntegrityError, match="one_active_fact_a_key"), transaction.atomic():
        fact(alice, kind="biography", key="user/home")


@pytest.mark.parametrize(
    "other",
    [{"key": ""}, {"key": "mary/home"}, {"key": "user/job"}, {"status": "proposed"}, {"status": "superseded"}],
    ids=lambda other: ",".join(other.values()) or "free",
)
def test_another_subject_attribute_or_state_may_stand_beside_it(alice: User, bob: User, other: dict[str, str]) -> None:
    same: dict[str, str] = {"kind": "biography", "key": "user/home"}
    fact(alice, **same)
    fact(bob, **same)
    fact(alice, **{**same, **other})
    fact(alice, **{**same, "key": ""})
    assert Fact.objects.for_user(alice).count() == 3


@pytest.mark.parametrize("score", [{"confidence": 1.01}, {"confidence": -0.01}, {"importance": 1.01}])
def test_scores_lie_between_0_and_1(alice: User, score: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="fact_scores_between_0_and_1"), transaction.atomic():
        fact(alice, **score)


# What was known on a date ----------------------------------------------------------------------------------------


class History:
    """A user's facts over hours: the action at each, and what Recall held true after it."""

    def __init__(self, user: User) -> None:
        self.user, self.now = user, NOON
        self.facts: list[Fact] = []
        self.taken_for_true: dict[datetime, set[int]] = {}

    def do(self, deed: Callable[[], object]) -> None:
        """One action; a refusal is one, too."""
        self.now += HOUR
        with patch("django.utils.timezone.now", lambda: self.now), suppress(RefusedError):
            deed()
        held = Fact.objects.for_user(self.user).filter(status__in=["active", "archived"]).valid_at(self.now)
        self.taken_for_true[self.now] = set(held.values_list("pk", flat=True))

    def make(self, key: str, hours: int | None, status: Fact.Status, source: Fact.Source) -> Fact:
        until = None if hours is None else self.now + hours * HOUR
        place = len(self.facts)
        made = fact(
            self.user, f"Fact {place}.", key=key, status=status, source=source, recorded_at=self.now, valid_until=until
        )
        self.facts.append(made)
        return made

    def learn(self, key: str, hours: int | None) -> None:
        """Store a fact at once, as the librarian does: it supersedes the one with its key."""
        same = Fact.objects.for_user(self.user).filter(key=key, status="active") if key else Fact.objects.none()
        older = list(same.values_list("pk", flat=True))
        mark_superseded(older, at=self.now)
        link_superseded(self.make(key, hours, Fact.Status.ACTIVE, Fact.Source.STATED), older)

    def propose(self, key: str, hours: int | None) -> None:
        self.make(key, hours, Fact.Status.PROPOSED, Fact.Source.INFERRED)

    def decide(self, how: Callable[..., ReviewAction], which: int) -> None:
        if self.facts:
            how(Fact.objects.get(pk=self.facts[which % len(self.facts)].pk), by=self.user)

    def undo(self, which: int) -> None:
        actions = list(ReviewAction.objects.for_user(self.user).order_by("pk"))
        if actions:
            undo(actions[which % len(actions)])

    def fade(self, which: int) -> None:
        if self.facts:
            one = Fact.objects.filter(pk=self.facts[which % len(self.facts)].pk, status="active")
            one.update(status=Fact.Status.ARCHIVED)

    def bring_back(self) -> None:
        mark_used(self.user, [one.ref for one in self.facts], self.now)

    def tidy_up(self) -> None:
        consolidate(self.user, self.now)


def reword(one: Fact, by: User) -> ReviewAction:
    return edit(one, f"{one.statement.rstrip('.')}, in other words.", by=by)


keys, numbers = st.sampled_from(["", "home", "job"]), st.integers(0, 30)
hours = st.none() | st.integers(1, 6)
DEEDS: list[st.SearchStrategy[Callable[[History], object]]] = [
    st.builds(lambda key, last: lambda h: h.learn(key, last), keys, hours),
    st.builds(lambda key, last: lambda h: h.propose(key, last), keys, hours),
    *(
        st.builds(lambda which, how=how: lambda h: h.decide(how, which), numbers)
        for how in (accept, reword, reject, reject)
    ),
    st.builds(lambda which: lambda h: h.undo(which), numbers),
    st.builds(lambda which: lambda h: h.undo(-1 - which % 2), numbers),
    st.builds(lambda which: lambda h: h.fade(which), numbers),
    st.just(lambda h: h.bring_back()),
    st.just(lambda h: h.tidy_up()),
]


@given(deeds=st.lists(st.one_of(DEEDS), min_size=1, max_size=14))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_known_at_any_hour_is_what_was_taken_for_true_then(alice: User, deeds: list[Any]) -> None:
    with transaction.atomic():
        history = History(alice)
        for deed in deeds:
            history.do(lambda deed=deed: deed(history))  # type: ignore[misc]
        told = {
            moment: set(Fact.objects.for_user(alice).known_at(moment).values_list("pk", flat=True))
            for moment in history.taken_for_true
        }
        assert told == history.taken_for_true
        assert not Fact.objects.for_user(alice).known_at(NOON).exists()
        transaction.set_rollback(True)


def known(user: User, history: History, hour: int) -> list[str]:
    return said(Fact.objects.for_user(user).known_at(NOON + hour * HOUR))


def test_a_proposal_was_not_known_before_it_was_accepted(alice: User) -> None:
    history = History(alice)
    history.do(lambda: history.propose("", None))
    history.do(lambda: None)
    history.do(lambda: history.decide(accept, 0))
    assert [known(alice, history, hour) for hour in (1, 2, 3)] == [[], [], ["Fact 0."]]


def test_what_was_rejected_after_a_while_had_been_known_until_then(alice: User) -> None:
    history = History(alice)
    history.do(lambda: history.learn("", None))
    history.do(lambda: None)
    history.do(lambda: history.decide(reject, 0))
    assert [known(alice, history, hour) for hour in (1, 2, 3)] == [["Fact 0."], ["Fact 0."], []]


def test_a_rejected_proposal_was_never_known(alice: User) -> None:
    history = History(alice)
    history.do(lambda: history.propose("", None))
    history.do(lambda: history.decide(reject, 0))
    assert [known(alice, history, hour) for hour in (1, 2, 3)] == [[], [], []]


def test_a_decision_that_was_undone_counts_for_as_long_as_it_stood(alice: User) -> None:
    history = History(alice)
    history.do(lambda: history.learn("home", None))
    history.do(lambda: history.propose("home", None))
    history.do(lambda: history.decide(accept, 1))
    history.do(lambda: None)
    history.do(lambda: history.undo(0))
    assert [known(alice, history, hour) for hour in (2, 3, 4, 5)] == [
        ["Fact 0."],
        ["Fact 1."],
        ["Fact 1."],
        ["Fact 0."],
    ]


def test_of_two_decisions_that_were_both_undone_the_later_one_counts_while_it_stood(alice: User) -> None:
    history = History(alice)
    history.do(lambda: history.propose("", None))
    for how in (accept, reject):
        history.do(lambda how=how: history.decide(how, 0))  # type: ignore[misc]
    for which in (1, 0):
        history.do(lambda which=which: history.undo(which))  # type: ignore[misc]
    told = [known(alice, history, hour) for hour in (1, 2, 3, 4, 5)]
    assert told == [[], ["Fact 0."], [], ["Fact 0."], []]


def test_what_is_learned_of_the_past_was_not_known_in_the_past(alice: User) -> None:
    fact(alice, valid_from=NOON - 48 * HOUR)
    assert said(Fact.objects.known_at(NOON - HOUR)) == []
    assert said(Fact.objects.known_at(NOON)) == ["The user keeps bees."]


def test_what_was_known_on_a_date_takes_one_statement(alice: User, django_assert_num_queries: Any) -> None:
    fact(alice)
    with django_assert_num_queries(1):
        list(Fact.objects.for_user(alice).known_at(NOON))


def test_nobody_knows_what_another_knew(alice: User, bob: User) -> None:
    fact(alice)
    assert said(Fact.objects.for_user(bob).known_at(NOON)) == []
