"""The readable part of the archive: conversations, documents and facts as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from chat.attachments.view import attached_to
from chat.messages.history import active_path
from chat.models import Conversation, Message
from memory.models import Document, Fact
from memory.text.fact_lines import without_marks
from recall.rendering.inert import as_part, without_live_parts

if TYPE_CHECKING:
    from accounts.models import User

README: Final = """# Everything Recall knew about you

- `markdown/`: conversations (the active branch), documents and facts, to read.
- `data/`: every row, one JSON object per line; `person.json`: your name and settings; `recall.json`: the format.

To import it into another Recall, sign up there and choose this file on the page "Import and export".
The format is described in docs/import-export.md of Recall.
"""
NAME_CHARS: Final = 60
AT_ONCE: Final = 500


def markdown_pages(user: User) -> Iterator[tuple[str, str]]:
    """Name and text of each file; one is in memory at a time."""
    yield "README.md", README
    yield "markdown/facts.md", "".join(_facts(user))
    for document in Document.objects.for_user(user).order_by("pk").iterator(AT_ONCE):
        if document.text:
            place = "/".join(map(_file_name, document.path[1:].split("/")))
            yield (
                f"markdown/documents/{place}-{document.pk}.md",
                without_live_parts(without_marks(document.text)),
            )
    for conversation in (
        Conversation.objects.not_deleted().for_user(user).order_by("started_at", "pk").iterator(AT_ONCE)
    ):
        mark = str(conversation.pk)[:8]
        name = f"{conversation.started_at:%Y-%m-%d}-{_file_name(conversation.title)}-{mark}"
        yield f"markdown/conversations/{name}.md", "\n".join(_conversation_lines(conversation))


def _file_name(title: str) -> str:
    """A portable file name: letters, digits and hyphens."""
    return re.sub(r"[^\w]+", "-", title).strip("-_")[:NAME_CHARS].rstrip("-") or "untitled"


def _conversation_lines(conversation: Conversation) -> Iterator[str]:
    title = _one_line(conversation.title) or "Untitled"
    yield f"{as_part(f'# {title}')}\n"
    path = active_path(conversation)
    attached = attached_to(path)
    for message in path:
        names = attached.get(message.pk, ())
        who = _one_line(message.author) or ("You" if message.role == Message.Role.USER else "Recall")
        yield f"{as_part(f'## {who}')}, {message.created_at:%Y-%m-%d %H:%M} UTC\n\n{as_part(message.text)}\n"
        if names:
            yield "".join(f"{as_part(f'- Attached: {_one_line(file.name)}')} ({file.size})\n" for file in names)


def _facts(user: User) -> Iterator[str]:
    yield "# Facts\n"
    status = ""
    facts = Fact.objects.for_user(user).order_by("status", "kind", "pk").defer("vector", "search")
    for fact in facts.iterator(AT_ONCE):
        if fact.status != status:
            status = fact.status
            yield f"\n## {fact.get_status_display()}\n\n"
        quote = f" (“{_one_line(fact.quote)}”)" if fact.quote else ""
        yield as_part(f"- {fact.get_kind_display()}: {fact.statement}{quote}\n")


def _one_line(text: str) -> str:
    return " ".join(text.split())
