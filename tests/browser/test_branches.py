"""A user changes their mind: they reword a message in place, look back, and lose nothing."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import (
    ON_BOTH,
    OfflineServer,
    Person,
    ask,
    composer,
    is_phone,
    last_answer,
)
from tests.browser.test_look import fits_the_screen

pytestmark = pytest.mark.browser

RIGHT = "it => Math.round(it.getBoundingClientRect().right)"
CODE = "In `Porto`:\n\n```python\nprint('Porto')\n```\n\nAnd $a^2$."


@ON_BOTH
def test_a_message_is_asked_in_other_words_and_both_branches_stay(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any]
) -> None:
    somebody.screen = screen
    page = somebody.tab()
    offline.reply("In Lisbon.", match="Where is the first town?")
    ask(page, "Where is the first town?")
    expect(last_answer(page)).to_have_text("In Lisbon.")
    second = somebody.tab(page.url)
    page.bring_to_front()  # Chromium takes three seconds for each tap in a tab behind another one

    leave_again(page)
    offline.reply(CODE, match="Where is the second town?")
    box = in_other_words(page)
    expect(box).to_have_value("Where is the first town?")
    box.fill("Where is the second town?")
    if is_phone(page):
        page.locator(".edit").get_by_role("button", name="Send").tap()
    else:
        box.press("Enter")
    expect(last_answer(page)).to_contain_text("In Porto")
    expect(page.locator(".message")).to_have_count(2)
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    assert page.locator(".message-user .branches").evaluate(RIGHT) == page.locator(".message-user").evaluate(RIGHT)
    expect(composer(page)).to_be_focused()
    expect(page.locator(".prose math msup")).to_be_visible()
    expect(last_answer(second)).to_contain_text("In Porto")

    look_back(page)
    expect(last_answer(second)).to_have_text("In Lisbon.")
    expect(page.get_by_role("button", name="Later version")).to_be_focused()  # it was also notified of its own switch
    page.reload()
    expect(last_answer(page)).to_have_text("In Lisbon.")
    fits_the_screen(page)


def in_other_words(page: Page) -> Locator:
    """The box in which the last message is reworded."""
    if is_phone(page):
        page.get_by_role("link", name="Edit").tap()
    else:
        composer(page).press("ArrowUp")
    return page.get_by_label("Edit your message")


def leave_again(page: Page) -> None:
    box = in_other_words(page)
    box.fill("Never mind")
    if is_phone(page):
        page.locator(".edit").get_by_role("button", name="Cancel").tap()
    else:
        box.press("Escape")
    expect(box).to_have_count(0)
    expect(composer(page)).to_be_focused()
    expect(page.locator(".message-user .message-body")).to_have_text("Where is the first town?")


def look_back(page: Page) -> None:
    earlier = page.get_by_role("button", name="Earlier version")
    if is_phone(page):
        earlier.tap()
    else:
        earlier.press("Enter")
    expect(last_answer(page)).to_have_text("In Lisbon.")
    expect(page.locator("#announcer")).to_have_text(re.compile("Version 1 of 2"))
    expect(page.get_by_role("button", name="Later version")).to_be_focused()
    expect(page.get_by_role("button", name="Earlier version")).to_be_disabled()


def test_there_is_no_latest_to_jump_to_once_all_of_a_shorter_branch_is_shown(
    somebody: Person, offline: OfflineServer
) -> None:
    page = somebody.tab()
    jump = page.get_by_role("button", name="Jump to latest")
    offline.reply("\n\n".join(f"Line {number}." for number in range(60)), match="Which long list?")
    ask(page, "Which long list?")
    expect(last_answer(page)).to_contain_text("Line 59.")
    page.locator("#scroller").evaluate("it => { it.scrollTop = 0; }")
    expect(jump).to_be_visible()

    offline.reply("One line.", match="Which short list?")
    box = in_other_words(page)
    box.fill("Which short list?")
    box.press("Enter")
    expect(last_answer(page)).to_have_text("One line.")
    expect(jump).to_be_hidden()
