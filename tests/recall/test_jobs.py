"""Leased jobs: one worker per row, another after the lease, a pause after a failure, and a last attempt."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from chat.models import ImportJob
from memory.models import Upload
from recall.jobs import LeasedJob

pytestmark = pytest.mark.django_db

TASK = "tests.read"
PAUSES = (timedelta(seconds=30), timedelta(minutes=5))


class Jobs:
    """Imports as jobs, and the events that pages received."""

    def __init__(self, **changes: Any) -> None:
        self.heard: list[str] = []
        self.ended: list[str] = []
        self.kind = LeasedJob(
            ImportJob,
            TASK,
            lambda job: self.heard.append(job.state),
            max_attempts=3,
            backoff=PAUSES,
            on_end=lambda job: self.ended.append(job.state),
            **changes,
        )


@pytest.fixture
def jobs() -> Jobs:
    return Jobs()


@pytest.fixture
def make(alice: User) -> Callable[..., ImportJob]:
    return lambda **columns: ImportJob.objects.create(user=alice, name="c.json", size=1, **columns)


def late(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_claimed_row_is_claimed_by_no_other_worker_until_its_lease_expires(jobs: Jobs, make: Any) -> None:
    job = make()
    first = jobs.kind.claim(job.pk)
    assert first is not None
    assert (first.state, first.attempts) == ("running", 1)
    assert jobs.kind.claim(job.pk) is None
    late(job)
    second = jobs.kind.claim(job.pk)
    assert second is not None
    assert second.attempts == 2
    assert jobs.kind.lock_claimed(first) is None
    assert jobs.kind.lock_claimed(second) == job


def test_a_renewed_lease_runs_from_now_on(jobs: Jobs, make: Any) -> None:
    claimed = jobs.kind.claim(make().pk)
    assert claimed is not None
    late(claimed)
    jobs.kind.renew(claimed, done=4)
    assert ImportJob.objects.filter(done=4, lease_until__gt=timezone.now()).exists()
    ImportJob.objects.update(claim=uuid4(), lease_until=None)
    jobs.kind.renew(claimed, done=5)
    assert ImportJob.objects.filter(done=4, lease_until=None).exists(), "another worker has it now"


def test_it_is_tried_again_after_longer_and_longer_pauses_and_then_fails(jobs: Jobs, make: Any) -> None:
    job = make()
    for pause in PAUSES:
        claimed = jobs.kind.claim(job.pk)
        assert claimed is not None
        jobs.kind.reschedule(claimed, "No.")
        job.refresh_from_db()
        assert (job.state, job.error, job.claim, job.lease_until) == ("waiting", "No.", None, None)
        assert timedelta(0) < job.not_before - timezone.now() <= pause
        assert jobs.kind.claim(job.pk) is None, "its time has not come"
        ImportJob.objects.update(not_before=timezone.now())
    claimed = jobs.kind.claim(job.pk)
    assert claimed is not None
    jobs.kind.reschedule(claimed, "Still no.")
    job.refresh_from_db()
    assert (job.state, job.error, jobs.ended) == ("failed", "Still no.", ["failed"])
    assert job.finished_at is not None


def test_what_is_final_is_not_tried_again(jobs: Jobs, make: Any) -> None:
    claimed = jobs.kind.claim(make().pk)
    assert claimed is not None
    jobs.kind.reschedule(claimed, "Never.", final=True)
    assert (claimed.state, jobs.heard) == ("failed", ["failed"])


def test_a_row_whose_workers_all_died_is_given_up(jobs: Jobs, make: Any) -> None:
    job = make(state="running", attempts=3, lease_until=timezone.now())
    assert jobs.kind.claim(job.pk) is None
    job.refresh_from_db()
    assert (job.state, job.error, jobs.ended) == ("failed", jobs.kind.give_up_error, ["failed"])
    assert "3 attempts" in job.error


def test_a_restart_is_queued_at_once_with_the_attempts_it_is_given(
    jobs: Jobs, make: Any, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    claimed = jobs.kind.claim(make().pk)
    assert claimed is not None
    with django_capture_on_commit_callbacks(execute=True):
        jobs.kind.restart(claimed, attempts=claimed.attempts - 1, done=2)
    claimed.refresh_from_db()
    assert (claimed.state, claimed.attempts, claimed.done, claimed.claim) == ("waiting", 0, 2, None)
    assert queued == [(TASK, (claimed.pk,))]


def test_the_scheduler_queues_what_is_due_the_oldest_first(
    jobs: Jobs, make: Any, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    now = timezone.now()
    waits, stale = make(), make(state="running", lease_until=now, not_before=now - timedelta(hours=1))
    make(not_before=now + timedelta(hours=1))
    make(state="running", lease_until=now + timedelta(hours=1))
    make(state="done")
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.kind.requeue_due() == 2
    assert queued == [(TASK, (stale.pk,)), (TASK, (waits.pk,))]


def test_only_a_failed_row_that_meets_the_conditions_is_started_over(
    jobs: Jobs, make: Any, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    failed, done = make(state="failed", attempts=3, error="No."), make(state="done")
    with django_capture_on_commit_callbacks(execute=True):
        assert not jobs.kind.retry_failed(done)
        assert not jobs.kind.retry_failed(failed, done__gt=0)
        assert jobs.kind.retry_failed(failed)
    failed.refresh_from_db()
    assert (failed.state, failed.attempts, failed.error) == ("waiting", 0, "")
    assert queued == [(TASK, (failed.pk,))]


def test_a_row_that_is_not_eligible_is_neither_started_nor_finished(make: Any) -> None:
    jobs = Jobs(eligible=Q(origin=""))
    claimed = jobs.kind.claim(make().pk)
    assert claimed is not None
    ImportJob.objects.update(origin="chatgpt")
    assert jobs.kind.lock_claimed(claimed) is None
    assert jobs.kind.claim(make(origin="chatgpt").pk) is None


def test_without_a_claim_column_the_attempt_tells_the_workers_apart(alice: User) -> None:
    upload = Upload.objects.create(user=alice, name="a.md", media_type="text/markdown", size=1, folder="/a")
    kind = LeasedJob(Upload, TASK, lambda row: None, running="reading")
    first = kind.claim(upload.pk)
    assert first is not None
    Upload.objects.update(lease_until=timezone.now())
    second = kind.claim(upload.pk)
    assert second is not None
    assert kind.lock_claimed(first) is None
    assert kind.lock_claimed(second) == upload
