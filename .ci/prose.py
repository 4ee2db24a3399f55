"""Prose check: private words, long headings and long sentences on the page, in messages and in the docs.

In docstrings, comments and files for operators only private words count.

    python .ci/prose.py            # fails on anything that no line of .ci/prose-exceptions.txt covers
    python .ci/prose.py templates  # only files below these folders
    python .ci/prose.py --count    # how many findings each file has

It is a floor, not the goal: a text that passes can still read badly.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

PRIVATE: Final = re.compile(
    r"\b("
    + "|".join(
        (
            *(
                "stands?",
                "stood",
                "told",
                "tells? of",
                "anew",
                "by itself",
                "whoever",
                "whom",
                "shall",
                "begins?",
                "began",
                "begun",
            ),
            *(
                "go(?:es)? on",
                "going on",
                "brought",
                "bring(?:s|ing)? (?:in|back)",
                "put away",
                "of yours",
                "nobody",
                "somebody",
            ),
            *(
                "dear(?:er|est|ly)?",
                "just now",
                "what becomes of",
                "gives? way",
                "fold(?:s|ed|ing)?",
                "strikes?",
                "struck",
            ),
            *(
                "tid(?:y|ied|ies|ying)",
                "the person",
                "lies (?:in|at|behind|below|above|before|beside)",
                "whence",
                "thereof",
            ),
        )
    )
    + r")\b",
    re.IGNORECASE,
)
"""Words that read as translated or archaic. Each has a plain one: start, continue, upload, your, no one, now."""

MAX_HEADING_WORDS: Final = 6
MAX_SENTENCE_WORDS: Final = 22
MAX_IN_DOCS: Final = 25
"""Private words that the docs may hold; the page may hold none."""

APPS: Final = ("recall", "accounts", "memory", "budget", "chat", "offline")
DOCS: Final = ("docs/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
FOR_OPERATORS: Final = ("docker/", "Makefile", ".env.example", ".github/", ".ci/run")
NOT_PROSE: Final = (
    "/migrations/",
    "memory/librarian/rules/",
    "memory/retrieval/cues.py",
    "memory/text/language.py",
    "memory/text/relations.py",
    "static/vendor/",
    "docs/examples/",
)
"""Generated code, and patterns that match what people write."""

CODE: Final = re.compile(r"\b(SELECT|UPDATE|INSERT|FROM|WHERE|CREATE)\b|\\[bswd]|\(\?")
"""Strings that are SQL or a pattern."""

EXCEPTIONS: Final = Path(__file__).with_name("prose-exceptions.txt")
BLOCKS: Final = {
    *("p", "li", "td", "th", "dt", "dd", "label", "legend", "summary", "option", "button", "div", "section", "br"),
    *("h1", "h2", "h3", "h4", "fieldset", "figcaption", "caption", "title", "form", "ul", "ol", "table", "tr"),
    *("header", "footer", "nav", "main", "aside"),
}
HEADINGS: Final = {"h1", "h2", "h3", "h4", "legend", "caption", "title"}
SPOKEN: Final = {"title", "aria-label", "placeholder", "alt", "data-confirm", "aria-description"}


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of prose: a heading, or running text."""

    path: str
    line: int
    words: str
    is_heading: bool = False
    is_comment: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to rewrite, or to list as an exception."""

    path: str
    line: int
    rule: str
    words: str


class Page(HTMLParser):
    """The visible and the spoken text of a template."""

    def __init__(self, path: str) -> None:
        super().__init__(convert_charrefs=True)
        self.path, self.texts = path, list[Text]()
        self._open, self._words, self._silent = "", list[str](), 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in ("script", "style", "svg", "code", "pre", "kbd")
        for name, value in attrs:
            if name in SPOKEN and value:
                self.texts.append(Text(self.path, self.getpos()[0], value))
        if tag in BLOCKS:
            self.flush()
            self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style", "svg", "code", "pre", "kbd") and self._silent > 0
        if tag in BLOCKS:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)

    def flush(self) -> None:
        words = " ".join(" ".join(self._words).split())
        if words:
            self.texts.append(Text(self.path, self.getpos()[0], words, self._open in HEADINGS))
        self._open, self._words = "", []


def page_texts(path: str, source: str) -> Iterator[Text]:
    page = Page(path)
    source = re.sub(r"{#.*?#}|{% comment %}.*?{% endcomment %}", "", source, flags=re.DOTALL)
    source = re.sub(r"{%.*?%}", lambda tag: "\n" * tag[0].count("\n") + " ¦ ", source, flags=re.DOTALL)
    page.feed(re.sub(r"{{.*?}}", "X", source, flags=re.DOTALL))
    page.flush()
    for text in page.texts:
        for part in text.words.split("¦"):
            if part.strip():
                yield Text(path, text.line, part.strip(), text.is_heading)


def python_texts(path: str, source: str) -> Iterator[Text]:
    """Messages: strings of two words or more but docstrings, patterns and SQL; and docstrings of API operations."""
    nodes = list(ast.walk(ast.parse(source)))
    whole = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inner = {id(part) for node in whole for part in ast.walk(node) if part is not node}
    bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    patterns = {id(part) for node in nodes if _is_pattern(node) for part in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "/api/" in path and _is_operation(node):
            yield Text(path, node.lineno, ast.get_docstring(node) or "")
        if id(node) in inner or id(node) in bare or id(node) in patterns:
            continue
        words = _words(node)
        if re.search(r"[a-z]{2,} \w", words) and not CODE.search(words):
            yield Text(path, getattr(node, "lineno", 0), words)


def _words(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def _is_pattern(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("re.", "regex."))


def _is_operation(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(key.arg == "operation_id" for call in calls for key in call.keywords)


def script_texts(path: str, source: str) -> Iterator[Text]:
    for number, line in enumerate(source.splitlines(), start=1):
        if line.strip().startswith(("//", "*", "/*")):
            continue
        for found in re.finditer(r'"([^"\\]*)"|`([^`]*)`|\'([^\'\\]*)\'', line):
            words = next(group for group in found.groups() if group is not None)
            if re.search(r"[a-z]{2,} [a-z]", words):
                yield Text(path, number, re.sub(r"\$\{.*?\}", "X", words))


def docs_texts(path: str, source: str) -> Iterator[Text]:
    is_code = False
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("    ") and line.strip():
            words = re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", line))
            yield Text(path, number, words.lstrip("#> ").strip(), line.startswith("#"))


def comment_texts(path: str, source: str) -> Iterator[Text]:
    """Docstrings and comments of a module, without names, SQL keywords and quoted examples."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and token.string.startswith('"""')
        if token.type == tokenize.COMMENT or is_docstring:
            words = re.sub(r"`[^`]*`|“[^”]*”|\b[A-Z]{2,}\b", "X", token.string)
            yield Text(path, token.start[0], words, is_comment=True)


