"""A statement with another value in the place of an old one, or without a part of it. Pure."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from memory.text.dates import MONTHS, WEEKDAYS, find_date

DATED: Final = re.compile(rf"(?:{'|'.join(map(str.title, WEEKDAYS))}), \d{{1,2}} [A-Z][a-z]{{2,8}} \d{{4}}")
"""A day as statements write it: “Friday, 27 November 2026”."""
ORDINAL: Final = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)")
"""A day of the month that a statement names: “moved to the 19th”."""
HALF_A_YEAR: Final = timedelta(days=182)
"""Before and behind a day, a day of a month without its year is the nearest one."""
_AND: Final = re.compile(r",? and |, ")
_NO_ITEM: Final = re.compile(
    r"(?:mostly|mainly|usually|just|only|to|which|who|where|when|while|because|since|as|for|in|on|at|with|but|so)\b"
    r"|(?:the|their|his|her|it|they|s?he) [\w-]+ (?:[\w-]{3,}s|is|are|has|have|was)\b",
    re.I,
)
"""Opens what is no further item: “PureGym, mostly for the rowing machine”, “a Yamaha, and the chain squeaks”."""
_PART_OF_MONTH: Final = re.compile(r"\b(?:(?:the )?(?:very )?(?:end|start|beginning|middle) of|late|early|mid) $")
"""Before a month, and not before a day of it."""


def replaced_statement(statement: str, old: str, value: str) -> str:
    """The statement with `value` where it has the words `old`; empty if it doesn't have them."""
    end = r"(?=s?\b)" if old.casefold() in WEEKDAYS else r"(?!\w)"  # “on Tuesdays”
    place = re.search(rf"(?<!\w){re.escape(old)}{end}", statement, re.I) if old else None
    if place is None or not value:
        return ""
    other = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.I)
    before, after = statement[: place.start()], statement[place.end() :]
    if other.search(before) or other.search(after):  # “tea over coffee” turns round; of “Mubi and Netflix” one is left
        rest = without_part(statement, place.start(), place.end())
        if rest != statement:
            return rest
        before, after = (other.sub(lambda _: old, side, count=1) for side in (before, after))
        return f"{before}{value}{after}"
    days = (day for day in DATED.finditer(statement) if day.start() <= place.start() < day.end())
    if (day := next(days, None)) and (moved := _other_day(day[0], value)):
        return f"{statement[: day.start()]}{moved}{statement[max(day.end(), place.end()) :]}"
    if value[0].isdigit() and old.casefold() in MONTHS:
        before = _PART_OF_MONTH.sub("", before)
    article = re.search(r"\b(an?) $", before)
    if article:
        right = "an" if value[0].casefold() in "aeiou" else "a"
        before = f"{before[: article.start()]}{right} "
    return f"{before}{value}{after}"


def moved_to_day_said(statement: str, quote: str, today: date) -> str:
    """The statement on the day that the words of a change name, today or later: “dinner on Saturday instead”."""
    days, said = DATED.findall(statement), find_date(quote, today)
    if len(days) != 1 or said is None or said.first != said.last or said.first < today:
        return statement
    return statement.replace(days[0], f"{said.first:%A}, {said.first.day} {said.first:%B %Y}")


def without_part(statement: str, start: int, end: int) -> str:
    """The statement without the part of a list that has these words: “has a garden and a balcony”; else the same."""
    seams = list(_AND.finditer(statement))
    before = next((seam for seam in reversed(seams) if seam.end() <= start), None)
    after = next((seam for seam in seams if seam.start() >= end and not _NO_ITEM.match(statement, seam.end())), None)
    if before is not None and (after is None or "and" in before[0]):
        return statement[: before.start()] + (statement[after.start() :] if after else ".")
    if after is None:
        return statement
    if before is not None:
        return statement[: before.start()] + statement[after.start() :]
    first = re.search(r"(?:an? |the |their |some |\w+ )?$", statement[:start])
    head = first.start() if first and first[0].strip() in ("a", "an", "the", "their", "some") else start
    return statement[:head] + statement[after.end() :]


def _other_day(dated: str, value: str) -> str:
    """“Friday, 27 November 2026” moved to the nearest such weekday, or day of a month; empty if it is neither."""
    day = datetime.strptime(dated, "%A, %d %B %Y").replace(tzinfo=UTC).date()
    if ordinal := ORDINAL.fullmatch(value):
        try:
            moved = day.replace(day=int(ordinal[1]))
        except ValueError:  # the 31st of June
            return ""
    elif value.casefold() in WEEKDAYS:
        moved = day + timedelta(days=(WEEKDAYS.index(value.casefold()) - day.weekday() + 3) % 7 - 3)
    else:
        found = find_date(value, day - HALF_A_YEAR)
        if found is None or found.first != found.last or found.end - found.start < len(value.strip(" .")):
            return ""
        moved = found.first
    return f"{moved:%A}, {moved.day} {moved:%B %Y}"
