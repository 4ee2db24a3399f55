"""Rebuilds a user's search vectors in the background after they change their language.

`User.language` is the current language, and `User.words_in` lists every language that rows may be indexed in; the
database adds each one chosen. A question is searched in each of them, so nothing is lost meanwhile; new text is indexed
in the current language at once.
"""

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

# A trigger sets their words (memory/migrations/0001_squashed_0012); rows with the right words aren't written.
_STATEMENTS: Final = {
    Fact: "UPDATE memory_fact SET statement = statement WHERE id = ANY(%s) AND search IS DISTINCT FROM"
    " to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = user_id), statement)",
    Episode: "UPDATE memory_episode SET summary = summary WHERE id = ANY(%s) AND search IS DISTINCT FROM"
    " to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = user_id), concat_ws(' ', title, summary))",
}


def request_rebuild(user_id: int) -> None:
    """Queue a rebuild of the user's search vectors."""
    enqueue_on_commit(TASK, user_id)


def due() -> list[int]:
    """Ids of users with words in another language than their current one."""
    only = Func(F("language"), template="ARRAY[%(expressions)s]", output_field=ArrayField(CharField()))
    return list(User.objects.exclude(words_in=only).values_list("pk", flat=True))


def rebuild_search_vectors(user_id: int) -> bool:
    """Rebuild the user's search vectors in their current language; False: another process is doing it.

    Each part locks the user row, so that nothing is forgotten or written meanwhile; between two parts, turns can run.
    A lost worker costs one part: the next worker skips the finished ones.
    """
    with try_advisory_lock(TASK, user_id) as is_locked:
        if not is_locked:
            return False
        chosen = User.objects.filter(pk=user_id).values_list("language", flat=True).first()
        for part in _parts(user_id):
            with transaction.atomic():
                if not try_lock_user(user_id):
                    return True
                part()
        with transaction.atomic():
            # If the user has changed the language again, they are still due.
            done = User.objects.filter(pk=user_id, language=chosen).update(words_in=[chosen])
            if done and PersonalIndex.objects.filter(user_id=user_id).update(built_at=None):
                enqueue_on_commit(REFRESH_TASK)  # its common words are in the old language
    return True


def _parts(user_id: int) -> Iterator[Callable[[], None]]:
    for model, statement in _STATEMENTS.items():
        ids = model._default_manager.filter(user_id=user_id).order_by("pk").values_list("pk", flat=True)
        for batch in batched(list(ids), RESTORED_AT_ONCE, strict=False):
            yield partial(_execute, statement, list(batch))
    yield from word_restorers(user_id)


def _execute(statement: str, ids: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [ids])
