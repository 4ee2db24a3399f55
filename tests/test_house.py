"""Each package has a card and few modules, so that a newcomer finds the right one."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("recall", "accounts", "memory", "budget", "chat", "offline", "bench")
PACKAGES = sorted(
    path.parent
    for app in APPS
    for path in (ROOT / app).rglob("__init__.py")
    if not {"migrations", "management"} & set(path.parts)
)
MAX_LINES = 10
MAX_MODULES = 18


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_says_where_to_enter_and_what_it_never_does(package: Path) -> None:
    card = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    assert len(card.splitlines()) <= MAX_LINES
    assert [word for word in ("enter", "never") if word not in card.lower()] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_has_few_modules(package: Path) -> None:
    assert len([path for path in package.glob("*.py") if path.name != "__init__.py"]) <= MAX_MODULES
