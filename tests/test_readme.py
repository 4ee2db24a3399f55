"""The README, the code map and the docs are accurate: their files, names, commands and links exist."""

import ast
import re
from functools import cache
from pathlib import Path

from recall.rendering.docs_pages import CHAPTERS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
CODE_MAP = (ROOT / "docs" / "code-map.md").read_text()
MAP = re.findall(r"^\| (.+\?) \| `([\w/]+\.py): (\w+)` \|$", CODE_MAP, re.MULTILINE)
LOOK = (ROOT / "docs" / "design.md").read_text()
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*(page for page in TOP if page.exists()), *sorted((ROOT / "docs").glob("*.md"))]
WORDS_AT_MOST = 32_000
ROWS_AT_MOST = 40
ASKED_BY_NEWCOMERS = (
    *("login rate limit", "deduplication", "reranking", "system prompt", "request size limit", "soft delete"),
    *("token counting", "job retry", "prompt caching", "row ownership"),
)


@cache
def defined_in(file: str) -> frozenset[str]:
    """Names at the top of a module, and `Class.member` of its classes."""
    found = set[str]()
    for node in ast.parse((ROOT / file).read_text()).body:
        found |= _names(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for member in node.body for name in _names(member)}
    return frozenset(found)


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_the_map_has_at_most_forty_rows_and_each_is_read_here() -> None:
    rows = CODE_MAP.count("\n| ") - 1
    assert len(MAP) == rows
    assert 20 < rows <= ROWS_AT_MOST


def test_the_map_has_each_term_that_a_newcomer_searches_for() -> None:
    assert [term for term in ASKED_BY_NEWCOMERS if not any(term in question for question, _, _ in MAP)] == []


def test_each_row_of_the_map_leads_to_a_name_that_exists() -> None:
    assert [question for question, file, name in MAP if name not in defined_in(file)] == []


def test_the_files_and_names_of_each_page_exist() -> None:
    for page in PAGES:
        text = page.read_text()
        for path in re.findall(r"`((?:recall|accounts|memory|budget|chat|offline|bench|tests)/[\w./-]+)", text):
            assert (ROOT / path.rstrip(".")).exists(), f"{page.name}: {path}"
        for file, name in re.findall(r"([a-z]+/[\w/-]+\.py): ?`?(\w[\w.]*)`", text):
            assert name in defined_in(file), f"{page.name}: {file}: {name}"


def test_the_makefile_has_each_command_of_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text()
    commands = re.findall(r"^    make (\w+)$", README, re.MULTILINE)
    assert [command for command in commands if f"\n{command}:" not in makefile] == []


def test_the_readme_has_few_table_rows() -> None:
    assert len(re.findall(r"^\|", README, re.MULTILINE)) <= ROWS_AT_MOST


def test_the_docs_are_short_enough_to_be_read() -> None:
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "code-map.md"]
    assert sum(len(page.read_text().split()) for page in pages) <= WORDS_AT_MOST


def test_a_page_on_using_recall_names_no_file_of_the_code() -> None:
    for name in CHAPTERS[0][1]:
        text = re.sub(r"\]\(examples/\w+\.py\)", "]", (ROOT / "docs" / f"{name}.md").read_text())
        found = set(re.findall(r"[\w/]+\.(?:py|html|css|sql)\b", text))
        assert found <= {"manage.py", "chat.html"}, f"{name}: but a command, and a file of another maker's export"


def test_only_the_page_on_sources_speaks_of_seeds() -> None:
    for page in PAGES:
        prose = re.sub(r"`[^`]*`|RAG_RANKING=seed", "", page.read_text())
        assert page.name == "sources.md" or not re.search(r"\bseeds?\b", prose, re.IGNORECASE), page.name


def test_the_page_on_the_look_names_every_stylesheet() -> None:
    sheets = (ROOT / "static" / "css").glob("*.css")
    assert [sheet.name for sheet in sheets if f"`{sheet.name}`" not in LOOK] == []


def test_links_lead_somewhere_from_each_page() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if not target.startswith(("http://", "https://", "mailto:")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
