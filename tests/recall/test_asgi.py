"""A web process waits for its database as it starts, and for one that goes away again meanwhile."""

from unittest.mock import Mock

import psycopg
import pytest
from django.db import OperationalError

from recall import asgi


@pytest.mark.django_db(transaction=True)  # a thread that earlier tests left a connection looks at it
async def test_a_database_that_goes_away_again_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Mock(side_effect=["migrations missing", None, None, None])
    checked = Mock(side_effect=[psycopg.OperationalError("terminating connection"), None, None])
    marked = Mock(side_effect=[OperationalError("the database system is shutting down"), 1])
    monkeypatch.setattr(asgi, "find_problem", found)
    monkeypatch.setattr(asgi, "check_sessions", checked)
    monkeypatch.setattr(asgi, "mark_abandoned_answers", marked)

    await asgi.wait_for_database()

    assert (found.call_count, checked.call_count, marked.call_count) == (4, 3, 2)
