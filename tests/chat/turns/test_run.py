"""The story of a turn, told through the socket, the real SDK and the offline server."""

import asyncio
import json
import re
import time
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from accounts.deletion import delete_account
from accounts.models import User
from budget.models import Receipt
from chat.messages.outcomes import outcome
from chat.messages.rendering import messages_html
from chat.models import Conversation, Message
from chat.tools.remember import REMEMBER
from chat.turn import MAX_ROUNDS
from chat.turns import intake, start
from chat.turns.backend import StoredTurn
from chat.turns.live import TURN_REGISTRY
from chat.turns.recovery import mark_abandoned_answers
from chat.turns.run import _show_context
from memory.models import Document, Fact, LibrarianRun
from memory.review import decisions
from tests.chat.conftest import Provider, Tabs, settled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queued")]


async def answer_of(message: int) -> Message:
    found: Message = await Message.objects.select_related("receipt", "conversation").aget(pk=message)
    return found


async def test_a_question_is_answered_saved_and_shown_as_it_comes(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "Lisbon is lovely in June, and so is Porto."})
    tab = await tabs.open(alice)
    done = await tab.talk("Where shall we go?")
    answer = await answer_of(done["message"])
    assert answer.text == tab.text_of(answer.pk) == "Lisbon is lovely in June, and so is Porto."
    assert (answer.status, done["outcome"]) == (Message.Status.COMPLETE, "complete")
    assert "Lisbon is lovely" in done["html"]
    assert [f["type"] for f in tab.seen if f["type"] in ("accepted", "context", "done")][:1] == ["accepted"]


async def test_a_short_answer_never_overtakes_the_frame_that_accepts_its_question(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*args: Any, **kwargs: Any) -> str:
        deadline = time.monotonic() + 20
        while TURN_REGISTRY.by_conversation and time.monotonic() < deadline:
            time.sleep(0.01)
        return messages_html(*args, **kwargs)

    monkeypatch.setattr(start, "messages_html", slowly)
    provider.script({"text": "Yes."})
    tab = await tabs.open(alice)
    await tab.talk("Is it?")
    assert [f["type"] for f in tab.seen if f["type"] in ("accepted", "delta", "done")] == ["accepted", "delta", "done"]


