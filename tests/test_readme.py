"""The README cannot lie: its map, its commands and its links are true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
MAP = re.findall(r"^\| (.+\?) \| `([\w/]+\.py): (\w+)` \|$", README, re.MULTILINE)
LOOK = (ROOT / "docs" / "design.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_map_has_rows() -> None:
    rows = README.split("## Where is what decided?")[1].split("Imports go one way")[0].count("\n| ")
    assert len(MAP) == rows - 1 > 20, "each row of the table but its head is read by this test"


@pytest.mark.parametrize(("question", "file", "name"), MAP)
def test_the_map_leads_to(question: str, file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    defined = {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    assert name in defined, question


@pytest.mark.parametrize("command", re.findall(r"^    make (\w+)$", README, re.MULTILINE))
def test_the_makefile_has(command: str) -> None:
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("sheet", sorted((ROOT / "static" / "css").glob("*.css")), ids=lambda sheet: sheet.name)
def test_the_page_on_the_look_names_the_stylesheet(sheet: Path) -> None:
    assert f"`{sheet.name}`" in LOOK


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_from(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), target
