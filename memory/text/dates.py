"""Resolves dates in words, such as “next Friday”, against the day the message was written.

on Friday      the next one after today        last Friday    the latest one before today
next Friday    the one in the week that starts on the coming Monday
in 3 weeks     21 days on; in months and years: the month or year
4 May          the next one from today on, unless a year is named; in May: the month, likewise
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memory.text.language import alternatives

type _Days = tuple[date, date]
type _Found = re.Match[str]

MAY_DO: Final = r"(?<!\d )(?<!(?:st|nd|rd|th|of|in|by|to) )(?<!(?:til|his|ext|ast|mid|rly|ate|nce) )(?-i:may)"
"""Pattern of the verb, which is no month as in “on 22 may”."""
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
                 "november", "december")  # fmt: skip
DAYS_AND_MONTHS: Final = alternatives(frozenset((*WEEKDAYS, *MONTHS)))
"""Their names, as alternatives of a pattern."""
_COUNTS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS: Final = {word: number for number, word in enumerate(_COUNTS, start=1)} | {"a": 1, "an": 1, "a couple of": 2}
HOLIDAYS: Final = {"halloween": (10, 31), "christmas eve": (12, 24), "christmas day": (12, 25), "boxing day": (12, 26),
                   "new year's eve": (12, 31), "new year's day": (1, 1)}  # fmt: skip
"""Month and day of the days that have a name instead of a date."""
_NEAR: Final = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "last night": -1, "the day after tomorrow": 2}
_UNITS: Final = {"day": 1, "week": 7, "fortnight": 14}
_STEP: Final = {"next": 1, "this": 0, "coming": 0, "last": -1}


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text: its place, the days it covers, and how it is said without “next” or “in two weeks”."""

    start: int
    end: int
    first: date
    last: date
    words: str
    """Such as “on Friday, 27 November 2026”, or “in March 2027”."""


def find_date(text: str, today: date, *, past: bool = False) -> FoundDate | None:
    """The first date in `text`, read on `today`; None: there is none that exists.

    `past`: the sentence is about the past, so that a day without a year is the latest one, not the next.
    """
    hits = ((found.start(), -len(found[0]), form, found) for form in _FORMS if (found := form[0].search(text)))
    for _, _, (_, resolve), found in sorted(hits, key=lambda hit: hit[:2]):
        try:
            days = resolve(found, today)
        except (ValueError, OverflowError, StopIteration):  # 31 June, the year 12000
            continue
        if past or _SINCE.search(text, 0, found.start()):
            days = _gone_by(days, found, today)
        return FoundDate(found.start(), found.end(), *days, in_words(*days))
    return None


def read_days(text: str, today: date, *, past: bool = False) -> tuple[date, date] | None:
    """The first and last of the days that all of `text` names, as people fill in a field; None: it isn't a date.

    Also reads “2019” and “May 2024”, and a point after a number: “24. 11. 2026”, “24. November”.
    """
    words = " ".join(text.split()).rstrip(".,")
    for pattern, instead in _TIDIED:
        words = pattern.sub(instead, words)
    for form in (words, f"in {words}"):
        found = find_date(form, today, past=past)
        if found and (found.start, found.end) == (0, len(form)):
            return found.first, found.last
    return None


def in_words(first: date, last: date) -> str:
    """The days from `first` to `last` as a sentence names them: a day, a week, a month or a year."""
    if first == last:
        return f"on {first:%A}, {first.day} {first:%B %Y}"
    if (first, last) == _year(first.year):
        return f"in {first.year}"
    if (first, last) == _month(first):
        return f"in {first:%B %Y}"
    if last - first != timedelta(days=6 if first.weekday() == 0 else 1 if first.weekday() == 5 else 0):
        return f"from {first.day} to {last.day} {last:%B %Y}"
    span = "weekend" if first.weekday() == 5 else "week"
    return f"{'on' if span == 'weekend' else 'in'} the {span} of {first.day} {first:%B %Y}"


def _gone_by(days: _Days, found: _Found, today: date) -> _Days:
    """The same day or month, the last time it was."""
    (first, last), groups = days, found.groupdict()
    if first <= today or groups.get("year") or not any(map(groups.get, ("weekday", "month", "day"))):
        return days
    if groups.get("weekday"):
        return first - timedelta(weeks=1), last - timedelta(weeks=1)
    earlier = _add_months(first, -12 if groups.get("month") else -1)
    if groups.get("until"):
        return earlier, _add_months(last, -12)
    return _month(earlier) if first != last else (earlier, earlier)


