"""The admin's first page says when the last backup was made, and what doesn't work."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.models import User
from recall.observability import heartbeat, status
from recall.tasks import probe_queue

pytestmark = pytest.mark.django_db


def shown(client: Client) -> str:
    page = client.get("/admin/")
    assert page.status_code == 200
    return page.content.decode().replace("\xa0", " ").replace("&#x27;", "'")


def everything_runs() -> None:
    heartbeat.renew("worker@one")
    heartbeat.renew("beat@one")
    probe_queue()


def backed_up(hours: int) -> None:
    heartbeat.renew(heartbeat.BACKUP)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE recall_heartbeat SET seen_at = now() - make_interval(hours => %s) WHERE name = 'backup'", [hours]
        )


def test_staff_see_the_last_backup_and_nothing_else_where_all_is_well(sign_in: Any, charlie: User) -> None:
    everything_runs()
    backed_up(hours=3)
    page = shown(sign_in(charlie))
    assert '<li class="info">Last backup: 3 hours ago.</li>' in page
    assert not [sentence for sentence in status.SENTENCES.values() if sentence in page]


def test_staff_see_what_does_not_work(sign_in: Any, charlie: User, settings: Any) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"redis_url": "redis://127.0.0.1:1"})
    page = shown(sign_in(charlie))
    assert [sentence for sentence in status.SENTENCES.values() if sentence not in page] == []


@pytest.mark.parametrize(("hours", "said"), [(None, "none yet"), (27, "1 day, 3 hours ago")])
def test_a_backup_that_is_late_is_a_warning(
    sign_in: Any, charlie: User, settings: Any, tmp_path: Path, hours: int | None, said: str
) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"backup_dir": tmp_path})
    if hours is not None:
        backed_up(hours)
    assert f'<li class="warning">Last backup: {said}.</li>' in shown(sign_in(charlie))


def test_a_task_that_waits_for_long_is_a_warning(sign_in: Any, charlie: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.observability.metrics._read_queues", lambda: [("recall", 1, 300.0)])
    assert "The oldest task in the queue is 5 minutes old." in shown(sign_in(charlie))


def test_alice_does_not_see_it(sign_in: Any, alice: User) -> None:
    assert sign_in(alice).get("/admin/").status_code in (302, 403)
