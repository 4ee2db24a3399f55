"""Idempotency keys: a write repeated with the same Idempotency-Key runs once and returns the stored response.

    claim            the first request continues; a repeat gets its response, or is refused
    store_response   keep the response for a day
    release          nothing was done: the key may be used again
    forget           delete a user's stored responses, when they forget or delete something

The row is claimed before anything runs, in its own statement, so that of two concurrent requests one continues. If its
process dies, the claim expires. Stored responses belong to the user and are deleted with the account.
"""

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
RETENTION: Final = timedelta(hours=24)
LEASE: Final = timedelta(minutes=5)
"""An older unfinished claim belongs to a dead process: no operation takes that long."""
MAX_KEY_CHARS: Final = 255
NOT_STORED: Final = frozenset({401, 403, 409, 415, 429})
"""Refusals after which nothing was done: the same request may succeed later."""
IN_PROGRESS: Final = "The first request with this Idempotency-Key is still running. Try again soon."
REUSED: Final = "This Idempotency-Key was used with a different request. Use a new key for each request."
INVALID_KEY: Final = f"An Idempotency-Key needs 1 to {MAX_KEY_CHARS} printable characters, such as a UUID."


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run the request."""

    user_id: int
    key: str
    fingerprint: str
    holds_text: bool
    """The response may quote the user's data."""


def claim(user: User, key: str, fingerprint: str, *, holds_text: bool = True) -> Claim | IdempotentRequest:
    """A claim to continue, or the first request's stored response.

    Raises:
        ProblemError: 422 for an invalid or reused key; 409 while the first request runs.
    """
    if not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable():
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, INVALID_KEY)
    new_claim = Claim(user.pk, key, fingerprint, holds_text)
    _rows(new_claim).filter(created_at__lt=timezone.now() - RETENTION).delete()
    first, is_new = IdempotentRequest.objects.get_or_create(
        user_id=user.pk, key=key, defaults={"fingerprint": fingerprint}
    )
    if is_new or _take_over(new_claim):
        return new_claim
    if first.fingerprint != fingerprint:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, REUSED, "idempotency-key-reused")
    if not first.status:
        raise ProblemError(HTTPStatus.CONFLICT, IN_PROGRESS, "idempotency-in-progress", {"Retry-After": "1"})
    return first


def store_response(claimed: Claim, status: int, content_type: str, body: bytes) -> None:
    """Store the response; not if it holds text and the user forgot something in the meantime."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in NOT_STORED:
        release(claimed)
        return
    answer = {"status": status, "content_type": content_type[:100], "body": body}
    if not _rows(claimed).filter(status=0).update(**answer) and not claimed.holds_text:
        row = IdempotentRequest(user_id=claimed.user_id, key=claimed.key, fingerprint=claimed.fingerprint, **answer)
        IdempotentRequest.objects.bulk_create([row], ignore_conflicts=True)


def release(claimed: Claim) -> None:
    """Nothing was done: free the key."""
    _rows(claimed).filter(status=0).delete()


def forget(user: User) -> None:
    """Delete all of a user's rows: responses may quote what is being forgotten. A running request loses its row
    too, so its response isn't stored."""
    IdempotentRequest.objects.filter(user=user).delete()


def drop_answers(user: User) -> None:
    """Delete the stored responses, which may quote deleted data; running requests keep their claim."""
    IdempotentRequest.objects.filter(user=user).exclude(status=0).delete()


def remove_old() -> int:
    """Delete rows older than a day; returns their number."""
    gone, _ = IdempotentRequest.objects.filter(created_at__lt=timezone.now() - RETENTION).delete()
    return gone


def fingerprint_of(request: HttpRequest, caller: str) -> str:
    """SHA-256 of what identifies a request: caller, method, URL and body."""
    digest = hashlib.sha256()
    for part in _parts(request, caller):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.hexdigest()


def _parts(request: HttpRequest, caller: str) -> Iterator[bytes]:
    named = (caller, request.method, request.get_full_path(), request.content_type)
    yield from ((part or "").encode() for part in named)
    if request.content_type != "multipart/form-data":
        yield request.body
        return
    # The boundary differs each time, and a large file is already on disk.
    for name, values in sorted(request.POST.lists()):
        yield from (name.encode(), *(str(value).encode() for value in values))
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            yield from (name.encode(), (file.name or "").encode(), *file.chunks())
            file.seek(0)


def _rows(claimed: Claim) -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(user=claimed.user_id, key=claimed.key)


def _take_over(claim: Claim) -> bool:
    """Take over a claim of the same request whose process died."""
    now = timezone.now()
    dead = _rows(claim).filter(status=0, fingerprint=claim.fingerprint, created_at__lt=now - LEASE)
    return dead.update(created_at=now) == 1
