"""How did an answer end, what is said about it, and what can be done next? One row a stop reason or failure."""

from __future__ import annotations

from dataclasses import dataclass

from chat.models import Message
from chat.turn import MAX_ROUNDS, MESSAGE_TOO_LONG


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an answer: a sentence for the user (empty: nothing to say) and the buttons that are offered."""

    sentence: str = ""
    offers: tuple[str, ...] = ()
    status: Message.Status = Message.Status.COMPLETE


DONE = Outcome()
STOPPED = "stopped"
CRASHED = "process_ended"

BY_STOP_REASON: dict[str, Outcome] = {
    "end_turn": DONE,
    "stop_sequence": DONE,
    "tool_use": Outcome(
        f"The model wanted to go on searching; Recall ended it after {MAX_ROUNDS} rounds.", ("continue",)
    ),
    "max_tokens": Outcome("The answer reached its length limit.", ("continue",)),
    "pause_turn": Outcome("The model paused in the middle of its work.", ("continue",)),
    "refusal": Outcome("The model declined to answer this. You can put it another way, or try again.", ("retry",)),
    "model_context_window_exceeded": Outcome(
        "The conversation no longer fits the model's window. Go on in a new conversation: Recall brings your memories.",
        ("new",),
    ),
    STOPPED: Outcome("You stopped this answer.", ("continue", "retry"), Message.Status.INTERRUPTED),
    CRASHED: Outcome(
        "Recall was interrupted while it wrote this. Nothing you sent was lost.",
        ("continue", "retry"),
        Message.Status.INTERRUPTED,
    ),
}
"""The provider's stop reasons and Recall's own."""

UNKNOWN = Outcome("The model stopped for a reason Recall does not know.", ("continue", "retry"))


def outcome(message: Message) -> Outcome:
    """The end of this answer, for the page."""
    error = message.event_data.get("error")
    if error is not None:
        offers = ("continue", "retry") if message.text else ("retry",)
        offers = ("keep", *offers) if error["code"] == MESSAGE_TOO_LONG else offers
        return Outcome(error["sentence"], offers, Message.Status(message.status))
    return outcome_for(message.event_data.get("stop_reason") or "end_turn")


def outcome_for(stop_reason: str) -> Outcome:
    """The outcome of a stop reason."""
    return BY_STOP_REASON.get(stop_reason, UNKNOWN)
