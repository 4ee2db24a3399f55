"""The real worker compacts turns when a user presses the button, and the page shows them behind their summary."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.people import PHONE, OfflineServer, Person, ask
from tests.browser.test_look import ENOUGH_CONTRAST, HARD_TO_READ, STICKING_OUT

pytestmark = pytest.mark.browser

TURNS = 14
FOLDING = 30_000
"""Milliseconds the worker may take: it may have other work first."""


def test_the_button_folds_and_the_keyboard_opens_what_was_folded(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Folke")
    page = person.sign_up()
    for turn in range(1, TURNS + 1):
        offline.reply(f"River {turn} is long.", match=f"river number {turn}.", seconds_a_word=0)
        ask(page, f"Tell me about river number {turn}.")
        expect(page.locator('.message-assistant[data-status="complete"]')).to_have_count(turn)
    page.get_by_role("button", name="Compact now").click()
    fold = page.locator(".fold")
    expect(fold).to_contain_text("turns 3–4", timeout=FOLDING)
    expect(page.locator("#folding")).to_be_empty()
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(fold.locator("article")).to_have_count(4)
    expect(fold.locator("article").nth(2)).to_contain_text("Tell me about river number 4.")
    for scheme in ("light", "dark"):
        other = person.open_browser(**PHONE, color_scheme=scheme).new_page()
        other.goto(page.url)
        other.locator(".fold summary").click()
        expect(other.locator(".fold article")).to_have_count(4)
        assert other.evaluate(STICKING_OUT) == []
        assert other.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
