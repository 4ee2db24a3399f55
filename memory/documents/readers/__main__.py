"""`python -m memory.documents.readers FORMAT`: reads a file from standard input, writes its text to standard output."""

import resource
import sys
from importlib import import_module
from typing import Final

from memory.documents.readers import limits
from memory.documents.readers.formats import NotReadableError
from memory.documents.readers.isolated import Ending
from memory.documents.readers.text_files import within_limits

READERS: Final = {
    "pdf": "memory.documents.readers.pdf",
    "word": "memory.documents.readers.word_files",
    "web": "memory.documents.readers.html_pages",
    "table": "memory.documents.readers.csv_files",
    "records": "memory.documents.readers.json_files",
}
"""Format name → module with a `read(content)`. Imported late: a PDF needs no HTML parser."""


def main() -> Ending:
    """Read one file within the limits."""
    reader = import_module(READERS[sys.argv[1]])
    _limit(resource.RLIMIT_AS, limits.MEMORY, limits.MEMORY)
    content = sys.stdin.buffer.read()
    seconds = limits.seconds_for(len(content))
    _limit(resource.RLIMIT_CPU, seconds, seconds + 1)  # SIGXCPU first, which says why: at the second limit it is killed
    try:
        text = within_limits(reader.read(content))
    except NotReadableError as refusal:
        sys.stdout.buffer.write(str(refusal).encode())
        return Ending.NOT_READABLE
    except MemoryError:
        return Ending.NO_MEMORY
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return Ending.READ


def _limit(what: int, most: int, end: int) -> None:
    try:
        resource.setrlimit(what, (most, end))
    except (ValueError, OSError):  # macOS has no memory limit: there, the size limits must do
        return


if __name__ == "__main__":
    sys.exit(main())
