"""Everything by keyboard, from signing in to signing out, with a visible focus all the way."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.people import DESKTOP_SIZE, PHONE_SIZE, Person, composer, last_answer
from tests.browser.test_palette import type_into_palette
from tests.conftest import PASSWORD

pytestmark = pytest.mark.browser

MAX_STOPS = 30
"""Presses of Tab within which a control must be reached."""
TOLD = "My sister Mary lives in Lisbon"
LEARNED = "Your sister Mary lives in Lisbon"
FOCUSED = """() => {
  const focused = document.activeElement;
  const box = focused.getBoundingClientRect();
  const name = focused.getAttribute("aria-label") || focused.labels?.[0]?.textContent || focused.innerText.trim();
  const style = (node) => node ? getComputedStyle(node) : { outlineStyle: "none", boxShadow: "" };
  const outlined = (node) => style(node).outlineStyle !== "none" && parseFloat(style(node).outlineWidth) > 0;
  const framed = /0px 0px 0px 3px/.test(style(focused.closest(".composer")).boxShadow);
  const shown = outlined(focused) || outlined(focused.closest(".attach")) || framed;
  return {
    name: focused === document.body ? "BODY" : name || focused.tagName, shown: shown && focused !== document.body,
    visible: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}"""
"""What has the focus, whether it is within the window, and whether a frame shows it: its own, or of the box
around it."""


def focus_shows(page: Page) -> str:
    """The focus is visible; returns the name of what has it."""
    focused = page.evaluate(FOCUSED)
    assert focused["visible"], f"the focus is on something unseen: {focused['name']}"
    assert focused["shown"], f"the focus does not show on {focused['name']}"
    name: str = focused["name"]
    return name


def tab_to(page: Page, target: Locator, key: str = "Tab") -> list[str]:
    """Press Tab until `target` has the focus; returns the names of the stops before it."""
    expect(target).to_be_visible()
    names: list[str] = []
    while len(names) < MAX_STOPS:
        page.keyboard.press(key)
        name = focus_shows(page)
        if target.evaluate("node => node === document.activeElement"):
            return names
        names.append(name)
    raise AssertionError(f"{target} is not among {names}")


def test_a_conversation_is_held_by_keyboard_alone(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Kay").sign_up()  # an empty list: each conversation of a user's is two more stops
    page.wait_for_load_state()
    expect(composer(page)).to_be_focused()  # nothing needs to be pressed first

    page.locator(".skip-link").focus()
    stops = tab_to(page, composer(page))
    assert stops[:5] == ["Recall", "Chat", "Memory", "Projects", "Usage"]
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
    page = somebody.tab("/memory/about")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")


def test_a_focus_that_does_not_show_is_noticed(somebody: Person) -> None:
    page = somebody.tab("/memory/about")
    with pytest.raises(AssertionError, match="does not show on BODY"):
        focus_shows(page)
    page.locator(".brand").focus()
    assert focus_shows(page) == "Recall"
    page.evaluate("document.activeElement.style.outline = 'none'")
    with pytest.raises(AssertionError, match="does not show on Recall"):
        focus_shows(page)


@pytest.mark.timeout(400)  # the application is started first
@pytest.mark.parametrize("size", [DESKTOP_SIZE, PHONE_SIZE], ids=["desktop", "narrow"])
def test_from_signing_in_to_signing_out_nothing_but_the_keyboard_is_needed(
    newcomer: Callable[[str], Person], size: ViewportSize
) -> None:
    person = newcomer("Kim")
    person.screen = {"viewport": size}  # a narrow window has keys, unlike a phone
    person.sign_up()
    person.leave()
    person.contexts, person.signed_in = [], None
    page = person.tab("/accounts/login/")
    page.wait_for_load_state()
    sign_in(page, person)
    tell_and_end(page)
    accept_and_go_to_the_fact(page)
    ask_and_look_at_the_context(page)
    go_by_palette(page, "settings", "Settings")
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    sign_out(page)


def write(page: Page, words: str) -> None:
    """Type into what has the focus, which must be visible."""
    focus_shows(page)
    page.keyboard.type(words)


def go_by_palette(page: Page, words: str, first: str) -> None:
    page.wait_for_load_state()  # keys work from then on
    type_into_palette(page, words, first)
    focus_shows(page)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def sign_in(page: Page, person: Person) -> None:
    email, password = page.get_by_label("Email"), page.get_by_label("Password", exact=True)
    expect(email).to_be_focused()
    write(page, person.email)
    tab_to(page, password)
    write(page, PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{person.app.url}/")
    expect(composer(page)).to_be_focused()


def tell_and_end(page: Page) -> None:
    write(page, TOLD)
    page.keyboard.press("Enter")
    expect(last_answer(page)).to_be_visible()
    focus_shows(page)
    tab_to(page, page.locator("#conversation-menu > summary"), "Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save memories now")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#librarian")).to_have_text("1 to review")
    expect(page.locator("#conversation-menu > summary")).to_be_focused()  # the button that had the focus is gone
    focus_shows(page)


def accept_and_go_to_the_fact(page: Page) -> None:
    go_by_palette(page, "review", "To review")
    proposal = page.locator("[data-fact]")
    expect(proposal).to_be_focused()
    focus_shows(page)
    page.keyboard.press("a")
    expect(proposal).to_have_attribute("data-state", "active")
    expect(proposal).to_be_focused()
    focus_shows(page)
    tab_to(page, page.get_by_role("link", name=LEARNED), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=LEARNED)).to_be_visible()
    edit = page.locator("summary", has_text="Edit")
    place = edit.bounding_box()
    edit.press("Enter")
    expect(page.get_by_label("In your own words")).to_be_focused()
    assert edit.bounding_box() == place, "what was pressed doesn't move"
    page.keyboard.press("Escape")


def ask_and_look_at_the_context(page: Page) -> None:
    go_by_palette(page, "new conv", "New conversation")
    expect(composer(page)).to_be_focused()
    write(page, "Where does my sister live?")
    page.keyboard.press("Enter")
    expect(last_answer(page)).to_contain_text("Lisbon")

    toggle = page.get_by_role("button", name="Context panel")
    recalled = page.get_by_role("region", name="Memories sent")
    tab_to(page, toggle, "Shift+Tab")
    page.keyboard.press("Enter")
    if page.viewport_size == PHONE_SIZE:  # a sheet over the messages, closed until now
        expect(recalled).to_be_visible()
        page.keyboard.press("Escape")
        expect(toggle).to_be_focused()
    expect(recalled).to_be_hidden()
    focus_shows(page)
    tab_to(page, page.get_by_role("link", name="Context: memories and cost"))
    page.keyboard.press("Enter")
    learned = recalled.get_by_role("listitem").filter(has_text=re.compile(rf"^\s*{LEARNED}"))
    tab_to(page, learned.locator(".quote a"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/c/[-0-9a-f]+#m-\d+$"))
    expect(page.locator(".message:target")).to_contain_text(TOLD)


def sign_out(page: Page) -> None:
    page.wait_for_load_state()
    menu = page.get_by_label("Account", exact=True)
    tab_to(page, menu)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Sign out"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Chat that shows its memory")).to_be_visible()


def test_a_menu_closes_when_tab_leaves_it(somebody: Person) -> None:
    page = somebody.tab()
    summary = page.get_by_label("Account", exact=True)
    summary.focus()
    page.keyboard.press("Enter")
    last = page.get_by_role("button", name="Sign out")
    tab_to(page, last)
    expect(last).to_be_visible()
    page.keyboard.press("Tab")
    expect(last).to_be_hidden()
