"""Readable file formats, recognized by content; the name only distinguishes kinds of text."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from memory.documents.readers import limits


class NotReadableError(Exception):
    """The file can't be read; the message is one sentence for its owner."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its everyday name, its extensions, and its media type."""

    name: str
    label: str
    endings: tuple[str, ...]
    media_type: str


TEXT: Final = Format("text", "plain text", (".txt", ".text", ".log"), "text/plain")
MARKDOWN: Final = Format("markdown", "Markdown", (".md", ".markdown", ".mdown"), "text/markdown")
PDF: Final = Format("pdf", "PDF", (".pdf",), "application/pdf")
WORD: Final = Format(
    "word", "Word (.docx)", (".docx",), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)
WEB: Final = Format("web", "HTML", (".html", ".htm", ".xhtml"), "text/html")
TABLE: Final = Format("table", "CSV", (".csv", ".tsv"), "text/csv")
RECORDS: Final = Format("records", "JSON", (".json",), "application/json")

FORMATS: Final = (TEXT, MARKDOWN, PDF, WORD, WEB, TABLE, RECORDS)
ENDINGS: Final = {ending: format_ for format_ in FORMATS for ending in format_.endings}

ZIP_ENTRY: Final = b"PK\x01\x02"
"""Each part in the directory of a zip starts with it."""
NOT_READ: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\xd0\xcf\x11\xe0", "an old Office file; save it as .docx or PDF"),
    (b"{\\rtf", "an RTF file; save it as .docx or PDF"),
    (b"PK\x03\x04", "an archive or another kind of Office file"),
    (b"PK\x05\x06", "an archive or another kind of Office file"),
    (b"\x1f\x8b", "an archive"),
    (b"7z\xbc\xaf", "an archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"SQLite format 3", "a database"),
)
"""First bytes of files that people often try and that can't be read, with their names."""

KNOWN: Final = "Recall reads text, Markdown, PDF, Word (.docx), HTML, CSV and JSON."


def recognize(name: str, content: bytes) -> Format:
    """The format of a file, by its content, then by its extension; unknown text is plain text.

    Raises:
        NotReadableError: it is empty or in no readable format.
    """
    if not content.strip(b"\x00 \t\r\n"):
        raise NotReadableError("This file is empty.")
    if b"%PDF-" in content[:1024]:  # readers allow some bytes before it
        return PDF
    if content.startswith(b"PK\x03\x04") and _is_word(content):
        return WORD
    for beginning, what in NOT_READ:
        if content.startswith(beginning):
            raise NotReadableError(f"This is {what}. {KNOWN}" if ";" not in what else f"This is {what}.")
    named = ENDINGS.get(PurePath(name.lower()).suffix, TEXT)
    if named in (PDF, WORD):
        raise NotReadableError(f"This file is called {named.label}, but it is none.")
    return named


def _is_word(content: bytes) -> bool:
    if content.count(ZIP_ENTRY) > limits.ZIP_ENTRIES:  # listing 400,000 takes 200 MB, and this process has no limit
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return False
