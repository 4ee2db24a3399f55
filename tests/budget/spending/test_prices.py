"""What a request costs, by which price, from which day on."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.models import Price
from budget.spending.prices import (
    LIST_PRICES,
    ListPrice,
    cost,
    cost_uncached,
    price_for,
    seed,
    total_input,
)
from tests.budget.rows import Figures

TODAY = date(2026, 11, 21)


def listed(model: str, tier: int = 0) -> ListPrice:
    return next(price for price in LIST_PRICES if (price.model, price.from_input_tokens) == (model, tier))


def test_a_request_costs_what_the_list_says_for_each_kind_of_token() -> None:
    million = 1_000_000
    figures = Figures(million, million, million, million, million)
    assert cost(figures, listed("claude-sonnet-5-5")) == Decimal("2") + Decimal("0.10") + Decimal("2.50") + 4 + 10
    assert cost_uncached(figures, listed("claude-sonnet-5-5")) == 4 * 2 + 10


def test_a_turn_from_the_cache_costs_a_fraction() -> None:
    figures = Figures(input=400, cache_read=12_000, cache_write_1h=600, output=300)
    assert cost(figures, listed("claude-sonnet-5-5")) == Decimal("0.0074")
    assert cost_uncached(figures, listed("claude-sonnet-5-5")) == Decimal("0.029")


@pytest.mark.parametrize("price", LIST_PRICES, ids=lambda price: f"{price.model}-{price.from_input_tokens}")
def test_every_list_price_keeps_the_cache_rules(price: ListPrice) -> None:
    """A write costs 1.25 or 2 times fresh input, a read a tenth or less."""
    assert price.write_5m == price.input * Decimal("1.25")
    assert price.write_1h == price.input * 2
    assert price.read <= price.input / 10
    assert price.output == 5 * price.input


tokens = st.integers(0, 2_000_000)


@given(tokens, tokens, tokens, tokens, tokens, st.sampled_from(LIST_PRICES))
def test_reads_alone_never_cost_more_than_fresh_input_and_writes_never_more_than_twice(
    fresh: int, read: int, write_5m: int, write_1h: int, output: int, price: ListPrice
) -> None:
    figures = Figures(fresh, read, write_5m, write_1h, output)
    assert total_input(figures) == fresh + read + write_5m + write_1h
    assert cost(Figures(fresh, read, 0, 0, output), price) <= cost_uncached(Figures(fresh, read, 0, 0, output), price)
    assert cost(figures, price) <= 2 * cost_uncached(figures, price)


@pytest.mark.django_db
def test_the_table_starts_with_the_list_prices() -> None:
    assert Price.objects.count() == len(LIST_PRICES)
    for price in LIST_PRICES:
        row = price_for(price.model, TODAY, price.from_input_tokens + 1)
        assert row is not None
        assert (row.input, row.output, row.write_5m, row.write_1h, row.read) == (
            price.input,
            price.output,
            price.write_5m,
            price.write_1h,
            price.read,
        )


@pytest.mark.django_db
def test_seeding_again_adds_what_is_missing_and_leaves_what_was_edited() -> None:
    Price.objects.filter(model="claude-opus-5").update(input=7)
    Price.objects.filter(model="claude-sonnet-5").delete()
    seed(Price.objects)
    assert Price.objects.get(model="claude-opus-5").input == 7
    assert Price.objects.filter(model="claude-sonnet-5").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("input_tokens", "expected"), [(0, "0.10"), (100_000, "0.10"), (100_001, "0.50")])
def test_haiku_costs_more_when_the_whole_input_passes_the_tier(input_tokens: int, expected: str) -> None:
    price = price_for("claude-haiku-5-5", TODAY, input_tokens)
    assert price is not None
    assert price.input == Decimal(expected)


@pytest.mark.django_db
def test_a_new_price_counts_from_its_day_on_and_older_receipts_keep_the_old_one() -> None:
    Price.objects.create(
        model="claude-haiku-5-5", valid_from=date(2026, 12, 1), input=1, output=2, write_5m=3, write_1h=4, read=5
    )
    prices = [price_for("claude-haiku-5-5", day, 200_000) for day in (date(2026, 11, 30), date(2026, 12, 1))]
    assert [price and price.input for price in prices] == [Decimal("0.50"), Decimal(1)]


@pytest.mark.django_db
def test_a_dated_model_name_is_priced_as_its_family() -> None:
    dated, family = (price_for(name, TODAY, 1) for name in ("claude-haiku-4-5-20251001", "claude-haiku-4-5"))
    assert dated == family
    assert family is not None


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "day"), [("llama3.3:70b", TODAY), ("claude-opus-5", date(2024, 1, 1))])
def test_a_model_without_a_price_on_that_day_has_none(model: str, day: date) -> None:
    assert price_for(model, day, 1) is None


@pytest.mark.django_db
def test_prices_are_read_once_a_minute(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        for _ in range(3):
            price_for("claude-opus-5", TODAY, 1)
