"""Parser of Claude exports (sources: docs/import-export.md).

`chat_messages` is a list; newer exports name each message's parent, older ones are linear. Exports also contain the
memory (`conversations_memory`, prose) and projects with their documents.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from chat.importing.fields import as_id, as_list, as_mapping, as_text, as_time
from chat.importing.tree import (
    DOCUMENT_CHARS,
    MESSAGE_CHARS,
    TITLE_CHARS,
    TOOL_CHARS,
    AttachedFile,
    BrokenEntryError,
    ImportedConversation,
    ImportedMemory,
    Node,
    ParsedEntry,
    Speaker,
    ToolStep,
    build_tree,
)
from memory.models.kinds import Kind

ORIGIN: Final = "claude"
SPEAKERS: Final[Mapping[str, Speaker]] = {"human": "user", "user": "user", "assistant": "assistant"}
MEMORY_CHARS: Final = 400
"""A longer sentence of the memory is proposed whole; the user can shorten it."""

_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|__[^_]+__:?)\s*$")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_MARKS: Final = re.compile(r"\*\*|__|`")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"À-Þ])")
_DEPENDENT: Final = re.compile(r"^(?:he|she|they|his|her|their|it|its|this|these|that|also|both)\b", re.IGNORECASE)


def is_conversation(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("chat_messages"), list)


def is_memory(entry: Any) -> bool:
    """Whether this is the memory of a Claude account."""
    return isinstance(entry, dict) and bool({"conversations_memory", "project_memories"} & entry.keys())


def is_project(entry: Any) -> bool:
    """Whether this is a project with its documents."""
    return isinstance(entry, dict) and isinstance(entry.get("docs"), list)


# Conversations ---------------------------------------------------------------------------------------------------


def parse_conversation(entry: Mapping[str, Any]) -> ParsedEntry:
    """The conversation, with the files that were attached.

    Raises:
        BrokenEntryError: nothing in it can be read.
    """
    title = as_text(entry.get("name")).strip()[:TITLE_CHARS]
    messages = [as_mapping(message) for message in entry["chat_messages"]]
    if messages and not any(messages):
        raise BrokenEntryError(title or as_id(entry.get("uuid")))
    nodes = _nodes(messages, as_id(entry.get("uuid")))
    current = entry.get("current_leaf_message_uuid")
    said, leaf = build_tree(nodes, as_id(current) or _find_latest(nodes))
    times = [node.at for node in nodes if node.at]
    began = as_time(entry.get("created_at"))
    thread = ImportedConversation(
        origin=ORIGIN,
        key=as_id(entry.get("uuid")),
        title=title,
        messages=said,
        leaf=leaf,
        started_at=began or min(times, default=None),
        ended_at=max(times, default=None) or as_time(entry.get("updated_at")) or began,
        omitted_parts=sum(_count_omitted(message) for message in messages),
    )
    return ParsedEntry(thread, files=list(_attached_files(messages)))


def _nodes(messages: Iterable[Mapping[str, Any]], conversation: str) -> list[Node]:
    """A message without an id gets one from its position; without parents, each follows the one before."""
    raw = list(messages)
    keys = [as_id(message.get("uuid")) or f"{conversation[:80]}:{place}" for place, message in enumerate(raw)]
    is_tree = any("parent_message_uuid" in message for message in raw)
    before = [None, *keys][: len(keys)]
    return [
        _node(key, as_id(message.get("parent_message_uuid")) or None if is_tree else earlier, message)
        for key, earlier, message in zip(keys, before, raw, strict=True)
    ]


def _node(key: str, parent: str | None, message: Mapping[str, Any]) -> Node:
    said, tools = _text(message), tuple(_tools(message))
    speaker = SPEAKERS.get(as_text(message.get("sender")), "hidden")
    if not said and not tools:
        said = _placeholder(message)
    return Node(
        key,
        parent,
        speaker if said or tools else "hidden",
        said[:MESSAGE_CHARS],
        as_time(message.get("created_at")),
        as_text(message.get("model"))[:80],
        tools,
    )


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [as_mapping(block) for block in as_list(message.get("content"))]


def _text(message: Mapping[str, Any]) -> str:
    """The text blocks; older exports only have the field `text`. Thinking is not included."""
    raw = [as_text(block.get("text")) for block in _blocks(message) if block.get("type", "text") == "text"]
    return "\n\n".join(filter(str.strip, raw)) or as_text(message.get("text")).strip()


def _tools(message: Mapping[str, Any]) -> Iterator[ToolStep]:
    for block in _blocks(message):
        if block.get("type") == "tool_use":
            asked = block.get("input")
            yield ToolStep(
                as_text(block.get("name")) or "tool", input=_shorten(asked if isinstance(asked, dict) else {})
            )
        elif block.get("type") == "tool_result":
            yield ToolStep(as_text(block.get("name")) or "tool", output=_result(block.get("content"))[:TOOL_CHARS])


def _shorten(asked: dict[str, Any]) -> dict[str, Any]:
    written = json.dumps(asked, ensure_ascii=True)
    return asked if len(written) <= TOOL_CHARS else {"text": written[:TOOL_CHARS]}


def _result(content: Any) -> str:
    if isinstance(content, str):
        return as_text(content)
    return "\n\n".join(filter(None, (as_text(as_mapping(block).get("text")) for block in as_list(content))))


def _files(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [as_mapping(file) for field in ("attachments", "files", "files_v2") for file in as_list(message.get(field))]


def _placeholder(message: Mapping[str, Any]) -> str:
    names = [as_text(file.get("file_name")).strip() for file in _files(message)]
    return " ".join(dict.fromkeys(f"[{called[:200]}]" for called in names if called))


def _count_omitted(message: Mapping[str, Any]) -> int:
    return sum(not as_text(file.get("extracted_content")).strip() for file in _files(message))


def _find_latest(nodes: Iterable[Node]) -> str | None:
    """The leaf of the newest branch: exports don't always name the active one."""
    latest: Node | None = None
    for node in nodes:
        if node.speaker != "hidden" and (latest is None or not (node.at and latest.at and node.at < latest.at)):
            latest = node
    return latest.key if latest else None


