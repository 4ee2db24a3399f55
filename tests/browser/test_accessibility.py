"""Every page checked by axe-core in light and dark mode (WCAG 2.2 AA and its best practices), and without scripts."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Any

import psycopg
import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import resolve, reverse
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect
from selectolax.lexbor import LexborHTMLParser

from recall.views import server_error
from tests.browser.people import (
    DESKTOP,
    DESKTOP_SIZE,
    PHONE_SIZE,
    OfflineServer,
    Person,
    Watch,
    ask,
    last_answer,
    new_name,
    wear,
)
from tests.browser.test_keyboard import focus_shows
from tests.browser.test_look import ENOUGH_CONTRAST, HARD_TO_READ
from tests.browser.tour import ENTRANCES, PLACES, furnish, visit
from tests.conftest import PASSWORD
from tests.running import App
from tests.test_isolation import HERS, OWN_PAGES

pytestmark = pytest.mark.browser

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
"""axe-core as published on npm; the package of this name contains the file, so that npm isn't needed."""
RUN = """(rules) => axe.run(
  { exclude: [["details.api-operation:not(:first-of-type)"]] }, // 100 from one template; each group's first is read
  { resultTypes: ["violations"], ...rules },
).then(({ violations }) =>
  violations.flatMap((one) =>
    one.nodes.map((node) => `${one.id} (${one.impact}): ${node.target.join(" ")}: ${node.failureSummary}`)))"""
ALL_RULES: dict[str, Any] = {"rules": {"target-size": {"enabled": True}}}
"""Those that axe runs by itself, and WCAG 2.2's size of targets."""
BY_COLOR = ["color-contrast", "link-in-text-block"]
"""The rules that depend on colors: the others read the same elements in light and in dark mode."""
BY_SIZE = ["target-size", "scrollable-region-focusable"]
PARTS = {"conversation_messages", "librarian_state", "folded_turns", "folding_state", "export_conversation", "message",
         "attachment", "attachment_thumbnail", "attachment_text", "usage_line", "preview", "memory:version",
         "compare_answers", "receipt_debug"}  # fmt: skip
"""Parts of a page, files, and three pages that the tour leaves out: two look like others, one is for staff."""
NO_PAGES = {"attachments", "conversations", "import_jobs", "new_messages", "palette", "make_key", "memory:uploads",
            "memory:clean_ups", "usage_now", "usage_turn", "usage_charts"}  # fmt: skip
"""Addresses of parts of a page, and one that asks for the password first."""
ASKED_ONCE = ("/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/", "/accounts/2fa/webauthn/add/",
              "/accounts/password/reset/done/", "/accounts/confirm-email/")  # fmt: skip
"""Pages of an account that the tour leaves out."""
STAFF_PAGES = ("/admin/", "/admin/memory/fact/", "/admin/memory/fact/queue/", "/admin/accounts/user/",
               "/admin/accounts/user/add/", "/admin/chat/conversation/")  # fmt: skip
DJANGOS_OWN: dict[str, Any] = {"rules": {"label-title-only": {"enabled": False}}}
"""The search field of the admin's lists has a picture for a label."""
LONGEST_MOTION = """() => Math.max(0, ...[...document.querySelectorAll("*")].flatMap((it) => {
  const { animationDuration, transitionDuration } = getComputedStyle(it);
  return [animationDuration, transitionDuration].flatMap((all) => all.split(",").map(parseFloat));
}))"""
"""In seconds."""
WALKED = ("conversation", "review", "about", "documents", "timeline", "usage", "settings", "search", "projects")
COVERED = """() => {
  const focused = document.activeElement;
  const [{ left, top, width, height }] = focused.getClientRects(); // a link may be broken into two lines
  const isSeen = (x, y) => {
    const met = document.elementFromPoint(left + width * x, top + height * y);
    return focused.contains(met) || [...(focused.labels ?? [])].some((label) => label.contains(met));
  };
  return ![[0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [0.5, 0.2], [0.5, 0.8]].some(([x, y]) => isSeen(x, y));
}"""
"""Whether something lies over what has the focus (WCAG 2.2, success criterion 2.4.11)."""
LOADING = ".htmx-request, [aria-busy='true'], .skeleton"
"""Placeholders for content that only a script would fetch."""


