"""A web process loads the models of its turns before their first use, and not what it may never use."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from memory.network import reader
from recall import asgi
from tests.running import PROJECT, clean_environment

RARELY_USED: Final = ("numpy.random", "charset_normalizer", "latex2mathml.converter", "sentencex")
"""9 MB: for training, for files that aren't UTF-8, for formulas, for what only workers read."""


def test_no_turn_waits_for_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: set[str] = set()
    load = reader._load

    def remembered(weights: Any, *graph: Any, **shape: Any) -> Any:
        loaded.add(weights.parent.name)
        return load(weights, *graph, **shape)

    monkeypatch.setattr(reader, "_load", remembered)
    monkeypatch.setattr(asgi, "give_back", lambda: None)
    asgi.load_models()
    assert loaded == {"answers", "forget_requests", "query_encoder", "secrets", "speech_acts", "updates"}


def test_what_is_rarely_used_is_not_imported(tmp_path: Path) -> None:
    program = (
        "import sys, recall.asgi; from django.urls import get_resolver; get_resolver().url_patterns;"
        f"print(*sys.modules.keys() & {set(RARELY_USED)})"
    )
    command = [sys.executable, "-W", "ignore", "-c", program]
    environment = clean_environment(VAR_DIR=str(tmp_path))
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
