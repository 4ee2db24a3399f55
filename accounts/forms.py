"""What a new person is asked: how to call them, and (filled in by the browser) their time zone."""

from __future__ import annotations

from allauth.account.forms import SignupForm as AllauthSignupForm
from django import forms
from django.http import HttpRequest

from accounts.models import User, validate_time_zone


class SignupForm(AllauthSignupForm):  # type: ignore[misc]
    """Sign up with e-mail, password and a preferred name."""

    preferred_name = forms.CharField(
        max_length=80,
        required=False,
        label="What shall Recall call you?",
        widget=forms.TextInput({"autocomplete": "nickname"}),
    )
    time_zone = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput({"data-time-zone": ""}))

    def clean_time_zone(self) -> str:
        """The browser's time zone, or UTC where it says nothing usable."""
        name: str = self.cleaned_data["time_zone"] or "UTC"
        try:
            validate_time_zone(name)
        except forms.ValidationError:
            return "UTC"
        return name

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        user.preferred_name = self.cleaned_data["preferred_name"]
        user.time_zone = self.cleaned_data["time_zone"]
        user.save(update_fields=["preferred_name", "time_zone"])
        return user
