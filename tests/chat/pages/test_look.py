"""The pages are light to load, and people with color blindness can distinguish their colors."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from recall.settings import BASE_DIR

PAGE_WEIGHT = 85_000
"""Bytes transferred for a chat page with everything it loads, compressed as served."""


def test_the_chat_page_is_light(sign_in: Callable[[Any], Client], alice: Any) -> None:
    html = sign_in(alice).get("/").content
    loaded = set(re.findall(r'(?:src|href)="/static/([^"#]+)', html.decode()))
    weight, waiting = len(gzip.compress(html)), list(loaded)
    while waiting:
        name = waiting.pop()
        file = Path(str(finders.find(name))).read_bytes()
        weight += len(gzip.compress(file))
        imported = (
            re.findall(r'^import .* from "\./([\w.]+)"', file.decode(), re.MULTILINE) if name.endswith(".js") else []
        )
        new = {f"js/{each}" for each in imported} - loaded
        loaded |= new
        waiting += new
    assert "js/live_text.js" in loaded, "what a script imports is loaded, too"
    assert weight < PAGE_WEIGHT, weight


READABLE, SEEN = 4.5, 3.0
"""WCAG 2.2 AA: contrast of text (1.4.3), and of the edges and shapes needed to use a page (1.4.11)."""
PAIRS = [
    *[("ink", ground, READABLE) for ground in ("paper", "surface", "sunken", "accent-soft", "warn-soft")],
    *[("ink", ground, READABLE) for ground in ("danger-soft", "marked", "inserted", "deleted")],
    *[("ink-soft", ground, READABLE) for ground in ("paper", "surface", "sunken", "accent-soft")],
    *[("accent", ground, READABLE) for ground in ("paper", "surface", "sunken", "accent-soft")],
    ("accent-ink", "accent", READABLE),
    ("warn", "warn-soft", READABLE),
    ("danger", "paper", READABLE),
    ("danger", "surface", READABLE),
    ("danger", "danger-soft", READABLE),
    *[(f"code-{part}", "sunken", READABLE) for part in ("keyword", "string", "number", "name", "comment")],
    *[("line-strong", ground, SEEN) for ground in ("paper", "surface")],
    *[
        (f"segment-{name}", "sunken", SEEN)
        for name in ["blueprint", "boundaries", "role", "profile", "history", "memories", "task", "clock", "message"]
    ],
]


def luminance(colour: str) -> float:
    """WCAG's relative luminance of `#rrggbb`."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def in_both_themes(*names: str) -> list[list[str]]:
    """The colors with these names in light and in dark mode."""
    css = (BASE_DIR / "static/css/recall.css").read_text()
    colours = dict(re.findall(r"(?:--|\.)([\w-]+)(?: \{ fill)?: light-dark\((#\w{6}, #\w{6})\)", css))
    return [[colours[name].split(", ")[light_or_dark] for name in names] for light_or_dark in (0, 1)]


@pytest.mark.parametrize(("ink", "ground", "least"), PAIRS)
def test_colours_can_be_told_apart_in_both_themes(ink: str, ground: str, least: float) -> None:
    for pair in in_both_themes(ink, ground):
        assert contrast(*pair) >= least, (pair, round(contrast(*pair), 2))


LOOK = (BASE_DIR / "docs/design.md").read_text()
FIGURES = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| .+ \| ([\d.]+) \| ([\d.]+) \|$", LOOK, re.MULTILINE)


@pytest.mark.parametrize(("ink", "ground", "light", "dark"), FIGURES)
def test_the_figures_of_the_page_on_the_look_are_true(ink: str, ground: str, light: str, dark: str) -> None:
    assert [f"{contrast(*pair):.1f}" for pair in in_both_themes(ink, ground)] == [light, dark]
