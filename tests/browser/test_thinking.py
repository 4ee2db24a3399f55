"""The model's thinking: closed above the answer, readable while it is written and after a reload."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import OfflineServer, Person, ask, last_answer

pytestmark = pytest.mark.browser

THINKING = "They ask about **strings**. " + " ".join(f"Point {number} matters." for number in range(12))


def test_thinking_is_opened_while_it_is_written_and_stays(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    offline.reply("Steel strings.", match="Which strings?", thinking=THINKING, seconds_a_word=0.05)
    ask(page, "Which strings?")
    thinking = page.locator(".message-assistant").last.locator(".thinking")
    thinking.locator("summary").click()
    expect(thinking.locator(".thinking-text")).to_contain_text("Point 1")
    expect(thinking.locator("strong")).to_have_text("strings")
    assert page.locator("[aria-live]:not([aria-live=off]) .thinking, [role=status] .thinking").count() == 0
    expect(page.locator("#announcer")).not_to_contain_text("Point")

    page.reload()
    expect(thinking.locator("summary")).to_be_visible()
    second = somebody.tab(page.url)
    expect(second.locator(".thinking-text").last).to_contain_text("Point 2", use_inner_text=False)
    expect(last_answer(page)).to_have_text("Steel strings.")
    expect(last_answer(second)).to_have_text("Steel strings.")

    page.reload()
    expect(thinking.locator(".thinking-text")).to_be_hidden()
    thinking.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(thinking.locator(".thinking-text")).to_have_text(THINKING.replace("**", ""))
