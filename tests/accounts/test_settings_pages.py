"""The settings: each page shows the user's own, saves in place or through a plain form, and explains errors."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.api import keys
from accounts.devices import device_of
from accounts.models import ApiKey, User
from chat.pages import settings as settings_pages
from memory.models import Fact
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
HTMX = {"HX-Request": "true"}


def text(response: Any) -> str:
    html: str = response.content.decode()
    return html


def confirmed(client: Client) -> Client:
    """A client whose user has just typed the password again."""
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


@pytest.mark.parametrize("section", settings_pages.SECTIONS, ids=lambda one: one.label)
def test_each_section_is_reached_from_each_and_knows_itself(section: Any, sign_in: SignIn, alice: User) -> None:
    html = text(sign_in(alice).get(reverse(section.url_name)))
    for other in settings_pages.SECTIONS:
        current = ' aria-current="page"' if other is section else ""
        assert f'<a href="{reverse(other.url_name)}"{current}>{other.label}</a>' in html


def test_pages_of_the_library_stand_below_their_section(sign_in: SignIn, alice: User) -> None:
    html = text(sign_in(alice).get("/accounts/password/change/"))
    assert re.search(r'aria-current="true">Security<', html)


def test_an_only_address_offers_no_choice(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    EmailAddress.objects.update_or_create(user=alice, email=alice.email, defaults={"primary": True})
    assert 'type="radio"' not in text(client.get("/accounts/email/"))
    EmailAddress.objects.create(user=alice, email="second@example.org")
    assert text(client.get("/accounts/email/")).count('type="radio"') == 2


def test_password_fields_have_labels_in_sentence_case(sign_in: SignIn, alice: User) -> None:
    html = text(sign_in(alice).get("/accounts/password/change/"))
    assert re.findall(r"<label[^>]*>([^<]+ password)</label>", html) == ["Current password", "New password"]


def test_without_a_key_there_is_one_button_to_create_one(sign_in: SignIn, alice: User) -> None:
    assert text(confirmed(sign_in(alice)).get("/settings/keys")).count("Create key</a>") == 1


def test_a_large_limit_is_in_gigabytes(sign_in: SignIn, alice: User) -> None:
    assert "up to 1 GB." in text(sign_in(alice).get("/import"))


# Profile -----------------------------------------------------------------------------------------------------------


PROFILE = {"preferred_name": "Alice", "time_zone": "UTC", "language": "english"}


def test_another_language_is_saved_and_the_words_are_read_anew(
    sign_in: SignIn,
    alice: User,
    queued: list[tuple[str, tuple[str | int, ...]]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    page = text(sign_in(alice).get(reverse("settings_account")))
    assert '<option value="english" selected>English</option>' in page

    with django_capture_on_commit_callbacks(execute=True):
        sign_in(alice).post(reverse("settings_account"), PROFILE, headers=HTMX)
    assert queued == []
    with django_capture_on_commit_callbacks(execute=True):
        sign_in(alice).post(reverse("settings_account"), {**PROFILE, "language": "german"}, headers=HTMX)
    alice.refresh_from_db()
    assert (alice.language, sorted(alice.words_in)) == ("german", ["english", "german"])
    assert queued == [("memory.tasks.reword", (alice.pk,))]


def test_a_language_that_is_none_is_refused(sign_in: SignIn, alice: User) -> None:
    answer = sign_in(alice).post(
        reverse("settings_account"), {**PROFILE, "language": "english'); DROP TABLE"}, headers=HTMX
    )
    assert answer.status_code == 422
    alice.refresh_from_db()
    assert alice.language == "english"


def test_name_and_time_zone_are_saved_in_place(sign_in: SignIn, alice: User) -> None:
    answer = sign_in(alice).post(
        reverse("settings_account"), {**PROFILE, "preferred_name": "Lis", "time_zone": "America/New York"}, headers=HTMX
    )
    assert "Saved." in text(answer)
    assert "<html" not in text(answer)
    alice.refresh_from_db()
    assert (alice.preferred_name, alice.time_zone) == ("Lis", "America/New_York")


def test_without_javascript_the_page_comes_back_and_says_saved(sign_in: SignIn, alice: User) -> None:
    answer = sign_in(alice).post(reverse("settings_account"), {**PROFILE, "preferred_name": ""}, follow=True)
    assert answer.redirect_chain == [(reverse("settings_account"), 302)]
    assert "Saved." in text(answer)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_time_zone_that_is_none_is_refused_and_nothing_changed(
    headers: dict[str, str], sign_in: SignIn, alice: User
) -> None:
    answer = sign_in(alice).post(
        reverse("settings_account"), {**PROFILE, "preferred_name": "Lis", "time_zone": "Mars/Olympus"}, headers=headers
    )
    assert answer.status_code == 422
    assert "a time zone. Choose one such as" in text(answer)
    alice.refresh_from_db()
    assert (alice.preferred_name, alice.time_zone) == ("Alice", "Europe/Lisbon")


def test_the_list_offers_places_and_each_of_them_is_taken(sign_in: SignIn, alice: User) -> None:
    offered = settings_pages.time_zones()
    assert {"UTC", "Europe/Lisbon", "America/Argentina/Buenos_Aires"} <= set(offered)
    assert not [name for name in offered if name.startswith(("Etc/", "US/"))]
    assert '<option value="Asia/Tokyo">' in text(sign_in(alice).get(reverse("settings_account")))


# Model -------------------------------------------------------------------------------------------------------------


def test_model_and_effort_of_new_conversations_are_chosen(sign_in: SignIn, alice: User) -> None:
    answer = sign_in(alice).post(
        reverse("settings_model"), {"model": "claude-opus-5-5", "effort": "high"}, headers=HTMX
    )
    assert "Saved." in text(answer)
    alice.refresh_from_db()
    assert (alice.chat_model, alice.effort) == ("claude-opus-5-5", "high")


def test_the_default_model_is_stored_as_no_choice(sign_in: SignIn, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(chat_model="claude-opus-5-5")
    sign_in(alice).post(reverse("settings_model"), {"model": settings.ENVIRONMENT.chat_model, "effort": ""})
    alice.refresh_from_db()
    assert alice.chat_model == ""


@pytest.mark.parametrize("fields", [{"model": "gpt-0"}, {"model": "", "effort": "heroic"}])
def test_a_model_or_effort_there_is_not_is_refused(fields: dict[str, str], sign_in: SignIn, alice: User) -> None:
    answer = sign_in(alice).post(reverse("settings_model"), fields)
    assert answer.status_code == 422
    assert "is not available" in text(answer)
    alice.refresh_from_db()
    assert (alice.chat_model, alice.effort) == ("", "")


# Data, appearance --------------------------------------------------------------------------------------------------


def test_the_page_of_data_says_what_there_is_and_leads_to_each_way_out(sign_in: SignIn, alice: User) -> None:
    Fact.objects.create(user=alice, statement="Known", status="active")
    html = text(sign_in(alice).get(reverse("settings_data")))
    assert '<span class="number">1</span> fact.' in html
    for name in ("export", "import", "memory:access_log", "memory:forgotten", "memory:forget", "delete_account"):
        assert f'href="{reverse(name)}' in html, name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_holds_from_the_next_first_byte_on(theme: str, sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    client.post(reverse("settings_theme"), {"theme": theme})
    assert f'data-theme="{theme}"' in text(client.get(reverse("settings_account")))
    client.post(reverse("settings_theme"), {"theme": ""})
    assert "data-theme=" not in text(client.get("/settings/data"))


def test_a_theme_there_is_not_is_not_kept(sign_in: SignIn, alice: User) -> None:
    assert sign_in(alice).post(reverse("settings_theme"), {"theme": "neon"}).status_code == 404


# API keys ----------------------------------------------------------------------------------------------------------

NEW = {"name": "Notes", "scopes": ["chat:read", "memory:read"], "lifetime": "30"}


def test_making_a_key_asks_who_one_is_first(sign_in: SignIn, alice: User) -> None:
    for answer in (sign_in(alice).get(reverse("make_key")), sign_in(alice).post(reverse("make_key"), NEW)):
        assert answer["Location"].startswith("/accounts/reauthenticate/")
    assert not ApiKey.objects.exists()


def test_a_key_is_shown_once_and_works(sign_in: SignIn, alice: User) -> None:
    client = confirmed(sign_in(alice))
    html = text(client.post(reverse("make_key"), NEW))
    shown = re.search(r'id="secret"[^>]* value="(rcl_[^"]+)"', html)
    assert shown
    holder = keys.find_active_key(shown[1])
    assert holder is not None
    assert (holder.user, holder.name, holder.scopes) == (alice, "Notes", ["chat:read", "memory:read"])
    assert holder.expires_at is not None
    assert timedelta(days=29) < holder.expires_at - timezone.now() < timedelta(days=30, minutes=1)
    again = text(client.get(reverse("settings_keys")))
    assert shown[1] not in again
    assert f"{holder.prefix}…" in again


def test_a_key_without_a_name_or_scope_is_refused_with_what_was_ticked(sign_in: SignIn, alice: User) -> None:
    client = confirmed(sign_in(alice))
    answer = client.post(reverse("make_key"), {**NEW, "name": " ", "scopes": ["forget"]})
    assert answer.status_code == 422
    assert "Name the key" in text(answer)
    assert 'value="forget" checked' in text(answer)
    assert "Choose at least one scope" in text(client.post(reverse("make_key"), {**NEW, "scopes": []}))
    assert not ApiKey.objects.exists()


def test_an_end_that_is_not_offered_becomes_the_proposed_one(sign_in: SignIn, alice: User) -> None:
    confirmed(sign_in(alice)).post(reverse("make_key"), {**NEW, "lifetime": "9999999999"})
    end = ApiKey.objects.get().expires_at
    assert end is not None
    assert end < timezone.now() + timedelta(days=91)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_revoked_key_opens_nothing_and_stays_in_the_list(
    headers: dict[str, str], sign_in: SignIn, alice: User
) -> None:
    row, secret = keys.create_key(alice, "Notes", ["chat:read"])
    client = sign_in(alice)
    html = text(client.post(reverse("revoke_key", args=[row.pk]), headers=headers, follow=True))
    assert keys.find_active_key(secret) is None
    assert "revoked" in html
    assert reverse("revoke_key", args=[row.pk]) not in html
    assert client.post(reverse("revoke_key", args=[row.pk])).status_code == 404, "it is revoked once"


def test_keys_that_work_stand_before_those_that_do_not(alice: User) -> None:
    made = {name: keys.create_key(alice, name, ["chat:read"])[0] for name in ("old", "revoked", "new")}
    keys.revoke(alice, made["revoked"].pk)
    ApiKey.objects.filter(pk=made["old"].pk).update(expires_at=timezone.now() - timedelta(days=1))
    rows = settings_pages.key_rows(alice, timezone.now())
    assert [(row.key.name, row.ended) for row in rows] == [("new", ""), ("revoked", "revoked"), ("old", "expired")]


# Devices -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user_agent", "told"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140 Safari/537.36 Edg/140", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) AppleWebKit/605 Version/19 Safari/604", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537 Chrome/140 Mobile Safari/537", "Chrome on Android"),
        ("curl/8.14", "curl"),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_is_called_as_people_know_it(user_agent: str, told: str) -> None:
    assert device_of(user_agent) == told
