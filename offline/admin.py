"""Endpoints for tests: faults, scripted replies, search pages, the request log. Served only with OFFLINE_ADMIN=1."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from offline.errors import ApiError, invalid
from offline.messages import Offline


async def faults(request: Request) -> Response:
    """POST {"fault", "times"?, "match"?, "path"?} adds one, GET lists the waiting ones, DELETE drops them."""
    queue = _offline(request).faults
    if request.method == "POST":
        _refuse_wrong(queue.add, await _object(request))
    elif request.method == "DELETE":
        queue.waiting.clear()
    return JSONResponse({"faults": queue.as_json()})


async def script(request: Request) -> Response:
    """POST {"replies": […]} adds replies, GET lists the waiting ones, DELETE drops them."""
    queue = _offline(request).script
    if request.method == "POST":
        _refuse_wrong(queue.add, (await _object(request)).get("replies"))
    elif request.method == "DELETE":
        queue.queue.clear()
    # ASCII, because a test may script characters that UTF-8 can't hold
    return Response(json.dumps({"replies": queue.as_json()}), media_type="application/json")


async def pages(request: Request) -> Response:
    """POST {"pages": […]} adds pages that the search finds, GET lists them, DELETE drops them."""
    found = _offline(request).pages
    if request.method == "POST":
        _refuse_wrong(found.add, (await _object(request)).get("pages"))
    elif request.method == "DELETE":
        found.prepared.clear()
    return JSONResponse({"pages": found.prepared})


async def requests(request: Request) -> Response:
    """GET lists the latest requests, oldest first; DELETE clears the log."""
    log = _offline(request).log
    if request.method == "DELETE":
        log.clear()
    return JSONResponse({"requests": log.as_json()})


ROUTES = [
    Route("/offline/faults", faults, methods=["GET", "POST", "DELETE"]),
    Route("/offline/script", script, methods=["GET", "POST", "DELETE"]),
    Route("/offline/pages", pages, methods=["GET", "POST", "DELETE"]),
    Route("/offline/requests", requests, methods=["GET", "DELETE"]),
]


def _offline(request: Request) -> Offline:
    """The server's state; without OFFLINE_ADMIN=1 these paths are as unknown as any other."""
    offline: Offline = request.app.state.offline
    if not offline.admin:
        raise ApiError(404, f"Not Found: {request.method} {request.url.path}")
    return offline


def _refuse_wrong(add: Any, value: Any) -> None:
    try:
        add(value)
    except ValueError as problem:
        raise invalid(str(problem)) from problem


async def _object(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except ValueError as problem:
        raise invalid(f"The request body is not valid JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise invalid("The request body must be a JSON object.")
    return body
