"""Who opens a socket: the user of the session cookie, read like any other work that someone waits for. The socket's
task then acts for them.

Channels' own middleware reads on one thread that all sockets of a process share: after a restart hundreds of pages
connect at once, and gave up while they waited for it.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.http.cookie import parse_cookie
from django.utils.crypto import constant_time_compare

from accounts.models import User
from accounts.sessions import SessionStore
from recall.db.acting import act_for, by
from recall.db.connections import run_at_once

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class SocketUserMiddleware:
    """Sets `scope["user"]`, `scope["session_key"]`, and the acting user."""

    def __init__(self, inner: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with the user."""
        cookies = parse_cookie(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))
        key = cookies.get(settings.SESSION_COOKIE_NAME)
        user = await user_of(key)
        act_for(user.pk)
        await self.inner({**scope, "user": user, "session_key": key}, receive, send)


async def user_of(session_key: str | None) -> User | AnonymousUser:
    """The user of a session as it is now."""
    with by("sign-in"):
        return await run_at_once(load_user, session_key) if session_key else AnonymousUser()


def load_user(session_key: str) -> User | AnonymousUser:
    """The active user of a session that is valid: signed with a key that counts, since the password was changed."""
    session = SessionStore(session_key)
    if SESSION_KEY not in session:
        return AnonymousUser()
    user = User.objects.filter(pk=session[SESSION_KEY], is_active=True).first()
    if user is None:
        return AnonymousUser()
    valid = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    session_hash = session.get(HASH_SESSION_KEY, "")
    return user if any(constant_time_compare(session_hash, expected) for expected in valid) else AnonymousUser()
