"""An export is imported in the background: exactly once, in stretches, watched, stopped, and again when there
is more."""

import json
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from chat.archive.safe_zip import NotImportedError
from chat.importing import jobs
from chat.importing.entries import NOT_AN_EXPORT
from chat.importing.upsert import store_conversation
from chat.messages.history import active_path
from chat.models import Conversation, ImportJob, ImportPart, Message
from memory.models import Chunk, Document, Fact, FactLink, LibrarianRun
from memory.retrieval.recall import retrieve
from tests.chat.exports import CHATGPT, CLAUDE, CLAUDE_MEMORIES, CLAUDE_PROJECTS, conversation, zipped

pytestmark = pytest.mark.django_db


def brought(user: Any, content: bytes, name: str = "conversations.json") -> ImportJob:
    """The job after all its stretches."""
    job = jobs.accept(user, name, len(content), [content[at : at + 100_000] for at in range(0, len(content), 100_000)])
    while jobs.run_import(job.pk):
        pass
    job.refresh_from_db()
    return job


def counted(job: ImportJob) -> dict[str, int]:
    return {name: number for name, number in job.counts["counted"].items() if number}


@pytest.mark.parametrize("title", ["My password is hunter2", ""])
def test_no_title_has_a_secret(alice: Any, title: str) -> None:
    one = conversation("", "My password is hunter2", "Noted.", title=title)
    brought(alice, json.dumps([one]).encode())
    assert Conversation.objects.get().title == "My password is [secret]"


def test_a_chatgpt_export_comes_in_with_its_branches_times_and_tools(alice: Any) -> None:
    job = brought(alice, CHATGPT)
    assert (job.state, job.origin, job.done, job.total, job.error) == ("done", "chatgpt", 6, 6, "")
    assert counted(job) == {
        "new": 3, "messages": 9, "empty": 2, "broken": 1, "left_out": 2, "memories": 6,
    }  # fmt: skip
    assert job.counts["broken"] == ["Broken beyond reading"]
    bread = Conversation.objects.get(external_id="c-bread")
    assert (bread.title, bread.status, bread.started_at.year) == ("Sourdough for Ana", "ended", 2024)
    path = active_path(bread)
    assert [(message.turn, message.role) for message in path] == [
        (1, "user"), (1, "assistant"), (2, "user"), (2, "assistant"),
    ]  # fmt: skip
    assert path[1].event_data == {"model": "gpt-5"}
    assert [(event.event_type, event.author) for event in path[1].children.filter(role="tool")] == [
        ("tool_call", "browser"), ("tool_result", "browser"),
    ]  # fmt: skip
    assert Message.objects.filter(conversation=bread, parent=path[0], role="assistant").count() == 2
    assert bread.next_seq == Message.objects.filter(conversation=bread).count() + 1


def test_the_file_is_gone_when_the_job_is_done(alice: Any) -> None:
    brought(alice, CHATGPT)
    assert not ImportPart.objects.exists()


def test_the_same_export_again_changes_nothing(alice: Any) -> None:
    brought(alice, CHATGPT)
    before = [list(model.objects.order_by("pk").values()) for model in (Conversation, Message, Fact, Chunk)]
    job = brought(alice, CHATGPT)
    assert counted(job) == {"known": 3, "empty": 2, "broken": 1, "memories_seen": 6}
    assert [list(model.objects.order_by("pk").values()) for model in (Conversation, Message, Fact, Chunk)] == before


def test_a_newer_export_adds_only_what_is_new(alice: Any) -> None:
    brought(alice, json.dumps([conversation("a", "one", "two")]).encode())
    job = brought(
        alice, json.dumps([conversation("a", "one", "two", "three", "four"), conversation("b", "x")]).encode()
    )
    assert counted(job) == {"extended": 1, "new": 1, "messages": 3}
    grown = Conversation.objects.get(external_id="a")
    assert [message.text for message in active_path(grown)] == ["one", "two", "three", "four"]
    assert [message.turn for message in active_path(grown)] == [1, 1, 2, 2]


def test_what_was_forgotten_or_changed_here_is_not_overwritten(alice: Any) -> None:
    export = json.dumps([conversation("a", "my secret plan", "noted")]).encode()
    brought(alice, export)
    Message.objects.filter(text="my secret plan").update(text="[forgotten]")
    Conversation.objects.update(title="My own title")
    brought(alice, export)
    assert [message.text for message in active_path(Conversation.objects.get())] == ["[forgotten]", "noted"]
    assert Conversation.objects.get().title == "My own title"


