"""Recall is told to stop in the middle of an answer: it keeps what was written, and leaves nothing running."""

import pytest

from tests.processes.browser import Browser
from tests.processes.conftest import Provider, Rows, Said, Turn
from tests.running import Server, free_port, running

pytestmark = pytest.mark.processes

STORY = " ".join(f"word{number}" for number in range(60))


def test_told_to_stop_in_mid_stream_it_keeps_the_answer_and_leaves_nothing_running() -> None:
    port = free_port()
    with running(OFFLINE_PORT=str(port), OFFLINE_ADMIN="1") as app:
        alice = Browser(app.url)
        alice.sign_up("alice@example.org")
        turn = Turn(alice, "Tell me, and stop.")
        Provider(port).will_say(turn.asked, STORY, pause=0.1)
        turn.send()
        heard = turn.tab.hear_until(turn.answer, characters=20)
        everything = app.processes()
        assert app.stop() == 0
        assert [process for process in everything if process.is_running()] == []
        assert "did not stop within" not in app.output()
        assert "Traceback" not in app.output()

        database = Server(app.var_dir)  # alone: no next start has tidied up
        try:
            rows = Rows(database.conninfo)
            question, answer = rows.messages(turn.conversation)
            assert question == Said(1, "user", "complete", turn.asked)
            assert answer == Said(2, "assistant", "interrupted", answer.text)
            assert STORY.startswith(answer.text)
            assert answer.text.startswith(heard.strip())
            assert rows.receipts(turn.conversation) == ["stopped"]
        finally:
            database.stop()
