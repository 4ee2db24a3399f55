"""Reads a request for the responder: memories, profile, clock, question, offered tools and their results.

Recall's layout is read as a model would read it: system block 1 is the system prompt, later ones contain role and
profile; the current user message contains an optional JSON block of recalled memories, the clock and user lines, and
last the user's own text. Everything but that last text is data.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from offline.protocol.prompt import text_blocks

Json = dict[str, Any]

CLOCK_LINE = re.compile(
    r"^(Current time|Current date|User timezone|User name|Relationship stage|Last session|Memories waiting for review)"
    r": *(.+)$",
    re.MULTILINE,
)
BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", re.MULTILINE)
LISTED = re.compile(r":[ \t]*((?:\n+[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+\S[^\n]*)+)")
HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
OWN_LINK = re.compile(r"\[[^\]]*\]\(/[^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
# lines of a summary about itself
OF_ITSELF = re.compile(r"^(?:\d{1,2} \w+ \d{4}, \d+ turns?\.|Topics: .*)[ \t]*$", re.MULTILINE)
REFERENCE = re.compile(r"\s*[\[(](?:fact|episode|document|message|chunk|segment):[^\])]*[\])]")
PROFILE_FROM = 1  # system blocks before this one contain instructions, not facts about the user
# headings of sections that don't contain facts either
INSTRUCTIONS = re.compile(r"\b(?:boundar|role|instruction)", re.IGNORECASE)
PAST = re.compile(
    r"\s*(?:until|before|perhaps|contested|asked|made|superseded|retracted|withdrawn|rejected|ended|past|former)",
    re.IGNORECASE,
)
UNTIL = re.compile(r"until (\d{4}(?:-\d\d){0,2})")
# precedes a summary's quotations, which follow one after the other
WROTE = re.compile(r"^The user wrote: (?=“)", re.MULTILINE)
QUOTED = re.compile(r"“([^”]*)” *")
WAITING_FOR = re.compile(r"waiting \((.+)\)$")  # what a message that doesn't say it itself proposes
DOUBT = "It is no longer true"
"""Starts a proposal that asks whether a line still holds, and answers nothing itself."""
CONTESTED = re.compile(r"\(contested by a proposal(?:: (.+))?\)")  # after a profile's line that may no longer be true
UPDATE = re.compile(r"(?:New|(No longer holds)): ")  # how a change of the profile starts
BARE_ASKING = re.compile(r"\b(what|where|who|when|how)s\b", re.IGNORECASE)  # “whats my name”
PASTED = re.compile(
    r"^(?:(?:from|to|subject|date|sent): .*\n(?:from|to|cc|subject|date|sent): |-{2,9} ?(?:original|forwarded) message"
    r"|on .{1,120} wrote:[ \t]*$|>)[\s\S]*",
    re.IGNORECASE | re.MULTILINE,
)  # someone else's mail, to the end of the message
TEMPORARY = "This is a temporary chat: nothing of it is kept"  # in the system prompt of one
RESULT_TEXTS = ("text", "statement", "summary", "snippet", "content", "message", "outcome", "answer", "title")


@dataclass(frozen=True, slots=True)
class Memory:
    """Something the responder may answer from, and its origin."""

    text: str
    id: str = ""
    date: str = ""
    title: str = ""
    qualifier: str = ""
    said_by: str = ""
    answers: str = ""
    """The attribute that the question asks for, if this has its value: Recall says so."""

    @property
    def is_current(self) -> bool:
        """Whether it is, or may be, true now: not superseded, withdrawn or ended."""
        return not PAST.match(self.qualifier)

    @property
    def is_waiting(self) -> bool:
        """Whether the user has yet to decide on it."""
        return self.qualifier.startswith("waiting")

    @property
    def is_own(self) -> bool:
        """Whether the user wrote it, and not someone in an imported chat."""
        return self.said_by in ("", "user")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's answer within the current turn."""

    name: str
    memories: tuple[Memory, ...]
    failed: bool


@dataclass(frozen=True, slots=True)
class Reading:
    question: str
    memories: tuple[Memory, ...] = ()
    profile: tuple[Memory, ...] = ()
    clock: dict[str, str] = field(default_factory=dict)
    attached: tuple[Memory, ...] = ()  # the texts of files attached to this message
    attached_before: tuple[Memory, ...] = ()  # and to earlier ones, the newest first
    is_temporary: bool = False
    notes: tuple[str, ...] = ()  # other lines before the user's text: what the app did about the message, the task
    exchanges: tuple[tuple[str, str], ...] = ()  # earlier turns: the user's message, and the answer
    tools: dict[str, Json] = field(default_factory=dict)
    server_search: bool = False  # whether the provider's own web search is offered
    forced: str | None = None  # the tool that must be called, if any
    results: tuple[ToolResult, ...] = ()


