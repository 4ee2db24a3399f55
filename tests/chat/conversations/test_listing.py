"""The conversation list next to the chat: its contents and order, and its actions."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.conversations import listing
from chat.conversations.listing import conversation_list, day_heading
from chat.models import Conversation, Message
from tests.chat.pages.test_pages import say

SignIn = Callable[[Any], Client]
HTMX = {"HX-Request": "true"}


def begun(user: Any, title: str, days_ago: float = 0, **fields: Any) -> Conversation:
    """A conversation that was last active this many days ago."""
    made: Conversation = Conversation.objects.create(
        user=user, title=title, last_activity_at=timezone.now() - timedelta(days=days_ago), **fields
    )
    return made


def listed(html: str) -> list[str]:
    """The titles of the list, in order."""
    return re.findall(r'<li class="list-row"><a [^>]*>([^<]+)</a>', html)


# What stands in it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "told"),
    [
        (date(2026, 11, 21), "Today"),
        (date(2026, 11, 22), "Today"),  # the server's clock and the user's may differ by seconds around midnight
        (date(2026, 11, 20), "Yesterday"),
        (date(2026, 11, 15), "Sunday"),
        (date(2026, 11, 14), "November"),
        (date(2026, 1, 3), "January"),
        (date(2025, 11, 21), "November 2025"),
    ],
)
def test_the_lists_headings_tell_days_as_people_do(day: date, told: str) -> None:
    assert day_heading(day, date(2026, 11, 21)) == told


def test_pinned_ones_come_first_then_the_latest_and_archived_ones_not_at_all(alice: Any) -> None:
    begun(alice, "Old", 40)
    begun(alice, "New")
    begun(alice, "Pinned", 400, pinned_at=timezone.now())
    begun(alice, "Put away", archived_at=timezone.now())
    found = conversation_list(alice, timezone.now())
    assert [heading for heading, _ in found.groups][:2] == ["Pinned", "Today"]
    assert [one.title for _, group in found.groups for one in group] == ["Pinned", "New", "Old"]
    assert found.has_archived


def test_the_list_takes_two_statements_however_long_it_is(alice: Any, django_assert_num_queries: Any) -> None:
    for number in range(30):
        begun(alice, f"Talk {number}", number)
    with django_assert_num_queries(2):
        conversation_list(alice, timezone.now())


def test_the_list_is_latest_first_and_marks_the_one_that_is_open(sign_in: SignIn, alice: Any) -> None:
    begun(alice, "Older", 400)
    newer = begun(alice, "Newer")
    html = sign_in(alice).get(f"/c/{newer.pk}").content.decode()
    assert f'href="/c/{newer.pk}" aria-current="page"' in html
    assert listed(html) == ["Newer", "Older"]


def test_archived_ones_stand_behind_a_link(sign_in: SignIn, alice: Any) -> None:
    begun(alice, "Here")
    client = sign_in(alice)
    assert "Archived" not in client.get("/").content.decode()
    begun(alice, "Put away", archived_at=timezone.now())
    assert 'href="?list=archived"' in client.get("/").content.decode()
    archived = client.get("/?list=archived").content.decode()
    assert listed(archived) == ["Put away"]
    assert archived.index("All conversations</a>") < archived.index(">Archived</h2>") < archived.index("Put away")


def test_a_long_list_is_shown_in_parts(sign_in: SignIn, alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LISTED", 2)
    for number in range(5):
        begun(alice, f"Talk {number}", number)
    client = sign_in(alice)
    html = client.get("/").content.decode()
    assert len(listed(html)) == 2
    assert "?listed=4" in html
    assert len(listed(client.get("/conversations?listed=4").content.decode())) == 4


@pytest.mark.parametrize("wanted", ["-1", "0", "x", "²", "9" * 400])
def test_a_list_of_a_senseless_length_is_the_usual_one(sign_in: SignIn, alice: Any, wanted: str) -> None:
    begun(alice, "Here")
    html = sign_in(alice).get("/conversations", {"listed": wanted}).content.decode()
    assert listed(html) == ["Here"]


def test_the_list_brings_the_title_and_the_number_that_waits(sign_in: SignIn, alice: Any) -> None:
    found = begun(alice, "Here")
    html = sign_in(alice).get(f"/conversations?current={found.pk}").content.decode()
    assert '<header class="talk-header" id="talk-header" hx-swap-oob="true">' in html
    assert re.search(r'id="review-count" hx-swap-oob="true"', html)


def test_a_row_is_light_as_its_menu_comes_when_it_is_opened(sign_in: SignIn, alice: Any) -> None:
    found = begun(alice, "Here")
    client = sign_in(alice)
    before = len(client.get("/").content)
    for number in range(10):
        begun(alice, f"Talk {number}")
    assert (len(client.get("/").content) - before) / 10 < 700
    sheet = client.get(f"/c/{found.pk}/menu", headers=HTMX).content.decode()
    assert "<html" not in sheet
    assert all(
        word in sheet for word in ("Title", "Save</button>", "Pin</button>", "Archive", "Export as Markdown", "Delete")
    )
    assert (
        sheet.index("Delete</button>")
        < sheet.index("You can undo it right after.")
        < sheet.index("Forget its memories")
    )
    assert sheet.index("Forget its memories") < sheet.index("This can't be undone.")
    assert "<h1>Here</h1>" in client.get(f"/c/{found.pk}/menu").content.decode(), "a page where there is no script"


# One -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "title", "is_own"),
    [
        ("  New\n title ", "New title", True),
        ("", "Zebra", False),
        ("x" * 300, "x" * 200, True),
        ("a\x00b", "ab", True),
        ("The wifi password is hunter2", "The wifi password is [secret]", True),
    ],
)
def test_a_conversation_is_renamed(sign_in: SignIn, alice: Any, typed: str, title: str, is_own: bool) -> None:
    found = begun(alice, "Zebra")
    response = sign_in(alice).post(f"/c/{found.pk}/rename", {"title": typed})
    found.refresh_from_db()
    assert (found.title, found.title_is_own) == (title, is_own)
    assert response["Location"] == f"/c/{found.pk}"


def test_a_deed_by_htmx_answers_with_the_list_and_the_open_conversations_header(sign_in: SignIn, alice: Any) -> None:
    found = begun(alice, "Zebra")
    headers = {**HTMX, "HX-Current-URL": f"http://testserver/c/{found.pk}?earlier=1"}
    html = sign_in(alice).post(f"/c/{found.pk}/rename", {"title": "Gnu"}, headers=headers).content.decode()
    assert listed(html) == ["Gnu"]
    assert "<h1>Gnu</h1>" in html
    assert 'id="notices" role="status" hx-swap-oob="innerHTML"' in html


def test_pinning_and_archiving_are_done_and_undone(sign_in: SignIn, alice: Any) -> None:
    found, client = begun(alice, "Zebra"), sign_in(alice)
    for deed, field, column in (("pin", "pinned", "pinned_at"), ("archive", "archived", "archived_at")):
        client.post(f"/c/{found.pk}/{deed}", {field: "1"})
        found.refresh_from_db()
        assert getattr(found, column) is not None
        client.post(f"/c/{found.pk}/{deed}", {field: ""})
        found.refresh_from_db()
        assert getattr(found, column) is None


def test_writing_in_an_archived_conversation_brings_it_back_into_the_list(alice: Any) -> None:
    from uuid import uuid4

    from chat.turns import intake

    found = begun(alice, "Zebra", archived_at=timezone.now())
    intake.accept_message(alice, uuid4(), found.pk, "And now?")
    found.refresh_from_db()
    assert found.archived_at is None


# Several ---------------------------------------------------------------------------------------------------------


def test_boxes_are_ticked_one_by_one_or_all(sign_in: SignIn, alice: Any) -> None:
    for number in range(3):
        begun(alice, f"Talk {number}")
    client = sign_in(alice)
    assert client.get("/").content.decode().count('type="checkbox" name="conversation"') == 0
    some = client.get("/?select=some").content.decode()
    assert (some.count('name="conversation"'), some.count(" checked autocomplete")) == (3, 0)
    assert client.get("/?select=all").content.decode().count(" checked autocomplete") == 3


def test_several_are_archived_and_put_back_together(sign_in: SignIn, alice: Any, bob: Any) -> None:
    mine, theirs = [begun(alice, f"Talk {number}") for number in range(3)], begun(bob, "Bob's")
    client = sign_in(alice)
    chosen = [str(one.pk) for one in (*mine[:2], theirs)]
    client.post("/conversations/together", {"do": "archive", "conversation": [*chosen, "nonsense"]})
    assert set(Conversation.objects.filter(archived_at__isnull=False)) == set(mine[:2])
    client.post("/conversations/together", {"do": "unarchive", "conversation": chosen})
    assert not Conversation.objects.filter(archived_at__isnull=False).exists()


def undo_archiving(client: Client, html: str) -> str:
    """The page after the notice's Undo, sent as the form sends it."""
    moment = re.search(r'action="/conversations/unarchive".*?name="archived" value="([^"]+)"', html, re.DOTALL)
    assert moment is not None, "the notice offers no Undo"
    return client.post("/conversations/unarchive", {"archived": moment[1]}, follow=True).content.decode()


