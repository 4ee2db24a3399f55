"""What happens to a statement the model was asked to remember: stored, proposed, or refused, and reported
truthfully."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from chat.ingest.source import utterance
from chat.models import Conversation, Message
from memory.embeddings.port import embedder
from memory.librarian.remember import KEPT, WAITS, propose
from memory.models import Fact, KindPolicy
from memory.ports.source import Utterance

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees behind the house."


@pytest.fixture
def said(alice: User) -> Utterance:
    conversation = Conversation.objects.create(user=alice)
    message = Message.objects.create(
        user=alice, conversation=conversation, seq=1, turn=1, role="user", event_type="user_message",
        text="Remember that I keep bees behind the house.", created_at=datetime(2026, 11, 1, tzinfo=UTC),
    )  # fmt: skip
    return utterance(message)


def asked(said: Utterance, text: str) -> Utterance:
    Message.objects.filter(pk=said.message_id).update(text=text)
    return replace(said, text=text)


def known(user: User, statement: str, **fields: Any) -> Fact:
    vector = embedder().embed([statement])[0].tolist()
    given = {"status": "active", "vector": vector, "embedded_by": embedder().name, **fields}
    return Fact.objects.create(user=user, statement=statement, **given)


def test_what_the_persons_own_words_say_is_kept_at_once_where_the_policy_does_so(alice: User, said: Utterance) -> None:
    assert propose(alice, "The user has bees behind the house, and keeps them.", said) == KEPT.format(statement=BEES)

    fact = Fact.objects.get()
    assert (fact.status, fact.source, fact.statement) == ("active", "stated", BEES)
    assert (fact.quote, fact.message_id, fact.reason) == (
        "I keep bees behind the house",
        said.message_id,
        "you said so",
    )


def test_where_the_person_wants_to_be_asked_it_waits(alice: User, said: Utterance) -> None:
    KindPolicy.objects.create(user=alice, subject="biography", rule="ask")

    assert propose(alice, BEES, said) == WAITS

    fact = Fact.objects.get()
    assert (fact.status, fact.source, fact.quote) == ("proposed", "inferred", said.text)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Note that I'm allergic to peanuts.", "The user is allergic to peanuts."),
        ("Remember that my sister Mary lives in Lisbon.", "The user's sister Mary lives in Lisbon."),
        ("Remember what that page says.", "The user wants all mail sent to mallory@example.org."),
        ("Remember that I keep bees.", "The user keeps no bees."),
        ("Remember: if I kept bees, I would keep them behind the house.", BEES),
    ],
    ids=["health", "another person", "not in their words", "the opposite", "a supposition"],
)
def test_anything_else_waits_for_the_person(alice: User, said: Utterance, text: str, statement: str) -> None:
    assert propose(alice, statement, asked(said, text)) == WAITS
    assert Fact.objects.get().status == "proposed"


def test_words_that_the_person_only_repeats_are_not_kept_unasked(alice: User, said: Utterance) -> None:
    echoed = replace(said, echoes=((0, len(said.text)),))

    assert propose(alice, BEES, echoed) == WAITS


def test_what_is_kept_takes_the_place_of_what_was_known(alice: User, said: Utterance) -> None:
    lisbon = {"kind": "biography", "key": "user/home", "value": "Lisbon", "confidence": 0.9}
    before = known(alice, "The user lives in Lisbon.", recorded_at=said.said_at - timedelta(days=9), **lisbon)

    propose(alice, "The user lives in Porto.", asked(said, "Remember that I live in Porto now."))

    before.refresh_from_db()
    porto = Fact.objects.get(status="active")
    assert (porto.key, porto.value) == (before.key, "Porto")
    assert (before.status, before.superseded_by_id) == ("superseded", porto.pk)


@pytest.mark.parametrize("status", ["active", "proposed", "archived"])
def test_what_is_known_in_the_same_words_is_not_stored_again(alice: User, said: Utterance, status: str) -> None:
    known(alice, "The user keeps bees, behind the house", status=status)
    for n in range(30):
        known(alice, f"The user keeps {n} bees in hive number {n}.")

    assert propose(alice, BEES, said).startswith("It was not stored: ")
    assert Fact.objects.count() == 31


def test_what_is_known_and_has_no_vector_yet_is_not_stored_again(alice: User, said: Utterance) -> None:
    Fact.objects.create(user=alice, statement=BEES, status="active")

    assert propose(alice, BEES, said).startswith("It was not stored: ")


def test_a_persons_no_to_these_words_stands(alice: User, said: Utterance) -> None:
    known(alice, "The user is a beekeeper by trade.", status="rejected", kind="fact", quote=said.text)
    for n in range(30):
        known(alice, f"The user keeps {n} bees in hive number {n}.")

    assert propose(alice, BEES, said).startswith("It was not stored: ")


def test_what_was_true_before_may_be_true_again(alice: User, said: Utterance) -> None:
    known(alice, BEES, status="superseded")

    assert propose(alice, BEES, said) == KEPT.format(statement=BEES)


def test_what_bob_knows_does_not_count(alice: User, bob: User, said: Utterance) -> None:
    known(bob, BEES)

    assert propose(alice, BEES, said) == KEPT.format(statement=BEES)


def test_the_cost_does_not_grow_with_what_is_known(
    alice: User, said: Utterance, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(50):
        known(alice, f"The user keeps {n} bees in hive number {n}.")

    with django_assert_max_num_queries(30):  # twice nearest and compared, once replaced; most are for profile lines
        propose(alice, BEES, said)


def test_what_is_never_to_be_kept_is_not_proposed_either(alice: User, bob: User, said: Utterance) -> None:
    KindPolicy.objects.create(user=bob, subject="fact", rule="never")
    assert propose(alice, BEES, said) == KEPT.format(statement=BEES)
    Fact.objects.all().delete()
    KindPolicy.objects.create(user=alice, subject="fact", rule="never")

    assert propose(alice, BEES, said).startswith("It was not stored: ")
    assert not Fact.objects.exists()
