"""The second wall: the database shows each request, socket and job the rows of the user it acts for, and no others."""

import random
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import psycopg
import pytest
from django.apps import apps
from django.db import DataError, ProgrammingError, connection, models, transaction
from django.test import Client
from django.urls import reverse

from accounts.deletion import delete_account
from accounts.middleware import _stream, _stream_async, _way
from accounts.models import User
from chat.models import Conversation
from memory.forget_epoch import lock_user
from memory.models import Boundary, Fact
from recall.celery import app
from recall.db import row_security
from recall.db.acting import (
    NO_USER,
    WAYS,
    Actor,
    Role,
    act_for,
    acting,
    as_user,
    by,
    current,
    for_owner_of,
    for_user_named,
)
from recall.db.connections import run_in_thread
from recall.db.engine.base import DatabaseWrapper
from recall.db.prepared import Read, read_together
from recall.settings import django_database
from tests.api.rows import everything_of

pytestmark = pytest.mark.django_db
WORD: Final = "xyzzy-secret"
OURS: Final = ("chat", "memory", "budget", "accounts")


def server_knows(raw: Any) -> tuple[str, str]:
    """The role and the user that the server has for a connection."""
    row = raw.execute("SELECT current_setting('role'), current_setting('recall.user_id', true)").fetchone()
    return row[0], row[1]


def owned_models() -> Iterator[type[models.Model]]:
    owned = row_security.owned()
    for model in apps.get_models(include_auto_created=True):
        if model._meta.db_table in owned:
            yield model


# Policies ----------------------------------------------------------------------------------------------------------


def test_every_table_is_protected_or_says_why_not() -> None:
    assert row_security.find_gaps() == []


@pytest.mark.django_db(transaction=True)
def test_a_new_table_without_an_owner_or_a_reason_is_found() -> None:
    with by("migrations"), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE chat_note (id bigint PRIMARY KEY, user_id bigint)")
        try:
            assert row_security.find_gaps() == ["The table chat_note has no owner, and no reason in UNOWNED."]
        finally:
            cursor.execute("DROP TABLE chat_note")


@pytest.mark.parametrize(
    "harm",
    [
        "ALTER TABLE memory_fact NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE memory_fact DISABLE ROW LEVEL SECURITY",
        "DROP POLICY recall_own ON memory_fact",
        "CREATE POLICY more ON memory_fact USING (true)",
        "ALTER POLICY recall_own ON memory_fact USING (true)",
        "ALTER POLICY recall_own ON memory_fact WITH CHECK (true)",
        "ALTER POLICY recall_everyone ON memory_fact TO recall_user",
        "CREATE OR REPLACE VIEW own_memory_fact AS SELECT * FROM memory_fact",
        "ALTER VIEW own_memory_fact SET (security_barrier)",
    ],
)
@pytest.mark.django_db(transaction=True)
def test_a_table_or_view_without_its_own_conditions_is_found_and_repaired(harm: str) -> None:
    with by("migrations"), connection.cursor() as cursor:
        cursor.execute(harm)
        gap = "view own_memory_fact was changed" if "VIEW" in harm else "table memory_fact lacks its row security"
        assert row_security.find_gaps() == [f"The {gap}."]
    row_security.install()
    assert row_security.find_gaps() == []


