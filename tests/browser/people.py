"""A user at a browser: signs up, chats, looks around; and the errors the browser reports meanwhile."""

import json
import re
import secrets
import urllib.request
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    StorageState,
    ViewportSize,
    expect,
)

from tests.conftest import PASSWORD
from tests.running import App

PATIENCE = 30_000
"""Milliseconds a page may take to reach its expected state; two cores carry everything here."""
DESKTOP_SIZE: ViewportSize = {"width": 1280, "height": 800}
PHONE_SIZE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: dict[str, Any] = {"viewport": DESKTOP_SIZE}
PHONE: dict[str, Any] = {"viewport": PHONE_SIZE, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
ON_BOTH = pytest.mark.parametrize("screen", [pytest.param(DESKTOP, id="desktop"), pytest.param(PHONE, id="phone")])
"""A journey made on a desktop and on a phone."""

AT_ONCE = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { transition: none !important }");
  document.adoptedStyleSheets = [sheet];
}"""
"""Makes every color change immediate; a constructed style sheet needs no permission by the policy."""
TELL_OF_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI} on ${event.documentURI}`);
});
"""


@dataclass
class Watch:
    """Errors that browsers reported: of scripts, on the console, and violations of the content policy."""

    complaints: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)
    """Patterns of errors that a test provokes on purpose."""

    def over(self, context: BrowserContext) -> None:
        """Listen for everything that goes wrong in `context`."""
        context.add_init_script(TELL_OF_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self._note(str(error.error)))

    def forgive(self, pattern: str) -> None:
        """Allow errors that match `pattern`, because this test provokes them."""
        self.forgiven.append(pattern)

    def unforgiven(self) -> list[str]:
        """Errors that no test provoked."""
        return [said for said in self.complaints if not any(re.search(pattern, said) for pattern in self.forgiven)]

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self._note(f"{said.text} ({said.location['url']})")

    def _note(self, complaint: str) -> None:
        self.complaints.append(complaint)


