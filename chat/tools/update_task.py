"""The tool `update_task`: store the conversation's task; a finished one requests compaction."""

from typing import Final

from django.db import transaction

from chat.compaction import jobs
from chat.tools.task_state import MAX_STEPS, InvalidTaskError, save_task, validate_task, without_secrets
from chat.tools.tool import Tool, ToolInput, ToolInputError, ToolResult, define
from chat.turn import AcceptedTurn
from memory.forget_epoch import forgotten_since, lock_user

FORGOTTEN_MEANWHILE: Final = "Not noted: the person had something forgotten meanwhile. Go on without the note."
DONE: Final = "The task is marked as done{left}. It is not told again; older turns may be summarised now."
NOTED: Final = "Noted{steps}. You are told it again in the next turn."


def update_task(turn: AcceptedTurn, arguments: ToolInput) -> ToolResult:
    """Store the task, unless something was forgotten since the answer started."""
    try:
        task = validate_task(arguments.get("goal"), arguments.get("steps"), arguments.get("done"))
    except InvalidTaskError as error:
        raise ToolInputError(str(error)) from error
    task = without_secrets(task, turn.question.text)
    is_repeated = turn.conversation.task == task
    with transaction.atomic():
        lock_user(turn.answer.user_id)
        if forgotten_since(turn.answer.user_id, turn.answer.created_at):
            raise ToolInputError(FORGOTTEN_MEANWHILE)
        save_task(turn.conversation, task)
    open_steps = len(task["steps"])
    if not task["done"]:
        return {"outcome": NOTED.format(steps=f", with {_count_steps(open_steps)} open" if open_steps else "")}
    if not is_repeated:  # a repeated call compacts only once
        jobs.request_compaction(turn.conversation, "task_done")
    return {"outcome": DONE.format(left=f", with {_count_steps(open_steps)} left open" if open_steps else "")}


def _count_steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


UPDATE_TASK: Final = Tool(
    define(
        "update_task",
        (
            "Note a task that takes more than one turn: you are told it again in the next. Call it when the task "
            "begins, when its steps change, and once when it is done."
        ),
        {
            "goal": {"type": "string", "description": "What is to be reached, in a sentence"},
            "steps": {
                "type": "array",
                "items": {"type": "string"},
                "description": f"The steps still open, in order: at most {MAX_STEPS} short ones",
            },
            "done": {"type": "boolean", "description": "Whether the whole task is completed"},
        },
        required=["goal", "steps", "done"],
    ),
    run=update_task,
    writes=True,
)
