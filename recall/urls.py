"""Which address leads where."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from recall.health import health

urlpatterns = [
    path("", include("chat.urls")),
    path("memory/", include("memory.urls")),
    path("", include("budget.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("healthz", health),
]
