"""Every list is read page by page: nothing is repeated or missed, whatever is added meanwhile."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation
from memory.models import Document, Fact
from tests.api.rows import AT, with_key

pytestmark = pytest.mark.django_db


def pages(program: Client, address: str, **query: Any) -> list[list[dict[str, Any]]]:
    """Every page of a list, by its cursors."""
    found: list[list[dict[str, Any]]] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = program.get(address, {**query, "cursor": cursor})
        assert answer.status_code == 200, answer.content
        body = answer.json()
        found.append(body["items"])
        assert ("Link" in answer) == (body["next_cursor"] is not None)
        cursor = body["next_cursor"]
    return found


def test_a_list_is_read_to_its_end(alice: Any) -> None:
    for number in range(7):
        Fact.objects.create(user=alice, statement=f"Fact {number}", status="active")
    found = pages(with_key(alice), f"{AT}/memory/facts", limit=3)
    assert [len(one) for one in found] == [3, 3, 1]
    assert [one["statement"] for page in found for one in page] == [f"Fact {number}" for number in range(7)]


def test_a_page_that_is_just_full_is_the_last(alice: Any) -> None:
    for number in range(3):
        Fact.objects.create(user=alice, statement=f"Fact {number}", status="active")
    assert [len(page) for page in pages(with_key(alice), f"{AT}/memory/facts", limit=3)] == [3]


def test_rows_of_the_same_moment_are_each_told_once(alice: Any) -> None:
    moment = timezone.now()
    for number in range(5):
        Conversation.objects.create(user=alice, title=str(number), last_activity_at=moment)
    Conversation.objects.create(user=alice, title="newer", last_activity_at=moment + timedelta(seconds=1))
    found = [one["title"] for page in pages(with_key(alice), f"{AT}/conversations", limit=2) for one in page]
    assert found[0] == "newer"
    assert sorted(found[1:]) == ["0", "1", "2", "3", "4"]


def test_what_comes_meanwhile_moves_nothing(alice: Any) -> None:
    program, now = with_key(alice), timezone.now()
    for number in range(4):
        at = now - timedelta(minutes=number)
        Conversation.objects.create(user=alice, title=str(number), last_activity_at=at)
    first = program.get(f"{AT}/conversations", {"limit": 2}).json()
    Conversation.objects.create(user=alice, title="new")
    second = program.get(f"{AT}/conversations", {"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [one["title"] for one in (*first["items"], *second["items"])] == ["0", "1", "2", "3"]


def test_paths_are_read_in_the_order_of_the_tree(alice: Any) -> None:
    for path in ("/b", "/a/c", "/a", "/a b", "/ä"):
        Document.objects.create(user=alice, path=path, title=path)
    listed = [one["path"] for page in pages(with_key(alice), f"{AT}/memory/documents", limit=2) for one in page]
    assert listed == list(Document.objects.order_by("path").values_list("path", flat=True))


def test_the_link_leads_to_the_next_page_with_the_same_filters(alice: Any) -> None:
    for number in range(3):
        Fact.objects.create(user=alice, statement=f"Fact {number}", status="archived", tags=["tä g"])
    program = with_key(alice)
    asked: dict[str, Any] = {"limit": 2, "status": "archived", "tag": "tä g"}
    first = program.get(f"{AT}/memory/facts", asked)
    link = first["Link"]
    assert link.endswith('>; rel="next"')
    following = program.get(link[1:].partition(">")[0].removeprefix("http://testserver"))
    assert [one["statement"] for one in following.json()["items"]] == ["Fact 2"]


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["x", "!!!", "é", encoded({}), encoded([]), encoded(["x", 1]), encoded([1]), encoded([None, None]),
     encoded([["2026-01-01T00:00:00Z"], 1]), encoded(["2026-01-01T00:00:00", "x"]), encoded([True, False]),
     encoded(["2026-01-01T00:00:00Z", "\x00"]), encoded([1e400, 1]), "W" * 5_000],
)  # fmt: skip
def test_a_cursor_that_was_not_given_here_is_refused(cursor: str, alice: Any) -> None:
    refused = with_key(alice).get(f"{AT}/conversations", {"cursor": cursor})
    assert refused.status_code == 422
    assert refused["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("value", [-1, 2**70, 1e308, "garden", "\ud800"])
def test_a_cursor_that_holds_no_path_is_refused_where_paths_are_listed(value: Any, alice: Any) -> None:
    refused = with_key(alice).get(f"{AT}/memory/documents", {"cursor": encoded([value])})
    assert refused.status_code == 422


@pytest.mark.parametrize("limit", [0, 201, -1, "many"])
def test_a_page_has_one_to_two_hundred(limit: Any, alice: Any) -> None:
    assert with_key(alice).get(f"{AT}/memory/facts", {"limit": limit}).status_code == 422


def test_another_persons_cursor_shows_nothing_of_theirs(alice: Any, bob: Any) -> None:
    for number in range(3):
        Fact.objects.create(user=alice, statement=f"Hers {number}", status="active")
    cursor = with_key(alice).get(f"{AT}/memory/facts", {"limit": 1}).json()["next_cursor"]
    assert with_key(bob).get(f"{AT}/memory/facts", {"cursor": cursor}).json()["items"] == []
