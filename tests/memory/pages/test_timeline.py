"""The timeline: episodes by month with all that is told of them; and the story of one conversation."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from chat.models import Conversation, Message
from memory.models import Episode, Fact
from memory.models.kinds import EpisodeKind
from memory.pages.timeline import ICONS, SIGNIFICANCE_DOTS, min_significance, significance_level
from recall.settings import BASE_DIR

type SignIn = Callable[[User], Client]

ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def tell(user: User, title: str, **fields: Any) -> Episode:
    fields = {"happened_at": datetime(2026, 11, 5, 12, tzinfo=UTC), "summary": f"How {title} went.", **fields}
    made: Episode = Episode.objects.create(user=user, title=title, **fields)
    return made


def talk(user: User, turns: int) -> Conversation:
    conversation = Conversation.objects.create(user=user, title="The shop")
    Message.objects.bulk_create(
        Message(user=user, conversation=conversation, seq=n, turn=n, role="user", event_type="user_message", text="Hm.")
        for n in range(1, turns + 1)
    )
    return conversation


def page_of(client: Client, address: str = "/memory/timeline") -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode().split('id="main"')[1]


def test_an_empty_timeline_says_what_comes_here(alice: User, sign_in: SignIn) -> None:
    page = page_of(sign_in(alice))

    assert "Nothing here yet" in page
    assert "when you decide, solve, finish or drop something" in page


def test_episodes_stand_by_month_the_latest_first(alice: User, sign_in: SignIn) -> None:
    tell(alice, "August", happened_at=datetime(2026, 8, 5, tzinfo=UTC))
    tell(alice, "Early November")
    tell(alice, "Late November", happened_at=datetime(2026, 11, 20, tzinfo=UTC))

    page = page_of(sign_in(alice)).rpartition("</figure>")[2]

    places = [
        page.index(text) for text in ("November 2026</h2>", "Late N", "Early N", "August 2026</h2>", ">August</h3>")
    ]
    assert places == sorted(places)
    assert page.count("</h2>") == 2


def test_months_end_where_the_user_is(alice: User, sign_in: SignIn) -> None:
    alice.time_zone = "Pacific/Auckland"
    alice.save()
    tell(alice, "New year", happened_at=datetime(2026, 12, 31, 20, tzinfo=UTC))

    assert "January 2027</h2>" in page_of(sign_in(alice))


def test_all_that_is_told_of_an_episode_is_shown(alice: User, sign_in: SignIn) -> None:
    conversation = talk(alice, 4)
    first = conversation.messages.get(turn=2)
    fact = Fact.objects.create(user=alice, statement="The user chose PostgreSQL.", status="active")
    episode = tell(
        alice,
        "Chose a database",
        conversation=conversation,
        first_turn=2,
        last_turn=3,
        kind="decision_made",
        significance=0.8,
        outcome="success",
        tone="relieved",
        topics=["shop", "database"],
        participants=["Mary"],
        context="The old one was slow.",
        extracted_by="in 0 prompts",
    )
    episode.facts.add(fact)

    page = page_of(sign_in(alice))

    for text in (
        "Decision made",
        'Importance <span class="dots" role="img" aria-label="4 of 5">●●●●○',
        "Key moment",
        ">Success<",
        "relieved",
        "shop, database",
        "Mary",
        "The old one was slow.",
        "2 to 3 of “The shop”",
        f'href="/m/{first.pk}"',
        f'href="/memory/facts/{fact.pk}"',
        f'href="/memory/timeline/{conversation.pk}"',
        "for 0 answers",
        "#signpost",
    ):
        assert text in page, text


def test_merged_episodes_are_told_by_what_they_became_and_archived_ones_say_so(alice: User, sign_in: SignIn) -> None:
    tell(alice, "Merged one", status="merged")
    tell(alice, "Faded one", status="archived")

    page = page_of(sign_in(alice))

    assert "Merged one" not in page
    assert "Faded one" in page
    assert "Archived" in page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {"Small", "Middling", "Great"}),
        ("?kind=pivot", {"Small"}),
        ("?kind=pivot&kind=breakthrough", {"Small", "Great"}),
        ("?least=3", {"Middling", "Great"}),
        ("?least=5", {"Great"}),
        ("?kind=pivot&least=3", set()),
        ("?kind=nonsense", {"Small", "Middling", "Great"}),
        ("?least=nonsense", {"Small", "Middling", "Great"}),
        ("?page=nonsense", {"Small", "Middling", "Great"}),
    ],
)
def test_the_timeline_is_filtered_by_kind_and_significance(
    alice: User, sign_in: SignIn, query: str, shown: set[str]
) -> None:
    tell(alice, "Small", kind="pivot", significance=0.2)
    tell(alice, "Middling", kind="plain", significance=0.5)
    tell(alice, "Great", kind="breakthrough", significance=1.0)

    page = page_of(sign_in(alice), f"/memory/timeline{query}")

    assert {title for title in ("Small", "Middling", "Great") if f">{title}</h3>" in page} == shown
    assert ("No matching episodes" in page) is (not shown)


def test_the_filter_that_was_chosen_is_kept(alice: User, sign_in: SignIn) -> None:
    for number in range(60):
        tell(alice, f"Episode {number}", kind="pivot", significance=0.9)

    page = page_of(sign_in(alice), "/memory/timeline?kind=pivot&least=3")

    assert 'value="pivot" checked' in page
    assert '<option value="3" selected>' in page
    assert "60 episodes" in page
    assert 'href="?kind=pivot&amp;least=3&amp;page=2"' in page


@given(st.floats(0, 1), st.integers(2, SIGNIFICANCE_DOTS))
def test_what_passes_a_level_is_shown_with_that_many_dots(significance: float, dots: int) -> None:
    assert 1 <= significance_level(significance) <= SIGNIFICANCE_DOTS
    assert (significance >= min_significance(dots)) is (significance_level(significance) >= dots)


def test_every_kind_has_an_icon_of_the_sprite() -> None:
    sprite = (BASE_DIR / "static/icons.svg").read_text()

    assert set(ICONS) == set(EpisodeKind)
    assert all(f'id="{icon}"' in sprite for icon in ICONS.values())


def test_a_full_timeline_takes_as_many_queries_as_a_small_one(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    conversation = talk(alice, 60)
    fact = Fact.objects.create(user=alice, statement="A fact.", status="active")
    for turn in range(1, 51):
        tell(alice, f"Episode {turn}", conversation=conversation, first_turn=turn, last_turn=turn).facts.add(fact)
    client = sign_in(alice)
    client.get("/memory/timeline")

    with django_assert_max_num_queries(10):
        page = page_of(client)

    assert page.count("Show source") == 50


def test_hostile_words_are_shown_as_words(alice: User, sign_in: SignIn) -> None:
    conversation = talk(alice, 1)
    tell(
        alice, ATTACK[:200], summary=ATTACK, context=ATTACK, tone=ATTACK[:40], topics=[ATTACK[:60]],
        participants=[ATTACK], conversation=conversation, first_turn=1, last_turn=1,
    )  # fmt: skip

    for address in ("/memory/timeline", f"/memory/timeline/{conversation.pk}"):
        page = page_of(sign_in(alice), address)
        assert "<script>alert" not in page
        assert "<img src" not in page


# The story -------------------------------------------------------------------------------------------------------


def test_a_conversation_is_told_by_its_beginning_middle_and_end(alice: User, sign_in: SignIn) -> None:
    conversation = talk(alice, 9)
    tell(alice, "The question", conversation=conversation, first_turn=1, last_turn=2)
    tell(alice, "The turning point", conversation=conversation, first_turn=5, last_turn=5, significance=0.9)
    tell(alice, "The end of it", conversation=conversation, first_turn=8, last_turn=9)

    page = page_of(sign_in(alice), f"/memory/timeline/{conversation.pk}")

    order = ["Key moments", "Beginning</h2>", "The question</h3>", "Middle</h2>", "The turning point</h3>", "End</h2>"]
    assert [page.index(text) for text in order] == sorted(page.index(text) for text in order)
    assert f'href="/c/{conversation.pk}"' in page
    assert "Full story" not in page


def test_a_part_of_which_nothing_is_told_says_so(alice: User, sign_in: SignIn) -> None:
    conversation = talk(alice, 9)
    tell(alice, "The question", conversation=conversation, first_turn=1, last_turn=2)

    page = page_of(sign_in(alice), f"/memory/timeline/{conversation.pk}")

    assert page.count("No key moments here.") == 2


def test_what_is_not_bobs_is_not_found(alice: User, bob: User, sign_in: SignIn) -> None:
    conversation = talk(alice, 2)
    tell(alice, "A secret", conversation=conversation, first_turn=1, last_turn=1)
    fact = Fact.objects.create(user=alice, statement="A secret.", status="active")
    client = sign_in(bob)

    assert "secret" not in page_of(client)
    for address in (f"/memory/timeline/{conversation.pk}", f"/memory/timeline/{uuid4()}", f"/memory/facts/{fact.pk}"):
        assert client.get(address).status_code == 404
