"""A passkey is created on one page and signs in on another, with Chromium's virtual authenticator."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.people import Person
from tests.conftest import PASSWORD


def with_authenticator(page: Page) -> None:
    """A virtual phone with a fingerprint sensor: present, unlocked, with its own keys."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    kind = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    devtools.send(
        "WebAuthn.addVirtualAuthenticator",
        {"options": {**kind, "isUserVerified": True, "automaticPresenceSimulation": True}},
    )


def sign_in_by_name(page: Page, person: Person) -> str:
    """At `localhost`: a passkey belongs to a host name, but the tests' application is reached by its IP address."""
    home = person.app.url.replace("127.0.0.1", "localhost")
    page.goto(f"{home}/accounts/login/")
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{home}/")
    return home


def test_a_passkey_is_made_and_signs_in_without_a_password(newcomer: Callable[[str], Person]) -> None:
    person = newcomer("Pia")
    page = person.sign_up()
    home = sign_in_by_name(page, person)
    with_authenticator(page)

    page.goto(f"{home}/settings/security")
    page.get_by_role("link", name="Add passkey").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Name").fill("Pia's phone")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes", level=1)).to_be_visible()
    expect(page.locator(".settings-codes li")).to_have_count(10)
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("Pia's phone").first).to_be_visible()

    page.goto(f"{home}/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.goto(f"{home}/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(f"{home}/")
    page.goto(f"{home}/settings/security")
    expect(page.get_by_text(re.compile(r"added .*, last used"))).to_be_visible()


def test_at_an_address_of_numbers_the_page_says_where_a_passkey_can_be_made(newcomer: Callable[[str], Person]) -> None:
    person = newcomer("Nuno")
    page = person.sign_up()
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("http://localhost:")
