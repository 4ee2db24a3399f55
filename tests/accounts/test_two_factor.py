"""Two factors: an authenticator app is set up, requested, replaced by a recovery code once, encrypted, and
turned off."""

import json
import re
import time
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.conf import settings
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from accounts import secret_encryption
from accounts.models import User
from recall.process.startup import prepare_database
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
STEP = 30
"""Seconds a code is valid."""


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // STEP)))


def text(response: Any) -> str:
    html: str = response.content.decode()
    return html


def confirmed(client: Client) -> Client:
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def with_app(client: Client) -> tuple[str, list[str]]:
    """Set up the app as a user would; returns the scanned secret and the recovery codes."""
    page = text(confirmed(client).get(reverse("mfa_activate_totp")))
    shown = re.search(r'id="authenticator_secret"[^>]* value="([A-Z2-7]+)"', page)
    assert shown
    answer = client.post(reverse("mfa_activate_totp"), {"code": code_of(shown[1])}, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("mfa_view_recovery_codes")
    cache.clear()  # the code was used, and no one can use it twice, not even this test
    return shown[1], re.findall(r"<li>(\d{8})</li>", text(answer))


def sign_in_with_password(email: str) -> tuple[Client, Any]:
    client = Client()
    return client, client.post("/accounts/login/", {"login": email, "password": PASSWORD})


def is_in(client: Client) -> bool:
    return bool(client.get(reverse("settings_account")).status_code == 200)


def test_setting_it_up_asks_who_one_is_first(sign_in: SignIn, alice: User) -> None:
    answer = sign_in(alice).get(reverse("mfa_activate_totp"))
    assert answer["Location"].startswith("/accounts/reauthenticate/")


def test_the_key_is_shown_as_a_picture_that_the_policy_lets_through_and_as_text(sign_in: SignIn, alice: User) -> None:
    page = text(confirmed(sign_in(alice)).get(reverse("mfa_activate_totp")))
    assert 'src="data:image/svg+xml;base64,' in page
    assert "data:" in str(settings.SECURE_CSP["img-src"])
    assert "issuer=Recall" in page


def test_a_wrong_code_turns_nothing_on(sign_in: SignIn, alice: User) -> None:
    client = confirmed(sign_in(alice))
    client.get(reverse("mfa_activate_totp"))
    assert "Incorrect code" in text(client.post(reverse("mfa_activate_totp"), {"code": "000000"}))
    assert not Authenticator.objects.exists()


def test_after_the_password_a_code_is_asked_for(sign_in: SignIn, alice: User) -> None:
    secret, _ = with_app(sign_in(alice))
    client, answer = sign_in_with_password(alice.email)
    assert answer["Location"] == reverse("mfa_authenticate")
    assert not is_in(client), "the password alone opens nothing"
    page = text(client.get(reverse("mfa_authenticate")))
    assert "Two-factor sign-in" in page
    assert "passkey" not in page.partition("<main")[2], "there is none"
    assert "Incorrect code" in text(client.post(reverse("mfa_authenticate"), {"code": "000000"}))
    assert not is_in(client)
    client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assert is_in(client)


def test_a_code_that_was_used_is_not_taken_again(sign_in: SignIn, alice: User) -> None:
    secret, _ = with_app(sign_in(alice))
    code = code_of(secret)
    first, second = sign_in_with_password(alice.email)[0], sign_in_with_password(alice.email)[0]
    first.post(reverse("mfa_authenticate"), {"code": code})
    second.post(reverse("mfa_authenticate"), {"code": code})
    assert (is_in(first), is_in(second)) == (True, False)


def test_a_recovery_code_signs_in_once(sign_in: SignIn, alice: User) -> None:
    _, codes = with_app(sign_in(alice))
    assert len(codes) == 10
    for expected in (True, False):
        client, _ = sign_in_with_password(alice.email)
        client.post(reverse("mfa_authenticate"), {"code": codes[0]})
        assert is_in(client) is expected


def test_codes_are_downloaded_as_a_file_and_told_how_many_are_left(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    _, codes = with_app(client)
    file = client.get(reverse("mfa_download_recovery_codes"))
    assert "attachment" in file["Content-Disposition"]
    assert set(codes) <= set(text(file).split())
    assert "10 unused codes left" in text(client.get(reverse("settings_security")))


def test_turning_it_off_asks_for_nothing_any_more_and_takes_the_codes(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    with_app(client)
    client.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.exists()
    assert sign_in_with_password(alice.email)[1]["Location"] == "/"


def test_guessing_codes_is_limited(sign_in: SignIn, alice: User) -> None:
    with_app(sign_in(alice))
    client, _ = sign_in_with_password(alice.email)
    pages = [text(client.post(reverse("mfa_authenticate"), {"code": f"{guess:06}"})) for guess in range(12)]
    assert "Incorrect code" in pages[0]
    assert "Incorrect code" not in pages[-1]


def test_another_person_sees_and_removes_nothing(sign_in: SignIn, alice: User, bob: User) -> None:
    key = Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Alice's", "credential": {}})
    client = sign_in(bob)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert "Alice" not in text(client.get(reverse("settings_security")))
    for name in ("mfa_remove_webauthn", "mfa_edit_webauthn"):
        assert client.post(reverse(name, args=[key.pk]), {"name": "Bob's"}).status_code == 404
    assert Authenticator.objects.get().data["name"] == "Alice's"


def test_recovery_codes_are_shown_to_nobody_else(sign_in: SignIn, alice: User, bob: User) -> None:
    with_app(sign_in(alice))
    client = confirmed(sign_in(bob))
    for page in ("mfa_view_recovery_codes", "mfa_download_recovery_codes"):
        assert client.get(reverse(page)).status_code == 404
        assert Client().get(reverse(page))["Location"].startswith("/accounts/login/")


def test_an_operator_lets_somebody_in_who_lost_everything(sign_in: SignIn, alice: User, bob: User) -> None:
    with_app(sign_in(alice))
    kept = Authenticator.objects.create(user=bob, type="webauthn", data={})
    call_command("turn_off_second_factor", alice.email.upper(), stdout=StringIO())
    assert sign_in_with_password(alice.email)[1]["Location"] == "/"
    assert list(Authenticator.objects.all()) == [kept]
    with pytest.raises(CommandError, match="No user signs in"):
        call_command("turn_off_second_factor", "nobody@example.org")


@override_settings(ACCOUNT_EMAIL_NOTIFICATIONS=True)
def test_with_a_mail_server_a_change_is_told_by_mail(
    sign_in: SignIn, alice: User, mailoutbox: list[EmailMessage]
) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
    client = sign_in(alice)
    with_app(client)
    client.post(reverse("mfa_deactivate_totp"))
    told = mailoutbox[-1]
    assert (told.subject, told.to) == ("Recall: Authenticator app turned off", [alice.email])
    body = str(told.body)
    assert "IP address: 127.0.0.1" in body
    assert "If this wasn't you, change your password" in body


def test_without_a_mail_server_nobody_is_kept_from_a_second_factor() -> None:
    assert settings.ENVIRONMENT.email_url is None
    assert settings.MFA_ALLOW_UNVERIFIED_EMAIL is True


# Secrets are sealed -------------------------------------------------------------------------------------------------

SECOND_KEY = "a second key, which this installation was given later"


def stored() -> str:
    """Everything that a dump of the table would show."""
    return str(list(Authenticator.objects.values_list("data", flat=True)))


def seed() -> str:
    """The seed of the recovery codes, decrypted."""
    return secret_encryption.unseal(Authenticator.objects.get(type="recovery_codes").data["seed"])


def lies_open(user: User, secret: str) -> None:
    """Store the secret as a Recall without encryption did."""
    Authenticator.objects.create(user=user, type="totp", data={"secret": secret})


def with_code(user: User, code: str) -> tuple[Client, Any]:
    client, _ = sign_in_with_password(user.email)
    return client, client.post(reverse("mfa_authenticate"), {"code": code})


def test_what_lies_in_the_table_is_not_the_secret(sign_in: SignIn, alice: User) -> None:
    secret, codes = with_app(sign_in(alice))
    assert secret not in stored()
    assert seed() not in stored()
    assert not any(code in stored() for code in codes)
    assert stored().count("sealed:") == 2


def test_a_secret_sealed_by_a_former_key_still_signs_in(sign_in: SignIn, alice: User) -> None:
    secret, codes = with_app(sign_in(alice))
    with override_settings(SECRET_KEY=SECOND_KEY, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert is_in(with_code(alice, code_of(secret))[0])
        assert is_in(with_code(alice, codes[0])[0])


def test_a_former_key_is_needed_no_more_once_all_is_sealed_by_the_present_one(sign_in: SignIn, alice: User) -> None:
    secret, codes = with_app(sign_in(alice))
    with override_settings(SECRET_KEY=SECOND_KEY, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        secret_encryption.seal_all()
    with override_settings(SECRET_KEY=SECOND_KEY):
        assert is_in(with_code(alice, code_of(secret))[0])
        assert is_in(with_code(alice, codes[0])[0])


def test_an_app_that_was_set_up_before_there_were_seals_still_signs_in(alice: User) -> None:
    secret = generate_totp_secret()
    lies_open(alice, secret)
    assert is_in(with_code(alice, code_of(secret))[0])


def test_what_lay_open_is_sealed_at_the_next_start_and_then_left_alone(alice: User, bob: User) -> None:
    secret = generate_totp_secret()
    lies_open(alice, secret)
    Authenticator.objects.create(user=bob, type="webauthn", data={"name": "Bob's", "credential": {}})
    secret_encryption.seal_all()
    first = stored()
    assert secret not in first
    secret_encryption.seal_all()
    assert stored() == first
    assert is_in(with_code(alice, code_of(secret))[0])


@pytest.mark.django_db(transaction=True)
def test_each_start_seals(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.process.startup.install_broker", lambda: None)
    secret = generate_totp_secret()
    lies_open(alice, secret)
    assert prepare_database(lambda: "Sign in.") == "Sign in."
    assert secret not in stored()


def test_with_a_lost_key_every_code_is_wrong_and_no_page_breaks(
    sign_in: SignIn, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    secret, codes = with_app(sign_in(alice))
    nothing = [code_of(""), code_of("AAAAAAAAAAAAAAAA")]
    with override_settings(SECRET_KEY=SECOND_KEY):
        for code in (code_of(secret), codes[0], *nothing):
            client, answer = with_code(alice, code)
            assert "Incorrect code" in text(answer)
            assert not is_in(client)
    assert "manage.py turn_off_second_factor" in caplog.text
    assert secret not in caplog.text


def test_a_lost_key_is_told_and_what_it_sealed_stays_in_case_it_is_found(
    sign_in: SignIn, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    secret, _ = with_app(sign_in(alice))
    before = stored()
    secret_encryption.seal_all()
    assert not caplog.text
    with override_settings(SECRET_KEY=SECOND_KEY):
        secret_encryption.seal_all()
    assert caplog.text.count("2 second-factor secrets were encrypted with another SECRET_KEY") == 1
    assert stored() == before
    assert is_in(with_code(alice, code_of(secret))[0])


def test_an_operator_lets_somebody_in_whose_key_is_lost(sign_in: SignIn, alice: User) -> None:
    with_app(sign_in(alice))
    with override_settings(SECRET_KEY=SECOND_KEY):
        call_command("turn_off_second_factor", alice.email, stdout=StringIO())
        client, _ = sign_in_with_password(alice.email)
        assert is_in(client)
        secret, _ = with_app(confirmed(client))
        assert is_in(with_code(alice, code_of(secret))[0])


@override_settings(SECRET_KEY=SECOND_KEY)
def test_whoever_comes_in_without_a_code_is_told_to_make_what_is_lost_anew(sign_in: SignIn, alice: User) -> None:
    with override_settings(SECRET_KEY="a key that is lost"):
        TOTP.activate(alice, generate_totp_secret())
        RecoveryCodes.activate(alice)
    client = confirmed(sign_in(alice))
    for page in ("settings_security", "mfa_index"):
        html = text(client.get(reverse(page), follow=True))
        assert "your authenticator app's codes no longer work" in html
        assert "so your recovery codes no longer work" in html
    for page in ("mfa_view_recovery_codes", "mfa_download_recovery_codes"):
        assert client.get(reverse(page))["Location"] == reverse("settings_security"), "no invented codes"
    client.post(reverse("mfa_generate_recovery_codes"))
    codes = re.findall(r"<li>(\d{8})</li>", text(client.get(reverse("mfa_view_recovery_codes"))))
    assert is_in(with_code(alice, codes[0])[0])


# The library's pages stand in our look ------------------------------------------------------------------------------

SIGNED_OUT = [
    "account_login", "account_signup", "account_inactive", "account_reset_password", "account_reset_password_done",
    "account_reset_password_from_key_done", "account_email_verification_sent",
]  # fmt: skip
SIGNED_IN = [
    "account_logout", "account_email", "account_change_password", "account_reauthenticate", "mfa_index",
    "mfa_activate_totp", "mfa_list_webauthn", "mfa_add_webauthn", "usersessions_list",
]  # fmt: skip
OURS = ('<header class="topbar">', "css/recall.css")


def in_our_look(answer: Any) -> None:
    html = text(answer)
    assert answer.status_code == 200
    assert all(sign in html for sign in OURS)
    scripts = re.findall(r"<script(?![^>]* src=)(?![^>]*application/json)[^>]*>", html)
    assert scripts == [], "inline scripts are refused by the policy"
    assert "style=" not in html.partition("<main")[2]


@pytest.mark.parametrize("name", SIGNED_OUT)
def test_a_page_for_everyone_is_in_our_look(name: str, client: Client, db: None) -> None:
    in_our_look(client.get(reverse(name), follow=True))


@pytest.mark.parametrize("name", SIGNED_IN)
def test_a_page_for_those_who_are_signed_in_is_in_our_look(name: str, sign_in: SignIn, alice: User) -> None:
    in_our_look(confirmed(sign_in(alice)).get(reverse(name), follow=True))


def test_pages_that_need_a_second_factor_are_in_our_look(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    with_app(client)
    for name in (
        "mfa_deactivate_totp", "mfa_view_recovery_codes", "mfa_generate_recovery_codes", "mfa_reauthenticate",
    ):  # fmt: skip
        in_our_look(client.get(reverse(name), follow=True))
    in_our_look(sign_in_with_password(alice.email)[0].get(reverse("mfa_authenticate")))


@pytest.mark.parametrize("link", ["/accounts/confirm-email/none/", "/accounts/password/reset/key/1-none/"])
def test_a_link_that_is_too_old_says_so_in_our_look(link: str, client: Client, db: None) -> None:
    answer = client.get(link)
    in_our_look(answer)
    assert "no longer works" in text(answer)


def test_whoever_has_no_password_sets_one_in_our_look(sign_in: SignIn, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    in_our_look(sign_in(alice).get(reverse("account_set_password")))


def test_too_many_attempts_are_refused_in_our_look(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    answers = [client.post("/accounts/reauthenticate/", {"password": "wrong"}) for _ in range(12)]
    assert answers[-1].status_code == 429
    assert "Too many attempts" in text(answers[-1])
    assert OURS[0] in text(answers[-1])


# Passkeys that are none -------------------------------------------------------------------------------------------

ANSWER = {
    "id": "AAAA",
    "rawId": "AAAA",
    "type": "public-key",
    "response": {"clientDataJSON": "e30", "attestationObject": "oA", "authenticatorData": "AAAA", "signature": "AAAA"},
}
NO_ANSWERS = {
    "a number": "0",
    "false": "false",
    "a number of thousands of digits": "1" * 5_000,
    "brackets without end": "[" * 100_000,
    "an id alone": '{"id": 1}',
    "a response without its parts": json.dumps({**ANSWER, "response": {}}),
    "an empty attestation": json.dumps(ANSWER),
    "no base64": json.dumps({**ANSWER, "rawId": "!"}),
}


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_what_is_no_passkey_is_refused_and_not_stored(kind: str, sign_in: SignIn, alice: User) -> None:
    client = confirmed(sign_in(alice))
    page = client.get(reverse("mfa_add_webauthn"))
    answer = client.post(reverse("mfa_add_webauthn"), {"credential": NO_ANSWERS[kind], "name": "Phone"})
    assert (page.status_code, answer.status_code) == (200, 200)
    assert not Authenticator.objects.exists()
    assert client.get(reverse("mfa_add_webauthn")).status_code == 200


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_and_signs_no_one_in(kind: str, client: Client, alice: User) -> None:
    answer = client.post(reverse("mfa_login_webauthn"), {"credential": NO_ANSWERS[kind]})
    assert answer["Location"] == reverse("account_login")
    assert not is_in(client)


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_and_is_no_second_factor(kind: str, sign_in: SignIn, alice: User) -> None:
    with_app(sign_in(alice))
    client, asked = sign_in_with_password(alice.email)
    assert client.post(asked["Location"], {"credential": NO_ANSWERS[kind]}).status_code == 200
    assert not is_in(client)
