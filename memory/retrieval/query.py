"""Parses a question: whom it names, which time it means, what it asks for, and the texts to search with.

Pure: `parse_question` takes the text, the speakers of the user's conversations, and the previous turns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from memory.retrieval.question_kinds import KINDS, QuestionKind, kind_of
from memory.text.message_kinds import is_small_talk

QUESTION_ENDS: Final = 600
"""Characters at each end of a longer message that count as the question: users say before or after a pasted text what
it is
for. Together they fill the embedding model's input."""

ASKS_FOR_LATEST: Final = re.compile(
    r"\b(now(adays)?|current(ly)?|latest|newest|today|these days|at the moment|recent(ly)?|still|any ?more)\b",
    re.IGNORECASE,
)
"""Words that ask for the latest state."""

ASKS_PAST: Final = re.compile(
    r"\b(used to|before|former(ly)?|previous(ly)?|earlier|back then|in the past|once|originally|at first|history"
    r"|over the years|until|(my|our|the) old|ever|was|were|had|what('s| has)? (happened|become|became)"
    r"|do (i|we) still|(am|are) (i|we) still"
    r"|did(?! (i|we) (just |ever )?(say|tell|mention|ask|call|name|decide|choose|pick|agree|settle|plan)\b))\b",
    re.IGNORECASE,
)
"""Words that ask about the past: then what has been replaced or has ended is recalled, too, and says so."""

ASKS_WHEN: Final = re.compile(
    r"^\W*(when|what (date|day|month|year|time)|how long)\b|\bwhen (did|was|is|were|do|does|has|have|will)\b",
    re.IGNORECASE,
)
"""How a question for a time starts."""

TIME_WORDS: Final = frozenset(
    [
        *("yesterday", "today", "tonight", "tomorrow", "morning", "last", "next", "ago", "recently", "just", "soon"),
        *("week", "weekend", "month", "year"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "march", "april", "june", "july", "august", "september", "october", "november"),
        "december",
    ]
)
"""A passage with one of these words, a year, or a day of the month (“the 3rd”) may answer such a question. A set: for
two
hundred candidates, a pattern took as long as the rest of the ranking."""
_YEAR_OR_DAY: Final = re.compile(r"(19|20)\d\d|\d{1,2}(st|nd|rd|th)", re.IGNORECASE)

FOLLOWS_UP: Final = re.compile(
    r"^\W*(and|but|so|what about|how about|why|really)\b"
    r"|\b(s?he|him|her|hers|his|they|them|their|it|its|that|those|this|these|there|then|one)\b",
    re.IGNORECASE,
)
"""A question with such a word may refer to something named before it."""

CONTEXT_WEIGHT: Final = 0.3
"""Weight of a word of the previous turns, relative to a word of the question."""
CONTEXT_WORDS: Final = 12
"""Maximum words of previous turns, the latest ones: more would drown the question."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Period:
    """A time the question refers to: a day, month, year or range, both ends included."""

    first: date
    last: date
    yearly: bool = False
    """The question names no year: the period in any year."""

    def match(self, when: date) -> float:
        """1 within the period, lower the further outside it: events are mentioned in the days after them."""
        if not self.yearly:
            return self._match(when)
        return max(self._in_year(year)._match(when) for year in (max(1, when.year - 1), when.year))

    def _match(self, when: date) -> float:
        if when < self.first:
            return math.exp(-(self.first - when).days / TAIL_DAYS)
        return math.exp(-max(0, (when - self.last).days) / self._tail_days)

    def reporting_days(self, year: int) -> Iterator[tuple[date, date]]:
        """First and last day on which it is likely mentioned; for a yearly one, in `year` and YEARS_BACK before."""
        years = range(max(1, year - YEARS_BACK), year + 1)
        for period in (self._in_year(each) for each in years) if self.yearly else (self,):
            tail = min(period._tail_days, (date.max - period.last).days)
            yield period.first, period.last + timedelta(days=tail)

    @property
    def _tail_days(self) -> float:
        """Days after it in which the match falls to a third."""
        return TAIL_DAYS + min((self.last - self.first).days, MAX_TAIL_DAYS) / 2

    def _in_year(self, year: int) -> Period:
        first = _day(year, self.first.month, self.first.day)
        return Period(first, first + (self.last - self.first))


TAIL_DAYS: Final = 5.0
"""Days in which a day's match falls to a third; a month's falls a little slower. Date matching adds 2.1 points of
evidence to the first ten."""
MAX_TAIL_DAYS: Final = 30
YEARS_BACK: Final = 30
"""Years searched for a day without a year."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as search and ranking use it."""

    text: str
    """As asked; only the start and end of a long message."""
    speakers: frozenset[str]
    """Speakers of the user's conversations that it names, spelled as in the messages."""
    named: frozenset[str]
    """All its words in lower case: a memory may use one as a name."""
    periods: tuple[Period, ...]
    wants_latest: bool
    asks_past: bool
    """It asks what was true once."""
    wants_time: bool
    semantic_query: str
    """The text to embed: in the third person, as facts are, without speakers' names."""
    keyword_query: str
    """The text for full-text search: without speakers' names."""
    context: str
    """Words of the previous turns, which weigh less (`CONTEXT_WEIGHT`); empty if the question needs no context."""
    is_small_talk: bool
    kind: QuestionKind


