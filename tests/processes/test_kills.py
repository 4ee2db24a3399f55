"""Any process may be killed at any moment: no message is lost or doubled, and everything continues on its own.

Each process is killed once, at several moments of several users' turns at the same time; then each turn is checked.
"""

import os
import signal
from collections.abc import Callable
from types import SimpleNamespace as Scene
from typing import Any

import pytest

from tests.processes.conftest import Newcomer, Provider, Rows, Said, Turn, on
from tests.running import App, wait_until

pytestmark = [pytest.mark.processes, on("notify", "redis")]

STORY = " ".join(f"word{number}" for number in range(60))
SLOWLY = 0.1
"""Seconds between two words: six for the story."""
INTERRUPTED = "Recall was interrupted while writing this. Nothing you sent was lost."


def question(turn: Turn) -> Said:
    return Said(1, "user", "complete", turn.asked)


def whole(seq: int) -> Said:
    return Said(seq, "assistant", "complete", STORY)


def begun(rows: Rows, turn: Turn, status: str) -> Said:
    """The answer as stored: the start of the story."""
    stored = rows.messages(turn.conversation)[1]
    assert stored == Said(2, "assistant", status, stored.text)
    assert STORY.startswith(stored.text)
    return stored


# The web process ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def web_killed(app: App, provider: Provider, rows: Rows, newcomer: Newcomer) -> Scene:
    streaming = Turn(newcomer(), "Tell me, and web dies in mid-stream.")
    compiling = Turn(newcomer(), "Tell me, and web dies before it can ask the model.")
    unheard = Turn(newcomer(), "Tell me, and web dies before it can say that it has heard.")
    provider.will_say(streaming.asked, STORY, pause=SLOWLY)
    streaming.send()
    wait_until(lambda: begun(rows, streaming, "streaming").text)
    with rows.held("memory_boundary"):
        compiling.send()
        rows.wait_until_stuck_at("memory_boundary")
        with rows.commits_unconfirmed():
            unheard.tell()
            rows.wait_until_unconfirmed()
            app.kill("web")
    return Scene(streaming=streaming, compiling=compiling, unheard=unheard)


@pytest.mark.parametrize("moment", ["streaming", "compiling"])
def test_web_killed_after_the_commit_leaves_the_message_and_what_was_saved(
    web_killed: Scene, provider: Provider, rows: Rows, moment: str
) -> None:
    turn: Turn = getattr(web_killed, moment)
    assert turn.tab.come_back(turn.conversation)["answer"] is None
    answer = begun(rows, turn, "interrupted")
    assert bool(answer.text) is (moment == "streaming")
    assert rows.messages(turn.conversation) == [question(turn), answer]
    assert INTERRUPTED in turn.browser.shown(turn.conversation)

    assert turn.send()["duplicate"]
    assert rows.messages(turn.conversation) == [question(turn), answer]

    provider.will_say(turn.asked, STORY)
    assert turn.tab.retry(turn.answer)["outcome"] == "complete"
    assert rows.messages(turn.conversation) == [question(turn), answer, whole(3)]
    assert rows.receipts(turn.conversation) == ["stopped", "complete"][moment == "compiling" :]


def test_web_killed_before_it_could_confirm_has_the_message_once(web_killed: Scene, rows: Rows) -> None:
    turn: Turn = web_killed.unheard
    turn.tab.wait_until_lost()
    turn.tab.connect()
    accepted = turn.send()  # the page keeps a message until it is accepted
    assert (accepted["duplicate"], accepted["created"]) == (True, True)
    assert INTERRUPTED in accepted["html"]
    assert rows.conversations_with(turn.asked) == 1
    assert rows.messages(turn.conversation) == [question(turn), Said(2, "assistant", "interrupted", "")]


def test_web_taken_for_dead_keeps_the_whole_answer_after_all(
    app: App, newcomer: Newcomer, provider: Provider, rows: Rows, clock: Callable[[str], object]
) -> None:
    """It freezes for a moment, as on a machine that sleeps, and is taken for dead meanwhile."""
    turn = Turn(newcomer(), "Tell me, and web sleeps in mid-stream.")
    provider.will_say(turn.asked, STORY, pause=0.03)
    turn.send()
    turn.tab.hear("context")
    os.kill(app.pid("web"), signal.SIGSTOP)
    try:
        rows.end_signs_of_life(turn.conversation)
        clock("chat.tasks.mark_abandoned_answers")
        wait_until(lambda: rows.messages(turn.conversation)[1].status == "interrupted")
    finally:
        os.kill(app.pid("web"), signal.SIGCONT)
    assert turn.done()["outcome"] == "complete"
    assert rows.messages(turn.conversation) == [question(turn), whole(2)]
    assert rows.receipts(turn.conversation) == ["complete"]


