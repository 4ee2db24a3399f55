"""A request as a sequence of blocks, each with the tokens and the hash of everything up to it.

The order is the provider's: tools, system, messages. The hash is cumulative, so a change invalidates everything after
it. Parameters that change what the model reads enter the hash where they take effect; `cache_control` never does, so a
breakpoint may move. JSON keys are hashed in the order they were sent, as the provider does.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from offline.protocol import images, tokenizer
from offline.protocol.models import Model

Json = dict[str, Any]

# What the provider adds around the caller's text, in tokens. It doesn't publish its figures; these are plausible.
FRAME_TOKENS = 3  # per request
MESSAGE_TOKENS = 4  # per change of role
TOOLS_TOKENS = 290  # the instructions that come with the first tool
TOOL_TOKENS = 8  # per tool, and per call or result
PDF_PAGE_TOKENS = 2_000
REMOTE_DOCUMENT_TOKENS = 2_000  # a document by URL or file id, which isn't fetched here

# Consecutive blocks of these kinds count as one position of the cache's look-back.
RUNS = frozenset({"tool_use", "tool_result"})
# Blocks that carry no breakpoint of their own; they are cached as part of the prefix.
UNMARKABLE = frozenset({"thinking", "redacted_thinking"})
SERVER_TOOLS = ("web_search_", "web_fetch_")  # the provider's own, by the start of their type
MEMO_LIMIT = 65_536  # characters; larger blocks are measured each time instead of being remembered


@dataclass(slots=True)
class Prompt:
    """Parallel lists with one entry per block, in the model's reading order."""

    digests: list[bytes] = field(default_factory=list)  # of everything up to the block, parameters included
    totals: list[int] = field(default_factory=list)  # tokens of everything up to the block
    positions: list[int] = field(default_factory=list)  # look-back positions, ascending
    kinds: list[str] = field(default_factory=list)
    breakpoints: list[tuple[int, str]] = field(default_factory=list)  # (block, "5m" or "1h"), ascending
    # Separate hashes without parameters, for diagnostics and for binding thinking to its prefix:
    tools_mark: bytes = b""
    system_mark: bytes = b""
    message_marks: list[bytes] = field(default_factory=list)  # one per message block
    message_of: list[int] = field(default_factory=list)  # the message of each of them

    @property
    def total(self) -> int:
        """Input tokens of the whole request."""
        return self.totals[-1]

    @property
    def first_message_block(self) -> int:
        return len(self.digests) - len(self.message_marks)


def read_prompt(body: Json, model: Model) -> Prompt:
    """Read a valid request block by block."""
    row = _Row(model.id)
    images_sent, citations = _scan(body)
    row.tools(_tools(body))
    row.parameters(_before_system(body, citations))
    row.system(text_blocks(body.get("system") or []))
    row.parameters(_before_messages(body, model, images_sent))
    for number, message in enumerate(body["messages"]):
        row.message(number, message)
    if body.get("cache_control"):
        row.mark_last(body["cache_control"])
    return row.prompt


def text_blocks(content: str | list[Json]) -> list[Json]:
    """The blocks of a message's content; a string is shorthand for one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def binding(prompt: Prompt, before: int | None = None) -> bytes:
    """The hash a thinking block is bound to: tools, system and the messages before message `before`, without
    thinking."""
    offset = prompt.first_message_block
    marks = (
        mark
        for at, mark in enumerate(prompt.message_marks)
        if (before is None or prompt.message_of[at] < before) and prompt.kinds[offset + at] not in UNMARKABLE
    )
    return blake2b(prompt.tools_mark + prompt.system_mark + b"".join(marks), digest_size=16).digest()


class _Row:
    """Builds a `Prompt` block by block; tokens and hashes only grow."""

    def __init__(self, seed: str) -> None:
        self.prompt = Prompt()
        self.chain = blake2b(seed.encode(), digest_size=16)
        self.tokens = FRAME_TOKENS
        self.position = 0
        self.kind = self.role = ""

    def block(self, kind: str, digest: bytes, tokens: int, marker: Json | None) -> None:
        prompt = self.prompt
        self.chain.update(digest)
        self.tokens += tokens
        if kind != self.kind or kind not in RUNS:
            self.position += 1
        self.kind = kind
        if marker:
            prompt.breakpoints.append((len(prompt.digests), marker.get("ttl") or "5m"))
        prompt.digests.append(self.chain.digest())
        prompt.totals.append(self.tokens)
        prompt.positions.append(self.position)
        prompt.kinds.append(kind)

    def tools(self, tools: list[Json]) -> None:
        if tools:
            self.tokens += TOOLS_TOKENS
        digest_so_far = blake2b(digest_size=16)
        for tool in tools:
            digest, tokens = _measured_json(_unmarked_json(tool))
            digest_so_far.update(digest)
            self.block("tool", digest, tokens + TOOL_TOKENS, tool.get("cache_control"))
        self.prompt.tools_mark = digest_so_far.digest()

    def system(self, blocks: list[Json]) -> None:
        digest_so_far = blake2b(digest_size=16)
        for block in blocks:
            digest, tokens = measure(block)
            digest_so_far.update(digest)
            self.block("system", digest, tokens, block.get("cache_control"))
        self.prompt.system_mark = digest_so_far.digest()

    def message(self, number: int, message: Json) -> None:
        role = message["role"]
        if role != self.role:
            self.role = role
            self.tokens += MESSAGE_TOKENS
        prefix = role.encode()
        for block in text_blocks(message["content"]):
            digest, tokens = measure(block)
            digest_so_far = prefix + digest
            self.block(block["type"], digest_so_far, tokens, _marker(block))
            self.prompt.message_marks.append(digest_so_far)
            self.prompt.message_of.append(number)

    def parameters(self, values: Json) -> None:
        self.chain.update(json.dumps(values, sort_keys=True).encode())

    def mark_last(self, marker: Json) -> None:
        """Automatic caching: mark the last block that can carry a breakpoint, unless it already has one."""
        kinds = self.prompt.kinds
        last = next((at for at in range(len(kinds) - 1, -1, -1) if kinds[at] not in UNMARKABLE), None)
        marked = [at for at, _ in self.prompt.breakpoints]
        if last is not None and last not in marked:
            self.prompt.breakpoints.append((last, marker.get("ttl") or "5m"))


def _before_system(body: Json, citations: bool) -> Json:
    """Parameters whose change invalidates system and messages, but not the tools."""
    return {
        "format": (body.get("output_config") or {}).get("format"),
        "speed": body.get("speed") or "standard",
        "citations": citations,
    }


def _before_messages(body: Json, model: Model, images_sent: int) -> Json:
    """Parameters whose change only invalidates the messages. A model's default counts as left out."""
    thinking = body.get("thinking") or {}
    return {
        "tool_choice": body.get("tool_choice") or {"type": "auto"},
        "images": images_sent,
        "thinking": [thinking.get("type") or "adaptive", thinking.get("budget_tokens")],
        "effort": (body.get("output_config") or {}).get("effort") or model.default_effort,
    }


