"""“Call me Sam, I'm in the Lisbon time zone”: the next prompt's clock lines follow, and the account is offered both."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.time_zones import find_zone, zone_label
from chat.models import Message
from chat.prompt.assemble import assemble_prompt
from chat.prompt.stated_identity import Stated, stated_in
from chat.turn import AcceptedTurn
from chat.turns.finish import save_draft_receipt
from chat.turns.intake import accept_message
from memory.facts.links import link
from memory.models import Fact, FactLink

SignIn = Callable[[User], Client]


@pytest.mark.parametrize(
    ("said", "zone"),
    [
        ("Lisbon", "Europe/Lisbon"),
        ("europe/lisbon", "Europe/Lisbon"),
        ("New York", "America/New_York"),
        ("the Pacific time zone", "US/Pacific"),
        ("eastern standard time", "US/Eastern"),
        ("CET", "CET"),
        ("UTC+2", "Etc/GMT-2"),
        ("UTC+99", ""),
        ("Lyon", ""),
        ("Paris, Texas", ""),
        ("a different", ""),
        ("", ""),
    ],
)
def test_a_zone_is_found_by_its_city_and_never_guessed(said: str, zone: str) -> None:
    assert find_zone(said) == zone


def test_a_zone_is_shown_by_its_city_or_offset() -> None:
    assert [zone_label(zone) for zone in ("America/New_York", "Etc/GMT-2", "CET")] == ["New York", "UTC+2", "CET"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Please call me Sam.", Stated("Sam")),
        ("Hi! My name is Sam Ortega and I bake.", Stated("Sam Ortega")),
        ("my name's Zoë, nice to meet you", Stated("Zoë")),
        ("Hi, call me Sam. I'm in the Lisbon time zone.", Stated("Sam", "Europe/Lisbon")),
        ("My time zone is Asia/Tokyo", Stated("", "Asia/Tokyo")),
        ("My timezone is UTC+2 now.", Stated("", "Etc/GMT-2")),
        ("I'm on Pacific time, so write dates accordingly.", Stated("", "US/Pacific")),
        ("Please use Lisbon time.", Stated("", "Europe/Lisbon")),
        ("Call me later", Stated()),
        ("Don't call me Sam.", Stated()),
        ("They never call me Sam", Stated()),
        ("Is my name Sam?", Stated()),
        ("Suppose my name is Sam.", Stated()),
        ("My name is not important.", Stated()),
        ('The story begins: "Call me Ishmael."', Stated()),
        ("I'm in the middle of my free time", Stated()),
        ("I use Berlin as the setting of my talk", Stated()),
        ("My sister's time zone is Asia/Tokyo", Stated()),
    ],
)
def test_only_what_is_stated_of_the_user_counts(text: str, stated: Stated) -> None:
    assert stated_in([text]) == stated


def test_the_last_word_counts() -> None:
    assert stated_in(["Call me Samuel", "What's up?", "Please call me Sam"]).preferred_name == "Sam"


# In the prompt ---------------------------------------------------------------------------------------------------


def ask(user: User, text: str, after: AcceptedTurn | None = None) -> AcceptedTurn:
    if after is not None:
        Message.objects.filter(pk=after.answer.pk).update(text="I see.", status=Message.Status.COMPLETE)
    return accept_message(user, uuid4(), after.conversation.pk if after else None, text)


def clock(turn: AcceptedTurn) -> dict[str, str]:
    lines = assemble_prompt(turn).contents.clock.splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def know(user: User, key: str, value: str, **fields: Any) -> Fact:
    given = {"status": "active", "statement": f"{key} is {value}.", **fields}
    fact: Fact = Fact.objects.create(user=user, key=key, value=value, **given)
    return fact


@pytest.mark.django_db
def test_the_clock_follows_in_the_same_prompt_and_the_next_one(alice: User) -> None:
    first = ask(alice, "Call me Sam. I'm in the Tokyo time zone.")
    assert (clock(first)["User name"], clock(first)["User timezone"]) == ("Sam", "Asia/Tokyo")

    second = ask(alice, "What time is it?", first)
    assert clock(second)["User timezone"] == "Asia/Tokyo"
    assert clock(second)["Current time"].endswith("+09:00")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("key", "value", "line", "shown"),
    [
        ("user/time_zone", "Tokyo", "User timezone", "Asia/Tokyo"),
        ("user/home", "Tokyo", "User timezone", "Asia/Tokyo"),
        ("user/preferred_name", "Sam", "User name", "Sam"),
        ("user/name", "Sam Ortega", "User name", "Sam Ortega"),
    ],
)
def test_an_active_fact_serves_every_conversation_and_a_waiting_one_none(
    alice: User, bob: User, key: str, value: str, line: str, shown: str
) -> None:
    own = clock(ask(bob, "Hello"))[line]
    know(alice, key, value)
    know(bob, key, value, status="proposed")

    assert clock(ask(alice, "Hello"))[line] == shown
    assert clock(ask(bob, "Hello"))[line] == own


@pytest.mark.django_db
def test_a_name_that_a_proposal_contradicts_is_not_used(alice: User) -> None:
    name = know(alice, "user/name", "Sam Ortega")
    newer = know(alice, "user/name", "Sam Lindqvist", status="proposed")
    link(alice.pk, newer.pk, FactLink.Relation.CONTRADICTS, name.pk, 0.7)
    assert "Ortega" not in clock(ask(alice, "Hello")).get("User name", "")

    Fact.objects.filter(pk=newer.pk).update(status=Fact.Status.REJECTED)
    assert clock(ask(alice, "Hello"))["User name"] == "Sam Ortega"


@pytest.mark.django_db
def test_a_stated_zone_comes_before_the_homes_and_a_full_name_keeps_the_accounts(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(preferred_name="Alice")
    know(alice, "user/home", "Tokyo")
    know(alice, "user/time_zone", "Europe/Berlin")
    know(alice, "user/name", "Alice Smith")

    lines = clock(ask(User.objects.get(pk=alice.pk), "Hello"))

    assert (lines["User timezone"], lines["User name"]) == ("Europe/Berlin", "Alice")


# Offered for the account -----------------------------------------------------------------------------------------


@pytest.fixture
def panel(alice: User, sign_in: SignIn) -> tuple[Client, str]:
    turn = ask(alice, "Call me Sam. I'm in the Tokyo time zone.")
    save_draft_receipt(turn, assemble_prompt(turn))
    return sign_in(alice), reverse("receipt", args=[turn.answer.pk])


OFFERS = ("Use Tokyo time in your account?", "Use “Sam” as your name in your account?")


@pytest.mark.django_db
def test_the_panel_offers_to_store_them_and_yes_stores(panel: tuple[Client, str], alice: User) -> None:
    client, url = panel
    page = client.get(url).content.decode()
    assert all(offer in page for offer in OFFERS)

    client.post(reverse("stated"), {"column": "time_zone", "value": "Asia/Tokyo", "answer": "yes"})
    client.post(reverse("stated"), {"column": "preferred_name", "value": "Sam", "answer": "yes"})

    alice.refresh_from_db()
    assert (alice.time_zone, alice.preferred_name) == ("Asia/Tokyo", "Sam")
    assert not any(offer in client.get(url).content.decode() for offer in OFFERS)


@pytest.mark.django_db
def test_no_is_remembered_without_the_words_and_silences_the_fact(panel: tuple[Client, str], alice: User) -> None:
    client, url = panel
    before = alice.time_zone

    client.post(reverse("stated"), {"column": "time_zone", "value": "Asia/Tokyo", "answer": "no"})

    alice.refresh_from_db()
    assert alice.time_zone == before
    assert "Tokyo" not in str(alice.declined_offers)
    page = client.get(url).content.decode()
    assert OFFERS[0] not in page
    assert OFFERS[1] in page
    know(alice, "user/home", "Tokyo")
    assert clock(ask(alice, "Hello"))["User timezone"] == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [
        {"column": "email", "value": "eve@example.org"},
        {"column": "time_zone", "value": "Mars/Base"},
        {"column": "preferred_name", "value": "x" * 81},
        {"column": "preferred_name", "value": ""},
    ],
)
def test_nothing_else_can_be_stored(panel: tuple[Client, str], alice: User, wrong: dict[str, str]) -> None:
    client, _ = panel
    response = client.post(reverse("stated"), {**wrong, "answer": "yes"})

    assert response.status_code == 404
    kept = User.objects.get(pk=alice.pk)
    assert (kept.email, kept.time_zone, kept.preferred_name) == (alice.email, alice.time_zone, alice.preferred_name)
