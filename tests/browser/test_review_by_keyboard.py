"""A queue of 50 is cleared by keyboard alone: no page load, the focus always on a waiting item, nothing announced
twice."""

from collections.abc import Callable
from itertools import pairwise

import psycopg
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.people import Person
from tests.running import App, wait_until

pytestmark = pytest.mark.browser

QUEUE_OF = 50
PROPOSE = """
INSERT INTO memory_fact (user_id, statement, kind, key, value, tags, tokens, confidence, importance, status, reason,
    recorded_at, source, quote, extracted_by, times_used, embedded_by)
SELECT id, 'Proposal ' || n || '.', 'person', '', '', '{}', 3, 0.9, 0.5, 'proposed', 'about another person',
    now(), 'stated', '', 'test', 0, ''
FROM accounts_user, generate_series(1, %s) AS n WHERE email = %s
"""
STATES = "SELECT status, count(*) FROM memory_fact JOIN accounts_user u ON u.id = user_id WHERE email = %s GROUP BY 1"
HEAR = """() => {
  window.heard = [];
  const status = document.getElementById("queue-status");
  new MutationObserver(() => status.textContent && window.heard.push(status.textContent))
    .observe(status, { childList: true, characterData: true, subtree: true });
}"""
FOCUSED = "() => document.activeElement?.closest('[data-fact]')?.dataset.state ?? document.activeElement?.tagName"


@pytest.fixture
def reviewer(newcomer: Callable[[str], Person], app: App) -> Person:
    """A user with a queue of 50."""
    person = newcomer("Rita")
    person.sign_up()
    with psycopg.connect(app.conninfo(), autocommit=True) as connection:
        connection.execute(PROPOSE, [QUEUE_OF, person.email])
    return person


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def left(page: Page, number: int) -> None:
    """Wait until this many are left; then the focus is on one of them."""
    words = f"{number} memor{'ies' if number != 1 else 'y'} to review." if number else "You're all caught up."
    expect(page.locator("#queue-count")).to_contain_text(words)
    if number:
        wait_until(lambda: page.evaluate(FOCUSED) == "proposed", seconds=30)


@pytest.mark.timeout(400)  # the application is started first, and 60 decisions are committed one by one
def test_a_queue_of_fifty_is_cleared_by_keyboard_alone(reviewer: Person, app: App) -> None:
    page = reviewer.tab("/memory/review")
    page.wait_for_load_state()
    page.evaluate(HEAR)
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    left(page, 50)

    press(page, "a", "a", "a", "a", "a", "r", "r", "r", "r", "r")  # as fast as the keys can be pressed
    left(page, 40)
    expect(page.locator(".group-head button").first).to_contain_text("Accept all 40")
    expect(page.locator("[data-state=active] .badge").first).to_have_text("Accepted")
    press(page, "u")  # the last one again, and rejected again
    left(page, 41)
    # Announced before the next: decisions within a moment are announced together, and these two would sound like those
    # before.
    expect(page.locator("#queue-status")).not_to_contain_text("Rejected")
    press(page, "r")
    left(page, 40)

    press(page, "e", "Control+a")
    page.keyboard.type("In words of my own.")
    press(page, "Control+Enter")
    expect(page.locator("#queue-status")).to_contain_text("In words of my own.")
    left(page, 39)
    press(page, "e", "Escape", "ArrowDown", "ArrowUp")
    left(page, 39)

    press(page, "x", "j", "x", "j", "x", "a")  # three with one key, back, and again
    left(page, 36)
    press(page, "u")
    left(page, 39)
    press(page, "x", "j", "x", "j", "x", "r")
    left(page, 36)

    press(page, "x", "j", "x", "m")
    expect(page.locator("[data-merge-form] input[type=radio]").first).to_be_focused()
    press(page, "Tab")
    page.keyboard.type("Two made into one.")
    press(page, "Control+Enter")
    left(page, 34)

    press(page, *"arararararararar")
    left(page, 18)
    press(page, *["k"] * 34, *["x", "j"] * 34, "a")  # all that are left, past those already decided
    left(page, 0)
    expect(page.locator(".done .button-primary .icon")).to_have_css("color", "rgb(255, 255, 255)")
    expect(page.locator("#keys")).to_be_hidden()

    with psycopg.connect(app.conninfo(), autocommit=True) as connection:
        states: dict[str, int] = dict(connection.execute(STATES, [reviewer.email]).fetchall())
    assert states == {"active": 33, "rejected": 16, "superseded": 1}
    assert loads == []
    expect(page.locator("#queue-status")).to_have_text("Accepted: 18.")
    heard = page.evaluate("window.heard")
    assert all(one != following for one, following in pairwise(heard)), heard


