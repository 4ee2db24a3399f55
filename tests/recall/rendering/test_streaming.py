"""Markdown rendered while it comes is, in the end, what it would be at once; what is finished stays as it is."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from recall.rendering import markdown
from recall.rendering.markdown import MAX_BLOCK_CHARS, MAX_CHARS
from recall.rendering.render import render
from recall.rendering.streaming import Appendix, MarkdownStream

LINES = """\
# Head|## Below|Some **bold** text|word|- item|- |-|1. one|2. two|1) par|10. ten|   3. three|  sub|  - sub|    deep|| |
> quote|> - q|```|```python|  ```|x = 1|~~~|a ¦ b|-¦-|¦ a ¦ b ¦|¦---¦---¦|¦ 1 ¦ 2 ¦|---|===|* star|+ plus|***|* * *
$$|x^2|\\[|\\]|$$ y $$|\\begin{align}|a &= b|\\end{align}|'title|title'|[x] uses|<b>html</b>|\tTab|     code
`code` $a_1$ and [l](https://a.example/c)|- [ ] task|trailing  |\\|&amp; é 🙂|![x](https://e.example)|[y]: https://f.example
""".replace("\n", "|").split("|")
LINES = [line.replace("¦", "|") for line in LINES]
EARLY = "[x]: https://e.example\n"
"""A definition that stands before its use."""
LATE = "[y]: https://f.example"


def pieces(text: str, sizes: list[int]) -> Iterator[str]:
    at, turn = 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        yield text[at : at + size]
        at, turn = at + size, turn + 1


def stream_in(text: str, sizes: list[int]) -> tuple[str, list[Appendix]]:
    """The whole HTML, and the parts it came in."""
    stream, parts = MarkdownStream(), []
    for piece in pieces(text, sizes):
        parts += stream.feed(piece)
        stream.open_part()
    parts += stream.finish()
    return stream.html, parts


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=14), st.booleans(), st.lists(st.integers(1, 9), min_size=1))
@example(["$$", "a", "# Head", "$$"], False, [1])
@example(["- item", "", "- item", "", "  sub", "word"], False, [3])
@example(["'title", "title'", "[x] uses"], True, [1])
@example(["| a | b |", "|---|---|", "| 1 | 2 |", "$$", "x^2", "$$"], False, [2])
def test_what_comes_piece_by_piece_is_what_comes_at_once(lines: list[str], is_defined: bool, sizes: list[int]) -> None:
    assume(lines.count(LATE) <= 1)  # where it defines nothing it is a use, and must not come before its definition
    text = (EARLY if is_defined else "") + "\n".join(lines)
    assert stream_in(text, sizes)[0] == render(text)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab*_`[]()#>-+1.|$\\~<&\n\r\t !", max_size=120), st.lists(st.integers(1, 9), min_size=1))
def test_any_text_is_finished_as_it_began(text: str, sizes: list[int]) -> None:
    assert stream_in(text, sizes)[0] == stream_in(text, [len(text) or 1])[0]


def test_a_finished_block_comes_once_and_with_what_follows_it() -> None:
    stream = MarkdownStream()
    assert stream.feed("One **bold** word.\n") == []
    assert stream.feed("\n") == []
    assert stream.feed("Two\n") == [Appendix(0, "<p>One <strong>bold</strong> word.</p>\n")]


@pytest.mark.parametrize("block", ["# A\n", "A\n===\n", "---\n", "```\na\n```\n", "~~~~\n~~~\n~~~~~ \n", "```\n```\n"])
def test_a_block_that_ends_itself_is_finished_at_once(block: str) -> None:
    assert len(MarkdownStream().feed(block)) == 1


@pytest.mark.parametrize("block", ["```\n", "```\na\n", "```\n    ```\n", "````\n```\n", "```\n~~~\n", "Wood\n"])
def test_a_block_that_may_go_on_is_not(block: str) -> None:
    assert MarkdownStream().feed(block) == []


def test_items_and_rows_come_one_by_one() -> None:
    stream = MarkdownStream()
    assert stream.feed("- a\n- b\n") == [Appendix(0, "<ul>\n<li>a</li>\n</ul>\n")]
    assert stream.feed("- c\n\n| x |\n|---|\n") == [Appendix(1, "<li>b</li>\n<li>c</li>\n")]
    (table,) = stream.feed("| 1 |\n")
    assert (table.depth, "<td>1</td>" in table.html) == (0, True)
    assert stream.feed("| 2 |\n") == [Appendix(3, "<tr>\n<td>2</td>\n</tr>\n")]
    assert stream.html.count("<table>") == stream.html.count("</table>") == 1


