"""A queryset compiled once returns what the queryset itself would, whatever its parameters are by then."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, QuerySet, Value
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, Message
from memory.models import Document, Fact
from recall.db.prepared import (
    PLACEHOLDERS,
    AnyOf,
    PreparedInsert,
    PreparedQuery,
    PreparedUpdate,
    fetch_prepared,
    numbered,
    write_together,
)


@pytest.fixture
def facts(alice: User, bob: User) -> list[Fact]:
    """Three facts of Alice's, one of Bob's; tags are JSON, which the ORM converts."""
    statements = [(alice, "Mary lives in Lisbon."), (alice, "Alice plays chess."), (alice, ""), (bob, "Bob paints.")]
    return [
        Fact.objects.create(user=owner, statement=statement, tags=[statement[:4]], importance=number / 10)
        for number, (owner, statement) in enumerate(statements)
    ]


def by_user(user: Any) -> QuerySet[Any]:
    return Fact.objects.filter(user=user).order_by("pk")


SHAPES: dict[str, Callable[[Any], QuerySet[Any, Any]]] = {
    "models": by_user,
    "models without some columns": lambda user: by_user(user).defer("vector", "search", "statement"),
    "models of some columns": lambda user: by_user(user).only("statement", "tags"),
    "tuples": lambda user: by_user(user).values_list("pk", "tags", "recorded_at"),
    "tuples of one": lambda user: by_user(user).values_list("tags"),
    "single values": lambda user: by_user(user).values_list("tags", flat=True),
    "groups": lambda user: by_user(user).order_by().values("user").annotate(n=Count("pk")).values_list("n", "user"),
    "a slice": lambda user: by_user(user)[1:2],
    "documents, whose paths are ltree": lambda user: Document.objects.filter(user=user).under("/profile"),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_it_yields_what_its_queryset_yields(
    shape: Callable[[Any], QuerySet[Any, Any]], facts: list[Fact], alice: User, bob: User
) -> None:
    prepared = PreparedQuery(shape, user=int)
    for user in (alice, bob, alice):
        expected = list(shape(user.pk))
        found = prepared(user=user.pk)
        assert found == expected
        if expected and isinstance(expected[0], Fact | Document):
            assert [vars(one).keys() for one in found] == [vars(one).keys() for one in expected]
            assert [one.get_deferred_fields() for one in found] == [one.get_deferred_fields() for one in expected]
            for one, same in zip(found, expected, strict=True):
                assert {**vars(one), "_state": None} == {**vars(same), "_state": None}
                one.save()  # it knows that it is stored
    assert prepared(user=0) == []


def test_a_deferred_column_is_read_when_it_is_asked_for(facts: list[Fact], alice: User) -> None:
    first = PreparedQuery(lambda user: by_user(user).only("pk")[:1], user=int).first(user=alice.pk)
    assert first is not None
    assert first.statement == "Mary lives in Lisbon."


def test_every_kind_of_parameter_reaches_its_place(alice: User, bob: User) -> None:
    now = timezone.now()
    conversations = [Conversation.objects.create(user=owner, title=title) for owner in (alice, bob) for title in "ab"]

    def shape(user: Any, title: Any, ids: Any, before: Any, but: Any) -> QuerySet[Any]:
        rows = Conversation.objects.filter(user=user, title=title, user_id__in=AnyOf(ids), started_at__lt=before)
        return rows.exclude(pk=but)

    prepared = PreparedQuery(shape, user=int, title=str, ids=list, before=datetime, but=UUID)
    asked: dict[str, Any] = {"title": "b", "ids": [alice.pk, bob.pk], "before": now + timedelta(hours=1)}
    asked["but"] = conversations[0].pk
    assert prepared(user=alice.pk, **asked) == [conversations[1]]
    assert prepared(user=bob.pk, **asked) == [conversations[3]]
    assert prepared(user=bob.pk, **{**asked, "but": conversations[3].pk}) == []
    assert prepared(user=bob.pk, **{**asked, "title": "' OR true --"}) == []
    assert prepared(user=bob.pk, **{**asked, "ids": [alice.pk]}) == []
    assert prepared(user=bob.pk, **{**asked, "ids": []}) == []
    assert prepared(user=bob.pk, **{**asked, "before": now - timedelta(hours=1)}) == []


def test_it_is_put_in_words_once_and_every_asking_is_one_statement(facts: list[Fact], alice: User) -> None:
    built = []

    def shape(user: Any) -> QuerySet[Any]:
        built.append(user)
        return by_user(user)

    prepared = PreparedQuery(shape, user=int)
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert len(prepared(user=alice.pk)) == len(prepared(user=alice.pk)) == 3
    assert built == [PLACEHOLDERS[int](0), PLACEHOLDERS[int](1)], (
        "and once more, to be sure that nothing depends on them"
    )
    assert len(seen) == 2


def test_the_server_knows_one_statement_for_all_values(facts: list[Fact], alice: User) -> None:
    def shape(user: Any, ids: Any) -> QuerySet[Any]:
        return by_user(user).filter(status="active", pk__in=AnyOf(ids)).exclude(statement="100%")

    prepared = PreparedQuery(shape, user=int, ids=list)
    for user, ids in ((alice.pk, [facts[0].pk]), (70_000, [1, 70_000]), (5_000_000_000, [5_000_000_000])):
        prepared(user=user, ids=ids)
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE statement LIKE %s", ["%100\\%%"])
        (found,) = cursor.fetchall()
    assert "'active'" in found[0], "a constant is in it: partial indexes are found by it"
    assert "70000" not in found[0]


@pytest.mark.django_db(transaction=True)
def test_it_may_be_asked_from_any_thread(facts: list[Fact], alice: User, bob: User) -> None:
    prepared = PreparedQuery(by_user, user=int)

    def ask(user: int) -> int:
        try:
            return len(prepared(user=user))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, [alice.pk, bob.pk] * 10)) == [3, 1] * 10


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_within_a_transaction_or_not_at_all(facts: list[Fact], alice: User) -> None:
    prepared = PreparedQuery(lambda user: by_user(user).select_for_update(), user=int)
    for _ in range(2):
        with pytest.raises(TransactionManagementError):
            prepared(user=alice.pk)
        with transaction.atomic():
            assert len(prepared(user=alice.pk)) == 3


@pytest.mark.parametrize(
    "shape",
    [
        lambda message: Message.objects.filter(pk=message).select_related("conversation"),
        lambda message: Message.objects.filter(pk=message).annotate(one=Value(1)),
        lambda message: Message.objects.filter(pk=message).values("pk"),
        lambda message: Message.objects.filter(pk=message).prefetch_related("children"),
        lambda message: Message.objects.filter(pk=message + 1),
        lambda message: Message.objects.filter(pk=message) | Message.objects.filter(pk=message + 1),
        lambda message: Message.objects.filter(pk=message).order_by("pk" if message % 2 else "-pk"),
        lambda message: Message.objects.all(),
    ],
    ids=[
        "a joined model",
        "an annotated model",
        "dictionaries",
        "what is fetched besides",
        "a parameter that was computed with",
        "one that was computed with in a second place",
        "one that was looked at",
        "one that is not bound",
    ],
)
@pytest.mark.django_db
def test_what_it_could_not_answer_alike_is_refused(shape: Callable[[Any], QuerySet[Any, Any]]) -> None:
    with pytest.raises(TypeError):
        PreparedQuery(shape, message=int)(message=1)


@pytest.mark.django_db
def test_a_parameter_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="user"):
        PreparedQuery(by_user, user=int)()


# SQL of our own --------------------------------------------------------------------------------------------------


def test_each_parameter_has_one_number_however_often_it_stands_there() -> None:
    sql, names = numbered("SELECT %(b)s::int, %(a)s::int + %(b)s::int, 7 %% 4, '%%(a)s'")

    assert sql == "SELECT $1::int, $2::int + $1::int, 7 % 4, '%(a)s'"
    assert names == ("b", "a")


@pytest.mark.django_db
def test_what_is_not_asked_for_may_be_given() -> None:
    assert fetch_prepared("SELECT %(b)s::int - %(a)s::int, 7 %% 4", {"a": 1, "b": 3, "c": 9}) == [(2, 3)]


# Writes --------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_writes_sent_together_are_done_when_the_block_ends(facts: list[Fact]) -> None:
    with transaction.atomic(), write_together():
        for fact in facts:
            with write_together():  # as part of the block around it
                Fact.objects.filter(pk=fact.pk).update(value="done")
            assert not Fact.objects.filter(pk=fact.pk).update(value="done again") > 0  # not waited for
    assert {*Fact.objects.values_list("value", flat=True)} == {"done again"}


@pytest.mark.django_db(transaction=True)
def test_a_write_that_fails_is_an_error_of_the_orm_at_the_end_and_takes_the_others_with_it(alice: User) -> None:
    done = []

    def write() -> None:
        with transaction.atomic(), write_together():
            User.objects.filter(pk=alice.pk).update(preferred_name="Alicia")
            Fact.objects.bulk_create([Fact(user=alice, statement="One.", pk=1)], ignore_conflicts=True)
            Fact.objects.filter(pk=1).update(user_id=None)
            done.append("not waited for")

    with pytest.raises(IntegrityError):
        write()
    assert done
    assert not Fact.objects.exists()
    alice.refresh_from_db()
    assert alice.preferred_name != "Alicia"


def test_new_rows_are_stored_as_the_orm_stores_them(alice: User) -> None:
    def new(statement: str) -> Fact:
        return Fact(user=alice, statement=statement, tags=["it's", 'a "tag" %s'], vector=[0.5] * 384)

    started = timezone.now()
    PreparedInsert(Fact)([new("one %s"), new("two")])
    Fact.objects.bulk_create([new("one %s"), new("two")])
    stored = [vars(fact) for fact in Fact.objects.order_by("pk")]
    for row in stored:
        row["vector"] = list(row["vector"])
        assert row.pop("recorded_at") >= started
        del row["_state"], row["id"]
    assert stored[:2] == stored[2:]


def test_a_changed_row_is_stored_as_the_orm_stores_it(alice: User, bob: User) -> None:
    rows = [Conversation.objects.create(user=alice, title=title) for title in ("one", "two", "other")]
    for row in rows[:2]:
        row.title, row.task, row.ended_at, row.next_seq = "100% $1 it's", {"goal": "a %s"}, timezone.now(), 7
        row.user, row.librarian_watermark = bob, 5
    PreparedUpdate(Conversation, "title", "task", "ended_at", "next_seq", "role")(rows[0])
    rows[1].save(update_fields=["title", "task", "ended_at", "next_seq", "role"])
    first, second, other = Conversation.objects.order_by("started_at")
    assert (first.title, first.task, first.ended_at, first.next_seq) == (
        "100% $1 it's",
        {"goal": "a %s"},
        rows[0].ended_at,
        7,
    )
    assert (first.user, first.role, first.librarian_watermark) == (alice, None, 0), "other columns are left as they are"
    assert (second.title, second.task, second.user) == (first.title, first.task, alice)
    assert other.title == "other"


def test_a_new_row_that_is_there_already_is_left_as_it_is(alice: User) -> None:
    conversation = Conversation.objects.create(user=alice, title="first")
    again = Conversation(pk=conversation.pk, user=alice, title="second")
    with pytest.raises(IntegrityError), transaction.atomic():
        PreparedInsert(Conversation)([again])
    PreparedInsert(Conversation, "DO NOTHING")([again])
    PreparedInsert(Conversation)([])
    assert Conversation.objects.get().title == "first"
    PreparedInsert(Conversation, "(id) DO UPDATE SET title = EXCLUDED.title")([again])
    assert Conversation.objects.get().title == "second"
    again.save()  # it knows that it is stored


def test_a_connection_keeps_no_text_with_values_in_it(alice: User) -> None:
    for _ in range(6):
        Fact.objects.create(user=alice, statement="Mary lives in Lisbon.")
        with transaction.atomic(), write_together():
            Fact.objects.filter(user=alice).update(tags=["Lisbon"])
        PreparedUpdate(User, "preferred_name")(alice)
    known = connection.connection._prepared
    assert not [text for text, _ in (*known._counts, *known._names) if b"Lisbon" in text]
    assert [text for text, _ in known._names if text.startswith(b'UPDATE "accounts_user"')]
    assert by_user(alice).count() == 6
