"""Documentation pages: the files of `docs/` in reading order, rendered at `/docs` without sign-in.

The pages are part of the repository, so they may hold images and links to each other, unlike answers
(`recall/rendering/markdown.py`). `/docs/source/…` shows the Python files that a page links to.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from posixpath import normpath
from typing import Any, Final
from urllib.parse import urlsplit

import pygments
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.anchors import anchors_plugin
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

CHAPTERS: Final = (
    (
        "Use Recall",
        (
            *("quick-start", "concepts", "conversations", "projects", "attachments", "documents", "review"),
            *("forgetting", "import-export", "account", "privacy", "api", "mcp"),
        ),
    ),
    (
        "Run Recall",
        (
            "self-hosting",
            "settings",
            "operations",
            "upgrade",
            "changelog",
            "local-models",
            "admin",
            "security",
            "observing",
            "offline",
        ),
    ),
    (
        "How it works",
        (
            *("architecture", "code-map", "turn", "protocol", "budget", "compaction", "cost", "memory", "librarian"),
            *("retrieval", "evaluation", "scale", "design", "sources"),
        ),
    ),
)
"""Every page, once; `tests/recall/rendering/test_docs_pages.py` compares it with the folder."""
FIRST: Final = "quick-start"
ELSEWHERE: Final[Mapping[str, str]] = {"changelog": "CHANGELOG.md"}
"""Pages whose file is outside `docs/`."""
MOVED: Final[Mapping[str, str]] = {"consolidation": "memory", "decisions": "sources"}
"""Former pages, and the page that has their text now."""
WRAPPED: Final = ("sh", "json")
"""Languages whose long lines wrap, as those of indented blocks do: commands and output. Diagrams keep their lines."""
SOURCES: Final = ("recall", "accounts", "memory", "budget", "chat", "offline", "bench", "tests", "docs")
"""Folders whose Python files can be read below `/docs/source/`."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its title, its HTML, and its sections as (anchor, heading)."""

    name: str
    title: str
    html: SafeString
    sections: tuple[tuple[str, str], ...]


NAMES: Final = tuple(name for _, names in CHAPTERS for name in names)


@require_safe
def docs(request: HttpRequest, name: str = FIRST) -> HttpResponse:
    """A page of the documentation."""
    if name in MOVED:
        return redirect("docs_page", MOVED[name], permanent=True)
    if name not in NAMES:
        raise Http404
    place = NAMES.index(name)
    context = {
        "page": page(name),
        "chapters": [(heading, [page(page_name) for page_name in names]) for heading, names in CHAPTERS],
        "before": page(NAMES[place - 1]) if place else None,
        "after": page(NAMES[place + 1]) if place + 1 < len(NAMES) else None,
    }
    return render(request, "docs/page.html", context)


@require_safe
def source(request: HttpRequest, path: str) -> HttpResponse:
    """A file of the code, highlighted, each line with an anchor."""
    if path != normpath(path) or path.partition("/")[0] not in SOURCES:
        raise Http404
    try:
        file = (settings.BASE_DIR / path).resolve()
        is_ours = file.suffix == ".py" and file.is_relative_to(settings.BASE_DIR) and file.is_file()
    except (OSError, ValueError):  # a name too long for the disk; a NUL
        raise Http404 from None
    if not is_ours:
        raise Http404
    return render(request, "docs/source.html", {"path": path, "code": _numbered(file.read_text())})


@lru_cache
def page(name: str) -> Page:
    """The page `name`, read and rendered once a process."""
    text = (settings.BASE_DIR / ELSEWHERE.get(name, f"docs/{name}.md")).read_text()
    tokens = _PARSER.parse(text)
    headings = [(one, words) for one, words in pairwise(tokens) if one.type == "heading_open"]
    title = next((words.content for one, words in headings if one.tag == "h1"), name)
    sections = tuple((str(one.attrs["id"]), _plain(words)) for one, words in headings if one.tag == "h2")
    html = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return Page(name, title.replace("`", ""), mark_safe(html), sections)  # noqa: S308 (our own files, and no raw HTML)


def _plain(heading: Token) -> str:
    return "".join(child.content for child in heading.children or [])


def _address(target: str) -> str:
    """The served form of a page's link: pages lead to pages, code to its source, the rest is unchanged."""
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return target
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    path = normpath(f"docs/{parts.path}")
    if path == "README.md":
        return reverse("docs")
    if path == "CHANGELOG.md":
        return reverse("docs_page", args=["changelog"])
    if path.startswith("docs/images/"):
        return static(path)
    if path.endswith(".md"):
        return reverse("docs_page", args=[Path(path).stem]) + anchor
    return reverse("docs_source", args=[path]) + anchor if path.endswith(".py") else target


def _link(renderer: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: Any) -> str:
    tokens[index].attrSet("href", _address(str(tokens[index].attrs["href"])))
    return renderer.renderToken(tokens, index, options, env)


def _image(renderer: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: Any) -> str:
    tokens[index].attrSet("src", _address(str(tokens[index].attrs["src"])))
    return renderer.image(tokens, index, options, env)


def _code(renderer: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: Any) -> str:
    language = tokens[index].info.strip() or "text"
    inside = _highlighted(tokens[index].content, language)
    wraps = ' class="wraps"' if tokens[index].type == "code_block" or language in WRAPPED else ""
    return f'<pre{wraps} tabindex="0" role="group" aria-label="Code"><code>{inside}</code></pre>\n'


def _code_inline(renderer: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: Any) -> str:
    """Code of a line, which a narrow page may break after an underscore, a comma or a slash."""
    return f"<code>{re.sub('([_,/])', r'\1<wbr>', escapeHtml(tokens[index].content))}</code>"


def _highlighted(code: str, language: str) -> SafeString:
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return mark_safe(pygments.highlight(code, lexer, HtmlFormatter(nowrap=True)))  # noqa: S308 (Pygments escapes the code)


def _numbered(code: str) -> SafeString:
    """Python with an anchor for each line, as in L-12. Pygments closes its spans at the end of every line."""
    lines = enumerate(_highlighted(code, "python").splitlines(keepends=True), start=1)
    return mark_safe("".join(f'<span id="L-{number}">{line}</span>' for number, line in lines))  # noqa: S308 (as above)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    anchors_plugin(parser, max_level=3)
    rules = {
        "link_open": _link,
        "image": _image,
        "code_inline": _code_inline,
        "fence": _code,
        "code_block": _code,
        "table_open": lambda *_: '<div class="table-frame" tabindex="0" role="group" aria-label="Table"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


_PARSER: Final = _parser()