def _add_months(day: date, months: int) -> date:
    """The same day of the month so many months on; the month's last day where it has no such day."""
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, min(day.day, monthrange(day.year + years, month + 1)[1]))


def _month(day: date) -> _Days:
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def _year(year: int) -> _Days:
    return date(year, 1, 1), date(year, 12, 31)


def _one(day: date) -> _Days:
    return day, day


def _month_number(word: str) -> int:
    return next(n for n, name in enumerate(MONTHS, start=1) if name.startswith(word.lower()[:3]))


def _next_of(days: Iterable[date], found: _Found, today: date) -> _Days:
    """The first that is not over; where a weekday is named too, the first that is one."""
    named, days = (found.groupdict().get("named") or "").lower()[:3], list(days)
    if named and (fits := [day for day in days if WEEKDAYS[day.weekday()].startswith(named)]):
        return _one(fits[0])
    return _one(next(day for day in days if day >= today))


def _day_month(found: _Found, today: date, named: str = "day") -> _Days:
    month, day = _month_number(found["month"]), int(found[named])
    if found["year"]:
        return _one(date(int(found["year"]), month, day))
    years = [year for year in (today.year, today.year + 1, today.year - 1) if day <= monthrange(year, month)[1]]
    return _next_of([date(year, month, day) for year in years or [today.year]], found, today)


def _days_of_month(found: _Found, today: date) -> _Days:
    """From one day of a month to another, the next that aren't over."""
    last, _ = _day_month(found, today, "until")
    first = last.replace(day=int(found["day"]))
    if first >= last:
        raise ValueError(f"{first} isn't before {last}.")
    return first, last


def _ordinal(found: _Found, today: date) -> _Days:
    months = (_add_months(today.replace(day=1), later) for later in range(12))
    days = (one for month in months if (one := _add_months(month, 0)) and int(found["day"]) <= _month(one)[1].day)
    return _next_of([day for one in days if (day := one.replace(day=int(found["day"]))) >= today], found, today)


def _slashed(found: _Found, _: date) -> _Days:
    """Day first; where that is no date, month first."""
    day, month, year = int(found["day"]), int(found["number"]), int(found["year"])
    return _one(date(year, month, day) if month <= 12 else date(year, day, month))


def _holiday(found: _Found, today: date) -> _Days:
    month, day = HOLIDAYS[found["holiday"].lower()]
    return _one(date(int(found["year"] or today.year + ((month, day) < (today.month, today.day))), month, day))


def _month_named(found: _Found, today: date) -> _Days:
    month, groups = _month_number(found["month"]), found.groupdict()
    year = today.year - (month >= today.month) if groups.get("gone") else today.year + (month < today.month)
    return _month(date(int(groups.get("year") or year), month, 1))


def _weekday(found: _Found, today: date) -> _Days:
    wanted, which = WEEKDAYS.index(found["weekday"].lower()), (found["which"] or "").lower().split(" ")[-1]
    if which == "last":
        return _one(today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1))
    if which == "next":
        return _one(today + timedelta(days=7 - today.weekday() + wanted))
    return _one(today + timedelta(days=(wanted - today.weekday() - 1) % 7 + (8 if found["week"] else 1)))


def _weekend(found: _Found, today: date) -> _Days:
    saturday = today - timedelta(days=today.weekday() - 5) + timedelta(weeks=_STEP[found["which"].lower()])
    return saturday, saturday + timedelta(days=1)


def _away(found: _Found, today: date) -> _Days:
    """So many units from today; weeks and days to the day, months and years to the month or year."""
    word, unit = found["count"].lower(), found["unit"].lower()
    count = (int(word) if word.isdigit() else NUMBERS[word]) * (-1 if found.groupdict().get("ago") else 1)
    return _one(today + timedelta(days=count * _UNITS[unit])) if unit in _UNITS else _later(count, unit, today)


def _period(found: _Found, today: date) -> _Days:
    step, monday = _STEP[found["which"].lower()], today - timedelta(days=today.weekday())
    if found["unit"].lower() == "week":
        return monday + timedelta(weeks=step), monday + timedelta(weeks=step, days=6)
    return _later(step, found["unit"].lower(), today)


