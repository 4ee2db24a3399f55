"""Jobs and answers that were at work while something was forgotten do not bring it back."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from budget.models import Receipt
from chat import compaction, summary
from chat.answering import Answered, ToolUse
from chat.closing import close_turn, open_receipt, save_partial
from chat.context import Compiled, compile_context
from chat.models import Compaction, Conversation, Message, Segment
from chat.opening import Opened
from chat.recovery import mark_if_abandoned
from chat.summary import RuleEngine as SummaryRules
from memory import librarian, remembering
from memory.extraction import Extraction, Reading
from memory.forgetting.doing import forget
from memory.forgetting.targets import Target, What
from memory.indexing import reindex
from memory.models import Document, Episode, Fact, LibrarianRun
from memory.rules.engine import RuleEngine
from recall.erasing import FORGOTTEN
from recall.nudges import PROCESS_KEY
from tests.forgetting.everywhere import tables_with
from tests.forgetting.told import STATEMENT, WORDS, Told, exchange

pytestmark = pytest.mark.django_db


def forget_it(told: Told) -> None:
    forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user)


# The librarian ---------------------------------------------------------------------------------------------------


@dataclass
class Interrupted:
    """Reads by the rules; the first time, something is forgotten before it is done."""

    told: Told
    asked: int = 0
    version: str = "interrupted/1"
    longest: timedelta = timedelta(seconds=60)

    def extract(self, reading: Reading) -> Extraction:
        """What the rules find in what it was given."""
        self.asked += 1
        found = RuleEngine().extract(reading)
        if self.asked == 1:
            forget_it(self.told)
        return found


def test_a_reading_that_was_running_begins_anew(
    told: Told, monkeypatch: pytest.MonkeyPatch, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    engine = Interrupted(told)
    monkeypatch.setattr(librarian, "engine", lambda: engine)
    run = LibrarianRun.objects.create(
        user=told.user, conversation=told.conversation, first_seq=1, last_seq=2, trigger="turns"
    )

    with django_capture_on_commit_callbacks(execute=True):
        librarian.read(run.pk)

    run.refresh_from_db()
    assert (run.state, run.attempts) == ("pending", 0)
    assert ("memory.tasks.read", (run.pk,)) in queued
    assert not Fact.objects.filter(run=run).exists()

    librarian.read(run.pk)

    run.refresh_from_db()
    assert (run.state, engine.asked) == ("done", 2)
    assert tables_with(*WORDS) == {}


def test_reading_the_same_messages_again_does_not_learn_it_again(told: Told) -> None:
    forget_it(told)
    run = LibrarianRun.objects.create(
        user=told.user, conversation=told.conversation, first_seq=1, last_seq=3, trigger="asked"
    )

    librarian.read(run.pk)

    assert tables_with(*WORDS) == {}
    assert not any("cousin" in fact.statement and fact.pk != told.older.pk for fact in Fact.objects.all())


# Folding ---------------------------------------------------------------------------------------------------------


def long_talk(told: Told) -> Conversation:
    """A conversation long enough to be folded, in which it was said in the third turn."""
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
    whole = summary.summarise

    def summarise(turns: Any, **more: Any) -> Any:
        made = whole(turns, engine=SummaryRules())
        if not calls:
            forget_it(told)
        calls.append(1)
        return made

    monkeypatch.setattr(summary, "summarise", summarise)
    work = Compaction.objects.create(user=told.user, conversation=conversation, reason="asked")

    assert compaction.carry_out(work.pk) is False
    work.refresh_from_db()
    assert (work.state, work.attempts) == ("pending", 0)
    assert not Segment.objects.filter(conversation=conversation).exists()

    compaction.carry_out(work.pk)

    segment = Segment.objects.get(conversation=conversation)
    assert (segment.first_turn, len(calls)) == (3, 2)
    assert tables_with("quillfeather") == {}


# A turn ----------------------------------------------------------------------------------------------------------


def asked(told: Told, question: str) -> tuple[Opened, Compiled]:
    """A turn whose prompt is ready, and whose answer is about to be written."""
    conversation = Conversation.objects.create(user=told.user, title="Just now")
    said, answer = exchange(conversation, question, "")
    answer.status, answer.process_key = Message.Status.STREAMING, PROCESS_KEY
    answer.save()
    opened = Opened(conversation, said, answer, created=True, duplicate=False)
    return opened, compile_context(opened)


def test_an_answer_whose_prompt_held_it_keeps_nothing_of_it(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")
    assert STATEMENT in str(compiled.request)
    open_receipt(opened, compiled)
    save_partial(opened.answer.pk, "Your cousin Quillfeather")

    forget_it(told)
    call = ToolUse("1", "search_knowledge", {"query": "Quillfeather"})
    call.result, call.line = STATEMENT, "[search_knowledge Quillfeather]"
    close_turn(
        opened, "Your cousin Quillfeather lives in Zanzibar.", compiled, Answered(tools=[call]), time.monotonic()
    )

    answer = Message.objects.get(pk=opened.answer.pk)
    assert (answer.text, answer.status) == (FORGOTTEN, "complete")
    assert Receipt.objects.get(message=answer).state == "complete"
    assert tables_with(*WORDS) == {}


def test_a_receipt_that_would_show_it_is_not_saved_before_the_answer(told: Told) -> None:
    opened, compiled = asked(told, "Where does my cousin live?")

    forget_it(told)
    open_receipt(opened, compiled)

    assert tables_with(*WORDS) == {}


def test_an_answer_that_knew_nothing_of_it_is_kept(told: Told) -> None:
    Fact.objects.filter(pk=told.fact.pk).update(importance=0.1)
    for model in (Document, Episode, Segment):
        model.objects.filter(user=told.user).delete()
    opened, compiled = asked(told, "hello")
    assert not any(word in str(compiled.request).lower() for word in WORDS)

    forget_it(told)
    close_turn(opened, "Hello there!", compiled, Answered(), time.monotonic())

    assert Message.objects.get(pk=opened.answer.pk).text == "Hello there!"


def test_the_text_of_a_dead_processs_answer_goes(told: Told) -> None:
    opened, _ = asked(told, "Where does my cousin live?")
    forget_it(told)
    Message.objects.filter(pk=opened.answer.pk).update(text="Your cousin Quillf", process_key=None)

    assert mark_if_abandoned(Message.objects.get(pk=opened.answer.pk))

    assert Message.objects.get(pk=opened.answer.pk).text == FORGOTTEN


def test_remembering_proposes_nothing_in_such_a_turn(told: Told) -> None:
    from chat.utterances import utterance

    began = timezone.now()
    forget_it(told)

    said = utterance(told.neighbour)
    answered = remembering.propose(told.user, "The user's cousin lives far away.", said, began)

    assert remembering.FORGOTTEN_MEANWHILE in answered
    assert not Fact.objects.filter(extracted_by=remembering.EXTRACTED_BY).exists()
