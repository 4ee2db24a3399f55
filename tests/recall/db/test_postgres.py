"""Indexes of words, on any table."""

import pytest
from django.db import connection

from recall.db.postgres import FEW_WAITING


@pytest.mark.django_db
def test_few_new_words_wait_in_any_index_of_words() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, reloptions FROM pg_class JOIN pg_am ON pg_am.oid = relam"
            " WHERE amname = 'gin' AND relname LIKE '%%words' AND relname NOT LIKE 'personal%%' ORDER BY relname"
        )
        kept = dict(cursor.fetchall())

    assert {"chunk_words", "episode_words", "fact_words", "message_words"} <= kept.keys()
    assert set(map(tuple, kept.values())) == {(f"gin_pending_list_limit={FEW_WAITING}",)}, kept
