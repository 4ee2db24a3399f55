"""What the model thinks is sent in frames of its own and stored with the answer; nothing but the page reads it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse

from accounts.models import User
from budget.receipts.record import PROCESS_ENDED
from chat.api.conversations import Message as ApiMessage
from chat.archive.readable import markdown_pages
from chat.conversations import markdown_export
from chat.messages.thinking import MAX_CHARS, REDACTED
from chat.models import Conversation, Message
from chat.turn import AgentRun
from chat.turns import agent_loop
from chat.turns.live import RunningTurn
from chat.turns.live_text import LiveText
from chat.turns.recovery import mark_abandoned_answers
from memory.models import Chunk
from tests.chat.conftest import Provider, Tab, Tabs, settled

pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[..., Client]
THOUGHT = "The user wants a sum <b>. Two and two make four."


def thinking_in(tab: Tab, message: int) -> str:
    """The thinking as a page puts it together."""
    thinking = ""
    for frame in tab.seen:
        if frame["type"] == "thinking" and frame["message"] == message:
            assert frame["offset"] <= len(thinking), "a gap"
            thinking = thinking[: frame["offset"]] + frame["text"]
    return thinking


async def stored(message: int) -> Message:
    return await Message.objects.aget(pk=message)


async def test_thinking_comes_in_frames_of_its_own_and_is_stored(
    alice: User, tabs: Tabs, provider: Provider, sign_in: SignIn
) -> None:
    provider.script({"thinking": THOUGHT, "text": "Four."})
    tab = await tabs.open(alice)
    done = await tab.talk("What is two and two?")
    assert thinking_in(tab, done["message"]) == THOUGHT
    assert tab.text_of(done["message"]) == "Four."
    kinds = [frame["type"] for frame in tab.seen if frame["type"] in ("thinking", "delta")]
    assert kinds == sorted(kinds, reverse=True), "all thinking comes before the text"
    answer = await stored(done["message"])
    assert (answer.text, answer.event_data["thinking"]) == ("Four.", THOUGHT)
    page = await sync_to_async(shown)(sign_in, alice, done["conversation"])
    for html in (done["html"], page):
        assert "Two and two make four." in html
        assert "sum &lt;b&gt;" in html
        assert '<details class="thinking">' in html


def shown(sign_in: SignIn, user: User, conversation: str) -> str:
    return sign_in(user).get(reverse("conversation", args=[conversation])).content.decode()


async def test_another_users_thinking_is_on_no_page(
    alice: User, bob: User, tabs: Tabs, provider: Provider, sign_in: SignIn
) -> None:
    provider.script({"thinking": THOUGHT, "text": "Four."})
    done = await (await tabs.open(alice)).talk("What is two and two?")
    assert "Two and two" not in await sync_to_async(shown)(sign_in, bob, done["conversation"])
    stranger = await tabs.open(bob)
    await stranger.tell("open", conversation=done["conversation"])
    assert (await stranger.hear("error"))["code"] == "not_found"


async def test_a_second_tab_gets_the_thinking_so_far_and_then_the_rest(
    alice: User, tabs: Tabs, provider: Provider, sign_in: SignIn
) -> None:
    provider.script({"thinking": " ".join(f"step{number}" for number in range(12)), "text": "Done."})
    provider.fail("slow:0.15")
    first, second = await tabs.open(alice), await tabs.open(alice)
    accepted = await first.ask("Think it over")
    await first.hear("thinking")
    await second.tell("open", conversation=accepted["conversation"])
    so_far = (await second.hear("opened"))["answer"]["thinking"]
    assert so_far.startswith("step0")
    await asyncio.sleep(1.2)  # the text so far is saved every second
    assert (await stored(accepted["message"])).event_data["thinking"].startswith("step0")
    assert "step0" in await sync_to_async(shown)(sign_in, alice, accepted["conversation"])
    await second.hear("done")
    await settled()
    second.seen.insert(0, {"type": "thinking", "message": accepted["message"], "offset": 0, "text": so_far})
    assert thinking_in(second, accepted["message"]).endswith("step11")


async def test_a_stopped_turn_keeps_what_was_thought(alice: User, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": "one two three four five six seven", "text": "Never said."})
    provider.fail("slow:0.15")
    tab = await tabs.open(alice)
    accepted = await tab.ask("Think")
    await tab.hear("thinking")
    await tab.tell("stop", conversation=accepted["conversation"])
    done = await tab.hear("done")
    await settled()
    answer = await stored(accepted["message"])
    assert (done["outcome"], answer.text) == ("interrupted", "")
    assert answer.event_data["thinking"].startswith("one")
    assert "seven" not in answer.event_data["thinking"]
    assert "one" in done["html"]


async def test_a_failed_turn_keeps_what_was_thought(alice: User, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": "Hmm.", "text": "one two three four five six"})
    provider.fail("mid_stream_error:5")
    tab = await tabs.open(alice)
    done = await tab.talk("Count")
    answer = await stored(done["message"])
    assert (answer.status, answer.event_data["thinking"]) == (Message.Status.INTERRUPTED, "Hmm.")


async def test_a_request_that_is_sent_again_thinks_from_the_start(alice: User, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": "A first try that fails.", "text": "No."}, {"thinking": "Now.", "text": "Yes."})
    provider.fail("mid_stream_error:2")
    tab = await tabs.open(alice)
    done = await tab.talk("Is it?")
    assert thinking_in(tab, done["message"]) == "Now."
    assert (await stored(done["message"])).event_data["thinking"] == "Now."


async def test_the_thinking_of_each_round_is_a_paragraph_and_goes_back_only_within_the_loop(
    alice: User, tabs: Tabs, provider: Provider
) -> None:
    call = {"name": "search_knowledge", "input": {"query": "Mary"}}
    provider.script({"thinking": "I should look.", "tools": [call]}, {"thinking": "Nothing there.", "text": "No idea."})
    tab = await tabs.open(alice)
    done = await tab.talk("Where does Mary live?")
    assert (await stored(done["message"])).event_data["thinking"] == "I should look.\n\nNothing there."
    back = provider.requests()[-1]["body"]["messages"][-2]["content"]
    assert (back[0]["type"], back[0]["thinking"]) == ("thinking", "I should look.")
    assert back[0]["signature"]
    await tab.talk("And now?", done["conversation"])
    assert "I should look" not in json.dumps(provider.requests()[-1]["body"])


async def test_secrets_are_masked_in_it(alice: User, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": "They use hunter22pass to sign in.", "text": "Noted."})
    tab = await tabs.open(alice)
    done = await tab.talk("My password is hunter22pass")
    assert (await stored(done["message"])).event_data["thinking"] == "They use [secret] to sign in."
    assert "hunter22pass" not in done["html"]


async def test_it_is_no_passage_and_in_no_markdown_but_in_the_api(alice: User, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": "Zanzibar comes to mind.", "text": "Somewhere warm."})
    done = await (await tabs.open(alice)).talk("Where should I travel?")
    conversation = await Conversation.objects.select_related("user").aget(pk=done["conversation"])
    files = await sync_to_async(lambda: b"".join(markdown_export.pages(conversation)).decode())()
    files += await sync_to_async(lambda: str(list(markdown_pages(alice))))()
    assert "Somewhere warm." in files
    assert "Zanzibar" not in files
    assert not await Chunk.objects.filter(text__icontains="Zanzibar").aexists()
    assert not await Message.objects.filter(search="zanzibar").aexists()
    assert ApiMessage.resolve_thinking(await stored(done["message"])) == "Zanzibar comes to mind."


async def test_a_temporary_chat_shows_it_and_stores_nothing(alice: User, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": THOUGHT, "text": "Four."})
    tab = await tabs.open(alice)
    await tab.tell("temporary", client_id=str(uuid4()), text="What is two and two?")
    done = await tab.hear("done")
    assert thinking_in(tab, done["message"]) == THOUGHT
    assert "Two and two make four." in done["html"]
    assert not await Message.objects.aexists()


async def test_a_dead_processs_answer_keeps_it_without_secrets(alice: User) -> None:
    talk = await Conversation.objects.acreate(user=alice, title="A talk")
    fields = {"user": alice, "conversation": talk, "turn": 1}
    question = await Message.objects.acreate(
        **fields, seq=1, role="user", event_type="user_message", text="My password is hunter22pass"
    )
    answer = await Message.objects.acreate(
        **fields, seq=2, role="assistant", event_type="assistant_response", parent=question, status="streaming",
        event_data={"thinking": "It is hunter22pass."},
    )  # fmt: skip
    assert await sync_to_async(mark_abandoned_answers)() == 1
    assert (await stored(answer.pk)).event_data == {"thinking": "It is [secret].", "stop_reason": PROCESS_ENDED}


# The loop and its frames ------------------------------------------------------------------------------------------


REDACTED_BLOCK = {"type": "redacted_thinking", "data": "ENCRYPTED"}
STREAM: list[dict[str, Any]] = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let me see."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": REDACTED_BLOCK},
    {"type": "content_block_stop", "index": 1},
]


async def test_redacted_thinking_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncIterator[Any]]:
        async def events() -> AsyncIterator[Any]:
            for event in STREAM:
                yield event

        yield events()

    async def open_stream(_: Any) -> Any:
        return opened()

    monkeypatch.setattr(agent_loop, "open_stream", open_stream)
    turn, run = RunningTurn(1, uuid4(), 1), AgentRun()
    reply = await agent_loop._stream(turn, {}, run)
    assert run.thinking == f"Let me see.\n\n{REDACTED}"
    assert reply.blocks[1] == REDACTED_BLOCK, "it goes back as it came"


async def test_endless_thinking_is_cut() -> None:
    turn = RunningTurn(1, uuid4(), 1)
    for _ in range(3):
        turn.think("x" * (MAX_CHARS - 1))
    assert len(turn.thinking) < MAX_CHARS + 100
    assert turn.thinking.endswith("too long to keep.]")


def test_a_frame_replaces_what_comes_after_its_offset() -> None:
    text = LiveText(1)
    text.think("one two")
    frame = text.think("three", 4)
    assert (frame["offset"], frame["text"]) == (4, "three")
    assert [part.html for part in frame["open"]] == ["<p>one three</p>\n"], "all of it again"
    assert text.snapshot()["thinking"] == "one three"
