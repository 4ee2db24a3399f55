"""Account forms: sign-up, passwords, profile (name, time zone, language, tone) and adding a passkey."""

import struct
from typing import Any, Final, cast

from allauth.account import forms as allauth_forms
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import get_adapter
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from accounts import languages, sign_up
from accounts.models import User, validate_time_zone


class NewPasswordMixin:
    """A new password is typed once, beside a button that shows it. The other rules are shown when one is broken."""

    password2 = None  # removes allauth's second field

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields = cast("forms.Form", self).fields
        fields["password1"].help_text = f"At least {settings.PASSWORD_LENGTH} characters."
        for name in {"oldpassword", "password1"} & fields.keys():
            fields[name].label = str(fields[name].label).capitalize()  # allauth has “New Password”


class ChangePasswordForm(NewPasswordMixin, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    """Change the password, given the current one."""


class ResetPasswordKeyForm(NewPasswordMixin, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    """Choose a password after following the link of a mail."""


class SetPasswordForm(NewPasswordMixin, allauth_forms.SetPasswordForm):  # type: ignore[misc]
    """Choose a first password, for an account without one."""


class SignupForm(NewPasswordMixin, allauth_forms.SignupForm):  # type: ignore[misc]
    """Sign up with e-mail, password and a preferred name."""

    preferred_name = forms.CharField(
        max_length=80,
        required=False,
        label="What should Recall call you?",
        widget=forms.TextInput({"autocomplete": "nickname"}),
    )
    time_zone = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput({"data-time-zone": ""}))

    def clean_time_zone(self) -> str:
        """The browser's time zone; UTC if it sends nothing usable."""
        name: str = self.cleaned_data["time_zone"] or "UTC"
        try:
            validate_time_zone(name)
        except forms.ValidationError:
            return "UTC"
        return name

    @transaction.atomic
    def save(self, request: HttpRequest) -> User:
        """Create the user, unless another form came first: with this address, or under SIGN_UP=first with any."""
        sign_up.wait_for_turn()
        if not sign_up.is_open():
            raise ImmediateHttpResponse(redirect("account_signup"))
        if User.objects.filter(email__iexact=self.cleaned_data["email"]).exists():
            raise ImmediateHttpResponse(redirect("account_login"))
        user: User = super().save(request)
        user.preferred_name = self.cleaned_data["preferred_name"]
        user.time_zone = self.cleaned_data["time_zone"]
        user.language = languages.of_browser(request.headers.get("Accept-Language", ""))
        user.save(update_fields=["preferred_name", "time_zone", "language"])
        return user


class ProfileForm(forms.ModelForm[User]):
    """The user's name, time zone, language, and how familiar Recall is."""

    class Meta:
        model = User
        fields = ("preferred_name", "time_zone", "language", "relationship_stage")
        labels = {
            "preferred_name": "What should Recall call you?",
            "time_zone": "Time zone",
            "language": "Your language",
            "relationship_stage": "Tone",
        }
        help_texts = {
            "relationship_stage": "How familiar Recall is with you.",
            "preferred_name": "If empty, Recall uses the first part of your email address.",
            "language": "Helps search match word forms, such as “house” and “houses”. Choose the one you write most.",
            "time_zone": "Type a city to search. Dates and words like “tomorrow” use it.",
        }
        widgets = {
            "preferred_name": forms.TextInput({"autocomplete": "nickname"}),
            "time_zone": forms.TextInput({"list": "time-zones", "autocomplete": "off", "spellcheck": "false"}),
        }

    def __init__(self, *args: Any, grown: User.Stage, **kwargs: Any) -> None:
        """`grown`: the automatic stage, shown beside the automatic choice."""
        super().__init__(*args, **kwargs)
        stage = cast("forms.ChoiceField", self.fields["relationship_stage"])
        stage.choices = [("", f"Automatic (now: {grown.label.lower()})"), *User.Stage.choices]

    def clean_time_zone(self) -> str:
        """Accept cities of two words typed with a space; zone names have an underscore."""
        typed: str = self.cleaned_data["time_zone"]
        return typed.strip().replace(" ", "_")


MALFORMED: Final = (TypeError, ValueError, LookupError, AttributeError, RecursionError, struct.error)
"""What fido2's parser raises, depending on where the bytes it is given are wrong."""


class CredentialField(forms.JSONField):
    """What a browser's passkey answered. allauth stores or fails on much that isn't of its shape."""

    def __init__(self, shape: type[RegistrationResponse | AuthenticationResponse]) -> None:
        super().__init__(widget=forms.HiddenInput)
        self.shape = shape

    def clean(self, value: Any) -> Any:
        """The answer, as JSON."""
        try:
            answer = super().clean(value)
            self.shape.from_dict(answer)
        except MALFORMED as error:
            raise get_adapter().validation_error("incorrect_code") from error
        return answer

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Nothing: the page asks the passkey again."""
        return initial


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """A passkey replaces the password, unless the user wants it as a second factor only."""

    credential = CredentialField(RegistrationResponse)
    passwordless = forms.BooleanField(
        label="Sign in without a password",
        initial=True,
        required=False,
        help_text="If off, you'll be asked for it after your password.",
    )


class SecondFactorPasskeyForm(AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey after the password."""

    credential = CredentialField(AuthenticationResponse)


class SignInPasskeyForm(LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey in place of the password."""

    credential = CredentialField(AuthenticationResponse)


class ConfirmPasskeyForm(ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey before something that only its owner may do."""

    credential = CredentialField(AuthenticationResponse)
