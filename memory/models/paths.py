"""Stores a typed path such as `/profile/people/Sarah Chen` as a PostgreSQL ltree and reads it back unchanged.

An ltree label may hold letters, digits, hyphen and underscore. So each other character of a name is written as its code
point in hexadecimal between underscores (`Sarah_20_Chen`), and so is the underscore itself: the encoding is injective
for any Unicode name, and plain names stay readable in psql.
"""

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models

if TYPE_CHECKING:
    PathFieldBase = models.Field[str, str]
    BooleanLookup = models.Lookup[bool]
else:
    PathFieldBase = models.Field
    BooleanLookup = models.Lookup

MAX_LABEL = 1000
"""Longest ltree label, in characters (PostgreSQL 16 and newer)."""
MAX_DEPTH = 32

_PLAIN = re.compile(r"[A-Za-z0-9-]")
_ESCAPED = re.compile(r"_([0-9a-f]+)_")


def encode(path: str) -> str:
    """The ltree for a typed path.

    Raises:
        ValidationError: the path doesn't start with `/`, has an empty name, is too deep, or a name is too long.
    """
    normal = unicodedata.normalize("NFC", path)
    if not normal.startswith("/") or normal == "/":
        raise ValidationError("A path starts with “/”, as in /projects/garden.")
    names = normal[1:].split("/")
    if any(not name.strip() or "\x00" in name for name in names):
        raise ValidationError("Each part of a path needs a name.")
    labels = [_label(name) for name in names]
    if len(labels) > MAX_DEPTH or any(len(label) > MAX_LABEL for label in labels):
        raise ValidationError("This path is too long.")
    return ".".join(labels)


def is_path(typed: str) -> None:
    """Validate a column that holds a path as typed.

    Raises:
        ValidationError: as `encode`.
    """
    encode(typed)


def decode(ltree: str) -> str:
    """The path as typed."""
    names = (_ESCAPED.sub(lambda m: chr(int(m[1], 16)), label) for label in ltree.split("."))
    return "/" + "/".join(names)


def _label(name: str) -> str:
    return "".join(char if _PLAIN.match(char) else f"_{ord(char):x}_" for char in name)


class PathField(PathFieldBase):
    """A typed path in Python, an ltree in the database. `path__under="/profile"` finds the folder and everything below
    it."""

    def db_type(self, connection: Any) -> str:
        return "ltree"

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return None if value is None else decode(value)

    def to_python(self, value: Any) -> Any:
        """The path; a number, as in a made-up cursor, is none.

        Raises:
            ValidationError: it is no text.
        """
        if value is not None and not isinstance(value, str):
            raise ValidationError("A path is a text.")
        return value

    def get_prep_value(self, value: Any) -> Any:
        return encode(value) if isinstance(value, str) else value


@PathField.register_lookup
class Under(BooleanLookup):
    """True for the folder itself and for everything below it."""

    lookup_name = "under"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} <@ {right}::ltree", (*left_params, *right_params)
