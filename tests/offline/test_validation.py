"""What the provider refuses is refused, with its status and a message that names the place."""

import base64
from typing import Any
from zlib import crc32

import httpx2
import pytest

from tests.offline.requests import REMEMBER, SEARCH, assistant, call, mark, request, result, text, user

Json = dict[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CALL = call("search_knowledge", {"query": "a"})
OTHER_CALL = call("search_knowledge", {"query": "b"}, "toolu_2")
SYSTEM = {"role": "system", "content": "It is noon."}
OBJECT = {"type": "object", "properties": {}, "additionalProperties": False}


def without(key: str) -> Json:
    body = request()
    del body[key]
    return body


def image(data: str = PNG, kind: str = "image/png") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def png(width: int, height: int) -> str:
    """The start of an image of this size; the rest is never read."""
    raw = base64.b64decode(PNG)
    header = raw[12:16] + width.to_bytes(4) + height.to_bytes(4) + raw[24:29]
    return base64.b64encode(raw[:12] + header + crc32(header).to_bytes(4) + raw[33:]).decode()


def document(**more: Any) -> Json:
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}, **more}


def schema(**more: Any) -> Json:
    return {"output_config": {"format": {"type": "json_schema", "schema": {**OBJECT, **more}}}}


def haiku(*messages: Json, **more: Any) -> Json:
    return request(*messages, **{"model": "claude-haiku-5-5", **more})


def sonnet_5(*messages: Json) -> Json:
    return request(*messages, model="claude-sonnet-5")


