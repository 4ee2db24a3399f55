"""The API within a test's own rolled-back transaction or, where that isn't possible, as it is served."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from recall.db.notify import Listener
from recall.llm.client import forget_capabilities
from tests.running import listening_socket, serve_in_thread


@pytest.fixture
def on_this_connection(one_connection: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads have other connections, which do not see what is not committed."""

    async def in_thread(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(work)(*args, **kwargs)

    for place in (
        "accounts.api.middleware.run_in_thread",
        "chat.turns.start.run_at_once",
        "chat.api.turns.run_in_thread",
    ):
        monkeypatch.setattr(place, in_thread)


@pytest.fixture
def address(offline_server: str, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the whole of Recall's web process is served, from a thread, on the database of the test."""
    from recall import asgi

    forget_capabilities()
    dsn = {**settings.DATABASE_DSN, "dbname": connection.settings_dict["NAME"]}
    monkeypatch.setattr(asgi, "listeners", [Listener(make_conninfo(**dsn))])
    bound = listening_socket()
    with serve_in_thread("recall.asgi:application", bound):
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
