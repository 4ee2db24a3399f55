"""An answer while it is written: finished blocks are rendered and stay where they are, and the page follows its end."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import OfflineServer, Person, ask, being_written, grown, last_answer
from tests.running import wait_until

pytestmark = pytest.mark.browser

PACE = 0.04
"""Seconds a word: several frames for each block."""
CODE = "\n".join(f"def function_{n}(number: int) -> int: return number + {n}  # {'far-' * 12}" for n in range(8))
MARKDOWN = f"""\
## Wood

A **strong** beginning, with `code` in it.

- one item
- another item

| wood | weight |
|---|---|
| oak | 700 |
| larch | 590 |

```python
{CODE}
```

{"And it goes on. " * 12}

The end.
"""
FOLLOW = """() => {
  window.seen = { moved: [], replaced: [], texts: [] };
  const places = new Map();
  let last = [];
  const look = () => {
    const body = document.querySelector(".message-assistant .prose");
    const blocks = [...(body?.children ?? [])];
    if (body) seen.texts.push(body.textContent);
    const isOver = body && !body.matches("[data-text]");
    const finished = isOver ? blocks : blocks.slice(0, -1);
    last.forEach((block, at) => { if (block !== blocks[at]) seen.replaced.push(block.outerHTML.slice(0, 80)); });
    const start = body?.getBoundingClientRect().top;
    for (const block of finished) {
      const { top, height } = block.getBoundingClientRect();
      const [place, before] = [`${Math.round(top - start)} ${Math.round(height)}`, places.get(block)];
      if (before && place !== before) seen.moved.push(`${block.tagName}: ${before} → ${place}`);
      places.set(block, place);
    }
    last = finished;
    seen.isOver = isOver;
    requestAnimationFrame(look);
  };
  look();
}"""
"""With each picture: which finished blocks are elsewhere than before, or other elements, and what can be read."""
FROM_END = "(s => s.scrollHeight - s.scrollTop - s.clientHeight)(document.getElementById('scroller'))"
FROM_START = "document.getElementById('scroller').scrollTop"


def begin(person: Person, offline: OfflineServer, question: str, text: str, pace: float = PACE) -> Page:
    """Ask, and look on from before the first word."""
    page = person.tab()
    page.wait_for_load_state()
    page.evaluate(FOLLOW)
    offline.reply(text, match=question, seconds_a_word=pace)
    ask(page, question)
    return page


def seen(page: Page) -> dict[str, Any]:
    """What was seen up to the end of the answer."""
    expect(last_answer(page)).to_be_visible()
    wait_until(lambda: page.evaluate("window.seen.isOver"))
    found: dict[str, Any] = page.evaluate("window.seen")
    return found


def test_finished_blocks_are_rendered_while_the_rest_is_written_and_stay(
    somebody: Person, offline: OfflineServer
) -> None:
    """None moves, and none is replaced, up to the end."""
    page = begin(somebody, offline, "Which woods are there?", MARKDOWN)
    body = being_written(page)
    for finished in ("h3", "strong", "p code", "li:nth-child(2)", "th", "td", ".code .k"):
        expect(body.locator(finished).first).to_be_visible()
    expect(body).not_to_contain_text("The end")
    found = seen(page)
    assert all("##" not in text and "**" not in text and "|" not in text for text in found["texts"])
    assert len(set(found["texts"])) > 50, "it came at once"
    assert (found["replaced"], found["moved"]) == ([], [])


def test_blocks_far_from_the_end_keep_their_height(somebody: Person, offline: OfflineServer) -> None:
    page = begin(somebody, offline, "Write parts.", MARKDOWN.partition("And it goes on.")[0] * 8, pace=0.005)
    found = seen(page)
    assert page.locator('.prose > [style*="content-visibility"]').count() > 6
    assert (found["replaced"], found["moved"]) == ([], [])


def test_an_open_fence_is_one_block_of_code_that_only_grows(somebody: Person, offline: OfflineServer) -> None:
    page = begin(somebody, offline, "Write functions.", f"```python\n{CODE}\n```\n\nThat's all of them.")
    code = being_written(page).locator("pre")
    expect(code).to_contain_text("function_1")
    code.evaluate("it => { window.open_code = it; it.scrollLeft = 120; }")
    expect(code).to_contain_text("function_5")
    assert code.evaluate("it => it === window.open_code && it.scrollLeft") == 120, "the reader scrolled it"
    texts = seen(page)["texts"]
    assert page.evaluate("window.open_code.isConnected && window.open_code.scrollLeft") == 120
    assert not [text for text in texts if "```" in text]
    lengths = [len(text.replace("Copy", "")) for text in texts]
    assert lengths == sorted(lengths)


def test_the_page_follows_the_answer_until_its_reader_scrolls_up(somebody: Person, offline: OfflineServer) -> None:
    lines = "\n\n".join(f"Line {number}, of a few words." for number in range(60))
    page = begin(somebody, offline, "Write lines.", lines)
    body, jump = being_written(page), page.get_by_role("button", name="Jump to latest")
    expect(body).to_contain_text("Line 25,")
    assert page.evaluate(FROM_END) < 2
    expect(jump).to_be_hidden()

    body.hover()
    page.mouse.wheel(0, -300)
    expect(jump).to_be_visible()
    page.wait_for_timeout(500)  # it glides
    place = page.evaluate(FROM_START)
    grown(body)
    assert page.evaluate(FROM_START) == place, "who reads further up isn't moved"

    jump.click()
    expect(jump).to_be_hidden()
    grown(body)
    assert page.evaluate(FROM_END) < 2
    expect(last_answer(page)).to_contain_text("Line 59,")
    assert page.evaluate(FROM_END) < 2
