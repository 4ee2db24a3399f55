"""Memory and settings, used by thumb on a phone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.browser.people import (
    PHONE,
    OfflineServer,
    Person,
    Watch,
    anew,
    ask,
    composer,
    last_answer,
    new_name,
    send,
)
from tests.browser.test_look import SHIFTED, fits_the_screen
from tests.browser.test_memory import begin
from tests.browser.test_review_by_keyboard import PROPOSE
from tests.conftest import PASSWORD
from tests.running import App

pytestmark = pytest.mark.browser

LONG_ANSWER = "\n\n".join(f"It flies over valley {number}." for number in range(40))


@pytest.fixture(scope="module")
def signed_up_by_phone(browser: Browser, app: App) -> Person:
    """A user who has no other device."""
    person = Person(browser, app, Watch(), new_name("Pia"), screen=PHONE)
    person.sign_up()
    person.leave()
    return person


@pytest.fixture
def pia(signed_up_by_phone: Person, watch: Watch, request: pytest.FixtureRequest) -> Iterator[Person]:
    """That user with a fresh browser."""
    person = anew(signed_up_by_phone, watch, request)
    yield person
    person.leave()


def test_the_key_that_begins_a_new_line_does_not_say_that_it_sends(pia: Person) -> None:
    page = pia.tab()
    page.wait_for_load_state()
    composer(page).fill("One line,")
    composer(page).press("Enter")
    page.keyboard.type("and another.")
    expect(composer(page)).to_have_value("One line,\nand another.")
    expect(composer(page)).not_to_have_attribute("enterkeyhint", "send")
    send(page)
    expect(last_answer(page)).to_be_visible()
    assert page.locator(".message-user .message-body").inner_text() == "One line,\nand another."
    fits_the_screen(page)


def test_the_profile_is_edited_where_it_stands(pia: Person) -> None:
    page = pia.tab("/memory/about")
    part = page.locator("[data-editable]").first
    box = part.get_by_role("textbox", name="Text")
    part.locator("[data-read]").tap()
    expect(box).to_be_focused()
    box.fill("I keep bees.")
    fits_the_screen(page)
    part.get_by_role("button", name="Save").tap()
    expect(part.locator(".prose")).to_contain_text("I keep bees.")
    expect(part.get_by_role("status")).to_be_focused()
    fits_the_screen(page)


def test_a_document_is_edited_where_it_stands_and_left_as_it_was(pia: Person) -> None:
    page = pia.tab()
    begin(page, "/projects/plan", "A bed of **larch**.")
    box = page.get_by_label("Text (Markdown)")
    expect(box).to_be_hidden()
    page.get_by_text("A bed of").first.tap()
    expect(box).to_be_focused()
    box.fill("A bed of **oak**.")
    page.get_by_role("button", name="Save", exact=True).tap()
    expect(page.locator(".prose strong")).to_have_text("oak")

    edit = page.locator("summary", has_text="Edit")
    edit.tap()
    expect(box).to_be_focused()
    fits_the_screen(page)
    edit.tap()
    expect(box).to_be_hidden()
    expect(page.locator(".prose strong")).to_have_text("oak")
    fits_the_screen(page)


def test_the_review_is_cleared_by_taps(pia: Person, app: App) -> None:
    with psycopg.connect(app.conninfo(), autocommit=True) as connection:
        connection.execute(PROPOSE, [4, pia.email])
    page = pia.tab("/memory/review")
    proposals = page.locator("[data-fact]")
    expect(proposals).to_have_count(4)
    expect(proposals.first).to_be_focused()
    expect(page.get_by_role("heading", name="To review", exact=True)).to_be_in_viewport()
    assert page.evaluate(SHIFTED) == 0
    fits_the_screen(page)
    for part in (".keybar", "#keys"):
        expect(page.locator(part)).to_be_hidden()
    for verb in ("Accept", "Reject"):
        box = proposals.first.get_by_role("button", name=verb, exact=True).bounding_box()
        assert box
        assert box["height"] >= 44, verb

    decide(page, 0, "Reject", "rejected")
    page.locator("#undo-toast").get_by_role("button", name="Undo").tap()
    expect(proposals.first).to_have_attribute("data-state", "proposed")
    decide(page, 0, "Accept", "active")
    decide(page, 1, "Reject", "rejected")
    in_words_of_ones_own(page, 2)
    decide(page, 3, "Accept", "active")

    expect(page.get_by_role("heading", name="All done")).to_be_in_viewport()
    expect(page.get_by_text("Today you kept 3 and rejected 1.")).to_be_visible()
    expect(page.locator("#tab-count")).to_be_hidden()
    fits_the_screen(page)


COVERED = """() => {
  const { top, bottom, left, right } = document.getElementById("undo-toast").getBoundingClientRect();
  const pressed = [...document.querySelectorAll('[data-fact][tabindex="0"] :is(button, summary, a, [data-select])')];
  return pressed.filter((it) => it.checkVisibility()).map((it) => it.getBoundingClientRect()).filter((box) =>
    box.bottom > top && box.top < bottom && box.right > left && box.left < right).length;
}"""


HIDDEN_AT_THE_END = """(bar) => {
  scrollTo(0, document.documentElement.scrollHeight);
  return [...document.querySelectorAll("main :is(button, summary, a, input)")].filter((it) => {
    const { left, top, width, height } = it.getBoundingClientRect();
    const over = document.elementFromPoint(left + width / 2, top + height / 2);
    return it.checkVisibility() && !it.closest(bar) && over?.closest(bar);
  }).length;
}"""


@pytest.mark.parametrize("width", [390, 320])
def test_what_applies_to_the_selected_proposals_is_one_bar_below_them(pia: Person, app: App, width: int) -> None:
    with psycopg.connect(app.conninfo(), autocommit=True) as connection:
        connection.execute(PROPOSE, [9, pia.email])
    page = pia.tab("/memory/review")
    page.set_viewport_size({"width": width, "height": 640})
    toast, bulk = page.locator("#undo-toast"), page.locator("#bulk")
    page.locator('[data-fact][tabindex="0"]').get_by_role("button", name="Reject", exact=True).tap()
    expect(toast).to_be_visible()
    assert toast.evaluate("it => [it.offsetLeft, it.offsetWidth]") == [0, width]
    assert page.evaluate(HIDDEN_AT_THE_END, "#undo-toast") == 0

    for box in page.locator("[data-select]").all()[:2]:
        box.tap()
    expect(bulk).to_contain_text("2 selected")
    expect(toast).to_be_hidden()
    buttons = [button.bounding_box() for button in bulk.get_by_role("button").all()]
    assert len({round(box["y"]) for box in buttons if box}) == 1, "one row"
    assert all(box and box["height"] >= 44 for box in buttons)
    assert bulk.evaluate("it => Math.round(innerHeight - it.getBoundingClientRect().bottom)") == 0
    assert page.evaluate(HIDDEN_AT_THE_END, "#bulk") == 0
    fits_the_screen(page)
    bulk.get_by_role("button", name="Merge").tap()
    expect(page.get_by_text("Keep this wording")).to_be_visible()
    expect(bulk).to_be_hidden()


def test_a_proposal_is_swiped_to_the_right_to_accept_and_to_the_left_to_reject(pia: Person, app: App) -> None:
    with psycopg.connect(app.conninfo(), autocommit=True) as connection:
        connection.execute(PROPOSE, [3, pia.email])
    page = pia.tab("/memory/review")
    expect(page.get_by_text("Swipe right to accept, left to reject.")).to_be_visible()
    first, second, third = page.locator('[data-fact][data-state="proposed"]').all()[:3]
    names = [f"#{one.get_attribute('id')}" for one in (first, second, third)]
    first, second, third = (page.locator(name) for name in names)

    with swiped(page, first, by=60):
        expect(first).to_have_attribute("data-swipe", "begun")
    expect(first).to_have_css("translate", "none")
    expect(first).to_have_attribute("data-state", "proposed")

    with swiped(page, first, by=140):
        expect(first).to_have_attribute("data-swipe", "decides")
        assert first.evaluate("it => getComputedStyle(it, '::before').content") == '"Accept"'
        fits_the_screen(page)
    expect(first).to_have_attribute("data-state", "active")
    tap_at_once(page.locator("#undo-toast").get_by_role("button", name="Undo"))
    expect(first).to_have_attribute("data-state", "proposed")

    with swiped(page, second, by=-140):  # one that isn't open
        assert second.evaluate("it => getComputedStyle(it, '::after').content") == '"Reject"'
    expect(second).to_have_attribute("data-state", "rejected")
    assert not page.evaluate(COVERED), "the toast lies over nothing one can press"

    with swiped(page, third, by=140, down=120):
        expect(third).not_to_have_attribute("data-swipe", re.compile(""))
    expect(third).to_have_attribute("data-state", "proposed")
    expect(first).to_have_attribute("data-state", "proposed")
    assert first.evaluate("it => getComputedStyle(it).touchAction") == "pan-y pinch-zoom"


@contextmanager
def swiped(page: Page, card: Locator, by: int, down: int = 0) -> Iterator[None]:
    """With a finger that touched the card and moved so many pixels to the right, first down; it lets go afterwards."""
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 12
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    touch("touchStart", (x, y))
    for step in range(1, 5):
        touch("touchMove", (x, y + down * step / 4))
    for step in range(1, 9):
        touch("touchMove", (x + by * step / 8, y + down))
    yield
    touch("touchEnd")


def tap_at_once(button: Locator) -> None:
    """Tap without first waiting until it stands still, as a quick finger does."""
    expect(button).to_be_visible()
    box = button.bounding_box()
    assert box is not None
    session = button.page.context.new_cdp_session(button.page)
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def decide(page: Page, place: int, verb: str, state: str) -> None:
    """Tap the button of the proposal at this position, which is the one shown in full."""
    proposal = page.locator("[data-fact]").nth(place)
    proposal.get_by_role("button", name=verb, exact=True).tap()
    expect(proposal).to_have_attribute("data-state", state)


def in_words_of_ones_own(page: Page, place: int) -> None:
    proposal, undo = page.locator("[data-fact]").nth(place), page.locator("#undo-toast")
    expect(undo).to_be_visible()
    proposal.locator("summary", has_text="Edit").tap()
    proposal.get_by_label("In your own words").fill("In words of my own.")
    assert not undo.is_visible(), "it lies over what one writes"
    fits_the_screen(page)
    proposal.get_by_role("button", name="Save and accept").tap()
    expect(proposal).to_have_attribute("data-state", "active")
    expect(proposal).to_contain_text("In words of my own.")
    expect(undo).to_contain_text("In words of my own.")


def test_a_search_over_all_conversations_leads_to_what_was_said(pia: Person, offline: OfflineServer) -> None:
    page = pia.tab()
    offline.reply(LONG_ANSWER, match="zeppelin", seconds_a_word=0)
    ask(page, "My zeppelin is called Hindemith.")
    expect(last_answer(page)).to_contain_text("valley 39")
    page.goto("/")
    page.get_by_role("link", name="Search or run a command").tap()
    page.get_by_role("combobox", name="Search or run a command").fill("zepp")
    page.get_by_role("option", name="Search for “zepp”").tap()
    hit = page.locator(".found-hit").first
    expect(hit).to_contain_text("zeppelin")
    fits_the_screen(page)
    hit.tap()
    expect(page).to_have_url(re.compile(r"/c/.*#m-\d+$"))
    expect(page.locator(".message:target")).to_contain_text("zeppelin")
    expect(page.locator(".message:target")).to_be_in_viewport()
    expect(page.locator("#conversations")).to_be_hidden()
    fits_the_screen(page)


def test_the_time_zone_is_changed_and_a_key_is_made_and_revoked(pia: Person) -> None:
    page = pia.tab()
    page.get_by_label("Account", exact=True).tap()
    fits_the_screen(page)
    page.get_by_role("link", name="Settings", exact=True).tap()
    page.wait_for_url("**/settings")  # with its scripts: until then Save is a plain form, which confirms at the top
    zone = page.get_by_label("Time zone")
    zone.fill("Europe/Lisbon")
    page.get_by_role("button", name="Save").tap()
    expect(page.locator("#form .settings-saved")).not_to_be_empty()
    page.reload()
    expect(zone).to_have_value("Europe/Lisbon")
    fits_the_screen(page)

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="API keys").tap()
    page.get_by_role("link", name="Create key").tap()
    expect(page.get_by_role("heading", name="Confirm it's you")).to_be_visible()
    fits_the_screen(page)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").tap()
    page.get_by_label("Name", exact=True).fill("Notes on my phone")
    page.get_by_role("checkbox").first.check()
    fits_the_screen(page)
    page.get_by_role("button", name="Create key").tap()
    expect(page.get_by_label("New key")).to_be_visible()
    fits_the_screen(page)
    page.get_by_role("button", name="Revoke Notes on my phone").tap()
    expect(page.locator("#key-list")).to_contain_text("revoked")
    expect(page.get_by_role("button", name="Revoke Notes on my phone")).to_have_count(0)
    expect(page.get_by_label("New key")).to_have_count(0)  # there is no reason left to copy it
    fits_the_screen(page)


NARROWEST: ViewportSize = {"width": 320, "height": 640}
UNBROKEN = "W" * 320


def test_no_page_is_wider_than_the_narrowest_phone(pia: Person) -> None:
    """Tables, and words that nothing breaks."""
    page = pia.tab()
    begin(page, "/notes/unbroken", UNBROKEN)
    page.set_viewport_size(NARROWEST)
    page.locator("summary", has_text="Edit").tap()
    expect(page.get_by_label("Text (Markdown)")).to_be_focused()
    fits_the_screen(page)
    page.goto("/projects")
    page.get_by_label("Name").first.fill("Q" * 60)
    page.get_by_label("Name").first.press("Enter")
    expect(page.get_by_role("heading", name="Q" * 60)).to_be_visible()
    for address in (page.url, "/projects", "/usage", "/shortcuts"):
        page.goto(address)
        fits_the_screen(page)


def test_the_composers_tools_share_one_row_on_a_narrow_phone(pia: Person) -> None:
    page = pia.tab()
    tools = page.locator(".composer-tools > :visible")
    for width in (360, NARROWEST["width"]):
        page.set_viewport_size({"width": width, "height": 640})
        boxes = [box for tool in tools.all() if (box := tool.bounding_box())]
        assert len(boxes) == 4
        assert len({round(box["y"] + box["height"] / 2) for box in boxes}) == 1, width
        fits_the_screen(page)


def test_the_tabs_of_a_narrow_phone_are_one_whole_row(pia: Person) -> None:
    page = pia.tab()
    page.set_viewport_size(NARROWEST)
    for address in ("/memory/about", "/memory/timeline", "/memory/rules", "/search", "/settings", "/settings/data"):
        page.goto(address)
        page.locator("#tab-count").evaluate_all("them => them.forEach((it) => it.replaceChildren(12))")
        page.locator("#tab-count").evaluate_all("them => them.forEach((it) => { it.hidden = false; })")
        for tabs in page.locator(".tabs, .settings-nav").all():
            assert tabs.evaluate("it => it.scrollWidth <= it.clientWidth"), address
            tops = {round(tab.evaluate("it => it.getBoundingClientRect().top")) for tab in tabs.locator("a").all()}
            assert len(tops) == 1, address


def test_the_account_menu_of_a_phone_has_no_keys(pia: Person) -> None:
    page = pia.tab("/usage")
    page.get_by_label("Account", exact=True).tap()
    expect(page.get_by_role("link", name="Documentation")).to_be_visible()
    expect(page.get_by_role("link", name="Keyboard shortcuts")).to_be_hidden()