def _tools(body: Json) -> list[Json]:
    """The tools, the provider's own last: switching web search on or off leaves the others' prefix unchanged."""
    return sorted(body.get("tools") or [], key=lambda tool: str(tool.get("type")).startswith(SERVER_TOOLS))


def _scan(body: Json) -> tuple[int, bool]:
    """The number of images in the messages, and whether a document asks for citations."""
    images_sent, citations = 0, False
    for block in _nested_blocks(body["messages"]):
        kind = block["type"]
        if kind == "image":
            images_sent += 1
        elif kind == "document" and (block.get("citations") or {}).get("enabled"):
            citations = True
    return images_sent, citations


def _nested_blocks(messages: list[Json]) -> Iterator[Json]:
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            continue
        for block in content:
            yield block
            if block["type"] == "tool_result" and isinstance(block.get("content"), list):
                yield from block["content"]


def _marker(block: Json) -> Json | None:
    """The block's `cache_control`; one inside a tool result counts as the result's own."""
    marker: Json | None = block.get("cache_control")
    if marker is None and block["type"] == "tool_result" and isinstance(block.get("content"), list):
        marker = next((part["cache_control"] for part in block["content"] if part.get("cache_control")), None)
    return marker


def measure(block: Json) -> tuple[bytes, int]:
    """Hash and tokens of one block without its `cache_control`. Both are remembered for repeated blocks."""
    if block["type"] == "text" and block.keys() <= {"type", "text", "cache_control"}:
        text = block["text"]
        return _measured_text(text) if len(text) < MEMO_LIMIT else _measured_text.__wrapped__(text)
    canonical = _unmarked_json(block)
    return _measured_block(canonical) if len(canonical) < MEMO_LIMIT else _measured_block.__wrapped__(canonical)


@lru_cache(maxsize=16_384)
def _measured_text(text: str) -> tuple[bytes, int]:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), tokenizer.count(text)


@lru_cache(maxsize=1_024)
def _measured_json(canonical: str) -> tuple[bytes, int]:
    return blake2b(canonical.encode(), digest_size=16).digest(), tokenizer.count(canonical)


@lru_cache(maxsize=4_096)
def _measured_block(canonical: str) -> tuple[bytes, int]:
    return blake2b(canonical.encode(), digest_size=16).digest(), _block_tokens(json.loads(canonical))


def _unmarked_json(block: Json) -> str:
    """The block as JSON without `cache_control`, with its keys in the order they were sent."""
    return json.dumps(_unmarked(block))


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    return value


def _block_tokens(block: Json) -> int:
    match block["type"]:
        case "text":
            return tokenizer.count(block["text"])
        case "thinking":
            return tokenizer.count(block["thinking"])
        case "tool_use":
            return TOOL_TOKENS + tokenizer.count(block["name"]) + tokenizer.count(json.dumps(block["input"]))
        case "tool_result":
            return TOOL_TOKENS + sum(_block_tokens(part) for part in text_blocks(block.get("content") or []))
        case "image":
            return _image_tokens(block["source"])
        case "document":
            return _document_tokens(block)
        case _:
            return tokenizer.count(json.dumps(block))


def _image_tokens(source: Json) -> int:
    raw = images.decode(source["data"]) if source["type"] == "base64" else None
    return images.image_tokens(raw) if raw is not None else images.UNKNOWN_IMAGE_TOKENS


def _document_tokens(block: Json) -> int:
    source = block["source"]
    heading = tokenizer.count(f"{block.get('title') or ''}{block.get('context') or ''}")
    match source["type"]:
        case "text":
            return heading + tokenizer.count(source["data"])
        case "content":
            return heading + sum(_block_tokens(part) for part in text_blocks(source["content"]))
        case "base64":
            return heading + PDF_PAGE_TOKENS * _pdf_pages(source["data"])
        case _:
            return heading + REMOTE_DOCUMENT_TOKENS


def _pdf_pages(data: str) -> int:
    raw = images.decode(data) or b""
    return max(1, raw.count(b"/Type /Page") - raw.count(b"/Type /Pages"))
