"""A worker may be killed at any statement: once the scheduler has had the run read again, no difference remains."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts.models import User
from budget.models import UsageDay
from chat.models import Conversation
from memory.librarian import run as librarian
from memory.librarian.decision import Reason
from memory.librarian.engine import Extraction, ExtractionError, ExtractionInput
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.run import RUNS, run_extraction
from memory.models import Episode, Fact, FactLink, LibrarianRun
from memory.ports.spending import Usage
from memory.review.decisions import reject
from tests.memory.librarian.conftest import Scripted
from tests.memory.librarian.test_run import ask, learn, say

BEFORE = ("I live in Lisbon.", "I like jazz.", "My favourite colour is green.", "I like opera.")
THEN = (
    "I moved to Porto.",  # supersedes
    "I like jazz.",  # raises confidence
    "I like opera.",  # was rejected
    "My sister Mary lives in Faro and I'm allergic to peanuts.",  # waits
    "My password is hunter2.",  # is only counted
    "I work as a nurse.",  # is new
)
MODEL = "claude-haiku-5-5"
PARTS = 3
"""Number of tests that the statements are divided into, so that each takes seconds."""
READS = ("SELECT", "SET ")
"""How statements start that leave nothing behind: killed before one, a process leaves what it left after the last
other."""
type Wrapper = Callable[..., Any]


class Killed(BaseException):
    """Stands in for SIGKILL: nothing catches it, nothing is cleaned up."""


def costly(reading: ExtractionInput) -> Extraction:
    """The rules' extraction, at a model's price."""
    return Extraction(RuleEngine().extract(reading).facts, Usage(1_000_000, 100_000, 20, MODEL))


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch, queued: list[Any]) -> None:
    """An engine with a price, and vectors without a model, so that a forked process doesn't lack threads."""
    monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(costly))
    monkeypatch.setattr(
        librarian, "_embed_statements", lambda proposals: [_vector(proposal.statement) for proposal in proposals]
    )


def _vector(text: str) -> Any:
    noise = np.random.default_rng(list(text.encode())).normal(size=384).astype("float32")
    return noise / np.linalg.norm(noise)


def scene(user: User) -> LibrarianRun:
    """A user about whom a little is known, and a conversation that waits to be read."""
    learn(user, *BEFORE)
    reject(Fact.objects.for_user(user).get(statement="The user likes opera."), by=user)
    return ask(say(user, *THEN))


def outcome(user: User, run: LibrarianRun) -> dict[str, Any]:
    """Everything the run left behind, without ids and times."""
    run.refresh_from_db()
    facts = Fact.objects.for_user(user).select_related("superseded_by", "message").order_by("pk")
    return {
        "run": (run.state, run.learned, run.waiting, run.dropped, run.cost, run.input_tokens, run.claim, run.error),
        "facts": [
            (fact.statement, fact.status, fact.key, fact.value, fact.confidence, fact.reason, fact.quote, fact.source,
             fact.message and fact.message.text, fact.superseded_by and fact.superseded_by.statement)
            for fact in facts
        ],
        "links": sorted(
            FactLink.objects.for_user(user).values_list("from_fact__statement", "relation", "to_fact__statement")
        ),
        "episodes": Episode.objects.for_user(user).count(),
        "day": list(UsageDay.objects.for_user(user).values_list("model", "input_tokens", "output_tokens", "cost")),
    }  # fmt: skip


@contextmanager
def statements(wrapper: Wrapper) -> Iterator[None]:
    """Run each statement of the connection that may leave something through `wrapper`, savepoints included."""

    def choose(execute: Any, sql: str, *rest: Any) -> Any:
        return execute(sql, *rest) if sql.lstrip().startswith(READS) else wrapper(execute, sql, *rest)

    with connection.execute_wrapper(choose):
        yield


def killer(number: int, kill: Callable[[], None]) -> Wrapper:
    """Kill before the statement with this number, from 0, which is after the one before it."""
    seen = iter(range(1_000_000))

    def wrap(execute: Any, *statement: Any) -> Any:
        if next(seen) == number:
            kill()
        return execute(*statement)

    return wrap


def die() -> None:
    raise Killed


