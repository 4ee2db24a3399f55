"""Prices: the list prices that the table `Price` starts with, the lookup, and cost arithmetic."""

import re
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, Protocol

from budget.models import Price


@dataclass(frozen=True, slots=True)
class ListPrice:
    """US dollars per million tokens."""

    model: str
    input: Decimal
    output: Decimal
    write_5m: Decimal
    write_1h: Decimal
    read: Decimal
    from_input_tokens: int = 0
    """Tier: the price of the whole request if its input exceeds this."""
    valid_from: date = date(2025, 1, 1)
    """Before the date of any receipt."""


def _listed(model: str, rates: str, from_input_tokens: int = 0) -> ListPrice:
    fresh, output, write_5m, write_1h, read = map(Decimal, rates.split())
    return ListPrice(model, fresh, output, write_5m, write_1h, read, from_input_tokens)


LIST_PRICES: Final = (
    # Anthropic's pricing page and release notes as of 21 November 2026.
    #                            input  output  write 5m  write 1h  read
    _listed("claude-haiku-5-5", "0.10    0.50    0.125     0.20    0.01"),
    # Above 100,000 input tokens only input and output prices are published; caching keeps its factors 1.25, 2 and 0.1.
    _listed("claude-haiku-5-5", "0.50    2.50    0.625     1.00    0.05", from_input_tokens=100_000),
    _listed("claude-sonnet-5-5", "2      10      2.50      4       0.10"),
    _listed("claude-opus-5-5", " 4      20      5         8       0.20"),
    _listed("claude-fable-5-1", "10     50     12.50     20       0.25"),
    _listed("claude-sonnet-5", " 2      10      2.50      4       0.20"),
    _listed("claude-opus-5", "   5      25      6.25     10       0.50"),
    _listed("claude-opus-4-8", " 5      25      6.25     10       0.50"),
    _listed("claude-opus-4-7", " 5      25      6.25     10       0.50"),
    _listed("claude-opus-4-6", " 5      25      6.25     10       0.50"),
    _listed("claude-opus-4-5", " 5      25      6.25     10       0.50"),
    _listed("claude-sonnet-4-6", "3     15      3.75      6       0.30"),
    _listed("claude-sonnet-4-5", "3     15      3.75      6       0.30"),
    _listed("claude-haiku-4-5", "1       5      1.25      2       0.10"),
)
"""The list prices. The provider has no API for them. Rows created from these can be edited, and others added, in the
admin."""

KEEP_PRICES: Final = 60.0
"""Seconds a process caches the prices: an edit in the admin applies within a minute."""
MILLION: Final = Decimal(1_000_000)


class TokenUsage(Protocol):
    """One request's usage in the provider's tokens. Input is counted once: fresh, cache read or cache write."""

    @property
    def input(self) -> int: ...
    @property
    def cache_read(self) -> int: ...
    @property
    def cache_write_5m(self) -> int: ...
    @property
    def cache_write_1h(self) -> int: ...
    @property
    def output(self) -> int: ...


def total_input(figures: TokenUsage) -> int:
    """All input tokens, cached or not."""
    return figures.input + figures.cache_read + figures.cache_write_5m + figures.cache_write_1h


def cost(figures: TokenUsage, rates: Price | ListPrice) -> Decimal:
    """US dollars for one request."""
    return (
        figures.input * rates.input
        + figures.cache_read * rates.read
        + figures.cache_write_5m * rates.write_5m
        + figures.cache_write_1h * rates.write_1h
        + figures.output * rates.output
    ) / MILLION


def cost_uncached(figures: TokenUsage, rates: Price | ListPrice) -> Decimal:
    """US dollars for the same request without caching."""
    return (total_input(figures) * rates.input + figures.output * rates.output) / MILLION


def price_for(model: str, on: date, input_tokens: int) -> Price | None:
    """The price of a request with `input_tokens` in total on that day; None: no price is set.

    A dated model name, such as claude-haiku-4-5-20251001, uses its family's price unless it has its own.
    """
    prices = _known_prices()
    for name in (model, _DATED.sub("", model)):
        valid = [price for price in prices if price.model == name and price.valid_from <= on]
        if valid:
            latest = max(price.valid_from for price in valid)
            return _tier([price for price in valid if price.valid_from == latest], input_tokens)
    return None


def seed(prices: Any, listed: Iterable[ListPrice] = LIST_PRICES) -> None:
    """Add missing rows to `prices`, a manager of `Price`; existing ones stay."""
    prices.bulk_create([prices.model(**asdict(price)) for price in listed], ignore_conflicts=True)


def forget_known_prices() -> None:
    """Clear the cache."""
    global _known  # noqa: PLW0603 (one cache a process)
    _known = (0.0, [])


_known: tuple[float, list[Price]] = (0.0, [])
_DATED: Final = re.compile(r"-\d{8}$")


def _known_prices() -> list[Price]:
    global _known  # noqa: PLW0603 (one cache a process)
    until, prices = _known
    if time.monotonic() >= until:
        prices = list(Price.objects.all())
        _known = (time.monotonic() + KEEP_PRICES, prices)
    return prices


def _tier(prices: Iterable[Price], input_tokens: int) -> Price | None:
    reached = [price for price in prices if price.from_input_tokens == 0 or input_tokens > price.from_input_tokens]
    return max(reached, key=lambda price: price.from_input_tokens, default=None)
