"""Another assistant with a user's key: the SDK's own client, over streamable HTTP."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx2
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from accounts.api import keys
from accounts.models import User
from chat.mcp.auth import McpMiddleware
from chat.mcp.tools import SCOPES_OF_TOOLS

URL = "http://localhost/mcp"


async def pages(scope: Any, receive: Any, send: Any) -> None:
    """Stands in for everything but /mcp."""
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b""})


APP: Any = McpMiddleware(pages)


class Assistant:
    """Uses Recall with a key."""

    def __init__(self, secret: str, *, address: str = URL, in_process: bool = True) -> None:
        self.secret, self.address = secret, address
        self.transport = httpx2.ASGITransport(app=APP) if in_process else None

    def http(self, **headers: str) -> httpx2.AsyncClient:
        """A plain client; `authorization` is the key's unless it is given."""
        given = {"authorization": f"Bearer {self.secret}", **headers}
        return httpx2.AsyncClient(transport=self.transport, headers=given)

    def tell(self, story: Callable[[Client], Any], mode: str = "auto") -> Any:
        """Connect, and run `story` with the client. `mode`: see the SDK."""

        async def told() -> Any:
            async with self.http() as http:
                transport = streamable_http_client(self.address, http_client=http)
                async with Client(transport, mode=mode) as client:
                    return await story(client)

        return async_to_sync(told)()

    def tools(self) -> dict[str, Any]:
        """The offered tools, by name."""
        return {tool.name: tool for tool in self.tell(lambda client: client.list_tools()).tools}

    def call(self, name: str, **given: Any) -> Any:
        """A tool's result."""
        result = self.tell(lambda client: client.call_tool(name, given))
        assert not result.is_error, result.content[0].text
        return json.loads(result.content[0].text)

    def refused(self, name: str, **given: Any) -> str:
        """The sentence with which a tool refuses."""
        result = self.tell(lambda client: client.call_tool(name, given))
        assert result.is_error
        return str(result.content[0].text)

    def post(self, content: bytes = b"{}", **headers: str) -> httpx2.Response:
        """A bare POST."""

        async def posted() -> httpx2.Response:
            kinds = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            async with self.http(**{**kinds, **headers}) as http:
                return await http.post(self.address, content=content)

        return async_to_sync(posted)()


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Database work stays inside the test's own rolled-back transaction."""

    async def in_this_one(work: Any, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(work, thread_sensitive=True)(*args, **kwargs)

    import chat.mcp.server  # noqa: F401 -- so that its name is there to be replaced

    for module in ("chat.mcp.auth", "chat.mcp.server"):
        monkeypatch.setattr(f"{module}.run_in_thread", in_this_one)


@pytest.fixture
def assistant(one_thread: None) -> Callable[..., Assistant]:
    """`assistant(alice)` is one with a key of Alice's; `scopes`: of the key."""

    def with_key(user: User, scopes: Iterable[str] = SCOPES_OF_TOOLS, name: str = "Claude on my laptop") -> Assistant:
        return Assistant(keys.create_key(user, name, scopes)[1])

    return with_key
