"""Validation of requests: whatever the provider rejects is rejected with its status and, where known, its words.

`FIELDS`, `BLOCKS` and `SOURCES` say what a request may contain; `CHECKS` and `COUNT_CHECKS` list the rules in the order
they are applied. A check yields the problems it finds; the first one becomes the 400.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from offline.errors import ApiError, invalid
from offline.protocol import images
from offline.protocol.models import EFFORTS, EFFORTS_WITHOUT_THINKING, MODELS, Model
from offline.protocol.prompt import UNMARKABLE, Prompt, binding, text_blocks
from offline.protocol.schema import malformed, schema_problem
from offline.protocol.signature import signed_for

Json = dict[str, Any]
Check = Callable[[Json, Model], Iterator[str]]

MAX_BODY_BYTES = 32 * 1024 * 1024
MAX_MESSAGES = 100_000
MAX_BREAKPOINTS = 4
MAX_STRICT_TOOLS = 20
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")

SAMPLING = ("temperature", "top_p", "top_k")  # removed in API version 2026-10-21
FIELDS: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "max_tokens": (int,),
    "messages": (list,),
    "system": (str, list),
    "tools": (list,),
    "tool_choice": (dict,),
    "thinking": (dict,),
    "output_config": (dict,),
    "cache_control": (dict, type(None)),
    "speed": (str, type(None)),
    "stream": (bool,),
    "stop_sequences": (list,),
    "metadata": (dict,),
    "service_tier": (str,),
    "container": (str, dict, type(None)),
    "diagnostics": (dict, type(None)),
    "inference_geo": (str, type(None)),
}
COUNTED = frozenset(
    {
        "model",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "cache_control",
        "speed",
    }
)
CHOICES = {"service_tier": ("auto", "standard_only"), "speed": ("standard", "fast", None)}


@dataclass(frozen=True, slots=True)
class Kind:
    """The roles a block may have, and the fields it must have."""

    roles: tuple[str, ...]
    fields: dict[str, type | tuple[type, ...]]


ANYWHERE = ("user", "assistant", "system")
BLOCKS = {
    "text": Kind(ANYWHERE, {"text": str}),
    "image": Kind(("user",), {"source": dict}),
    "document": Kind(("user",), {"source": dict}),
    "search_result": Kind(("user",), {"source": str, "title": str, "content": list}),
    "tool_use": Kind(("assistant",), {"id": str, "name": str, "input": dict}),
    "tool_result": Kind(("user",), {"tool_use_id": str}),
    "thinking": Kind(("assistant",), {"thinking": str, "signature": str}),
    "redacted_thinking": Kind(("assistant",), {"data": str}),
    "server_tool_use": Kind(("assistant",), {"id": str, "name": str, "input": dict}),
    "web_search_tool_result": Kind(("assistant",), {"tool_use_id": str, "content": (list, dict)}),
    "web_fetch_tool_result": Kind(("assistant",), {"tool_use_id": str}),
}
IN_RESULT = ("text", "image", "document", "search_result")
SOURCES = {
    "image": {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)},
    "document": {
        "base64": ("media_type", "data"),
        "text": ("media_type", "data"),
        "content": ("content",),
        "url": ("url",),
        "file": ("file_id",),
    },
}


def check_message(body: Any) -> Model:
    """The model of a valid `POST /v1/messages`; raises `ApiError` 400 or 404 otherwise."""
    return _check(body, FIELDS.keys(), ("model", "max_tokens", "messages"), CHECKS)


def check_count(body: Any) -> Model:
    """The same for `POST /v1/messages/count_tokens`, which accepts fewer fields."""
    return _check(body, COUNTED, ("model", "messages"), COUNT_CHECKS)


def check_length(prompt: Prompt, model: Model) -> None:
    """Refuse a prompt that doesn't fit the model's window."""
    if prompt.total > model.context:
        raise invalid(f"prompt is too long: {prompt.total} tokens > {model.context} maximum")


def check_thinking_blocks(body: Json, prompt: Prompt, model: Model) -> None:
    """Refuse thinking blocks that weren't made by this server, or whose prefix has changed since."""
    for number, message in enumerate(body["messages"]):
        for at, block in enumerate(text_blocks(message["content"])):
            if block["type"] != "thinking":
                continue
            made = signed_for(block["signature"], block["thinking"])
            complaint = f"messages.{number}.content.{at}: Invalid `signature` in `thinking` block"
            if made is None:
                raise invalid(complaint)
            if model.binds_thinking and made != binding(prompt, before=number):
                raise invalid(f"{complaint}. The block is bound to a different conversation. Remove the block.")


