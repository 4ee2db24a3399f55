"""A write that is sent twice with the same Idempotency-Key is done once."""

import threading
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.api import idempotency, keys
from accounts.api.scopes import SCOPES
from accounts.models import IdempotentRequest
from accounts.tasks import remove_old_requests
from chat.conversations import trash
from chat.models import Conversation
from memory.documents import tree
from memory.documents.revisions import Origin, add
from memory.forgetting import execute
from memory.forgetting.targets import Target, What
from memory.models import Boundary, Document, Fact, Revision, Upload
from tests.api.rows import AT, with_key

pytestmark = pytest.mark.django_db
BOUNDARIES = f"{AT}/memory/boundaries"
JSON = "application/json"


def put(program: Client, key: str, text: str = "Be kind.", address: str = BOUNDARIES) -> Any:
    return program.post(address, {"text": text}, content_type=JSON, headers={"Idempotency-Key": key})


def test_the_same_request_again_is_answered_alike_and_done_once(alice: Any) -> None:
    program, key = with_key(alice), str(uuid4())
    first, second = put(program, key), put(program, key)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert second["Content-Type"] == first["Content-Type"]
    assert Boundary.objects.filter(user=alice).count() == 1


def test_another_request_with_the_same_key_is_refused(alice: Any) -> None:
    program = with_key(alice)
    put(program, "one")
    for refused in (put(program, "one", "Be kinder."), put(program, "one", address=f"{BOUNDARIES}?again=1")):
        assert refused.status_code == 422
        assert refused.json()["type"].endswith("#idempotency-key-reused")
    assert Boundary.objects.filter(user=alice).count() == 1


def test_a_refusal_is_answered_alike_too(alice: Any) -> None:
    program = with_key(alice)
    assert [put(program, "one", "  ").status_code for _ in range(2)] == [422, 422]
    assert put(program, "one", "  ")["Idempotent-Replayed"] == "true"


def test_two_people_and_two_keys_may_use_the_same_words(alice: Any, bob: Any) -> None:
    assert put(with_key(alice), "one").status_code == 201
    assert put(with_key(bob), "one").status_code == 201
    assert put(with_key(alice), "one").status_code == 422, "another program of hers: its scopes may be others"


def test_while_the_first_is_carried_out_the_second_is_told_to_wait(alice: Any) -> None:
    program, seen = with_key(alice), []
    put(program, "one")
    IdempotentRequest.objects.update(status=0, body=b"")
    seen.append(put(program, "one"))
    assert seen[0].status_code == 409
    assert seen[0]["Retry-After"] == "1"
    assert seen[0].json()["type"].endswith("#idempotency-in-progress")


def test_the_claim_of_a_process_that_died_ends(alice: Any) -> None:
    program = with_key(alice)
    put(program, "one")
    old = timezone.now() - idempotency.LEASE - timedelta(seconds=1)
    IdempotentRequest.objects.update(status=0, body=b"", created_at=old)
    assert put(program, "one").status_code == 201
    assert Boundary.objects.filter(user=alice).count() == 2, "whether it was done is not known: it is done"


