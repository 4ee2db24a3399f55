"""The profile of a past day, by both times: what Recall knew then, and what was true then."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from budget.models import Receipt
from chat.models import Conversation, Message
from memory.documents import revisions
from memory.models import Fact, Revision
from memory.pages.time_travel import build_past_profile, build_sliders

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]


def on(year: int, month: int, day: int, hour: int = 12) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC)


def known(user: User, statement: str, learned: datetime, **fields: Any) -> Fact:
    given = {"kind": "place", "status": "active", "recorded_at": learned, **fields}
    return Fact.objects.create(user=user, statement=statement, **given)


@pytest.fixture
def moved(alice: User) -> tuple[Fact, Fact]:
    """She lived in Porto, and told of her move to Lisbon two months after it."""
    lisbon = known(alice, "The user lives in Lisbon.", on(2026, 5, 10), valid_from=on(2026, 3, 1))
    porto = known(
        alice, "The user lives in Porto.", on(2026, 1, 5), status="superseded",
        superseded_at=on(2026, 5, 10), superseded_by=lisbon,
    )  # fmt: skip
    return porto, lisbon


def statements(user: User, at: str, true: str = "") -> set[str]:
    found = build_past_profile(user, {"at": at, "true": true} if true else {"at": at}, timezone.now())
    return {row.fact.statement for _, rows in found.groups for row in rows}


# What was known ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "true", "expected"),
    [
        ("2026-01-04", "", set()),  # nothing was told yet
        ("2026-01-05", "", {"The user lives in Porto."}),
        ("2026-04-01", "", {"The user lives in Porto."}),  # she had moved, and Recall did not know
        ("2026-05-10", "", {"The user lives in Lisbon."}),
        ("2026-05-10", "2026-02-01", set()),  # known today: in February neither was true, of what is known now
        ("2026-05-10", "2026-03-02", {"The user lives in Lisbon."}),
        ("2026-04-01", "2026-05-11", {"The user lives in Porto."}),
    ],
)
def test_both_times_decide(
    at: str, true: str, expected: set[str], alice: User, moved: tuple[Fact, Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    known(alice, "The user is a nurse.", on(2026, 1, 1), kind="identity", valid_until=on(2026, 1, 2))
    assert statements(alice, at, true) == expected


def test_what_went_says_why_and_what_came_says_when(alice: User, moved: tuple[Fact, Fact]) -> None:
    _, lisbon = moved
    known(alice, "The user sings.", on(2026, 1, 6), status="rejected", withdrawn_at=on(2026, 6, 2))
    known(alice, "The user rents.", on(2026, 1, 7), status="expired", valid_until=on(2026, 7, 3))
    found = build_past_profile(alice, {"at": "2026-04-01"}, timezone.now())
    told = {row.fact.statement: row.since for _, rows in found.groups for row in rows}
    assert told == {
        "The user lives in Porto.": "Replaced on 10 May 2026: You live in Lisbon",
        "The user sings.": "Rejected on 2 June 2026",
        "The user rents.": "No longer true since 3 July 2026",
    }
    assert found.gone == 3
    assert [(one.fact.pk, one.since) for one in found.came] == [(lisbon.pk, "Learned on 10 May 2026")]


def test_what_was_known_then_to_be_true_later_came_when_it_became_true(alice: User) -> None:
    known(alice, "The user works in Braga.", on(2026, 1, 5), valid_from=on(2026, 9, 1))
    known(alice, "The user is Alice.", on(2026, 1, 5))
    found = build_past_profile(alice, {"at": "2026-02-01"}, timezone.now())
    assert [one.since for one in found.came] == ["True since 1 September 2026"]


def test_a_proposal_was_never_known(alice: User) -> None:
    known(alice, "The user flies.", on(2026, 1, 5), status="proposed")
    assert statements(alice, "2026-02-01") == set()


def test_a_day_ends_where_the_person_is(alice: User) -> None:
    alice.time_zone = "America/Los_Angeles"
    alice.save()
    known(alice, "The user is first.", on(2026, 2, 1))
    known(alice, "The user is early.", on(2026, 3, 2, hour=6))  # still the first of March there
    assert statements(alice, "2026-03-01") == {"The user is first.", "The user is early."}
    assert statements(alice, "2026-02-28") == {"The user is first."}


def test_documents_read_as_they_did(alice: User) -> None:
    known(alice, "The user is Alice.", on(2026, 1, 1))
    for number, (text, day) in enumerate([("I live in Porto.", 5), ("I live in Lisbon.", 20)], start=1):
        document = revisions.save(alice, "/profile/identity", text, started_from=number - 1)
        Revision.objects.filter(document=document, number=number).update(created_at=on(2026, 1, day))
    found = build_past_profile(alice, {"at": "2026-01-10"}, timezone.now())
    assert [(one.text, one.number) for one in found.documents] == [("I live in Porto.", 1)]
    assert {change.what for change in found.documents[0].diff} == {"same", "deleted", "inserted"}
    assert build_past_profile(alice, {"at": "2026-01-04"}, timezone.now()).documents == []
    today = build_past_profile(alice, {"at": ""}, timezone.now())
    assert [(one.text, one.diff) for one in today.documents] == [("I live in Lisbon.", ())]


# The inputs --------------------------------------------------------------------------------------------------------


def test_the_sliders_reach_from_the_first_thing_to_today(alice: User, moved: tuple[Fact, Fact]) -> None:
    known(alice, "The user was born in Faro.", on(2026, 2, 1), valid_from=on(1990, 4, 3))
    now = on(2026, 6, 1)
    at, true = build_sliders(alice, now)
    assert (at.first, at.last, at.day) == (date(2026, 1, 5), date(2026, 6, 1), date(2026, 6, 1))
    assert true.first == date(1990, 4, 3)
    found = build_past_profile(alice, {"at": "2026-01-07"}, now)
    assert (found.known.place, found.known.length) == (2, 147)
    assert found.true.day == date(2026, 1, 7), "one day stands for both"


@pytest.mark.parametrize("outside", ["1900-01-01", "2999-12-31"])
def test_a_day_outside_is_moved_to_the_nearest(outside: str, alice: User, moved: tuple[Fact, Fact]) -> None:
    found = build_past_profile(alice, {"at": outside}, on(2026, 6, 1))
    assert found.known.day in (found.known.first, found.known.last)


def test_somebody_of_whom_nothing_is_known_has_one_day(alice: User) -> None:
    at, true = build_sliders(alice, timezone.now())
    assert (at.length, true.length) == (0, 0)
    assert build_past_profile(alice, {"at": "2020-01-01"}, timezone.now()).groups == []


def test_an_account_with_one_day_says_that_there_is_no_earlier_one(alice: User, sign_in: SignIn) -> None:
    page = sign_in(alice).get("/memory/time-travel").content.decode()
    assert "No fact was learned before today, so there's no earlier day yet" in page
    assert page.count(" disabled>") == 2


def test_the_ends_of_a_slider_are_named_below_it(alice: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    page = sign_in(alice).get("/memory/time-travel").content.decode()
    assert page.count("<span>5 January 2026</span> <span>Today</span>") == 2
    assert "there's no earlier day yet" not in page


# The page ----------------------------------------------------------------------------------------------------------


def test_the_page_shows_that_day_without_a_script(alice: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    page = sign_in(alice).get("/memory/time-travel", {"at": "2026-04-01"}).content.decode()
    assert "Learned by 1 April 2026, true on 1 April 2026" in page
    assert "removed since" in page
    assert "Replaced on 10 May 2026: You live in Lisbon." in page
    assert "Added since" in page
    assert '<input type="text" name="at" value="1 April 2026"' in page
    assert "/answers?until=2026-04-01" in page
    assert "<h1>Time travel</h1>" in page


def test_htmx_gets_that_day_alone(alice: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    response = sign_in(alice).get("/memory/time-travel", {"at": "2026-04-01"}, headers={"HX-Request": "true"})
    part = response.content.decode()
    assert "You live in Porto." in part
    assert "<html" not in part
    assert "<form" not in part


def test_what_is_no_date_is_answered_with_a_sentence(alice: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    response = sign_in(alice).get("/memory/time-travel", {"at": "some day<b>", "true": "2019"})
    assert response.status_code == 422
    page = response.content.decode()
    assert "“Learned by” isn&#x27;t a date Recall can read. Try 24 Nov 2026, or yesterday." in page
    assert 'name="at" value="some day&lt;b&gt;"' in page
    assert page.count('aria-invalid="true"') == 1


def test_a_day_is_read_as_people_write_it(alice: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    page = sign_in(alice).get("/memory/time-travel", {"at": "Apr 2026", "true": "1. 4. 2026"}).content.decode()
    assert "Learned by 30 April 2026, true on 1 April 2026" in page
    assert 'name="at" value="30 April 2026"' in page


def test_without_a_day_the_profile_asks_little(
    alice: User, sign_in: SignIn, moved: tuple[Fact, Fact], django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(8):
        build_past_profile(alice, {"at": "2026-04-01"}, timezone.now())
    with django_assert_max_num_queries(2):
        build_sliders(alice, timezone.now())
    assert "removed since" not in sign_in(alice).get("/memory/time-travel").content.decode()


def test_a_document_of_that_day_reads_as_text_and_not_as_markdown(alice: User, sign_in: SignIn) -> None:
    revisions.save(alice, "/profile/identity", "Alice.\n\n- Lives in Porto.", started_from=0)
    page = sign_in(alice).get("/memory/time-travel?at=").content.decode()
    assert "<p>Alice.</p><ul><li>Lives in Porto.</li></ul>" in page


def test_bob_sees_nothing_of_alices_past(alice: User, bob: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    revisions.save(alice, "/profile/identity", "I am Alice.", started_from=0)
    client = sign_in(bob)
    for address in (
        "/memory/time-travel?at=2026-04-01",
        "/answers",
        "/api/v1/memory/facts?known_at=2026-04-01T00:00:00Z",
    ):
        page = client.get(address).content.decode()
        assert "lives in Porto" not in page
        assert "I am Alice." not in page


# Which answer was given from what ----------------------------------------------------------------------------------


def answered(user: User, at: datetime, text: str, *labels: str) -> Message:
    conversation = Conversation.objects.create(user=user, title="Towns")
    common: dict[str, Any] = {"user": user, "conversation": conversation, "turn": 1}
    asked = Message.objects.create(seq=1, role="user", event_type="user_message", text=f"{text}?", **common)
    answer = Message.objects.create(
        seq=2, role="assistant", event_type="assistant_response", parent=asked, text=f"{text}!", **common
    )
    items = [
        {"ref": f"fact:{n}", "section": "memories", "label": label, "tokens": 1, "kept": True, "rule": "", "url": "",
         "score": 1.0, "parts": {}}
        for n, label in enumerate(labels)
    ]  # fmt: skip
    receipt = Receipt.objects.create(
        user=user, conversation=conversation, message=answer, turn=1, model="m", plan="standard", plan_total=1,
        items=items, request_digest="0" * 64,
    )  # fmt: skip
    Receipt.objects.filter(pk=receipt.pk).update(created_at=at)
    return answer


def test_answers_up_to_a_day_stand_with_what_they_were_given(alice: User, bob: User, sign_in: SignIn) -> None:
    early = answered(alice, on(2026, 3, 1), "## Before\n\nWhere **was** I", "The user lives in Porto.")
    answered(alice, on(2026, 6, 1), "Where am I", "The user lives in Lisbon.")
    answered(bob, on(2026, 3, 1), "Who is Bob", "The user is Bob.")
    page = sign_in(alice).get("/answers", {"until": "1 April 2026"}).content.decode()
    assert "Before; Where was I?" in page
    assert "You live in Porto." in page
    assert f"/m/{early.pk}" in page
    assert "Where am I?" not in page
    assert "Bob" not in page
    refused = sign_in(alice).get("/answers", {"until": "no day"})
    today = refused.content.decode()
    assert refused.status_code == 422
    assert "“Up to” isn&#x27;t a date Recall can read." in today
    assert today.index("Where am I?") < today.index("Where was I?")


def test_answers_are_listed_without_markdown(alice: User, sign_in: SignIn) -> None:
    answered(alice, on(2026, 3, 1), "Here, and\nnow\n\n- a **gratin**\n- a salad")
    page = sign_in(alice).get("/answers").content.decode()
    assert "<p>Here, and now; a gratin; a salad!</p>" in page
    assert ">Open conversation</a> · <a" in page


# The API -----------------------------------------------------------------------------------------------------------


def test_the_api_takes_both_times(alice: User, moved: tuple[Fact, Fact], sign_in: SignIn) -> None:
    client = sign_in(alice)

    def ask(**times: str) -> list[str]:
        return [one["statement"] for one in client.get("/api/v1/memory/facts", times).json()["items"]]

    assert ask(known_at="2026-04-01T00:00:00Z") == ["The user lives in Porto."]
    assert ask(known_at="2026-06-01T00:00:00Z", true_at="2026-02-01T00:00:00Z") == []
    assert ask(true_at="2026-03-02T00:00:00Z") == ["The user lives in Lisbon."]


def test_the_api_reads_a_document_as_it_was(alice: User, sign_in: SignIn) -> None:
    for number, text in enumerate(["First.", "Second."]):
        document = revisions.save(alice, "/projects/garden", text, started_from=number)
    Revision.objects.filter(document=document, number=1).update(created_at=on(2026, 1, 5))
    client = sign_in(alice)
    between = (timezone.now() - timedelta(days=1)).isoformat()
    then_read = client.get("/api/v1/memory/document", {"path": "/projects/garden", "known_at": between}).json()
    assert (then_read["text"], then_read["version"]) == ("First.", 1)
    before = client.get("/api/v1/memory/document", {"path": "/projects/garden", "known_at": "2025-01-01T00:00:00Z"})
    assert before.status_code == 404
