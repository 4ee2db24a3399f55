"""An answer belongs to no tab: a reload and a second tab show it in progress, and Stop in either stops it."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import OfflineServer, Person, ask, being_written, grown, last_answer, tap
from tests.running import wait_until

pytestmark = pytest.mark.browser

WORDS = " ".join(f"word{number}" for number in range(1, 51))
"""An answer that shows a lost, doubled or swapped piece."""


def ask_for_a_slow_answer(page: Page, offline: OfflineServer, question: str, seconds_a_word: float) -> None:
    """Ask, and wait for the first words."""
    offline.reply(WORDS, match=question, seconds_a_word=seconds_a_word)
    ask(page, question)
    expect(being_written(page)).to_have_text(re.compile("^word1 word2"))
    expect(page).to_have_url(re.compile("/c/"))


def test_an_answer_goes_on_through_a_reload_and_in_a_second_tab(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    ask_for_a_slow_answer(page, offline, "Count for me while I reload.", 0.12)

    before = being_written(page).inner_text()
    page.reload()
    assert grown(being_written(page)).startswith(before)

    second = somebody.tab(page.url)
    assert grown(being_written(second)).startswith(before)
    assert grown(being_written(page)).startswith(before)

    for tab in (page, second):
        expect(last_answer(tab)).to_have_text(WORDS)
        expect(tab.locator(".message")).to_have_count(2)


def test_stop_in_a_second_tab_ends_the_answer_within_a_second(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    question = "Count for me until I stop you."
    ask_for_a_slow_answer(page, offline, question, 0.3)

    second = somebody.tab(page.url)
    grown(being_written(second))
    tap(second.get_by_role("button", name="Stop"))
    pressed = time.monotonic()
    wait_until(lambda: offline.requests(question)[-1]["outcome"] == "cancelled", seconds=5)
    assert time.monotonic() - pressed < 1

    kept = [tab.locator('[data-status="interrupted"] .prose') for tab in (page, second)]
    for tab, text in zip((page, second), kept, strict=True):
        expect(tab.get_by_text("You stopped this answer.")).to_be_visible()
        expect(text).to_contain_text("word1 word2")
        expect(tab.get_by_role("button", name="Continue")).to_be_visible()
        expect(tab.get_by_role("button", name="Send")).to_be_visible()
    assert kept[0].inner_text() == kept[1].inner_text()


def test_a_list_that_is_refreshed_keeps_the_focus_on_a_conversations_menu(
    somebody: Person, offline: OfflineServer
) -> None:
    page = somebody.tab()
    ask(page, "What grows in October?")
    expect(last_answer(page)).to_be_visible()
    rows = page.locator("#conversation-list .list-row")
    menu = rows.filter(has=page.locator("[aria-current]")).locator("summary")
    menu.focus()

    second = somebody.tab()
    ask(second, "And what in November?")

    expect(rows.first).to_contain_text("November")
    expect(menu).to_be_focused()
