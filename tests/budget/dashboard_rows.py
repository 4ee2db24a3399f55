"""A month of turns for tests of the dashboard: many finalized receipts at once."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from budget.models import Receipt
from budget.planning.plan import Section
from budget.spending import usage
from chat.models import Conversation, Message
from tests.budget.rows import MODEL, PLAN

SIZES = {
    Section.SYSTEM_PROMPT: 1_900,
    Section.BOUNDARIES: 120,
    Section.PROFILE: 640,
    Section.HISTORY: 3_200,
    Section.MEMORIES: 900,
    Section.CLOCK: 40,
    Section.MESSAGE: 60,
}


def item(ref: str, section: Section, tokens: int, score: float | None = 0.5, **more: Any) -> dict[str, Any]:
    """One item of a receipt."""
    common = {"ref": ref, "section": str(section), "label": f"About {ref}", "tokens": tokens, "score": score}
    return {**common, "parts": {}, "kept": True, "rule": "", "url": "", **more}


def month_of_turns(
    user: Any,
    turns: int,
    items: list[dict[str, Any]] | None = None,
    until: datetime | None = None,
    days: int = 28,
    title: str = "Gardening",
) -> Conversation:
    """`turns` finalized receipts over the last `days` days, the newest at `until`, each with these items;
    counted too."""
    until = until or timezone.now()
    conversation = Conversation.objects.create(user=user, title=title, next_seq=2 * turns + 1)
    messages = Message.objects.bulk_create(
        Message(
            user=user,
            conversation=conversation,
            seq=number,
            turn=number,
            role="assistant",
            event_type="assistant_response",
            text="Yes.",
        )
        for number in range(1, turns + 1)
    )
    receipts = [
        _receipt(message, number, turns, [] if items is None else items) for number, message in enumerate(messages)
    ]
    Receipt.objects.bulk_create(receipts, batch_size=500)
    for number, receipt in enumerate(receipts):
        receipt.created_at = until - timedelta(days=days * (turns - 1 - number) / max(1, turns))
    Receipt.objects.bulk_update(receipts, ["created_at"], batch_size=500)
    for receipt in receipts[-300:]:
        usage.add_receipt(receipt)
    return conversation


def _receipt(message: Message, number: int, turns: int, items: list[dict[str, Any]]) -> Receipt:
    sizes = {**SIZES, Section.HISTORY: SIZES[Section.HISTORY] * (number + 1) // max(1, turns) + 100 * (number % 5)}
    predicted = sum(sizes.values())
    counted = round(predicted * (1 + 0.04 * ((number * 7) % 5 - 2) / (1 + number / 8)))
    read, write = (0, predicted // 2) if number == 0 else (counted * 7 // 10, counted // 10)
    fresh = counted - read - write
    figures = {"input": fresh, "cache_read": read, "cache_write_5m": 0, "cache_write_1h": write, "output": 180}
    cost = Decimal(fresh * 2 + read // 10 + write * 4 + 1_800) / 1_000_000
    return Receipt(
        user_id=message.user_id,
        conversation_id=message.conversation_id,
        message=message,
        turn=message.turn,
        state=Receipt.State.COMPLETE,
        model=MODEL,
        plan=PLAN.name,
        plan_total=PLAN.total,
        sections=[
            {
                "section": str(section),
                "ceiling": PLAN.ceilings.get(section),
                "tokens": sizes.get(section, 0),
                "cut_tokens": 0,
                "items": 1,
                "cut": 2 if section is Section.MEMORIES and number % 4 == 3 else 0,
            }
            for section in Section
        ],
        items=items,
        estimated_input=predicted,
        request_digest="d" * 64,
        rounds=[{**figures, "estimated": False, "demo": False, "predicted": predicted}],
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=write,
        output_tokens=180,
        cost=cost,
        cost_uncached=Decimal(counted * 2 + 1_800) / 1_000_000,
    )
