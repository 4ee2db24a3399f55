"""PDF reader: lines joined into paragraphs, larger type as headings, running heads removed."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

import pypdfium2
from pypdfium2 import raw

from memory.documents.readers import limits
from memory.documents.readers.formats import NotReadableError
from memory.documents.readers.text_files import clean

HEADING_SIZE: Final = 1.15
"""A line is a heading from this multiple of the body size."""
MAX_HEADING: Final = 150
"""Characters; a longer line in large type is large-print text or a poster."""
HEADING_LEVELS: Final = 3
PARAGRAPH_GAP: Final = 1.5
"""A gap larger than this multiple of the usual line distance separates paragraphs."""
FULL_LINE: Final = 0.85
"""Share of the usual length: a shorter line that ends a sentence ends its paragraph."""
RUNNING_HEAD: Final = 3
"""Pages (and at least a quarter of all) on which the same edge line, ignoring numbers, is a running head."""
EDGE: Final = 2
"""Lines at the top and bottom of a page (at most a third of it) that may be running heads."""

JOINT: Final = "\ufffe"
"""PDFium writes this where it joined a word that was hyphenated at the end of a line."""

_PASSWORD_ERRORS: Final = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
_SENTENCE_END: Final = re.compile(r"[.!?:…][\"”’)\]]?$")
_HYPHEN: Final = re.compile(r"(?<=\w)[-\u00ad\u2010]$")
_POINT: Final = re.compile(r"^(?:[•‣▪–·●○*-]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """A typeset line: its type height and its position from the bottom, in points; 0 if unknown.

    If PDFium joined a hyphenated word, one line covers two, and `first` is above `last`.
    """

    text: str
    size: float
    first: float
    last: float


def read(content: bytes) -> str:
    """The PDF's text as Markdown.

    Raises:
        NotReadableError: it is locked, damaged, or has too many pages.
    """
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in _PASSWORD_ERRORS:
            raise NotReadableError("This PDF is locked with a password. Save it without one.") from error
        raise NotReadableError("This PDF is damaged.") from error
    if len(document) > limits.PDF_PAGES:
        raise NotReadableError(f"This PDF has {len(document):,} pages; {limits.PDF_PAGES:,} are the limit.")
    if len(document) > limits.PDF_FEW_PAGES and len(content) < limits.PDF_PAGE_BYTES * len(document):
        raise NotReadableError("This PDF claims more pages than a file of its size holds.")
    return to_markdown(list(_pages(document)))


def to_markdown(pages: Sequence[Sequence[Line]]) -> str:
    """Paragraphs and headings from the lines of each page."""
    lines = [line for page in _without_running_heads(pages) for line in page]
    body = _usual(line.size for line in lines for _ in range(len(line.text)))
    levels = _levels(lines, body)
    width = _usual_width(lines)
    blocks: list[str] = []
    before: Line | None = None
    for line in lines:
        text = line.text.strip()
        if level := _level(line, levels):
            _add_heading(blocks, text, level, continues=before is not None and _level(before, levels) == level)
        elif before is None or _level(before, levels) or _begins_paragraph(before, line, width):
            blocks.append(_POINT.sub(lambda mark: mark[0] if mark[0][0].isdigit() else "- ", text))
        else:
            blocks[-1] = _joined(blocks[-1], text)
        before = line
    return clean("\n\n".join(blocks))


def _pages(document: Any) -> Iterator[list[Line]]:
    read_so_far = 0
    for number in range(len(document)):
        try:
            page = document[number]
            text = page.get_textpage()
        except pypdfium2.PdfiumError:
            continue  # a damaged page among readable ones
        lines = list(_lines(text))
        text.close()
        page.close()
        read_so_far += sum(len(line.text) for line in lines)
        if read_so_far > limits.CHARACTERS:
            raise NotReadableError(
                f"This PDF holds more than {limits.CHARACTERS:,} characters of text. Split it into parts."
            )
        yield lines


def _lines(text: Any) -> Iterator[Line]:
    place = 0
    for written in text.get_text_range().split("\r\n"):
        blanks = len(written) - len(written.lstrip())
        if written.strip():
            yield _line(text, place + blanks, written.replace(JOINT, ""))
        place += len(written) + 2


def _line(text: Any, place: int, written: str) -> Line:
    said = written.strip()
    first, last = _box(text, place, said[0]), _box(text, place + len(said) - 1, said[-1])
    if first is None or last is None:
        return Line(written, 0.0, 0.0, 0.0)
    return Line(written, round(first.top - first.bottom, 1), first.bottom, last.bottom)


def _box(text: Any, place: int, char: str) -> raw.FS_RECTF | None:
    """Position of a character; None if another character is there: positions drift on pages with rare characters."""
    box = raw.FS_RECTF()
    is_it = raw.FPDFText_GetUnicode(text, place) == ord(char)
    return box if is_it and raw.FPDFText_GetLooseCharBox(text, place, ctypes.byref(box)) else None


# Running heads ---------------------------------------------------------------------------------------------------


def _without_running_heads(pages: Sequence[Sequence[Line]]) -> list[Sequence[Line]]:
    edges = Counter(edge for page in pages for edge in {_edge(line) for line in (*_head(page), *_foot(page))})
    most = max(RUNNING_HEAD, len(pages) // 4)
    repeated = {edge for edge, times in edges.items() if times >= most}
    return [_trimmed(page, repeated) for page in pages]


def _trimmed(page: Sequence[Line], repeated: set[str]) -> Sequence[Line]:
    heads = len(list(takewhile(lambda line: _edge(line) in repeated, _head(page))))
    feet = len(list(takewhile(lambda line: _edge(line) in repeated, reversed(_foot(page)))))
    return page[heads : len(page) - feet]


def _head(page: Sequence[Line]) -> Sequence[Line]:
    return page[: min(EDGE, len(page) // 3)]


def _foot(page: Sequence[Line]) -> Sequence[Line]:
    return page[len(page) - min(EDGE, len(page) // 3) :]


def _edge(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text.strip())


# Headings and paragraphs -----------------------------------------------------------------------------------------


def _levels(lines: Sequence[Line], body: float) -> list[float]:
    """Heading sizes, the largest first."""
    if not body:
        return []
    sizes = {line.size for line in lines if line.size >= body * HEADING_SIZE and len(line.text) <= MAX_HEADING}
    return sorted(sizes, reverse=True)


def _level(line: Line, levels: Sequence[float]) -> int:
    """Heading level, 1 for the largest type; 0: no heading."""
    if line.size not in levels or len(line.text) > MAX_HEADING or not any(map(str.isalpha, line.text)):
        return 0
    return min(levels.index(line.size) + 1, HEADING_LEVELS)


def _add_heading(blocks: list[str], text: str, level: int, *, continues: bool) -> None:
    if continues and len(blocks[-1]) + len(text) <= MAX_HEADING:
        blocks[-1] += f" {text}"  # a title over two lines
    else:
        blocks.append(f"{'#' * level} {text}")


def _begins_paragraph(before: Line, line: Line, width: int) -> bool:
    if _POINT.match(line.text.strip()):
        return True
    gap = before.last - line.first
    if before.size and line.size and gap > PARAGRAPH_GAP * before.size:
        return True
    return bool(_SENTENCE_END.search(before.text.strip())) and len(before.text.strip()) < width * FULL_LINE


def _joined(before: str, text: str) -> str:
    if _HYPHEN.search(before) and text[:1].islower():
        return _HYPHEN.sub("", before) + text
    return f"{before} {text}"


def _usual(sizes: Iterator[float]) -> float:
    counted = Counter(size for size in sizes if size)
    return counted.most_common(1)[0][0] if counted else 0.0


def _usual_width(lines: Sequence[Line]) -> int:
    """Characters of a full line: nine in ten lines are no longer."""
    widths = sorted(len(line.text.strip()) for line in lines)
    return widths[len(widths) * 9 // 10] if widths else 0
