"""A small client of Recall's API: send and read the answer as it comes, search, propose, page through lists.

One file, to be copied. It needs Python 3.13 and httpx2 (`pip install httpx2`), and a key made on the page of settings.

    with Recall("http://localhost:8000", key) as recall:
        for piece in recall.say("Where does my sister live?"):
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


class Refused(Exception):
    """What Recall answered instead: a problem (RFC 9457)."""

    def __init__(self, problem: Json) -> None:
        super().__init__(problem.get("detail", ""))
        self.status: int = problem["status"]
        self.kind: str = problem.get("type", "about:blank").rpartition("#")[2]
        self.problem = problem


@dataclass(slots=True)
class Answer:
    """An answer as it is written. Iterate over it for the pieces; afterwards it is whole."""

    events: Iterator[tuple[str, Json]]
    conversation: str = ""
    message: int = 0
    text: str = ""
    outcome: str = ""
    """complete, interrupted or failed; empty: it is still being written."""
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

    def whole(self) -> str:
        """All of it, once it is written."""
        for _ in self:
            pass
        return self.text


class Recall:
    """One Recall, as the owner of one key."""

    def __init__(self, address: str, key: str, *, timeout: float = 30.0) -> None:
        """`timeout`: seconds without a word; while an answer is written there is one at least every 15."""
        headers = {"Authorization": f"Bearer {key}"}
        self.http = httpx2.Client(base_url=f"{address.rstrip('/')}/api/v1", headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.http.close()

    # Talking

    def say(self, text: str, conversation: str | None = None, client_id: UUID | None = None) -> Answer:
        """Send a message; the same `client_id` again changes nothing and brings the same answer.

        Raises:
            Refused: it was not accepted. As with all methods.
        """
        body = {"text": text, "conversation": conversation, "client_id": str(client_id or uuid4())}
        return Answer(self._events("/turns", body))

    def _events(self, path: str, body: Json) -> Iterator[tuple[str, Json]]:
        with self.http.stream("POST", path, json=body) as response:
            if response.status_code != 200:
                response.read()
                raise Refused(response.json())
            name = ""
            for line in response.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

    def conversations(self, **filters: Any) -> Iterator[Json]:
        """The latest first; filters as the API has them: archived, pinned, project, q, since …"""
        return self.pages("/conversations", **filters)

    def messages(self, conversation: str) -> Iterator[Json]:
        """Of the branch that is followed, in order."""
        return self.pages(f"/conversations/{conversation}/messages")

    # Remembering

    def search(self, question: str, *, top_k: int = 10, **filters: Any) -> list[Json]:
        """What is remembered about it, best first, each with the parts of its score."""
        found: list[Json] = self.get("/memory/search", q=question, top_k=top_k, **filters)["results"]
        return found

    def remember(self, statement: str) -> str:
        """Propose a fact; what became of it, in a sentence. The person decides in review."""
        proposed: str = self.post("/memory/facts", {"statement": statement})["sentence"]
        return proposed

    def facts(self, **filters: Any) -> Iterator[Json]:
        """What holds; or by status, kind, tag, words, or as of a moment."""
        return self.pages("/memory/facts", **filters)

    def waiting(self) -> Iterator[Json]:
        """What waits for review, each with the words it rests on."""
        return self.pages("/memory/review")

    def decide(self, verb: str, facts: list[int]) -> Json:
        """`accept` or `reject` them."""
        decided: Json = self.post("/memory/facts/decide", {"verb": verb, "facts": facts})
        return decided

    def write(self, path: str, text: str, version: int = 0) -> Json:
        """A document; `version`: the one you read, 0 for a new one."""
        sent = {"path": path, "text": text, "version": version}
        written: Json = self._json("PUT", "/memory/document", json=sent)
        return written

    # By hand

    def get(self, path: str, **query: Any) -> Any:
        """What stands there."""
        return self._json("GET", path, params=query)

    def post(self, path: str, body: Json) -> Any:
        """Change something, once: a lost answer can be asked for again."""
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
                continue  # whether it was done is not known: the same key makes asking again harmless
            if response.status_code >= 400:
                raise Refused(response.json())
            return response.json() if response.content else None
        raise AssertionError("two attempts, each of which returned or raised")
