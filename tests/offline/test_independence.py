"""The offline server is independent: it loads nothing of Recall, no Django, and not the SDK."""

import ast
import subprocess
import sys
from pathlib import Path

import offline

HOUSE = ("recall", "accounts", "memory", "budget", "chat", "django", "channels", "celery", "anthropic")
FOLDER = Path(offline.__file__).parent


def test_starting_the_server_loads_nothing_of_recall() -> None:
    program = "import sys, offline.app; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", program], cwd=FOLDER.parent, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert not set(run.stdout.split()) & set(HOUSE)


def test_no_module_names_one_of_recall_in_an_import() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {name.partition(".")[0] for name in names} & set(HOUSE), path.name
