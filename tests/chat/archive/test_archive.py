"""Everything is exported as one file, imported elsewhere, and exported from there unchanged."""

import io
import json
import re
import tracemalloc
import zipfile
from secrets import token_hex
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.search import SearchVector
from django.db.models import F, JSONField, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.deletion import delete_account
from accounts.models import User
from budget.models import Limit, Receipt
from chat.archive import restore, safe_zip
from chat.archive.export import stream_archive
from chat.archive.id_map import IdMap, reference_columns
from chat.archive.restore import restore_archive
from chat.archive.safe_zip import NotImportedError
from chat.archive.tables import BY_LABEL, LEFT_OUT, TABLES, USER_COLUMNS, USER_LEFT_OUT, Table
from chat.importing import jobs
from chat.models import Conversation, Message, Role
from memory.documents.revisions import beginnings
from memory.models import Chunk, Document, Fact, ReviewAction
from memory.review import decisions
from tests.chat.archive.whole_account import EACH, LONG_AGO, fill

pytestmark = pytest.mark.django_db
OURS = ("accounts", "memory", "budget", "chat", "mfa", "usersessions")

Rows = dict[str, list[dict[str, Any]]]


def packed(user: Any) -> bytes:
    return b"".join(stream_archive(user))


_once: list[bytes] = []


@pytest.fixture
def content(alice: Any, charlie: Any) -> bytes:
    """The archive of a whole account, of the first Alice who asks: for tests that change it before anyone reads it."""
    if not _once:
        fill(alice, charlie)
        _once.append(packed(alice))
    return _once[0]


def rows(content: bytes) -> Rows:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {
            table.label: [json.loads(line) for line in file.read(f"data/{table.label}.jsonl").splitlines()]
            for table in TABLES
        }


def repacked(content: bytes, **changed: Any) -> bytes:
    """The archive with some of its files changed; `None` leaves one out."""
    return packed_by(zipfile.ZIP_STORED, content, changed)


