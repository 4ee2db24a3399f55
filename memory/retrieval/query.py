"""Parses a question: who it names, which time it means, what it asks for, and the texts to search with.

Pure: `parse_question` takes the text, the speakers of the user's conversations, and the previous turns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from memory.retrieval.cues import ENGLISH, Cues, cues_for
from memory.retrieval.question_kinds import KINDS, PLAIN, QuestionKind, kind_of
from memory.text.message_kinds import is_small_talk

QUESTION_ENDS: Final = 600
"""Characters at each end of a longer message that count as the question: users say before or after a pasted text what
it is
for. Together they fill the embedding model's input."""

_YEAR_OR_DAY: Final = re.compile(r"(19|20)\d\d|\d{1,2}(st|nd|rd|th)", re.IGNORECASE)

CONTEXT_WEIGHT: Final = 0.3
"""Weight of a word of the previous turns, relative to a word of the question."""
CONTEXT_WORDS: Final = 12
"""Maximum words of previous turns, the latest ones: more would drown the question."""


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
    kind: QuestionKind = PLAIN
    cues: Cues = ENGLISH
    """Those of its language."""


def parse_question(
    text: str,
    authors: Collection[str],
    now: datetime,
    context: Sequence[str] = (),
    kinds: Sequence[QuestionKind] = KINDS,
    languages: Sequence[str] = (ENGLISH.language,),
) -> Question:
    """Parse `text`. `authors`: speakers in the user's conversations; `context`: the texts of the last turns; `kinds`:
    those it may be of; `languages`: those the user writes in (`User.words_in`)."""
    clean = ends(text)
    cues = cues_for(clean, languages)
    speakers = frozenset(author for author in authors if _names(author, clean))
    times = tuple(periods(clean, now.date(), cues))
    kind = kind_of(clean, kinds)
    stripped = without_names(kind.topic(clean), speakers)
    before = _before(stripped, context, cues)
    third = in_third_person(stripped, cues)
    return Question(
        text=clean,
        speakers=speakers,
        named=frozenset(words_of(clean)),
        periods=times,
        wants_latest=bool(cues.asks_for_latest.search(clean)),
        asks_past=bool(cues.asks_past.search(clean))
        or any(not period.yearly and period.last < now.date() for period in times),
        wants_time=bool(cues.asks_when.search(clean)),
        semantic_query=f"{third} ({before})" if before else third,
        keyword_query=_telling(stripped, cues),
        context=before,
        is_small_talk=is_small_talk(clean),
        kind=kind,
        cues=cues,
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


def names_a_time(text: str, cues: Cues = ENGLISH) -> bool:
    """Whether a passage in the language of the cues names a time."""
    words = words_of(text)
    return not cues.time_words.isdisjoint(words) or any(
        _YEAR_OR_DAY.fullmatch(word) for word in words if word[0].isdigit()
    )


# Names -----------------------------------------------------------------------------------------------------------


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without these people's names.

    “When did Caroline …” is closest to every “Thanks, Caroline!”: with names, the first ten by meaning have 25 % of the
    evidence, without them 64 %. The name counts separately (`name_match`).
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


def _telling(text: str, cues: Cues) -> str:
    """The text without the words that name nothing, if the language's full-text search keeps them."""
    if not cues.drops_empty_words:
        return text
    return " ".join(word for word in text.split() if _bare(word) not in cues.empty_words)


def _bare(word: str) -> str:
    return word.strip("¿?¡!.,;:…()«»“”„\"'’").lower()


# Persons ---------------------------------------------------------------------------------------------------------


def in_third_person(question: str, cues: Cues = ENGLISH) -> str:
    """“Where does my sister live?” → “Where does the user's sister live?”

    Facts are statements about “the user”. A question in the third person is closer to its answer and no closer to the
    rest: of 20 statements and 55 questions, 1.5 wrong ones pass instead of 1.9. For passages of conversations it makes
    no difference (61.0 instead of 61.6 % of the evidence among ten), so one vector serves both.
    """
    for pattern, said in cues.third_person:
        question = pattern.sub(said, question)
    return question


# Previous turns --------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[^\W_]+")
_APART: Final = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
"""Maps each ASCII byte to itself if alphanumeric, else to a space."""
_CONTENT: Final = re.compile(r"[^\W\d_][\w’'-]{2,}")


def _before(question: str, context: Sequence[str], cues: Cues) -> str:
    """Names, then other words, of the last turns, if the question may refer to them."""
    if not context or not cues.follows_up.search(question):
        return ""
    said = set(words_of(question))
    latest = [word for text in reversed(context) for word in _CONTENT.findall(ends(text))]
    useful = [word for word in latest if word.lower() not in cues.empty_words | said]
    ordered = sorted(dict.fromkeys(useful), key=lambda word: not word[0].isupper())
    return " ".join(ordered[:CONTEXT_WORDS])


# Dates -----------------------------------------------------------------------------------------------------------

_ISO_DATE: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def periods(text: str, today: date, cues: Cues = ENGLISH) -> Iterator[Period]:
    """The times named in the text: “7 May 2023”, “May 2023”, “in May”, “2022”, “yesterday”, “three weeks ago”."""
    named = [*_named_dates(text, cues), *_iso_dates(text)]
    yield from named
    if not named:
        for match in _YEAR.finditer(text):
            year = int(match[0])
            yield Period(date(year, 1, 1), date(year, 12, 31))
    yield from _relative(text, today, cues)


def _named_dates(text: str, cues: Cues) -> Iterator[Period]:
    for match in cues.named_date.finditer(text):
        day, year = match["before"] or match["after"] or None, match["year"]
        is_plain = day is None and year is None
        if (
            is_plain
            and match["month"].lower() in cues.also_words
            and not cues.before_month.search(text[: match.start()])
        ):
            continue
        month = cues.month_numbers[match["month"].lower()]
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


def _relative(text: str, today: date, cues: Cues) -> Iterator[Period]:
    for match in cues.ago.finditer(text):
        count = cues.counts.get(match["count"].lower()) or int(match["count"])
        days = cues.unit_days[match["unit"].lower()]
        around = today - timedelta(days=count * days)
        yield Period(around - timedelta(days=days // 2), around + timedelta(days=days // 2))
    for match in cues.last.finditer(text):
        days = 1 if match["yesterday"] else cues.unit_days[match["unit"].lower()]
        yield Period(today - timedelta(days=2 * days - 1), today - timedelta(days=1))


def _day(year: int, month: int, day: int) -> date:
    """The day, or the month's last day if it is shorter."""
    return min(date(year, month, 1) + timedelta(days=day - 1), _last_of_month(year, month))


def _last_of_month(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1) if year < date.max.year else date(year, 12, 31)
    return following - timedelta(days=1)
