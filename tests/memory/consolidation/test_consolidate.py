"""Nightly consolidation: what fades, what never does, what is merged, and that a second run does nothing more."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import Model
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from chat.models import Conversation
from memory.consolidation import consolidate as consolidation
from memory.consolidation.consolidate import FADED, LIVE_EPISODES, Report, consolidate, users_to_consolidate
from memory.embeddings.port import embedder
from memory.facts.validity import OVER
from memory.models import Episode, Fact, PersonalIndex
from memory.retrieval.recall import BACK, mark_used
from memory.review.decisions import accept, edit
from memory.tasks import consolidate as consolidate_task
from memory.tasks import consolidate_one
from recall.schedule import BEAT_SCHEDULE

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)
YEAR = 365 * DAY
SISTER = "The user's sister Mary lives in Lisbon."


def fact(user: User, statement: str = "The user once saw a heron.", **fields: Any) -> Fact:
    """An old, unused, imported fact that no one confirmed, except for `fields`."""
    plain = {"status": Fact.Status.ACTIVE, "source": Fact.Source.IMPORTED, "recorded_at": NOW - YEAR, "tokens": 7}
    made: Fact = Fact.objects.create(user=user, statement=statement, **{**plain, **fields})
    return made


def episode(conversation: Conversation, first: int, last: int, **fields: Any) -> Episode:
    plain = {"title": f"Turns {first} to {last}", "summary": f"What happened in {first} to {last}.", "tokens": 10}
    made: Episode = Episode.objects.create(
        user=conversation.user, conversation=conversation, first_turn=first, last_turn=last, **{**plain, **fields}
    )
    return made


def talk(user: User) -> Conversation:
    made: Conversation = Conversation.objects.create(user=user)
    return made


def row(one: Fact | Episode) -> tuple[str, str]:
    one.refresh_from_db()
    return one.status, getattr(one, "reason", "")


def everything(user: User) -> list[list[dict[str, Any]]]:
    """Every column of every row that could be touched."""
    models: tuple[type[Model], ...] = (Fact, Episode, PersonalIndex)
    return [list(model._default_manager.filter(user=user).order_by("pk").values()) for model in models]


# What fades ------------------------------------------------------------------------------------------------------


def test_what_nobody_vouches_for_is_archived_when_it_has_faded(alice: User) -> None:
    faded = fact(alice)
    report = consolidate(alice, NOW)
    assert row(faded) == ("archived", FADED)
    assert (report.archived, report.tokens_reclaimed, report.searchable) == (1, 7, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"source": Fact.Source.STATED},
        {"source": Fact.Source.EDITED},
        {"key": "user/home", "kind": "biography", "importance": 0.1},
        {"accepted_at": NOW - YEAR},
        {"recorded_at": NOW - 29 * DAY, "importance": 0.0},
        {"last_used_at": NOW - DAY, "times_used": 1},
        {"status": Fact.Status.PROPOSED},
        {"status": Fact.Status.REJECTED},
        {"status": Fact.Status.SUPERSEDED},
    ],
    ids=["stated", "edited", "keyed", "accepted", "young", "used", "proposed", "rejected", "superseded"],
)
def test_what_is_never_archived_by_decay(alice: User, fields: dict[str, Any]) -> None:
    kept = fact(alice, **fields)
    before = row(kept)
    assert not consolidate(alice, NOW).did_something
    assert row(kept) == before


def test_what_a_person_accepted_or_reworded_stays_whoever_extracted_it(alice: User) -> None:
    accepted, reworded, left = (fact(alice, source="inferred", status="proposed") for _ in range(3))
    accept(accepted, by=alice)
    edit(reworded, SISTER, by=alice)
    Fact.objects.filter(pk=left.pk).update(status="active")
    consolidate(alice, timezone.now() + 10 * YEAR)
    assert [row(one)[0] for one in (accepted, reworded, left)] == ["active", "active", "archived"]


def test_a_sisters_name_unused_for_a_year_is_still_recalled(alice: User) -> None:
    from memory.retrieval.recall import retrieve

    vector = embedder().embed([SISTER])[0].tolist()
    fact(
        alice, SISTER, source=Fact.Source.STATED, kind="person", importance=0.5, vector=vector,
        embedded_by=embedder().name,
    )  # fmt: skip
    for day in range(0, 366, 73):
        consolidate(alice, NOW + day * DAY)
    found = retrieve(alice, "What is my sister called?", now=NOW + YEAR)
    assert [item.text for item in found.kept] == [SISTER]


# What is over ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["active", "archived"])
def test_what_is_over_expires_and_gives_its_key_back(alice: User, status: str) -> None:
    over = fact(alice, key="user/job", kind="biography", source="stated", valid_until=NOW, status=status)
    report = consolidate(alice, NOW)
    assert row(over) == ("expired", OVER)
    assert (report.expired, report.archived, report.tokens_reclaimed) == (1, 0, 0)
    fact(alice, key="user/job", kind="biography", source="stated")


def test_what_lasts_or_waits_for_a_person_does_not_expire(alice: User) -> None:
    fact(alice, source="stated", valid_until=NOW + timedelta(seconds=1))
    fact(alice, status="proposed", valid_until=NOW - DAY)
    assert consolidate(alice, NOW).expired == 0


# Episodes --------------------------------------------------------------------------------------------------------


def test_overlapping_episodes_become_one_and_their_rows_stay(alice: User) -> None:
    conversation, heron = talk(alice), fact(alice, source="stated")
    first = episode(conversation, 1, 6, significance=0.4, outcome="partial", topics=["shop"], valence=-1.0)
    second = episode(
        conversation, 4, 8, significance=0.8, kind="decision_made", title="Chose PostgreSQL", participants=["Mary"],
        topics=["shop", "database"], valence=0.5,
    )  # fmt: skip
    second.facts.add(heron)
    report = consolidate(alice, NOW)
    (whole,) = Episode.objects.live()
    for part in (first, second):
        part.refresh_from_db()
        assert (part.status, part.merged_into) == ("merged", whole)
    assert (whole.first_turn, whole.last_turn, whole.title, whole.kind) == (1, 8, "Chose PostgreSQL", "decision_made")
    assert whole.summary == "Earlier: What happened in 1 to 6. Then: What happened in 4 to 8."
    assert (whole.topics, whole.participants, whole.outcome) == (["shop", "database"], ["Mary"], "partial")
    assert (whole.significance, whole.valence) == (0.8, pytest.approx(0.0))
    assert list(whole.facts.all()) == [heron]
    assert (report.merged, report.merged_into) == (2, 1)


def test_episodes_that_only_touch_or_belong_to_other_conversations_stay_apart(alice: User) -> None:
    conversation = talk(alice)
    episode(conversation, 1, 5)
    episode(conversation, 5, 9)
    episode(talk(alice), 1, 5)
    assert not consolidate(alice, NOW).did_something


def test_the_least_significant_beyond_the_limit_are_archived(alice: User, bob: User) -> None:
    conversation = talk(alice)
    for turn in range(1, LIVE_EPISODES + 4):
        episode(conversation, turn, turn, significance=turn / 200)
    episode(talk(bob), 1, 1, significance=0.0)
    report = consolidate(alice, NOW)
    gone = Episode.objects.filter(status="archived").order_by("first_turn")
    assert [one.first_turn for one in gone] == [1, 2, 3]
    assert (report.episodes_archived, report.tokens_reclaimed) == (3, 30)


# Figures and words -----------------------------------------------------------------------------------------------


def test_the_figures_of_the_collection_are_renewed(alice: User) -> None:
    PersonalIndex.objects.create(user=alice, rows=99, common_words={"the": 5})
    fact(alice, source="stated")
    fact(alice, status="superseded")
    episode(talk(alice), 1, 2)
    assert consolidate(alice, NOW).searchable == 2
    index = PersonalIndex.objects.get(user=alice)
    assert (index.rows, index.common_words) == (2, {"the": 5})


def test_the_report_is_told_in_sentences() -> None:
    report = Report(expired=1, archived=1_200, merged=3, merged_into=1, episodes_archived=2, tokens_reclaimed=9_000)
    assert report.sentences() == [
        "1 fact expired: its time has passed.",
        "1,200 facts archived: faded: long unused, and of little importance.",
        "3 overlapping episodes merged into 1.",
        "2 episodes archived: the least significant beyond 100.",
        "9,000 tokens reclaimed from default recall.",
    ]
    assert Report().sentences() == ["Nothing to clean up."]


# Twice -----------------------------------------------------------------------------------------------------------

moments = st.integers(0, 400).map(lambda days: NOW - days * DAY)
facts = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["active", "active", "active", "archived", "proposed", "superseded"]),
        "source": st.sampled_from(list(Fact.Source)),
        "importance": st.floats(0, 1),
        "recorded_at": moments,
        "last_used_at": st.none() | moments,
        "times_used": st.integers(0, 8),
        "accepted_at": st.none() | moments,
        "valid_until": st.none() | moments | moments.map(lambda moment: moment + YEAR * 2),
        "is_keyed": st.booleans(),
    }
)
spans = st.tuples(st.integers(1, 30), st.integers(0, 12), st.floats(0, 1))


@given(rows=st.lists(facts, max_size=12), told=st.lists(spans, max_size=10, unique_by=lambda span: span[:2]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_second_run_changes_nothing_and_what_is_anybodys_never_fades(
    alice: User, rows: list[dict[str, Any]], told: list[tuple[int, int, float]]
) -> None:
    with transaction.atomic():
        for number, fields in enumerate(rows):
            key = f"favourite_{number}" if fields.pop("is_keyed") else ""
            fact(alice, key=key, **fields)
        conversation = talk(alice)
        for first, length, significance in told:
            episode(conversation, first, first + length, significance=significance)
        before = {one.pk: one for one in Fact.objects.for_user(alice)}

        consolidate(alice, NOW)
        after = everything(alice)
        again = consolidate(alice, NOW)

        assert not again.did_something
        assert everything(alice) == after
        for one in Fact.objects.for_user(alice):
            was = before[one.pk]
            if one.status == "archived" and was.status != "archived":
                assert (one.key, one.accepted_at) == ("", None)
                assert one.source in ("imported", "inferred")
                assert one.recorded_at <= NOW - 30 * DAY
            changed_by_a_person = {"proposed", "rejected", "superseded"}
            assert was.status not in changed_by_a_person or one.status == was.status
        spans_left = [(one.first_turn, one.last_turn) for one in Episode.objects.for_user(alice).live()]
        assert len(spans_left) == len(set(spans_left))
        transaction.set_rollback(True)


def test_a_rehearsal_says_what_would_be_done_and_does_nothing(alice: User) -> None:
    fact(alice)
    episode(conversation := talk(alice), 1, 6)
    episode(conversation, 2, 6)
    before = everything(alice)
    rehearsed = consolidate(alice, NOW, rehearse=True)
    assert everything(alice) == before
    assert rehearsed == consolidate(alice, NOW)
    assert (rehearsed.archived, rehearsed.merged) == (1, 2)


# Coming back -----------------------------------------------------------------------------------------------------


def test_what_is_used_again_comes_back(alice: User, bob: User) -> None:
    mine, left, his = fact(alice), fact(alice), fact(bob)
    for user in (alice, bob):
        consolidate(user, NOW)
    mark_used(alice, [mine.ref, his.ref, "chunk:3", "document:/profile/goals:1", "fact:x"], NOW)
    assert [row(one) for one in (mine, left, his)] == [("active", BACK), ("archived", FADED), ("archived", FADED)]


def test_what_comes_back_is_not_archived_again(alice: User) -> None:
    faded = fact(alice)
    consolidate(alice, NOW)
    mark_used(alice, [faded.ref], NOW)
    assert not consolidate(alice, NOW + DAY).did_something


@pytest.mark.parametrize("status", ["proposed", "rejected", "superseded", "expired"])
def test_nothing_but_the_archived_comes_back(alice: User, status: str) -> None:
    kept = fact(alice, status=status)
    before = row(kept)
    mark_used(alice, [kept.ref], NOW)
    assert row(kept) == before


def test_an_archived_fact_whose_key_is_taken_stays_where_it_is(alice: User) -> None:
    old = fact(alice, key="user/home", kind="biography", status="archived")
    fact(alice, key="user/home", kind="biography")
    mark_used(alice, [old.ref], NOW)
    assert row(old)[0] == "archived"


def test_an_archived_episode_comes_back_when_it_is_used(alice: User) -> None:
    told = episode(talk(alice), 1, 2, status="archived")
    mark_used(alice, [told.ref], NOW)
    assert row(told)[0] == "live"


def test_an_archived_episode_beside_a_live_one_of_the_same_turns_stays_archived(alice: User) -> None:
    conversation = talk(alice)
    episode(conversation, 1, 2)
    told = episode(conversation, 1, 2, status="archived")
    mark_used(alice, [told.ref], NOW)
    assert row(told)[0] == "archived"


# Everyone --------------------------------------------------------------------------------------------------------


def test_everyone_with_something_to_tidy_up_is_queued_alone(
    alice: User, bob: User, charlie: User, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    fact(alice)
    episode(talk(bob), 1, 1)
    with django_capture_on_commit_callbacks(execute=True):
        consolidate_task()
    assert queued == [("memory.tasks.consolidate_one", (user.pk,)) for user in (alice, bob)]


def test_the_task_tidies_up_one_person_and_passes_over_a_closed_account(alice: User, bob: User) -> None:
    mine, his = fact(alice), fact(bob)
    consolidate_one(alice.pk)
    consolidate_one(10**9)
    assert (row(mine)[0], row(his)[0]) == ("archived", "active")


def test_the_clock_knows_the_task() -> None:
    assert {"task": "memory.tasks.consolidate"}.items() <= BEAT_SCHEDULE["consolidate-memories"].items()


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("consolidate", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_tells_what_it_did_for_each(alice: User, bob: User) -> None:
    fact(alice)
    fact(bob, source="stated")
    assert run().splitlines() == [
        f"alice@example.org: 1 fact archived: {FADED}. 7 tokens reclaimed from default recall.",
        "bob@example.org: Nothing to clean up.",
    ]


def test_the_command_takes_one_person_and_a_rehearsal(alice: User, bob: User) -> None:
    mine, his = fact(alice), fact(bob)
    assert run("--user", "Alice@example.org", "--dry-run").startswith("alice@example.org: would be: 1 fact archived")
    assert row(mine)[0] == "active"
    run("--user", "alice@example.org")
    assert (row(mine)[0], row(his)[0]) == ("archived", "active")
    with pytest.raises(CommandError, match="No account"):
        run("--user", "nobody@example.org")


def test_one_persons_failure_does_not_stop_the_others(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    fact(alice)
    his = fact(bob)
    whole = consolidation._refresh_statistics

    def failing(user: User) -> int:
        if user == alice:
            raise DatabaseError("the disk is full")
        return whole(user)

    monkeypatch.setattr(consolidation, "_refresh_statistics", failing)
    with pytest.raises(CommandError, match="Failed for 1"):
        run()
    assert row(his)[0] == "archived"
    assert not Fact.objects.for_user(alice).filter(status="archived").exists()


def test_those_with_nothing_are_passed_over(alice: User, bob: User) -> None:
    fact(alice, status="proposed")
    episode(talk(bob), 1, 1, status="merged")
    assert list(users_to_consolidate()) == []


# Beside others ---------------------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(transactional_db: None) -> Iterator[Any]:
    """`elsewhere(function)` runs it in a thread, inside its own transaction that stays open until the end."""
    release, threads = threading.Event(), []

    def start(deed: Any) -> None:
        done = threading.Event()

        def hold() -> None:
            with transaction.atomic():
                deed()
                done.set()
                release.wait(20)
            connection.close()

        threads.append(thread := threading.Thread(target=hold))
        thread.start()
        assert done.wait(20)

    def end() -> None:
        release.set()
        for thread in threads:
            thread.join(20)

    start.end = end  # type: ignore[attr-defined]
    yield start
    end()


@pytest.mark.django_db(transaction=True)
def test_a_fact_that_is_being_used_at_that_moment_is_left_alone(alice: User, elsewhere: Any) -> None:
    used, left = fact(alice), fact(alice)
    elsewhere(lambda: mark_used(alice, [used.ref], NOW))
    assert consolidate(alice, NOW).archived == 1
    assert row(left)[0] == "archived"
    elsewhere.end()
    used.refresh_from_db()
    assert (used.status, used.times_used) == ("active", 1)


@pytest.mark.django_db(transaction=True)
def test_it_waits_for_a_librarian_at_the_same_persons_memory(alice: User, elsewhere: Any) -> None:
    fact(alice)
    elsewhere(lambda: User.objects.select_for_update(no_key=True).get(pk=alice.pk))
    finished = threading.Event()

    def tidy_up() -> None:
        consolidate(alice, NOW)
        finished.set()
        connection.close()

    thread = threading.Thread(target=tidy_up)
    thread.start()
    assert not finished.wait(0.5)
    elsewhere.end()
    thread.join(20)
    assert finished.is_set()
    assert Fact.objects.for_user(alice).filter(status="archived").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_at_once_archive_each_fact_once(alice: User) -> None:
    for _ in range(50):
        fact(alice)
    reports: list[Report] = []

    def tidy_up() -> None:
        reports.append(consolidate(alice, NOW))
        connection.close()

    threads = [threading.Thread(target=tidy_up) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(report.archived for report in reports) == [0, 0, 50]


def test_tidying_up_for_bob_touches_nothing_of_alices(alice: User, bob: User) -> None:
    mine = fact(alice)
    consolidate(bob, NOW)
    assert row(mine)[0] == "active"
    Fact.objects.filter(pk=mine.pk).update(status="archived")
    hers = episode(talk(alice), 1, 1, status="archived")
    mark_used(bob, [mine.ref, hers.ref], NOW)
    assert [row(one)[0] for one in (mine, hers)] == ["archived", "archived"]
