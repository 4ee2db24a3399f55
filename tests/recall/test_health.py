"""What load balancers and containers learn: alive, ready, or ready with something missing."""

from typing import Any

import pytest
from django.db import connection

from recall.observability import heartbeat
from recall.tasks import probe_queue

NOTHING_RUNS = ["no worker", "no clock", "queue not moving"]


def everything_runs() -> None:
    heartbeat.renew("worker@one")
    heartbeat.renew("beat@one")
    probe_queue()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/readyz", "/healthz"])
def test_it_is_ready_when_everything_runs(client: Any, address: str) -> None:
    everything_runs()
    answer = client.get(address)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "degraded": []})


@pytest.mark.django_db
def test_it_serves_without_a_worker_and_says_so(client: Any) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "degraded": NOTHING_RUNS})


@pytest.mark.django_db
def test_what_has_been_silent_for_a_minute_is_missing(client: Any) -> None:
    everything_runs()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE recall_heartbeat SET seen_at = now() - interval '61 seconds' WHERE name = 'worker@one'")
    assert client.get("/readyz").json()["degraded"] == ["no worker"]
    heartbeat.renew("worker@two")
    assert client.get("/readyz").json()["degraded"] == []


@pytest.mark.django_db
def test_it_serves_without_redis_and_says_so(client: Any, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    everything_runs()
    away = settings.ENVIRONMENT.model_copy(update={"redis_url": "redis://127.0.0.1:1"})
    settings.ENVIRONMENT = away
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "degraded": ["redis unreachable"]})


@pytest.mark.django_db
def test_it_is_not_ready_while_migrations_are_missing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.observability.health._migrated.is_set", lambda: False)
    monkeypatch.setattr("recall.observability.health.unapplied_migrations", lambda: ["memory.0002_more"])
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "migrations missing", "degraded": []})


def test_without_a_database_it_is_alive_and_not_ready(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def no_answer() -> None:
        raise OperationalError("no answer")

    monkeypatch.setattr("recall.observability.health.connection.cursor", no_answer)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "database unreachable", "degraded": []})
    assert client.get("/livez").status_code == 200
