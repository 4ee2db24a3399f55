"""What do the pages show of a message, of the list beside the chat, and of the librarian's work?

The push over the socket and the page render the same partials of `templates/chat/page.html`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

from django.db.models import Count, Q
from django.template.loader import get_template
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString

from accounts.models import User
from chat.models import Conversation, Message
from chat.outcomes import Outcome, outcome
from memory.models import Fact, LibrarianRun
from recall.markdown import render

LISTED = 100
"""Conversations in the list at first: a screen holds thirty, and each costs a row and 150 bytes."""
SHOWN = 100
"""Messages of a conversation shown at first; earlier ones on request, since a thousand take seconds to render."""


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message as a page shows it."""

    id: int
    role: str
    author: str
    status: str
    html: SafeString
    """The user's words as they were typed; an answer rendered and sanitised, or as plain text while it is written."""
    said_at: datetime
    when: str
    outcome: Outcome
    continues: bool
    """Nobody typed it: it stands for the “continue” button."""


def shown(message: Message, zone: ZoneInfo) -> ShownMessage:
    """A message for the partial `message`. Asks the database nothing."""
    is_answer = message.role == Message.Role.ASSISTANT
    is_being_written = message.status == Message.Status.STREAMING
    return ShownMessage(
        id=message.pk,
        role=message.role,
        author=message.author or ("Recall" if is_answer else "You"),
        status=message.status,
        html=render(message.text) if is_answer and not is_being_written else escape(message.text),
        said_at=message.created_at,
        when=told_time(message.created_at, zone, timezone.now()),
        outcome=outcome(message) if is_answer and not is_being_written else Outcome(),
        continues="continues" in message.event_data,
    )


def told_time(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """A point in time as people tell it: today by its hour, else with its day."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    if local.date() == today:
        return f"{local:%H:%M}"
    year = "" if local.year == today.year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:%H:%M}"


def message_html(message: Message, *, user: User) -> str:
    """One message as the page renders it, for the socket."""
    html: str = get_template("chat/page.html#message").render({"message": shown(message, user.zone)})
    return html.strip()


def exchange_html(question: Message, answer: Message, *, user: User) -> str:
    """A question and its answer as the page renders them, for the socket."""
    return message_html(question, user=user) + message_html(answer, user=user)


def shown_messages(path: list[Message], zone: ZoneInfo, *, all_of_them: bool = False) -> list[ShownMessage]:
    """The branch's messages, or the last SHOWN of them, beginning with a question."""
    return [shown(message, zone) for message in (path if all_of_them else path[-SHOWN:])]


# The list beside the chat ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConversationList:
    """The latest conversations under their headings, and whether there are more."""

    groups: list[tuple[str, list[Conversation]]]
    more: int
    """How many to ask for, to see more; 0: these are all."""


def conversation_list(user: User, now: datetime, *, listed: int = LISTED) -> ConversationList:
    """The user's latest conversations, grouped by day as the user tells days. One query."""
    rows = Conversation.objects.for_user(user).latest_first().only("id", "title", "status", "last_activity_at")
    latest: list[Conversation] = list(rows[: listed + 1])
    more = listed + LISTED if len(latest) > listed else 0
    return ConversationList(_by_day(latest[:listed], user.zone, now.astimezone(user.zone).date()), more)


def _by_day(latest: Iterable[Conversation], zone: ZoneInfo, today: date) -> list[tuple[str, list[Conversation]]]:
    def heading(conversation: Conversation) -> str:
        return told_day(conversation.last_activity_at.astimezone(zone).date(), today)

    return [(told, list(group)) for told, group in groupby(latest, heading)]


def told_day(day: date, today: date) -> str:
    """A day as the list's headings tell it."""
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return f"{day:%A}"
    return f"{day:%B}" if day.year == today.year else f"{day:%B %Y}"


# What the librarian made of a conversation -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LibrarianLine:
    """What the librarian did with one conversation, and whether there is something left for it to read."""

    is_reading: bool = False
    error: str = ""
    has_read: bool = False
    learned: int = 0
    waiting: int = 0
    unread: bool = False


def librarian_line(conversation: Conversation) -> LibrarianLine:
    """The state of the librarian's work on this conversation, from its rows. Two queries."""
    states = LibrarianRun.State
    runs = (
        LibrarianRun.objects.filter(conversation=conversation, user_id=conversation.user_id)
        .order_by("-last_seq")
        .values_list("state", "error")
    )
    latest: list[tuple[str, str]] = list(runs)
    facts = Fact.objects.filter(run__conversation=conversation, user_id=conversation.user_id).aggregate(
        learned=Count("id", filter=Q(status=Fact.Status.ACTIVE)),
        waiting=Count("id", filter=Q(status=Fact.Status.PROPOSED)),
    )
    return LibrarianLine(
        is_reading=any(state in {states.PENDING, states.RUNNING} for state, _ in latest),
        error=next((error for state, error in latest if state == states.FAILED), ""),
        has_read=any(state == states.DONE for state, _ in latest),
        learned=facts["learned"],
        waiting=facts["waiting"],
        unread=conversation.librarian_watermark < conversation.next_seq - 1,
    )
