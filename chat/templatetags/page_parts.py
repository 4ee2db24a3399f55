"""Small parts that every page needs: an icon, and how many proposals wait for review."""

from __future__ import annotations

from functools import cache

from django import template
from django.contrib.auth.models import AnonymousUser
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from memory.models import Fact

register = template.Library()


@register.simple_tag
@cache  # a message has five, and there are some thirty in all
def icon(name: str) -> SafeString:
    """A symbol of static/icons.svg, hidden from screen readers: the words beside it, or a label, say what it means."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("icons.svg"), name)


@register.simple_tag
def waiting_for_review(user: User | AnonymousUser | str) -> int:
    """How many proposals of this user wait for review; 0 for nobody, and on pages rendered without a user."""
    return Fact.objects.for_user(user).proposed().count() if isinstance(user, User) else 0