def packed_by(method: int, content: bytes, changed: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", method) as new:
        for name in old.namelist():
            key = name.replace("/", "_").replace(".", "_")
            text = changed.get(key, old.read(name))
            if text is not None:
                new.writestr(name, text)
    return out.getvalue()


def by_place(told: Rows) -> Rows:
    """The rows with every number replaced by its row's position: this is equal in two archives of the same account."""
    numbers = IdMap(
        {label: {row["id"]: place for place, row in enumerate(found)} for label, found in told.items()},
        {row["id"]: f"00000000-0000-0000-0000-{place:012}" for place, row in enumerate(told["chat.conversation"])},
    )
    return {label: [_placed(BY_LABEL[label], row, numbers) for row in found] for label, found in told.items()}


def _placed(table: Table, row: dict[str, Any], numbers: IdMap) -> dict[str, Any]:
    own: dict[str, Any] = json.loads(numbers.rename_conversations(json.dumps(row)))
    pointing = {**reference_columns(table.model), "id": table.label}
    pointed = {name: numbers.new_id(label, own[name]) for name, label in pointing.items() if type(own[name]) is int}
    related = {
        many.name: [numbers.new_id(many.related_model._meta.label_lower, one) for one in own[many.name]]
        for many in table.model._meta.many_to_many
    }
    return numbers.renumber_row(table, own | pointed | related)


def brought(user: Any, content: bytes) -> dict[str, int]:
    return restore_archive(user, io.BytesIO(content))


# What is in it ---------------------------------------------------------------------------------------------------


def test_every_model_of_recalls_is_in_the_archive_or_left_out_for_a_reason() -> None:
    models = {model for name in OURS for model in apps.get_app_config(name).get_models()} - {User}
    assert models == {table.model for table in TABLES} | LEFT_OUT.keys()
    assert all(LEFT_OUT.values())


def test_every_column_of_the_person_is_told_or_left_out_for_a_reason() -> None:
    assert {column.name for column in User._meta.concrete_fields} == USER_COLUMNS.keys() | USER_LEFT_OUT.keys()
    assert not USER_COLUMNS.keys() & USER_LEFT_OUT.keys()


def test_every_column_is_written_or_left_out_for_a_reason(alice: Any, charlie: Any) -> None:
    fill(alice, charlie)
    told = rows(packed(alice))
    for table in TABLES:
        own = {column.name for column in table.model._meta.concrete_fields if not column.generated}
        assert own - told[table.label][0].keys() == {"user", *table.without}
        assert all(table.without.values())


def test_a_json_column_is_known_to_hold_references_or_none(alice: Any, charlie: Any) -> None:
    fill(alice, charlie)
    told = rows(packed(alice))
    for table in TABLES:
        kinds = {column.name: column for column in table.columns}
        others = [name for name in kinds if isinstance(kinds[name], JSONField) and name not in table.refs]
        for row in told[table.label]:
            assert not any(re.search(r"fact:\d", json.dumps(row[name])) for name in others), table.label


def test_no_secret_and_nothing_of_others_leaves(alice: Any, bob: Any, charlie: Any) -> None:
    Fact.objects.create(user=bob, statement="Bob's own")
    fill(alice, charlie)
    with zipfile.ZipFile(io.BytesIO(packed(alice))) as file:
        everything = b"".join(file.read(name) for name in file.namelist()).decode()
    assert alice.password not in everything
    assert "Bob's own" not in everything
    assert charlie.email not in everything
    assert alice.email in everything


def test_people_find_their_words_as_markdown(alice: Any, charlie: Any) -> None:
    conversation = fill(alice, charlie)
    with zipfile.ZipFile(io.BytesIO(packed(alice))) as file:
        name = f"markdown/conversations/2024-03-01-About-{EACH}-{str(conversation.pk)[:8]}.md"
        assert "## You, 2024-03-01 09:30 UTC" in file.read(name).decode()
        profile = next(one for one in file.namelist() if one.startswith("markdown/documents/profile/identity"))
        assert "^fact" not in file.read(profile).decode()
        assert f"- Biography: The user's {EACH} lives in the north of Porto" in file.read("markdown/facts.md").decode()
        assert "README.md" in file.namelist()


# There and back --------------------------------------------------------------------------------------------------


def test_an_archive_comes_in_and_leaves_again_the_same(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    first = packed(alice)
    for table in TABLES:
        assert rows(first)[table.label], f"no row of {table.label} is in the test"
    brought(bob, first)
    one, other = by_place(rows(first)), by_place(rows(packed(bob)))
    for table in TABLES:
        if not table.is_export_only:
            assert other[table.label] == one[table.label]


def test_it_comes_in_on_a_server_where_the_first_account_is_gone(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    first = packed(alice)
    delete_account(alice)
    brought(bob, first)
    assert by_place(rows(packed(bob)))["memory.fact"] == by_place(rows(first))["memory.fact"]


def test_what_names_another_row_names_the_new_one(alice: Any, bob: Any, charlie: Any) -> None:
    old = fill(alice, charlie)
    brought(bob, packed(alice))
    conversation = Conversation.objects.for_user(bob).get()
    fact = Fact.objects.for_user(bob).get(status="active")
    receipt = Receipt.objects.for_user(bob).get()
    assert receipt.items[0]["ref"] == fact.ref
    assert receipt.items[0]["url"] == f"/m/{receipt.message_id}"
    assert receipt.message.user_id == bob.pk
    assert f"^fact-{fact.pk}" in Document.objects.for_user(bob).get(path="/profile/identity").text
    assert Document.objects.for_user(bob).filter(path=f"/artifacts/{conversation.pk}/web_search 1").exists()
    assert str(old.pk) not in json.dumps(list(Message.objects.for_user(bob).values_list("event_data", flat=True)))
    asked = Message.objects.for_user(bob).get(seq=5)
    assert asked.text == "What is fact:1, /m/1 and ^fact-x?", "words are words"


def test_times_are_kept_and_what_was_under_way_is_settled(alice: Any, bob: Any, charlie: Any) -> None:
    changed = {
        "preferred_name": "Rui",
        "time_zone": "Asia/Tokyo",
        "language": "portuguese",
        "relationship_stage": "TRUSTED",
    }
    User.objects.filter(pk=alice.pk).update(date_joined=LONG_AGO, **changed)
    alice.refresh_from_db()
    fill(alice, charlie)
    brought(bob, packed(alice))
    bob.refresh_from_db()
    assert ({name: getattr(bob, name) for name in changed}, bob.date_joined) == (changed, LONG_AGO)
    said = SearchVector("statement", config="portuguese")
    rows = Fact.objects.for_user(bob).annotate(here=Cast("search", TextField()), portuguese=Cast(said, TextField()))
    assert rows.exists()
    assert not rows.exclude(here=F("portuguese")).exists(), (
        "words are made where they arrive, in the language they bring"
    )
    assert Document.objects.for_user(bob).get(path="/profile/identity").changed_at == LONG_AGO
    assert Message.objects.for_user(bob).get(seq=6).status == "interrupted"
    run = Conversation.objects.for_user(bob).get().librarian_runs.get()
    assert (run.state, run.claim) == ("pending", None)


def test_a_decision_that_came_in_can_still_be_undone(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    brought(bob, packed(alice))
    action = ReviewAction.objects.for_user(bob).get(verb="edit")
    assert action.by == bob
    decisions.undo(action)
    facts = Fact.objects.for_user(bob)
    assert facts.get(value="Lisbon").status == "active"
    assert facts.get(value="Porto").statement == f"The user's {EACH} lives in Porto"
    assert facts.get(value="Porto").embedded_by == "", "its vector is made anew"


def test_what_came_in_is_found_by_its_words_at_once_and_by_meaning_soon(alice: Any, bob: Any, charlie: Any) -> None:
    from memory.index.indexer import embed_pending
    from memory.retrieval.recall import retrieve

    fill(alice, charlie)
    brought(bob, packed(alice))
    assert not Chunk.objects.for_user(bob).filter(search=None).exists()
    words = [list(Chunk.objects.for_user(who).order_by("pk").values_list("search", flat=True)) for who in (alice, bob)]
    assert words[0] == words[1]
    assert retrieve(bob, f"Where does my {EACH} live?", now=timezone.now()).kept
    while embed_pending():
        pass
    assert not Fact.objects.for_user(bob).filter(vector=None).exists()


def test_an_empty_account_may_have_been_looked_at(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    beginnings(bob)
    Limit.objects.create(user=bob, what="money", per="day", amount=9, set_by_staff=True)
    brought(bob, packed(alice))
    assert Limit.objects.for_user(bob).filter(set_by_staff=True).get().amount == 9
    assert Limit.objects.for_user(bob).count() == 2


def test_it_comes_in_by_the_job_of_an_import(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    content = packed(alice)
    job = jobs.accept(bob, "recall.zip", len(content), [content])
    jobs.run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, job.origin, job.error) == ("done", "recall", "")
    assert job.counts["memory.fact"] == 3
    assert Fact.objects.for_user(bob).count() == 3


# What does not come in -------------------------------------------------------------------------------------------


def refused(user: Any, content: bytes) -> str:
    before = {table.label: table.model._default_manager.filter(user=user).count() for table in TABLES}
    with pytest.raises(NotImportedError) as error:
        brought(user, content)
    assert before == {table.label: table.model._default_manager.filter(user=user).count() for table in TABLES}
    return str(error.value)


def test_an_account_that_has_something_says_what(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    Fact.objects.create(user=bob, statement="Here first")
    assert "This account isn't empty: it has 1 fact. An archive" in refused(bob, packed(alice))


def test_all_that_stands_in_the_way_is_said_at_once(alice: Any, bob: Any, charlie: Any) -> None:
    fill(alice, charlie)
    Fact.objects.bulk_create(Fact(user=bob, statement=words) for words in ("Here first", "Here second"))
    Role.objects.create(user=bob, name="Teacher")
    assert "it has 1 role and 2 facts. An archive" in refused(bob, packed(alice))
    Conversation.objects.create(user=bob)
    assert "it has 1 role, 1 conversation and 2 facts. An archive" in refused(bob, packed(alice))


def test_a_job_that_is_refused_leaves_the_account_as_it_was(alice: Any, charlie: Any) -> None:
    fill(alice, charlie)
    content = packed(alice)
    job = jobs.accept(alice, "recall.zip", len(content), [content])
    jobs.run_import(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "isn't empty" in job.error
    assert Conversation.objects.for_user(alice).count() == 1


def test_a_torn_archive_says_which_table_is_torn(content: bytes, bob: Any) -> None:
    torn = repacked(content, data_memory_fact_jsonl=b"")
    assert refused(bob, torn) == "This archive is incomplete: memory.fact should have 3 rows and has 0."


def test_an_archive_with_more_rows_than_it_says_is_read_no_further(
    content: bytes, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = b'{"id": 1}\n' * 100_000
    read: list[Any] = []
    understood = restore._parse_object

    def counted(text: str | bytes) -> Any:
        read.append(text)
        return understood(text)

    monkeypatch.setattr(restore, "_parse_object", counted)

    sentence = refused(bob, repacked(content, data_memory_fact_jsonl=more))

    assert sentence == "This archive is incomplete: memory.fact should have 3 rows and has more."
    assert len(read) < 1_000


def test_rows_that_the_manifest_does_not_tell_of_are_not_read(alice: Any, bob: Any) -> None:
    told = json.dumps({"format": "recall-archive", "version": 1, "rows": {}})
    sentence = refused(bob, repacked(packed(alice), recall_json=told, data_memory_fact_jsonl=b'{"id": 1}'))
    assert sentence == "This archive is incomplete: memory.fact should have 0 rows and has more."


@pytest.mark.parametrize("member", ["recall.json", "person.json"])
def test_what_is_read_as_a_whole_has_a_limit(member: str, alice: Any, bob: Any) -> None:
    padded = b"{}" + b" " * restore.MAX_SMALL_BYTES
    sentence = refused(bob, repacked(packed(alice), **{member.replace(".", "_"): padded}))
    assert sentence == f"This archive can't be imported: {member} has more than 1 MB."


def test_a_row_has_a_limit_and_one_with_a_file_a_higher_one(
    alice: Any, bob: Any, charlie: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {label for label in BY_LABEL if restore._max_row_bytes(BY_LABEL[label]) != restore.MAX_ROW_BYTES} == {
        "chat.attachment"
    }
    fill(alice, charlie)
    monkeypatch.setattr(restore, "MAX_ROW_BYTES", safe_zip.MEGABYTE)
    content = packed(alice)
    long = [row | {"more": "x" * safe_zip.MEGABYTE} for row in rows(content)["memory.fact"]]
    sentence = refused(bob, repacked(content, data_memory_fact_jsonl="\n".join(map(json.dumps, long))))
    assert sentence == "This archive can't be imported: row 1 of memory.fact has more than 1 MB."


def test_few_long_rows_are_in_memory_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "MAX_ROW_BYTES", 10)
    lines = [b"1234\n", b"1234\n", b"1\n", b"12345678901234\n", b"1\n", b"2\n", b"3\n"]
    assert list(restore._batch_lines(lines, 2)) == [lines[:2], lines[2:3], lines[3:4], lines[4:6], lines[6:]]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["recall_json", "person_json", "data_memory_fact_jsonl"])
def test_an_archive_that_is_a_bomb_is_refused_without_being_unpacked(
    method: int, name: str, content: bytes, bob: Any
) -> None:
    bomb = packed_by(method, content, {name: b"{" + b" " * 40_000_000 + b"}"})
    assert len(bomb) < 1_000_000
    tracemalloc.start()
    try:
        assert refused(bob, bomb) in (safe_zip.ZIP_BOMB, safe_zip.UNSUPPORTED_METHOD)
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()


def test_tables_together_are_unpacked_no_further_than_any_export(
    alice: Any, bob: Any, charlie: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(alice, charlie)
    content = packed(alice)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        table_bytes = [one.file_size for one in file.infolist() if not one.filename.startswith("markdown/")]
    monkeypatch.setattr(safe_zip, "MAX_UNPACKED_BYTES", max(table_bytes) + 1)
    assert refused(bob, content) == safe_zip.ZIP_BOMB
    monkeypatch.setattr(safe_zip, "MAX_UNPACKED_BYTES", sum(table_bytes))
    assert brought(bob, content), "a table that is read twice counts once"


@pytest.mark.parametrize("name", ["x" * 100, 10**30, [1], None, True])
def test_a_row_whose_name_is_none_is_refused(name: Any, content: bytes, bob: Any) -> None:
    for label in ("memory.fact", "chat.conversation"):
        lines = "\n".join(json.dumps(row | {"id": name}) for row in rows(content)[label])
        changed = repacked(content, **{f"data_{label.replace('.', '_')}_jsonl": lines})
        assert refused(bob, changed) == restore.NO_ARCHIVE


def test_a_newer_format_is_refused(alice: Any, bob: Any) -> None:
    newer = repacked(packed(alice), recall_json=json.dumps({"format": "recall-archive", "version": 99}))
    assert "newer Recall" in refused(bob, newer)


@pytest.mark.parametrize(
    ("label", "change"),
    [
        ("memory.fact", {"status": "royal"}),
        ("memory.fact", {"statement": 12}),
        ("memory.fact", {"confidence": 7}),
        ("memory.fact", {"recorded_at": "yesterday"}),
        ("chat.message", {"conversation": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}),
        ("chat.message", {"role": None}),
        ("memory.document", {"path": "no path"}),
        ("memory.factlink", {"to_fact": 10**9}),
        ("chat.message", {"seq": 1}),
    ],
)
def test_an_archive_that_was_changed_is_refused_in_one_sentence(
    label: str, change: dict[str, Any], content: bytes, bob: Any
) -> None:
    lines = "\n".join(json.dumps(row | change) for row in rows(content)[label])
    sentence = refused(bob, repacked(content, **{f"data_{label.replace('.', '_')}_jsonl": lines}))
    assert sentence.startswith("This archive")
    assert sentence.endswith(".")


def test_an_archive_cannot_point_at_what_is_anothers(alice: Any, bob: Any, charlie: Any) -> None:
    theirs = Fact.objects.create(user=charlie, statement="Charlie's")
    mine = Conversation.objects.create(user=charlie, title="Charlie's")
    fill(alice, charlie)
    content = packed(alice)
    changed = [
        row | {"superseded_by": theirs.pk, "user": charlie.pk, "id": 500 + row["id"]}
        for row in rows(content)["memory.fact"]
    ]
    talk = [row | {"id": str(mine.pk)} for row in rows(content)["chat.conversation"]]
    links = repacked(
        content,
        data_memory_fact_jsonl="\n".join(map(json.dumps, changed)),
        data_chat_conversation_jsonl="\n".join(map(json.dumps, talk)),
    )
    refused(bob, links)
    assert Conversation.objects.get(pk=mine.pk).user == charlie


def test_the_archive_is_written_few_rows_at_a_time(alice: Any, django_assert_max_num_queries: Any) -> None:
    conversation = Conversation.objects.create(user=alice)
    Message.objects.bulk_create(
        Message(
            user=alice, conversation=conversation, seq=seq, turn=seq, role="user", event_type="user_message",
            text=token_hex(500),
        )
        for seq in range(1, 2_001)
    )  # fmt: skip
    with django_assert_max_num_queries(120):
        pieces = list(stream_archive(alice))
    assert len(pieces) > 3
    assert max(map(len, pieces)) < 1_000_000
