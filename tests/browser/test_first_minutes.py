"""The first minutes: what a visitor, a new account and a returning one see at `/`, on a desktop and on a phone."""

import re
from collections.abc import Callable

import psycopg
import pytest
from playwright.sync_api import expect

from tests.browser.people import ON_BOTH, PHONE_SIZE, Person, ask, composer, is_phone, last_answer, save_memories
from tests.running import App

pytestmark = pytest.mark.browser

FILL_IN = "Fill in this field."


@ON_BOTH
def test_from_the_landing_page_to_a_first_answer_and_back(
    newcomer: Callable[[str], Person], screen: dict[str, object]
) -> None:
    person = newcomer("Nora")
    person.screen = screen
    page = person.open_browser().new_page()
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Chat that shows its memory")
    for name in ("Sign up", "Sign in"):
        expect(page.get_by_role("link", name=name)).to_be_in_viewport()
    page = person.sign_up()
    starters = page.locator("#welcome button")
    expect(starters).to_have_count(3)
    expect(page.get_by_role("link", name="Import your conversations")).to_be_visible()
    starters.first.click()
    expect(composer(page)).to_have_value("I live in ")
    expect(composer(page)).to_be_focused()
    ask(page, "I live in Lyon.")
    expect(last_answer(page)).to_contain_text("Lyon")
    page.goto("/")
    if not is_phone(page):
        expect(page.get_by_role("link", name="Lyon"), "the list alone has it").to_have_count(1)
        page.get_by_role("button", name="Conversations").click()
    expect(page.locator("#welcome").get_by_role("link", name="Lyon")).to_be_visible()
    expect(page.locator("#welcome button"), "nothing is known yet").to_have_count(3)


def test_an_open_goal_can_be_read_to_its_end_on_a_phone(newcomer: Callable[[str], Person], app: App) -> None:
    mara = newcomer("Mara")
    page = mara.sign_up()
    ask(page, "I want to grow tomatoes on my roof terrace.")
    expect(last_answer(page)).not_to_be_empty()
    save_memories(page)
    expect(page.locator("#librarian")).to_contain_text("to review")
    with psycopg.connect(app.conninfo(), autocommit=True) as database:
        of_hers = "WHERE kind = 'goal' AND user_id = (SELECT id FROM accounts_user WHERE email = %s)"
        database.execute(f"UPDATE memory_fact SET status = 'active' {of_hers}", [mara.email])
    page.set_viewport_size(PHONE_SIZE)
    page.goto("/")
    goal = page.locator("#welcome").get_by_text("You want to grow tomatoes")
    expect(goal).to_be_visible()
    assert goal.evaluate("it => it.scrollWidth <= it.clientWidth"), "not cut off"


def test_a_password_is_shown_on_demand_and_sent_as_one(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Nadia").open_browser().new_page()
    page.goto("/accounts/signup/")
    password = page.get_by_label("Password", exact=True)
    password.fill("short")
    page.get_by_role("button", name="Show password").click()
    expect(password).to_have_attribute("type", "text")
    page.get_by_role("button", name="Hide password").click()
    expect(password).to_have_attribute("type", "password")
    page.get_by_role("button", name="Show password").click()
    page.get_by_label("Email").fill("nadia@example.org")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_text("It must contain at least 10 characters.")).to_be_visible()


def test_signing_in_starts_in_the_field_to_type_in(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Noel").open_browser().new_page()
    page.goto("/accounts/login/")
    email, password = page.get_by_label("Email"), page.get_by_label("Password", exact=True)
    expect(email).to_be_focused()
    page.keyboard.type("noel@example.org")
    password.fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Wrong email or password.")).to_be_visible()
    expect(password).to_be_focused()


def test_what_a_field_lacks_is_said_below_it_instead_of_in_a_bubble(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Nell").open_browser().new_page()
    page.goto("/accounts/signup/")
    email, password = page.get_by_label("Email"), page.get_by_label("Password", exact=True)
    email.fill("nell at example")
    for _ in range(2):
        page.get_by_role("button", name="Sign up").click()
        for field, sentence in ((email, "Enter an email address, such as name@example.org."), (password, FILL_IN)):
            expect(page.get_by_role("alert").get_by_text(sentence)).to_have_count(1)
            expect(field).to_have_accessible_description(re.compile(re.escape(sentence)))
            expect(field).to_have_attribute("aria-invalid", "true")
        expect(email, "the first to mend").to_be_focused()
    page.keyboard.type(".")
    expect(page.get_by_text("Enter an email address")).to_have_count(0)
    expect(email).not_to_have_attribute("aria-invalid", "true")
    expect(password).to_have_accessible_description(f"{FILL_IN} At least 10 characters.")


def test_every_starter_gets_an_answer(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Nils").sign_up()
    for starter in ("What do you know about me?", "What can you do?"):
        page.goto("/")
        page.locator("#welcome button", has_text=starter).click()
        expect(last_answer(page)).to_contain_text("Tell me")
        expect(last_answer(page)).not_to_contain_text("real model would have more to say")
