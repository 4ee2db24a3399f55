"""The whole review queue by keyboard, in a real browser: its pages and answers come from Django's test client."""

import mimetypes
from collections.abc import Callable, Iterator
from contextvars import copy_context
from urllib.parse import urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from playwright.sync_api import Browser, Page, Route, expect

from accounts.models import User
from memory.models import Fact, ReviewAction
from memory.review.decisions import reject
from tests.chromium import browser
from tests.memory.pages.test_review import propose, say

__all__ = ["browser"]
pytestmark = pytest.mark.browser

HOST = "http://recall.test"
PATIENCE = 30_000
"""Milliseconds: the first statement that is typed loads the embedding model."""


def serve(client: Client) -> Callable[[Route], None]:
    """Answers the browser from Django's test client, inside the test's own transaction.

    Playwright calls from a context of its own, in which Django would open another connection: hence `run`.
    """
    run = copy_context().run

    def answer(route: Route) -> None:
        asked, address = route.request, urlsplit(route.request.url)
        if address.path.startswith("/static/"):
            path = str(finders.find(address.path.removeprefix("/static/")))
            route.fulfill(path=path, content_type=mimetypes.guess_type(path)[0])
            return
        response = run(
            client.generic,
            asked.method,
            address.path,
            asked.post_data_buffer or b"",
            content_type=asked.headers.get("content-type", ""),
            headers={name: value for name, value in asked.headers.items() if name.startswith("hx-")},
        )
        headers = {name: value for name, value in response.items() if name != "Content-Length"}
        route.fulfill(status=response.status_code, body=response.content, headers=headers)

    return answer


@pytest.fixture
def proposals(alice: User) -> list[Fact]:
    """Three of them, as they stand on the page."""
    message = say(alice)
    return [propose(alice, f"Proposal {number}.", message=message) for number in (1, 2, 3)]


@pytest.fixture
def queue(browser: Browser, alice: User, sign_in: Callable[[User], Client], proposals: list[Fact]) -> Iterator[Page]:
    """The review page, with an eye on what the browser objects to."""
    page = browser.new_page()
    objections: list[str] = []
    page.on("pageerror", lambda error: objections.append(str(error)))
    page.on("console", lambda line: objections.append(line.text) if "Content Security Policy" in line.text else None)
    page.route("**/*", serve(sign_in(alice)))
    page.goto(f"{HOST}/memory/review")
    yield page
    page.close()
    assert objections == []


def status_of(fact: Fact) -> str:
    status: str = Fact.objects.get(pk=fact.pk).status
    return status


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.id")
    return found


def wait_for(page: Page, sentence: str) -> None:
    """Until the status line, which screen readers hear, says so."""
    expect(page.locator("#queue-status")).to_have_text(sentence, timeout=PATIENCE)


def test_the_first_proposal_has_the_focus_at_once(queue: Page, proposals: list[Fact]) -> None:
    assert focused(queue) == f"fact-{proposals[0].pk}"


@pytest.mark.parametrize(("down", "up"), [("j", "k"), ("ArrowDown", "ArrowUp")])
def test_the_focus_moves_up_and_down_and_stops_at_the_ends(
    queue: Page, proposals: list[Fact], down: str, up: str
) -> None:
    seen = []
    for key in (down, down, down, up, up, up):
        queue.keyboard.press(key)
        seen.append(focused(queue))

    first, second, third = (f"fact-{fact.pk}" for fact in proposals)
    assert seen == [second, third, third, second, first, first]


