"""Text reader: detects the encoding, and removes what the database can't store."""

import codecs
import re
from typing import Final

from memory.documents.readers import limits
from memory.documents.readers.formats import NotReadableError

BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE: Final = 65_536
"""Bytes from which the encoding is guessed."""
FEW_ACCENTS: Final = 30
"""Non-ASCII bytes. With fewer, there is nothing to guess from, and Western Europe's encoding is the likeliest."""
MAX_CONTROL_CHARACTERS: Final = 0.01
"""Maximum share of control characters. A text has none, a binary file about a tenth."""

LINE_ENDS: Final = (("\r\n", "\n"), ("\r", "\n"), ("\v", "\n"), ("\f", "\n\n"))
"""Line ends as found and as stored; a form feed starts a page."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_NOT_ASCII: Final = bytes(range(0x80))


def decode(content: bytes, declared: str = "") -> str:
    """The text of `content`; `declared` is the encoding that the file itself names.

    Raises:
        NotReadableError: it isn't text.
    """
    return clean(content.decode(_encoding(content, declared), "replace"))


def clean(text: str) -> str:
    """Normalizes line ends and removes control characters such as NUL.

    Raises:
        NotReadableError: it has too many to be text.
    """
    for found, kept in LINE_ENDS:
        text = text.replace(found, kept)
    text = text.removeprefix("\ufeff")
    without = _CONTROL.sub("", text)
    if len(text) - len(without) > max(1, len(text) * MAX_CONTROL_CHARACTERS):
        raise NotReadableError("This isn't a text file.")
    return without


def within_limits(text: str) -> str:
    """The text without surrounding blanks.

    Raises:
        NotReadableError: it is empty or too long.
    """
    text = text.strip()
    if len(text) > limits.CHARACTERS:
        raise NotReadableError(
            f"This file holds {len(text):,} characters of text; {limits.CHARACTERS:,} are the limit. "
            "Split it into parts and upload them one by one."
        )
    if not text:
        raise NotReadableError("There is no text in this file; the pages of a scan are pictures.")
    return text


def _encoding(content: bytes, declared: str) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return encoding
    sample = content[:SAMPLE]
    if (zeros := sample.count(0)) > len(sample) // 4:  # every second byte of a Western text in UTF-16 is zero
        return "utf-16-le" if sample[1::2].count(0) * 2 > zeros else "utf-16-be"
    for encoding in ("utf-8", declared):
        if encoding and _decodes(content, encoding):
            return encoding
    if len(sample.translate(None, _NOT_ASCII)) < FEW_ACCENTS:
        return "cp1252"
    from charset_normalizer import from_bytes  # imported late: few files need it, and it takes 3 MB

    guess = from_bytes(sample).best()
    return guess.encoding if guess else "cp1252"


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True
