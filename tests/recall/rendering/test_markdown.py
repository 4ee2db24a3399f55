"""An answer's Markdown becomes HTML that can only be read, in bounded time."""

import math
import re
import time
from html.parser import HTMLParser

import pytest
from django.utils.safestring import mark_safe
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.rendering import markdown
from recall.rendering import math as formulas
from recall.rendering import render as rendering
from recall.rendering.markdown import CLASSES, MAX_BLOCK_CHARS, MAX_BRACKET_WORK, MAX_CHARS, TAGS
from recall.rendering.render import render

ATTACKS = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](data:image/svg+xml;base64,PHN2Zz4=)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://example.org/1)",
    "[x](//evil.example/x)",
    "[x](/accounts/logout/)",
    "[x](?listed=1)",
    "[x](#m-1)",
    "[x](\\\\evil.example\\x)",
    "[x](http:evil.example)",
    "[x](http://[evil)",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[x]: javascript:alert(1)\n\n[x]",
    "[x][ref]\n\n[ref]: data:text/html,<b>x</b>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<iframe src=https://evil.example></iframe>",
    "<style>body{display:none}</style>",
    "<!-- --><b onclick=alert(1)>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "![x](https://evil.example/pixel.png)",
    "![x][p]\n\n[p]: https://evil.example/?secret",
    "[![x](https://evil.example/pixel.png)](https://evil.example)",
    '[x](https://evil.example "\\" onmouseover=alert(1) x=\\"")',
    '[x](https://evil.example/"onmouseover=alert(1))',
    "[[[x](javascript:alert(1))](javascript:alert(2))](javascript:alert(3))",
    '```"><script>alert(1)</script>\ncode\n```',
    "```html\n<script>alert(1)</script>\n```",
    "    <script>alert(1)</script>",
    "`<script>alert(1)</script>`",
    "# <img src=x onerror=alert(1)>",
    "| <script> |\n|---|\n| [x](javascript:alert(1)) |",
    "1. <b>\n2. </b><script>",
    "<https://evil.example/<script>alert(1)</script>>",
    "\ud800 lone surrogate",
    "a\u202egnp.exe",
]
MARKUP = ["[", "](", ")", "<", ">", "`", "```\n", "*", "_", "\n", "\n\n", "> ", "- ", "|", "a"]

