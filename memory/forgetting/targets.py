"""Targets of forgetting: an item by id, a document or folder by path, selected items of a topic, or everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from memory.models import Document, Episode, Fact, Forgetting
from memory.models.paths import encode
from memory.text.parts import parts_of
from recall.redaction import Erasure
from recall.text import whole_number

if TYPE_CHECKING:
    from accounts.models import User

What = Forgetting.What

MAX_SELECTED: Final = 500
"""Maximum items of a topic forgotten at once."""


class NothingThereError(Exception):
    """The target does not exist or belongs to someone else."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a user asks to forget."""

    what: Forgetting.What
    id: str = ""
    """The number of a fact, message, episode or document; a conversation's UUID; a folder's path."""
    refs: tuple[str, ...] = field(default=())
    """Selected items of a topic: `fact:12`, `episode:3`, `message:55`, `document:7`; `fact:12:1` is a part of one."""
    learned_too: bool = True
    """With a conversation, also forget what was learned from it."""

    def seed(self, user: User) -> Erasure:
        """The user's rows it names, without what depends on them.

        Raises:
            NothingThereError: it names none of the user's rows.
        """
        erasure = Erasure(user.pk, learned_too=self.learned_too)
        for kind, name in self._named():
            _SEEDS[kind](user, name, erasure)
        if not erasure.extent and not erasure.conversations and not erasure.parts:
            raise NothingThereError
        return erasure

    def _named(self) -> list[tuple[str, str]]:
        if self.what != What.TOPIC:
            return [(self.what.value, self.id)]
        pairs = [ref.partition(":")[::2] for ref in self.refs[:MAX_SELECTED]]
        return [(kind, name) for kind, name in pairs if kind in _SEEDS]


def _number(name: str) -> int:
    number = whole_number(name)
    if number is None:
        raise NothingThereError
    return number


def _fact(user: User, name: str, erasure: Erasure) -> None:
    _whole_or_parts(Fact.objects.for_user(user), "statement", "fact", name, erasure)


def _episode(user: User, name: str, erasure: Erasure) -> None:
    erasure.episodes |= _ids(Episode.objects.for_user(user).filter(pk=_number(name)))


def _document(user: User, name: str, erasure: Erasure) -> None:
    documents = Document.objects.for_user(user)
    if not name.startswith("/"):
        _whole_or_parts(documents, "text", "document", name, erasure)
        return
    try:
        encode(name)
    except ValidationError:
        raise NothingThereError from None
    erasure.documents |= _ids(documents.under(name))


def _message(user: User, name: str, erasure: Erasure) -> None:
    _whole_or_parts(of_chat("Message", user), "text", "message", name, erasure)


def _whole_or_parts(rows: QuerySet[Any], column: str, kind: str, name: str, erasure: Erasure) -> None:
    """Add a row by its number, or only the parts listed after it: `12:0,2`."""
    number, _, listed = name.partition(":")
    found = rows.filter(pk=_number(number)).values_list(column, flat=True).first()
    if found is None:
        return
    numbers = {_number(one) for one in listed.split(",")} if listed else set()
    parts = parts_of(found)
    going = {found[part.start : part.end] for part in parts if part.number in numbers}
    if numbers and len(numbers) < len(parts) and going:
        erasure.parts.setdefault(f"{kind}:{number}", set()).update(going)
    else:
        {"fact": erasure.facts, "document": erasure.documents, "message": erasure.messages}[kind].add(int(number))


def _conversation(user: User, name: str, erasure: Erasure) -> None:
    try:
        found = of_chat("Conversation", user).filter(pk=UUID(name))
    except ValueError:
        raise NothingThereError from None
    erasure.conversations |= set(found.values_list("pk", flat=True))


def all_conversations(user: User) -> set[UUID]:
    """The ids of the user's conversations."""
    return set(of_chat("Conversation", user).values_list("pk", flat=True))


def of_chat(model: str, user: User) -> QuerySet[Any]:
    """The user's rows of a chat model, by name, because memory can't import it."""
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
