"""A folder and its documents stay in sync, and what a user changed in Recall is never lost."""

import io
import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import User
from memory.documents import folder_sync, revisions, tree
from memory.documents.folder_sync import What, sync_files, sync_folder
from memory.documents.readers import isolated
from memory.models import Document, Revision

NOTES = {"roses.md": "Water them.", "deep/São João.md": "The 24th of June.", "people.csv": "Name,City\nAna,Porto\n"}
AT = "/reference/notes"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def texts(user: User) -> dict[str, str]:
    return {document.path.removeprefix(f"{AT}/"): document.text for document in Document.objects.for_user(user)}


def whats(report: folder_sync.Report) -> dict[str, str]:
    return {outcome.path.removeprefix(f"{AT}/"): outcome.what.value for outcome in report.outcomes}


# Following -------------------------------------------------------------------------------------------------------


def test_a_folder_becomes_documents_that_know_where_they_came_from(alice: User, notes: Path) -> None:
    report = sync_folder(alice, notes)

    assert report.counts == {What.NEW: 3}
    assert texts(alice) == {
        "roses.md": "Water them.",
        "deep/São João.md": "The 24th of June.",
        "people.csv": "- Name: Ana; City: Porto",
    }
    roses = Document.objects.get(path=f"{AT}/roses.md")
    assert (roses.title, roses.source) == ("roses", Document.Source.SYNC)
    assert roses.external_id == f"{folder_sync.origin_of(notes)}:roses.md"
    assert len(roses.content_hash) == 64
    assert [revision.author for revision in roses.revisions.all()] == [Revision.Author.SYNC]


def test_a_second_run_changes_nothing(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)

    report = sync_folder(alice, notes)

    assert report.counts == {What.UNCHANGED: 3}
    assert Revision.objects.count() == 3


