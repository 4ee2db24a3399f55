"""How does the database get back to what migrations leave, after a test that commits?

Django truncates every table and has the permissions made anew: half a second, a thousand times. Here one function in
the database deletes what is there, and puts back what stood there at the start.
"""

from typing import Final

import psycopg
from django.db import OperationalError, connection

LARGE: Final = 32_768
"""Bytes from which on a table is truncated: deleted rows stay until a vacuum, whoever scans the table reads them, and
once they are gone PostgreSQL takes it for empty, and plans for that."""
ATTEMPTS: Final = 5
"""What is still closing its books may hold a lock the other way round; PostgreSQL then ends one of the two."""

_SNAPSHOT: Final = """
CREATE SCHEMA kept;
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
CREATE FUNCTION kept.restore(large bigint) RETURNS void LANGUAGE plpgsql AS $$
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
"""


def remember() -> None:
    """Note what stands in the tables now; once, after the migrations."""
    with connection.cursor() as cursor:
        cursor.execute(_SNAPSHOT)


def restore() -> None:
    """Bring every table back to what was noted. A sequence goes on where it is."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT kept.restore(%s)", [LARGE])
            return
        except OperationalError as failure:
            if attempt == ATTEMPTS or not isinstance(failure.__cause__, psycopg.errors.DeadlockDetected):
                raise
