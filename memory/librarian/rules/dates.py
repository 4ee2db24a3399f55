"""Resolves dates in words, such as “next Friday”, against the day the message was written.

on Friday      the next one after today
this Friday    the same
next Friday    the one in the week that begins on the coming Monday
last Friday    the latest one before today
in 3 weeks     21 days on; in months and years: the same day of the month, or its last
4 May          the next one from today on, unless a year is named
in May         the month, with the next year it comes in
"""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "a couple of": 2,
}

HOLIDAYS = {
    "valentine'?s(?: day)?": (2, 14),
    "st\\.? patrick'?s day": (3, 17),
    "halloween": (10, 31),
    "bonfire night": (11, 5),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "new year'?s eve": (12, 31),
    "new year'?s day": (1, 1),
}
"""Month and day of the days that have a name instead of a date, as patterns."""
_DAY_NAMES = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_MONTH = rf"(?P<month>{'|'.join(f'{m[:3]}(?:{m[3:]})?' for m in MONTHS)}|sept)\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"\b{form}\b", re.I))
    for name, form in (
        ("iso", rf"(?:on )?{_YEAR}-(?P<month_number>\d\d)-(?P<day>\d\d)"),
        ("slashed", rf"(?:on )?(?P<day>\d{{1,2}})[/.](?P<month_number>\d{{1,2}})[/.]{_YEAR}"),
        (
            "day_month",
            rf"(?:on )?(?:(?P<named>{_DAY_NAMES}),? )?(?:the )?{_DAY}(?:(?:-| to |–)\d{{1,2}}(?:st|nd|rd|th)?)?(?: of)?"
            rf" {_MONTH}(?:,? {_YEAR})?",
        ),
        ("day_month", rf"(?:on )?{_MONTH} (?:the )?{_DAY}(?!:)(?:,? {_YEAR})?"),
        ("last_month", rf"(?:in )?last {_MONTH}\b"),
        ("day_month", rf"in {_YEAR},? on (?:the )?{_DAY}(?: of)? {_MONTH}"),
        (
            "holiday",
            rf"(?:on |at |by )?(?P<holiday>{'|'.join(HOLIDAYS)})"
            rf"(?:,? (?:in )?(?:{_YEAR}|(?P<which>next|this|last) year))?",
        ),
        ("ordinal", rf"(?:on )?(?P<named>{_DAY_NAMES}),? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)"),
        ("ordinal", r"on the (?P<day>\d{1,2})(?:st|nd|rd|th)(?! (?:of|floor|century))"),
        ("week_from", rf"(?:on )?a week (?:from (?P<near>today|tomorrow|now)|on (?P<weekday>{'|'.join(WEEKDAYS)}))"),
        ("weekday_week", rf"(?:on )?(?P<weekday>{'|'.join(WEEKDAYS)}) week"),
        ("last_night", r"last night"),
        ("weekend", r"(?:on |at )?(?P<which>this|next|last|the coming|this coming) weekend"),
        ("this_day", r"this (?:morning|afternoon|evening)"),
        ("month", rf"in {_MONTH}(?: (?:of )?{_YEAR})?"),
        ("year", rf"in {_YEAR}"),
        ("day_after", r"(?:on )?the day after tomorrow"),
        ("near", r"(?P<near>today|tonight|tomorrow|tmrw|tmr|yesterday)(?: (?:morning|afternoon|evening|night))?"),
        (
            "weekday",
            rf"(?<!every )(?<!each )(?:on )?(?:(?P<which>this coming|this|next|last|coming)"
            rf" )?(?P<weekday>{'|'.join(WEEKDAYS)})",
        ),
        (
            "ahead",
            rf"(?<!first in )(?<!time in )in (?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})"
            r" (?P<unit>day|week|fortnight|month|year)s?",
        ),
        ("back", rf"(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)}) (?P<unit>day|week|fortnight|month|year)s? ago"),
        ("period", r"(?P<which>next|this|last) (?P<unit>week|month|year)"),
    )
)
DAY_MONTH = re.compile(
    rf"(?:on )?(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?"
    rf"|(?:on )?{_MONTH.replace('month', 'month_first')} (?:the )?{_DAY.replace('day', 'day_second')}"
    r"(?:,? (?P<year_last>(?:19|20)\d\d))?",
    re.I,
)
"""A day of the year and nothing else."""
DAYS = {"day": 1, "week": 7, "fortnight": 14}
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "now": 0, "yesterday": -1}


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text: where it stands, the days it covers, and how it is said without “next” or “in two weeks”."""

    start: int
    end: int
    first: date
    last: date
    words: str
    """Such as “on Friday, 27 November 2026”, or “in March 2027”."""
    plain: bool
    """False where people differ about the day meant, as with “next Friday” said on a Monday."""


_SINCE = re.compile(r"\b(?:since|ever since)(?: last| the)? $", re.I)
"""Whatever the verb, what has been so since Tuesday began on the last one."""


def find_date(text: str, today: date, *, past: bool = False) -> FoundDate | None:
    """The first date in `text`, read by somebody for whom it is `today`; None: there is none that exists.

    `past`: the sentence tells of the past, so that a day without a year is the latest one, not the next.
    """
    hits = ((found.start(), name, found) for name, form in _FORMS if (found := form.search(text)))
    for _, name, found in sorted(hits, key=lambda hit: (hit[0], -len(hit[2][0]))):
        days = _RESOLVE[name](found, today)
        if days is not None:
            gone = past or _SINCE.search(text, 0, found.start()) is not None
            days = _gone_by(days, name, found, today) if gone else days
            plain = name != "weekday" or found["which"] != "next" or (days[0] - today).days <= 7
            return FoundDate(found.start(), found.end(), *days, in_words(*days), plain)
    return None


def in_words(first: date, last: date) -> str:
    """The days from `first` to `last` as a sentence names them: a day, a week, a month or a year."""
    if first == last:
        return f"on {first:%A}, {first.day} {first:%B %Y}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"in {first.year}"
    if first.day == 1 and last == _month_end(first):
        return f"in {first:%B %Y}"
    if (first.weekday(), last - first) == (5, timedelta(days=1)):
        return f"on the weekend of {first.day} {first:%B %Y}"
    return f"in the week of {first.day} {first:%B %Y}"


def add_months(day: date, months: int) -> date:
    """The same day of the month so many months on; the month's last day where it has no such day."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


