"""An uploaded file becomes a document once, in the background, whatever happens to its worker."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import User
from memory.documents import artifacts, revisions, tree, uploads
from memory.documents.readers.formats import NotReadableError
from memory.index import indexer
from memory.models import Chunk, Document, Revision, Upload

NOTE = b"# Roses\n\nWater them in the morning."


def waiting(user: User, name: str = "roses.md", content: bytes = NOTE, **fields: Any) -> Upload:
    upload = uploads.accept(user, name, content, **fields)
    upload.refresh_from_db()
    return upload


def read(upload: Upload) -> Upload:
    uploads.process_upload(upload.pk)
    upload.refresh_from_db()
    return upload


# From a file to a document ---------------------------------------------------------------------------------------


def test_a_file_becomes_a_document_with_a_revision(alice: User) -> None:
    upload = waiting(alice)
    assert (upload.state, upload.media_type, upload.size) == ("waiting", "text/markdown", len(NOTE))

    read(upload)

    document = Document.objects.get()
    assert (upload.state, upload.document, upload.content, upload.error) == ("done", document, None, "")
    assert (document.path, document.title, document.source) == ("/reference/roses.md", "roses", "upload")
    assert document.text == NOTE.decode()
    assert [(revision.number, revision.author, revision.note) for revision in document.revisions.all()] == [
        (1, Revision.Author.IMPORT, "Read from roses.md")
    ]
    assert Chunk.objects.get().document == document


def test_a_file_is_queued_when_its_row_is_there(
    alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        upload = waiting(alice)

    assert ("memory.tasks.read_upload", (upload.pk,)) in queued


def test_progress_is_seen_on_the_row_until_every_passage_has_its_vector(alice: User) -> None:
    upload = waiting(alice)
    progress = uploads.recent(alice).values_list("state", "embedded", "total")
    assert progress.get() == ("waiting", 0, 0)

    read(upload)
    assert progress.get() == ("done", 0, 1)

    indexer.embed_pending()
    assert progress.get() == ("done", 1, 1)


def test_a_long_file_becomes_one_document_that_is_shown_in_parts(alice: User) -> None:
    text = "\n\n".join(f"Paragraph {number} of a long book. " * 20 for number in range(300))

    document = read(waiting(alice, "book.txt", text.encode())).document

    assert document is not None
    assert len(document.text) > revisions.MAX_TEXT
    parts = [revisions.part(document.text, number) for number in range(1, revisions.part(document.text, 1).of + 1)]
    assert "".join(part.text for part in parts) == document.text
    assert max(len(part.text) for part in parts) <= revisions.PART


def test_neither_the_file_nor_its_document_is_called_by_a_secret(alice: User) -> None:
    document = read(waiting(alice, "my password is Mw3!garden55.md")).document

    assert document is not None
    assert (document.path, document.title) == ("/reference/my password is [secret].md", "my password is [secret]")
    assert Upload.objects.get().name == "my password is [secret].md"


# Again -----------------------------------------------------------------------------------------------------------


def test_the_same_file_again_changes_nothing(alice: User) -> None:
    first = read(waiting(alice))
    second = read(waiting(alice))

    assert first.document == second.document
    assert Revision.objects.count() == 1


def test_a_newer_file_of_the_same_name_is_a_revision(alice: User) -> None:
    read(waiting(alice))
    read(waiting(alice, content=b"# Roses\n\nNever water them."))

    document = Document.objects.get()
    assert document.text.endswith("Never water them.")
    assert document.revisions.count() == 2


def test_a_document_of_ones_own_is_not_written_over(alice: User) -> None:
    revisions.save(alice, "/reference/roses.md", "My own words.", started_from=0)

    document = read(waiting(alice)).document

    assert document is not None
    assert document.path == "/reference/roses (2).md"
    assert Document.objects.get(path="/reference/roses.md").text == "My own words."


def test_a_file_that_was_moved_is_left_where_it_is(alice: User) -> None:
    read(waiting(alice))
    tree.move(alice, "/reference/roses.md", "/garden/roses.md")

    read(waiting(alice))

    assert set(Document.objects.values_list("path", flat=True)) == {"/garden/roses.md", "/reference/roses.md"}


def test_everyone_has_documents_of_their_own(alice: User, bob: User) -> None:
    read(waiting(alice))
    read(waiting(bob))

    assert Document.objects.for_user(alice).count() == Document.objects.for_user(bob).count() == 1
    assert list(uploads.recent(alice).values_list("user", flat=True)) == [alice.pk]


# What is not taken -----------------------------------------------------------------------------------------------


def test_a_file_beyond_the_limit_is_refused(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENVIRONMENT, "max_upload_mb", 1)

    with pytest.raises(uploads.UploadRefusedError, match=r"1\.5 MB\. The limit is 1 MB"):
        waiting(alice, content=b"x" * 1_500_000)
    assert not Upload.objects.exists()


REFUSED = {
    "a picture": ("a.png", b"\x89PNG\r\n", "/reference", "a picture"),
    "an empty file": ("a.md", b"", "/reference", "empty"),
    "no folder": ("a.md", b"x", "reference", "starts with"),
    "a long folder": ("a.md", b"x", "/" + "x" * 600, "too long"),
}


@pytest.mark.parametrize(("name", "content", "folder", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_at_once(alice: User, name: str, content: bytes, folder: str, said: str) -> None:
    with pytest.raises(uploads.UploadRefusedError, match=said):
        waiting(alice, name, content, folder=folder)


def test_only_so_many_files_wait(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_WAITING", 2)
    waiting(alice)
    read(waiting(alice, "b.md"))
    waiting(alice, "c.md")

    with pytest.raises(uploads.UploadRefusedError, match="already queued"):
        waiting(alice, "d.md")
    assert waiting(bob).state == "waiting"


def test_a_file_that_turns_out_unreadable_says_why_and_is_not_kept(alice: User) -> None:
    upload = read(waiting(alice, "people.json", b'{"a": '))

    assert upload.state == "failed"
    assert upload.error.startswith("This is no JSON")
    assert upload.content is None
    assert not uploads.retry_upload(upload)


# Workers that die ------------------------------------------------------------------------------------------------


def test_a_file_is_read_by_one_worker_at_a_time(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = waiting(alice)
    readers = []

    def read_twice(name: str, content: bytes) -> str:
        readers.append(name)
        uploads.process_upload(upload.pk)  # the task is delivered a second time meanwhile
        return "text"

    monkeypatch.setattr(uploads, "read_file", read_twice)
    read(upload)

    assert readers == ["roses.md"]
    assert upload.attempts == 1


def test_one_user_has_one_reader_and_the_next_file_follows(
    alice: User,
    bob: User,
    queued: list[Any],
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, other = waiting(alice, "a.md"), waiting(alice, "b.md"), waiting(bob, "c.md")
    readers = []

    def read_meanwhile(name: str, content: bytes) -> str:
        readers.append(name)
        if name == "a.md":
            uploads.process_upload(second.pk)
            uploads.process_upload(other.pk)
        return "text"

    monkeypatch.setattr(uploads, "read_file", read_meanwhile)
    with django_capture_on_commit_callbacks(execute=True):
        read(first)

    assert readers == ["a.md", "c.md"]
    assert (uploads.TASK, (second.pk,)) in queued
    assert read(second).state == "done"


def test_a_file_whose_worker_was_killed_is_taken_up_again(
    alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = waiting(alice)

    def killed(name: str, content: bytes) -> str:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(uploads, "read_file", killed)
        with pytest.raises(SystemExit):
            uploads.process_upload(upload.pk)
    queued.clear()
    assert uploads.UPLOADS.requeue_due() == 0  # it may still be working

    Upload.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    with django_capture_on_commit_callbacks(execute=True):
        assert uploads.UPLOADS.requeue_due() == 1

    assert queued == [("memory.tasks.read_upload", (upload.pk,))]
    assert read(upload).state == "done"
    assert upload.attempts == 2


def test_a_worker_that_comes_back_late_writes_nothing(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = waiting(alice)

    def slow(name: str, content: bytes) -> str:
        monkeypatch.undo()
        Upload.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        uploads.process_upload(upload.pk)  # another worker takes over and finishes
        return "what the slow one read"

    monkeypatch.setattr(uploads, "read_file", slow)
    read(upload)

    assert Document.objects.get().text == NOTE.decode()
    assert Revision.objects.count() == 1


def test_a_file_that_kills_every_worker_fails_and_may_be_tried_again(alice: User) -> None:
    upload = waiting(alice)
    Upload.objects.update(
        state="reading", attempts=uploads.UPLOADS.max_attempts, lease_until=timezone.now() - timedelta(seconds=1)
    )

    read(upload)
    assert (upload.state, upload.error) == ("failed", uploads.UPLOADS.give_up_error)

    assert uploads.retry_upload(upload)
    assert read(upload).state == "done"


def test_a_file_whose_row_is_gone_leaves_nothing(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = waiting(alice)

    def forgotten(name: str, content: bytes) -> str:
        Upload.objects.all().delete()
        return "text"

    monkeypatch.setattr(uploads, "read_file", forgotten)
    uploads.process_upload(upload.pk)

    assert not Document.objects.exists()


def test_a_refusal_of_a_reader_that_was_replaced_is_not_written(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = waiting(alice)

    def refused(name: str, content: bytes) -> str:
        Upload.objects.update(attempts=2)
        raise NotReadableError("Too late.")

    monkeypatch.setattr(uploads, "read_file", refused)

    assert read(upload).state == "reading"


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_one_document() -> None:
    alice = User.objects.create_user("alice@example.org", "correct horse battery staple")
    upload = waiting(alice)
    together = threading.Barrier(2)

    def work() -> None:
        from django.db import connection

        together.wait()
        uploads.process_upload(upload.pk)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == ("done", 1)
    assert Document.objects.count() == Revision.objects.count() == 1


# Long results of tools -------------------------------------------------------------------------------------------


def test_a_long_result_is_kept_once_and_found_again(alice: User) -> None:
    path = artifacts.store_artifact(alice, "c1/../x", "web search 3", "A long result.\x00")
    again = artifacts.store_artifact(alice, "c1/../x", "web search 3", "A long result.\x00")
    other = artifacts.store_artifact(alice, "c1/../x", "web search 3", "Another result.")

    assert path == again == "/artifacts/x/web search 3"
    assert other == "/artifacts/x/web search 3 (2)"
    assert Document.objects.get(path=path).text == "A long result."
    assert Chunk.objects.filter(document__path=path).count() == 1


def test_artifacts_that_are_too_old_go_and_no_other_document_does(alice: User) -> None:
    for name in ("old", "new"):
        artifacts.store_artifact(alice, "c1", name, name)
    revisions.save(alice, "/reference/old", "old", started_from=0)
    Document.objects.filter(text="old").update(created_at=timezone.now() - timedelta(days=40))

    assert artifacts.remove_old_artifacts(timezone.now() - timedelta(days=30), most=10) == 1

    assert set(Document.objects.values_list("path", flat=True)) == {"/artifacts/c1/new", "/reference/old"}
