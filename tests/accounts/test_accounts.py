"""Signing up, in and out, and the password: by e-mail address alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from accounts.models import User, validate_time_zone
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

NEW = {"email": "dora@example.org", "password1": PASSWORD, "password2": PASSWORD, "preferred_name": "Dora"}


def sign_up(client: Client, **fields: str) -> Any:
    return client.post("/accounts/signup/", {**NEW, **fields})


def test_a_new_person_signs_up_and_is_in_the_chat(client: Client) -> None:
    response = sign_up(client, time_zone="Europe/Lisbon")
    assert response["Location"] == "/"
    dora = User.objects.get(email="dora@example.org")
    assert (dora.preferred_name, dora.time_zone, dora.is_staff) == ("Dora", "Europe/Lisbon", False)
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("time_zone", ["", "Mars/Olympus", "../../etc/passwd"])
def test_a_time_zone_that_is_none_becomes_utc(client: Client, time_zone: str) -> None:
    sign_up(client, time_zone=time_zone)
    assert User.objects.get().time_zone == "UTC"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"email": "no address"}, "valid email address"),
        ({"password2": "something else"}, "same password"),
        ({"password1": "short", "password2": "short"}, "at least 10 characters"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
    ],
)
def test_a_wrong_sign_up_says_what_is_wrong(client: Client, fields: dict[str, str], words: str) -> None:
    assert words in sign_up(client, **fields).content.decode()
    assert not User.objects.exists()


def test_an_address_is_one_person_whatever_its_case(alice: User) -> None:
    with pytest.raises(IntegrityError):
        User.objects.create_user("ALICE@example.org", PASSWORD)


def test_alice_signs_in_and_out(alice: User, client: Client) -> None:
    signed_in = client.post("/accounts/login/", {"login": "Alice@Example.org", "password": PASSWORD})
    assert signed_in["Location"] == "/"
    assert client.get("/").status_code == 200
    client.post("/accounts/logout/")
    assert client.get("/")["Location"].startswith("/accounts/login/")


def test_a_wrong_password_does_not_say_whether_the_address_is_known(alice: User, client: Client) -> None:
    known = client.post("/accounts/login/", {"login": alice.email, "password": "wrong"}).content.decode()
    unknown = client.post("/accounts/login/", {"login": "nobody@example.org", "password": "wrong"}).content.decode()
    wrong = re.compile(r"not correct")
    assert wrong.search(known)
    assert wrong.search(unknown)


def test_the_password_is_changed(alice: User, client: Client) -> None:
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    new = "an entirely other phrase"
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    alice.refresh_from_db()
    assert alice.check_password(new)


def test_a_forgotten_password_is_reset_by_mail(alice: User, client: Client, mailoutbox: list[EmailMessage]) -> None:
    client.post("/accounts/password/reset/", {"email": alice.email})
    link = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", str(mailoutbox[0].body))
    assert link
    page = client.get(link[1], follow=True)
    new = "an entirely other phrase"
    client.post(page.redirect_chain[-1][0], {"password1": new, "password2": new})
    alice.refresh_from_db()
    assert alice.check_password(new)


def test_pages_tell_times_in_the_persons_own_zone(alice: User, client: Client) -> None:
    client.force_login(alice)
    client.get("/")
    assert timezone.get_current_timezone_name() == "UTC", "the zone holds for one request only"
    validate_time_zone("Europe/Lisbon")
    with pytest.raises(ValidationError, match="not a time zone"):
        validate_time_zone("Mars/Olympus")


def test_the_demo_user_is_made_once_and_its_password_told_once(db: None) -> None:
    from accounts import demo

    first = demo.how_to_sign_in()
    assert "password" in first
    assert User.objects.get().email in first
    again = demo.how_to_sign_in()
    assert User.objects.count() == 1
    assert first != again, "the password is told once"


def test_a_database_of_the_operators_own_gets_no_demo_user(db: None, settings: Any) -> None:
    from accounts import demo

    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"database_url": "postgresql://somewhere/recall"})
    assert demo.how_to_sign_in() == demo.ANYONE
    assert not User.objects.exists()
