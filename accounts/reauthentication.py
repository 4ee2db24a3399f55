"""Is it still the person who signed in? Asked before everything goes out, or goes away, at once.

Whoever signed in, or was asked, within allauth's window (`ACCOUNT_REAUTHENTICATION_TIMEOUT`, five minutes) is not asked
again; neither is somebody who could be asked for nothing, having no password and no passkey. Allauth's own decorator
takes no notice of signing in, and comes back to the address that was refused: a download, which is no page, or a form
that would be sent a second time by itself.
"""

from __future__ import annotations

import time
from urllib.parse import urlencode

from allauth.account import app_settings
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from accounts.sessions import SIGNED_IN_AT


def is_confirmed(request: HttpRequest) -> bool:
    """Whether it was lately made sure who sits at this browser."""
    since = time.time() - float(request.session.get(SIGNED_IN_AT, 0))
    return since < app_settings.REAUTHENTICATION_TIMEOUT or bool(did_recently_reauthenticate(request))


def redirect_to_reauthentication(back_to: str) -> HttpResponseRedirect:
    """To the page that asks for the password, a passkey or a code, whichever they have; then to the page `back_to`."""
    return HttpResponseRedirect(f"{reverse('account_reauthenticate')}?{urlencode({REDIRECT_FIELD_NAME: back_to})}")
