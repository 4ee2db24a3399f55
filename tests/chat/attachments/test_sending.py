"""Drafts become part of a message with it, or not at all."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from chat.attachments import drafts
from chat.attachments.limits import MAX_PER_MESSAGE
from chat.messages.rendering import message_html
from chat.models import Attachment, Conversation, Message
from chat.protocol import BadFrameError, Send, parse
from chat.turn import TurnRejectedError
from chat.turns import intake
from tests.chat.attachments.samples import answered, draft, image_draft, send

pytestmark = pytest.mark.django_db


def test_attachments_are_bound_in_the_order_they_were_given(alice: Any) -> None:
    first, second = draft(alice, "a.md"), image_draft(alice, "b.png")
    opened = send(alice, "What is this?", second, first)

    bound = Attachment.objects.filter(message=opened.question)
    assert [(one.name, one.number) for one in bound] == [("b.png", 1), ("a.md", 2)]


def test_a_message_may_be_attachments_alone(alice: Any) -> None:
    opened = send(alice, " \n", draft(alice, "lease.md"))
    assert opened.question.text == ""
    assert opened.conversation.title == "lease.md"
    with pytest.raises(TurnRejectedError, match="message is empty"):
        send(alice, " ")


def test_the_same_message_again_changes_nothing(alice: Any) -> None:
    one, client_id = draft(alice), uuid4()
    first = intake.accept_message(alice, client_id, None, "Read this", [one.pk])
    again = intake.accept_message(alice, client_id, None, "Read this", [one.pk])
    assert (again.is_duplicate, again.question.pk) == (True, first.question.pk)
    assert Attachment.objects.get().message_id == first.question.pk


def test_what_is_anothers_gone_or_sent_refuses_the_whole_message(alice: Any, bob: Any) -> None:
    sent, others, gone = draft(alice), draft(bob), draft(alice)
    opened = send(alice, "First", sent)
    answered(opened)
    Attachment.objects.filter(pk=gone.pk).delete()
    before = Message.objects.count()

    for one, sentence in ((sent, drafts.SENT), (others, drafts.GONE), (gone, drafts.GONE)):
        one.pk = one.pk or 10**9
        with pytest.raises(TurnRejectedError) as refused:
            send(alice, "Second", one, conversation=opened.conversation.pk)
        assert (refused.value.code, refused.value.sentence) == ("attachments", sentence)
    assert Message.objects.count() == before
    assert Attachment.objects.get(pk=others.pk).message is None


def test_a_message_takes_only_so_many_and_so_much(alice: Any) -> None:
    many = [draft(alice) for _ in range(MAX_PER_MESSAGE + 1)]
    with pytest.raises(TurnRejectedError, match="at most 10 attachments"):
        send(alice, "x", *many)
    heavy = [draft(alice, size=30_000_000), draft(alice, size=30_000_000)]
    with pytest.raises(TurnRejectedError, match="limited to 50 MB"):
        send(alice, "x", *heavy)
    assert not Conversation.objects.exists()


def test_an_edited_message_keeps_its_attachments_and_so_does_the_earlier_wording(alice: Any) -> None:
    opened = send(alice, "What is thsi?", draft(alice), image_draft(alice))
    answered(opened)

    edited = intake.accept_edit(alice, uuid4(), opened.question.pk, "What is this?")

    for question in (opened.question, edited.question):
        assert [one.name for one in Attachment.objects.filter(message=question)] == ["lease.md", "plan.png"]


def test_a_frame_names_its_attachments() -> None:
    frame = {"v": 1, "type": "send", "client_id": str(uuid4()), "conversation": None, "text": ""}
    parsed = parse(json.dumps({**frame, "attachments": [3, 4]}))
    assert isinstance(parsed, Send)
    assert parsed.attachments == [3, 4]
    for bad in ([0], [-1], ["x"], [2**63], list(range(1, 60))):
        with pytest.raises(BadFrameError):
            parse(json.dumps({**frame, "attachments": bad}))


def test_a_temporary_chat_takes_none() -> None:
    frame = {"v": 1, "type": "temporary", "client_id": str(uuid4()), "text": "x", "attachments": [1]}
    with pytest.raises(BadFrameError, match="attachments"):
        parse(json.dumps(frame))


def test_a_message_shows_what_is_attached(alice: Any) -> None:
    opened = send(alice, "Look", image_draft(alice, "<b>.png"), draft(alice, "lease.md"))
    html = message_html(opened.question, user=alice)
    image, file = Attachment.objects.filter(message=opened.question)
    assert reverse("attachment_thumbnail", args=[image.pk]) in html
    assert "&lt;b&gt;.png" in html
    assert "<b>" not in html
    assert "lease.md" in html
    assert reverse("attachment_text", args=[file.pk]) in html
    assert file.text not in html, "it is fetched when somebody wants to read it"
