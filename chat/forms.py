"""Forms of roles, projects, conversation options and the answers up to a day."""

from typing import Any, Final

from django import forms

from chat.conversations.model_choice import EFFORTS, MAX_NAME_LENGTH, TYPED_MODEL
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME
from memory.forms import DayField

MAX_ID: Final = 2**63 - 1


class _NamedForm(forms.Form):
    def clean_name(self) -> str:
        """The name on one line, as in the prompt."""
        return " ".join(self.cleaned_data["name"].split())

    def clean_instructions(self) -> str:
        """The instructions with Unix line breaks, as in the prompt."""
        return str(self.cleaned_data["instructions"]).replace("\r\n", "\n")


class RoleForm(_NamedForm):
    """A role's name and instructions."""

    name = forms.CharField(max_length=MAX_NAME, error_messages={"required": "Enter a name."})
    instructions = forms.CharField(
        max_length=MAX_INSTRUCTIONS, widget=forms.Textarea, error_messages={"required": "Enter instructions."}
    )


class ProjectForm(_NamedForm):
    """A project's name, instructions and recall scope."""

    name = forms.CharField(max_length=MAX_NAME, error_messages={"required": "Enter a name."})
    instructions = forms.CharField(max_length=MAX_INSTRUCTIONS, widget=forms.Textarea, required=False)
    only_project = forms.BooleanField(required=False)


class OptionsForm(forms.Form):
    """Options of a conversation. Empty fields mean none, or the default."""

    role = forms.IntegerField(min_value=1, max_value=MAX_ID, required=False)
    project = forms.IntegerField(min_value=1, max_value=MAX_ID, required=False)
    model = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)
    other_model = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)
    effort = forms.ChoiceField(choices=list(EFFORTS.items()), required=False)
    only_project = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Replace the listed model by the typed one if chosen."""
        data: dict[str, Any] = super().clean() or {}
        if data.get("model") == TYPED_MODEL:
            data["model"] = data.get("other_model", "")
        return data


class UntilForm(forms.Form):
    """The day up to which answers are shown; empty: today."""

    until = DayField("Up to", is_end=True)
