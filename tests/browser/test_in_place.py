"""The chat shows a new conversation and a message that was found in place: the page is loaded once."""

import json
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.people import (
    ON_BOTH,
    OfflineServer,
    Person,
    ask,
    composer,
    is_phone,
    last_answer,
    open_context,
    open_list,
    tap,
)
from tests.browser.test_conversation_page import talk
from tests.browser.test_look import fits_the_screen
from tests.browser.test_palette import type_into_palette
from tests.chat import exports

pytestmark = pytest.mark.browser

MARKED = "getComputedStyle(document.querySelector('.message:target .message-body')).outlineStyle"


@pytest.fixture
def mark() -> Iterator[Callable[[Page], Page]]:
    """Marks a page as loaded; at the end of the test it must still be the same one."""
    pages: list[Page] = []

    def mark(page: Page) -> Page:
        page.evaluate("window.stays = true")
        pages.append(page)
        return page

    yield mark
    assert [page.evaluate("window.stays") for page in pages] == [True] * len(pages)


def current(page: Page) -> Locator:
    """The row of the list for what is shown."""
    return page.locator("#conversation-list [aria-current]")


def shows_new_conversation(page: Page) -> None:
    """Everything on the page is of a new conversation, as after a load."""
    expect(page).to_have_url(re.compile(r"/$"))
    expect(page).to_have_title("New conversation · Recall")
    expect(page.get_by_role("heading", level=1)).to_have_text("New conversation")
    expect(page.locator("#welcome")).to_be_visible()
    expect(page.locator(".message")).to_have_count(0)
    expect(current(page)).to_have_count(0)
    expect(page.get_by_label("Conversation actions")).to_have_count(0)
    expect(page.get_by_role("switch", name="Temporary")).to_be_visible()
    expect(page.locator("#choices-form")).to_have_count(1)
    expect(page.locator("#receipt")).to_have_text(re.compile(r"^\s*See which memories Recall sent"))
    expect(page.locator("[data-waiting]")).to_have_count(0)
    expect(page.locator("#budget-line")).to_be_hidden()
    expect(page.locator("#folding *")).to_have_count(0)


def shows_conversation(page: Page, address: str, title: str, messages: int) -> None:
    """Everything on the page is of this conversation."""
    expect(page).to_have_url(address)
    expect(page).to_have_title(f"{title} · Recall")
    expect(page.locator(".message")).to_have_count(messages)
    expect(current(page)).to_have_attribute("href", re.compile(address[-36:]))
    expect(page.get_by_label("Conversation actions")).to_be_visible()
    expect(page.get_by_role("switch", name="Temporary")).to_be_hidden()
    expect(page.locator("#choices-form")).to_have_count(0)
    expect(page.locator("#receipt summary", has_text="tokens")).to_be_attached()


def has_focus(page: Page) -> None:
    """The message box does, unless a keyboard would cover the page."""
    if not is_phone(page):
        expect(composer(page)).to_be_focused()


@ON_BOTH
def test_a_new_conversation_begins_without_loading_the_page(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any], mark: Callable[[Page], Page]
) -> None:
    somebody.screen = screen
    first = talk(somebody, offline)
    page = mark(somebody.tab(first))
    page.wait_for_load_state()
    composer(page).fill("And about basses?")

    open_list(page)
    tap(page.locator("#conversations").get_by_role("link", name="New conversation"))
    shows_new_conversation(page)
    expect(composer(page)).to_have_value("")
    has_focus(page)
    offline.reply("About fiddles.", match="Tell me about fiddles")
    ask(page, "Tell me about fiddles.")
    expect(last_answer(page)).to_have_text("About fiddles.")
    second = page.url
    shows_conversation(page, second, "Tell me about fiddles", 2)
    composer(page).fill("And about bows?")

    page.go_back()
    shows_new_conversation(page)
    expect(composer(page)).to_have_value("")
    has_focus(page)
    composer(page).fill("Something else")
    page.go_back()
    shows_conversation(page, first, "Tell me about cellos", 4)
    expect(composer(page)).to_have_value("And about basses?")
    has_focus(page)
    page.go_forward()
    shows_new_conversation(page)
    expect(composer(page)).to_have_value("Something else")
    page.go_forward()
    shows_conversation(page, second, "Tell me about fiddles", 2)
    expect(composer(page)).to_have_value("And about bows?")
    offline.reply("About rebecs.", match="Tell me about rebecs")
    ask(page, "Tell me about rebecs.")
    expect(last_answer(page)).to_have_text("About rebecs.")


