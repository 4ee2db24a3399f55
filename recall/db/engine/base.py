"""The database engine: Django's own, whose new connections get Recall's session settings.

By SET, because PgBouncer refuses them among the start-up parameters of a connection.
"""

from typing import Any, Final

from django.db.backends.postgresql import base

PLANNED_ONCE: Final = "SET plan_cache_mode = force_generic_plan"
"""Parse and plan a prepared statement once per connection: planning the search for its values takes 1.5 ms of 6. By
default the server would replan, as it estimates that few rows match a word."""


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with one more step when a connection is opened."""

    def _configure_connection(self, connection: Any) -> bool:
        super()._configure_connection(connection)  # type: ignore[misc]  # absent from the stubs
        with connection.cursor() as cursor:
            cursor.execute(PLANNED_ONCE)
        return True  # to be committed
