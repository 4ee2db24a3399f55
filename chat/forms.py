"""What may a person type of roles and projects, and choose for a conversation?"""

from __future__ import annotations

from typing import Any, Final

from django import forms

from chat.conversations.model_choice import EFFORTS, MAX_NAME_LENGTH, TYPED_MODEL
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME

LARGEST_ID: Final = 2**63 - 1


class RoleForm(forms.Form):
    """A role's name and what it tells the model."""

    name = forms.CharField(max_length=MAX_NAME, error_messages={"required": "A role needs a name."})
    instructions = forms.CharField(
        max_length=MAX_INSTRUCTIONS,
        widget=forms.Textarea,
        error_messages={"required": "Say how the model is to behave in this role."},
    )

    def clean_name(self) -> str:
        """On one line, as it stands in the prompt."""
        return " ".join(self.cleaned_data["name"].split())

    def clean_instructions(self) -> str:
        """With the line breaks of the prompt."""
        return str(self.cleaned_data["instructions"]).replace("\r\n", "\n")


class ProjectForm(forms.Form):
    """A project's name, what it tells the model, and how its new conversations recall."""

    name = forms.CharField(max_length=MAX_NAME, error_messages={"required": "A project needs a name."})
    instructions = forms.CharField(max_length=MAX_INSTRUCTIONS, widget=forms.Textarea, required=False)
    only_project = forms.BooleanField(required=False)

    def clean_name(self) -> str:
        """On one line, as it stands in the prompt."""
        return " ".join(self.cleaned_data["name"].split())

    def clean_instructions(self) -> str:
        """With the line breaks of the prompt."""
        return str(self.cleaned_data["instructions"]).replace("\r\n", "\n")


class ChoicesForm(forms.Form):
    """What a conversation goes by. An empty field of the first four chooses none, or the default."""

    role = forms.IntegerField(min_value=1, max_value=LARGEST_ID, required=False)
    project = forms.IntegerField(min_value=1, max_value=LARGEST_ID, required=False)
    model = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)
    other_model = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)
    effort = forms.ChoiceField(choices=list(EFFORTS.items()), required=False)
    only_project = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """The model that was typed takes the place of the one in the list, where that says so."""
        data: dict[str, Any] = super().clean() or {}
        if data.get("model") == TYPED_MODEL:
            data["model"] = data.get("other_model", "")
        return data


def first_error(form: forms.Form) -> str:
    """One sentence on what is wrong."""
    return str(next(iter(form.errors.values()))[0])