def _check(body: Any, known: Any, required: tuple[str, ...], checks: tuple[Check, ...]) -> Model:
    if not isinstance(body, dict):
        raise invalid("The request body must be a JSON object.")
    for problem in _shape(body, known, required):
        raise invalid(problem)
    model = MODELS.get(body["model"])
    if model is None:
        raise ApiError(404, f"model: {body['model']}")
    for check in checks:
        for problem in check(body, model):
            raise invalid(problem)
    return model


def _shape(body: Json, known: Any, required: tuple[str, ...]) -> Iterator[str]:
    for key in required:
        if key not in body:
            yield f"{key}: Field required"
    for key, value in body.items():
        if key in SAMPLING:
            yield f"{key}: sampling parameters are not supported in API version 2026-10-21"
        elif key not in known:
            yield f"{key}: Extra inputs are not permitted"
        elif not isinstance(value, FIELDS[key]) or (FIELDS[key] == (int,) and isinstance(value, bool)):
            yield f"{key}: Input should be a valid {' or '.join(_JSON_NAMES[kind] for kind in FIELDS[key])}"
        elif key in CHOICES and value not in CHOICES[key]:
            yield f"{key}: Input should be one of {', '.join(repr(choice) for choice in CHOICES[key] if choice)}"


_JSON_NAMES = {
    str: "string",
    int: "integer",
    list: "list",
    dict: "object",
    bool: "boolean",
    type(None): "null",
}


def _limits(body: Json, model: Model) -> Iterator[str]:
    wanted = body["max_tokens"]
    if wanted < 0:
        yield "max_tokens: Input should be greater than or equal to 0"
    if wanted > model.max_output:
        yield (
            f"max_tokens: {wanted} > {model.max_output}, which is the maximum allowed number of output tokens "
            f"for {model.id}"
        )
    if wanted == 0 and body.get("stream"):
        yield "max_tokens: 0 (pre-warming the cache) cannot be combined with stream"
    if wanted == 0 and (body.get("output_config") or {}).get("format"):
        yield "max_tokens: 0 (pre-warming the cache) cannot be combined with output_config.format"
    for at, stop in enumerate(body.get("stop_sequences") or []):
        if not isinstance(stop, str) or not stop.strip():
            yield f"stop_sequences.{at}: each stop sequence must contain non-whitespace"


def _small_objects(body: Json, _model: Model) -> Iterator[str]:
    for key, allowed in (("metadata", {"user_id"}), ("diagnostics", {"previous_message_id"})):
        for name in set(body.get(key) or {}) - allowed:
            yield f"{key}.{name}: Extra inputs are not permitted"
    for key, name in (("metadata", "user_id"), ("diagnostics", "previous_message_id")):
        if not isinstance((body.get(key) or {}).get(name), (str, type(None))):
            yield f"{key}.{name}: Input should be a valid string"


def _thinking(body: Json, model: Model) -> Iterator[str]:
    thinking = body.get("thinking")
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None and effort not in EFFORTS:
        yield f"output_config.effort: Input should be one of {', '.join(map(repr, EFFORTS))}"
    if thinking is None:
        return
    kind = str(thinking.get("type"))
    if kind == "enabled" or "budget_tokens" in thinking:
        yield (
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        )
    if kind not in model.thinking:
        yield f'"thinking.type.{kind}" is not supported for this model.'
    if thinking.get("display") not in (None, "summarized", "omitted"):
        yield "thinking.display: Input should be 'summarized' or 'omitted'"
    if kind != "adaptive" and (effort or model.default_effort) not in EFFORTS_WITHOUT_THINKING:
        yield f'"thinking.type.{kind}" is not supported with effort {effort!r}. Use effort "high" or lower.'


