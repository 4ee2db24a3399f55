"""Sessions: users see where they are signed in and end one or all others, and open sockets end with them."""

import re
import time
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.http.cookie import parse_cookie
from django.test import Client
from django.urls import reverse

from accounts import middleware
from accounts.models import User
from accounts.sessions import KEPT, SESSIONS_CHANGED
from accounts.socket_auth import load_user
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
MESSAGE = '[["__json_message", 0, 25, "Document created at /secret.", ""]]'
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Safari/604.1"


@pytest.fixture
def nudges(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Events that open sockets received."""
    told: list[tuple[str, str]] = []
    monkeypatch.setattr("accounts.adapter.publish_event", lambda group, kind: told.append((group, kind)))
    return told


def signed_in(user: User, user_agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": user_agent})
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return bool(client.get(reverse("settings_account")).status_code == 200)


def row_of(client: Client) -> UserSession:
    found: UserSession = UserSession.objects.get(session_key=client.session.session_key)
    return found


def test_each_session_is_listed_by_its_browser_and_ones_own_is_marked(alice: User) -> None:
    here, _ = signed_in(alice), signed_in(alice, PHONE)
    html = here.get(reverse("settings_security")).content.decode()
    assert "Safari on iPhone" in html
    assert re.search(r"Firefox on Linux\s*<span[^>]*>Current</span>", html)
    assert html.count("127.0.0.1") == 2
    assert "Don't recognize a session? End it" in html


def test_an_only_session_has_nothing_that_one_is_asked_to_end(alice: User) -> None:
    html = signed_in(alice).get(reverse("settings_security")).content.decode()
    assert "Sign out" in html
    assert "End it" not in html


def test_ones_own_session_stands_first(alice: User) -> None:
    for agent in (FIREFOX, PHONE):
        here = signed_in(alice, agent)
        signed_in(alice, PHONE)
        shown = re.findall(r"<h3>.*?</h3>", here.get(reverse("settings_security")).content.decode())
        assert ["Current" in heading for heading in shown][:2] == [True, False]


def test_another_session_is_ended_and_its_sockets_with_it(alice: User, nudges: list[Any]) -> None:
    here, there = signed_in(alice), signed_in(alice, PHONE)
    here.post(reverse("end_session", args=[row_of(there).pk]))
    assert (is_in(here), is_in(there)) == (True, False)
    assert nudges == [(f"user-{alice.pk}", SESSIONS_CHANGED)]
    assert UserSession.objects.count() == 1


def test_all_others_are_ended_at_once(alice: User, nudges: list[Any]) -> None:
    here, *others = [signed_in(alice, agent) for agent in (FIREFOX, PHONE, FIREFOX)]
    assert here.post(reverse("end_other_sessions"))["Location"] == reverse("settings_security")
    assert [is_in(client) for client in (here, *others)] == [True, False, False]
    assert nudges == [(f"user-{alice.pk}", SESSIONS_CHANGED)]


def test_ones_own_session_is_ended_by_signing_out(alice: User) -> None:
    here = signed_in(alice)
    answer = here.post(reverse("end_session", args=[row_of(here).pk]))
    assert answer["Location"] == reverse("account_logout")
    assert is_in(here)


def test_nobody_ends_anothers_session(alice: User, bob: User, nudges: list[Any]) -> None:
    hers, his = signed_in(alice), signed_in(bob)
    assert his.post(reverse("end_session", args=[row_of(hers).pk])).status_code == 404
    his.post(reverse("settings_security"))
    assert is_in(hers)
    assert nudges == []


def test_a_session_from_before_the_list_appears_in_it(alice: User, client: Client) -> None:
    client.force_login(alice)
    assert not UserSession.objects.exists()
    client.get(reverse("settings_account"))
    assert row_of(client).user == alice


def test_that_a_session_is_in_use_is_noted_every_ten_minutes_only(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    here = signed_in(alice)
    here.get(reverse("settings_account"))
    first = row_of(here).last_seen_at
    here.get(reverse("settings_account"))
    assert row_of(here).last_seen_at == first
    now = time.time() + middleware.SEEN_EVERY
    monkeypatch.setattr("accounts.middleware.time.time", lambda: now)
    here.get(reverse("settings_account"))
    assert row_of(here).last_seen_at > first


def test_a_page_is_shown_while_nothing_can_be_written(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    here = signed_in(alice)
    here.get(reverse("settings_account"))

    def full(*_: Any, **__: Any) -> None:
        raise OperationalError("could not extend file: No space left on device")

    now = time.time() + middleware.SEEN_EVERY
    monkeypatch.setattr("accounts.middleware.time.time", lambda: now)
    monkeypatch.setattr("accounts.middleware.UserSession.objects.create_from_request", full)
    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.save", full)
    assert here.get(reverse("settings_account")).status_code == 200


def test_forgetting_everything_leaves_no_words_in_any_session(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice, PHONE)
    for client in (here, there):
        session = client.session
        session.update({"moved": ["/secret/path", "/x"], "name": "Alice", "_messages": MESSAGE})
        session.save()
    page = here.get(reverse("memory:forget"), {"what": "everything"}).content.decode()
    fields = dict(re.findall(r'name="(what|expected)" value="([^"]*)"', page))
    assert here.post(reverse("memory:forget"), {**fields, "confirmed": "forget everything"}).status_code == 302
    assert (is_in(here), is_in(there)) == (True, True)
    for client in (here, there):
        assert set(client.session.keys()) - KEPT <= {"_messages"}
        assert "secret" not in str(dict(client.session))


def test_a_new_password_ends_all_other_sessions_and_keeps_this_one(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice, PHONE)
    new = "an entirely other phrase"
    here.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new})
    assert (is_in(here), is_in(there)) == (True, False)
    html = here.get(reverse("settings_security")).content.decode()
    assert "Safari on iPhone" not in html
    assert ">Current</span>" in html


@pytest.mark.parametrize("usable", ["true", "false"])
def test_a_password_that_staff_set_or_remove_closes_open_sockets(
    alice: User, staff: Client, usable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, told = signed_in(alice), list[tuple[str, str]]()
    monkeypatch.setattr("accounts.sessions.publish_event", lambda group, kind: told.append((group, kind)))
    new = "an entirely other phrase"
    fields = {"password1": new, "password2": new, "usable_password": usable, "set-password": ""}
    fields |= {"unset-password": ""} if usable == "false" else {}
    staff.post(reverse("admin:auth_user_password_change", args=[alice.pk]), fields)
    alice.refresh_from_db()
    assert (alice.has_usable_password(), is_in(there)) == (usable == "true", False)
    assert told == [(f"user-{alice.pk}", SESSIONS_CHANGED)]


@pytest.mark.parametrize("key", ["aaaaaaaa\\000", "é" * 32, "' OR 1=1 --"])
def test_a_cookie_that_no_session_has_is_nobodys(key: str, db: None) -> None:
    cookie = f'sessionid="{key}"'
    assert Client().get("/conversations", headers={"cookie": cookie}).status_code == 302
    assert isinstance(load_user(str(parse_cookie(cookie)["sessionid"])), AnonymousUser)
