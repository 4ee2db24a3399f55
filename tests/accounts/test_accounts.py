"""Signing up, in and out, and the password: by email address alone."""

import re
import subprocess
import sys
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from accounts.api import keys
from accounts.models import User, validate_time_zone
from chat.models import Conversation, Message
from recall.http.context_processors import LOGGED
from tests.conftest import PASSWORD
from tests.running import PROJECT, clean_environment

pytestmark = pytest.mark.django_db

NEW = {"email": "dora@example.org", "password1": PASSWORD, "preferred_name": "Dora"}
ANOTHER_PASSWORD = "an entirely other phrase"


def sign_up(client: Client, **fields: str) -> Any:
    return client.post("/accounts/signup/", {**NEW, **fields})


def test_a_new_person_signs_up_and_is_in_the_chat(client: Client) -> None:
    response = sign_up(client, time_zone="Europe/Lisbon")
    assert response["Location"] == "/"
    dora = User.objects.get(email="dora@example.org")
    assert (dora.preferred_name, dora.time_zone, dora.is_staff) == ("Dora", "Europe/Lisbon", False)
    assert client.get("/").status_code == 200


def test_a_new_person_writes_in_the_language_their_browser_asks_for(client: Client) -> None:
    client.post("/accounts/signup/", NEW, headers={"accept-language": "sv-SE,sv;q=0.9,en;q=0.8"})
    dora = User.objects.get()
    assert (dora.language, "swedish" in dora.words_in) == ("swedish", True)


@pytest.mark.parametrize("time_zone", ["", "Mars/Olympus", "../../etc/passwd"])
def test_a_time_zone_that_is_none_becomes_utc(client: Client, time_zone: str) -> None:
    sign_up(client, time_zone=time_zone)
    assert User.objects.get().time_zone == "UTC"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"email": "no address"}, "valid email address"),
        ({"password1": "short"}, "at least 10 characters"),
        ({"password1": "password1234"}, "too common"),
    ],
)
def test_a_wrong_sign_up_says_what_is_wrong(client: Client, fields: dict[str, str], words: str) -> None:
    assert words in sign_up(client, **fields).content.decode()
    assert not User.objects.exists()


def test_a_new_password_is_typed_once_beside_one_line_of_rules(alice: User, client: Client) -> None:
    pages = [client.get("/accounts/signup/")]
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    pages.append(client.get("/accounts/password/change/"))
    for page in pages:
        text = page.content.decode()
        assert text.count('autocomplete="new-password"') == 1
        assert re.findall(r'id="id_password1_helptext">(.*?)</div>', text) == ["At least 10 characters."]


def test_with_mail_a_known_address_gets_the_answer_of_a_new_one(
    alice: User, settings: Any, mailoutbox: list[EmailMessage]
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    new, known = (sign_up(Client(), email=email) for email in ("dora@example.org", alice.email))
    assert (new.status_code, new["Location"]) == (known.status_code, known["Location"])
    assert new["Location"] == reverse("account_email_verification_sent")
    assert sorted(mail.to for mail in mailoutbox) == [[alice.email], ["dora@example.org"]]
    assert User.objects.filter(email__in=[alice.email, "dora@example.org"]).count() == 2
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


@pytest.mark.parametrize(("address", "verification"), [("", "optional"), ("smtp://mail.example.org", "mandatory")])
def test_addresses_are_verified_where_mail_can_be_sent(address: str, verification: str) -> None:
    said = "from django.conf import settings; print(settings.ACCOUNT_EMAIL_VERIFICATION)"
    environment = clean_environment(DJANGO_SETTINGS_MODULE="recall.settings", SECRET_KEY="x" * 50, EMAIL_URL=address)
    command = [sys.executable, "-c", said]
    assert subprocess.check_output(command, cwd=PROJECT, env=environment, text=True).strip() == verification


def test_an_address_is_one_person_whatever_its_case(alice: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("ALICE@example.org", PASSWORD)


def test_alice_signs_in_and_out(alice: User, client: Client) -> None:
    signed_in = client.post("/accounts/login/", {"login": "Alice@Example.org", "password": PASSWORD})
    assert signed_in["Location"] == "/"
    assert client.get("/").status_code == 200
    client.post("/accounts/logout/")
    assert client.get("/memory/about")["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "http:evil.example", "http://[::1",
     "javascript:alert(1)", "http://testserver@evil.example/"],
)  # fmt: skip
def test_no_sign_in_leads_to_another_site(alice: User, client: Client, address: str) -> None:
    fields = {"login": alice.email, "password": PASSWORD, "next": address}
    assert client.post("/accounts/login/", fields)["Location"] == "/"
    assert client.get("/accounts/login/", {"next": address})["Location"] == "/"
    assert client.post("/accounts/reauthenticate/", fields)["Location"] == "/"
    assert client.post("/accounts/logout/", fields)["Location"] == "/"


def test_a_wrong_password_does_not_say_whether_the_address_is_known(alice: User, client: Client) -> None:
    known = client.post("/accounts/login/", {"login": alice.email, "password": "wrong"}).content.decode()
    unknown = client.post("/accounts/login/", {"login": "nobody@example.org", "password": "wrong"}).content.decode()
    wrong = re.compile(r"Wrong email or password\.")
    assert wrong.search(known)
    assert wrong.search(unknown)


def test_the_password_is_changed(alice: User, client: Client) -> None:
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    new = "an entirely other phrase"
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new})
    alice.refresh_from_db()
    assert alice.check_password(new)