def _output_format(body: Json, _model: Model) -> Iterator[str]:
    config = body.get("output_config") or {}
    for key in config.keys() - {"effort", "format"}:
        yield f"output_config.{key}: Extra inputs are not permitted"
    form = config.get("format")
    if form is None:
        return
    if not isinstance(form, dict) or form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        yield "output_config.format: Input should be {'type': 'json_schema', 'schema': {...}}"
        return
    problem = schema_problem(form["schema"])
    if problem:
        yield f"output_config.format.schema: {problem}"


def _tools(body: Json, _model: Model) -> Iterator[str]:
    tools = body.get("tools") or []
    for at, tool in enumerate(tools):
        yield from _tool(at, tool)
    names = [str(tool.get("name")) for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    if sum(bool(tool.get("strict")) for tool in tools) > MAX_STRICT_TOOLS:
        yield f"tools: at most {MAX_STRICT_TOOLS} tools may be strict"


def _tool(at: int, tool: Any) -> Iterator[str]:
    if not isinstance(tool, dict):
        yield f"tools.{at}: Input should be an object"
        return
    if tool.get("type") not in (None, "custom"):
        return  # the provider's own tools have their own shapes
    if not isinstance(tool.get("name"), str) or not NAME.fullmatch(tool["name"]):
        yield f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    schema = tool.get("input_schema")
    if not isinstance(schema, dict):
        yield f"tools.{at}.custom.input_schema: Field required"
    elif schema.get("type") != "object":
        yield f"tools.{at}.custom.input_schema.type: Input should be 'object'"
    elif problem := malformed(schema):
        yield f"tools.{at}.custom.input_schema: JSON schema is invalid: {problem}"
    elif tool.get("strict") and (problem := schema_problem(schema)):
        yield f"tools.{at}.custom: {problem}"


def _tool_choice(body: Json, model: Model) -> Iterator[str]:
    choice = body.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type")
    if kind not in ("auto", "any", "tool", "none"):
        yield f"tool_choice: Input tag {kind!r} does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
    if not body.get("tools") and kind != "none":
        yield "tool_choice: tool_choice may only be specified while providing tools."
    if kind in ("any", "tool") and not model.forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    if kind == "tool" and choice.get("name") not in [tool.get("name") for tool in body.get("tools") or []]:
        yield f"Tool '{choice.get('name')}' not found in provided tools"


def _system(body: Json, _model: Model) -> Iterator[str]:
    for at, block in enumerate(text_blocks(body.get("system") or [])):
        if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
            yield f"system.{at}: Input should be a text block"
            return
        yield from _text_problem(f"system.{at}", "system", block)


def _messages(body: Json, _model: Model) -> Iterator[str]:
    messages = body["messages"]
    if not messages:
        yield "messages: at least one message is required"
    if len(messages) > MAX_MESSAGES:
        yield f"messages: at most {MAX_MESSAGES} messages are allowed"
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        if not isinstance(message, dict) or message.get("role") not in ANYWHERE:
            yield f"{where}.role: Input should be 'user', 'assistant' or 'system'"
            return
        for key in message.keys() - {"role", "content"}:
            yield f"{where}.{key}: Extra inputs are not permitted"
        if not isinstance(message.get("content"), (str, list)):
            yield f"{where}.content: Input should be a valid string or list"
            return
        if not message["content"]:
            yield f"{where}: all messages must have non-empty content except for the optional final assistant message"
        yield from _contents(where, message)


def _contents(where: str, message: Json) -> Iterator[str]:
    for at, block in enumerate(text_blocks(message["content"])):
        problem = next(_block_problems(f"{where}.content.{at}", message["role"], block), None)
        if problem:
            yield problem


def _block_problems(where: str, role: str, block: Any) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    known = BLOCKS.get(str(kind))
    if known is None:
        expected = ", ".join(repr(name) for name in BLOCKS)
        yield f"{where}: Input tag {kind!r} found using 'type' does not match any of the expected tags: {expected}"
        return
    if role not in known.roles:
        yield f"{where}: `{kind}` blocks are not allowed in `{role}` messages"
    for name, wanted in known.fields.items():
        if not isinstance(block.get(name), wanted):
            yield f"{where}.{kind}.{name}: Field required"
            return
    special = _SPECIAL.get(str(kind))
    if special:
        yield from special(where, role, block)


def _text_problem(where: str, role: str, block: Json) -> Iterator[str]:
    section = "system" if where.startswith("system") else "messages"
    if not block["text"]:
        if block.get("cache_control"):
            yield f"{where}.text: cache_control cannot be set for empty text blocks"
        yield f"{section}: text content blocks must be non-empty"
    elif not block["text"].strip():
        yield f"{section}: text content blocks must contain non-whitespace text"
    if block.get("citations") and role == "user":
        yield f"{where}.text.citations: citations are not accepted on user text blocks in API version 2026-10-21"


def _thinking_problem(where: str, _role: str, block: Json) -> Iterator[str]:
    if block.get("cache_control"):
        yield f"{where}.{block['type']}.cache_control: Extra inputs are not permitted"


def _tool_use_problem(where: str, _role: str, block: Json) -> Iterator[str]:
    if not NAME.fullmatch(block["id"]):
        yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"


def _search_result_problem(where: str, _role: str, block: Json) -> Iterator[str]:
    """Check that results of the provider's search are sent back as they were, or as its error."""
    content = block["content"]
    for at, found in enumerate(content if isinstance(content, list) else []):
        for name in ("encrypted_content", "title", "url"):
            if not isinstance(found, dict) or not isinstance(found.get(name), str):
                yield f"{where}.web_search_tool_result.content.{at}.{name}: Field required"
                return


def _tool_result_problem(where: str, role: str, block: Json) -> Iterator[str]:
    content = block.get("content") or []
    if not isinstance(content, (str, list)):
        yield f"{where}.tool_result.content: Input should be a valid string or list"
        return
    yield from _inner_blocks(f"{where}.tool_result.content", role, content, IN_RESULT)


def _inner_blocks(where: str, role: str, content: str | list[Json], allowed: tuple[str, ...]) -> Iterator[str]:
    for at, part in enumerate(text_blocks(content)):
        if not isinstance(part, dict) or part.get("type") not in allowed:
            yield f"{where}.{at}: Input should be one of {', '.join(map(repr, allowed))}"
            return
        yield from _block_problems(f"{where}.{at}", role, part)


def _source_problem(where: str, role: str, block: Json) -> Iterator[str]:
    kind, source = block["type"], block["source"]
    fields = SOURCES[kind].get(str(source.get("type")))
    if fields is None:
        expected = ", ".join(repr(name) for name in SOURCES[kind])
        yield f"{where}.{kind}.source: Input tag {source.get('type')!r} does not match any of: {expected}"
        return
    for name in fields:
        if not isinstance(source.get(name), (str, list) if name == "content" else str):
            yield f"{where}.{kind}.source.{source['type']}.{name}: Field required"
            return
    if not isinstance(block.get("citations") or {}, dict):
        yield f"{where}.{kind}.citations: Input should be an object"
    if source["type"] == "content":
        yield from _inner_blocks(f"{where}.{kind}.source.content", role, source["content"], ("text", "image"))
    if kind == "image" and source["type"] == "base64":
        yield from _image_problem(f"{where}.image.source.base64", source)
    if kind == "document" and source["type"] == "base64" and source["media_type"] != "application/pdf":
        yield f"{where}.document.source.base64.media_type: Input should be 'application/pdf'"


def _image_problem(where: str, source: Json) -> Iterator[str]:
    declared = source["media_type"]
    if declared not in IMAGE_TYPES:
        yield f"{where}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    raw = images.decode(source["data"])
    if raw is None:
        yield f"{where}.data: Input should be valid base64"
    elif images.media_type(raw) is None:
        yield f"{where}.data: Could not process image"
    elif images.media_type(raw) != declared:
        yield f"{where}: Image does not match the provided media type {declared}"
    elif len(raw) > images.MAX_BYTES:
        yield f"{where}: image exceeds 5 MB maximum: {len(raw)} bytes > {images.MAX_BYTES} bytes"
    elif max(images.dimensions(raw) or (0,)) > images.MAX_PIXELS_A_SIDE:
        yield f"{where}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"


def _many_images(body: Json, _model: Model) -> Iterator[str]:
    """Rules for all images of a request together."""
    blocks = [block for message in body["messages"] for block in _images_in(text_blocks(message["content"]))]
    if len(blocks) > images.MAX_IMAGES:
        yield f"messages: Too many images: {len(blocks)} > {images.MAX_IMAGES}"
    if len(blocks) <= images.MANY:
        return
    for block in blocks:
        raw = images.decode(block["source"].get("data", "")) or b""
        if max(images.dimensions(raw) or (0,)) > images.MAX_PIXELS_A_SIDE_OF_MANY:
            yield (
                "messages: At least one of the image dimensions exceed max allowed size for many-image requests: "
                "2000 pixels"
            )


def _images_in(blocks: list[Json]) -> Iterator[Json]:
    for block in blocks:
        if block["type"] == "image":
            yield block
        elif block["type"] == "tool_result":
            yield from _images_in(text_blocks(block.get("content") or []))


_SPECIAL: dict[str, Callable[[str, str, Json], Iterator[str]]] = {
    "text": _text_problem,
    "image": _source_problem,
    "document": _source_problem,
    "tool_use": _tool_use_problem,
    "tool_result": _tool_result_problem,
    "web_search_tool_result": _search_result_problem,
    "thinking": _thinking_problem,
    "redacted_thinking": _thinking_problem,
}


def _roles(body: Json, model: Model) -> Iterator[str]:
    """Roles: a user first, operator messages only after a user's, no prefilled answer last."""
    roles = [message["role"] for message in body["messages"]]
    if "system" in roles and not model.inline_system:
        yield "role 'system' is not supported on this model"
    if roles[0] == "system":
        yield "messages.0: use the top-level 'system' parameter for the initial system prompt"
    if roles[0] != "user":
        yield 'messages: first message must use the "user" role'
    for number, role in enumerate(roles):
        if role != "system":
            continue
        if roles[number - 1] != "user":
            yield f"messages.{number}: role 'system' must follow a 'user' message"
        if roles[number + 1 : number + 2] not in ([], ["assistant"]):
            yield f"messages.{number}: role 'system' must precede an 'assistant' message or end the array"
    if roles[-1] == "assistant" and not _paused(body["messages"][-1]):
        yield ("This model does not support assistant message prefill. The conversation must end with a user message.")


def _paused(message: Json) -> bool:
    """Whether this is a turn of the provider's own tools, sent back unchanged so that the model continues."""
    return any(block["type"] == "server_tool_use" for block in text_blocks(message["content"]))


def _tool_loop(body: Json, _model: Model) -> Iterator[str]:
    """Every call is answered in the next message, results first; every result answers such a call."""
    open_calls: list[str] = []
    for number, message in enumerate(body["messages"]):
        blocks = text_blocks(message["content"])
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        leading = _leading_results(blocks)
        missing = [call for call in open_calls if call not in leading]
        if missing:
            yield (
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        yield from _stray_results(number, results, open_calls)
        if len(leading) < len(results):
            yield f"messages.{number}: `tool_result` blocks must come before all other content of the message"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(open_calls)) < len(open_calls):
            yield f"messages.{number}: `tool_use` ids must be unique"
    if open_calls and body["messages"][-1]["role"] == "assistant":
        yield f"messages.{len(body['messages']) - 1}: `tool_use` ids were found without `tool_result` blocks"


def _searches(body: Json, _model: Model) -> Iterator[str]:
    """The result of the provider's own search follows it in the same message."""
    for number, message in enumerate(body["messages"]):
        searched: set[str] = set()
        for at, block in enumerate(text_blocks(message["content"])):
            if block["type"] == "server_tool_use":
                searched.add(block["id"])
            elif block["type"] == "web_search_tool_result" and block["tool_use_id"] not in searched:
                yield (
                    f"messages.{number}.content.{at}: unexpected `tool_use_id` found in `web_search_tool_result` "
                    f"blocks: {block['tool_use_id']}. Each must have a corresponding `server_tool_use` block before it."
                )


def _leading_results(blocks: list[Json]) -> list[str]:
    ids = []
    for block in blocks:
        if block["type"] != "tool_result":
            break
        ids.append(block["tool_use_id"])
    return ids


def _stray_results(number: int, results: list[str], open_calls: list[str]) -> Iterator[str]:
    for at, call in enumerate(results):
        if call not in open_calls:
            yield (
                f"messages.{number}.content.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        elif call in results[:at]:
            yield f"messages.{number}.content.{at}: each tool_use must have a single result. Found multiple: {call}"


def _cache_control(body: Json, _model: Model) -> Iterator[str]:
    """At most 4 breakpoints, 1-hour ones before 5-minute ones; the automatic one counts and is the last."""
    marks = list(_marks(body))
    for where, marker in marks + ([("cache_control", body["cache_control"])] if body.get("cache_control") else []):
        if not isinstance(marker, dict):
            yield f"{where}: Input should be an object"
            return
        if marker.get("type") != "ephemeral":
            yield f"{where}.type: Input should be 'ephemeral'"
        if marker.get("ttl") not in (None, "5m", "1h"):
            yield f"{where}.ttl: Input should be '5m' or '1h'"
    automatic = body.get("cache_control")
    found = len(marks) + bool(automatic)
    if found > MAX_BREAKPOINTS:
        yield f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {found}."
    yield from _ttl_order(marks)
    if automatic:
        yield from _automatic_mark(body, automatic, marks)


def _ttl_order(marks: list[tuple[str, Json]]) -> Iterator[str]:
    short = False
    for where, marker in marks:
        if marker.get("ttl") == "1h" and short:
            yield (
                f"{where}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        short = short or marker.get("ttl") != "1h"


def _automatic_mark(body: Json, automatic: Json, marks: list[tuple[str, Json]]) -> Iterator[str]:
    ttl = automatic.get("ttl") or "5m"
    blocks = text_blocks(body["messages"][-1]["content"])
    last = next((block for block in reversed(blocks) if block["type"] not in UNMARKABLE), {})
    last_marker = last.get("cache_control")
    if last_marker and (last_marker.get("ttl") or "5m") != ttl:
        yield (
            f"Top-level cache_control has ttl='{ttl}' but the target block already has cache_control with "
            f"ttl='{last_marker.get('ttl') or '5m'}'"
        )
    yield from _ttl_order([*marks, ("cache_control", automatic)])


def _marks(body: Json) -> Iterator[tuple[str, Any]]:
    """All explicit breakpoints with their paths, in the order tools, system, messages."""
    for at, tool in enumerate(body.get("tools") or []):
        yield from _mark(f"tools.{at}", tool)
    for at, block in enumerate(text_blocks(body.get("system") or [])):
        yield from _mark(f"system.{at}", block)
    for number, message in enumerate(body["messages"]):
        if isinstance(message["content"], str):
            continue
        for at, block in enumerate(message["content"]):
            yield from _mark(f"messages.{number}.content.{at}", block)
            if block["type"] == "tool_result" and isinstance(block.get("content"), list):
                for inner, part in enumerate(block["content"]):
                    yield from _mark(f"messages.{number}.content.{at}.tool_result.content.{inner}", part)


def _mark(where: str, block: Json) -> Iterator[tuple[str, Any]]:
    if block.get("cache_control"):
        yield f"{where}.cache_control", block["cache_control"]


COUNT_CHECKS: tuple[Check, ...] = (
    _thinking,
    _output_format,
    _tools,
    _tool_choice,
    _system,
    _messages,
    _many_images,
    _roles,
    _tool_loop,
    _searches,
    _cache_control,
)
CHECKS: tuple[Check, ...] = (_limits, _small_objects, *COUNT_CHECKS)
