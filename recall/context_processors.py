"""What pages say of how this installation is set up: which model answers, and where mail goes."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest

CONSOLE: Final = "django.core.mail.backends.console.EmailBackend"
"""Where mail goes without `EMAIL_URL`: it is printed where Recall was started."""


def model_in_use(request: HttpRequest) -> dict[str, object]:
    """`is_offline`: the offline demo model answers, and every page says so."""
    return {"is_offline": settings.IS_OFFLINE}


def mail_in_use(request: HttpRequest) -> dict[str, object]:
    """`mail_is_printed`: nothing is sent, and a page that tells of a mail says where it is instead."""
    return {"mail_is_printed": settings.MAILERS["default"]["BACKEND"] == CONSOLE}