def _later(count: int, unit: str, today: date) -> _Days:
    return _year(today.year + count) if unit == "year" else _month(_add_months(today.replace(day=1), count))


_NAMED: Final = r"(?:(?P<named>mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_MONTH: Final = rf"(?P<month>{'|'.join(f'{m[:3]}(?:{m[3:]})?' for m in MONTHS)}|sept)\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_UNTIL: Final = r" ?(?:-|–|to|until|till) ?(?:the )?(?P<until>\d{1,2})(?:st|nd|rd|th)?(?![\d:]| ?[ap]m\b)"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)}) (?P<unit>day|week|fortnight|month|year)s?"
_GOES_ON: Final = (
    "at|in|on|for|from|to|by|with|near|till|until|and|but|or|so|as|if|when|where|because|while|which|that|this|then"
    "|after|before|since|i|we|you|he|she|it|they|my|our|your|his|her|their|its|the|an?|is|are|was|were|will|has|not"
    "|again|instead|early|late|already|please|though|too|maybe"
)
"""What may follow the number of a day; of another word it counts something else: “the 3rd floor”, “in 5th grade”."""
_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[_Found, date], _Days]], ...]] = tuple(
    (re.compile(rf"(?i)\b{form}\b"), resolve)
    for form, resolve in (
        (rf"(?:on )?{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)", _slashed),
        (rf"(?:on )?(?P<day>\d{{1,2}})[/.](?P<number>\d{{1,2}})[/.]{_YEAR}", _slashed),
        (
            rf"(?:on |from )?(?:the )?{_DAY}{_UNTIL}(?: of)? {_MONTH}(?:,? {_YEAR})?", _days_of_month),
        (rf"(?:on |from )?{_MONTH} (?:the )?{_DAY}{_UNTIL}(?:,? {_YEAR})?", _days_of_month),
        (rf"(?:on )?{_NAMED}(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?", _day_month),
        (rf"(?:on )?{_MONTH} (?:the )?{_DAY}(?!:)(?:,? {_YEAR})?", _day_month),
        (rf"(?:in )?(?P<gone>last) {_MONTH}", _month_named),
        (rf"(?:on |at |by )?(?P<holiday>{'|'.join(HOLIDAYS)})(?:,? (?:in )?{_YEAR})?", _holiday),
        (
            rf"(?:on )?{_NAMED}(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)(?! (?!(?:{_GOES_ON})\b)(?-i:[a-z]))"
            r"(?!-\w)", _ordinal),
        (r"(?:on |at )?(?:the )?(?:this )?(?P<which>this|next|last|coming) weekend", _weekend),
        (r"this (?:morning|afternoon|evening)", lambda _, today: _one(today)),
        (rf"in {_MONTH}(?: (?:of )?{_YEAR})?", _month_named),
        (rf"in {_YEAR}", lambda found, _: _year(int(found["year"]))),
        (rf"(?:on )?(?P<near>{'|'.join(_NEAR)})(?: (?:morning|afternoon|evening|night))?",
         lambda found, today: _one(today + timedelta(days=_NEAR[found["near"].lower()]))),
        (
            r"(?<!every )(?<!each )(?:on )?"
            r"(?:(?P<which>this coming|this|next|last|(?<!is )(?<!are )(?<!'s )(?<!be )coming)"
            rf" )?(?P<weekday>{'|'.join(WEEKDAYS)})(?P<week> week)?"
            r"(?! (?:morning|afternoon|evening|night)s\b)", _weekday),
        (rf"(?<!first )(?<!time )in {_COUNT}", _away),
        (rf"{_COUNT} (?P<ago>ago)", _away),
        (r"(?<!the )(?P<which>next|this|last) (?P<unit>week|month|year)", _period),
    )
)  # fmt: skip
_TIDIED: Final = ((re.compile(r"(\d)\. ?(?=[^\W\d])"), r"\1 "), (re.compile(r"(\d\.) (?=\d)"), r"\1"))
"""A point after a number, which no form above has."""
_SINCE: Final = re.compile(r"(?i)\b(?:since|ever since)(?: last| the)? $")
"""Whatever the verb, what has been so since Tuesday started on the last one."""
