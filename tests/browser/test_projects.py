"""A user creates a role and a project, starts a conversation in them, and changes its model; on a phone, too."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.browser.people import ON_BOTH, OfflineServer, Person, ask, is_phone, last_answer, tap
from tests.browser.test_look import fits_the_screen

SEEDS = "When do we sow the beans?"


@ON_BOTH
def test_a_project_and_a_role_are_made_and_a_conversation_begins_in_them(
    newcomer: Callable[[str], Person], offline: OfflineServer, screen: dict[str, Any]
) -> None:
    person = newcomer("Petra")
    person.screen = screen
    page = person.sign_up()
    page.goto("/roles")
    tap(page.get_by_role("button", name="Copy “Critical reader”"))
    expect(page.get_by_role("heading", name="Critical reader")).to_be_visible()
    fits_the_screen(page)

    page.goto("/projects")
    page.get_by_label("Name").fill("Bean patch")
    page.get_by_label("Instructions (optional)").fill("We garden in clay soil.")
    fits_the_screen(page)
    tap(page.get_by_role("button", name="Create project"))
    tap(page.get_by_role("link", name="New conversation"))

    choices = page.locator("#choices > summary")
    tap(choices)
    expect(page.get_by_label("Project", exact=True)).to_have_value(re.compile(r"\d+"))
    page.get_by_label("Role", exact=True).select_option("Critical reader")
    page.get_by_label("Model", exact=True).select_option("claude-haiku-5-5")
    expect(page.locator("[data-chosen]")).to_have_text("Demo model · Bean patch · Critical reader")
    fits_the_screen(page)
    if is_phone(page):
        choices.tap()
    else:
        page.keyboard.press("Escape")
    expect(page.get_by_label("Role", exact=True)).to_be_hidden()
    offline.reply("In May.", match=SEEDS)
    ask(page, SEEDS)
    expect(last_answer(page)).to_have_text("In May.")

    sent = offline.requests(SEEDS)[-1]["body"]
    assert sent["model"] == "claude-haiku-5-5"
    system = "\n".join(block["text"] for block in sent["system"])
    assert "We garden in clay soil." in system
    assert "Critical reader" in system
    expect(page.locator("#choices-form")).to_have_count(0)
    chosen = page.locator("#choices")
    expect(chosen.get_by_role("link", name="Project: Bean patch")).to_be_visible()
    expect(chosen.get_by_role("link", name="Role: Critical reader")).to_be_visible()

    tap(page.locator("#choices-menu > summary"))
    only = page.get_by_label("Only use this project's memories")
    tap(only)
    expect(only).to_be_checked()
    page.get_by_label("Model", exact=True).select_option("claude-sonnet-5-5")
    fits_the_screen(page)
    tap(page.get_by_role("button", name="Save"))
    expect(page.locator("#notices")).to_contain_text("cache has to be rebuilt")
    expect(page.get_by_role("link", name="Project: Bean patch")).to_contain_text("only this project")
    fits_the_screen(page)


def test_without_a_script_the_menu_still_changes_what_a_conversation_goes_by(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Paul")
    page = person.sign_up()
    offline.reply("Good morning.", match="Good morning, Recall")
    ask(page, "Good morning, Recall")
    expect(last_answer(page)).to_have_text("Good morning.")
    plain = person.open_browser(java_script_enabled=False).new_page()
    plain.goto(page.url)

    plain.locator("#choices-menu > summary").click()
    plain.get_by_label("Model", exact=True).select_option("claude-haiku-5-5")
    plain.get_by_role("button", name="Save").click()

    expect(plain.get_by_label("Model", exact=True)).to_have_value("claude-haiku-5-5")
