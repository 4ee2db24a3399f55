"""Engines that do what a test says, and statements that are embedded once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from memory.embeddings.port import embedder
from memory.librarian import run as librarian
from memory.librarian.engine import Extraction, ExtractionInput


@dataclass
class Scripted:
    """An engine that does what a test says, and keeps what it was given to read."""

    does: Callable[[ExtractionInput], Extraction]
    version: str = "scripted/1"
    uses_tokens: bool = False
    max_duration: timedelta = timedelta(seconds=60)
    readings: list[ExtractionInput] = field(default_factory=list)

    def extract(self, reading: ExtractionInput) -> Extraction:
        self.readings.append(reading)
        return self.does(reading)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[ExtractionInput], Extraction]], Scripted]:
    """`use(function)` makes it the engine."""

    def use(does: Callable[[ExtractionInput], Extraction]) -> Scripted:
        scripted = Scripted(does)
        monkeypatch.setattr(librarian, "choose_engine", lambda: scripted)
        return scripted

    return use


@cache
def _vector(statement: str) -> Any:
    return embedder().embed([statement])[0]


@pytest.fixture
def embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated statements aren't embedded again."""
    monkeypatch.setattr(
        librarian, "_embed_statements", lambda proposals: [_vector(proposal.statement) for proposal in proposals]
    )