def _attached_files(messages: Iterable[Mapping[str, Any]]) -> Iterator[AttachedFile]:
    for message in messages:
        for place, file in enumerate(_files(message)):
            content = as_text(file.get("extracted_content"))
            if content.strip():
                key = f"{as_id(message.get('uuid'))}:{place}"
                yield AttachedFile(
                    key, as_text(file.get("file_name")).strip() or "pasted text", content[:DOCUMENT_CHARS]
                )


# Projects --------------------------------------------------------------------------------------------------------


def parse_project(entry: Mapping[str, Any]) -> ParsedEntry:
    """The project's documents, including its instructions."""
    folder, key = as_text(entry.get("name")).strip() or "Untitled", as_id(entry.get("uuid"))
    documents = [AttachedFile(f"{key}:instructions", "instructions", as_text(entry.get("prompt_template")), folder)]
    for place, raw in enumerate(map(as_mapping, entry["docs"])):
        called, content = as_text(raw.get("filename")).strip() or "Untitled", as_text(raw.get("content"))
        file_id = as_id(raw.get("uuid")) or str(place)
        documents.append(AttachedFile(f"{key}:{file_id}", called, content[:DOCUMENT_CHARS], folder))
    return ParsedEntry(files=[document for document in documents if document.text.strip()])


# Memories --------------------------------------------------------------------------------------------------------


def parse_memory(entry: Mapping[str, Any]) -> ParsedEntry:
    """The memory of the account and of each project, as statements."""
    raw = [as_text(entry.get("conversations_memory"))]
    raw += map(as_text, as_mapping(entry.get("project_memories")).values())
    statements = [statement for prose in raw for statement in split_statements(prose)]
    return ParsedEntry(memories=[ImportedMemory(statement, Kind.FACT) for statement in dict.fromkeys(statements)])


def split_statements(prose: str) -> Iterator[str]:
    """The sentences of a memory; one that depends on the previous one (“She …”) stays with it. Skips headings."""
    for line in prose.splitlines():
        if not line.strip() or _HEADING.match(line):
            continue
        yield from _join_dependent(_SENTENCE_END.split(_MARKS.sub("", _BULLET.sub("", line)).strip()))


def _join_dependent(sentences: Iterable[str]) -> Iterator[str]:
    gathered = ""
    for sentence in filter(None, map(str.strip, sentences)):
        if gathered and (not _DEPENDENT.match(sentence) or len(gathered) + len(sentence) > MEMORY_CHARS):
            yield gathered
            gathered = ""
        gathered = f"{gathered} {sentence}".strip()
    if gathered:
        yield gathered