def parse_question(
    text: str,
    authors: Collection[str],
    now: datetime,
    context: Sequence[str] = (),
    kinds: Sequence[QuestionKind] = KINDS,
) -> Question:
    """Parse `text`. `authors`: speakers in the user's conversations; `context`: the texts of the last turns; `kinds`:
    what it may be told apart as."""
    clean = ends(text)
    speakers = frozenset(author for author in authors if _names(author, clean))
    times = tuple(periods(clean, now.date()))
    kind = kind_of(clean, kinds)
    stripped = without_names(kind.topic(clean), speakers)
    before = _before(stripped, context)
    third = in_third_person(stripped)
    return Question(
        text=clean,
        speakers=speakers,
        named=frozenset(words_of(clean)),
        periods=times,
        wants_latest=bool(ASKS_FOR_LATEST.search(clean)),
        asks_past=bool(ASKS_PAST.search(clean))
        or any(not period.yearly and period.last < now.date() for period in times),
        wants_time=bool(ASKS_WHEN.search(clean)),
        semantic_query=f"{third} ({before})" if before else third,
        keyword_query=stripped,
        context=before,
        is_small_talk=is_small_talk(clean),
        kind=kind,
    )


def ends(text: str) -> str:
    """The text; only the start and end of a long one."""
    clean = text.replace("\x00", " ")
    if len(clean) <= 2 * QUESTION_ENDS:
        return clean
    return f"{clean[:QUESTION_ENDS]} {clean[-QUESTION_ENDS:]}"


def words_of(text: str) -> list[str]:
    """The words in lower case."""
    return words_as_written(text.lower())


def words_as_written(text: str) -> list[str]:
    """The words. ASCII, which most text is, takes a fifth of the pattern's time."""
    if text.isascii():
        return text.encode().translate(_APART).decode().split()
    return _WORD.findall(text)


def names_a_time(text: str) -> bool:
    """Whether a passage names a time."""
    words = words_of(text)
    return not TIME_WORDS.isdisjoint(words) or any(_YEAR_OR_DAY.fullmatch(word) for word in words if word[0].isdigit())


# Names -----------------------------------------------------------------------------------------------------------


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without these people's names.

    “When did Caroline …” is closest to every “Thanks, Caroline!”: with names, the first ten by meaning have 25 % of the
    evidence, without them 64 %. The person counts separately (`name_match`).
    """
    for word in _name_words(names):
        text = re.sub(rf"\b{re.escape(word)}(['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", text).strip()


def _names(author: str, text: str) -> bool:
    """Whether the text names this author, by the full name or its first word."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in _calls(author))


def _calls(author: str) -> list[str]:
    first, *rest = author.split() or [author]
    return [author, first] if rest and len(first) > 1 else [author]


def _name_words(names: Iterable[str]) -> list[str]:
    return sorted({call for name in names for call in _calls(name) if call}, key=lambda call: (-len(call), call))


# Persons ---------------------------------------------------------------------------------------------------------

_THIRD_PERSON: Final = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), said)
    for pattern, said in (
        (r"my|mine|our|ours", "the user's"),
        (r"am i|are we", "is the user"),
        (r"i am|i[’']m|we are|we[’']re", "the user is"),
        (r"i[’']ve|we[’']ve", "the user has"),
        (r"i|me|we|us|myself", "the user"),
    )
)
"""Facts are statements about “the user”. A question in the third person is closer to its answer and no closer to the
rest: of 20 statements and 55 questions, 1.5 wrong ones pass instead of 1.9. For passages of conversations it makes no
difference (61.0 instead of 61.6 % of the evidence among ten), so one vector serves both."""


def in_third_person(question: str) -> str:
    """“Where does my sister live?” → “Where does the user's sister live?”"""
    for pattern, said in _THIRD_PERSON:
        question = pattern.sub(said, question)
    return question


