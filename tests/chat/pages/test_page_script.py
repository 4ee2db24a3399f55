"""The chat page's script in a real browser: pages as the server renders them, the socket's other end in the test."""

import json
import mimetypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from chat.messages.rendering import message_html, messages_html
from chat.models import Conversation, Message
from chat.turns.live_text import LiveText
from tests.chat.pages.test_pages import say
from tests.chromium import browser

__all__ = ["browser"]
pytestmark = pytest.mark.browser

HOST = "http://localhost"  # nothing listens there: the test answers every request
Frame = dict[str, Any]


@dataclass
class Server:
    """What the page takes for Recall: rendered pages, static files, and a socket that the test drives."""

    pages: dict[str, tuple[bytes, dict[str, str]]]
    conversation: str
    answer: int
    exchange: str
    """The next question and its empty answer, as the socket pushes them."""
    written: str
    """The finished answer."""
    sockets: list[WebSocketRoute] = field(default_factory=list)
    heard: list[Frame] = field(default_factory=list)
    posted: list[dict[str, str]] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    greets: bool = True
    owner: Any = None
    text: LiveText = field(init=False)
    """The answer as far as it is written."""

    def __post_init__(self) -> None:
        self.text = LiveText(self.answer)

    def write(self, more: str) -> None:
        """Write more of the answer."""
        self.say(self.text.grow(more))

    def think(self, more: str, offset: int | None = None) -> None:
        """Think more, or again from `offset` on."""
        self.say(self.text.think(more, offset))

    def so_far(self, text: str, status: Frame | None = None) -> Frame:
        """The answer as `opened` tells it, with this text."""
        self.text = LiveText(self.answer)
        self.text.grow(text)
        return {**self.text.snapshot(), "status": status}

    def serve(self, route: Route) -> None:
        address = urlsplit(route.request.url)
        if address.path == "/send":
            self.posted.append(_form(route.request.post_data or ""))
            route.fulfill(json=self.accepted(self.posted[-1]["client_id"]))
        elif address.path.startswith("/static/"):
            path = str(finders.find(address.path.removeprefix("/static/")))
            route.fulfill(path=path, content_type=mimetypes.guess_type(path)[0])
        elif address.path in self.pages:
            self.fetched.append(address.path)
            body, headers = self.pages[address.path]
            route.fulfill(body=body, headers=headers)
        else:
            route.fulfill(status=404)

    def connect(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        socket.on_message(lambda text: self.heard.append(json.loads(text)))
        if self.greets:
            socket.send(json.dumps({"type": "hello", "v": 1, "user": self.owner.pk}))

    def tell(self, type_: str, **fields: Any) -> None:
        self.say({"type": type_, **fields})

    def say(self, frame: Frame) -> None:
        self.sockets[-1].send(json.dumps(frame))

    def hear(self, page: Page, type_: str, number: int = 1) -> Frame:
        """The `number`-th frame of this type."""
        for _ in range(400):
            found = [frame for frame in self.heard if frame["type"] == type_]
            if len(found) >= number:
                return found[number - 1]
            page.wait_for_timeout(50)
        raise AssertionError(f"no {type_} came: {self.heard}")

    def accepted(self, client_id: str, **fields: Any) -> Frame:
        return {
            "type": "accepted",
            "client_id": client_id,
            "conversation": self.conversation,
            "created": False,
            "duplicate": False,
            "replaces": None,
            "message": self.answer,
            "html": self.exchange,
            **fields,
        }

    def answer_being_written(self, page: Page, question: str = "Where does she live?") -> None:
        """Ask, and have it accepted."""
        page.get_by_label("Your message").fill(question)
        page.keyboard.press("Enter")
        sent = [frame for frame in self.heard if frame["type"] == "send"]
        asked = self.hear(page, "send", len(sent) or 1)
        self.say(self.accepted(asked["client_id"]))
        page.locator(f"#m-{self.answer}").wait_for()


def _form(body: str) -> dict[str, str]:
    """The fields of a multipart form."""
    return dict(re.findall(r'name="(\w+)"\r\n\r\n(.*?)\r\n--', body, re.DOTALL))


@pytest.fixture
def server(alice: Any, sign_in: Callable[[Any], Client]) -> Server:
    """Alice's conversation as the server sends it, and its next exchange as the socket pushes it."""
    conversation = Conversation.objects.create(user=alice, title="Mary")
    say(conversation, "My sister Mary lives in Lisbon.")
    say(conversation, "Noted.\n\n```python\nprint('Mary')\n```\n\n" + "A long paragraph. " * 300)
    client = sign_in(alice)
    addresses = ["/", "/conversations", *(f"/c/{conversation.pk}{part}" for part in ("", "/messages", "/librarian"))]
    pages = {}
    for address in addresses:
        response = client.get(address, {"current": str(conversation.pk)} if address == "/conversations" else {})
        pages[address] = (response.content, dict(response.headers))
    question = say(conversation, "Where does she live?")
    answer = say(conversation, "", status=Message.Status.STREAMING)
    exchange = messages_html([question, answer], user=alice)
    answer.text, answer.status = "In **Lisbon**.", Message.Status.COMPLETE
    pages[f"/receipts/{answer.pk}"] = (b"<p>What it was given</p>", {"Content-Type": "text/html"})
    written = message_html(answer, user=alice)
    return Server(pages, str(conversation.pk), answer.pk, exchange, written, owner=alice)


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A tab with Alice's conversation; a console error fails the test."""
    page = browser.new_page(base_url=HOST)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" and "404" not in m.text else None)
    page.route("**/*", server.serve)
    page.route_web_socket("**/ws/chat", server.connect)
    page.goto(f"/c/{server.conversation}")
    server.hear(page, "open")
    server.tell("opened", conversation=server.conversation, answer=None)
    yield page
    page.close()
    assert complaints == []


def composer(page: Page) -> Any:
    return page.get_by_label("Your message")


# Sending and receiving -------------------------------------------------------------------------------------------


def test_an_answer_streams_in_rendered_and_is_taken_over_when_it_is_finished(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    expect(composer(page)).to_have_value("")
    body = page.locator(f"#m-{server.answer} [data-text]")
    expect(body).to_have_attribute("aria-busy", "true")
    server.tell("status", message=server.answer, state="thinking", label="Thinking")
    expect(page.get_by_text("Thinking…")).to_be_visible()
    server.write("In **Lis")
    expect(body.locator("strong")).to_have_text("Lis")
    server.write("bon**.")
    expect(body).to_have_text("In Lisbon.")
    expect(page.get_by_text("Thinking…")).to_be_hidden()
    expect(page.locator("#announcer")).to_have_text("Answer started.")
    server.tell("done", message=server.answer, outcome="complete", html=server.written)
    expect(page.locator(f"#m-{server.answer} strong")).to_have_text("Lisbon")
    expect(page.locator("#announcer")).to_have_text("Answer finished.")
    expect(composer(page)).to_be_focused()
    expect(page.get_by_label("Send")).to_be_visible()


def test_thinking_can_be_read_while_it_streams_and_afterwards(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    thinking = page.locator(f"#m-{server.answer} .thinking")
    expect(thinking).to_be_hidden()
    server.tell("status", message=server.answer, state="thinking", label="Thinking")
    expect(page.get_by_text("Thinking…")).to_be_visible()
    server.think("Where does <b>she</b> 🙂")
    expect(thinking.locator("summary")).to_be_visible()
    expect(page.get_by_text("Thinking…")).to_be_hidden()  # one line says so
    expect(thinking.locator(".thinking-text")).to_be_hidden()
    thinking.locator("summary").focus()
    page.keyboard.press("Enter")
    server.think(" live?")
    expect(thinking.locator(".thinking-text")).to_have_text("Where does <b>she</b> 🙂 live?")
    server.think("**Mary** live?", offset=11)  # its request was sent again
    expect(thinking.locator(".thinking-text")).to_have_text("Where does Mary live?")
    expect(thinking.locator(".thinking-text strong")).to_have_text("Mary")
    expect(thinking).to_have_attribute("data-live", "")
    server.write("In **Lisbon**.")
    expect(page.locator(f"#m-{server.answer} [data-text] strong")).to_have_text("Lisbon")
    expect(thinking).not_to_have_attribute("data-live", "")
    written = Message.objects.get(pk=server.answer)
    written.event_data["thinking"] = "Where does **Mary** live?"
    server.tell("done", message=server.answer, outcome="complete", html=message_html(written, user=server.owner))
    expect(page.locator("#announcer")).to_have_text("Answer finished.")
    expect(thinking.locator(".thinking-text")).to_be_visible()
    expect(thinking.locator(".thinking-text strong")).to_have_text("Mary")
    expect(thinking.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(thinking.locator(".thinking-text")).to_be_hidden()


def test_a_gap_in_the_thinking_asks_for_all_of_it_again(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    opened = len([frame for frame in server.heard if frame["type"] == "open"])
    server.say({**LiveText(server.answer).think("late"), "offset": 5})
    server.hear(page, "open", opened + 1)
    server.text = LiveText(server.answer)
    server.text.think("very late")
    server.tell("opened", conversation=server.conversation, answer=server.text.snapshot())
    expect(page.locator(f"#m-{server.answer} .thinking-text")).to_have_text("very late")


MARKDOWN = """\
Some **bold** and `code`.

- one
- two
  - below

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

```python
def a() -> int:
    return 1
```

1. first
2. second

> said

The end, with $x_1$.
"""


def test_finished_blocks_stay_the_same_elements_to_the_end(page: Page, server: Server) -> None:
    """Nothing is replaced that was finished, so nothing flips, jumps or loses the reader's selection."""
    server.answer_being_written(page)
    for at in range(0, len(MARKDOWN), 3):
        server.write(MARKDOWN[at : at + 3])
    body = page.locator(f"#m-{server.answer} .message-body")
    expect(body).to_contain_text("The end")
    expect(body.locator("li")).to_have_count(5)
    expect(body.locator("tbody tr")).to_have_count(2)
    expect(body.locator(".code .k").first).to_have_text("def")
    page.wait_for_timeout(200)  # the last frames
    page.evaluate(
        """id => window.blocks = [...document.querySelectorAll(`#m-${id} .message-body > *`)].slice(0, -1)""",
        server.answer,
    )
    done = Message(pk=server.answer, role="assistant", text=MARKDOWN, status="complete", user_id=1, turn=2)
    done.conversation_id, done.created_at = server.conversation, datetime.now(UTC)
    server.tell("done", message=server.answer, outcome="complete", html=message_html(done, user=server.owner))
    expect(page.locator(f"#m-{server.answer}")).to_have_attribute("data-status", "complete")
    now = "[...document.querySelectorAll(`#m-${id} .message-body > *`)]"
    changed = (
        f"id => window.blocks.map((block, at) => {now}[at] === block ? '' : [block.outerHTML, {now}[at]?.outerHTML])"
    )
    assert [each for each in page.evaluate(changed, server.answer) if each] == []
    assert page.evaluate("window.blocks.length") == 6
    expect(page.locator(f"#m-{server.answer} [data-text]")).to_have_count(0)
    expect(page.locator(f"#m-{server.answer} [aria-busy]")).to_have_count(0)
    expect(page.locator(f"#m-{server.answer} .code-copy")).to_have_count(1)


def test_what_the_model_writes_is_never_read_as_html_while_it_streams(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    server.write("<img src=x onerror=alert(1)><b>")
    expect(page.locator(f"#m-{server.answer} [data-text]")).to_have_text("<img src=x onerror=alert(1)><b>")
    assert page.locator(f"#m-{server.answer} b").count() == 0


def test_offsets_are_counted_in_characters_and_not_in_halves_of_them(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    opens = len([frame for frame in server.heard if frame["type"] == "open"])
    server.write("👍🏽é")
    server.write("!")
    expect(page.locator(f"#m-{server.answer} [data-text]")).to_have_text("👍🏽é!")
    assert len([frame for frame in server.heard if frame["type"] == "open"]) == opens


def test_a_gap_in_the_text_asks_for_all_of_it(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    server.text.grow("lost ")
    server.write("its beginning")
    server.hear(page, "open", 2)
    server.write("not yet")
    server.tell("opened", conversation=server.conversation, answer=server.so_far("All of"))
    server.write(" it, and more")
    expect(page.locator(f"#m-{server.answer} [data-text]")).to_have_text("All of it, and more")


def test_a_second_tab_shows_the_answer_that_is_being_written(page: Page, server: Server) -> None:
    page.evaluate("html => document.getElementById('messages').insertAdjacentHTML('beforeend', html)", server.exchange)
    status = {"type": "status", "message": server.answer, "state": "tool", "label": "Using search_knowledge"}
    so_far = server.so_far("In Lis", status)
    server.tell("opened", conversation=server.conversation, answer=so_far)
    expect(page.get_by_text("Using search_knowledge…")).to_be_visible()
    server.write("bon.")
    expect(page.locator(f"#m-{server.answer} [data-text]")).to_have_text("In Lisbon.")


def test_an_answer_that_another_process_writes_is_looked_at_again(page: Page, server: Server) -> None:
    page.evaluate("html => document.getElementById('messages').insertAdjacentHTML('beforeend', html)", server.exchange)
    so_far = server.so_far("In Lis")
    server.tell("opened", conversation=server.conversation, answer=so_far)
    assert server.hear(page, "open", 2)["conversation"] == server.conversation


def test_a_link_to_a_message_of_this_page_does_not_load_it_again(page: Page, server: Server) -> None:
    composer(page).fill("Half a thought")
    page.evaluate("window.same = true")
    page.locator(".message-time").first.click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.same") is True


def test_stop_is_where_send_was_and_names_the_conversation(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    expect(page.get_by_label("Send")).to_be_hidden()
    page.get_by_label("Stop").click()
    assert server.hear(page, "stop") == {"v": 1, "type": "stop", "conversation": server.conversation}
    server.tell("done", message=server.answer, outcome="interrupted", html=server.written)
    expect(page.locator("#announcer")).to_have_text("Answer stopped.")
    expect(composer(page)).to_be_focused()


def test_a_first_message_gives_the_page_its_conversations_address(page: Page, server: Server) -> None:
    page.goto("/")
    composer(page).fill("My sister Mary lives in Lisbon and I'm allergic to peanuts.")
    page.keyboard.press("Enter")
    asked = server.hear(page, "send")
    assert asked["conversation"] is None
    server.say(server.accepted(asked["client_id"], created=True))
    expect(page).to_have_url(f"{HOST}/c/{server.conversation}")
    expect(page.get_by_role("heading", name="Mary", exact=True)).to_be_visible()
    expect(page).to_have_title("Mary · Recall")
    expect(page.locator("#welcome")).to_have_count(0)


def test_an_answer_is_asked_for_again_in_place_of_the_old_one(page: Page, server: Server) -> None:
    old = page.locator(".message-assistant").last
    number = int(old.get_attribute("data-message") or 0)
    old.get_by_role("button", name="Regenerate").click()
    asked = server.hear(page, "retry")
    assert asked["message"] == number
    html = server.exchange[server.exchange.index('<article class="message message-assistant"') :]
    server.say(server.accepted(asked["client_id"], replaces=number, html=html))
    expect(page.locator(f"#m-{number}")).to_have_count(0)
    expect(page.locator(".message")).to_have_count(2)


def test_the_panel_shows_what_the_answer_was_given(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    server.tell("context", message=server.answer)
    expect(page.locator("#receipt")).to_have_text("What it was given")


def test_messages_fetched_again_leave_the_context_that_was_asked_for_last(page: Page, server: Server) -> None:
    before = page.locator(".message-assistant").last.get_attribute("data-message")
    server.pages[f"/receipts/{before}"] = (b"<p>What came before</p>", {"Content-Type": "text/html"})
    page.locator(".message-assistant").last.get_by_label("Context: memories and cost").click()
    expect(page.locator("#receipt")).to_have_text("What came before")
    server.answer_being_written(page)
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route(f"**/receipts/{server.answer}", hold)
    server.tell("context", message=server.answer)
    server.tell("nudge", kind="resync")
    expect(page.locator(f"#m-{server.answer}")).to_have_count(0)  # they came without it
    late[0].fallback()
    expect(page.locator("#receipt")).to_have_text("What it was given")


def test_a_very_long_message_goes_over_http(page: Page, server: Server) -> None:
    composer(page).fill("word " * 5000)
    page.get_by_label("Send").click()
    page.locator(f"#m-{server.answer}").wait_for()
    assert server.posted[0]["text"].startswith("word word")
    assert server.posted[0]["conversation"] == server.conversation
    assert server.hear(page, "open", 2)["conversation"] == server.conversation
    assert not [frame for frame in server.heard if frame["type"] == "send"]


# When things go wrong --------------------------------------------------------------------------------------------


def test_a_message_without_a_connection_is_sent_when_there_is_one_again(page: Page, server: Server) -> None:
    server.greets = False
    server.sockets[-1].close(code=4000)
    composer(page).fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sending…")).to_be_visible()
    server.greets = True
    asked = server.hear(page, "send")
    server.say(server.accepted(asked["client_id"]))
    expect(page.get_by_text("Sending…")).to_have_count(0)


def test_the_page_says_at_once_that_the_browser_is_offline(page: Page, server: Server) -> None:
    page.context.set_offline(True)
    expect(page.get_by_text("You're offline.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("You're offline.")).to_be_hidden()


def test_a_first_message_takes_the_place_of_the_welcome_at_once(page: Page, server: Server) -> None:
    page.goto("/")
    expect(page.locator("#welcome")).to_be_visible()
    composer(page).fill("Are you there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sending…")).to_be_visible()
    expect(page.locator("#welcome")).to_be_hidden()


def test_a_starter_is_sent_at_once_unless_the_user_completes_it(page: Page, server: Server) -> None:
    page.goto("/")
    page.get_by_role("button", name="I live in …").click()
    expect(composer(page)).to_have_value("I live in ")
    expect(composer(page)).to_be_focused()
    page.get_by_role("button", name="What can you do?").click()
    assert server.hear(page, "send")["text"] == "What can you do?"
    expect(composer(page)).to_have_value("")


def test_an_unsent_message_outlives_a_reload_and_keeps_its_client_id(page: Page, server: Server) -> None:
    composer(page).fill("Are you there?")
    page.keyboard.press("Enter")
    first = server.hear(page, "send")
    page.reload()
    expect(page.get_by_text("Are you there?")).to_be_visible()
    assert server.hear(page, "send", 2) == first
    server.say(server.accepted(first["client_id"], duplicate=True))
    page.reload()
    page.wait_for_timeout(300)
    assert len([frame for frame in server.heard if frame["type"] == "send"]) == 2


def test_after_a_lost_connection_the_page_catches_up(page: Page, server: Server) -> None:
    server.fetched.clear()
    server.sockets[-1].close(code=4000)
    assert server.hear(page, "open", 2)["conversation"] == server.conversation
    assert f"/c/{server.conversation}/messages" in server.fetched


def test_a_new_header_may_replace_a_focused_button_without_a_name(page: Page, server: Server) -> None:
    header = page.locator("#talk-header")
    header.evaluate("it => it.insertAdjacentHTML('beforeend', '<form><button>Retry</button></form>')")
    header.get_by_role("button", name="Retry").focus()
    server.tell("nudge", kind="list")
    expect(header.get_by_role("button", name="Retry")).to_have_count(0)
    expect(header.get_by_role("heading")).to_have_text("Mary")


def test_a_refused_message_goes_back_to_the_composer(page: Page, server: Server) -> None:
    composer(page).fill("Too much")
    page.keyboard.press("Enter")
    asked = server.hear(page, "send")
    server.tell("error", code="slow_down", text="Too many answers at once.", client_id=asked["client_id"])
    expect(page.get_by_role("alert")).to_have_text("Too many answers at once.")
    expect(composer(page)).to_have_value("Too much")
    expect(page.locator(".message-unsent")).to_have_count(0)


def test_what_could_not_be_saved_is_sent_again_by_itself(page: Page, server: Server) -> None:
    composer(page).fill("Are you there?")
    page.keyboard.press("Enter")
    asked = server.hear(page, "send")
    server.tell("error", code="unavailable", text="The database is away.", client_id=asked["client_id"])
    expect(page.get_by_role("alert")).to_have_text("The database is away.")
    assert server.hear(page, "send", 2) == asked


def test_a_draft_outlives_a_reload(page: Page, server: Server) -> None:
    composer(page).fill("Half a thought")
    page.reload()
    expect(composer(page)).to_have_value("Half a thought")


def test_while_an_answer_is_written_the_next_message_waits_in_the_composer(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    composer(page).fill("And another thing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("still answering")
    expect(composer(page)).to_have_value("And another thing")
    server.tell("done", message=server.answer, outcome="complete", html=server.written)
    expect(page.get_by_role("alert"), "it answers no more").to_be_hidden()
    expect(composer(page)).to_have_value("And another thing")


def test_somebody_signed_out_is_offered_to_sign_in(page: Page, server: Server) -> None:
    composer(page).fill("Half a thought")
    server.sockets[-1].close(code=4401)
    link = page.get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", f"/accounts/login/?next=/c/{server.conversation}")
    page.wait_for_timeout(1000)
    assert len(server.sockets) == 1


def test_nothing_is_sent_for_somebody_else_who_signed_in_meanwhile(
    page: Page, server: Server, bob: Any, alice: Any
) -> None:
    server.hear(page, "open")
    server.owner = bob
    server.sockets[-1].close()
    page.get_by_label("Your message").fill("Hers alone")
    page.keyboard.press("Enter")

    expect(page.locator("#connection")).to_contain_text("You're signed out.")
    page.wait_for_timeout(300)
    assert [frame for frame in server.heard if frame["type"] == "send"] == []

    server.owner = alice
    page.evaluate("dispatchEvent(new Event('online'))")
    assert server.hear(page, "send")["text"] == "Hers alone"


def test_shift_enter_begins_a_new_line(page: Page, server: Server) -> None:
    composer(page).fill("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect(composer(page)).to_have_value("One\ntwo")
    assert not [frame for frame in server.heard if frame["type"] == "send"]


# What is fetched again, and what is left alone -------------------------------------------------------------------


def test_a_change_in_another_tab_is_fetched(page: Page, server: Server) -> None:
    server.fetched.clear()
    server.tell("nudge", kind="conversation", conversation=server.conversation)
    server.hear(page, "open", 2)
    server.tell("nudge", kind="librarian", conversation=server.conversation)
    server.tell("nudge", kind="conversations")
    page.wait_for_timeout(300)
    assert server.fetched.count(f"/c/{server.conversation}/messages") == 1
    assert server.fetched.count(f"/c/{server.conversation}/librarian") == 2  # another turn took place and was read
    assert server.fetched.count("/conversations") == 1


def test_the_echo_of_an_answer_seen_here_fetches_no_messages(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    server.write("In")
    server.fetched.clear()
    server.tell("nudge", kind="conversation", conversation=server.conversation)
    server.tell("done", message=server.answer, outcome="complete", html=server.written)
    server.tell("nudge", kind="conversation", conversation=server.conversation)
    page.wait_for_timeout(300)
    assert server.fetched == [f"/c/{server.conversation}/librarian"]  # by the end of the answer, not by its echo


def test_a_reader_further_up_is_not_moved(page: Page, server: Server) -> None:
    server.answer_being_written(page)
    page.evaluate("document.getElementById('scroller').scrollTop = 0")
    server.write("line\n\n" * 40)
    expect(page.locator(f"#m-{server.answer} [data-text]")).to_contain_text("line")
    assert page.evaluate("document.getElementById('scroller').scrollTop") == 0
    page.get_by_role("button", name="Latest").click()
    server.write("line\n\n" * 40)
    page.wait_for_timeout(200)
    assert (
        page.evaluate("(s => s.scrollHeight - s.scrollTop - s.clientHeight)(document.getElementById('scroller'))") < 2
    )


def test_what_is_left_to_read_is_told_when_the_answer_is_finished(page: Page, server: Server) -> None:
    """The librarian had read everything, and the header said so, before another question was asked."""
    address = f"/c/{server.conversation}/librarian"
    _, headers = server.pages[address]
    server.pages[address] = (b'<div id="librarian">1 to review</div>', headers)
    page.evaluate("document.getElementById('librarian').textContent = '1 learned'")
    server.answer_being_written(page)
    expect(page.locator("#librarian")).to_have_text("1 learned")
    server.tell("done", message=server.answer, outcome="complete", html=server.written)
    expect(page.locator("#librarian")).to_have_text("1 to review")


# Narrow and wide -------------------------------------------------------------------------------------------------


def test_nothing_is_wider_than_the_window(page: Page, server: Server) -> None:
    for address in (f"/c/{server.conversation}", "/"):
        page.goto(address)
        for width in (360, 390, 768, 1280, 2560):
            page.set_viewport_size({"width": width, "height": 740})
            assert page.evaluate("document.documentElement.scrollWidth") == width


def test_on_a_phone_the_list_and_the_context_are_one_tap_away(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    in_list = page.locator("#conversations").get_by_role("link", name="New conversation")
    expect(in_list).to_be_hidden()
    page.get_by_role("button", name="Conversations").click()
    expect(in_list).to_be_visible()
    page.keyboard.press("Escape")
    expect(in_list).to_be_hidden()
    page.get_by_role("button", name="Context panel").click()
    expect(page.get_by_role("heading", name="Context")).to_be_visible()
    page.get_by_role("button", name="Close context").click()
    expect(page.get_by_role("heading", name="Context")).to_be_hidden()


def test_the_context_stays_folded_away_over_a_reload(page: Page, server: Server) -> None:
    page.get_by_role("button", name="Context panel").click()
    expect(page.get_by_role("heading", name="Context", exact=True)).to_be_hidden()
    assert page.evaluate("document.cookie").find("context=closed") >= 0


def test_code_can_be_copied(page: Page, server: Server) -> None:
    text = "await (await item.getType('text/plain')).text()"
    page.evaluate(f"void (navigator.clipboard.write = async ([item]) => {{ window.copied = {text} }})")
    page.locator(".prose pre").hover()
    page.locator(".code").get_by_role("button", name="Copy").click()
    page.wait_for_function("window.copied !== undefined")  # read from a promise, after the click
    assert page.evaluate("window.copied") == "print('Mary')\n"
