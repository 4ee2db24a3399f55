"""Views of the settings pages. Each saves in place with htmx, or with a plain form."""

from typing import Any, Final

from allauth.account.decorators import reauthentication_required
from allauth.mfa.base.views import IndexView
from allauth.usersessions.adapter import get_adapter as sessions_adapter
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables

from accounts.api import keys
from accounts.forms import ProfileForm
from accounts.models import User
from accounts.sessions import list_sessions
from chat.conversations.model_choice import ModelNotOfferedError, validate_effort, validate_model
from chat.pages import settings
from chat.prompt.stated_identity import offer_id
from chat.prompt.user_context import load_relationship_so_far, reached_stage
from memory.index import language_change
from recall.text import storable
from recall.views import is_htmx, post_only, signed_in_form, signed_in_page, signed_in_post, signed_in_user

SAVED: Final = "Saved."
THEMES: Final = ("", "light", "dark")
MAX_DECLINED: Final = 50
"""Declined offers remembered, the latest ones."""
YEAR: Final = 365 * 24 * 3600
"""Lifetime of the theme cookie in seconds, as in static/js/page.js."""


@signed_in_form
def account(request: HttpRequest) -> HttpResponse:
    """Name, time zone, language, tone and theme."""
    user = signed_in_user(request)
    stage = reached_stage(user, load_relationship_so_far(user), timezone.now())
    form = ProfileForm(request.POST if request.method == "POST" else None, instance=user, grown=stage)
    if request.method == "POST" and form.is_valid():
        form.save()
        if "language" in form.changed_data:
            language_change.request_rebuild(user.pk)
        context = {"form": ProfileForm(instance=user, grown=stage)}
        return _render_saved(request, "settings_account", "settings/account.html#form", context)
    if form.errors:
        user.refresh_from_db()  # validation has already changed the instance
    chosen = request.COOKIES.get("theme", "")
    page = {"form": form, "time_zones": settings.time_zones(), "theme": chosen if chosen in THEMES else ""}
    return _render_form(request, "settings/account.html", page, bool(form.errors))


@signed_in_form
def model(request: HttpRequest) -> HttpResponse:
    """Model and effort of new conversations."""
    user = signed_in_user(request)
    if request.method != "POST":
        return render(request, "settings/model.html", settings.model_choice(user))
    try:
        chosen = validate_model(request.POST.get("model", ""))
        effort = validate_effort(request.POST.get("effort", ""), chosen)
    except ModelNotOfferedError as refusal:
        context = {**settings.model_choice(user), "sentence": str(refusal)}
        return _render_form(request, "settings/model.html", context, is_refused=True)
    user.chat_model, user.effort = chosen, effort
    user.save(update_fields=["chat_model", "effort"])
    return _render_saved(request, "settings_model", "settings/model.html#form", settings.model_choice(user))


@post_only("settings_account", at="appearance")
@never_cache
def theme(request: HttpRequest) -> HttpResponse:
    """Light, dark or system theme: a cookie of this browser, so that pages don't flash."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        raise Http404
    response = _render_saved(request, "settings_account", "settings/account.html#theme", {"theme": theme})
    if theme:
        response.set_cookie("theme", theme, max_age=YEAR, samesite="Lax")
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


@signed_in_page
def data(request: HttpRequest) -> HttpResponse:
    """Stored data and its retention, export and deletion."""
    return render(request, "settings/data.html", settings.stored_data(signed_in_user(request)))


# API keys --------------------------------------------------------------------------------------------------------


@signed_in_page
def key_list(request: HttpRequest) -> HttpResponse:
    """The user's API keys."""
    return render(request, "settings/keys.html", _keys_context(request))


