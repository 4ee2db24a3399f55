"""A web process loads the models of its turns before their first use."""

from typing import Any

import pytest

from memory.network import reader
from recall import asgi


def test_no_turn_waits_for_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: set[str] = set()
    load = reader._load

    def remembered(weights: Any, whole: tuple[str, ...]) -> Any:
        loaded.add(weights.parent.name)
        return load(weights, whole)

    monkeypatch.setattr(reader, "_load", remembered)
    monkeypatch.setattr(asgi, "give_back", lambda: None)
    asgi.load_models()
    assert loaded == {"query_encoder", "secrets", "speech_acts"}
