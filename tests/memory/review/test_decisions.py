"""A user decides on a proposal: once, in one transaction, and it can be undone exactly."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.forms.models import model_to_dict

from accounts.models import User
from memory.embeddings.port import embedder
from memory.facts.contradiction import load_contradictions
from memory.facts.links import Relation, link
from memory.facts.withdrawal import TAKEN_BACK
from memory.models import Fact, ReviewAction
from memory.review.decisions import RefusedError, accept, edit, reject, undo

LISBON = "The user's sister Mary lives in Lisbon."
SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def propose(user: User, statement: str = LISBON, **fields: Any) -> Fact:
    vector = embedder().embed([statement])[0].tolist()
    plain = {"reason": "about another person", "confidence": 0.9, "embedded_by": embedder().name}
    fact: Fact = Fact.objects.create(user=user, statement=statement, vector=vector, **{**plain, **fields})
    return fact


def home(user: User, town: str, **fields: Any) -> Fact:
    return propose(user, f"The user lives in {town}.", kind="biography", key="user/home", value=town, **fields)


def row(fact: Fact) -> dict[str, Any]:
    """Every column as stored in the database."""
    fresh = Fact.objects.get(pk=fact.pk)
    return {**model_to_dict(fresh), "vector": fresh.vector, "superseded_by": fresh.superseded_by_id}


DECISIONS: list[Callable[..., ReviewAction]] = [
    accept,
    lambda fact, by: edit(fact, "The user's sister Mary lives in Porto.", by=by),
    reject,
]
decisions = pytest.mark.parametrize("decide", DECISIONS, ids=["accept", "edit", "reject"])


# Accept, edit, reject --------------------------------------------------------------------------------------------


def test_an_accepted_proposal_is_active(alice: User) -> None:
    fact = propose(alice)

    action = accept(fact, by=alice)

    fact.refresh_from_db()
    assert (fact.status, fact.reason, fact.statement) == (Fact.Status.ACTIVE, "accepted by you", LISBON)
    assert (action.verb, action.by, action.fact_id) == ("accept", alice, fact.pk)


def test_an_accepted_keyed_proposal_supersedes_the_one_before(alice: User) -> None:
    porto = home(alice, "Porto", status=Fact.Status.ACTIVE)
    lisbon = home(alice, "Lisbon")

    accept(lisbon, by=alice)

    porto.refresh_from_db()
    assert (porto.status, porto.superseded_by, porto.superseded_at is not None) == ("superseded", lisbon, True)
    assert list(Fact.objects.for_user(alice).guaranteed()) == [Fact.objects.get(pk=lisbon.pk)]


def test_accepting_leaves_other_peoples_and_other_subjects_facts_alone(alice: User, bob: User) -> None:
    others = [
        home(bob, "Porto", status=Fact.Status.ACTIVE),
        propose(alice, "Mary lives in Porto.", kind="person", key="mary/home", status=Fact.Status.ACTIVE),
        propose(alice, "The user has a garden.", kind="biography", status=Fact.Status.ACTIVE),
    ]
    before = [row(fact) for fact in others]

    accept(home(alice, "Lisbon"), by=alice)

    assert [row(fact) for fact in others] == before


def test_an_edited_proposal_is_active_in_the_users_words(alice: User) -> None:
    fact = home(alice, "Lisbon")
    porto = "The user lives in Porto."

    edit(fact, porto, "Porto", by=alice)

    fact.refresh_from_db()
    assert (fact.status, fact.statement, fact.value, fact.source, fact.confidence) == (
        "active",
        porto,
        "Porto",
        "edited",
        1.0,
    )


def test_an_edited_statement_has_a_vector_of_its_own(alice: User) -> None:
    fact = propose(alice, embedded_by="an older model")

    edit(fact, "The user keeps bees.", by=alice)

    fact.refresh_from_db()
    assert fact.embedded_by == embedder().name
    expected = embedder().embed(["The user keeps bees."])[0].tolist()
    assert fact.vector == pytest.approx(expected, abs=1e-3)  # stored in half precision


def test_a_rejected_proposal_stays_as_a_row(alice: User) -> None:
    fact = propose(alice)

    reject(fact, by=alice)

    fact.refresh_from_db()
    assert (fact.status, fact.reason) == (Fact.Status.REJECTED, "rejected by you")


def test_what_was_learned_unasked_can_be_rejected(alice: User) -> None:
    fact = propose(alice, status=Fact.Status.ACTIVE)

    reject(fact, by=alice)

    assert Fact.objects.get(pk=fact.pk).status == Fact.Status.REJECTED


def test_what_had_given_way_to_a_rejected_fact_holds_again(alice: User) -> None:
    aberdeen = home(alice, "Aberdeen", status=Fact.Status.ACTIVE)
    inverness = home(alice, "Inverness")
    accept(inverness, by=alice)
    inverness.refresh_from_db()

    for _ in range(2):
        action = reject(inverness, by=alice)
        assert [fact.statement for fact in Fact.objects.for_user(alice).active()] == [aberdeen.statement]
        undo(action)
        assert list(Fact.objects.for_user(alice).active()) == [inverness]

    assert row(aberdeen)["superseded_by"] == inverness.pk


def test_what_has_another_value_by_now_stays_history_when_its_successor_is_rejected(alice: User) -> None:
    hospital = propose(alice, "The user works at Haukeland hospital.", key="user/employer", status=Fact.Status.ACTIVE)
    quit_it = propose(alice, "The user quit their job at the hospital.")
    link(alice.pk, quit_it.pk, Relation.CONTRADICTS, hospital.pk, 0.9)
    accept(quit_it, by=alice)
    school = propose(alice, "The user works at a primary school.", key="user/employer", status=Fact.Status.ACTIVE)
    quit_it.refresh_from_db()

    action = reject(quit_it, by=alice)

    assert (row(quit_it)["status"], row(hospital)["status"]) == ("rejected", "superseded")
    assert list(Fact.objects.for_user(alice).active()) == [school]
    undo(action)
    assert row(quit_it)["status"] == "active"


def test_what_the_user_took_back_stays_so_when_its_successor_is_rejected(alice: User) -> None:
    inverness = home(alice, "Inverness", status=Fact.Status.ACTIVE)
    aberdeen = home(alice, "Aberdeen", status="superseded", superseded_by=inverness, reason=TAKEN_BACK)

    reject(inverness, by=alice)

    assert row(aberdeen)["status"] == "superseded"


def test_a_decision_of_staff_says_so(alice: User, charlie: User) -> None:
    fact = propose(alice)

    action = accept(fact, by=charlie)

    fact.refresh_from_db()
    assert (fact.reason, action.by, action.user) == ("accepted by staff", charlie, alice)


@decisions
def test_every_decision_tells_the_users_pages(
    alice: User, decide: Callable[..., ReviewAction], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr("memory.review.undo.publish_event", lambda group, kind: told.append((group, kind)))

    undo(decide(propose(alice), by=alice))

    assert told == [(f"user-{alice.pk}", "memory")] * 2


# Once ------------------------------------------------------------------------------------------------------------


@decisions
@pytest.mark.parametrize("status", ["superseded", "rejected", "expired", "archived"])
def test_what_no_longer_waits_is_refused_with_a_sentence(
    alice: User, decide: Callable[..., ReviewAction], status: str
) -> None:
    fact = propose(alice, status=status)
    before = row(fact)

    with pytest.raises(RefusedError, match=f"changed: it is now {fact.get_status_display().lower()}"):
        decide(fact, by=alice)

    assert row(fact) == before
    assert not ReviewAction.objects.exists()


@decisions
def test_a_double_click_decides_once(alice: User, decide: Callable[..., ReviewAction]) -> None:
    fact = propose(alice)

    decide(fact, by=alice)
    with pytest.raises(RefusedError):
        decide(fact, by=alice)

    assert ReviewAction.objects.count() == 1


def test_a_fact_that_is_gone_is_refused(alice: User) -> None:
    fact = propose(alice)
    Fact.objects.filter(pk=fact.pk).delete()

    with pytest.raises(RefusedError, match="no longer exists"):
        accept(fact, by=alice)


# Undo ------------------------------------------------------------------------------------------------------------


@decisions
def test_undo_restores_every_column(alice: User, decide: Callable[..., ReviewAction]) -> None:
    porto = home(alice, "Porto", status=Fact.Status.ACTIVE, reason="you said so")
    lisbon = home(alice, "Lisbon", tokens=7, embedded_by="an older model")
    before = [row(porto), row(lisbon)]

    action = decide(lisbon, by=alice)
    assert [row(porto), row(lisbon)] != before
    undo(action)

    assert [row(porto), row(lisbon)] == before


def test_undo_restores_what_had_been_superseded_at_an_earlier_time(alice: User) -> None:
    fact = propose(alice, status=Fact.Status.ACTIVE, superseded_at=SINCE)
    before = row(fact)

    undo(reject(fact, by=alice))

    assert row(fact) == before


def test_undone_and_decided_again_ends_as_decided(alice: User) -> None:
    fact = propose(alice)

    undo(accept(fact, by=alice))
    reject(fact, by=alice)

    assert Fact.objects.get(pk=fact.pk).status == Fact.Status.REJECTED


def test_a_decision_is_undone_once(alice: User) -> None:
    action = accept(propose(alice), by=alice)

    undo(action)
    with pytest.raises(RefusedError, match="already undone"):
        undo(action)


def test_a_fact_that_was_superseded_since_is_not_put_back(alice: User) -> None:
    first = home(alice, "Porto")
    action = accept(first, by=alice)
    accept(home(alice, "Lisbon"), by=alice)

    with pytest.raises(RefusedError, match="changed since"):
        undo(action)

    assert Fact.objects.get(pk=first.pk).status == Fact.Status.SUPERSEDED


def test_decisions_are_undone_from_the_last_one_back(alice: User) -> None:
    first, second = home(alice, "Porto"), home(alice, "Lisbon")
    before = [row(first), row(second)]
    actions = [accept(first, by=alice), accept(second, by=alice)]

    for action in reversed(actions):
        undo(action)

    assert [row(first), row(second)] == before


def test_a_later_decision_on_the_same_fact_must_be_undone_first(alice: User) -> None:
    fact = propose(alice)
    accepted = accept(fact, by=alice)
    undone = reject(fact, by=alice)
    undo(undone)
    reject(fact, by=alice)

    with pytest.raises(RefusedError, match="changed since"):
        undo(accepted)


def test_a_rejected_fact_whose_key_was_taken_meanwhile_is_not_put_back(alice: User) -> None:
    porto = home(alice, "Porto", status=Fact.Status.ACTIVE)
    action = reject(porto, by=alice)
    home(alice, "Lisbon", status=Fact.Status.ACTIVE)

    with pytest.raises(RefusedError, match="just replaced this one"):
        undo(action)

    assert Fact.objects.get(pk=porto.pk).status == Fact.Status.REJECTED


def test_what_was_forgotten_meanwhile_is_not_undone(alice: User) -> None:
    fact = propose(alice)
    action = accept(fact, by=alice)
    fact.delete()

    with pytest.raises(RefusedError, match="changed since"):
        undo(action)


# Races -----------------------------------------------------------------------------------------------------------


def at_once(*calls: Callable[[], object]) -> list[str]:
    """Run each call in its own thread, all starting together; returns their results."""
    start, outcomes = threading.Barrier(len(calls)), []

    def run(call: Callable[[], object]) -> None:
        start.wait()
        try:
            call()
            outcomes.append("done")
        except RefusedError:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return sorted(outcomes)


@pytest.mark.django_db(transaction=True)
def test_of_two_clicks_at_once_one_decides(transactional_db: None, alice: User) -> None:
    fact = propose(alice)

    assert at_once(*[lambda: accept(fact, by=alice)] * 4) == ["done", "refused", "refused", "refused"]
    assert ReviewAction.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_rival_proposals_for_one_key_accepted_at_once_one_is_active(transactional_db: None, alice: User) -> None:
    home(alice, "Faro", status=Fact.Status.ACTIVE)
    rivals = [home(alice, town) for town in ("Porto", "Lisbon", "Braga", "Évora")]

    outcomes = at_once(*[lambda fact=fact: accept(fact, by=alice) for fact in rivals])

    assert len(outcomes) == 4
    assert Fact.objects.for_user(alice).filter(key="user/home", status=Fact.Status.ACTIVE).count() == 1
    decided = Fact.objects.filter(pk__in=[fact.pk for fact in rivals]).exclude(status=Fact.Status.PROPOSED)
    assert decided.count() == outcomes.count("done") == ReviewAction.objects.count()


@pytest.mark.django_db(transaction=True)
def test_of_two_undos_at_once_one_happens(transactional_db: None, alice: User) -> None:
    action = accept(propose(alice), by=alice)

    assert at_once(*[lambda: undo(action)] * 4) == ["done", "refused", "refused", "refused"]


# Beside it -------------------------------------------------------------------------------------------------------


def test_what_proposals_would_supersede_is_found_for_all_in_two_queries(
    alice: User, bob: User, django_assert_num_queries: Any
) -> None:
    porto = home(alice, "Porto", status=Fact.Status.ACTIVE)
    home(bob, "Faro", status=Fact.Status.ACTIVE)
    proposals = [home(alice, "Lisbon"), home(alice, "Braga"), propose(alice)]

    with django_assert_num_queries(2):
        older = load_contradictions(proposals)

    assert older == {proposals[0].pk: porto, proposals[1].pk: porto}
