"""Forms of memory's pages, with the length limits of user input."""

from datetime import date
from typing import Any, Final, Self, get_args
from zoneinfo import ZoneInfo

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils import timezone

from memory.documents.revisions import MAX_TEXT
from memory.documents.tree import MAX_TAG, MAX_TAGS, normal_tag
from memory.facts.links import STATABLE
from memory.facts.validity import Validity, day_of, of_days
from memory.librarian.decision import Rule
from memory.librarian.policies import SUBJECTS
from memory.librarian.rules.own_words import as_stored
from memory.models import Fact
from memory.models.kinds import EpisodeKind, Kind
from memory.models.paths import encode
from memory.retrieval.ranking import Source
from memory.text.dates import read_days
from recall.openapi.fields import EARLIEST, LATEST
from recall.text import whole_number

MAX_STATEMENT: Final = 1_000
"""A fact is one statement; longer text belongs in a document."""
MAX_BOUNDARY: Final = 500
"""A boundary is in every prompt and never cut, so it must be short."""
MAX_PATH: Final = 500
"""Characters of a typed path."""
MAX_QUESTION: Final = 1_000
"""Characters of a search question."""
DAY_FORMATS: Final = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d %B %Y")
"""Days in numbers, and as pages show them; `memory/text/dates.py` reads the others."""
SHOWN_DAY: Final = "%-d %B %Y"
MAX_DAY: Final = 40
"""Characters of a typed day."""


class DayField(forms.DateField):
    """An optional day as people write it: 2026-11-24, 24 Nov 2026, 24.11.2026, yesterday.

    Of a month or a year, the first day is meant, or the last where the day `is_end`. A day without a year is the
    latest one, or where it `is_ahead` the next one. Limited so that date arithmetic works in every time zone.
    """

    widget = forms.DateInput(
        {
            "class": "day",
            "placeholder": "e.g. 4 Nov 2026",
            "maxlength": MAX_DAY,
            "autocomplete": "off",
            "spellcheck": "false",
        },
        SHOWN_DAY,
    )

    def __init__(self, label: str, help_text: str = "", *, is_end: bool = False, is_ahead: bool = False) -> None:
        limits = f"“{label}” must be between {EARLIEST.year} and {LATEST.year}."
        super().__init__(
            required=False,
            label=label,
            help_text=help_text,
            input_formats=DAY_FORMATS,
            validators=[MinValueValidator(EARLIEST.date(), limits), MaxValueValidator(LATEST.date(), limits)],
            error_messages={"invalid": f"“{label}” isn't a date Recall can read. Try 24 Nov 2026, or yesterday."},
        )
        self.is_end, self.is_ahead = is_end, is_ahead

    def to_python(self, value: Any) -> date | None:
        """The day, read in the current time zone."""
        try:
            return super().to_python(value)
        except forms.ValidationError:
            is_short = len(value) <= MAX_DAY
            days = read_days(value, timezone.localdate(), past=not self.is_ahead) if is_short else None
            if days is None:
                raise
        return days[1] if self.is_end else days[0]


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

    def changed_value(self, fact: Fact) -> str | None:
        """The value that was entered; None if it wasn't touched, so that it follows the wording."""
        value: str = self.cleaned_data["value"]
        return value if fact.key and "value" in self.data and value != fact.value else None

    def stored_statement(self, fact: Fact) -> str:
        """The valid statement about “the user”, where it was shown to the user as being about “you”."""
        return as_stored(self.cleaned_data["statement"], fact.statement)


class FactForm(StatementForm):
    """A correction of an active fact and its validity; omitted fields are unchanged."""

    valid_from = DayField("True from")
    valid_until = DayField(
        "True until", "Leave empty if unknown or ongoing. Past facts aren't used.", is_end=True, is_ahead=True
    )

    @classmethod
    def of(cls, fact: Fact, zone: ZoneInfo) -> Self:
        """The form with the days of a stored fact."""
        return cls(initial={"valid_from": day_of(fact.valid_from, zone), "valid_until": day_of(fact.valid_until, zone)})

    def validity(self, kept: Validity, zone: ZoneInfo) -> Validity:
        """The validity in the form, with days in the time zone `zone`."""
        days = {"valid_from": day_of(kept.since, zone), "valid_until": day_of(kept.until, zone)}
        days |= {name: self.cleaned_data[name] for name in days if name in self.data}
        return of_days(days["valid_from"], days["valid_until"], kept, zone)


