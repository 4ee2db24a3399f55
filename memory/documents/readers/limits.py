"""Limits of file readers. Beyond them the user gets a sentence, never half a document."""

from typing import Final

CHARACTERS: Final = 2_000_000
"""Characters of text from one file, about 700 pages: a revision stays one row, and its passages are indexed within a
minute."""
SECONDS: Final = 30
"""Seconds for one file, of processor time and of waiting. A book of 700 pages takes three."""
SECONDS_AT_LEAST, SECONDS_PER_MEGABYTE = 4, 10
"""Seconds of processor time by size, at most SECONDS: a small file that takes longer was made to."""
MEMORY: Final = 1 << 30
"""Bytes of memory of the reading process. The largest ordinary file of 20 MB took 450 MB (a JSON of empty lists)."""
PDF_PAGES: Final = 3_000
"""More pages than two million characters fill; a few bytes can claim a hundred thousand."""
PDF_PAGE_BYTES: Final = 100
"""Minimum bytes of the file per page, beyond PDF_FEW_PAGES: with fewer, pages share their content."""
PDF_FEW_PAGES: Final = 50
XML_ELEMENTS: Final = 400_000
"""Elements in a Word file's parts; 300 pages have about 250,000. The converter builds several objects for each."""
ZIP_ENTRIES: Final = 10_000
"""Parts of a Word file; an ordinary one has a part for each picture and about twenty more."""
XML_BYTES: Final = 15_000_000
"""Unpacked bytes of a Word file's text parts; 300 pages take five million. Pictures are never unpacked."""
TABLE_ROWS: Final = 20_000
"""Rows: a longer table is data to compute with, not text to remember."""
TABLE_COLUMNS: Final = 500
JSON_DEPTH: Final = 60
"""Nesting depth. Ordinary files are shallower; a hostile one may be a million levels deep."""


def seconds_for(size: int) -> int:
    """Seconds of processor time for a file of this many bytes."""
    return min(SECONDS, SECONDS_AT_LEAST + SECONDS_PER_MEGABYTE * size // 1_000_000)
