"""Renders messages and the librarian's status for pages and sockets.

Both render the same partials of `templates/chat/page.html`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Count, Q
from django.template.loader import get_template
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString

from accounts.models import User
from chat.attachments.view import AttachmentView, attached_to
from chat.messages.activity import Step, steps_of, summarize_steps
from chat.messages.branches import Place, is_typed, places
from chat.messages.outcomes import Outcome, outcome
from chat.messages.thinking import thinking_of
from chat.models import Conversation, Message
from chat.turn import WITHHOLDS
from memory.forget_requests.requests import ForgetRequest, find_request
from memory.models import Fact, LibrarianRun
from memory.secrets.secrets_filter import sensitive
from recall.cpu_limit import TOO_LONG
from recall.rendering.render import render


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message as a page shows it."""

    id: int
    role: str
    author: str
    status: str
    html: SafeString
    """The user's text as typed; an answer as sanitized Markdown."""
    said_at: datetime
    when: str
    outcome: Outcome
    continues: bool
    """Whether it was sent by the Continue button, not typed."""
    editable: bool
    """Whether the user can edit it."""
    place: Place | None
    """Its position among its siblings; None: it has no siblings."""
    steps: Sequence[Step]
    """Thinking and tool calls before the answer."""
    folded_steps: str
    """The steps in one line."""
    thinking: SafeString
    """What the model thought, as sanitized Markdown."""
    thought: str = ""
    """How long, such as “4 s”."""
    attachments: Sequence[AttachmentView] = ()
    secret: str = ""
    """The kind of secret in the user's message, such as “a card number”."""
    forget: ForgetRequest | None = None
    """What a user's message asks to forget."""
    forgets: str = ""
    """Number of the message that “that” refers to."""


def build_message_view(
    message: Message, zone: ZoneInfo, place: Place | None = None, attachments: Sequence[AttachmentView] = ()
) -> MessageView:
    """A message for the partial `message`. Makes no queries."""
    is_answer = message.role == Message.Role.ASSISTANT
    is_being_written = message.status == Message.Status.STREAMING
    steps, thought = steps_of(message.event_data), message.event_data.get("thought")
    thinking = thinking_of(message.event_data)
    return MessageView(
        id=message.pk,
        role=message.role,
        author=message.author or ("Recall" if is_answer else "You"),
        status=message.status,
        html=render(message.text) if is_answer else escape(message.text),
        said_at=message.created_at,
        when=format_time(message.created_at, zone, timezone.now()),
        outcome=outcome(message) if is_answer and not is_being_written else Outcome(),
        continues="continues" in message.event_data,
        editable=message.pk > 0 and is_typed(message),
        place=place,
        steps=steps,
        folded_steps=summarize_steps(steps, None if thinking else thought),
        thinking=render(thinking) if thinking else SafeString(""),
        thought=f"{max(1, round(thought))} s" if thought is not None else "",
        attachments=attachments,
        secret="" if is_answer else sensitive(message.text, is_own=True) or "",
        forget=(find_request(message.text) or ForgetRequest()) if WITHHOLDS in message.event_data else None,
        forgets=next(iter(message.event_data.get(WITHHOLDS, ())), "").removeprefix("message:"),
    )


def format_time(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """A point in time: the hour if it is today, else with the day."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    if local.date() == today:
        return f"{local:%H:%M}"
    year = "" if local.year == today.year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:%H:%M}"


def messages_html(messages: Sequence[Message], *, user: User, are_alone: bool = False) -> str:
    """Messages of one conversation as the page renders them, for the socket.

    `are_alone`: they are new at the end of a branch, so that they have no siblings, and without attachments.
    """
    template = get_template("chat/page.html#message")
    numbered, attached = ({}, {}) if are_alone else (places(messages), attached_to(messages))
    views = [build_message_view(each, user.zone, numbered.get(each.pk), attached.get(each.pk, ())) for each in messages]
    return "".join(template.render({"message": view}).strip() for view in views)


def message_html(message: Message, *, user: User, is_alone: bool = False) -> str:
    """One message as the page renders it; `is_alone`: see `messages_html`."""
    return messages_html([message], user=user, are_alone=is_alone)


# The librarian's status --------------------------------------------------------------------------------------------


BY_RULES: Final = "rules/"
"""Prefix of the rule engine's version; importing it (memory/librarian/rules/engine.py) takes a second."""
ENDED: Final = "ended"
"""Trigger of a run that the user asked for (chat/ingest/librarian_triggers.py: end)."""


@dataclass(frozen=True, slots=True)
class LibrarianLine:
    """What the librarian did with one conversation, and whether it has more to read."""

    is_reading: bool = False
    error: str = ""
    has_read: bool = False
    by_rules: bool = False
    """Whether the last run used the rule engine, which reads only English (memory/librarian/rules/engine.py)."""
    skipped: int = 0
    """Messages that took too long to read."""
    learned: int = 0
    waiting: int = 0
    found_nothing: bool = False
    """Whether the user asked for the last run and it stored nothing, whatever the ones before it learned."""
    unread: bool = False
    cost: Decimal = Decimal(0)
    """US dollars; 0 for the rule engine, or if the price is unknown."""


def librarian_line(conversation: Conversation) -> LibrarianLine:
    """The state of the librarian's work on this conversation, from its rows. Two queries."""
    states = LibrarianRun.State
    runs = LibrarianRun.objects.filter(conversation=conversation, user_id=conversation.user_id).order_by("-last_seq")
    columns = ("user", "state", "error", "cost", "dropped", "engine", "trigger", "learned", "waiting")
    latest = list(runs.only(*columns))
    done = next((run for run in latest if run.state == states.DONE), None)
    facts = Fact.objects.filter(run__conversation=conversation, user_id=conversation.user_id).aggregate(
        learned=Count("id", filter=Q(status=Fact.Status.ACTIVE)),
        waiting=Count("id", filter=Q(status=Fact.Status.PROPOSED)),
    )
    return LibrarianLine(
        is_reading=any(run.state in {states.PENDING, states.RUNNING} for run in latest),
        error=next((run.error for run in latest if run.state == states.FAILED), ""),
        has_read=done is not None,
        by_rules=done is not None and done.engine.startswith(BY_RULES),
        found_nothing=done is not None and done.trigger == ENDED and not done.learned and not done.waiting,
        learned=facts["learned"],
        waiting=facts["waiting"],
        unread=conversation.librarian_watermark < conversation.next_seq - 1,
        cost=sum((run.cost for run in latest), Decimal(0)),
        skipped=sum(run.dropped.get(TOO_LONG, 0) for run in latest),
    )
