"""Topic shift: whether the user's last messages are far, in meaning, from all their earlier ones, twice in a row.

What distance counts as far depends on the embedding model, so it is measured for each. Only `topic_has_shifted` reads
the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from accounts.models import User
from chat.messages.history import Turn
from memory.embeddings.port import Vectors, embedder
from memory.models import Chunk
from memory.retrieval.query import EMPTY_WORDS, FOLLOWS_UP, is_small_talk, words_of

TURNS: Final = 2
"""So many messages running must fall away: a single one may be an aside."""
LEAST_BEFORE: Final = 4
"""Messages before them without which there is no topic yet that could be left."""
SHORT_WORDS: Final = 12
"""A message of at most so many words with “it”, “that”, “and what about” in it goes on with what was said before."""
LEAST_CONTENT: Final = 2
"""Words that mean something, without which a message has no topic of its own."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a distance (1 - cosine) says with one embedding model."""

    apart: float
    """From here on a message has fallen away."""


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    # 16 conversations of five messages, each with four pairs of messages that may follow: two that stay with the topic,
    # one about something next to it, one far off (tests/chat/data/topic_shift.json; 32 pairs stay, 32 leave). The
    # nearer message of a pair that stays lies at .56 (median), at most at .73; of one that leaves at .87 (median), at
    # least at .61. From .76 on, none of the 32 that stay is taken for a shift, and 25 of the 32 that leave are seen:
    # all 16 far ones, 9 of the 16 next to it. A shift that is missed costs little, since length compacts as well; one
    # that is imagined folds what is still being talked about. The distance is that from the nearest message; from the
    # middle of all messages 1 of 32 is taken wrongly at the same .76, and 27 are seen.
    "all-MiniLM-L6-v2-int8": Calibration(apart=0.76),
    "all-MiniLM-L6-v2": Calibration(apart=0.76),  # 0 of 32 wrong, 25 of 32 seen, too
}
"""A model that nobody has measured has none: with it the topic is never said to have shifted."""


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


def has_shifted(distances: Sequence[float], calibration: Calibration | None) -> bool:
    """Whether the last `TURNS` of these distances, oldest first, are all too far."""
    last = distances[-TURNS:]
    return calibration is not None and len(last) == TURNS and min(last) >= calibration.apart


def distances(vectors: Vectors) -> list[float]:
    """How far each of the last `TURNS` messages lies from the nearest of those before them; empty: too few are before.

    `vectors`: of the user's messages that tell (`tells`), oldest first, of length 1 each.
    """
    if len(vectors) < LEAST_BEFORE + TURNS:
        return []
    before, last = vectors[:-TURNS], vectors[-TURNS:]
    return [1.0 - float(cosine) for cosine in (last @ before.T).max(axis=1)]


def tells(message: str) -> bool:
    """Whether a message has a topic of its own: “Thanks!” and “And how much does it cost?” have not."""
    words = words_of(message)
    content = {word for word in words if word not in EMPTY_WORDS and len(word) > 2}
    follows_up = len(words) <= SHORT_WORDS and FOLLOWS_UP.search(message) is not None
    return not is_small_talk(message) and not follows_up and len(content) >= LEAST_CONTENT
