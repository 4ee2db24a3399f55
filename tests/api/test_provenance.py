"""What an answer was based on, and the effect of a memory on it: listed by day, and both answers side by side."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from budget.models import Receipt
from chat.models import Conversation, Message
from tests.api.rows import AT, everything_of, with_key
from tests.api.test_operations import refused, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queued")]


@pytest.fixture
def rows(alice: Any) -> dict[str, Any]:
    return everything_of(alice, "garlic")


@pytest.fixture
def hers(alice: Any) -> Client:
    return with_key(alice)


# Side by side ----------------------------------------------------------------------------------------------------


def test_both_answers_stand_side_by_side_with_what_they_took(hers: Client, rows: dict[str, Any]) -> None:
    Message.objects.filter(pk=rows["tried"]).update(text="I do not know.")
    Receipt.objects.filter(message=rows["message"]).update(estimated_input=1_842)
    Receipt.objects.filter(message=rows["tried"]).update(estimated_input=1_790)

    pair = send(hers, "GET", f"/turns/{rows['tried']}/comparison")

    assert (pair["conversation"], pair["left_out"]) == (str(rows["conversation"]), ["garlic"])
    assert pair["question"]["role"] == "user"
    sides = [pair[name]["message"] for name in ("with_it", "without_it")]
    assert [(side["id"], side["text"]) for side in sides] == [
        (rows["message"], "garlic"),
        (rows["tried"], "I do not know."),
    ]
    assert pair["figures"][0] == {"name": "Prompt", "with_it": "1,842", "without_it": "1,790", "difference": "−52"}
    assert (pair["is_writing"], pair["has_gone_on"]) == (False, False)


def test_the_answers_that_were_tried_are_found_by_the_one_they_were_tried_for(
    hers: Client, rows: dict[str, Any]
) -> None:
    assert send(hers, "GET", f"/turns/{rows['message']}/tried") == [{"message": rows["tried"], "left_out": "garlic"}]
    assert send(hers, "GET", f"/turns/{rows['tried']}/tried") == []
    assert refused(hers, "GET", f"/turns/{rows['message']}/comparison") == 404, "it was not tried, but given"


def test_either_answer_can_be_kept(hers: Client, rows: dict[str, Any]) -> None:
    at, standing = f"/turns/{rows['tried']}/comparison", ("is_followed", "can_be_kept")

    def told() -> list[tuple[bool, ...]]:
        pair = send(hers, "GET", at)
        return [tuple(pair[side][name] for name in standing) for side in ("with_it", "without_it")]

    assert told() == [(True, False), (False, True)]
    send(hers, "POST", f"/turns/{rows['tried']}/keep")
    assert told() == [(False, True), (True, False)]
    send(hers, "POST", f"/turns/{rows['message']}/keep")
    assert told() == [(True, False), (False, True)]


def test_while_it_is_written_there_are_no_figures_and_nothing_to_keep(hers: Client, rows: dict[str, Any]) -> None:
    Message.objects.filter(pk=rows["tried"]).update(status="streaming", text="I do")
    pair = send(hers, "GET", f"/turns/{rows['tried']}/comparison")
    assert (pair["is_writing"], pair["figures"], pair["without_it"]["can_be_kept"]) == (True, [], False)


# By day ----------------------------------------------------------------------------------------------------------


def given_at(message: int, *moment: int) -> None:
    Receipt.objects.filter(message=message).update(created_at=datetime(*moment, tzinfo=UTC))  # type: ignore[misc,arg-type]


def test_each_answer_is_told_with_the_memories_it_was_given(hers: Client, rows: dict[str, Any]) -> None:
    item = {"tokens": 1, "rule": "", "url": "", "score": None, "parts": {}}
    mixed = [
        {**item, "ref": "fact:2", "section": "profile", "label": "always", "kept": True},
        {**item, "ref": "fact:3", "section": "memories", "label": "cut", "kept": False},
        {**item, "ref": "message:4", "section": "history", "label": "said", "kept": True},
        {**item, "ref": "fact:1", "section": "memories", "label": "recalled", "kept": True},
    ]
    Receipt.objects.filter(message=rows["message"]).update(items=mixed)
    Receipt.objects.filter(message=rows["tried"]).delete()

    (answer,) = send(hers, "GET", "/turns/answers")["items"]

    assert (answer["message_id"], answer["question"], answer["answer"]) == (rows["message"], "garlic", "garlic")
    assert [one["label"] for one in answer["memories"]] == ["recalled", "always"]


@pytest.mark.parametrize(
    ("query", "found"),
    [("", 2), ("?until=2026-05-01", 0), ("?until=2026-05-02", 1), ("?since=2026-05-02&until=2026-05-02", 1),
     ("?since=2026-05-03", 1), ("?since=2026-05-04", 0), ("?ref=fact:1", 2), ("?ref=fact:2", 0),
     ("?conversation={conversation}", 2), ("?conversation=0b6f6a9e-3f0e-4a53-9a6a-3f2f1c8f0d21", 0)],
)  # fmt: skip
def test_answers_are_filtered_by_the_days_of_the_person(
    query: str, found: int, hers: Client, alice: Any, rows: dict[str, Any]
) -> None:
    alice.time_zone = "Asia/Tokyo"
    alice.save()
    given_at(rows["message"], 2026, 5, 1, 16)  # the second of May, in Tokyo
    given_at(rows["tried"], 2026, 5, 3, 14, 59)  # one minute before midnight
    assert len(send(hers, "GET", f"/turns/answers{query.format(**rows)}")["items"]) == found


def test_answers_are_read_page_by_page_the_latest_first(hers: Client, rows: dict[str, Any]) -> None:
    first = send(hers, "GET", "/turns/answers?limit=1")
    second = send(hers, "GET", f"/turns/answers?limit=1&cursor={first['next_cursor']}")
    assert [one["message_id"] for page in (first, second) for one in page["items"]] == [rows["tried"], rows["message"]]
    assert second["next_cursor"] is None


def test_answers_of_a_deleted_conversation_are_not_listed(hers: Client, rows: dict[str, Any]) -> None:
    send(hers, "DELETE", f"/conversations/{rows['conversation']}")
    assert send(hers, "GET", "/turns/answers")["items"] == []
    assert refused(hers, "GET", f"/turns/{rows['tried']}/comparison") == 404
    assert refused(hers, "GET", f"/turns/{rows['message']}/tried") == 404


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "soon"])
def test_a_day_beyond_the_calendar_is_refused(day: str, hers: Client) -> None:
    assert refused(hers, "GET", f"/turns/answers?until={day}") == 422


# Who may ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["chat:read", "budget:read"])
def test_a_key_needs_to_read_both_what_was_said_and_what_it_was_given(
    scope: str, alice: Any, rows: dict[str, Any]
) -> None:
    other = {"chat:read": "budget:read", "budget:read": "chat:read"}[scope]
    for path in ("/turns/answers", f"/turns/{rows['message']}/tried", f"/turns/{rows['tried']}/comparison"):
        answer = with_key(alice, scope).get(f"{AT}{path}")
        assert (answer.status_code, answer.json()["scope"]) == (403, other)
        assert "garlic" not in answer.content.decode()
        assert with_key(alice, "chat:read", "budget:read").get(f"{AT}{path}").status_code == 200


# What else the pages show ----------------------------------------------------------------------------------------


def test_folded_turns_are_told_where_their_branch_is_followed(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/conversations/{rows['conversation']}/folded"
    (folded,) = send(hers, "GET", at)["items"]
    assert (folded["first_turn"], folded["last_turn"], folded["text"]) == (1, 1, "garlic")
    Conversation.objects.filter(pk=rows["conversation"]).update(active_leaf=None)
    assert send(hers, "GET", at)["items"] == []


def test_the_text_of_a_file_is_read_and_an_image_has_none(hers: Client, rows: dict[str, Any]) -> None:
    from chat.models import Attachment

    at = f"/attachments/{rows['attachment']}/text"
    assert send(hers, "GET", at)["text"] == "garlic"
    Attachment.objects.update(kind="image")
    assert refused(hers, "GET", at) == 404
