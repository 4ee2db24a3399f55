"""Forgets a target: a preview first, then one transaction that locks the user row.

Preview and erasure use the same search. The erasure repeats it and is refused if the result has changed: users forget
only what they were shown.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts import sessions
from accounts.api import idempotency
from accounts.models import User
from memory import trash
from memory.forget_epoch import lock_user
from memory.forgetting import erase, everything, forget_list
from memory.forgetting.find import find, follow
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
    """What would be erased differs from the preview; nothing was forgotten."""

    def __init__(self) -> None:
        super().__init__("Something changed since this preview. Nothing was forgotten. Check the preview again.")


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be erased, and which facts may be restored."""

    going: tuple[ErasureItem, ...]
    coming_back: tuple[ErasureItem, ...]
    """Facts that it had superseded, to choose from: whether they were corrected or are true again isn't stored."""
    counts: Mapping[str, int]
    """Type → count, most first."""
    fingerprint: str
    """Hash of all items; pass it to `forget`."""


def preview(user: User, target: Target) -> Preview:
    """The dry run: nothing is changed.

    Raises:
        NothingThereError: the target names nothing of this user.
    """
    return _preview_everything(user) if target.what == What.EVERYTHING else _preview(user, find(user, target))


def forget(
    user: User, target: Target, *, by: User, expected: str | None = None, restore: Collection[str] = ()
) -> Forgetting:
    """Forget the target and return the receipt.

    `expected`: the preview's fingerprint; None: don't compare. `restore`: refs of facts in the preview's
    `coming_back` that become active again; the others stay history.

    Raises:
        NothingThereError: the target names nothing of this user.
        ChangedError: what would be erased differs from the preview.
        BusyError: an answer is being written in a conversation that would be erased.
    """
    with transaction.atomic():
        lock_user(user.pk)
        is_all = target.what == What.EVERYTHING
        erasure = Erasure(user.pk, conversations=all_conversations(user)) if is_all else find(user, target)
        for keeper in forgettables():
            keeper.check_erasable(user, erasure.conversations)
        listed = _preview_everything(user) if is_all else _preview(user, erasure)
        if expected is not None and not hmac.compare_digest(expected.encode(), listed.fingerprint.encode()):
            raise ChangedError
        idempotency.forget(user)  # stored API responses may quote it
        sessions.forget_words(user)  # so may notices that no page has shown yet
        trash.forget(user)
        if is_all:
            everything.erase(user)
            receipt = _receipt(user, target, listed, by, restored=0, again=[])
        else:
            receipt = _erase(user, erasure, listed, target, by, restore)
    verify_forgotten(user, receipt, erasure)
    return receipt


def apply_forget_list(user: User) -> None:
    """Forget again what an older archive or backup restored, within the caller's transaction."""
    erasure = forget_list.find_older(user)
    if erasure.extent:
        follow(user, erasure)
        _erase(user, erasure, _preview(user, erasure), Target(What.TOPIC), user)


def _erase(
    user: User, erasure: Erasure, listed: Preview, target: Target, by: User, restore: Collection[str] = ()
) -> Forgetting:
    words, forgotten = _words(erasure), forget_list.collect(user, erasure)
    again = erase.to_rewrite(user, erasure)
    restored = erase.erase(user, erasure, restore)
    for keeper in forgettables():
        keeper.erase(user, erasure)
    erasure.words = words - words_in_use(user, words, erasure)
    sweep(user, erasure)
    for keeper in forgettables():
        keeper.refresh_derived(user, erasure)
    receipt = _receipt(user, target, listed, by, restored=restored, again=again)
    forgotten.record(user, receipt, erasure.words)
    return receipt


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


def _words(erasure: Erasure) -> set[str]:
    """All words of what is forgotten, before it is erased."""
    of_facts = (saying.words | saying.value for saying in erasure.sayings)
    return set().union(*of_facts, erasure.telling, erasure.naming, *map(words_of, erasure.texts))


# Preview -------------------------------------------------------------------------------------------------------


def _preview(user: User, erasure: Erasure) -> Preview:
    going = tuple(_items(user, erasure))
    back = tuple(ErasureItem("fact", fact.ref, fact.statement) for fact in erase.restorable(user, erasure))
    counts = dict(Counter(item.what for item in going).most_common())
    return Preview(going, back, counts, _fingerprint([*going, *back]))


def _preview_everything(user: User) -> Preview:
    """Counts only, because the list would be too long. Rows added since are erased too, so nothing is compared."""
    return Preview((), (), everything.count_rows(user), _fingerprint([ErasureItem("everything", str(user.pk))]))


def _items(user: User, erasure: Erasure) -> Iterator[ErasureItem]:
    yield from erase.preview(user, erasure)
    for keeper in forgettables():
        yield from keeper.preview(user, erasure)


def _fingerprint(listed: Iterable[ErasureItem]) -> str:
    """A keyed hash, because the page contains it: it must not help anyone guess what was forgotten."""
    parts = sorted(f"{item.what}\0{item.ref}\0{item.text}" for item in listed)
    return hmac.new(settings.SECRET_KEY.encode(), "\0\0".join(parts).encode(), hashlib.sha256).hexdigest()
