"""How the pages look: nothing wider than a phone, light and dark mode, and the offline notice on each."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.people import (
    ON_BOTH,
    PHONE,
    PHONE_SIZE,
    OfflineServer,
    Person,
    Watch,
    ask,
    composer,
    last_answer,
    save_memories,
    says_offline,
    tap,
    wear,
)

pytestmark = pytest.mark.browser

PAGES = (
    "/",
    "/memory/review",
    "/memory/about",
    "/memory/documents",
    "/memory/time-travel",
    "/search?q=Where+does+my+aunt+live%3F",
    "/memory/documents/profile/identity",
    "/memory/timeline",
    "/usage",
    "/usage/advanced",
    "/accounts/email/",
    "/accounts/password/change/",
    "/accounts/logout/",
)
ENTRANCE = ("/accounts/login/", "/accounts/signup/", "/accounts/password/reset/")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
ENOUGH_CONTRAST = 4.5
SHIFTED = """
() => new Promise((told) => {
  const seen = new PerformanceObserver((list) => told(list.getEntries().reduce((sum, one) => sum + one.value, 0)));
  seen.observe({type: "layout-shift", buffered: true});
  setTimeout(() => told(0), 500);
})
"""
"""How much of the page has moved since its first paint."""
FROM_THE_END = "scroller => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight"
"""WCAG 2.2, success criterion 1.4.3: text against its background."""
LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 6
WIDE_ANSWER = f"""A [link](https://example.org/{"a" * 120}) and {LONG}.

```python
print("{"wide " * 60}")
```

| {" | ".join(f"column{number}" for number in range(12))} |
|{"---|" * 12}
| {" | ".join(f"some value {number}" for number in range(12))} |
"""

STICKING_OUT = """() => {
  const cut = (style) => style.textOverflow === "ellipsis";
  const byItself = "pre, code, .code, .prose .table, .table-frame, .settings-nav, .tabs, textarea,"
    + " .visually-hidden";
  const scrolls = (node) => node.closest(byItself);
  const wide = [...document.querySelectorAll("*")].filter((node) => {
    if (node.scrollWidth <= node.clientWidth + 1 || scrolls(node)) return false;
    const style = getComputedStyle(node);
    return ["auto", "scroll", "hidden"].includes(style.overflowX) && !cut(style);
  });
  const { scrollWidth, clientWidth } = document.documentElement; // innerWidth grows with what is too wide on a phone
  if (scrollWidth > clientWidth) wide.unshift(document.documentElement);
  const name = (node) => `${node.tagName}#${node.id}.${node.className}`;
  const told = wide.map((node) => `${name(node)}: ${node.scrollWidth} of ${node.clientWidth}`);
  if (scrollWidth <= clientWidth) return told;
  const isCut = (node) => node && (getComputedStyle(node).overflowX !== "visible" || isCut(node.parentElement));
  const beyond = (node) => node.getBoundingClientRect().right > clientWidth + 1 && !isCut(node.parentElement);
  const culprits = [...document.querySelectorAll("body *")].filter(beyond).slice(-3); // the innermost come last
  return [...told, ...culprits.map((node) => `${name(node)} “${node.textContent.slice(0, 40)}”`)];
}"""
"""What has more width than it shows, but for what may be scrolled by itself: code, tables and tabs."""

CUT_OFF = """(sheet) => [...sheet.querySelectorAll("a, button, p")]
  .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)"""
"""Words of a menu that its width doesn't hold."""

HARD_TO_READ = """(enough) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = {};
  const read = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  const rgba = (color) => (known[color] ??= read(color));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const [r, g, b, opacity] = rgba(getComputedStyle(node).backgroundColor);
      if (opacity === 1) return [r, g, b];
    }
    return [1, 1, 1];
  };
  const written = (node) => [...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim());
  const found = [];
  for (const node of document.body.querySelectorAll("*")) {
    if (!node.checkVisibility({ visibilityProperty: true }) || !written(node) || node.matches(":disabled")) continue;
    if (node.closest(".visually-hidden, svg, noscript")) continue;
    const [text, ground] = [light(rgba(getComputedStyle(node).color).slice(0, 3)), light(behind(node))];
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    if (contrast < enough) found.push(`${node.tagName}.${node.className}: ${contrast.toFixed(1)}`);
  }
  return found;
}"""
"""Visible text whose contrast with the nearest opaque background is below `enough`."""