type _Days = tuple[date, date]


def _month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _gone_by(days: _Days, name: str, found: re.Match[str], today: date) -> _Days:
    """The same day or month, the last time it was."""
    first, last = days
    if first <= today:
        return days
    if name == "weekday":
        return first - timedelta(weeks=1), last - timedelta(weeks=1)
    if name in {"day_month", "month"} and not found["year"]:
        return add_months(first, -12), _month_end(add_months(first, -12)) if first != last else add_months(last, -12)
    return days


def _iso(found: re.Match[str], today: date) -> _Days | None:
    return _one_day(int(found["year"]), int(found["month_number"]), int(found["day"]))


def _day_month(found: re.Match[str], today: date) -> _Days | None:
    month, day = month_number(found["month"]), int(found["day"])
    if found["year"]:
        return _one_day(int(found["year"]), month, day)
    weekday = _weekday_named(found)
    if weekday is not None:  # “Sunday 2 February”, said in March, was this year's
        near = (today.year + 1, today.year, today.year - 1) if month < today.month else (today.year, today.year + 1)
        days = (_one_day(year, month, day) for year in near)
        if named := next((one for one in days if one and one[0].weekday() == weekday), None):
            return named
    this_year = _one_day(today.year, month, day)
    coming = this_year if this_year and this_year[0] >= today else _one_day(today.year + 1, month, day)
    return coming or this_year


def _weekday_named(found: re.Match[str]) -> int | None:
    """0 for the Monday of “Monday 4 May”."""
    named = found.groupdict().get("named")
    return next(n for n, day in enumerate(WEEKDAYS) if day.startswith(named.lower()[:3])) if named else None


def _slashed(found: re.Match[str], today: date) -> _Days | None:
    """Day first; where that is no date, month first."""
    day, month, year = int(found["day"]), int(found["month_number"]), int(found["year"])
    return _one_day(year, month, day) or _one_day(year, day, month)


def _last_month(found: re.Match[str], today: date) -> _Days:
    month = month_number(found["month"])
    first = date(today.year - (month >= today.month), month, 1)
    return first, _month_end(first)


def _ordinal(found: re.Match[str], today: date) -> _Days | None:
    """The next such day of a month, of that weekday if one is named."""
    day, weekday = int(found["day"]), _weekday_named(found)
    starts = add_months(today.replace(day=1), day < today.day)
    if weekday is not None:
        months = (add_months(starts, later) for later in range(12))
        days = (_one_day(month.year, month.month, day) for month in months)
        return next((one for one in days if one and one[0].weekday() == weekday), None)
    return _one_day(starts.year, starts.month, day)


