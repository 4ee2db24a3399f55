"""A temporary chat in a browser: switched on by keyboard, marked while it runs, gone on reload."""

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.people import PHONE, OfflineServer, Person, ask, composer, last_answer
from tests.browser.test_look import ENOUGH_CONTRAST, HARD_TO_READ, STICKING_OUT

pytestmark = pytest.mark.browser

GONE = "The temporary chat has ended. Nothing was saved."


def switch_on(page: Page) -> None:
    page.wait_for_load_state()
    page.get_by_role("switch", name="Temporary").focus()
    page.keyboard.press("Space")


def test_it_is_switched_on_marked_talked_in_and_gone_on_reload(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    conversations = page.locator("#conversation-list a").count()
    switch_on(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Temporary chat")
    expect(page.get_by_text("This chat won't be saved or remembered.")).to_be_visible()
    expect(composer(page)).to_be_focused()

    offline.reply("A fine **telescope**.", match="telescope from Jena")
    ask(page, "I bought a telescope from Jena.")
    expect(last_answer(page)).to_have_text("A fine telescope.")
    offline.reply("It is from Jena.", match="Where is it from")
    ask(page, "Where is it from?")
    expect(last_answer(page)).to_have_text("It is from Jena.")
    assert "telescope from Jena" in str(offline.requests("Where is it from")[-1]["body"])
    expect(page.locator("#receipt summary", has_text="tokens")).to_be_visible()
    expect(page).to_have_url(f"{somebody.app.url}/")
    expect(page.get_by_role("switch", name="Temporary")).to_be_disabled()
    assert "telescope" not in page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")

    page.get_by_role("button", name="Regenerate").last.click()
    expect(page.locator('.message-assistant[data-status="complete"]')).to_have_count(2)
    page.reload()
    expect(page.get_by_text(GONE)).to_be_visible()
    expect(page.get_by_text("telescope")).to_have_count(0)
    assert page.locator("#conversation-list a").count() == conversations
    page.reload()
    expect(page.get_by_text(GONE)).to_have_count(0)


def test_a_conversation_that_is_kept_has_no_such_switch(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    offline.reply("Good evening.", match="Good evening to you")
    ask(page, "Good evening to you.")
    expect(last_answer(page)).to_have_text("Good evening.")
    expect(page.get_by_role("switch")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("switch")).to_have_count(0)


def test_its_answer_can_be_stopped(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab()
    switch_on(page)
    offline.reply("one two three four five six seven eight", match="Count slowly", seconds_a_word=0.4)
    ask(page, "Count slowly for me.")
    expect(page.locator(".message-assistant [data-text]")).to_contain_text("one")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()


def test_a_lost_connection_ends_it_and_says_so(somebody: Person, offline: OfflineServer) -> None:
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page = somebody.open_browser().new_page()
    page.route_web_socket("**/ws/chat", connect)
    page.goto("/")
    switch_on(page)
    offline.reply("Good morning.", match="Good morning to you")
    ask(page, "Good morning to you.")
    expect(last_answer(page)).to_have_text("Good morning.")

    sockets[-1].close(code=1012, reason="The server starts again")

    expect(page.get_by_text(GONE)).to_be_visible()
    ask(page, "And now?")
    expect(page.get_by_text("Start a new one.")).to_be_visible()
    expect(composer(page)).to_have_value("And now?")


def test_a_message_that_was_sent_into_no_line_is_sent_again_and_answered_once(
    somebody: Person, offline: OfflineServer
) -> None:
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        if sockets:
            socket.connect_to_server()
        sockets.append(socket)  # the first connects to nothing

    page = somebody.open_browser().new_page()
    page.route_web_socket("**/ws/chat", connect)
    page.goto("/")
    switch_on(page)
    offline.reply("Here you are.", match="Into the dark")
    ask(page, "Into the dark?")
    expect(page.get_by_text("Sending…")).to_be_visible()

    sockets[0].close(code=1012, reason="The server starts again")

    expect(last_answer(page)).to_have_text("Here you are.")
    expect(page.get_by_role("heading", name="You said")).to_have_count(1)
    assert len(offline.requests("Into the dark")) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_on_a_phone(scheme: str, somebody: Person, offline: OfflineServer) -> None:
    page = somebody.open_browser(**PHONE, color_scheme=scheme).new_page()
    page.goto("/")
    switch_on(page)
    offline.reply("Quite so.", match="A phone asks")
    composer(page).fill("A phone asks.")
    page.get_by_role("button", name="Send").click()
    expect(last_answer(page)).to_have_text("Quite so.")
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