@pytest.fixture(scope="module")
def lived(browser: Browser, app: App, offline: OfflineServer) -> tuple[Person, dict[str, str]]:
    """A user who has used Recall for weeks, and where to find the results."""
    person = Person(browser, app, Watch(), new_name("Mara"))
    places = furnish(person, app, offline)
    person.leave()
    return person, places


@pytest.fixture
def mara(lived: tuple[Person, dict[str, str]], watch: Watch) -> Iterator[Person]:
    """That user with a fresh browser; one of the pages is a 404 on purpose."""
    watch.forgive("404")
    person = replace(lived[0], watch=watch, contexts=[])
    yield person
    person.leave()


@pytest.fixture
def addresses(lived: tuple[Person, dict[str, str]]) -> list[str]:
    """The URLs of every page."""
    return [address.format(**lived[1]) for address in PLACES.values()]


def violations(page: Page, address: str, rules: dict[str, Any] = ALL_RULES) -> list[str]:
    """What axe finds on the open page; scripts given to the debugger aren't the page's, so the CSP stays in force."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN, rules)
    return [f"{address}: {one}" for one in found]


def violations_in_both(page: Page, address: str, rules: dict[str, Any] = ALL_RULES) -> list[str]:
    """What axe finds on this page in light and in dark mode."""
    visit(page, address)
    return violations_of_open_page(page, address, rules)


def violations_of_open_page(page: Page, address: str, rules: dict[str, Any] = ALL_RULES) -> list[str]:
    wear(page, "light")
    found = violations(page, address, rules)
    wear(page, "dark")
    return found + violations(page, f"{address} in dark mode", {"runOnly": BY_COLOR})


@pytest.mark.timeout(400)
@pytest.mark.parametrize("size", [DESKTOP_SIZE, PHONE_SIZE], ids=["desktop", "phone"])
def test_tab_reaches_everything_in_view_and_returns(
    mara: Person, lived: tuple[Person, dict[str, str]], size: ViewportSize
) -> None:
    page = mara.open_browser(viewport=size).new_page()
    for name in WALKED:
        address = PLACES[name].format(**lived[1])
        visit(page, address)
        page.wait_for_load_state("networkidle")
        page.locator(".skip-link").focus()
        stops: list[str] = []
        while len(stops) < 150:
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break  # the browser's own controls come next
            stops.append(focus_shows(page))
            assert not page.evaluate(COVERED), (address, stops[-1])
        assert 5 < len(stops) < 150, (address, stops)


@pytest.mark.timeout(400)
def test_axe_finds_nothing_on_any_page_in_light_nor_in_dark_on_a_phone(mara: Person, addresses: list[str]) -> None:
    page = mara.open_browser(**DESKTOP, color_scheme="light").new_page()
    found: list[str] = []
    for address in addresses:
        visit(page, address)
        found += violations(page, address)
        wear(page, "dark")
        page.set_viewport_size(PHONE_SIZE)
        found += violations(page, f"{address} on a dark phone", {"runOnly": BY_COLOR + BY_SIZE})
        wear(page, "light")
        page.set_viewport_size(DESKTOP_SIZE)
    assert not found, "\n".join(found)


def test_everything_can_be_read_without_script(mara: Person, addresses: list[str]) -> None:
    """It is in what the server sends, not hidden. The next test is in a browser without script."""
    http = mara.open_browser().request
    for address in addresses:
        page = LexborHTMLParser(http.get(address).text())
        assert len(page.css("h1")) == 1, address
        assert page.css(LOADING) == [], address
        for unread in page.css("main :is([hidden], script, style, template, noscript)"):
            unread.decompose()
        (main,) = page.css("main")
        assert len(main.text(separator=" ").split()) > 5, address


def test_without_script_a_word_says_what_needs_it_and_the_context_is_a_link(
    mara: Person, lived: tuple[Person, dict[str, str]]
) -> None:
    page = mara.open_browser(java_script_enabled=False).new_page()
    page.goto(f"/c/{lived[1]['conversation']}")
    # Chromium parses a page as if scripts were on even if they are switched off this way, so it shows no <noscript>.
    assert "Chat needs JavaScript" in str(page.locator(".talk noscript").text_content())
    page.get_by_role("link", name="Context: memories and cost").last.click()
    expect(page.get_by_role("heading", name="Memories sent")).to_be_visible()


def test_every_page_of_ones_own_is_on_the_tour() -> None:
    on_it = {address.partition("?")[0] for address in PLACES.values()}
    assert {reverse(name) for name in OWN_PAGES if name not in NO_PAGES} <= on_it
    number, name = "1", "00000000-0000-0000-0000-000000000000"
    filled = {"conversation": name, "formulas": name, "story": name}
    addresses = [
        address.format_map(defaultdict(lambda: number, filled)).partition("?")[0] for address in PLACES.values()
    ]
    shown = {resolve(address).view_name for address in addresses if address != PLACES["not-found"]}
    assert {name for name, (method, _) in HERS.items() if method == "get"} - PARTS <= shown


def nodes(page: Page) -> list[tuple[str, str, dict[str, Any]]]:
    """Role, name and properties of what a screen reader is given, by Chromium's own tree."""
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [
        (
            node.get("role", {}).get("value", ""),
            node.get("name", {}).get("value", ""),
            {one["name"]: one["value"].get("value") for one in node.get("properties", [])},
        )
        for node in tree
        if not node.get("ignored")
    ]


