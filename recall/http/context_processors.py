"""Template context of every page: whether the offline demo model answers, and whether mail is sent."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest

LOGGED: Final = "recall.observability.logged_mail.LoggedMail"
"""The mail backend without `EMAIL_URL`."""


def model_in_use(request: HttpRequest) -> dict[str, object]:
    """`is_offline`: the offline demo model answers."""
    return {"is_offline": settings.IS_OFFLINE}


def mail_in_use(request: HttpRequest) -> dict[str, object]:
    """`mail_is_printed`: mail goes to the server log, so pages point there."""
    return {"mail_is_printed": settings.MAILERS["default"]["BACKEND"] == LOGGED}
