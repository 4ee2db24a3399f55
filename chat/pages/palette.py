"""The command palette and the keyboard shortcuts, as data.

The palette finds commands, conversations by title and by what was said, projects by name and facts by their words, and
offers the search. A command is a link, a form or an action of the page; which ones apply depends on the page that
opened the palette. static/js/palette.js runs both.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.models import User
from chat.conversations.search import find_messages
from chat.conversations.search_query import parse_query, snippet
from chat.models import Conversation, Project
from chat.pages.settings import SECTIONS
from memory.models import Fact
from memory.text.plain_words import plain_words
from memory.text.second_person import second_person

type When = Literal["always", "looked for", "in a conversation", "pinned", "not pinned", "archived", "not archived"]
"""`looked for`: only after something was typed, so that the initial list stays short."""

EVERYWHERE: Final = ("always", "looked for")
"""Conditions of commands that need no conversation."""

MAX_LATEST: Final = 6
"""Conversations listed before anything is typed."""
MAX_MATCHING: Final = 8
"""Conversations listed after something was typed."""
MAX_FACTS: Final = 5
"""Facts listed after something was typed; likewise projects and messages."""
MIN_WORD_CHARS: Final = 3
"""Of what was typed, to look for messages: fewer letters start a word in almost every one."""
MAX_QUERY_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    url_name: str = ""
    """Where it links to; with `send`, where the form is posted."""
    words: str = ""
    """Other search words."""
    icon: str = "corner-up-right"
    keys: str = ""
    when: When = "always"
    send: Mapping[str, str] | None = None
    """Fields of the form; None for a link."""
    theme: str | None = None
    """The theme it sets: light, dark, or "" for the system's."""
    hash: str = ""
    """Fragment of the URL."""
    opens: str = ""
    """Selector of a menu on this page to open."""


