"""How figures are written."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def tokens(number: int) -> str:
    """A whole number with its thousands set apart: 12,345."""
    return f"{number:,}"