def the_clock_comes_round(run: LibrarianRun, queued: list[Any], capture: Any) -> None:
    """The lease has expired; the beat job queues what is due; a worker takes what is queued, delivered twice."""
    LibrarianRun.objects.filter(pk=run.pk, state="running").update(lease_until=timezone.now())
    queued.clear()
    with capture(execute=True):
        RUNS.requeue_due()
    for name, (pk,) in list(queued):
        if name == "memory.tasks.read":
            run_extraction(pk)
            run_extraction(pk)


def person(name: str) -> User:
    user: User = User.objects.create(email=f"{name}@example.org", preferred_name="Sam")
    return user


def statements_of(run: LibrarianRun) -> int:
    """How many such statements reading it takes."""
    count = 0

    def counting(execute: Any, *rest: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*rest)

    with statements(counting):
        run_extraction(run.pk)
    return count


@contextmanager
def taken_back() -> Iterator[None]:
    """Roll back everything that happens inside."""
    before = transaction.savepoint_create()
    yield
    transaction.savepoint_rollback(before)


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_statement_the_end_is_the_same(
    db: None, queued: list[Any], django_capture_on_commit_callbacks: Any, part: int
) -> None:
    sam = person("sam")
    run = scene(sam)
    with taken_back():
        count = statements_of(run)
        undisturbed = outcome(sam, run)
    assert undisturbed["run"][:4] == ("done", 2, 3, {Reason.KNOWN: 1, Reason.SECRET: 1})
    assert count > 30
    for number in range(part, count, PARTS):
        with taken_back():
            with pytest.raises(Killed), statements(killer(number, die)):
                run_extraction(run.pk)
            the_clock_comes_round(run, queued, django_capture_on_commit_callbacks)
            assert outcome(sam, run) == undisturbed, f"killed before statement {number}"


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # the child needs no other thread, and no lock
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [1, 4, 10, 16, 22, 28])
def test_a_process_killed_for_good_leaves_nothing_half_done(number: int, queued: list[Any]) -> None:
    sam, pat = person("sam"), person("pat")
    runs = [scene(sam), scene(pat)]
    connections.close_all()
    child = os.fork()
    if child == 0:  # pragma: no cover - dies by its own hand
        try:
            with statements(killer(number, lambda: os.kill(os.getpid(), signal.SIGKILL))):
                run_extraction(runs[0].pk)
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    LibrarianRun.objects.filter(state="running").update(lease_until=timezone.now())
    for run in runs:
        run_extraction(run.pk)
    assert outcome(sam, runs[0]) == outcome(pat, runs[1])
    assert outcome(sam, runs[0])["run"][0] == "done"


# What it cost ----------------------------------------------------------------------------------------------------


def test_a_reading_is_booked_to_the_run_and_to_the_day_in_one_transaction(alice: User) -> None:
    run = learn(alice, "I live in Porto.")
    (day,) = UsageDay.objects.for_user(alice)
    assert run.cost == day.cost == Decimal("0.15")  # a million in, a tenth out, below the tier: 20 calls of 50,000
    assert (day.turns, day.input_tokens, day.output_tokens) == (0, 1_000_000, 100_000)


def test_a_failed_reading_costs_all_the_same_and_the_next_adds_to_it(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(reading: ExtractionInput) -> Extraction:
        raise ExtractionError("No.", usage=Usage(100_000, 0, 2, MODEL))

    monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(fail))
    run = learn(alice, "I live in Porto.")
    assert (run.state, run.cost, run.input_tokens) == ("pending", Decimal("0.01"), 100_000)
    monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(costly))
    LibrarianRun.objects.update(not_before=timezone.now())
    run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.cost) == ("done", Decimal("0.16"))
    assert UsageDay.objects.get().cost == Decimal("0.16")


def test_what_a_worker_spent_that_lost_its_claim_is_booked_to_the_day(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken_over(reading: ExtractionInput) -> Extraction:
        Conversation.objects.all().delete()
        return costly(reading)

    monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(taken_over))
    run_extraction(ask(say(alice, "I live in Porto.")).pk)
    assert UsageDay.objects.get().cost == Decimal("0.15")


def test_the_rules_cost_nothing(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(librarian, "choose_engine", RuleEngine)
    assert learn(alice, "I live in Porto.").cost == 0
    assert not UsageDay.objects.exists()
