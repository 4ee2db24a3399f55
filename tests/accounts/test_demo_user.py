"""The demo user of a first start: created once, announced once, and never in an operator's own database."""

import re
from typing import Any

import pytest
from django.contrib.auth import authenticate

from accounts.models import User
from accounts.sign_up import DEMO_EMAIL, how_to_sign_in

pytestmark = pytest.mark.django_db


def test_the_first_start_tells_a_password_that_works() -> None:
    said = re.fullmatch(
        rf"sign in as {DEMO_EMAIL} with the password (\S+) \(it is not shown again\), or sign up", how_to_sign_in()
    )
    assert said is not None
    assert authenticate(email=DEMO_EMAIL, password=said[1]) == User.objects.get()


def test_a_later_start_tells_no_password_and_changes_none() -> None:
    how_to_sign_in()
    before = User.objects.get().password
    assert how_to_sign_in() == (
        f"sign in as {DEMO_EMAIL} (password lost: python manage.py changepassword {DEMO_EMAIL}), or sign up"
    )
    assert User.objects.get().password == before


def test_where_people_are_already_there_is_no_demo_user(alice: User) -> None:
    assert how_to_sign_in() == "sign in there, or sign up"
    assert list(User.objects.all()) == [alice]


def test_a_database_of_the_operators_own_gets_no_demo_user(settings: Any) -> None:
    with_database = settings.ENVIRONMENT.model_copy(update={"database_url": "postgresql://host/recall"})
    settings.ENVIRONMENT = with_database
    assert how_to_sign_in() == "sign in there, or sign up"
    assert not User.objects.exists()
