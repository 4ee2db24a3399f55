"""How does somebody sign in right after a first start? As the demo user, whose password is printed once.

Only the embedded default has one: a database of the operator's own never gets an account nobody asked for.
"""

from __future__ import annotations

import secrets

from django.conf import settings

from accounts.models import User
from accounts.sign_up import DEMO_EMAIL as DEMO_EMAIL
from accounts.sign_up import is_open

ANYONE = "sign in there"
JOINING = ", or sign up"


def how_to_sign_in() -> str:
    """The end of the sentence that tells the address; makes the demo user where there is no user at all."""
    return _who() + (JOINING if is_open() else "")


def _who() -> str:
    if settings.ENVIRONMENT.database_url:
        return ANYONE
    if not User.objects.exists():
        password = secrets.token_urlsafe(12)
        User.objects.create_user(DEMO_EMAIL, password, preferred_name="Demo")
        return f"sign in as {DEMO_EMAIL} with the password {password} (it is not shown again)"
    if User.objects.filter(email=DEMO_EMAIL).exists():
        return f"sign in as {DEMO_EMAIL} (password lost: python manage.py changepassword {DEMO_EMAIL})"
    return ANYONE
