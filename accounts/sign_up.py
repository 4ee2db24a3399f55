"""Sign-up: who may create an account, and the demo user of a first start.

SIGN_UP decides:

    open     anyone who reaches the page: right where only trusted people reach it, such as your own machine
    first    the first user only
    closed   no one

The demo user doesn't count as a user here. If sign-up is closed, staff add users in the admin, and
`manage.py createsuperuser` creates the first one. Only the embedded database gets a demo user, with a password that is
printed once: an operator's own database never gets an account that no one asked for.
"""

import secrets
from collections.abc import Callable

from django.conf import settings
from django.db import connection

from accounts.models import User
from recall.db.acting import by

DEMO_EMAIL = "demo@recall.local"
_LOCK = 0x7265_6A6F
"""Advisory lock: of users who sign up at the same moment, only one is the first."""


def is_open() -> bool:
    """Whether anyone may sign up now. One query at most."""
    return may_join(settings.ENVIRONMENT.sign_up, has_people=_has_people)


def may_join(rule: str, *, has_people: Callable[[], bool]) -> bool:
    """Whether `rule` allows one more user; `has_people()` is called only where it matters."""
    if rule == "first":
        return not has_people()
    return rule == "open"


def wait_for_turn() -> None:
    """Take the sign-up lock until the current transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def how_to_sign_in() -> str:
    """The end of the start-up line with the address; creates the demo user if there are no users at all."""
    return _sign_in_hint() + (", or sign up" if is_open() else "")


def _has_people() -> bool:
    with by("sign-in"):
        return User.objects.exclude(email=DEMO_EMAIL).exists()


def _sign_in_hint() -> str:
    if not settings.ENVIRONMENT.database_url:
        if not User.objects.exists():
            password = secrets.token_urlsafe(12)
            User.objects.create_user(DEMO_EMAIL, password, preferred_name="Demo")
            return f"sign in as {DEMO_EMAIL} with the password {password} (it is not shown again)"
        if User.objects.filter(email=DEMO_EMAIL).exists():
            return f"sign in as {DEMO_EMAIL} (password lost: python manage.py changepassword {DEMO_EMAIL})"
    return "sign in there"
