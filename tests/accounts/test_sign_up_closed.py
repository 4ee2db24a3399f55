"""SIGN_UP: open to everyone, to the first user only, or to no one."""

from typing import Any

import pytest
from django.test import Client

from accounts import sign_up as joining
from accounts.models import User
from accounts.sign_up import how_to_sign_in
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

ADDRESS = "/accounts/signup/"


@pytest.fixture
def rule(settings: Any) -> Any:
    """`rule("first")` sets the operator's choice."""

    def rule(chosen: str) -> None:
        settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"sign_up": chosen})

    return rule


def sign_up(name: str = "dora") -> Any:
    fields = {"email": f"{name}@example.org", "password1": PASSWORD}
    return Client().post(ADDRESS, fields)


@pytest.mark.parametrize(
    ("chosen", "has_people", "lets_in"),
    [
        ("open", False, True),
        ("open", True, True),
        ("first", False, True),
        ("first", True, False),
        ("closed", False, False),
        ("closed", True, False),
    ],
)
def test_whom_each_rule_lets_in(chosen: str, has_people: bool, lets_in: bool) -> None:
    assert joining.may_join(chosen, has_people=lambda: has_people) is lets_in


def test_by_itself_anyone_may_sign_up() -> None:
    assert sign_up("dora")["Location"] == sign_up("emil")["Location"] == "/"


def test_a_closed_sign_up_says_so_and_makes_nobody(rule: Any) -> None:
    rule("closed")
    for page in (Client().get(ADDRESS), sign_up()):
        assert "Sign-up is closed" in page.content.decode()
    assert not User.objects.exists()


def test_after_the_first_person_it_is_closed(rule: Any) -> None:
    rule("first")
    sign_up("dora")
    assert "Sign-up is closed" in sign_up("emil").content.decode()
    assert [user.email for user in User.objects.all()] == ["dora@example.org"]


def test_the_demo_user_is_not_the_first_person(rule: Any) -> None:
    rule("first")
    assert how_to_sign_in().endswith("or sign up")
    assert sign_up()["Location"] == "/"
    assert how_to_sign_in().endswith("changepassword demo@recall.local)"), "it invites nobody who cannot come"


def test_of_two_who_send_the_form_at_once_one_is_the_first(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rule("first")
    asked: list[str] = []
    monkeypatch.setattr(joining, "wait_for_turn", lambda: asked.append("waited"))
    monkeypatch.setattr(joining, "is_open", lambda: not asked)  # while they waited, another user signed up
    assert sign_up("dora")["Location"] == ADDRESS
    assert not User.objects.exists()


def test_a_form_sent_twice_at_once_is_no_error(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rule("open")
    monkeypatch.setattr(joining, "wait_for_turn", lambda: User.objects.create_user("Dora@example.org"))  # the other
    assert sign_up("dora")["Location"] == "/accounts/login/"


def test_the_sign_in_page_offers_what_there_is(rule: Any) -> None:
    assert "Sign up" in Client().get("/accounts/login/").content.decode()
    rule("closed")
    assert "Sign up" not in Client().get("/accounts/login/").content.decode()
