"""Has the person gone on to something else? The meanings of their last messages against those before them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accounts.models import User
from chat.compaction.summaries.topic_distance import CALIBRATIONS, distances, has_shifted, tells
from chat.messages.history import Turn
from memory.embeddings.port import Vectors, embedder
from memory.models import Chunk


def topic_has_shifted(user: User, turns: Sequence[Turn]) -> bool:
    """Whether the last messages fall away from those before them. One statement.

    A message that has no vector yet, as the last one for some seconds, is passed over.
    """
    meanings = _meanings(user, [turn.question.pk for turn in turns if tells(turn.question.text)])
    return has_shifted(distances(meanings), CALIBRATIONS.get(embedder().name)) if len(meanings) else False


def _meanings(user: User, messages: Sequence[int]) -> Vectors:
    """The vector of each message that has one, in order, of length 1; of a long message the mean of its passages."""
    mine = Chunk.objects.for_user(user).filter(message_id__in=messages, embedded_by=embedder().name)
    rows = mine.values_list("message_id", "vector")
    found: dict[int, list[Vectors]] = {}
    for message, vector in rows:
        if vector is not None:
            found.setdefault(message, []).append(np.asarray(vector, dtype=np.float32))
    means = [np.mean(found[message], axis=0) for message in messages if message in found]
    return np.array([mean / np.linalg.norm(mean) for mean in means], dtype=np.float32)