@pytest.mark.django_db(transaction=True)
def test_what_a_restored_dump_has_is_as_it_was_made() -> None:
    with by("migrations"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('ALTER POLICY %I ON %s USING (%s)', polname, polrelid::regclass,"
            " pg_get_expr(polqual, polrelid)) FROM pg_policy"
            " UNION ALL SELECT format('CREATE OR REPLACE VIEW %I AS %s', viewname, definition) FROM pg_views"
            " WHERE schemaname = 'public'"
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)
        assert row_security.find_gaps() == []


@pytest.mark.django_db(transaction=True)
def test_a_missing_view_is_found_and_made() -> None:
    row_security.remove_views()
    assert row_security.find_gaps() == [f"The view {view} is missing." for view in row_security.VIEWS]
    row_security.install()
    assert row_security.find_gaps() == []


def test_the_application_logs_in_without_rights_of_its_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolbypassrls, rolinherit FROM pg_roles WHERE rolname = session_user")
        assert cursor.fetchone() == (False, False, False)
        cursor.execute(
            "SELECT bool_or(pg_get_userbyid(relowner) = session_user) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace"
        )
        assert cursor.fetchone() == (False,)
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            cursor.execute("RESET ROLE; SELECT * FROM memory_fact")


# What a forgotten filter shows ---------------------------------------------------------------------------------------


def test_without_any_filter_bob_sees_no_row_of_alices(alice: User, bob: User) -> None:
    everything_of(alice, WORD)
    everyone = {model: model._base_manager.count() for model in owned_models()}
    assert sum(map(bool, everyone.values())) > 20, "most tables have a row of hers"
    for actor in (Actor(Role.USER, bob.pk), NO_USER):
        with acting(actor):
            for model in owned_models():
                column = "pk" if model is User else "user"
                if column == "user" and not any(field.name == "user" for field in model._meta.concrete_fields):
                    assert not model._base_manager.exists(), model
                    continue
                seen = set(model._base_manager.values_list(column, flat=True))
                assert seen <= {bob.pk, None} if actor is not NO_USER else seen <= {None}, model
    with as_user(alice.pk):
        assert all(model._base_manager.exists() for model, rows in everyone.items() if rows and model is not Boundary)


def test_without_any_filter_bob_changes_no_row_of_alices(alice: User, bob: User) -> None:
    fact = Fact.objects.create(user=alice, statement=WORD)
    with as_user(bob.pk):
        assert Fact.objects.update(statement="stolen") == 0
        assert Fact.objects.all().delete() == (0, {})
    fact.refresh_from_db()
    assert fact.statement == WORD


def test_bob_can_write_no_row_for_alice(alice: User, bob: User) -> None:
    with as_user(bob.pk):
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Fact.objects.create(user=alice, statement="planted")
        own = Fact.objects.create(user=bob, statement="his own")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Fact.objects.filter(pk=own.pk).update(user=alice)


def test_everyone_reads_a_boundary_of_no_one_and_no_user_changes_it(bob: User) -> None:
    boundary = Boundary.objects.create(user=None, text="for all")
    with as_user(bob.pk):
        assert boundary in Boundary.objects.all()
        assert Boundary.objects.filter(pk=boundary.pk).update(text="for none") == 0
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Boundary.objects.create(user=None, text="planted")


def test_the_views_of_the_search_show_the_acting_user_only(alice: User, bob: User) -> None:
    Fact.objects.create(user=alice, statement=WORD)
    for way in (Actor(Role.USER, bob.pk), Actor(Role.SYSTEM, bob.pk), NO_USER):
        with acting(way), connection.cursor() as cursor:
            for view in row_security.VIEWS:
                cursor.execute(f"SELECT count(*) FROM {view}")
                assert cursor.fetchone() == (0,), view
    with as_user(alice.pk), connection.cursor() as cursor:
        for view in ("own_memory_fact", "own_memory_fact_by_word"):
            cursor.execute(f"SELECT count(*) FROM {view}")
            assert cursor.fetchone() == (1,), view


@pytest.mark.parametrize("view", row_security.VIEWS)
def test_no_one_writes_by_a_view(bob: User, view: str) -> None:
    for way in (Actor(Role.USER, bob.pk), Actor(Role.SIGN_IN, bob.pk), Actor(Role.SYSTEM, bob.pk)):
        with acting(way), connection.cursor() as cursor:
            for statement in (
                f"INSERT INTO {view} (user_id) VALUES (1)",
                f"UPDATE {view} SET id = 1",
                f"DELETE FROM {view}",
            ):
                with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                    cursor.execute(statement)


def test_sign_in_sees_who_there_is_and_nothing_of_what_they_have(alice: User) -> None:
    everything_of(alice, WORD)
    with as_user(None), by("sign-in"):
        assert User.objects.filter(pk=alice.pk).exists()
        assert not Fact.objects.exists()
        assert not Conversation.objects.exists()


# Connections ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def pooled(transactional_db: None) -> Iterator[Callable[[], DatabaseWrapper]]:
    """Makes wrappers, as each thread has one, on one pool of two connections."""
    settings_dict = {
        **connection.settings_dict,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {**connection.settings_dict["OPTIONS"]},
    }
    settings_dict["OPTIONS"]["pool"] = django_database({}, pool_size=2)["OPTIONS"]["pool"]

    def make() -> DatabaseWrapper:
        return DatabaseWrapper(settings_dict, alias="default")

    yield make
    make().close_pool()


def test_a_connection_is_given_back_as_nobodys(pooled: Callable[[], DatabaseWrapper], alice: User) -> None:
    wrapper = pooled()
    for actor in (Actor(Role.USER, alice.pk), Actor(Role.SYSTEM), Actor(Role.SIGN_IN, alice.pk)):
        with acting(actor):
            wrapper.ensure_connection()
            raw = wrapper.connection
            assert server_knows(raw) == (actor.role, str(actor.user_id or ""))
            wrapper.close()
        assert server_knows(raw) == (Role.USER, "")


def test_a_connection_is_given_back_as_nobodys_in_mid_transaction(
    pooled: Callable[[], DatabaseWrapper], alice: User
) -> None:
    wrapper = pooled()
    with as_user(alice.pk):
        wrapper.ensure_connection()
        raw = wrapper.connection
        wrapper.set_autocommit(False)
        with pytest.raises(psycopg.Error):
            raw.execute("SELECT 1 / 0")
        wrapper.close()
    assert raw.closed or server_knows(raw) == (Role.USER, "")


def test_what_was_told_in_a_transaction_that_failed_is_told_again(
    pooled: Callable[[], DatabaseWrapper], alice: User, bob: User
) -> None:
    wrapper = pooled()
    with as_user(alice.pk):
        wrapper.ensure_connection()
        wrapper.set_autocommit(False)
        point = wrapper.savepoint()
        assert point is not None
        with as_user(bob.pk):
            with wrapper.cursor() as cursor:
                assert server_knows(cursor)[1] == str(bob.pk)
            wrapper.savepoint_rollback(point)
            with wrapper.cursor() as cursor:  # the server is back at Alice
                assert server_knows(cursor)[1] == str(bob.pk)
            wrapper.rollback()
            with wrapper.cursor() as cursor:
                assert server_knows(cursor)[1] == str(bob.pk)
        with wrapper.cursor() as cursor:
            assert server_knows(cursor)[1] == str(alice.pk)
    wrapper.close()


def test_who_acts_is_told_before_a_transaction_starts(
    pooled: Callable[[], DatabaseWrapper], alice: User, bob: User
) -> None:
    wrapper = pooled()
    with as_user(alice.pk), wrapper.cursor() as cursor:
        assert server_knows(cursor)[1] == str(alice.pk)
    with as_user(bob.pk):
        wrapper.set_autocommit(False)
        with wrapper.cursor() as cursor:  # PostgreSQL takes this before all others only
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            assert server_knows(cursor)[1] == str(bob.pk)
    wrapper.close()


def test_what_was_told_in_a_transaction_that_could_not_commit_is_told_again(
    pooled: Callable[[], DatabaseWrapper], alice: User, bob: User
) -> None:
    wrapper = pooled()
    with as_user(alice.pk):
        wrapper.set_autocommit(False)
    with as_user(bob.pk):
        with pytest.raises(DataError), wrapper.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        wrapper.commit()
        with wrapper.cursor() as cursor:
            assert server_knows(cursor)[1] == str(bob.pk)
    wrapper.close()


@pytest.mark.django_db(transaction=True)
def test_what_fails_in_one_round_trip_does_not_make_the_server_forget_who_acts(alice: User, bob: User) -> None:
    with as_user(alice.pk), connection.cursor() as cursor:
        assert server_knows(cursor)[1] == str(alice.pk)
    with as_user(bob.pk):
        with pytest.raises((DataError, psycopg.DataError)), read_together(Read("SELECT 1 / 0", [])):
            pass
        with connection.cursor() as cursor:
            assert server_knows(cursor)[1] == str(bob.pk)


def test_no_connection_carries_another_user(pooled: Callable[[], DatabaseWrapper]) -> None:
    def work(seed: int) -> None:
        chance, wrapper = random.Random(seed), pooled()
        for _ in range(40):
            actor = chance.choice([Actor(Role.USER, chance.randint(1, 9)), Actor(Role.SYSTEM), NO_USER])
            with acting(actor):
                with wrapper.cursor() as cursor:
                    assert server_knows(cursor) == (actor.role, str(actor.user_id or ""))
                    if chance.random() < 0.3:
                        wrapper.set_autocommit(False)
                        wrapper.rollback()
                        wrapper.set_autocommit(True)
                if chance.random() < 0.5:
                    wrapper.close()
        wrapper.close()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(12)))


