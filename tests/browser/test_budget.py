"""The dashboard in a browser: it follows a turn in another tab, previews a plan, and works on a phone and by
keyboard."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import PHONE, OfflineServer, Person, ask, being_written, last_answer
from tests.browser.test_look import ENOUGH_CONTRAST, HARD_TO_READ, STICKING_OUT

pytestmark = pytest.mark.browser

WORDS = " ".join(f"word{number}" for number in range(1, 31))


def live(page: Page) -> Locator:
    """The part that follows each turn."""
    return page.locator("#turn")


def number(page: Page, label: str) -> Locator:
    """The number next to a slider."""
    return page.get_by_role("spinbutton", name=label, exact=True)


def with_a_turn(person: Person, offline: OfflineServer, question: str) -> Page:
    """Their first tab, with one answer in it."""
    page = person.sign_up()
    offline.reply("Noted.", match=question)
    ask(page, question)
    expect(last_answer(page)).to_have_text("Noted.")
    return page


def test_a_turn_in_one_tab_fills_the_dashboard_in_another_without_a_reload(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Olga")
    chat = person.sign_up()
    board = person.tab("/usage/advanced")
    totals = person.tab("/usage")
    expect(board.get_by_text("Live", exact=True)).to_be_visible()
    expect(live(board)).to_contain_text("No messages yet.")
    board.evaluate("window.isTheSamePage = true")

    question = "Count for me while I watch what it costs."
    offline.reply(WORDS, match=question, seconds_a_word=0.15)
    ask(chat, question)
    expect(being_written(chat)).to_have_text(re.compile("^word1 "))
    expect(board.get_by_role("heading", name="In progress")).to_be_visible()
    expect(live(board)).to_contain_text("after the answer")
    expect(live(board).locator("#bar-blueprint")).to_have_attribute("width", re.compile("[1-9]"))
    expect(board.locator("#announcer")).to_have_text(re.compile("^Turn 1 in progress"))

    expect(last_answer(chat)).to_have_text(WORDS)
    expect(board.get_by_role("heading", name="Latest turn")).to_be_visible()
    expect(live(board)).not_to_contain_text("after the answer")
    expect(live(board).get_by_role("row", name=re.compile("^Today"))).to_contain_text("$")
    expect(board.get_by_role("img", name="Tokens of the last 30 prompts by section")).to_be_visible()
    assert board.evaluate("window.isTheSamePage")
    expect(totals.locator("#live")).to_contain_text("1 turn,")
    expect(totals.get_by_role("img", name="Cost by day")).to_be_visible()


def test_moving_a_slider_by_keyboard_shows_what_would_change_and_saves_nothing(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Pia")
    with_a_turn(person, offline, "Say something, that I may plan.")
    page = person.tab("/usage/advanced")
    slider = page.get_by_role("slider", name="Earlier messages, slider")
    slider.focus()
    before = number(page, "Earlier messages").input_value()
    slider.press("ArrowLeft")
    expect(number(page, "Earlier messages")).not_to_have_value(before)
    expect(page.locator("#plan-sentence")).to_have_text("With this budget nothing would change.")
    expect(page.locator("#plan-preview")).to_contain_text("tokens before")

    number(page, "Earlier messages").fill("90")
    expect(page.locator("#error-history")).to_contain_text("at least 500 tokens")
    expect(number(page, "Earlier messages")).to_have_attribute("aria-invalid", "true")
    number(page, "Earlier messages").press("Enter")
    number(page, "Earlier messages").fill("3000")
    expect(page.locator("#error-history")).to_be_empty()
    expect(number(page, "Earlier messages")).not_to_have_attribute("aria-invalid", "true")
    expect(slider).to_have_value("3000")

    page.reload()
    expect(number(page, "Earlier messages")).to_have_value(before)
    number(page, "Earlier messages").fill("3000")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_text("Plan saved.")).to_be_visible()
    expect(number(page, "Earlier messages")).to_have_value("3000")
    page.get_by_label("Preset").select_option("small")
    expect(number(page, "Profile")).to_have_value("1200")
    page.get_by_role("button", name="Reset to default").click()
    expect(number(page, "Earlier messages")).to_have_value(before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_dashboard_fits_a_phone_and_can_be_read(
    newcomer: Callable[[str], Person], offline: OfflineServer, scheme: str
) -> None:
    person = newcomer("Rosa")
    with_a_turn(person, offline, "Say something, that there is something to see.")
    page = person.open_browser(**PHONE, color_scheme=scheme).new_page()
    page.goto("/usage/advanced")
    number(page, "Earlier messages").fill("90")
    expect(page.locator("#error-history")).not_to_be_empty()
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
    expect(page.get_by_role("link", name="Usage", exact=True)).to_be_in_viewport(ratio=1)


def test_the_plan_and_the_limits_work_without_javascript(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Sven")
    with_a_turn(person, offline, "Say something, that I may plan by hand.")
    page = person.open_browser(java_script_enabled=False).new_page()
    page.goto("/usage/advanced")
    expect(page.get_by_role("slider")).to_have_count(0)
    number(page, "Earlier messages").fill("3000")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("With this budget nothing would change.")).to_be_visible()
    expect(number(page, "Earlier messages")).to_have_value("3000")
    page.goto("/usage")
    page.get_by_label("Turns per day").fill("40")
    page.get_by_role("button", name="Save limits").click()
    expect(page.get_by_text("You've used 1 of 40 turns today.")).to_be_visible()
