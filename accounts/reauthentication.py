"""Reauthentication before a full export or a deletion, unless the user signed in or confirmed recently.

Not asked again within allauth's window (`ACCOUNT_REAUTHENTICATION_TIMEOUT`, five minutes), nor of users who have
neither password nor passkey. allauth's own decorator ignores sign-ins and returns to the refused address, which may be
a download or a form that would be sent twice.
"""

import time
from typing import Final
from urllib.parse import urlencode

from allauth.account import app_settings
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

SIGNED_IN_AT: Final = "recall.signed_in_at"
"""Session key of the sign-in time, in seconds since the epoch."""


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the user signed in or confirmed recently."""
    since = time.time() - float(request.session.get(SIGNED_IN_AT, 0))
    return since < app_settings.REAUTHENTICATION_TIMEOUT or bool(did_recently_reauthenticate(request))


def redirect_to_reauthentication(back_to: str) -> HttpResponseRedirect:
    """Redirect to the page that asks for the password, a passkey or a code, then to `back_to`."""
    return HttpResponseRedirect(f"{reverse('account_reauthenticate')}?{urlencode({REDIRECT_FIELD_NAME: back_to})}")
