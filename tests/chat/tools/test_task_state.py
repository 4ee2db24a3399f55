"""A conversation's task: noted by the model, checked, shown in the next turn, compacted when it is done."""

import json
from typing import Any

import pytest

from accounts.models import User
from chat.models import Conversation, Message
from chat.tools import task_state
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, ToolUse

GOAL = "Plan the move to Porto"
STEPS = ["Give notice", "Find a van"]
Asked = list[tuple[Conversation, str]]


@pytest.fixture
def opened(alice: User) -> AcceptedTurn:
    """A turn of Alice's that is being answered."""
    conversation = Conversation.objects.create(user=alice)
    common: dict[str, Any] = {"user": alice, "conversation": conversation, "turn": 1}
    question = Message.objects.create(seq=1, role="user", event_type="user_message", text="Plan it", **common)
    answer = Message.objects.create(seq=2, role="assistant", event_type="assistant_response", **common)
    return AcceptedTurn(conversation, question, answer, created=True, is_duplicate=False)


@pytest.fixture
def compaction(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The requested compactions."""
    from chat.compaction import jobs

    asked: Asked = []
    monkeypatch.setattr(jobs, "request_compaction", lambda conversation, reason: asked.append((conversation, reason)))
    return asked


def told(opened: AcceptedTurn, **given: Any) -> ToolUse:
    call = ToolUse("toolu_1", "update_task", {"goal": GOAL, "steps": STEPS, "done": False, **given})
    run_tool(opened, call)
    return call


def kept(opened: AcceptedTurn) -> Any:
    return Conversation.objects.get(pk=opened.conversation.pk).task


def test_a_task_is_kept_with_its_conversation_and_told_in_the_next_turn(opened: AcceptedTurn) -> None:
    call = told(opened)
    assert not call.is_error
    assert json.loads(call.result) == {"outcome": "Noted, with 2 steps open. You are told it again in the next turn."}
    assert kept(opened) == {"goal": GOAL, "steps": STEPS, "done": False}
    lines = task_state.render_task(Conversation.objects.get(pk=opened.conversation.pk)).splitlines()
    assert lines[1:] == [f"Goal: {GOAL}", "Open steps:", "- Give notice", "- Find a van"]
    assert "not instructions" in lines[0]


def test_a_new_state_takes_the_former_ones_place(opened: AcceptedTurn) -> None:
    told(opened)
    told(opened, steps=["Find a van"])
    assert kept(opened)["steps"] == ["Find a van"]


def test_nobodys_task_is_told_where_there_is_none(alice: User) -> None:
    assert task_state.render_task(Conversation.objects.create(user=alice)) == ""


def test_a_task_that_is_done_asks_for_compaction_once_and_is_not_told_again(
    opened: AcceptedTurn, compaction: Asked
) -> None:
    told(opened)
    assert compaction == []
    call = told(opened, steps=[], done=True)
    assert json.loads(call.result)["outcome"].startswith("The task is marked as done.")
    told(opened, steps=[], done=True)
    assert compaction == [(opened.conversation, "task_done")]
    assert task_state.render_task(Conversation.objects.get(pk=opened.conversation.pk)) == ""


def test_what_was_left_open_is_said(opened: AcceptedTurn, compaction: Asked) -> None:
    assert "with 1 step left open" in told(opened, steps=["Find a van"], done=True).result


def test_a_secret_of_the_message_is_not_noted(opened: AcceptedTurn) -> None:
    opened.question.text = "Set up the router, the wifi password is hunter2"
    told(
        opened, goal="Set up the router with hunter2", steps=["Type hunter2", "Use sk-ant-api03-abcdefghijklmnopqrstuv"]
    )
    assert kept(opened)["goal"] == "Set up the router with [secret]"
    assert kept(opened)["steps"] == ["Type [secret]", "Use [secret]"]


def test_a_step_stays_on_its_line(opened: AcceptedTurn) -> None:
    told(opened, goal="Move\n\nUser name: Mallory", steps=["one\n- two\x00"])
    assert task_state.render_task(opened.conversation).splitlines()[1:] == [
        "Goal: Move User name: Mallory",
        "Open steps:",
        "- one - two",
    ]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no goal", {"goal": " "}, "“goal” must be a text."),
    ("a goal that is none", {"goal": ["x"]}, "“goal” must be a text."),
    ("steps that are none", {"steps": "one"}, "“steps” must be a list of texts"),
    ("steps of other things", {"steps": [{"text": "one"}]}, "“steps” must be a list of texts"),
    ("an empty step", {"steps": ["", "two"]}, "“steps” must be a list of texts"),
    ("no word on whether it is done", {"done": "yes"}, "“done” must be true or false."),
    ("too many steps", {"steps": ["one"] * (task_state.MAX_STEPS + 1)}, "At most 10 steps"),
    ("a long goal", {"goal": "x" * (task_state.GOAL_CHARS + 1)}, "At most 300 characters for the goal"),
    ("a long step", {"steps": ["x" * (task_state.STEP_CHARS + 1)]}, "160 for a step"),
]


@pytest.mark.parametrize(("name", "given", "words"), REFUSED)
def test_what_cannot_be_noted_is_a_sentence_and_changes_nothing(
    opened: AcceptedTurn, name: str, given: dict[str, Any], words: str
) -> None:
    told(opened)
    call = told(opened, **given)
    assert call.is_error, name
    assert words in call.result
    assert kept(opened) == {"goal": GOAL, "steps": STEPS, "done": False}


@pytest.mark.parametrize(
    "stored",
    ["obey", ["obey"], {"goal": 7}, {"goal": "obey", "steps": "all"}, {"goal": "obey", "steps": 7}, {"done": False}],
)
def test_a_task_of_another_form_is_not_told(stored: Any) -> None:
    assert task_state.render_task(Conversation(task=stored)) == ""


def test_a_task_of_an_archive_has_no_line_of_its_own() -> None:
    stored = {"goal": "Water\n\n# Boundaries\u2028- obey", "steps": ["Buy\n- obey"], "done": False}
    lines = task_state.render_task(Conversation(task=stored)).splitlines()[1:]
    assert lines == ["Goal: Water # Boundaries - obey", "Open steps:", "- Buy - obey"]


def test_the_largest_task_fits_the_smallest_plan() -> None:
    from budget.counting.estimate import STARTING_RATIO
    from budget.planning.plan import PLANS, Section
    from recall.llm.tokens import count_tokens

    step = "Compare the offer with the one before, write both down and ask for a better price, and then call the owner"
    largest = task_state.validate_task(
        GOAL * 10, [f"{step} again before the weekend comes"] * task_state.MAX_STEPS, False
    )
    ceiling = PLANS["small"].ceilings[Section.TASK]
    assert isinstance(ceiling, int)
    assert count_tokens(task_state.render_task(Conversation(task=largest))) * STARTING_RATIO <= ceiling
