"""CSV reader: one line per row that names the column of each value, so that each row can be found alone."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from memory.documents.readers import limits
from memory.documents.readers.formats import NotReadableError
from memory.documents.readers.text_files import decode

DELIMITERS: Final = ",;\t|"
SAMPLE: Final = 8_192
"""Characters from which the delimiter is guessed."""


def read(content: bytes) -> str:
    """The table's rows as a Markdown list.

    Raises:
        NotReadableError: it isn't text, or too large.
    """
    text = decode(content)
    try:
        return "\n".join(_lines(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))))
    except csv.Error as error:
        raise NotReadableError(f"This table cannot be read: {error}.") from error


def _delimiter(text: str) -> str:
    try:
        return csv.Sniffer().sniff(text[:SAMPLE].rpartition("\n")[0] or text[:SAMPLE], DELIMITERS).delimiter
    except csv.Error:
        return max(DELIMITERS, key=text[:SAMPLE].count)


def _lines(rows: Iterator[list[str]]) -> Iterator[str]:
    names: list[str] = []
    for number, row in enumerate(rows):
        if number > limits.TABLE_ROWS:
            raise NotReadableError(f"This table has more than {limits.TABLE_ROWS:,} rows; keep those that matter.")
        if len(row) > limits.TABLE_COLUMNS:
            raise NotReadableError(f"This table has more than {limits.TABLE_COLUMNS} columns; keep those that matter.")
        values = [" ".join(value.split()) for value in row]
        if number == 0 and _are_names(values):
            names = values
        elif any(values):
            yield "- " + "; ".join(_named(names, values))


def _are_names(values: Sequence[str]) -> bool:
    """Whether the first row names the columns: each cell has a text, none repeats, and none is a number."""
    return all(values) and len(set(values)) == len(values) and not any(value[-1].isdigit() for value in values)


def _named(names: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    for place, value in enumerate(values):
        if value:
            yield f"{names[place]}: {value}" if place < len(names) else value