def test_the_owners_login_is_not_used_within_a_transaction() -> None:
    with pytest.raises(RuntimeError, match="within a transaction"), by("migrations"):
        Fact.objects.exists()


# Requests, sockets, jobs -------------------------------------------------------------------------------------------


async def test_a_thread_acts_for_the_user_of_its_caller() -> None:
    act_for(7)
    assert (await run_in_thread(current)).user_id == 7


def test_a_request_acts_for_its_user_and_leaves_no_trace(alice: User, sign_in: Callable[[Any], Client]) -> None:
    client, before = sign_in(alice), current()
    assert client.get(reverse("new")).status_code == 200
    assert current() == before


def test_what_is_streamed_after_the_request_is_made_for_its_user(alice: User, bob: User) -> None:
    Fact.objects.create(user=alice, statement=WORD)
    pieces = (str(Fact.objects.count()).encode() for _ in range(2))
    stream = _stream(Actor(Role.USER, bob.pk), pieces)
    with as_user(alice.pk):
        assert (next(stream), current().user_id) == (b"0", alice.pk)
        assert (next(stream), current().user_id) == (b"0", alice.pk)


async def test_an_asynchronous_stream_is_made_for_its_user() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(2):
            yield str(current().user_id).encode()

    act_for(8)
    assert [(piece, current().user_id) async for piece in _stream_async(Actor(Role.USER, 7), pieces())] == [
        (b"7", 8),
        (b"7", 8),
    ]