def test_the_notice_offers_to_undo_an_archiving_without_javascript(sign_in: SignIn, alice: Any) -> None:
    found, client = begun(alice, "Zebra"), sign_in(alice)
    html = client.post(f"/c/{found.pk}/archive", {"archived": "1"}, follow=True).content.decode()
    assert "“Zebra” archived." in html
    assert "1 conversation unarchived." in undo_archiving(client, html)
    found.refresh_from_db()
    assert found.archived_at is None


def test_undoing_an_archiving_puts_back_those_of_that_click_alone(sign_in: SignIn, alice: Any, bob: Any) -> None:
    mine, theirs = [begun(alice, f"Talk {number}") for number in range(3)], begun(bob, "Bob's")
    client = sign_in(alice)
    client.post(f"/c/{mine[0].pk}/archive", {"archived": "1"}, follow=True)
    fields = {"do": "archive", "conversation": [str(one.pk) for one in (*mine, theirs)]}
    html = client.post("/conversations/together", fields, follow=True).content.decode()
    assert "2 conversations archived." in html
    undo_archiving(client, html)
    assert set(Conversation.objects.filter(archived_at__isnull=False)) == {mine[0]}


def test_an_undo_by_htmx_answers_with_the_list(sign_in: SignIn, alice: Any) -> None:
    found, client = begun(alice, "Zebra"), sign_in(alice)
    html = client.post(f"/c/{found.pk}/archive", {"archived": "1"}, headers=HTMX).content.decode()
    assert 'hx-post="/conversations/unarchive"' in html
    moment = re.search(r'name="archived" value="([^"]+)"', html)
    assert moment is not None
    answer = client.post("/conversations/unarchive", {"archived": moment[1]}, headers=HTMX).content.decode()
    assert listed(answer) == ["Zebra"]


