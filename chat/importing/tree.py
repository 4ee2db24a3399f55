"""The conversation tree that every export is turned into: messages, each answer with its tool calls and results.

Exports contain nodes that the user never saw, such as system messages and tool calls. A hidden node is skipped: its
children follow its parent. Consecutive assistant nodes become one answer. Nothing here recurses, because a tree can be
as deep as the conversation is long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from memory.models.kinds import Kind

TITLE_CHARS: Final = 200
MESSAGE_CHARS: Final = 2_000_000
"""Characters of one message; the rest is dropped. A prompt holds a tenth of it."""
TOOL_CHARS: Final = 20_000
"""Characters of one tool result: pages that a tool read aren't the conversation."""
DOCUMENT_CHARS: Final = 2_000_000
"""The same as for an uploaded file (memory/documents/readers/limits.py)."""

Speaker = Literal["user", "assistant", "hidden"]


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A tool call, or its result."""

    name: str
    input: dict[str, Any] | None = None
    """Arguments of a call; None for a result."""
    output: str = ""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """The text of a file. It isn't the user's own words, so it becomes a document."""

    key: str
    """Its id at its origin."""
    name: str
    text: str
    folder: str = ""
    """Folder in /projects; empty for a file attached to a message."""


@dataclass(slots=True)
class Node:
    """One node of the tree as exported."""

    key: str
    parent: str | None
    speaker: Speaker
    text: str = ""
    at: datetime | None = None
    model: str = ""
    tools: tuple[ToolStep, ...] = ()


@dataclass(slots=True)
class ImportedMessage:
    """A user message, or an answer with its tool calls."""

    key: str
    parent: str | None
    """Key of an earlier message in the list."""
    speaker: Literal["user", "assistant"]
    texts: list[str] = field(default_factory=list)
    at: datetime | None = None
    model: str = ""
    tools: list[ToolStep] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation as it will be stored."""

    origin: str
    key: str
    title: str
    messages: Sequence[ImportedMessage]
    """Parents before children."""
    leaf: str | None
    """Key of the last message on the branch that was active."""
    started_at: datetime | None
    ended_at: datetime | None
    omitted_parts: int = 0
    """Images, audio and other parts without text."""


@dataclass(frozen=True, slots=True)
class ImportedMemory:
    """Something another assistant remembered about the user."""

    text: str
    kind: Kind = Kind.FACT
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """The contents of one entry of a file."""

    conversation: ImportedConversation | None = None
    memories: Sequence[ImportedMemory] = ()
    files: Sequence[AttachedFile] = ()


class BrokenEntryError(Exception):
    """An entry that can't be read; the message names it."""


def build_tree(nodes: Sequence[Node], current: str | None) -> tuple[list[ImportedMessage], str | None]:
    """Messages, parents before children, and the key of the last one on the branch that leads to `current`."""
    by_key = {node.key: node for node in nodes}
    children = _group_children(nodes, by_key)
    messages: dict[str, ImportedMessage] = {}
    place: dict[str, str | None] = {}  # node → the message it became, or the one its children follow
    for node in _walk(children, by_key):
        before = messages.get(place.get(node.parent or "") or "")
        if node.speaker == "hidden":
            place[node.key] = before.key if before else None
        elif _continues_answer(node, before, children):
            assert before is not None
            _extend(before, node)
            place[node.key] = before.key
        else:
            messages[node.key] = _new_message(node, before)
            place[node.key] = node.key
    # The export may name no leaf, or a missing one.
    return list(messages.values()), place.get(current or "") or next(reversed(messages), None)


def _group_children(nodes: Iterable[Node], by_key: Mapping[str, Node]) -> dict[str | None, list[str]]:
    """Children by parent; a node whose parent is missing is a root."""
    children: dict[str | None, list[str]] = defaultdict(list)
    for node in nodes:
        if by_key.get(node.key) is node:  # if two have the same key, the later one counts
            parent = node.parent if node.parent in by_key and node.parent != node.key else None
            children[parent].append(node.key)
    return children


def _walk(children: Mapping[str | None, list[str]], by_key: Mapping[str, Node]) -> Iterator[Node]:
    """Parents before children, branches in their exported order. A cycle has no root and is dropped."""
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        key = waiting.pop()
        yield by_key[key]
        waiting += reversed(children.get(key, []))


def _continues_answer(node: Node, before: ImportedMessage | None, children: Mapping[str | None, list[str]]) -> bool:
    """Whether the node continues the answer before it: both are the assistant's, and there is no other branch."""
    is_alone = len(children.get(node.parent, [])) == 1
    return node.speaker == before.speaker == "assistant" and is_alone if before is not None else False


def _new_message(node: Node, before: ImportedMessage | None) -> ImportedMessage:
    speaker: Literal["user", "assistant"] = "user" if node.speaker == "user" else "assistant"
    message = ImportedMessage(
        node.key, before.key if before else None, speaker, at=node.at or (before.at if before else None)
    )
    _extend(message, node)
    return message


def _extend(message: ImportedMessage, node: Node) -> None:
    if node.text.strip():
        message.texts.append(node.text)
    message.tools += node.tools
    message.model = node.model or message.model
