"""Template context of every page: whether the offline demo model answers, and whether mail is sent."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest

CONSOLE: Final = "django.core.mail.backends.console.EmailBackend"
"""The mail backend without `EMAIL_URL`: prints to the console."""


def model_in_use(request: HttpRequest) -> dict[str, object]:
    """`is_offline`: the offline demo model answers."""
    return {"is_offline": settings.IS_OFFLINE}


def mail_in_use(request: HttpRequest) -> dict[str, object]:
    """`mail_is_printed`: mail goes to the console, so pages point to the server log."""
    return {"mail_is_printed": settings.MAILERS["default"]["BACKEND"] == CONSOLE}
