"""How figures are written."""

from __future__ import annotations

from typing import Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from recall.llm.tokens import exact

ESTIMATED: Final = "estimated"
WHY_ESTIMATED: Final = (
    "This server has no vocabulary to count tokens with, so they are estimated from the characters, rather too many"
    " than too few. What the model reports is its own count."
)

register = template.Library()


@register.filter
def tokens(number: int) -> str:
    """A whole number with its thousands set apart: 12,345."""
    return f"{number:,}"


@register.simple_tag
def estimated() -> str:
    """Said in a line of figures that are estimates for want of a vocabulary (recall/llm/tokens.py); else nothing."""
    return "" if exact() else f", {ESTIMATED}"


@register.simple_tag
def why_estimated() -> SafeString:
    """The same with its reason, above figures of a page."""
    if exact():
        return SafeString("")
    return format_html('<p class="muted"><span class="badge badge-warn">{}</span> {}</p>', ESTIMATED, WHY_ESTIMATED)
