"""Recall itself as the evaluated product: its import, index and retrieval, with nothing in between."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from memory.embeddings.port import embedder
from memory.evaluation.datasets import Conversation, ItemId
from memory.evaluation.retrieval.run import Answer, Product
from memory.index.indexer import embed_pending
from memory.models import Chunk, Fact
from memory.ports.source import Utterance, get_source
from memory.retrieval import truth
from memory.retrieval.ranking import RankingProfile
from memory.retrieval.recall import MemoryItem, RetrievalResult, retrieve

if TYPE_CHECKING:
    from accounts.models import User

SECONDS_AT_A_TIME: Final = 5.0
"""Seconds of embedding between two checks whether this user's rows are done: rows of others may wait, too."""


def recall_itself(profile: RankingProfile) -> Product:
    """Recall's retrieval with the weights of `profile`."""
    return Product(name=f"Recall, {profile.name}", store=store, index=index, ask=partial(ask, profile))


def store(user: User, conversation: Conversation) -> Mapping[ItemId, int]:
    """Import each session as a conversation of the user, ended; return the message id of each item."""
    stored: dict[ItemId, int] = {}
    for session in conversation.sessions:
        said = [
            Utterance(0, number, item.role, item.text, item.when, item.author)
            for number, item in enumerate(session.items, start=1)
        ]
        messages = get_source().import_conversation(user, f"{conversation.id}, {session.items[0].when:%d %B %Y}", said)
        stored |= zip([item.id for item in session.items], messages, strict=True)
    return stored


def index(user: User) -> None:
    """Do what the worker does after an import, until every passage and fact of this user has a vector."""
    waiting = [model.objects.for_user(user).exclude(embedded_by=embedder().name) for model in (Chunk, Fact)]
    while any(rows.exists() for rows in waiting):
        embed_pending(SECONDS_AT_A_TIME)


def ask(profile: RankingProfile, user: User, question: str, now: datetime) -> Answer:
    """The retrieval result of a turn at `now`."""
    return answer(retrieve(user, question, now=now, profile=profile))


def answer(recollection: RetrievalResult) -> Answer:
    """The messages that the memories come from: the kept ones in order, then those the ranking cut, best first."""
    ranked_too = [cut for cut in recollection.cut if cut.rule not in truth.RULES]
    # ranked first, then dropped together
    ranked_too.sort(key=lambda cut: (cut.rule != "said by others", -cut.item.score))
    cut = [each.item for each in ranked_too]
    kept = _messages(recollection.kept)
    ranked = dict.fromkeys([*kept, *_messages(cut)])
    return Answer(ranked=tuple(ranked), recalled=frozenset(kept), memories=len(recollection.kept))


def _messages(items: list[MemoryItem] | tuple[MemoryItem, ...]) -> list[int]:
    return [item.message_id for item in items if item.message_id is not None]
