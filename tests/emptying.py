"""Restores the database to its state after migrations, after a test that commits.

Django truncates every table and recreates the permissions: half a second, a thousand times. Here one function in the
database deletes the rows, and restores those that were there at the start.
"""

from typing import Final

import psycopg
from django.db import OperationalError, connection

LARGE: Final = 32_768
"""Bytes from which a table is truncated: deleted rows stay until a vacuum and are read by every scan, and once they are
gone PostgreSQL takes the table for empty, and plans for that."""
ATTEMPTS: Final = 5
"""Code that is still finishing may hold a lock in the reverse order; PostgreSQL then ends one of the two."""

_SNAPSHOT: Final = """
CREATE SCHEMA kept;
GRANT USAGE ON SCHEMA kept TO PUBLIC;
CREATE FUNCTION kept.columns(one regclass) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
  WHERE attrelid = one AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
$$;
CREATE FUNCTION kept.filled() RETURNS SETOF regclass LANGUAGE sql STABLE AS $$
  SELECT oid::regclass FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'django_migrations'
    AND pg_relation_size(oid) > 0
$$;
DO $$
DECLARE one regclass;
BEGIN
  FOR one IN SELECT kept.filled() LOOP
    EXECUTE format('CREATE TABLE kept.%s AS SELECT %s FROM %s', one, kept.columns(one), one);
  END LOOP;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA kept TO PUBLIC;
CREATE FUNCTION kept.restore(large bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE one regclass;
BEGIN
  PERFORM set_config('session_replication_role', 'replica', true);  -- no foreign key is looked at, no trigger fires
  FOR one IN SELECT kept.filled() LOOP
    IF pg_relation_size(one) > large THEN
      EXECUTE format('TRUNCATE %s CASCADE', one);
    ELSE
      EXECUTE format('DELETE FROM %s', one);
    END IF;
  END LOOP;
  FOR one IN
    SELECT relname::text::regclass FROM pg_class WHERE relnamespace = 'kept'::regnamespace AND relkind = 'r'
  LOOP
    EXECUTE format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT * FROM kept.%s', one, kept.columns(one), one);
  END LOOP;
END $$;
CREATE FUNCTION kept.count_rows() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ANALYZE; END $$;
"""


def remember() -> None:
    """Record the tables' current contents; once, after the migrations."""
    with connection.cursor() as cursor:
        cursor.execute(_SNAPSHOT)


def restore() -> None:
    """Restore every table to what was recorded. Sequences continue where they are."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT kept.restore(%s)", [LARGE])
            return
        except OperationalError as failure:
            if attempt == ATTEMPTS or not isinstance(failure.__cause__, psycopg.errors.DeadlockDetected):
                raise


def count_rows() -> None:
    """Let the server plan for the rows that are in this transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT kept.count_rows()")


def end_other_sessions() -> None:
    """End those that threads of earlier tests keep: a database in use isn't dropped."""
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 10_000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.close()