@signed_in_form
@reauthentication_required(app="allauth.mfa")  # type: ignore[untyped-decorator]
@sensitive_variables("secret")
def create_key(request: HttpRequest) -> HttpResponse:
    """Create a key, after reauthentication. Its secret is shown in this response only."""
    if request.method != "POST":
        return render(request, "settings/new_key.html", {"form": settings.key_form(None)})
    scopes, lifetime = request.POST.getlist("scopes"), request.POST.get("lifetime", "")
    _, length = settings.LIFETIMES.get(lifetime, settings.LIFETIMES[settings.DEFAULT_LIFETIME])
    try:
        key, secret = keys.create_key(
            signed_in_user(request), request.POST.get("name", ""), scopes, timezone.now() + length if length else None
        )
    except ValidationError as refusal:
        context = {"form": settings.key_form(request.POST, scopes), "sentence": " ".join(refusal.messages)}
        return render(request, "settings/new_key.html", context, status=422)
    return render(request, "settings/keys.html", {**_keys_context(request), "made": key, "secret": secret})


@signed_in_post
@never_cache
def revoke_key(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a key; it stops working immediately."""
    if not keys.revoke(signed_in_user(request), pk):
        raise Http404
    if is_htmx(request):
        return render(request, "settings/keys.html#list", {**_keys_context(request), "revoked": pk})
    messages.success(request, "Key revoked. It no longer works.")
    return redirect("settings_keys")


def _keys_context(request: HttpRequest) -> dict[str, Any]:
    return {"rows": settings.key_rows(signed_in_user(request), timezone.now())}


# Security --------------------------------------------------------------------------------------------------------


@method_decorator(never_cache, name="dispatch")
class Security(IndexView):  # type: ignore[misc]
    """Password, email addresses, passkeys, second factors and sessions: allauth's overview with our template."""

    template_name = "settings/security.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """The current session first, then the most recently seen."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        sessions = list_sessions(signed_in_user(self.request))
        sessions.sort(key=lambda session: (session.is_current(), session.last_seen_at), reverse=True)
        return {**context, "sessions": sessions}


class EndOtherSessions(ListUserSessionsView):  # type: ignore[misc]
    """End all sessions but the current one."""

    http_method_names = ("post",)
    success_url = reverse_lazy("settings_security")


@signed_in_post
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """End another session; the current one is ended by signing out."""
    ending = get_object_or_404(UserSession.objects.filter(user=signed_in_user(request)), pk=pk)
    if ending.session_key == request.session.session_key:
        return redirect("account_logout")
    sessions_adapter().end_sessions([ending])
    messages.success(request, "Session ended.")
    return redirect("settings_security")


@signed_in_post
def answer_offer(request: HttpRequest) -> HttpResponse:
    """Store a name or time zone that was said in a chat in the account, or don't offer it again."""
    user = signed_in_user(request)
    column, value = request.POST.get("column", ""), storable(request.POST.get("value", ""))
    if column not in ("preferred_name", "time_zone") or not value:
        raise Http404
    if request.POST.get("answer") == "yes":
        setattr(user, column, value)
        try:
            user.clean_fields(exclude={field.name for field in User._meta.fields} - {column})
        except ValidationError as refusal:
            raise Http404 from refusal
        user.save(update_fields=[column])
    else:
        user.declined_offers = [*user.declined_offers, offer_id(column, value)][-MAX_DECLINED:]
        user.save(update_fields=["declined_offers"])
    return HttpResponse() if is_htmx(request) else redirect("settings_account")


def _render_saved(request: HttpRequest, page: str, partial: str, context: dict[str, Any]) -> HttpResponse:
    """Confirm beside the form, or as a notice on the page that a plain form redirects to."""
    if is_htmx(request):
        return render(request, partial, {**context, "saved": SAVED})
    messages.success(request, SAVED)
    return redirect(page)


def _render_form(request: HttpRequest, template: str, context: dict[str, Any], is_refused: bool) -> HttpResponse:
    name = f"{template}#form" if is_htmx(request) and is_refused else template
    return render(request, name, context, status=422 if is_refused else 200)
