"""What does an entry of a ChatGPT export say? (docs/import-export.md tells which sources this rests on)

`mapping` is a tree of nodes, `current_node` the end of the branch that was followed. No file holds the saved memories:
they are found where the assistant noted them (messages to the tool `bio`) and where it was reminded of them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from chat.importing.fields import items, mapping, moment, name, text
from chat.importing.threads import (
    MESSAGE_CHARS,
    TITLE_CHARS,
    TOOL_CHARS,
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

ORIGIN: Final = "chatgpt"
TO_MEMORY: Final = "bio"
"""The tool by which the assistant saved a memory."""

NEVER_SEEN: Final = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "user_editable_context"})
"""Kinds of content that were no part of the talk: thinking, and what was put into the prompt unseen."""
PLACEHOLDERS: Final[Mapping[str, str]] = {
    "image_asset_pointer": "[image]",
    "audio_asset_pointer": "[sound]",
    "real_time_user_audio_video_asset_pointer": "[sound]",
    "video_container_asset_pointer": "[video]",
}
"""What stands for a part without text, where a message has nothing else."""

# Private-use characters fence citations of web pages; the older ones look like 【12†source】.
_CITATION: Final = re.compile("[ \t]*\ue200[^\ue201]*\ue201|【\\d+(?::\\d+)?†[^】]*】")
_NOTED: Final = re.compile(r"^\s*(?:\d+[.)]\s*)?(?:\[(\d{4}-\d{2}-\d{2})\]\.?\s*)?(?:[-*•]\s*)?(.*?)\s*$")
_TAKEN_BACK: Final = re.compile(r"^(?:please\s+)?forget\b", re.IGNORECASE)


def is_conversation(entry: Any) -> bool:
    """Whether this is a conversation of ChatGPT's."""
    return isinstance(entry, dict) and isinstance(entry.get("mapping"), dict)


def read(entry: Mapping[str, Any]) -> ParsedEntry:
    """The conversation, and the memories that show in it.

    Raises:
        BrokenEntryError: nothing in it can be read.
    """
    title = text(entry.get("title")).strip()[:TITLE_CHARS]
    pairs = [(key, mapping(node)) for key, node in mapping(entry["mapping"]).items()]
    if pairs and not any(node for _, node in pairs):
        raise BrokenEntryError(title or name(entry.get("id")))
    nodes = [_node(key, node) for key, node in pairs]
    said, leaf = tree(nodes, name(entry.get("current_node")))
    began, times = moment(entry.get("create_time")), [node.at for node in nodes if node.at]
    memories = [memory for _, node in pairs for memory in _memories(mapping(node.get("message")))]
    thread = ImportedConversation(
        origin=ORIGIN,
        key=name(entry.get("conversation_id") or entry.get("id")),
        title=title,
        said=said,
        leaf=leaf,
        began=began or min(times, default=None),
        ended=max(times, default=None) or moment(entry.get("update_time")) or began,
        left_out=sum(_left_out(mapping(node.get("message"))) for _, node in pairs),
    )
    return ParsedEntry(thread, _each_once(memories))


# Nodes -----------------------------------------------------------------------------------------------------------


def _node(key: str, told: Mapping[str, Any]) -> Node:
    message = mapping(told.get("message"))
    content, by = mapping(message.get("content")), mapping(message.get("author"))
    speaker = _speaker(message, content, by)
    node = Node(
        name(key) or name(told.get("id")),
        name(told.get("parent")) or None,
        speaker,
        at=moment(message.get("create_time")),
        model=text(mapping(message.get("metadata")).get("model_slug"))[:80],
    )
    if speaker == "nobody":
        return node
    recipient = text(message.get("recipient")) or "all"
    if by.get("role") == "tool":
        node.tools = (ToolStep(text(by.get("name")) or "tool", told=_text(content)[:TOOL_CHARS]),)
    elif speaker == "assistant" and recipient != "all":
        node.tools = (ToolStep(recipient, asked={"text": _text(content)[:TOOL_CHARS]}),)
    else:
        node.text = _CITATION.sub("", _text(content))[:MESSAGE_CHARS] or _placeholder(content)
    return node


def _speaker(message: Mapping[str, Any], content: Mapping[str, Any], by: Mapping[str, Any]) -> Speaker:
    hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if hidden or text(content.get("content_type")) in NEVER_SEEN or message.get("recipient") == TO_MEMORY:
        return "nobody"
    if by.get("role") == "tool" and by.get("name") == TO_MEMORY:
        return "nobody"
    return (
        _SPEAKERS.get(text(by.get("role")), "nobody") if _text(content).strip() or _placeholder(content) else "nobody"
    )


_SPEAKERS: Final[Mapping[str, Speaker]] = {"user": "user", "assistant": "assistant", "tool": "assistant"}


def _text(content: Mapping[str, Any]) -> str:
    """The words of a content of any kind: its parts, or whichever field holds a text."""
    parts = [piece for part in items(content.get("parts")) if (piece := _part(part))]
    if parts:
        return "\n\n".join(parts)
    return next((told for field in ("text", "result", "content") if (told := text(content.get(field)))), "")


def _part(part: Any) -> str:
    if isinstance(part, str):
        return text(part)
    return text(mapping(part).get("text"))  # a sound with its transcription, or a part of a newer kind


def _placeholder(content: Mapping[str, Any]) -> str:
    kinds = [text(mapping(part).get("content_type")) for part in items(content.get("parts"))]
    return " ".join(PLACEHOLDERS[kind] for kind in kinds if kind in PLACEHOLDERS)


def _left_out(message: Mapping[str, Any]) -> int:
    parts = items(mapping(message.get("content")).get("parts"))
    return sum(isinstance(part, dict) and not _part(part) for part in parts)


# Memories --------------------------------------------------------------------------------------------------------


def _memories(message: Mapping[str, Any]) -> Iterator[Memory]:
    content, at = mapping(message.get("content")), moment(message.get("create_time"))
    if message.get("recipient") == TO_MEMORY:
        yield from _noted(_from_json(_text(content)), at)
    yield from _noted(text(content.get("model_set_context")), at)
    if content.get("content_type") == "user_editable_context":
        yield from _noted(_fenced(text(content.get("user_profile"))), at)
        yield from _noted(_fenced(text(content.get("user_instructions"))), at, Kind.INSTRUCTION)


def _fenced(told: str) -> str:
    """What the person wrote: between fences, where the service wrote its own words around it."""
    return "\n".join(told.split("```")[1::2]) if "```" in told else told


def _from_json(told: str) -> str:
    """Newer versions wrap the note into an object."""
    if not told.lstrip().startswith("{"):
        return told
    try:
        wrapped = mapping(json.loads(told))
    except (ValueError, RecursionError):
        return told
    return "\n".join(filter(None, map(text, wrapped.values()))) or told


def _noted(told: str, at: datetime | None, kind: Kind = Kind.FACT) -> Iterator[Memory]:
    """One memory a line, as in “1. [2025-03-02]. User has a sister.”; headings and what is to be forgotten are none."""
    for line in told.splitlines():
        found = _NOTED.match(line)
        if found is None or not found[2] or found[2].startswith("#") or _TAKEN_BACK.match(found[2]):
            continue
        yield Memory(found[2], kind, moment(found[1]) or at)


def _each_once(memories: list[Memory]) -> list[Memory]:
    """Each once, as it was told first: reminders repeat the whole list in every conversation."""
    return list({memory.text: memory for memory in reversed(memories)}.values())[::-1]
