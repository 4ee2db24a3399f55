"""Word reader: converts by way of HTML, with headings, lists and tables."""

import io
import zipfile
from typing import Any, Final

import mammoth

from memory.documents.readers import html_pages, limits
from memory.documents.readers.formats import NotReadable

STYLES: Final = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"
"""Beyond mammoth's own, which know the headings by their number."""


def read(content: bytes) -> str:
    """The document as Markdown.

    Raises:
        NotReadable: it is damaged, or unpacks to far more than a document holds.
    """
    try:
        _check(content)
        html = mammoth.convert_to_html(io.BytesIO(content), style_map=STYLES, convert_image=_no_picture).value
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError) as error:
        raise NotReadable("This Word file is damaged.") from error
    return html_pages.to_markdown(html)


def _check(content: bytes) -> None:
    """Before anything is unpacked. A size that the archive states too small cuts the part off there."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    text = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
    if len(parts) > limits.ZIP_ENTRIES or text > limits.XML_BYTES:
        raise NotReadable("This Word file unpacks to far more than a document holds.")
    if any(part.flag_bits & 1 for part in parts):
        raise NotReadable("This Word file is locked with a password. Save it without one.")


def _no_picture(picture: Any) -> list[Any]:
    return []
