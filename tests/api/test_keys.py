"""A key lets a program act as its owner, within its scopes, while it is valid."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from accounts.api import keys
from accounts.models import ApiKey
from memory.models import Document
from tests.api.rows import AT, with_key

pytestmark = pytest.mark.django_db
FACTS = f"{AT}/memory/facts"


def test_a_key_is_kept_as_its_digest_only(alice: Any) -> None:
    row, secret = keys.create_key(alice, " Notes  on my phone ", ["memory:read", "chat:read"])

    assert secret.startswith("rcl_")
    assert len(secret) >= 47, "256 bits in base64"
    assert row.name == "Notes on my phone"
    assert row.scopes == ["chat:read", "memory:read"]
    assert secret.startswith(row.prefix)
    stored = str(ApiKey.objects.values().get(pk=row.pk))
    assert secret not in stored
    assert secret.removeprefix(row.prefix) not in stored


def test_no_two_keys_are_alike(alice: Any) -> None:
    assert len({keys.create_key(alice, "one", ["export"])[1] for _ in range(20)}) == 20


@pytest.mark.parametrize(
    ("name", "scopes", "expires"),
    [("", ["export"], None), ("x" * 81, ["export"], None), ("one", [], None), ("one", ["everything"], None),
     ("one", ["export"], timedelta(seconds=-1))],
)  # fmt: skip
def test_a_key_needs_a_name_a_scope_and_an_end_to_come(
    name: str, scopes: list[str], expires: timedelta | None, alice: Any
) -> None:
    with pytest.raises(ValidationError, match=r"Name|Choose"):
        keys.create_key(alice, name, scopes, timezone.now() + expires if expires else None)
    assert not ApiKey.objects.exists()


def test_its_holder_is_found_until_it_is_revoked_or_expires(alice: Any, bob: Any) -> None:
    row, secret = keys.create_key(alice, "one", ["export"], timezone.now() + timedelta(days=1))

    found = keys.find_active_key(secret)
    assert found is not None
    assert found.user == alice
    assert not keys.revoke(bob, row.pk), "it is Alice's"
    assert keys.revoke(alice, row.pk)
    assert keys.find_active_key(secret) is None
    assert not keys.revoke(alice, row.pk), "it is done"

    old, secret = keys.create_key(alice, "two", ["export"])
    ApiKey.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    assert keys.find_active_key(secret) is None


def test_the_key_of_a_locked_account_opens_nothing(alice: Any) -> None:
    _, secret = keys.create_key(alice, "one", ["export"])
    alice.is_active = False
    alice.save()
    assert keys.find_active_key(secret) is None


@pytest.mark.parametrize("wrong", ["", "rcl_", "rcl_" + "x" * 10_000, "rcl_\x00", "rcl_\ud800", "sk-something"])
def test_what_is_no_key_has_no_holder(wrong: str, db: None) -> None:
    assert keys.find_active_key(wrong) is None


def test_its_use_is_noted_once_a_minute(alice: Any, django_assert_num_queries: Any) -> None:
    row, secret = keys.create_key(alice, "one", ["export"])
    keys.find_active_key(secret)
    row.refresh_from_db()
    first = row.last_used_at
    assert first is not None
    with django_assert_num_queries(1):
        keys.find_active_key(secret)
    ApiKey.objects.filter(pk=row.pk).update(last_used_at=first - timedelta(minutes=2))
    keys.find_active_key(secret)
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert row.last_used_at >= first


def test_a_key_opens_what_its_scopes_say_and_needs_no_csrf_token(alice: Any) -> None:
    _, secret = keys.create_key(alice, "one", ["memory:read"])
    program = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})

    assert program.get(FACTS).status_code == 200
    body = {"path": "/reference/bows", "text": "Of carbon."}
    refused = program.put(f"{AT}/memory/document", body, content_type="application/json")
    assert refused.status_code == 403
    assert refused["Content-Type"] == "application/problem+json"
    assert refused.json()["scope"] == "memory:write"
    assert refused.json()["type"].endswith("#missing-scope")
    assert not Document.objects.filter(path="/reference/bows").exists()


def test_a_wrong_key_is_refused_also_beside_a_session(alice: Any, client: Client) -> None:
    client.force_login(alice)
    refused = client.get(FACTS, headers={"Authorization": "Bearer rcl_nonsense"})

    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == 'Bearer realm="Recall"'
    assert "rcl_nonsense" not in refused.content.decode()


def test_of_a_key_and_a_session_the_key_counts(alice: Any, bob: Any) -> None:
    Document.objects.create(user=bob, path="/his", title="His")
    program = with_key(alice, "memory:read")
    program.force_login(bob)
    assert program.get(f"{AT}/memory/documents").json()["items"] == []


def test_a_session_changes_nothing_without_its_token(alice: Any) -> None:
    page = Client(enforce_csrf_checks=True)
    page.force_login(alice)
    refused = page.post(f"{AT}/memory/boundaries", {"text": "Be kind."}, content_type="application/json")
    assert refused.status_code == 403
    assert "X-CSRFToken" in refused.json()["detail"]


def test_the_caller_is_told_what_it_may_do(alice: Any, client: Client) -> None:
    told = with_key(alice, "settings").get(f"{AT}/me").json()
    assert (told["email"], told["key"], told["scopes"]) == (alice.email, "a program", ["settings"])
    client.force_login(alice)
    assert len(client.get(f"{AT}/me").json()["scopes"]) > 5