class LinkForm(forms.Form):
    """The fact to link to, and how it is related."""

    to = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    relation = forms.ChoiceField(choices=[(relation, relation) for relation in STATABLE])


class IdsField(forms.Field):
    """Row IDs, one form value each."""

    widget = forms.MultipleHiddenInput
    default_error_messages = {
        "required": "Nothing is selected.",
        "invalid": "Invalid selection. Reload the page and try again.",
    }

    def to_python(self, value: Any) -> list[int]:
        """The IDs without duplicates, in the order sent."""
        sent = [whole_number(str(pk)) for pk in value or ()]
        known = [pk for pk in sent if pk is not None]
        if len(known) < len(sent):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return list(dict.fromkeys(known))


class FactsForm(forms.Form):
    """The selected facts and the decision on them."""

    fact = IdsField()
    verb = forms.ChoiceField(choices=[(verb, verb) for verb in ("accept", "reject", "merge")])


class MergeForm(forms.Form):
    """The facts to merge, into the wording of `into` or of `statement`."""

    fact = IdsField()
    into = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    statement = forms.CharField(max_length=MAX_STATEMENT, required=False)

    def clean_statement(self) -> str:
        """One line, as every fact."""
        return " ".join(self.cleaned_data["statement"].split())


class RuleForm(forms.Form):
    """A rule for proposals like this one."""

    rule = forms.ChoiceField(choices=[(rule.value, rule.value) for rule in Rule])


class PoliciesForm(forms.Form):
    """The rules by subject; omitted ones are unchanged."""

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
    """A document's text, and the version it is based on."""

    text = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)
    started_from = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class RevertForm(forms.Form):
    """The version to restore, and the current one."""

    number = forms.IntegerField(min_value=1)
    started_from = forms.IntegerField(min_value=0)


class BoundaryForm(forms.Form):
    text = forms.CharField(max_length=MAX_BOUNDARY, error_messages={"required": "Enter a rule."})


# The knowledge base ----------------------------------------------------------------------------------------------


class PathField(forms.CharField):
    """A typed path; a missing slash in front or an extra one at the end is fine."""

    default_error_messages = {"required": "Enter a path, such as /projects/garden."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_PATH, **kwargs)

    def clean(self, value: Any) -> str:
        """The path with one slash in front and none at the end.

        Raises:
            ValidationError: it is not a path.
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
    """The path and first text of a new document."""

    path = PathField()
    text = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)


class PlaceForm(forms.Form):
    """The stored path of a document or folder."""

    path = PathField(strip=False)


class RestoreForm(forms.Form):
    """The time of the deletion to undo."""

    deleted = forms.DateTimeField()


class UploadForm(forms.Form):
    """The folder for uploaded files."""

    folder = PathField(required=False)


class MoveForm(PlaceForm):
    """The new path of a document or folder."""

    to = PathField()


class TagsField(forms.CharField):
    """Comma-separated tags; `memory/documents/tree.py` decides what is valid."""

    def clean(self, value: Any) -> list[str]:
        """Each tag in its stored spelling."""
        return [tag for tag in map(normal_tag, (super().clean(value) or "").split(",")) if tag]


class TagsForm(PlaceForm):
    """A document's tags."""

    tags = TagsField(max_length=MAX_TAGS * (MAX_TAG + 2), required=False)


class TimelineForm(forms.Form):
    """Filters of the timeline."""

    kind = forms.MultipleChoiceField(choices=EpisodeKind.choices, required=False)
    least = forms.ChoiceField(choices=[("", "Any"), *((str(dots), dots) for dots in range(2, 6))], required=False)


class SearchForm(forms.Form):
    """A search question and its filters."""

    q = forms.CharField(max_length=MAX_QUESTION, required=False)
    source = forms.MultipleChoiceField(choices=[(name, name) for name in get_args(Source)], required=False)
    kind = forms.MultipleChoiceField(choices=[*Kind.choices, *EpisodeKind.choices], required=False)
    folder = PathField(required=False)
    tag = TagsField(max_length=MAX_QUESTION, required=False)
    scope = PathField(required=False)
    least = forms.ChoiceField(choices=[("", "Any"), *((str(level), level) for level in range(2, 6))], required=False)
    since = DayField("From")
    until = DayField("To", is_end=True)
    as_of = DayField("Learned by", "Only what Recall had learned by the end of this day.", is_end=True)
