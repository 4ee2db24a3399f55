"""Who may sign up by themselves? The operator says so by SIGN_UP:

    open     anyone who reaches the page: right where only people one trusts reach it, as on one's own machine
    first    the first person, who thereby takes the installation into use; nobody after them
    closed   nobody

The demo user of a first start is made by Recall itself and does not count as a person. Where sign-up is closed, staff
add people in the administration, and `manage.py createsuperuser` makes the first one.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import connection

from accounts.models import User

DEMO_EMAIL = "demo@recall.local"
_LOCK = 0x7265_6A6F
"""Names the advisory lock of those who sign up at the same moment, so that only one of them is the first."""


def is_open() -> bool:
    """Whether somebody may sign up now. One query at most."""
    return may_join(settings.ENVIRONMENT.sign_up, has_people=_has_people)


def may_join(rule: str, *, has_people: Callable[[], bool]) -> bool:
    """Whether `rule` lets one more in; `has_people()` is asked only where it matters."""
    if rule == "first":
        return not has_people()
    return rule == "open"


def wait_for_turn() -> None:
    """Inside a transaction: until it ends, nobody else passes here."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def _has_people() -> bool:
    return User.objects.exclude(email=DEMO_EMAIL).exists()
