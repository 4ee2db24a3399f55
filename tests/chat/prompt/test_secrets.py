"""A secret is in the prompt of the turn it was written in, in none after it, and in no index, title or export."""

import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from accounts.models import User
from budget.models import Receipt
from chat.compaction.segments import CompactionSpan
from chat.conversations import markdown_export
from chat.messages.history import load_history
from chat.messages.rendering import message_html
from chat.models import Conversation, Message
from memory.index.indexer import embed_pending
from memory.models import Chunk, Fact
from memory.retrieval.recall import retrieve
from memory.secrets import learned
from memory.text.user_text import Span
from tests.chat.conftest import Provider, Tabs

pytestmark = pytest.mark.django_db(transaction=True)

SECRETS = {
    "My wifi password is hunter2, and I live in Kent.": "hunter2",
    "Please change the password to delta-99": "delta-99",
    "Remember my card: PIN 4711": "4711",
    "My IBAN is DE89 3704 0044 0532 0130 00 for the rent.": "DE89 3704 0044 0532 0130 00",
    "The key is sk-ant-api03-abcdefghijklmnopqrstuv": "sk-ant-api03-abcdefghijklmnopqrstuv",
    "My social security number is 078-05-1120": "078-05-1120",
    "Pay with 4111 1111 1111 1111 today": "4111 1111 1111 1111",
    "The plants are watered, the key is in the lockbox by the gate, code 80352": "80352",
}


@pytest.mark.parametrize(("text", "secret"), SECRETS.items())
async def test_no_secret_is_in_any_prompt_after_its_turn(
    alice: Any, tabs: Tabs, provider: Provider, text: str, secret: str
) -> None:
    provider.script({"text": f"Noted: {secret} is safe."}, {"text": "You are welcome."}, {"text": "In Kent."})
    tab = await tabs.open(alice)

    done = await tab.talk(text)
    assert secret in json.dumps(provider.requests()[-1]["body"]), "the model reads what was just written"
    await tab.talk("Thank you for noting that password, card, key and number", done["conversation"])
    await sync_to_async(embed_pending)()
    await tab.talk("What is my password, PIN, card, IBAN, key or social security number?", None)

    later = [json.dumps(request["body"]) for request in provider.requests() if text not in json.dumps(request["body"])]
    assert len(later) >= 2
    assert not [one for one in later if secret in one]


@pytest.mark.parametrize(("text", "secret"), SECRETS.items())
async def test_no_secret_is_stored_where_it_is_searched_shown_or_exported(
    alice: Any, tabs: Tabs, provider: Provider, text: str, secret: str
) -> None:
    provider.script({"text": f"{secret} it is."})
    tab = await tabs.open(alice)

    done = await tab.talk(text)

    chunks = [row async for row in Chunk.objects.values_list("text", "search")]
    assert chunks
    assert secret not in str(chunks)
    conversation = await Conversation.objects.select_related("user").aget(pk=done["conversation"])
    assert secret not in conversation.title
    receipt = await Receipt.objects.aget(message=done["message"])
    assert secret not in json.dumps([receipt.items, receipt.ingredients])
    exported = await sync_to_async(lambda: b"".join(markdown_export.pages(conversation)).decode())()
    assert secret not in exported
    message = await Message.objects.aget(conversation=conversation, role=Message.Role.USER)
    assert message.text == text, "the user's own words stay as they are"


async def test_the_network_for_secrets_reads_the_users_own_texts_and_no_answer(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def learned_secrets(text: str) -> list[Span]:
        read.append(text)
        return []

    monkeypatch.setattr(learned, "learned_secrets", learned_secrets)
    question, answer = "How many lived in Lisbon in 2021?", "In 2021 there were 545,796 people."
    provider.script({"text": answer}, {"text": "You are welcome."})
    tab = await tabs.open(alice)

    done = await tab.talk(question)
    await tab.talk("Thank you", done["conversation"])

    assert question in read
    assert answer not in read


async def test_summaries_are_written_without_secrets(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    done = await tab.talk("My wifi password is hunter2, and I decided to move to Kent.")
    conversation = await Conversation.objects.aget(pk=done["conversation"])

    turns = await sync_to_async(lambda: load_history(conversation, conversation.active_leaf_id).turns)()

    assert "hunter2" not in str(CompactionSpan(turns).exchanges())
    assert "hunter2" not in turns[0].masked_question()


def test_the_page_says_that_a_message_holds_a_secret(alice: User) -> None:
    message = Message(pk=1, role="user", event_type="user_message", text="My wifi password is hunter2", turn=1, seq=1)
    other = Message(pk=2, role="user", event_type="user_message", text="I have 8080 files", turn=2, seq=2)

    note = "Contains a password or key. Recall hides it from memory and later prompts."
    assert note in message_html(message, user=alice)
    assert "Contains" not in message_html(other, user=alice)


def test_a_secret_indexed_before_masking_is_masked_in_recall(alice: User) -> None:
    text = "The wifi password is hunter2."
    conversation = Conversation.objects.create(user=alice)
    message = Message.objects.create(
        user=alice, conversation=conversation, seq=1, turn=1, role="user", event_type="user_message", text=text,
        client_id=uuid4(),
    )  # fmt: skip
    Chunk.objects.create(
        user=alice, kind="message", text=text, own_words=True, message=message, conversation=conversation
    )
    embed_pending()

    (item,) = retrieve(alice, "Which password has the wifi?", now=timezone.now()).kept

    assert not retrieve(alice, "What's the wifi password?", now=timezone.now()).kept  # no memory holds it
    assert item.text == "The wifi password is [secret]."
    assert Fact.objects.count() == 0