@dataclass
class OfflineServer:
    """The offline server of the running application, with scripted answers and faults."""

    url: str

    def reply(self, text: str, *, match: str, thinking: str = "", seconds_a_word: float | None = None) -> None:
        """Answer `text` to the next question that contains `match`, after this thinking, at this pace."""
        self._post("script", {"replies": [{"text": text, "thinking": thinking, "match": match}]})
        if seconds_a_word is not None:
            self.fail(f"slow:{seconds_a_word}", match=match)

    def fail(self, fault: str, *, match: str) -> None:
        """Make the next request whose question contains `match` fail; docs/offline.md lists the faults."""
        self._post("faults", {"fault": fault, "match": match})

    def requests(self, match: str) -> list[dict[str, Any]]:
        """The requests for an answer to a question that contains `match`, oldest first, with their outcomes."""
        with urllib.request.urlopen(f"{self.url}/offline/requests", timeout=10) as answer:
            kept: list[dict[str, Any]] = json.load(answer)["requests"]
        return [one for one in kept if one["path"] == "/v1/messages" and match in json.dumps(one["body"])]

    def _post(self, what: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(f"{self.url}/offline/{what}", json.dumps(body).encode(), method="POST")
        urllib.request.urlopen(request, timeout=10).close()


def wear(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Show the page in light or dark mode, without a transition between the two."""
    page.evaluate(AT_ONCE)
    page.emulate_media(color_scheme=scheme)


@dataclass
class Person:
    """A user with browsers of their own."""

    browser: Browser
    app: App
    watch: Watch
    name: str
    signed_in: StorageState | None = None
    """The cookies they start with; None: no one has signed in yet."""
    screen: dict[str, Any] = field(default_factory=lambda: DESKTOP)
    """The screen of their browsers, unless one is opened with another."""
    contexts: list[BrowserContext] = field(default_factory=list)

    @property
    def email(self) -> str:
        """Their email address."""
        return f"{self.name.lower()}@example.org"

    def open_browser(self, **options: Any) -> BrowserContext:
        """Open another browser, signed in if they have signed in before."""
        options = {**self.screen, **options, "base_url": self.app.url, "storage_state": self.signed_in}
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        self.watch.over(context)
        self.contexts.append(context)
        return context

    def tab(self, address: str = "/") -> Page:
        """Open a new tab of their first browser at this address."""
        context = self.contexts[0] if self.contexts else self.open_browser()
        page = context.new_page()
        page.goto(address)
        return page

    def sign_up(self) -> Page:
        """Sign up as a visitor would, from the address they were given; ends at an empty chat."""
        page = self.open_browser().new_page()
        page.goto("/")
        page.get_by_role("link", name="Sign up").click()
        page.get_by_label("Email").fill(self.email)
        page.get_by_label("What should Recall call you?").fill(self.name)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign up").click()
        page.wait_for_url(f"{self.app.url}/")
        self.signed_in = page.context.storage_state()
        return page

    def leave(self) -> None:
        """Close every browser after collecting its last errors."""
        for context in self.contexts:
            for page in context.pages:
                page.evaluate("0")
            context.close()


def new_name(name: str) -> str:
    """A name no one has yet, since all tests share one application."""
    return f"{name}-{secrets.token_hex(3)}"


def anew(person: Person, watch: Watch, request: pytest.FixtureRequest) -> Person:
    """`person` without a browser yet; for a test's second attempt another user, unaffected by the first."""
    if getattr(request.node, "execution_count", 1) == 1:  # of pytest-rerunfailures
        return replace(person, watch=watch, contexts=[])
    another = replace(person, watch=watch, contexts=[], signed_in=None, name=new_name("Again"))
    another.sign_up()
    another.leave()
    another.contexts = []
    return another


# The chat ----------------------------------------------------------------------------------------------------------


def composer(page: Page) -> Locator:
    """The box to write a message in."""
    return page.get_by_label("Your message")


def ask(page: Page, words: str) -> None:
    """Write and send, once the page is ready."""
    page.wait_for_load_state()
    composer(page).fill(words)
    send(page)


def send(page: Page) -> None:
    """Press Enter on a desktop; on a phone, where that key starts a new line, tap the button."""
    if is_phone(page):
        page.get_by_role("button", name="Send", exact=True).tap()
    else:
        composer(page).press("Enter")


def save_memories(page: Page) -> None:
    """Have the librarian read the conversation now."""
    tap(page.locator("#conversation-menu > summary"))
    tap(page.get_by_role("button", name="Save memories now"))


def being_written(page: Page) -> Locator:
    """The text of the answer in progress."""
    return page.locator(".message-assistant [data-text]")


def last_answer(page: Page) -> Locator:
    """The last answer, if it is complete: a locator waits for it."""
    return page.locator(".message-assistant").last.and_(page.locator('[data-status="complete"]')).locator(".prose")


def grown(body: Locator) -> str:
    """Wait until an answer in progress has more text, and return it."""
    before = body.inner_text()
    expect(body).not_to_have_text(before, timeout=PATIENCE)
    now = body.inner_text()
    assert now.startswith(before), (before, now)
    return now


def says_offline(page: Page) -> None:
    """The page says that no language model answers."""
    expect(page.get_by_text("Demo mode:")).to_be_visible()


# On a phone --------------------------------------------------------------------------------------------------------


def is_phone(page: Page) -> bool:
    """Whether this page is shown on a phone: the list and the context are sheets there, and there are no keys."""
    return page.viewport_size == PHONE_SIZE


def tap(target: Locator) -> None:
    """Tap on a phone, click elsewhere."""
    target.tap() if is_phone(target.page) else target.click()


def open_list(page: Page) -> None:
    """Open the conversation list, which is next to the chat on a desktop."""
    if is_phone(page):
        page.get_by_role("button", name="Conversations").tap()
    expect(page.locator("#conversations")).to_be_visible()


def open_context(page: Page) -> None:
    """Open the last answer's context, which is next to the chat on a desktop."""
    if is_phone(page) and not page.locator("#context").is_visible():
        page.get_by_role("button", name="Context panel").tap()
    expect(page.locator("#context")).to_be_visible()
