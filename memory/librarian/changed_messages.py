"""Earlier messages of the user that a new one changes: they are recalled with the qualifier that says so.

Facts are changed by `commit.py`. This covers the words themselves, from which often no fact was learned. “We called off
the Iceland trip” qualifies last month's “boots for Iceland in June, leather or not?”.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from pgvector.django import CosineDistance

from memory.embeddings.port import embedder
from memory.librarian.changes.learned import RIGHT_BEFORE, find_changed, mends_last, parts_to_read
from memory.models import Chunk, MessageChange

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User
    from memory.models.passages import Chunk as Passage
    from memory.ports.source import Utterance

NEAREST: Final = 5
"""Earlier messages that are read with a new one, by meaning."""
NEAR_FROM: Final = 0.3
"""Cosine of two messages from which the later may change the earlier. What is found below is mostly wrong."""


MAX_READ: Final = 200
"""Messages of a run that are read, the last ones: an imported conversation may have thousands."""


def find_changed_messages(user: User, said: Sequence[Utterance]) -> list[MessageChange]:
    """What these messages of the user change of earlier ones, not stored yet."""
    said = [utterance for utterance in said if parts_to_read(utterance)][-MAX_READ:]
    if not said:
        return []
    vectors = embedder().embed([utterance.text for utterance in said])
    ids = [utterance.message_id for utterance in said]
    stated = set(_statements(user).filter(message__in=ids).values_list("message_id", flat=True))
    changes: list[MessageChange] = []
    for place, (utterance, vector) in enumerate(zip(said, vectors, strict=True)):
        mended = place - 1 if place and _mends(utterance, said[place - 1]) else None
        nearness = {
            other.message_id: (max(float(vector @ vectors[number]), NEAR_FROM * (number == mended)), other.text)
            for number, other in enumerate(said[:place])
            if other.message_id in stated
        }
        nearness |= _find_nearest(user, utterance, vector, without=ids)
        near = sorted(nearness.items(), key=lambda one: -one[1][0])[:NEAREST]
        earlier = {message_id: text for message_id, (cosine, text) in near if cosine >= NEAR_FROM}
        changes += [
            MessageChange(user=user, message_id=message_id, changed_by_id=utterance.message_id)
            for message_id in find_changed(utterance, earlier)
        ]
    return changes


def _mends(utterance: Utterance, before: Utterance) -> bool:
    return mends_last(utterance.text) and utterance.said_at - before.said_at <= RIGHT_BEFORE


def _statements(user: User) -> QuerySet[Passage]:
    """Passages in which the user states something."""
    return Chunk.objects.for_user(user).filter(kind=Chunk.Kind.MESSAGE, own_words=True, author="", omit="")


def _find_nearest(
    user: User, utterance: Utterance, vector: Any, without: Collection[int]
) -> dict[int, tuple[float, str]]:
    """Cosine and text of the nearest passages of earlier messages that aren't read now, by message."""
    earlier = _statements(user).filter(said_at__lt=utterance.said_at, embedded_by=embedder().name)
    near = earlier.exclude(message__in=without).annotate(distance=CosineDistance("vector", vector)).order_by("distance")
    found: dict[int, tuple[float, str]] = {}
    for message_id, distance, text in near.values_list("message_id", "distance", "text")[:NEAREST]:
        if message_id is not None:
            found.setdefault(message_id, (1.0 - distance, text))
    return found
