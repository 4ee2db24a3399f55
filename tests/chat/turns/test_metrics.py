"""What Prometheus may watch: behind a token, of no single person, the worker's jobs from the database."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from asgiref.sync import sync_to_async
from celery import Celery
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from psycopg_pool import PoolTimeout
from pydantic import SecretStr

from chat.models import Conversation
from memory.models import LibrarianRun
from recall import unsent
from recall.celery import app
from recall.environment import BASE_DIR
from recall.observability import heartbeat, metrics
from tests.chat.conftest import Provider, Tabs
from tests.running import own_redis

TOKEN = "a-long-token"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENVIRONMENT, "metrics_token", SecretStr(TOKEN))


def scraped() -> dict[str, float]:
    """Each sample by its name and labels."""
    response = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain")
    samples = [
        sample for family in text_string_to_metric_families(response.content.decode()) for sample in family.samples
    ]
    return {f"{sample.name}{''.join(sorted(sample.labels.values()))}": sample.value for sample in samples}


def test_without_a_token_there_is_no_such_page() -> None:
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}é"])
def test_a_wrong_token_is_refused(header: str) -> None:
    assert Client().get("/metrics", headers={"Authorization": header}).status_code == 401


@pytest.mark.usefixtures("opened", "queued")
@pytest.mark.django_db(transaction=True)
async def test_a_turn_is_counted_with_its_tokens_and_times(alice: Any, tabs: Tabs, provider: Provider) -> None:
    before = await sync_to_async(scraped)()
    tab = await tabs.open(alice)
    await tab.talk("Good morning")
    after = await sync_to_async(scraped)()

    def gained(name: str) -> float:
        return after[name] - before.get(name, 0.0)

    assert gained("recall_turns_totalcomplete") == 1
    for name in ("turn", "first_token", "compile", "retrieve"):
        assert gained(f"recall_{name}_seconds_count") == 1
        assert gained(f"recall_{name}_seconds_sum") > 0
    assert gained("recall_tokens_totaloutput") > 0
    assert gained("recall_tokens_totalfresh") + gained("recall_tokens_totalcache_write") > 0
    assert gained("recall_cost_dollars_total") > 0
    assert after["recall_turns_running"] == 0


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
def test_the_worker_is_watched_through_the_database(alice: Any) -> None:
    talk = Conversation.objects.create(user=alice)
    LibrarianRun.objects.create(user=alice, conversation=talk, first_seq=1, last_seq=2, trigger="ended")
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")  # the queue is the application login's own
        cursor.execute("SELECT pgmq.create(%s)", [app.conf.task_default_queue])
        cursor.execute("SELECT pgmq.send(%s, '{}'::jsonb)", [app.conf.task_default_queue])
        cursor.execute("SET ROLE recall_system")

    told = scraped()

    assert told["recall_librarian_runspending"] == 1
    assert told["recall_queue_lengthrecall"] == 1
    assert told["recall_queue_oldest_secondsrecall"] >= 0


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
@pytest.mark.redis
def test_the_queue_is_watched_in_redis_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    with own_redis() as server:
        monkeypatch.setattr(settings.ENVIRONMENT, "redis_url", server.url)
        with Celery("tests", broker=server.url, set_as_current=False) as sender:
            sender.send_task("tests.named", queue=app.conf.task_default_queue)
        heartbeat.renew(heartbeat.QUEUE)
        told = scraped()
    assert told["recall_queue_lengthrecall"] == 1
    assert told["recall_queue_oldest_secondsrecall"] == 0


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
@pytest.mark.parametrize("kind", [OperationalError, InterfaceError, PoolTimeout])
def test_while_the_database_is_away_the_process_tells_of_itself(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Any:
        raise kind

    monkeypatch.setattr(metrics, "_jobs", away)
    told = scraped()
    assert "recall_turns_running" in told
    assert not [name for name in told if name.startswith("recall_queue")]


@pytest.mark.django_db
def test_no_figure_is_of_one_person() -> None:
    labels = {label for family in metrics.REGISTRY.collect() for sample in family.samples for label in sample.labels}
    assert labels <= {"outcome", "kind", "state", "queue", "le", "status", "code"}


def test_each_figure_is_on_the_page_about_observing() -> None:
    page = (BASE_DIR / "docs" / "observing.md").read_text()
    source = (BASE_DIR / "recall" / "observability" / "metrics.py").read_text()
    for name in set(re.findall(r'"(recall_[a-z_]+)"', source)):
        assert f"`{name}" in page


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
@pytest.mark.parametrize("file", ["alerts.yaml", "grafana-dashboard.json"])
def test_every_name_in_alerts_and_dashboard_is_a_metric(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENVIRONMENT, "redis_url", "redis://127.0.0.1:1")
    for name in ("worker@one", "beat@one", "queue", "backup"):
        heartbeat.renew(name)
    metrics.MODEL_ERRORS.labels(code="overloaded")
    metrics.REQUESTS.labels(status="5xx")
    families = list(metrics.REGISTRY.collect())
    exposed = {sample.name for family in families for sample in family.samples} | {family.name for family in families}
    exposed |= {f"{name}_total" for name in ("recall_turns", "recall_tokens")}  # no turn yet
    labels = {label for family in families for sample in family.samples for label in sample.labels.items()}
    text = (BASE_DIR / "docker" / file).read_text()
    expressions = "\n".join(yaml_expressions(text) if file.endswith("yaml") else json_expressions(text))
    assert set(re.findall(r"\brecall_\w+", expressions)) <= exposed
    assert set(re.findall(r'(\w+)="(\w+)"', expressions)) - {("job", "recall")} <= labels
    assert not re.search(r"^\w+\(\w+\) or ", expressions, re.MULTILINE), "of two without labels only one is seen"


def yaml_expressions(text: str) -> list[str]:
    rules = [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]
    assert all(rule["alert"] and rule["annotations"]["summary"] for rule in rules)
    return [rule["expr"] for rule in rules]


def json_expressions(text: str) -> list[str]:
    return [target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"]]


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
def test_requests_are_counted_by_status() -> None:
    before = scraped().get("recall_http_requests_total4xx", 0.0)
    Client().get("/no-such-page")
    assert scraped()["recall_http_requests_total4xx"] == before + 1


def alerts() -> dict[str, str]:
    rules = yaml.safe_load((BASE_DIR / "docker" / "alerts.yaml").read_text())["groups"][0]["rules"]
    return {rule["alert"]: rule["expr"] for rule in rules}


@pytest.mark.parametrize(("alert", "kind"), [("NoWorker", "worker"), ("NoClock", "clock"), ("QueueSlow", "queue")])
def test_what_was_never_or_long_not_seen_is_an_alert(alert: str, kind: str) -> None:
    """Its series ends a day after the last sign of life."""
    assert alerts()[alert].endswith(f' or absent(recall_heartbeat_age_seconds{{kind="{kind}"}})')


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
def test_a_backup_that_was_never_made_has_an_age_where_one_is_due(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = "recall_heartbeat_age_secondsbackup"
    assert name not in scraped()
    monkeypatch.setattr(settings.ENVIRONMENT, "backup_dir", tmp_path)
    assert scraped()[name] == math.inf
    heartbeat.renew(heartbeat.BACKUP)
    assert scraped()[name] < 60


@pytest.mark.django_db
def test_a_crash_of_the_database_does_not_forget_the_last_backup() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE oid = 'recall_heartbeat'::regclass")
        assert cursor.fetchone() == ("p",)


@pytest.mark.usefixtures("opened")
@pytest.mark.django_db
def test_unsent_tasks_failed_runs_and_sizes_are_watched() -> None:
    unsent.store("tests.named", (1,))
    found = scraped()
    assert found["recall_unsent_tasks"] == 1
    assert found["recall_librarian_runsfailed"] == 0
    assert found["recall_database_bytes"] > 1_000_000
    assert found["recall_disk_free_bytes"] > 0
    assert found["recall_python_blocks"] > 100_000