def test_a_conversation_that_went_on_here_keeps_its_branch(alice: Any) -> None:
    brought(alice, json.dumps([conversation("a", "one", "two")]).encode())
    here = Conversation.objects.get()
    own = Message.objects.create(
        user=alice, conversation=here, seq=here.next_seq, parent=here.active_leaf, turn=2, role="user",
        event_type="user_message", text="said here",
    )  # fmt: skip
    Conversation.objects.update(active_leaf=own, next_seq=here.next_seq + 1)
    brought(alice, json.dumps([conversation("a", "one", "two", "said there")]).encode())
    here.refresh_from_db()
    assert active_path(here)[-1].text == "said here"
    assert Message.objects.filter(text="said there").count() == 1
    assert here.librarian_watermark < own.seq, "what was said here is still to be read"


def test_imported_talk_is_found_at_once_and_only_by_its_owner(alice: Any, bob: Any) -> None:
    brought(alice, CLAUDE)

    def found_by(user: Any) -> str:
        found = retrieve(user, "What shall I sow, beans and squash?", now=timezone.now(), top_k=20)
        return " ".join(item.text for item in (*found.kept, *(one.item for one in found.cut)))

    assert "What shall I sow?" in found_by(alice)
    assert found_by(bob) == ""


def test_the_librarian_reads_nothing_by_itself_and_all_when_asked(alice: Any) -> None:
    job = brought(alice, json.dumps([conversation(key, "I live in Porto") for key in "abc"]).encode())
    assert not LibrarianRun.objects.exists()
    assert Conversation.objects.filter(librarian_watermark=1).count() == 3
    assert jobs.count_unread(alice, job.origin) == 3
    assert jobs.request_readings(alice, job.origin) == 3
    assert jobs.request_readings(alice, job.origin) == jobs.count_unread(alice, job.origin) == 0
    times = list(LibrarianRun.objects.order_by("not_before").values_list("not_before", flat=True))
    assert [later - earlier for earlier, later in pairwise(times)] == [jobs.RUN_INTERVAL] * 2


def test_what_an_assistant_said_elsewhere_is_never_evidence(alice: Any) -> None:
    from memory.librarian.run import run_extraction

    job = brought(
        alice, json.dumps([conversation("a", "Hello there", "You live in Lisbon.", "My name is Rui.")]).encode()
    )
    jobs.request_readings(alice, job.origin)
    run_extraction(LibrarianRun.objects.get().pk)
    assert LibrarianRun.objects.get().state == "done"
    assert "Lisbon" not in " ".join(Fact.objects.values_list("statement", flat=True))


def test_saved_memories_wait_for_review_and_are_no_facts(alice: Any) -> None:
    brought(alice, CHATGPT)
    facts = Fact.objects.order_by("pk")
    assert {(fact.status, fact.source, fact.message_id) for fact in facts} == {("proposed", "imported", None)}
    assert "User is allergic to walnuts." in {fact.statement for fact in facts}


def test_a_memory_that_is_known_waits_with_the_known_fact_beside_it(alice: Any) -> None:
    known = Fact.objects.create(user=alice, statement="Has a dog called Bob.", status="active")
    job = brought(alice, CLAUDE_MEMORIES, "memories.json")
    assert counted(job) == {"memories": 3, "memories_known": 1}
    again = Fact.objects.get(statement="Has a dog called Bob")
    assert again.reason == "already known: “Has a dog called Bob.”"
    assert FactLink.objects.filter(from_fact=again, to_fact=known, relation="related_to").exists()


def test_a_rejected_memory_and_a_secret_are_counted_and_not_proposed(alice: Any) -> None:
    Fact.objects.create(user=alice, statement="Has a dog called Bob", status="rejected")
    told = json.loads(CLAUDE_MEMORIES)[0] | {"project_memories": {"p": "The password is hunter2hunter2."}}
    job = brought(alice, json.dumps([told]).encode())
    assert counted(job) == {"memories": 1, "memories_refused": 2}
    assert not Fact.objects.filter(statement__contains="hunter2").exists()