def read(body: Json) -> Reading:
    """Parse a valid request."""
    messages = body["messages"]
    start = _turn_start(messages)
    texts = _texts(messages[start])
    texts += [""] if _attached(texts[-1]) else []  # a file without a word
    clock = {name: value.strip() for text in texts[:-1] for name, value in CLOCK_LINE.findall(text)}
    system = text_blocks(body.get("system") or [])
    memories = tuple(_at(clock, memory) for text in texts[:-1] for memory in _recalled(text))
    memories = tuple(memory for memory in memories if not memory.text.startswith(DOUBT)) or memories
    over = {memory.text for memory in memories if memory.id == "profile" and not memory.is_current}
    return Reading(
        question=BARE_ASKING.sub(r"\1's", own_words(texts[-1]).replace("’", "'")),
        memories=memories,
        profile=tuple(line for line in _profile(system) if line.text not in over),
        clock=clock,
        attached=tuple(memory for text in texts[:-1] for memory in _attached(text)),
        attached_before=tuple(_attached_before(messages[:start])),
        is_temporary=any(TEMPORARY in block["text"] for block in system),
        notes=tuple(_notes(texts[:-1])),
        exchanges=tuple(_exchanges(messages[:start])),
        tools=_offered(body),
        server_search=_server_search(body),
        forced=_forced(body),
        results=tuple(_results(messages, start)),
    )


def _notes(texts: list[str]) -> Iterator[str]:
    """The lines that are neither memories nor the clock's."""
    for text in texts:
        if not text.startswith("{"):
            yield from (line for line in text.splitlines() if line.strip() and not CLOCK_LINE.match(line))


def question_of(body: Json) -> str:
    """The user's own text in the current turn; faults and scripted replies are matched with it."""
    return _texts(body["messages"][_turn_start(body["messages"])])[-1]


def own_words(text: str) -> str:
    """A message without the mail of someone else that is pasted below, and with each list in its heading's line."""
    return LISTED.sub(lambda found: f": {', '.join(_items(found[1]))}", PASTED.sub("", text).rstrip())


def _items(lines: str) -> list[str]:
    return [BULLET.sub("", line).rstrip(" ,;") for line in lines.splitlines() if line.strip()]


def _turn_start(messages: list[Json]) -> int:
    """The message that opened the current turn: the user's last one that isn't only tool results."""
    numbers = range(len(messages) - 1, -1, -1)
    return next((at for at in numbers if messages[at]["role"] == "user" and _texts(messages[at])[-1]), 0)


def _texts(message: Json) -> list[str]:
    """The message's texts; one empty text if it has none."""
    return [block["text"] for block in text_blocks(message["content"]) if block["type"] == "text"] or [""]


def _recalled(text: str) -> list[Memory]:
    """The memories of a JSON block, profile updates first because they are newer; none for any other text."""
    try:
        data = json.loads(text)
    except ValueError:
        return []
    if not isinstance(data, dict):
        return []
    updates = [_update(str(line)) for line in data.get("profile_update") or []]
    return updates + [
        _memory(item, str(item.get("text") or ""))
        for item in data.get("recalled_memories") or []
        if isinstance(item, dict) and item.get("said_by") != "assistant"  # its own answers aren't a source
    ]


def _update(line: str) -> Memory:
    """A change of the profile: a new line, or one that no longer holds."""
    start = UPDATE.match(line)
    return Memory(_plain(UPDATE.sub("", line, count=1)), "profile", qualifier="ended" if start and start[1] else "")


def _attached(text: str) -> list[Memory]:
    """The text of an attached file, of its JSON block; none for any other text."""
    try:
        data = json.loads(text)
    except ValueError:
        return []
    if not isinstance(data, dict) or not data.get("attached"):
        return []
    name = "" if data["attached"] == "paste" else str(data.get("name") or "")
    return [Memory(_readable(str(data.get("text") or "")), "attachment", title=name)]


def _attached_before(messages: list[Json]) -> Iterator[Memory]:
    for message in reversed(messages):
        if message["role"] == "user":
            yield from (memory for text in _texts(message) for memory in _attached(text))


