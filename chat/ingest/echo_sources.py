"""Texts in a conversation that the user may have pasted back, and that therefore aren't evidence.

Answers and tool results; and the memories, summaries and profile lines that receipts say were in its prompts.
"""

from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from django.db import connection

from budget.models import ProfileSnapshot
from budget.planning.plan import Section
from chat.models import Message, Segment
from memory.models import Chunk, Episode, Fact
from memory.ports.source import ContextText
from memory.refs import ids_by_kind

RECALL_SECTIONS = (Section.PROFILE, Section.HISTORY, Section.MEMORIES, Section.TASK)
"""Prompt sections that Recall fills."""


_FIRST_SEEN: Final = """
    SELECT item ->> 'ref', min(answer.seq)
    FROM budget_receipt AS receipt JOIN chat_message AS answer ON answer.id = receipt.message_id,
        jsonb_array_elements(receipt.items) AS item
    WHERE receipt.conversation_id = %s AND answer.seq <= %s
        AND coalesce((item ->> 'kept')::boolean, true) AND item ->> 'section' = ANY(%s)
    GROUP BY item ->> 'ref'
"""
"""The references are extracted in the database: a receipt has about twenty kilobytes, and there is one per turn."""


def load_tool_results(conversation_id: UUID, last: int) -> Iterator[ContextText]:
    """Tool results for answers up to message `last`; each counts from the answer it served."""
    results = Message.objects.filter(
        conversation=conversation_id, event_type=Message.Event.TOOL_RESULT, parent__seq__lte=last
    )
    for answer, text in results.values_list("parent__seq", "text"):
        yield ContextText(answer, text)


def load_prompt_texts(conversation_id: UUID, last: int) -> Iterator[ContextText]:
    """What Recall added to the prompts of the answers up to message `last`, each with the first answer it preceded.

    Of past messages, only those that aren't the user's own.
    """
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_SEEN, [conversation_id, last, [str(section) for section in RECALL_SECTIONS]])
        first_seen: dict[str, int] = dict(cursor.fetchall())
    for ref, text in _texts(first_seen):
        yield ContextText(first_seen[ref], text)
    snapshots = ProfileSnapshot.objects.filter(receipts__conversation=conversation_id).distinct()
    for text in snapshots.values_list("text", flat=True):
        yield ContextText(0, text)


def _texts(refs: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The text behind each reference to a memory."""
    ids = ids_by_kind(refs)
    for pk, text in Fact.objects.filter(pk__in=ids["fact"]).values_list("pk", "statement"):
        yield f"fact:{pk}", text
    for pk, title, text in Episode.objects.filter(pk__in=ids["episode"]).values_list("pk", "title", "summary"):
        yield f"episode:{pk}", f"{title}\n{text}"
    for pk, text in Chunk.objects.filter(pk__in=ids["chunk"]).values_list("pk", "text"):
        yield f"chunk:{pk}", text
    for pk, text in Segment.objects.filter(pk__in=ids["segment"]).values_list("pk", "text"):
        yield f"segment:{pk}", text
    others = Message.objects.filter(pk__in=ids["message"]).exclude(role=Message.Role.USER, author="")
    for pk, text in others.values_list("pk", "text"):
        yield f"message:{pk}", text
