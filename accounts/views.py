"""Account pages: deleting the account, and Recall's versions of allauth's pages for passwords and recovery codes."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.views import PasswordChangeView, PasswordSetView
from allauth.core import ratelimit
from allauth.mfa.models import Authenticator
from django import forms
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import deletion, reauthentication, secret_encryption
from accounts.api import keys
from accounts.models import User
from recall.views import signed_in_form


class LeavingForm(forms.Form):
    """Asks for the password; a user without one types their email address."""

    password = forms.CharField(
        label="Your password", strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )

    def __init__(self, user: User, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.user = user
        if not user.has_usable_password():
            self.fields["password"].label = "Your email address"
            self.fields["password"].widget = forms.EmailInput({"autocomplete": "email"})

    def clean_password(self) -> str:
        """The password or the address, if it is correct."""
        typed: str = self.cleaned_data["password"]
        if not self.user.has_usable_password():
            if typed.strip().lower() != self.user.email.lower():
                raise forms.ValidationError("That isn't this account's email address.")
        elif not self.user.check_password(typed):
            raise forms.ValidationError("Wrong password. Nothing was deleted.")
        return typed


@signed_in_form
def delete_account(request: HttpRequest) -> HttpResponse:
    """Show what will be deleted, ask for the password, and delete."""
    user = request.user
    assert isinstance(user, User)
    if _needs_passkey(request):
        return reauthentication.redirect_to_reauthentication(back_to=request.path)
    form = LeavingForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST":
        limited: HttpResponse | None = ratelimit.consume_or_429(request, action="reauthenticate", user=user)
        if limited is not None:
            return limited
        if form.is_valid():
            deletion.delete_account(user)
            logout(request)
            return redirect("account_deleted")
    context = {"form": form, "what": deletion.count_owned_rows(user)}
    return render(request, "account/delete.html", context, status=422 if form.errors else 200)


@require_safe
@never_cache
def account_deleted(request: HttpRequest) -> HttpResponse:
    """The page after the deletion."""
    return render(request, "account/deleted.html")


class ChangePassword(PasswordChangeView):  # type: ignore[misc]
    """allauth's page, with the number of API keys that keep working."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Adds the number of active keys."""
        user = self.request.user
        assert isinstance(user, User)
        return {**super().get_context_data(**kwargs), "working_keys": keys.active_keys(user).count()}


class SetPassword(PasswordSetView):  # type: ignore[misc]
    """allauth's page for a first password, after reauthentication: the password would confirm everything else."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Confirm first, by a passkey or a code, if there is one."""
        if _needs_passkey(request):
            return reauthentication.redirect_to_reauthentication(back_to=request.path)
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response


def _needs_passkey(request: HttpRequest) -> bool:
    """Whether the user, who has no password that a form could ask for, has to confirm in another way."""
    user = request.user
    return user.is_authenticated and not user.has_usable_password() and not reauthentication.is_confirmed(request)


def readable_codes_only(page: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Redirect from a page of recovery codes that can't be decrypted to the one that says what to do."""

    @wraps(page)
    def guarded_page(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            codes = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.RECOVERY_CODES)
            if not all(map(secret_encryption.is_readable, codes)):
                return redirect("settings_security")
        return page(request)

    return guarded_page
