"""The conversation page: quiet actions, the composer as one box, and the context panel if there is room for it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import (
    ON_BOTH,
    PHONE,
    OfflineServer,
    Person,
    ask,
    composer,
    is_phone,
    last_answer,
    open_list,
    save_memories,
    tap,
)

pytestmark = pytest.mark.browser

OPACITY = "it => getComputedStyle(it).opacity"
EDGES = "it => { const { left, right } = it.getBoundingClientRect(); return [left, right].map(Math.round); }"


_held: dict[str, str] = {}


def talk(person: Person, offline: OfflineServer) -> str:
    """The address of a conversation that no test changes, held once for each user."""
    if person.email not in _held:
        _held[person.email] = hold(person, offline).url
    return _held[person.email]


def hold(person: Person, offline: OfflineServer) -> Page:
    page = person.tab()
    for word in ("cellos", "violas"):
        offline.reply(f"About {word}.", match=f"Tell me about {word}")
        ask(page, f"Tell me about {word}.")
        expect(last_answer(page)).to_have_text(f"About {word}.")
    return page


def test_actions_are_shown_on_the_last_message_and_where_the_pointer_or_the_focus_is(
    somebody: Person, offline: OfflineServer
) -> None:
    page = somebody.tab(talk(somebody, offline))
    actions = page.locator(".message-assistant .message-actions")
    page.mouse.move(0, 0)
    page.wait_for_timeout(200)
    assert actions.last.evaluate(OPACITY) == "1"
    assert actions.first.evaluate(OPACITY) == "0"
    page.locator(".message-assistant").first.hover()
    page.wait_for_timeout(200)
    assert actions.first.evaluate(OPACITY) == "1"
    page.mouse.move(0, 0)
    actions.first.get_by_role("button", name="Copy").focus()
    page.wait_for_timeout(200)
    assert actions.first.evaluate(OPACITY) == "1"
    actions.first.get_by_label("More actions").press("Enter")
    expect(actions.first.get_by_role("link", name="Forget…")).to_be_visible()
    page.keyboard.press("Escape")
    expect(actions.first.get_by_label("More actions")).to_be_focused()


def test_a_message_is_copied_as_it_was_written(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.open_browser(permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto("/")
    written = "## Strings\n\n- **Gut** is soft.\n\n| string | note |\n|---|---|\n| first | A |"
    offline.reply(written, match="Which strings")
    ask(page, "Which strings?\nOn a cello.")
    expect(last_answer(page)).to_contain_text("Gut is soft.")
    for message, words in ((".message-assistant", written), (".message-user", "Which strings?\nOn a cello.")):
        page.locator(message).hover()
        page.locator(message).get_by_role("button", name="Copy").click()
        expect(page.locator(f"{message} [data-action='copy'] use")).to_have_attribute("href", re.compile("#check$"))
        assert page.evaluate("navigator.clipboard.readText()") == words


GAPS = """() => {
  const boxes = [...document.querySelectorAll(".message-body")].map((it) => it.getBoundingClientRect());
  return boxes.slice(1).map(({ top }, at) => Math.round(top - boxes[at].bottom));
}"""
MARK = "it => getComputedStyle(it, '::before').display"


def test_a_question_and_its_answer_read_as_a_pair(somebody: Person, offline: OfflineServer) -> None:
    address = talk(somebody, offline)
    page = somebody.open_browser(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(address)
    expect(page.locator(".message-assistant[data-shown]")).to_have_count(1)
    within, between, within_again = page.evaluate(GAPS)
    assert within == within_again < between < 40
    assert page.locator("[data-shown]").evaluate(MARK) != "none"
    page.get_by_role("button", name="Context panel").click()
    assert page.locator("[data-shown]").evaluate(MARK) == "none", "no context is open"


def test_on_touch_all_actions_are_shown(somebody: Person, offline: OfflineServer) -> None:
    address = talk(somebody, offline)
    page = somebody.open_browser(**PHONE).new_page()
    page.goto(address)
    actions = page.locator(".message-actions")
    assert {actions.nth(each).evaluate(OPACITY) for each in range(actions.count())} == {"1"}


def test_what_applies_to_the_selected_conversations_is_one_row(somebody: Person, offline: OfflineServer) -> None:
    talk(somebody, offline)
    page = somebody.tab("/?select=some")
    tops = "them => them.map((it) => Math.round(it.getBoundingClientRect().top))"
    assert len(set(page.locator(".list-deeds .button").evaluate_all(tops))) == 1


def test_nothing_is_done_to_selected_conversations_until_one_is_selected(
    somebody: Person, offline: OfflineServer
) -> None:
    talk(somebody, offline)
    page = somebody.tab("/?select=some")
    deeds = page.get_by_role("group", name="Selected conversations")
    expect(deeds.get_by_role("status")).to_have_text("0 selected")
    for name in ("Archive", "Delete"):
        expect(deeds.get_by_role("button", name=name)).to_be_disabled()
    page.locator("[name=conversation]").first.check()
    expect(deeds.get_by_role("status")).to_have_text("1 selected")
    expect(deeds.get_by_role("button", name="Archive")).to_be_enabled()
    deeds.get_by_role("link", name="None").click()
    expect(deeds.get_by_role("status")).to_have_text("0 selected")
    expect(deeds.get_by_role("button", name="Delete")).to_be_disabled()


@pytest.mark.parametrize(("address", "shown"), [("/?select=some", "Done"), ("/?list=archived", "All conversations")])
def test_an_address_that_asks_for_another_list_shows_it_on_a_phone(
    somebody: Person, offline: OfflineServer, address: str, shown: str
) -> None:
    talk(somebody, offline)
    page = somebody.open_browser(**PHONE).new_page()
    page.goto(address)
    expect(page.locator("#conversations").get_by_role("link", name=shown)).to_be_in_viewport()
    page.goto("/")
    expect(page.locator("#conversations")).to_be_hidden()


def test_the_composer_is_one_box_as_wide_as_the_messages(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.open_browser(viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/")
    box = page.locator(".composer")
    for name in ("Attach images or files", "Your message", "Temporary", "Send"):
        expect(box.get_by_label(name, exact=True)).to_have_count(1)
    expect(box.locator("#choices")).to_be_visible()
    offline.reply("Fine.", match="How are the oboes")
    ask(page, "How are the oboes?")
    expect(last_answer(page)).to_have_text("Fine.")
    assert box.evaluate(EDGES) == page.locator("#messages").evaluate(EDGES)
    expect(box.get_by_label("Temporary", exact=True)).to_be_hidden()
    expect(box.locator("#choices-menu"), "the model stays at hand").to_be_visible()
    expect(page.locator("#budget-line")).to_be_hidden()


def test_below_1280_pixels_the_context_is_closed_until_it_is_opened(somebody: Person) -> None:
    page = somebody.open_browser(viewport={"width": 1180, "height": 800}).new_page()
    page.goto("/")
    expect(page.locator("#context")).to_be_hidden()
    page.get_by_role("button", name="Context panel").click()
    expect(page.locator("#context")).to_be_visible()
    page.reload()
    expect(page.locator("#context")).to_be_visible()
    expect(composer(page)).to_be_focused()


def test_the_context_lists_memories_first_and_folds_tokens_and_cost_into_one_line(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    page = newcomer("Vera").sign_up()
    page.set_viewport_size({"width": 1440, "height": 900})
    ask(page, "I live in Lisbon.")
    expect(last_answer(page)).to_be_visible()
    save_memories(page)
    expect(page.locator("#librarian")).to_contain_text("1 learned")
    page.goto("/")
    offline.reply("In Lisbon.", match="Where do I live")
    ask(page, "Where do I live?")
    expect(last_answer(page)).to_have_text("In Lisbon.")
    panel = page.locator("#receipt")
    expect(panel.get_by_role("heading").first).to_have_text("Memories sent")
    memory = panel.locator(".memory:has(.quote)").filter(has_text="You live in Lisbon.").first
    expect(memory.locator(".quote")).to_contain_text("“I live in Lisbon")
    expect(memory.get_by_role("button", name="Answer without this")).to_be_hidden()
    memory.get_by_label("More about").click()
    expect(memory.get_by_role("button", name="Answer without this")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel.locator(".legend")).to_be_hidden()
    panel.locator("summary", has_text="tokens").click()
    expect(panel.locator(".legend")).to_be_visible()


SMALL_TARGETS = """() => [...document.querySelectorAll("a, button, summary, input, select, textarea")]
  .filter((it) => it.checkVisibility({ visibilityProperty: true }) && !it.closest(".visually-hidden, .skip-link, p"))
  .filter((it) => it.type !== "checkbox") // those have a label around them
  .map((it) => [it, it.getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < 24)
  .map(([it, { width, height }]) => `${it.outerHTML.slice(0, 80)}: ${width} × ${height}`)"""


def test_at_400_percent_the_messages_have_a_height_and_one_can_write(somebody: Person, offline: OfflineServer) -> None:
    address = hold(somebody, offline).url
    page = somebody.open_browser(viewport={"width": 320, "height": 256}).new_page()
    page.goto(address)
    height = page.locator("#scroller").evaluate("it => it.clientHeight")
    assert height >= 160
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    offline.reply("About flutes.", match="Tell me about flutes")
    ask(page, "Tell me about flutes.")
    expect(last_answer(page)).to_have_text("About flutes.")
    page.get_by_role("button", name="Send").scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)


def test_targets_are_at_least_24_pixels_wide_and_high(somebody: Person, offline: OfflineServer) -> None:
    page = hold(somebody, offline)
    ask(page, "My nephew lives in Ulm.")
    expect(last_answer(page)).to_contain_text("Ulm")
    save_memories(page)
    expect(page.locator("#librarian")).to_contain_text("to review")
    pages = ("/", "/memory/review", "/memory/about", "/memory/documents", "/search", "/usage", "/settings")
    for address in (page.url, *pages):
        page.goto(address)
        assert page.evaluate(SMALL_TARGETS) == [], address


@ON_BOTH
def test_another_conversation_is_shown_without_loading_the_page(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any]
) -> None:
    somebody.screen = screen
    first = hold(somebody, offline).url
    page = somebody.tab()
    offline.reply("About harps.", match="Tell me about harps")
    ask(page, "Tell me about harps.")
    expect(last_answer(page)).to_have_text("About harps.")
    second = page.url
    page.evaluate("window.stays = true")
    composer(page).fill("And about lyres?")

    def go_to(address: str) -> None:
        open_list(page)
        tap(page.locator(f'#conversation-list [href="{address.removeprefix(somebody.app.url)}"]'))

    go_to(first)
    expect(last_answer(page)).to_have_text("About violas.")
    expect(page).to_have_url(first)
    expect(page.locator(".message")).to_have_count(4)
    expect(page.locator("#conversation-list [aria-current]")).to_have_attribute("href", re.compile(first[-36:]))
    expect(page.locator("#talk-header h1")).to_have_text("Tell me about cellos")
    expect(page).to_have_title("Tell me about cellos · Recall")
    expect(page.get_by_label("Conversation actions")).to_be_visible()
    expect(composer(page)).to_have_value("")
    offline.reply("About gambas.", match="Tell me about gambas")
    ask(page, "Tell me about gambas.")
    expect(last_answer(page)).to_have_text("About gambas.")

    page.go_back()
    expect(page).to_have_url(second)
    expect(last_answer(page)).to_have_text("About harps.")
    expect(composer(page)).to_have_value("And about lyres?")
    if not is_phone(page):
        expect(composer(page)).to_be_focused()

    go_to(first)
    expect(page.locator(".message")).to_have_count(6)
    page.keyboard.press("Control+k")
    page.get_by_label("Search or run a command").last.fill("harps")
    page.locator(f'#palette [data-href="{second.removeprefix(somebody.app.url)}"]').click()
    expect(page.locator(".message")).to_have_count(2)

    page.evaluate("location.hash = document.querySelector('.message').id")
    go_to(second)
    expect(page).to_have_url(second)
    assert page.evaluate("window.stays")


def test_the_list_is_hidden_by_a_button_or_a_key_and_stays_hidden(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab(talk(somebody, offline))
    conversations = page.locator("#conversations")
    talk_left = "document.querySelector('.talk').getBoundingClientRect().left"
    page.locator("#conversation-list a[aria-current]").focus()
    page.keyboard.press("b")
    expect(conversations).to_be_hidden()
    expect(page.get_by_role("button", name="Conversations")).to_be_focused()
    assert page.evaluate(talk_left) == 0

    page.reload()
    expect(conversations).to_be_hidden()
    page.get_by_role("link", name="New conversation").click()
    expect(page.get_by_role("heading", name="New conversation")).to_be_visible()
    expect(conversations).to_be_hidden()

    page.get_by_role("button", name="Conversations").click()
    expect(conversations).to_be_visible()
    page.reload()
    expect(conversations).to_be_visible()
    assert page.evaluate(talk_left) > 200


def test_a_list_hidden_on_a_wide_screen_opens_on_a_narrow_one(somebody: Person) -> None:
    page = somebody.tab()
    page.get_by_role("button", name="Conversations").click()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#conversations")).to_be_hidden()
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator("#conversations")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#conversations")).to_be_hidden()
