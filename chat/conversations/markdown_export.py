"""How does a conversation look as one Markdown file? Title, dates, and the followed branch, each message under its
speaker and time. What was said stands character by character; memories and receipts are no part of it."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from datetime import datetime
from itertools import batched
from typing import Final

from django.template.defaultfilters import filesizeformat

from chat.messages.outcomes import outcome
from chat.models import Attachment, Conversation, Message
from recall.redaction import FORGOTTEN

AT_ONCE: Final = 200
"""Messages in memory at a time: a long conversation has thousands, some of 100,000 characters."""
NAME_CHARS: Final = 80
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_NO_NAME: Final = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
"""What some system takes in no file name, and marks that would show it in another order."""


def file_name(conversation: Conversation) -> str:
    """Its title as a file's name that every system takes."""
    name = " ".join(_NO_NAME.sub(" ", conversation.title).split()).strip(". ")
    return f"{name[:NAME_CHARS].rstrip('. ') or 'Conversation'}.md"


def pages(conversation: Conversation) -> Generator[bytes]:
    """The file, piece by piece."""
    ids = branch(conversation)
    yield _head(conversation, len(ids)).encode()
    for some in batched(ids, AT_ONCE, strict=False):
        rows = Message.objects.defer("search").prefetch_related("attachments").in_bulk(some)
        for pk in some:
            if pk in rows:
                yield "".join(_told(rows[pk], conversation)).encode()


def branch(conversation: Conversation) -> list[int]:
    """Ids of the messages of the branch that is followed, oldest first. One statement, without their texts."""
    said = Message.objects.filter(conversation=conversation, user_id=conversation.user_id)
    parents = dict(said.exclude(role=Message.Role.TOOL).order_by().values_list("pk", "parent_id"))
    path: list[int] = []
    step = conversation.active_leaf_id
    while step is not None and step in parents:
        path.append(step)
        step = parents[step]
    return path[::-1]


def _head(conversation: Conversation, many: int) -> str:
    title = " ".join(conversation.title.split()) or "Untitled"
    began, last = (_day(at, conversation) for at in (conversation.started_at, conversation.last_activity_at))
    dates = began if began == last else f"{began} to {last}"
    zone = conversation.user.time_zone
    return f"# {title}\n\n{dates} · {many} message{'' if many == 1 else 's'} · times of {zone}\n"


def _told(message: Message, conversation: Conversation) -> Iterator[str]:
    is_users = message.role == Message.Role.USER
    who = " ".join(message.author.split()) or ("You" if is_users else "Recall")
    local = message.created_at.astimezone(conversation.user.zone)
    yield f"\n## {who}, {_day(message.created_at, conversation)}, {local:%H:%M}\n"
    if "continues" in message.event_data:
        yield "\n*Asked to go on.*\n"
        return
    if message.text:
        yield f"\n{_FORGOTTEN_AS if message.text == FORGOTTEN else with_fences_closed(message.text.rstrip())}\n"
    for attachment in message.attachments.all():
        yield f"\n{_attached(attachment)}\n"
    ended = "" if is_users else outcome(message).sentence
    if ended:
        yield f"\n*{ended}*\n"


_FORGOTTEN_AS: Final = f"*{FORGOTTEN}*"


def _attached(attachment: Attachment) -> str:
    name = " ".join(attachment.name.split()).replace("`", "'")
    return f"Attached: `{name}` ({attachment.get_kind_display().lower()}, {filesizeformat(attachment.size)})"


def with_fences_closed(text: str) -> str:
    """The text; a block of code that an interrupted answer left open is closed, else it would swallow the rest."""
    opened = ""
    for found in _FENCE.finditer(text):
        fence, rest = found[1], found[2]
        if not opened:
            opened = "" if fence[0] == "`" and "`" in rest else fence
        elif fence[0] == opened[0] and len(fence) >= len(opened) and not rest.strip():
            opened = ""
    return f"{text}\n{opened}" if opened else text


def _day(at: datetime, conversation: Conversation) -> str:
    local = at.astimezone(conversation.user.zone)
    return f"{local.day} {local:%B %Y}"
