"""Language change: rebuilds a user's full-text vectors in the new language, in the background.

`User.language` is the chosen language, `User.words_in` all languages that rows may be indexed in; the database adds the
chosen one. Questions are searched in each of them, so that nothing is lost meanwhile; new rows use the chosen one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import batched
from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import connection, transaction
from django.db.models import F, Func
from django.db.models.fields import CharField

from accounts.models import User
from memory.forget_epoch import try_lock_user
from memory.index.indexer import RESTORED_AT_ONCE, word_restorers
from memory.models import Episode, Fact, PersonalIndex
from recall.celery import enqueue_on_commit
from recall.db.postgres import try_advisory_lock

TASK: Final = "memory.tasks.reword"
REFRESH_TASK: Final = "memory.tasks.refresh_personal_indexes"

# A trigger makes their words (memory/migrations/0011); what has the right ones is not written.
_STATEMENTS: Final = {
    Fact: "UPDATE memory_fact SET statement = statement WHERE id = ANY(%s) AND search IS DISTINCT FROM"
    " to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = user_id), statement)",
    Episode: "UPDATE memory_episode SET summary = summary WHERE id = ANY(%s) AND search IS DISTINCT FROM"
    " to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = user_id), concat_ws(' ', title, summary))",
}


def look(user_id: int) -> None:
    """Queue the rebuild for the user."""
    enqueue_on_commit(TASK, user_id)


def due() -> list[int]:
    """Ids of those who have words in another language than they write in."""
    only = Func(F("language"), template="ARRAY[%(expressions)s]", output_field=ArrayField(CharField()))
    return list(User.objects.exclude(words_in=only).values_list("pk", flat=True))


def rebuild_search_vectors(user_id: int) -> bool:
    """Rebuild the user's rows that are not in their language; False: another process is doing it.

    Each batch locks the user's row, so that nothing is forgotten, said or chosen meanwhile; a turn can run between two
    batches. A lost worker loses one batch; the next one skips the finished rows.
    """
    with try_advisory_lock(TASK, user_id) as mine:
        if not mine:
            return False
        chosen = User.objects.filter(pk=user_id).values_list("language", flat=True).first()
        for part in _parts(user_id):
            with transaction.atomic():
                if not try_lock_user(user_id):
                    return True
                part()
        with transaction.atomic():
            # A user who chose again meanwhile is due again.
            done = User.objects.filter(pk=user_id, language=chosen).update(words_in=[chosen])
            if done and PersonalIndex.objects.filter(user_id=user_id).update(built_at=None):
                enqueue_on_commit(REFRESH_TASK)  # its common words are those of the other language
    return True


def _parts(user_id: int) -> Iterator[Callable[[], None]]:
    for model, statement in _STATEMENTS.items():
        ids = model._default_manager.filter(user_id=user_id).order_by("pk").values_list("pk", flat=True)
        for some in batched(list(ids), RESTORED_AT_ONCE, strict=False):
            yield partial(_execute, statement, list(some))
    yield from word_restorers(user_id)


def _execute(statement: str, ids: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [ids])