BRIGHTNESS = "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
"""The strongest color channel of the page's background, 0 to 255."""


def with_wide_content(person: Person, offline: OfflineServer) -> str:
    """Give the user a conversation, proposals and facts as wide as possible; returns the URL."""
    page = person.sign_up()
    question = f"My aunt {LONG} lives in {LONG} and I'm allergic to nuts"
    offline.reply(WIDE_ANSWER, match="My aunt Donau", seconds_a_word=0)
    ask(page, question)
    expect(last_answer(page)).to_contain_text("column11")
    save_memories(page)
    expect(page.locator("#librarian")).to_contain_text("to review")
    return page.url


def fits_the_screen(page: Page) -> None:
    """Nothing on the page is wider than what it shows, except what scrolls by itself."""
    assert page.evaluate(STICKING_OUT) == [], page.url


def test_every_page_fits_a_phone_and_is_light_or_dark(
    newcomer: Callable[[str], Person], offline: OfflineServer
) -> None:
    person = newcomer("Lena")
    conversation = with_wide_content(person, offline)
    page = person.open_browser(**PHONE).new_page()
    for address in (conversation, *PAGES):
        page.goto(address)
        says_offline(page)
        fits_the_screen(page)
        for scheme in SCHEMES:
            wear(page, scheme)
            assert (page.evaluate(BRIGHTNESS) < 100) is (scheme == "dark")
    page.goto(conversation)
    page.get_by_role("button", name="Context panel").click()
    expect(page.get_by_role("heading", name="Memories sent")).to_be_visible()
    fits_the_screen(page)
    page.get_by_role("button", name="Close context").click()
    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_role("link", name="New conversation")).to_be_visible()
    fits_the_screen(page)
    page.get_by_role("button", name="Close conversations").click()
    expect(page.locator("#conversations")).to_be_hidden()


def test_every_menu_of_the_chat_opens_inside_the_narrowest_window(somebody: Person) -> None:
    somebody.screen = {"viewport": {"width": 320, "height": 568}}
    page = somebody.tab()
    ask(page, "My aunt lives in Graz.")
    expect(last_answer(page)).to_be_visible()
    menus = page.locator("details.menu > summary:visible")
    assert menus.count() >= 5
    for menu in menus.all():
        menu.focus()
        page.keyboard.press("Enter")
        box = page.locator("details.menu[open] > .menu-sheet").bounding_box()
        assert box
        assert box["x"] >= 0, menu.inner_html()
        fits_the_screen(page)
        page.keyboard.press("Escape")


def test_a_conversations_menu_cuts_off_no_words(somebody: Person) -> None:
    page = somebody.tab()
    ask(page, "My uncle lives in Linz.")
    expect(last_answer(page)).to_be_visible()
    page.locator(".list-row").first.hover()
    page.locator(".list-row summary").first.click()
    sheet = page.locator(".list-row details[open] > .menu-sheet")
    expect(sheet.get_by_role("button", name="Delete")).to_be_visible()
    assert sheet.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_list_opens_in_the_pages_own_look_and_escape_closes_it_alone(
    somebody: Person, scheme: Literal["light", "dark"]
) -> None:
    page = somebody.tab("/")
    wear(page, scheme)
    menu = page.locator("#choices")
    menu.locator("summary").click()
    effort = menu.get_by_label("Effort")
    effort.click()
    option = effort.locator("option").last
    expect(option).to_be_in_viewport()  # the browser's own list has no place on the page
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
    option.press("Escape")
    expect(option).not_to_be_in_viewport()
    expect(effort).to_be_visible()
    effort.press("Escape")
    expect(effort).to_be_hidden()


def test_every_door_fits_a_visitors_phone(newcomer: Callable[[str], Person]) -> None:
    page = newcomer("Nobody").open_browser(**PHONE).new_page()
    for address in ENTRANCE:
        page.goto(address)
        fits_the_screen(page)


def test_the_chosen_appearance_outlives_a_reload(somebody: Person) -> None:
    page = somebody.tab()
    assert page.evaluate(BRIGHTNESS) > 200
    page.get_by_label("Account", exact=True).click()
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(BRIGHTNESS) < 100
    page.reload()
    assert page.evaluate(BRIGHTNESS) < 100
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []


