"""What can be done from the palette? Commands as data, conversations by their titles, and else the search in all texts.

A command is a link, a form that is sent, or something the page itself does; which of them fit depends on the page the
palette was opened on. An address that this Recall does not have is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q
from django.urls import NoReverseMatch, reverse

from accounts.models import User
from chat.models import Conversation
from chat.pages.settings import SECTIONS

type When = Literal["always", "looked for", "in a conversation", "pinned", "not pinned", "archived", "not archived"]
"""`looked for`: only once something was typed, so that the list one begins with stays short."""

EVERYWHERE: Final = ("always", "looked for")
"""Their addresses name no conversation."""

LATEST: Final = 6
"""Conversations listed before anything is typed …"""
MATCHING: Final = 8
"""… and then, at most."""
MAX_QUERY_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Command:
    """Something the palette does."""

    name: str
    address: str = ""
    """Name of an address; with `send`, a form is sent there."""
    words: str = ""
    """Other words by which people look for it."""
    icon: str = "corner-up-right"
    keys: str = ""
    when: When = "always"
    send: Mapping[str, str] | None = None
    """Fields of the form; None: it is a link."""
    theme: str | None = None
    """The appearance it chooses: light, dark, or "" for the system's."""
    hash: str = ""
    """Part of the page it leads to."""
    opens: str = ""
    """Selector of a menu on this page that is opened, and of its first field."""


COMMANDS: Final = (
    Command("New conversation", "new", "begin start chat", "plus", "n"),
    Command("Temporary chat", "new", "private incognito nothing kept", "message-square", hash="temporary"),
    Command("Rename this conversation", words="title name", icon="pencil", when="in a conversation",
            opens="#conversation-menu"),
    Command("Pin this conversation", "pin_conversation", "top keep", "pin", when="not pinned", send={"pinned": "1"}),
    Command("Unpin this conversation", "pin_conversation", "top", "pin-off", when="pinned", send={"pinned": ""}),
    Command("Archive this conversation", "archive_conversation", "put away", "archive", when="not archived",
            send={"archived": "1"}),
    Command("Put this conversation back into the list", "archive_conversation", "unarchive", "archive-restore",
            when="archived", send={"archived": ""}),
    Command("Export this conversation as Markdown", "export_conversation", "download save file", "download",
            when="in a conversation"),
    Command("Delete this conversation", "delete_conversation", "remove trash", "trash-2", when="in a conversation",
            send={}),
    Command("Search all conversations", "search_conversations", "find", "search", "/"),
    Command("Review", "memory:review", "proposals queue decide", "inbox"),
    Command("Profile", "memory:profile", "facts about me", "circle-user-round"),
    Command("Memory", "memory:home", "documents knowledge search", "folder"),
    Command("Timeline", "memory:episodes", "episodes what happened", "calendar-days"),
    Command("Forget something", "memory:forgotten", "delete remove memory", "trash-2"),
    Command("Projects", "projects", "folder instructions", "folder"),
    Command("Roles", "roles", "persona instructions behave", "drama"),
    Command("Budget", "budget", "tokens cost limits plan money", "receipt-text"),
    Command("Import and export", "import", "chatgpt claude download everything", "upload"),
    Command("Settings", "settings", "preferences options account", "settings"),
    *(Command(f"Settings: {one.label}", one.url_name, one.words, "settings", when="looked for") for one in SECTIONS),
    Command("Documentation", "docs", "help manual guide", "book-open"),
    Command("Keyboard shortcuts", "shortcuts", "keys hotkeys help", "keyboard", "?"),
    Command("Light appearance", words="theme white day", icon="sun", theme="light"),
    Command("Dark appearance", words="theme black night", icon="moon", theme="dark"),
    Command("Appearance of the system", words="theme auto", icon="monitor", theme=""),
    Command("Sign out", "account_logout", "log out leave", "log-out"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the palette."""

    name: str
    icon: str
    href: str = ""
    keys: str = ""
    note: str = ""
    send: bool = False
    fields: str = ""
    """Of the form, URL-encoded."""
    theme: str | None = None
    opens: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Options under one heading."""

    heading: str
    options: list[Option] = field(default_factory=list)


def options(user: User, typed: str, current: UUID | None) -> list[Group]:
    """What fits what was typed, on the page of `current` (None: no conversation's). At most two statements."""
    words = typed.replace("\x00", "")[:MAX_QUERY_CHARS].split()
    here = Conversation.objects.not_deleted().for_user(user).filter(pk=current).first() if current else None
    fitting = _fitting(here, is_looked_for=bool(words))
    commands = [_option(one, address) for one, address in fitting if _says(one, words)]
    groups = [Group("Commands", commands), Group("Conversations", list(_conversations(user, words, current)))]
    if words:
        groups.append(Group("Search", [_search(" ".join(words))]))
    return [group for group in groups if group.options]


def _fitting(here: Conversation | None, *, is_looked_for: bool) -> Iterator[tuple[Command, str]]:
    """The commands that make sense on this page, each with its address."""
    holds: dict[When, bool] = {"always": True, "looked for": is_looked_for}
    if here is not None:
        holds |= {"in a conversation": True, "pinned": here.pinned_at is not None, "not pinned": here.pinned_at is None}
        holds |= {"archived": here.archived_at is not None, "not archived": here.archived_at is None}
    for command in COMMANDS:
        address = _address(command, here)
        if holds.get(command.when) and address is not None:
            yield command, address


def _address(command: Command, here: Conversation | None) -> str | None:
    """Where it leads; empty: nowhere, the page does it; None: there is no such address here."""
    if not command.address:
        return ""
    arguments = {} if command.when in EVERYWHERE or here is None else {"pk": here.pk}
    try:
        return reverse(command.address, kwargs=arguments)
    except NoReverseMatch:  # that part of Recall is not there
        return None


def _says(command: Command, words: list[str]) -> bool:
    """Whether each word typed is the beginning of one of the command's."""
    own = f"{command.name} {command.words}".casefold().split()
    return all(any(one.startswith(word.casefold()) for one in own) for word in words)


def _option(command: Command, address: str) -> Option:
    return Option(
        name=command.name,
        icon=command.icon,
        href=f"{address}#{command.hash}" if command.hash else address,
        keys=command.keys,
        send=command.send is not None,
        fields=urlencode(command.send or {}),
        theme=command.theme,
        opens=command.opens,
    )


def _conversations(user: User, words: list[str], current: UUID | None) -> Iterator[Option]:
    """The latest whose titles hold every word; archived ones only where something was typed."""
    mine = Conversation.objects.not_deleted().for_user(user).exclude(pk=current)
    holding = Q(archived_at=None) if not words else Q()
    for word in words:
        holding &= Q(title__icontains=word)
    rows = mine.filter(holding).latest_first().only("title", "archived_at", "pinned_at")
    for one in rows[: MATCHING if words else LATEST]:
        note = "Archived" if one.archived_at else "Pinned" if one.pinned_at else ""
        yield Option(one.title or "Untitled", "message-square", reverse("conversation", args=[one.pk]), note=note)


def _search(typed: str) -> Option:
    address = f"{reverse('search_conversations')}?{urlencode({'q': typed})}"
    return Option(f"Search all conversations for “{typed}”", "search", address)
