"""Jobs and answers in progress while something is forgotten don't bring it back."""

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from budget.models import Receipt
from budget.receipts.profile_snapshots import Line
from chat.compaction import jobs as compaction
from chat.compaction.summaries import select_engine
from chat.compaction.summaries.rule_engine import RuleEngine as SummaryRules
from chat.evaluation.stores import tables_with
from chat.messages.history import ConversationHistory
from chat.models import Compaction, Conversation, Message, Segment
from chat.prompt import pinned_profile
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.tools import update_task
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, AgentRun, ToolUse
from chat.turns.finish import finish_turn, save_draft_receipt, save_partial
from chat.turns.recovery import mark_if_abandoned
from memory.documents import uploads
from memory.forget_epoch import forget_epoch
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.index.indexer import reindex
from memory.librarian import document_updates, remember
from memory.librarian import run as librarian
from memory.librarian.engine import Extraction, ExtractionInput
from memory.librarian.rules.engine import RuleEngine
from memory.models import Document, Episode, Fact, LibrarianRun
from recall.db.notify import PROCESS_KEY
from recall.redaction import FORGOTTEN
from tests.chat.exports import CHATGPT
from tests.chat.importing.test_jobs import brought
from tests.memory.forgetting.conversation import STATEMENT, WORDS, Told, exchange

pytestmark = pytest.mark.django_db


def forget_it(told: Told) -> None:
    forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user)


# The librarian ---------------------------------------------------------------------------------------------------


@dataclass
class Interrupted:
    """Reads by the rules; the first time, something is forgotten before it finishes."""

    told: Told
    asked: int = 0
    version: str = "interrupted/1"
    uses_tokens: bool = False
    max_duration: timedelta = timedelta(seconds=60)

    def extract(self, reading: ExtractionInput) -> Extraction:
        """The rules' extraction from its input."""
        self.asked += 1
        found = RuleEngine().extract(reading)
        if self.asked == 1:
            forget_it(self.told)
        return found


