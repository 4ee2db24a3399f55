"""Facts of one user are linked: which superseded which, which contradict each other, and which are close."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from chat.models import Conversation, Message
from memory.facts.links import (
    GAVE_WAY,
    MAX_STEPS,
    link,
    link_superseded,
    mark_superseded,
    neighbors,
    unlink,
)
from memory.librarian import run as librarian
from memory.librarian.commit import MAX_LINK_STRENGTH
from memory.librarian.engine import Extraction, ExtractionInput, ProposedFact, Relation
from memory.models import Fact, FactLink
from memory.models.kinds import Kind
from memory.review.decisions import accept, edit, undo

LINK = FactLink.Relation


def fact(user: User, statement: str = "The user keeps bees.", **fields: Any) -> Fact:
    made: Fact = Fact.objects.create(user=user, statement=statement, **{"status": Fact.Status.ACTIVE, **fields})
    return made


def links(user: User) -> list[tuple[int, str, int]]:
    found = FactLink.objects.for_user(user).order_by("pk")
    return [(one.from_fact_id, one.relation, one.to_fact_id) for one in found]


# Linking ---------------------------------------------------------------------------------------------------------


def test_of_two_sayings_of_one_link_the_stronger_counts(alice: User) -> None:
    one, other = fact(alice), fact(alice)
    for strength in (0.4, 0.9, 0.2):
        link(alice.pk, one.pk, LINK.DEPENDS_ON, other.pk, strength)
    assert FactLink.objects.get().strength == 0.9
    link(alice.pk, other.pk, LINK.DEPENDS_ON, one.pk, 0.1)
    link(alice.pk, one.pk, LINK.PART_OF, other.pk, 0.1)
    assert FactLink.objects.count() == 3


def test_a_user_removes_what_they_may_state_and_no_more(alice: User, bob: User) -> None:
    one, other = fact(alice), fact(alice)
    for relation in (LINK.PART_OF, LINK.CONTRADICTS):
        link(alice.pk, one.pk, relation, other.pk, 0.5)
    assert not unlink(bob, one.pk, other.pk)
    assert unlink(alice, other.pk, one.pk)
    assert links(alice) == [(one.pk, LINK.CONTRADICTS, other.pk)]
    assert not unlink(alice, one.pk, other.pk)


def test_nothing_is_linked_to_itself_or_to_another_persons_fact(alice: User, bob: User) -> None:
    mine, his = fact(alice), fact(bob)
    link(alice.pk, mine.pk, LINK.RELATED_TO, mine.pk, 0.5)
    link(alice.pk, mine.pk, LINK.RELATED_TO, his.pk, 0.5)
    link(bob.pk, mine.pk, LINK.RELATED_TO, his.pk, 0.5)
    link(alice.pk, mine.pk, LINK.RELATED_TO, 10**9, 0.5)
    assert not FactLink.objects.exists()


def test_the_database_refuses_a_link_to_itself_and_a_strength_beyond_1(alice: User) -> None:
    one, other = fact(alice), fact(alice)
    for fields in ({"to_fact": one}, {"to_fact": other, "strength": 1.1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            FactLink.objects.create(user=alice, from_fact=one, **fields)


def test_links_go_with_their_facts(alice: User) -> None:
    one, other = fact(alice), fact(alice)
    link(alice.pk, one.pk, LINK.CAUSED_BY, other.pk, 0.5)
    other.delete()
    assert links(alice) == []


# Near ------------------------------------------------------------------------------------------------------------


def near(user: User, one: Fact, steps: int) -> dict[int, int]:
    return {found.fact.pk: found.steps for found in neighbors(user, one, steps)}


def test_neighbours_lie_in_either_direction_the_nearest_first(alice: User) -> None:
    a, b, c, d, e = (fact(alice, name) for name in "abcde")
    link(alice.pk, a.pk, LINK.RELATED_TO, b.pk, 0.5)
    link(alice.pk, c.pk, LINK.DEPENDS_ON, b.pk, 0.5)
    link(alice.pk, c.pk, LINK.PART_OF, d.pk, 0.5)
    link(alice.pk, d.pk, LINK.PART_OF, e.pk, 0.5)
    link(alice.pk, d.pk, LINK.RELATED_TO, a.pk, 0.9)
    assert near(alice, a, 1) == {b.pk: 1, d.pk: 1}
    assert near(alice, a, 2) == {b.pk: 1, d.pk: 1, c.pk: 2, e.pk: 2}
    assert [found.fact.statement for found in neighbors(alice, a, 1)] == ["d", "b"], "the strongest link first"
    assert near(alice, a, 0) == {}


def test_the_steps_have_a_limit(alice: User, django_assert_max_num_queries: Any) -> None:
    chain = [fact(alice, f"Fact {number}.") for number in range(8)]
    for one, other in pairwise(chain):
        link(alice.pk, one.pk, LINK.RELATED_TO, other.pk, 0.5)
    with django_assert_max_num_queries(MAX_STEPS + 1):
        assert max(near(alice, chain[0], 99).values()) == MAX_STEPS


def test_bob_sees_no_neighbours_of_alices_facts(alice: User, bob: User) -> None:
    one, other = fact(alice), fact(alice)
    link(alice.pk, one.pk, LINK.RELATED_TO, other.pk, 0.5)
    assert near(bob, one, 3) == {}


@given(pairs=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16), steps=st.integers(1, MAX_STEPS))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_neighbours_are_those_a_walk_of_so_many_steps_reaches(
    alice: User, pairs: list[tuple[int, int]], steps: int
) -> None:
    with transaction.atomic():
        nodes = [fact(alice, f"Fact {number}.") for number in range(8)]
        for one, other in pairs:
            link(alice.pk, nodes[one].pk, LINK.RELATED_TO, nodes[other].pk, 0.5)
        walked, border = {0: 0}, {0}
        for step in range(1, steps + 1):
            reached = {b for a, b in (*pairs, *((b, a) for a, b in pairs)) if a in border} - set(walked)
            walked |= dict.fromkeys(reached, step)
            border = reached
        expected = {nodes[number].pk: step for number, step in walked.items() if number}
        assert near(alice, nodes[0], steps) == expected
        transaction.set_rollback(True)


# Taking a place --------------------------------------------------------------------------------------------------


def test_what_takes_a_place_is_linked_to_what_gave_way(alice: User) -> None:
    old = fact(alice, key="user/home", kind="biography")
    now = timezone.now()
    mark_superseded([old.pk], at=now)
    new = fact(alice, key="user/home", kind="biography")
    link_superseded(new, [old.pk])
    old.refresh_from_db()
    assert (old.status, old.reason, old.superseded_at, old.superseded_by) == ("superseded", GAVE_WAY, now, new)
    assert links(alice) == [(new.pk, "supersedes", old.pk)]


@pytest.mark.parametrize("words", [None, "The user lives in Porto now."])
def test_accepting_links_and_undoing_unlinks(alice: User, words: str | None) -> None:
    old = fact(alice, key="user/home", kind="biography")
    new = fact(alice, "The user lives in Porto.", key="user/home", kind="biography", status="proposed")
    action = accept(new, by=alice) if words is None else edit(new, words, by=alice)
    assert links(alice) == [(new.pk, "supersedes", old.pk)]
    undo(action)
    assert links(alice) == []


# What the librarian links ----------------------------------------------------------------------------------------


def read(
    user: User,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    *,
    meanwhile: Callable[[], object] = lambda: None,
    **fields: Any,
) -> None:
    """Have one message read by an engine that proposes one fact from it, while something else happens."""
    conversation = Conversation.objects.create(user=user, next_seq=2)
    message = Message.objects.create(
        user=user, conversation=conversation, seq=1, turn=1, role="user", event_type="user_message", text=text
    )
    Conversation.objects.filter(pk=conversation.pk).update(active_leaf=message)
    plain: dict[str, Any] = {"statement": text, "kind": Kind.PREFERENCE, "confidence": 0.9, "importance": 0.6}
    proposal = ProposedFact(number=1, **{"quote": text, **plain, **fields})

    class Scripted:
        version, max_duration, uses_tokens = "scripted/1", librarian.RETRY_AFTER[0], False

        def extract(self, reading: ExtractionInput) -> Extraction:
            meanwhile()
            related = reading.known[0].number if reading.known else 1
            relation = proposal.relation
            return Extraction([proposal.model_copy(update={"related_to": related if relation != "none" else None})])

    monkeypatch.setattr(librarian, "choose_engine", Scripted)
    run = librarian.request_reading(user.pk, conversation.pk, 1, 1, "ended")
    assert run is not None
    librarian.run_extraction(run.pk)


HOME: dict[str, Any] = {"kind": Kind.BIOGRAPHY, "attribute": "home"}


def test_a_newer_value_of_a_key_is_linked_to_the_one_it_supersedes(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    read(alice, monkeypatch, "I live in Lisbon.", **HOME, value="Lisbon")
    read(alice, monkeypatch, "I live in Porto.", **HOME, value="Porto")
    old, new = Fact.objects.order_by("pk")
    assert links(alice) == [(new.pk, "supersedes", old.pk)]


def test_a_proposal_beside_what_is_known_contradicts_it(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    read(alice, monkeypatch, "I live in Lisbon.", **HOME, value="Lisbon", confidence=1.0)
    read(alice, monkeypatch, "I live in Porto.", **HOME, value="Porto")
    known, beside = Fact.objects.order_by("pk")
    assert (known.status, beside.status) == ("active", "proposed")
    assert links(alice) == [(beside.pk, "contradicts", known.pk)]
    assert FactLink.objects.get().strength == 0.9


def test_a_free_fact_that_contradicts_another_is_linked_to_it(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    read(alice, monkeypatch, "I like jazz.")
    read(alice, monkeypatch, "Jazz bores me.", relation=Relation.CONTRADICTS)
    known, beside = Fact.objects.order_by("pk")
    assert links(alice) == [(beside.pk, "contradicts", known.pk)]


@pytest.mark.parametrize("relation", [Relation.PART_OF, Relation.DEPENDS_ON, Relation.CAUSED_BY, Relation.RELATED_TO])
def test_facts_that_hang_together_are_linked_and_both_stand(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any], relation: Relation
) -> None:
    read(alice, monkeypatch, "I teach chemistry in Hull.")
    read(alice, monkeypatch, "We moved to Hull for my job.", relation=relation)
    job, move = Fact.objects.order_by("pk")
    assert (job.status, move.status) == ("active", "active")
    assert links(alice) == [(move.pk, relation.value, job.pk)]
    assert FactLink.objects.get().strength == MAX_LINK_STRENGTH


@pytest.mark.parametrize("status", ["rejected", "superseded", "archived"])
def test_what_was_given_up_while_the_engine_read_is_linked_with_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any], status: str
) -> None:
    bees = Fact.objects.filter(pk=fact(alice, "The user keeps bees.").pk)
    given_up = partial(bees.update, status=status)
    read(alice, monkeypatch, "Honey is my hobby.", relation=Relation.PART_OF, meanwhile=given_up)
    assert links(alice) == []


def test_nobody_elses_fact_is_linked(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    fact(bob, "The user keeps bees.")
    read(alice, monkeypatch, "Honey is my hobby.", relation=Relation.PART_OF)
    assert FactLink.objects.count() == 0


def test_what_was_inferred_and_is_now_said_rests_on_the_persons_own_words(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    imported = fact(alice, "I like jazz.", kind="preference", source="imported", status="archived")
    reworded = fact(alice, "I like tea.", kind="preference", source="edited", quote="Tea it is.")
    read(alice, monkeypatch, "I like jazz.")
    read(alice, monkeypatch, "I like tea.")
    imported.refresh_from_db()
    reworded.refresh_from_db()
    assert (imported.status, imported.source, imported.quote) == ("active", "stated", "I like jazz.")
    assert imported.message is not None
    assert (reworded.source, reworded.quote, reworded.message) == ("edited", "Tea it is.", None)


def test_what_contradicts_a_fact_is_no_part_of_it(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    read(alice, monkeypatch, "I live in Lisbon.", **HOME, value="Lisbon", confidence=1.0)
    read(alice, monkeypatch, "I live in Porto.", **HOME, value="Porto", relation=Relation.RELATED_TO)
    known, beside = Fact.objects.order_by("pk")
    assert links(alice) == [(beside.pk, "contradicts", known.pk)]


def test_what_the_person_never_said_is_linked_with_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    fact(alice, "The user keeps bees.")
    read(alice, monkeypatch, "Honey is my hobby.", relation=Relation.PART_OF, quote="Wax is my hobby.")
    assert Fact.objects.filter(status="proposed").count() == 1
    assert links(alice) == []
