"""The offline server: an ASGI application that speaks the provider's Messages API.

Run it with `uvicorn offline.app:app`. Environment: `OFFLINE_ADMIN=1` opens the `/offline/…` endpoints and keeps a log
of requests; `OFFLINE_DELTA_DELAY` is the pause between two words in seconds.
"""

import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from hashlib import blake2b
from typing import Any, NoReturn

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from offline import admin, search
from offline.errors import ERROR_TYPES, ApiError, error_body, invalid, new_request_id
from offline.faults import Fault, parse_fault
from offline.messages import Json, Offline, admit, take_turn
from offline.protocol.delivery import Delivery
from offline.protocol.models import MODELS, model_info
from offline.protocol.prompt import read_prompt
from offline.protocol.validation import MAX_BODY_BYTES, check_count
from offline.request_log import Record
from offline.responder.request_facts import question_of

API_VERSION = "2026-10-21"
FAULT_HEADER = "x-offline-fault"


def create_app(environ: Mapping[str, str] = os.environ) -> Starlette:
    """Create the application. Each time a server starts with it, the environment is read and a new state created."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.offline = Offline(environ)
        yield

    routes = [
        Route("/v1/messages", messages, methods=["POST"]),
        Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
        Route("/v1/models", list_models),
        Route("/v1/models/{id}", retrieve_model),
        Route("/healthz", healthz),
        Route(search.PATH, search.search, methods=["GET", "POST"]),
        *admin.ROUTES,
    ]
    handlers: dict[Any, Any] = {ApiError: _api_error, HTTPException: _http_error, Exception: _server_error}
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


async def messages(request: Request) -> Response:
    """`POST /v1/messages`: admit the request, find its message, send it whole or as a stream."""
    offline: Offline = request.app.state.offline
    record = offline.log.open(request.url.path, new_request_id())
    with _recorded(record):
        workspace = _workspace(request)
        body = record.body = await _json_body(request)
        model, prompt = admit(body)
        fault = _take_fault(offline, request, body)
        turn = take_turn(offline, workspace, body, model, prompt, fault)
    return Delivery(
        turn.message,
        stream=bool(body.get("stream")),
        delay=offline.delta_delay,
        fault=fault,
        record=record,
        begin=partial(turn.begin, offline),
    )


async def count_tokens(request: Request) -> Response:
    """`POST /v1/messages/count_tokens`: the sum of the three input parts of `usage`."""
    offline: Offline = request.app.state.offline
    record = offline.log.open(request.url.path, new_request_id())
    with _recorded(record):
        _workspace(request)
        body = record.body = await _json_body(request)
        model = check_count(body)
        _take_fault(offline, request, body)
    record.outcome = "complete"
    return _answer({"input_tokens": read_prompt(body, model).total}, record.request_id)


async def list_models(request: Request) -> Response:
    """`GET /v1/models`: a page of at most `limit`, after `after_id` or before `before_id`."""
    _workspace(request)
    query = request.query_params
    limit = int(query["limit"]) if query.get("limit", "").isdecimal() else 20
    if not 1 <= limit <= 1_000:
        raise invalid("limit: Input should be between 1 and 1000")
    ids = list(MODELS)
    if query.get("after_id") in ids:
        ids = ids[ids.index(query["after_id"]) + 1 :]
    page = ids[:limit]
    if query.get("before_id") in ids:
        ids = ids[: ids.index(query["before_id"])]
        page = ids[-limit:]
    data = [model_info(MODELS[model_id]) for model_id in page]
    ends = {"first_id": page[0] if page else None, "last_id": page[-1] if page else None}
    return _answer({"data": data, "has_more": len(ids) > len(page), **ends}, new_request_id())


async def retrieve_model(request: Request) -> Response:
    """`GET /v1/models/{id}`."""
    _workspace(request)
    model = MODELS.get(request.path_params["id"])
    if model is None:
        raise ApiError(404, f"model: {request.path_params['id']}")
    return _answer(model_info(model), new_request_id())


async def healthz(_request: Request) -> Response:
    """Says that the server is alive, and what it is."""
    return JSONResponse({"status": "ok", "server": "recall-offline", "language_model": False})


def _workspace(request: Request) -> str:
    """The caller's cache: one per API key and workspace header. Any key is accepted; a missing one is refused."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
    if not key:
        raise ApiError(401, "Authorization header is required: send your API key as a Bearer token")
    version = request.headers.get("anthropic-version")
    if version != API_VERSION:
        raise invalid(f"anthropic-version: this server speaks {API_VERSION}, not {version!r}")
    name = f"{key}\0{request.headers.get('anthropic-workspace-id', '')}"
    return blake2b(name.encode(), digest_size=16).hexdigest()


async def _json_body(request: Request) -> Any:
    """The parsed body. A body that is too large is read to its end, so that the client gets the answer, but not
    kept."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= MAX_BODY_BYTES:
            parts.append(part)
    if size > MAX_BODY_BYTES:
        raise ApiError(413, "Request exceeds the maximum size of 32 MB")
    try:
        return json.loads(b"".join(parts), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise invalid(f"The request body is not valid JSON: {problem}") from problem


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _take_fault(offline: Offline, request: Request, body: Json) -> Fault:
    """The fault requested by this request's header or waiting for it; raised if it is an error."""
    asked = request.headers.get(FAULT_HEADER)
    try:
        fault = parse_fault(asked) if asked else offline.faults.take(request.url.path, question_of(body))
    except ValueError as problem:
        raise invalid(f"{FAULT_HEADER}: {problem}") from problem
    error = fault.error()
    if error:
        raise error
    return fault


@contextmanager
def _recorded(record: Record) -> Iterator[None]:
    """Log a refusal, and put the logged request id into its answer."""
    try:
        yield
    except ApiError as error:
        record.outcome = f"error:{error.status}"
        error.request_id = record.request_id
        raise
    except RecursionError as problem:
        record.outcome = "error:400"
        raise invalid("The request body is nested too deeply") from problem


def _answer(body: Json, request_id: str) -> Response:
    return JSONResponse(body, headers={"request-id": request_id})


async def _api_error(_request: Request, error: ApiError) -> Response:
    headers = {**error.headers, "request-id": error.request_id}
    return JSONResponse(error_body(error), status_code=error.status, headers=headers)


async def _http_error(request: Request, error: HTTPException) -> Response:
    """Answer unknown paths and methods in the provider's shape."""
    status = error.status_code if error.status_code in ERROR_TYPES else 400
    return await _api_error(request, ApiError(status, f"{error.detail}: {request.method} {request.url.path}"))


async def _server_error(request: Request, _error: Exception) -> Response:
    return await _api_error(request, ApiError(500, "Internal server error"))


app = create_app()
