"""The page shows compacted turns as their summary with the turns behind it, and nothing happens unannounced."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from budget.models import Receipt
from chat.compaction.jobs import request_compaction
from chat.models import Compaction, Conversation, Message, Segment
from chat.pages import message_window
from recall.llm.client import cached_capabilities, configured_capabilities
from tests.chat.long_talk import begin, fold, go_on, numbered

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server")]
SignIn = Callable[[Any], Client]


@pytest.fixture
def folded(alice: User) -> Conversation:
    """Thirty turns, of which 3 to 20 are compacted; turn 7 contains a tag."""
    said = numbered(30)
    said[6] = ("I decided to bake <b>rye</b> bread.", "**Good.** Rye it is.")
    conversation = begin(alice, said)
    fold(conversation.pk, "asked")
    return conversation


def page(client: Client, conversation: Conversation, query: str = "") -> str:
    return client.get(f"/c/{conversation.pk}{query}").content.decode()


def test_the_summary_stands_where_the_turns_stood(folded: Conversation, sign_in: SignIn) -> None:
    html = page(sign_in(folded.user), folded)
    places = [html.index(text) for text in ("Question number 2?", "Summary of turns 3–20", "Question number 21?")]
    assert places == sorted(places)
    assert "Show 18 turns" in html
    hidden = Message.objects.filter(conversation=folded, turn=9)
    assert not [message for message in hidden if f'id="m-{message.pk}"' in html]


def test_the_turns_behind_it_are_fetched_when_it_is_opened(folded: Conversation, sign_in: SignIn) -> None:
    client = sign_in(folded.user)
    address = re.search(r'hx-get="([^"]+)" hx-trigger="toggle once"', page(client, folded))
    assert address is not None
    html = client.get(address[1]).content.decode()
    assert html.count("<article") == 36
    assert "&lt;b&gt;rye&lt;/b&gt;" in html
    assert "<strong>Good.</strong>" in html
    assert "Question number 21?" not in html


def test_without_scripts_they_open_by_a_link(folded: Conversation, sign_in: SignIn) -> None:
    segment = Segment.objects.get()
    client = sign_in(folded.user)
    assert f'href="?at={segment.last_message_id}#fold-{segment.pk}"' in page(client, folded)
    html = page(client, folded, f"?at={segment.last_message_id}")
    assert "This is answer number 9." in html
    assert re.search(r'<details class="fold-originals" open', html)


def test_a_link_to_a_folded_message_opens_its_fold(folded: Conversation, sign_in: SignIn) -> None:
    message = Message.objects.get(conversation=folded, turn=9, role="user")
    response = sign_in(folded.user).get(f"/m/{message.pk}")
    assert response["Location"] == f"/c/{folded.pk}?at={message.pk}#m-{message.pk}"


def test_merged_summaries_are_shown_as_they_were_made(alice: User, sign_in: SignIn) -> None:
    conversation = begin(alice, numbered(12))
    for step in range(11):
        go_on(conversation, numbered(5, first=13 + step * 5))
        fold(conversation.pk, "asked")
    html = page(sign_in(alice), conversation)
    assert html.count('class="fold"') == 11
    assert Segment.objects.filter(conversation=conversation).count() == 12


def test_early_folds_come_on_request(folded: Conversation, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_window, "WINDOW_SIZE", 20)
    client = sign_in(folded.user)
    html = page(client, folded)
    assert 'class="fold"' not in html
    earlier = re.search(r'href="(\?until=\d+)"', html)
    assert earlier is not None
    assert 'class="fold"' in page(client, folded, earlier[1])


def test_bob_sees_no_fold_of_alices(folded: Conversation, bob: User, sign_in: SignIn) -> None:
    segment = Segment.objects.get()
    client = sign_in(bob)
    for address in (f"/c/{folded.pk}/folded/{segment.pk}", f"/c/{folded.pk}/folding"):
        assert client.get(address).status_code == 404
    own = begin(bob, numbered(2))
    assert client.get(f"/c/{own.pk}/folded/{segment.pk}").status_code == 404
    assert client.post(f"/c/{folded.pk}/compact").status_code == 404
    assert Compaction.objects.count() == 1


# Before it happens -------------------------------------------------------------------------------------------------


def test_the_button_asks_for_it_and_the_panel_says_that_it_is_done(
    alice: User, sign_in: SignIn, queued: Any, django_capture_on_commit_callbacks: Any
) -> None:
    conversation = begin(alice, numbered(14))
    client = sign_in(alice)
    before = page(client, conversation)
    assert before.index('id="receipt"') < before.index("Compact now"), "memories come first"
    assert "data-waiting" in before, "it is shown once they are there"
    with django_capture_on_commit_callbacks(execute=True):
        html = client.post(f"/c/{conversation.pk}/compact", headers={"HX-Request": "true"}).content.decode()
    wish = Compaction.objects.get()
    assert (wish.reason, queued) == ("asked", [("chat.tasks.compact", (wish.pk,))])
    assert "Summarizing older messages…" in html
    assert "Compact now" not in html


def test_there_is_no_button_where_there_is_nothing_to_fold(alice: User, sign_in: SignIn) -> None:
    conversation = begin(alice, numbered(12))
    client = sign_in(alice)
    assert "Compact now" not in page(client, conversation)
    assert client.post(f"/c/{conversation.pk}/compact").status_code == 302
    assert not Compaction.objects.exists()


def test_a_sentence_warns_three_turns_before_and_says_what_will_happen(alice: User, sign_in: SignIn) -> None:
    conversation = begin(alice, numbered(17))
    client = sign_in(alice)
    assert "Soon the model will get a summary" not in page(client, conversation)
    go_on(conversation, numbered(1, first=18))
    assert "Soon the model will get a summary of turns 3–8." in page(client, conversation)


def test_it_warns_too_before_the_prompt_fills_half_of_the_window(alice: User, sign_in: SignIn) -> None:
    conversation = begin(alice, numbered(16))
    client = sign_in(alice)
    window = (cached_capabilities(settings.ENVIRONMENT.chat_model) or configured_capabilities()).context_window
    receipt = Receipt.objects.create(
        user=alice,
        conversation=conversation,
        message_id=conversation.active_leaf_id or 0,
        turn=16,
        model=settings.ENVIRONMENT.chat_model,
        plan="long",
        plan_total=window,
        estimated_input=window // 2 * 80 // 100,
        output_tokens=100,
    )
    assert "Soon the model will get a summary" not in page(client, conversation)
    Receipt.objects.filter(pk=receipt.pk).update(estimated_input=window // 2 * 86 // 100)
    assert "Soon the model will get a summary of turns 3–6." in page(client, conversation)


def test_a_compaction_that_failed_says_so_and_can_be_asked_for_again(alice: User, sign_in: SignIn) -> None:
    conversation = begin(alice, numbered(25))
    request_compaction(conversation, "length")
    Compaction.objects.update(state="failed", error="The worker is tired.", finished_at=conversation.started_at)
    html = page(sign_in(alice), conversation)
    assert "Older messages couldn't be summarized: The worker is tired." in html
    assert "Compact now" in html