@pytest.mark.parametrize(
    ("begun", "html"),
    [
        ("Some **bo", "<p>Some <strong>bo</strong></p>\n"),
        ("Some *itali", "<p>Some <em>itali</em></p>\n"),
        ("Some (_it al", "<p>Some (<em>it al</em></p>\n"),
        ("Some _", "<p>Some</p>\n"),
        ("A snake_case, 2 * 3 and _long" + " word" * 20, f"<p>A snake_case, 2 * 3 and _long{' word' * 20}</p>\n"),
        ("Some `co", "<p>Some <code>co</code></p>\n"),
        ("Some **", "<p>Some</p>\n"),
        ("- a\n- b\n- c", "<li>b</li>\n<li>c</li>\n"),
    ],
)
def test_what_is_being_written_is_shown_as_it_will_be(begun: str, html: str) -> None:
    stream = MarkdownStream()
    stream.feed(begun)
    assert stream.open_part()[-1].html == html


@pytest.mark.parametrize("unclear", ["``", "```py", "-", "--", "#", "| a | b", "| a | b |\n", "1.", "$$\nx^2\n", "**"])
def test_a_line_that_may_become_anything_is_not_shown_yet(unclear: str) -> None:
    stream = MarkdownStream()
    stream.feed(f"Before.\n\n{unclear}")
    assert stream.html + "".join(part.html for part in stream.open_part()) == "<p>Before.</p>\n"


def test_an_open_fence_is_code_from_its_first_line_and_never_anything_else() -> None:
    stream, text = MarkdownStream(), "Before.\n\n```python\ndef a():\n    return `1`\n```\n\nAfter."
    shown = []
    for letter in text:
        stream.feed(letter)
        shown.append(stream.html + "".join(part.html for part in stream.open_part()))
    begun = next(at for at, html in enumerate(shown) if "<pre" in html)
    assert begun == text.index("python\n") + len("python")
    assert all("<pre" in html and "``" not in html for html in shown[begun:])


def test_an_unsafe_text_is_as_harmless_while_it_comes() -> None:
    stream = MarkdownStream()
    stream.feed("- <script>alert(1)</script>\n- [x](javascript:alert(1))\n- <img src=x")
    html = stream.html + "".join(part.html for part in stream.open_part())
    assert "<script" not in html
    assert "<img" not in html
    assert "href" not in html


def test_a_block_costs_the_same_however_long_the_answer_is(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(markdown, "parse_blocks", _counting(markdown.parse_blocks, parsed))
    monkeypatch.setattr(markdown, "parse", _counting(markdown.parse, parsed))
    section = "## Part\n\n" + "some words\n" * 5 + "\n- one\n- two\n\n| a |\n|---|\n| 1 |\n\n```\ncode\n```\n\n"
    sums = []
    for sections in (10, 20):
        parsed.clear()
        stream_in(section * sections, [12])
        sums.append(sum(parsed))
    assert sums[1] < 2.2 * sums[0]


def _counting(parse: Callable[..., Any], lengths: list[int]) -> Callable[..., Any]:
    def counted(text: str, env: dict[str, Any]) -> Any:
        lengths.append(len(text))
        return parse(text, env)

    return counted


@pytest.mark.parametrize("text", ["x " * MAX_BLOCK_CHARS, "x\n\n" * MAX_CHARS, "- x\n" * MAX_CHARS])
def test_beyond_the_limits_the_rest_is_plain_and_complete(text: str) -> None:
    html, _ = stream_in(text, [5_000])
    assert html.count("x") == text.count("x")
    assert html.endswith("</div>")


def test_open_text_without_a_formula_is_parsed_only_to_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("parsed once more")

    prose, formula = MarkdownStream(), MarkdownStream()
    prose.feed("Mary lives in **Lisbon**, for $5 a day")
    formula.feed("The square:\n\n$$\nx^2")
    monkeypatch.setattr(markdown, "parse_blocks", refuse)
    assert "<strong>Lisbon</strong>" in prose.open_part()[0].html
    with pytest.raises(AssertionError, match="once more"):
        formula.open_part()
