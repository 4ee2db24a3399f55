"""The server's tokens are its own: deterministic, and 1.2 to 1.7 times the base count, by kind of text."""

import os
from pathlib import Path

import pytest
import tiktoken

from offline.protocol.tokenizer import count
from tests.offline.samples import SAMPLES

# Kind of text → o200k_base tokens (tiktoken 0.14), this server's tokens.
MEASURED = {
    "prose": (149, 200),
    "chat": (53, 71),
    "code": (143, 214),
    "memories as JSON": (129, 172),
    "schema as JSON": (93, 144),
    "French": (43, 60),
    "German": (45, 59),
    "Russian": (49, 78),
    "Greek": (57, 88),
    "Chinese": (45, 66),
    "Japanese": (47, 71),
    "Korean": (39, 48),
    "Arabic": (36, 51),
    "Hebrew": (40, 59),
    "Hindi": (42, 66),
    "Thai": (28, 42),
    "identifiers": (51, 62),
}
VOCABULARY = "fb374d419588a4632f3f557e76b4b70aebbca790"  # o200k_base in tiktoken's cache folder


def base_count(kind: str) -> int:
    """Counted by tiktoken if its vocabulary is on this machine, else as measured before. Nothing is downloaded."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", "")
    if not folder or not (Path(folder) / VOCABULARY).exists():
        return MEASURED[kind][0]
    return len(tiktoken.get_encoding("o200k_base").encode(SAMPLES[kind]))


def test_every_sample_was_measured() -> None:
    assert SAMPLES.keys() == MEASURED.keys()


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_kind_of_text_costs_what_was_measured(kind: str) -> None:
    assert (base_count(kind), count(SAMPLES[kind])) == MEASURED[kind]


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_ratio_to_the_base_count_lies_between_1_2_and_1_7(kind: str) -> None:
    assert 1.2 <= count(SAMPLES[kind]) / base_count(kind) <= 1.7


def test_the_ratio_depends_on_the_kind_of_text() -> None:
    ratios = {kind: own / base for kind, (base, own) in MEASURED.items()}
    assert ratios["code"] - ratios["prose"] > 0.1
    assert ratios["Russian"] - ratios["Korean"] > 0.3


def test_nothing_costs_nothing_and_more_never_costs_less() -> None:
    assert count("") == 0
    for text in SAMPLES.values():
        counts = [count(text[:end]) for end in range(0, len(text), 7)]
        assert counts == sorted(counts)
