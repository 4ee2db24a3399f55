"""Addresses that moved or end with a slash too many: each redirects permanently, with its arguments and its query.

The last two are allauth's overviews, which the security page replaces.
"""

from typing import Final

from django.http import Http404, HttpRequest, HttpResponsePermanentRedirect
from django.urls import Resolver404, URLPattern, path, resolve, reverse
from django.views.decorators.common import no_append_slash

MOVED: Final = (
    ("memory/profile/documents/<int:pk>/history", "memory:versions", ""),
    ("memory/profile/documents/<int:pk>/history/<int:number>", "memory:version", ""),
    ("memory/episodes", "memory:timeline", ""),
    ("memory/episodes/<uuid:pk>", "memory:story", ""),
    ("memory/policies", "memory:rules", ""),
    ("memory/review/decisions", "memory:history", ""),
    ("memory/looks", "memory:access_log", ""),
    ("memory/tidied", "memory:rules", "clean-up"),
    ("budget", "usage", ""),
    ("budget/plan", "usage_advanced", "plan"),
    ("budget/limits", "usage", "limits"),
    ("settings/memory", "memory:rules", ""),
    ("settings/appearance", "settings_account", "appearance"),
    ("settings/sign-in", "settings_security", ""),
    ("settings/sessions", "settings_security", "sessions"),
    ("accounts/2fa/", "settings_security", ""),
    ("accounts/sessions/", "settings_security", "sessions"),
)
"""The old path, the name of the page that took its place, and the anchor on it."""


def _build(old: str, name: str, anchor: str) -> URLPattern:
    def redirect(request: HttpRequest, **arguments: object) -> HttpResponsePermanentRedirect:
        return _redirect(request, reverse(name, kwargs=arguments), anchor)

    return path(old, redirect)


def _redirect(request: HttpRequest, address: str, anchor: str = "") -> HttpResponsePermanentRedirect:
    query = request.META["QUERY_STRING"]
    return HttpResponsePermanentRedirect(f"{address}{'?' if query else ''}{query}{'#' if anchor else ''}{anchor}")


def _memory(request: HttpRequest) -> HttpResponsePermanentRedirect:
    """`/memory/` was the search of memory."""
    return _redirect(request, reverse("search" if "q" in request.GET else "memory:about"))


def _profile(request: HttpRequest) -> HttpResponsePermanentRedirect:
    """`/memory/profile` had the days of the time travel in its query."""
    is_past = "at" in request.GET or "true" in request.GET
    return _redirect(request, reverse("memory:time_travel" if is_past else "memory:about"))


@no_append_slash  # or it would send an address that is none on to one with a slash
def strip_slash(request: HttpRequest, typed: str) -> HttpResponsePermanentRedirect:
    """The page at the same address without the slashes at its end, if there is one."""
    address = f"/{typed.rstrip('/')}"
    try:
        resolve(address)
    except Resolver404:
        raise Http404 from None
    if address.startswith("//"):  # a browser takes what follows for the name of another server
        raise Http404
    return _redirect(request, address)


urlpatterns = [path("memory/", _memory), path("memory/profile", _profile), *(_build(*moved) for moved in MOVED)]
