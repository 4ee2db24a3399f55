"""What spreading rows by owner would need: each key and reference of an owned table that doesn't carry the owner.

Engines that spread rows (Citus) want the owner in every unique key and in every reference between spread tables; cells
by user range want no reference to another user's rows. docs/scale.md says when either is due, and counts these lists. A
new key or reference without the owner fails here: give it the owner, or list it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from django.db import connection

from recall.db import row_security

pytestmark = pytest.mark.django_db
PAGE: Final = Path(__file__).parents[3] / "docs" / "scale.md"

GLOBAL_KEYS: Final = {
    "account_emailaddress": {"email"},
    "account_emailconfirmation": {"key"},
    "accounts_apikey": {"digest"},
    "accounts_apirate": {"holder"},
    "accounts_user": {"email", "lower(email)"},
    "usersessions_usersession": {"session_key"},
}
"""Unique among everyone, as they find out who someone is: these tables stay in one place."""
KEYS: Final = {
    "budget_receipt": {"message_id"},
    "chat_compaction": {"conversation_id"},
    "chat_importpart": {"job_id, number"},
    "chat_message": {"conversation_id", "conversation_id, seq"},
    "chat_segment": {"conversation_id, number"},
    "memory_chunk": {"document_id, number", "message_id, number", "segment_id, number"},
    "memory_episode": {"conversation_id, first_turn, last_turn"},
    "memory_episode_facts": {"episode_id, fact_id"},
    "memory_factlink": {"from_fact_id, to_fact_id, relation"},
    "memory_librarianrun": {"conversation_id, first_seq, last_seq"},
    "memory_messagechange": {"message_id, changed_by_id"},
    "memory_revision": {"document_id, number"},
}
"""Unique within a row of the same owner: the owner can be put in front."""
REFERENCES: Final = {
    "account_emailconfirmation": {"email_address_id"},
    "budget_profilesnapshot": {"conversation_id"},
    "budget_receipt": {"conversation_id", "message_id", "snapshot_id"},
    "chat_attachment": {"message_id"},
    "chat_compaction": {"conversation_id"},
    "chat_conversation": {"active_leaf_id", "role_id"},
    "chat_importpart": {"job_id"},
    "chat_message": {"conversation_id", "parent_id"},
    "chat_segment": {"before_id", "conversation_id", "last_message_id", "merged_into_id"},
    "memory_chunk": {"conversation_id", "document_id", "message_id", "segment_id"},
    "memory_episode": {"conversation_id", "merged_into_id", "run_id"},
    "memory_episode_facts": {"episode_id", "fact_id"},
    "memory_fact": {"message_id", "run_id", "superseded_by_id"},
    "memory_factlink": {"from_fact_id", "to_fact_id"},
    "memory_librarianrun": {"conversation_id"},
    "memory_messagechange": {"changed_by_id", "message_id"},
    "memory_reviewaction": {"fact_id"},
    "memory_revision": {"document_id"},
    "memory_tombstone": {"forgetting_id", "of_id"},
    "memory_upload": {"document_id"},
}
"""To a row of the same owner, by its id alone."""
OTHER_USERS: Final = {
    "accounts_accesslog": {"reader_id"},
    "memory_forgetting": {"by_id"},
    "memory_reviewaction": {"by_id"},
}
"""To a member of staff, who may be in another cell."""

_KEYS: Final = """
    SELECT indrelid::regclass::text, indisprimary,
        string_agg(pg_get_indexdef(indexrelid, place, true), ', ' ORDER BY place)
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid, generate_series(1, indnkeyatts) AS place
    WHERE indisunique AND relnamespace = 'public'::regnamespace
    GROUP BY indexrelid, indrelid, indisprimary
"""
_REFERENCES: Final = """
    SELECT conrelid::regclass::text, confrelid::regclass::text, attname
    FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey)
    WHERE contype = 'f' AND connamespace = 'public'::regnamespace
"""


def rows(statement: str) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return [row for row in cursor.fetchall() if row[0] in row_security.owned()]


def carries_owner(columns: str) -> bool:
    return "user_id" in columns.split(", ")


def number_of(listed: Mapping[str, set[str]]) -> int:
    return sum(map(len, listed.values()))


def test_the_page_has_the_number_of_each_list() -> None:
    assert (
        f"{number_of(KEYS)} unique keys and {number_of(REFERENCES)} references go without the owner,"
        f" {number_of(GLOBAL_KEYS)} keys are unique among everyone,"
        f" and {number_of(OTHER_USERS)} references name a member of staff."
    ) in " ".join(PAGE.read_text().split())


def test_each_primary_key_but_one_is_an_id() -> None:
    keys = {(table, columns) for table, is_primary, columns in rows(_KEYS) if is_primary}
    assert {table for table, columns in keys if columns != "id"} == {"accounts_apirate"}


def test_each_unique_key_carries_the_owner_or_is_listed() -> None:
    found: dict[str, set[str]] = {}
    for table, is_primary, columns in rows(_KEYS):
        if not carries_owner(columns) and (not is_primary or columns != "id"):
            found.setdefault(table, set()).add(columns.replace("email::text", "email"))
    assert found == {**GLOBAL_KEYS, **KEYS}


def test_each_reference_carries_the_owner_or_is_listed() -> None:
    own: dict[str, set[str]] = {}
    others: dict[str, set[str]] = {}
    for table, target, column in rows(_REFERENCES):
        if target in row_security.owned() and column != "user_id":
            (others if target == "accounts_user" else own).setdefault(table, set()).add(column)
    assert own == REFERENCES
    assert others == OTHER_USERS
