"""The charts: cost by day; for the curious, recent turns by section, caching by day, and estimation error by turn."""

from collections.abc import Sequence
from typing import Any, Final

from accounts.models import User
from budget.counting.accuracy import prediction_error
from budget.models import Receipt
from budget.pages.charts import Chart, points, stacked, within
from budget.planning.plan import Section
from budget.spending import usage
from recall.figures import caching_effect, money, percent

TURNS: Final = 30
"""Columns that are still distinguishable on a phone."""
DAYS: Final = 30
PARTS: Final = {str(section): section.heading for section in Section}
COSTS: Final = {"part": "Cost", "base": "Base cost", "rest": "Saved by caching", "excess": "Extra for caching"}


def trends(user: User) -> list[Chart]:
    """The advanced charts, from the latest turns and days. Two statements."""
    turns = _turns(user)
    return [by_section(turns), cache_by_day(usage.series(user, DAYS)), error_by_turn(turns)]


def cost_chart(user: User) -> Chart:
    """The cost of the latest days. One statement."""
    return cost_by_day(usage.series(user, DAYS))


def by_section(turns: Sequence[dict[str, Any]]) -> Chart:
    """Sections of each turn's prompt."""
    columns = [
        (turn["name"], {one["section"]: one["tokens"] for one in turn["sections"] if one["tokens"]}) for turn in turns
    ]
    return stacked("sections", f"Tokens of the last {TURNS} prompts by section", columns, PARTS, short, "Turn")


def cost_by_day(days: Sequence[tuple[Any, usage.UsageTotals]]) -> Chart:
    """Cost per day, and what caching saved or cost."""
    columns = [(f"{day:%-d %b}", float(used.cost), float(used.cost_uncached)) for day, used in _from_first(days)]
    return within("cost", "Cost by day", columns, ("Day", "Cost", "Caching effect"), COSTS, money, caching_effect)


def cache_by_day(days: Sequence[tuple[Any, usage.UsageTotals]]) -> Chart:
    """Share of each day's input read from the cache."""
    values = [(f"{day:%-d %b}", used.from_cache * 100 if used.total_input else None) for day, used in _from_first(days)]
    heads = ("Day", "Cached input")
    return points("cache", "Cached input by day", values, heads, lambda value: percent(value / 100), most=100)


def error_by_turn(turns: Sequence[dict[str, Any]]) -> Chart:
    """Each turn's estimation error; positive: too high. Turns without a figure are left out."""
    values = [(turn["name"], error) for turn in turns if (error := _error(turn)) is not None]
    heads = ("Turn", "Estimate minus actual")
    return points("error", "Estimation error by turn", values, heads, signed, stems=True)


def short(tokens: float) -> str:
    """Tokens in short form, for an axis."""
    return f"{tokens / 1000:g}k" if tokens >= 1000 and tokens % 100 == 0 else f"{tokens:,.0f}"


def signed(value: float) -> str:
    """A signed percentage; “under 0.1%” and “0%” have no sign."""
    shown = percent(abs(value) / 100)
    return f"{'+' if value > 0 else '−'}{shown}" if value and shown[0].isdigit() else shown


def _turns(user: User) -> list[dict[str, Any]]:
    """The latest turns, the newest last: name, sections and rounds."""
    columns = ("created_at", "turn", "sections", "rounds", "estimated_input")
    found = list(Receipt.objects.for_user(user).order_by("-created_at").values(*columns)[:TURNS])[::-1]
    return [{**turn, "name": _name(turn, user)} for turn in found]


def _name(turn: dict[str, Any], user: User) -> str:
    """Date and turn number: turns are numbered per conversation."""
    return f"{turn['created_at'].astimezone(user.zone):%-d %b}, turn {turn['turn']}"


def _error(turn: dict[str, Any]) -> float | None:
    """The estimation error in percent."""
    error = prediction_error(turn["rounds"], turn["estimated_input"])
    return None if error is None else 100 * error


def _from_first(days: Sequence[tuple[Any, usage.UsageTotals]]) -> Sequence[tuple[Any, usage.UsageTotals]]:
    """The days from the first use on, so that a new user's chart isn't an empty month."""
    first = next((number for number, (_, used) in enumerate(days) if used.turns), len(days))
    return days[first:]
