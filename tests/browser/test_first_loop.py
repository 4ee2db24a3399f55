"""The whole story in a browser, with the processes that `make run` starts: say, learn, review, be reminded."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from tests.browser.people import (
    ON_BOTH,
    OfflineServer,
    Person,
    ask,
    is_phone,
    last_answer,
    open_context,
    open_list,
    save_memories,
    says_offline,
    tap,
)
from tests.browser.test_look import fits_the_screen

pytestmark = pytest.mark.browser

TOLD = "My sister Mary lives in Lisbon and I'm allergic to peanuts"
LEARNED = "Your sister Mary lives in Lisbon"
QUESTION = "Where does my sister live?"
PACE = 0.05
"""Seconds a word of the answer to it: slow enough for a busy machine to draw more than two steps."""

NOTE_LENGTHS = """() => {
  window.lengths = [];
  new MutationObserver(() => {
    const length = document.querySelector("[data-text]")?.textContent.length;
    if (length && length !== window.lengths.at(-1)) window.lengths.push(length);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
"""From now on `window.lengths` records how long the answer in progress was each time it changed."""


@ON_BOTH
def test_what_a_newcomer_says_is_learned_reviewed_and_remembered(
    newcomer: Callable[[str], Person], screen: dict[str, Any], offline: OfflineServer
) -> None:
    person = newcomer("Dana")
    person.screen = screen
    page = person.sign_up()
    says_offline(page)
    tell_and_end(page)
    follow_to_the_review(page)
    if is_phone(page):
        accept_both_by_finger(page)
    else:
        accept_both_by_keyboard(page)
    offline.fail(f"slow:{PACE}", match=QUESTION)
    ask_in_a_new_conversation(page)
    remembers(page)
    page.reload()
    remembers(page)
    source_leads_to_what_was_said(page)
    fits_the_screen(page)


def test_the_librarian_may_be_quicker_than_the_answer_to_the_button(newcomer: Callable[[str], Person]) -> None:
    """The page learns through its socket what the librarian found; the response to the button may come later."""
    page = newcomer("Erin").sign_up()
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/end", lambda route: held.append((route, route.fetch())))
    tell_and_end(page)
    route, answer = held.pop()
    with page.expect_response("**/end"):
        route.fulfill(response=answer)
    expect(page.locator("#librarian")).to_have_text("2 to review")


def tell_and_end(page: Page) -> None:
    ask(page, TOLD)
    expect(last_answer(page)).to_be_visible()
    expect(page).to_have_url(re.compile("/c/"))
    save_memories(page)
    expect(page.locator("#librarian")).to_have_text("2 to review")
    expect(page.locator("#review-count")).to_have_text("2 to review")


def follow_to_the_review(page: Page) -> None:
    review = page.locator("#librarian").get_by_role("link", name="review")
    if is_phone(page):
        review.tap()
    else:
        review.press("Enter")
    expect(page.get_by_role("heading", name="To review", exact=True)).to_be_visible()
    says_offline(page)


def both_proposals(page: Page) -> Locator:
    proposals = page.locator("[data-fact]")
    expect(proposals).to_have_count(2)
    expect(proposals.locator("mark")).to_have_text(["My sister Mary lives in Lisbon", "I'm allergic to peanuts"])
    return proposals


def accept_both_by_finger(page: Page) -> None:
    fits_the_screen(page)
    for proposal in both_proposals(page).all():
        proposal.get_by_role("button", name="Accept", exact=True).tap()
        expect(proposal).to_have_attribute("data-state", "active")
    nothing_waits(page)


def accept_both_by_keyboard(page: Page) -> None:
    """As fast as a user who knows the key: the second press doesn't wait for the first."""
    proposals = both_proposals(page)
    expect(proposals.first).to_be_focused()
    page.keyboard.press("a")
    page.keyboard.press("a")
    for proposal in proposals.all():
        expect(proposal).to_have_attribute("data-state", "active")
    expect(proposals.last).to_be_focused()
    nothing_waits(page)


def nothing_waits(page: Page) -> None:
    expect(page.locator("#queue-count")).to_contain_text("You're all caught up.")
    expect(page.locator("#tab-count")).to_be_hidden()


def ask_in_a_new_conversation(page: Page) -> None:
    tap(page.get_by_role("link", name="Chat", exact=True))
    if is_phone(page):  # from the list, which is a sheet there
        open_list(page)
        page.get_by_role("link", name="New conversation").tap()
    expect(page.get_by_role("heading", name="New conversation")).to_be_visible()
    page.evaluate(NOTE_LENGTHS)
    ask(page, QUESTION)
    expect(last_answer(page)).to_contain_text("Lisbon")
    lengths: list[int] = page.evaluate("window.lengths")
    assert len(lengths) >= 3, "the answer came at once"
    assert lengths == sorted(lengths)


def remembers(page: Page) -> None:
    """The question, the answer, and the memories next to it."""
    says_offline(page)
    expect(page.locator(".message-user")).to_have_count(1)
    expect(page.locator(".message-user")).to_contain_text(QUESTION)
    expect(last_answer(page)).to_contain_text("Your sister Mary lives in Lisbon.")
    open_context(page)
    recalled = page.get_by_role("region", name="Memories sent").get_by_role("listitem")
    learned, said = recalled.filter(has_text=re.compile(rf"^\s*{LEARNED}")), recalled.filter(has_text=TOLD)
    expect(learned).to_have_count(1)
    for item in (learned, said.first):  # what was said is also in the conversation's summary
        expect(item).to_contain_text(re.compile(r"\b[1-9]\d* tokens"))


def source_leads_to_what_was_said(page: Page) -> None:
    recalled = page.get_by_role("region", name="Memories sent").get_by_role("listitem")
    tap(recalled.filter(has_text=re.compile(rf"^\s*{LEARNED}")).locator(".quote a"))
    expect(page).to_have_url(re.compile(r"/c/[-0-9a-f]+#m-\d+$"))
    said = page.locator(":target")
    expect(said).to_contain_text(TOLD)
    expect(said).to_be_in_viewport()
    says_offline(page)