def test_the_admin_has_no_page_of_its_own_to_guess_a_password_on(charlie: User, client: Client) -> None:
    client.force_login(charlie)
    fields = {"old_password": PASSWORD, "new_password1": ANOTHER_PASSWORD, "new_password2": ANOTHER_PASSWORD}

    assert client.get("/admin/password_change/").headers["Location"] == "/accounts/password/change/"
    assert client.post("/admin/password_change/", fields).headers["Location"] == "/accounts/password/change/"
    charlie.refresh_from_db()
    assert charlie.check_password(PASSWORD)

    guesses = [{"oldpassword": f"guess {number}", "password1": ANOTHER_PASSWORD} for number in range(6)]
    statuses = [client.post("/accounts/password/change/", guess).status_code for guess in guesses]
    assert statuses == [200] * 5 + [429]


PRINTED = "is in the server log"
SENT = "django.core.mail.backends.locmem.EmailBackend"


@pytest.mark.parametrize("is_printed", [True, False])
def test_a_page_that_tells_of_a_mail_says_where_it_is(client: Client, settings: Any, is_printed: bool) -> None:
    settings.MAILERS = {
        "default": {"BACKEND": LOGGED if is_printed else "django.core.mail.backends.locmem.EmailBackend"}
    }
    address = {"email": f"printed-{is_printed}@example.org"}  # a separate address: mail to the same one is throttled

    signed_up = client.post("/accounts/signup/", NEW | address, follow=True).content.decode()
    client.post("/accounts/logout/")
    reset = client.post("/accounts/password/reset/", address, follow=True).content.decode()

    assert (PRINTED in reset) is is_printed
    assert ("we sent" in reset) is not is_printed
    assert ("Verification link sent" in signed_up) is not is_printed
    assert PRINTED not in signed_up, "a first page is no place for the server's log"


def reset_by_mail(user: User, client: Client, mailoutbox: list[EmailMessage]) -> str:
    """Go through the whole password reset; returns its last page."""
    client.post("/accounts/password/reset/", {"email": user.email})
    link = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", str(mailoutbox[0].body))
    assert link
    page = client.get(link[1], follow=True)
    done = client.post(page.redirect_chain[-1][0], {"password1": ANOTHER_PASSWORD}, follow=True)
    return str(done.content.decode())


def test_a_forgotten_password_is_reset_by_mail(alice: User, client: Client, mailoutbox: list[EmailMessage]) -> None:
    page = reset_by_mail(alice, client, mailoutbox)
    alice.refresh_from_db()
    assert alice.check_password(ANOTHER_PASSWORD)
    assert "Password changed" in page
    assert "API key" not in page, "there were none"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["Notes"], "This account's API key was revoked, in case someone else created it."),
        (["Notes", "Phone"], "All 2 API keys of this account were revoked, in case someone else created them."),
    ],
)
def test_a_reset_password_revokes_every_key_of_that_person_and_says_so(
    names: list[str], told: str, alice: User, bob: User, client: Client, mailoutbox: list[EmailMessage]
) -> None:
    secrets = [keys.create_key(alice, name, ["chat:read"])[1] for name in names]
    _, his = keys.create_key(bob, "Bob's", ["chat:read"])
    page = reset_by_mail(alice, client, mailoutbox)
    assert told in unescape(page)
    assert [keys.find_active_key(secret) for secret in secrets] == [None] * len(names)
    assert keys.find_active_key(his) is not None


@pytest.mark.parametrize(("count", "told"), [(1, "1 API key</a>"), (2, "2 API keys</a>")])
def test_the_page_of_a_new_password_says_how_many_keys_go_on_working(
    count: int, told: str, alice: User, client: Client
) -> None:
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    page = "/accounts/password/change/"
    ended, _ = keys.create_key(alice, "Revoked", ["chat:read"])
    keys.revoke(alice, ended.pk)
    assert "API key</a>" not in client.get(page).content.decode()

    secrets = [keys.create_key(alice, str(number), ["chat:read"])[1] for number in range(count)]
    shown = client.get(page).content.decode()
    assert f'<a href="{reverse("settings_keys")}">{told} will keep working' in shown
    client.post(page, {"oldpassword": PASSWORD, "password1": ANOTHER_PASSWORD})
    assert None not in [keys.find_active_key(secret) for secret in secrets]


def test_pages_tell_times_in_the_persons_own_zone(alice: User, bob: User, client: Client) -> None:
    User.objects.filter(pk=bob.pk).update(time_zone="Asia/Tokyo")
    told = []
    for person in (alice, User.objects.get(pk=bob.pk)):
        talk = Conversation.objects.create(user=person, next_seq=2)
        said_at = datetime(2026, 1, 15, 23, 30, tzinfo=UTC)
        said = Message.objects.create(
            user=person, conversation=talk, seq=1, turn=1, role="user", event_type="user_message", text="Hi",
            created_at=said_at,
        )  # fmt: skip
        Conversation.objects.filter(pk=talk.pk).update(active_leaf=said)
        client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
        told.append(client.get(f"/c/{talk.pk}").content.decode())
    assert "15 Jan" in told[0]
    assert "23:30" in told[0]
    assert "16 Jan" in told[1]
    assert "08:30" in told[1]


def test_a_time_zone_has_to_exist() -> None:
    validate_time_zone("Europe/Lisbon")
    with pytest.raises(ValidationError, match="isn't a time zone"):
        validate_time_zone("Mars/Olympus")


def test_a_form_of_an_older_session_is_told_so_in_plain_words(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)

    response = client.post("/settings", {"name": "Al"})

    assert response.status_code == 403
    assert "reload it and try again" in response.content.decode()
