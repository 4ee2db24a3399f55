"""Reads a file in a separate process, limited in time and memory, without Recall's secrets.

Unlike a thread, a process can be stopped and shares no memory. Text and Markdown are decoded directly. Readers for
waiting users take turns.
"""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import IntEnum
from pathlib import Path
from typing import Final

from memory.documents.readers import limits, text_files
from memory.documents.readers.formats import MARKDOWN, TEXT, Format, NotReadableError, recognize

logger = logging.getLogger(__name__)

ROOT: Final = Path(__file__).resolve().parents[3]
ENVIRONMENT: Final = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
"""The reading process's whole environment: no keys, no database address."""

MAX_READERS: Final = 2
"""Readers that one process runs at a time for waiting users: each may take limits.MEMORY, and eight took all of a
server's memory."""
TURN_SECONDS: Final = 20.0
"""How long a file waits for its turn: most readers finish sooner, and the user is still looking at the page."""

BUSY: Final = "Other files are being processed. Try again in a moment."
TOO_SLOW: Final = "This file takes too long to read. Split it into parts."
TOO_LARGE: Final = "Reading this file needs more memory than a file may take."
BROKEN: Final = "This file could not be read: it is damaged, or made to do harm."


class Ending(IntEnum):
    """How the reading process ended, by its exit code; a signal's is negative."""

    READ = 0
    NOT_READABLE = 3
    NO_MEMORY = 4


class NoFreeReaderError(NotReadableError):
    """No reader became free in time; nothing is wrong with the file."""


_reading: Final[set[int]] = set()
"""Users with a running reader in this process."""
_changed: Final = threading.Condition()


@contextmanager
def turn(person: int) -> Iterator[None]:
    """Wait until a reader is free in this process and none runs for this user.

    Raises:
        NoFreeReaderError: the wait timed out.
    """
    with _changed:
        if not _changed.wait_for(lambda: person not in _reading and len(_reading) < MAX_READERS, TURN_SECONDS):
            raise NoFreeReaderError(BUSY)
        _reading.add(person)
    try:
        yield
    finally:
        with _changed:
            _reading.remove(person)
            _changed.notify_all()


def read_file(name: str, content: bytes, *, waiting: int | None = None) -> str:
    """The text of the file as Markdown; at most 2 million characters, never empty.

    With `waiting`, the id of the waiting user, the reader waits for its turn.

    Raises:
        NotReadableError: one sentence for the file's owner.
    """
    kind = recognize(name, content)
    if kind in (TEXT, MARKDOWN):
        return text_files.within_limits(text_files.decode(content))
    with nullcontext() if waiting is None else turn(waiting):
        return text_files.within_limits(_read_apart(kind, content))


def _read_apart(kind: Format, content: bytes) -> str:
    command = [sys.executable, "-m", "memory.documents.readers", kind.name]
    try:
        done = subprocess.run(  # noqa: S603 - our own module, and the format is one of ours
            command, input=content, capture_output=True, timeout=limits.SECONDS, env=ENVIRONMENT, cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotReadableError(TOO_SLOW) from None
    if done.returncode == Ending.READ:
        return done.stdout.decode()
    if done.returncode == Ending.NOT_READABLE:
        raise NotReadableError(done.stdout.decode())
    if done.returncode == Ending.NO_MEMORY:
        raise NotReadableError(TOO_LARGE)
    # The printed output may contain the file's text, which must not reach a log.
    logger.warning("Reading a %s file of %d bytes ended with %d.", kind.name, len(content), done.returncode)
    raise NotReadableError(TOO_SLOW if done.returncode == -24 else BROKEN)  # 24: SIGXCPU
