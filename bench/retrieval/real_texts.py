"""Real texts and questions: the evaluation's conversations, if they are next to the project.

Otherwise sentences are generated from a seed: enough to run the benchmark, but its figures compare less well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from accounts.models import User
    from memory.evaluation.datasets import Conversation, Item

FOLDER: Final = Path(__file__).resolve().parents[3] / "shared" / "bench"
FILES: Final = (FOLDER / "locomo_dev.json", FOLDER / "beam100k_dev.json")
MAX_LENGTH: Final = 300
"""Characters used of each message: it is then one passage, and ten thousand are embedded in a minute."""
EMBED_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class Corpus:
    """Real conversations and the questions about them."""

    sessions: tuple[tuple[str, tuple[Item, ...]], ...]
    """Title and turns of each session."""
    questions: tuple[str, ...]


def corpus() -> Corpus:
    """The texts of the files, else generated ones."""
    from memory.evaluation.datasets import read

    found = [one for file in FILES if file.exists() for one in read(file)]
    return _of(found) if found else _made_up()


def _of(conversations: Sequence[Conversation]) -> Corpus:
    sessions = tuple(
        (f"{conversation.id}, {sitting.date:%Y-%m-%d}", sitting.items)
        for conversation in conversations
        for sitting in conversation.sessions
    )
    questions = {
        question.text: None for conversation in conversations for question in conversation.questions if question.text
    }
    return Corpus(sessions, tuple(questions))


# Made up ---------------------------------------------------------------------------------------------------------

_PEOPLE: Final = ("Mary", "Pedro", "Aisha", "Tom", "Ines", "Jonas", "Ruth", "Ken")
_PLACES: Final = ("Lisbon", "Oslo", "Lyon", "Kyoto", "Cork", "Graz", "Leeds", "Porto")
_THINGS: Final = ("garden", "bicycle", "old piano", "thesis", "kitchen", "boat", "allotment", "novel")
_DEEDS: Final = ("repaired", "sold", "painted", "lost", "finished", "moved", "lent out", "photographed")


def _made_up(seed: int = 1, sittings: int = 200, turns: int = 40) -> Corpus:
    from memory.evaluation.datasets import Item

    chance, when, number = random.Random(seed), datetime(2024, 1, 1, 12, tzinfo=UTC), count(1)
    sessions = []
    for _ in range(sittings):
        when += timedelta(days=chance.randint(1, 5))
        items = []
        for turn in range(turns):
            text = (
                f"{chance.choice(_PEOPLE)} {chance.choice(_DEEDS)} the {chance.choice(_THINGS)} in"
                f" {chance.choice(_PLACES)} {chance.randint(2, 60)} days ago, and {chance.choice(_PEOPLE)} helped."
            )
            moment = when + timedelta(seconds=10 * turn)
            items.append(Item(next(number), "assistant" if turn % 2 else "user", "", text, moment, len(text) // 4))
        sessions.append((f"Sitting of {when:%Y-%m-%d}", tuple(items)))
    questions = [f"When was the {thing} {deed}, and by whom?" for thing in _THINGS for deed in _DEEDS]
    questions += [f"What did {person} do in {place}?" for person in _PEOPLE for place in _PLACES]
    return Corpus(tuple(sessions), tuple(questions))


# Storing ---------------------------------------------------------------------------------------------------------


def store_for(people: Sequence[tuple[User, int]], texts: Corpus) -> None:
    """Give each user this many passages, through the product's own import; their vectors follow."""
    from memory.ports.source import Utterance, get_source

    sessions = cycle(texts.sessions)
    for user, wanted in people:
        have = 0
        while have < wanted:
            title, items = next(sessions)
            said = [
                Utterance(0, place, item.role, item.text[:MAX_LENGTH], item.when, item.author)
                for place, item in enumerate(items[: wanted - have], start=1)
            ]
            get_source().import_conversation(user, title, said)
            have += len(said)


def embed_all(tell: Callable[[str], None]) -> NDArray[np.float32]:
    """Embed every passage, equal texts only once, on two threads; return the different vectors."""
    from memory.embeddings.port import embedder
    from memory.index.indexer import embedded_text
    from memory.models import Chunk

    rows: dict[str, list[int]] = {}
    for chunk in Chunk.objects.filter(embedded_by="").order_by("pk").iterator():
        rows.setdefault(embedded_text(chunk), []).append(chunk.pk)
    texts, model = sorted(rows, key=len), embedder()
    tell(f"{sum(map(len, rows.values()))} real passages, {len(texts)} different texts to embed")
    parts = [texts[start : start + EMBED_AT_ONCE] for start in range(0, len(texts), EMBED_AT_ONCE)]
    with ThreadPoolExecutor(2) as threads:
        vectors = list(threads.map(model.embed, parts))
    for part, made in zip(parts, vectors, strict=True):
        for text, vector in zip(part, made, strict=True):
            Chunk.objects.filter(pk__in=rows[text]).update(vector=vector.tolist(), embedded_by=model.name)
    order = {text: place for place, text in enumerate(texts)}
    together = np.concatenate(vectors)
    # In the order they were said, so that neighbors are about the same topic.
    return together[[order[text] for text in rows]]