def test_a_reading_that_was_running_begins_anew(
    told: Told, monkeypatch: pytest.MonkeyPatch, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    engine = Interrupted(told)
    monkeypatch.setattr(librarian, "choose_engine", lambda: engine)
    run = LibrarianRun.objects.create(
        user=told.user, conversation=told.conversation, first_seq=1, last_seq=2, trigger="turns"
    )

    with django_capture_on_commit_callbacks(execute=True):
        librarian.run_extraction(run.pk)

    run.refresh_from_db()
    assert (run.state, run.attempts) == ("pending", 0)
    assert ("memory.tasks.read", (run.pk,)) in queued
    assert not Fact.objects.filter(run=run).exists()

    librarian.run_extraction(run.pk)

    run.refresh_from_db()
    assert (run.state, engine.asked) == ("done", 2)
    assert tables_with(*WORDS) == {}


def test_reading_the_same_messages_again_does_not_learn_it_again(told: Told) -> None:
    forget_it(told)
    run = LibrarianRun.objects.create(
        user=told.user, conversation=told.conversation, first_seq=1, last_seq=3, trigger="asked"
    )

    librarian.run_extraction(run.pk)

    assert tables_with(*WORDS) == {}
    assert not any("cousin" in fact.statement and fact.pk != told.older.pk for fact in Fact.objects.all())


# Folding ---------------------------------------------------------------------------------------------------------


def long_talk(told: Told) -> Conversation:
    """A conversation long enough to be compacted, in which it was said in the third turn."""
    conversation = Conversation.objects.create(user=told.user, title="Long")
    for number in range(1, 20):
        text = told.source.text if number == 3 else f"Let us speak of day {number}."
        question, _ = exchange(conversation, text, f"Gladly, of day {number}.")
        if number == 3:
            Fact.objects.filter(pk=told.fact.pk).update(message=question)
    return conversation


def test_a_folding_that_was_running_begins_anew(
    told: Told, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    conversation = long_talk(told)
    Message.objects.filter(pk__in=[told.source.pk, told.reply.pk]).update(text="Hello.")
    reindex(told.conversation.pk, {told.source.pk, told.reply.pk})
    calls: list[int] = []
    whole = select_engine.summarize

    def summarize(turns: Any, **more: Any) -> Any:
        made = whole(turns, engine=SummaryRules())
        if not calls:
            forget_it(told)
        calls.append(1)
        return made

    monkeypatch.setattr(compaction, "summarize", summarize)
    work = Compaction.objects.create(user=told.user, conversation=conversation, reason="asked")

    assert compaction.run_compaction(work.pk) is False
    work.refresh_from_db()
    assert (work.state, work.attempts) == ("pending", 0)
    assert not Segment.objects.filter(conversation=conversation).exists()

    compaction.run_compaction(work.pk)

    segment = Segment.objects.get(conversation=conversation)
    assert (segment.first_turn, len(calls)) == (3, 2)
    assert tables_with("quillfeather") == {}


# A turn ----------------------------------------------------------------------------------------------------------


def asked(told: Told, question: str) -> tuple[AcceptedTurn, AssembledPrompt]:
    """A turn whose prompt is ready, and whose answer is about to be written."""
    conversation = Conversation.objects.create(user=told.user, title="Just now")
    said, answer = exchange(conversation, question, "")
    answer.status, answer.process_key = Message.Status.STREAMING, PROCESS_KEY
    answer.save()
    opened = AcceptedTurn(conversation, said, answer, created=True, is_duplicate=False)
    return opened, assemble_prompt(opened)


def test_an_answer_whose_prompt_held_it_keeps_nothing_of_it(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")
    assert STATEMENT in str(compiled.request)
    save_draft_receipt(opened, compiled)
    save_partial(opened.answer.pk, "Your cousin Quillfeather")

    forget_it(told)
    call = ToolUse("1", "search_knowledge", {"query": "Quillfeather"})
    call.result = STATEMENT
    finish_turn(
        opened, "Your cousin Quillfeather lives in Zanzibar.", compiled, AgentRun(tools=[call]), time.monotonic()
    )

    answer = Message.objects.get(pk=opened.answer.pk)
    assert (answer.text, answer.status) == (FORGOTTEN, "complete")
    assert Receipt.objects.get(message=answer).state == "complete"
    assert tables_with(*WORDS) == {}


def test_a_receipt_that_would_show_it_is_not_saved_before_the_answer(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")

    forget_it(told)
    save_draft_receipt(opened, compiled)

    assert tables_with(*WORDS) == {}


def knowing_nothing(told: Told, question: str = "hello") -> tuple[AcceptedTurn, AssembledPrompt]:
    """A turn whose prompt contains none of it."""
    Fact.objects.filter(pk=told.fact.pk).update(importance=0.1)
    for model in (Document, Episode, Segment):
        model.objects.filter(user=told.user).delete()
    opened, compiled = asked(told, question)
    assert not any(word in str(compiled.request).lower() for word in WORDS)
    return opened, compiled


def test_an_answer_that_knew_nothing_of_it_is_kept(told: Told) -> None:
    opened, compiled = knowing_nothing(told)

    forget_it(told)
    finish_turn(opened, "Hello there!", compiled, AgentRun(), time.monotonic())

    assert Message.objects.get(pk=opened.answer.pk).text == "Hello there!"


def test_the_text_of_a_dead_processs_answer_goes(told: Told) -> None:
    opened, _ = asked(told, "Where does my cousin live?")
    forget_it(told)
    Message.objects.filter(pk=opened.answer.pk).update(text="Your cousin Quillf", process_key=None)

    assert mark_if_abandoned(Message.objects.get(pk=opened.answer.pk))

    assert Message.objects.get(pk=opened.answer.pk).text == FORGOTTEN


def test_a_process_taken_for_dead_writes_nothing_into_its_closed_answer_until_it_ends(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")
    closed = Message.objects.filter(pk=opened.answer.pk)
    closed.update(status=Message.Status.INTERRUPTED)  # it keeps the key: the process may finish it after all
    save_draft_receipt(opened, compiled)
    forget_it(told)
    save_partial(opened.answer.pk, "Your cousin Quillfeather", "Quillfeather, Zanzibar")

    assert not Receipt.objects.filter(message=opened.answer).exists()
    assert tables_with(*WORDS) == {}

    finish_turn(opened, "Hello there!", compiled, AgentRun(), time.monotonic())
    assert closed.get().status == "complete"
    assert Receipt.objects.get(message=opened.answer).state == "complete"


def test_a_receipt_whose_commit_was_not_confirmed_is_begun_once(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")
    for _ in range(2):
        save_draft_receipt(opened, compiled)
    assert Receipt.objects.get(message=opened.answer).state == "open"


def test_remembering_proposes_nothing_in_such_a_turn(told: Told) -> None:
    from chat.ingest.source import utterance

    began = timezone.now()
    forget_it(told)

    said = utterance(told.neighbour)
    answered = remember.propose(told.user, "The user's cousin lives far away.", said, began)

    assert remember.FORGOTTEN_MEANWHILE in answered
    assert not Fact.objects.filter(extracted_by=remember.EXTRACTED_BY).exists()


def test_an_answer_that_was_told_it_by_a_tool_keeps_nothing_of_it(told: Told) -> None:
    opened, compiled = knowing_nothing(told)
    call = ToolUse("1", "read_document", {"path": "/cousins"})
    call.result = STATEMENT

    forget_it(told)
    finish_turn(
        opened, "Your cousin Quillfeather lives in Zanzibar.", compiled, AgentRun(tools=[call]), time.monotonic()
    )

    assert Message.objects.get(pk=opened.answer.pk).text == FORGOTTEN
    assert tables_with(*WORDS) == {}


def test_a_receipt_does_not_name_what_was_only_considered(told: Told) -> None:
    opened, compiled = knowing_nothing(told, "How do I mend a bike?")
    save_draft_receipt(opened, compiled)
    receipt = Receipt.objects.get(message=opened.answer)
    assert STATEMENT in {one["label"] for one in receipt.items}

    forget_it(told)
    finish_turn(opened, "Soup.", compiled, AgentRun(), time.monotonic())

    assert Message.objects.get(pk=opened.answer.pk).text == "Soup."
    receipt.refresh_from_db()
    assert {one["label"] for one in receipt.items} <= {"", FORGOTTEN}
    assert tables_with(*WORDS) == {}


def test_a_task_that_is_noted_afterwards_is_refused(told: Told) -> None:
    opened, _ = asked(told, "Where does my cousin live?")
    forget_it(told)
    call = ToolUse("1", "update_task", {"goal": STATEMENT, "steps": ["write"], "done": False})

    run_tool(opened, call)

    assert call.is_error
    assert update_task.FORGOTTEN_MEANWHILE in call.result
    assert Conversation.objects.get(pk=opened.conversation.pk).task == {}


def test_a_task_that_was_noted_in_other_words_goes_with_its_answer(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")
    call = ToolUse("1", "update_task", {"goal": "Write to her on the island", "steps": ["write"], "done": False})
    run_tool(opened, call)
    assert not call.is_error

    forget_it(told)
    finish_turn(opened, "I shall.", compiled, AgentRun(tools=[call]), time.monotonic())

    assert Conversation.objects.get(pk=opened.conversation.pk).task == {}


def test_a_profile_that_was_read_before_is_not_pinned_afterwards(told: Told) -> None:
    conversation = Conversation.objects.create(user=told.user, title="Just now")
    before = forget_epoch(told.user.pk)
    forget_it(told)

    pinned = pinned_profile._pinned_or_renewed(
        conversation, ConversationHistory(), [Line("fact:1", STATEMENT, 9)], before, timezone.now()
    )

    assert STATEMENT not in pinned.text
    assert tables_with(*WORDS) == {}


# What writes what it has read holds the person's row before it reads ----------------------------------------------


def held_at(queries: CaptureQueriesContext, table: str) -> list[int]:
    """Positions of the statements that lock rows of `table`, among all that were sent."""
    sent = [captured_query["sql"] for captured_query in queries.captured_queries]
    return [at for at, sql in enumerate(sent) if f'FROM "{table}"' in sql and " FOR NO KEY UPDATE" in sql]


def test_an_import_holds_the_person_and_then_its_job_for_each_entry(told: Told) -> None:
    with CaptureQueriesContext(connection) as queries:
        brought(told.user, CHATGPT)
    persons, jobs = held_at(queries, "accounts_user"), held_at(queries, "chat_importjob")
    assert len(jobs) > 3
    assert {at - 1 for at in jobs[1:]} <= set(persons)  # the first claims the row, and reads nothing


def test_an_uploaded_file_becomes_a_document_with_the_person_held(told: Told) -> None:
    upload = uploads.accept(told.user, "roses.md", b"# Roses")
    with CaptureQueriesContext(connection) as queries:
        uploads.process_upload(upload.pk)
    written = next(at for at, one in enumerate(queries) if 'INSERT INTO "memory_document"' in one["sql"])
    assert min(held_at(queries, "accounts_user")) < written


def test_an_ended_conversation_is_read_with_the_person_held(told: Told) -> None:
    with CaptureQueriesContext(connection) as queries:
        document_updates.write_ended(told.user, told.conversation.pk)
    reads = [at for at, one in enumerate(queries) if "SELECT" in one["sql"]]
    assert len(reads) > 1
    assert reads[0] == held_at(queries, "accounts_user")[0]
