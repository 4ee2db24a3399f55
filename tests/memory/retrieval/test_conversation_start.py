"""A conversation begins where the last one left."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import User
from memory.librarian.rules.episodes import CUES
from memory.models import Episode, Fact
from memory.retrieval.conversation_start import (
    MAX_EPISODE_AGE,
    MIN_SIGNIFICANCE,
    find_opening_memory,
    is_vague_opener,
)
from tests.memory.retrieval.test_recall import talk

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def episode(user: User, title: str, days_ago: float = 1, **fields: Any) -> Episode:
    given = {"significance": 0.8, "summary": f"{title}.", "happened_at": NOW - timedelta(days=days_ago), **fields}
    return Episode.objects.create(user=user, title=title, **given)


def goal(user: User, statement: str, **fields: Any) -> Fact:
    given = {"kind": "goal", "status": "active", "importance": 0.8, **fields}
    return Fact.objects.create(user=user, statement=statement, **given)


def begun(user: User, *known: str) -> str | None:
    found = find_opening_memory(user, NOW, known)
    return found.ref if found else None


def test_the_latest_significant_episode_comes_first(alice: User) -> None:
    episode(alice, "Chose a cello", days_ago=5)
    latest = episode(alice, "The cello arrived", days_ago=1)
    episode(alice, "Talked of the weather", days_ago=0.5, significance=0.3)
    goal(alice, "The user wants to play in a quartet.")

    assert begun(alice) == latest.ref


@pytest.mark.parametrize(
    "fields", [{"days_ago": MAX_EPISODE_AGE.days + 1}, {"status": "merged"}, {"status": "archived"}, {"days_ago": -1}]
)
def test_an_episode_that_is_over_gives_way_to_an_open_goal(alice: User, fields: dict[str, Any]) -> None:
    episode(alice, "Chose a cello", **fields)
    open_goal = goal(alice, "The user wants to play in a quartet.")

    assert begun(alice) == open_goal.ref


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "rejected"},
        {"valid_until": NOW - timedelta(days=1)},
        {"kind": "preference"},
        {"key": "user/goal", "importance": 0.8},  # stands in every prompt anyway
    ],
)
def test_what_is_no_open_goal_is_not_told(alice: User, fields: dict[str, Any]) -> None:
    goal(alice, "The user wants to play in a quartet.", **fields)

    assert begun(alice) is None


def test_what_was_recalled_anyway_is_not_told_twice(alice: User) -> None:
    told = episode(alice, "The cello arrived")

    assert begun(alice, told.ref) is None


def test_bob_does_not_begin_where_alice_left(alice: User, bob: User) -> None:
    episode(alice, "The cello arrived")
    goal(alice, "The user wants to play in a quartet.")

    assert begun(bob) is None


def test_every_episode_that_rules_find_is_significant_enough() -> None:
    assert min(cue.significance for cue in CUES) >= MIN_SIGNIFICANCE


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hi, me again",
        "Good morning!",
        "I'm back",
        "So, where were we?",
        "Can we pick up where we left off?",
        "What do you know about me?",
        "So what do you remember about me so far?",
        "hi, what was I working on last time?",
        "What did we talk about yesterday?",
        "hey, what was I making last time?",
        "Where did we leave off?",
        "Where did we stop, what were we planning last time?",
    ],
)
def test_a_greeting_or_a_wish_to_go_on_is_vague(text: str) -> None:
    assert is_vague_opener(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm back from Japan",
        "Hi, where does my sister live?",
        "What did we decide about the cello?",
        "Who am I?",
        "",
        "What do you know about my sister?",
        "Tell me about tea",
        "What do you know?",
        "What was I working on for Nadia?",
        "What did I do yesterday?",
    ],
)
def test_an_opener_with_a_topic_is_not(text: str) -> None:
    assert not is_vague_opener(text)


def test_a_goal_that_waits_in_review_opens_as_the_words_that_say_it(alice: User) -> None:
    (said,) = talk(alice, "I'm writing my thesis about lichens.")
    goal(alice, "The user is writing their thesis about lichens.", status="proposed", message_id=said,
         quote="I'm writing my thesis about lichens.")  # fmt: skip

    found = find_opening_memory(alice, NOW)

    assert found is not None
    assert (found.ref, found.text, found.qualifier) == (
        f"message:{said}",
        "I'm writing my thesis about lichens.",
        "waiting (The user is writing their thesis about lichens.)",
    )
    assert find_opening_memory(alice, NOW, [f"message:{said}"]) is None
