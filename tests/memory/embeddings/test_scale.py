"""What another model's cosines mean is measured by pairs of questions and answers."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from memory.embeddings import scale
from memory.embeddings.limits import Vectors
from memory.embeddings.port import embedder
from memory.embeddings.scale import BUILT_IN, PAIRS, measure
from memory.query_encoder.encoder import encode_question
from memory.retrieval.query import parse_question

SHARED = 0.8
"""Share that all vectors of the squeezed model have in common."""


def squeezed(texts: Sequence[str]) -> Vectors:
    """Vectors of a model that finds all texts alike: its cosines are the built-in one's, squeezed into .8 to 1."""
    own = embedder().embed(texts) * np.sqrt(1 - SHARED)
    vectors: Vectors = np.hstack([own, np.full((len(texts), 1), np.sqrt(SHARED))]).astype(np.float32)
    return vectors


def test_a_cosine_is_mapped_to_a_model_that_finds_all_texts_alike() -> None:
    plain = measure(lambda text: embedder().embed([text])[0], embedder().embed)
    alike = measure(lambda text: squeezed([text])[0], squeezed)

    assert alike.related > alike.unrelated > SHARED
    for cosine in (0.1, 0.2, 0.7):
        assert alike.of(cosine) == pytest.approx(SHARED + (1 - SHARED) * plain.of(cosine), abs=1e-3)


def test_the_built_in_models_scale_is_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "PAIRS", {"english": PAIRS["english"]})
    now = datetime(2026, 11, 27, tzinfo=UTC)

    found = measure(lambda text: encode_question(parse_question(text, (), now).semantic_query), embedder().embed)

    assert (found.unrelated, found.related) == pytest.approx((BUILT_IN.unrelated, BUILT_IN.related), abs=0.02)
    assert BUILT_IN.of(0.2) == pytest.approx(0.2)


def test_a_model_that_tells_no_answer_from_another_is_compared_as_it_is() -> None:
    same: Vectors = np.full(4, 0.5, np.float32)

    assert measure(lambda text: same, lambda texts: np.stack([same] * len(texts))) == BUILT_IN
