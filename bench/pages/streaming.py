"""What a long answer costs the browser: `python -m bench.pages.streaming [--words 10000] [--rate 60]`.

A Chromium watches the offline server write 10,000 words of Markdown at 60 words a second, pinned to the end. Printed
are the browser's long tasks (over 50 ms), the shifts of the layout that no input caused, the time from a word's arrival
to its picture as the longest gap between two pictures, what went over the socket, and the web process's time.
"""

import argparse
import json
import os
import random
import urllib.request
from contextlib import ExitStack
from typing import Any, Final

from bench.own_database import own_database
from bench.ports import free_port
from bench.turn.__main__ import make_people, processor_seconds, server

ROOM: Final = {"BUDGET_PLAN": "long", "BUDGET_OUTPUT_TOKENS": "40000"}
"""A plan that lets an answer be this long."""
CHROMIUM: Final = "/usr/bin/chromium"
WORDS_OF_TEXT: Final = (
    "the quick brown fox jumps over a lazy dog while **strong winds** blow `code` and _more_ text follows here"
)
CODE: Final = "".join(f"def f{n}(x: int) -> int:\n    return x + {n}  # comment\n\n" for n in range(8))

OBSERVE: Final = """() => {
  window.seen = { tasks: [], shift: 0, gap: 0 };
  const on = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type });
  on("longtask", ({ duration, startTime }) => seen.tasks.push([Math.round(duration), Math.round(startTime)]));
  on("layout-shift", ({ value, hadRecentInput }) => { if (!hadRecentInput) seen.shift += value; });
  let last = performance.now();
  const frame = (now) => { seen.gap = Math.max(seen.gap, now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""
AT_END: Final = "(s => s.scrollHeight - s.scrollTop - s.clientHeight)(document.getElementById('scroller'))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=60.0, help="words a second")
    args = parser.parse_args()
    text = answer(args.words)
    web, model = free_port(), free_port()
    os.environ |= {"ANTHROPIC_API_KEY": "offline", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model}"}
    with own_database(ALLOWED_HOSTS="127.0.0.1", **ROOM), ExitStack() as stack:
        slowly = {"OFFLINE_ADMIN": "1", "OFFLINE_DELTA_DELAY": str(1 / args.rate)}
        stack.enter_context(server("offline.app:app", model, 1, **slowly))
        pid = stack.enter_context(server("recall.asgi:application", web, 0))
        person = make_people(1, 10)[0]
        script(model, text)
        watch(f"http://127.0.0.1:{web}", person.cookie, len(text.split()) / args.rate, pid)


def answer(words: int) -> str:
    """Headings, paragraphs, lists, code and tables, from a fixed seed."""
    chosen = random.Random(1)

    def some(number: int) -> str:
        return " ".join(chosen.choices(WORDS_OF_TEXT.split(), k=number))

    text, part = "", 0
    while len(text.split()) < words:
        part += 1
        rows = "".join(f"| {row} | {some(4)} |\n" for row in range(6))
        items = f"- {some(12)}\n- {some(15)}\n  - {some(8)}\n- {some(10)}\n"
        code = f"```python\n{CODE}```\n\n"
        text += f"## Part {part}\n\n{some(120)}\n\n{items}\n{some(90)}\n\n{code}| a | b |\n|---|---|\n{rows}\n"
    return text


def script(model: int, text: str) -> None:
    """Have the model answer this."""
    body = json.dumps({"replies": [{"text": text, "match": "Write a lot"}]}).encode()
    urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{model}/offline/script", body)).close()


def watch(origin: str, cookie: str, seconds: float, pid: int) -> None:
    """Ask, look on, and print what was seen."""
    from playwright.sync_api import sync_playwright

    name, _, value = cookie.partition("=")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": name, "value": value, "url": origin}])
        page = context.new_page()
        received: list[int] = []
        page.on("websocket", lambda ws: ws.on("framereceived", lambda text: received.append(len(text))))
        page.goto(origin)
        page.wait_for_load_state("networkidle")
        page.evaluate(OBSERVE)
        cpu = processor_seconds(pid)
        page.get_by_label("Your message").fill("Write a lot")
        page.keyboard.press("Enter")
        away = [stay(page) for _ in range(int(seconds))]
        page.locator('.message-assistant[data-status="complete"]').wait_for(timeout=120_000)
        page.wait_for_timeout(1_000)
        words = len((page.locator(".message-assistant .prose").text_content() or "").split())
        print(f"shown                {words} words, the copy buttons' and languages' included")
        report(page.evaluate("seen"), received, max(away), processor_seconds(pid) - cpu, seconds)
        browser.close()


def stay(page: Any) -> float:
    """A second later, how far the end is."""
    page.wait_for_timeout(1_000)
    return float(page.evaluate(AT_END))


def report(seen: dict[str, Any], received: list[int], away: float, cpu: float, seconds: float) -> None:
    tasks = [duration for duration, _ in seen["tasks"]]
    print(f"long tasks           {len(tasks)}, the longest {max(tasks, default=0)} ms: {seen['tasks'][:20]}")
    print(f"layout shifts        {seen['shift']:.4f}")
    print(f"longest gap          {seen['gap']:.0f} ms between two pictures")
    print(f"farthest from end    {away:.0f} px")
    longest = max(received) / 1000
    print(f"over the socket      {sum(received) / 1000:.0f} kB in {len(received)} frames, the longest {longest:.0f} kB")
    print(f"web process          {cpu:.1f} s of processor time in {seconds:.0f} s")


if __name__ == "__main__":
    main()
