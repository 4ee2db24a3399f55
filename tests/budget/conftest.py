"""Tests of the budget start with nothing learned: neither prices nor token ratios."""

from collections.abc import Iterator

import pytest

from budget.counting.calibration import forget_known_ratios
from budget.spending.prices import forget_known_prices


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    forget_known_prices()
    forget_known_ratios()
    yield
    forget_known_prices()
    forget_known_ratios()
