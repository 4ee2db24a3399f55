"""A long conversation is shown in parts, and each part costs only as much as it shows."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from chat.messages.branch_path import walk
from chat.models import Conversation, Message
from chat.pages import message_window
from tests.chat.long_talk import begin, fold, go_on, numbered

pytestmark = pytest.mark.django_db
SignIn = Callable[[Any], Client]
TURNS = 60


@pytest.fixture
def talk(alice: User) -> Conversation:
    return begin(alice, numbered(TURNS))


def questions(html: str) -> list[int]:
    return [int(number) for number in re.findall(r"Question number (\d+)\?", html)]


def cursor(html: str, name: str) -> int | None:
    found = re.search(rf"messages\?{name}=(\d+)", html)
    return int(found[1]) if found else None


def part(client: Client, conversation: Conversation, query: str) -> str:
    return client.get(f"/c/{conversation.pk}/messages?{query}").content.decode()


def test_the_end_is_shown_first_and_all_the_rest_comes_part_by_part(talk: Conversation, sign_in: SignIn) -> None:
    client = sign_in(talk.user)
    html = client.get(f"/c/{talk.pk}").content.decode()
    shown = questions(html)
    assert shown == list(range(41, 61))
    while (until := cursor(html, "until")) is not None:
        html = part(client, talk, f"until={until}")
        assert 'id="messages"' not in html
        assert cursor(html, "after") is None
        shown = questions(html) + shown
    assert shown == list(range(1, TURNS + 1))


def test_what_is_around_a_message_leads_on_in_both_directions(talk: Conversation, sign_in: SignIn) -> None:
    client = sign_in(talk.user)
    wanted = Message.objects.get(conversation=talk, text="Question number 30?")
    address = client.get(f"/m/{wanted.pk}")["Location"]
    assert address == f"/c/{talk.pk}?at={wanted.pk}#m-{wanted.pk}"
    html = client.get(address.split("#")[0]).content.decode()
    assert f'id="m-{wanted.pk}"' in html
    assert questions(html) == list(range(20, 40))
    after = cursor(html, "after")
    assert after is not None
    assert questions(part(client, talk, f"after={after}")) == list(range(40, 60))
    later = part(client, talk, f"after={cursor(part(client, talk, f'after={after}'), 'after')}")
    assert (questions(later), cursor(later, "after")) == ([60], None)
    assert cursor(later, "until") is None


def test_what_is_shown_is_fetched_again_as_far_as_it_was_loaded(talk: Conversation, sign_in: SignIn) -> None:
    client = sign_in(talk.user)
    first = cursor(client.get(f"/c/{talk.pk}").content.decode(), "until")
    second = cursor(part(client, talk, f"until={first}"), "until")
    go_on(talk, numbered(1, first=TURNS + 1))
    again = part(client, talk, f"since={second}")
    assert questions(again) == list(range(21, TURNS + 2))
    assert cursor(again, "until") == second


def test_a_place_that_is_on_no_branch_leads_to_the_end(talk: Conversation, bob: User, sign_in: SignIn) -> None:
    foreign = begin(bob, numbered(2)).active_leaf_id
    client = sign_in(talk.user)
    for name in ("at", "after", "since"):
        for place in (foreign, 10**17, "x", "²"):
            assert questions(part(client, talk, f"{name}={place}"))[-1] == TURNS
    assert "Question" not in part(client, talk, f"until={foreign}")


def test_opening_reads_no_more_texts_and_statements_the_longer_it_is(alice: User, sign_in: SignIn) -> None:
    def read(turns: int) -> tuple[int, int]:
        conversation = begin(alice, numbered(turns))
        with CaptureQueriesContext(
            connection,
        ) as asked:
            window = message_window.latest(conversation)
            shown = message_window.build_messages_context(conversation, window, alice.zone)["messages_shown"]
        return len(asked), len(shown)

    assert read(30) == read(300)


def test_folded_turns_are_one_piece_each_as_they_were_made(alice: User, offline_server: str) -> None:
    conversation = begin(alice, numbered(12))
    for step in range(11):
        go_on(conversation, numbered(5, first=13 + step * 5))
        fold(conversation.pk, "asked")
    conversation.refresh_from_db()
    pieces = walk(conversation, conversation.active_leaf_id)
    assert sum(piece.segment is not None for piece in pieces) == 11
    inside = Message.objects.get(conversation=conversation, text="Question number 20?")
    window = message_window.around(conversation, inside.pk)
    opened = message_window.build_messages_context(conversation, window, alice.zone)["messages_shown"]
    assert [one.id for one in opened if getattr(one, "is_segment", False) and one.shown] == [window.opened]


def test_an_empty_conversation_shows_the_welcome(alice: User, sign_in: SignIn) -> None:
    conversation = Conversation.objects.create(user=alice)
    assert message_window.latest(conversation).pieces == []
    assert message_window.since(conversation, 0).pieces == []
    assert sign_in(alice).get(f"/c/{conversation.pk}").status_code == 200
