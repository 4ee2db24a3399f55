"""What a long answer costs the browser: `python -m bench.pages.streaming [--words 10000] [--rate 60] [--throttle 4]`.

A Chromium watches the offline server write 10,000 words of Markdown at 60 words a second, pinned to the end. Printed
are the browser's long tasks (over 50 ms), all tasks of its main thread by the clock and by their processor time (on a
busy machine a task also waits for its turn), how finished blocks shifted, the longest gap between two pictures, what
went over the socket, and the web process's time.
"""

import json
import os
import random
import statistics
import urllib.request
from collections import Counter
from contextlib import ExitStack
from typing import Any, Final

from bench.own_database import own_database
from bench.results import Figures, arguments, record
from bench.servers import free_port, server
from bench.turn.__main__ import make_people, processor_seconds

ROOM: Final = {"BUDGET_PLAN": "long", "BUDGET_OUTPUT_TOKENS": "40000"}
"""A plan that lets an answer be this long."""
CHROMIUM: Final = "/usr/bin/chromium"
FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu")
WORDS_OF_TEXT: Final = (
    "the quick brown fox jumps over a lazy dog while **strong** winds blow `code` and _more_ text follows here"
)
CODE: Final = "".join(f"def f{n}(x: int) -> int:\n    return x + {n}  # comment\n\n" for n in range(8))

OBSERVE: Final = """() => {
  window.seen = { tasks: [], shift: 0, gap: 0 };
  const on = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type });
  on("longtask", ({ duration, startTime }) => seen.tasks.push([Math.round(duration), Math.round(startTime)]));
  const isFinished = ({ node }) => (node?.closest ? node : node?.parentElement)?.closest(".prose > :not(:last-child)");
  on("layout-shift", ({ value, sources }) => { if (sources.some(isFinished)) seen.shift += value; });
  let last = performance.now();
  const frame = (now) => { seen.gap = Math.max(seen.gap, now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""
AT_END: Final = "(s => s.scrollHeight - s.scrollTop - s.clientHeight)(document.getElementById('scroller'))"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=60.0, help="words a second")
    parser.add_argument("--throttle", type=float, default=1.0, help="how many times slower the browser's processor is")
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
        figures = watch(f"http://127.0.0.1:{web}", person.cookie, len(text.split()) / args.rate, pid, args.throttle)
    if args.record:
        record("pages.streaming", figures)


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
    body = json.dumps({"replies": [{"text": text, "match": "Write a lot"}]}).encode()
    urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{model}/offline/script", body)).close()


def watch(origin: str, cookie: str, seconds: float, pid: int, throttle: float) -> Figures:
    """Ask, look on, and print what was seen."""
    from playwright.sync_api import sync_playwright

    name, _, value = cookie.partition("=")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": name, "value": value, "url": origin}])
        page = context.new_page()
        received: list[int] = []
        page.on("websocket", lambda ws: ws.on("framereceived", lambda text: received.append(len(text))))
        page.goto(origin)
        page.wait_for_load_state("networkidle")
        page.evaluate(OBSERVE)
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": throttle})
        browser.start_tracing(page=page, categories=["toplevel"])
        cpu = processor_seconds(pid)
        page.get_by_label("Your message").fill("Write a lot")
        page.keyboard.press("Enter")
        away = [stay(page) for _ in range(int(seconds))]
        page.locator('.message-assistant[data-status="complete"]').wait_for(timeout=120_000)
        page.wait_for_timeout(1_000)
        trace = browser.stop_tracing()
        words = len((page.locator(".message-assistant .prose").text_content() or "").split())
        print(f"shown                {words} words, the copy buttons' and languages' included")
        figures = report(page.evaluate("seen"), received, max(away), processor_seconds(pid) - cpu, seconds)
        figures |= report_tasks(json.loads(trace)["traceEvents"])
        browser.close()
    return figures


def stay(page: Any) -> float:
    """A second later, how far the end is."""
    page.wait_for_timeout(1_000)
    return float(page.evaluate(AT_END))


def report(seen: dict[str, Any], received: list[int], away: float, cpu: float, seconds: float) -> Figures:
    tasks = [duration for duration, _ in seen["tasks"]]
    print(f"long tasks           {len(tasks)}, the longest {max(tasks, default=0)} ms: {seen['tasks'][:20]}")
    print(f"layout shifts        {seen['shift']:.4f}")
    print(f"longest gap          {seen['gap']:.0f} ms between two pictures")
    print(f"farthest from end    {away:.0f} px")
    longest = max(received) / 1000
    print(f"over the socket      {sum(received) / 1000:.0f} kB in {len(received)} frames, the longest {longest:.0f} kB")
    print(f"web process          {cpu:.1f} s of processor time in {seconds:.0f} s")
    return {
        "long tasks": (len(tasks), ""),
        "layout shifts": (seen["shift"], ""),
        "longest gap": (seen["gap"], "ms"),
        "over the socket": (sum(received) / 1000, "kB"),
        "web process": (cpu, "s"),
    }


def report_tasks(events: list[dict[str, Any]]) -> Figures:
    """All tasks of the page's main thread, which is the busiest of its kind."""
    threads = {(each["pid"], each["tid"]) for each in events if each.get("args", {}).get("name") == "CrRendererMain"}
    tasks = [each for each in events if each["name"] == "ThreadControllerImpl::RunTask" and each.get("ph") == "X"]
    busiest = Counter((each["pid"], each["tid"]) for each in tasks if (each["pid"], each["tid"]) in threads)
    page = [each for each in tasks if (each["pid"], each["tid"]) == busiest.most_common(1)[0][0]]
    figures: Figures = {}
    for name, field in (("by the clock", "dur"), ("by processor time", "tdur")):
        taken = [each.get(field, 0) / 1000 for each in page]
        p95, longest = statistics.quantiles(taken, n=20)[-1], max(taken)
        shown = f"median {statistics.median(taken):.2f} ms, p95 {p95:.1f} ms, maximum {longest:.1f} ms"
        print(f"{name:<20} {len(taken)} tasks, {sum(each > 50 for each in taken)} over 50 ms: {shown}")
        figures |= {f"tasks {name}, p95": (p95, "ms"), f"tasks {name}, maximum": (longest, "ms")}
    return figures


if __name__ == "__main__":
    main()
