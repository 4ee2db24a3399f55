"""A browser without a window: it signs up over HTTP, speaks docs/protocol.md, and reconnects when a socket is lost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any
from uuid import uuid4

import httpx2
from websockets import Origin
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from tests.conftest import PASSWORD

Frame = dict[str, Any]
PATIENCE = 60.0
"""Seconds a frame may take: the machine may be busy, and PostgreSQL restarts in between."""
KNOCK_AGAIN = 0.2
"""Seconds before a lost socket is opened again; the page's own script waits longer."""


class Browser:
    """One user's session at one web process."""

    def __init__(self, url: str, cookies: httpx2.Cookies | None = None) -> None:
        self.url = url
        self.http = httpx2.Client(base_url=url, timeout=PATIENCE, headers={"Origin": url}, cookies=cookies)

    def sign_up(self, email: str) -> None:
        """Sign up as a new user."""
        self.http.get("/accounts/signup/").raise_for_status()
        answer = self.post("/accounts/signup/", {"email": email, "password1": PASSWORD, "preferred_name": ""})
        assert answer.status_code == 302, answer.text

    def end(self, conversation: str) -> None:
        """Press “Save memories now”."""
        assert self.post(f"/c/{conversation}/end", {}).status_code == 302

    def shown(self, conversation: str) -> str:
        """The messages as the page renders them now."""
        return self.http.get(f"/c/{conversation}/messages").raise_for_status().text

    def at(self, url: str) -> Browser:
        """The same session at another web process."""
        return Browser(url, self.http.cookies)

    def tab(self, patience: float = PATIENCE) -> Tab:
        """A new tab, connected within `patience` seconds."""
        tab = Tab(self.url, "; ".join(f"{name}={value}" for name, value in self.http.cookies.items()))
        tab.connect(patience)
        return tab

    def post(self, path: str, fields: dict[str, str]) -> httpx2.Response:
        """Send a form."""
        return self.http.post(path, data=fields, headers={"X-CSRFToken": self.http.cookies["csrftoken"]})


class Tab:
    """One socket, and everything received through it."""

    def __init__(self, url: str, cookie: str) -> None:
        self._url, self._cookie = url, cookie
        self._open = ExitStack()
        self.texts: dict[int, str] = {}
        """Answer → its text as far as it was streamed here."""

    def connect(self, patience: float = PATIENCE) -> None:
        """Open the socket, again and again until the server is there; what the page's script does."""
        deadline = time.monotonic() + patience
        while True:
            try:
                self._connect()
                self.hear("hello")
            except (OSError, EOFError, InvalidHandshake, ConnectionClosed):
                assert time.monotonic() < deadline, f"no socket within {patience} s"
                time.sleep(KNOCK_AGAIN)
            else:
                return

    def _connect(self) -> None:
        self.close()
        address = f"ws{self._url.removeprefix('http')}/ws/chat"
        opening = connect(
            address,
            origin=Origin(self._url),
            additional_headers={"Cookie": self._cookie},
            open_timeout=PATIENCE,
            max_queue=None,  # a browser accepts whatever arrives, whether or not anyone looks
        )
        self._socket: ClientConnection = self._open.enter_context(opening)

    def close(self) -> None:
        """Close the tab."""
        self._open.close()

    def tell(self, kind: str, **fields: Any) -> None:
        """Send a frame."""
        self._socket.send(json.dumps({"v": 1, "type": kind, **fields}))

    def hear(self, frame_type: str, /, **fields: Any) -> Frame:
        """Wait for the next frame of this kind with these fields; those before it are only recorded.

        Raises:
            ConnectionClosed: the socket was lost.
        """
        return self.first(lambda frame: frame["type"] == frame_type and fields.items() <= frame.items())

    def hear_of(self, client_id: str) -> Frame:
        """The next frame that says what became of the message with this client id."""
        return self.first(lambda frame: frame.get("client_id") == client_id)

    def wait_until_lost(self) -> int | None:
        """Wait until the server's end of the socket is closed; returns the code it gave, if any."""
        with suppress(ConnectionClosed):
            self.first(lambda frame: False)
        return self._socket.close_code

    def send(self, text: str, conversation: str | None = None, client_id: str = "") -> Frame:
        """Send a message; returns its `accepted` frame."""
        return self._transmit("send", client_id, conversation=conversation, text=text)

    def retry(self, answer: int) -> Frame:
        """Press “Try again” below an answer; returns the `done` frame of the new one."""
        return self.hear("done", message=self._transmit("retry", "", message=answer)["message"])

    def open(self, conversation: str) -> Frame:
        """Follow a conversation; returns the `opened` frame."""
        self.tell("open", conversation=conversation)
        return self.hear("opened", conversation=conversation)

    def come_back(self, conversation: str) -> Frame:
        """Notice that the socket is lost, reconnect, and open the conversation again; returns the `opened` frame."""
        self.wait_until_lost()
        self.connect()
        return self.open(conversation)

    def hear_until(self, answer: int, characters: int) -> str:
        """The text of an answer, once at least this many characters of it were streamed."""
        while len(self.texts.get(answer, "")) < characters:
            self.hear("delta", message=answer)
        return self.texts[answer]

    def first(self, wanted: Callable[[Frame], bool]) -> Frame:
        """The next frame that is wanted; those before it are only noted."""
        deadline = time.monotonic() + PATIENCE
        while True:
            frame: Frame = json.loads(self._socket.recv(timeout=max(0, deadline - time.monotonic())))
            self._note(frame)
            if wanted(frame):
                return frame

    def _transmit(self, kind: str, client_id: str, **fields: Any) -> Frame:
        """Send a message, again if it couldn't be saved, until it is accepted: the page keeps it that long."""
        client_id = client_id or str(uuid4())
        while True:
            self.tell(kind, client_id=client_id, **fields)
            frame = self.hear_of(client_id)
            if frame["type"] == "accepted":
                return frame
            assert frame["code"] == "unavailable", frame
            time.sleep(KNOCK_AGAIN)

    def _note(self, frame: Frame) -> None:
        if frame["type"] == "delta":
            before = self.texts.get(frame["message"], "")
            assert len(before) == frame["offset"], "deltas follow one another without a gap"
            self.texts[frame["message"]] = before + frame["text"]
        elif frame["type"] == "opened" and frame["answer"] is not None:
            self.texts[frame["answer"]["message"]] = frame["answer"]["text"]
