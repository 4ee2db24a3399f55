"""Triggers, each with what fires it and what doesn't; and where they are evaluated."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from accounts.models import User
from budget.counting.estimate import TextClass, estimate
from chat.compaction.jobs import MAX_QUIET_AGE, request_if_due, request_where_quiet, run_compaction
from chat.compaction.triggers import QUIET, TRIGGERS, VERBATIM_TURNS, ConversationState, first_trigger
from chat.compaction.window import (
    KEPT_TURNS,
    MAX_SEGMENTS,
    MIN_COMPACTED_TURNS,
    MIN_CONVERSATION_TURNS,
    SEGMENTS_AFTER_MERGE,
    SizedTurn,
    count_to_merge,
    select_turns,
)
from chat.ingest import librarian_triggers
from chat.models import Compaction, Conversation, Message
from chat.turn import AgentRun
from chat.turns import finish
from memory.index.indexer import embed_pending
from recall.llm.client import configured_capabilities
from tests.chat.conftest import Provider, Tabs
from tests.chat.long_talk import ask, begin, numbered

CALM = ConversationState(turns=20, history=9_000, ceiling=10_000, prompt=90_000, window=200_000)

CASES = [
    ("length", ConversationState(turns=VERBATIM_TURNS + 1), ConversationState(turns=VERBATIM_TURNS)),
    ("length", ConversationState(turns=59, ceiling=58_800), ConversationState(turns=58, ceiling=58_800)),
    (
        "length",
        ConversationState(turns=5, history=10_001, ceiling=10_000),
        ConversationState(turns=5, history=10_000, ceiling=10_000),
    ),
    ("window", ConversationState(prompt=100_001, window=200_000), ConversationState(prompt=100_000, window=200_000)),
    ("task_done", ConversationState(task_is_done=True), ConversationState(task_is_done=False)),
    ("topic", ConversationState(topic_has_shifted=True), ConversationState(topic_has_shifted=False)),
    ("ended", ConversationState(has_ended=True), ConversationState(has_ended=False)),
    ("quiet", ConversationState(silence=QUIET + timedelta(seconds=1)), ConversationState(silence=QUIET)),
    ("asked", ConversationState(was_asked=True), ConversationState(was_asked=False)),
]


@pytest.mark.parametrize(("name", "yes", "no"), CASES)
def test_each_trigger_holds_when_it_should_and_not_before(
    name: str, yes: ConversationState, no: ConversationState
) -> None:
    assert first_trigger(yes) == name
    assert first_trigger(no) is None


def test_every_trigger_has_a_case_and_a_name_of_its_own() -> None:
    assert [trigger.name for trigger in TRIGGERS] == list(dict.fromkeys(name for name, *_ in CASES))
    assert first_trigger(CALM) is None


# What is folded when one holds -----------------------------------------------------------------------------------


def turns(*tokens: int) -> list[SizedTurn]:
    return [SizedTurn(number, size) for number, size in enumerate(tokens, start=1)]


def test_the_oldest_turns_go_down_to_the_last_ten() -> None:
    found = select_turns(turns(*[100] * 21), 10_000)
    assert found is not None
    assert (found.first, found.last) == (3, 21 - KEPT_TURNS)


def test_long_turns_stay_only_as_far_as_they_fill_a_quarter_of_the_ceiling() -> None:
    found = select_turns(turns(*[500] * 21), 10_000)
    assert found is not None
    assert (found.first, found.last) == (3, 16)


def test_the_last_three_stay_however_long_they_are() -> None:
    found = select_turns(turns(*[9_000] * 12), 10_000)
    assert found is not None
    assert (found.first, found.last) == (3, 9)


def test_fewer_than_three_turns_are_folded_only_when_somebody_asks() -> None:
    few = turns(*[100] * (2 + MIN_COMPACTED_TURNS - 1 + KEPT_TURNS))
    assert select_turns(few, 10_000) is None
    found = select_turns(few, 10_000, was_asked=True)
    assert found is not None
    assert (found.first, found.last) == (3, 4)


def test_summaries_are_merged_in_one_step_and_then_there_is_room_for_more() -> None:
    assert count_to_merge(MAX_SEGMENTS) == 0
    assert MAX_SEGMENTS + 1 - count_to_merge(MAX_SEGMENTS + 1) + 1 == SEGMENTS_AFTER_MERGE


# Where they are heard --------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_nothing_is_asked_where_nothing_can_be_folded(alice: User) -> None:
    conversation = begin(alice, numbered(5))
    request_if_due(conversation, ConversationState(was_asked=True), can_compact=False)
    assert not Compaction.objects.exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("offline_server")
def test_a_prompt_of_more_than_half_the_window_is_folded(alice: User) -> None:
    opened, compiled = ask(begin(alice, numbered(15)), "And now?")
    answer, known = opened.answer, compiled.inputs
    answer.text, answer.tokens = "It is a quarter past nine.", 8
    prompt = compiled.fitted.tokens + estimate({TextClass.PROSE: answer.tokens}, known.budget.ratios)
    for window, found in ((2 * prompt, []), (2 * prompt - 1, ["window"])):
        able = replace(known.model.capabilities, context_window=window)
        finish._request_compaction_if_due(
            opened,
            replace(compiled, inputs=replace(known, model=replace(known.model, capabilities=able))),
            answer,
            AgentRun(),
        )
        assert [one.reason for one in Compaction.objects.all()] == found


@pytest.mark.django_db
def test_a_conversation_that_ends_is_folded_and_one_that_pauses_is_not(alice: User) -> None:
    conversation = begin(alice, numbered(25))
    librarian_triggers.leave_others(alice, begin(alice).pk)
    assert not Compaction.objects.exists()
    librarian_triggers.end(conversation)
    assert Compaction.objects.get().reason == "ended"


def quiet(
    user: User, turns: int = 25, *, since: timedelta = QUIET + timedelta(minutes=1), **fields: Any
) -> Conversation:
    conversation = begin(user, numbered(turns))
    Conversation.objects.filter(pk=conversation.pk).update(last_activity_at=timezone.now() - since, **fields)
    conversation.refresh_from_db()
    return conversation


@pytest.mark.django_db
def test_what_was_quiet_for_an_hour_is_folded_once_and_again_after_the_next_silence(alice: User) -> None:
    conversation = quiet(alice)

    assert request_where_quiet() == 1
    assert request_where_quiet() == 0, "it is asked for"
    while run_compaction(Compaction.objects.get().pk):
        pass
    assert request_where_quiet() == 0, "it is done"

    done = Compaction.objects.get()
    assert (done.reason, done.state, done.segments) == ("quiet", "done", 1)
    Compaction.objects.update(created_at=conversation.last_activity_at - timedelta(days=1))
    assert request_where_quiet() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given",
    [
        {"since": QUIET - timedelta(minutes=1)},
        {"since": QUIET + MAX_QUIET_AGE + timedelta(minutes=1)},
        {"turns": MIN_CONVERSATION_TURNS - 1},
        {"status": "ended"},
        {"deleted_at": timezone.now()},
    ],
    ids=["not long enough", "long over", "too short", "ended: folded then", "deleted"],
)
def test_others_are_left_alone(alice: User, given: dict[str, Any]) -> None:
    quiet(alice, **given)

    assert request_where_quiet() == 0
    assert not Compaction.objects.exists()


@pytest.mark.django_db
def test_where_the_model_has_no_cache_a_silence_folds_nothing(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(alice)
    monkeypatch.setattr(
        "chat.compaction.jobs.cached_capabilities", lambda model: replace(configured_capabilities(), caching=False)
    )

    assert request_where_quiet() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("turns", "asked"), [(MIN_CONVERSATION_TURNS - 1, 0), (MIN_CONVERSATION_TURNS, 1)])
def test_a_short_conversation_that_ends_is_not_even_looked_at(alice: User, turns: int, asked: int) -> None:
    librarian_triggers.end(begin(alice, numbered(turns)))
    assert Compaction.objects.count() == asked
    assert select_turns([SizedTurn(number, 10**6) for number in range(1, MIN_CONVERSATION_TURNS)], ceiling=1) is None
    assert (
        select_turns([SizedTurn(number, 10**6) for number in range(1, MIN_CONVERSATION_TURNS + 1)], ceiling=1)
        is not None
    )


@pytest.mark.django_db
def test_a_short_one_that_holds_a_tools_result_is(alice: User) -> None:
    conversation = begin(alice, numbered(2))
    answer = conversation.active_leaf
    assert answer is not None
    Message.objects.create(
        user=alice, conversation=conversation, seq=conversation.next_seq, turn=2, parent=answer,
        role="tool", event_type=Message.Event.TOOL_RESULT, text="found",
    )  # fmt: skip
    librarian_triggers.end(conversation)
    assert Compaction.objects.count() == 1


async def reasons() -> list[str]:
    return [one.reason async for one in Compaction.objects.all()]


@pytest.mark.django_db(transaction=True)
async def test_the_twenty_first_turn_is_one_too_many(alice: User, tabs: Tabs, provider: Provider) -> None:
    conversation = await sync_to_async(begin)(alice, numbered(19))
    tab = await tabs.open(alice)
    await tab.talk("The twentieth.", str(conversation.pk))
    assert await reasons() == []
    await tab.talk("The twenty-first.", str(conversation.pk))
    assert await reasons() == ["length"]


@pytest.mark.django_db(transaction=True)
async def test_a_task_that_is_done_is_folded(alice: User, tabs: Tabs, provider: Provider) -> None:
    conversation = await sync_to_async(begin)(alice, numbered(15))
    tab = await tabs.open(alice)
    for done in (False, True):
        call = {"name": "update_task", "input": {"goal": "Write to Jo", "steps": [], "done": done}}
        provider.script({"tools": [call]}, {"text": "Fine."})
        await tab.talk("Go on.", str(conversation.pk))
        assert await reasons() == (["task_done"] if done else [])


GARDEN = [
    "When should I sow broad beans in the vegetable garden?",
    "How deep do I plant garlic cloves in the garden bed?",
    "Which compost suits tomato plants in the garden?",
    "How often must I water lettuce seedlings in the garden?",
    "What keeps slugs away from the lettuce in my garden?",
    "Which vegetables grow well beside tomato plants?",
    "When do I plant out tomato seedlings in the garden?",
    "How much water do garden tomato plants need in summer?",
]
TAXES = [
    "How do I declare freelance income on my tax return?",
    "Which insurance costs can I deduct from income tax?",
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("last", [TAXES, GARDEN[:2]], ids=["taxes", "still the garden"])
async def test_another_topic_is_folded(alice: User, tabs: Tabs, provider: Provider, last: list[str]) -> None:
    said = [(question, "I see.") for question in (*GARDEN, *GARDEN, *last)]
    conversation = await sync_to_async(begin)(alice, said, index=True)
    while await sync_to_async(embed_pending)():
        pass
    tab = await tabs.open(alice)
    await tab.talk("Thanks!", str(conversation.pk))
    assert await reasons() == (["topic"] if last is TAXES else [])


@pytest.mark.django_db(transaction=True)
async def test_an_answer_is_shown_although_the_folding_fails(
    alice: User, tabs: Tabs, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(finish, "_request_compaction_if_due", fails)
    tab = await tabs.open(alice)
    done = await tab.talk("Hello there.")
    assert done["outcome"] == "complete"