# PostgreSQL --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def postgresql_killed(app: App, provider: Provider, rows: Rows, newcomer: Newcomer) -> Scene:
    streaming = Turn(newcomer(), "Tell me, and PostgreSQL dies in mid-stream.")
    closing = Turn(newcomer(), "Tell me, and PostgreSQL dies while the answer is being kept.")
    compiling = Turn(newcomer(), "Tell me, and PostgreSQL dies before the context is there.")
    sending = Turn(newcomer(), "Tell me, and PostgreSQL dies before the message is committed.")
    onlooker = streaming.browser.tab()
    for turn in (streaming, closing):
        provider.will_say(turn.asked, STORY, pause=SLOWLY)
        turn.send()
        turn.tab.hear("context")
    with rows.held("memory_boundary"):
        compiling.send()
        rows.wait_until_stuck_at("memory_boundary")
        with rows.held("chat_conversation", "SHARE"):  # it can be read, but not written
            closing.stop()
            sending.tell()
            rows.wait_until_stuck_at("chat_conversation", how_many=2)
            provider.will_say(compiling.asked, STORY)
            provider.will_say(sending.asked, STORY)
            assert begun(rows, streaming, "streaming")
            app.kill("postgres")
    return Scene(streaming=streaming, closing=closing, compiling=compiling, sending=sending, onlooker=onlooker)


@pytest.mark.parametrize("moment", ["streaming", "compiling"])
def test_postgresql_killed_after_the_commit_costs_nothing(postgresql_killed: Scene, rows: Rows, moment: str) -> None:
    turn: Turn = getattr(postgresql_killed, moment)
    assert turn.done()["outcome"] == "complete"
    assert turn.tab.texts[turn.answer] == STORY
    assert rows.messages(turn.conversation) == [question(turn), whole(2)]
    assert rows.receipts(turn.conversation) == ["complete"]


def test_postgresql_killed_while_the_answer_is_being_kept(postgresql_killed: Scene, rows: Rows) -> None:
    turn: Turn = postgresql_killed.closing
    assert turn.done()["outcome"] == "interrupted"  # in its stopped state
    answer = begun(rows, turn, "interrupted")
    assert answer.text == turn.tab.texts[turn.answer].strip()
    assert rows.messages(turn.conversation) == [question(turn), answer]
    assert rows.receipts(turn.conversation) == ["stopped"]


def test_postgresql_killed_before_the_commit_has_the_message_once(postgresql_killed: Scene, rows: Rows) -> None:
    turn: Turn = postgresql_killed.sending
    assert turn.tab.hear_of(turn.client_id)["code"] == "unavailable"
    turn.send()  # as the page does on its own
    assert turn.done()["outcome"] == "complete"
    assert rows.conversations_with(turn.asked) == 1
    assert rows.messages(turn.conversation) == [question(turn), whole(2)]


def test_after_postgresql_was_killed_pages_and_worker_go_on(
    postgresql_killed: Scene, newcomer: Newcomer, provider: Provider, rows: Rows
) -> None:
    postgresql_killed.onlooker.hear("nudge", kind="resync")
    turn = answered(Turn(newcomer(), "I live in Porto."), provider)
    provider.will_find(turn.asked, [fact("I live in Porto")])
    turn.browser.end(turn.conversation)
    turn.tab.hear("nudge", kind="librarian")
    wait_until(lambda: rows.runs(turn.conversation) == [("done", 1, 1, 0)])
    assert rows.facts(turn.conversation) == [("I live in Porto", "active")]


@pytest.fixture(scope="module")
def postgresql_killed_unheard(app: App, provider: Provider, rows: Rows, newcomer: Newcomer) -> Scene:
    closing = Turn(newcomer(), "Tell me, and PostgreSQL dies before it can say that the answer is kept.")
    sending = Turn(newcomer(), "Tell me, and PostgreSQL dies before it can say that the message is committed.")
    provider.will_say(closing.asked, STORY, pause=SLOWLY)
    provider.will_say(sending.asked, STORY)
    closing.send()
    closing.tab.hear_until(closing.answer, characters=20)
    with rows.commits_unconfirmed():
        closing.stop()
        sending.tell()
        rows.wait_until_unconfirmed(how_many=2)
        rows.confirm_commits_later()
        app.kill("postgres")
    return Scene(closing=closing, sending=sending)


def test_postgresql_killed_before_it_could_confirm_an_answer_has_it_once(
    postgresql_killed_unheard: Scene, rows: Rows
) -> None:
    turn: Turn = postgresql_killed_unheard.closing
    assert turn.done()["outcome"] == "interrupted"  # in its stopped state
    answer = begun(rows, turn, "interrupted")
    assert answer.text == turn.tab.texts[turn.answer].strip()
    assert rows.messages(turn.conversation) == [question(turn), answer]
    assert rows.receipts(turn.conversation) == ["stopped"]


