"""Topic shift: whether the user's last messages are far, in meaning, from all their earlier ones, twice in a row.

Which distance counts as far depends on the embedding model, so it is measured for each. Only `topic_has_shifted` reads
the database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from accounts.models import User
from chat.messages.history import Turn
from memory.embeddings.limits import Vectors
from memory.embeddings.port import embedder
from memory.models import Chunk
from memory.retrieval.cues import ENGLISH
from memory.retrieval.query import words_of
from memory.text.message_kinds import is_small_talk

SHIFTED_MESSAGES: Final = 2
"""Messages in a row that must be far: a single one may be an aside."""
MIN_EARLIER_MESSAGES: Final = 4
"""With fewer earlier messages, there is no topic yet that could be left."""
SHORT_WORDS: Final = 12
"""A message of at most this many words with “it”, “that” or “and what about” continues the topic."""
MIN_CONTENT_WORDS: Final = 2
"""With fewer content words, a message has no topic."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a distance means with one embedding model."""

    apart: float
    """From this distance (1 - cosine) on, a message is far from the topic."""


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    # Measured on 16 conversations of five messages, each with two pairs of messages that stay on topic, one about
    # something related and one far off (tests/chat/data/topic_shift.json; 32 pairs stay, 32 leave). The nearer message
    # of a pair that stays is at .56 (median) and at most .73; of one that leaves at .87 (median) and at least .61. At
    # .76 none of the 32 that stay counts as a shift, and 25 of the 32 that leave do: all 16 far ones, 9 of 16 related.
    # A missed shift costs little, because length triggers too; a false one compacts what is still being discussed.
    # Distance is to the nearest message; with the mean of all, 1 of 32 is wrong at .76, and 27 are recognized.
    "all-MiniLM-L6-v2-int8": Calibration(apart=0.76),
    "all-MiniLM-L6-v2": Calibration(apart=0.76),  # the same: 0 of 32 wrong, 25 of 32 recognized
}
"""A model that wasn't measured has no entry: with it, the topic never counts as shifted."""


def topic_has_shifted(user: User, turns: Sequence[Turn]) -> bool:
    """Whether the last messages are far from those before them. One query.

    Messages without a vector yet, such as the last one for some seconds, are skipped.
    """
    meanings = _load_vectors(user, [turn.question.pk for turn in turns if has_topic(turn.question.text)])
    return has_shifted(measure_distances(meanings), CALIBRATIONS.get(embedder().name)) if len(meanings) else False


def _load_vectors(user: User, messages: Sequence[int]) -> Vectors:
    """The vector of each message that has one, in order, normalized; for a long message the mean of its passages."""
    chunks = Chunk.objects.for_user(user).filter(message_id__in=messages, embedded_by=embedder().name)
    rows = chunks.values_list("message_id", "vector")
    by_message: dict[int, list[Vectors]] = {}
    for message, vector in rows:
        if vector is not None:
            by_message.setdefault(message, []).append(np.asarray(vector, dtype=np.float32))
    means = [np.mean(by_message[message], axis=0) for message in messages if message in by_message]
    return np.array([mean / np.linalg.norm(mean) for mean in means], dtype=np.float32)


def has_shifted(distances: Sequence[float], calibration: Calibration | None) -> bool:
    """Whether the last `SHIFTED_MESSAGES` distances, oldest first, are all too far."""
    last = distances[-SHIFTED_MESSAGES:]
    return calibration is not None and len(last) == SHIFTED_MESSAGES and min(last) >= calibration.apart


def measure_distances(vectors: Vectors) -> list[float]:
    """Distance of each of the last `SHIFTED_MESSAGES` from the nearest earlier message; empty if too few are earlier.

    `vectors`: of the user's messages that have a topic (`has_topic`), oldest first, normalized.
    """
    if len(vectors) < MIN_EARLIER_MESSAGES + SHIFTED_MESSAGES:
        return []
    before, last = vectors[:-SHIFTED_MESSAGES], vectors[-SHIFTED_MESSAGES:]
    return [1.0 - float(cosine) for cosine in (last @ before.T).max(axis=1)]


def has_topic(message: str) -> bool:
    """Whether a message has its own topic: “Thanks!” and “And how much does it cost?” don't."""
    words = words_of(message)
    content = {word for word in words if word not in ENGLISH.empty_words and len(word) > 2}
    follows_up = len(words) <= SHORT_WORDS and ENGLISH.follows_up.search(message) is not None
    return not is_small_talk(message) and not follows_up and len(content) >= MIN_CONTENT_WORDS
