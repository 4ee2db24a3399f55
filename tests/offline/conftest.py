"""The offline server, started once on a free loopback port, and the provider's own SDK to drive it."""

import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import uvicorn
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

from offline.app import create_app

Json = dict[str, Any]

PLAIN = False  # no TLS on loopback: loading the certificates for each client would take most of the tests' time


@contextmanager
def serving(environ: dict[str, str]) -> Iterator[str]:
    """A server in a thread of this process; yields its address."""
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(environ), log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive(), "the offline server did not start"
        assert time.monotonic() < deadline, "the offline server did not start in time"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def offline_url() -> Iterator[str]:
    """A server without pauses between words and with admin endpoints."""
    with serving({"OFFLINE_ADMIN": "1", "OFFLINE_DELTA_DELAY": "0"}) as url:
        yield url


@pytest.fixture(scope="session")
def closed_url() -> Iterator[str]:
    """A server as a user starts it: without admin endpoints."""
    with serving({"OFFLINE_DELTA_DELAY": "0"}) as url:
        yield url


class Admin:
    """The admin endpoints."""

    def __init__(self, url: str) -> None:
        self.http = httpx2.Client(base_url=f"{url}/offline", timeout=10, verify=PLAIN)

    def fault(self, fault: str, **more: Any) -> httpx2.Response:
        return self.http.post("/faults", json={"fault": fault, **more})

    def script(self, *replies: Json) -> httpx2.Response:
        return self.http.post("/script", json={"replies": list(replies)})

    def requests(self) -> list[Json]:
        records: list[Json] = self.http.get("/requests").json()["requests"]
        return records

    def last(self) -> Json:
        return self.requests()[-1]

    def reset(self) -> None:
        for what in ("/faults", "/script", "/requests"):
            self.http.delete(what).raise_for_status()


@pytest.fixture
def admin(offline_url: str) -> Iterator[Admin]:
    """Admin endpoints of a server without faults, scripted replies and logged requests."""
    admin = Admin(offline_url)
    admin.reset()
    yield admin
    admin.reset()
    admin.http.close()


@pytest.fixture
async def client(offline_url: str, admin: Admin) -> AsyncIterator[AsyncAnthropic]:
    """The SDK with its own key, and therefore its own cache; it doesn't retry."""
    http = DefaultAsyncHttpxClient(verify=PLAIN)
    key = f"offline-{uuid4()}"
    async with AsyncAnthropic(base_url=offline_url, api_key=key, max_retries=0, http_client=http) as client:
        yield client


@pytest.fixture
def raw(offline_url: str) -> Iterator[httpx2.Client]:
    """Plain HTTP with the provider's headers, for what the SDK wouldn't send."""
    headers = {"authorization": f"Bearer raw-{uuid4()}", "anthropic-version": "2026-10-21"}
    with httpx2.Client(base_url=offline_url, headers=headers, timeout=20, verify=PLAIN) as http:
        yield http