def test_a_accepts_and_goes_on_to_the_next(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("a")
    wait_for(queue, "Accepted: Proposal 1.")

    assert status_of(proposals[0]) == "active"
    assert focused(queue) == f"fact-{proposals[1].pk}"
    expect(queue.locator("#queue-count")).to_contain_text("2 memories to review.")
    expect(queue.locator("#review-count")).to_contain_text("2")


def test_r_rejects(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("j")
    queue.keyboard.press("r")
    wait_for(queue, "Rejected: Proposal 2.")

    assert status_of(proposals[1]) == "rejected"
    assert focused(queue) == f"fact-{proposals[2].pk}"


def test_u_takes_the_last_decision_back(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("r")
    wait_for(queue, "Rejected: Proposal 1.")
    queue.keyboard.press("u")
    wait_for(queue, "Undone: Proposal 1.")

    assert status_of(proposals[0]) == "proposed"
    assert focused(queue) == f"fact-{proposals[0].pk}"


def test_e_edits_and_control_enter_saves(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("e")
    queue.keyboard.press("Control+a")
    queue.keyboard.type("Just a jar of jam, queued.")
    queue.keyboard.press("Control+Enter")
    wait_for(queue, "Saved and accepted: Just a jar of jam, queued.")

    fact = Fact.objects.get(pk=proposals[0].pk)
    assert (fact.statement, fact.status) == ("Just a jar of jam, queued.", "active")
    assert ReviewAction.objects.count() == 1


def test_escape_leaves_the_editing_and_nothing_is_changed(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("e")
    queue.keyboard.type("aaarrr")
    queue.keyboard.press("Escape")

    assert focused(queue) == f"fact-{proposals[0].pk}"
    assert queue.locator("textarea:visible").count() == 0
    assert [status_of(fact) for fact in proposals] == ["proposed"] * 3


def test_an_empty_statement_is_handed_back_with_the_focus_in_it(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("e")
    queue.keyboard.press("Control+a")
    queue.keyboard.type("   ")
    queue.keyboard.press("Control+Enter")
    wait_for(queue, "Enter a statement. To remove the fact, reject it instead.")

    assert focused(queue) == f"words-{proposals[0].pk}"
    assert status_of(proposals[0]) == "proposed"


def test_the_whole_queue_can_be_decided_without_a_mouse(queue: Page, proposals: list[Fact]) -> None:
    for key, sentence in (
        ("a", "Accepted: Proposal 1."),
        ("r", "Rejected: Proposal 2."),
        ("a", "Accepted: Proposal 3."),
    ):
        queue.keyboard.press(key)
        wait_for(queue, sentence)

    assert [status_of(fact) for fact in proposals] == ["active", "rejected", "active"]
    expect(queue.locator("#queue-count")).to_contain_text("You're all caught up.")


def test_x_selects_and_the_keys_are_then_for_all_selected(queue: Page, proposals: list[Fact]) -> None:
    queue.keyboard.press("x")
    queue.keyboard.press("j")
    queue.keyboard.press("x")
    wait_for(queue, "2 selected")
    expect(queue.locator("[data-selected]")).to_have_text("2 selected:")
    queue.keyboard.press("r")
    wait_for(queue, "Rejected: 2.")

    assert [status_of(fact) for fact in proposals] == ["rejected", "rejected", "proposed"]
    assert focused(queue) == f"fact-{proposals[2].pk}"
    expect(queue.locator("#undo-toast")).to_be_hidden()  # the same button is in view, above the queue
    queue.keyboard.press("u")
    wait_for(queue, "Undone: 2.")
    assert [status_of(fact) for fact in proposals] == ["proposed"] * 3


def test_m_merges_the_selected_in_words_that_are_typed(queue: Page, proposals: list[Fact]) -> None:
    for key in ("x", "j", "x", "m"):
        queue.keyboard.press(key)
    wait_for(queue, "Choose a wording or write your own.")
    expect(queue.locator("[data-merge-form] input[type=radio]").first).to_be_focused()
    queue.keyboard.press("Tab")
    queue.keyboard.type("A jar of jam and a queue.")
    queue.keyboard.press("Control+Enter")
    wait_for(queue, "Merged: A jar of jam and a queue.")

    assert [status_of(fact) for fact in proposals] == ["active", "superseded", "proposed"]
    assert focused(queue) == f"fact-{proposals[2].pk}"
    queue.keyboard.press("u")
    wait_for(queue, "Undone: Proposal 1.")
    assert [status_of(fact) for fact in proposals] == ["proposed"] * 3


def test_escape_leaves_the_merging_and_nothing_is_changed(queue: Page, proposals: list[Fact]) -> None:
    for key in ("x", "j", "x", "m"):
        queue.keyboard.press(key)
    expect(queue.locator("[data-merge-form]")).to_be_visible()
    queue.keyboard.press("Escape")

    expect(queue.locator("[data-merge-form]")).to_have_count(0)
    assert focused(queue) == f"fact-{proposals[1].pk}"
    assert [status_of(fact) for fact in proposals] == ["proposed"] * 3


@pytest.mark.parametrize(
    ("key", "sentence", "known"),
    [("a", "Accepted: Proposal 1.", "superseded"), ("b", "Both kept: Proposal 1.", "active"),
     ("n", "Kept, no contradiction: Proposal 1.", "active")],
)  # fmt: skip
def test_a_contradiction_is_settled_by_a_key(
    queue: Page, alice: User, proposals: list[Fact], key: str, sentence: str, known: str
) -> None:
    Fact.objects.filter(pk=proposals[0].pk).update(key="user/home")
    older = propose(alice, "Known until now.", key="user/home", kind="person", status=Fact.Status.ACTIVE)
    queue.reload()

    queue.keyboard.press(key)
    wait_for(queue, sentence)

    assert (status_of(proposals[0]), status_of(older)) == ("active", known)


def test_a_rule_set_on_a_proposal_offers_the_others_and_keeps_the_focus(queue: Page, proposals: list[Fact]) -> None:
    first = queue.locator(f"#fact-{proposals[0].pk}")
    first.get_by_text("Set a rule…").click()
    first.get_by_role("button", name="Never remember").click()
    expect(queue.locator("#queue-status")).not_to_be_empty()  # else the two decisions are told together
    queue.get_by_role("button", name="Reject all 3 waiting").click()
    wait_for(queue, "Rejected: 3.")

    assert [status_of(fact) for fact in proposals] == ["rejected"] * 3
    expect(queue.locator("[data-told]")).to_be_focused()
    expect(queue.locator("#undo-toast")).to_be_hidden()  # its button is in the focused card
    queue.keyboard.press("u")
    wait_for(queue, "Undone: 3.")
    assert focused(queue) == f"fact-{proposals[0].pk}"


def test_what_was_decided_in_another_tab_is_told_and_the_focus_stays(
    queue: Page, alice: User, proposals: list[Fact]
) -> None:
    reject(proposals[0], by=alice)
    queue.keyboard.press("a")
    wait_for(queue, "This fact has changed: it is now rejected.")

    assert [status_of(fact) for fact in proposals] == ["rejected", "proposed", "proposed"]
    assert focused(queue) == f"fact-{proposals[1].pk}"


def test_a_question_mark_tells_the_keys(queue: Page) -> None:
    assert not queue.locator("#keys li").first.is_visible()

    queue.keyboard.press("?")

    assert queue.locator("#keys li").first.is_visible()


def test_keys_count_in_the_queue_only(queue: Page, proposals: list[Fact]) -> None:
    queue.locator(".brand").focus()

    queue.keyboard.press("a")
    queue.keyboard.press("Control+r")
    queue.wait_for_timeout(100)

    assert [status_of(fact) for fact in proposals] == ["proposed"] * 3


def test_the_mouse_does_the_same(queue: Page, proposals: list[Fact]) -> None:
    queue.locator(f"#statement-{proposals[1].pk}").click()
    queue.locator(f"#fact-{proposals[1].pk}").get_by_role("button", name="Accept").click()
    wait_for(queue, "Accepted: Proposal 2.")
    queue.locator(f"#fact-{proposals[1].pk}").get_by_role("button", name="Undo").click()
    wait_for(queue, "Undone: Proposal 2.")

    assert status_of(proposals[1]) == "proposed"
