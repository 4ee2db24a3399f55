"""What a person may type into memory's pages, and how long it may be."""

from __future__ import annotations

from typing import Final

from django import forms

from memory.documents import MAX_TEXT

MAX_STATEMENT: Final = 1_000
"""A fact is one statement: what is longer belongs into a document."""
MAX_BOUNDARY: Final = 500
"""A boundary stands in every prompt and is never cut, so it is short."""


class StatementForm(forms.Form):
    """A proposal in the user's own words."""

    statement = forms.CharField(
        max_length=MAX_STATEMENT, error_messages={"required": "A fact needs a statement. To drop it, reject it."}
    )
    value = forms.CharField(max_length=MAX_STATEMENT, required=False)

    def clean_statement(self) -> str:
        """One line, as every fact."""
        return " ".join(self.cleaned_data["statement"].split())


class DocumentForm(forms.Form):
    """A document's text, and the number of the version it was written over."""

    text = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)
    started_from = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class RevertForm(forms.Form):
    """Which version to go back to, and from which one."""

    number = forms.IntegerField(min_value=1)
    started_from = forms.IntegerField(min_value=0)


class BoundaryForm(forms.Form):
    """A rule of the user's own."""

    text = forms.CharField(max_length=MAX_BOUNDARY, error_messages={"required": "Write the rule first."})