def test_lists_and_hints_have_recalls_look_instead_of_the_browsers(somebody: Person) -> None:
    page = somebody.tab("/settings")
    zone = page.get_by_role("textbox", name="Time zone").or_(page.get_by_role("combobox", name="Time zone"))
    zone.fill("lisb")
    expect(page.locator("input[list]")).to_have_count(0)
    zone.press_sequentially("o")
    expect(page.get_by_role("option", name="Europe/Lisbon")).to_be_visible()
    zone.press("ArrowDown")
    zone.press("Enter")
    expect(zone).to_have_value("Europe/Lisbon")
    expect(page.get_by_role("listbox", name="Suggestions")).to_be_hidden()
    assert page.url.endswith("/settings"), "Enter took the suggestion, and sent nothing"

    page.goto("/")
    page.get_by_role("button", name="Context panel").hover()
    hint = "button => getComputedStyle(button, '::after').content"
    assert page.locator("#toggle-context").evaluate(hint) == '"Context panel"'
    page.locator("#choices > summary").hover()
    assert page.locator("#choices > summary").evaluate(hint) == '"Model, role and project"'
    expect(page.locator("button[title], summary[title], a[title]")).to_have_count(0)
    assert page.locator("#text").evaluate("text => getComputedStyle(text).resize") == "none"


def test_nothing_is_a_little_off(somebody: Person) -> None:
    page = somebody.tab()
    ask(page, "My cousin lives in Bath.")
    expect(last_answer(page)).to_be_visible()
    page.goto("/usage")
    chart = page.locator("#chart-spending, .chart").first
    width = "node => node.getBoundingClientRect().width"
    drawing, card = (chart.locator(part).first.evaluate(width) for part in ("svg[role=img]", "figcaption"))
    assert drawing == card, "it has the width of its card"
    height = "text => text.getBoundingClientRect().height"
    for across in (320, 390, 1280):
        page.set_viewport_size({"width": across, "height": 800})
        assert 11 < chart.locator(".chart-text").first.evaluate(height) < 19, "and its words the size of other words"
    mark = "summary => getComputedStyle(summary, '::before').content"
    assert chart.locator("summary").evaluate(mark) == '""', "drawn: a sign would be read out"

    page.goto("/memory/about")
    middle = "node => { const { top, bottom } = node.getBoundingClientRect(); return (top + bottom) / 2; }"
    tab, more = (page.locator(f".memory-nav {part}").first.evaluate(middle) for part in (".tabs a", "summary .icon"))
    assert abs(tab - more) <= 1.5, "the dots are level with the tabs"
    tall = """(nav, isHidden) => {
      nav.querySelector("#tab-count").hidden = isHidden;
      return nav.getBoundingClientRect().height;
    }"""
    with_count, without = (page.locator(".memory-nav").evaluate(tall, is_hidden) for is_hidden in (False, True))
    assert with_count == without, "nothing moves when the last proposal is decided"

    page.set_viewport_size(PHONE_SIZE)
    page.locator(".memory-nav summary").click()
    sheet = page.locator(".memory-nav .menu-sheet").bounding_box()
    assert sheet
    assert PHONE_SIZE["width"] - sheet["x"] - sheet["width"] >= 8, "a menu does not touch the edge"
    icon = page.locator(".account-menu form .icon")
    page.get_by_label("Account", exact=True).click()
    drawn = icon.bounding_box()
    assert drawn
    assert drawn["width"] < 20, "icons of a menu have one size"


def test_the_chat_does_not_move_under_its_reader(somebody: Person) -> None:
    somebody.screen = {"viewport": {"width": 1280, "height": 480}}
    page = somebody.tab("/")
    expect(page.get_by_role("switch", name="Temporary")).to_be_visible()
    assert page.evaluate(SHIFTED) == 0
    ask(page, "A long word. " * 60)
    expect(last_answer(page)).to_be_visible()

    page.reload()

    scroller = page.locator("#scroller")
    expect(page.locator("#receipt-recalled")).to_be_visible()
    assert page.evaluate(SHIFTED) < 0.001
    assert scroller.evaluate("it => it.scrollHeight - it.clientHeight") > 100
    page.locator("#attach").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"a word"})
    expect(page.get_by_role("list", name="Attachments of this message").get_by_role("listitem")).to_have_count(1)
    page.wait_for_timeout(100)
    assert scroller.evaluate(FROM_THE_END) < 2
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


