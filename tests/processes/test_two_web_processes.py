"""Two web processes on one database: a turn belongs to one of them, and is watched and stopped through the other."""

import json
import statistics
import time

import httpx2
import pytest
from websockets.frames import CloseCode

from tests.conftest import PASSWORD
from tests.processes.browser import Browser
from tests.processes.conftest import Newcomer, Provider, Rows, Said, Turn, on, web_process
from tests.running import App, wait_until

pytestmark = [
    pytest.mark.processes,
    on("notify", "redis"),
    pytest.mark.timeout(300),
]  # it starts two, which takes time on a busy machine

STORY = " ".join(f"word{number}" for number in range(60))
SHOWN_WITHIN = 0.3
"""Seconds from a piece of text in one process to the same in the other."""
WITHIN = 1.0
"""Seconds from a Stop to the end of the request at the model server (DESIGN §7); 20 ms on an idle machine."""


@pytest.fixture
def turn(newcomer: Newcomer, provider: Provider, request: pytest.FixtureRequest) -> Turn:
    """A turn that runs in the first process."""
    turn = Turn(newcomer(), f"Tell me in {request.node.name}.")
    provider.will_say(turn.asked, STORY, pause=0.05)
    turn.send()
    turn.tab.hear_until(turn.answer, characters=20)
    return turn


def test_stop_at_the_other_process_reaches_the_turn_within_a_second(
    turn: Turn, other_process: str, provider: Provider, rows: Rows
) -> None:
    there = turn.browser.at(other_process).tab()
    there.open(turn.conversation)
    began = time.monotonic()
    there.tell("stop", conversation=turn.conversation)
    wait_until(lambda: provider.asked(turn.asked) == ["cancelled"])
    assert time.monotonic() - began < WITHIN

    assert turn.done()["outcome"] == "interrupted"
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert there.open(turn.conversation)["answer"] is None
    question, answer = rows.messages(turn.conversation)
    assert question == Said(1, "user", "complete", turn.asked)
    assert answer == Said(2, "assistant", "interrupted", answer.text)
    assert STORY.startswith(answer.text)
    assert answer.text in there_shown(turn, other_process)


def test_the_answer_of_one_process_is_seen_through_the_other(turn: Turn, other_process: str, rows: Rows) -> None:
    there = turn.browser.at(other_process).tab()
    written = there.open(turn.conversation)["answer"]
    assert written["message"] == turn.answer
    assert STORY.startswith(written["text"])
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert there.open(turn.conversation)["answer"] is None
    assert STORY in there_shown(turn, other_process)
    assert rows.messages(turn.conversation)[1:] == [Said(2, "assistant", "complete", STORY)]


def test_the_same_message_sent_to_the_other_process_ends_with_the_same_answer(turn: Turn, other_process: str) -> None:
    there = turn.browser.at(other_process).http
    message = {"text": turn.asked, "client_id": turn.client_id}
    again = there.post("/api/v1/turns", json=message, headers={"X-CSRFToken": there.cookies["csrftoken"]})
    events = [json.loads(block.split("data: ")[1]) for block in again.text.strip().split("\n\n")]
    assert events[0]["duplicate"]
    assert (events[-1]["outcome"], events[-1]["text"]) == ("complete", STORY)
    assert STORY.startswith("".join(event["text"] for event in events[1:-1]))


def test_text_appears_at_the_other_process_while_it_is_written(turn: Turn, other_process: str) -> None:
    there = turn.browser.at(other_process).tab()
    known = there.open(turn.conversation)["answer"]["text"]
    assert len(known) < len(STORY) // 2
    written, lags = 0, []
    while written < len(STORY) * 2 // 3:  # the end comes with the whole answer
        turn.tab.hear("delta", message=turn.answer)
        written, at = len(turn.tab.texts[turn.answer]), time.monotonic()
        there.hear_until(turn.answer, written)
        lags.append(time.monotonic() - at)
    assert STORY.startswith(there.texts[turn.answer])
    assert statistics.median(lags) < SHOWN_WITHIN


