"""A socket to chat through, and a provider whose answers and failures a test can script."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from asgiref.testing import ApplicationCommunicator

from budget.models import Price
from budget.spending import prices
from chat.consumer import ChatConsumer
from chat.turns.live import TURN_REGISTRY
from memory.secrets import secrets_filter
from recall.llm.client import close, forget_capabilities

Frame = dict[str, Any]
PATIENCE = 30.0


@dataclass
class Provider:
    """The offline server's admin side."""

    http: httpx2.Client

    def fail(self, fault: str, times: int = 1, match: str = "") -> None:
        """Make the next `times` requests meet this fault."""
        self._post("faults", {"fault": fault, "times": times, "match": match})

    def script(self, *replies: Frame) -> None:
        """Answer with these, in this order."""
        self._post("script", {"replies": list(replies)})

    def script_as_it_is(self, body: str) -> None:
        """The same from JSON text, which may name characters that UTF-8 can't hold."""
        headers = {"Content-Type": "application/json"}
        self.http.post("/offline/script", content=body.encode(), headers=headers).raise_for_status()

    def requests(self) -> list[Frame]:
        """The requests to the Messages endpoint, oldest first."""
        logged: list[Frame] = self.http.get("/offline/requests").raise_for_status().json()["requests"]
        return [one for one in logged if one["path"] == "/v1/messages"]

    def _post(self, what: str, body: Frame) -> None:
        self.http.post(f"/offline/{what}", json=body).raise_for_status()


@pytest.fixture
def provider(offline_server: str, transactional_db: None) -> Iterator[Provider]:
    """A clean offline server, and its prices: a transactional test ends by emptying every table."""
    forget_capabilities()
    prices.seed(Price.objects)
    prices.forget_known_prices()
    with httpx2.Client(base_url=offline_server) as http:
        for what in ("faults", "script", "requests"):
            http.delete(f"/offline/{what}").raise_for_status()
        yield Provider(http)
    forget_capabilities()


@pytest.fixture
def shaped_secrets_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network reads each message for other secrets: where none is said, it takes longer than all else."""
    monkeypatch.setattr(secrets_filter, "find_secrets", secrets_filter.shaped_secrets)


class Socket:
    """A consumer's socket without a server. Channels' own communicator would need daphne."""

    def __init__(self, user: Any) -> None:
        scope = {"type": "websocket", "path": "/ws/chat", "user": user, "headers": [], "subprotocols": []}
        self.app: Any = ApplicationCommunicator(ChatConsumer.as_asgi(), scope)  # type: ignore[no-untyped-call]

    async def connect(self) -> Frame:
        """Connect; returns the application's first event."""
        await self.app.send_input({"type": "websocket.connect"})
        return await self.event()

    async def event(self) -> Frame:
        """The next event from the application."""
        event: Frame = await self.app.receive_output(PATIENCE)
        return event

    async def send(self, text: str | None = None, data: bytes | None = None) -> None:
        """Send one message to the application."""
        message = {"text": text} if text is not None else {"bytes": data}
        await self.app.send_input({"type": "websocket.receive", **message})

    async def disconnect(self) -> None:
        """Disconnect."""
        await self.app.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.app.wait(PATIENCE)


@dataclass
class Tab:
    """One browser tab's socket."""

    socket: Socket
    seen: list[Frame] = field(default_factory=list)

    async def tell(self, type_: str, **fields: Any) -> None:
        """Send a frame."""
        await self.socket.send(json.dumps({"v": 1, "type": type_, **fields}))

    async def hear(self, type_: str) -> Frame:
        """Wait for the next frame of this type; those before it are kept in `seen`."""
        return await self.hear_any(type_)

    async def hear_any(self, *types: str) -> Frame:
        """Wait for the next frame of one of these types."""
        async with asyncio.timeout(PATIENCE):
            while True:
                frame: Frame = json.loads((await self.socket.event())["text"])
                self.seen.append(frame)
                if frame["type"] in types:
                    return frame

    async def ask(self, text: str, conversation: str | None = None, **fields: Any) -> Frame:
        """Send a message; returns the `accepted` frame."""
        client_id = fields.pop("client_id", None) or str(uuid4())
        await self.tell("send", client_id=client_id, conversation=conversation, text=text)
        return await self.hear("accepted")

    async def talk(self, text: str, conversation: str | None = None) -> Frame:
        """Send a message and wait for the answer; returns the `accepted` frame with the `done` frame's fields."""
        accepted = await self.ask(text, conversation)
        done = await self.hear("done")
        await settled()
        return {**accepted, **done}

    def text_of(self, message: int) -> str:
        """The answer's text from its deltas, checked for gaps."""
        text = ""
        for frame in self.seen:
            if frame["type"] == "delta" and frame["message"] == message:
                assert frame["offset"] == len(text), "a gap"
                text += frame["text"]
        return text


async def settled() -> None:
    """Wait until every turn of the process has finished."""
    async with asyncio.timeout(PATIENCE):
        while TURN_REGISTRY.by_conversation or TURN_REGISTRY._tasks:  # noqa: ASYNC110 (the product needs no event for it)
            await asyncio.sleep(0.01)


class Tabs:
    """Opens tabs and closes them all at the end."""

    def __init__(self) -> None:
        self.open_ones: list[Tab] = []

    async def open(self, user: Any) -> Tab:
        """Open a connected tab of `user`."""
        tab = Tab(Socket(user))
        assert (await tab.socket.connect())["type"] == "websocket.accept"
        self.open_ones.append(tab)
        await tab.hear("hello")
        return tab

    async def close(self, tab: Tab) -> None:
        """Close one tab, as a reload does."""
        self.open_ones.remove(tab)
        await tab.socket.disconnect()


@pytest.fixture
async def tabs(provider: Provider) -> AsyncIterator[Tabs]:
    """Browser tabs of any user."""
    opened = Tabs()
    yield opened
    await settled()
    for tab in list(opened.open_ones):
        await opened.close(tab)
    await close()
