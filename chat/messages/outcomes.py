"""How an answer ended: the sentence shown and the buttons offered, one row for each stop reason."""

from dataclasses import dataclass

from budget.receipts.record import PROCESS_ENDED
from chat.models import Message
from chat.turn import MAX_ROUNDS, MESSAGE_TOO_LONG


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an answer: a sentence for the user (may be empty) and the buttons offered."""

    sentence: str = ""
    offers: tuple[str, ...] = ()
    status: Message.Status = Message.Status.COMPLETE


DONE = Outcome()
STOPPED = "stopped"

BY_STOP_REASON: dict[str, Outcome] = {
    "end_turn": DONE,
    "stop_sequence": DONE,
    "tool_use": Outcome(f"Recall stopped the model's tool calls after {MAX_ROUNDS} rounds.", ("continue",)),
    "max_tokens": Outcome("The answer reached its length limit.", ("continue",)),
    "pause_turn": Outcome("The model paused before it was done.", ("continue",)),
    "refusal": Outcome("The model declined to answer. Rephrase your message, or try again.", ("retry",)),
    "model_context_window_exceeded": Outcome(
        "This conversation is too long for the model. Continue in a new one: Recall keeps your memories.",
        ("new",),
    ),
    STOPPED: Outcome("You stopped this answer.", ("continue", "retry"), Message.Status.INTERRUPTED),
    PROCESS_ENDED: Outcome(
        "Recall was interrupted while writing this. Nothing you sent was lost.",
        ("continue", "retry"),
        Message.Status.INTERRUPTED,
    ),
}
"""The provider's stop reasons and Recall's own."""

UNKNOWN = Outcome("The model stopped for an unknown reason.", ("continue", "retry"))


def outcome(message: Message) -> Outcome:
    """How this answer ended, for the page."""
    error = message.event_data.get("error")
    if error is not None:
        offers = ("continue", "retry") if message.text else ("retry",)
        offers = ("keep", *offers) if error["code"] == MESSAGE_TOO_LONG else offers
        return Outcome(error["sentence"], offers, Message.Status(message.status))
    return outcome_for(message.event_data.get("stop_reason") or "end_turn")


def outcome_for(stop_reason: str) -> Outcome:
    return BY_STOP_REASON.get(stop_reason, UNKNOWN)
