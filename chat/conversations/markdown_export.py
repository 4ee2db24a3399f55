"""Markdown export of a conversation: title, dates and the active branch, each message under its author and time.

Message texts are exported verbatim, but for secrets, which are masked, and images and HTML, which a viewer would load.
Memories, receipts and thinking are not part of it: the model's draft is no part of the conversation.
"""

import re
from collections.abc import Generator, Iterator
from datetime import datetime
from itertools import batched
from typing import Final

from django.template.defaultfilters import filesizeformat

from chat.messages.branch_path import follow_parents
from chat.messages.outcomes import outcome
from chat.models import Attachment, Conversation, Message
from memory.secrets.secrets_filter import mask_secrets, secret_values
from recall.redaction import FORGOTTEN
from recall.rendering.inert import as_part

_FORGOTTEN: Final = f"*{FORGOTTEN}*"
BATCH: Final = 200
"""Messages in memory at a time: a long conversation has thousands, some of 100,000 characters."""
NAME_CHARS: Final = 80
_NOT_IN_FILE_NAMES: Final = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
"""Characters that some system forbids in file names, and marks that would reorder it."""


def file_name(conversation: Conversation) -> str:
    """The title as a file name valid on every system."""
    name = " ".join(_NOT_IN_FILE_NAMES.sub(" ", conversation.title).split()).strip(". ")
    return f"{name[:NAME_CHARS].rstrip('. ') or 'Conversation'}.md"


def pages(conversation: Conversation) -> Generator[bytes]:
    """Yield the file in pieces."""
    ids = branch(conversation)
    yield _render_heading(conversation, len(ids)).encode()
    known: frozenset[str] = frozenset()
    for batch in batched(ids, BATCH, strict=False):
        rows = Message.objects.defer("search").prefetch_related("attachments").in_bulk(batch)
        for pk in batch:
            if pk in rows:
                known |= secret_values(rows[pk].text) if rows[pk].role == Message.Role.USER else frozenset()
                yield "".join(_render_message(rows[pk], conversation, known)).encode()


def branch(conversation: Conversation) -> list[int]:
    """Message ids of the active branch, oldest first. One query, without texts."""
    messages = Message.objects.filter(conversation=conversation, user_id=conversation.user_id)
    parents = dict(messages.exclude(role=Message.Role.TOOL).order_by().values_list("pk", "parent_id"))
    return follow_parents(parents, conversation.active_leaf_id)


def _render_heading(conversation: Conversation, count: int) -> str:
    title = " ".join(conversation.title.split()) or "Untitled"
    first, last = (_format_day(at, conversation) for at in (conversation.started_at, conversation.last_activity_at))
    dates = first if first == last else f"{first} to {last}"
    zone = conversation.user.time_zone
    return f"{as_part(f'# {title}')}\n\n{dates} · {count} message{'' if count == 1 else 's'} · times of {zone}\n"


def _render_message(message: Message, conversation: Conversation, known: frozenset[str]) -> Iterator[str]:
    is_users = message.role == Message.Role.USER
    author = " ".join(message.author.split()) or ("You" if is_users else "Recall")
    local = message.created_at.astimezone(conversation.user.zone)
    yield f"\n{as_part(f'## {author}')}, {_format_day(message.created_at, conversation)}, {local:%H:%M}\n"
    if "continues" in message.event_data:
        yield "\n*Asked to continue.*\n"
        return
    if message.text:
        text = as_part(mask_secrets(message.text, known, is_own=is_users).rstrip())
        yield f"\n{_FORGOTTEN if message.text == FORGOTTEN else text}\n"
    for attachment in message.attachments.all():
        yield f"\n{_render_attachment(attachment)}\n"
    ended = "" if is_users else outcome(message).sentence
    if ended:
        yield f"\n*{ended}*\n"


def _render_attachment(attachment: Attachment) -> str:
    name = " ".join(attachment.name.split()).replace("`", "'")
    return f"Attached: `{name}` ({attachment.get_kind_display().lower()}, {filesizeformat(attachment.size)})"


def _format_day(at: datetime, conversation: Conversation) -> str:
    local = at.astimezone(conversation.user.zone)
    return f"{local.day} {local:%B %Y}"
