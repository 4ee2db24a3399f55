"""Results show words, not Markdown."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.plain_words import in_a_line, plain_words


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("## Soup\n- **two** onions", "Soup\ntwo onions"),
        ("A **gratin of courgettes**, with `nutmeg`.", "A gratin of courgettes, with nutmeg."),
        ("> quoted *words*", "quoted words"),
        ("_More_ of a_b_c (_d_e_), _f", "More of a_b_c (d_e), _f"),
        ("See [the list](https://example.org/a).", "See the list."),
        ("```python\nprint(1)\n```", "\nprint(1)\n"),
        ("| year | area |\n|---|---:|\n| 2021 | 14 |", "year · area\n\n2021 · 14"),
        ("```mermaid\nC -->|storm| A\n```\n| a | b |", "\nC -->|storm| A\n\na · b"),
        ("Use `a || b` here", "Use a || b here"),
        ("| `x` | y |", "x · y"),
        ("- [x] done", "done"),
        ("2 * 3 * 4 and snake_case and __init__", "2 * 3 * 4 and snake_case and __init__"),
        ("a | b", "a | b"),
        ("1. first", "1. first"),
    ],
)
def test_marks_are_left_out(written: str, shown: str) -> None:
    assert plain_words(written) == shown


@given(st.text(alphabet="ab 1.,!?\n"))
def test_plain_text_stays(text: str) -> None:
    assert plain_words(text) == text


def test_long_texts_take_no_time() -> None:
    began = time.perf_counter()
    for piece in ("*", "`", "[", "|", "**a ", "_a ", "- "):
        plain_words(piece * 20_000)
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "# Boats\n\n22 November 2026. [Open the conversation](/c/1)\n- A **red** one",
            "Boats: 22 November 2026. A red one",
        ),
        ("## Which one?\nThe red\n# Boats", "Which one? The red Boats"),
        ("> said `so`\n* and so", "said so and so"),
        ("2 * 3 - 1 and a_b_c [sic] (yes)", "2 * 3 - 1 and a_b_c [sic] (yes)"),
        ("![a boat](https://example.org/boat.png) there", "a boat there"),
        (
            "Sizes:\n\n| year | area |\n|---|--:|\n| 2021 | *14* |\n\n```python\nx = 1\n```",
            "Sizes: year · area 2021 · 14 x = 1",
        ),
        ("", ""),
    ],
)
def test_marks_of_form_are_left_out_and_words_stay(text: str, line: str) -> None:
    assert in_a_line(text, 200) == line


def test_it_is_no_longer_than_it_may_be() -> None:
    assert in_a_line("word " * 1_000, 12) == "word word wo"
