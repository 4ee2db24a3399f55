"""What a person may type into memory's pages, and how long it may be."""

from __future__ import annotations

from typing import Any, Final, get_args
from zoneinfo import ZoneInfo

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

from memory.documents.revisions import MAX_TEXT
from memory.documents.tree import MAX_TAG, MAX_TAGS, normal_tag
from memory.facts.validity import Validity, day_of, of_days
from memory.librarian.decision import Rule
from memory.librarian.policies import SUBJECTS
from memory.models.kinds import EpisodeKind, Kind
from memory.models.paths import encode
from memory.retrieval.ranking import Source
from recall.openapi.fields import EARLIEST, LATEST

MAX_STATEMENT: Final = 1_000
"""A fact is one statement: what is longer belongs into a document."""
MAX_BOUNDARY: Final = 500
"""A boundary stands in every prompt and is never cut, so it is short."""
MAX_PATH: Final = 500
"""Characters of a path as it is typed."""
MAX_QUESTION: Final = 1_000
"""Characters of a question that is put to the search."""


class DayField(forms.DateField):
    """A day that can be reckoned with in every time zone; it may be left empty."""

    def __init__(self, **kwargs: Any) -> None:
        validators = [MinValueValidator(EARLIEST.date()), MaxValueValidator(LATEST.date())]
        super().__init__(required=False, validators=validators, **kwargs)


class StatementForm(forms.Form):
    """A proposal in the user's own words."""

    statement = forms.CharField(
        max_length=MAX_STATEMENT,
        error_messages={"required": "Enter a statement. To remove the fact, reject it instead."},
    )
    value = forms.CharField(max_length=MAX_STATEMENT, required=False)

    def clean_statement(self) -> str:
        """One line, as every fact."""
        return " ".join(self.cleaned_data["statement"].split())


class FactForm(StatementForm):
    """A fact in use in the user's own words, and the days on which it is true; a field that is not sent stays."""

    valid_from = DayField(error_messages={"invalid": "“True from” isn't a valid date. Use the format 2026-05-31."})
    valid_until = DayField(error_messages={"invalid": "“True until” isn't a valid date. Use the format 2026-05-31."})

    def validity(self, kept: Validity, zone: ZoneInfo) -> Validity:
        """When it is true, as a person in `zone` means it."""
        days = {"valid_from": day_of(kept.since, zone), "valid_until": day_of(kept.until, zone)}
        days |= {name: self.cleaned_data[name] for name in days if name in self.data}
        return of_days(days["valid_from"], days["valid_until"], kept, zone)


class IdsField(forms.Field):
    """Numbers of rows, sent as often as there are rows."""

    widget = forms.MultipleHiddenInput
    default_error_messages = {
        "required": "Nothing is selected.",
        "invalid": "Invalid selection. Reload the page and try again.",
    }

    def to_python(self, value: Any) -> list[int]:
        """The numbers, each once, in the order sent."""
        sent = [str(one) for one in value or ()]
        if not all(one.isdecimal() and len(one) < 19 for one in sent):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return list(dict.fromkeys(map(int, sent)))


class FactsForm(forms.Form):
    """Which facts were selected, and what is to become of them."""

    fact = IdsField()
    verb = forms.ChoiceField(choices=[(verb, verb) for verb in ("accept", "reject", "merge")])


class MergeForm(forms.Form):
    """Which facts become one, and in which words: those of `into`, or `statement` if there is one."""

    fact = IdsField()
    into = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    statement = forms.CharField(max_length=MAX_STATEMENT, required=False)

    def clean_statement(self) -> str:
        """One line, as every fact."""
        return " ".join(self.cleaned_data["statement"].split())


class RuleForm(forms.Form):
    """Always or never, for proposals like one that waits."""

    rule = forms.ChoiceField(choices=[(rule.value, rule.value) for rule in Rule])


class PoliciesForm(forms.Form):
    """A rule for every subject; one that is left out stays."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for subject in SUBJECTS:
            choices = [(rule.value, rule.value) for rule in Rule]
            self.fields[f"rule-{subject}"] = forms.ChoiceField(choices=choices, required=False)

    def rules(self) -> dict[str, Rule]:
        """The rules that were sent, by subject."""
        sent = {subject: self.cleaned_data[f"rule-{subject}"] for subject in SUBJECTS}
        return {subject: Rule(rule) for subject, rule in sent.items() if rule}


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

    text = forms.CharField(max_length=MAX_BOUNDARY, error_messages={"required": "Enter a rule."})


# The knowledge base ----------------------------------------------------------------------------------------------


class PathField(forms.CharField):
    """A typed path; the slash in front may be left out, and one at the end does no harm."""

    default_error_messages = {"required": "Enter a path, such as /projects/garden."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_PATH, **kwargs)

    def clean(self, value: Any) -> str:
        """The path with one slash in front and none behind.

        Raises:
            ValidationError: it is no path.
        """
        typed = super().clean(value)
        if not typed.strip("/"):
            return "" if not self.required else self._refuse()
        path = f"/{typed.strip('/')}"
        encode(path)
        return path

    def _refuse(self) -> str:
        raise forms.ValidationError(self.error_messages["required"])


class NewDocumentForm(forms.Form):
    """Where a new document shall stand, and how it begins."""

    path = PathField()
    text = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)


class PlaceForm(forms.Form):
    """A document or folder of the user's, as its path is stored."""

    path = PathField(strip=False)


class RestoreForm(forms.Form):
    """Which deletion is undone: the moment it was done at."""

    deleted = forms.DateTimeField()


class UploadForm(forms.Form):
    """Which folder files go to."""

    folder = PathField(required=False)


class MoveForm(PlaceForm):
    """Where it shall stand from now on."""

    to = PathField()


class TagsField(forms.CharField):
    """Tags with commas between them; what they may be is decided in `memory/documents/tree.py`."""

    def clean(self, value: Any) -> list[str]:
        """Each tag in the spelling in which it is kept."""
        return [tag for tag in map(normal_tag, (super().clean(value) or "").split(",")) if tag]


class TagsForm(PlaceForm):
    """A document's tags."""

    tags = TagsField(max_length=MAX_TAGS * (MAX_TAG + 2), required=False)


class TimelineForm(forms.Form):
    """Which episodes to show."""

    kind = forms.MultipleChoiceField(choices=EpisodeKind.choices, required=False)
    least = forms.ChoiceField(choices=[("", "Any"), *((str(dots), dots) for dots in range(2, 6))], required=False)


class SearchForm(forms.Form):
    """What to search everything for, and where."""

    q = forms.CharField(max_length=MAX_QUESTION, required=False)
    source = forms.MultipleChoiceField(choices=[(name, name) for name in get_args(Source)], required=False)
    kind = forms.MultipleChoiceField(choices=[*Kind.choices, *EpisodeKind.choices], required=False)
    folder = PathField(required=False)
    tag = TagsField(max_length=MAX_QUESTION, required=False)
    scope = PathField(required=False)
    least = forms.ChoiceField(choices=[("", "Any"), *((str(level), level) for level in range(2, 6))], required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    as_of = forms.DateField(required=False)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the question was chosen."""
        return any(self.data.get(name) for name in self.fields if name != "q")