def _listed() -> list[str]:
    return subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()  # noqa: S607


def texts() -> Iterator[Text]:
    for path in _listed():
        if any(part in path for part in NOT_PROSE) or not Path(path).is_file():
            continue
        if path.startswith("templates/") and path.endswith((".html", ".txt")):
            yield from page_texts(path, Path(path).read_text())
        elif path.startswith((*APPS, "bench/", "docker/")) and path.endswith(".py"):
            yield from comment_texts(path, Path(path).read_text())
            if path.startswith(APPS):
                yield from python_texts(path, Path(path).read_text())
        elif path.startswith("static/js/") and path.endswith(".js"):
            yield from script_texts(path, Path(path).read_text())
        elif path.startswith(DOCS) and path.endswith(".md"):
            yield from docs_texts(path, Path(path).read_text())
        elif path.startswith(FOR_OPERATORS):
            for number, line in enumerate(Path(path).read_text().splitlines(), start=1):
                yield Text(path, number, line, is_comment=True)


def findings(text: Text) -> Iterator[Finding]:
    for found in PRIVATE.finditer(text.words):
        near = text.words[max(0, found.start() - 40) : found.end() + 40].replace("\n", " ")
        yield Finding(text.path, text.line, f"private word “{found[0].lower()}”", near)
    if text.is_comment:
        return
    if text.is_heading and len(text.words.split()) > MAX_HEADING_WORDS:
        yield Finding(text.path, text.line, f"heading over {MAX_HEADING_WORDS} words", text.words)
    if not text.path.startswith(DOCS):
        for sentence in re.split(r"(?<=[.!?…:;])\s+|\n\s*\n|\n\s*[-*] ", text.words):
            if len(sentence.split()) > MAX_SENTENCE_WORDS:
                near = " ".join(sentence.split())[:140]
                yield Finding(text.path, text.line, f"sentence over {MAX_SENTENCE_WORDS} words", near)


def exceptions() -> list[tuple[str, str]]:
    """Path prefix and words of each line `path | words | reason`; empty words cover the whole file."""
    lines = [line for line in EXCEPTIONS.read_text().splitlines() if line.strip() and not line.startswith("#")]
    rows = [[part.strip() for part in line.split("|")] for line in lines]
    if any(len(row) != 3 or not row[2] for row in rows):
        sys.exit(f"{EXCEPTIONS.name}: each line is `path | words | reason`")
    return [(row[0], row[1]) for row in rows]


def main(arguments: list[str]) -> int:
    below = tuple(each for each in arguments if not each.startswith("--"))
    allowed = exceptions()
    found = [
        each
        for text in texts()
        for each in findings(text)
        if each.path.startswith(below or "")
        and not any(each.path.startswith(path) and words in f"{each.rule} {each.words}" for path, words in allowed)
    ]
    in_docs = [each for each in found if each.path.startswith(DOCS) and each.rule.startswith("private")]
    failing = [each for each in found if each not in in_docs] + (in_docs if len(in_docs) > MAX_IN_DOCS else [])
    if "--count" in arguments:
        for path, count in Counter(each.path for each in found).most_common():
            print(f"{count:5} {path}")
    else:
        for each in failing:
            print(f"{each.path}:{each.line}: {each.rule}: {each.words}")
    print(f"prose: {len(failing)} to rewrite; {len(in_docs)} private words in the docs (at most {MAX_IN_DOCS})")
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
