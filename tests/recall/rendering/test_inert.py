"""An exported Markdown file loads nothing, wherever it is opened, and its code is unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from recall.rendering.inert import without_live_parts

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
