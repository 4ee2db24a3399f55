"""Which attachments stand in a conversation's prompt? Those of every turn that is not folded, and of the question."""

from __future__ import annotations

from dataclasses import replace

from chat.attachments.prompt_blocks import PromptAttachment, as_seen, load
from chat.messages.history import ConversationHistory


def in_outline(before: ConversationHistory) -> ConversationHistory:
    """What came before with its attachments, as far as its size and a summary need them."""
    found = load([turn.question.pk for turn in before.turns], with_images=False, with_texts=False)
    turns = [replace(turn, attachments=found.get(turn.question.pk, ())) for turn in before.turns]
    return replace(before, turns=tuple(turns))


def with_attachments(
    before: ConversationHistory, question_id: int, *, sees: bool
) -> tuple[ConversationHistory, tuple[PromptAttachment, ...]]:
    """What came before with its attachments, and those of the question. `sees`: the model takes images."""
    asked = [turn.question.pk for turn in before.turns]
    found = load([*asked, question_id], with_images=sees)
    if not found:
        return before, ()
    *of_turns, own = as_seen([found.get(pk, ()) for pk in (*asked, question_id)], sees=sees)
    turns = [replace(turn, attachments=some) for turn, some in zip(before.turns, of_turns, strict=True)]
    return replace(before, turns=tuple(turns)), own
