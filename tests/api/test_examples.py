"""The documentation's client and examples, against a running server."""

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest

from accounts.api import keys
from accounts.api.scopes import SCOPES
from memory.models import Document, Fact
from recall.environment import BASE_DIR

EXAMPLES = BASE_DIR / "docs" / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`example("talk")` imports that file as a person's Python would."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def example(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield example
    for path in EXAMPLES.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_the_client_and_every_example_do_what_they_say(
    address: str, example: Any, alice: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, secret = keys.create_key(alice, "examples", SCOPES)
    client = example("recall_client")
    with client.Recall(address, secret) as recall:
        _talking(recall, example, capsys)
        _remembering(recall, example, alice)
        _notes(recall, example, tmp_path)
        with pytest.raises(client.ApiError, match="Not found") as refused:
            recall.get("/memory/facts/1000000")
        assert refused.value.status == 404
    with client.Recall(address, keys.create_key(alice, "narrow", ["export"])[1]) as narrow:
        with pytest.raises(client.ApiError) as refused:
            narrow.send("Good morning").read_all()
        assert refused.value.kind == "missing-scope"


def _talking(recall: Any, example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    client_id = uuid4()
    answer = recall.send("Good morning", client_id=client_id)
    pieces = list(answer)
    assert "".join(pieces) == answer.text
    assert answer.outcome == "complete"
    assert recall.send("Good morning", client_id=client_id).read_all() == answer.text
    example("talk").talk(recall, ["Good morning", "And now?"])
    assert capsys.readouterr().out.strip()
    assert len(list(recall.conversations())) == 2, "the same client id began no third one"
    latest = next(recall.conversations(limit=1))
    assert [message["role"] for message in recall.messages(latest["id"])] == ["user", "assistant"] * 2


def _remembering(recall: Any, example: Any, alice: Any) -> None:
    assert "waits under Memory, To review" in recall.remember("The user keeps bees behind the house.")
    assert "not stored" in recall.remember("The user keeps bees behind the house.")
    (waiting,) = recall.proposals()
    asked: list[str] = []

    def answered(words: str) -> str:
        asked.append(words)
        return "y"

    assert example("review_queue").review_queue(recall, answered) == 1
    assert "bees" in asked[0]
    assert Fact.objects.get(pk=waiting["id"]).status == "active"
    (line, *_) = example("search_memory").search_memory(recall, "Who keeps bees?")
    assert f"fact:{waiting['id']}" in line
    assert [fact["statement"] for fact in recall.facts(q="bees")] == ["The user keeps bees behind the house."]


def _notes(recall: Any, example: Any, tmp_path: Path) -> None:
    (tmp_path / "bows.md").write_text("# Bows\n\nOf pernambuco.")
    assert example("sync_notes").sync_notes(recall, tmp_path) == {"new": 1}
    assert example("sync_notes").sync_notes(recall, tmp_path) == {"unchanged": 1}
    assert Document.objects.filter(text__contains="pernambuco").exists()
    assert recall.write("/reference/strings", "Of gut.")["version"] == 1


def test_the_examples_say_how_to_start_them_and_import_nothing_of_recall() -> None:
    for path in EXAMPLES.glob("*.py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path.name
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ours = ("recall.", "accounts", "memory", "budget", "chat")
        assert not any(name.startswith(ours) or name == "recall" for name in imported), path.name
