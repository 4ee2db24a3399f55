"""Every way a statement can enter a user's memory, and every background job that touches it."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from django.utils import timezone

from chat.conversations import retention
from chat.evaluation.person import Person
from chat.ingest import librarian_triggers
from chat.models import Conversation, Message
from chat.turns.intake import accept_edit
from memory.consolidation.jobs import run_consolidation
from memory.documents import uploads
from memory.documents.folder_sync import sync_files
from memory.index.indexer import index_conversation, index_document
from memory.index.language_change import rebuild_search_vectors
from memory.librarian.remember import propose_from_assistant
from memory.librarian.run import request_reading
from memory.models import Chunk, Consolidation, Document, LibrarianRun
from memory.ports.source import Utterance, get_source

NOTES: Final = "notes.md"

# Ways in -----------------------------------------------------------------------------------------------------------


def import_conversation(person: Person, text: str, at: datetime) -> None:
    """Import the conversation as another program exported it, read by the librarian."""
    said = [
        Utterance(0, 1, "user", text, at, ""),
        Utterance(0, 2, "assistant", "Thanks, noted.", at + timedelta(seconds=20), ""),
    ]
    first, _ = get_source().import_conversation(person.user, "An old conversation", said)
    conversation = Message.objects.get(pk=first).conversation
    request_reading(person.user.pk, conversation.pk, 1, conversation.next_seq - 1, "import")


def sync_folder(person: Person, text: str, at: datetime) -> None:
    sync_files(person.user, [(NOTES, NOTES, f"# Notes\n\n{text}\n".encode())], origin="evaluation")


def upload(person: Person, text: str, at: datetime) -> None:
    uploads.accept(person.user, f"{uuid4().hex[:8]}.txt", f"{text}\n".encode())


def tell_by_mcp(person: Person, text: str, at: datetime) -> None:
    """Let another assistant say it about the user."""
    propose_from_assistant("Another assistant", person.user, text)


def tell_by_api(person: Person, text: str, at: datetime) -> None:
    """Let a program with an API key say it about the user."""
    propose_from_assistant("A script", person.user, text)


def edit_old_message(person: Person, text: str, at: datetime) -> None:
    """Send the old message again, unchanged, as a new branch."""
    said = Message.objects.for_user(person.user).filter(event_type=Message.Event.USER_MESSAGE, author="")
    old = said.filter(text=text).order_by("pk").first() or said.order_by("pk").first()
    if old is None:  # its conversation was forgotten
        return
    since = timezone.now()
    person.answered(accept_edit(person.user, uuid4(), old.pk, text))
    person.settle(since, at)


WAYS_IN: Final[Mapping[str, Callable[[Person, str, datetime], None]]] = {
    "import": import_conversation,
    "sync": sync_folder,
    "upload": upload,
    "mcp": tell_by_mcp,
    "api": tell_by_api,
    "edit": edit_old_message,
}
"""Each enters the text again, dated to the given time."""

# Background jobs ---------------------------------------------------------------------------------------------------


def read_again(person: Person) -> None:
    """Have the librarian read every conversation once more, as after a change of engine."""
    LibrarianRun.objects.for_user(person.user).delete()
    for conversation in _conversations(person):
        request_reading(person.user.pk, conversation.pk, 1, conversation.next_seq - 1, "asked")


def consolidate(person: Person) -> None:
    """Run the nightly consolidation."""
    run_consolidation(person.user, Consolidation.How.NIGHTLY, timezone.now())


def end_conversations(person: Person) -> None:
    """End all conversations, so that their summaries and documents are written."""
    for conversation in _conversations(person):
        librarian_triggers.end(conversation)


def rebuild_index(person: Person) -> None:
    """Rebuild the index from messages and documents."""
    Chunk.objects.for_user(person.user).delete()
    for conversation in _conversations(person):
        index_conversation(conversation.pk)
    for document in Document.objects.for_user(person.user):
        index_document(document)
    rebuild_search_vectors(person.user.pk)


def apply_retention(person: Person) -> None:
    """Remove everything older than its retention period."""
    for what in retention.What:
        retention.apply(what, timezone.now())


JOBS: Final[Mapping[str, Callable[[Person], None]]] = {
    "librarian re-run": read_again,
    "consolidation": consolidate,
    "summaries": end_conversations,
    "index rebuild": rebuild_index,
    "retention": apply_retention,
}


def _conversations(person: Person) -> list[Conversation]:
    return list(Conversation.objects.for_user(person.user).not_deleted().order_by("started_at"))
