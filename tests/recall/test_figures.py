"""Money and percentages are printed in one way."""

import re
from decimal import Decimal

import pytest

from recall.figures import caching_effect, money, percent
from tests.running import PROJECT

BY_HAND = re.compile(r"\$\{\{|\}\}\s*%[^}]|widthratio|floatformat:\d+ *\}\}%")
"""A figure that a template formats itself."""
IN_CODE = re.compile(r"\$\{[^}]*:[,.]|:\.\df\}[ \u00a0]?%|toFixed\(\d\)\}?[ \u00a0]?%")
"""A figure that code formats itself."""
APPS = ("accounts", "budget", "chat", "memory", "recall")
MEASURES = {"evaluation", "management", "labeled.py", "marked.py", "figures.py"}
"""Code that prints figures for developers, and the one that formats them for pages."""


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (None, ""), (0, "$0"), (Decimal("0.00001"), "under $0.0001"), (Decimal("0.0001"), "$0.0001"),
        (0.0083, "$0.0083"), (Decimal("0.0131"), "$0.013"), (0.02, "$0.02"), (0.0999, "$0.10"), (0.35, "$0.35"),
        (Decimal(-2), "−$2.00"), (1204.5, "$1,204.50"),
    ],
)  # fmt: skip
def test_money_has_two_significant_digits_below_ten_cents(amount: Decimal | float | None, shown: str) -> None:
    assert money(amount) == shown


@pytest.mark.parametrize(
    ("saved", "shown"),
    [(0.018, "$0.018 saved"), (Decimal("-0.0052"), "$0.0052 extra"), (0, "$0"), (0.00001, "under $0.0001 saved")],
)
def test_the_effect_of_caching_has_its_direction_in_words(saved: Decimal | float, shown: str) -> None:
    assert caching_effect(saved) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0%"),
        (0.0004, "under 0.1%"),
        (0.078, "7.8%"),
        (0.05, "5%"),
        (0.371, "37%"),
        (0.998, "over 99%"),
        (1, "100%"),
    ],
)
def test_a_percentage_has_a_decimal_below_ten(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_no_template_formats_money_or_a_share_itself() -> None:
    templates = (PROJECT / "templates").rglob("*.html")
    assert {path.name: found for path in templates if (found := BY_HAND.findall(path.read_text()))} == {}


def test_no_code_of_pages_formats_money_or_a_share_itself() -> None:
    apps = [path for app in APPS for path in (PROJECT / app).rglob("*.py")]
    code = [path for path in [*apps, *(PROJECT / "static" / "js").glob("*.js")] if not MEASURES & {*path.parts}]
    assert len(code) > 200
    assert {path.name: found for path in code if (found := IN_CODE.findall(path.read_text()))} == {}


def test_no_page_of_the_docs_has_a_space_before_its_percent_sign() -> None:
    pages = [*(PROJECT / "docs").rglob("*.md"), *PROJECT.glob("*.md")]
    assert {path.name: found for path in pages if (found := re.findall(r"\d[ \u00a0]%", path.read_text()))} == {}
