"""allauth adapters: no user names, sign-up that may be closed, encrypted secrets, sockets that close with a session."""

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
    """Users sign in by email; there are no user names."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": "Wrong email or password.",
    }

    def populate_username(self, request: Any, user: Any) -> None:
        """Users have no user name."""

    def is_open_for_signup(self, request: Any) -> bool:
        """Whether sign-up is open, according to SIGN_UP."""
        return sign_up.is_open()

    def is_safe_url(self, url: Any) -> bool:
        """Whether a page may redirect there. Of an address that can't be parsed allauth makes a server error."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def _get_login_attempts_cache_key(self, request: Any, **credentials: Any) -> str:
        """Count attempts by account: allauth starts a new count for each host name of the request."""
        return str(credentials.get("email", "")).lower()

    def is_email_verified(self, request: Any, email: str) -> bool:
        """The demo user's address receives no mail."""
        return email == sign_up.DEMO_EMAIL or bool(super().is_email_verified(request, email))


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Passkeys are named Recall's on any address; second-factor secrets are encrypted."""

    def encrypt(self, text: str) -> str:
        """The secret as it is stored."""
        return secret_encryption.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret; if its key is lost, a random one, so that every code is wrong and no page breaks.

        Never a constant: anyone who knows the secret can compute its codes.
        """
        try:
            return secret_encryption.unseal(encrypted_text)
        except secret_encryption.UnreadableSecretError as lost:
            log.warning("%s Run `manage.py turn_off_second_factor` so its owner can sign in with the password.", lost)
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: User, kind: str) -> str:
        """The default name of a new passkey."""
        count = Authenticator.objects.filter(user=user, type=kind).count()
        return f"Passkey {count + 1}" if count else "Passkey"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """The site name the browser shows for a passkey."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Recall"}


class UserSessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]
    """Closes the sockets of sessions that end."""

    def end_sessions(self, sessions: Iterable[Any]) -> None:
        """Close their users' sockets; only sessions that are still valid can reconnect."""
        ending = list(sessions)
        super().end_sessions(ending)
        for person in {session.user_id for session in ending}:
            publish_event(f"user-{person}", SESSIONS_CHANGED)
