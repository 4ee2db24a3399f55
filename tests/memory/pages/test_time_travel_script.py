"""The script of the time slider, in a real browser: pages as the server renders them for each of three days."""

import mimetypes
from collections.abc import Callable, Iterator
from contextvars import copy_context
from datetime import date, timedelta
from functools import partial
from itertools import product
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, Route, expect

from memory.models import Fact
from tests.browser.test_look import ENOUGH_CONTRAST, HARD_TO_READ, STICKING_OUT
from tests.chat.pages.test_page_script import HOST
from tests.chromium import browser

__all__ = ["browser"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

Pages = dict[str, Callable[[], bytes]]
"""Address → renders what is there, once it is asked for."""


def written(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def query(at: object, true: object) -> str:
    return urlencode({"at": str(at), "true": str(true)}, quote_via=quote)


@pytest.fixture
def days(alice: Any) -> list[date]:
    """Three days, the last is today: she lived in Porto, and told of Lisbon on the second."""
    now = timezone.now()
    today = now.astimezone(alice.zone).date()
    common: dict[str, Any] = {"user": alice, "kind": "place"}
    lisbon = Fact.objects.create(
        statement="The user lives in Lisbon.", status="active", recorded_at=now - timedelta(days=1), **common
    )
    Fact.objects.create(
        statement="The user lives in Porto.", status="superseded", recorded_at=now - timedelta(days=2),
        superseded_at=lisbon.recorded_at, superseded_by=lisbon, **common,
    )  # fmt: skip
    return [today - timedelta(days=ago) for ago in (2, 1, 0)]


@pytest.fixture
def pages(alice: Any, days: list[date], sign_in: Callable[[Any], Client]) -> Pages:
    """The profile, and its part for every two of the days."""
    client = sign_in(alice)
    run = copy_context().run  # Playwright calls from a context in which Django would open another connection
    whole = "/memory/time-travel"
    parts = [
        f"{whole}?{query(ats, trues)}"
        for at, true in product(days, days)
        for ats, trues in product((written(at), at), (written(true), true))
    ]

    def rendered(address: str, **headers: str) -> bytes:
        content: bytes = run(client.get, address, headers=headers).content
        return content

    return {
        whole: partial(rendered, whole),
        **{part: partial(rendered, part, **{"HX-Request": "true"}) for part in parts},
    }


@pytest.fixture
def page(browser: Browser, pages: Pages) -> Iterator[Page]:
    page = browser.new_page(base_url=HOST)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)

    def serve(route: Route) -> None:
        address = urlsplit(route.request.url)
        named = f"{address.path}?{address.query}" if address.query else address.path
        if address.path.startswith("/static/"):
            path = str(finders.find(address.path.removeprefix("/static/")))
            route.fulfill(path=path, content_type=mimetypes.guess_type(path)[0])
        elif named in pages:
            route.fulfill(body=pages[named](), content_type="text/html; charset=utf-8")
        else:
            route.fulfill(status=404)

    page.route("**/*", serve)
    page.goto("/memory/time-travel")
    yield page
    page.close()
    assert complaints == []


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name)


def test_a_key_moves_the_date_with_it_and_the_page_follows(page: Page, days: list[date]) -> None:
    known, true = slider(page, "Learned by"), slider(page, "True on")
    expect(known).to_have_attribute("aria-valuetext", written(days[2]))
    known.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("Learned by, as a date")).to_have_value(written(days[0]))
    expect(known).to_have_attribute("aria-valuetext", written(days[0]))
    expect(true, "both go along as long as they are together").to_have_value("0")
    then = page.locator("#then")
    expect(then).to_contain_text("You live in Porto. removed since")
    expect(then).to_contain_text("You live in Lisbon. added since")
    expect(known).to_be_focused()
    assert page.url.endswith(f"?{query(written(days[0]), written(days[0]))}")


def test_a_date_moves_the_slider_and_parts_the_two(page: Page, days: list[date]) -> None:
    known, true = slider(page, "Learned by"), slider(page, "True on")
    typed = page.get_by_label("True on, as a date")
    typed.fill(days[1].isoformat())
    typed.press("Tab")
    expect(true, "the server read it").to_have_value("1")
    expect(typed, "as every day is written").to_have_value(written(days[1]))
    expect(known).to_have_value("2")
    known.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(true, "they were parted").to_have_value("1")
    expect(page.locator("#then")).to_contain_text(f"true on {days[1].day} {days[1]:%B %Y}")


def test_enter_asks_without_giving_up_another_request(page: Page, days: list[date]) -> None:
    typed = page.get_by_label("Learned by, as a date")
    typed.fill(days[1].isoformat())
    typed.press("Enter")
    expect(page.locator("#then")).to_contain_text(f"Learned by {written(days[1])}")
    expect(typed).to_have_value(written(days[1]))
    longest = date(2026, 11, 28)  # no month's name is wider
    typed.fill(written(longest))
    assert typed.evaluate("field => field.scrollWidth <= field.clientWidth"), "a day isn't cut off"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_on_a_phone(scheme: Any, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=scheme)
    slider(page, "Learned by").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#then")).to_contain_text("added since")
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