def test_a_failure_of_ours_is_not_kept(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = with_key(alice)

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("memory.api.boundaries._notify", broken)
        assert put(program, "one").status_code == 500
    assert not IdempotentRequest.objects.exists()
    assert put(program, "one").status_code == 201


def test_a_key_without_the_scope_is_given_nothing_that_was_stored(alice: Any) -> None:
    _program = with_key(alice, "memory:read")
    assert put(_program, "one").status_code == 403
    assert not IdempotentRequest.objects.exists()


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_is_short_and_printable(key: str, alice: Any) -> None:
    assert put(with_key(alice), key).status_code == 422
    assert not Boundary.objects.filter(user=alice).exists()


def test_a_file_that_is_sent_twice_is_taken_once(alice: Any, queued: Any) -> None:
    program = with_key(alice)

    def sent(content: bytes) -> Any:
        file = SimpleUploadedFile("bows.md", content)
        return program.post(f"{AT}/memory/uploads", {"file": file}, headers={"Idempotency-Key": "one"})

    first, second, other = sent(b"# Bows"), sent(b"# Bows"), sent(b"# Strings")
    assert (first.status_code, second.status_code, other.status_code) == (202, 202, 422)
    assert second.json() == first.json()
    assert Upload.objects.count() == 1
    assert bytes(Upload.objects.get().content or b"") == b"# Bows", "read whole, though it was hashed before"


def test_it_means_nothing_where_nothing_is_changed(alice: Any) -> None:
    program = with_key(alice)
    program.get(f"{AT}/memory/facts", headers={"Idempotency-Key": "one"})
    assert not IdempotentRequest.objects.exists()


def test_answers_are_kept_a_day(alice: Any) -> None:
    program = with_key(alice)
    put(program, "one")
    put(program, "two")
    IdempotentRequest.objects.filter(key="one").update(created_at=timezone.now() - timedelta(hours=25))
    remove_old_requests()
    assert [one.key for one in IdempotentRequest.objects.all()] == ["two"]


def test_what_was_answered_goes_when_something_is_forgotten(alice: Any, bob: Any, queued: Any) -> None:
    put(with_key(alice), "one")
    put(with_key(bob), "one")
    fact = Fact.objects.create(user=alice, statement="The user grows garlic.", status="active")
    execute.forget(alice, Target(What.FACT, str(fact.pk)), by=alice)
    assert [one.user for one in IdempotentRequest.objects.all()] == [bob]


def test_what_was_answered_goes_with_a_deleted_document(alice: Any, bob: Any) -> None:
    for person in (alice, bob):
        put(with_key(person), "one")
    add(alice, "/notes/boat", "The boat is called Halcyon.", Revision.Author.USER, Origin(Document.Source.UPLOAD))
    tree.delete(alice, "/notes/boat")
    assert list(IdempotentRequest.objects.values_list("user", flat=True)) == [bob.pk]


def test_what_was_answered_goes_with_a_deleted_conversation_when_it_is_gone_for_good(alice: Any, bob: Any) -> None:
    for person in (alice, bob):
        put(with_key(person), "one")
    moment, _ = trash.delete(alice, [Conversation.objects.create(user=alice).pk])
    assert IdempotentRequest.objects.filter(user=alice).exists(), "it may still be brought back"
    assert trash.purge(moment + trash.UNDO_FOR) == 1
    assert list(IdempotentRequest.objects.values_list("user", flat=True)) == [bob.pk]


def test_a_deletion_that_is_sent_twice_is_answered_alike(alice: Any) -> None:
    add(alice, "/notes/boat", "The boat is called Halcyon.", Revision.Author.USER, Origin(Document.Source.UPLOAD))
    program = with_key(alice)
    address, headers = f"{AT}/memory/documents?path=/notes/boat", {"Idempotency-Key": "one"}
    first, second = (program.delete(address, headers=headers) for _ in range(2))
    assert first.status_code == second.status_code == 200, (first.content, second.content)
    assert second["Idempotent-Replayed"] == "true"


def test_forgetting_itself_can_be_sent_twice(alice: Any, queued: Any) -> None:
    fact = Fact.objects.create(user=alice, statement="The user grows garlic.", status="active")
    program = with_key(alice)
    asked = {"what": "fact", "id": str(fact.pk)}
    expected = program.post(f"{AT}/memory/forget/preview", asked, content_type=JSON).json()["fingerprint"]
    body, headers = {**asked, "expected": expected}, {"Idempotency-Key": "one"}
    answers = [program.post(f"{AT}/memory/forget", body, content_type=JSON, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert "garlic" not in str(bytes(IdempotentRequest.objects.get().body))


def test_what_is_answered_while_something_is_forgotten_is_not_stored(alice: Any) -> None:
    claimed = idempotency.claim(alice, "one", "f" * 64)
    assert isinstance(claimed, idempotency.Claim)
    idempotency.forget(alice)
    idempotency.store_response(claimed, 200, JSON, b'{"text": "garlic"}')
    assert not IdempotentRequest.objects.exists()


def test_it_goes_with_the_account(alice: Any) -> None:
    put(with_key(alice), "one")
    alice.delete()
    assert not IdempotentRequest.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_ten_at_once_one_is_done(alice: Any) -> None:
    answers: list[int] = []
    headers = {"Authorization": f"Bearer {keys.create_key(alice, 'one', SCOPES)[1]}"}
    begin = threading.Barrier(10)

    def sent() -> None:
        begin.wait()
        answers.append(put(Client(headers=headers), "one").status_code)
        connection.close()

    threads = [threading.Thread(target=sent) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Boundary.objects.filter(user=alice).count() == 1
    assert set(answers) <= {201, 409}
    assert 201 in answers
