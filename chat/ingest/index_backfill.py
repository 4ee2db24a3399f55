"""Which conversations are not in the index? Those from before there was one, and those whose indexing was lost."""

from __future__ import annotations

from typing import Final

from django.db.models import Exists, OuterRef

from chat.models import Conversation, Message
from memory.index.indexer import INDEX_TASK
from memory.models import Chunk
from recall.celery import enqueue_on_commit

AT_ONCE: Final = 200
"""Conversations queued at a time, the latest first: the clock comes again."""


def index_what_was_missed() -> int:
    """Queue the conversations that have a user's words and no passage; how many."""
    said = Message.objects.filter(conversation=OuterRef("pk"), event_type=Message.Event.USER_MESSAGE)
    passages = Chunk.objects.filter(conversation=OuterRef("pk"))
    missed = Conversation.objects.not_deleted().filter(Exists(said), ~Exists(passages), active_leaf__isnull=False)
    found = list(missed.latest_first().values_list("pk", flat=True)[:AT_ONCE])
    for conversation_id in found:
        enqueue_on_commit(INDEX_TASK, str(conversation_id))
    return len(found)
