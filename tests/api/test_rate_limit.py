"""The rate limit of a program is counted across all processes, reported with each response, and ends in a 429."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.test import Client

from accounts.api import rate_limit
from accounts.models import ApiRate
from tests.api.rows import AT, with_key

pytestmark = pytest.mark.django_db
FACTS = f"{AT}/memory/facts"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENVIRONMENT, "api_rate_per_minute", 3)


def test_each_answer_tells_what_is_left(alice: Any) -> None:
    program = with_key(alice)
    first, second = program.get(FACTS), program.get(FACTS)
    assert first["RateLimit-Policy"] == '"default";q=3;w=60'
    assert first["RateLimit"] == '"default";r=2;t=20'
    assert second["RateLimit"] == '"default";r=1;t=40'


def test_too_many_are_refused_with_when_to_come_again(alice: Any) -> None:
    program = with_key(alice)
    assert [program.get(FACTS).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = program.get(FACTS)
    assert refused["Content-Type"] == "application/problem+json"
    assert refused.json()["type"].endswith("#rate-limit")
    assert 15 <= int(refused["Retry-After"]) <= 20
    assert refused["RateLimit"].startswith('"default";r=0;t=')


def test_a_refusal_costs_nothing_and_the_bucket_fills_again(alice: Any) -> None:
    program = with_key(alice)
    for _ in range(6):
        program.get(FACTS)
    ApiRate.objects.update(at=F("at") - timedelta(seconds=20))
    assert [program.get(FACTS).status_code for _ in range(2)] == [200, 429]
    ApiRate.objects.update(at=F("at") - timedelta(hours=20))
    assert [program.get(FACTS).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_each_key_and_the_sessions_have_a_bucket_of_their_own(alice: Any, client: Client) -> None:
    one, other = with_key(alice), with_key(alice)
    client.force_login(alice)
    for _ in range(3):
        one.get(FACTS)
    assert one.get(FACTS).status_code == 429
    assert other.get(FACTS).status_code == 200
    assert client.get(FACTS).status_code == 200


def test_what_is_refused_for_its_scope_counts_too(alice: Any) -> None:
    program = with_key(alice, "export")
    assert [program.get(FACTS).status_code for _ in range(4)] == [403, 403, 403, 429]


def test_the_table_is_not_written_to_the_log_of_the_database(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'accounts_apirate'")
        assert cursor.fetchone() == ("u",)


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_are_let_in(alice: Any) -> None:
    let_in: list[bool] = []

    def take() -> None:
        let_in.append(rate_limit.take_token("user:1", alice.pk).wait == 0)
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(let_in) == 3
