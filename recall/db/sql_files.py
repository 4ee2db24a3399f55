"""SQL in files beside the modules that run it.

A file has one statement, or named parts, each after a line `-- part: name`. Lines that start with `--` are comments and
are not sent to the server.
"""

import re
from pathlib import Path

_PART = re.compile(r"^-- part: (\S+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


def load_sql(path: Path) -> str:
    """The statement in a file."""
    return _COMMENT.sub("", path.read_text()).strip()


def load_sql_parts(path: Path) -> dict[str, str]:
    """The parts of a file by name."""
    _, *pairs = _PART.split(path.read_text())
    return {name: _COMMENT.sub("", text).strip() for name, text in zip(pairs[::2], pairs[1::2], strict=True)}
