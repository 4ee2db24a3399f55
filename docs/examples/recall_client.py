"""A small client for Recall's API: send messages, stream answers, search, propose facts, iterate over lists.

One file to copy. It needs Python 3.13, httpx2 (`pip install httpx2`), and a key from *Settings → API keys*.

    with Recall("http://localhost:8000", key) as recall:
        for piece in recall.send("Where does my sister live?"):
            print(piece, end="")
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import UUID, uuid4

import httpx2

Json = dict[str, Any]


class ApiError(Exception):
    """An error response: a problem (RFC 9457)."""

    def __init__(self, problem: Json) -> None:
        super().__init__(problem.get("detail", ""))
        self.status: int = problem["status"]
        self.kind: str = problem.get("type", "about:blank").rpartition("#")[2]
        self.problem = problem


@dataclass(slots=True)
class Answer:
    """An answer while it's written. Iterate over it for the pieces; then `text` is complete."""

    events: Iterator[tuple[str, Json]]
    conversation: str = ""
    message: int = 0
    text: str = ""
    outcome: str = ""
    """complete, interrupted or failed; empty while the answer is written."""
    error: str = ""
    usage: Json = field(default_factory=dict)

    def __iter__(self) -> Iterator[str]:
        for name, data in self.events:
            if name == "accepted":
                self.conversation, self.message = data["conversation"], data["message"]
            elif name == "delta":
                self.text += data["text"]
                yield data["text"]
            elif name == "error":
                self.error = data.get("sentence", "")
            elif name == "done":
                self.text, self.outcome, self.usage = data["text"], data["outcome"], data["usage"] or {}

    def read_all(self) -> str:
        """Wait for the end and return the whole text."""
        for _ in self:
            pass
        return self.text


class Recall:
    """A connection to one Recall, as the owner of one key."""

    def __init__(self, address: str, key: str, *, timeout: float = 30.0) -> None:
        """`timeout`: seconds without data; while an answer is written, something comes at least every 15."""
        headers = {"Authorization": f"Bearer {key}"}
        self.http = httpx2.Client(base_url=f"{address.rstrip('/')}/api/v1", headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.http.close()

    # Chat

    def send(self, text: str, conversation: str | None = None, client_id: UUID | None = None) -> Answer:
        """Send a message; the same `client_id` again changes nothing and returns the same answer.

        Raises:
            ApiError: the message wasn't accepted. All methods can raise it.
        """
        body = {"text": text, "conversation": conversation, "client_id": str(client_id or uuid4())}
        return Answer(self._events("/turns", body))

    def _events(self, path: str, body: Json) -> Iterator[tuple[str, Json]]:
        with self.http.stream("POST", path, json=body) as response:
            if response.status_code != 200:
                response.read()
                raise ApiError(response.json())
            name = ""
            for line in response.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

    def conversations(self, **filters: Any) -> Iterator[Json]:
        """Newest first; filters as in the API: archived, pinned, project, q, since …"""
        return self.pages("/conversations", **filters)

    def messages(self, conversation: str) -> Iterator[Json]:
        """Messages of the active branch, in order."""
        return self.pages(f"/conversations/{conversation}/messages")

    # Memory

    def search(self, question: str, *, top_k: int = 10, **filters: Any) -> list[Json]:
        """Matching memories, best first, each with the parts of its score."""
        found: list[Json] = self.get("/memory/search", q=question, top_k=top_k, **filters)["results"]
        return found

    def remember(self, statement: str) -> str:
        """Propose a fact for review; returns a sentence that says what happened."""
        proposed: str = self.post("/memory/facts", {"statement": statement})["sentence"]
        return proposed

    def facts(self, **filters: Any) -> Iterator[Json]:
        """Active facts; or by status, kind, tag, words, or at a moment."""
        return self.pages("/memory/facts", **filters)

    def proposals(self) -> Iterator[Json]:
        """Facts that need review, each with its source."""
        return self.pages("/memory/review")

    def decide(self, verb: str, facts: list[int]) -> Json:
        """Decide facts together; `verb` is `accept` or `reject`."""
        decided: Json = self.post("/memory/facts/decide", {"verb": verb, "facts": facts})
        return decided

    def write(self, path: str, text: str, version: int = 0) -> Json:
        """Save a document; `version`: the one you read, 0 for a new document."""
        sent = {"path": path, "text": text, "version": version}
        written: Json = self._json("PUT", "/memory/document", json=sent)
        return written

    # Any operation

    def get(self, path: str, **query: Any) -> Any:
        """GET `path` and return the JSON."""
        return self._json("GET", path, params=query)

    def post(self, path: str, body: Json) -> Any:
        """POST `body`; after a lost response it's sent again with the same idempotency key."""
        return self._json("POST", path, json=body)

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """Every item of a list, page by page."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.get(path, **query, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]

    def _json(self, method: str, path: str, **sent: Any) -> Any:
        headers = {} if method == "GET" else {"Idempotency-Key": str(uuid4())}
        for attempt in (1, 2):
            try:
                response = self.http.request(method, path, headers=headers, **sent)
            except httpx2.TransportError:
                if attempt == 2:
                    raise
                continue  # it may have been done: the same idempotency key makes a retry safe
            if response.status_code >= 400:
                raise ApiError(response.json())
            return response.json() if response.content else None
        raise AssertionError("two attempts, each of which returned or raised")
