"""Tests of accounts start without counted attempts."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def no_attempts_yet(db: None) -> Iterator[None]:
    """Attempts and used codes are counted in the cache, which outlives a test."""
    cache.clear()
    yield
    cache.clear()
