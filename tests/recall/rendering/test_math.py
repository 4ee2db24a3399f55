"""A formula becomes MathML that can only be read; what can't be parsed is code, and prices stay prices."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.rendering import math
from recall.rendering.markdown import MAX_CHARS
from recall.rendering.render import render
from tests.recall.rendering.test_markdown import inspect

FOUND = [
    ("So $a^2$ it is.", "inline"),
    ("So \\(a^2\\) it is.", "inline"),
    ("So $$a^2$$ it is.", "block"),
    ("So \\[a^2\\] it is.", "block"),
    ("$$\na^2\n$$", "block"),
    ("\\[\na^2\n\\]", "block"),
    ("\\begin{equation}\na^2\n\\end{equation}", "block"),
    ("> $$\n> a^2\n> $$", "block"),
    ("- Point:\n  $$\n  a^2\n  $$", "block"),
    ("| a |\n|---|\n| $a^2$ |", "inline"),
]


@pytest.mark.parametrize(("text", "display"), FOUND)
def test_each_way_of_writing_a_formula_is_read(text: str, display: str) -> None:
    html = render(text)
    assert f'<math display="{display}">' in html
    assert "<msup><mi>a</mi><mn>2</mn></msup>" in html
    assert "$" not in html


NO_FORMULAS = [
    "It costs $5 and $10.",
    "From $5-$10 a month, or 5$ to 10$.",
    "I have $20 and you have 30$ left.",
    "Between $5 and 10$.",
    "US$ 5 or CA$ 7",
    "echo $HOME/bin:$PATH",
    "Set $PATH and $HOME first.",
    "\\$x\\$",
    "`$x$` and `\\(x\\)`",
    "```\n$$x$$\n```",
    "    $$\n    x\n    $$",
    "$$ without an end",
    "\\( without an end",
    "$ $",
    "a $",
]


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_prices_variables_and_code_are_no_formulas(text: str) -> None:
    assert "<math" not in render(text)


UNREAD = ["$\\frac{$", "$\\nocommand{x}$", "$}{$", "$\\left($", "$x^2^3$"]


@pytest.mark.parametrize("text", UNREAD)
def test_a_formula_that_cannot_be_read_is_shown_as_code(text: str) -> None:
    html = render(f"See {text} here.")
    assert "<math" not in html
    assert f"<code>{text.strip('$')}</code>" in html


def test_a_long_one_and_what_comes_after_many_is_shown_as_code() -> None:
    assert math.mathml("a" * (math.MAX_CHARS + 1), is_block=False) is None
    html = render("$a_1$ " * 3_000)
    assert 100 < html.count("<math") < 1_000
    assert html.count("<math") + html.count("<code>") == 3_000


ATTACKS = [
    "\\href{javascript:alert(1)}{x}",
    "\\style{background:url(https://evil.example)}{x}",
    "\\class{topbar}{x}",
    "\\text{<script>alert(1)</script>}",
    "\\text{</math><img src=x onerror=alert(1)>}",
    "\\text{&lt;img src=x onerror=alert(1)&gt;}",
    "<img src=x onerror=alert(1)>",
    "\\mathrm{<svg onload=alert(1)>}",
    '\\color{red" onclick="alert(1)}{x}',
    "\\hspace{99999em}",
    "\\operatorname{<b>}",
    "\\unicode{x3C}script\\unicode{x3E}",
    '\\begin{array}{c" onload="x}1\\end{array}',
]


@pytest.mark.parametrize("latex", ATTACKS)
@pytest.mark.parametrize("frame", ["${}$", "$$\n{}\n$$", "\\({}\\)", "\\[{}\\]"])
def test_nothing_of_a_formula_becomes_anything_but_mathematics(latex: str, frame: str) -> None:
    html = render(frame.replace("{}", latex))
    inspect(html)
    assert not re.search(r"<(?!/?(?:p|code|pre|div|span|math|m[a-z]+|none)\b)", html), html
    assert not re.search(r"<[^>]*(?:href| style|class=\"(?!code|[a-z]{1,3}\")|onclick|99999)", html), html


PARTS = [*ATTACKS, "\\frac", "{", "}", "^", "_", "&", "\\\\", "\\left(", "\\right)", "\\begin{matrix}", "\\end{matrix}"]
MORE = ["\\sqrt", "x", "1", " ", "\\sum", "\\limits", "\\middle|", "'", "\\not", "$", "$$", "\\[", "\\]", "\n", "<"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*PARTS, *MORE]), max_size=15))
def test_no_mixture_gets_through_or_fails(parts: list[str]) -> None:
    text = "".join(parts)
    inspect(render(text))
    inspect(render(f"$${text}$$"))
    math.mathml(text, is_block=True)


SLOW = ["$$\na\n\n", "\\(", "\\[\n", "$a$ ", "\\begin{align}\n", "$\\sqrt\\sqrt"]


@pytest.mark.parametrize("piece", SLOW)
def test_a_text_made_of_formulas_takes_no_longer_than_other_texts(piece: str) -> None:
    def seconds(of: str) -> float:
        began = time.thread_time()
        render((of * MAX_CHARS)[:MAX_CHARS])
        return time.thread_time() - began

    assert seconds(piece) < 1.5 + 3 * seconds(re.sub(r"[$\\{]", "z", piece))


def test_a_sum_stands_as_it_was_meant() -> None:
    html = render("\\[\\sum_{i=1}^n i = \\frac{n(n+1)}{2}\\]")
    assert "<munderover><mo>∑</mo>" in html
    assert "<mfrac><mrow><mi>n</mi>" in html


def test_lines_of_an_alignment_are_not_numbered() -> None:
    html = render("$$\n\\begin{align}a&=b\\\\c&=d\\end{align}\n$$")
    assert html.count("<mtr>") == 2
    assert "(1)" not in html


# Tables, code, tasks -----------------------------------------------------------------------------------------------


def test_a_table_has_a_box_of_its_own_that_is_reached_by_keyboard() -> None:
    html = render("| Name | Age |\n|---|--:|\n| Mary | 7 |")
    assert html.startswith('<div class="table" role="region" tabindex="0" aria-label="Table: Name, Age"><table>')
    assert '<th class="align-right">Age</th>' in html


def test_a_block_of_code_tells_its_language_outside_of_what_is_copied() -> None:
    assert '<div class="code" data-language="python"><pre tabindex="0"><code>' in render("```python\nx = 1\n```")
    assert 'data-language=""' in render("```\nx = 1\n```")


def test_a_list_of_tasks_shows_what_is_done() -> None:
    html = render("- [ ] bread\n- [x] salt\n- [y] other")
    assert re.findall(r'<li class="task">(.) ', html) == ["☐", "☑"]
    assert "[y] other" in html
