"""`TurnBackend`: where a turn reads and writes. `StoredTurn` uses rows, `chat/turns/temporary.py` the process."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from accounts.models import User
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.prompt.preflight import store_result
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, AgentRun, ToolUse
from chat.turns.finish import finish_turn, save_draft_receipt, save_partial
from chat.turns.live_text import Frame
from chat.turns.recovery import abandon_answer


@dataclass(slots=True)
class Progress:
    """How far a turn got, however it ends."""

    started_at: float = field(default_factory=time.monotonic)
    prompt: AssembledPrompt | None = None
    run: AgentRun = field(default_factory=AgentRun)


class TurnBackend(Protocol):
    """What differs between a stored and a temporary turn. Every method blocks: `run_turn` calls it on a thread."""

    def build_prompt(self) -> AssembledPrompt:
        """The request that fits the plan; raises `TurnRejectedError`."""

    def run_tool(self, call: ToolUse) -> None:
        """Fill in the result of the call."""

    def store_result(self, call: ToolUse) -> str:
        """Store a tool's whole result before it is truncated, and return its path; empty: it could not be stored."""

    def show_context(self, prompt: AssembledPrompt) -> Frame:
        """The frame that fills the context panel while the model writes."""

    def save_partial(self, text: str, thinking: str) -> None:
        """Save the text and thinking so far."""

    def finish(self, text: str, progress: Progress) -> list[Frame]:
        """Save the answer and return the frames that show it; doing it again changes nothing."""

    def abandon(self, text: str, progress: Progress) -> list[Frame]:
        """Give up an answer that `finish` could not save."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """The backend of a stored conversation: rows."""

    turn: AcceptedTurn

    def build_prompt(self) -> AssembledPrompt:
        """From rows."""
        return assemble_prompt(self.turn)

    def run_tool(self, call: ToolUse) -> None:
        """Any tool of the installation."""
        run_tool(self.turn, call)

    def store_result(self, call: ToolUse) -> str:
        """As an artifact of the user's."""
        return store_result(self.turn, call)

    def show_context(self, prompt: AssembledPrompt) -> Frame:
        """Save the receipt as far as it is known; the page fetches it."""
        save_draft_receipt(self.turn, prompt)
        return {"type": "context", "message": self.turn.answer.pk}

    def save_partial(self, text: str, thinking: str) -> None:
        """What a crash leaves."""
        save_partial(self.turn.answer.pk, text, thinking)

    def finish(self, text: str, progress: Progress) -> list[Frame]:
        """In one transaction."""
        return finish_turn(self.turn, text, progress.prompt, progress.run, progress.started_at)

    def abandon(self, text: str, progress: Progress) -> list[Frame]:
        """Leave the answer to `mark_abandoned_answers`, with its text."""
        if progress.prompt is not None:
            with suppress(User.DoesNotExist):  # logged by `run_turn`
                save_draft_receipt(self.turn, progress.prompt)
        save_partial(self.turn.answer.pk, text, progress.run.thinking)
        abandon_answer(self.turn.answer.pk)
        return []