def _at(clock: dict[str, str], memory: Memory) -> Memory:
    """The memory, current if its end is still to come."""
    end = UNTIL.match(memory.qualifier)
    return replace(memory, qualifier="") if end and end[1] > clock.get("Current time", "")[: len(end[1])] else memory


def _memory(item: Json, text: str) -> Memory:
    origin = item.get("id") or item.get("path") or item.get("url") or ""
    known = {name: str(item.get(name) or "") for name in ("date", "title", "qualifier", "said_by", "answers")}
    waiting = WAITING_FOR.match(known["qualifier"])
    words = own_words(text) if str(origin).startswith("message:") else text
    known["answers"] = "" if PASTED.search(text) and words != text else known["answers"]  # what answers is perhaps cut
    return Memory("\n".join(filter(None, (_readable(words), waiting and waiting[1]))), str(origin), **known)


def _readable(text: str) -> str:
    """A memory's words without formatting, Recall's own links, other people's addresses and its own dates.

    A summary's quotations become one sentence per line.
    """
    words = BULLET.sub("", HEADING.sub("", text))
    if WROTE.search(words):
        words = QUOTED.sub("\\1\n", WROTE.sub("", words))
    return OF_ITSELF.sub("", LINK.sub(r"\1", OWN_LINK.sub("", words))).strip()


def _profile(system: list[Json]) -> list[Memory]:
    """Every line below a heading that doesn't announce instructions."""
    lines = []
    for block in system[PROFILE_FROM:]:
        factual = True
        for line in block["text"].splitlines():
            if line.lstrip().startswith("#"):
                factual = not INSTRUCTIONS.search(line)
            elif factual and line.strip():
                contested = CONTESTED.search(line)
                other = (contested and contested[1]) or DOUBT
                waiting = None if other.startswith(DOUBT) else Memory(other, "profile", qualifier="waiting")
                lines.append(waiting or Memory(_plain(CONTESTED.sub("", line)), "profile"))
    return lines


def _plain(line: str) -> str:
    """A line without its bullet and without the reference to the fact behind it."""
    return REFERENCE.sub("", BULLET.sub("", line)).strip()


def _exchanges(messages: list[Json]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for message in messages:
        texts = _texts(message)
        if message["role"] == "user" and texts[-1]:
            pairs.append(("" if _attached(texts[-1]) else own_words(texts[-1]), ""))
        elif message["role"] == "assistant" and pairs:
            asked, answered = pairs[-1]
            pairs[-1] = (asked, answered + "".join(texts))
    return pairs


def _offered(body: Json) -> dict[str, Json]:
    if (body.get("tool_choice") or {}).get("type") == "none":
        return {}
    return {tool["name"]: tool for tool in body.get("tools") or [] if tool.get("type") in (None, "custom")}


def _server_search(body: Json) -> bool:
    kinds = [str(tool.get("type")) for tool in body.get("tools") or []]
    return (body.get("tool_choice") or {}).get("type") != "none" and any(k.startswith("web_search_") for k in kinds)


def _forced(body: Json) -> str | None:
    choice = body.get("tool_choice") or {}
    if choice.get("type") == "any":
        return next(iter(_offered(body)), None)
    return choice.get("name") if choice.get("type") == "tool" else None


def _results(messages: list[Json], start: int) -> list[ToolResult]:
    """Tool results since the turn started."""
    names: dict[str, str] = {}
    results = []
    for number, message in enumerate(messages):
        for block in text_blocks(message["content"]):
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result" and number >= start:
                results.append(_result(names[block["tool_use_id"]], block))
    return results


def _result(name: str, block: Json) -> ToolResult:
    parts = text_blocks(block.get("content") or [])
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    return ToolResult(name, tuple(_result_memories(text)), bool(block.get("is_error")))


def _result_memories(text: str) -> list[Memory]:
    """The readable texts in a tool's answer: each record's own text if it is JSON, otherwise the whole."""
    try:
        return _records(json.loads(text))
    except ValueError:
        return [Memory(text.strip())] if text.strip() else []


def _records(value: Any) -> list[Memory]:
    if isinstance(value, list):
        return [memory for item in value for memory in _records(item)]
    if isinstance(value, str):
        return [Memory(value)]
    if not isinstance(value, dict):
        return []
    text = next((value[key] for key in RESULT_TEXTS if isinstance(value.get(key), str) and value[key]), None)
    if text:
        return [_memory(value, text)]
    return [memory for item in value.values() if isinstance(item, list) for memory in _records(item)]
