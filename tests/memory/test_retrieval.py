"""A question brings back the user's own facts by meaning and by words, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from accounts.models import User
from memory.embedding import embedder
from memory.models import Fact
from memory.ranking import SEED
from memory.retrieval import LEG_LIMIT, QUESTION_ENDS, Recollection, ends, in_third_person, mark_used, recall

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

SISTER = "The user's sister Mary lives in Lisbon."
PEANUTS = "The user is allergic to peanuts."
OTHERS = ["The user keeps bees.", "The user drives an old Volvo.", "The user studied chemistry at Leeds."]


def remember(user: User, *statements: str, **fields: Any) -> list[Fact]:
    """Active facts with their vectors."""
    vectors = embedder().embed(statements)
    fields = {"status": Fact.Status.ACTIVE, "recorded_at": NOW - timedelta(days=40), **fields}
    facts: list[Fact] = Fact.objects.bulk_create(
        Fact(user=user, statement=said, vector=vector.tolist(), embedded_by=embedder().name, **fields)
        for said, vector in zip(statements, vectors, strict=True)
    )
    return facts


def texts(recollection: Recollection) -> list[str]:
    return [item.text for item in recollection.kept]


# What comes back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question", ["Where does my sister live?", "where does mary live", "Do I have family in Portugal?"]
)
def test_a_question_finds_the_statement_that_answers_it(alice: User, question: str) -> None:
    remember(alice, *OTHERS, SISTER)

    assert texts(recall(alice, question, now=NOW))[0] == SISTER


def test_words_find_a_fact_whose_vector_has_not_been_made(alice: User) -> None:
    remember(alice, *OTHERS)
    Fact.objects.create(user=alice, statement=SISTER, status=Fact.Status.ACTIVE)

    (item,) = recall(alice, "Where does Mary live?", now=NOW).kept

    assert item.text == SISTER
    assert item.parts["semantic"] == 0
    assert item.parts["keyword"] == 1


def test_a_vector_of_another_model_is_not_compared(alice: User) -> None:
    vector = embedder().embed([SISTER])[0].tolist()
    Fact.objects.create(
        user=alice, statement=SISTER, vector=vector, embedded_by="another-model", status=Fact.Status.ACTIVE
    )

    assert recall(alice, "Do I have family in Portugal?", now=NOW).kept == ()
    (item,) = recall(alice, "Mary lives where?", now=NOW).kept
    assert item.parts["semantic"] == 0


def test_small_talk_brings_back_nothing(alice: User) -> None:
    remember(alice, *OTHERS, SISTER, PEANUTS)

    recollection = recall(alice, "What is the capital of Mongolia?", now=NOW)

    assert recollection.kept == ()
    assert {cut.rule for cut in recollection.cut} == {"below the floor"}


def test_what_was_considered_and_left_out_says_by_which_rule(alice: User) -> None:
    remember(alice, SISTER, "Mary, the user's sister, lives in Lisbon.", "The user's sister Mary paints.", *OTHERS)

    recollection = recall(alice, "Tell me about my sister Mary in Lisbon", now=NOW, top_k=1)

    assert len(recollection.kept) == 1
    assert {cut.rule for cut in recollection.cut} == {"near-duplicate", "beyond top-K", "below the floor"}


def test_a_rare_word_weighs_more_than_a_common_one(alice: User) -> None:
    remember(alice, *(f"The user visited the garden of town {number}." for number in range(20)))
    remember(alice, "The user saw an orchid.")

    (best, *_) = recall(alice, "an orchid in the garden", now=NOW).kept

    assert best.text == "The user saw an orchid."
    assert best.parts["keyword"] > 0.5


def test_each_item_says_where_it_comes_from_and_how_it_was_scored(alice: User) -> None:
    (fact,) = remember(alice, SISTER)

    (item,) = recall(alice, "Where does my sister live?", now=NOW).kept

    assert (item.ref, item.source, item.when, item.message_id) == (f"fact:{fact.pk}", "fact", fact.recorded_at, None)
    assert set(item.parts) == {"semantic", "keyword", "name_match", "recency", "importance", "access"}
    assert 0 < item.score <= 1


def test_the_time_of_each_step_is_told(alice: User) -> None:
    assert set(recall(alice, "Anything?", now=NOW).timings) == {"embed", "search", "rank"}


def test_another_profile_may_be_asked_for(alice: User) -> None:
    remember(alice, SISTER, recorded_at=NOW)

    (measured,) = recall(alice, "Where does my sister live?", now=NOW).kept
    (seed,) = recall(alice, "Where does my sister live?", now=NOW, profile=SEED).kept

    assert measured.parts == seed.parts
    assert measured.score != seed.score


# What does not ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Fact.Status.PROPOSED},
        {"status": Fact.Status.REJECTED},
        {"status": Fact.Status.SUPERSEDED},
        {"status": Fact.Status.ARCHIVED},
        {"valid_until": NOW - timedelta(minutes=1)},
        {"valid_from": NOW + timedelta(minutes=1)},
        {"key": "sister", "importance": 0.5},
    ],
    ids=["proposed", "rejected", "superseded", "archived", "no longer true", "not yet true", "guaranteed"],
)
def test_only_facts_that_hold_and_are_not_guaranteed_anyway_come_back(alice: User, fields: dict[str, Any]) -> None:
    remember(alice, SISTER, **fields)

    assert recall(alice, "Where does my sister live?", now=NOW).kept == ()
    assert recall(alice, "Where does my sister live?", now=NOW).cut == ()


def test_a_keyed_fact_of_little_importance_is_recalled_as_any_other(alice: User) -> None:
    remember(alice, SISTER, key="sister", importance=0.49)

    assert texts(recall(alice, "Where does my sister live?", now=NOW)) == [SISTER]


def test_bob_gets_nothing_of_alices(alice: User, bob: User) -> None:
    remember(alice, SISTER)
    Fact.objects.create(user=alice, statement=SISTER, status=Fact.Status.ACTIVE)

    recollection = recall(bob, "Where does my sister Mary live?", now=NOW)

    assert (recollection.kept, recollection.cut) == ((), ())


def test_what_is_in_the_window_already_is_not_recalled_again(alice: User) -> None:
    sister, _ = remember(alice, SISTER, "The user's sister Mary paints.")

    recollection = recall(alice, "Tell me about my sister", now=NOW, exclude_refs={sister.ref, "document:/profile/x"})

    assert texts(recollection) == ["The user's sister Mary paints."]


def test_a_leg_brings_up_a_limited_number(alice: User) -> None:
    remember(alice, *(f"The user owns {number} sheep." for number in range(LEG_LIMIT + 10)))

    recollection = recall(alice, "sheep", now=NOW)

    assert len(recollection.kept) + len(recollection.cut) <= 2 * LEG_LIMIT


# Any question at all ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "",
        "the and of",
        "it's 'quoted' \\ back\\slash & | ! ( ) : * <-> %s %(user)s",
        "http://example.org/a'b\\c?d=e&f O'Brien's",
        "NUL \x00 byte",
        "私の姉はどこに住んでいますか 🐝",
        "word " * 100_000,
    ],
    ids=["empty", "stop words", "syntax", "address", "NUL", "other script", "long"],
)
def test_no_question_breaks_the_search(alice: User, question: str) -> None:
    remember(alice, SISTER)

    recollection = recall(alice, question, now=NOW)

    assert len(recollection.kept) + len(recollection.cut) == 1


def test_of_a_long_message_its_beginning_and_its_end_are_the_question() -> None:
    long = "Please translate: " + "x" * 50_000 + " Where does my sister live?"

    assert ends(long).startswith("Please translate: x")
    assert ends(long).endswith("Where does my sister live?")
    assert len(ends(long)) <= 2 * QUESTION_ENDS + 1


@pytest.mark.parametrize(
    ("question", "put"),
    [
        ("Where does my sister live?", "Where does the user's sister live?"),
        ("What am I allergic to?", "What is the user allergic to?"),
        ("I'm hungry", "the user is hungry"),
        ("Tell me about us", "Tell the user about the user"),
        ("What is a monad?", "What is a monad?"),
    ],
)
def test_a_question_is_put_in_the_third_person_as_facts_are(question: str, put: str) -> None:
    assert in_third_person(question) == put


# One round -------------------------------------------------------------------------------------------------------


def test_recalling_takes_one_statement(alice: User, django_assert_num_queries: Any) -> None:
    remember(alice, SISTER, *OTHERS)

    with django_assert_num_queries(1):
        recall(alice, "Where does my sister live?", now=NOW)


def test_being_used_counts_once_for_own_facts_only(alice: User, bob: User, django_assert_num_queries: Any) -> None:
    (mine,), (other,), (foreign,) = remember(alice, SISTER), remember(alice, PEANUTS), remember(bob, SISTER)

    with django_assert_num_queries(1):
        mark_used(alice, [mine.ref, foreign.ref, "document:/profile/goals:1", "fact:x"], NOW)

    used = {fact.pk: (fact.times_used, fact.last_used_at) for fact in Fact.objects.all()}
    assert used == {mine.pk: (1, NOW), other.pk: (0, None), foreign.pk: (0, None)}


def test_being_a_candidate_is_not_being_used(alice: User) -> None:
    (fact,) = remember(alice, SISTER)

    recall(alice, "Where does my sister live?", now=NOW)

    fact.refresh_from_db()
    assert fact.times_used == 0


def test_a_scan_of_a_thousand_facts_leaves_none_out(alice: User) -> None:
    noise = np.random.default_rng(7).normal(size=(1000, embedder().dimension))
    Fact.objects.bulk_create(
        Fact(
            user=alice,
            statement=f"Entry {number}.",
            status=Fact.Status.ACTIVE,
            vector=(row / np.linalg.norm(row)).tolist(),
            embedded_by=embedder().name,
        )
        for number, row in enumerate(noise)
    )
    remember(alice, SISTER)

    assert texts(recall(alice, "Do I have family in Portugal?", now=NOW)) == [SISTER]