def _holiday(found: re.Match[str], today: date) -> _Days:
    """The next one, unless its year is said."""
    month, day = next(at for name, at in HOLIDAYS.items() if re.fullmatch(name, found["holiday"], re.I))
    coming = date(today.year + ((month, day) < (today.month, today.day)), month, day)
    if found["year"]:
        coming = date(int(found["year"]), month, day)
    elif found["which"]:
        step = {"next": 1, "this": 0, "last": -1}[found["which"].lower()]
        coming = date(today.year + step, month, day)
    return coming, coming


def _week_from(found: re.Match[str], today: date) -> _Days:
    if found["weekday"]:
        return _weekday_week(found, today)
    return (today + timedelta(days=7 + _NEAR[found["near"].lower()]),) * 2


def _weekday_week(found: re.Match[str], today: date) -> _Days:
    """A week after the coming one."""
    wanted = WEEKDAYS.index(found["weekday"].lower())
    return (today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 8),) * 2


def _last_night(found: re.Match[str], today: date) -> _Days:
    return (today - timedelta(days=1),) * 2


def _weekend(found: re.Match[str], today: date) -> _Days:
    """Saturday and Sunday of this, the next or the last week."""
    weeks = {"next": 1, "last": -1}.get(found["which"].lower(), 0)
    saturday = today - timedelta(days=today.weekday() - 5) + timedelta(weeks=weeks)
    return saturday, saturday + timedelta(days=1)


def _this_day(found: re.Match[str], today: date) -> _Days:
    return today, today


def _month(found: re.Match[str], today: date) -> _Days:
    month = month_number(found["month"])
    year = int(found["year"]) if found["year"] else today.year + (month < today.month)
    first = date(year, month, 1)
    return first, _month_end(first)


def _year(found: re.Match[str], today: date) -> _Days:
    return _whole_year(int(found["year"]))


def _near(found: re.Match[str], today: date) -> _Days:
    return (today + timedelta(days=_NEAR[found["near"].lower()]),) * 2


def _day_after(found: re.Match[str], today: date) -> _Days:
    return (today + timedelta(days=2),) * 2


def _weekday(found: re.Match[str], today: date) -> _Days:
    wanted, which = WEEKDAYS.index(found["weekday"].lower()), (found["which"] or "").lower()
    if which == "last":
        return (today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1),) * 2
    if which == "next":
        return (today + timedelta(days=7 - today.weekday() + wanted),) * 2
    return (today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1),) * 2


def _ahead(found: re.Match[str], today: date) -> _Days | None:
    return _shifted(found, today, 1)


def _back(found: re.Match[str], today: date) -> _Days | None:
    return _shifted(found, today, -1)


def _period(found: re.Match[str], today: date) -> _Days:
    step = {"next": 1, "this": 0, "last": -1}[found["which"].lower()]
    unit = found["unit"].lower()
    if unit == "year":
        return _whole_year(today.year + step)
    if unit == "month":
        first = add_months(today.replace(day=1), step)
        return first, _month_end(first)
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    return monday, monday + timedelta(days=6)


_RESOLVE = {
    "iso": _iso,
    "slashed": _slashed,
    "last_month": _last_month,
    "ordinal": _ordinal,
    "holiday": _holiday,
    "week_from": _week_from,
    "weekday_week": _weekday_week,
    "last_night": _last_night,
    "weekend": _weekend,
    "this_day": _this_day,
    "day_month": _day_month,
    "month": _month,
    "year": _year,
    "near": _near,
    "day_after": _day_after,
    "weekday": _weekday,
    "ahead": _ahead,
    "back": _back,
    "period": _period,
}


def _shifted(found: re.Match[str], today: date, sign: int) -> _Days | None:
    """So many units from today; weeks and days to the day, months and years to the month or year."""
    word = found["count"].lower()
    count, unit = sign * (int(word) if word.isdigit() else NUMBERS[word]), found["unit"].lower()
    if unit in DAYS:
        return (today + timedelta(days=count * DAYS[unit]),) * 2
    if not 1 <= today.year + count < 9999:
        return None
    if unit == "year":
        return _whole_year(today.year + count)
    first = add_months(today.replace(day=1), count)
    return first, _month_end(first)


def _whole_year(year: int) -> _Days:
    return date(year, 1, 1), date(year, 12, 31)


def month_number(word: str) -> int:
    """1 to 12 for a month's name, whole or shortened."""
    return next(n for n, name in enumerate(MONTHS, start=1) if name.startswith(word.lower()[:3]))


def _one_day(year: int, month: int, day: int) -> _Days | None:
    try:
        return (date(year, month, day),) * 2
    except ValueError:  # 31 June
        return None
