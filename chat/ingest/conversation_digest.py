"""The digest of a conversation for its document: the existing summaries, and rules for the turns they don't cover.

No model is called: rules pick sentences of the user and write none (`chat/compaction/summaries/rule_engine.py`).
"""

from typing import Final
from uuid import UUID

from django.urls import reverse

from chat.compaction.segments import load_uncompacted
from chat.compaction.summaries.merge import merge
from chat.compaction.summaries.schema import HEADINGS, Exchange, Summary, Verbosity
from chat.compaction.summaries.select_engine import summarize
from chat.ingest.withheld import mask_sentences, withheld_refs
from chat.models import Conversation
from memory import tombstones
from memory.ports.source import ConversationDigest
from memory.speech_acts.made_up import made_up
from memory.text.message_kinds import only_asks
from recall.redaction import FORGOTTEN

VERBOSITY: Final = Verbosity.FULL
"""A document isn't in every prompt, so it may be as long as the longest summary."""
UNNAMED: Final = "Conversation"


def build_digest(conversation_id: UUID) -> ConversationDigest | None:
    """The digest; None if the conversation was deleted."""
    conversation = Conversation.objects.not_deleted().select_related("user").filter(pk=conversation_id).first()
    if conversation is None:
        return None
    before = load_uncompacted(conversation)
    parts = [(s.first_turn, s.last_turn, Summary.from_json(s.summary)) for s in before.segments]
    # Without the answers, bare questions, greetings and fiction: a digest contains only what the user said is so.
    known, named = tombstones.load(conversation.user_id), withheld_refs(conversation.user_id)
    fiction = made_up(turn.question.text for turn in before.turns)
    repeated = [
        turn
        for turn, is_fiction in zip(before.turns, fiction, strict=True)
        if not (is_fiction or f"message:{turn.question.pk}" in named or only_asks(turn.question.text))
    ]
    questions = {
        turn.number: known.mask(mask_sentences(turn.question.pk, turn.masked_question(), named)) for turn in repeated
    }
    exchanges = [Exchange(t.number, questions[t.number], "", (), t.question.created_at) for t in repeated]
    if exchanges:
        rest = summarize(exchanges, VERBOSITY).summary
        parts.append((exchanges[0].number, exchanges[-1].number, rest))
    summary = merge(parts, VERBOSITY.limit)
    turns = max((last for _, last, _ in parts), default=0)
    masked = [turn.masked_question() for turn in before.turns if questions.get(turn.number) != turn.masked_question()]
    is_forgotten = any(conversation.title.rstrip("…") in text for text in masked)
    title = ("" if is_forgotten else conversation.title) or next(iter(summary.topics), UNNAMED)
    return ConversationDigest(
        title, conversation.started_at, turns, "" if summary.is_empty else _render_page(conversation, summary, turns)
    )


def _render_page(conversation: Conversation, summary: Summary, turns: int) -> str:
    """Render the digest as Markdown: one sentence per line, so that each can be edited or kept on its own."""
    started = conversation.started_at.astimezone(conversation.user.zone)
    link = reverse("conversation", args=[conversation.pk])
    lines = [f"{started.day} {started:%B %Y}, {turns} turn{'' if turns == 1 else 's'}. [Open the conversation]({link})"]
    lines += ["", summary.narrative] if summary.narrative else []
    for name, heading in HEADINGS.items():
        sentences = [sentence for sentence in getattr(summary, name) if FORGOTTEN not in sentence]
        lines += ["", f"## {heading}", *(f"- {sentence}" for sentence in sentences)] if sentences else []
    return "\n".join([*lines, *(["", f"Topics: {', '.join(summary.topics)}"] if summary.topics else [])])
