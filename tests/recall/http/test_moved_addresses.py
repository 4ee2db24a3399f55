"""Old addresses lead to the pages that took their place, for good."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from recall.http.moved_addresses import MOVED

SignIn = Callable[[Any], Client]
STORY = UUID(int=7)


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("/memory/", "/memory/about"),
        ("/memory/?q=where+is+Mary%3F&folder=/projects", "/search?q=where+is+Mary%3F&folder=/projects"),
        ("/memory/profile", "/memory/about"),
        ("/memory/profile?show=past", "/memory/about?show=past"),
        ("/memory/profile?at=2026-03-01", "/memory/time-travel?at=2026-03-01"),
        ("/memory/profile/documents/7/history", "/memory/versions/7"),
        ("/memory/profile/documents/7/history/2", "/memory/versions/7/2"),
        ("/memory/episodes", "/memory/timeline"),
        (f"/memory/episodes/{STORY}", f"/memory/timeline/{STORY}"),
        ("/memory/policies", "/memory/rules"),
        ("/memory/review/decisions", "/memory/history"),
        ("/memory/looks", "/memory/access-log"),
        ("/memory/tidied", "/memory/rules#clean-up"),
        ("/budget", "/usage"),
        ("/budget/plan", "/usage/advanced#plan"),
        ("/budget/limits", "/usage#limits"),
        ("/settings/memory", "/memory/rules"),
        ("/settings/appearance", "/settings#appearance"),
        ("/settings/sign-in", "/settings/security"),
        ("/settings/sessions", "/settings/security#sessions"),
        ("/accounts/2fa/", "/settings/security"),
        ("/accounts/sessions/", "/settings/security#sessions"),
    ],
)
def test_an_old_address_leads_to_its_page_for_good(client: Client, old: str, now: str) -> None:
    response = client.get(old)
    assert (response.status_code, response["Location"]) == (301, now)


@pytest.mark.django_db
@pytest.mark.parametrize("old", [old for old, _, _ in MOVED if "<" not in old])
def test_where_it_leads_there_is_a_page(sign_in: SignIn, alice: Any, old: str) -> None:
    assert sign_in(alice).get(f"/{old}", follow=True).status_code == 200


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("/settings/", "/settings"), ("/memory/review/?page=2", "/memory/review?page=2"), ("/docs//", "/docs")],
)
def test_a_slash_too_many_leads_to_the_page(client: Client, typed: str, meant: str) -> None:
    response = client.get(typed)
    assert (response.status_code, response["Location"]) == (301, meant)


@pytest.mark.parametrize("typed", ["//example.org//", "///example.org//", "//example.org///", "/\\example.org//"])
def test_no_address_leads_to_another_server(client: Client, typed: str) -> None:
    assert client.generic("GET", "/", PATH_INFO=typed).status_code == 404


@pytest.mark.parametrize("typed", ["/nowhere", "/nowhere/", "/%2Fexample.com/", "/settings/nowhere/"])
def test_where_there_is_no_page_an_address_leads_nowhere(client: Client, typed: str) -> None:
    assert client.get(typed).status_code == 404
