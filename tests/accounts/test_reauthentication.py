"""Someone at a signed-in browser can neither export nor delete everything; the user confirms once more and
continues."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.test import Client
from django.urls import reverse

from accounts.api import keys
from accounts.models import User
from accounts.reauthentication import SIGNED_IN_AT
from memory.models import Fact
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
FORGET = "/memory/forget"
EVERYTHING: Final = {"what": "everything"}
FORM = f"{FORGET}?what=everything"
EXPORT_CARD = "/import?export#export-title"
STARTS: Final = '<meta http-equiv="refresh" content="0; url=/export">'


@pytest.fixture
def found(sign_in: SignIn, alice: User) -> Client:
    """A browser in which Alice signed in some time ago."""
    Fact.objects.create(user=alice, statement="Alice sails.", status="active")
    return left_alone(sign_in(alice))


def left_alone(client: Client) -> Client:
    """The client, left alone until reauthentication is required."""
    session = client.session
    session[SIGNED_IN_AT] -= app_settings.REAUTHENTICATION_TIMEOUT
    session.save()
    return client


def asked(response: Any) -> tuple[str, str]:
    """The page that asks, and where it leads afterwards."""
    assert response.status_code == 302
    where = urlsplit(response["Location"])
    return where.path, parse_qs(where.query)["next"][0]


def test_the_export_asks_who_one_is_and_then_starts_on_its_page(found: Client) -> None:
    refused = found.get(reverse("export"))
    assert asked(refused) == (reverse("account_reauthenticate"), EXPORT_CARD)
    page = found.get("/import?export").content.decode()
    assert 'id="export-title"' in page
    assert STARTS not in page

    wrong = found.post(refused["Location"], {"password": "wrong", "next": EXPORT_CARD})
    assert wrong.status_code == 200
    assert found.get(reverse("export")).status_code == 302

    right = found.post(refused["Location"], {"password": PASSWORD, "next": EXPORT_CARD})
    assert right["Location"] == EXPORT_CARD
    assert STARTS in found.get("/import?export").content.decode()
    assert STARTS not in found.get("/import").content.decode()
    assert found.get(reverse("export"))["Content-Type"] == "application/zip"


def test_forgetting_everything_asks_before_it_lists_anything(found: Client) -> None:
    refused = found.get(FORGET, EVERYTHING)
    assert asked(refused) == (reverse("account_reauthenticate"), FORM)
    back = found.post(refused["Location"], {"password": PASSWORD, "next": FORM}, follow=True)
    assert "Forget everything permanently?" in back.content.decode()


def test_a_form_that_was_left_open_is_shown_again_and_not_sent_by_itself(found: Client) -> None:
    refused = found.post(FORGET, {**EVERYTHING, "confirmed": "forget everything", "expected": "x"})
    assert asked(refused) == (reverse("account_reauthenticate"), FORM)
    back = found.post(refused["Location"], {"password": PASSWORD, "next": FORM}, follow=True)
    assert "Nothing is deleted until you confirm" in back.content.decode()
    assert Fact.objects.exists()


def test_forgetting_one_memory_stays_quick(found: Client) -> None:
    page = found.get(FORGET, {"what": "fact", "id": str(Fact.objects.get().pk)})
    assert page.status_code == 200


def test_whoever_has_just_signed_in_or_up_is_not_asked(alice: User) -> None:
    back, new = Client(), Client()
    back.post("/accounts/login/", {"login": alice.email, "password": PASSWORD})
    new.post("/accounts/signup/", {"email": "bob@example.org", "password1": PASSWORD})
    for client in (back, new):
        assert client.get(FORGET, EVERYTHING).status_code == 200
        assert client.get(reverse("export")).status_code == 200


def test_signing_in_elsewhere_confirms_nothing_here(found: Client, alice: User) -> None:
    Client().post("/accounts/login/", {"login": alice.email, "password": PASSWORD})
    assert found.get(reverse("export")).status_code == 302


def test_somebody_with_a_passkey_and_no_password_is_asked_for_the_passkey(found: Client, alice: User) -> None:
    without_password(alice, found)
    Authenticator.objects.create(user=alice, type="webauthn", data={})
    page = found.get(found.get(reverse("export"))["Location"])
    assert asked(page) == (reverse("mfa_reauthenticate_webauthn"), EXPORT_CARD)


@pytest.mark.parametrize("page", ["delete_account", "account_set_password"])
def test_no_account_is_deleted_or_given_a_password_without_the_passkey_it_has(
    found: Client, alice: User, page: str
) -> None:
    without_password(alice, found)
    Authenticator.objects.create(user=alice, type="webauthn", data={})
    for sent in (found.get(reverse(page)), found.post(reverse(page), {"password": alice.email, "password1": PASSWORD})):
        assert asked(sent) == (reverse("account_reauthenticate"), reverse(page))
    assert not User.objects.get(pk=alice.pk).has_usable_password()


def test_somebody_without_a_password_may_use_a_recovery_code(found: Client, alice: User) -> None:
    without_password(alice, found)
    code = RecoveryCodes.activate(alice).get_unused_codes()[0]
    page = found.get(FORGET, EVERYTHING, follow=True)
    assert page.redirect_chain[-1][0].startswith(reverse("mfa_reauthenticate"))
    back = found.post(page.redirect_chain[-1][0], {"code": code, "next": FORM})
    assert back["Location"] == FORM
    assert found.get(FORM).status_code == 200


def test_somebody_who_could_be_asked_for_nothing_is_not_kept_from_what_is_theirs(found: Client, alice: User) -> None:
    without_password(alice, found)
    assert found.get(reverse("export")).status_code == 200


def without_password(user: User, client: Client) -> None:
    """Remove the user's password; their browser stays signed in."""
    user.set_unusable_password()
    user.save()
    session = client.session
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.save()


@pytest.mark.parametrize(
    ("method", "route", "body"),
    [("get", "export", None), ("post", "memory/forget", {"what": "everything", "id": "", "expected": "0" * 64})],
)
def test_a_session_that_calls_the_api_is_asked_as_well_and_a_key_is_not(
    method: str, route: str, body: Any, found: Client, alice: User
) -> None:
    address = f"/api/v1/{route}"
    answered = getattr(found, method)(address, body, content_type="application/json")
    assert answered.status_code == 403
    assert "Confirm it's you" in answered.json()["detail"]
    assert Fact.objects.filter(user=alice).exists()

    _, secret = keys.create_key(alice, "one", ["export", "forget"])
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    assert getattr(program, method)(address, body, content_type="application/json").status_code in (200, 409)