COMMANDS: Final = (
    Command("New conversation", "new", "start create chat", "plus", "n"),
    Command("Temporary chat", "new", "private incognito nothing kept", "message-square", hash="temporary"),
    Command("Rename this conversation", words="title name", icon="pencil", when="in a conversation",
            opens="#conversation-menu"),
    Command("Pin this conversation", "pin_conversation", "top keep", "pin", when="not pinned", send={"pinned": "1"}),
    Command("Unpin this conversation", "pin_conversation", "top", "pin-off", when="pinned", send={"pinned": ""}),
    Command("Archive this conversation", "archive_conversation", "hide", "archive", when="not archived",
            send={"archived": "1"}),
    Command("Unarchive this conversation", "archive_conversation", "put back list", "archive-restore",
            when="archived", send={"archived": ""}),
    Command("Export this conversation as Markdown", "export_conversation", "download save file", "download",
            when="in a conversation"),
    Command("Delete this conversation", "delete_conversation", "remove trash", "trash-2", when="in a conversation",
            send={}),
    Command("Search", "search", "find conversations facts documents", "search", "/"),
    Command("To review", "memory:review", "proposals queue decide", "inbox"),
    Command("About you", "memory:about", "memory facts profile boundaries", "circle-user-round"),
    Command("Documents", "memory:documents", "memory knowledge files upload", "folder"),
    Command("Timeline", "memory:timeline", "episodes what happened", "calendar-days"),
    Command("Rules", "memory:rules", "memory learning policies clean-up", "check", when="looked for"),
    Command("History", "memory:history", "memory decisions undo", "rotate-ccw", when="looked for"),
    Command("Time travel", "memory:time_travel", "memory past day known", "calendar-days", when="looked for"),
    Command("Access log", "memory:access_log", "admin staff viewed", "info", when="looked for"),
    Command("Forget something", "memory:forgotten", "delete remove memory", "eraser"),
    Command("Projects", "projects", "folder instructions", "folder"),
    Command("Roles", "roles", "persona instructions behave", "drama"),
    Command("Usage", "usage", "tokens cost limits budget money", "receipt-text"),
    Command("Usage, advanced", "usage_advanced", "plan caching estimates costs", "receipt-text", when="looked for"),
    Command("Import and export", "import", "chatgpt claude download everything", "upload"),
    Command("Settings", "settings_account", "preferences options account", "settings"),
    *(Command(f"Settings: {each.label}", each.url_name, each.words, "settings", when="looked for")
      for each in SECTIONS),
    Command("Documentation", "docs", "help manual guide", "book-open"),
    Command("Keyboard shortcuts", "shortcuts", "keys hotkeys help", "keyboard", "?"),
    Command("Light theme", words="appearance white day", icon="sun", theme="light"),
    Command("Dark theme", words="appearance black night", icon="moon", theme="dark"),
    Command("System theme", words="appearance auto", icon="monitor", theme=""),
    Command("Sign out", "account_logout", "log out leave", "log-out"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the palette."""

    name: str
    icon: str
    href: str = ""
    keys: str = ""
    note: str = ""
    detail: SafeString | None = None
    """What was said, with the typed words marked."""
    send: bool = False
    fields: str = ""
    """Form fields, URL-encoded."""
    theme: str | None = None
    opens: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Options under one heading."""

    heading: str
    options: list[Option] = field(default_factory=list)


def find_options(user: User, typed: str, current: UUID | None) -> list[Group]:
    """Options that match `typed`, on the page of conversation `current` (None elsewhere). At most six queries."""
    words = typed.replace("\x00", "")[:MAX_QUERY_CHARS].split()
    here = Conversation.objects.not_deleted().for_user(user).filter(pk=current).first() if current else None
    available = list(_available_commands(here, is_looked_for=bool(words)))
    commands = [_build_option(command, url) for command, url in available if _matches(command, words)]
    titled = list(_find_conversations(user, words, current))
    said = Group("Messages", list(_find_messages(user, typed, [each.pk for each in titled])))
    runnable = Group("Commands", commands)
    is_named = any(_starts(command, words) for command, _ in available)  # “new conv” is hardly about what was said
    groups = [  # a title or a fact that has the words is more likely meant than a command that does
        Group("Conversations", [_build_conversation_option(each) for each in titled]),
        Group("Projects", list(_find_projects(user, words)) if words else []),
        Group("What Recall knows", list(_find_facts(user, words)) if words else []),
        *((runnable, said) if is_named else (said, runnable)),
        Group("Search", [_search_option(" ".join(words))] if words else []),
    ]
    return [group for group in groups if group.options]


def _available_commands(here: Conversation | None, *, is_looked_for: bool) -> Iterator[tuple[Command, str]]:
    """The commands that apply to this page, each with its URL."""
    holds: dict[When, bool] = {"always": True, "looked for": is_looked_for}
    if here is not None:
        holds |= {"in a conversation": True, "pinned": here.pinned_at is not None, "not pinned": here.pinned_at is None}
        holds |= {"archived": here.archived_at is not None, "not archived": here.archived_at is None}
    for command in COMMANDS:
        url = _reverse_url(command, here)
        if holds.get(command.when) and url is not None:
            yield command, url


def _reverse_url(command: Command, here: Conversation | None) -> str | None:
    """The command's URL; empty for an action of the page; None if this installation has no such URL."""
    if not command.url_name:
        return ""
    arguments = {} if command.when in EVERYWHERE or here is None else {"pk": here.pk}
    try:
        return reverse(command.url_name, kwargs=arguments)
    except NoReverseMatch:
        return None


def _matches(command: Command, words: list[str]) -> bool:
    """Whether each typed word is a prefix of one of the command's words."""
    command_words = f"{command.name} {command.words}".casefold().split()
    return all(any(each.startswith(word.casefold()) for each in command_words) for word in words)


def _starts(command: Command, words: list[str]) -> bool:
    """Whether the command's name starts with what was typed."""
    return command.name.casefold().startswith(" ".join(words).casefold())


def _build_option(command: Command, url: str) -> Option:
    return Option(
        name=command.name,
        icon=command.icon,
        href=f"{url}#{command.hash}" if command.hash else url,
        keys=command.keys,
        send=command.send is not None,
        fields=urlencode(command.send or {}),
        theme=command.theme,
        opens=command.opens,
    )


def _find_conversations(user: User, words: list[str], current: UUID | None) -> QuerySet[Conversation]:
    """The latest conversations whose titles have every word; archived ones only if something was typed."""
    conversations = Conversation.objects.not_deleted().for_user(user).exclude(pk=current)
    holding = _holding("title", words) if words else Q(archived_at=None)
    rows = conversations.filter(holding).latest_first().only("title", "archived_at", "pinned_at")
    return rows[: MAX_MATCHING if words else MAX_LATEST]


def _build_conversation_option(row: Conversation) -> Option:
    note = "Archived" if row.archived_at else "Pinned" if row.pinned_at else ""
    return Option(
        plain_words(row.title) or "Untitled", "message-square", reverse("conversation", args=[row.pk]), note=note
    )


def _find_messages(user: User, typed: str, without: Collection[UUID]) -> Iterator[Option]:
    """What was said in further conversations, by its words; the last one may be unfinished."""
    typed = typed[:MAX_QUERY_CHARS]
    if len(typed.strip()) < MIN_WORD_CHARS:
        return
    query = parse_query(typed)
    for row in find_messages(user, typed, timezone.now(), without, MAX_FACTS):
        title, link = plain_words(row.conversation.title) or "Untitled", reverse("message", args=[row.pk])
        yield Option(title, "message-square", link, detail=snippet(row.text, query))


def _find_projects(user: User, words: list[str]) -> Iterator[Option]:
    """The projects whose names have every word."""
    for row in Project.objects.for_user(user).filter(_holding("name", words)).only("name", "archived_at")[:MAX_FACTS]:
        note = "Archived" if row.archived_at else ""
        yield Option(row.name, "folder", reverse("project", args=[row.pk]), note=note)


def _holding(column: str, words: list[str]) -> Q:
    """Rows that have every word in this column."""
    return Q(*((f"{column}__icontains", word) for word in words))


def _find_facts(user: User, words: list[str]) -> Iterator[Option]:
    """The most important facts in use in which a word starts with each typed one; “the user” counts for nothing."""
    who = (Value(r"\mthe user\M"), Value(""), Value("gi"))
    said = Func(F("statement"), *who, function="regexp_replace", output_field=TextField())
    holding = Q()
    for word in words:
        holding &= Q(said__iregex=(r"\m" if word[0].isalnum() else "") + re.escape(word))
    facts = Fact.objects.for_user(user).active().alias(said=said).filter(holding).order_by("-importance", "-pk")
    for fact in facts.only("statement")[:MAX_FACTS]:
        yield Option(second_person(fact.statement), "lightbulb", reverse("memory:fact", args=[fact.pk]))


def _search_option(typed: str) -> Option:
    url = f"{reverse('search')}?{urlencode({'q': typed})}"
    return Option(f"Search for “{typed}”", "search", url)


# Shortcuts ---------------------------------------------------------------------------------------------------------

COOKIE: Final = "single-keys"
OFF: Final = "off"
"""Value of the cookie when single keys are off (WCAG 2.1.4): voice input presses them by accident. A cookie, because
keys belong to a device."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    keys: tuple[str, ...]
    """Pressed together."""
    does: str
    where: str = "Everywhere"
    url_name: str = ""
    """The page it opens."""
    focus: str = ""
    """Selector of what it focuses or opens; if the page has none, `url_name` is opened."""
    is_ours: bool = True
    """Handled by palette.js; otherwise another script handles it, and the page only lists it."""

    @property
    def single(self) -> str:
        """The key, if palette.js handles it and it is pressed alone."""
        return self.keys[0] if self.is_ours and len(self.keys) == 1 and len(self.keys[0]) == 1 else ""


SHORTCUTS: Final = (
    Shortcut(("Ctrl", "K"), "Open the command palette (⌘ K on a Mac)", focus="#palette"),
    Shortcut(("?",), "Show shortcuts", url_name="shortcuts"),
    Shortcut(("n",), "New conversation", url_name="new"),
    Shortcut(("/",), "Search", url_name="search", focus="#id_q"),
    Shortcut(("m",), "Focus the message box", "Everywhere except To review", url_name="new", focus="#text"),
    Shortcut(("l",), "Focus the conversation list", "Chat", focus="#conversation-list a, #toggle-conversations"),
    Shortcut(("b",), "Show or hide the conversation list", "Chat", focus="#toggle-conversations"),
    Shortcut(("i",), "Show or hide the context panel", "Chat", focus='[data-action="toggle-context"]'),
    Shortcut(("Enter",), "Send the message", "Message box", is_ours=False),
    Shortcut(("Shift", "Enter"), "New line", "Message box", is_ours=False),
    Shortcut(("Esc",), "Close the open palette, menu or panel", is_ours=False),
    Shortcut(("j",), "Next proposal", "To review", is_ours=False),
    Shortcut(("k",), "Previous proposal", "To review", is_ours=False),
    Shortcut(("a",), "Accept", "To review", is_ours=False),
    Shortcut(("r",), "Reject", "To review", is_ours=False),
    Shortcut(("e",), "Edit", "To review", is_ours=False),
    Shortcut(("b",), "Keep both", "To review", is_ours=False),
    Shortcut(("x",), "Select", "To review", is_ours=False),
    Shortcut(("m",), "Merge selected", "To review", is_ours=False),
    Shortcut(("u",), "Undo the last decision", "To review", is_ours=False),
)
