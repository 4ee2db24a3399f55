"""What a user wrote is never lost: not to an error, not to a killed process."""

import os
import signal
from typing import Any

import psycopg
import pytest
from playwright.sync_api import expect

from tests.browser.people import (
    DESKTOP,
    ON_BOTH,
    PHONE,
    OfflineServer,
    Person,
    Watch,
    ask,
    being_written,
    composer,
    last_answer,
    tap,
)
from tests.running import App

pytestmark = pytest.mark.browser

DRAFT = "And another thing:\nwhat about tomorrow?"


@ON_BOTH
def test_a_refused_message_goes_back_to_the_composer(somebody: Person, watch: Watch, screen: dict[str, Any]) -> None:
    somebody.screen = screen
    watch.forgive(r"status of 4\d\d")  # Chromium reports every refused request
    page = somebody.tab()
    much = "much " * 80_001
    ask(page, much)
    expect(page.get_by_role("alert")).to_contain_text("The limit is 400,000")
    expect(composer(page)).to_have_value(much)
    expect(page.locator(".message")).to_have_count(0)

    ask(page, "Less, then.")
    expect(last_answer(page)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


@ON_BOTH
def test_a_failed_answer_leaves_the_draft_alone_and_can_be_tried_again(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any]
) -> None:
    somebody.screen = screen
    page = somebody.tab()
    question = "What can you do when all is well again?"
    offline.fail("unauthorized", match=question)
    offline.reply("Nothing " * 100, match=question, seconds_a_word=0.3)
    ask(page, question)
    composer(page).fill(DRAFT)
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    expect(composer(page)).to_have_value(DRAFT)

    tap(again)
    expect(being_written(page)).not_to_have_text("")
    expect(composer(page)).to_have_value(DRAFT)
    page.reload()
    expect(composer(page)).to_have_value(DRAFT)
    tap(page.get_by_role("button", name="Stop"))
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()
    expect(page.locator(".message-assistant")).to_have_count(1)


def test_what_is_written_while_the_page_process_is_dead_is_sent_once_and_answered(
    somebody: Person, app: App, watch: Watch
) -> None:
    """On a desktop, and on a phone."""
    watch.forgive("WebSocket connection")
    watch.forgive("net::ERR_")
    pages = {
        f"Are you still there, after all that, on {name}?": somebody.open_browser(**screen).new_page()
        for name, screen in {"a desktop": DESKTOP, "a phone": PHONE}.items()
    }
    for page in pages.values():
        page.goto("/")
        ask(page, "Good morning!")
        expect(last_answer(page)).to_be_visible()

    os.kill(app.pid("web"), signal.SIGKILL)
    for words, page in pages.items():
        ask(page, words)
        expect(page.get_by_text("Sending…")).to_be_visible()
        expect(composer(page)).to_have_value("")

    for words, page in pages.items():
        expect(page.get_by_text("Sending…")).to_have_count(0)
        expect(page.locator('.message-assistant[data-status="complete"]')).to_have_count(2)
        page.reload()
        expect(page.locator(".message-user").filter(has_text=words)).to_have_count(1)
        expect(page.locator(".message")).to_have_count(4)
    with psycopg.connect(app.conninfo()) as connection:
        count = "SELECT text, count(*) FROM chat_message WHERE text = ANY(%s) GROUP BY text"
        assert dict(connection.execute(count, [list(pages)]).fetchall()) == dict.fromkeys(pages, 1)


def test_an_answer_cut_off_by_a_restart_is_in_progress_nowhere(
    somebody: Person, app: App, offline: OfflineServer, watch: Watch
) -> None:
    watch.forgive("WebSocket connection")
    watch.forgive("net::ERR_")
    page = somebody.tab()
    page.set_viewport_size({"width": 1440, "height": 900})
    offline.reply("Slowly, " * 200, match="Take your time", seconds_a_word=0.2)
    ask(page, "Take your time with this one.")
    expect(page.locator("#receipt")).to_contain_text("In progress")
    os.kill(app.pid("web"), signal.SIGKILL)
    expect(page.get_by_text("Recall was interrupted while writing this.")).to_be_visible()
    expect(page.locator("#receipt")).to_contain_text("Memories sent")
    expect(page.locator("#receipt")).not_to_contain_text("In progress")
    expect(page.locator(".message-assistant[data-shown]")).to_have_count(1)
