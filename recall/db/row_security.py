"""Row-level security: the policies behind `recall/db/acting.py`, installed after every migration, and their gaps.

A table is owned by its `user` column, or through its PARENT, or has a reason in UNOWNED. Whatever is none of these is
a gap, and so is an owned table without its policies: the server isn't ready, and `tests/recall/db` fails.

PostgreSQL evaluates a policy before any function that might leak what it is given: a condition such as `@@` can't
select rows by an index then. So what searches by words reads VIEWS, each of which has the policy's condition in itself
and is made by the owner. A view shows its reader the acting user's rows; no one writes by it.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import ProgrammingError, connection, transaction
from psycopg import errors, sql

from recall.db.acting import Role, by

ROLES: Final = (Role.USER, Role.SIGN_IN, Role.SYSTEM)
PARENTS: Final[Mapping[str, tuple[str, str]]] = {
    "memory_episode_facts": ("episode_id", "memory_episode"),
    "account_emailconfirmation": ("email_address_id", "account_emailaddress"),
}
"""Tables without a `user`: their column that refers to an owned table."""
IDENTITY: Final = (
    *("accounts_user", "accounts_user_groups", "accounts_user_user_permissions", "accounts_apikey"),
    *("account_emailaddress", "account_emailconfirmation", "mfa_authenticator", "usersessions_usersession"),
)
"""Owned tables that `recall_sign_in` sees whole."""
READ: Final = "SELECT"
WRITE: Final = "SELECT, INSERT, UPDATE, DELETE"
UNOWNED: Final[Mapping[str, tuple[str, str]]] = {
    "django_session": (WRITE, "Names its user only inside signed data, and is looked up by a random key."),
    "recall_cache": (WRITE, "Counters of sign-ins by address, and used codes."),
    "recall_heartbeat": (WRITE, "Signs of life of processes."),
    "recall_unsent_task": (WRITE, "Names of tasks and ids of rows."),
    "budget_calibration": (WRITE, "Token counts of a model and a class of text."),
    "budget_price": (READ, "Prices of models."),
    "django_migrations": (READ, "What the database is."),
    "django_content_type": (READ, "What the database is."),
    "auth_permission": (READ, "What staff may be allowed."),
    "auth_group": (READ, "Groups of staff."),
    "auth_group_permissions": (READ, "Groups of staff."),
}
"""Tables that belong to no user → what `recall_user` and `recall_sign_in` may do with them, and why they may."""
VIEWS: Final[Mapping[str, tuple[str, str]]] = {
    **{f"own_{table}": (table, "{}") for table in ("memory_chunk", "memory_fact", "memory_episode", "chat_message")},
    **{f"own_{table}_by_word": (table, "({}) IS TRUE") for table in ("memory_chunk", "memory_fact", "memory_episode")},
}
"""View → the table that is searched by words, and how the view has the condition. Where the index of words knows the
owner, in a form that no other index serves: else all rows of the user might be read for each word."""

_ACTING: Final = "(SELECT NULLIF(current_setting('recall.user_id', true), '')::bigint)"
"""In a SELECT of its own it is evaluated once per statement, not once per row."""


# What there should be ----------------------------------------------------------------------------------------------


def owned() -> dict[str, str]:
    """Each owned table → the condition on its rows."""
    user = apps.get_model(settings.AUTH_USER_MODEL)
    found = {user._meta.db_table: f"id = {_ACTING}"}
    for model in apps.get_models(include_auto_created=True):
        column = next((field for field in model._meta.concrete_fields if field.name == "user"), None)
        if column is not None and column.related_model is user:
            found[model._meta.db_table] = f"{column.column} = {_ACTING}"
    for table, (column_name, parent) in PARENTS.items():
        found[table] = f"EXISTS (SELECT FROM {parent} AS parent WHERE parent.id = {table}.{column_name})"
    return found


def shared() -> set[str]:
    """Owned tables some of whose rows are everyone's to read: those without a user."""
    return {
        model._meta.db_table
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.name == "user" and field.null
    }


def policies(table: str, condition: str) -> Iterator[tuple[str, str]]:
    """The name and the rest of each policy of a table. The owner is a member of `recall_system`."""
    own = f"{Role.USER}, {Role.SIGN_IN}"
    yield "recall_own", f"TO {own} USING ({condition})"  # and what is written must fulfil it
    yield "recall_everyone", f"TO {Role.SYSTEM} USING (true)"
    if table in IDENTITY:
        yield "recall_identity", f"TO {Role.SIGN_IN} USING (true)"
    if table in shared():
        yield "recall_shared", f"FOR SELECT TO {own} USING (user_id IS NULL)"


# What there is -----------------------------------------------------------------------------------------------------

