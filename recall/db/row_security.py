"""Row-level security: the policies behind `recall/db/acting.py`, installed after every migration, and their gaps.

A table is owned by its `user` column, or through its PARENT, or has a reason in UNOWNED. Whatever is none of these is
a gap, and so is an owned table without its policies: the server isn't ready, and `tests/recall/db` fails.

PostgreSQL evaluates a policy before any function that might leak what it is given: a condition such as `@@` can't
select rows by an index then. So what searches by words reads VIEWS, each of which has the policy's condition in itself
and is made by the owner. A view shows its reader the acting user's rows; no one writes by it.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

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


class Held(NamedTuple):
    """What PostgreSQL has of a policy or view."""

    comment: str | None
    """The text it was made of and `text` as of then, if we made it."""
    text: str
    """Its condition as PostgreSQL writes it, with the roles, rights and options."""


_TABLES: Final = """
    SELECT relname, relrowsecurity AND relforcerowsecurity,
        ARRAY(
            SELECT ARRAY[
                polname::text,
                obj_description(pg_policy.oid, 'pg_policy'),
                concat_ws(
                    ' ', polcmd, polpermissive,
                    ARRAY(SELECT rolname FROM pg_roles WHERE pg_roles.oid = ANY(polroles) ORDER BY rolname),
                    'USING', pg_get_expr(polqual, polrelid), 'CHECK', pg_get_expr(polwithcheck, polrelid)
                )
            ]
            FROM pg_policy WHERE polrelid = pg_class.oid
        )
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""
_VIEWS: Final = """
    SELECT relname, obj_description(oid, 'pg_class'), concat_ws(' ', reloptions, pg_get_viewdef(oid))
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'
"""


def find_gaps() -> list[str]:
    """What is missing, a sentence each. Empty: every table is protected, or needn't be."""
    wanted, gaps = owned(), []
    for table, is_forced, found in _tables():
        if table in wanted:
            if not is_forced or not _are_as_made(found, dict(policies(table, wanted[table]))):
                gaps.append(f"The table {table} lacks its row security.")
        elif table not in UNOWNED:
            gaps.append(f"The table {table} has no owner, and no reason in UNOWNED.")
    there = _views()
    for view in VIEWS:
        if view not in there:
            gaps.append(f"The view {view} is missing.")
        elif not _is_as_made(there[view], _select(view, wanted)):
            gaps.append(f"The view {view} was changed.")
    return gaps


def _select(view: str, conditions: Mapping[str, str]) -> str:
    table, form = VIEWS[view]
    return f"SELECT * FROM {table} WHERE {form.format(conditions[table])}"  # noqa: S608


def _are_as_made(found: Mapping[str, Held], wanted: Mapping[str, str]) -> bool:
    return found.keys() == wanted.keys() and all(_is_as_made(held, wanted[name]) for name, held in found.items())


def _is_as_made(held: Held | None, ours: str) -> bool:
    """Whether it was made of our text, and PostgreSQL still has what it made of that."""
    return held is not None and held.comment == _comment(ours, held.text)


def _comment(ours: str, text: str) -> str:
    return f"{ours}\n{text}"


def _tables() -> list[tuple[str, bool, dict[str, Held]]]:
    """Name, whether row security is forced, and the policies, of each table."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        return [
            (table, is_forced, {name: Held(*held) for name, *held in found})
            for table, is_forced, found in cursor.fetchall()
        ]


def _views() -> dict[str, Held]:
    with connection.cursor() as cursor:
        cursor.execute(_VIEWS)
        return {name: Held(*held) for name, *held in cursor.fetchall()}


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
    """Make what is missing or was changed; nothing if all is there."""
    wanted = owned()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('recall.row_security'))")
        _install_policies(cursor, wanted)
        there = {table for table, *_ in _tables()}
        views = [view for view, (table, _) in VIEWS.items() if table in there]
        _install_views(cursor, {view: _select(view, wanted) for view in views})
        for statement in _grants(there, views):
            cursor.execute(statement)


def _install_policies(cursor: Any, conditions: Mapping[str, str]) -> None:
    changed: dict[str, dict[str, str]] = {}
    for table, is_forced, found in _tables():
        if table not in conditions:
            continue
        if not is_forced:
            cursor.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        wanted = dict(policies(table, conditions[table]))
        if not _are_as_made(found, wanted):
            changed[table] = wanted
            for name in found:
                cursor.execute(sql.SQL("DROP POLICY {} ON {}").format(*map(sql.Identifier, (name, table))).as_string())
            for name, rest in wanted.items():
                cursor.execute(f"CREATE POLICY {name} ON {table} {rest}")
    for table, _, made in _tables():
        for name, rest in changed.get(table, {}).items():
            _keep(cursor, f"POLICY {name} ON {table}", rest, made[name])


def _install_views(cursor: Any, wanted: Mapping[str, str]) -> None:
    there = _views()
    changed = [view for view, select in wanted.items() if not _is_as_made(there.get(view), select)]
    for view in changed:
        cursor.execute(f"DROP VIEW IF EXISTS {view}")
        cursor.execute(f"CREATE VIEW {view} AS {wanted[view]}")
    made = _views()
    for view in changed:
        _keep(cursor, f"VIEW {view}", wanted[view], made[view])


def _keep(cursor: Any, name: str, ours: str, made: Held) -> None:
    comment = sql.Literal(_comment(ours, made.text)).as_string()
    cursor.execute(f"COMMENT ON {name} IS {comment}")


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
