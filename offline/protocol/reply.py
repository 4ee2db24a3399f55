"""The parts of an answer before it is sent, and its truncation to the tokens it may have."""

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from offline.protocol import tokenizer
from offline.protocol.models import Model
from offline.protocol.prompt import TOOL_TOKENS, Prompt, binding
from offline.protocol.signature import sign

Json = dict[str, Any]

WORD = re.compile(r"\S+\s*|\s+")  # one delta of a text
SEALED = "b2ZmbGluZS1kZW1v"
REFUSAL = {"type": "refusal", "category": None, "explanation": "Refused on demand by the offline server."}


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class Search:
    """A web search by the provider's own tool, with the pages it found (`title`, `url`, optionally `page_age`)."""

    query: str
    pages: tuple[Json, ...]


type Block = Text | Thinking | ToolCall | Search


@dataclass(frozen=True, slots=True)
class Reply:
    """Blocks in order, thinking first if there is any. `stop_reason` is only set by a script."""

    blocks: tuple[Block, ...]
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply truncated to the room it has, in the provider's shapes."""

    content: list[Json]
    stop_reason: str
    stop_sequence: str | None
    output_tokens: int
    thinking_tokens: int

    @property
    def stop_details(self) -> Json | None:
        return REFUSAL if self.stop_reason == "refusal" else None


def compose(reply: Reply, body: Json, model: Model, prompt: Prompt, stop: str | None = None) -> Answer:
    """Truncate a reply at stop sequences and at `max_tokens` or the window. `stop`: break it off half-way with this
    reason."""
    thinking = body.get("thinking") or {}
    wanted = [block for block in reply.blocks if not isinstance(block, Thinking) or thinking.get("type") == "adaptive"]
    blocks, sequence = _at_stop_sequence(wanted, body.get("stop_sequences") or [])
    room, reason = _room(body, model, prompt)
    stop = stop or reply.stop_reason
    if stop not in (None, "end_turn", "tool_use"):
        room, reason = min(room, sum(map(_tokens, blocks)) // 2), str(stop)
    blocks, cut = _fit(blocks, room)
    if reply.blocks and not cut:
        reason = _natural_stop(blocks, sequence)
    return Answer(
        content=_content(blocks, thinking.get("display") == "summarized", prompt),
        stop_reason=reason,
        stop_sequence=sequence if reason == "stop_sequence" else None,
        output_tokens=sum(map(_tokens, blocks)),
        thinking_tokens=sum(_tokens(block) for block in blocks if isinstance(block, Thinking)),
    )


def _room(body: Json, model: Model, prompt: Prompt) -> tuple[int, str]:
    """The output tokens there is room for, and the stop reason if they aren't enough."""
    left = model.context - prompt.total
    wanted: int = body["max_tokens"]
    return (wanted, "max_tokens") if wanted <= left else (left, "model_context_window_exceeded")


def _natural_stop(blocks: list[Block], sequence: str | None) -> str:
    if sequence is not None:
        return "stop_sequence"
    return "tool_use" if any(isinstance(block, ToolCall) for block in blocks) else "end_turn"


def _at_stop_sequence(blocks: list[Block], sequences: list[str]) -> tuple[list[Block], str | None]:
    """The blocks up to the first stop sequence in a text, and that sequence."""
    for at, block in enumerate(blocks):
        if not isinstance(block, Text):
            continue
        found = [(block.text.find(sequence), sequence) for sequence in sequences if sequence in block.text]
        if found:
            end, sequence = min(found)
            return [*blocks[:at], Text(block.text[:end])], sequence
    return blocks, None


def _fit(blocks: list[Block], room: int) -> tuple[list[Block], bool]:
    """As much as fits into `room` tokens, and whether anything was cut. A call is sent whole or not at all."""
    kept: list[Block] = []
    for block in blocks:
        needed = _tokens(block)
        if needed <= room:
            kept.append(block)
            room -= needed
            continue
        if isinstance(block, Text | Thinking):
            kept.append(type(block)(_leading_words(block.text, room)))
        return kept, True
    return kept, False


def _leading_words(text: str, room: int) -> str:
    words = []
    for word in WORD.findall(text):
        room -= tokenizer.count(word)
        if room < 0:
            break
        words.append(word)
    return "".join(words)


def _tokens(block: Block) -> int:
    """Output tokens: the sum over the deltas, so that an interrupted stream has an exact count."""
    if isinstance(block, ToolCall):
        return TOOL_TOKENS + tokenizer.count(block.name) + tokenizer.count(json.dumps(block.input))
    if isinstance(block, Search):
        return TOOL_TOKENS + tokenizer.count(block.query)
    return sum(map(tokenizer.count, WORD.findall(block.text)))


def _content(blocks: list[Block], summarized: bool, prompt: Prompt) -> list[Json]:
    """The provider's content blocks; thinking is bound to the prompt, and empty unless a summary was requested."""
    content: list[Json] = []
    for at, block in enumerate(blocks):
        if isinstance(block, Thinking):
            if not block.text:
                continue  # cut before its first word
            shown = block.text if summarized else ""
            content.append({"type": "thinking", "thinking": shown, "signature": sign(binding(prompt), shown)})
        elif isinstance(block, ToolCall):
            content.append(
                {
                    "type": "tool_use",
                    "id": _call_id(prompt, at),
                    "name": block.name,
                    "input": block.input,
                    "caller": {"type": "direct"},
                }
            )
        elif isinstance(block, Search):
            content += _search(block, f"srv{_call_id(prompt, at)}")
        elif block.text:
            content.append({"type": "text", "text": block.text, "citations": None})
    return content


def _search(search: Search, call_id: str) -> list[Json]:
    """The provider's two blocks: the call, and its results. The page's text is encrypted: only its creator can
    read it."""
    caller = {"type": "direct"}
    sealed = {"type": "web_search_result", "page_age": None, "encrypted_content": SEALED}
    found = [sealed | page for page in search.pages]
    call = {"id": call_id, "name": "web_search", "input": {"query": search.query}, "caller": caller}
    return [
        {"type": "server_tool_use", **call},
        {"type": "web_search_tool_result", "tool_use_id": call_id, "content": found, "caller": caller},
    ]


def _call_id(prompt: Prompt, at: int) -> str:
    """The same id for the same prompt, so that runs can be repeated; different within a conversation."""
    return f"toolu_{blake2b(prompt.digests[-1] + bytes([at]), digest_size=12).hexdigest()}"
