"""Template tags for all pages: icons, undo notices, shortcuts, limits, counts, and the state of the account."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django import template
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.storage.base import Message
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts import sign_up
from accounts.devices import device_of
from accounts.models import User
from accounts.secret_encryption import is_readable
from chat.attachments.limits import MAX_PER_MESSAGE, MIN_PASTE_CHARACTERS, max_file_bytes
from chat.conversations import archiving, trash
from chat.pages import conversation, settings
from chat.pages.palette import COOKIE, OFF, SHORTCUTS
from memory import trash as memory_trash
from memory.models import Fact
from memory.text.plain_words import plain_words

register = template.Library()
register.filter("device", device_of)
register.filter("is_readable", is_readable)
register.filter("plain_words", plain_words)


@register.simple_tag
@cache  # a message has five icons, of about thirty in all
def icon(name: str) -> SafeString:
    """A symbol of static/icons.svg, hidden from screen readers: every icon has text or a label beside it."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("icons.svg"), name)


@register.simple_tag
def attachment_limits() -> dict[str, int]:
    """Limits that the composer checks before an upload: number of files, bytes per file, characters of a paste."""
    return {"most": MAX_PER_MESSAGE, "largest": max_file_bytes(), "long_paste": MIN_PASTE_CHARACTERS}


@register.simple_tag
def shortcut_targets() -> list[tuple[str, str, str]]:
    """Each single-key shortcut with its URL and the selector it focuses, for static/js/palette.js."""
    single = [shortcut for shortcut in SHORTCUTS if shortcut.single]
    return [(each.single, reverse(each.url_name) if each.url_name else "", each.focus) for each in single]


@register.filter
def single_keys_are_off(cookies: Mapping[str, str]) -> bool:
    """Whether single-key shortcuts are off in this browser (chat/pages/palette.py)."""
    return cookies.get(COOKIE) == OFF


UNDO_FORMS: Final = {
    trash.UNDO: ("restore_conversations", "deleted"),
    memory_trash.UNDO: ("memory:restore", "deleted"),
    archiving.UNDO: ("unarchive_conversations", "archived"),
}
"""URL name and form field of each undo, by the tag of its notice."""


@dataclass(frozen=True, slots=True)
class UndoForm:
    """The undo form of a notice: its URL, and the moment of the action with its field."""

    address: str
    field: str
    moment: str


@register.filter
def undo_form(message: Message) -> UndoForm | None:
    """The undo form of the notice; None if it has none."""
    tag, _, moment = (message.extra_tags or "").partition(" ")
    if tag not in UNDO_FORMS:
        return None
    address, field = UNDO_FORMS[tag]
    return UndoForm(reverse(address), field, moment)


@register.simple_tag
def waiting_for_review(user: User | AnonymousUser | str) -> int:
    """Number of the user's proposals to review; 0 without a user."""
    return Fact.objects.for_user(user).proposed().count() if isinstance(user, User) else 0


# The account -------------------------------------------------------------------------------------------------------


@register.simple_tag(takes_context=True)
def settings_sections(context: Any) -> list[tuple[str, str, bool]]:
    """Label and URL of each settings section, and whether the page belongs to it."""
    return settings.sections(context["request"].path)


@register.simple_tag
def sign_up_is_open() -> bool:
    """Whether anyone may create an account."""
    return sign_up.is_open()


@register.simple_tag
def welcome(user: User) -> conversation.Welcome:
    """What the empty chat shows the user."""
    return conversation.welcome_for(user)
