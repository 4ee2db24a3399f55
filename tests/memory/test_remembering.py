"""What becomes of a statement the model was asked to remember: a proposal, or a truthful no."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from chat.models import Conversation, Message
from chat.utterances import utterance
from memory.embedding import embedder
from memory.models import Fact, KindPolicy
from memory.remembering import WAITS, propose
from memory.source import Utterance

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


def known(user: User, statement: str, **fields: Any) -> Fact:
    vector = embedder().embed([statement])[0].tolist()
    given = {"status": "active", "vector": vector, "embedded_by": embedder().name, **fields}
    return Fact.objects.create(user=user, statement=statement, **given)


def test_a_new_statement_waits_for_review_with_the_words_it_rests_on(alice: User, said: Utterance) -> None:
    assert propose(alice, BEES, said) == WAITS

    fact = Fact.objects.get()
    assert (fact.status, fact.source, fact.quote, fact.message_id) == (
        "proposed",
        "inferred",
        said.text,
        said.message_id,
    )


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

    assert propose(alice, BEES, said) == WAITS


def test_what_bob_knows_does_not_count(alice: User, bob: User, said: Utterance) -> None:
    known(bob, BEES)

    assert propose(alice, BEES, said) == WAITS


def test_the_cost_does_not_grow_with_what_is_known(
    alice: User, said: Utterance, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(50):
        known(alice, f"The user keeps {n} bees in hive number {n}.")

    with django_assert_max_num_queries(8):  # savepoint, owner, nearest, compared, policy, insert, nudge, release
        propose(alice, BEES, said)


def test_what_is_never_to_be_kept_is_not_proposed_either(alice: User, bob: User, said: Utterance) -> None:
    KindPolicy.objects.create(user=bob, subject="fact", rule="never")
    assert propose(alice, BEES, said) == WAITS
    Fact.objects.all().delete()
    KindPolicy.objects.create(user=alice, subject="fact", rule="never")

    assert propose(alice, BEES, said).startswith("It was not stored: ")
    assert not Fact.objects.exists()