def test_only_staff_see_everyones_rows_in_the_admin(alice: User, bob: User, client: Client) -> None:
    charlie = User(pk=9, is_staff=True)
    for path, user, role in (
        ("/admin/", charlie, Role.SYSTEM),
        ("/admin/", bob, Role.USER),
        ("/admin/", None, Role.USER),
        ("/accounts/login/", None, Role.SIGN_IN),
        ("/memory/", charlie, Role.USER),
    ):
        with as_user(user.pk if user else None), _way(path, user):
            assert current().role == role, path


def test_a_task_of_a_row_acts_for_its_owner(alice: User) -> None:
    fact, seen = Fact.objects.create(user=alice, statement=WORD), []
    with as_user(None):
        for_owner_of("memory.Fact")(lambda pk: seen.append((pk, current())))(fact.pk)
        for_owner_of("memory.Fact")(lambda pk: seen.append((pk, current())))(0)
    assert seen == [(fact.pk, Actor(Role.USER, alice.pk))]


@pytest.mark.parametrize("of", ["row", "user"])
def test_a_task_ends_quietly_whose_account_is_deleted_meanwhile(of: str, alice: User) -> None:
    fact = Fact.objects.create(user=alice, statement=WORD)
    decorate = for_owner_of("memory.Fact") if of == "row" else for_user_named

    def task(_pk: int) -> None:
        delete_account(alice)
        lock_user(alice.pk)
        raise AssertionError

    with as_user(None):
        assert decorate(task)(fact.pk if of == "row" else alice.pk) is None


def test_each_task_says_for_whom_it_acts() -> None:
    app.loader.import_default_modules()
    ours = {name: task for name, task in app.tasks.items() if name.partition(".")[0] in ("recall", *OURS)}
    assert len(ours) > 20
    assert [name for name, task in ours.items() if not hasattr(task.run, "__wrapped__")] == []


def test_each_way_past_the_acting_user_has_its_reason() -> None:
    assert all(reason.endswith(".") and role is not Role.USER for role, reason in WAYS.values())