async def test_every_answer_has_a_receipt_with_the_providers_figures(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    tab = await tabs.open(alice)
    done = await tab.talk("Hello there")
    receipt = (await answer_of(done["message"])).receipt
    usage = provider.requests()[-1]["usage"]
    assert receipt.state == Receipt.State.COMPLETE
    assert receipt.output_tokens == usage["output_tokens"]
    assert (
        receipt.total_input
        == usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    )
    assert receipt.estimated_input == sum(s["tokens"] for s in receipt.sections) > 0
    assert receipt.cost is not None
    assert {"history", "profile", "retrieve", "compile", "first_token", "total"} <= receipt.timings.keys()


async def test_the_panel_can_be_fetched_while_the_answer_is_written(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.fail("slow:0.2")
    tab = await tabs.open(alice)
    accepted = await tab.ask("Tell me something long")
    await tab.hear("context")
    receipt = await Receipt.objects.aget(message_id=accepted["message"])
    assert receipt.state == Receipt.State.OPEN
    await tab.tell("stop", conversation=accepted["conversation"])
    await tab.hear("done")


async def test_stop_keeps_the_text_and_ends_the_upstream_request(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four five six seven eight nine ten"})
    provider.fail("slow:0.15")
    tab = await tabs.open(alice)
    accepted = await tab.ask("Count")
    await tab.hear("delta")
    await tab.tell("stop", conversation=accepted["conversation"])
    done = await asyncio.wait_for(tab.hear("done"), 1.0)
    await settled()
    answer = await answer_of(accepted["message"])
    assert done["outcome"] == answer.status == Message.Status.INTERRUPTED
    assert answer.text.startswith("one")
    assert "ten" not in answer.text
    assert answer.event_data["stop_reason"] == "stopped"
    assert answer.receipt.state == Receipt.State.STOPPED
    assert answer.receipt.usage_is_estimated
    assert provider.requests()[-1]["outcome"] == "cancelled"


async def test_stop_from_another_tab_reaches_the_turn(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.fail("slow:30")
    first, second = await tabs.open(alice), await tabs.open(alice)
    accepted = await first.ask("Count to ten, please")
    await second.tell("stop", conversation=accepted["conversation"])
    done = await first.hear("done")
    assert done["outcome"] == "interrupted"


async def test_a_closed_socket_does_not_cancel_the_turn(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four five"})
    provider.fail("slow:0.05")
    tab = await tabs.open(alice)
    accepted = await tab.ask("Count")
    await tabs.close(tab)
    await settled()
    answer = await answer_of(accepted["message"])
    assert (answer.status, answer.text) == (Message.Status.COMPLETE, "one two three four five")


async def test_a_second_tab_goes_on_where_the_answer_is(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "one two three four five six seven eight"})
    provider.fail("slow:0.08")
    first = await tabs.open(alice)
    accepted = await first.ask("Count")
    await first.hear("delta")
    second = await tabs.open(alice)
    await second.tell("open", conversation=accepted["conversation"])
    opened = await second.hear("opened")
    assert opened["answer"]["message"] == accepted["message"]
    done = await second.hear("done")
    later = "".join(f["text"] for f in second.seen if f["type"] == "delta")
    assert opened["answer"]["text"] + later == "one two three four five six seven eight"
    assert "one two three" in done["html"]


async def test_deltas_come_coalesced(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": " ".join(["word"] * 200)})
    tab = await tabs.open(alice)
    done = await tab.talk("Speak")
    deltas = [f for f in tab.seen if f["type"] == "delta"]
    assert 1 < len(deltas) <= 120
    assert tab.text_of(done["message"]) == " ".join(["word"] * 200)


STOP_REASONS = [
    ("max_tokens", "complete", ("continue",)),
    ("refusal", "complete", ("retry",)),
    ("pause_turn", "complete", ("continue",)),
    ("model_context_window_exceeded", "complete", ("new",)),
]


@pytest.mark.parametrize(("reason", "outcome", "offers"), STOP_REASONS)
async def test_every_stop_reason_has_a_sentence_and_a_next_step(
    alice: Any, tabs: Tabs, provider: Provider, reason: str, outcome: str, offers: tuple[str, ...]
) -> None:
    from chat.messages.outcomes import outcome as outcome_of

    provider.fail(f"stop_reason:{reason}")
    tab = await tabs.open(alice)
    done = await tab.talk("Tell me a story")
    answer = await answer_of(done["message"])
    assert done["outcome"] == outcome
    assert outcome_of(answer).offers == offers
    assert outcome_of(answer).sentence in done["html"].replace("&#x27;", "'")


FAILURES = [
    ("unauthorized", 1, "The API key was rejected"),
    ("spend_limit", 1, "spending limit"),
    ("rate_limit:60", 1, "60 seconds"),
    ("overloaded", 3, "overloaded"),
    ("server_error", 3, "internal error"),
]


@pytest.mark.parametrize(("fault", "attempts", "words"), FAILURES)
async def test_a_provider_error_is_a_plain_sentence_and_a_retry_button(
    alice: Any, tabs: Tabs, provider: Provider, fault: str, attempts: int, words: str
) -> None:
    provider.fail(fault, times=3)
    tab = await tabs.open(alice)
    done = await tab.talk("Hello")
    answer = await answer_of(done["message"])
    assert (done["outcome"], answer.status, answer.text) == ("failed", Message.Status.FAILED, "")
    assert words in answer.event_data["error"]["sentence"]
    assert words in done["html"]
    assert "retry" in done["html"]
    assert len(provider.requests()) == attempts
    assert answer.receipt.state == Receipt.State.FAILED


@pytest.mark.parametrize(
    "fault", ["overloaded", "rate_limit:0.1", "server_error", "mid_stream_error:0", "broken_connection:0"]
)
async def test_it_is_tried_again_silently_while_nothing_was_shown(
    alice: Any, tabs: Tabs, provider: Provider, fault: str
) -> None:
    provider.script({"text": "Here I am."}, {"text": "Here I am."})  # a broken answer uses one up
    provider.fail(fault)
    tab = await tabs.open(alice)
    done = await tab.talk("Hello")
    assert (done["outcome"], (await answer_of(done["message"])).text) == ("complete", "Here I am.")
    labels = [frame["label"] for frame in tab.seen if frame["type"] == "status"]
    assert any("Trying again" in label for label in labels)
    assert not any(label.endswith("…") for label in labels), "the page adds the dots"


@pytest.mark.parametrize("fault", ["mid_stream_error:3", "broken_connection:3"])
async def test_what_was_shown_before_a_failure_is_kept_and_not_tried_again(
    alice: Any, tabs: Tabs, provider: Provider, fault: str
) -> None:
    provider.script({"text": "one two three four five six"})
    provider.fail(fault)
    tab = await tabs.open(alice)
    done = await tab.talk("Count")
    answer = await answer_of(done["message"])
    assert (done["outcome"], answer.status) == ("interrupted", Message.Status.INTERRUPTED)
    assert answer.text.startswith("one two")
    assert len(provider.requests()) == 1
    assert "retry" in done["html"]
    assert "continue" in done["html"]


async def test_a_retry_answers_again_and_the_first_answer_stays(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "First."}, {"text": "Second."})
    tab = await tabs.open(alice)
    first = await tab.talk("Say something")
    await tab.tell("retry", client_id=str(uuid4()), message=first["message"])
    again = await tab.hear("accepted")
    await tab.hear("done")
    await settled()
    assert again["replaces"] == first["message"]
    texts = [m.text async for m in Message.objects.filter(role="assistant").order_by("seq")]
    assert texts == ["First.", "Second."]
    sent = provider.requests()[-1]["body"]["messages"]
    assert len(sent) == 1, "the first answer is no part of the new branch"


async def test_going_on_after_a_length_stop_is_a_new_turn(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "It all began", "stop_reason": "max_tokens"}, {"text": "and it ended."})
    tab = await tabs.open(alice)
    first = await tab.talk("Tell me a story")
    await tab.tell("continue", client_id=str(uuid4()), message=first["message"])
    await tab.hear("accepted")
    await tab.hear("done")
    await settled()
    sent = provider.requests()[-1]["body"]["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert "It all began".startswith(sent[1]["content"][0]["text"])
    assert sent[2]["content"][-1]["text"] == intake.CONTINUE_TEXT


async def test_tools_are_run_and_their_rounds_booked(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script(
        {"text": "Let me look.", "tools": [{"name": "search_knowledge", "input": {"query": "sister"}}]},
        {"text": "I do not know yet."},
    )
    tab = await tabs.open(alice)
    done = await tab.talk("Where does my sister live?")
    answer = await answer_of(done["message"])
    assert answer.text == "Let me look.\n\nI do not know yet."
    assert len(answer.receipt.rounds) == 2
    events = [m async for m in Message.objects.filter(parent=answer).order_by("seq")]
    assert [(e.event_type, e.author) for e in events] == [
        ("tool_call", "search_knowledge"),
        ("tool_result", "search_knowledge"),
    ]
    second = provider.requests()[-1]["body"]["messages"]
    assert second[-1]["content"][0]["type"] == "tool_result"
    assert second[-1]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
    await tab.talk("And my brother?", done["conversation"])
    history = provider.requests()[-1]["body"]["messages"]
    line = f'[search_knowledge {{"query": "sister"}}: {len(events[1].text)} characters of results, '
    line += f"kept at result:{answer.pk}.1]"
    assert history[1]["content"][0]["text"] == line


@pytest.mark.parametrize(
    "sentence", ["system.0.cache_control: Extra inputs are not permitted", "Unsupported field 'cache_control'"]
)
async def test_a_server_that_refuses_marks_for_its_cache_gets_no_more_of_them(
    alice: Any, tabs: Tabs, provider: Provider, sentence: str
) -> None:
    provider.script({"tools": [{"name": "search_knowledge", "input": {"query": "sister"}}]}, {"text": "I do not know."})
    provider.fail(f"bad_request:{sentence}")
    tab = await tabs.open(alice)
    done = await tab.talk("Where does my sister live?")
    assert done["outcome"] == "complete"
    await tab.talk("And my brother?", done["conversation"])
    marked = ["cache_control" in json.dumps(request["body"]) for request in provider.requests()]
    assert marked == [True, *[False] * (len(marked) - 1)]
    assert len(marked) > 3, "the same again, after a tool, in the next turn"


async def test_an_error_that_quotes_the_user_is_no_refusal_of_marks(alice: Any, tabs: Tabs, provider: Provider) -> None:
    fault = "bad_request:messages.0.content.0.text: Invalid text 'system.0.cache_control: no'"
    provider.fail(fault, times=2)  # with marks and without
    tab = await tabs.open(alice)
    done = await tab.talk("system.0.cache_control: no")
    assert done["outcome"] != "complete"
    await tab.talk("And now?", done["conversation"])
    assert "cache_control" in json.dumps(provider.requests()[-1]["body"]["system"])


async def test_a_turn_takes_at_most_eight_tool_rounds(alice: Any, tabs: Tabs, provider: Provider) -> None:
    call = {"tools": [{"name": "search_knowledge", "input": {"query": "again"}}]}
    provider.script(*[call] * MAX_ROUNDS, {"text": "Enough."})
    tab = await tabs.open(alice)
    done = await tab.talk("Search for ever")
    assert (await answer_of(done["message"])).text == "Enough."
    assert len(provider.requests()) == MAX_ROUNDS + 1
    assert provider.requests()[-1]["body"]["tool_choice"] == {"type": "none"}


async def test_a_wrong_tool_call_is_answered_and_not_a_fault(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"tools": [{"name": "read_document", "input": {"path": "no slash"}}]}, {"text": "I see."})
    tab = await tabs.open(alice)
    done = await tab.talk("Read it")
    assert done["outcome"] == "complete"
    result = provider.requests()[-1]["body"]["messages"][-1]["content"][0]
    assert result["is_error"]
    assert "/" in result["content"]


async def test_the_conversation_that_is_left_is_read(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    left = await tab.talk("My sister Mary lives in Lisbon")
    await tab.talk("Something else")
    run = await LibrarianRun.objects.aget()
    assert (str(run.conversation_id), run.first_seq, run.last_seq, run.trigger) == (left["conversation"], 1, 2, "left")
    assert (await Conversation.objects.aget(pk=left["conversation"])).status == Conversation.Status.PAUSED


async def test_a_running_conversation_is_read_every_six_turns(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    conversation = None
    for number in range(6):
        conversation = (await tab.talk(f"Turn {number}", conversation))["conversation"]
    assert [(r.first_seq, r.last_seq, r.trigger) async for r in LibrarianRun.objects.all()] == [(1, 12, "turns")]


async def test_a_shutdown_keeps_what_was_written(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.fail("slow:0.15")
    tab = await tabs.open(alice)
    accepted = await tab.ask("Count to ten, please")
    await tab.hear("delta")
    await TURN_REGISTRY.shut_down(drain_seconds=0)
    answer = await answer_of(accepted["message"])
    assert answer.status == Message.Status.INTERRUPTED
    assert answer.text
    assert answer.event_data["stop_reason"] == "process_ended"


async def test_a_message_too_long_for_the_plan_is_refused_before_any_call(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    tab = await tabs.open(alice)
    text = "A sentence that is quite ordinary. " * 7_000
    accepted = await sync_to_async(_send_long)(alice, text)
    await tab.tell("open", conversation=accepted)
    await settled()
    answer = await Message.objects.aget(role="assistant")
    assert answer.status == Message.Status.FAILED
    assert "too long" in answer.event_data["error"]["sentence"]
    assert provider.requests() == []
    assert outcome(answer).offers == ("keep", "retry")


async def test_what_was_too_long_is_kept_as_a_document_once(alice: Any, bob: Any, sign_in: Any, tabs: Tabs) -> None:
    text = "My garden diary begins here, in March. " + "Another day among the roses. " * 9_000
    await sync_to_async(_send_long)(alice, text)
    await settled()
    answer = await Message.objects.aget(role="assistant")
    address = f"/m/{answer.pk}/keep-as-document"

    def keep_it() -> str:
        assert sign_in(bob).post(address).status_code == 404
        page = sign_in(alice).get(address).content.decode()
        for _ in range(2):
            assert sign_in(alice).post(address).status_code == 302
        return str(page)

    asked = await sync_to_async(keep_it)()

    assert "My garden diary begins here" in asked
    kept = await Document.objects.aget(user=alice)
    assert kept.path == "/reference/My garden diary begins here, in"
    assert kept.text == text


def _send_long(user: Any, text: str) -> str:
    """By the HTTP way, as the page does for a long message."""
    from asgiref.sync import async_to_sync

    from chat.protocol import Send
    from chat.turns.start import accept

    async def send() -> str:
        frame = Send(v=1, type="send", client_id=uuid4(), conversation=None, text=text)
        accepted = await accept(user.pk, frame)
        await settled()
        return str(accepted["conversation"])

    return async_to_sync(send)()


async def test_an_answer_that_cannot_be_closed_is_let_go_with_its_text(
    alice: Any, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a fault of ours")

    provider.script({"text": "Here I am."})
    monkeypatch.setattr("chat.turns.backend.finish_turn", broken)
    tab = await tabs.open(alice)
    accepted = await tab.ask("Hello")
    await settled()
    assert await sync_to_async(mark_abandoned_answers)() == 1
    answer = await answer_of(accepted["message"])
    assert (answer.status, answer.text) == (Message.Status.INTERRUPTED, "Here I am.")


async def test_a_message_sent_again_is_answered_even_if_its_answer_was_taken_for_abandoned(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    provider.script({"text": "Here I am."})
    sent = uuid4()  # committed; the database failed before it could confirm that, and another process took it for ended
    accepted = await sync_to_async(intake.accept_message)(alice, sent, None, "Hello")
    await Message.objects.filter(pk=accepted.answer.pk).aupdate(status=Message.Status.INTERRUPTED)
    tab = await tabs.open(alice)

    await tab.tell("send", client_id=str(sent), conversation=None, text="Hello")
    await tab.hear("done")

    answer = await answer_of(accepted.answer.pk)
    assert (answer.status, answer.text) == (Message.Status.COMPLETE, "Here I am.")


async def test_a_turn_whose_account_is_deleted_ends_quietly(
    alice: Any, tabs: Tabs, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    provider.fail("slow:0.1")
    tab = await tabs.open(alice)
    await tab.tell("send", client_id=str(uuid4()), conversation=None, text="Hello")
    message = (await tab.hear("accepted"))["message"]
    await tab.hear("delta")
    (story,) = TURN_REGISTRY._tasks

    await sync_to_async(delete_account)(alice)

    await settled()
    assert story.exception() is None
    assert f"The answer of message {message} is not kept: its account was deleted." in caplog.messages
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_receipt_that_is_begun_for_a_deleted_account_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.turns.backend.save_draft_receipt", Mock(side_effect=User.DoesNotExist))
    turn = Mock()
    await _show_context(turn, Mock(), StoredTurn(Mock()))
    turn.broadcast.assert_not_called()


async def test_a_receipt_is_begun_after_the_database_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.turns.run.SAVE_EVERY", 0.01)
    save = Mock(side_effect=[OperationalError, OperationalError, None])
    monkeypatch.setattr("chat.turns.backend.save_draft_receipt", save)
    turn = Mock()
    await _show_context(turn, Mock(), StoredTurn(Mock()))
    assert save.call_count == 3
    turn.broadcast.assert_called_once()


async def test_text_that_cannot_be_stored_is_mended_on_its_way(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script_as_it_is('{"replies": [{"text": "before\\u0000after and half \\ud83d of it"}]}')
    tab = await tabs.open(alice)
    done = await tab.talk("Hello")
    assert (await answer_of(done["message"])).text == tab.text_of(done["message"]) == "beforeafter and half ? of it"


async def test_a_tool_call_that_cannot_be_stored_as_it_is_does_not_lose_the_turn(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    provider.script(
        {"tools": [{"name": "x" * 200, "input": {"a\x00": ["b\x00"]}}, {"name": "search_knowledge", "input": {}}]},
        {"text": "I see."},
    )
    tab = await tabs.open(alice)
    done = await tab.talk("Go on")
    assert done["outcome"] == "complete"
    assert await Message.objects.filter(parent=done["message"], event_type="tool_call").acount() == 2


async def test_proposals_of_one_turn_are_few(alice: Any, tabs: Tabs, provider: Provider) -> None:
    calls = [{"name": "remember", "input": {"statement": f"The user likes tea number {n}."}} for n in range(6)]
    provider.script({"tools": calls}, {"text": "Done."})
    tab = await tabs.open(alice)
    await tab.talk("Remember them all: I like tea")
    assert await Fact.objects.filter(user=alice).acount() == REMEMBER.limit


async def test_only_the_last_answer_can_be_gone_on_from(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    first = await tab.talk("One")
    await tab.talk("Two", first["conversation"])
    await tab.tell("continue", client_id=str(uuid4()), message=first["message"])
    assert (await tab.hear("error"))["code"] == "not_last"


async def test_tools_are_told_as_they_are_used_and_folded_away_behind_the_answer(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    await Fact.objects.acreate(user=alice, statement="The user's sister Mary lives in Lisbon.", status="active")
    calls = [
        {"name": "search_knowledge", "input": {"query": "Mary's town <b>"}},
        {"name": "read_document", "input": {"path": "/profile/nothing"}},
    ]
    provider.script({"tools": calls}, {"text": "In Lisbon."})
    tab = await tabs.open(alice)
    done = await tab.talk("Where does Mary live? Look it up.")
    states = [frame for frame in tab.seen if frame["type"] == "status"]
    assert "Searching your memory: Mary's town <b>" in [frame["label"] for frame in states]
    searched, read = states[-1]["steps"]
    assert re.fullmatch("Searched your memory “Mary's town <b>”: (\\d+|nothing) found", searched)
    assert read == "Read “/profile/nothing”: failed"
    assert "<summary>Searched your memory, read 1 document</summary>" in done["html"]
    assert "Mary&#x27;s town &lt;b&gt;" in done["html"]


async def test_thinking_is_told_with_the_time_it_took(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"thinking": "Let me see.", "text": "Four."})
    tab = await tabs.open(alice)
    done = await tab.talk("What is two and two?")
    assert "thinking" in [frame["state"] for frame in tab.seen if frame["type"] == "status"]
    assert 'Thinking <span class="thinking-time">1 s</span>' in done["html"]


async def test_a_rejected_fact_leaves_the_next_prompt_of_a_running_conversation(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    fact = await Fact.objects.acreate(
        user=alice,
        statement="The user lives in Minsk.",
        kind="biography",
        key="user/home",
        status="active",
        importance=0.8,
    )
    tab = await tabs.open(alice)
    first = await tab.talk("One")
    assert "Minsk" in provider.requests()[-1]["body"]["system"][1]["text"]
    await sync_to_async(decisions.reject)(fact, by=alice)
    await tab.talk("Two", first["conversation"])
    assert "Minsk" not in json.dumps(provider.requests()[-1]["body"])
