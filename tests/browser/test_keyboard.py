"""Everything by keyboard: the way to the composer, sending, new lines, the link that skips to the content."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import Person, composer, last_answer

pytestmark = pytest.mark.browser

MOST_STOPS = 30
"""Presses of Tab within which a chat without messages must be crossed."""
FOCUSED = """() => {
  const focused = document.activeElement;
  const box = focused.getBoundingClientRect();
  const name = focused.getAttribute("aria-label") || focused.labels?.[0]?.textContent || focused.innerText.trim();
  const style = getComputedStyle(focused);
  const shown = style.outlineStyle !== "none" || style.boxShadow !== "none" || focused.matches("textarea");
  return { name, id: focused.id, visible: box.width > 0 && box.bottom > 0 && box.top < innerHeight, shown };
}"""


def tab_to(page: Page, target: str) -> list[str]:
    """Press Tab until the element with this id has the focus; returns the names of the stops before it."""
    names: list[str] = []
    while len(names) < MOST_STOPS:
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused["id"] == target:
            return names
        assert focused["visible"], f"the focus is on something unseen: {focused['name']}"
        assert focused["shown"], f"the focus does not show on {focused['name']}"
        names.append(focused["name"])
    raise AssertionError(f"#{target} is not among {names}")


def test_a_conversation_is_held_by_keyboard_alone(somebody: Person) -> None:
    page = somebody.tab()
    expect(composer(page)).to_be_focused()  # nothing needs to be pressed first

    page.locator(".skip-link").focus()
    stops = tab_to(page, "text")
    assert stops[:5] == ["Recall", "Chat", "Profile", "Memory", "Review"]
    assert "New conversation" in stops

    page.keyboard.type("One line,")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and another.")
    expect(composer(page)).to_have_value("One line,\nand another.")
    expect(page.locator(".message")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(last_answer(page)).to_be_visible()
    assert page.locator(".message-user .message-body").inner_text() == "One line,\nand another."
    expect(composer(page)).to_be_focused()
    expect(composer(page)).to_have_value("")


def test_the_skip_link_is_the_first_stop_and_leads_past_the_navigation(somebody: Person) -> None:
    page = somebody.tab("/memory/profile")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")
