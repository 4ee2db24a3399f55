"""Rows for tests of receipts: a conversation with a question, its answer, and figures as the provider reports them."""

from dataclasses import dataclass
from typing import Any

from budget.counting.estimate import TextClass
from budget.models import Receipt
from budget.planning.fit import Cut, FitResult, Piece, fit
from budget.planning.plan import STANDARD, Section, resolve
from budget.receipts.record import draft_receipt
from chat.models import Conversation, Message
from tests.budget.pieces import turns

PLAN = resolve(STANDARD, 1_000_000)
MODEL = "claude-sonnet-5-5"


@dataclass
class Figures:
    """One request, as `chat` collects it."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    final: bool = True
    predicted: int = 0


def answer_of(user: Any, text: str = "In Lisbon.") -> Message:
    """A conversation's first answer, still in progress."""
    conversation = Conversation.objects.create(user=user, title="Family")
    common = {"user": user, "conversation": conversation, "turn": 1}
    asked = {"role": "user", "event_type": "user_message", "text": "Where does my sister live?"}
    told = {"role": "assistant", "event_type": "assistant_response", "text": text, "status": "streaming"}
    question = Message.objects.create(seq=1, **asked, **common)
    return Message.objects.create(seq=2, parent=question, **told, **common)


def a_prompt() -> FitResult:
    """Something in every section, and one memory that is cut."""
    recalled = Piece(
        Section.MEMORIES,
        "fact:12",
        "The user's sister Mary lives in Lisbon.",
        15,
        score=0.8123456,
        parts={"semantic": 0.9, "name_match": 0.5},
        url="/m/7",
    )
    too_much = Piece(Section.MEMORIES, "document:/reference/long", "A long document", 40_000, score=0.4)
    keyed = Piece(Section.PROFILE, "fact:3", "The user is allergic to peanuts.", 12, score=0.6, is_protected=True)
    fixed = [
        Piece(Section.SYSTEM_PROMPT, "blueprint", "Blueprint", 900),
        Piece(Section.BOUNDARIES, "boundary:1", "Be kind.", 5),
        Piece(Section.ROLE, "role:1", "Teacher", 30),
        Piece(Section.TASK, "tool:1", "Results", 70),
        Piece(Section.CLOCK, "clock", "Clock", 40),
        Piece(Section.MESSAGE, "question", "Where does my sister live?", 9),
    ]
    return fit([*fixed, *turns(100, 200, 300), keyed, recalled, too_much], PLAN)


def draft_for(
    answer: Message, fitted: FitResult | None = None, not_taken: tuple[Cut, ...] = (), **more: Any
) -> Receipt:
    """The receipt of `answer`, not saved."""
    given: dict[str, Any] = {
        "user_id": answer.user_id,
        "conversation_id": answer.conversation_id,
        "message_id": answer.pk,
        "turn": answer.turn,
        "model": MODEL,
        "plan": PLAN,
        "fitted": fitted or a_prompt(),
        "base_by_class": {TextClass.PROSE: 1_000},
        "request_digest": "d" * 64,
        "not_taken": not_taken,
        "timings": {"retrieve": 3.21},
    }
    return draft_receipt(**given | more)
