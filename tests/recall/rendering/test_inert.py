"""An exported Markdown file loads nothing, wherever it is opened, and its code is unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from recall.rendering.inert import as_part, close_fence, without_live_parts

PIECES = [
    *("![a](https://example.org/?q=secret)", "![a][b]", "[b]: https://example.org/x.png", "<img src=x>", "<div>"),
    *("</div>", "<!-- -->", "```", "~~~", "- ", "> ", "    ", "  ", "\n", "\n\n", "text", "`", "\\", "![", "](u)", "<"),
    *(">", "|", "# "),
]
REFERENCE = "\n\n[b]: https://example.org/y.png\n"
"""A reference from another message in the same file."""


def live(text: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse(text)
    every = [part for token in tokens for part in (token, *(token.children or []))]
    return [part.type for part in every if part.type in ("image", "html_inline", "html_block")]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_nothing_is_left_that_a_viewer_would_load(text: str) -> None:
    assert live(without_live_parts(text) + REFERENCE) == []


@given(*[st.lists(st.sampled_from(PIECES), max_size=10).map("".join)] * 2)
def test_no_text_makes_the_one_after_it_load_anything(first: str, second: str) -> None:
    assert live(f"{as_part(first)}\n\n## Recall\n\n{as_part(second)}{REFERENCE}") == []


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("plain", "plain"),
        ("```\na\n```", "```\na\n```"),
        ("```py\na", "```py\na\n```"),
        ("````\n```\na", "````\n```\na\n````"),
        ("~~~\n```", "~~~\n```\n~~~"),
        ("a\r```\rb", "a\r```\rb\n```"),
        ("```inline``` is none", "```inline``` is none"),
        ("-  ~~~\n   ```\n\n```", "-  ~~~\n   ```\n\n```\n```"),
        ("> ```\n> ends with the quote", "> ```\n> ends with the quote"),
    ],
)
def test_a_block_of_code_that_was_left_open_is_closed(text: str, closed: str) -> None:
    assert close_fence(text) == closed


@pytest.mark.parametrize(
    "text",
    [
        "Plain *text* with [a link](https://example.org) and <https://example.org>.",
        "```rust\nlet a = vec![1];\nlet b: Vec<u8>;\n```",
        "A list: `vec![1]` and `<div>`.",
        "a < b and b > c!",
    ],
)
def test_what_loads_nothing_stays_as_it_is(text: str) -> None:
    assert without_live_parts(text) == text


def test_code_beside_an_image_stays_as_it_is() -> None:
    code = "```html\n<img src=x> ![a](b)\n```"
    assert without_live_parts(f"![a](b)\n\n{code}") == f"!&#91;a](b)\n\n{code}"
