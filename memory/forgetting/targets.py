"""Targets of forgetting: one row by id, a path, the selected matches of a topic, or everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from memory.models import Document, Episode, Fact, Forgetting
from memory.models.paths import encode
from recall.redaction import Erasure

if TYPE_CHECKING:
    from accounts.models import User

What = Forgetting.What

MOST_TICKED: Final = 500
"""Things of a topic that are forgotten at once."""


class NothingThereError(Exception):
    """The target doesn't exist, or isn't this user's."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the user wants to forget."""

    what: Forgetting.What
    id: str = ""
    """Of a fact, message, episode or document its number, of a conversation its UUID; of a folder its path."""
    refs: tuple[str, ...] = field(default=())
    """What was ticked of a topic: `fact:12`, `episode:3`, `message:55`, `document:7`."""
    learned_too: bool = True
    """With a conversation goes what was learned from it."""

    def seed(self, user: User) -> Erasure:
        """The rows it names, of this user; without what depends on them.

        Raises:
            NothingThereError: it names none of them.
        """
        erasure = Erasure(user.pk, learned_too=self.learned_too)
        for kind, name in self._named():
            _SEEDS[kind](user, name, erasure)
        if not erasure.extent and not erasure.conversations:
            raise NothingThereError
        return erasure

    def _named(self) -> list[tuple[str, str]]:
        if self.what != What.TOPIC:
            return [(self.what.value, self.id)]
        pairs = [ref.partition(":")[::2] for ref in self.refs[:MOST_TICKED]]
        return [(kind, name) for kind, name in pairs if kind in _SEEDS]


def _number(name: str) -> int:
    if not name.isascii() or not name.isdigit() or len(name) > 18:
        raise NothingThereError
    return int(name)


def _fact(user: User, name: str, erasure: Erasure) -> None:
    erasure.facts |= _ids(Fact.objects.for_user(user).filter(pk=_number(name)))


def _episode(user: User, name: str, erasure: Erasure) -> None:
    erasure.episodes |= _ids(Episode.objects.for_user(user).filter(pk=_number(name)))


def _document(user: User, name: str, erasure: Erasure) -> None:
    documents = Document.objects.for_user(user)
    if not name.startswith("/"):
        erasure.documents |= _ids(documents.filter(pk=_number(name)))
        return
    try:
        encode(name)
    except ValidationError:
        raise NothingThereError from None
    erasure.documents |= _ids(documents.under(name))


def _message(user: User, name: str, erasure: Erasure) -> None:
    erasure.messages |= _ids(of_chat("Message", user).filter(pk=_number(name)))


def _conversation(user: User, name: str, erasure: Erasure) -> None:
    try:
        found = of_chat("Conversation", user).filter(pk=UUID(name))
    except ValueError:
        raise NothingThereError from None
    erasure.conversations |= set(found.values_list("pk", flat=True))


def all_conversations(user: User) -> set[UUID]:
    """Every conversation of the user."""
    return set(of_chat("Conversation", user).values_list("pk", flat=True))


def of_chat(model: str, user: User) -> QuerySet[Any]:
    """The user's rows of one of chat's models, by label: memory does not import them."""
    rows: QuerySet[Any] = apps.get_model("chat", model)._default_manager.filter(user=user.pk)
    return rows


def _ids(rows: QuerySet[Any]) -> set[int]:
    return set(rows.values_list("pk", flat=True))


_SEEDS: Final = {
    "fact": _fact,
    "episode": _episode,
    "document": _document,
    "message": _message,
    "conversation": _conversation,
}
