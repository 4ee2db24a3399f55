"""Consolidation on demand: queued once per user, done once, and reported truthfully; each night leaves its
report, too."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from memory import tasks
from memory.consolidation import jobs
from memory.consolidation.consolidate import Report, consolidate
from memory.models import Consolidation, Fact
from recall.schedule import BEAT_SCHEDULE
from tests.memory.consolidation.test_consolidate import NOW, fact

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
Queued = list[tuple[str, tuple[str | int, ...]]]
HTMX = {"HX-Request": "true"}
LATER = NOW + timedelta(minutes=2)


@pytest.fixture
def on_commit(django_capture_on_commit_callbacks: Any) -> Any:
    """`with on_commit():` commits."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def again(one: Consolidation) -> Consolidation:
    one.refresh_from_db()
    return one


# Asking ----------------------------------------------------------------------------------------------------------


def test_asking_twice_queues_it_once(alice: User, queued: Queued, on_commit: Any) -> None:
    with on_commit():
        first = jobs.request_consolidation(alice)
        assert jobs.request_consolidation(alice) == first
    assert queued == [(jobs.TASK, (first.pk,))]
    assert (first.how, first.state) == ("asked", "waiting")


def test_alice_and_bob_ask_for_their_own(alice: User, bob: User, queued: Queued) -> None:
    hers, his = jobs.request_consolidation(alice), jobs.request_consolidation(bob)
    assert (hers.user, his.user) == (alice, bob)
    mine, theirs = fact(alice), fact(bob)
    jobs.run_requested(his.pk, NOW)
    assert (Fact.objects.get(pk=mine.pk).status, Fact.objects.get(pk=theirs.pk).status) == ("active", "archived")
    assert (again(hers).state, again(his).state) == ("waiting", "done")


def test_of_one_person_two_never_wait(alice: User) -> None:
    jobs.request_consolidation(alice)
    with pytest.raises(IntegrityError), transaction.atomic():
        Consolidation.objects.create(user=alice, how="asked")


def test_one_that_is_done_may_be_asked_for_again(alice: User) -> None:
    first = jobs.request_consolidation(alice)
    jobs.run_requested(first.pk, NOW)
    assert jobs.request_consolidation(alice) != first


# Doing -----------------------------------------------------------------------------------------------------------


def test_it_does_what_every_night_does_and_says_what_it_did(alice: User) -> None:
    fact(alice)
    fact(alice, "The user was in Rome for a week.", valid_until=NOW - timedelta(days=1))
    kept = fact(alice, importance=1.0, last_used_at=NOW, times_used=9)
    asked = jobs.request_consolidation(alice)
    jobs.run_requested(asked.pk, NOW)
    report = jobs.report_of(again(asked))
    assert report == Report(weighed=2, expired=1, archived=1, tokens_reclaimed=7, searchable=2)
    assert (asked.state, asked.finished_at) == ("done", NOW)
    assert jobs.sentences(asked) == report.sentences()
    assert Fact.objects.get(pk=kept.pk).status == "active"


def test_a_task_that_comes_twice_does_it_once(alice: User) -> None:
    asked = jobs.request_consolidation(alice)
    jobs.run_requested(asked.pk, NOW)
    first = Consolidation.objects.values().get()
    fact(alice)
    jobs.run_requested(asked.pk, LATER)
    assert Consolidation.objects.values().get() == first
    assert Fact.objects.get().status == "active"
    jobs.run_requested(asked.pk + 1000, LATER)


