"""A deleted account leaves no row: every column of every table is searched for the user's id, address and words."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse
from psycopg import sql

from accounts.deletion import count_owned_rows, delete_account, owned
from accounts.models import User
from chat.models import Conversation, ImportJob, Message
from memory.models import Fact
from tests.chat.archive.whole_account import EACH, fill
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
SEARCHED = ("text", "character varying", "jsonb", "json", "tsvector", "ARRAY", "USER-DEFINED", "bytea", "inet")


def columns() -> Iterator[tuple[str, str, str, str]]:
    """Schema, table, column and type of everything stored, the queue's tables included."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema IN ('public', 'pgmq') AND table_type = 'BASE TABLE'"
        )
        yield from cursor.fetchall()


def pointing_at_users() -> list[tuple[str, str]]:
    """Table and column of every foreign key to users, from PostgreSQL's own catalog."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, attname FROM pg_constraint"
            " JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]"
            " WHERE contype = 'f' AND confrelid = 'accounts_user'::regclass"
        )
        return list(cursor.fetchall())


def found(word: str) -> list[str]:
    """Where the word occurs."""
    places = []
    for schema, table, column, kind in columns():
        if kind in SEARCHED:
            named = sql.Identifier(column)
            text = (
                sql.SQL("encode({}, 'escape')").format(named) if kind == "bytea" else sql.SQL("{}::text").format(named)
            )
            query = sql.SQL("SELECT count(*) FROM {} WHERE position({} in lower({})) > 0").format(
                sql.Identifier(schema, table), sql.Literal(word.lower()), text
            )
            with connection.cursor() as cursor:
                cursor.execute(query)
                (count,) = cursor.fetchone() or (0,)
            places += [f"{schema}.{table}.{column}"] * bool(count)
    return places


def rows_of(user_id: int) -> dict[str, int]:
    """Rows that reference the user, by column."""
    told: dict[str, int] = {}
    for table, column in pointing_at_users():
        with connection.cursor() as cursor:
            cursor.execute(
                sql.SQL("SELECT count(*) FROM {} WHERE {} = %s").format(sql.SQL(table), sql.Identifier(column)),
                [user_id],
            )
            (count,) = cursor.fetchone() or (0,)
        told |= {f"{table}.{column}": count} if count else {}
    return told


@pytest.fixture
def everything(alice: Any, charlie: Any, client: Client) -> Any:
    """Everything Alice has, and the traces of her elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")  # the queue is the application login's own
        cursor.execute("SELECT pgmq.create('recall')")
        cursor.execute("SELECT pgmq.send('recall', %s::jsonb)", [json.dumps({"args": [7], "user": "nobody"})])
        cursor.execute("SET ROLE recall_system")
    fill(alice, charlie)
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True)
    Authenticator.objects.create(user=alice, type="webauthn", data={"name": f"Phone of {EACH}"})
    UserSession.objects.create(user=alice, ip="192.0.2.1", session_key="zz", user_agent=EACH)
    client.login(email=alice.email, password=PASSWORD)
    fact: Any = Fact.objects.for_user(alice).first()
    for row in (alice, fact):
        LogEntry.objects.create(
            user=charlie, content_type=ContentType.objects.get_for_model(row), object_id=row.pk, object_repr=str(row),
            action_flag=CHANGE,
        )  # fmt: skip
    LogEntry.objects.create(user=alice, object_repr="x", action_flag=CHANGE)
    return alice


def test_nothing_of_the_person_is_left_in_any_column_of_any_table(everything: User) -> None:
    pk, email = everything.pk, everything.email
    assert len(found(EACH)) > 15, "the test looks where the words are"
    assert len(found(email)) >= 3
    assert len(rows_of(pk)) > 20
    delete_account(everything)
    assert found(EACH) == []
    assert found(email) == []
    assert rows_of(pk) == {}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_others_keep_all_that_is_theirs(everything: User, bob: User, charlie: User, client: Client) -> None:
    fill(bob, charlie)
    before = {model: model._default_manager.filter(user=bob).count() for model in owned()}
    delete_account(everything)
    assert {model: model._default_manager.filter(user=bob).count() for model in owned()} == before
    assert User.objects.filter(pk__in=[bob.pk, charlie.pk]).count() == 2


def test_what_staff_decided_for_others_stays_without_their_name(alice: Any, charlie: Any) -> None:
    from memory.review import decisions

    fact = Fact.objects.create(user=alice, statement="Alice's own")
    action = decisions.accept(fact, by=charlie)
    delete_account(charlie)
    action.refresh_from_db()
    assert (action.by, action.fact.status) == (None, "active")


