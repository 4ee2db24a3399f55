"""What does a conversation of any export become? A tree of what was said, each answer with what its tools did.

An export tells more nodes than were seen: system messages, thoughts, a node for each call of a tool. Here a node that
nobody saw is stepped over (what follows it follows its parent), and what an assistant did in one go becomes one answer.
No function here recurses: a tree may be as deep as the conversation is long.
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
"""Of one message; the rest is left out. A prompt holds a tenth of it."""
TOOL_CHARS: Final = 20_000
"""Of one tool result: pages a tool read are not the conversation."""
DOCUMENT_CHARS: Final = 2_000_000
"""As for an uploaded file (memory/documents/readers/limits.py)."""

Speaker = Literal["user", "assistant", "nobody"]


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A tool that was called, or what it told."""

    name: str
    asked: dict[str, Any] | None = None
    """What it was called with; None: this is what it told."""
    told: str = ""


@dataclass(frozen=True, slots=True)
class Attached:
    """The text of a file: it is not the person's own words, and becomes a document."""

    key: str
    """Its name at its origin."""
    name: str
    text: str
    folder: str = ""
    """Below /projects; empty: it was attached to a message."""


@dataclass(slots=True)
class Node:
    """One entry of the tree as the export tells it."""

    key: str
    parent: str | None
    speaker: Speaker
    text: str = ""
    at: datetime | None = None
    model: str = ""
    tools: tuple[ToolStep, ...] = ()


@dataclass(slots=True)
class ImportedMessage:
    """What somebody said: a question, or an answer with what its tools did."""

    key: str
    parent: str | None
    """Key of another `Said` that comes before it in the list."""
    speaker: Literal["user", "assistant"]
    texts: list[str] = field(default_factory=list)
    at: datetime | None = None
    model: str = ""
    tools: list[ToolStep] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation as it will be kept."""

    origin: str
    key: str
    title: str
    said: Sequence[ImportedMessage]
    """Parents before children."""
    leaf: str | None
    """Key of the last one on the branch that was being followed."""
    began: datetime | None
    ended: datetime | None
    attached: Sequence[Attached] = ()
    memories: Sequence[Memory] = ()
    """What the assistant was seen to note down in it."""
    left_out: int = 0
    """Pictures, sounds and other parts that have no text."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Something another assistant remembered of the person."""

    text: str
    kind: Kind = Kind.FACT
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """What one entry of a file holds."""

    thread: ImportedConversation | None = None
    memories: Sequence[Memory] = ()
    attached: Sequence[Attached] = ()


class BrokenEntryError(Exception):
    """An entry that cannot be read; the message names it."""


def tree(nodes: Sequence[Node], current: str | None) -> tuple[list[ImportedMessage], str | None]:
    """What was said, parents before children, and the key of the last one on the branch that leads to `current`."""
    by_key = {node.key: node for node in nodes}
    children = _children(nodes, by_key)
    said: dict[str, ImportedMessage] = {}
    place: dict[str, str | None] = {}  # node → the Said it became, or that its children follow
    for node in _in_order(children, by_key):
        before = said.get(place.get(node.parent or "") or "")
        if node.speaker == "nobody":
            place[node.key] = before.key if before else None
        elif _goes_on(node, before, children):
            assert before is not None
            _add(before, node)
            place[node.key] = before.key
        else:
            said[node.key] = _said(node, before)
            place[node.key] = node.key
    return list(said.values()), _leaf(place, said, current)


def _children(nodes: Iterable[Node], by_key: Mapping[str, Node]) -> dict[str | None, list[str]]:
    """Children by parent; a node whose parent is not there stands at the beginning."""
    children: dict[str | None, list[str]] = defaultdict(list)
    for node in nodes:
        if by_key.get(node.key) is node:  # of two with one name the later one counts
            parent = node.parent if node.parent in by_key and node.parent != node.key else None
            children[parent].append(node.key)
    return children


def _in_order(children: Mapping[str | None, list[str]], by_key: Mapping[str, Node]) -> Iterator[Node]:
    """Parents before children, branches in the order told; what hangs in a circle has no beginning and is left out."""
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        key = waiting.pop()
        yield by_key[key]
        waiting += reversed(children.get(key, []))


def _goes_on(node: Node, before: ImportedMessage | None, children: Mapping[str | None, list[str]]) -> bool:
    """Whether it is the same answer still: an assistant's, with nothing else that follows what came before it."""
    is_alone = len(children.get(node.parent, [])) == 1
    return node.speaker == before.speaker == "assistant" and is_alone if before is not None else False


def _said(node: Node, before: ImportedMessage | None) -> ImportedMessage:
    speaker: Literal["user", "assistant"] = "user" if node.speaker == "user" else "assistant"
    one = ImportedMessage(
        node.key, before.key if before else None, speaker, at=node.at or (before.at if before else None)
    )
    _add(one, node)
    return one


def _add(one: ImportedMessage, node: Node) -> None:
    if node.text.strip():
        one.texts.append(node.text)
    one.tools += node.tools
    one.model = node.model or one.model


def _leaf(place: Mapping[str, str | None], said: dict[str, ImportedMessage], current: str | None) -> str | None:
    """Where the conversation stood; where the export does not say, or is wrong, with the last thing that was said."""
    found = place.get(current or "")
    return found or next(reversed(said), None)