LANDMARKS = ("banner", "navigation", "main", "complementary", "search", "form", "contentinfo")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("conversation", {("navigation", "Recent conversations"), ("complementary", "Conversations")}),
        ("about", {("navigation", "Memory"), ("navigation", "On this page")}),
        ("documents", {("navigation", "Memory"), ("navigation", "Documents")}),
        ("search", {("search", ""), ("navigation", "Search in")}),
        ("usage", set()),
        ("settings", {("navigation", "Settings")}),
    ],
)
def test_a_screen_reader_finds_its_way_by_landmarks_with_names(
    mara: Person, lived: tuple[Person, dict[str, str]], place: str, expected: set[tuple[str, str]]
) -> None:
    page = mara.tab(PLACES[place].format(**lived[1]))
    found = [(role, name) for role, name, _ in nodes(page) if role in LANDMARKS and (role, name) != ("form", "")]
    assert {("banner", ""), ("navigation", "Main"), *expected} <= set(found)
    assert [role for role, _ in found].count("main") == 1
    assert len(set(found)) == len(found), "no two landmarks of one kind have the same name"


def test_what_changes_by_itself_is_announced(mara: Person, offline: OfflineServer) -> None:
    page = mara.tab("/")
    offline.reply("Seagrass flowers.", match="What flowers under water")
    ask(page, "What flowers under water?")
    expect(last_answer(page)).to_have_text("Seagrass flowers.")
    expect(page.locator("#announcer")).not_to_be_empty()
    live = [(role, properties["live"]) for role, _, properties in nodes(page) if properties.get("live") != "off"
            and "live" in properties and properties.get("root") is None]  # fmt: skip
    assert ("status", "polite") in live
    regions = {"/": {"announcer", "notices", "composer-error"}, "/memory/review": {"notices", "queue-status"},
               "/search": {"notices", "found-count"}}  # fmt: skip
    for address, expected in regions.items():
        page.goto(address)
        announced = page.locator("[role=status], [role=alert]").evaluate_all("all => all.map((one) => one.id)")
        assert expected <= set(announced), address


def test_with_reduced_motion_nothing_moves_for_long(mara: Person, lived: tuple[Person, dict[str, str]]) -> None:
    page = mara.open_browser(reduced_motion="reduce").new_page()
    for place in ("conversation", "review", "usage", "landing"):
        page.goto({**PLACES, **ENTRANCES}[place].format(**lived[1]))
        assert page.evaluate(LONGEST_MOTION) <= 0.02, place  # seconds


def test_with_forced_colors_what_is_chosen_is_framed_and_controls_are_the_systems(mara: Person) -> None:
    page = mara.open_browser(forced_colors="active").new_page()
    page.goto("/memory/review")
    style = "(it, name) => getComputedStyle(it)[name]"
    current, other = (page.get_by_role("navigation", name="Memory").get_by_role("link").nth(each) for each in (1, 0))
    assert (current.evaluate(style, "outlineStyle"), other.evaluate(style, "outlineStyle")) == ("solid", "none")
    assert page.locator("[data-select]").first.evaluate(style, "appearance") != "none"
    page.goto("/search?in=facts")
    page.get_by_text("Filters", exact=True).click()
    assert page.get_by_label("Minimum importance").evaluate(style, "appearance") != "none"


