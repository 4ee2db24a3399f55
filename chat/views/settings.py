"""The settings' pages, and the first words of a new account. Each saves in place by htmx, or by a plain form."""

from __future__ import annotations

from typing import Any, Final

from allauth.account.decorators import reauthentication_required
from allauth.mfa.base.views import IndexView
from allauth.usersessions.adapter import get_adapter as sessions_adapter
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.api import keys
from accounts.forms import ProfileForm
from accounts.models import User
from chat.conversations.model_choice import ModelNotOfferedError, validate_effort, validate_model
from chat.pages import onboarding, settings
from chat.prompt.user_context import acquaintance_so_far, grown
from memory.index import language_change

SAVED: Final = "Saved."
THEMES: Final = ("", "light", "dark")
YEAR: Final = 365 * 24 * 3600
"""Seconds the choice of a theme is kept: static/js/page.js has the same."""


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def profile(request: HttpRequest) -> HttpResponse:
    """How Recall calls one, one's time zone and language, and how familiar it is."""
    user = _user(request)
    stage = grown(user, acquaintance_so_far(user), timezone.now())
    form = ProfileForm(request.POST if request.method == "POST" else None, instance=user, grown=stage)
    if request.method == "POST" and form.is_valid():
        form.save()
        if "language" in form.changed_data:
            language_change.look(user.pk)
        shown = {"form": ProfileForm(instance=user, grown=stage)}
        return _saved(request, "settings", "settings/profile.html#form", shown)
    if form.errors:
        user.refresh_from_db()  # the form has written into it already
    context = {"form": form, "time_zones": settings.time_zones()}
    return _shown(request, "settings/profile.html", "#form", context, refused=bool(form.errors))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def model(request: HttpRequest) -> HttpResponse:
    """Which model answers in new conversations, and with how much effort."""
    user = _user(request)
    if request.method != "POST":
        return render(request, "settings/model.html", settings.model_choice(user))
    try:
        chosen = validate_model(request.POST.get("model", ""))
        effort = validate_effort(request.POST.get("effort", ""), chosen)
    except ModelNotOfferedError as refusal:
        context = {**settings.model_choice(user), "sentence": str(refusal)}
        return _shown(request, "settings/model.html", "#form", context, refused=True)
    user.chat_model, user.effort = chosen, effort
    user.save(update_fields=["chat_model", "effort"])
    return _saved(request, "settings_model", "settings/model.html#form", settings.model_choice(user))


@require_safe
@login_required
@never_cache
def memory(request: HttpRequest) -> HttpResponse:
    """What is known, by which rules, and when it is recalled."""
    return render(request, "settings/memory.html", settings.memory(_user(request)))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def appearance(request: HttpRequest) -> HttpResponse:
    """Light, dark, or as the system has it: kept in a cookie of this browser, so that no page flashes."""
    chosen = request.COOKIES.get("theme", "")
    if request.method != "POST":
        return render(request, "settings/appearance.html", {"theme": chosen if chosen in THEMES else ""})
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        raise Http404
    response = _saved(request, "settings_appearance", "settings/appearance.html#form", {"theme": theme})
    if theme:
        response.set_cookie("theme", theme, max_age=YEAR, samesite="Lax")
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


@require_safe
@login_required
@never_cache
def data(request: HttpRequest) -> HttpResponse:
    """What is kept, how to take it along, and how to remove it."""
    return render(request, "settings/data.html", settings.kept(_user(request)))


@method_decorator(never_cache, name="dispatch")
class SignIn(IndexView):  # type: ignore[misc]
    """Password, addresses, passkeys and second factors: allauth's overview, in our words."""

    template_name = "settings/sign_in.html"


# API keys --------------------------------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def key_list(request: HttpRequest) -> HttpResponse:
    """One's keys."""
    return render(request, "settings/keys.html", _keys(request))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
@reauthentication_required(app="allauth.mfa")  # type: ignore[untyped-decorator]
@sensitive_variables("secret")
def make_key(request: HttpRequest) -> HttpResponse:
    """A new key, shown in this one answer. Whoever found a browser signed in cannot make one."""
    if request.method != "POST":
        return render(request, "settings/new_key.html", {"form": settings.new_key(None)})
    scopes, lifetime = request.POST.getlist("scopes"), request.POST.get("lifetime", "")
    _, length = settings.LIFETIMES.get(lifetime, settings.LIFETIMES[settings.PROPOSED_LIFETIME])
    try:
        key, secret = keys.create_key(
            _user(request), request.POST.get("name", ""), scopes, timezone.now() + length if length else None
        )
    except ValidationError as refusal:
        context = {"form": settings.new_key(request.POST, scopes), "sentence": " ".join(refusal.messages)}
        return render(request, "settings/new_key.html", context, status=422)
    return render(request, "settings/keys.html", {**_keys(request), "made": key, "secret": secret})


@require_POST
@login_required
@never_cache
def revoke_key(request: HttpRequest, pk: int) -> HttpResponse:
    """The key opens nothing from now on."""
    if not keys.revoke(_user(request), pk):
        raise Http404
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "settings/keys.html#list", {**_keys(request), "revoked": pk})
    messages.success(request, "The key is revoked: it opens nothing any more.")
    return redirect("settings_keys")


def _keys(request: HttpRequest) -> dict[str, Any]:
    return {"rows": settings.key_rows(_user(request), timezone.now())}


# Sessions --------------------------------------------------------------------------------------------------------


@method_decorator(never_cache, name="dispatch")
class Sessions(ListUserSessionsView):  # type: ignore[misc]
    """Where one is signed in. A POST ends all sessions but this one."""

    template_name = "settings/sessions.html"
    success_url = reverse_lazy("settings_sessions")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """This one first, then as they were last seen."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context["sessions"].sort(key=lambda one: (one.is_current(), one.last_seen_at), reverse=True)
        return context


@require_POST
@login_required
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign out there; one's own session is ended by signing out."""
    ending = get_object_or_404(UserSession.objects.filter(user=_user(request)), pk=pk)
    if ending.session_key == request.session.session_key:
        return redirect("account_logout")
    sessions_adapter().end_sessions([ending])
    messages.success(request, "That session is ended.")
    return redirect("settings_sessions")


# The first visit -------------------------------------------------------------------------------------------------


@require_POST
@login_required
def welcomed(request: HttpRequest) -> HttpResponse:
    """The first words were read."""
    onboarding.close(_user(request))
    return redirect("new")


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _saved(request: HttpRequest, page: str, partial: str, context: dict[str, Any]) -> HttpResponse:
    """Said where the form stands, or on the page that a plain form leads back to."""
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, partial, {**context, "saved": SAVED})
    messages.success(request, SAVED)
    return redirect(page)


def _shown(
    request: HttpRequest, template: str, partial: str, context: dict[str, Any], *, refused: bool
) -> HttpResponse:
    name = f"{template}{partial}" if request.htmx and refused else template  # type: ignore[attr-defined]
    return render(request, name, context, status=422 if refused else 200)
