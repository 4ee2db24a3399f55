"""Verifies forgetting: searches retrieval, profile and word index again, and stores the number of hits.

Deleted rows remain in pages on disk until PostgreSQL vacuums them, so a vacuum is queued at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import Model, Q
from django.utils import timezone
from psycopg import sql

from memory.documents.profile import profile_lines
from memory.forgetting.residue import columns, owned_models
from memory.models import Forgetting
from memory.retrieval.recall import retrieve
from recall.redaction import Erasure, words_of

if TYPE_CHECKING:
    from accounts.models import User

VACUUM_TASK: Final = "memory.tasks.vacuum_forgotten"
MAX_CHECKED_TEXTS: Final = 40
"""Maximum forgotten texts that are searched for."""


def verify_forgotten(user: User, receipt: Forgetting, erasure: Erasure) -> None:
    """Search for what was forgotten and store the number of hits, without the texts."""
    receipt.found_again = count_remaining(user, erasure)
    receipt.checked_at = timezone.now()
    receipt.save(update_fields=["found_again", "checked_at"])


def count_remaining(user: User, erasure: Erasure) -> int:
    """How many memories and profile lines still contain it."""
    shown = {line.ref: line.text for line in profile_lines(user)}
    for text in sorted(erasure.texts, key=len)[:MAX_CHECKED_TEXTS]:
        result = retrieve(user, text, now=timezone.now())
        items = [*result.kept, *(cut.item for cut in result.cut)]
        shown |= {item.ref: f"{item.title} {item.text}" for item in items}
    return sum(erasure.occurs_in(text) or bool(words_of(text) & erasure.words) for text in shown.values())


def search_rows(user: User, words: str) -> dict[str, int]:
    """Where these words occur in the user's rows: table name → rows."""
    found: dict[str, int] = {}
    for model in owned_models() if words.strip() else ():
        which = holding(model, words)
        number = model._base_manager.filter(which, user=user.pk).count() if which else 0
        if number:
            found[str(model._meta.verbose_name_plural)] = number
    return found


def holding(model: type[Model], words: str) -> Q:
    """The condition on rows with the words; empty if the table has no text columns."""
    wanted, which = " ".join(words.split()), Q()
    for field in columns(model):
        which |= Q(**{f"{field.name}__icontains": wanted})
    return which


# Vacuum -------------------------------------------------------------------------------------------------------


def vacuum() -> None:
    """Vacuum the tables, so that PostgreSQL reuses the pages of deleted rows. Outside any transaction."""
    models: list[type[Model]] = [*owned_models(), LogEntry]
    with connection.cursor() as cursor:
        for model in models:
            cursor.execute(sql.SQL("VACUUM {}").format(sql.Identifier(model._meta.db_table)))
