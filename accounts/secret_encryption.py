"""How do the secrets of second factors lie in the table? Sealed, by keys that are derived from the installation's.

Whoever reads a dump of the database has no second factor by it. Each key of `SECRET_KEY` and `SECRET_KEY_FALLBACKS`
opens what it sealed; the first one seals. What lay in the table before there were seals has no prefix, and is read as
it is. `seal_all` brings every secret under the first key, at each start: then a former key is needed no more.
"""

from __future__ import annotations

import base64
import logging

from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import transaction

log = logging.getLogger(__name__)

PREFIX = "sealed:"
"""Neither a TOTP secret (base 32) nor the seed of recovery codes (hexadecimal) can begin like this."""
PURPOSE = b"recall: secrets of second factors"
"""Makes these keys others than those that sign cookies and links. What was sealed needs it: it stays as it is."""
SECRETS = ("secret", "seed")
"""Under which names allauth keeps them: of an authenticator app, of recovery codes."""


class Unreadable(ValueError):
    """It was sealed by a key that this installation has no more."""


def seal(secret: str) -> str:
    """What to store in place of a secret."""
    return PREFIX + _keys().encrypt(secret.encode()).decode()


def unseal(stored: str) -> str:
    """The secret that was stored.

    Raises:
        Unreadable: no key of this installation opens it.
    """
    if not stored.startswith(PREFIX):
        return stored
    try:
        return _keys().decrypt(stored.removeprefix(PREFIX)).decode()
    except (InvalidToken, ValueError):
        raise Unreadable("The secret of a second factor was sealed by another SECRET_KEY.") from None


def is_readable(authenticator: Authenticator) -> bool:
    """Whether its secret, where it has one, can be opened."""
    try:
        for name in SECRETS:
            unseal(authenticator.data.get(name, ""))
    except Unreadable:
        return False
    return True


@transaction.atomic
def seal_all() -> None:
    """Seal by the first key what lies open or was sealed by a former one; the log tells how many cannot be read."""
    lost = 0
    for authenticator in Authenticator.objects.select_for_update().exclude(type=Authenticator.Type.WEBAUTHN):
        stored = {name: authenticator.data[name] for name in SECRETS if name in authenticator.data}
        if all(_is_by_first_key(secret) for secret in stored.values()):
            continue
        try:
            authenticator.data |= {name: seal(unseal(secret)) for name, secret in stored.items()}
        except Unreadable:
            lost += 1
        else:
            authenticator.save(update_fields=["data"])
    if lost:
        log.warning(
            "%d secrets of second factors were sealed by another SECRET_KEY. With that key in SECRET_KEY_FALLBACKS they"
            " can be read again; without it, `manage.py turn_off_second_factor` lets their owners in.",
            lost,
        )


def _is_by_first_key(stored: str) -> bool:
    try:
        _key(settings.SECRET_KEY).decrypt(stored.removeprefix(PREFIX))
    except (InvalidToken, ValueError):
        return False
    return stored.startswith(PREFIX)


def _keys() -> MultiFernet:
    return MultiFernet([_key(one) for one in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret_key: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