def test_attachments_and_projects_become_documents_once(alice: Any) -> None:
    export = zipped({"conversations.json": CLAUDE, "projects.json": CLAUDE_PROJECTS, "memories.json": CLAUDE_MEMORIES})
    assert counted(brought(alice, export))["documents"] == 4
    assert "documents" not in counted(brought(alice, export))
    assert set(Document.objects.values_list("path", flat=True)) == {
        "/reference/Claude/beds.txt",
        "/reference/Claude/paste.txt",
        "/projects/Folha/instructions",
        "/projects/Folha/plan.md",
    }


def test_a_long_file_is_read_in_stretches_that_go_on_where_the_last_one_stood(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "STRETCH_SECONDS", -1.0)
    content = json.dumps([conversation(str(number), "hello") for number in range(3)]).encode()
    job = jobs.accept(alice, "c.json", len(content), [content])
    seen = []
    while jobs.run_import(job.pk):
        job.refresh_from_db()
        seen.append((job.state, job.done))
    job.refresh_from_db()
    assert seen == [("waiting", 1), ("waiting", 2), ("waiting", 3)]
    assert (job.state, job.done, Conversation.objects.count()) == ("done", 3, 3)


def test_a_worker_that_was_killed_in_the_middle_leaves_a_job_that_goes_on(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.dumps([conversation(str(number), "hello") for number in range(3)]).encode()
    job = jobs.accept(alice, "c.json", len(content), [content])
    calls: list[Any] = []

    def killed(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return store_conversation(*given)

    monkeypatch.setattr(jobs, "store_conversation", killed)
    with pytest.raises(KeyboardInterrupt):
        jobs.run_import(job.pk)
    assert Conversation.objects.count() == 1
    assert not jobs.run_import(job.pk), "its lease still runs"
    ImportJob.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert jobs.IMPORTS.requeue_due() == 1
    jobs.run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done, counted(job)) == ("done", 3, {"new": 3, "messages": 3})


def test_a_job_that_kills_its_workers_is_given_up(alice: Any) -> None:
    job = jobs.accept(alice, "c.json", len(CHATGPT), [CHATGPT])
    ImportJob.objects.update(attempts=jobs.IMPORTS.max_attempts)
    assert not jobs.run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", jobs.IMPORTS.give_up_error)
    assert not ImportPart.objects.exists()


def test_a_cancelled_job_stops_between_two_conversations(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    content = json.dumps([conversation(str(number), "hello") for number in range(3)]).encode()
    job = jobs.accept(alice, "c.json", len(content), [content])

    def keep_and_cancel(*given: Any) -> Any:
        assert jobs.cancel(job)
        return store_conversation(*given)

    monkeypatch.setattr(jobs, "store_conversation", keep_and_cancel)
    jobs.run_import(job.pk)
    job.refresh_from_db()
    assert (job.state, Conversation.objects.count()) == ("cancelled", 1)
    assert not jobs.cancel(job)
    assert not jobs.run_import(job.pk)


@pytest.mark.parametrize("content", [b"hello", b"\x00\x01", b'"text"', b"   "])
def test_a_wrong_file_is_refused_before_it_is_kept(alice: Any, content: bytes) -> None:
    with pytest.raises(NotImportedError, match="isn't an export that Recall knows"):
        jobs.accept(alice, "x", len(content), [content])


def test_a_file_that_is_json_but_no_export_fails_with_a_sentence(alice: Any) -> None:
    job = brought(alice, b'[{"name": "a list of something else"}]')
    assert (job.state, job.error) == ("failed", NOT_AN_EXPORT)


def test_a_file_that_is_too_large_or_one_too_many_is_refused(alice: Any) -> None:
    with pytest.raises(NotImportedError, match="The limit is 1,000 MB"):
        jobs.accept(alice, "x", 2_000_000_000, [])
    with pytest.raises(NotImportedError, match="empty"):
        jobs.accept(alice, "x", 0, [])
    for _ in range(5):
        jobs.accept(alice, "x", 2, [b"[]"])
    with pytest.raises(NotImportedError, match="already queued"):
        jobs.accept(alice, "x", 2, [b"[]"])


def test_a_file_of_many_parts_is_read_as_one(alice: Any) -> None:
    entries = [json.dumps(conversation(key, "hello")).encode() for key in ("first", "second")]
    content = b"[" + (b" " * 2_500_000 + b",").join(entries) + b"]"
    job = jobs.accept(alice, "c.json", len(content), [content])
    assert ImportPart.objects.filter(job=job).count() == 3
    jobs.run_import(job.pk)
    job.refresh_from_db()
    assert counted(job) == {"new": 2, "messages": 2}
