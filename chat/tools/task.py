"""How does the model note what it is working on? The goal and the open steps; a task that is done is folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from chat.compaction import jobs
from chat.tools.calls import ToolInputError, ToolResult
from chat.tools.task_state import MOST_STEPS, TaskRefused, save_task, validate_task
from chat.turn import AcceptedTurn
from memory.forget_epoch import forgotten_since, lock_user

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import ToolParam

UPDATE_TASK: Final[ToolParam] = {
    "name": "update_task",
    "description": (
        "Note a task that takes more than one turn: you are told it again in the next. Call it when the task begins, "
        "when its steps change, and once when it is done."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "goal": {"type": "string", "description": "What is to be reached, in a sentence"},
            "steps": {
                "type": "array",
                "items": {"type": "string"},
                "description": f"The steps still open, in order: at most {MOST_STEPS} short ones",
            },
            "done": {"type": "boolean", "description": "Whether the whole task is completed"},
        },
        "required": ["goal", "steps", "done"],
        "additionalProperties": False,
    },
}
FORGOTTEN_MEANWHILE: Final = "Not noted: the person had something forgotten meanwhile. Go on without the note."
DONE: Final = "The task is marked as done{left}. It is not told again; older turns may be summarised now."
NOTED: Final = "Noted{steps}. You are told it again in the next turn."


def update_task(opened: AcceptedTurn, given: ToolResult) -> ToolResult:
    """Write the task down; one that is done asks for compaction."""
    try:
        task = validate_task(given.get("goal"), given.get("steps"), given.get("done"))
    except TaskRefused as refused:
        raise ToolInputError(str(refused)) from refused
    told_before = opened.conversation.task == task
    with transaction.atomic():
        lock_user(opened.answer.user_id)
        if forgotten_since(opened.answer.user_id, opened.answer.created_at):
            raise ToolInputError(FORGOTTEN_MEANWHILE)
        save_task(opened.conversation, task)
    open_steps = len(task["steps"])
    if not task["done"]:
        return {"outcome": NOTED.format(steps=f", with {_steps(open_steps)} open" if open_steps else "")}
    if not told_before:  # told twice, a task is folded once
        jobs.request_compaction(opened.conversation, "task_done")
    return {"outcome": DONE.format(left=f", with {_steps(open_steps)} left open" if open_steps else "")}


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
