"""What becomes of a write that is sent twice? With the same Idempotency-Key it is done once, and answered alike.

    claim     the first request with a key goes on; a second one gets the first one's answer, or is refused
    keep      the answer, for a day
    release   nothing was done: the key is free again
    forget    a person's stored answers go, as they forget or delete something

A row is claimed before anything is done, in a statement of its own, so that of two at once one goes on. Where its
process dies on the way, the claim ends after a while. What is stored belongs to its person, and goes with the account.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import IdempotentRequest, User
from recall.openapi.problems import ProblemError

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
KEPT: Final = timedelta(hours=24)
LEASE: Final = timedelta(minutes=5)
"""A claim that was not settled within it is a dead process's: no operation takes so long."""
LONGEST: Final = 255
NOT_KEPT: Final = frozenset({401, 403, 409, 415, 429})
"""Answers that say “not now” or “not so”: nothing was done, and the same request may well succeed later."""
IN_PROGRESS: Final = "The first request with this Idempotency-Key is still being carried out. Ask again soon."
REUSED: Final = "This Idempotency-Key came with another request before. Use a new one for each request."
NO_KEY: Final = f"An Idempotency-Key has 1 to {LONGEST} printable characters; a UUID is a good one."


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to carry the request out."""

    user_id: int
    key: str
    fingerprint: str
    holds_text: bool
    """What is answered may quote what the person stored."""


def claim(user: User, key: str, fingerprint: str, *, holds_text: bool = True) -> Claim | IdempotentRequest:
    """The right to go on, or what the first request was answered.

    Raises:
        Refusal: 422 for a key that is none, or came with another request; 409 while the first is being carried out.
    """
    if not 0 < len(key) <= LONGEST or not key.isprintable():
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, NO_KEY)
    mine = Claim(user.pk, key, fingerprint, holds_text)
    _rows(mine).filter(created_at__lt=timezone.now() - KEPT).delete()
    first, is_mine = IdempotentRequest.objects.get_or_create(
        user_id=user.pk, key=key, defaults={"fingerprint": fingerprint}
    )
    if is_mine or _take_over(mine):
        return mine
    if first.fingerprint != fingerprint:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, REUSED, "idempotency-key-reused")
    if not first.status:
        raise ProblemError(HTTPStatus.CONFLICT, IN_PROGRESS, "idempotency-in-progress", {"Retry-After": "1"})
    return first


def store_response(claimed: Claim, status: int, content_type: str, body: bytes) -> None:
    """Store the answer. One that holds text is not, where the person forgot something meanwhile."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in NOT_KEPT:
        release(claimed)
        return
    answer = {"status": status, "content_type": content_type[:100], "body": body}
    if not _rows(claimed).filter(status=0).update(**answer) and not claimed.holds_text:
        row = IdempotentRequest(user_id=claimed.user_id, key=claimed.key, fingerprint=claimed.fingerprint, **answer)
        IdempotentRequest.objects.bulk_create([row], ignore_conflicts=True)


def release(claimed: Claim) -> None:
    """Nothing was done: the same key may come again."""
    _rows(claimed).filter(status=0).delete()


def forget(user: User) -> None:
    """Drop all that this person's requests were answered; it may quote what is being forgotten. What is being carried
    out at this moment loses its row, too, and will not be stored."""
    IdempotentRequest.objects.filter(user=user).delete()


def drop_answers(user: User) -> None:
    """Drop what was answered so far: it may quote what this person deletes. What is being carried out goes on."""
    IdempotentRequest.objects.filter(user=user).exclude(status=0).delete()


def remove_old() -> int:
    """Those whose day is over; how many there were."""
    gone, _ = IdempotentRequest.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
    return gone


def fingerprint_of(request: HttpRequest, caller: str) -> str:
    """SHA-256 of all that makes two requests the same: caller, method, address, and what is sent."""
    digest = hashlib.sha256()
    for part in _parts(request, caller):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.hexdigest()


def _parts(request: HttpRequest, caller: str) -> Iterator[bytes]:
    named = (caller, request.method, request.get_full_path(), request.content_type)
    yield from ((one or "").encode() for one in named)
    if request.content_type != "multipart/form-data":
        yield request.body
        return
    # The boundary differs from one sending to the next, and a large file is on disk by now.
    for name, values in sorted(request.POST.lists()):
        yield from (name.encode(), *(str(value).encode() for value in values))
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            yield from (name.encode(), (file.name or "").encode(), *file.chunks())
            file.seek(0)


def _rows(claimed: Claim) -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(user=claimed.user_id, key=claimed.key)


def _take_over(mine: Claim) -> bool:
    """A claim of the same request whose process died."""
    now = timezone.now()
    dead = _rows(mine).filter(status=0, fingerprint=mine.fingerprint, created_at__lt=now - LEASE)
    return dead.update(created_at=now) == 1
