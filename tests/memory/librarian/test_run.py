"""Librarian runs: read once, stored once, and never lost."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts.models import User
from budget.spending import limits
from chat.models import Conversation, Message
from memory.index.indexer import index_conversation
from memory.librarian import run as librarian
from memory.librarian.engine import Extraction, ExtractionError, ExtractionInput, ProposedFact, Relation
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.run import MAX_ATTEMPTS, RUNS, request_reading, run_extraction
from memory.models import Chunk, Fact, LibrarianRun
from memory.models.kinds import Kind
from memory.ports.spending import Usage
from memory.review.decisions import accept, edit, reject
from recall.celery import app as celery_app

SISTER = "My sister Mary lives in Lisbon and I'm allergic to peanuts."
HOME = "I live in Porto."

type Nudges = list[tuple[str, str, dict[str, int | str]]]


def say(user: User, *texts: str) -> Conversation:
    """A conversation in which the user says `texts`, each answered."""
    conversation: Conversation = Conversation.objects.create(user=user)
    add(conversation, *texts)
    return conversation


def add(conversation: Conversation, *texts: str) -> None:
    leaf = conversation.active_leaf
    for text in texts:
        for role, event, words in (
            ("user", "user_message", text),
            ("assistant", "assistant_response", f"So: {text} And I live in Atlantis."),
        ):
            seq = conversation.next_seq
            leaf = Message.objects.create(
                user=conversation.user, conversation=conversation, seq=seq, parent=leaf, turn=seq // 2 + 1, role=role,
                event_type=event, text=words,
            )  # fmt: skip
            conversation.active_leaf, conversation.next_seq = leaf, seq + 1
    conversation.save()


def ask(conversation: Conversation, first: int = 1) -> LibrarianRun:
    run = request_reading(conversation.user_id, conversation.pk, first, conversation.next_seq - 1, "ended")
    assert run is not None
    return run


def learn(user: User, *texts: str) -> LibrarianRun:
    """Say something and have it read."""
    run = ask(say(user, *texts))
    run_extraction(run.pk)
    run.refresh_from_db()
    return run


def facts(user: User, status: str | None = None) -> list[str]:
    found = Fact.objects.for_user(user).order_by("pk")
    return [fact.statement for fact in (found.filter(status=status) if status else found)]


@pytest.fixture(autouse=True)
def nudges(monkeypatch: pytest.MonkeyPatch, queued: list[Any]) -> Nudges:
    """The events that pages received."""
    heard: Nudges = []
    monkeypatch.setattr(librarian, "publish_event", lambda group, kind, **ids: heard.append((group, kind, ids)))
    return heard


def failing(sentence: str, *, final: bool = False) -> Callable[[ExtractionInput], Extraction]:
    def fail(reading: ExtractionInput) -> Extraction:
        raise ExtractionError(sentence, final=final)

    return fail


def by_rules(reading: ExtractionInput) -> Extraction:
    return RuleEngine().extract(reading)


# Asking ----------------------------------------------------------------------------------------------------------


def test_a_range_is_asked_for_once(alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any) -> None:
    conversation = say(alice, HOME)
    with django_capture_on_commit_callbacks(execute=True):
        first, again = ask(conversation), ask(conversation)
    assert first == again
    assert queued == [("memory.tasks.read", (first.pk,))]


def test_nothing_is_asked_for_where_there_is_nothing_new(alice: User) -> None:
    conversation = say(alice)
    assert request_reading(alice.pk, conversation.pk, 1, 0, "ended") is None
    assert not LibrarianRun.objects.exists()


def test_a_run_is_queued_only_when_it_is_committed(
    alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    conversation = say(alice, HOME)
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        ask(conversation)
        transaction.set_rollback(True)
    assert queued == []
    assert not LibrarianRun.objects.exists()


# Reading ---------------------------------------------------------------------------------------------------------


def test_what_concerns_others_and_health_waits_for_review(alice: User) -> None:
    run = learn(alice, SISTER)
    assert facts(alice, "proposed") == ["The user's sister Mary lives in Lisbon.", "The user is allergic to peanuts."]
    assert (run.state, run.learned, run.waiting, run.dropped) == ("done", 0, 2, {})


def test_a_plain_statement_is_learned_at_once(alice: User) -> None:
    run = learn(alice, HOME)
    fact = Fact.objects.get()
    assert (fact.statement, fact.status, fact.kind, fact.key, fact.value) == (
        "The user lives in Porto.", "active", "biography", "user/home", "Porto",
    )  # fmt: skip
    assert (run.learned, run.waiting) == (1, 0)


def test_a_fact_carries_its_evidence(alice: User) -> None:
    run = learn(alice, "Hello!", f"Well, {HOME}")
    fact = Fact.objects.get()
    message = Message.objects.get(seq=3)
    assert (fact.message_id, fact.quote) == (message.pk, "I live in Porto")
    assert fact.quote in message.text
    assert (fact.run, fact.extracted_by, fact.source, fact.reason) == (run, "rules/37", "stated", "you said so")
    assert fact.vector is not None
    assert fact.embedded_by == "all-MiniLM-L6-v2-int8"


def test_what_the_assistant_says_is_never_learned(alice: User) -> None:
    learn(alice, "Hello!")
    assert facts(alice) == []


def test_only_the_range_asked_for_is_read(alice: User) -> None:
    conversation = say(alice, HOME, "My favourite colour is green.")
    run_extraction(ask(conversation, first=3).pk)
    assert facts(alice) == ["The user's favourite colour is green."]


def test_a_secret_is_counted_and_not_stored(alice: User) -> None:
    run = learn(alice, "My password is hunter2.")
    assert facts(alice) == []
    assert run.dropped == {"a password, key, card or identity number: never stored": 1}


def test_a_message_that_took_too_long_is_counted(alice: User, use: Any) -> None:
    use(lambda reading: Extraction(skipped=2))
    assert learn(alice, HOME).dropped == {"a message was too long to read": 2}


def test_a_dropped_proposal_is_counted_by_its_reason(alice: User, use: Any) -> None:
    use(lambda reading: Extraction([proposal("I live in Porto", confidence=0.1)], Usage(70, 8)))
    run = learn(alice, HOME)
    assert run.dropped == {"too uncertain": 1}
    assert (run.input_tokens, run.output_tokens, run.engine) == (70, 8, "scripted/1")


def test_an_invented_quote_is_quarantined_with_the_message_it_names(alice: User, use: Any) -> None:
    use(lambda reading: Extraction([proposal("I own a castle")]))
    learn(alice, HOME)
    fact = Fact.objects.get()
    assert (fact.status, fact.source, fact.reason) == ("proposed", "inferred", "does not rest on your own words")
    assert fact.message == Message.objects.get(seq=1)


def test_bobs_memories_are_not_compared_with_alices(alice: User, bob: User) -> None:
    learn(alice, HOME)
    learn(bob, HOME)
    assert facts(alice) == facts(bob) == ["The user lives in Porto."]


def test_the_page_is_told_at_every_step(alice: User, nudges: Nudges) -> None:
    run = learn(alice, HOME)
    told = (f"user-{alice.pk}", "librarian", {"conversation": str(run.conversation_id), "run": run.pk})
    assert nudges == [told] * 3  # requested, started, finished


# What is known ---------------------------------------------------------------------------------------------------


def test_saying_it_again_makes_it_surer_and_no_second_fact(alice: User) -> None:
    learn(alice, HOME)
    run = learn(alice, HOME)
    assert facts(alice) == ["The user lives in Porto."]
    assert Fact.objects.get().confidence == 1.0
    assert (run.learned, run.dropped) == (0, {"already known": 1})


def test_saying_it_twice_in_one_conversation_makes_one_fact(alice: User) -> None:
    run = learn(alice, HOME, "As I said, I live in Porto.")
    assert (run.learned, run.dropped) == (1, {"already known": 1})


def test_an_archived_fact_comes_back_when_it_is_said_again(alice: User) -> None:
    learn(alice, HOME)
    Fact.objects.update(status=Fact.Status.ARCHIVED)
    learn(alice, HOME)
    assert facts(alice, "active") == ["The user lives in Porto."]


def test_a_new_home_supersedes_the_old_one(alice: User) -> None:
    learn(alice, "I live in Lisbon.")
    learn(alice, "I moved to Porto.")
    old, new = Fact.objects.order_by("pk")
    assert (old.status, new.status, new.value) == ("superseded", "active", "Porto")
    assert old.superseded_by == new
    assert old.superseded_at is not None


def test_two_homes_in_one_conversation_leave_the_last(alice: User) -> None:
    learn(alice, "I live in Lisbon.", "I moved to Porto.", "I live in Faro.")
    assert facts(alice, "active") == ["The user lives in Faro."]
    assert facts(alice, "superseded") == ["The user lives in Lisbon.", "The user lives in Porto."]


def test_old_words_read_late_do_not_undo_newer_ones(alice: User) -> None:
    earlier = say(alice, "I live in Lisbon.")
    learn(alice, "I live in Porto.")
    run_extraction(ask(earlier).pk)
    assert facts(alice, "active") == ["The user lives in Porto."]
    assert Fact.objects.get(status="proposed").reason.startswith("said before what is known now")


def test_what_a_person_rejected_and_then_says_again_is_asked_and_not_assumed(alice: User) -> None:
    learn(alice, SISTER)
    for fact in Fact.objects.all():
        reject(fact, by=alice)
    learn(alice, SISTER)
    assert facts(alice, "active") == []
    asked = Fact.objects.filter(status="proposed")
    assert {fact.reason for fact in asked} == {"you rejected this before, and said it again"}


def test_what_a_person_rejected_is_not_proposed_from_older_words(alice: User) -> None:
    first, second = say(alice, SISTER), say(alice, SISTER)
    run_extraction(ask(second).pk)
    for fact in Fact.objects.all():
        reject(fact, by=alice)
    run = ask(first)
    run_extraction(run.pk)
    run.refresh_from_db()
    assert facts(alice, "proposed") == []
    assert run.dropped == {"you rejected this before": 2}


def test_what_a_person_accepted_is_known(alice: User) -> None:
    learn(alice, SISTER)
    for fact in Fact.objects.all():
        accept(fact, by=alice)
    run = learn(alice, SISTER)
    assert len(facts(alice)) == 2
    assert run.dropped == {"already known": 2}


def test_what_a_role_play_says_is_marked_in_the_index_once_it_is_read(alice: User) -> None:
    talk = say(alice, "let's do a role play: you're a waiter, I'm a pirate called Tim", "I was born in Tortuga")
    index_conversation(talk.pk)
    run_extraction(ask(talk).pk)

    assert {chunk.text: chunk.omit for chunk in Chunk.objects.all()}["I was born in Tortuga"] == "made up"


def test_what_a_person_decided_since_is_not_undone_by_words_from_before(alice: User) -> None:
    first = say(alice, "I think I live in Lisbon.")
    second = say(alice, "I live in Faro.")
    run_extraction(ask(first).pk)
    edit(Fact.objects.get(), "The user lives in Braga.", "Braga", by=alice)
    run_extraction(ask(second).pk)
    assert facts(alice, "active") == ["The user lives in Braga."]


def test_the_engine_is_shown_numbered_facts_and_its_relation_counts(alice: User, use: Any) -> None:
    learn(alice, HOME)
    engine = use(
        lambda reading: Extraction(
            [
                proposal(
                    "I have two homes",
                    statement="The user has two homes.",
                    relation=Relation.CONTRADICTS,
                    related_to=reading.known[0].number,
                )
            ]
        )
    )
    learn(alice, "I have two homes.")
    assert [(fact.number, fact.statement) for fact in engine.readings[0].known] == [(1, "The user lives in Porto.")]
    assert Fact.objects.get(status="proposed").reason == "contradicts what is known: “The user lives in Porto.”"


# Failing and trying again ----------------------------------------------------------------------------------------


def test_a_failed_reading_is_tried_again_later_with_its_reason(alice: User, use: Any) -> None:
    engine = use(failing("The model is overloaded."))
    run = learn(alice, HOME)
    assert (run.state, run.error, run.attempts) == ("pending", "The model is overloaded.", 1)
    assert run.not_before > timezone.now()
    run_extraction(run.pk)
    assert len(engine.readings) == 1  # not before its time


@pytest.mark.parametrize("spends", [True, False])
def test_a_limit_that_is_used_up_puts_off_what_spends_and_counts_no_attempt(
    alice: User, use: Any, spends: bool
) -> None:
    limits.set_limit(alice, limits.What.MONEY, limits.Per.DAY, Decimal(0), by_staff=True)
    engine = use(by_rules)
    engine.uses_tokens = spends
    run = learn(alice, HOME)
    if not spends:
        assert (run.state, len(engine.readings)) == ("done", 1)
        return
    assert (run.state, run.attempts, len(engine.readings)) == ("pending", 0, 0)
    assert "Only an administrator can raise this limit." in run.error
    assert timezone.now() < run.not_before <= timezone.now() + librarian.CHECK_LIMIT_AFTER

    limits.set_limit(alice, limits.What.MONEY, limits.Per.DAY, None, by_staff=True)
    LibrarianRun.objects.update(not_before=timezone.now())
    run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempts, run.error, len(engine.readings)) == ("done", 1, "", 1)


def test_a_limit_of_turns_leaves_what_was_said_within_it_to_be_read(alice: User, use: Any) -> None:
    limits.set_limit(alice, limits.What.TURNS, limits.Per.DAY, Decimal(0))
    engine = use(by_rules)
    engine.uses_tokens = True
    assert learn(alice, HOME).state == "done"


def test_a_reading_that_keeps_failing_fails_for_good_with_its_reason(alice: User, use: Any) -> None:
    engine = use(failing("The model is overloaded."))
    run = learn(alice, HOME)
    for _ in range(2 * MAX_ATTEMPTS):
        LibrarianRun.objects.filter(state="pending").update(not_before=timezone.now())
        run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error, len(engine.readings)) == ("failed", "The model is overloaded.", MAX_ATTEMPTS)


def test_a_refusal_fails_at_once(alice: User, use: Any) -> None:
    use(failing("The model refused.", final=True))
    run = learn(alice, HOME)
    assert (run.state, run.error) == ("failed", "The model refused.")


def test_a_person_may_start_a_failed_run_afresh(
    alice: User, use: Any, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    engine = use(failing("No.", final=True))
    run = learn(alice, HOME)
    with django_capture_on_commit_callbacks(execute=True):
        assert RUNS.retry_failed(run)
        assert not RUNS.retry_failed(run)
    assert queued == [("memory.tasks.read", (run.pk,))]
    engine.does = by_rules
    run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempts, run.error) == ("done", 1, "")
    assert facts(alice) == ["The user lives in Porto."]


def test_a_done_run_is_not_read_again(alice: User, use: Any) -> None:
    engine = use(by_rules)
    run = learn(alice, HOME)
    run_extraction(run.pk)
    assert not RUNS.retry_failed(run)
    assert (len(engine.readings), len(facts(alice))) == (1, 1)


class Killed(BaseException):
    """Stands in for SIGKILL: nothing catches it, nothing is cleaned up."""


def die(*args: object, **kwargs: object) -> Any:
    raise Killed


DEATHS = {
    "while the model thinks": "memory.librarian.rules.engine.RuleEngine.extract",
    "while the vectors are made": "memory.librarian.run._embed_statements",
    "before the first fact": "memory.librarian.commit.decide",
    "after the facts, before the run is done": "recall.jobs.LeasedJob.finish",
}


@pytest.mark.parametrize("where", DEATHS.values(), ids=DEATHS.keys())
def test_a_worker_killed_at_any_point_leaves_nothing_half_done(
    alice: User, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    run = ask(say(alice, HOME, SISTER))
    with monkeypatch.context() as broken:
        broken.setattr(where, die)
        with pytest.raises(Killed):
            run_extraction(run.pk)
    assert facts(alice) == []
    run_extraction(run.pk)  # delivered again at once: the lease is still valid
    assert facts(alice) == []
    LibrarianRun.objects.update(lease_until=timezone.now())
    run_extraction(run.pk)
    run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.learned, run.waiting, run.attempts) == ("done", 1, 2, 2)
    assert len(facts(alice)) == 3


def test_a_run_whose_worker_is_lost_each_time_fails_with_a_reason(alice: User, use: Any) -> None:
    use(die)
    run = ask(say(alice, HOME))
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(Killed):
            run_extraction(run.pk)
        LibrarianRun.objects.update(lease_until=timezone.now())
    run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", RUNS.give_up_error)


def test_a_worker_that_lost_its_claim_writes_nothing(alice: User, use: Any) -> None:
    def taken_over(reading: ExtractionInput) -> Extraction:
        LibrarianRun.objects.update(claim=uuid4())
        return by_rules(reading)

    use(taken_over)
    run = learn(alice, HOME)
    assert (run.state, facts(alice)) == ("running", [])


def test_a_conversation_deleted_meanwhile_is_learned_nothing_from(alice: User, use: Any) -> None:
    def deleted(reading: ExtractionInput) -> Extraction:
        Conversation.objects.all().delete()
        return by_rules(reading)

    use(deleted)
    run_extraction(ask(say(alice, HOME)).pk)
    assert facts(alice) == []


def test_the_clock_queues_what_is_due_and_nothing_else(
    alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    now, later = timezone.now(), timezone.now() + timedelta(hours=1)
    runs = [ask(say(alice, HOME)) for _ in range(6)]
    states: list[dict[str, Any]] = [
        {"not_before": now},
        {"not_before": later},
        {"state": "running", "lease_until": now},
        {"state": "running", "lease_until": later},
        {"state": "done"},
        {"state": "failed"},
    ]
    for run, changes in zip(runs, states, strict=True):
        LibrarianRun.objects.filter(pk=run.pk).update(**changes)
    with django_capture_on_commit_callbacks(execute=True):
        assert RUNS.requeue_due() == 2
    assert sorted(queued) == [("memory.tasks.read", (runs[0].pk,)), ("memory.tasks.read", (runs[2].pk,))]


# At once ---------------------------------------------------------------------------------------------------------


def in_threads(*jobs: Callable[[], None]) -> None:
    def and_close(job: Callable[[], None]) -> None:
        try:
            job()
        finally:
            connections.close_all()

    threads = [Thread(target=and_close, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_one_run_learn_it_once(alice: User, use: Any) -> None:
    engine = use(by_rules)
    run = ask(say(alice, HOME, SISTER))
    in_threads(*[lambda: run_extraction(run.pk)] * 4)
    assert (len(engine.readings), len(facts(alice))) == (1, 3)


@pytest.mark.django_db(transaction=True)
def test_two_conversations_read_at_once_learn_the_same_thing_once(alice: User) -> None:
    runs = [ask(say(alice, HOME, SISTER)).pk for _ in range(3)]
    in_threads(*[lambda pk=pk: run_extraction(pk) for pk in runs])
    assert set(LibrarianRun.objects.values_list("state", flat=True)) == {"done"}
    assert sorted(facts(alice)) == [
        "The user is allergic to peanuts.", "The user lives in Porto.", "The user's sister Mary lives in Lisbon.",
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_the_engine_reads(alice: User, use: Any) -> None:
    held: list[object] = []

    def look(reading: ExtractionInput) -> Extraction:
        held.append(connection.connection)
        return by_rules(reading)

    use(look)
    run = learn(alice, HOME)
    assert (held, run.state) == ([None], "done")


@pytest.mark.django_db(transaction=True)
def test_a_key_taken_by_a_person_in_the_same_moment_is_tried_again(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask(say(alice, HOME))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(librarian, "load_known_facts", lambda user, lock=False: [])
        Fact.objects.create(
            user=alice, statement="The user lives in Braga.", kind=Kind.BIOGRAPHY, key="user/home", status="active"
        )
        run_extraction(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error) == ("pending", librarian.CONFLICT)
    assert facts(alice) == ["The user lives in Braga."]


# Which engine ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "offline", "version"),
    [
        ("auto", True, "rules/37"),
        ("rules", False, "rules/37"),
        ("auto", False, "claude-haiku-5-5/prompt-5"),
        ("model", True, "claude-haiku-5-5/prompt-5"),
    ],
)
def test_the_engine_is_the_model_unless_there_is_none(settings: Any, choice: str, offline: bool, version: str) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"librarian_engine": choice})
    settings.IS_OFFLINE = offline
    assert librarian.choose_engine().version == version


def proposal(quote: str, **fields: Any) -> ProposedFact:
    return ProposedFact(
        **{
            "statement": f"The user said: {quote}.",
            "kind": Kind.FACT,
            "quote": quote,
            "number": 1,
            "confidence": 0.9,
            "importance": 0.5,
            **fields,
        }
    )


def test_the_tasks_bear_the_names_they_are_queued_by(alice: User) -> None:
    run = ask(say(alice, HOME))
    celery_app.loader.import_default_modules()
    celery_app.tasks["memory.tasks.requeue_stale_runs"]()
    celery_app.tasks["memory.tasks.read"](run.pk)
    assert facts(alice) == ["The user lives in Porto."]


def test_a_request_to_be_called_otherwise_is_a_claim(alice: User) -> None:
    run_extraction(ask(say(alice, "could you call me Shiv? no one says Siobhan right")).pk)
    assert Fact.objects.for_user(alice).active().get().statement == "The user wants to be called Shiv."


def test_a_lunch_that_becomes_a_dinner_on_another_day_is_on_that_day(alice: User) -> None:
    conversation = say(alice, "I'm meeting Beatriz for lunch on Friday at the Thai place.")
    run_extraction(ask(conversation).pk)
    add(conversation, "Beatriz can't do lunch, so we're having dinner on Saturday instead, same place.")
    run_extraction(ask(conversation, 3).pk)
    now = [fact.statement for fact in Fact.objects.for_user(alice).filter(status__in=["active", "proposed"])]
    assert [one for one in now if "Beatriz" in one and "Saturday" in one]
    assert not [one for one in now if "Friday" in one]


def test_what_is_said_of_someone_known_by_name_is_learned(alice: User) -> None:
    conversation = say(alice, "I'm moving house with my husband Kofi and our daughter Efua.")
    run_extraction(ask(conversation).pk)
    add(conversation, "Kofi's allergic to mould so we need to sort the damp in the back bedroom asap")
    run_extraction(ask(conversation, 3).pk)
    keys = Fact.objects.for_user(alice).filter(status="proposed").values_list("key", flat=True)
    assert "kofi/allergy:mould" in keys


def test_two_of_one_name_are_two_by_any_relation(alice: User) -> None:
    conversation = say(alice, "My grandson Jack turned five on Sunday.")
    run_extraction(ask(conversation).pk)
    add(conversation, "My neighbour Jack is 78, should I take him a casserole?")
    run_extraction(ask(conversation, 3).pk)
    ages = Fact.objects.for_user(alice).filter(status="proposed", statement__contains="years old")
    assert {fact.value for fact in ages} == {"five", "78"}


def test_a_pastime_on_another_weekday_is_on_that_day(alice: User) -> None:
    conversation = say(alice, "I play padel every Sunday with my coworkers.")
    run_extraction(ask(conversation).pk)
    add(conversation, "my group changed it, we play padel on Thursdays now")
    run_extraction(ask(conversation, 3).pk)
    held = Fact.objects.for_user(alice).filter(status__in=["active", "proposed"], statement__contains="day")
    assert [fact.statement for fact in held] == ["The user plays padel every Thursday with their coworkers."]
