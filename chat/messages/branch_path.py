"""The path of a branch for pages: ids only, from its end to its start, however long it is.

The walk skips each compacted span in one step. `chat/messages/history.py` walks the same way for a prompt, with texts
and merged summaries; a page shows each segment as it was made.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection

from chat.models import Conversation, Segment
from recall.db.sql_files import load_sql_parts


class Piece(NamedTuple):
    """One entry of a page: a message, or a segment in place of compacted turns."""

    message: int | None
    segment: int | None
    before: int | None
    """Id of the previous message; None: it is the first."""


_SQL: Final = load_sql_parts(Path(__file__).with_suffix(".sql"))
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
        cursor.execute(_SQL["walk"], values)
        return [Piece(*row) for row in cursor.fetchall()]


def compacted_ids(segment: Segment) -> list[int]:
    """The messages that the segment summarizes, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL["compacted"], {"last": segment.last_message_id, "before": segment.before_id})
        return [pk for (pk,) in cursor.fetchall()]


def follow_parents(parents: Mapping[int, int | None], leaf: int | None) -> list[int]:
    """The branch that ends with `leaf`, oldest first. `parents`: of messages that are already loaded."""
    path: list[int] = []
    while leaf is not None and leaf in parents:
        path.append(leaf)
        leaf = parents[leaf]
    return path[::-1]