def test_postgresql_killed_before_it_could_confirm_a_message_has_it_answered(
    postgresql_killed_unheard: Scene, rows: Rows
) -> None:
    turn: Turn = postgresql_killed_unheard.sending
    assert turn.tab.hear_of(turn.client_id)["code"] == "unavailable"
    turn.send()  # as the page does on its own
    assert turn.done()["outcome"] == "complete"
    assert rows.conversations_with(turn.asked) == 1
    assert rows.messages(turn.conversation) == [question(turn), whole(2)]
    assert rows.receipts(turn.conversation) == ["complete"]


# The worker --------------------------------------------------------------------------------------------------------


def answered(turn: Turn, provider: Provider) -> Turn:
    """A message with its answer."""
    provider.will_say(turn.asked, "I see.")
    turn.send()
    turn.done()
    return turn


def fact(quote: str, **fields: Any) -> dict[str, Any]:
    """A fact that the librarian's model finds: `quote` itself, said in the first message."""
    sure = {"confidence": 0.95, "importance": 0.7, "kind": "biography", "number": 1}
    return {"statement": quote, "quote": quote, **sure, **fields}


SAID = "My dog is called Rex and my sister Mary lives in Lisbon."
FACTS = [fact("My dog is called Rex"), fact("my sister Mary lives in Lisbon", kind="person", about_third_party=True)]
LEARNED = [("My dog is called Rex", "active"), ("my sister Mary lives in Lisbon", "proposed")]


@pytest.fixture(scope="module")
def worker_killed(app: App, provider: Provider, rows: Rows, newcomer: Newcomer) -> Scene:
    asking = answered(Turn(newcomer(), f"The worker dies while the model reads this. {SAID}"), provider)
    writing = answered(Turn(newcomer(), f"The worker dies while it writes what it found. {SAID}"), provider)
    provider.will_hang(asking.asked)
    provider.will_find(writing.asked, FACTS, pause=0.05)
    for turn in (asking, writing):
        turn.browser.end(turn.conversation)
        provider.wait_until_asked(turn.asked, times=2)  # by the chat, and by the librarian
    with rows.held("memory_librarianrun", "SHARE"):  # facts can be written, but the run can't be closed
        rows.wait_until_stuck_at("memory_librarianrun")
        app.kill("worker")
    for turn in (asking, writing):
        assert (rows.runs(turn.conversation), rows.facts(turn.conversation)) == ([("running", 1, 0, 0)], [])
        provider.will_find(turn.asked, FACTS)
    rows.end_leases()
    return Scene(asking=asking, writing=writing)


@pytest.mark.parametrize("moment", ["asking", "writing"])
def test_worker_killed_in_mid_extraction_has_each_fact_once(worker_killed: Scene, rows: Rows, moment: str) -> None:
    turn: Turn = getattr(worker_killed, moment)
    wait_until(lambda: rows.runs(turn.conversation) == [("done", 2, 1, 1)])
    assert rows.facts(turn.conversation) == LEARNED


# The model server --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model_server_killed(app: App, provider: Provider, newcomer: Newcomer) -> Scene:
    streaming = Turn(newcomer(), "Tell me, and the model server dies in mid-stream.")
    waiting = Turn(newcomer(), "Tell me, and the model server dies before its first word.")
    provider.will_say(streaming.asked, STORY, pause=SLOWLY)
    provider.will_hang(waiting.asked)
    for turn in (streaming, waiting):
        turn.send()
        provider.wait_until_asked(turn.asked)
    streaming.tab.hear_until(streaming.answer, characters=20)
    app.kill("offline")
    return Scene(streaming=streaming, waiting=waiting)


def test_model_server_killed_in_mid_stream_leaves_the_text_and_a_sentence(
    model_server_killed: Scene, provider: Provider, rows: Rows
) -> None:
    turn: Turn = model_server_killed.streaming
    done = turn.done()
    answer = begun(rows, turn, "interrupted")
    assert done["outcome"] == "interrupted"
    assert "The connection to the model was lost. The text so far is saved." in done["html"]
    assert answer.text.startswith("word0 word1")
    provider.will_say(turn.asked, STORY)
    assert turn.tab.retry(turn.answer)["outcome"] == "complete"
    assert rows.messages(turn.conversation) == [question(turn), answer, whole(3)]
    assert rows.receipts(turn.conversation) == ["stopped", "complete"]


def test_model_server_killed_before_its_first_word_is_asked_again_by_itself(
    model_server_killed: Scene, rows: Rows
) -> None:
    turn: Turn = model_server_killed.waiting
    turn.tab.hear("status", message=turn.answer, state="waiting")
    assert turn.done()["outcome"] == "complete"
    asked, answer, *tools = rows.messages(turn.conversation)
    assert asked == question(turn)
    assert answer == Said(2, "assistant", "complete", turn.tab.texts[turn.answer].strip())
    assert {said.role for said in tools} <= {"tool"}
    assert rows.receipts(turn.conversation) == ["complete"]
