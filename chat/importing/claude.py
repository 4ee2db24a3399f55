"""What does an entry of a Claude export say? (docs/import-export.md tells which sources this rests on)

`chat_messages` is a list; newer exports name each message's parent, older ones are a line. Beside the conversations
there are the memory (`conversations_memory`, prose) and the projects with their documents.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from chat.importing.fields import items, mapping, moment, name, text
from chat.importing.threads import (
    DOCUMENT_CHARS,
    MESSAGE_CHARS,
    TITLE_CHARS,
    TOOL_CHARS,
    Attached,
    BrokenEntryError,
    ImportedConversation,
    Memory,
    Node,
    ParsedEntry,
    Speaker,
    ToolStep,
    tree,
)
from memory.models.kinds import Kind

ORIGIN: Final = "claude"
SPEAKERS: Final[Mapping[str, Speaker]] = {"human": "user", "user": "user", "assistant": "assistant"}
MEMORY_CHARS: Final = 400
"""A sentence of the memory that is longer is given whole, and is the person's to shorten."""

_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|__[^_]+__:?)\s*$")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_MARKS: Final = re.compile(r"\*\*|__|`")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"À-Þ])")
_LEANS_ON_ANOTHER: Final = re.compile(
    r"^(?:he|she|they|his|her|their|it|its|this|these|that|also|both)\b", re.IGNORECASE
)


def is_conversation(entry: Any) -> bool:
    """Whether this is a conversation of Claude's."""
    return isinstance(entry, dict) and isinstance(entry.get("chat_messages"), list)


def is_memory(entry: Any) -> bool:
    """Whether this is what Claude remembers of an account."""
    return isinstance(entry, dict) and bool({"conversations_memory", "project_memories"} & entry.keys())


def is_project(entry: Any) -> bool:
    """Whether this is a project with its documents."""
    return isinstance(entry, dict) and isinstance(entry.get("docs"), list)


# Conversations ---------------------------------------------------------------------------------------------------


def read(entry: Mapping[str, Any]) -> ParsedEntry:
    """The conversation, with the files that were attached.

    Raises:
        BrokenEntryError: nothing in it can be read.
    """
    title = text(entry.get("name")).strip()[:TITLE_CHARS]
    messages = [mapping(message) for message in entry["chat_messages"]]
    if messages and not any(messages):
        raise BrokenEntryError(title or name(entry.get("uuid")))
    nodes = _nodes(messages, name(entry.get("uuid")))
    current = entry.get("current_leaf_message_uuid")
    said, leaf = tree(nodes, name(current) or _latest(nodes))
    times = [node.at for node in nodes if node.at]
    began = moment(entry.get("created_at"))
    thread = ImportedConversation(
        origin=ORIGIN,
        key=name(entry.get("uuid")),
        title=title,
        said=said,
        leaf=leaf,
        began=began or min(times, default=None),
        ended=max(times, default=None) or moment(entry.get("updated_at")) or began,
        attached=list(_attached(messages)),
        left_out=sum(_left_out(message) for message in messages),
    )
    return ParsedEntry(thread, attached=thread.attached)


def _nodes(messages: Iterable[Mapping[str, Any]], conversation: str) -> list[Node]:
    """A message without a name has one by its place; where no parents are told, each follows the one before."""
    told = list(messages)
    keys = [name(message.get("uuid")) or f"{conversation[:80]}:{place}" for place, message in enumerate(told)]
    is_tree = any("parent_message_uuid" in message for message in told)
    before = [None, *keys][: len(keys)]
    return [
        _node(key, name(message.get("parent_message_uuid")) or None if is_tree else earlier, message)
        for key, earlier, message in zip(keys, before, told, strict=True)
    ]


def _node(key: str, parent: str | None, message: Mapping[str, Any]) -> Node:
    said, tools = _text(message), tuple(_tools(message))
    speaker = SPEAKERS.get(text(message.get("sender")), "nobody")
    if not said and not tools:
        said = _placeholder(message)
    return Node(
        key,
        parent,
        speaker if said or tools else "nobody",
        said[:MESSAGE_CHARS],
        moment(message.get("created_at")),
        text(message.get("model"))[:80],
        tools,
    )


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [mapping(block) for block in items(message.get("content"))]


def _text(message: Mapping[str, Any]) -> str:
    """The text blocks; older exports have the field `text` alone. Thinking is no part of the talk."""
    told = [text(block.get("text")) for block in _blocks(message) if block.get("type", "text") == "text"]
    return "\n\n".join(filter(str.strip, told)) or text(message.get("text")).strip()


def _tools(message: Mapping[str, Any]) -> Iterator[ToolStep]:
    for block in _blocks(message):
        if block.get("type") == "tool_use":
            asked = block.get("input")
            yield ToolStep(text(block.get("name")) or "tool", asked=_short(asked if isinstance(asked, dict) else {}))
        elif block.get("type") == "tool_result":
            yield ToolStep(text(block.get("name")) or "tool", told=_result(block.get("content"))[:TOOL_CHARS])


def _short(asked: dict[str, Any]) -> dict[str, Any]:
    written = json.dumps(asked, ensure_ascii=True)
    return asked if len(written) <= TOOL_CHARS else {"text": written[:TOOL_CHARS]}


def _result(content: Any) -> str:
    if isinstance(content, str):
        return text(content)
    return "\n\n".join(filter(None, (text(mapping(block).get("text")) for block in items(content))))


def _files(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [mapping(file) for field in ("attachments", "files", "files_v2") for file in items(message.get(field))]


def _placeholder(message: Mapping[str, Any]) -> str:
    names = [text(file.get("file_name")).strip() for file in _files(message)]
    return " ".join(dict.fromkeys(f"[{called[:200]}]" for called in names if called))


def _left_out(message: Mapping[str, Any]) -> int:
    return sum(not text(file.get("extracted_content")).strip() for file in _files(message))


def _latest(nodes: Iterable[Node]) -> str | None:
    """The end of the newest branch: exports do not always say which one was followed."""
    latest: Node | None = None
    for node in nodes:
        if node.speaker != "nobody" and (latest is None or not (node.at and latest.at and node.at < latest.at)):
            latest = node
    return latest.key if latest else None


def _attached(messages: Iterable[Mapping[str, Any]]) -> Iterator[Attached]:
    for message in messages:
        for place, file in enumerate(_files(message)):
            content = text(file.get("extracted_content"))
            if content.strip():
                key = f"{name(message.get('uuid'))}:{place}"
                yield Attached(key, text(file.get("file_name")).strip() or "pasted text", content[:DOCUMENT_CHARS])


# Projects --------------------------------------------------------------------------------------------------------


def project(entry: Mapping[str, Any]) -> ParsedEntry:
    """The project's documents, its instructions among them."""
    folder, key = text(entry.get("name")).strip() or "Untitled", name(entry.get("uuid"))
    documents = [Attached(f"{key}:instructions", "instructions", text(entry.get("prompt_template")), folder)]
    for place, told in enumerate(map(mapping, entry["docs"])):
        called, content = text(told.get("filename")).strip() or "Untitled", text(told.get("content"))
        own = name(told.get("uuid")) or str(place)
        documents.append(Attached(f"{key}:{own}", called, content[:DOCUMENT_CHARS], folder))
    return ParsedEntry(attached=[document for document in documents if document.text.strip()])


# Memories --------------------------------------------------------------------------------------------------------


def memory(entry: Mapping[str, Any]) -> ParsedEntry:
    """What Claude remembers of the account and in each project, a statement each."""
    told = [text(entry.get("conversations_memory"))]
    told += map(text, mapping(entry.get("project_memories")).values())
    statements = [statement for prose in told for statement in statements_of(prose)]
    return ParsedEntry(memories=[Memory(statement, Kind.FACT) for statement in dict.fromkeys(statements)])


def statements_of(prose: str) -> Iterator[str]:
    """The sentences of a memory; one that leans on the one before it (“She …”) stays with it. Headings are none."""
    for line in prose.splitlines():
        if not line.strip() or _HEADING.match(line):
            continue
        yield from _together(_SENTENCE_END.split(_MARKS.sub("", _BULLET.sub("", line)).strip()))


def _together(sentences: Iterable[str]) -> Iterator[str]:
    gathered = ""
    for sentence in filter(None, map(str.strip, sentences)):
        if gathered and (not _LEANS_ON_ANOTHER.match(sentence) or len(gathered) + len(sentence) > MEMORY_CHARS):
            yield gathered
            gathered = ""
        gathered = f"{gathered} {sentence}".strip()
    if gathered:
        yield gathered
