"""A proposal that contradicts a known fact: replace, keep both, or no contradiction; and each can be undone."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from memory.facts.contradiction import CHOICES, load_contradictions
from memory.facts.links import link
from memory.models import Fact, FactLink, ReviewAction
from memory.review.decisions import RefusedError, accept, keep_both, not_a_contradiction, reject, undo
from tests.memory.review.test_decisions import home, propose, row

Relation = FactLink.Relation


@pytest.fixture
def keyed(alice: User) -> tuple[Fact, Fact]:
    """A known home, and another one that waits."""
    return home(alice, "Porto", status=Fact.Status.ACTIVE), home(alice, "Lisbon")


@pytest.fixture
def free(alice: User) -> tuple[Fact, Fact]:
    """Two statements without a key that the librarian linked as contradicting."""
    known = propose(alice, "The user likes the mornings.", status=Fact.Status.ACTIVE)
    newcomer = propose(alice, "The user hates the mornings.")
    link(alice.pk, newcomer.pk, Relation.CONTRADICTS, known.pk, 0.7)
    return known, newcomer


@pytest.fixture(params=["keyed", "free"])
def pair(request: pytest.FixtureRequest) -> tuple[Fact, Fact]:
    """Both ways in which two facts contradict each other."""
    found: tuple[Fact, Fact] = request.getfixturevalue(request.param)
    return found


def links() -> set[tuple[int, str, int, float]]:
    return set(FactLink.objects.values_list("from_fact", "relation", "to_fact", "strength"))


def test_what_is_contradicted_is_found_by_key_and_by_link(keyed: tuple[Fact, Fact], free: tuple[Fact, Fact]) -> None:
    assert load_contradictions([keyed[1], free[1]]) == {keyed[1].pk: keyed[0], free[1].pk: free[0]}


def test_what_was_given_up_meanwhile_contradicts_nothing(alice: User, pair: tuple[Fact, Fact]) -> None:
    reject(pair[0], by=alice)

    assert load_contradictions([pair[1]]) == {}


def test_replace_supersedes_the_known_one(alice: User, pair: tuple[Fact, Fact]) -> None:
    known, newcomer = pair

    accept(newcomer, by=alice)

    known.refresh_from_db()
    newcomer.refresh_from_db()
    assert (known.status, known.superseded_by, newcomer.status) == ("superseded", newcomer, "active")
    assert (newcomer.pk, "supersedes", known.pk, 1.0) in links()


def test_keep_both_leaves_the_known_one_alone_and_relates_them(alice: User, pair: tuple[Fact, Fact]) -> None:
    known, newcomer = pair
    before = row(known)

    keep_both(newcomer, by=alice)

    newcomer.refresh_from_db()
    assert row(known) == before
    assert (newcomer.status, newcomer.key, newcomer.accepted_at is not None) == ("active", "", True)
    assert {one[:3] for one in links()} == {(newcomer.pk, "related_to", known.pk)}


def test_not_a_contradiction_leaves_nothing_between_them(alice: User, pair: tuple[Fact, Fact]) -> None:
    known, newcomer = pair
    before = row(known)

    not_a_contradiction(newcomer, by=alice)

    newcomer.refresh_from_db()
    assert row(known) == before
    assert (newcomer.status, newcomer.key) == ("active", "")
    assert links() == set()


@pytest.mark.parametrize("decide", [accept, keep_both, not_a_contradiction])
def test_undo_restores_both_and_what_was_said_of_them(
    alice: User, pair: tuple[Fact, Fact], decide: Callable[..., ReviewAction]
) -> None:
    before, linked = [row(fact) for fact in pair], links()

    undo(decide(pair[1], by=alice))

    assert [row(fact) for fact in pair] == before
    assert links() == linked


@pytest.mark.parametrize("decide", [keep_both, not_a_contradiction])
def test_what_contradicts_nothing_any_more_is_refused(
    alice: User, pair: tuple[Fact, Fact], decide: Callable[..., Any]
) -> None:
    reject(pair[0], by=alice)
    before = row(pair[1])

    with pytest.raises(RefusedError, match="Nothing that is known contradicts this"):
        decide(pair[1], by=alice)

    assert row(pair[1]) == before


def test_a_key_is_still_held_once_after_both_are_kept(alice: User, keyed: tuple[Fact, Fact]) -> None:
    keep_both(keyed[1], by=alice)

    faro = home(alice, "Faro")
    accept(faro, by=alice)

    active = Fact.objects.for_user(alice).active()
    assert {(fact.value, fact.key) for fact in active} == {("Lisbon", ""), ("Faro", "user/home")}


def test_what_was_kept_beside_another_is_known_from_that_moment(alice: User, keyed: tuple[Fact, Fact]) -> None:
    action = keep_both(keyed[1], by=alice)
    undo(action)

    known = Fact.objects.for_user(alice).known_at(action.created_at)
    assert set(known) == set(keyed), "an undone decision counts for as long as it stood"


def test_every_choice_says_what_it_does() -> None:
    assert [choice.label for choice in CHOICES] == ["Replace", "Keep both", "Not a contradiction"]
    assert all(choice.means.endswith(".") for choice in CHOICES)
    assert len({choice.key for choice in CHOICES}) == len(CHOICES)