REFUSED: list[tuple[str, Json, str]] = [
    # the request as a whole
    ("no model", without("model"), "model: Field required"),
    ("no max_tokens", without("max_tokens"), "max_tokens: Field required"),
    ("no messages", without("messages"), "messages: Field required"),
    ("an unknown key", request(mood="merry"), "mood: Extra inputs are not permitted"),
    ("temperature", request(temperature=1.0), "temperature: sampling parameters"),
    ("top_p", request(top_p=0.9), "top_p: sampling parameters"),
    ("top_k", request(top_k=5), "top_k: sampling parameters"),
    ("a wrong type", request(stream="yes"), "stream: Input should be a valid boolean"),
    ("a number that is true", request(max_tokens=True), "max_tokens: Input should be a valid integer"),
    ("more than the model writes", request(max_tokens=128_001), "128001 > 128000, which is the maximum allowed"),
    ("a negative limit", request(max_tokens=-1), "max_tokens: Input should be greater than or equal to 0"),
    ("pre-warming by stream", request(max_tokens=0, stream=True), "cannot be combined with stream"),
    ("pre-warming with a schema", request(max_tokens=0, **schema()), "cannot be combined with output_config.format"),
    ("a blank stop sequence", request(stop_sequences=[" "]), "stop_sequences.0"),
    ("an unknown service tier", request(service_tier="gold"), "service_tier: Input should be one of"),
    ("more metadata", request(metadata={"name": "x"}), "metadata.name: Extra inputs are not permitted"),
    # messages and blocks
    ("no message", request() | {"messages": []}, "messages: at least one message is required"),
    ("an unknown role", request({"role": "tool", "content": "x"}), "messages.0.role"),
    ("a message without content", request({"role": "user"}), "messages.0.content"),
    ("an empty message", request({"role": "user", "content": ""}), "messages.0: all messages must have non-empty"),
    ("an empty list of blocks", request(user()), "messages.0: all messages must have non-empty content"),
    ("an empty text", request(user("", "x")), "messages: text content blocks must be non-empty"),
    ("a blank text", request(user(" \n")), "must contain non-whitespace text"),
    ("an empty system text", request(system=[text("")]), "system: text content blocks must be non-empty"),
    ("an image in system", request(system=[image()]), "system.0: Input should be a text block"),
    ("an unknown block", request(user({"type": "poem"})), "messages.0.content.0: Input tag 'poem'"),
    ("a block that is no object", request(user() | {"content": ["x"]}), "messages.0.content.0: Input tag None"),
    ("a text block without text", request(user({"type": "text"})), "messages.0.content.0.text.text: Field required"),
    ("citations on a user's text", request(user(text("x", citations=[{}]))), "citations are not accepted on user text"),
    ("a document by the assistant", request(user("a"), assistant(document()), user("b")), "`document` blocks are not"),
    ("an image by the assistant", request(user("a"), assistant(image()), user("b")), "`image` blocks are not allowed"),
    ("a call by the user", request(user(CALL)), "`tool_use` blocks are not allowed in `user` messages"),
    ("thinking by the user", request(user({"type": "thinking", "thinking": "", "signature": ""})), "`thinking` blocks"),
    ("a tool result by the assistant", request(user("a"), assistant(result("x"))), "`tool_result` blocks are not"),
    # roles
    ("the assistant first", request(assistant("a"), user("b")), 'first message must use the "user" role'),
    ("a prefilled answer", request(user("a"), assistant("b")), "does not support assistant message prefill"),
    ("an operator message first", request(SYSTEM, user("a")), "messages.0: use the top-level 'system' parameter"),
    ("an operator message after an answer", request(user("a"), assistant("b"), SYSTEM), "must follow a 'user' message"),
    ("an operator message before the user", request(user("a"), SYSTEM, user("b")), "must precede an 'assistant'"),
    ("an operator message to an old model", sonnet_5(user("a"), SYSTEM), "role 'system' is not supported"),
    # the tool loop
    ("a call without a result", request(user("a"), assistant(CALL), user("b")), "without `tool_result` blocks immedi"),
    ("a call at the end", request(user("a"), assistant(CALL)), "prefill"),
    (
        "one result for two calls",
        request(user("a"), assistant(CALL, OTHER_CALL), user(result("x"))),
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_2",
    ),
    (
        "results in two messages",
        request(user("a"), assistant(CALL, OTHER_CALL), user(result("x")), user(result("y", "toolu_2"))),
        "messages.1: `tool_use` ids were found without",
    ),
    (
        "a result after text",
        request(user("a"), assistant(CALL), user("b", result("x"))),
        "without `tool_result` blocks",
    ),
    ("a result for no call", request(user(result("x"))), "unexpected `tool_use_id` found in `tool_result` blocks"),
    ("two results for one call", request(user("a"), assistant(CALL), user(result("x"), result("y"))), "single result"),
    ("the same call id twice", request(user("a"), assistant(CALL, CALL), user(result("x"))), "must be unique"),
    ("an odd call id", request(user("a"), assistant(call("x", {}, "a b")), user(result("", "a b"))), "tool_use.id"),
    ("an empty text in a result", request(user("a"), assistant(CALL), user(result([text("")]))), "must be non-empty"),
    # tools
    ("a tool without schema", request(tools=[{"name": "a"}]), "tools.0.custom.input_schema: Field required"),
    ("a tool with an odd name", request(tools=[{"name": "a b", "input_schema": OBJECT}]), "tools.0.custom.name"),
    (
        "a tool for no object",
        request(tools=[{"name": "a", "input_schema": {"type": "array"}}]),
        "Input should be 'object'",
    ),
    ("a tool twice", request(tools=[SEARCH, SEARCH]), "Tool names must be unique"),
    (
        "a strict tool with an open schema",
        request(tools=[SEARCH | {"strict": True}]),
        "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    ("a forced tool", request(tools=[SEARCH], tool_choice={"type": "any"}), "are not supported for this model"),
    (
        "a forced tool by name",
        request(tools=[SEARCH], tool_choice={"type": "tool", "name": "search_knowledge"}, model="claude-opus-5-5"),
        'tool_choice: type "tool" and "any" are not supported for this model.',
    ),
    ("a choice without tools", haiku(tool_choice={"type": "auto"}), "while providing tools"),
    (
        "a tool that is not there",
        haiku(tools=[SEARCH], tool_choice={"type": "tool", "name": "b"}),
        "Tool 'b' not found",
    ),
    # thinking, effort, output
    (
        "a thinking budget",
        request(thinking={"type": "enabled", "budget_tokens": 2_000}),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"',
    ),
    ("thinking off on Sonnet", request(thinking={"type": "disabled"}), '"thinking.type.disabled" is not supported'),
    ("thinking off on Opus", request(thinking={"type": "disabled"}, model="claude-opus-5-5"), "is not supported for"),
    ("between tools on Haiku", haiku(thinking={"type": "between_tools"}), '"thinking.type.between_tools" is not'),
    (
        "thinking off with much effort",
        haiku(thinking={"type": "disabled"}, output_config={"effort": "xhigh"}),
        "is not supported with effort 'xhigh'",
    ),
    ("an unknown effort", request(output_config={"effort": "heroic"}), "output_config.effort: Input should be one of"),
    ("an unknown display", request(thinking={"type": "adaptive", "display": "all"}), "thinking.display"),
    ("an unknown output option", request(output_config={"style": "x"}), "output_config.style: Extra inputs"),
    ("a format that is no schema", request(output_config={"format": {"type": "json"}}), "output_config.format"),
    ("an open schema", request(**schema(additionalProperties=True)), "must be explicitly set to false"),
    (
        "a schema with a range",
        request(**schema(properties={"n": {"type": "integer", "minimum": 0}})),
        "output_config.format.schema: For 'integer' type, property 'minimum' is not supported",
    ),
    ("a list of at least two", request(**schema(properties={"n": {"type": "array", "minItems": 2}})), "'minItems'"),
    (
        "too many optional fields",
        request(**schema(properties={f"p{n}": {"type": "string"} for n in range(25)})),
        "at most 24 optional parameters. Found 25",
    ),
    (
        "too many unions",
        request(
            **schema(
                properties={f"p{n}": {"type": ["string", "null"]} for n in range(17)},
                required=[f"p{n}" for n in range(17)],
            )
        ),
        "at most 16 parameters with union types. Found 17",
    ),
    # images and documents
    ("an image of an unknown kind", request(user(image(kind="image/bmp"))), "media_type: Input should be 'image/jpeg'"),
    ("an image under a wrong name", request(user(image(kind="image/jpeg"))), "does not match the provided media type"),
    ("an image that is none", request(user(image(base64.b64encode(b"hello").decode()))), "Could not process image"),
    ("an image that is no base64", request(user(image("%%%"))), "Input should be valid base64"),
    (
        "an image of too many bytes",
        request(user(image(base64.b64encode(base64.b64decode(PNG) + bytes(5 * 1024 * 1024)).decode()))),
        "image exceeds 5 MB maximum",
    ),
    ("an image too wide", request(user(image(png(8_001, 10)))), "exceed max allowed size: 8000 pixels"),
    ("many images, one large", request(user(*[image()] * 20, image(png(2_001, 10)))), "many-image requests: 2000"),
    ("an image from nowhere", request(user({"type": "image", "source": {"type": "disk"}})), "Input tag 'disk'"),
    (
        "a PDF under a wrong name",
        request(user({"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": "x"}})),
        "Input should be 'application/pdf'",
    ),
    # cache breakpoints
    ("five breakpoints", request(user(*[text("x", **mark())] * 5)), "maximum of 4 blocks with cache_control"),
    (
        "four breakpoints and the automatic one",
        request(user(*[text("x", **mark())] * 4), **mark()),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    (
        "an hour after five minutes",
        request(user(text("x", **mark())), assistant(text("y", **mark("1h"))), user("z")),
        "messages.1.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'",
    ),
    (
        "an automatic hour after five minutes",
        request(system=[text("x", **mark())], **mark("1h")),
        "must not come after a ttl='5m'",
    ),
    (
        "an automatic mark of another lifetime",
        request(user(text("x", **mark("1h"))), **mark()),
        "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'",
    ),
    ("an unknown lifetime", request(user(text("x", **mark("2h")))), "cache_control.ttl: Input should be '5m' or '1h'"),
    (
        "an unknown cache",
        request(user(text("x", cache_control={"type": "forever"}))),
        "type: Input should be 'ephemeral'",
    ),
    (
        "a marked empty text",
        request(user("a", text("", **mark()))),
        "cache_control cannot be set for empty text blocks",
    ),
    (
        "marked thinking",
        request(
            user("a"), assistant({"type": "thinking", "thinking": "x", "signature": "y", **mark()}, "z"), user("b")
        ),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
]

ACCEPTED: list[tuple[str, Json]] = [
    ("the least there is", request()),
    ("plain strings", request({"role": "user", "content": "Hello"}, system="Be brief.")),
    ("an e-mail address as user id", request(metadata={"user_id": "alice@example.org"})),
    ("the most the model writes", request(max_tokens=128_000)),
    ("two messages by the user", request(user("a"), user("b"))),
    ("an operator message last", request(user("a"), SYSTEM)),
    ("an operator message before an answer", request(user("a"), SYSTEM, assistant("b"), user("c"))),
    ("text after results", request(user("a"), assistant("t", CALL), user(result("x"), "b"))),
    (
        "a result without content",
        request(user("a"), assistant(CALL), user({"type": "tool_result", "tool_use_id": "toolu_1"})),
    ),
    ("a result of blocks", request(user("a"), assistant(CALL), user(result([text("x"), image()])))),
    ("a paused turn of the provider's own tools", request(user("a"), assistant(CALL | {"type": "server_tool_use"}))),
    ("between tools on Sonnet", request(thinking={"type": "between_tools"})),
    ("thinking off on Haiku", haiku(thinking={"type": "disabled"})),
    ("a forced tool on Haiku", haiku(tools=[SEARCH, REMEMBER], tool_choice={"type": "any"})),
    ("much effort", request(output_config={"effort": "max"})),
    ("a schema", request(**schema(properties={"a": {"type": "array", "items": {"type": "string"}, "minItems": 1}}))),
    ("twenty images, one large", request(user(*[image()] * 19, image(png(2_576, 10)), "b"))),
    ("an image and a document", request(user(image(), document(title="x"), "b"))),
    (
        "an image by address",
        request(user({"type": "image", "source": {"type": "url", "url": "https://example.org/a"}})),
    ),
    ("four breakpoints", request(user(*[text("x", **mark("1h"))] * 2, *[text("x", **mark())] * 2))),
    ("three breakpoints and the automatic one", request(user(*[text("x", **mark())] * 3, "y"), **mark())),
    ("an automatic mark where one is already", request(user(text("x", **mark())), **mark())),
    ("no automatic mark", request(cache_control=None)),
    ("a container, a place and a tier", request(container=None, inference_geo="us", service_tier="auto", speed="fast")),
]


@pytest.mark.parametrize(("body", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_the_provider_refuses(raw: httpx2.Client, body: Json, message: str) -> None:
    answer = raw.post("/v1/messages", json=body)
    assert answer.status_code == 400, answer.text
    error = answer.json()
    assert error["type"] == "error"
    assert error["error"]["type"] == "invalid_request_error"
    assert message in error["error"]["message"]
    assert error["request_id"] == answer.headers["request-id"]


@pytest.mark.parametrize("body", [case[1] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
def test_the_provider_accepts(raw: httpx2.Client, body: Json) -> None:
    answer = raw.post("/v1/messages", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["usage"]["input_tokens"] > 0


def test_an_unknown_model_is_not_found(raw: httpx2.Client) -> None:
    answer = raw.post("/v1/messages", json=request(model="claude-nobody"))
    assert answer.status_code == 404
    assert answer.json()["error"] == {"type": "not_found_error", "message": "model: claude-nobody"}


def test_a_prompt_beyond_the_window_is_refused_with_both_figures(raw: httpx2.Client) -> None:
    long = request(user("word " * 9_000), model="offline-demo-small")
    answer = raw.post("/v1/messages", json=long)
    counted = raw.post("/v1/messages/count_tokens", json={key: long[key] for key in ("model", "messages")})
    assert answer.status_code == 400
    tokens = counted.json()["input_tokens"]
    assert answer.json()["error"]["message"] == f"prompt is too long: {tokens} tokens > 8000 maximum"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer k", "anthropic-version": "2026-10-21"}, 200),
        ({"x-api-key": "k", "anthropic-version": "2026-10-21"}, 200),
        ({"anthropic-version": "2026-10-21"}, 401),
        ({"authorization": "Basic k", "anthropic-version": "2026-10-21"}, 401),
        ({"authorization": "Bearer k"}, 400),
        ({"authorization": "Bearer k", "anthropic-version": "2023-06-01"}, 400),
    ],
)
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_a_key_and_the_api_version_are_needed(
    offline_url: str, path: str, headers: dict[str, str], status: int
) -> None:
    body = request()
    if path.endswith("count_tokens"):
        del body["max_tokens"]
    answer = httpx2.post(f"{offline_url}{path}", json=body, headers=headers)
    assert answer.status_code == status
    if status == 401:
        assert answer.json()["error"]["type"] == "authentication_error"


def test_a_body_over_thirty_two_megabytes_is_too_large(raw: httpx2.Client) -> None:
    answer = raw.post("/v1/messages", content=b" " * (32 * 1024 * 1024 + 1))
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "request_too_large"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff", b'{"max_tokens": NaN}', b"[" * 200_000])
def test_what_is_no_json_object_is_refused(raw: httpx2.Client, body: bytes) -> None:
    assert raw.post("/v1/messages", content=body).status_code == 400


def test_thinking_is_bound_to_what_stood_before_it(raw: httpx2.Client) -> None:
    thinking = {"type": "adaptive", "display": "summarized"}
    asked = request(user("Where is Bob?"), tools=[SEARCH], thinking=thinking, system="You are Recall.")
    first = raw.post("/v1/messages", json=asked).json()
    assert [block["type"] for block in first["content"]] == ["thinking", "tool_use"]
    answer = {"role": "assistant", "content": first["content"]}
    loop = [user("Where is Bob?"), answer, user(result("[]", first["content"][1]["id"]))]

    def status(**changes: Any) -> int:
        return raw.post("/v1/messages", json={**asked, "messages": loop, **changes}).status_code

    assert status() == 200
    assert status(system=[text("You are Recall.", **mark())]) == 200, "a breakpoint may move"
    assert status(output_config={"effort": "low"}) == 200, "parameters may change"
    assert status(system="You are someone else.") == 400
    assert status(tools=[REMEMBER, SEARCH]) == 400
    assert status(messages=[user("Where is Ann?"), *loop[1:]]) == 400
    changed = {**first["content"][0], "thinking": "Something else."}
    assert status(messages=[loop[0], {**answer, "content": [changed, first["content"][1]]}, loop[2]]) == 400
    assert status(messages=[user("Where is Ann?"), assistant(first["content"][1]), loop[2]]) == 200, "without thinking"
