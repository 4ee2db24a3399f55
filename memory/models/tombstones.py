"""The forget list: keyed digests of what was forgotten, which recognize it when it comes again. No words."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, Final

from django.conf import settings
from django.db import models

from recall.db.ownership import Owned, OwnedManager

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 16


def new_key() -> str:
    """A random key, in hex."""
    return secrets.token_hex(KEY_BYTES)


class SealedField(models.CharField[str, str]):
    """A key in hex, stored encrypted with the installation's secret: with a copy of the table alone, no guess can be
    tested."""

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce.hex() + _mixed(bytes.fromhex(value), nonce).hex()

    def from_db_value(self, value: str, *_: Any) -> str:
        """The key; an unreadable one if the installation's secret has changed."""
        sealed = bytes.fromhex(value)
        return _mixed(sealed[_NONCE_BYTES:], sealed[:_NONCE_BYTES]).hex()


def _mixed(key: bytes, nonce: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise ValueError("A key of the forget list has 32 bytes.")
    pad = hmac.new(settings.SECRET_KEY.encode(), b"forget list" + nonce, hashlib.sha256).digest()
    return bytes(one ^ other for one, other in zip(key, pad, strict=True))


class ForgetList(Owned):
    """The key of a user's digests; another one for each archive restored from elsewhere."""

    key = SealedField(max_length=2 * (KEY_BYTES + _NONCE_BYTES), default=new_key)

    objects = OwnedManager["ForgetList"]()

    def __str__(self) -> str:
        return f"forget list {self.pk}"


class Tombstone(Owned):
    """One forgotten phrase, identifier or value, as a digest."""

    of = models.ForeignKey(ForgetList, on_delete=models.CASCADE, related_name="tombstones")
    forgetting = models.ForeignKey(
        "Forgetting", null=True, blank=True, on_delete=models.SET_NULL, related_name="tombstones"
    )
    start = models.BigIntegerField(help_text="Keyed hash of its first words, by which candidates are found")
    words = models.PositiveSmallIntegerField(help_text="1: an identifier; 0: the value of a key")
    digest = models.CharField(max_length=32, help_text="Keyed digest of its words, in lower case")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["Tombstone"]()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "start", "of", "digest"], name="one_tombstone_a_phrase")]

    def __str__(self) -> str:
        return f"tombstone {self.pk}"
