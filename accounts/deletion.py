"""How does somebody leave for good? Every row that is theirs goes, in one transaction, and every trace beside them.

    what_goes   how much there is, by kind: for the page that asks
    leave       whatever runs for them is stopped · sessions, the admin's log, all their rows, the person

No app above is asked what it keeps: every row that belongs to somebody has a column that says to whom
(recall/db/ownership.py). The person's row is locked first, so that a job that is running finds it gone, and can write
nothing more for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection, models, transaction
from django.dispatch import Signal
from psycopg import sql

from accounts.models import User
from accounts.sessions import SESSIONS_CHANGED
from recall.db.notify import publish_event

account_deletion_started: Final = Signal()
"""Sent with `user`, in the transaction, before anything goes: whoever runs something for them stops it."""

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
"""What the page names of all that goes; the rest hangs on these."""
CALLED: Final = {"memory.ReviewAction": ("decision of yours", "decisions of yours")}
SESSIONS_AT_ONCE: Final = 500


def count_owned_rows(user: User) -> list[tuple[str, int]]:
    """What there is of the person, by kind, as people call it: nothing that is not there."""
    told = []
    for label in SHOWN:
        model = apps.get_model(label)
        count = model._default_manager.filter(user=user).count()
        one, more = CALLED.get(label, (str(model._meta.verbose_name), str(model._meta.verbose_name_plural)))
        told.append((one if count == 1 else more, count))
    return [(name, count) for name, count in told if count]


@transaction.atomic
def delete_account(user: User) -> None:
    """Delete the person with everything that is theirs."""
    person = User.objects.select_for_update().get(pk=user.pk)
    account_deletion_started.send(User, user=person)
    _delete_sessions(person)
    _delete_from_admin_log(person)
    for model in owned():
        _delete_rows(model, person)
    publish_event(f"user-{person.pk}", SESSIONS_CHANGED)
    person.delete()


def owned() -> Iterator[type[models.Model]]:
    """Every model of Recall's whose rows belong to a person; those of libraries go with the person's own row."""
    for model in (model for name in OURS for model in apps.get_app_config(name).get_models()):
        if any(one.name == "user" and _is_of_a_person(one) for one in model._meta.concrete_fields):
            yield model


def _is_of_a_person(column: models.Field[object, object]) -> bool:
    return isinstance(column, models.ForeignKey) and column.related_model is User


def _delete_rows(model: type[models.Model], user: User) -> None:
    """By one statement a table, in any order: an account may have a million rows, which Django would load one by one.

    The database asks at the end whether anything still points to what went.
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
    """A session does not say whose it is without being opened."""
    sessions = Session.objects.order_by("pk").iterator(SESSIONS_AT_ONCE)
    theirs = [one.pk for one in sessions if one.get_decoded().get("_auth_user_id") == str(user.pk)]
    Session.objects.filter(pk__in=theirs).delete()


def _delete_from_admin_log(user: User) -> None:
    """What staff did to the person's rows: the log keeps a line of each row's text."""
    about = {*owned(), User}
    for kind in LogEntry.objects.order_by().values_list("content_type", flat=True).distinct():
        entries = LogEntry.objects.filter(content_type=kind).select_related("content_type")
        first = entries.first()
        model = first.content_type.model_class() if first and first.content_type else None
        if model in about and model is not None:
            entries.filter(object_id__in=_ids(model, user, entries)).delete()


def _ids(model: type[models.Model], user: User, entries: models.QuerySet[LogEntry]) -> list[str]:
    """Which of the rows that the log names are this person's."""
    if model is User:
        return [str(user.pk)]
    named = [one for one in entries.values_list("object_id", flat=True) if one]
    theirs = model._default_manager.filter(user=user)
    return [str(pk) for pk in theirs.values_list("pk", flat=True).iterator() if str(pk) in set(named)] if named else []
