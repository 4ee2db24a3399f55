"""Several proposals and facts become one: nothing is lost, and it can be undone."""

from datetime import timedelta

import pytest

from accounts.models import User
from memory.embeddings.port import embedder
from memory.models import Fact, FactLink
from memory.review.decisions import RefusedError, reject, undo
from memory.review.merge import merge
from tests.memory.review.test_decisions import home, propose, row

BEES, HIVES = "The user keeps bees.", "The user has three hives."
BOTH = "The user keeps bees in three hives."


@pytest.fixture
def two(alice: User) -> list[Fact]:
    return [
        propose(alice, BEES, importance=0.4, confidence=0.7, tags=["garden"]),
        propose(alice, HIVES, importance=0.9, confidence=0.8, tags=["bees", "garden"]),
    ]


def test_the_chosen_wording_stays_and_supersedes_the_others(alice: User, two: list[Fact]) -> None:
    action = merge(two, two[1], by=alice)

    bees, hives = (Fact.objects.get(pk=fact.pk) for fact in two)
    assert (hives.statement, hives.status, hives.reason) == (HIVES, "active", "merged from 2 by you")
    assert (bees.status, bees.superseded_by, bees.reason) == ("superseded", hives, "merged into another by you")
    assert FactLink.objects.filter(from_fact=hives, to_fact=bees, relation="supersedes").exists()
    assert (action.verb, action.fact_id) == ("merge", hives.pk)


def test_what_stays_has_the_best_of_them(alice: User, two: list[Fact]) -> None:
    merge(two, two[0], by=alice)

    stays = Fact.objects.get(pk=two[0].pk)
    assert (stays.importance, stays.confidence, stays.tags) == (0.9, 0.8, ["garden", "bees"])


def test_a_typed_wording_is_the_users_own(alice: User, two: list[Fact]) -> None:
    merge(two, two[0], BOTH, by=alice)

    stays = Fact.objects.get(pk=two[0].pk)
    assert (stays.statement, stays.source, stays.confidence) == (BOTH, "edited", 1.0)
    assert stays.vector == pytest.approx(embedder().embed([BOTH])[0].tolist(), abs=1e-3)


def test_the_key_of_a_known_fact_goes_over(alice: User) -> None:
    porto = home(alice, "Porto", status=Fact.Status.ACTIVE)
    words = propose(alice, "The user has a flat in Porto.", kind="fact")

    merge([porto, words], words, by=alice)

    words.refresh_from_db()
    assert (words.kind, words.key, words.value) == ("biography", "user/home", "Porto")
    assert list(Fact.objects.for_user(alice).guaranteed()) == [words]


def test_a_known_holder_of_the_key_gives_way_as_by_accepting(alice: User) -> None:
    faro = home(alice, "Faro", status=Fact.Status.ACTIVE)
    proposals = [home(alice, "Porto"), propose(alice, "The user has a flat in Porto.")]

    merge(proposals, proposals[1], by=alice)

    faro.refresh_from_db()
    assert (faro.status, faro.superseded_by_id) == ("superseded", proposals[1].pk)


def test_undo_restores_every_column_of_all(alice: User, two: list[Fact]) -> None:
    facts = [*two, propose(alice, "The user sells honey.", status=Fact.Status.ACTIVE)]
    before = [row(fact) for fact in facts]

    action = merge(facts, facts[0], BOTH, by=alice)
    assert [row(fact) for fact in facts] != before
    undo(action)

    assert [row(fact) for fact in facts] == before
    assert not FactLink.objects.exists()


def test_a_proposal_merged_away_was_never_known(alice: User, two: list[Fact]) -> None:
    merge(two, two[1], by=alice)

    gone = Fact.objects.get(pk=two[0].pk)
    assert gone.superseded_at is not None
    for moment in (gone.superseded_at, gone.superseded_at - timedelta(microseconds=1)):
        assert gone not in Fact.objects.for_user(alice).known_at(moment)


def refused(facts: list[Fact], why: str, by: User) -> None:
    before = [row(fact) for fact in facts]
    with pytest.raises(RefusedError, match=why):
        merge(facts, facts[0], by=by)
    assert [row(fact) for fact in facts] == before


def test_one_alone_is_not_merged(alice: User, two: list[Fact]) -> None:
    refused(two[:1], "at least two", alice)


def test_different_keys_are_not_merged(alice: User) -> None:
    name = propose(alice, "The user is called Alice.", kind="identity", key="user/name", value="Alice")
    refused([home(alice, "Porto"), name], "different profile entries", alice)


def test_several_pastimes_become_one_fact_without_a_key(alice: User) -> None:
    chess, tuba = (
        Fact.objects.create(
            user=alice, statement=f"The user plays {what}.", status="active", key=f"user/pastime:{what}", value="yes"
        )
        for what in ("chess", "tuba")
    )

    merge([chess, tuba], chess, "The user plays chess and the tuba.", by=alice)

    chess.refresh_from_db()
    assert (chess.statement, chess.key, chess.value) == ("The user plays chess and the tuba.", "", "")


def test_what_was_decided_meanwhile_is_not_merged(alice: User, two: list[Fact]) -> None:
    reject(two[1], by=alice)
    refused(two, "changed: it is now rejected", alice)


def test_facts_of_two_people_are_never_merged(alice: User, bob: User, charlie: User, two: list[Fact]) -> None:
    refused([two[0], propose(bob, HIVES)], "different users", charlie)
