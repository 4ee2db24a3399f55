"""Any process may be killed at any moment: no message is lost, none doubled, and everything goes on by itself."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.processes.browser import Browser, Tab
from tests.processes.conftest import Provider, Rows, Said
from tests.running import App, wait_until

pytestmark = pytest.mark.processes

STORY = " ".join(f"word{number}" for number in range(60))
PACE = 0.05
"""Seconds between two words: the story takes three, so that its text is saved once or twice on the way."""
INTERRUPTED = "Recall was interrupted while it wrote this"


def question(text: str) -> Said:
    return Said(1, "user", "complete", text)


def whole(seq: int) -> Said:
    return Said(seq, "assistant", "complete", STORY)


# The web process ---------------------------------------------------------------------------------------------------


def test_web_killed_in_mid_stream_keeps_what_was_saved(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked, client_id = "Tell me while web dies.", str(uuid4())
    provider.will_say(asked, STORY, pause=PACE)
    tab = alice.tab()
    accepted = tab.send(asked, client_id=client_id)
    conversation, answer = accepted["conversation"], accepted["message"]
    wait_until(lambda: rows.messages(conversation)[1].text)
    app.kill("web")

    assert tab.come_back(conversation)["answer"] is None
    kept = rows.messages(conversation)
    assert kept == [question(asked), Said(2, "assistant", "interrupted", kept[1].text)]
    assert len(kept[1].text) > 0
    assert STORY.startswith(kept[1].text)
    assert INTERRUPTED in alice.shown(conversation)

    assert tab.send(asked, client_id=client_id)["duplicate"]
    assert rows.messages(conversation) == kept

    provider.will_say(asked, STORY)
    assert tab.retry(answer)["outcome"] == "complete"
    assert rows.messages(conversation) == [*kept, whole(3)]
    assert rows.receipts(conversation) == ["stopped", "complete"]


def test_web_killed_between_commit_and_answer_keeps_the_message(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked, client_id = "Tell me though web dies at once.", str(uuid4())
    tab = alice.tab()
    with rows.held("memory_boundary"):
        accepted = tab.send(asked, client_id=client_id)
        conversation, answer = accepted["conversation"], accepted["message"]
        rows.wait_until_stuck_at("memory_boundary")
        app.kill("web")

    assert tab.come_back(conversation)["answer"] is None
    kept = rows.messages(conversation)
    assert kept == [question(asked), Said(2, "assistant", "interrupted", "")]
    assert tab.send(asked, client_id=client_id)["duplicate"]
    provider.will_say(asked, STORY)
    assert tab.retry(answer)["outcome"] == "complete"
    assert rows.messages(conversation) == [*kept, whole(3)]
    assert rows.receipts(conversation) == ["complete"]


def test_web_killed_before_it_could_say_that_the_message_is_there(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked, client_id = "Tell me though web dies unheard.", str(uuid4())
    tab = alice.tab()
    with rows.commits_unconfirmed():
        tab.tell("send", client_id=client_id, conversation=None, text=asked)
        rows.wait_until_unconfirmed()
        app.kill("web")
    tab.wait_until_lost()
    tab.connect()
    accepted = tab.send(asked, client_id=client_id)  # the page keeps it until it is accepted
    assert accepted["duplicate"]
    assert rows.sent_with(client_id) == [asked]
    assert rows.messages(accepted["conversation"]) == [question(asked), Said(2, "assistant", "interrupted", "")]


# PostgreSQL --------------------------------------------------------------------------------------------------------


def test_postgresql_killed_before_a_message_is_committed(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked, client_id = "Tell me before the commit.", str(uuid4())
    provider.will_say(asked, STORY)
    tab = alice.tab()
    with rows.held("chat_message"):
        tab.tell("send", client_id=client_id, conversation=None, text=asked)
        rows.wait_until_stuck_at("chat_message")
        app.kill("postgres")
    accepted = tab.send(asked, client_id=client_id)
    tab.hear("done", outcome="complete")
    assert rows.messages(accepted["conversation"]) == [question(asked), whole(2)]
    assert rows.sent_with(client_id) == [asked]


def test_postgresql_killed_before_it_could_say_that_the_message_is_committed(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked, client_id = "Tell me at the commit.", str(uuid4())
    provider.will_say(asked, STORY)
    tab = alice.tab()
    with rows.commits_unconfirmed():
        tab.tell("send", client_id=client_id, conversation=None, text=asked)
        rows.wait_until_unconfirmed()
        rows.confirm_commits_later()
        app.kill("postgres")
    accepted = tab.send(asked, client_id=client_id)
    tab.hear("done", outcome="complete")
    assert rows.messages(accepted["conversation"]) == [question(asked), whole(2)]
    assert rows.sent_with(client_id) == [asked]


def test_postgresql_killed_before_the_context_is_compiled(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked = "Tell me before the context."
    provider.will_say(asked, STORY)
    tab = alice.tab()
    with rows.held("memory_boundary"):
        conversation = tab.send(asked)["conversation"]
        rows.wait_until_stuck_at("memory_boundary")
        app.kill("postgres")
    tab.hear("done", outcome="complete")
    assert rows.messages(conversation) == [question(asked), whole(2)]
    assert rows.receipts(conversation) == ["complete"]


def test_postgresql_killed_in_mid_stream(app: App, alice: Browser, provider: Provider, rows: Rows) -> None:
    asked = "Tell me in mid-stream."
    provider.will_say(asked, STORY, pause=PACE)
    tab = alice.tab()
    accepted = tab.send(asked)
    conversation = accepted["conversation"]
    tab.hear_until(accepted["message"], characters=10)
    app.kill("postgres")
    tab.hear("done", outcome="complete")
    assert tab.texts[accepted["message"]] == STORY
    assert rows.messages(conversation) == [question(asked), whole(2)]
    assert rows.receipts(conversation) == ["complete"]


def test_postgresql_killed_while_the_answer_is_being_kept(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked = "Tell me while you keep it."
    provider.will_say(asked, STORY, pause=0.02)
    tab = alice.tab()
    accepted = tab.send(asked)
    tab.hear("context")
    with rows.held("budget_receipt"):
        rows.wait_until_stuck_at("budget_receipt")
        app.kill("postgres")
    tab.hear("done", outcome="complete")
    assert rows.messages(accepted["conversation"]) == [question(asked), whole(2)]
    assert rows.receipts(accepted["conversation"]) == ["complete"]


def test_postgresql_killed_before_it_could_say_that_the_answer_is_kept(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked = "Tell me and keep it unheard."
    provider.will_say(asked, STORY, pause=0.02)
    tab = alice.tab()
    accepted = tab.send(asked)
    tab.hear("context")
    with rows.commits_unconfirmed():
        rows.wait_until_unconfirmed()
        rows.confirm_commits_later()
        app.kill("postgres")
    tab.hear("done", outcome="complete")
    assert rows.messages(accepted["conversation"]) == [question(asked), whole(2)]
    assert rows.receipts(accepted["conversation"]) == ["complete"]


def test_after_postgresql_was_killed_everything_goes_on_by_itself(
    app: App, alice: Browser, provider: Provider, rows: Rows
) -> None:
    asked = "I live in Porto after the fall."
    provider.will_say(asked, STORY)
    tab, conversation = told(alice, asked)
    other = alice.tab()
    other.open(conversation)
    app.kill("postgres")
    for listening in (tab, other):
        listening.hear("nudge", kind="resync")
    provider.will_find(asked, [fact("I live in Porto")])
    alice.end(conversation)
    other.hear("nudge", kind="librarian")
    wait_until(lambda: rows.runs(conversation) == [("done", 1, 1, 0)], seconds=60)
    assert rows.facts(conversation) == [("I live in Porto", "active")]


# The worker --------------------------------------------------------------------------------------------------------


def fact(quote: str, **fields: Any) -> dict[str, Any]:
    """What the librarian's model finds: `quote` itself, said in the first message."""
    sure = {"confidence": 0.95, "importance": 0.7, "kind": "biography", "number": 1}
    return {"statement": quote, "quote": quote, **sure, **fields}


