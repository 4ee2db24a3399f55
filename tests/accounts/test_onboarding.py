"""The first words: until they are closed or a conversation is begun; with an example, the way out and the import."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]


def shows_first_words(client: Client) -> bool:
    html = client.get(reverse("new")).content.decode()
    assert 'id="welcome"' in html, "some welcome stands on every empty chat"
    return "first-words" in html


def test_a_first_visit_shows_an_example_from_message_to_reminded_answer(sign_in: SignIn, alice: User) -> None:
    html = sign_in(alice).get(reverse("new")).content.decode()
    said, learned, asked, recalled = (
        html.index(words)
        for words in ("I prefer small, quiet", "1 learned:", "Where could I have dinner", "1 memory used:")
    )
    assert said < learned < asked < recalled
    assert "Example" in html[:said], "nobody takes it for something of theirs"


def test_a_first_visit_leads_to_what_is_kept_and_to_the_import(sign_in: SignIn, alice: User) -> None:
    html = sign_in(alice).get(reverse("new")).content.decode()
    words = html[html.index("first-words") : html.index("Got it")]
    assert f'href="{reverse("settings_data")}"' in words
    assert f'href="{reverse("import")}"' in words


def test_got_it_leaves_the_short_words(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    assert shows_first_words(client)
    response = client.post(reverse("welcomed"))
    assert response["Location"] == reverse("new")
    assert not shows_first_words(client)


def test_got_it_twice_keeps_the_first_time(sign_in: SignIn, alice: User) -> None:
    client, before = sign_in(alice), timezone.now()
    client.post(reverse("welcomed"))
    first = User.objects.get(pk=alice.pk).welcomed_at
    client.post(reverse("welcomed"))
    assert first is not None
    assert first >= before
    assert User.objects.get(pk=alice.pk).welcomed_at == first


def test_whoever_has_a_conversation_needs_no_first_words(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    Conversation.objects.create(user=alice)
    assert not shows_first_words(client)


def test_anothers_conversations_take_no_first_words_away(sign_in: SignIn, alice: User, bob: User) -> None:
    Conversation.objects.create(user=bob)
    assert shows_first_words(sign_in(alice))


def test_got_it_is_pressed_not_looked_at(sign_in: SignIn, alice: User) -> None:
    client = sign_in(alice)
    assert client.get(reverse("welcomed")).status_code == 405
    assert shows_first_words(client)
