"""The admin's lists run no query that grows with the table: no full count, no sort, no search without an index."""

import re
from typing import Any

import pytest
from django.contrib.admin import autodiscover, site
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import AccessLog, User
from accounts.staff import large_tables
from accounts.staff.large_tables import CappedPaginator, LargeTableAdmin, estimate
from chat.models import Conversation, Message
from memory.models import Fact, Upload
from recall.db.acting import by
from tests.test_isolation import Hers, hers

__all__ = ["hers"]  # the fixture: one row of everything Alice owns

pytestmark = pytest.mark.django_db

autodiscover()
LONG = [model for model, shown in site._registry.items() if isinstance(shown, LargeTableAdmin)]
SMALL = {"Price", "Calibration", "Group", "EmailAddress"}
"""Tables with few rows, or one row per user, whose admins aren't ours."""


def asked(staff: Client, model: Any, **query: str) -> list[str]:
    """The statements of one list on its own table."""
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    with CaptureQueriesContext(connection) as captured:
        assert staff.get(address, query).status_code == 200
    said = [captured_query["sql"] for captured_query in captured.captured_queries]
    return [sql for sql in said if f'FROM "{model._meta.db_table}"' in sql and sql.startswith("SELECT")]


def plan_of(sql: str) -> str:
    """PostgreSQL's plan if it could avoid full table scans and sorts."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(row[0] for row in cursor.fetchall())


def test_every_list_is_a_long_one_but_the_small() -> None:
    others = {model.__name__ for model in site._registry if model not in LONG}

    assert others <= SMALL


def test_no_list_counts_or_sorts_the_whole_table(staff: Client, hers: Hers) -> None:
    plans: list[tuple[Any, str]] = []
    for model in LONG:
        shown = asked(staff, model)
        for sql in shown + asked(staff, model, q="alice@") + asked(staff, model, _facets="1"):
            assert "COUNT(" not in sql or f"LIMIT {large_tables.COUNTED_TO + 1}" in sql, sql
            assert "DISTINCT" not in sql, sql
            assert "UPPER(" not in sql, sql
            assert not re.search(r"LIKE '%", sql), sql
        plans.append((model, next(sql for sql in shown if "ORDER BY" in sql)))
    for model, sql in plans:  # last: planning them changes what the planner may do for the rest of the transaction
        plan = plan_of(sql)
        assert "Sort" not in plan, plan
        assert f"Seq Scan on {model._meta.db_table}" not in plan, plan


def test_a_persons_conversations_come_by_time_from_their_index(staff: Client, hers: Hers) -> None:
    (page, *_) = [sql for sql in asked(staff, Conversation, q="alice@") if "ORDER BY" in sql]

    plan = plan_of(page)

    assert "conversation_latest" in plan
    assert "Sort" not in plan or "Presorted Key: chat_conversation.last_activity_at" in plan


def test_words_of_facts_are_found_by_their_index(staff: Client, hers: Hers) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        cursor.execute("EXPLAIN SELECT id FROM memory_fact WHERE search @@ websearch_to_tsquery('english', 'bees')")
        assert "fact_search" in str(cursor.fetchall())
    Fact.objects.create(user=hers.fact.user, statement="The user keeps bees.")

    address = reverse("admin:memory_fact_changelist")
    assert "keeps bees" in staff.get(address, {"q": "bee"}).content.decode()
    assert "keeps bees" not in staff.get(address, {"q": "wasp"}).content.decode()


@pytest.mark.django_db(transaction=True)
def test_few_rows_are_counted_and_of_many_the_estimate_is_told(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    AccessLog.objects.bulk_create(AccessLog(user=alice, what=f"fact {n}") for n in range(30))
    rows = AccessLog.objects.order_by("-pk")
    assert CappedPaginator(rows, 10).count_text == "30"

    monkeypatch.setattr(large_tables, "COUNTED_TO", 20)
    with by("vacuum"), connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_accesslog")
    few = CappedPaginator(rows, 10)

    assert (few.count_text, few.count, few.num_pages) == (f"about {estimate(AccessLog)}", 20, 2)
    assert CappedPaginator(rows.filter(user=alice), 10).count_text == "more than 20"


def test_a_filter_looks_at_the_newest_rows_or_at_all_of_one_person(
    alice: User, bob: User, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_tables, "FILTERED_AMONG", 5)
    talk = Conversation.objects.create(user=alice)
    Message.objects.bulk_create(
        Message(user=alice, conversation=talk, seq=n, turn=n, role="user", event_type="user_message", status="failed")
        for n in range(1, 11)
    )
    address = reverse("admin:chat_message_changelist")

    newest = staff.get(address, {"status__exact": "failed"})
    hers = staff.get(address, {"status__exact": "failed", "q": "alice@"})

    assert len(newest.context["cl"].result_list) == 5
    assert "the newest 5" in newest.content.decode()
    assert len(hers.context["cl"].result_list) == 10
    assert "the newest 5" not in hers.content.decode()


def test_a_list_is_sorted_by_nothing_that_an_address_asks_for(staff: Client, hers: Hers) -> None:
    assert asked(staff, Message, o="4") == asked(staff, Message)


def test_every_choice_that_a_filter_offers_opens(staff: Client, hers: Hers) -> None:
    for model in LONG:
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        shown = staff.get(address).context["cl"]
        for choices in (spec.choices(shown) for spec in shown.filter_specs):
            for choice in choices:
                assert staff.get(found := address + choice["query_string"]).status_code == 200, found


def test_an_address_asks_no_other_column_than_the_filters_of_its_list(staff: Client, hers: Hers) -> None:
    address = reverse("admin:chat_message_changelist")
    for lookup in ("text__startswith", "text", "user__email__startswith", "status__regex", "nothing"):
        assert staff.get(address, {lookup: "a"}).status_code == 400, lookup


def test_whoever_may_not_see_a_column_cannot_sort_by_it(staff: Client, hers: Hers) -> None:
    for place in range(1, 10):
        assert asked(staff, Upload, o=str(place)) == asked(staff, Upload)
