"""Figures become shapes that stay in their frame, are accurate, and can be read without seeing color."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budget.pages.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TICKS, TOP, WIDTH, Chart, points, stacked, within
from budget.pages.trends import signed
from recall.figures import money

PARTS = {"history": "History", "memories": "Recalled memories", "task": "Current task"}
FLOOR = HEIGHT - BOTTOM
EXACT = 0.11
"""Units: shapes are rounded to a tenth."""


def told(value: float) -> str:
    return f"{value:g}"


def pile(*columns: dict[str, float]) -> Chart:
    return stacked("x", "X", [(f"Turn {n}", c) for n, c in enumerate(columns, 1)], PARTS, told, "Turn")


def costs(*days: tuple[str, float, float]) -> Chart:
    heads, keys = ("Day", "Cost", "Effect"), {"part": "Cost", "base": "Base", "rest": "Saved", "excess": "Extra"}
    return within("x", "X", days, heads, keys, told, lambda rest: f"{rest:+g}")


def around(*values: float | None) -> Chart:
    return points("x", "X", [(f"Turn {n}", v) for n, v in enumerate(values, 1)], ("Turn", "Error"), told, stems=True)


def test_the_parts_of_a_column_stand_on_one_another_in_the_order_of_the_prompt() -> None:
    bars = pile({"memories": 30, "history": 70}).bars
    assert [bar.look for bar in bars] == ["history", "memories"]
    assert bars[0].y + bars[0].height == pytest.approx(FLOOR, abs=EXACT)
    assert bars[1].y + bars[1].height == pytest.approx(bars[0].y, abs=EXACT)
    assert bars[0].height / bars[1].height == pytest.approx(7 / 3, rel=0.02)


def test_every_shape_says_its_figure_and_the_table_says_them_all() -> None:
    chart = pile({"history": 70}, {"history": 40, "memories": 5})
    assert [bar.title for bar in chart.bars] == [
        "Turn 1, History: 70",
        "Turn 2, History: 40",
        "Turn 2, Recalled memories: 5",
    ]
    assert chart.head == ("Turn", "History", "Recalled memories", "Total")
    assert list(chart.rows) == [("Turn 1", "70", "0", "70"), ("Turn 2", "40", "5", "45")]
    assert [key.text for key in chart.legend] == ["History", "Recalled memories"], "what nobody has is left out"
    assert chart.description == "Total: 45 to 70, latest 45."


def test_what_caching_saved_is_a_hollow_bar_on_top_of_the_cost() -> None:
    chart = costs(("1 May", 2, 8), ("2 May", 3, 3))
    rest, part, second = chart.bars
    assert (rest.look, part.look, second.look) == ("rest", "part", "part")
    assert rest.y + rest.height == pytest.approx(part.y, abs=EXACT)
    assert rest.height == pytest.approx(3 * part.height, abs=3 * EXACT)
    assert list(chart.rows) == [("1 May", "2", "+6"), ("2 May", "3", "+0")]
    assert chart.description == "Cost: 2 to 3, latest 3. In total 5. Effect: +6."
    assert costs(("1 May", 2, 8)).description == "Cost: 2. Effect: +6."
    assert [key.text for key in chart.legend] == ["Cost", "Saved"]


def test_what_caching_cost_is_a_bar_on_top_of_the_base_cost() -> None:
    chart = costs(("1 May", 4, 3), ("2 May", 1, 0))
    part, excess, second = chart.bars
    assert [bar.look for bar in chart.bars] == ["part", "excess", "excess"]
    assert excess.y + excess.height == pytest.approx(part.y, abs=EXACT)
    assert part.height == pytest.approx(3 * excess.height, abs=3 * EXACT)
    assert second.y + second.height == pytest.approx(FLOOR, abs=EXACT)
    assert [key.text for key in chart.legend] == ["Base", "Extra"]


def test_a_legend_names_exactly_the_looks_of_the_bars() -> None:
    for days in ([("1 May", 2, 8), ("2 May", 4, 3)], [("1 May", 2, 8)], [("1 May", 4, 3)], [("1 May", 3, 3)]):
        chart = costs(*days)
        assert {key.look for key in chart.legend} == {bar.look for bar in chart.bars}


def test_figures_below_zero_hang_from_the_line_of_zero() -> None:
    chart = around(-4, 2)
    zero = next(rule.y for rule in chart.rules if rule.text == "0")
    below, above = chart.dots
    assert above.y < zero < below.y
    assert below.stem_y == above.stem_y == zero
    assert chart.lines == []


def test_a_day_without_a_figure_leaves_a_gap_and_a_dash_in_the_table() -> None:
    chart = points("x", "X", [("1 May", 10), ("2 May", None), ("3 May", 30)], ("Day", "Cache"), told, most=100)
    assert [dot.title for dot in chart.dots] == ["1 May: 10", "3 May: 30"]
    assert list(chart.rows)[1] == ("2 May", "–")
    assert chart.rules[-1].text == "100"


def test_nothing_to_show_is_an_empty_chart_that_says_so() -> None:
    for chart in (pile(), around(), costs()):
        assert chart.is_empty
        assert "No data yet." in chart.description


FIGURES = st.floats(0, 1e7, allow_nan=False) | st.integers(0, 10).map(float)


@given(st.lists(st.dictionaries(st.sampled_from(sorted(PARTS)), FIGURES), min_size=1, max_size=40))
def test_columns_never_leave_the_plot_or_touch_their_neighbours(columns: list[dict[str, float]]) -> None:
    chart = pile(*columns)
    for bar in chart.bars:
        assert bar.x >= LEFT - EXACT
        assert bar.x + bar.width <= WIDTH - RIGHT + EXACT
        assert bar.y >= TOP - EXACT
        assert bar.y + bar.height <= FLOOR + EXACT * len(PARTS)
        assert bar.height >= 0
    edges = sorted({(bar.x, bar.x + bar.width) for bar in chart.bars})
    assert all(left[1] < right[0] for left, right in pairwise(edges))


@given(st.lists(st.floats(-500, 500, allow_nan=False), min_size=1, max_size=40))
@example([5e-324])  # its quarter has no logarithm
def test_dots_lie_in_the_plot_and_higher_figures_lie_higher(values: list[float]) -> None:
    chart = around(*values)
    assert all(TOP - EXACT <= dot.y <= FLOOR + EXACT for dot in chart.dots)
    in_order = sorted(zip(values, chart.dots, strict=True), key=lambda pair: pair[0])
    assert all(lower[1].y >= higher[1].y - EXACT for lower, higher in pairwise(in_order))


@given(st.floats(1e-6, 1e9), st.floats(0, 1e9))
def test_the_axis_has_few_lines_at_round_figures_and_one_at_zero(most: float, least: float) -> None:
    chart = around(most, -least)
    assert 2 <= len(chart.rules) <= TICKS + 3  # both ends are rounded outwards
    assert any(float(rule.text) == 0 for rule in chart.rules)
    steps = {round(lower.y - upper.y) for lower, upper in pairwise(chart.rules)}
    assert max(steps) - min(steps) <= 1


def test_the_figures_of_an_axis_have_equally_many_decimals() -> None:
    for most, shown in ((0.015, ["$0", "$0.005", "$0.010", "$0.015"]), (8, ["$0", "$2.00", "$4.00", "$6.00", "$8.00"])):
        chart = points("x", "X", [("1 May", most)], ("Day", "Cost"), money)
        assert [rule.text for rule in chart.rules] == shown
    chart = points("x", "X", [("1 May", 10)], ("Day", "Error"), signed)
    assert [rule.text for rule in chart.rules] == ["0%", "+2.5%", "+5.0%", "+7.5%", "+10.0%"]


@pytest.mark.parametrize(
    ("error", "shown"), [(17.52, "+18%"), (-2.36, "−2.4%"), (0.0, "0%"), (20.0, "+20%"), (0.04, "under 0.1%")]
)
def test_an_error_in_the_chart_has_the_percentage_of_all_pages(error: float, shown: str) -> None:
    assert signed(error) == shown