def test_a_changed_file_is_a_revision(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    (notes / "roses.md").write_text("Never water them.")

    report = sync_folder(alice, notes)

    assert whats(report)["roses.md"] == "changed"
    roses = Document.objects.get(path=f"{AT}/roses.md")
    assert [(revision.number, revision.author, revision.text) for revision in roses.revisions.all()] == [
        (2, "sync", "Never water them."),
        (1, "sync", "Water them."),
    ]


def test_a_vanished_file_takes_its_document_along_and_no_other(alice: User, bob: User, notes: Path) -> None:
    sync_folder(alice, notes)
    sync_folder(bob, notes)
    sync_files(alice, [("1", "other.md", b"other")], origin="elsewhere", at=AT)
    revisions.save(alice, f"{AT}/mine.md", "mine", started_from=0)
    (notes / "roses.md").unlink()

    report = sync_folder(alice, notes)

    assert whats(report)["roses.md"] == "removed"
    assert set(texts(alice)) == {"deep/São João.md", "people.csv", "other.md", "mine.md"}
    assert "roses.md" in texts(bob)


def test_a_file_that_cannot_be_read_any_more_keeps_its_document(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    (notes / "roses.md").write_bytes(b"\x89PNG\r\n")

    report = sync_folder(alice, notes)

    assert whats(report)["roses.md"] == "skipped"
    assert texts(alice)["roses.md"] == "Water them."


def test_an_empty_folder_deletes_nothing(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    for file in list(notes.rglob("*.*")):
        file.unlink()

    with pytest.raises(folder_sync.SyncRefusedError, match="nothing was deleted"):
        sync_folder(alice, notes)
    assert len(texts(alice)) == 3


def test_a_dry_run_says_all_and_does_nothing(alice: User, notes: Path) -> None:
    assert sync_folder(alice, notes, dry_run=True).counts == {What.NEW: 3}
    assert texts(alice) == {}

    sync_folder(alice, notes)
    (notes / "roses.md").unlink()
    (notes / "people.csv").write_text("Name,City\nRui,Faro\n")

    would = sync_folder(alice, notes, dry_run=True)

    assert would.counts == {What.REMOVED: 1, What.CHANGED: 1, What.UNCHANGED: 1}
    assert texts(alice)["roses.md"] == "Water them."
    assert whats(sync_folder(alice, notes)) == whats(would)


def test_two_folders_do_not_touch_each_others_documents(alice: User, tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place / "notes").mkdir(parents=True)
        (tmp_path / place / "notes" / f"{place}.md").write_text(place)
        sync_folder(alice, tmp_path / place / "notes")

    assert sync_folder(alice, tmp_path / "one" / "notes").counts == {What.UNCHANGED: 1}
    assert set(texts(alice)) == {"one.md", "two.md"}


def test_a_run_that_broke_off_is_run_again(alice: User) -> None:
    def files() -> object:
        yield "1", "a.md", b"a"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        sync_files(alice, files(), origin="api", at=AT)  # type: ignore[arg-type]
    assert set(texts(alice)) == {"a.md"}

    sync_files(alice, [("1", "a.md", b"a"), ("2", "b.md", b"b")], origin="api", at=AT)
    assert set(texts(alice)) == {"a.md", "b.md"}


def test_a_file_given_twice_counts_once(alice: User) -> None:
    report = sync_files(alice, [("1", "a.md", b"a"), ("1", "a.md", b"b")], origin="api", at=AT)

    assert report.counts == {What.NEW: 1}
    assert texts(alice) == {"a.md": "a"}


def test_a_source_may_send_what_is_new_only(alice: User) -> None:
    sync_files(alice, [("1", "a.md", b"a")], origin="api", at=AT)
    sync_files(alice, [("2", "b.md", b"b")], origin="api", at=AT, follow_deletions=False)

    assert set(texts(alice)) == {"a.md", "b.md"}


def test_a_long_name_at_the_source_is_still_known(alice: User) -> None:
    files = [("x" * 5_000, "a.md", b"a")]

    sync_files(alice, files, origin="api", at=AT)

    assert sync_files(alice, files, origin="api", at=AT).counts == {What.UNCHANGED: 1}


# What the person did meanwhile -----------------------------------------------------------------------------------


def test_what_was_changed_in_recall_is_kept_and_told(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    revisions.save(alice, f"{AT}/roses.md", "My own words.", started_from=1)
    assert sync_folder(alice, notes).counts == {What.UNCHANGED: 3}

    (notes / "roses.md").write_text("Never water them.")
    report = sync_folder(alice, notes)

    kept = next(outcome for outcome in report.outcomes if outcome.what == What.KEPT)
    assert (kept.path, kept.reason) == (
        f"{AT}/roses.md",
        "you changed it in Recall, and the file has changed too",
    )
    assert texts(alice)["roses.md"] == "My own words."


def test_going_back_to_the_files_text_lets_it_follow_again(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    document = revisions.save(alice, f"{AT}/roses.md", "My own words.", started_from=1)
    revisions.revert(document, 1, started_from=2)
    (notes / "roses.md").write_text("Never water them.")

    sync_folder(alice, notes)

    assert texts(alice)["roses.md"] == "Never water them."


def test_what_was_changed_in_recall_outlives_its_file(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    revisions.save(alice, f"{AT}/roses.md", "My own words.", started_from=1)
    (notes / "roses.md").unlink()

    report = sync_folder(alice, notes)

    assert whats(report)["roses.md"] == "kept"
    document = Document.objects.get(path=f"{AT}/roses.md")
    assert (document.text, document.source, document.external_id) == ("My own words.", "user", "")
    assert sync_folder(alice, notes).counts == {What.UNCHANGED: 2}


def test_a_document_of_ones_own_is_not_written_over(alice: User, notes: Path) -> None:
    revisions.save(alice, f"{AT}/roses.md", "My own words.", started_from=0)

    report = sync_folder(alice, notes)

    assert whats(report)["roses.md"] == "skipped"
    assert texts(alice)["roses.md"] == "My own words."


def test_a_document_that_was_moved_follows_its_file_where_it_is(alice: User, notes: Path) -> None:
    sync_folder(alice, notes)
    tree.move(alice, f"{AT}/roses.md", "/garden/roses")
    (notes / "roses.md").write_text("Never water them.")

    sync_folder(alice, notes)

    assert Document.objects.get(path="/garden/roses").text == "Never water them."
    assert f"{AT}/roses.md" not in texts(alice)


# The folder ------------------------------------------------------------------------------------------------------


def test_links_out_of_the_folder_are_not_followed(alice: User, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.md").write_text("secret")
    (notes / "out.md").symlink_to(tmp_path / "secret.md")
    (notes / "out").symlink_to(tmp_path / "elsewhere")
    (notes / "loop").symlink_to(notes)
    (notes / "in.md").symlink_to(notes / "roses.md")

    report = sync_folder(alice, notes)

    assert whats(report)["out.md"] == "skipped"
    assert "secret" not in texts(alice).values()
    assert set(texts(alice)) == {*NOTES, "in.md"}


def test_hidden_files_pipes_and_empty_files_are_left_out(alice: User, notes: Path) -> None:
    (notes / ".hidden.md").write_text("hidden")
    (notes / ".git").mkdir()
    (notes / ".git" / "config.md").write_text("hidden")
    (notes / "empty.md").write_text("")
    os.mkfifo(notes / "pipe.md")

    sync_folder(alice, notes)

    assert set(texts(alice)) == set(NOTES)


def test_a_name_that_is_no_text_is_written_as_in_addresses() -> None:
    assert folder_sync._text(os.fsdecode(b"caf\xe9 \xc3\xa9.md")) == "caf%E9 é.md"


# Reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_neither_row_nor_connection_is_held_while_a_file_is_read(
    alice: User, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []

    def read(name: str, content: bytes, *, waiting: int | None = None) -> str:
        held.append((name, connection.connection, connection.in_atomic_block, waiting))
        return content.decode()

    monkeypatch.setattr(folder_sync, "read_file", read)
    sync_folder(alice, notes)
    held.clear()
    (notes / "people.csv").write_text("Name,City\nRui,Faro\n")

    assert sync_folder(alice, notes).counts == {What.CHANGED: 1, What.UNCHANGED: 2}
    assert held == [("people.csv", None, False, alice.pk)]


def test_what_a_person_changes_while_the_file_is_read_is_kept(
    alice: User, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_folder(alice, notes)
    (notes / "people.csv").write_text("Name,City\nRui,Faro\n")

    def read(name: str, content: bytes, *, waiting: int | None = None) -> str:
        document = Document.objects.get(path=f"{AT}/people.csv")
        revisions.save(alice, document.path, "Mine", started_from=document.revisions.count())
        return content.decode()

    monkeypatch.setattr(folder_sync, "read_file", read)

    assert whats(sync_folder(alice, notes))["people.csv"] == "kept"
    assert texts(alice)["people.csv"] == "Mine"


def test_a_file_whose_turn_does_not_come_is_left_for_the_next_run(
    alice: User, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "TURN_SECONDS", 0.01)
    with isolated.turn(alice.pk):
        report = sync_folder(alice, notes)

    assert report.counts == {What.NEW: 2, What.SKIPPED: 1}
    assert [outcome.reason for outcome in report.outcomes if outcome.reason] == [isolated.BUSY]
    assert sync_folder(alice, notes).counts == {What.NEW: 1, What.UNCHANGED: 2}


# The command -----------------------------------------------------------------------------------------------------


def test_the_command_says_what_it_did(alice: User, notes: Path) -> None:
    out = io.StringIO()

    call_command("sync_folder", alice.email, str(notes), "--to", "/notes", stdout=out)

    assert "new       /notes/roses.md" in out.getvalue()
    assert "3 new, 0 changed, 0 unchanged" in out.getvalue()
    assert Document.objects.filter(path="/notes/roses.md").exists()


@pytest.mark.parametrize(
    ("email", "folder", "to", "said"),
    [
        ("nobody@example.org", ".", AT, "No user"),
        ("alice@example.org", "nowhere", AT, "There is no folder"),
        ("alice@example.org", ".", "notes", "starts with"),
    ],
)
def test_the_command_says_what_is_wrong(alice: User, email: str, folder: str, to: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("sync_folder", email, folder, "--to", to)