def test_thinking_is_seen_at_the_other_process_while_it_goes_on(
    newcomer: Newcomer, other_process: str, provider: Provider, rows: Rows
) -> None:
    turn = Turn(newcomer(), "Tell me what you think.")
    provider.will_say(turn.asked, "That is all.", thinking=STORY, pause=0.05)
    turn.send()
    turn.tab.hear("thinking", message=turn.answer)
    there = turn.browser.at(other_process).tab()
    thinking = there.open(turn.conversation)["answer"]["thinking"]
    while len(thinking) < len(STORY) // 2:
        frame = there.hear("thinking", message=turn.answer)
        assert frame["offset"] <= len(thinking), "a gap"
        thinking = thinking[: frame["offset"]] + frame["text"]
    assert STORY.startswith(thinking)
    assert turn.done()["outcome"] == "complete"
    assert rows.ask("SELECT event_data->>'thinking' FROM chat_message WHERE id = %s", turn.answer) == [(STORY,)]


def test_a_tab_at_the_other_process_is_told_when_an_answer_begins(
    newcomer: Newcomer, other_process: str, provider: Provider
) -> None:
    turn = Turn(newcomer(), "Tell me first.")
    provider.will_say(turn.asked, "First.")
    turn.send()
    turn.done()
    there = turn.browser.at(other_process).tab()
    assert there.open(turn.conversation)["answer"] is None
    provider.will_say("Tell me more.", STORY, pause=0.05)
    answer = turn.tab.send("Tell me more.", turn.conversation)["message"]
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert there.open(turn.conversation)["answer"]["message"] == answer
    there.hear_until(answer, characters=20)


def test_the_other_process_learns_that_one_was_killed(app: App, turn: Turn, other_process: str, rows: Rows) -> None:
    there = turn.browser.at(other_process).tab()
    there.open(turn.conversation)
    app.kill("web")
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert "Recall was interrupted while writing this." in there_shown(turn, other_process)
    assert [said.status for said in rows.messages(turn.conversation)] == ["complete", "interrupted"]


def test_a_process_that_is_stopped_lets_its_tabs_go_elsewhere_and_finishes_its_answer(
    app: App, newcomer: Newcomer, environment: dict[str, str], offline_port: int, provider: Provider, rows: Rows
) -> None:
    alice = newcomer()
    with web_process(app, {**environment, "DRAIN_SECONDS": "60"}, offline_port) as leaving:
        turn = Turn(alice.at(leaving.url), "Tell me, and stop.")
        provider.will_say(turn.asked, STORY, pause=0.1)
        turn.send()
        turn.tab.hear_until(turn.answer, characters=20)
        leaving.process.terminate()
        assert turn.tab.wait_until_lost() == CloseCode.SERVICE_RESTART
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{leaving.url}/readyz")

        elsewhere = alice.tab()
        written = elsewhere.open(turn.conversation)["answer"]["text"]
        assert len(written) < len(STORY) // 2
        heard = elsewhere.hear_until(turn.answer, len(STORY) * 2 // 3)  # the end comes with the whole answer
        assert STORY.startswith(heard)
        assert leaving.process.poll() is None, "it waits for the end of its answer"
        elsewhere.hear("nudge", kind="conversation", conversation=turn.conversation)
        assert elsewhere.open(turn.conversation)["answer"] is None
        assert rows.messages(turn.conversation)[1:] == [Said(2, "assistant", "complete", STORY)]
        assert rows.receipts(turn.conversation) == ["complete"]
        leaving.process.wait(20)


def test_failed_sign_ins_are_counted_by_both_processes_together(app: App, other_process: str) -> None:
    Browser(app.url).sign_up("dora@example.org")
    for url in (app.url, other_process, app.url, other_process, app.url):
        assert not is_signed_in(url, "wrong")
    assert not is_signed_in(other_process, PASSWORD), "five attempts were made, whichever process they met"


def is_signed_in(url: str, password: str) -> bool:
    """Whether Dora can sign in with this password."""
    browser = Browser(url)
    browser.http.get("/accounts/login/").raise_for_status()
    return browser.post("/accounts/login/", {"login": "dora@example.org", "password": password}).status_code == 302


def there_shown(turn: Turn, address: str) -> str:
    """The conversation as a page of another process renders it."""
    browser: Browser = turn.browser.at(address)
    return browser.shown(turn.conversation)
