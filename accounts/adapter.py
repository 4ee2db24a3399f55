"""Where allauth asks Recall: no user names, sign-up that may be closed, and sockets that end with a session."""

from __future__ import annotations

import base64
import logging
import secrets
from collections.abc import Iterable
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import DefaultUserSessionsAdapter

from accounts import secret_encryption, sign_up
from accounts.models import User
from accounts.sessions import SESSIONS_CHANGED
from recall.db.notify import publish_event

log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Users are known by their e-mail address alone."""

    def populate_username(self, request: Any, user: Any) -> None:
        """There is no user name to fill in."""

    def is_open_for_signup(self, request: Any) -> bool:
        """As the operator chose."""
        return sign_up.is_open()


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Passkeys are Recall's, whatever the address it is reached at; secrets are sealed."""

    def encrypt(self, text: str) -> str:
        """What is stored of a secret."""
        return secret_encryption.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret; where its key is lost, one that nobody knows: every code is wrong then, and no page breaks.

        Never a constant, such as nothing: whoever knows the secret knows its codes.
        """
        try:
            return secret_encryption.unseal(encrypted_text)
        except secret_encryption.Unreadable as lost:
            log.warning("%s `manage.py turn_off_second_factor` lets its owner in by the password.", lost)
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: User, kind: str) -> str:
        """What the form for a new passkey begins with."""
        count = Authenticator.objects.filter(user=user, type=kind).count()
        return f"Passkey {count + 1}" if count else "Passkey"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Whom the browser names when it asks for the passkey."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Recall"}


class UserSessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]
    """Ends sessions, and with them what they let in."""

    def end_sessions(self, sessions: Iterable[Any]) -> None:
        """Sockets are opened anew, which only sessions that still are may do."""
        ending = list(sessions)
        super().end_sessions(ending)
        for person in {one.user_id for one in ending}:
            publish_event(f"user-{person}", SESSIONS_CHANGED)