def told(alice: Browser, text: str) -> tuple[Tab, str]:
    """Alice has said something, and was answered; her tab and the conversation."""
    tab = alice.tab()
    accepted = tab.send(text)
    tab.hear("done", message=accepted["message"])
    return tab, accepted["conversation"]


SAID = "My dog is called Rex and my sister Mary lives in Lisbon."
FACTS = [fact("My dog is called Rex"), fact("my sister Mary lives in Lisbon", kind="person", about_third_party=True)]
LEARNED = [("My dog is called Rex", "active"), ("my sister Mary lives in Lisbon", "proposed")]


def test_worker_killed_while_the_model_reads(app: App, alice: Browser, provider: Provider, rows: Rows) -> None:
    said = f"Hear while the worker dies: {SAID}"
    _, conversation = told(alice, said)
    provider.will_hang(said)
    for _ in range(2):
        provider.will_find(said, FACTS)
    alice.end(conversation)
    provider.wait_until_asked(said, times=2)
    app.kill("worker")
    assert (rows.runs(conversation), rows.facts(conversation)) == ([("running", 1, 0, 0)], [])

    rows.end_leases()
    wait_until(lambda: rows.runs(conversation) == [("done", 2, 1, 1)], seconds=60)
    assert rows.facts(conversation) == LEARNED


def test_worker_killed_while_it_writes_the_facts(app: App, alice: Browser, provider: Provider, rows: Rows) -> None:
    said = f"Hear while the worker writes: {SAID}"
    _, conversation = told(alice, said)
    provider.will_find(said, FACTS, pause=0.05)
    alice.end(conversation)
    provider.wait_until_asked(said, times=2)
    with rows.held("memory_librarianrun", "SHARE"):  # facts can be written, the run cannot be closed
        rows.wait_until_stuck_at("memory_librarianrun")
        app.kill("worker")
    assert (rows.runs(conversation), rows.facts(conversation)) == ([("running", 1, 0, 0)], [])

    provider.will_find(said, FACTS)
    rows.end_leases()
    wait_until(lambda: rows.runs(conversation) == [("done", 2, 1, 1)], seconds=60)
    assert rows.facts(conversation) == LEARNED