def test_what_fails_changes_nothing_and_says_so(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fact(alice)

    def broken(user: User, now: Any) -> Report:
        Fact.objects.filter(pk=old.pk).update(status="archived")
        raise DatabaseError("deadlock detected")

    monkeypatch.setattr(jobs, "consolidate", broken)
    asked = jobs.request_consolidation(alice)
    jobs.run_requested(asked.pk, NOW)
    assert (again(asked).state, asked.figures) == ("failed", {})
    assert jobs.sentences(asked) == [jobs.NOT_DONE]
    assert Fact.objects.get().status == "active"


def test_the_clock_queues_what_was_lost_and_gives_up_in_the_end(
    alice: User, bob: User, queued: Queued, on_commit: Any
) -> None:
    job = BEAT_SCHEDULE["requeue-waiting-consolidations"]["task"]
    assert job == tasks.requeue_waiting_consolidations.name
    lost, tried = jobs.request_consolidation(alice), jobs.request_consolidation(bob)
    Consolidation.objects.filter(pk=tried.pk).update(attempts=jobs.CONSOLIDATIONS.max_attempts)
    with on_commit():
        jobs.requeue_waiting(timezone.now())
    assert queued == [], "neither waits for long"
    with on_commit():
        jobs.requeue_waiting(timezone.now() + jobs.STALE_AFTER)
    assert queued == [(jobs.TASK, (lost.pk,))]
    assert (again(lost).state, again(tried).state) == ("waiting", "failed")


def test_a_worker_that_was_killed_has_tried(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> Report:
        raise SystemExit

    monkeypatch.setattr(jobs, "consolidate", killed)
    asked = jobs.request_consolidation(alice)
    with pytest.raises(SystemExit):
        jobs.run_requested(asked.pk, NOW)
    assert (again(asked).state, asked.attempts) == ("waiting", 1)


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_do_it_once(alice: User, queued: Queued, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    for _ in range(20):
        fact(alice)
    asked = jobs.request_consolidation(alice)
    done: list[User] = []

    def noted(user: User, now: Any) -> Report:
        done.append(user)
        return consolidate(user, now)

    monkeypatch.setattr(jobs, "consolidate", noted)

    def work() -> None:
        jobs.run_requested(asked.pk, NOW)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(done) == 1
    assert jobs.report_of(again(asked)).archived == 20


# At night, and by command ----------------------------------------------------------------------------------------


def test_every_night_leaves_its_report(alice: User) -> None:
    fact(alice)
    tasks.consolidate_one(alice.pk)
    night = Consolidation.objects.get()
    assert (night.how, night.state, jobs.report_of(night).archived) == ("nightly", "done", 1)


def test_by_command_likewise_but_for_a_rehearsal(alice: User) -> None:
    fact(alice)
    call_command("consolidate", "--user", alice.email, "--dry-run", stdout=StringIO())
    assert not Consolidation.objects.exists()
    call_command("consolidate", "--user", alice.email, stdout=StringIO())
    one = Consolidation.objects.get()
    assert (one.how, jobs.report_of(one).archived) == ("command", 1)


def test_the_oldest_reports_go_and_only_ones_own(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_REPORTS", 2)
    jobs.run_consolidation(bob, jobs.How.NIGHTLY, NOW)
    waiting = jobs.request_consolidation(alice)
    for _ in range(4):
        jobs.run_consolidation(alice, jobs.How.NIGHTLY, NOW)
    assert Consolidation.objects.for_user(alice).filter(state="done").count() == 2
    assert again(waiting).state == "waiting"
    assert Consolidation.objects.for_user(bob).count() == 1


# On the page -----------------------------------------------------------------------------------------------------


def test_the_button_queues_it_and_the_report_stands_there_afterwards(
    alice: User, sign_in: SignIn, queued: Queued, on_commit: Any
) -> None:
    fact(alice)
    client, page = sign_in(alice), reverse("memory:rules")
    assert "No clean-up yet." in client.get(page).content.decode()
    with on_commit():
        answer = client.post(reverse("memory:clean_up"), follow=True)
    assert answer.redirect_chain == [(f"{page}#clean-up", 302)]
    html = answer.content.decode()
    assert jobs.QUEUED in html
    assert "Clean up now" not in html, "it is under way"
    ((_, (pk,)),) = queued
    jobs.run_requested(int(pk), timezone.now())
    html = client.get(page).content.decode()
    assert "1 fact archived" in html
    assert "Checked 1 fact for fading." in html
    assert "You asked for it" in html
    assert "Clean up now" in html


def test_with_htmx_the_part_alone_looks_again_until_it_is_done(alice: User, sign_in: SignIn, queued: Queued) -> None:
    client, look = sign_in(alice), f'hx-get="{reverse("memory:clean_ups")}"'
    html = client.post(reverse("memory:clean_up"), headers=HTMX).content.decode()
    assert look in html
    assert "<html" not in html
    jobs.run_requested(Consolidation.objects.get().pk, timezone.now())
    html = client.get(reverse("memory:clean_ups"), headers=HTMX).content.decode()
    assert look not in html
    assert "Nothing to clean up." in html


def test_bob_sees_nothing_of_alices_reports(alice: User, bob: User, sign_in: SignIn) -> None:
    fact(alice)
    jobs.run_consolidation(alice, jobs.How.NIGHTLY, NOW)
    for headers in ({}, HTMX):
        response = sign_in(bob).get(reverse("memory:clean_ups"), headers=headers, follow=True)
        assert "archived" not in response.content.decode().partition('id="tidied"')[2].partition("</div>")[0]
    assert sign_in(bob).get("/api/v1/memory/consolidations").json()["items"] == []
