"""Account deletion: every row of a user, their sessions and admin log entries, in one transaction.

`count_owned_rows` says how much there is; `delete_account` deletes it. Every row of a user has a `user` column
(recall/db/ownership.py), so the apps above aren't asked what they store. The user row is locked first: a running job
finds it gone and writes nothing more.
"""

from collections.abc import Iterator
from typing import Final

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import connection, models, transaction
from django.dispatch import Signal
from psycopg import sql

from accounts.models import User
from accounts.sessions import SESSIONS_CHANGED
from recall.db.acting import by
from recall.db.notify import publish_event

account_deletion_started: Final = Signal()
"""Sent with `user` inside the transaction, before anything is deleted; receivers stop the user's running work."""

OURS: Final = ("accounts", "memory", "budget", "chat")
"""Recall's own apps."""
SHOWN: Final = (
    "chat.Conversation",
    "chat.Message",
    "memory.Fact",
    "memory.Document",
    "memory.Episode",
    "memory.ReviewAction",
    "budget.Receipt",
)
"""Models that the confirmation page counts."""
NAMES: Final = {
    "memory.ReviewAction": ("review decision", "review decisions"),
    "budget.Receipt": ("context of an answer", "contexts of answers"),
}
"""Singular and plural where the model's own name is no word of the user's."""
SESSION_BATCH: Final = 500


def count_owned_rows(user: User) -> list[tuple[str, int]]:
    """The user's rows by readable kind; empty kinds are left out."""
    counts = []
    for label in SHOWN:
        model = apps.get_model(label)
        rows = model._default_manager.filter(user=user)
        count = (rows.written() if hasattr(rows, "written") else rows).count()
        singular, plural = NAMES.get(label, (str(model._meta.verbose_name), str(model._meta.verbose_name_plural)))
        counts.append((singular if count == 1 else plural, count))
    return [(name, count) for name, count in counts if count]


@by("account deletion")
@transaction.atomic
def delete_account(user: User) -> None:
    """Delete the user and everything they own; done again, as by a form sent twice, it changes nothing."""
    found = User.objects.select_for_update().filter(pk=user.pk).first()
    if found is None:
        return
    user = found
    account_deletion_started.send(User, user=user)
    _delete_sessions(user)
    _delete_from_admin_log(user)
    for model in owned():
        _delete_rows(model, user)
    publish_event(f"user-{user.pk}", SESSIONS_CHANGED)
    user.delete()


def owned() -> Iterator[type[models.Model]]:
    """Recall's models whose rows belong to a user; library models cascade from the user row."""
    for model in (model for name in OURS for model in apps.get_app_config(name).get_models()):
        if any(field.name == "user" and _refers_to_user(field) for field in model._meta.concrete_fields):
            yield model


def _refers_to_user(column: models.Field[object, object]) -> bool:
    return isinstance(column, models.ForeignKey) and column.related_model is User


def _delete_rows(model: type[models.Model], user: User) -> None:
    """One statement per table, in any order: Django would load an account's million rows one by one.

    Foreign keys are checked at the end of the transaction.
    """
    table, key = sql.Identifier(model._meta.db_table), sql.Identifier(str(model._meta.pk.column))
    theirs = sql.SQL("SELECT {key} FROM {table} WHERE user_id = %s").format(key=key, table=table)
    with connection.cursor() as cursor:
        for many in model._meta.many_to_many:
            pairs = sql.Identifier(many.m2m_db_table())
            named = sql.Identifier(many.m2m_column_name())
            cursor.execute(
                sql.SQL("DELETE FROM {pairs} WHERE {named} IN ({theirs})").format(
                    pairs=pairs, named=named, theirs=theirs
                ),
                [user.pk],
            )
        cursor.execute(sql.SQL("DELETE FROM {table} WHERE user_id = %s").format(table=table), [user.pk])


def _delete_sessions(user: User) -> None:
    """A session's user is known only after decoding it."""
    sessions = Session.objects.order_by("pk").iterator(SESSION_BATCH)
    theirs = [session.pk for session in sessions if session.get_decoded().get("_auth_user_id") == str(user.pk)]
    Session.objects.filter(pk__in=theirs).delete()


def _delete_from_admin_log(user: User) -> None:
    """Log entries about the user's rows: each quotes the row's text."""
    about = {*owned(), User}
    for kind in ContentType.objects.filter(pk__in=LogEntry.objects.values("content_type")):
        model = kind.model_class()
        if model in about and model is not None:
            entries = LogEntry.objects.filter(content_type=kind)
            entries.filter(object_id__in=_ids(model, user, entries)).delete()


def _ids(model: type[models.Model], user: User, entries: models.QuerySet[LogEntry]) -> list[str]:
    """The ids of those logged rows that belong to this user."""
    if model is User:
        return [str(user.pk)]
    named = set(entries.values_list("object_id", flat=True))
    theirs = model._default_manager.filter(user=user).values_list("pk", flat=True)
    return [str(pk) for pk in theirs.iterator() if str(pk) in named]
