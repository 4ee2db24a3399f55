"""Parser of ChatGPT exports (sources: docs/import-export.md).

`mapping` is a tree of nodes, `current_node` the leaf of the active branch. No file contains the saved memories: they
are taken from messages to the tool `bio`, which saved them, and from context messages that repeat them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from chat.importing.fields import as_id, as_list, as_mapping, as_text, as_time
from chat.importing.tree import (
    MESSAGE_CHARS,
    TITLE_CHARS,
    TOOL_CHARS,
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

ORIGIN: Final = "chatgpt"
MEMORY_TOOL: Final = "bio"
"""The tool by which the assistant saved a memory."""

HIDDEN_CONTENT: Final = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "user_editable_context"})
"""Content types that were not shown: thinking, and context added to the prompt."""
PLACEHOLDERS: Final[Mapping[str, str]] = {
    "image_asset_pointer": "[image]",
    "audio_asset_pointer": "[sound]",
    "real_time_user_audio_video_asset_pointer": "[sound]",
    "video_container_asset_pointer": "[video]",
}
"""Text for a part without text, if the message has nothing else."""

# Private-use characters fence citations of web pages; the older ones look like 【12†source】.
_CITATION: Final = re.compile("[ \t]*\ue200[^\ue201]*\ue201|【\\d+(?::\\d+)?†[^】]*】")
_MEMORY_LINE: Final = re.compile(r"^\s*(?:\d+[.)]\s*)?(?:\[(\d{4}-\d{2}-\d{2})\]\.?\s*)?(?:[-*•]\s*)?(.*?)\s*$")
_FORGET_REQUEST: Final = re.compile(r"^(?:please\s+)?forget\b", re.IGNORECASE)


def is_conversation(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("mapping"), dict)


def parse_conversation(entry: Mapping[str, Any]) -> ParsedEntry:
    """The conversation, and the memories saved in it.

    Raises:
        BrokenEntryError: nothing in it can be read.
    """
    title = as_text(entry.get("title")).strip()[:TITLE_CHARS]
    pairs = [(key, as_mapping(node)) for key, node in as_mapping(entry["mapping"]).items()]
    if pairs and not any(node for _, node in pairs):
        raise BrokenEntryError(title or as_id(entry.get("id")))
    nodes = [_node(key, node) for key, node in pairs]
    said, leaf = build_tree(nodes, as_id(entry.get("current_node")))
    began, times = as_time(entry.get("create_time")), [node.at for node in nodes if node.at]
    memories = [memory for _, node in pairs for memory in _memories(as_mapping(node.get("message")))]
    thread = ImportedConversation(
        origin=ORIGIN,
        key=as_id(entry.get("conversation_id") or entry.get("id")),
        title=title,
        messages=said,
        leaf=leaf,
        started_at=began or min(times, default=None),
        ended_at=max(times, default=None) or as_time(entry.get("update_time")) or began,
        omitted_parts=sum(_count_omitted(as_mapping(node.get("message"))) for _, node in pairs),
    )
    return ParsedEntry(thread, _deduplicate(memories))


# Nodes -----------------------------------------------------------------------------------------------------------


def _node(key: str, raw: Mapping[str, Any]) -> Node:
    message = as_mapping(raw.get("message"))
    content, by = as_mapping(message.get("content")), as_mapping(message.get("author"))
    speaker = _speaker(message, content, by)
    node = Node(
        as_id(key) or as_id(raw.get("id")),
        as_id(raw.get("parent")) or None,
        speaker,
        at=as_time(message.get("create_time")),
        model=as_text(as_mapping(message.get("metadata")).get("model_slug"))[:80],
    )
    if speaker == "hidden":
        return node
    recipient = as_text(message.get("recipient")) or "all"
    if by.get("role") == "tool":
        node.tools = (ToolStep(as_text(by.get("name")) or "tool", output=_text(content)[:TOOL_CHARS]),)
    elif speaker == "assistant" and recipient != "all":
        node.tools = (ToolStep(recipient, input={"text": _text(content)[:TOOL_CHARS]}),)
    else:
        node.text = _CITATION.sub("", _text(content))[:MESSAGE_CHARS] or _placeholder(content)
    return node


def _speaker(message: Mapping[str, Any], content: Mapping[str, Any], by: Mapping[str, Any]) -> Speaker:
    hidden = as_mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if hidden or as_text(content.get("content_type")) in HIDDEN_CONTENT or message.get("recipient") == MEMORY_TOOL:
        return "hidden"
    if by.get("role") == "tool" and by.get("name") == MEMORY_TOOL:
        return "hidden"
    return (
        _SPEAKERS.get(as_text(by.get("role")), "hidden")
        if _text(content).strip() or _placeholder(content)
        else "hidden"
    )


_SPEAKERS: Final[Mapping[str, Speaker]] = {"user": "user", "assistant": "assistant", "tool": "assistant"}


def _text(content: Mapping[str, Any]) -> str:
    """The text of content of any type: its parts, or the first field with text."""
    parts = [piece for part in as_list(content.get("parts")) if (piece := _part(part))]
    if parts:
        return "\n\n".join(parts)
    return next((raw for field in ("text", "result", "content") if (raw := as_text(content.get(field)))), "")


def _part(part: Any) -> str:
    if isinstance(part, str):
        return as_text(part)
    return as_text(as_mapping(part).get("text"))  # audio with its transcription, or a part of a newer type


def _placeholder(content: Mapping[str, Any]) -> str:
    kinds = [as_text(as_mapping(part).get("content_type")) for part in as_list(content.get("parts"))]
    return " ".join(PLACEHOLDERS[kind] for kind in kinds if kind in PLACEHOLDERS)


def _count_omitted(message: Mapping[str, Any]) -> int:
    parts = as_list(as_mapping(message.get("content")).get("parts"))
    return sum(isinstance(part, dict) and not _part(part) for part in parts)


# Memories --------------------------------------------------------------------------------------------------------


def _memories(message: Mapping[str, Any]) -> Iterator[ImportedMemory]:
    content, at = as_mapping(message.get("content")), as_time(message.get("create_time"))
    if message.get("recipient") == MEMORY_TOOL:
        yield from _parse_memories(_unwrap_json(_text(content)), at)
    yield from _parse_memories(as_text(content.get("model_set_context")), at)
    if content.get("content_type") == "user_editable_context":
        yield from _parse_memories(_strip_wrapper(as_text(content.get("user_profile"))), at)
        yield from _parse_memories(_strip_wrapper(as_text(content.get("user_instructions"))), at, Kind.INSTRUCTION)


def _strip_wrapper(raw: str) -> str:
    """The user's own text: the fenced parts, if the service added words around them."""
    return "\n".join(raw.split("```")[1::2]) if "```" in raw else raw


def _unwrap_json(raw: str) -> str:
    """The text of a memory; newer exports wrap it in a JSON object."""
    if not raw.lstrip().startswith("{"):
        return raw
    try:
        wrapped = as_mapping(json.loads(raw))
    except (ValueError, RecursionError):
        return raw
    return "\n".join(filter(None, map(as_text, wrapped.values()))) or raw


def _parse_memories(raw: str, at: datetime | None, kind: Kind = Kind.FACT) -> Iterator[ImportedMemory]:
    """One memory per line, as in “1. [2025-03-02]. User has a sister.”; skips headings and requests to forget."""
    for line in raw.splitlines():
        found = _MEMORY_LINE.match(line)
        if found is None or not found[2] or found[2].startswith("#") or _FORGET_REQUEST.match(found[2]):
            continue
        yield ImportedMemory(found[2], kind, as_time(found[1]) or at)


def _deduplicate(memories: list[ImportedMemory]) -> list[ImportedMemory]:
    """The first of each: context messages repeat the whole list in every conversation."""
    return list({memory.text: memory for memory in reversed(memories)}.values())[::-1]
