"""A file becomes its owner's draft, or one sentence says why not."""

import io
import subprocess
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from PIL import Image

from chat.attachments import limits, upload
from chat.attachments.drafts import remove_old_drafts
from chat.attachments.upload import AttachmentRefusedError, accept, fitting_name
from chat.models import Attachment
from memory.documents.readers import isolated
from tests.chat.attachments.samples import draft, picture, post

pytestmark = pytest.mark.django_db
SignIn = Callable[[Any], Client]


def test_a_text_file_is_read_and_counted(alice: Any, sign_in: SignIn) -> None:
    answer = post(sign_in(alice), "notes.md", b"# Notes\n\nThe lease ends in May.")

    row = Attachment.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "id": row.pk, "kind": "file", "name": "notes.md", "size": "31\xa0bytes", "tokens": row.tokens, "note": "",
        "thumbnail": "", "url": f"/attachments/{row.pk}", "text_url": f"/attachments/{row.pk}/text",
        "remove_url": f"/attachments/{row.pk}/remove",
    }  # fmt: skip
    assert (row.user, row.message, row.text, row.media_type) == (
        alice, None, "# Notes\n\nThe lease ends in May.", "text/markdown",
    )  # fmt: skip
    assert row.tokens > 5


def test_an_image_is_encoded_anew_and_counted_by_its_pixels(alice: Any, sign_in: SignIn) -> None:
    answer = post(sign_in(alice), "plan.png", picture(800, 600)).json()

    row = Attachment.objects.get()
    assert (row.kind, row.media_type, row.width, row.height) == ("image", "image/png", 800, 600)
    assert answer["tokens"] == row.tokens == 29 * 22
    assert answer["thumbnail"] == f"/attachments/{row.pk}/thumbnail"


def test_a_long_paste_is_named_by_its_first_words(alice: Any, sign_in: SignIn) -> None:
    answer = post(sign_in(alice), "paste.txt", b"Dear Sir, the lease of your flat ends soon.", kind="paste")

    assert answer.json()["name"] == "Pasted: Dear Sir, the lease of your"
    assert Attachment.objects.get().kind == "paste"


@pytest.mark.parametrize(
    ("kind", "sent", "kept"),
    [
        ("file", "my_password_is_hunter2.txt", "my password is [secret].txt"),
        ("paste", "p", "Pasted: The pin is [secret], we meet"),
    ],
)
def test_a_name_has_no_secret(kind: str, sent: str, kept: str, alice: Any, sign_in: SignIn) -> None:
    answer = post(sign_in(alice), sent, b"The pin is 482193, we meet at two.", kind=kind)

    assert answer.json()["name"] == kept


REFUSED = [
    ("empty.txt", b"  \n", "This file is empty."),
    ("scan.pdf", b"not a pdf", "This file is called PDF, but it is none."),
    ("a.png", b"\x89PNG\r\n\x1a\nbroken", "This file is damaged or not an image."),
    ("b.png", b"not a png", "This isn't an image that can be read."),
    ("a.heic", b"\x00\x00\x00\x18ftypheic" + bytes(20), "This image format isn't supported."),
    ("a.bmp", b"BM" + bytes(60), "This image format isn't supported."),
    ("a.zip", b"PK\x03\x04" + bytes(60), "This is an archive"),
]


@pytest.mark.parametrize(("name", "content", "sentence"), REFUSED)
def test_what_cannot_be_read_is_told_in_one_sentence(
    name: str, content: bytes, sentence: str, alice: Any, sign_in: SignIn
) -> None:
    answer = post(sign_in(alice), name, content)

    assert answer.status_code == 422
    assert answer.json()["error"].startswith(sentence)
    assert not Attachment.objects.exists()


def test_a_scan_says_that_it_holds_no_text(alice: Any) -> None:
    pages = io.BytesIO()
    Image.new("RGB", (200, 200), "white").save(pages, "PDF")

    with pytest.raises(AttachmentRefusedError, match="There is no text in this file; the pages of a scan are pictures"):
        accept(alice, "scan.pdf", pages.getvalue())


def test_a_request_without_a_file_is_told_so(alice: Any, sign_in: SignIn) -> None:
    answer = sign_in(alice).post(reverse("attachments"))
    assert (answer.status_code, answer.json()) == (400, {"error": "Choose a file first."})


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    alice: Any, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ENVIRONMENT", settings.ENVIRONMENT.model_copy(update={"max_upload_mb": 1}))
    monkeypatch.setattr(upload, "_read", lambda *_: pytest.fail("it was read"))

    whole = post(sign_in(alice), "a.txt", bytes(1_200_000))
    a_little = post(sign_in(alice), "a.txt", bytes(1_050_000))

    assert (whole.status_code, a_little.status_code) == (413, 422)
    assert whole.json()["error"] == "This file is too large. The limit is 1 MB."
    assert a_little.json()["error"] == "a.txt is 1.1 MB. The limit is 1 MB."


