"""Which key lets a program in, and as whom? A key is 256 random bits, shown once; what is kept is its SHA-256.

A random key of this length cannot be guessed from its digest, so it needs no slow hash; and as it is looked up by its
digest, how long the look-up takes says nothing about the key.

    make     a key, and its one showing
    holder   the row of a key that opens something now, or none
    working  one's keys that open something now
    revoke   never again
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.api.scopes import SCOPES
from accounts.models import ApiKey, User

BEGINS: Final = "rcl_"
"""So that a key that leaked can be recognised for what it is, by people and by scanners of repositories."""
RANDOM_BYTES: Final = 32
SHOWN_CHARS: Final = len(BEGINS) + 6
"""Of a key, in lists: enough to tell one's own keys apart; 220 unknown bits remain."""
LONGEST: Final = 100
"""Characters; whatever is longer is no key, and is not hashed."""
NOTED_EVERY: Final = timedelta(minutes=1)
"""`last_used_at` is for people: a busy program does not write a row with each request."""


def create_key(user: User, name: str, scopes: Iterable[str], expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """A new key of `user`: its row, and the key itself, which cannot be had again.

    Raises:
        ValidationError: no name, no scope or one there is not, or an end that has passed.
    """
    named = set(scopes)
    title = " ".join(name.replace("\x00", "").split())
    if not title or len(title) > 80:
        raise ValidationError("Give the key a name of at most 80 characters, such as “notes on my phone”.")
    if not named or not named <= SCOPES.keys():
        raise ValidationError(f"Choose what the key may open: {', '.join(SCOPES)}.")
    if expires_at is not None and expires_at <= timezone.now():
        raise ValidationError("Choose an end that is still to come.")
    secret = BEGINS + secrets.token_urlsafe(RANDOM_BYTES)
    row = ApiKey.objects.create(
        user=user,
        name=title,
        prefix=secret[:SHOWN_CHARS],
        digest=hash_key(secret),
        scopes=[scope for scope in SCOPES if scope in named],
        expires_at=expires_at,
    )
    return row, secret


def find_active_key(secret: str) -> ApiKey | None:
    """The row of this key with its user, if it opens anything now: not expired, not revoked, its owner active."""
    if not secret.startswith(BEGINS) or len(secret) > LONGEST:
        return None
    now = timezone.now()
    found = ApiKey.objects.select_related("user").filter(_good(now), digest=hash_key(secret), user__is_active=True)
    key = found.first()
    if key is not None:
        _note_use(key, now)
    return key


def active_keys(user: User) -> QuerySet[ApiKey]:
    """The person's keys that are neither expired nor revoked."""
    return ApiKey.objects.filter(_good(timezone.now()), user=user)


def revoke(user: User, pk: int) -> bool:
    """The key opens nothing from now on; False: there is no such key of this person that was still good."""
    mine = ApiKey.objects.filter(user=user, pk=pk, revoked_at=None)
    return mine.update(revoked_at=timezone.now()) == 1


def revoke_all(user: User) -> int:
    """None of the person's keys opens anything from now on; how many did until then."""
    return active_keys(user).update(revoked_at=timezone.now())


def hash_key(secret: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _good(now: datetime) -> Q:
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))


def _note_use(key: ApiKey, now: datetime) -> None:
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
    if key.last_used_at is None or key.last_used_at <= now - NOTED_EVERY:
        ApiKey.objects.filter(due, pk=key.pk).update(last_used_at=now)
        key.last_used_at = now
