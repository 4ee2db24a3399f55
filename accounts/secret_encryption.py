"""Encryption of second-factor secrets in the database, with keys derived from SECRET_KEY.

A database dump alone reveals no second factor. SECRET_KEY encrypts; it and every key of SECRET_KEY_FALLBACKS decrypt.
Secrets stored before encryption existed have no prefix and are read as they are. `seal_all` re-encrypts every secret
with the current key at each start, so that former keys are no longer needed.
"""

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
"""Neither a TOTP secret (base 32) nor the seed of recovery codes (hexadecimal) can start like this."""
PURPOSE = b"recall: secrets of second factors"
"""Separates these keys from those that sign cookies and links. Never change it: stored secrets depend on it."""
SECRETS = ("secret", "seed")
"""allauth's names for the secrets of an authenticator app and of recovery codes."""


class UnreadableSecretError(ValueError):
    """The secret was encrypted with a key that is no longer configured."""


def seal(secret: str) -> str:
    """The secret in its encrypted, stored form."""
    return PREFIX + _keys().encrypt(secret.encode()).decode()


def unseal(stored: str) -> str:
    """The decrypted secret.

    Raises:
        UnreadableSecretError: no configured key decrypts it.
    """
    if not stored.startswith(PREFIX):
        return stored
    try:
        return _keys().decrypt(stored.removeprefix(PREFIX)).decode()
    except (InvalidToken, ValueError):
        raise UnreadableSecretError("A second-factor secret was encrypted with another SECRET_KEY.") from None


def is_readable(authenticator: Authenticator) -> bool:
    """Whether its secret, if it has one, can be decrypted."""
    try:
        for name in SECRETS:
            unseal(authenticator.data.get(name, ""))
    except UnreadableSecretError:
        return False
    return True


@transaction.atomic
def seal_all() -> None:
    """Encrypt every secret with the current key; logs how many can't be decrypted."""
    lost = 0
    for authenticator in Authenticator.objects.select_for_update().exclude(type=Authenticator.Type.WEBAUTHN):
        stored = {name: authenticator.data[name] for name in SECRETS if name in authenticator.data}
        if all(_is_by_first_key(secret) for secret in stored.values()):
            continue
        try:
            authenticator.data |= {name: seal(unseal(secret)) for name, secret in stored.items()}
        except UnreadableSecretError:
            lost += 1
        else:
            authenticator.save(update_fields=["data"])
    if lost:
        log.warning(
            "%d second-factor secrets were encrypted with another SECRET_KEY. Add that key to SECRET_KEY_FALLBACKS, or"
            " run `manage.py turn_off_second_factor` for their owners.",
            lost,
        )


def _is_by_first_key(stored: str) -> bool:
    try:
        _key(settings.SECRET_KEY).decrypt(stored.removeprefix(PREFIX))
    except (InvalidToken, ValueError):
        return False
    return stored.startswith(PREFIX)


def _keys() -> MultiFernet:
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret_key: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
