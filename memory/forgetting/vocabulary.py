"""Decides which words identify what is forgotten, and which the user also uses elsewhere.

One statement per column of text; models are named by label, because memory can't import chat's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps
from django.db import connection
from psycopg import sql

from memory.librarian.decision import Reason
from memory.text.dates import MONTHS, WEEKDAYS
from memory.tombstones import identifiers_of
from recall.redaction import Erasure, batches, in_any_case, words_of

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class Column:
    """A column with texts of the user, or derived from them."""

    model: str
    name: str
    rows: str = "true"
    """SQL condition: which rows count."""
    own: bool = False
    """Whether they are the user's own words."""


TEXTS: Final = (
    Column("chat.Message", "text", "role = 'user'", own=True),
    Column("chat.Role", "instructions", own=True),
    Column("chat.Project", "name", own=True),
    Column("chat.Project", "instructions", own=True),
    Column("chat.Segment", "text"),
    Column("chat.Attachment", "text", "message_id IS NOT NULL"),  # a draft is sent, or gone after a day
    Column("memory.Document", "text", "source <> 'librarian' AND NOT path <@ 'artifacts'", own=True),
    Column("memory.Fact", "statement", own=True),
    Column("memory.Fact", "quote"),
    Column("memory.Episode", "title"),
    Column("memory.Episode", "summary"),
    Column("memory.Boundary", "text", own=True),
)
"""Columns where a word can occur independently of what was forgotten. Everything else is derived from these."""

ANSWERS: Final = Column("chat.Message", "text", "role <> 'user'")

WORDS_PER_PATTERN: Final = 200


_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_OPENS: Final = " \t“”\"'‘’(*_"
_STARTS: Final = ("", *".!?…:\n-•#/")
"""What precedes the first word of a text, a sentence or an item, whose capital says nothing."""


def naming_words(text: str) -> set[str]:
    """The words of names and codes in a text: with a capital within a sentence, and no month or day."""
    found = [one[0] for one in _WORD.finditer(text) if one[0][0].isupper() and _is_within(text, one.start())]
    codes = words_of(" ".join(written for written, _ in identifiers_of(text)))
    return words_of(" ".join(found)).difference(MONTHS, WEEKDAYS) | {word for word in codes if re.search(r"\d", word)}


def _is_within(text: str, start: int) -> bool:
    """Whether the word at `start` is inside a sentence. Reads 20 characters before it: all of them, for each word,
    would take quadratic time."""
    return text[max(0, start - 20) : start].rstrip(_OPENS)[-1:] not in _STARTS


def said_elsewhere(user: User, words: Collection[str], erasure: Erasure) -> set[str]:
    """The words that also occur in the user's own texts, not counting texts that are erased or redacted."""
    aside: dict[str, Collection[int]] = {
        "chat.Message": {*erasure.messages, *erasure.quotes},
        "memory.Document": {*erasure.documents, *erasure.lines},
        "memory.Fact": erasure.facts,
    }
    found: set[str] = set()
    for column in TEXTS:
        if column.own:
            found |= words_in_column(user, column, set(words) - found, erasure, aside.get(column.model, ()))
    return found


def words_in_use(user: User, words: Collection[str], erasure: Erasure) -> set[str]:
    """The words that occur in any remaining text, or in Recall's own phrases.

    Words in answers (“Noted:”) count too, except the forgotten names and codes.
    """
    found = set(words) & product_words()
    found |= words_in_column(user, ANSWERS, set(words) - found - erasure.naming, erasure)
    for column in TEXTS:
        found |= words_in_column(user, column, set(words) - found, erasure)
    return found


def words_in_column(
    user: User, column: Column, words: Collection[str], erasure: Erasure, aside: Collection[int] = ()
) -> set[str]:
    """The words that occur in a column of the user's rows beside the forgotten texts, without the rows `aside`."""
    rows = apps.get_model(column.model)._base_manager
    found: set[str] = set()
    hints = list(erasure.text_hints())
    for batch in batches(sorted(words), WORDS_PER_PATTERN):
        statement = _SQL.format(
            table=sql.Identifier(rows.model._meta.db_table),
            column=sql.Identifier(column.name),
            rows=sql.SQL(column.rows),
        )
        either = "|".join(map(in_any_case, batch))
        pattern = rf"(?<![[:alnum:]])({either})(?![[:alnum:]])"  # an underscore ends a word, unlike for \y
        values: dict[str, Any] = {"user": user.pk, "pattern": pattern, "aside": list(aside), "hints": hints}
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            hits = cursor.fetchall()
        for hit, is_beside, ids in hits:
            word = unicodedata.normalize("NFC", hit).casefold()
            texts = () if is_beside else rows.filter(pk__in=ids).values_list(column.name, flat=True)
            if is_beside or any(word in words_of(erasure.redact(text, words=False)) for text in texts):
                found.add(word)
    return found


_SQL: Final = sql.SQL(
    "SELECT lower(hit[1]), bool_or(NOT {column} ~* ANY(%(hints)s::text[])), array_agg(DISTINCT id)"
    " FILTER (WHERE {column} ~* ANY(%(hints)s::text[]))"
    " FROM {table}, regexp_matches({column}, %(pattern)s, 'gi') AS hit"
    " WHERE user_id = %(user)s AND {rows} AND NOT (id = ANY(%(aside)s::bigint[])) GROUP BY 1"
)
"""Each word, whether a row has it that can't hold a forgotten text, and the rows that may."""


@cache
def product_words() -> frozenset[str]:
    """The words of reasons and states, which occur without any memory."""
    phrases = [str(reason) for reason in Reason]
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            phrases += [f"{value} {label}" for value, label in getattr(field, "flatchoices", None) or ()]
    return frozenset(words_of(" ".join(phrases).replace("_", " ")))