def test_nobody_puts_back_what_somebody_else_archived(sign_in: SignIn, alice: Any, bob: Any) -> None:
    found = begun(alice, "Zebra", archived_at=timezone.now())
    assert found.archived_at is not None
    fields = {"archived": found.archived_at.isoformat()}
    html = sign_in(bob).post("/conversations/unarchive", fields, follow=True).content.decode()
    assert "Nothing to restore" in html
    assert Conversation.objects.filter(archived_at__isnull=False).exists()


def test_several_are_deleted_and_brought_back_together(sign_in: SignIn, alice: Any, bob: Any) -> None:
    mine, theirs = [begun(alice, f"Talk {number}") for number in range(3)], begun(bob, "Bob's")
    client = sign_in(alice)
    chosen = [str(one.pk) for one in (*mine[:2], theirs)]
    html = client.post("/conversations/together", {"do": "delete", "conversation": chosen}, follow=True)
    assert set(Conversation.objects.not_deleted()) == {mine[2], theirs}
    moment = re.search(r'name="deleted" value="([^"]+)"', html.content.decode())
    assert moment is not None
    client.post("/conversations/restore", {"deleted": moment[1]})
    assert Conversation.objects.not_deleted().count() == 4


def test_one_that_is_being_answered_keeps_all_of_them(sign_in: SignIn, alice: Any) -> None:
    busy, idle = begun(alice, "Busy"), begun(alice, "Idle")
    say(busy, "And now?")
    say(busy, "", status=Message.Status.STREAMING, process_key=1)
    fields = {"do": "delete", "conversation": [str(busy.pk), str(idle.pk)]}
    html = sign_in(alice).post("/conversations/together", fields, follow=True).content.decode()
    assert "still answering in one of these conversations" in html
    assert Conversation.objects.not_deleted().count() == 2


def test_nothing_else_can_be_done_together(sign_in: SignIn, alice: Any) -> None:
    assert sign_in(alice).post("/conversations/together", {"do": "publish"}).status_code == 404
