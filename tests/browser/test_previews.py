"""Previews of images, pages and diagrams in an answer: they show, and they reach neither the page nor the network."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from recall.rendering.previews import ENFORCED_SINCE, GUARD, HEAD
from tests.browser.people import OfflineServer, Person, ask, last_answer, wear

pytestmark = pytest.mark.browser

SVG = """<svg viewBox="0 0 200 100"><rect id="box" width="200" height="100" fill="teal"/>
<script>document.getElementById("box").setAttribute("fill", "red")</script>
<a href="https://example.org" target="_top"><text x="20" y="50" onclick="alert(1)">Hello</text></a></svg>"""
DIAGRAM = "graph TD\n  A[Question] --> B{Known?}\n  B -->|yes| C[Answer]\n  B -->|no| D[Search]"
ATTEMPTS = """<!doctype html><h1>Attempts</h1><ul id="said"></ul>
<link rel="stylesheet" href="http://127.0.0.1:PORT/style"><img src="http://127.0.0.1:PORT/image">
<script src="http://127.0.0.1:PORT/script"></script>
<form id="form" method="post" action="http://127.0.0.1:PORT/form"><input name="a" value="b"></form>
<script>
const list = document.getElementById("said");
const said = (name, words) => (list.innerHTML += "<li>" + name + ": " + words + "</li>");
const attempt = async (name, work) => {
  try { await work(); said(name, "done"); } catch (error) { said(name, "refused"); }
};
const servers = { iceServers: [{ urls: "stun:127.0.0.1:UDP" }] };
const connected = (it) => new Promise((resolve, reject) => Object.assign(it, { onopen: resolve, onerror: reject }));
(async () => {
  await attempt("parent", () => parent.document.title);
  await attempt("cookie", () => document.cookie);
  await attempt("storage", () => localStorage.length);
  await attempt("fetch", () => fetch("http://127.0.0.1:PORT/fetch", { mode: "no-cors" }));
  await attempt("recall", () => fetch("/conversations", { mode: "no-cors", credentials: "include" }));
  await attempt("socket", () => connected(new WebSocket("ws://127.0.0.1:PORT/")));
  await attempt("eval", () => eval("1"));
  await attempt("call", () => new RTCPeerConnection(servers).createDataChannel("x"));
  await attempt("window", () => open("http://127.0.0.1:PORT/window").focus());
  await attempt("top", () => { top.location = "http://127.0.0.1:PORT/top"; });
  document.getElementById("form").submit();
  const nested = document.createElement("iframe");
  nested.srcdoc = "<script>fetch('http://127.0.0.1:PORT/nested')<\\/script><img src='http://127.0.0.1:PORT/nested'>";
  document.body.append(nested);
  await new Promise((resolve) => setTimeout(resolve, 500));
  said("all", "over");
})();
</script>"""
CALL = """<p>Calling</p><script>
const nested = document.createElement("iframe");
nested.srcdoc = `<script>
  const call = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:UDP" }] });
  call.createDataChannel("x");
  call.createOffer().then((it) => call.setLocalDescription(it));
<\\/script>`;
setTimeout(() => document.body.append(nested), 300);
</script>"""
LEAVE = """<link rel="preconnect" href="http://127.0.0.1:PORT"><p>Still here</p>
<script>location = "http://127.0.0.1:PORT/leave"</script>"""


class Outside:
    """A server that must not be reached."""

    def __init__(self) -> None:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.reached: list[bytes] = []
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._receive, daemon=True).start()

    def fill(self, text: str) -> str:
        ports = {"PORT": self.tcp.getsockname()[1], "UDP": self.udp.getsockname()[1]}
        return text.replace("PORT", str(ports["PORT"])).replace("UDP", str(ports["UDP"]))

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            connection.settimeout(1)
            try:
                self.reached.append(connection.recv(60) or b"a connection")
            except OSError:
                self.reached.append(b"a connection")
            connection.close()

    def _receive(self) -> None:
        while True:
            try:
                self.reached.append(b"UDP " + self.udp.recv(20))
            except OSError:
                return

    def close(self) -> None:
        self.tcp.close()
        self.udp.close()


@pytest.fixture
def outside() -> Iterator[Outside]:
    server = Outside()
    yield server
    server.close()


def preview(person: Person, offline: OfflineServer, language: str, code: str) -> tuple[Page, FrameLocator]:
    """Have it answered, and press the button."""
    page = person.tab()
    question = f"Show me {language} {len(code)}"
    offline.reply(f"Here:\n\n```{language}\n{code}\n```", match=question)
    ask(page, question)
    last_answer(page).get_by_role("button", name="Preview").click()
    return page, page.frame_locator(".code iframe")


def test_an_image_is_shown_and_its_scripts_do_nothing(somebody: Person, offline: OfflineServer) -> None:
    somebody.watch.forgive("Blocked script execution|Unsafe attempt to initiate navigation")
    page, frame = preview(somebody, offline, "svg", SVG)
    expect(frame.locator("#box")).to_be_visible()
    frame.get_by_text("Hello").click()
    page.wait_for_timeout(300)
    expect(frame.locator("#box")).to_have_attribute("fill", "teal")
    expect(page.locator(".code pre")).to_be_hidden()
    button = page.get_by_role("button", name="Code")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".code pre")).to_be_visible()
    expect(page.locator(".code iframe")).to_have_count(0)


def test_an_image_has_the_height_it_needs_however_its_size_is_written(somebody: Person, offline: OfflineServer) -> None:
    sizes = {'width="10em" height="5em"': 80, 'width="100%" height="90"': 90, 'style="width:80px; height:70px"': 70}
    sizes |= {"": 150, 'width="4000" height="8000"': 640, 'viewBox="0 0 100 10" width="200"': 48}
    images = [f'```svg\n<svg {size}><circle r="9"/></svg>\n```' for size in sizes]
    page = somebody.tab()
    offline.reply("\n\n".join(images), match="Six small images")
    ask(page, "Six small images")
    buttons = last_answer(page).get_by_role("button", name="Preview")
    expect(buttons).to_have_count(len(sizes))
    for _ in sizes:
        buttons.first.click()
    heights = page.locator(".code iframe").evaluate_all("all => all.map((it) => Number(it.height))")
    assert dict(zip(sizes, heights, strict=True)) == sizes


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_diagram_is_drawn_only_when_it_is_asked_for(somebody: Person, offline: OfflineServer, scheme: str) -> None:
    page = somebody.tab()
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    wear(page, "dark" if scheme == "dark" else "light")
    offline.reply(f"Here:\n\n```mermaid\n{DIAGRAM}\n```", match=f"A {scheme} diagram")
    ask(page, f"A {scheme} diagram")
    expect(last_answer(page).get_by_role("button", name="Preview")).to_be_visible()
    assert not [address for address in loaded if "mermaid" in address]
    last_answer(page).get_by_role("button", name="Preview").click()
    frame = page.frame_locator(".code iframe")
    expect(frame.get_by_text("Question", exact=True)).to_be_visible()
    expect(frame.locator("#diagram svg")).to_be_visible()
    page.wait_for_function("document.querySelector('.code iframe').height !== '320'")


TOLD = """(page) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.height = "48";
  addEventListener("message", ({ data }) => data.height > 48 && resolve(data.height));
  frame.srcdoc = page;
  document.body.append(frame);
  setTimeout(() => resolve(0), 5000);
})"""


@pytest.mark.parametrize(
    ("content", "height"),
    [
        ('<div style="height: 300px"></div>', 316),
        ('<div style="position: absolute; top: 0; height: 300px; width: 9px"></div>', 300),
        ('<div style="float: left; height: 300px; width: 9px"></div>', 308),
        ("<style>html, body { height: 100%; margin: 0 }</style><div style='height: 300px'></div>", 300),
    ],
)
def test_a_page_tells_its_whole_height_however_it_is_laid_out(browser: Browser, content: str, height: int) -> None:
    page = browser.new_page()
    assert page.evaluate(TOLD, HEAD + GUARD + content) == height
    page.close()


def test_a_page_that_cannot_tell_its_height_has_room_and_scrolls(somebody: Person, offline: OfflineServer) -> None:
    page, frame = preview(somebody, offline, "html", f"<b>{'Long words. ' * 400}</b>")
    expect(frame.locator("b")).to_be_visible()
    box = page.locator(".code iframe").bounding_box()
    assert box is not None
    assert box["height"] >= 160
    assert frame.locator("html").evaluate("it => getComputedStyle(it).overflowY") != "hidden"
    assert page.locator(".code iframe").evaluate("it => getComputedStyle(it).resize") == "vertical"


def test_a_diagram_with_a_mistake_says_so(somebody: Person, offline: OfflineServer) -> None:
    _, frame = preview(somebody, offline, "mermaid", "graph TD\n  A --> --> B")
    expect(frame.locator("#diagram")).to_have_text("This diagram can't be drawn: its code has a mistake.")


def test_a_box_of_a_diagram_leads_nowhere(somebody: Person, offline: OfflineServer) -> None:
    linked = f'{DIAGRAM}\n  click A "https://her-secret.example/"\n  D["<a href=\'https://example.org\'>Look</a>"]'
    _, frame = preview(somebody, offline, "mermaid", linked)
    expect(frame.get_by_text("Question", exact=True)).to_be_visible()
    assert frame.locator("a").count() == 2
    names = frame.locator("a").evaluate_all("all => all.flatMap((it) => it.getAttributeNames())")
    assert not [name for name in names if "href" in name]


def test_a_page_reaches_neither_recall_nor_the_network(
    somebody: Person, offline: OfflineServer, outside: Outside
) -> None:
    somebody.watch.forgive("")  # every attempt is an error on the console
    page, frame = preview(somebody, offline, "html", outside.fill(ATTEMPTS))
    browser = page.context.browser
    assert browser is not None
    if int(browser.version.partition(".")[0]) < ENFORCED_SINCE:
        expect(frame.get_by_text("Scripts don't run in this browser")).to_be_visible()
        expect(frame.locator("#said")).to_be_empty()
    else:
        expect(frame.get_by_text("all: over")).to_be_visible()
        said = frame.locator("#said").inner_text()
        for name in ("parent", "cookie", "storage", "fetch", "recall", "socket", "eval", "call", "window", "top"):
            assert f"{name}: refused" in said, said
    page.wait_for_timeout(1500)
    assert outside.reached == []


def test_a_page_that_leads_elsewhere_gets_nowhere(somebody: Person, offline: OfflineServer, outside: Outside) -> None:
    somebody.watch.forgive("")
    page, _ = preview(somebody, offline, "html", outside.fill(LEAVE))
    page.wait_for_timeout(1500)
    assert outside.reached == []
    assert page.url.startswith(somebody.app.url)


def test_a_frame_within_the_frame_calls_no_one(somebody: Person, offline: OfflineServer, outside: Outside) -> None:
    somebody.watch.forgive("")
    page, _ = preview(somebody, offline, "html", outside.fill(CALL))
    time.sleep(2)  # the browser ends the process of such a page, and the tab with it
    assert outside.reached == []
    page.close()


def test_diagrams_are_previewed_without_asking_if_the_settings_say_so(somebody: Person, offline: OfflineServer) -> None:
    page = somebody.tab("/settings")
    page.get_by_label("Preview diagrams without asking").check()
    page.reload()
    expect(page.get_by_label("Preview diagrams without asking")).to_be_checked()
    page.goto("/")
    offline.reply(f"```mermaid\n{DIAGRAM}\n```\n\n```html\n<p>Asked</p>\n```", match="Without asking")
    ask(page, "Without asking")
    expect(page.frame_locator(".code iframe").get_by_text("Question", exact=True)).to_be_visible()
    expect(page.locator(".code iframe")).to_have_count(1)
    expect(last_answer(page).get_by_role("button", name="Preview")).to_have_count(1)
    page.reload()
    expect(page.frame_locator(".code iframe").get_by_text("Question", exact=True)).to_be_visible()
    page.goto("/settings")
    page.get_by_label("Preview diagrams without asking").uncheck()
    page.reload()
    expect(page.get_by_label("Preview diagrams without asking")).not_to_be_checked()
