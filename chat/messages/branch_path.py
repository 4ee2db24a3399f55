"""The path of a branch for pages: ids only, from its end to its start, however long it is.

The walk skips each compacted span in one step. `chat/messages/history.py` walks the same way for a prompt, with texts
and merged summaries; a page shows each segment as it was made.
"""

from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection

from chat.models import Conversation, Segment


class Piece(NamedTuple):
    """One entry of a page: a message, or a segment in place of compacted turns."""

    message: int | None
    segment: int | None
    before: int | None
    """Id of the previous message; None: it is the first."""


# If several segments end with a message, take the original one, not the one it was merged into: a page shows each
# compaction. OFFSET keeps each step a look-up by key (see chat/messages/history.py).
_WALK: Final = """
WITH RECURSIVE walk (step, message, segment, next) AS (
    SELECT 0, NULL::bigint, NULL::bigint, %(until)s::bigint
    UNION ALL
    SELECT step + 1, CASE WHEN segment.id IS NULL THEN message.id END, segment.id,
        CASE WHEN segment.id IS NULL THEN message.parent_id ELSE segment.before_id END
    FROM walk
    JOIN LATERAL (
        SELECT id, parent_id, conversation_id, user_id FROM chat_message WHERE id = walk.next OFFSET 0
    ) AS message ON message.conversation_id = %(conversation)s AND message.user_id = %(user)s
    LEFT JOIN LATERAL (
        SELECT id, before_id FROM chat_segment AS made WHERE made.last_message_id = message.id
            AND NOT EXISTS (SELECT 1 FROM chat_segment AS part WHERE part.merged_into_id = made.id)
        ORDER BY id DESC LIMIT 1
    ) AS segment ON true
    WHERE step < %(most)s
)
SELECT message, segment, next FROM walk WHERE step > 0 ORDER BY step DESC
"""
_NO_LIMIT: Final = 2**31 - 1


def walk(conversation: Conversation, until: int | None, most: int = _NO_LIMIT) -> list[Piece]:
    """The last `most` entries of the branch that ends with `until`, oldest first. One statement, ids only."""
    if until is None:
        return []
    values: dict[str, int | UUID] = {
        "until": until,
        "conversation": conversation.pk,
        "user": conversation.user_id,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WALK, values)
        return [Piece(*row) for row in cursor.fetchall()]


_FOLDED: Final = """
WITH RECURSIVE compacted (step, id, parent) AS (
    SELECT 0, id, parent_id FROM chat_message WHERE id = %(last)s
    UNION ALL
    SELECT step + 1, message.id, message.parent_id
    FROM compacted
    JOIN LATERAL (SELECT id, parent_id FROM chat_message WHERE id = compacted.parent OFFSET 0) AS message ON true
    WHERE message.id IS DISTINCT FROM %(before)s
)
SELECT id FROM compacted ORDER BY step DESC
"""


def compacted_ids(segment: Segment) -> list[int]:
    """The messages that the segment summarizes, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(_FOLDED, {"last": segment.last_message_id, "before": segment.before_id})
        return [pk for (pk,) in cursor.fetchall()]
