"""Authentication of requests to /mcp, before anything of the body is read.

421  the host is not in ALLOWED_HOSTS or PUBLIC_URL (DNS rebinding)
403  a page of another origin, or a valid key without a scope for any tool
401  no key, or an unknown, revoked or expired one
429  rate limit of the key, shared with the API (`accounts/api/rate_limit.py`)
405  not a POST: there is no stream and no session
"""

import asyncio
import json
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from accounts.api import rate_limit
from accounts.api.keys import find_active_key
from accounts.models import ApiKey
from chat.mcp.tools import SCOPES_OF_TOOLS
from recall.db.acting import as_user
from recall.db.connections import run_in_thread
from recall.http.request_limits import Application, Receive, Send, is_same_origin
from recall.observability.requests import serve_named

PATH: Final = "/mcp"
KEY: Final = "recall.key"
"""Key in the ASGI scope of the authenticated API key."""
BEARER: Final = "bearer "

NO_KEY: Final = "Send your API key: Authorization: Bearer rcl_… (Settings, API keys)."
INVALID_KEY: Final = "This key is unknown, revoked or expired. Create a new one (Settings, API keys)."
NO_SCOPE: Final = f"This key can't use memory tools: it needs one of {', '.join(SCOPES_OF_TOOLS)}."
FOREIGN_HOST: Final = "Recall isn't served under this host. Add it to ALLOWED_HOSTS or set PUBLIC_URL."
FOREIGN_ORIGIN: Final = "Requests from pages of other origins are refused."
RATE_LIMITED: Final = "Too many requests. Try again in {seconds} s."
ONLY_POST: Final = "Use POST. There is no stream to listen to."


class McpRequestError(Exception):
    """A refused request, with its status, sentence and response headers."""

    def __init__(self, status: int, sentence: str, error: str = "invalid_request", **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.error, self.headers = status, sentence, error, headers


class McpMiddleware:
    """Routes authenticated requests for /mcp to the tools and all others to the pages."""

    def __init__(self, pages: Application) -> None:
        self.pages = pages

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["path"].rstrip("/") != PATH:
            await self.pages(scope, receive, send)
        else:
            await serve_named(_serve, scope, receive, send)


async def _serve(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    try:
        key = await authenticate(scope)
    except McpRequestError as refused:
        await _answer(send, refused)
        return
    # The SDK takes more than a second to load, and most installations never need it.
    server = await asyncio.to_thread(import_module, "chat.mcp.server")
    with as_user(key.user_id):
        await server.serve({**scope, KEY: key}, receive, send)


async def authenticate(scope: dict[str, Any]) -> ApiKey:
    """The key of the request.

    Raises:
        McpRequestError: the request is refused.
    """
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    host, origin = headers.get(b"host", ""), headers.get(b"origin")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        raise McpRequestError(421, FOREIGN_HOST)
    if origin is not None and not is_same_origin(origin, host):
        raise McpRequestError(403, FOREIGN_ORIGIN)
    if scope["method"] != "POST":
        raise McpRequestError(405, ONLY_POST, allow="POST")
    return await run_in_thread(check_rate, headers.get(b"authorization", ""))


def check_rate(authorization: str) -> ApiKey:
    """The key, within its rate limit; raises `McpRequestError`."""
    key = find_key(authorization)
    with as_user(key.user_id):
        allowance = rate_limit.take_token(f"key:{key.pk}", key.user_id)
    if allowance.wait:
        raise McpRequestError(429, RATE_LIMITED.format(seconds=allowance.wait), "slow_down", **allowance.headers)
    return key


def find_key(authorization: str) -> ApiKey:
    """The key in the header, if it allows any tool; raises `McpRequestError`."""
    if authorization[: len(BEARER)].lower() != BEARER:
        raise McpRequestError(401, NO_KEY, "invalid_token", **{"www-authenticate": 'Bearer realm="Recall"'})
    key = find_active_key(authorization[len(BEARER) :].strip())
    if key is None:
        challenge = 'Bearer realm="Recall", error="invalid_token"'
        raise McpRequestError(401, INVALID_KEY, "invalid_token", **{"www-authenticate": challenge})
    if not set(key.scopes) & set(SCOPES_OF_TOOLS):
        wanted = f'Bearer realm="Recall", error="insufficient_scope", scope="{" ".join(SCOPES_OF_TOOLS)}"'
        raise McpRequestError(403, NO_SCOPE, "insufficient_scope", **{"www-authenticate": wanted})
    return key


async def _answer(send: Send, refused: McpRequestError) -> None:
    """Send the refusal as an OAuth error, which clients of the protocol read."""
    body = json.dumps({"error": refused.error, "error_description": refused.sentence}, ensure_ascii=False).encode()
    headers = [(name.lower().encode(), value.encode()) for name, value in refused.headers.items()]
    headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
