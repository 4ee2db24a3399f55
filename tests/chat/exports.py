"""Exports of other assistants as files: written by hand in all their variants, and packed into zips."""

import io
import json
import zipfile
from typing import Any

from recall.environment import BASE_DIR

DATA = BASE_DIR / "tests/chat/data"
CHATGPT = (DATA / "chatgpt_conversations.json").read_bytes()
CLAUDE = (DATA / "claude_conversations.json").read_bytes()
CLAUDE_MEMORIES = json.dumps(
    [
        {
            "account_uuid": "acct",
            "conversations_memory": (
                "**Work**\n\nRui is a gardener in Porto. He prefers **short** answers.\n\n- Has a dog called Bob"
            ),
            "project_memories": {"p1": "The shop is called Folha."},
        }
    ]
).encode()
CLAUDE_PROJECTS = json.dumps(
    [
        {
            "uuid": "p1",
            "name": "Shop / Folha",
            "prompt_template": "Write like a gardener.",
            "docs": [{"uuid": "d1", "filename": "plan.md", "content": "# Plan\n\nSell seeds."}, {"filename": None}, 7],
        }
    ]
).encode()


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The members as a zip."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file.getvalue()


def conversation(key: str, *texts: str, title: str = "") -> dict[str, Any]:
    """A ChatGPT conversation with these alternating messages."""
    mapping: dict[str, Any] = {}
    for place, text in enumerate(texts):
        message = {
            "author": {"role": "assistant" if place % 2 else "user"},
            "content": {"content_type": "text", "parts": [text]},
            "create_time": 1_714_000_000 + place,
        }
        mapping[f"{key}-{place}"] = {"parent": f"{key}-{place - 1}" if place else None, "message": message}
    return {
        "title": title or key,
        "conversation_id": key,
        "mapping": mapping,
        "current_node": f"{key}-{len(texts) - 1}",
    }
