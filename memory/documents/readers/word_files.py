"""Word reader: converts by way of HTML, with headings, lists and tables."""

import io
import zipfile
from typing import Any, Final
from xml.parsers import expat

import mammoth

from memory.documents.readers import html_pages, limits
from memory.documents.readers.formats import NotReadableError

STYLES: Final = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"
"""Added to mammoth's own styles, which know headings by their number."""

DAMAGED: Final = "This Word file is damaged."
TOO_MUCH: Final = "This Word file unpacks to far more than a document holds."


def read(content: bytes) -> str:
    """The document as Markdown.

    Raises:
        NotReadableError: it is damaged, or unpacks to far more than a document holds.
    """
    try:
        checked = _checked(content)
        html = mammoth.convert_to_html(checked, style_map=STYLES, convert_image=lambda _: []).value
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError) as error:
        raise NotReadableError(DAMAGED) from error
    return html_pages.to_markdown(html)


def _checked(content: bytes) -> io.BytesIO:
    """The archive with its text parts alone, their sizes and elements counted.

    The converter finds the main part by what the file says, under any name: a part that isn't counted isn't there.
    If the archive understates a size, the part is cut off.
    """
    checked = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(checked, "w") as texts_alone:
        parts = archive.infolist()
        texts = [part for part in parts if part.filename.lower().endswith((".xml", ".rels"))]
        if len(parts) > limits.ZIP_ENTRIES or sum(part.file_size for part in texts) > limits.XML_BYTES:
            raise NotReadableError(TOO_MUCH)
        if any(part.flag_bits & 1 for part in parts):
            raise NotReadableError("This Word file is locked with a password. Save it without one.")
        elements = _Elements()
        for part in texts:
            text = archive.read(part)
            elements.count(text)
            texts_alone.writestr(part.filename, text)
    checked.seek(0)
    return checked


class _Elements:
    """Counts the elements of all parts, and refuses a DOCTYPE: no Word file has one, and it may define entities."""

    def __init__(self) -> None:
        self._seen = 0

    def count(self, part: bytes) -> None:
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._add
        try:
            parser.Parse(part, True)
        except expat.ExpatError as error:
            raise NotReadableError(DAMAGED) from error

    def _refuse(self, *_: Any) -> None:
        raise NotReadableError("This Word file holds a DOCTYPE, which Word never writes. Save it again in Word.")

    def _add(self, *_: Any) -> None:
        self._seen += 1
        if self._seen > limits.XML_ELEMENTS:
            raise NotReadableError(TOO_MUCH)
