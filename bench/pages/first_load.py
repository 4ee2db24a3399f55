"""What the chat weighs and how soon one can type: `python -m bench.pages.first_load`.

A Chromium with an empty cache opens the chat over a network like fast 3G (1.6 Mbit/s, 150 ms). Printed are the bytes it
received in all, when the message box was painted and took a key, and how long opening another conversation takes.
"""

import statistics
from contextlib import ExitStack
from typing import Final

from bench.own_database import own_database
from bench.pages.long_conversation import talk
from bench.pages.streaming import CHROMIUM, FLAGS
from bench.results import Figures, arguments, record
from bench.servers import free_port, server
from bench.turn.__main__ import make_people

FAST_3G: Final = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
"""Milliseconds and bytes a second."""
RUNS: Final = 5
CAN_TYPE: Final = """() => new Promise((found) => {
  const look = () => document.activeElement?.id === "text" ? found(performance.now()) : requestAnimationFrame(look);
  look();
})"""
"""A picture with the message box, which has the focus."""


SWITCH: Final = """([href, last]) => new Promise((found) => {
  const start = performance.now();
  const look = () => document.getElementById(last) ? found(performance.now() - start) : requestAnimationFrame(look);
  document.querySelector(`#conversation-list [href="${href}"]`).click();
  look();
})"""


def main() -> None:
    options, web = arguments(__doc__).parse_args(), free_port()
    with own_database(ALLOWED_HOSTS="127.0.0.1"), ExitStack() as stack:
        stack.enter_context(server("recall.asgi:application", web, 0))
        person = make_people(1, 10)[0]
        from accounts.models import User

        talks = [talk(User.objects.get(), 1_000) for _ in range(2)]
        figures = measure(
            f"http://127.0.0.1:{web}", person.cookie, [(f"/c/{one.pk}", f"m-{one.active_leaf_id}") for one in talks]
        )
    if options.record:
        record("pages.first_load", figures)


def measure(origin: str, cookie: str, talks: list[tuple[str, str]]) -> Figures:
    """Open the chat RUNS times, and go from one conversation to another RUNS times."""
    from playwright.sync_api import sync_playwright

    name, _, value = cookie.partition("=")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        typed, received, switched = [], [], []
        for run in range(1 + RUNS):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.add_cookies([{"name": name, "value": value, "url": origin}])
            page = context.new_page()
            session = context.new_cdp_session(page)
            total: list[int] = []
            session.on("Network.loadingFinished", lambda event, total=total: total.append(event["encodedDataLength"]))
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", FAST_3G)
            page.goto(origin, wait_until="commit")
            can_type = page.evaluate(CAN_TYPE)
            page.keyboard.type("a")
            page.wait_for_load_state("networkidle")
            assert page.locator("#text").input_value() == "a"
            if run:  # the first one compiles the templates
                typed.append(can_type)
                received.append(sum(total))
            switched += [page.evaluate(SWITCH, where) for where in talks]
            context.close()
        browser.close()
    print(f"received      {statistics.median(received) / 1000:.0f} kB in {len(total)} responses, the page included")
    print(f"can type      {statistics.median(typed):.0f} ms after the start, at most {max(typed):.0f} ms")
    print(f"switched      in {statistics.median(switched):.0f} ms, at most {max(switched):.0f} ms")
    return {
        "received": (statistics.median(received) / 1000, "kB"),
        "can type": (statistics.median(typed), "ms"),
        "switched": (statistics.median(switched), "ms"),
    }


if __name__ == "__main__":
    main()