def test_axe_finds_nothing_at_the_entrance(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Nobody").open_browser().new_page()
    found = [one for address in ENTRANCES.values() for one in violations_in_both(page, address)]
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_the_pages_of_refusals_and_faults(newcomer: Callable[[str], Person], app: App) -> None:
    visitor, request = newcomer("Visitor"), RequestFactory().get("/")
    visitor.watch.forgive(r"status of (403|429|500)")
    page = visitor.open_browser().new_page()
    refusals = {
        f"{name}.html": render_to_string(f"{name}.html", request=request) for name in ("403", "403_csrf", "429")
    }
    found: list[str] = []
    for name, html in {**refusals, "500.html": server_error(request).content.decode()}.items():
        status = int(name[:3])
        page.route(f"{app.url}/{name}", partial(answer_with, status=status, html=html))
        response = page.goto(f"/{name}")
        assert response is not None
        assert response.status == status
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        found += violations_of_open_page(page, name)
    assert not found, "\n".join(found)


def answer_with(route: Route, *, status: int, html: str) -> None:
    """In the place of the application, which is neither refused nor broken; style sheets and scripts are its own."""
    route.fulfill(status=status, content_type="text/html; charset=utf-8", body=html)


def test_axe_finds_nothing_where_an_account_is_made_safer_nor_in_what_opens_over_a_page(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    ines = newcomer("Ines")
    page = ines.sign_up()
    page.emulate_media(reduced_motion="reduce")  # a button that is still appearing has too little contrast
    found = violations_in_both(page, "/accounts/reauthenticate/")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page).not_to_have_url(re.compile("reauthenticate"))
    found += [one for address in ASKED_ONCE for one in violations_in_both(page, address)]
    page.goto("/")
    offline.reply("Seagrass **flowers**.", match="What flowers under water")
    ask(page, "What flowers under water?")
    expect(last_answer(page)).to_have_text("Seagrass flowers.")
    for menu in page.locator("details.menu > summary:visible").all():
        menu.focus()
        page.keyboard.press("Enter")
        expect(page.locator("details.menu[open]")).to_have_count(1)
        found += violations(page, f"the menu {menu.get_attribute('aria-label') or menu.inner_text()}")
        page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [role=option]").first).to_be_visible()
    found += violations(page, "the palette")
    assert not found, "\n".join(found)


def test_axe_finds_nothing_in_the_admin(
    lived: tuple[Person, dict[str, str]], newcomer: Callable[[str], Person], app: App
) -> None:
    charlie = newcomer("Charlie")
    charlie.sign_up()
    with psycopg.connect(app.conninfo(), autocommit=True) as database:
        rights = "UPDATE accounts_user SET is_staff = true, is_superuser = true WHERE email = %s"
        database.execute(rights, [charlie.email])
    page = charlie.open_browser().new_page()
    found = [one for address in STAFF_PAGES for one in violations_in_both(page, address, DJANGOS_OWN)]
    assert not found, "\n".join(found)
    page.goto("/admin/memory/fact/queue/")
    accept = page.get_by_role("button", name="Accept", exact=True).first
    style = "(it, name) => getComputedStyle(it)[name]"
    assert accept.evaluate(style, "borderRadius") == "8px", "not the browser's"
    for control in ("input[type=checkbox]", "select"):
        assert page.locator(f"#content {control}").first.evaluate(style, "appearance") in ("none", "base-select")
    for address in ("/admin/memory/fact/queue/", "/admin/memory/fact/"):
        page.goto(address)
        summary = page.locator("#content summary").first
        assert summary.evaluate(style, "listStyleType") == "none"
        assert summary.evaluate("it => getComputedStyle(it, '::before').borderBottomStyle") == "solid", "a chevron"
    page.goto("/admin/accounts/user/1/change/")
    expect(page.locator(".selector-chosen-title").first).to_be_visible()
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