ALLOWED = {
    "a": {"href", "title", "rel"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class"},
    "th": {"class"},
    "td": {"class"},
    "div": {"class", "data-language", "data-preview", "role", "tabindex", "aria-label"},
    "li": {"class"},
    **{tag: set(formulas.VALUES) for tag in formulas.TAGS},
}
SAFE_ADDRESS = re.compile(r"(https?://[^/\s]|mailto:)")


class Inspector(HTMLParser):
    """Parses HTML as a browser does, and rejects whatever isn't on the lists."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS | formulas.TAGS, tag
        for name, value in attrs:
            assert name in ALLOWED.get(tag, set()), (tag, name)
            if name == "href":
                assert SAFE_ADDRESS.match(value or ""), value
            if name == "class":
                assert set((value or "").split()) <= CLASSES[tag], value
        if tag == "a" and any(name == "href" for name, _ in attrs):
            assert dict(attrs)["rel"] == "noopener noreferrer nofollow"


def inspect(html: str) -> None:
    Inspector().feed(html)


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_comes_out_as_words(text: str) -> None:
    inspect(render(text))
    assert "<script" not in render(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*ATTACKS, "[", "](", ")", "<", ">", "`", "```\n", "*", "_", "\n", "\n\n", "> ", "- ", "|", "a"]
        )
    )
)
def test_no_mixture_of_attacks_gets_through(parts: list[str]) -> None:
    inspect(render("".join(parts)))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** _i_ ~~s~~ `c`", "<strong>b</strong> <em>i</em> <s>s</s> <code>c</code>"),
        ("3. three", '<ol start="3">'),
        ("> said", "<blockquote>"),
        ("two  \nlines", "two<br>"),
        ("# title", "<h3>title</h3>"),
        ("## title\n\n### below", "<h3>title</h3>\n<h4>below</h4>"),
        ("# title\n\n###### small", "<h6>small</h6>"),
        ("|a|b|c|\n|-|-:|:-:|\n|1|2|3|", '<td class="align-right">2</td>'),
        ("|a|b|c|\n|-|-:|:-:|\n|1|2|3|", '<th class="align-center">c</th>'),
        ("<https://example.org/a?b=1&c=2>", 'href="https://example.org/a?b=1&amp;c=2"'),
        ("<me@example.org>", 'href="mailto:me@example.org"'),
        ("5 < 6 & 7 > 2", "5 &lt; 6 &amp; 7 &gt; 2"),
    ],
)
def test_ordinary_markdown_is_rendered(text: str, html: str) -> None:
    assert html in render(text)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("[docs](https://docs.example.org/x)", "docs.example.org"),
        ("[https://bank.example](https://evil.example/bank.example)", "evil.example"),
        ("[bank.example.evil](https://bank.example)", "bank.example"),
        ("[x](https://bank.example@evil.example/)", "evil.example"),
        ("[x][r]\n\n[r]: https://ref.example/", "ref.example"),
        ("[apple](https://аpple.com)", "xn--pple-43d.com"),
        ("[**bold** words](https://b.example)", "b.example"),
    ],
)
def test_a_link_shows_where_it_really_leads(text: str, host: str) -> None:
    assert f'</a> <span class="link-host">{host}</span>' in render(text)


@pytest.mark.parametrize(
    "text", ["<https://example.org/x>", "[example.org/x](https://example.org/x)", "[me](mailto:me@example.org)"]
)
def test_a_link_that_names_its_host_does_not_say_it_twice(text: str) -> None:
    assert "link-host" not in render(text)


def test_code_is_highlighted_by_class() -> None:
    html = render("```python\ndef answer():\n    return 42\n```")
    assert '<div class="code" data-language="python"><pre tabindex="0"><code><span class="k">def</span>' in html


@pytest.mark.parametrize("language", ["", "nosuchlanguage", "../../etc/passwd"])
def test_code_in_a_language_nobody_knows_is_shown_plain(language: str) -> None:
    html = render(f"```{language}\na < b\n```")
    assert "<code>a &lt; b\n</code>" in html


def test_code_beyond_the_limit_is_shown_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    block = "```python\n" + "x = 1\n" * 5 + "```\n\n"
    filler = "```python\n" + "y = 2\n" * 500 + "```\n\n"
    monkeypatch.setattr(markdown, "MAX_CODE_CHARS", 3_000)
    html = render(block + filler + block)
    assert html.count('<span class="mi">1</span>') == 5


def test_a_block_longer_than_the_limit_is_plain_text() -> None:
    html = render("**x** <b>\n" * (MAX_BLOCK_CHARS // 10 + 1))
    assert html.startswith('<div class="plain">**x** &lt;b&gt;\n')
    assert "<strong>" not in html


def test_what_is_beyond_the_limit_of_a_message_is_plain_text() -> None:
    html = render("**x** <b>\n\n" * (MAX_CHARS // 11 + 200))
    assert html.startswith("<p><strong>x</strong> &lt;b&gt;</p>\n<p>")
    assert html.endswith("**x** &lt;b&gt;\n\n</div>")
    assert html.count("</p>") > MAX_CHARS // 11 - 300


def test_a_paragraph_full_of_brackets_is_plain_and_the_rest_is_not() -> None:
    html = render("*a*\n\n" + "[" * (math.isqrt(MAX_BRACKET_WORK) + 1) + " *b*\n\n*c*")
    assert "*b*" in html
    assert "<em>a</em>" in html
    assert "<em>c</em>" in html


N = MAX_BLOCK_CHARS
SLOW_INPUTS = {
    "brackets": "[" * N,
    "nested brackets": "[" * (N // 2) + "]" * (N // 2),
    "open links": "[a](" * (N // 4),
    "open images": "![" * (N // 2),
    "open reference links": "[a][b" * (N // 5),
    "brackets in many paragraphs": ("[" * 300 + "\n\n") * (N // 302),
    "emphasis": "*a **b " * (N // 7),
    "strong": "**x" * (N // 3),
    "backticks": "".join("`" * length + " " for length in range(1, 340)),
    "quotes": ">" * N,
    "deep lists": "".join("  " * depth + "- a\n" for depth in range(170)),
    "a wide table": ("|a" * 300 + "|\n" + "|-" * 300 + "|\n" + ("|a" * 300 + "|\n") * 100)[:N],
    "entities": "&amp;" * (N // 5),
    "cdata": "<![CDATA[" * (N // 9),
    "one word": "a" * N,
    "a megabyte": "word **bold** [a](b) `c`\n" * 40_000,
    "a megabyte of paragraphs": "word **bold** [a](b) `c`\n\n" * 40_000,
    "brackets in many paragraphs of a long text": ("[" * 300 + "\n\n") * (MAX_CHARS // 302),
    "python of white space": "```python\n" + "\t \n" * 12_000 + "\n```",
    "ocaml of digits": "```ocaml\n" + "0" * 35_000 + "\n```",
    "makefile of brackets": "```make\n" + "(" * 35_000 + "\n```",
    "java of lines": "```java\n" + "a\n" * 18_000 + "```",
    "a console of lines": "```console\n" + ("a:a" * 600 + "\n") * 20 + "```",
}


@pytest.mark.parametrize("name", SLOW_INPUTS)
def test_an_input_made_to_be_slow_is_not(name: str) -> None:
    """Without its guards the parser takes 6 s for some of these, and single lexers up to a minute."""
    began = time.thread_time()
    html = render(SLOW_INPUTS[name])
    assert time.thread_time() - began < 4  # on a slow and busy machine; measured below 1
    inspect(html)


def test_the_same_answer_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "An answer that stands only in this test: *once*."
    first = render(text)
    monkeypatch.setattr(rendering, "parse", None)
    assert render(text) is first


def test_the_cache_lets_go_of_the_oldest() -> None:
    cache = rendering._Cache(2)
    for number in (1, 2, 3):
        cache.keep(bytes([number]), mark_safe(str(number)))
    assert [cache.get(bytes([number])) is not None for number in (1, 2, 3)] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "words", "address"),
    [
        (
            "See ![A cat](https://evil.example/cat.png?q=secret) here",
            "See Image not loaded: A cat ",
            "cat.png?q=secret",
        ),
        ("![](https://evil.example/x.png)", "Image not loaded: ", "x.png"),
        ("- ![ref][a]\n\n[a]: https://evil.example/r.png", "Image not loaded: ref ", "r.png"),
    ],
)
def test_an_image_is_not_loaded_and_shows_its_address(text: str, words: str, address: str) -> None:
    html = render(text)
    assert f'{words}<a href="https://evil.example/{address}"' in html
    assert f">https://evil.example/{address}</a>" in html
    assert "link-host" not in html


def test_a_link_after_an_exclamation_is_a_link() -> None:
    assert '>here</a> <span class="link-host">a.example</span>' in render("Wow! [here](https://a.example)")
