"""The document about a conversation has what the user said is so."""

from typing import Any

from chat.ingest.conversation_digest import build_digest
from chat.models import Conversation
from chat.turn import WITHHOLDS
from tests.chat.pages.test_pages import say


def test_nothing_of_a_role_play_is_in_it(alice: Any) -> None:
    conversation = Conversation.objects.create(user=alice, title="An icebreaker")
    for told in (
        "I'm a dental nurse and I need an icebreaker for our staff party.",
        "Let's try a role play. You are the governor, I am a pirate captain from Tortuga.",
        "Arrr, I have forty men and a cursed parrot.",
    ):
        say(conversation, told)
        say(conversation, "Noted.")

    digest = build_digest(conversation.pk)

    assert digest is not None
    assert "dental nurse" in digest.text
    assert "Tortuga" not in digest.text
    assert "parrot" not in digest.text


def test_a_sentence_with_a_part_that_was_taken_back_is_left_out_whole(alice: Any) -> None:
    conversation = Conversation.objects.create(user=alice, title="My sister")
    message = say(conversation, "My sister Mary lives in Lisbon and I'm allergic to peanuts. Mary bakes bread.")
    say(conversation, "Noted.")
    say(conversation, "Forget the peanuts.", event_data={WITHHOLDS: [f"message:{message.pk}:1"]})
    say(conversation, "Done.")

    digest = build_digest(conversation.pk)

    assert digest is not None
    assert "Mary bakes bread." in digest.text
    assert "Lisbon" not in digest.text
    assert "lives" not in digest.text, "a verb of every other message is no topic"
