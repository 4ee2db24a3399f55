"""Attachments aren't the user's words: no fact, no quote and no index entry ever comes from them."""

from typing import Any

import pytest

from chat.ingest.source import ChatSource
from memory.index.indexer import index_conversation
from memory.librarian.run import request_reading, run_extraction
from memory.models import Chunk, Episode, Fact
from tests.chat.attachments.samples import answered, draft, image_draft, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queued")]

LETTER = "I live in Tromsø. My sister Hildegard lives in Narvik. I am allergic to walnuts."
OF_THE_LETTER = ("Tromsø", "Hildegard", "Narvik", "walnuts")


def test_the_librarian_learns_from_the_words_and_not_from_what_is_attached(alice: Any) -> None:
    letter = draft(alice, "Pasted: I live in Tromsø", LETTER, kind="paste")
    opened = send(alice, "I live in Porto. Please check this.", letter, image_draft(alice, "I like chess.png"))
    answered(opened)

    run = request_reading(alice.pk, opened.conversation.pk, 1, 2, "asked")
    assert run is not None
    run_extraction(run.pk)

    facts = list(Fact.objects.for_user(alice).values_list("statement", "quote"))
    assert ("The user lives in Porto.", "I live in Porto") in facts
    learned = f"{facts} {list(Episode.objects.for_user(alice).values_list('title', 'summary'))}"
    assert not any(word in learned for word in (*OF_THE_LETTER, "chess"))


def test_a_message_of_attachments_alone_is_nothing_to_learn_from(alice: Any) -> None:
    opened = send(alice, "", draft(alice, "a.md", LETTER))
    answered(opened)
    _, said = ChatSource().load_all(opened.conversation.pk)
    assert [one.speaker for one in said] == ["assistant"]


def test_what_is_attached_is_not_in_the_index_of_what_was_said(alice: Any) -> None:
    opened = send(alice, "Please check this.", draft(alice, "letter.md", LETTER))
    answered(opened)
    index_conversation(opened.conversation.pk)
    texts = " ".join(Chunk.objects.for_user(alice).values_list("text", flat=True))
    assert "check this" in texts
    assert not any(word in texts for word in OF_THE_LETTER)
