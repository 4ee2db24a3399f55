"""Which part of a conversation does a page show at once? The end of it, or what is around a message; more on request.

A conversation may have thousands of messages: of those that lead to its end ids alone are read
(`chat/messages/branch_path.py`), and texts of what is shown and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from chat.attachments.view import attached_to
from chat.messages.branch_path import Piece, folded_ids, walk
from chat.messages.branches import places
from chat.messages.rendering import MessageView, build_message_view
from chat.models import Conversation, Message, Segment
from chat.pages.compacted_turns import SegmentView, build_segment_view

AT_ONCE: Final = 40
"""Pieces shown at first, and brought by each request for more: two or three screens, some 100 ms to render anew."""
MOST_AGAIN: Final = 400
"""Pieces that are fetched again where they stand; a reader who has loaded more is shown the end."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some pieces of a branch, oldest first."""

    pieces: Sequence[Piece]
    later: int | None = None
    """Id of the last message shown, where others follow that are not."""
    opened: int | None = None
    """Id of the segment whose turns are shown too."""

    @property
    def earlier(self) -> int | None:
        """Id of the message that comes before all of it."""
        return self.pieces[0].before if self.pieces else None


# Which -------------------------------------------------------------------------------------------------------------


def latest(conversation: Conversation) -> Window:
    """The end of the branch that is followed."""
    return Window(walk(conversation, conversation.active_leaf_id, AT_ONCE))


def up_to(conversation: Conversation, message: int) -> Window:
    """What ends with this message."""
    return Window(walk(conversation, message, AT_ONCE), later=message)


def following(conversation: Conversation, message: int) -> Window:
    """What comes after this message."""
    pieces = _after(walk(conversation, conversation.active_leaf_id), message)
    if pieces is None:
        return latest(conversation)
    return _part(pieces, 0, AT_ONCE)


def since(conversation: Conversation, message: int) -> Window:
    """All that comes after this message, once more; 0: from the beginning."""
    pieces = _after(walk(conversation, conversation.active_leaf_id, MOST_AGAIN), message or None)
    return latest(conversation) if pieces is None else Window(pieces)


def around(conversation: Conversation, message: int) -> Window:
    """What is around this message; the end of the branch where the message stands on none that is followed."""
    pieces = walk(conversation, conversation.active_leaf_id)
    at, opened = _find(pieces, message)
    if at is None or at >= len(pieces) - AT_ONCE // 2:
        return Window(pieces[-AT_ONCE:], opened=opened)
    return _part(pieces, max(0, at - AT_ONCE // 2), AT_ONCE, opened)


def stands_on_branch(conversation: Conversation, message: int) -> tuple[bool, bool]:
    """Whether the message is on the branch that is followed, and whether it is among what is shown at first."""
    pieces = walk(conversation, conversation.active_leaf_id)
    at, opened = _find(pieces, message)
    return at is not None, at is not None and opened is None and at >= len(pieces) - AT_ONCE


def _part(pieces: Sequence[Piece], first: int, count: int, opened: int | None = None) -> Window:
    rest = pieces[first + count : first + count + 1]
    return Window(pieces[first : first + count], rest[0].before if rest else None, opened)


def _after(pieces: Sequence[Piece], message: int | None) -> Sequence[Piece] | None:
    """The pieces that come after this message; None: it does not stand before any of them."""
    found = next((at for at, piece in enumerate(pieces) if piece.before == message), None)
    return None if found is None else pieces[found:]


def _find(pieces: Sequence[Piece], message: int) -> tuple[int | None, int | None]:
    """At which place the message is, and the segment behind which it is."""
    at = next((at for at, piece in enumerate(pieces) if piece.message == message), None)
    if at is not None:
        return at, None
    turn = Message.objects.filter(pk=message, archived_at__isnull=False).values_list("turn", flat=True).first()
    folded = {piece.segment: at for at, piece in enumerate(pieces) if piece.segment is not None}
    if turn is None or not folded:
        return None, None
    for segment in Segment.objects.filter(pk__in=folded, first_turn__lte=turn, last_turn__gte=turn):
        if message in folded_ids(segment):
            return folded[segment.pk], segment.pk
    return None, None


# What they say -----------------------------------------------------------------------------------------------------


def standing_segment(conversation: Conversation, segment: int) -> Segment | None:
    """The segment, if the branch that is followed shows it."""
    pieces = walk(conversation, conversation.active_leaf_id)
    is_there = any(piece.segment == segment for piece in pieces)
    return Segment.objects.filter(conversation=conversation, pk=segment).first() if is_there else None


def shown_in(conversation: Conversation, window: Window, zone: ZoneInfo) -> dict[str, Any]:
    """The context of the partial `messages`. Six statements at most, however long the conversation is."""
    messages = _in_bulk(conversation, [piece.message for piece in window.pieces if piece.message is not None])
    segments = Segment.objects.in_bulk([piece.segment for piece in window.pieces if piece.segment is not None])
    numbered, attached = places(messages.values()), attached_to(messages.values())
    pieces: list[MessageView | SegmentView] = []
    for piece in window.pieces:
        if piece.message in messages:
            pk = piece.message
            pieces.append(build_message_view(messages[pk], zone, numbered.get(pk), attached.get(pk, ())))
        elif piece.segment in segments:
            turns = folded_turns(segments[piece.segment], zone) if piece.segment == window.opened else []
            pieces.append(build_segment_view(segments[piece.segment], turns))
    answers = [one.pk for one in messages.values() if one.role == Message.Role.ASSISTANT]
    return {
        "conversation": conversation,
        "messages_shown": pieces,
        "earlier": window.earlier,
        "later": window.later,
        "latest_answer": max(answers, default=None),
    }


def folded_turns(segment: Segment, zone: ZoneInfo) -> list[Any]:
    """The messages behind a fold, as a page shows them."""
    messages = _in_bulk(segment.conversation, folded_ids(segment))
    numbered, attached = places(messages.values()), attached_to(messages.values())
    return [build_message_view(one, zone, numbered.get(one.pk), attached.get(one.pk, ())) for one in messages.values()]


def _in_bulk(conversation: Conversation, ids: Iterable[int]) -> dict[int, Message]:
    """The messages by id, in this order."""
    wanted = list(ids)
    rows = Message.objects.filter(conversation=conversation, user=conversation.user_id).defer("search")
    found: dict[int, Message] = rows.in_bulk(wanted)
    return {pk: found[pk] for pk in wanted if pk in found}
