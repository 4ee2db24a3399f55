"""Compares an answer with the trial that did without some memories: texts, tokens and cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from django.db.models import Q

from accounts.models import User
from budget.models import Receipt
from budget.planning.plan import Section
from chat.attachments.view import attached_to
from chat.messages.rendering import MessageView, build_message_view
from chat.models import Conversation, Message
from chat.turn import BESIDE
from chat.turns.live import TURN_REGISTRY
from recall.figures import money

GONE: Final = "a deleted memory"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two answers."""

    message: MessageView
    receipt: Receipt | None
    is_followed: bool
    """The conversation continues from it."""
    can_be_kept: bool
    """It can be chosen instead of the other."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of both answers, formatted."""

    name: str
    first: str
    other: str
    difference: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything the page shows."""

    conversation: Conversation
    question: MessageView
    left_out: list[str]
    """Labels of the excluded memories, from the first answer's receipt."""
    first: Side
    other: Side
    is_writing: bool
    has_gone_on: bool
    """The conversation was continued: neither answer can replace the other any more."""

    @property
    def rows(self) -> list[Row]:
        """Tokens and cost; empty until both answers have their figures."""
        if self.first.receipt is None or self.other.receipt is None or self.is_writing:
            return []
        return list(_rows(self.first.receipt, self.other.receipt))


def comparison(user: User, answer_id: int) -> Comparison:
    """The trial beside the answer it is compared with. Four statements.

    Raises:
        Message.DoesNotExist: the user has no such pair.
    """
    answers = Message.objects.not_deleted().for_user(user).select_related("parent", "receipt", "conversation")
    other: Message = answers.filter(Q(event_data__has_key=BESIDE), parent__isnull=False).get(pk=answer_id)
    first: Message = answers.get(pk=other.event_data[BESIDE])
    conversation, question = other.conversation, other.parent
    assert question is not None
    followed = conversation.active_leaf_id
    return Comparison(
        conversation=conversation,
        question=build_message_view(question, user.zone, attachments=attached_to([question]).get(question.pk, ())),
        left_out=_labels(first, other.event_data.get("without", [])),
        first=_side(first, user, followed, other),
        other=_side(other, user, followed, first),
        is_writing=other.status == Message.Status.STREAMING,
        has_gone_on=followed not in (first.pk, other.pk),
    )


def tried_without(user: User, answer_id: int) -> list[tuple[int, str]]:
    """The trials beside this answer: id, and the memories each did without."""
    first = Message.objects.not_deleted().for_user(user).select_related("receipt").filter(pk=answer_id).first()
    if first is None:
        return []
    tried = Message.objects.for_user(user).filter(parent=first.parent_id, **{f"event_data__{BESIDE}": answer_id})
    marks = tried.order_by("pk").values_list("pk", "event_data")
    return [(pk, "; ".join(_labels(first, data.get("without", [])))) for pk, data in marks]


def _labels(first: Message, refs: list[str]) -> list[str]:
    receipt = _receipt(first)
    labels = {item["ref"]: item["label"] for item in receipt.items} if receipt else {}
    return [labels.get(ref, GONE) for ref in refs]


def _side(answer: Message, user: User, followed: int | None, beside: Message) -> Side:
    is_whole = answer.status != Message.Status.STREAMING and bool(answer.text)
    return Side(
        message=build_message_view(_with_live_text(answer), user.zone),
        receipt=_receipt(answer),
        is_followed=answer.pk == followed,
        can_be_kept=is_whole and followed == beside.pk,
    )


def _with_live_text(answer: Message) -> Message:
    """With the text of this process, if it is the one that writes it: rows are a second behind."""
    turn = TURN_REGISTRY.by_conversation.get(answer.conversation_id)
    if turn is not None and turn.message_id == answer.pk:
        answer.text = turn.text
    return answer


def _receipt(answer: Message) -> Receipt | None:
    receipt: Receipt | None = getattr(answer, "receipt", None)
    return receipt


# Tokens and cost ----------------------------------------------------------------------------------------------------


def _rows(first: Receipt, other: Receipt) -> Iterator[Row]:
    yield _tokens("Prompt", _first_prompt(first), _first_prompt(other))
    for section, name in ((Section.MEMORIES, "Recalled memories"), (Section.PROFILE, "Profile")):
        yield _tokens(name, _kept_tokens(first, section), _kept_tokens(other, section))
    if len(first.rounds) > 1 or len(other.rounds) > 1:
        yield _tokens("Model requests", len(first.rounds), len(other.rounds))
        yield _tokens("Total input", first.total_input, other.total_input)
    yield _tokens("Answer", first.output_tokens, other.output_tokens)
    if first.cost is not None and other.cost is not None:
        change = other.cost - first.cost
        yield Row("Cost", money(first.cost), money(other.cost), f"{_sign(change)}{money(abs(change))}")


def _first_prompt(receipt: Receipt) -> int:
    """Without the results of tools, of which an answer that knew less may have more."""
    if not receipt.rounds:
        return receipt.estimated_input
    return sum(receipt.rounds[0][name] for name in ("input", "cache_read", "cache_write_5m", "cache_write_1h"))


def _kept_tokens(receipt: Receipt, section: Section) -> int:
    return sum(item["tokens"] for item in receipt.items if item["kept"] and item["section"] == section)


def _tokens(name: str, first: int, other: int) -> Row:
    change = other - first
    return Row(name, f"{first:,}", f"{other:,}", f"{_sign(change)}{abs(change):,}")


def _sign(change: int | Decimal) -> str:
    return "−" if change < 0 else "+" if change > 0 else "±"
