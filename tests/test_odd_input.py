"""Whatever is typed into a form or an address is answered with a page or a sentence, never with a fault."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from budget.models import Receipt
from recall.views import BAD_REQUEST
from tests.test_isolation import Hers, hers

__all__ = ["hers"]
pytestmark = pytest.mark.django_db

LONG = "1" * 5_000
"""Python refuses to read a number of more than 4,300 digits."""

# What is typed where → method, address, and fields.
TYPED: dict[str, Callable[[Hers], tuple[str, str, dict[str, Any]]]] = {
    "a part of a document": lambda h: ("get", reverse("memory:documents"), {"path": h.document.path, "part": LONG}),
    "a draft": lambda h: ("get", reverse("attachments"), {"id": LONG}),
    "a wording": lambda h: ("post", reverse("memory:merge"), {"fact": [h.fact.pk], "into": LONG}),
    "a size": lambda h: ("post", reverse("usage_plan"), {"preset": "standard", "total": LONG}),
}


@pytest.mark.parametrize("typed", TYPED)
def test_a_number_of_thousands_of_digits_is_no_number(typed: str, hers: Hers, alice: Any, client: Client) -> None:
    Receipt.objects.update(estimated_input=1)  # the plan compares sizes with the latest prompt's
    method, address, fields = TYPED[typed](hers)
    client.force_login(alice)
    assert getattr(client, method)(address, fields).status_code in (200, 422)


@pytest.mark.parametrize(
    ("page", "fields"),
    [
        ("answers", {"until": ""}),
        ("search", {"q": "garlic", "in": "facts", "since": "", "until": "", "as_of": ""}),
        ("search", {"q": "garlic", "in": "conversations", "since": "", "until": ""}),
    ],
)
def test_the_last_day_of_the_calendar_is_answered(
    page: str, fields: dict[str, str], alice: Any, client: Client
) -> None:
    client.force_login(alice)
    for name in [name for name, value in fields.items() if not value]:
        typed = {**{one: value for one, value in fields.items() if value}, name: "9999-12-31"}
        assert client.get(reverse(page), typed).status_code in (200, 422), name


def test_a_name_with_a_nul_is_taken_without_it(alice: Any, client: Client) -> None:
    client.force_login(alice)
    client.post(reverse("stated"), {"column": "preferred_name", "value": "Ali\x00ce", "answer": "yes"})
    alice.refresh_from_db()
    assert alice.preferred_name == "Alice"


def test_a_fingerprint_that_is_none_is_not_the_previews(hers: Hers, alice: Any, client: Client) -> None:
    client.force_login(alice)
    fields = {"what": "fact", "id": hers.fact.pk, "expected": "é"}
    assert client.post(reverse("memory:forget"), fields).status_code == 409


def test_an_origin_with_a_nul_has_nothing_to_read(alice: Any, client: Client) -> None:
    client.force_login(alice)
    assert client.post(reverse("read_imported"), {"origin": "chatgpt\x00"}).status_code == 302


UNREADABLE = {
    "another encoding": ("application/x-www-form-urlencoded; charset=utf-16", b"name=Cook"),
    "thousands of fields": ("application/x-www-form-urlencoded", b"&".join(b"f%d=1" % n for n in range(2_000))),
    "no boundary": ("multipart/form-data", b"name=Cook"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_form_that_cannot_be_read_is_answered_with_a_page(kind: str, alice: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    client.get(reverse("roles"))  # sets the cookie
    media_type, body = UNREADABLE[kind]
    response = client.generic("POST", reverse("roles"), body, content_type=media_type)
    assert (response.status_code, BAD_REQUEST in unescape(response.content.decode())) == (400, True)


# For staff -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def staff(charlie: Any, client: Client) -> Client:
    charlie.user_permissions.set(Permission.objects.filter(codename__in=["view_fact", "change_fact", "view_user"]))
    client.force_login(charlie)
    return client


@pytest.mark.parametrize("typed", ["a\x00b", LONG])
def test_staff_may_type_anything_too(typed: str, hers: Hers, staff: Client) -> None:
    queue = reverse("admin:memory_fact_queue")
    assert staff.get(reverse("admin:accounts_user_changelist"), {"q": typed}, follow=True).status_code == 200
    assert staff.get(queue, dict.fromkeys(["user", "kind", "after"], typed)).status_code == 200
    for fields in ({"undo": typed}, {"one": f"accept:{typed}"}, {"fact": [typed], "verb": "reject"}):
        assert staff.post(f"{queue}decide/", fields, follow=True).status_code == 200
    merged = {"fact": [hers.fact.pk, hers.action.fact_id], "verb": "merge", "merged": typed}
    assert staff.post(f"{queue}decide/", merged, follow=True).status_code == 200
