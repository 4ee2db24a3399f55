"""Many proposals are decided with one click and undone with one; changes made meanwhile block nothing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from memory.models import Fact, ReviewAction
from memory.review import bulk_review
from memory.review.bulk_review import batch_of, decide_batch, undo_batch
from memory.review.decisions import RefusedError, accept, reject, undo
from tests.memory.review.test_decisions import at_once, home, propose, row

ACCEPT, REJECT = ReviewAction.Verb.ACCEPT, ReviewAction.Verb.REJECT


@pytest.fixture
def many(alice: User) -> list[Fact]:
    return [propose(alice, f"Proposal {number}.") for number in range(5)]


def states(facts: list[Fact]) -> list[str]:
    by_id = dict(Fact.objects.filter(pk__in=[fact.pk for fact in facts]).values_list("pk", "status"))
    return [by_id[fact.pk] for fact in facts]


@pytest.mark.parametrize(("verb", "state"), [(ACCEPT, "active"), (REJECT, "rejected")])
def test_all_are_decided_as_one_batch_and_undone_as_one(
    alice: User, many: list[Fact], verb: ReviewAction.Verb, state: str
) -> None:
    before = [row(fact) for fact in many]

    outcome = decide_batch(many, verb, by=alice)
    assert states(many) == [state] * 5
    action = ReviewAction.objects.get(pk=outcome.actions[2].pk)
    assert len(batch_of(action)) == 5

    facts, refusals = undo_batch(batch_of(action))
    assert (len(facts), refusals) == (5, [])
    assert [row(fact) for fact in many] == before


def test_what_was_decided_elsewhere_meanwhile_is_left_out_and_told(alice: User, many: list[Fact]) -> None:
    reject(many[1], by=alice)

    outcome = decide_batch(many, ACCEPT, by=alice)

    assert states(many) == ["active", "rejected", "active", "active", "active"]
    assert outcome.refusals == ["This fact has changed: it is now rejected."]


def test_what_was_decided_again_since_stays_and_the_rest_is_undone(alice: User, many: list[Fact]) -> None:
    outcome = decide_batch(many, ACCEPT, by=alice)
    reject(many[0], by=alice)

    facts, refusals = undo_batch(batch_of(ReviewAction.objects.get(pk=outcome.actions[0].pk)))

    assert (len(facts), len(refusals)) == (4, 1)
    assert states(many) == ["rejected", *["proposed"] * 4]


def test_of_rivals_for_a_key_the_last_holds_and_undo_restores_the_first(alice: User) -> None:
    faro = home(alice, "Faro", status=Fact.Status.ACTIVE)
    rivals = [home(alice, "Porto"), home(alice, "Lisbon")]
    before = [row(fact) for fact in (faro, *rivals)]

    outcome = decide_batch(rivals, ACCEPT, by=alice)
    assert states([faro, *rivals]) == ["superseded", "superseded", "active"]

    undo_batch(batch_of(ReviewAction.objects.get(pk=outcome.actions[0].pk)))
    assert [row(fact) for fact in (faro, *rivals)] == before


def test_nothing_and_too_many_are_refused(alice: User, many: list[Fact], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_review, "MAX_AT_ONCE", 4)
    for facts, why in (([], "Nothing is selected"), (many, "Nothing was changed")):
        with pytest.raises(RefusedError, match=why):
            decide_batch(facts, REJECT, by=alice)
    assert states(many) == ["proposed"] * 5


def test_each_person_takes_back_what_is_theirs_of_a_click_of_staff(alice: User, bob: User, charlie: User) -> None:
    theirs = [propose(alice), propose(bob)]
    first = decide_batch(theirs, REJECT, by=charlie).actions[0]

    undo_batch(batch_of(ReviewAction.objects.get(pk=first.pk)))

    assert states(theirs) == ["proposed", "rejected"]


@pytest.mark.parametrize(("days", "is_undone"), [(29, True), (31, False)])
def test_everything_can_be_undone_for_thirty_days(alice: User, days: int, is_undone: bool) -> None:
    fact = propose(alice)
    action = accept(fact, by=alice)
    ReviewAction.objects.filter(pk=action.pk).update(created_at=timezone.now() - timedelta(days=days))

    if is_undone:
        undo(action)
    else:
        with pytest.raises(RefusedError, match="more than 30 days ago"):
            undo(action)
    assert states([fact]) == ["proposed" if is_undone else "active"]


@pytest.mark.django_db(transaction=True)
def test_two_clicks_on_the_same_many_wait_for_one_another(transactional_db: None, alice: User) -> None:
    facts = [home(alice, "Faro", status=Fact.Status.ACTIVE), *(home(alice, f"Town {n}") for n in range(4))]
    chosen = facts[1:]

    at_once(
        lambda: decide_batch(chosen, ACCEPT, by=alice),
        lambda: decide_batch(list(reversed(chosen)), REJECT, by=alice),
        lambda: decide_batch(chosen, ACCEPT, by=alice),
    )

    assert ReviewAction.objects.values("batch").distinct().count() in (1, 2)
    assert Fact.objects.for_user(alice).filter(status=Fact.Status.PROPOSED).count() == 0
    assert Fact.objects.for_user(alice).filter(key="user/home", status=Fact.Status.ACTIVE).count() <= 1