def test_a_key_and_the_palette_lead_to_a_new_conversation_in_place(
    somebody: Person, offline: OfflineServer, mark: Callable[[Page], Page]
) -> None:
    first = talk(somebody, offline)
    page = mark(somebody.tab(first))
    page.locator("#conversation-menu > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    shows_new_conversation(page)
    has_focus(page)
    page.locator("#choices > summary").click()
    page.get_by_label("Model", exact=True).select_option("claude-haiku-5-5")
    page.go_back()
    shows_conversation(page, first, "Tell me about cellos", 4)

    type_into_palette(page, "new conv", "New conversation")
    page.keyboard.press("Enter")
    shows_new_conversation(page)
    page.locator("#choices > summary").click()
    page.get_by_label("Model", exact=True).select_option("claude-haiku-5-5")
    page.keyboard.press("Escape")
    offline.reply("About shawms.", match="Tell me about shawms")
    ask(page, "Tell me about shawms.")
    expect(last_answer(page)).to_have_text("About shawms.")
    assert offline.requests("Tell me about shawms")[-1]["body"]["model"] == "claude-haiku-5-5"


def test_a_temporary_chat_is_switched_on_in_place_and_left_by_a_load(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab(talk(somebody, offline))
    page.evaluate("window.stays = true")
    type_into_palette(page, "temporary", "Temporary chat")
    page.keyboard.press("Enter")
    expect(page.get_by_role("switch", name="Temporary")).to_be_checked()
    expect(page.get_by_role("heading", level=1)).to_have_text("Temporary chat")
    expect(page.get_by_text("This chat won't be saved or remembered.")).to_be_visible()
    expect(composer(page)).to_be_focused()
    offline.reply("Only now.", match="For now only")
    ask(page, "For now only?")
    expect(last_answer(page)).to_have_text("Only now.")
    assert page.evaluate("window.stays")

    page.get_by_role("link", name="New conversation").first.click()
    expect(page.get_by_text("The temporary chat has ended. Nothing was saved.")).to_be_visible()
    assert not page.evaluate("window.stays"), "the browser must keep nothing of it"


def test_what_was_asked_for_another_conversation_comes_too_late(
    somebody: Person, offline: OfflineServer, mark: Callable[[Page], Page]
) -> None:
    page = somebody.tab(talk(somebody, offline))
    expect(page.locator("#receipt summary", has_text="tokens")).to_be_attached()
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route("**/receipts/*", hold)
    mark(page).locator(".message-assistant").first.get_by_label("Context: memories and cost").click()
    page.get_by_role("link", name="New conversation").first.click()
    shows_new_conversation(page)
    with page.expect_response("**/receipts/*"):
        late[0].continue_()
    page.wait_for_timeout(200)
    shows_new_conversation(page)


def test_a_message_sent_while_the_page_is_on_its_way_is_shown(
    somebody: Person, offline: OfflineServer, mark: Callable[[Page], Page]
) -> None:
    page = mark(somebody.tab(talk(somebody, offline)))
    page.wait_for_load_state()
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route("**/c/new/messages", hold)
    page.get_by_role("link", name="New conversation").first.click()
    expect(page).to_have_url(re.compile(r"/$"))
    offline.reply("About crumhorns.", match="Tell me about crumhorns")
    ask(page, "Tell me about crumhorns.")
    expect(last_answer(page)).to_have_text("About crumhorns.")
    late[0].continue_()
    page.wait_for_timeout(200)
    shows_conversation(page, page.url, "Tell me about crumhorns", 2)


def bring_cloth(person: Person) -> str:
    """Import a long conversation with this title: of two messages that name it, a page shows one without `at`."""
    title = f"Cloth{secrets.token_hex(3)}"
    named = {8: f"{title} has figures.", 116: f"{title} has ribs."}
    texts = [named.get(number, f"Of loom {number}.") for number in range(120)]
    export = json.dumps([exports.conversation(title, *texts)]).encode()
    page = person.tab("/import")
    page.get_by_label("Export file").set_input_files(
        FilePayload(name=f"{title}.json", mimeType="application/json", buffer=export)
    )
    tap(page.get_by_role("button", name="Import", exact=True))
    imported = page.locator("#jobs li", has_text=f"{title}.json")
    expect(imported).to_contain_text("Conversations: 1 new")
    page.close()
    return title


def find(page: Page, words: str) -> None:
    """Choose the message that the palette finds by these words."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill(words)
    tap(page.locator("#palette [data-href^='/m/']", has_text=words).first)


def is_found(page: Page, words: str) -> None:
    """The page has gone to the message with these words, and marks it."""
    expect(page.locator(".message:target")).to_contain_text(words)
    expect(page.locator(".message:target")).to_be_in_viewport()
    assert page.evaluate(MARKED) == "solid"


@ON_BOTH
def test_a_message_that_was_found_is_shown_without_loading_the_page(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any], mark: Callable[[Page], Page]
) -> None:
    somebody.screen = screen
    title = bring_cloth(somebody)
    far, near = f"{title} has figures.", f"{title} has ribs."
    first = talk(somebody, offline)
    page = mark(somebody.tab(first))
    page.wait_for_load_state()
    composer(page).fill("And about basses?")

    find(page, far)
    is_found(page, far)
    expect(page).to_have_url(re.compile(r"/c/[0-9a-f-]{36}\?at=\d+#m-\d+$"))
    found = page.url
    expect(page).to_have_title(f"{title} · Recall")
    expect(current(page)).to_have_text(title)
    expect(composer(page)).to_have_value("")
    assert page.locator("#scroller").evaluate("it => it.scrollHeight - it.scrollTop - it.clientHeight") > 500
    composer(page).fill("And about shuttles?")

    find(page, near)
    is_found(page, near)
    there = page.url
    assert there.startswith(found.partition("?")[0] + "#m-")
    expect(composer(page)).to_have_value("And about shuttles?")
    expect(page.locator(".message", has_text=far)).to_have_count(0)

    page.go_back()
    expect(page).to_have_url(found)
    is_found(page, far)
    page.go_back()
    shows_conversation(page, first, "Tell me about cellos", 4)
    expect(composer(page)).to_have_value("And about basses?")
    page.go_forward()
    is_found(page, far)
    page.go_forward()
    is_found(page, near)
    expect(page).to_have_url(there)

    offline.reply("About heddles.", match="Tell me about heddles")
    ask(page, "Tell me about heddles.")
    expect(last_answer(page)).to_have_text("About heddles.")
    open_context(page)
    expect(page.locator("#receipt summary", has_text="tokens")).to_be_attached()


def test_a_message_of_this_page_and_one_on_another_branch_are_found(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    for number, word in enumerate(("zithers", "sitars")):
        offline.reply(f"About {word}.\n\n" + "More of it.\n\n" * 30, match=f"Tell me about {word}")
        ask(page, f"Tell me about {word}.")
        expect(page.locator(".message-assistant")).to_have_count(number + 1)
        expect(last_answer(page)).to_contain_text(f"About {word}.")
    address = page.url
    page.evaluate("window.stays = true")
    composer(page).fill("And what")
    find(page, "zithers")
    is_found(page, "zithers")
    assert page.url.startswith(f"{address}#m-")
    expect(composer(page)).to_have_value("And what")
    assert page.evaluate("window.stays")

    last = page.locator(".message-user").last
    last.hover()
    last.get_by_role("link", name="Edit").click()
    offline.reply("About rababs.", match="Tell me about rababs")
    page.get_by_label("Edit your message").fill("Tell me about rababs.")
    page.get_by_label("Edit your message").press("Enter")
    expect(last_answer(page)).to_have_text("About rababs.")
    page.get_by_role("link", name="New conversation").first.click()
    shows_new_conversation(page)
    find(page, "Tell me about sitars")
    expect(page.get_by_text("This message is on another branch.")).to_be_visible()
    assert not page.evaluate("window.stays"), "that is a page of its own"


@ON_BOTH
def test_a_result_of_the_search_page_opens_without_loading_the_chat(
    somebody: Person, offline: OfflineServer, screen: dict[str, Any]
) -> None:
    somebody.screen = screen
    title = bring_cloth(somebody)
    far = f"{title} has figures."
    page = somebody.tab("/search")
    page.evaluate("window.stays = true")
    page.get_by_label("Words, or a full question").fill(title)
    tap(page.locator(".found-hit", has_text=far))
    is_found(page, far)
    expect(page).to_have_url(re.compile(r"/c/[0-9a-f-]{36}\?at=\d+#m-\d+$"))
    found = page.url
    expect(page).to_have_title(f"{title} · Recall")
    expect(current(page)).to_have_text(title)
    expect(page.get_by_label("Main").locator("[aria-current]")).to_have_text("Chat")
    expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    fits_the_screen(page)
    offline.reply("About ponchos.", match="Tell me about ponchos")
    ask(page, "Tell me about ponchos.")
    expect(last_answer(page)).to_have_text("About ponchos.")
    composer(page).fill("And about shawls?")
    open_list(page)
    tap(page.locator("#conversations").get_by_role("link", name="New conversation"))
    shows_new_conversation(page)
    assert page.evaluate("window.stays")

    page.go_back()
    expect(composer(page)).to_have_value("And about shawls?")
    page.go_back()
    expect(page.locator(".found-hit", has_text=far)).to_be_visible()
    expect(page.get_by_label("Words, or a full question")).to_have_value(title)
    page.go_forward()
    expect(composer(page)).to_have_value("And about shawls?")
    page.wait_for_load_state()
    page.go_back()
    tap(page.locator(".found h2 a", has_text=title))
    expect(page).to_have_url(found.partition("?")[0])
    expect(page.locator(".message").last).to_be_in_viewport()
    expect(composer(page)).to_have_value("And about shawls?")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    has_focus(page)