DESK: ViewportSize = {"width": 1280, "height": 800}
COVERED = """([button, cover]) => {
  const [one, other] = [button, cover].map((element) => element.getBoundingClientRect());
  return one.bottom > other.top && one.top < other.bottom && one.right > other.left && one.left < other.right;
}"""


def test_neither_the_keys_nor_the_last_decision_lie_over_what_comes_next(reviewer: Person) -> None:
    page = reviewer.tab("/memory/review")
    page.set_viewport_size(DESK)
    left(page, 50)
    keys, toast = page.locator(".keybar"), page.locator("#undo-toast")
    for _ in range(3):
        press(page, "e")
        row = page.locator('[data-fact][tabindex="0"]')
        for part in (row.get_by_label("In your own words"), row.get_by_role("button", name="Save and accept")):
            expect(part).to_be_in_viewport(ratio=1)
            assert not page.evaluate(COVERED, [part.element_handle(), keys.element_handle()])
        press(page, "Escape")
        waiting = page.locator('[data-fact][data-state="proposed"]').count()
        press(page, "a")
        left(page, waiting - 1)
        expect(toast).to_be_visible()
        row = page.locator('[data-fact][tabindex="0"]')
        for name in ("Accept", "Reject"):
            button = row.get_by_role("button", name=name, exact=False).first
            expect(button).to_be_in_viewport(ratio=1)
            assert not page.evaluate(COVERED, [button.element_handle(), toast.element_handle()])
    page.reload()
    left(page, waiting - 1)
    press(page, "e", "Control+a")
    page.keyboard.type("A few words more. " * 10)  # the toast has two lines
    press(page, "Control+Enter")
    left(page, waiting - 2)
    expect(toast).to_be_visible()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    link = page.get_by_role("link", name="All decisions")
    assert not page.evaluate(COVERED, [link.element_handle(), toast.element_handle()])
    box = page.locator("[data-select]").last.bounding_box()
    assert box
    assert box["width"] >= 24 <= box["height"]


def test_a_pressed_edit_has_the_focus_in_its_field_and_escape_gives_it_back(reviewer: Person) -> None:
    page = reviewer.tab("/memory/review")
    left(page, 50)
    edit = page.locator('[data-fact][tabindex="0"] summary', has_text="Edit")
    edit.press("Enter")
    expect(page.get_by_label("In your own words").first).to_be_focused()
    press(page, "Escape")
    left(page, 50)
    rule = page.locator('[data-fact][tabindex="0"] summary', has_text="Set a rule")
    rule.press("Enter")
    press(page, "Tab")
    expect(page.get_by_role("button", name="Always remember").first).to_be_focused()
    press(page, "Escape")
    expect(rule).to_be_focused()
    expect(page.get_by_role("button", name="Always remember").first).to_be_hidden()

    page.goto("/memory/about")
    add = page.locator("summary", has_text="Add boundary")
    add.press("Enter")
    expect(page.get_by_label("Boundary", exact=True)).to_be_focused()
    press(page, "Escape")
    expect(add).to_be_focused()
    expect(page.get_by_label("Boundary", exact=True)).to_be_hidden()
