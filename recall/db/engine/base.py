"""The database engine: Django's own, whose connections get Recall's session settings and the acting user.

By SET, because PgBouncer refuses them among the start-up parameters of a connection.
"""

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from django.db.backends.postgresql import base
from django.utils.asyncio import async_unsafe
from psycopg._preparing import Key, Prepare, PrepareManager
from psycopg.pq import TransactionStatus
from psycopg.pq.abc import PGresult

from recall.db.acting import NO_USER, Actor, Role, current

PLANNED_ONCE: Final = "SET plan_cache_mode = force_generic_plan"
"""Parse and plan a prepared statement once per connection: planning the search for its values takes 1.5 ms of 6. By
default the server would replan, as it estimates that few rows match a word."""
_TELL: Final = "SELECT set_config('role', '{role}', false), set_config('recall.user_id', '{user}', false)"


class PreparedStatements(PrepareManager):
    """What a connection remembers to prepare: statements whose values the server binds, the fifth time.

    psycopg's own counts the others, too, which are never prepared. Their values are in their text, so each connection
    kept its last hundred, with the messages and receipts in them.
    """

    def validate(self, key: Key, prep: Prepare, name: bytes, results: Sequence[PGresult]) -> None:
        super().validate(key, prep, name, results)
        _, types = key
        if not types and prep is Prepare.NO:
            self._counts.pop(key, None)


def tell(connection: psycopg.Connection[Any], actor: Actor) -> None:
    """Tell the server who acts. One statement."""
    user = "" if actor.user_id is None else int(actor.user_id)
    psycopg.Cursor(connection).execute(_TELL.format(role=actor.role.value, user=user))


def tell_current(connection: psycopg.Connection[Any]) -> None:
    """The pool's check of a connection it is about to give out: tells it who acts instead of an empty statement."""
    if not connection.autocommit:
        connection.autocommit = True
    tell(connection, current())


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's; before each statement the server knows who acts, and a connection returns to the pool as no one's.

    The owner's login isn't pooled: it is used by few and for long, and no page can get one of its connections.
    """

    _told: Actor | None = None
    """Who acts, as the server knows it; None: not known."""
    _is_owner = False

    def __init__(self, settings_dict: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(settings_dict, *args, **kwargs)
        if pool := settings_dict["OPTIONS"].get("pool"):
            pool["check"] = tell_current

    @property
    def pool(self) -> Any:
        return None if self._is_owner else super().pool

    def _configure_connection(self, connection: Any) -> bool:
        super()._configure_connection(connection)  # type: ignore[misc]  # absent from the stubs
        connection._prepared = PreparedStatements()
        with connection.cursor() as cursor:
            cursor.execute(PLANNED_ONCE)
        return True  # to be committed

    def get_new_connection(self, conn_params: Any) -> Any:
        actor = current()
        self._told, self._is_owner = None, actor.role is Role.OWNER
        if self._is_owner:
            conn_params = {**conn_params, **self.settings_dict.get("OWNER", {})}
        connection = super().get_new_connection(conn_params)
        if self.pool:
            self._told = actor  # by `tell_current`
        return connection

    def _cursor(self, name: Any = None) -> Any:
        self._set_actor()
        return super()._cursor(name)  # type: ignore[misc]

    @async_unsafe
    def raw_cursor(self, kind: type[psycopg.RawCursor[Any]] = psycopg.RawCursor) -> Any:
        """A cursor for SQL with `$1`, whose values the server binds, wrapped as Django's own are."""
        self._set_actor()
        with self.wrap_database_errors:
            return self._prepare_cursor(kind(self.connection))  # type: ignore[attr-defined]

    def _set_actor(self) -> None:
        self.close_if_health_check_failed()
        actor = current()
        if self.connection is None or self._told != actor:
            self._change(actor)

    def ensure_connection(self) -> None:
        """Also before a transaction starts."""
        if self.connection is not None and self._is_owner is not (current().role is Role.OWNER):
            if self.in_atomic_block:
                raise RuntimeError("The owner's login can't be used or left within a transaction.")
            self.close()
        super().ensure_connection()

    def _change(self, actor: Actor) -> None:
        self.ensure_connection()
        if self._told != actor:
            with self.wrap_database_errors:
                tell(self.connection, actor)
            self._told = actor

    def _set_autocommit(self, autocommit: bool) -> None:
        """Before a transaction rather than within it: what is set within ends with a rollback, and a transaction may
        have to start with a statement of its own, such as its isolation level."""
        if not autocommit:
            self._change(current())
        super()._set_autocommit(autocommit)  # type: ignore[misc]

    def _commit(self) -> Any:
        if self.connection is not None and self.connection.info.transaction_status == TransactionStatus.INERROR:
            self._told = None  # the server rolls back
        return super()._commit()  # type: ignore[misc]

    def _rollback(self) -> Any:
        self._told = None  # the server forgets what was set within the transaction
        return super()._rollback()  # type: ignore[misc]

    def _savepoint_rollback(self, sid: Any) -> None:
        self._told = current()  # a failed transaction takes no other statement
        super()._savepoint_rollback(sid)  # type: ignore[misc]
        self._told = None

    def _close(self) -> Any:
        if self.connection is not None and self.pool and self._told != NO_USER:
            _clear(self.connection)
        self._told = None
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._is_owner = False


def _clear(connection: psycopg.Connection[Any]) -> None:
    """Make it no one's. If that fails the pool gets a closed connection, and makes another."""
    try:
        if connection.info.transaction_status != TransactionStatus.IDLE:
            connection.rollback()
        connection.autocommit = True
        tell(connection, NO_USER)
    except psycopg.Error:
        connection.close()
