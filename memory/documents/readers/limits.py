"""Limits of file readers. Beyond them the user gets a sentence, never half a document."""

from typing import Final

CHARACTERS: Final = 2_000_000
"""Of text from one file, some 700 pages: a revision stays a row, and its passages are indexed within a minute."""
SECONDS: Final = 30
"""For one file, processor time and waiting. A book of 700 pages takes three."""
SECONDS_AT_LEAST, SECONDS_PER_MEGABYTE = 4, 10
"""Processor time by size, at most SECONDS: a small file that takes long is made to."""
MEMORY: Final = 1 << 30
"""Bytes of the reading process. The largest honest file of 20 MB took 450 MB (a JSON of empty lists)."""
PDF_PAGES: Final = 3_000
"""More pages than two million characters fill; a few bytes may claim a hundred thousand."""
PDF_PAGE_BYTES: Final = 100
"""Of the file for each page, beyond PDF_FEW_PAGES: less, and pages share their content."""
PDF_FEW_PAGES: Final = 50
XML_ELEMENTS: Final = 400_000
"""Of a Word file's parts; 300 pages take a quarter million. The converter builds several objects for each."""
ZIP_ENTRIES: Final = 10_000
"""Parts of a Word file; an honest one has a part for each picture and some twenty more."""
XML_BYTES: Final = 15_000_000
"""Of a Word file's text parts, unpacked; 300 pages take five million. Pictures are never unpacked."""
TABLE_ROWS: Final = 20_000
"""A longer table is data to compute with, not text to be reminded of."""
TABLE_COLUMNS: Final = 500
JSON_DEPTH: Final = 60
"""Nesting depth. Real files are shallower; a hostile one is a million deep."""


def seconds_for(size: int) -> int:
    """Processor time for a file of so many bytes."""
    return min(SECONDS, SECONDS_AT_LEAST + SECONDS_PER_MEGABYTE * size // 1_000_000)
