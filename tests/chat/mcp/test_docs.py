"""The contents of docs/mcp.md work: each configuration parses and names the address and a key; the program runs."""

import json
import re
import shlex
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from accounts.api.scopes import SCOPES
from accounts.models import User
from chat.mcp.tools import EXPOSED_TOOLS
from memory.documents import revisions
from memory.index.indexer import index_document
from recall.environment import BASE_DIR
from tests.chat.mcp.conftest import URL, Assistant

PAGE = (BASE_DIR / "docs" / "mcp.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ADDRESS = "https://recall.example.org/mcp"
READ_BY: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "sh": shlex.split}


def strings(value: Any) -> list[str]:
    """All texts in it, at any depth."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    return [text for one in value for text in strings(one)] if isinstance(value, list) else [str(value)]


@pytest.mark.parametrize(("kind", "text"), [block for block in BLOCKS if block[0] in READ_BY])
def test_each_configuration_can_be_read_and_names_the_address_and_a_key(kind: str, text: str) -> None:
    said = strings(READ_BY[kind](text))

    assert ADDRESS in said
    assert any(re.search(r"Bearer (rcl_…|\$\{[\w:-]+\})$", one) or one == "RECALL_KEY" for one in said)


def test_there_is_an_example_for_each_kind_of_assistant() -> None:
    assert [kind for kind, _ in BLOCKS] == ["sh", *["json"] * 5, "toml", "python"]


def test_the_table_of_tools_names_each_with_its_scope() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([\w:]+)` \|", PAGE, re.MULTILINE))

    assert rows == {name: exposed.tool.scope for name, exposed in EXPOSED_TOOLS.items()}
    assert set(rows.values()) <= set(SCOPES)


@pytest.mark.django_db
def test_the_program_finds_what_is_remembered(alice: User, assistant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = [text for kind, text in BLOCKS if kind == "python"]
    told: dict[str, Any] = {}
    exec(program, told)
    index_document(revisions.save(alice, "/profile/garden", "The bees swarm in May.", "user", started_from=0))
    hers: Assistant = assistant(alice)
    http = hers.http()
    monkeypatch.setattr(told["httpx2"], "AsyncClient", lambda **_: http)

    assert "The bees swarm in May." in async_to_sync(told["ask"])(URL, hers.secret, "When do the bees swarm?")
