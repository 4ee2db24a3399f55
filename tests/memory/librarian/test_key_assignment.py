"""`assign-keys` shows which facts get a key, assigns it on request, and asks if two active facts then collide."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import User
from memory.librarian.key_assignment import in_first_person
from memory.models import Fact, FactLink

pytestmark = pytest.mark.django_db
NANTES, LYON = "The user lives in Nantes.", "The user lives in Lyon."


def know(user: User, statement: str, days_ago: float = 1, **fields: Any) -> Fact:
    given = {"status": "active", "recorded_at": timezone.now() - timedelta(days=days_ago), **fields}
    fact: Fact = Fact.objects.create(user=user, statement=statement, **given)
    return fact


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("assign-keys", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("The user lives in Nantes.", "I live in Nantes."),
        ("The user is a nurse.", "I am a nurse."),
        ("The user's sister Mary lives here, and the user works.", "My sister Mary lives here, and I work."),
        ("The user often watches their birds.", "I often watch my birds."),
        ("The user studies law.", "I study law."),
        ("The user used to sing.", "I used to sing."),
        ("Mary lives in Porto.", "Mary lives in Porto."),
    ],
)
def test_a_statement_is_read_in_the_first_person(statement: str, first: str) -> None:
    assert in_first_person(statement) == first


def test_without_apply_it_only_shows_what_would_change(alice: User) -> None:
    fact = know(alice, NANTES)

    assert f"“{NANTES}” → user/home" in run()
    fact.refresh_from_db()
    assert fact.key == ""


def test_applied_the_fact_has_key_value_and_kind_and_again_nothing_changes(alice: User) -> None:
    fact = know(alice, NANTES, kind="fact")

    run("--apply")

    fact.refresh_from_db()
    assert (fact.key, fact.value, fact.kind) == ("user/home", "Nantes", "biography")
    assert "0 keyed, 0 asked about." in run("--apply")


@pytest.mark.parametrize("key", ["", "user/home"])
def test_of_two_that_collide_review_asks_about_the_older_one_once(alice: User, key: str) -> None:
    older = know(alice, NANTES, days_ago=9, key=key, value="Nantes" if key else "")
    newer = know(alice, LYON)

    run("--apply")
    run("--apply")

    asked = Fact.objects.get(status="proposed")
    assert asked.statement == "It is no longer true that the user lives in Nantes."
    assert FactLink.objects.filter(from_fact=asked, to_fact=older, relation="contradicts").exists()
    older.refresh_from_db()
    newer.refresh_from_db()
    assert {older.status, newer.status} == {"active"}
    assert (newer if key == "" else older).key == "user/home"


def test_two_that_say_the_same_ask_nothing(alice: User) -> None:
    know(alice, NANTES, days_ago=9, key="user/home", value="nantes")
    know(alice, NANTES)

    assert "0 keyed, 0 asked about." in run("--apply")


@pytest.mark.parametrize(
    ("statement", "fields"),
    [
        ("The user lives in Nantes.", {"status": "proposed"}),
        ("The user lives in Nantes.", {"status": "rejected"}),
        ("The user has a brother.", {}),
        ("The user used to live in Paris.", {}),
        ("The user wants to live in Rome.", {}),
        ("The user's neighbor works at Acme.", {}),
    ],
)
def test_nothing_else_gets_a_key_of_the_users(alice: User, statement: str, fields: dict[str, Any]) -> None:
    fact = know(alice, statement, **fields)

    run("--apply")

    fact.refresh_from_db()
    assert not fact.key.startswith("user/") or fact.key.startswith("user/neighbor/")


def test_one_user_can_be_named_and_the_others_stay_as_they_are(alice: User, bob: User) -> None:
    mine, theirs = know(alice, NANTES), know(bob, LYON)

    run("--apply", "--user", alice.email)

    assert [Fact.objects.get(pk=fact.pk).key for fact in (mine, theirs)] == ["user/home", ""]
    with pytest.raises(CommandError):
        run("--user", "nobody@example.org")
