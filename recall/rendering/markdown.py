"""Markdown of answers and documents as HTML: no raw HTML or images, code highlighted, then an allow-list.

Two walls: markdown-it escapes all HTML and refuses every address but web and mail; nh3 then lets through only the tags,
attributes and classes below, so that a fault in the first wall shows as missing decoration, not as a script. The result
loads nothing: no images, no embeds (docs/design.md says why).
"""

import re
import time
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import nh3
import pygments
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from recall.rendering import math
from recall.rendering.previews import KINDS, PreviewBlock

type Env = MutableMapping[str, Any]
"""What the parts of one text carry over to each other."""
MAX_CHARS = 120_000
"""What is beyond is shown as it is: 20,000 words."""
MAX_BLOCK_CHARS = 40_000
"""Parsed at once: the parser takes up to half a second for this much, on inputs made to be slow. A block that isn't
finished by then is shown as it is, with all that follows."""
MAX_BRACKET_WORK = 500_000
"""Sum over the paragraphs of (opening brackets)²: each may start a link, and the parser looks for its end, 0.4 µs a
pair. Where the sum passes this, paragraphs are shown as they are (40,000 brackets in one would take 3 s)."""
MAX_CODE_CHARS = 30_000
"""Characters of code highlighted in one answer; the rest is shown plain."""
CODE_SECONDS = 0.25
"""CPU time for highlighting one block: many of Pygments' lexers are quadratic on inputs made to be slow."""
SLOW_CODE = re.compile(r"[^\n]{2000}|\s{1000}")
"""Code on which one step of some lexers takes seconds (20,000 digits on a line in OCaml: 6 s): shown plain."""
TOP_HEADING = 3
"""The page has h1 and each message h2, so an answer's first heading is h3, whichever level the model used."""
NOT_LOADED = "Image not loaded: "
BOXES = {"[ ] ": "☐", "[x] ": "☑"}
TABLE_LABEL_CHARS = 60
SCHEMES = frozenset({"http", "https", "mailto"})

TAGS = frozenset(
    [
        "p",
        "br",
        "hr",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "span",
        "a",
        "strong",
        "em",
        "s",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "div",
    ]
)
"""Allowed tags, with those of `recall/rendering/math.py`."""
CLASSES = {
    "span": {name for name in STANDARD_TYPES.values() if name} | {"link-host"},
    "th": {"align-right", "align-center"},
    "td": {"align-right", "align-center"},
    "div": {"plain", "code", "table"},
    "li": {"task"},
}
ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "div": {"data-language", "data-preview", "role", "tabindex", "aria-label"},
    **{tag: set(math.VALUES) for tag in math.TAGS},
}
EXACTLY: dict[str, dict[str, set[str]]] = {"pre": {"tabindex": {"0"}}, "div": {"role": {"region"}, "tabindex": {"0"}}}
"""Attributes that are dropped unless they have this value."""
CLEANER = nh3.Cleaner(
    tags=TAGS | math.TAGS,
    attributes={tag: names - EXACTLY.get(tag, {}).keys() for tag, names in ATTRIBUTES.items()},
    tag_attribute_values=EXACTLY,
    allowed_classes=CLASSES,
    url_schemes=SCHEMES,
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)


def parse(text: str, env: Env) -> list[Token]:
    """The tokens of a text; `env` carries over what earlier parts of the same text mean for it."""
    return _PARSER.parse(text, env)


def parse_blocks(text: str, env: Env) -> list[Token]:
    """Its blocks only, without what is in their lines."""
    tokens: list[Token] = []
    _PARSER.block.parse(text, _PARSER, env, tokens)
    return tokens


def clean(tokens: Sequence[Token], env: Env) -> SafeString:
    """Whole blocks as HTML; the cleaner's allow-list is what makes it safe."""
    return mark_safe(CLEANER.clean(_PARSER.renderer.render(tokens, _PARSER.options, env)))  # noqa: S308


def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False}).disable(["image"])
    parser.validateLink = _may_link  # type: ignore[method-assign]
    math.find_formulas(parser)
    parser.core.ruler.before("inline", "overfull", _leave_overfull_plain)
    parser.core.ruler.push("recall", _adapt)
    parser.add_render_rule("overfull", _overfull)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    parser.add_render_rule("link_host", _link_host)
    parser.add_render_rule("math_inline", _formula)
    parser.add_render_rule("math_block", _formula)
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _may_link(url: str) -> bool:
    """Allow only whole web and mail addresses: a relative one would lead into Recall, with the reader's session."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc or parts.scheme == "mailto")


def _leave_overfull_plain(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and (brackets := token.content.count("[")):
            state.env["bracket_work"] = state.env.get("bracket_work", 0) + brackets**2
            if state.env["bracket_work"] > MAX_BRACKET_WORK:
                token.type = "overfull"


def _overfull(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Env) -> str:
    return escape(tokens[index].content)


def _adapt(state: StateCore) -> None:
    """What differs from plain Markdown: heading levels, alignment without style attributes, link hosts, items."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            first = state.env.setdefault("first_heading", int(token.tag[1]))
            token.tag = f"h{max(TOP_HEADING, min(int(token.tag[1]) - first + TOP_HEADING, 6))}"
        elif token.type in {"th_open", "td_open"}:
            _align(token)
        elif token.children:
            token.children = _with_hosts(_with_image_addresses(token.children))
    _mark_tasks(state.tokens)
    _open_items(state.tokens)


