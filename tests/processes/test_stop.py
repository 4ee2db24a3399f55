"""Recall is stopped in the middle of an answer: it keeps what was written, and leaves nothing running."""

import pytest

from tests.processes.browser import Browser
from tests.processes.conftest import Provider, Rows, Said, Turn, web_process
from tests.running import Server, free_port, running

pytestmark = pytest.mark.processes

STORY = " ".join(f"word{number}" for number in range(60))


def test_told_to_stop_it_keeps_what_is_written_within_the_time_set_and_leaves_nothing_running() -> None:
    port = free_port()
    settings = {"OFFLINE_PORT": str(port), "OFFLINE_ADMIN": "1"}
    with running(**settings, DRAIN_SECONDS="60") as app:
        with web_process(app, {**settings, "DRAIN_SECONDS": "0"}, port) as second:
            bob = Browser(second.url)
            bob.sign_up("bob@example.org")
            interrupted = Turn(bob, "Tell me, and end.")
            Provider(port).will_say(interrupted.asked, STORY, pause=0.1)
            interrupted.send()
            heard = interrupted.tab.hear_until(interrupted.answer, characters=20)
        rows = Rows(app.conninfo())
        question, answer = rows.messages(interrupted.conversation)
        assert question == Said(1, "user", "complete", interrupted.asked)
        assert answer == Said(2, "assistant", "interrupted", answer.text)
        assert STORY.startswith(answer.text)
        assert answer.text.startswith(heard.strip())
        assert rows.receipts(interrupted.conversation) == ["stopped"]
        query = "SELECT input_tokens > 0, output_tokens > 0 FROM budget_receipt WHERE conversation_id = %s"
        assert rows.ask(query, interrupted.conversation) == [(True, True)]

        alice = Browser(app.url)
        alice.sign_up("alice@example.org")
        turn = Turn(alice, "Tell me, and stop.")
        Provider(port).will_say(turn.asked, STORY, pause=0.1)
        turn.send()
        turn.tab.hear_until(turn.answer, characters=20)
        everything = app.processes()
        assert app.stop() == 0
        assert [process for process in everything if process.is_running()] == []
        assert "did not stop within" not in app.output()
        assert "Traceback" not in app.output()

        database = Server(app.var_dir)  # unaided: no following start has cleaned up
        try:
            rows = Rows(database.conninfo)
            assert rows.messages(turn.conversation)[1] == Said(2, "assistant", "complete", STORY)
            assert rows.receipts(turn.conversation) == ["complete"]
        finally:
            database.stop()