_TABLES: Final = """
    SELECT relname, relrowsecurity AND relforcerowsecurity,
        ARRAY(
            SELECT ARRAY[polname::text, obj_description(pg_policy.oid, 'pg_policy')]
            FROM pg_policy WHERE polrelid = pg_class.oid
        )
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""


def find_gaps() -> list[str]:
    """What is missing, a sentence each. Empty: every table is protected, or needn't be."""
    wanted, gaps = owned(), []
    for table, is_forced, found in _tables():
        if table in wanted:
            if not is_forced or found != dict(policies(table, wanted[table])):
                gaps.append(f"The table {table} lacks its row security.")
        elif table not in UNOWNED:
            gaps.append(f"The table {table} has no owner, and no reason in UNOWNED.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT viewname FROM pg_views WHERE schemaname = 'public'")
        there = {name for (name,) in cursor.fetchall()}
    return gaps + [f"The view {view} is missing." for view in VIEWS if view not in there]


def _tables() -> list[tuple[str, bool, dict[str, str]]]:
    """Name, whether row security is forced, and the policies as they were installed, of each table."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        return [(name, is_forced, dict(found)) for name, is_forced, found in cursor.fetchall()]


# Installing --------------------------------------------------------------------------------------------------------


@by("migrations")
def install_roles() -> None:
    """Make the roles and let the application's login take them. Without them no one can read anything.

    Raises:
        ImproperlyConfigured: a superuser has to do it, with the statements.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles")
        roles = {name for (name,) in cursor.fetchall()}
        statements = [f"CREATE ROLE {role} NOLOGIN" for role in ROLES if role not in roles]
        cursor.execute("SELECT current_user")
        (owner,) = cursor.fetchone()
        application = application_login()
        takes = "SET TRUE" if application == owner else "SET TRUE, INHERIT FALSE"
        memberships: list[tuple[str, str, str, str]] = [(owner, Role.SYSTEM, "INHERIT TRUE", "USAGE")]
        memberships += [(application, role, takes, "SET") for role in ROLES]
        if application != owner:
            memberships.append((owner, application, "SET TRUE, INHERIT TRUE", "SET"))  # to give it the queue
        for login, role, how, right in memberships:
            if role not in roles or not _has_role(cursor, login, role, right):
                statements.append(f'GRANT "{role}" TO "{login}" WITH {how}')
        try:
            for statement in statements:
                cursor.execute(statement)
        except ProgrammingError as error:
            if not isinstance(error.__cause__, errors.InsufficientPrivilege):
                raise
            run = f"A superuser of the database has to run this once: {'; '.join(statements)};"
            raise ImproperlyConfigured(run) from error


def _has_role(cursor: Any, login: str, role: str, right: str) -> bool:
    cursor.execute("SELECT pg_has_role(%s, %s, %s)", [login, role, right])
    return bool(cursor.fetchone() == (True,))


@by("migrations")
def remove_views() -> None:
    """Before a migration: PostgreSQL changes no column that a view has."""
    with connection.cursor() as cursor:
        for view in VIEWS:
            cursor.execute(f"DROP VIEW IF EXISTS {view}")


@by("migrations")
@transaction.atomic
def install() -> None:
    """Make what is missing; nothing if all is there."""
    wanted = owned()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('recall.row_security'))")
        tables = _tables()
        for table, is_forced, found in tables:
            if table not in wanted:
                continue
            if not is_forced:
                cursor.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
            expected = dict(policies(table, wanted[table]))
            for name in found if found != expected else ():
                cursor.execute(f"DROP POLICY {name} ON {table}")
            for name, rest in expected.items() if found != expected else ():
                cursor.execute(f"CREATE POLICY {name} ON {table} {rest}")
                cursor.execute(
                    sql.SQL("COMMENT ON POLICY {} ON {} IS {}")
                    .format(sql.Identifier(name), sql.Identifier(table), sql.Literal(rest))
                    .as_string()
                )
        there = {name for name, *_ in tables}
        views = [view for view, (table, _) in VIEWS.items() if table in there]
        for view in views:
            table, form = VIEWS[view]
            condition = form.format(wanted[table])
            cursor.execute(f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM {table} WHERE {condition}")  # noqa: S608
        for statement in _grants(there, views):
            cursor.execute(statement)


def _grants(tables: set[str], views: Collection[str]) -> Iterator[str]:
    limited = ", ".join(sorted(table for table, (rights, _) in UNOWNED.items() if rights == READ and table in tables))
    yield f"GRANT {WRITE} ON ALL TABLES IN SCHEMA public TO {', '.join(ROLES)}"
    yield f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {', '.join(ROLES)}"
    if views:  # they are the owner's, and no policy checks what the owner writes
        yield f"REVOKE INSERT, UPDATE, DELETE ON {', '.join(views)} FROM {', '.join(ROLES)}"
    if limited:
        yield f"REVOKE INSERT, UPDATE, DELETE ON {limited} FROM {Role.USER}, {Role.SIGN_IN}"
    if "recall_heartbeat" in tables:
        yield f'GRANT SELECT ON recall_heartbeat TO "{application_login()}"'  # the containers' health checks


def application_login() -> str:
    """The login of web and workers; the owner's own where there is no other."""
    login = connection.settings_dict["USER"]
    if not login:
        with connection.cursor() as cursor:
            cursor.execute("SELECT session_user")
            (login,) = cursor.fetchone()
    return str(login)
