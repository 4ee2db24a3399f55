"""Scripted replies: the queue that tests fill through `POST /offline/script`.

A reply is `{"text"?, "thinking"?, "searches"?: [{"query", "pages": [{"title", "url"}]}], "tools"?: [{"name", "input"}],
"json"?, "stop_reason"?, "match"?}`, sent in the order thinking, searches by the provider's own tool, text, calls. A
reply with `json` only answers requests for structured output, any other only requests without, so that a background
extraction never takes a scripted chat answer. The first one that fits is used, once.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from offline.protocol.reply import Block, Reply, Search, Text, Thinking, ToolCall

Json = dict[str, Any]

KEYS = frozenset({"text", "thinking", "searches", "tools", "json", "stop_reason", "match"})


@dataclass(frozen=True, slots=True)
class Prepared:
    reply: Reply
    structured: bool
    match: str
    source: Json


@dataclass(slots=True)
class Script:
    """Prepared replies, oldest first."""

    queue: list[Prepared] = field(default_factory=list)

    def add(self, replies: Any) -> None:
        """Add a list of replies, all or none; raises ValueError for an invalid one."""
        if not isinstance(replies, list):
            raise ValueError("replies needs a list")
        self.queue += [_prepared(reply) for reply in replies]

    def take(self, question: str, structured: bool) -> Reply | None:
        """The next reply that fits this request, which uses it up."""
        for prepared in self.queue:
            if prepared.structured == structured and prepared.match in question:
                self.queue.remove(prepared)
                return prepared.reply
        return None

    def as_json(self) -> list[Json]:
        return [prepared.source for prepared in self.queue]


def _prepared(source: Any) -> Prepared:
    if not isinstance(source, dict) or not source.keys() <= KEYS:
        raise ValueError(f"a reply is an object with some of {', '.join(sorted(KEYS))}")
    if not source.keys() & {"text", "tools", "json"}:
        raise ValueError("a reply needs text, tools or json")
    blocks: list[Block] = []
    if source.get("thinking"):
        blocks.append(Thinking(str(source["thinking"])))
    blocks += [_search(search) for search in source.get("searches") or []]
    if source.get("text"):
        blocks.append(Text(str(source["text"])))
    if "json" in source:
        blocks.append(Text(json.dumps(source["json"], ensure_ascii=False)))
    blocks += [_call(call) for call in source.get("tools") or []]
    return Prepared(
        Reply(tuple(blocks), source.get("stop_reason")), "json" in source, str(source.get("match") or ""), source
    )


def _call(call: Any) -> ToolCall:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not isinstance(call.get("input"), dict):
        raise ValueError('a tool call is {"name": string, "input": object}')
    return ToolCall(call["name"], call["input"])


def _search(search: Any) -> Search:
    pages = search.get("pages") if isinstance(search, dict) else None
    if not isinstance(pages, list) or not all(_is_page(page) for page in pages):
        raise ValueError('a search is {"query": string, "pages": [{"title": string, "url": string}]}')
    return Search(str(search.get("query") or ""), tuple(pages))


def _is_page(page: Any) -> bool:
    return isinstance(page, dict) and isinstance(page.get("title"), str) and isinstance(page.get("url"), str)
