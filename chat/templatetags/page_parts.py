"""Small parts that pages need: an icon, how many proposals wait for review, what may be attached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from django import template
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.storage.base import Message
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from chat.attachments.limits import LONG_PASTE, MOST_A_MESSAGE, largest_bytes
from chat.conversations import archiving, trash
from chat.pages.shortcuts import COOKIE, OFF, SHORTCUTS
from memory.documents import trash as memory_trash
from memory.models import Fact

register = template.Library()


@register.simple_tag
@cache  # a message has five, and there are some thirty in all
def icon(name: str) -> SafeString:
    """A symbol of static/icons.svg, hidden from screen readers: the words beside it, or a label, say what it means."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("icons.svg"), name)


@register.simple_tag
def attachment_limits() -> dict[str, int]:
    """What the composer needs to know before a file is sent on its way: number, bytes of one, characters of a paste."""
    return {"most": MOST_A_MESSAGE, "largest": largest_bytes(), "long_paste": LONG_PASTE}


@register.simple_tag
def shortcut_targets() -> list[tuple[str, str, str]]:
    """Each single key with its address and the selector of what it puts the focus on, for static/js/palette.js."""
    ours = [one for one in SHORTCUTS if one.single]
    return [(one.single, reverse(one.address) if one.address else "", one.focus) for one in ours]


@register.filter
def single_keys_are_off(cookies: Mapping[str, str]) -> bool:
    """Whether this browser turned off the keys that act alone (chat/pages/shortcuts.py)."""
    return cookies.get(COOKIE) == OFF


UNDO_FORMS: Final = {
    trash.UNDO: ("restore_conversations", "deleted"),
    memory_trash.UNDO: ("memory:restore", "deleted"),
    archiving.UNDO: ("unarchive_conversations", "archived"),
}
"""By the notice's tag: the name of the address, and of the field that takes the moment."""


@dataclass(frozen=True, slots=True)
class UndoForm:
    """How a notice offers to undo a deed: where it is sent, and the moment of the deed with its field."""

    address: str
    field: str
    moment: str


@register.filter
def undo_form(message: Message) -> UndoForm | None:
    """What the notice offers to undo; None: it offers nothing."""
    tag, _, moment = (message.extra_tags or "").partition(" ")
    if tag not in UNDO_FORMS:
        return None
    address, field = UNDO_FORMS[tag]
    return UndoForm(reverse(address), field, moment)


@register.simple_tag
def waiting_for_review(user: User | AnonymousUser | str) -> int:
    """How many proposals of this user wait for review; 0 for nobody, and on pages rendered without a user."""
    return Fact.objects.for_user(user).proposed().count() if isinstance(user, User) else 0
