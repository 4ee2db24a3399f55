"""Template tags about the account: settings navigation, a session's device, open sign-up, first visit."""

from __future__ import annotations

from typing import Any

from django import template

from accounts import sign_up
from accounts.devices import device_of
from accounts.models import User
from accounts.secret_encryption import is_readable
from chat.pages import conversation, settings

register = template.Library()
register.filter("device", device_of)
register.filter("is_readable", is_readable)


@register.simple_tag(takes_context=True)
def settings_sections(context: Any) -> list[tuple[str, str, bool]]:
    """Label and URL of each section, and whether the page belongs to it."""
    return settings.sections(context["request"].path)


@register.simple_tag
def sign_up_is_open() -> bool:
    """Whether anyone may create an account."""
    return sign_up.is_open()


@register.simple_tag
def is_first_visit(user: object) -> bool:
    """Whether the user sees the welcome text."""
    return isinstance(user, User) and conversation.is_first_visit(user)
