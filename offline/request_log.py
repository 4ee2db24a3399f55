"""Request log for tests: the latest requests with body, outcome and usage. Kept only with OFFLINE_ADMIN=1."""

from collections import deque
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

KEPT = 200


@dataclass(slots=True)
class Record:
    """One request. `outcome`: running, complete, cancelled (the client left), broken, or error:STATUS."""

    path: str
    request_id: str
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    body: Any = None
    outcome: str = "running"
    message_id: str | None = None
    stop_reason: str | None = None
    deltas: int = 0  # sent so far
    usage: Json | None = None


class RequestLog:
    """The latest `KEPT` requests, oldest first; empty unless enabled."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.records: deque[Record] = deque(maxlen=KEPT)

    def open(self, path: str, request_id: str) -> Record:
        record = Record(path, request_id)
        if self.enabled:
            self.records.append(record)
        return record

    def clear(self) -> None:
        self.records.clear()

    def as_json(self) -> list[Json]:
        return [asdict(record) for record in self.records]
