"""Figures as pages print them: money and percentages, each in one way everywhere."""

from decimal import Decimal
from typing import Final

MIN_SHOWN_MONEY: Final = 0.0001
"""US dollars; less is shown as “under” it."""


def money(amount: Decimal | float | None) -> str:
    """US dollars: “$1,204.50”, “$0.35”, “$0.018”; below ten cents two significant digits; empty: unknown."""
    if amount is None:
        return ""
    value, sign = abs(float(amount)), "−" if amount < 0 else ""
    if not value:
        return "$0"
    if value < MIN_SHOWN_MONEY:
        return f"under ${MIN_SHOWN_MONEY}"
    if value >= 0.095:
        return f"{sign}${value:,.2f}"
    digits = 2
    while value * 10**digits < 10:
        digits += 1
    return f"{sign}${value:.{digits}f}".rstrip("0")


def caching_effect(saved: Decimal | float) -> str:
    """US dollars that caching saved, or cost if negative: “$0.018 saved”, “$0.0052 extra”."""
    return f"{money(abs(float(saved)))} {'saved' if saved > 0 else 'extra'}" if saved else money(saved)


def percent(share: float) -> str:
    """A share from 0 to 1: “0%”, “under 0.1%”, “7.8%”, “37%”, “over 99%”."""
    value = 100 * share
    if 0 < value < 0.1:
        return "under 0.1%"
    if 99.5 <= value < 100:
        return "over 99%"
    return f"{value:.1f}%".replace(".0%", "%") if value < 9.95 else f"{value:.0f}%"