def test_the_page_says_what_goes_and_offers_the_export_first(everything: User, client: Client) -> None:
    page = client.get(reverse("delete_account")).content.decode()
    assert reverse("export") in page
    assert page.index("Server backups") < page.index("Delete account permanently")
    for name, count in count_owned_rows(everything):
        assert f'<strong class="number">{count}</strong> {name}' in page


def test_a_wrong_password_deletes_nothing(everything: User, client: Client) -> None:
    for typed in ("", "wrong", everything.email):
        response = client.post(reverse("delete_account"), {"password": typed})
        assert response.status_code == 422
    assert User.objects.filter(pk=everything.pk).exists()
    assert Conversation.objects.for_user(everything).exists()


def test_the_right_one_deletes_signs_out_everywhere_and_says_so(everything: User, client: Client) -> None:
    elsewhere = Client()
    elsewhere.login(email=everything.email, password=PASSWORD)
    response = client.post(reverse("delete_account"), {"password": PASSWORD}, follow=True)
    assert response.redirect_chain[-1][0] == reverse("account_deleted")
    assert "Account deleted" in response.content.decode()
    assert not Session.objects.exists()
    assert elsewhere.get("/memory/about").status_code == client.get("/memory/about").status_code == 302
    assert not User.objects.filter(pk=everything.pk).exists()


def test_a_form_sent_twice_deletes_once(alice: User) -> None:
    again = User.objects.get(pk=alice.pk)
    delete_account(alice)
    delete_account(again)
    assert not User.objects.filter(pk=again.pk).exists()


def test_guessing_the_password_is_limited(everything: User, client: Client) -> None:
    codes = [client.post(reverse("delete_account"), {"password": str(guess)}).status_code for guess in range(15)]
    assert codes[-1] == 429


def test_somebody_without_a_password_types_their_address(alice: Any, sign_in: Any) -> None:
    alice.set_unusable_password()
    alice.save()
    client = sign_in(alice)
    assert client.post(reverse("delete_account"), {"password": "not@mine.example"}).status_code == 422
    assert client.post(reverse("delete_account"), {"password": alice.email.upper()}).status_code == 302
    assert not User.objects.filter(pk=alice.pk).exists()


def test_staff_who_delete_somebody_leave_as_little(everything: User, charlie: User, client: Client) -> None:
    pk, email = everything.pk, everything.email
    User.objects.filter(pk=charlie.pk).update(is_superuser=True)
    client.force_login(charlie)
    address = reverse("admin:accounts_user_delete", args=[pk])
    assert EACH not in client.get(address).content.decode(), "nobody is shown what is to go"
    client.post(address, {"post": "yes"})
    assert not User.objects.filter(pk=pk).exists()
    assert email not in json.dumps([one.get_decoded() for one in Session.objects.all()])
    assert found(EACH) == found(email) == []
    assert rows_of(pk) == {}


def test_several_are_deleted_in_the_admin_in_the_same_way(everything: User, charlie: User, client: Client) -> None:
    pk = everything.pk
    User.objects.filter(pk=charlie.pk).update(is_superuser=True)
    client.force_login(charlie)
    client.post(
        reverse("admin:accounts_user_changelist"),
        {"action": "delete_selected", "_selected_action": [pk], "post": "yes"},
    )
    assert rows_of(pk) == {}
    assert found(EACH) == []


def test_a_job_that_is_running_finds_nothing_to_write_to(everything: User) -> None:
    from chat.importing import jobs
    from memory.librarian import run as librarian

    content = b'[{"mapping": {}, "title": "x"}]'
    job = jobs.accept(everything, "c.json", len(content), [content])
    claimed = jobs.IMPORTS.claim(job.pk)
    run = Conversation.objects.for_user(everything).get().librarian_runs.get()
    delete_account(everything)
    assert claimed is not None
    assert not jobs._import_entry(claimed, content)
    librarian.run_extraction(run.pk)
    assert not ImportJob.objects.exists()


def test_an_answer_that_is_being_written_is_told_to_stop(everything: User, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr("chat.turns.remote.publish_stop", told.append)
    conversation = Conversation.objects.for_user(everything).get()
    assert Message.objects.streaming().filter(conversation=conversation).exists()
    delete_account(everything)
    assert told == [conversation.pk]


def test_every_table_that_points_to_a_person_is_known(db: None) -> None:
    tables = {model._meta.db_table for model in owned()}
    others = {table for table, _ in pointing_at_users()} - tables
    assert others == {
        "accounts_user_groups", "accounts_user_user_permissions", "account_emailaddress", "django_admin_log",
        "mfa_authenticator", "usersessions_usersession",
    }  # fmt: skip
