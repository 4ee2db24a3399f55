"""The part of a conversation that a page shows: its end, or the messages around one; more on request.

A conversation may have thousands of messages: `chat/messages/branch_path.py` reads only the ids of its branch, and the
text of a message is read only if it is shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from chat.attachments.view import attached_to
from chat.messages.branch_path import Piece, compacted_ids, walk
from chat.messages.branches import places
from chat.messages.rendering import MessageView, build_message_view
from chat.models import Conversation, Message, Segment
from chat.pages.compacted_turns import SegmentView, build_segment_view

WINDOW_SIZE: Final = 40
"""Pieces shown at first and per request for more: two or three screens, about 100 ms to render."""
MAX_REFETCHED: Final = 400
"""Pieces refetched at once; a reader who has loaded more is shown the end."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some pieces of a branch, oldest first."""

    pieces: Sequence[Piece]
    later: int | None = None
    """Id of the last message shown, if more follow."""
    opened: int | None = None
    """Id of the segment whose turns are also shown."""

    @property
    def earlier(self) -> int | None:
        """Id of the message before the window."""
        return self.pieces[0].before if self.pieces else None


# Windows -----------------------------------------------------------------------------------------------------------


def latest(conversation: Conversation) -> Window:
    """The end of the active branch."""
    return Window(walk(conversation, conversation.active_leaf_id, WINDOW_SIZE))


def up_to(conversation: Conversation, message: int) -> Window:
    """The window that ends with this message."""
    return Window(walk(conversation, message, WINDOW_SIZE), later=message)


def following(conversation: Conversation, message: int) -> Window:
    """The window after this message."""
    pieces = _after(walk(conversation, conversation.active_leaf_id), message)
    if pieces is None:
        return latest(conversation)
    return _part(pieces, 0, WINDOW_SIZE)


def since(conversation: Conversation, message: int) -> Window:
    """Everything after this message; 0 for everything."""
    pieces = _after(walk(conversation, conversation.active_leaf_id, MAX_REFETCHED), message or None)
    return latest(conversation) if pieces is None else Window(pieces)


def around(conversation: Conversation, message: int) -> Window:
    """The window around this message; the end, if the message isn't on the active branch."""
    pieces = walk(conversation, conversation.active_leaf_id)
    at, opened = _find(pieces, message)
    if at is None or at >= len(pieces) - WINDOW_SIZE // 2:
        return Window(pieces[-WINDOW_SIZE:], opened=opened)
    return _part(pieces, max(0, at - WINDOW_SIZE // 2), WINDOW_SIZE, opened)


def locate(conversation: Conversation, message: int) -> tuple[bool, bool]:
    """Whether the message is on the active branch, and whether the first window shows it."""
    pieces = walk(conversation, conversation.active_leaf_id)
    at, opened = _find(pieces, message)
    return at is not None, at is not None and opened is None and at >= len(pieces) - WINDOW_SIZE


def _part(pieces: Sequence[Piece], first: int, count: int, opened: int | None = None) -> Window:
    rest = pieces[first + count : first + count + 1]
    return Window(pieces[first : first + count], rest[0].before if rest else None, opened)


def _after(pieces: Sequence[Piece], message: int | None) -> Sequence[Piece] | None:
    """The pieces after this message; None if it precedes none of them."""
    found = next((at for at, piece in enumerate(pieces) if piece.before == message), None)
    return None if found is None else pieces[found:]


def _find(pieces: Sequence[Piece], message: int) -> tuple[int | None, int | None]:
    """The message's index, and the segment that covers it."""
    at = next((at for at, piece in enumerate(pieces) if piece.message == message), None)
    if at is not None:
        return at, None
    turn = Message.objects.filter(pk=message, archived_at__isnull=False).values_list("turn", flat=True).first()
    segments = {piece.segment: at for at, piece in enumerate(pieces) if piece.segment is not None}
    if turn is None or not segments:
        return None, None
    for segment in Segment.objects.filter(pk__in=segments, first_turn__lte=turn, last_turn__gte=turn):
        if message in compacted_ids(segment):
            return segments[segment.pk], segment.pk
    return None, None


# Contexts ----------------------------------------------------------------------------------------------------------


def find_segment(conversation: Conversation, segment: int) -> Segment | None:
    """The segment, if the active branch shows it."""
    pieces = walk(conversation, conversation.active_leaf_id)
    is_there = any(piece.segment == segment for piece in pieces)
    return Segment.objects.filter(conversation=conversation, pk=segment).first() if is_there else None


def build_messages_context(conversation: Conversation, window: Window, zone: ZoneInfo) -> dict[str, Any]:
    """The context of the partial `messages`: at most six queries, however long the conversation is."""
    messages = _in_bulk(conversation, [piece.message for piece in window.pieces if piece.message is not None])
    segments = Segment.objects.in_bulk([piece.segment for piece in window.pieces if piece.segment is not None])
    numbered, attached = places(messages.values()), attached_to(messages.values())
    pieces: list[MessageView | SegmentView] = []
    for piece in window.pieces:
        if piece.message in messages:
            pk = piece.message
            pieces.append(build_message_view(messages[pk], zone, numbered.get(pk), attached.get(pk, ())))
        elif piece.segment in segments:
            turns = compacted_messages(segments[piece.segment], zone) if piece.segment == window.opened else []
            pieces.append(build_segment_view(segments[piece.segment], turns))
    answers = [pk for pk, row in messages.items() if row.role == Message.Role.ASSISTANT]
    return {
        "conversation": conversation,
        "messages_shown": pieces,
        "earlier": window.earlier,
        "later": window.later,
        "latest_answer": max(answers, default=None),
    }


def compacted_messages(segment: Segment, zone: ZoneInfo) -> list[MessageView]:
    """The messages that a segment covers."""
    messages = _in_bulk(segment.conversation, compacted_ids(segment))
    numbered, attached = places(messages.values()), attached_to(messages.values())
    return [build_message_view(row, zone, numbered.get(pk), attached.get(pk, ())) for pk, row in messages.items()]


def _in_bulk(conversation: Conversation, ids: Iterable[int]) -> dict[int, Message]:
    """The messages by id, in the order of `ids`."""
    wanted = list(ids)
    rows = Message.objects.filter(conversation=conversation, user=conversation.user_id).defer("search")
    found: dict[int, Message] = rows.in_bulk(wanted)
    return {pk: found[pk] for pk in wanted if pk in found}