def _open_items(tokens: Sequence[Token]) -> None:
    """An item's first paragraph is its text and later ones are paragraphs: items don't depend on what follows them."""
    for at, token in enumerate(tokens):
        if token.type in {"paragraph_open", "paragraph_close"}:
            opening = at if token.nesting > 0 else at - 2
            token.hidden = tokens[opening - 1].type == "list_item_open" if opening else False


def _mark_tasks(tokens: Sequence[Token]) -> None:
    """List items that start with `[ ]` or `[x]` show a checkbox."""
    for item, _, words in zip(tokens, tokens[1:], tokens[2:], strict=False):
        first = words.children[0] if words.children else None
        if item.type != "list_item_open" or first is None or first.content[:4].lower() not in BOXES:
            continue
        item.attrSet("class", "task")
        first.content = f"{BOXES[first.content[:4].lower()]} {first.content[4:]}"


def _align(token: Token) -> None:
    side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
    if side in {"right", "center"}:
        token.attrSet("class", f"align-{side}")


def _with_image_addresses(tokens: Sequence[Token]) -> list[Token]:
    """No image is loaded, so it's parsed as “!” and a link: say so, and show its whole address."""
    shown: list[Token] = []
    start: int | None = None
    for token in tokens:
        shown.append(token)
        if token.type == "link_open" and len(shown) > 1 and shown[-2].content.endswith("!"):
            shown[-2].content = f"{shown[-2].content[:-1]}{NOT_LOADED}"
            start = len(shown) - 1
        elif token.type == "link_close" and start is not None:
            opening, *words = shown[start:-1]
            address = Token("text", "", 0, content=str(opening.attrs.get("href", "")))
            space = [Token("text", "", 0, content=" ")] if words else []
            shown[start:] = [*words, *space, opening, address, token]
            start = None
    return shown


def _with_hosts(tokens: Sequence[Token]) -> list[Token]:
    """A link whose text doesn't name its host gets the host beside it."""
    shown: list[Token] = []
    host, words = "", ""
    for token in tokens:
        shown.append(token)
        if token.type == "link_open":
            host, words = urlsplit(str(token.attrs.get("href", ""))).hostname or "", ""
        elif token.type == "link_close" and host and not _names(words, host):
            shown.append(Token("link_host", "", 0, content=host))
        else:
            words += token.content
    return shown


def _names(words: str, host: str) -> bool:
    """Whether the link's text is its own URL: apart from the scheme, it starts with the whole host."""
    rest = words.strip().lower().removeprefix("https://").removeprefix("http://")
    return rest == host or rest.startswith(f"{host}/")


def _link_host(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Env) -> str:
    return f' <span class="link-host">{escape(tokens[index].content)}</span>'


def _code(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Env) -> str:
    token = tokens[index]
    language = token.info.strip().split(maxsplit=1)[0] if token.info.strip() else ""
    env["code_chars"] = env.get("code_chars", 0) + len(token.content)
    is_plain = env["code_chars"] > MAX_CODE_CHARS or "is_open" in env  # colored when it is finished
    code = escape(token.content) if is_plain else _highlighted(token.content, language)
    return _boxed(code, language[:30], _preview_number(env, language.lower(), token.content))


def _preview_number(env: Env, kind: str, source: str) -> int | None:
    """Number of a block that can be previewed, from 1; `env` collects them."""
    if kind not in KINDS:
        return None
    env["previews"] = [*env.get("previews", ()), PreviewBlock(kind, source)]
    return len(env["previews"])


def _boxed(code: str, language: str, preview: int | None = None) -> str:
    """Highlighted or escaped code, reachable by keyboard, so that a line that is too wide can be scrolled."""
    numbered = f' data-preview="{preview}"' if preview is not None else ""
    box = f'<div class="code" data-language="{escape(language)}"{numbered}>'
    return f'{box}<pre tabindex="0"><code>{code}</code></pre></div>\n'


def _formula(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Env) -> str:
    token = tokens[index]
    is_block = token.block or token.meta.get("is_block", False)
    env["formulas"] = env.get("formulas", 0) + math.EACH + len(token.content)
    shown = env["formulas"] <= math.MAX_TOGETHER and math.mathml(token.content.strip(), is_block=is_block)
    if shown:
        return f"<p>{shown}</p>\n" if token.block else shown
    if token.block:
        return _boxed(escape(token.content), "latex")
    return f"<code>{escape(token.content)}</code>"


def _table(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Env) -> str:
    """The table in a focusable box that scrolls if it is wider than the page."""
    end = next((at for at in range(index, len(tokens)) if tokens[at].type == "thead_close"), index)
    heads = ", ".join(token.content for token in tokens[index:end] if token.type == "inline" and token.content)
    label = escape(f"Table: {heads}"[:TABLE_LABEL_CHARS])
    return f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table>\n'


def _highlighted(code: str, language: str) -> str:
    if SLOW_CODE.search(code):
        return escape(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    try:
        return pygments.format(_in_time(lexer.get_tokens(code)), _FORMATTER)
    except TimeoutError:
        return escape(code)


def _in_time[T](tokens: Iterable[T]) -> Iterator[T]:
    """The tokens that arrive within CODE_SECONDS.

    Raises:
        TimeoutError: they didn't.
    """
    deadline = time.thread_time() + CODE_SECONDS
    for token in tokens:
        if time.thread_time() > deadline:
            raise TimeoutError
        yield token


_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
_PARSER = _parser()
