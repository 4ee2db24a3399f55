"""A file from outside is read in a process of its own: bounded in time and memory, without Recall's secrets.

A worker's thread cannot be stopped and shares its memory with all others; a process can, and does not. Text and
Markdown need no reader and are decoded at once.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from typing import Final

from memory.reading import limits, plain
from memory.reading.formats import MARKDOWN, TEXT, Format, NotReadable, recognise

logger = logging.getLogger(__name__)

ROOT: Final = Path(__file__).resolve().parents[2]
ENVIRONMENT: Final = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
"""All of the environment that the reading process gets: no key, no address of a database."""

TOO_SLOW: Final = f"This file could not be read within {limits.SECONDS} seconds."
TOO_LARGE: Final = "Reading this file needs more memory than a file may take."
BROKEN: Final = "This file could not be read: it is damaged, or made to do harm."


class Ending(IntEnum):
    """How the reading process ended, by its exit code; a signal's is negative."""

    READ = 0
    NOT_READABLE = 3
    NO_MEMORY = 4


def read_file(name: str, content: bytes) -> str:
    """The text of the file as Markdown; 2 million characters at most, and never none.

    Raises:
        NotReadable: one sentence for the file's owner.
    """
    kind = recognise(name, content)
    text = plain.read(content) if kind in (TEXT, MARKDOWN) else _read_apart(kind, content)
    return plain.within_limits(text)


def _read_apart(kind: Format, content: bytes) -> str:
    command = [sys.executable, "-m", "memory.reading", kind.name]
    try:
        done = subprocess.run(  # noqa: S603 - our own module, and the format is one of ours
            command, input=content, capture_output=True, timeout=limits.SECONDS, env=ENVIRONMENT, cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotReadable(TOO_SLOW) from None
    if done.returncode == Ending.READ:
        return done.stdout.decode()
    if done.returncode == Ending.NOT_READABLE:
        raise NotReadable(done.stdout.decode())
    if done.returncode == Ending.NO_MEMORY:
        raise NotReadable(TOO_LARGE)
    # What it printed may hold the file's words, which no log does.
    logger.warning("Reading a %s file of %d bytes ended with %d.", kind.name, len(content), done.returncode)
    raise NotReadable(TOO_SLOW if done.returncode == -24 else BROKEN)  # 24: SIGXCPU
