"""Dry run and erasure: erasing is one transaction that locks the user's row, or nothing.

Both find rows with the same code. The erasure is refused if they differ from what the dry run showed: only what the
user has seen is forgotten.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.api import idempotency
from accounts.models import User
from memory.documents import trash
from memory.forget_epoch import lock_user
from memory.forgetting import erase, everything
from memory.forgetting.find import find
from memory.forgetting.residue import sweep
from memory.forgetting.rewrite import TASK as REWRITE_TASK
from memory.forgetting.targets import Target, What, all_conversations
from memory.forgetting.verify import VACUUM_TASK, verify_forgotten
from memory.forgetting.vocabulary import words_in_use
from memory.models import Forgetting
from memory.ports.forgettable import forgettables
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.redaction import Erasure, ErasureItem, words_of


class ChangedError(Exception):
    """What would go is no longer what was shown; nothing was forgotten."""

    def __init__(self) -> None:
        super().__init__("Something changed since this was listed. Nothing was forgotten: look again, please.")


@dataclass(frozen=True, slots=True)
class Preview:
    """What would go, and what would come back."""

    going: tuple[ErasureItem, ...]
    coming_back: tuple[ErasureItem, ...]
    counts: Mapping[str, int]
    """Type → how many, the most first."""
    fingerprint: str
    """To be given to `forget`: of all that is listed."""


def preview(user: User, target: Target) -> Preview:
    """The dry run: nothing is changed.

    Raises:
        NothingThereError: the target names none of this user's rows.
    """
    return _everything(user) if target.what == What.EVERYTHING else _preview(user, find(user, target))


def forget(user: User, target: Target, *, by: User, expected: str | None = None) -> Forgetting:
    """Erase, and return the receipt. `expected`: the fingerprint of the dry run; None: whatever is there now.

    Raises:
        NothingThereError: the target names none of this user's rows.
        ChangedError: the rows differ from those of `expected`.
        BusyError: an answer is being written in an affected conversation.
    """
    with transaction.atomic():
        lock_user(user.pk)
        is_all = target.what == What.EVERYTHING
        erasure = Erasure(user.pk, conversations=all_conversations(user)) if is_all else find(user, target)
        for keeper in forgettables():
            keeper.check_erasable(user, erasure.conversations)
        listed = _everything(user) if is_all else _preview(user, erasure)
        if expected is not None and not hmac.compare_digest(expected, listed.fingerprint):
            raise ChangedError
        idempotency.forget(user)  # what the API answered may quote it
        trash.forget(user)
        if is_all:
            everything.erase(user)
            receipt = _receipt(user, target, listed, by, restored=0, again=[])
        else:
            receipt = _erase(user, erasure, listed, target, by)
    verify_forgotten(user, receipt, erasure)
    return receipt


def _erase(user: User, erasure: Erasure, listed: Preview, target: Target, by: User) -> Forgetting:
    said = _words(user, erasure)
    again = erase.told_anew(user, erasure)
    restored = erase.erase(user, erasure)
    for keeper in forgettables():
        keeper.erase(user, erasure)
    erasure.words = said - words_in_use(user, said)
    sweep(user, erasure)
    for keeper in forgettables():
        keeper.refresh_derived(user, erasure)
    return _receipt(user, target, listed, by, restored=restored, again=again)


def _receipt(
    user: User, target: Target, listed: Preview, by: User, *, restored: int, again: list[dict[str, Any]]
) -> Forgetting:
    receipt: Forgetting = Forgetting.objects.create(
        user=user, what=target.what, gone=dict(listed.counts), restored=restored, to_rewrite=again, by=by
    )
    for kind in ("memory", "conversations", "conversation", "budget"):
        publish_event(f"user-{user.pk}", kind)
    enqueue_on_commit(REWRITE_TASK, receipt.pk)
    enqueue_on_commit("memory.tasks.embed")
    enqueue_on_commit(VACUUM_TASK)
    return receipt


def _words(user: User, erasure: Erasure) -> set[str]:
    """All words of what is forgotten, before it is."""
    found: set[str] = set().union(*(one.words | one.value for one in erasure.sayings), erasure.telling)
    for text in erasure.texts:
        found |= words_of(text)
    return found


# The dry run -----------------------------------------------------------------------------------------------------


def _preview(user: User, erasure: Erasure) -> Preview:
    going = tuple(_going(user, erasure))
    back = tuple(ErasureItem("fact", one.ref, one.statement) for one in erase.coming_back(user, erasure))
    counts = dict(Counter(one.what for one in going).most_common())
    return Preview(going, back, counts, _fingerprint([*going, *back]))


def _everything(user: User) -> Preview:
    """Counts only: a list of everything is too long to read. New rows are erased too, so nothing is compared."""
    return Preview((), (), everything.counted(user), _fingerprint([ErasureItem("everything", str(user.pk))]))


def _going(user: User, erasure: Erasure) -> Iterator[ErasureItem]:
    yield from erase.preview(user, erasure)
    for keeper in forgettables():
        yield from keeper.preview(user, erasure)


def _fingerprint(listed: Iterable[ErasureItem]) -> str:
    """Keyed, as it travels through a page: it must not serve to guess what was forgotten."""
    parts = sorted(f"{one.what}\0{one.ref}\0{one.text}" for one in listed)
    return hmac.new(settings.SECRET_KEY.encode(), "\0\0".join(parts).encode(), hashlib.sha256).hexdigest()
