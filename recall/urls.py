"""Root URL configuration."""

from functools import partial
from typing import Any

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from recall.api import api
from recall.http.moved_addresses import strip_slash
from recall.observability import status
from recall.observability.health import live, ready
from recall.observability.metrics import metrics
from recall.rendering.docs_pages import docs, source

admin.autodiscover()
# The admin uses the normal sign-in page, with its rate limit.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# Its own page would take any number of guesses of the old password, and would not close open sockets.
to_own_page: Any = RedirectView.as_view(pattern_name="account_change_password")
admin.site.password_change = to_own_page  # type: ignore[method-assign]
# `status` is loaded by the template, at each request.
admin.site.index = partial(admin.site.index, extra_context={"status": status.load})  # type: ignore[method-assign]

handler400 = "recall.views.bad_request"
handler500 = "recall.views.server_error"
urlpatterns = [
    path("", include("recall.http.moved_addresses")),
    path("", include("chat.urls")),
    path("memory/", include("memory.urls")),
    path("api/v1/", api.urls),
    path("", include("budget.urls")),
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("docs", docs, name="docs"),
    path("docs/source/<path:path>", source, name="docs_source"),
    path("docs/<slug:name>", docs, name="docs_page"),
    path("livez", live),
    path("readyz", ready),
    path("healthz", ready),
    path("metrics", metrics),
    path("<path:typed>/", strip_slash, name="strip_slash"),
]
