"""API keys: create, look up, list and revoke. A key is 256 random bits, shown once and stored as its SHA-256.

A random key of this length can't be guessed from its hash, so it needs no slow hash; and as it is looked up by hash,
the time of the lookup reveals nothing about the key.
"""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.api.scopes import SCOPES
from accounts.models import ApiKey, User
from recall.db.acting import by
from recall.db.quotas import QUOTAS, make_room

PREFIX: Final = "rcl_"
"""Lets people and secret scanners recognize a leaked key."""
RANDOM_BYTES: Final = 32
SHOWN_CHARS: Final = len(PREFIX) + 6
"""Characters shown in lists, to recognize a key; 220 unknown bits remain."""
MAX_CHARS: Final = 100
"""Longer strings aren't keys and aren't hashed."""
USE_RECORDED_EVERY: Final = timedelta(minutes=1)
"""`last_used_at` is for display: a busy program doesn't write on every request."""


def create_key(user: User, name: str, scopes: Iterable[str], expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """A new key of `user`: its row and the key itself, which can't be shown again.

    Raises:
        ValidationError: no name, no or unknown scopes, an expiry in the past, or too many keys.
    """
    named = set(scopes)
    title = " ".join(name.replace("\x00", "").split())
    if not title or len(title) > 80:
        raise ValidationError("Name the key, in at most 80 characters, such as “notes on my phone”.")
    if not named or not named <= SCOPES.keys():
        raise ValidationError(f"Choose at least one scope: {', '.join(SCOPES)}.")
    if expires_at is not None and expires_at <= timezone.now():
        raise ValidationError("Choose an expiry date in the future.")
    secret = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    with transaction.atomic():
        make_room(active_keys(user), user.pk)
        _remove_ended(user)
        row = ApiKey.objects.create(
            user=user,
            name=title,
            prefix=secret[:SHOWN_CHARS],
            digest=hash_key(secret),
            scopes=[scope for scope in SCOPES if scope in named],
            expires_at=expires_at,
        )
    return row, secret


def _remove_ended(user: User) -> None:
    """Remove the oldest keys that no longer work: as many are listed as may work."""
    ended = ApiKey.objects.filter(~_valid(timezone.now()), user=user).order_by("-created_at", "-pk")
    ApiKey.objects.filter(pk__in=list(ended.values_list("pk", flat=True)[QUOTAS["accounts.apikey"].rows :])).delete()


def find_active_key(secret: str) -> ApiKey | None:
    """The key's row with its user, if it is valid: not expired or revoked, and its owner active."""
    if not secret.startswith(PREFIX) or len(secret) > MAX_CHARS:
        return None
    now = timezone.now()
    valid = ApiKey.objects.select_related("user").filter(_valid(now), digest=hash_key(secret), user__is_active=True)
    with by("sign-in"):
        key = valid.first()
        if key is not None:
            _record_use(key, now)
    return key


def active_keys(user: User) -> QuerySet[ApiKey]:
    """The user's keys that are neither expired nor revoked."""
    return ApiKey.objects.filter(_valid(timezone.now()), user=user)


def revoke(user: User, pk: int) -> bool:
    """Revoke a key; False: the user has no such unrevoked key."""
    active = ApiKey.objects.filter(user=user, pk=pk, revoked_at=None)
    return active.update(revoked_at=timezone.now()) == 1


def hash_key(secret: str) -> str:
    """The hash that is stored of a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _valid(now: datetime) -> Q:
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))


def _record_use(key: ApiKey, now: datetime) -> None:
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_RECORDED_EVERY)
    if key.last_used_at is None or key.last_used_at <= now - USE_RECORDED_EVERY:
        ApiKey.objects.filter(due, pk=key.pk).update(last_used_at=now)
        key.last_used_at = now
