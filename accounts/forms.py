"""What a person is asked: how to call them, their time zone (which the browser fills in first), a passkey."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect

from accounts import languages, sign_up
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

    @transaction.atomic
    def save(self, request: HttpRequest) -> User:
        """The new person; asked once more whether they may join: another may have been the first meanwhile."""
        sign_up.wait_for_turn()
        if not sign_up.is_open():
            raise ImmediateHttpResponse(redirect("account_signup"))
        user: User = super().save(request)
        user.preferred_name = self.cleaned_data["preferred_name"]
        user.time_zone = self.cleaned_data["time_zone"]
        user.language = languages.of_browser(request.headers.get("Accept-Language", ""))
        user.save(update_fields=["preferred_name", "time_zone", "language"])
        return user


class ProfileForm(forms.ModelForm[User]):
    """How to call somebody, in which time zone their days begin, and how familiar to be."""

    class Meta:
        model = User
        fields = ("preferred_name", "time_zone", "language", "relationship_stage")
        labels = {
            "preferred_name": "What shall Recall call you?",
            "time_zone": "Time zone",
            "language": "Which language do you write in?",
            "relationship_stage": "How well do you know each other?",
        }
        help_texts = {
            "relationship_stage": "The model is told, and is as familiar as that. By itself it grows with your"
            " conversations, the days since the first one, and what Recall knows of you.",
            "preferred_name": "Empty: Recall uses the beginning of your e-mail address on its pages.",
            "language": "Your memories are searched by its words in all their forms, so that “house” finds “houses”. Of"
            " several, take the one you write most. A change takes effect at once, and is through some seconds later.",
            "time_zone": "Type a city to search. Dates on every page are told in it, and “tomorrow” is resolved in it.",
        }
        widgets = {
            "preferred_name": forms.TextInput({"autocomplete": "nickname"}),
            "time_zone": forms.TextInput({"list": "time-zones", "autocomplete": "off", "spellcheck": "false"}),
        }

    def __init__(self, *args: Any, grown: User.Stage, **kwargs: Any) -> None:
        """`grown`: what the stage is by itself."""
        super().__init__(*args, **kwargs)
        stage = cast("forms.ChoiceField", self.fields["relationship_stage"])
        stage.choices = [("", f"It grows by itself (now: {grown.label.lower()})"), *User.Stage.choices]

    def clean_time_zone(self) -> str:
        """Cities of two words are typed with a space, and written with none."""
        typed: str = self.cleaned_data["time_zone"]
        return typed.strip().replace(" ", "_")


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """A passkey signs in by itself, unless one wants it beside the password only."""

    passwordless = forms.BooleanField(
        label="Sign in with it alone, without the password",
        initial=True,
        required=False,
        help_text="Without this it is asked for after the password.",
    )
