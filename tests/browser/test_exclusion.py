"""“Answer without this memory” in a browser: by keyboard, both answers side by side; and without JavaScript."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import PHONE, OfflineServer, Person, ask, being_written, last_answer
from tests.browser.test_look import ENOUGH_CONTRAST, HARD_TO_READ, STICKING_OUT

pytestmark = pytest.mark.browser


def question_of(person: Person) -> str:
    """Their question: no one else's answer matches it, not even one left from a first attempt."""
    return f"What do you know about the harbour of {person.name}?"


def with_a_profile(person: Person) -> Page:
    """The chat of a user whose profile has a line."""
    page = person.sign_up()
    page.goto("/memory/about")
    page.get_by_text("Write “Introduction”").click()
    page.get_by_label("Text").first.fill("I keep a small boat in the harbour of Cascais.")
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator(".prose").first).to_contain_text("harbour of Cascais")
    page.goto("/")
    return page


def asked_with_a_profile(person: Person, offline: OfflineServer) -> Page:
    """An answer whose prompt contained a line of the user's profile; its context is complete."""
    page = with_a_profile(person)
    question = question_of(person)
    offline.reply("You keep a boat there.", match=question)
    ask(page, question)
    expect(last_answer(page)).to_have_text("You keep a boat there.")
    return page


def test_what_is_opened_in_the_context_stays_open_when_the_answer_is_complete(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Ursula")
    page = with_a_profile(person)
    question = question_of(person)
    offline.reply("You keep a boat there, if I remember rightly.", match=question, seconds_a_word=0.3)
    ask(page, question)
    expect(being_written(page)).to_have_text(re.compile("^You keep"))
    part = page.locator("#receipt details", has_text="Always sent: 1").first
    part.locator("summary").first.click()
    expect(part).to_have_attribute("open", "")

    expect(last_answer(page)).to_have_text("You keep a boat there, if I remember rightly.")
    expect(part.locator("button[name=without]")).to_be_attached()  # offered once the answer is complete
    expect(part).to_have_attribute("open", "")


def test_one_click_shows_both_and_keeps_the_one_that_is_chosen(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Wanda")
    page = asked_with_a_profile(person, offline)
    conversation = page.url
    page.get_by_text("Always sent: 1").click()
    offline.reply("I know nothing of it.", match=question_of(person))
    line = "I keep a small boat in the harbour of Cascais."  # it may have been recalled from its document, too
    page.get_by_role("region", name="Memories sent").get_by_label("I keep a small boat").last.press("Enter")
    button = page.get_by_role("button", name=re.compile(f"^Answer without this ?: {line}")).last
    button.focus()
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(r"/m/\d+/compare"))
    expect(page.get_by_text("You keep a boat there.")).to_be_visible()
    expect(page.get_by_text("I know nothing of it.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Prompt"))).to_contain_text("−")
    first, other = offline.requests(question_of(person))[-2:]
    assert "Cascais" in str(first["body"])
    assert "Cascais" not in str(other["body"])
    left, right = (page.locator(".compare-sides > section").nth(side).bounding_box() for side in (0, 1))
    assert left
    assert right
    assert left["y"] == right["y"], "side by side"

    for scheme in ("light", "dark"):
        phone = person.open_browser(**PHONE, color_scheme=scheme).new_page()
        phone.goto(page.url)
        upper, lower = (phone.locator(".compare-sides > section").nth(side).bounding_box() for side in (0, 1))
        assert upper
        assert lower
        assert lower["y"] >= upper["y"] + upper["height"], "one below the other"
        assert phone.evaluate(STICKING_OUT) == []
        assert phone.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []

    page.get_by_role("button", name="Keep this answer").click()
    page.wait_for_url(re.compile("/c/"))
    assert page.url.startswith(conversation)
    expect(last_answer(page)).to_have_text("I know nothing of it.")


def test_it_works_without_javascript(newcomer: Callable[[str], Person], offline: OfflineServer) -> None:
    person = newcomer("Nora")
    page = asked_with_a_profile(person, offline)
    answer = page.locator(".message-assistant").last.get_attribute("data-message")
    offline.reply("I know nothing of it.", match=question_of(person))
    person.watch.forgive("favicon.ico")  # the panel alone has no head that names another icon
    plain = person.open_browser(java_script_enabled=False).new_page()
    plain.goto(f"/receipts/{answer}")
    plain.get_by_text("Always sent: 1").click()
    plain.get_by_role("region", name="Memories sent").get_by_label(re.compile("^More about")).last.click()
    plain.get_by_role("button", name=re.compile("^Answer without this")).last.click()
    plain.wait_for_url(re.compile(r"/m/\d+/compare"))
    again = plain.get_by_role("link", name="Reload for the rest")
    while again.is_visible():
        again.click()
    expect(plain.get_by_text("I know nothing of it.")).to_be_visible()
    expect(plain.get_by_text("You keep a boat there.")).to_be_visible()
    person.contexts.remove(plain.context)  # without scripts, no one can ask whether anything went wrong
    plain.context.close()