# Previous turns --------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[^\W_]+")
_APART: Final = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
"""Maps each ASCII byte to itself if alphanumeric, else to a space."""
_CONTENT: Final = re.compile(r"[^\W\d_][\w’'-]{2,}")
EMPTY_WORDS: Final = _words("""
    about also and any are because been but can could did does doing don don't for from get going had has have her
    hers him his how into its just know let like made make many may more much not now off one only our out over
    really she should some than that that's the their them then there these they thing things think this those too
    very want was way well were what when where which who why will with would yes you your
""")


def _before(question: str, context: Sequence[str]) -> str:
    """Names, then other words, of the last turns, if the question may refer to them."""
    if not context or not FOLLOWS_UP.search(question):
        return ""
    said = set(words_of(question))
    latest = [word for text in reversed(context) for word in _CONTENT.findall(ends(text))]
    useful = [word for word in latest if word.lower() not in EMPTY_WORDS | said]
    ordered = sorted(dict.fromkeys(useful), key=lambda word: not word[0].isupper())
    return " ".join(ordered[:CONTEXT_WORDS])


# Dates -----------------------------------------------------------------------------------------------------------

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS: Final = (
    {name: n for n, name in enumerate(_MONTHS, 1)} | {m[:3]: n for n, m in enumerate(_MONTHS, 1)} | {"sept": 9}
)
_MONTH_NAMES: Final = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_NAMED_DATE: Final = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH_NAMES})\b\.?"
    r"(?:,? (?P<after>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,? ?(?:of )?(?P<year>\d{4}))?",
    re.IGNORECASE,
)
_ALSO_WORDS: Final = frozenset({"may", "march", "mar", "dec", "sep"})
_AMBIGUOUS: Final = re.compile(r"\b(in|of|during|last|this|since|until|early|late|mid)[ -]$", re.IGNORECASE)
"""After one of these words, an ambiguous word such as “may” is the month."""
_ISO_DATE: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_AGO: Final = re.compile(
    r"\b(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (?P<unit>day|week|month|year)s? ago\b",
    re.IGNORECASE,
)
_COUNTS: Final = {"a": 1, "an": 1} | {
    word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)
}
_LAST: Final = re.compile(r"\blast (?P<unit>week|month|year|night)\b|\b(?P<yesterday>yesterday)\b", re.IGNORECASE)
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


def periods(text: str, today: date) -> Iterator[Period]:
    """The times named in the text: “7 May 2023”, “May 2023”, “in May”, “2022”, “yesterday”, “three weeks ago”."""
    named = [*_named_dates(text), *_iso_dates(text)]
    yield from named
    if not named:
        for match in _YEAR.finditer(text):
            year = int(match[0])
            yield Period(date(year, 1, 1), date(year, 12, 31))
    yield from _relative(text, today)


def _named_dates(text: str) -> Iterator[Period]:
    for match in _NAMED_DATE.finditer(text):
        day, year = match["before"] or match["after"], match["year"]
        is_plain = day is None and year is None
        if is_plain and match["month"].lower() in _ALSO_WORDS and not _AMBIGUOUS.search(text[: match.start()]):
            continue
        month = _MONTH_NUMBERS[match["month"].lower()]
        yield _period(int(year) if year else None, month, int(day) if day else None)


def _iso_dates(text: str) -> Iterator[Period]:
    for match in _ISO_DATE.finditer(text):
        month, day = int(match["month"]), match["day"]
        if 1 <= month <= 12:
            yield _period(int(match["year"]), month, int(day) if day else None)


def _period(year: int | None, month: int, day: int | None) -> Period:
    in_year = year or 2000  # a leap year, so that 29 February exists
    if day is not None and 1 <= day <= 31:
        the_day = _day(in_year, month, day)
        return Period(the_day, the_day, yearly=year is None)
    return Period(date(in_year, month, 1), _last_of_month(in_year, month), yearly=year is None)


def _relative(text: str, today: date) -> Iterator[Period]:
    for match in _AGO.finditer(text):
        count = _COUNTS.get(match["count"].lower()) or int(match["count"])
        days = _UNIT_DAYS[match["unit"].lower()]
        around = today - timedelta(days=count * days)
        yield Period(around - timedelta(days=days // 2), around + timedelta(days=days // 2))
    for match in _LAST.finditer(text):
        days = 1 if match["yesterday"] else _UNIT_DAYS.get(match["unit"].lower(), 1)
        yield Period(today - timedelta(days=2 * days - 1), today - timedelta(days=1))


def _day(year: int, month: int, day: int) -> date:
    """The day, or the month's last day if it is shorter."""
    return min(date(year, month, 1) + timedelta(days=day - 1), _last_of_month(year, month))


def _last_of_month(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1) if year < date.max.year else date(year, 12, 31)
    return following - timedelta(days=1)
