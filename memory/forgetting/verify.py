"""Verifies a forgetting: retrieval, profile and full text are searched again, and the number of hits is stored.

Dead rows stay on disk until PostgreSQL vacuums them, so a vacuum is requested right away.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps
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
MOST_ASKED: Final = 40
"""Texts the retrieval is asked for, of a forgetting of many."""


def verify_forgotten(user: User, receipt: Forgetting, erasure: Erasure) -> None:
    """Ask for what was forgotten, and write down how much of it came. The texts are not kept."""
    receipt.found_again = found_again(user, erasure)
    receipt.checked_at = timezone.now()
    receipt.save(update_fields=["found_again", "checked_at"])


def found_again(user: User, erasure: Erasure) -> int:
    """How many memories and profile lines still say it."""
    shown = {line.ref: line.text for line in profile_lines(user)}
    for text in sorted(erasure.texts, key=len)[:MOST_ASKED]:
        recollection = retrieve(user, text, now=timezone.now())
        items = [*recollection.kept, *(one.item for one in recollection.cut)]
        shown |= {item.ref: f"{item.title} {item.text}" for item in items}
    return sum(erasure.occurs_in(text) or bool(words_of(text) & erasure.words) for text in shown.values())


def look_for(user: User, words: str) -> dict[str, int]:
    """Where these words occur in the user's rows now: table name → rows."""
    found: dict[str, int] = {}
    for model in owned_models() if words.strip() else ():
        which = holding(model, words)
        number = model._base_manager.filter(which, user=user.pk).count() if which else 0
        if number:
            found[str(model._meta.verbose_name_plural)] = number
    return found


def holding(model: type[Model], words: str) -> Q:
    """Which rows of this table hold the words; an empty condition: it has no column for words."""
    wanted, which = " ".join(words.split()), Q()
    for field in columns(model):
        which |= Q(**{f"{field.name}__icontains": wanted})
    return which


# Pages on the disk -----------------------------------------------------------------------------------------------


def vacuum(models: Iterable[Any] | None = None) -> list[str]:
    """Have PostgreSQL reuse the pages of deleted rows; the tables. Outside any transaction."""
    tables = sorted(model._meta.db_table for model in models or _touched_models())
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(sql.SQL("VACUUM {}").format(sql.Identifier(table)))
    return tables


def _touched_models() -> Iterable[Any]:
    return [*owned_models(), apps.get_model("admin.LogEntry")]
