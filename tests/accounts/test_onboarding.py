"""The first minutes: a landing page for visitors, starters for a new account, later the latest conversations."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.models import Conversation, Message
from chat.pages.conversation import FEW_MESSAGES, STARTERS
from memory.models import Fact

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]


def read_empty_chat(client: Client) -> str:
    html = client.get(reverse("new")).content.decode()
    return html[html.index('id="welcome"') : html.index('class="composer-area"')]


def start(user: User, title: str) -> Conversation:
    made = Conversation.objects.create(user=user, title=title, next_seq=2)
    made.active_leaf = Message.objects.create(
        user=user, conversation=made, seq=1, turn=1, role="user", event_type="user_message", text=title, tokens=1
    )
    made.save()
    return made


def test_a_visitor_sees_what_recall_is_and_can_sign_in_or_up(client: Client) -> None:
    page = client.get("/", {"project": "3"})
    html = page.content.decode()
    assert page.status_code == 200
    assert "Chat that shows its memory" in html
    assert f'href="{reverse("account_signup")}?next=' in html
    assert f'href="{reverse("account_login")}?next=%2F%3Fproject%3D3"' in html, "the link leads on after signing in"


def test_a_visitor_is_not_offered_a_sign_up_that_is_closed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.sign_up.is_open", lambda: False)
    html = client.get("/").content.decode()
    assert reverse("account_signup") not in html
    assert reverse("account_login") in html


def test_a_new_account_sees_starters_and_the_import(sign_in: SignIn, alice: User) -> None:
    html = read_empty_chat(sign_in(alice))
    assert html.count('data-action="example"') == len(STARTERS) == 3
    assert f'href="{reverse("import")}"' in html


def test_the_starters_stay_until_recall_knows_something(sign_in: SignIn, alice: User) -> None:
    start(alice, "What can you do?")
    client = sign_in(alice)
    assert 'data-action="example"' in read_empty_chat(client)
    Fact.objects.create(user=alice, statement="The user lives in Bergen.", tokens=5)
    assert 'data-action="example"' not in read_empty_chat(client)


def test_the_starters_go_after_a_few_messages_even_if_recall_knows_nothing(sign_in: SignIn, alice: User) -> None:
    for number in range(FEW_MESSAGES + 1):
        start(alice, f"Question {number}")
    assert "data-action" not in read_empty_chat(sign_in(alice))


def test_later_the_latest_conversations_and_open_goals_are_listed(sign_in: SignIn, alice: User, bob: User) -> None:
    for title in ("First", "Second", "Third", "Fourth"):
        start(alice, title)
    start(bob, "Bob's")
    for user, text in ((alice, "Alice wants to run a marathon"), (bob, "Bob's goal")):
        Fact.objects.create(user=user, statement=text, kind="goal", status="active", tokens=5)
    html = read_empty_chat(sign_in(alice))
    assert "First" not in html
    assert html.index("Fourth") < html.index("Third") < html.index("Second") < html.index("run a marathon")
    assert "Bob" not in html
    assert "data-action" not in html


def test_anothers_conversations_take_no_starters_away(sign_in: SignIn, alice: User, bob: User) -> None:
    start(bob, "Bob's")
    assert "data-action" in read_empty_chat(sign_in(alice))
