"""Days typed into a form: read as people write them, on the day it is where they are."""

from datetime import UTC, date, datetime

import pytest
from django.forms import Form
from django.utils import timezone

from memory.forms import DayField


class Days(Form):
    since = DayField("From")
    until = DayField("To", "Leave empty for today.", is_end=True)
    due = DayField("Due", is_ahead=True)


@pytest.fixture(autouse=True)
def _late_that_sunday(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 29, 23, 30, tzinfo=UTC))


def read(name: str, typed: str) -> date | None:
    form = Days({name: typed})
    assert form.is_valid(), form.errors
    day: date | None = form.cleaned_data[name]
    return day


@pytest.mark.parametrize(
    "typed",
    ["2026-11-24", "2026/11/24", "2026-11-24 ", "24.11.2026", "24. 11. 2026", "24/11/2026", "11/24/2026", "24-11-2026",
     "24 Nov 2026", "24 november 2026", "24. November 2026", "Nov 24, 2026", "November 24th", "24th of Nov",
     "Tue, 24 Nov 2026", "Tuesday", "5 days ago", " 24  Nov   2026. "],
)  # fmt: skip
def test_a_day_is_read_however_it_is_written(typed: str) -> None:
    assert read("since", typed) == date(2026, 11, 24)


@pytest.mark.parametrize(
    ("typed", "since", "until", "due"),
    [
        ("", None, None, None),
        ("today", date(2026, 11, 29), date(2026, 11, 29), date(2026, 11, 29)),
        ("yesterday", date(2026, 11, 28), date(2026, 11, 28), date(2026, 11, 28)),
        ("2019", date(2019, 1, 1), date(2019, 12, 31), date(2019, 1, 1)),
        ("May 2024", date(2024, 5, 1), date(2024, 5, 31), date(2024, 5, 1)),
        ("4 May", date(2026, 5, 4), date(2026, 5, 4), date(2027, 5, 4)),
        ("31 December 2150", date(2150, 12, 31), date(2150, 12, 31), date(2150, 12, 31)),
    ],
)
def test_a_field_means_the_first_or_the_last_day_of_the_past_or_the_next(
    typed: str, since: date | None, until: date | None, due: date | None
) -> None:
    assert (read("since", typed), read("until", typed), read("due", typed)) == (since, until, due)


def test_today_is_where_the_user_is() -> None:
    with timezone.override("Asia/Tokyo"):
        assert read("since", "today") == date(2026, 11, 30)


@pytest.mark.parametrize(
    "typed", ["some day", "31.2.2026", "24", "24 Nov 2026 or later", "NUL \x00", "9" * 40, f"24{' ' * 40}Nov 2026"]
)
def test_what_is_no_day_is_answered_with_a_sentence_beside_the_field(typed: str) -> None:
    form = Days({"until": typed})
    assert len(form.errors["until"]) == 1
    assert "Recall can" in form.errors["until"][0] or "Null" in form.errors["until"][0]
    assert 'aria-invalid="true"' in str(form["until"])


@pytest.mark.parametrize("typed", ["0001-01-01", "31.12.1899", "2 January 2200"])
def test_a_day_that_no_calendar_can_be_calculated_with_is_refused(typed: str) -> None:
    assert Days({"since": typed}).errors["since"] == ["“From” must be between 1900 and 2200."]


def test_the_field_is_text_with_an_example_and_its_hint() -> None:
    shown = str(Days(initial={"until": date(2026, 11, 4)})["until"])
    for part in ('type="text"', 'value="4 November 2026"', 'placeholder="e.g. 4 Nov 2026"', "id_until_helptext"):
        assert part in shown