@ON_BOTH
def test_a_draft_of_several_lines_is_there_at_the_first_paint(somebody: Person, screen: dict[str, Any]) -> None:
    """Restored later, it would push up what is above the composer."""
    somebody.screen = screen
    page = somebody.tab("/")
    lines = "\n".join(f"Line {number}." for number in range(7))
    composer(page).fill(lines)
    for _ in range(2):  # the first time, what is fetched anew may arrive before the paint by chance
        page.reload()
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
        expect(composer(page)).to_have_value(lines)
        assert page.evaluate(SHIFTED) == 0
    restored = """() => {
      const script = document.querySelector('script[src*="draft"]');
      const [area, hint] = ["text", "unsent"].map((id) => document.getElementById(id));
      return !script.async && !script.defer && script.type === ""
        && Boolean(area.compareDocumentPosition(script) & 4) && Boolean(script.compareDocumentPosition(hint) & 4);
    }"""
    assert page.evaluate(restored), "it runs between the composer and what the first paint waits for"


@ON_BOTH
def test_attachments_of_a_draft_have_their_height_at_the_first_paint(somebody: Person, screen: dict[str, Any]) -> None:
    somebody.screen = screen
    page = somebody.tab("/")
    chips = page.get_by_role("list", name="Attachments of this message")
    page.wait_for_load_state()
    given = [FilePayload(name=f"{name}.txt", mimeType="text/plain", buffer=b"a word") for name in ("rent", "a" * 60)]
    page.locator("#attach").set_input_files(given)
    expect(chips.get_by_text("tokens")).to_have_count(2)
    for _ in range(2):
        page.reload()
        expect(chips.get_by_text("tokens")).to_have_count(2)
        assert page.evaluate(SHIFTED) == 0
    for _ in given:
        tap(chips.get_by_role("button", name="Remove").first)
    expect(chips).to_be_hidden()
    page.reload()
    page.wait_for_load_state("networkidle")
    assert page.evaluate(SHIFTED) == 0, "nothing is kept free for what was removed"
    page.locator("#attach").set_input_files(given[0])
    expect(chips.get_by_text("tokens")).to_have_count(1)
    page.route("**/attachments?*", lambda route: route.abort())
    somebody.watch.forgive("ERR_FAILED")
    page.reload()
    expect(chips).to_be_hidden()


def test_what_goes_wrong_on_a_page_is_noticed(somebody: Person) -> None:
    """The watch over every test in this folder notices a refused style, a script error and a console message."""
    somebody.watch = watch = Watch()
    page = somebody.tab()
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("setTimeout(() => { throw new Error('a script failed'); })")
    page.evaluate("console.error('a complaint')")
    page.wait_for_timeout(100)
    said = "\n".join(watch.unforgiven())
    assert all(words in said for words in ("CSP: style-src-attr", "a script failed", "a complaint"))


def test_what_is_too_wide_or_too_pale_is_noticed(somebody: Person) -> None:
    page = somebody.open_browser(**PHONE).new_page()
    page.goto("/memory/about")
    assert page.evaluate(STICKING_OUT) == page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == []
    page.evaluate("document.querySelector('h1').style.minWidth = '30rem'")
    page.evaluate("document.querySelector('h1').style.color = '#aaa'")
    page_is, its_heading_is = page.evaluate(STICKING_OUT)
    assert page_is.startswith("HTML")
    assert its_heading_is.startswith("H1")
    assert page.evaluate(HARD_TO_READ, ENOUGH_CONTRAST) == ["H1.: 2.2"]


def test_nothing_is_painted_before_the_chat_has_arrived(somebody: Person) -> None:
    """A half of the page would move when the other half comes: the search button, the composer."""
    page = somebody.tab("/")
    whole = page.locator('link[rel="expect"][blocking="render"]').get_attribute("href")
    assert whole
    behind = f"document.querySelector('#composer').compareDocumentPosition(document.querySelector('{whole}'))"
    assert page.evaluate(behind) == 4, "it follows the composer"
    page.goto("/memory/about")
    expect(page.locator("#notices")).to_be_attached()
    assert page.locator('link[rel="expect"]').get_attribute("href") == "#notices"