def test_drafts_may_not_pile_up(alice: Any, bob: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "MAX_DRAFTS", 2)
    draft(bob)
    draft(alice)
    accept(alice, "b.txt", b"two")
    with pytest.raises(AttachmentRefusedError, match="You have 2 unsent attachments"):
        accept(alice, "c.txt", b"three")

    monkeypatch.setattr(upload, "MAX_DRAFTS", 9)
    monkeypatch.setattr(upload, "MAX_DRAFT_BYTES", 100)
    with pytest.raises(AttachmentRefusedError, match="exceed 0 MB"):
        accept(alice, "c.txt", b"x" * 90)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a b.txt", "a b.txt"),
        ("gpj.\u202eexe", "gpj.exe"),
        ("a\x00\n.txt", "a.txt"),
        ("", "file"),
        (f"{'é' * 300}.md", f"{'é' * 252}.md"),
        ("x" * 400, "x" * 255),
    ],
)
def test_a_name_is_only_a_name(name: str, kept: str) -> None:
    assert fitting_name(name) == kept


def test_drafts_that_are_still_there_are_told_after_a_reload(alice: Any, bob: Any, sign_in: SignIn) -> None:
    mine, other = draft(alice), draft(bob)
    client = sign_in(alice)

    ids = [str(mine.pk), str(other.pk), "x", "-1", "9" * 30]
    told = client.get(reverse("attachments"), {"id": ids}).json()["attachments"]
    assert [one["id"] for one in told] == [mine.pk]

    assert client.post(reverse("remove_attachment", args=[mine.pk])).status_code == 204
    assert client.get(reverse("attachments"), {"id": ids}).json() == {"attachments": []}


def test_a_draft_goes_after_a_day(alice: Any) -> None:
    old = draft(alice, created_at=timezone.now() - limits.DRAFT_LIFETIME - timedelta(minutes=1))
    new = draft(alice)

    assert remove_old_drafts() == 1
    assert list(Attachment.objects.all()) == [new]
    assert old.pk != new.pk


def test_the_page_says_beforehand_that_the_model_cannot_see(
    alice: Any, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chat.views import attachments
    from recall.llm.client import Capabilities

    monkeypatch.setattr(attachments, "get_capabilities", lambda _: Capabilities(100_000, 4_000, images=False))
    answer = post(sign_in(alice), "plan.png", picture()).json()
    assert answer["note"] == "This model can't see images. It only gets the name and size."
    assert post(sign_in(alice), "a.txt", b"text").json()["note"] == ""


# Readers, which are few -------------------------------------------------------------------------------------------

TABLE = b"Name,City\nAna,Porto\n"
BUSY = "Other files are being processed. Try again in a moment."


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that isn't available at once never becomes available."""
    monkeypatch.setattr(isolated, "TURN_SECONDS", 0.01)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("content", [TABLE, picture()], ids=["file", "image"])
def test_no_connection_is_held_while_a_file_is_read(
    content: bytes, alice: Any, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []
    run = subprocess.run

    def watched(*args: Any, **kwargs: Any) -> Any:
        held.append(connection.connection)
        return run(*args, **kwargs)

    monkeypatch.setattr(subprocess, "run", watched)

    assert post(sign_in(alice), "people.csv", content).status_code == 201
    assert set(held) == {None}


@pytest.mark.usefixtures("no_patience")
@pytest.mark.parametrize("content", [TABLE, picture()], ids=["file", "image"])
def test_a_second_file_of_a_person_is_refused_while_the_first_is_read(
    content: bytes, alice: Any, bob: Any, sign_in: SignIn
) -> None:
    with isolated.turn(alice.pk):
        answer = post(sign_in(alice), "people.csv", content)
        assert post(sign_in(bob), "people.csv", content).status_code == 201

    assert (answer.status_code, answer.json()) == (429, {"error": BUSY})
    assert answer["Retry-After"] == "10"
    assert post(sign_in(alice), "people.csv", content).status_code == 201


@pytest.mark.usefixtures("no_patience")
def test_a_third_reader_does_not_start(alice: Any, bob: Any, charlie: Any) -> None:
    with isolated.turn(alice.pk), isolated.turn(bob.pk), pytest.raises(upload.ReadersBusyError, match=BUSY):
        accept(charlie, "people.csv", TABLE)


@pytest.mark.usefixtures("no_patience")
def test_text_needs_no_reader_and_waits_for_none(alice: Any) -> None:
    with isolated.turn(alice.pk):
        assert accept(alice, "notes.md", b"# Notes").text == "# Notes"


@pytest.mark.usefixtures("no_patience")
def test_a_program_is_told_when_to_come_again(alice: Any, sign_in: SignIn) -> None:
    with isolated.turn(alice.pk):
        answer = sign_in(alice).post("/api/v1/attachments", {"file": SimpleUploadedFile("people.csv", TABLE)})

    assert (answer.status_code, answer.json()["detail"], answer["Retry-After"]) == (429, BUSY, "10")


def test_a_file_waits_for_its_turn(alice: Any) -> None:
    begun, over = threading.Event(), threading.Event()

    def read_another() -> None:
        with isolated.turn(alice.pk):
            begun.set()
            over.wait(5)

    other = threading.Thread(target=read_another)
    other.start()
    begun.wait(5)
    threading.Timer(0.2, over.set).start()

    assert accept(alice, "people.csv", TABLE).text == "- Name: Ana; City: Porto"
    other.join()


def test_a_reader_that_fails_gives_its_turn_back(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "TURN_SECONDS", 0.01)
    for _ in range(3):
        with pytest.raises(AttachmentRefusedError, match="damaged"):
            accept(alice, "a.png", b"\x89PNG\r\n\x1a\nbroken")
