"""A conversation is exported as one Markdown file: the active branch, in the user's time zone, word for word."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from chat.archive.readable import markdown_pages
from chat.conversations import markdown_export
from chat.conversations.markdown_export import file_name, pages
from chat.models import Attachment, Conversation, Message
from tests.chat.pages.test_pages import say
from tests.recall.rendering.test_inert import live
from tests.running import streamed

SignIn = Callable[[Any], Client]
NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
CODE = "Here:\n\n```python\nprint('*hi*')\n```"


@pytest.fixture
def conversation(alice: Any) -> Conversation:
    """Alice's conversation of a summer's day."""
    made: Conversation = Conversation.objects.create(
        user=alice, title="Trip: *Lisbon*", started_at=NOON, last_activity_at=NOON
    )
    say(made, "How do I print?", created_at=NOON)
    say(made, CODE, created_at=NOON)
    return made


def exported(conversation: Conversation) -> str:
    """The whole file."""
    return b"".join(pages(conversation)).decode()


def test_title_dates_speakers_and_every_word(conversation: Conversation) -> None:
    assert exported(conversation) == (
        "# Trip: *Lisbon*\n\n1 July 2026 · 2 messages · times of Europe/Lisbon\n"
        "\n## You, 1 July 2026, 13:00\n\nHow do I print?\n"
        f"\n## Recall, 1 July 2026, 13:00\n\n{CODE}\n"
    )


def test_only_the_branch_that_is_followed(conversation: Conversation) -> None:
    left = conversation.active_leaf
    assert left is not None
    conversation.active_leaf = left.parent
    say(conversation, "By hand.")
    text = exported(conversation)
    assert "By hand." in text
    assert "print('*hi*')" not in text


def test_nothing_of_memory_or_tools_is_in_it(conversation: Conversation) -> None:
    answer = conversation.active_leaf
    Message.objects.filter(pk=conversation.active_leaf_id or 0).update(event_data={"tool_lines": ["[search: secret]"]})
    Message.objects.create(
        user=conversation.user, conversation=conversation, seq=9, turn=1, parent=answer, role="tool",
        event_type="tool_result", text="secret",
    )  # fmt: skip
    assert "secret" not in exported(conversation)


def test_attachments_are_named(conversation: Conversation) -> None:
    question = conversation.messages.earliest("seq")
    Attachment.objects.create(
        user=conversation.user, message=question, number=1, kind="image", name="ca\nt `1`.png", media_type="image/png",
        size=2048, content=b"x", content_hash="0",
    )  # fmt: skip
    assert "Attached: `ca t '1'.png` (image, 2.0\xa0KB)" in exported(conversation)


def test_how_an_answer_ended_is_told(conversation: Conversation) -> None:
    say(conversation, "Please continue.", event_data={"continues": 1})
    say(conversation, "```\nunfinished", status=Message.Status.INTERRUPTED, event_data={"stop_reason": "stopped"})
    text = exported(conversation)
    assert "*Asked to continue.*" in text
    assert "Please continue." not in text
    assert "```\nunfinished\n```\n\n*You stopped this answer.*" in text


IMAGE = "![a](https://example.org/?q=secret)"


def test_no_title_author_or_pair_of_answers_makes_it_load_an_image(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(title=f"Trip {IMAGE}")
    conversation.refresh_from_db()
    say(conversation, "-  ~~~\n   ```\n\nOpened behind a list:\n\n```\n", author=f"Bot {IMAGE}")
    say(conversation, f"```\n{IMAGE}")
    Attachment.objects.create(
        user=conversation.user, message=conversation.messages.earliest("seq"), number=1, kind="file", name=IMAGE,
        media_type="text/plain", size=1, content=b"x", content_hash="0",
    )  # fmt: skip
    archived = [text for name, text in markdown_pages(conversation.user) if "/conversations/" in name]
    for text in (exported(conversation), *archived):
        assert live(text) == [], text
        assert "secret" in text


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Trip to Lisbon", "Trip to Lisbon.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ('a\\b:c*d?"e<f>|g', "a b c d e f g.md"),
        ("line\r\nbreak\u202egnp", "line break gnp.md"),
        ("", "Conversation.md"),
        ("...", "Conversation.md"),
        ("Ümläute 日本", "Ümläute 日本.md"),
        ("x" * 300, f"{'x' * 80}.md"),
    ],
)
def test_the_files_name_is_one_that_every_system_takes(title: str, name: str) -> None:
    assert file_name(Conversation(title=title)) == name


def test_a_long_conversation_is_read_piece_by_piece(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(markdown_export, "BATCH", 4)
    for number in range(8):
        say(conversation, f"Message {number}", created_at=NOON)
    with django_assert_num_queries(1 + 2 * 3):  # the branch; three times messages and their attachments
        pieces = list(pages(conversation))
    assert len(pieces) == 11
    assert [f"Message {number}" in pieces[number + 3].decode() for number in range(8)] == [True] * 8


@pytest.mark.django_db(transaction=True)
def test_it_is_sent_as_a_file(sign_in: SignIn, conversation: Conversation) -> None:
    response = sign_in(conversation.user).get(f"/c/{conversation.pk}/export.md")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="Trip Lisbon.md"'
    assert b"How do I print?" in async_to_sync(streamed)(response)
