"""By keyboard alone: the palette finds a command and a conversation, which is deleted and restored."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import ON_BOTH, PHONE, OfflineServer, Person, ask, composer, is_phone, last_answer, tap
from tests.browser.test_look import fits_the_screen

pytestmark = pytest.mark.browser


def chosen(page: Page) -> str:
    """The option that Enter would choose, as announced to screen readers."""
    named = page.get_by_role("combobox").get_attribute("aria-activedescendant")
    return page.locator(f"#{named}").inner_text().split("\n")[0]


def type_into_palette(page: Page, words: str, first: str) -> None:
    """Open it, type, and wait until the first option is this one."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(words)
    expect(page.locator('[role="option"][aria-selected="true"]')).to_contain_text(first)


def test_a_conversation_is_found_deleted_and_brought_back_by_keyboard(somebody: Person) -> None:
    page = somebody.tab()
    ask(page, "My zeppelin is called Hindemith.")
    expect(last_answer(page)).to_be_visible()
    address = page.url

    # A draft stays with its conversation, through a switch to another one and a reload.
    composer(page).fill("And what else")
    type_into_palette(page, "new conv", "New conversation")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/$"))
    expect(composer(page)).to_have_value("")
    type_into_palette(page, "zeppelin", "My zeppelin is called Hindemith")
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    expect(composer(page)).to_have_value("And what else")
    page.reload()
    expect(composer(page)).to_have_value("And what else")

    # Arrow keys choose, Escape returns the focus to where it was.
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [role=option]").first).to_be_visible()
    before = chosen(page)
    page.keyboard.press("ArrowDown")
    assert chosen(page) != before
    page.keyboard.press("Escape")
    expect(composer(page)).to_be_focused()

    type_into_palette(page, "delete this", "Delete this conversation")
    page.keyboard.press("Enter")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    expect(page.locator("#conversation-list")).not_to_contain_text("zeppelin")
    page.keyboard.press("Enter")
    expect(page.locator("#conversation-list")).to_contain_text("zeppelin")

    # The row's own menu, and single keys outside of text fields.
    row = page.locator(".list-row", has_text="zeppelin")
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    title = row.get_by_label("Title")
    expect(title).to_be_visible()
    title.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("Airships?")
    page.keyboard.press("Enter")
    renamed = page.locator(".list-row > a", has_text="Airships?")
    expect(renamed).to_be_focused()
    page.keyboard.press("?")
    page.wait_for_url("**/shortcuts")
    page.keyboard.press("/")
    page.wait_for_url("**/search")
    page.keyboard.type("zepp")
    hit = page.locator(".found-hit").first
    expect(hit).to_contain_text("zeppelin")
    hit.press("Enter")
    page.wait_for_url(re.compile(r"/c/.*#m-\d+$"))
    expect(page.locator(".message:target")).to_contain_text("zeppelin")


@ON_BOTH
def test_what_was_said_is_found_by_its_words_and_leads_to_the_message(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any]
) -> None:
    somebody.screen = screen
    page = somebody.tab()
    cover = "Horsehair" if is_phone(page) else "Cellophane"
    offline.reply(f"**{cover}** is as *good* as a cloche.", match="What covers")
    ask(page, "What covers my seedlings?")
    expect(last_answer(page)).to_contain_text(cover)
    page.goto("/memory/documents")
    tap(page.get_by_role("link", name="Search or run a command"))
    page.keyboard.type(f"{cover} as goo")
    found = page.locator('[role="option"][aria-selected="true"]')
    expect(found).to_have_text(re.compile(rf"^What covers my seedlings\?\s*{cover} is as good as a cloche\.$"))
    expect(found.locator("mark")).to_have_text([cover, "as", "good", "as"])
    fits_the_screen(page)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/c/.*#m-\d+$"))
    expect(page.locator(".message:target")).to_contain_text(cover)


def test_enter_waits_for_the_results_of_what_was_typed(somebody: Person) -> None:
    page = somebody.tab()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [role=option]").first).to_be_visible()
    page.keyboard.type("roles")
    page.keyboard.press("Enter")  # before the server is asked: a new conversation is still the first option
    page.wait_for_url("**/roles")


def test_the_palette_opens_without_the_results_of_last_time(somebody: Person) -> None:
    page = somebody.tab()
    type_into_palette(page, "roles", "Roles")
    page.keyboard.press("Escape")
    page.route("**/palette?**", lambda route: None)  # no answer comes
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    assert page.locator("#palette [role=option]").count() == 0


def test_on_a_phone_the_palette_leaves_room_for_the_keyboard_and_to_tap_beside_it(somebody: Person) -> None:
    somebody.screen = PHONE
    page = somebody.tab()
    page.get_by_role("link", name="Search or run a command").tap()
    palette = page.get_by_role("dialog", name="Command palette")
    expect(palette.get_by_role("option").first).to_be_visible()
    box = palette.bounding_box()
    assert box
    assert box["y"] < 20
    page.touchscreen.tap(200, box["y"] + box["height"] + 40)
    expect(palette).to_be_hidden()
