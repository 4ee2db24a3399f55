"""What does it take to leave a memory out of one answer? Its piece, what else says it, and its words anywhere.

“Answer without this memory” shows what a memory did. So the memory may stand nowhere in that one prompt: not in the
profile, not recalled, not in what tools bring, not in the history. What it says is told by its words, in any case and
with any punctuation; a paraphrase in somebody's earlier words cannot be told from another thought, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final

from budget.models import Receipt
from budget.planning.fit import Cut, Piece
from budget.planning.plan import Section
from budget.receipts.profile_snapshots import HOLDS_NO_LONGER, NEW
from budget.receipts.retention import REMOVED
from chat.attachments.prompt_blocks import PromptAttachment
from chat.messages.history import Turn
from chat.models import Message, Segment
from chat.prompt.inputs import PromptInputs
from chat.turn import NO_EXCLUSION, Exclusion
from memory.models import Chunk, Episode, Fact
from memory.refs import KINDS, ids_by_kind

RULE: Final = "left out at your request"
FEWEST_WORDS: Final = 3
"""A sentence of fewer words (“in Lisbon”) says too little by itself to be known again."""
MOST_SENTENCES: Final = 200
LEAVABLE: Final = (*KINDS, "document", "update")
"""Kinds of references that name a memory: what retrieval brings, a line of the profile, one that is new in it."""
SECTIONS: Final = (Section.MEMORIES, Section.PROFILE)


def excludable_items(receipt: Receipt) -> dict[str, dict[str, Any]]:
    """The memories that stood in a prompt and that its answer can be had without, by reference."""
    return {
        item["ref"]: item
        for item in receipt.items
        if item["kept"] and item["section"] in SECTIONS and _names_a_memory(item)
    }


def load_exclusion(answer: Message) -> Exclusion:
    """What this answer is to do without, as its row says: `{"without": [refs], "beside": id of the first answer}`."""
    refs: list[str] = answer.event_data.get("without", [])
    receipt = Receipt.objects.filter(message_id=answer.event_data.get("beside"), user_id=answer.user_id).first()
    if not refs or receipt is None:
        return NO_EXCLUSION
    given = excludable_items(receipt)
    cuts = tuple(Cut(_piece(given[ref]), RULE) for ref in refs if ref in given)
    told = [cut.piece.label.removeprefix(NEW) for cut in cuts]
    refs = [*refs, *_facts_that_say(answer.user_id, told)]
    texts = [*told, *_texts(answer.user_id, refs), *_pinned(receipt, refs)]
    return Exclusion(cuts, frozenset(_carriers(answer.user_id, refs)), pattern(texts))


def pattern(texts: Iterable[str]) -> re.Pattern[str] | None:
    """Finds the sentences of these texts, whatever stands between their words; None: they have none to go by."""
    sentences = {tuple(re.findall(r"\w+", one)) for text in texts for one in re.split(r"(?<=[.!?])\s+|\n", text)}
    told = sorted((words for words in sentences if len(words) >= FEWEST_WORDS), key=len, reverse=True)
    found = [r"\W+".join(map(re.escape, words)) for words in told[:MOST_SENTENCES]]
    return re.compile(rf"\b(?:{'|'.join(found)})\b", re.IGNORECASE) if found else None


def _names_a_memory(item: dict[str, Any]) -> bool:
    kind = item["ref"].partition(":")[0]
    return kind in LEAVABLE and not item["label"].startswith((HOLDS_NO_LONGER, REMOVED))


def _facts_that_say(user_id: int, told: Sequence[str]) -> Iterator[str]:
    """The facts behind lines that name none: what is new in the profile is told by its words alone."""
    facts = Fact.objects.filter(user=user_id, statement__in=told, status=Fact.Status.ACTIVE)
    return (f"fact:{pk}" for pk in facts.values_list("pk", flat=True))


def _piece(item: dict[str, Any]) -> Piece:
    named = {name: item[name] for name in ("ref", "label", "tokens", "score", "parts", "url")}
    return Piece(Section(item["section"]), is_protected=item.get("guarded", False), **named)


def _texts(user_id: int, refs: Sequence[str]) -> Iterator[str]:
    """What the rows say: a fact also in the person's own words."""
    ids = ids_by_kind(refs)
    for statement, quote in Fact.objects.filter(user=user_id, pk__in=ids["fact"]).values_list("statement", "quote"):
        yield from (statement, quote)
    yield from Episode.objects.filter(user=user_id, pk__in=ids["episode"]).values_list("summary", flat=True)
    yield from Chunk.objects.filter(user=user_id, pk__in=ids["chunk"]).values_list("text", flat=True)
    yield from Segment.objects.filter(user=user_id, pk__in=ids["segment"]).values_list("text", flat=True)
    yield from Message.objects.filter(user=user_id, pk__in=ids["message"]).values_list("text", flat=True)


def _pinned(receipt: Receipt, refs: Sequence[str]) -> Iterator[str]:
    """The profile's lines among them, as they stood in the prompt."""
    lines = receipt.snapshot.lines if receipt.snapshot else []
    return (line["text"] for line in lines if line["ref"] in refs)


def _carriers(user_id: int, refs: Sequence[str]) -> Iterator[str]:
    facts = Fact.objects.filter(user=user_id, pk__in=ids_by_kind(refs)["fact"])
    for fact, message, episode in facts.values_list("pk", "message_id", "episodes"):
        yield f"fact:{fact}"
        if message is not None:
            yield f"message:{message}"
        if episode is not None:
            yield f"episode:{episode}"


# Out of the prompt ---------------------------------------------------------------------------------------------------


def exclude_memories(known: PromptInputs, left: Exclusion) -> PromptInputs:
    """What is known, without it: pure. What was struck is listed on the receipt, by RULE."""
    if left == NO_EXCLUSION:
        return known
    gone = [line for line in known.profile if line.ref in left.refs or left.occurs_in(line.text)]
    told = [item for item in known.recollection.kept if item.ref in left.refs or left.occurs_in(item.text)]
    kept = tuple(item for item in known.recollection.kept if item not in told)
    cut = tuple(one for one in known.recollection.cut if one.item.ref not in left.refs)
    past = replace(
        known.history,
        turns=tuple(turn_without(turn, left) for turn in known.history.turns),
        segments=tuple(segment_without(segment, left) for segment in known.history.segments),
    )
    return replace(
        known,
        profile=[line for line in known.profile if line not in gone],
        profile_update=[line for line in known.profile_update if not left.occurs_in(line)],
        recollection=replace(known.recollection, kept=kept, cut=cut),
        history=past,
        task=left.hide_in(known.task),
        attachments=attachments_without(known.attachments, left),
        excluded=left.cuts,
        struck_lines=[line for line in gone if line.ref not in left.refs],
        struck_items=[item for item in told if item.ref not in left.refs],
    )


def turn_without(turn: Turn, left: Exclusion) -> Turn:
    """A turn as that one prompt shows it; its rows stay as they are."""
    attached = attachments_without(turn.attachments, left)
    return replace(
        turn, question=_message(turn.question, left), answer=_message(turn.answer, left), attachments=attached
    )


def attachments_without(attached: Iterable[PromptAttachment], left: Exclusion) -> tuple[PromptAttachment, ...]:
    """The same of files and pastes; what an image shows cannot be told."""
    return tuple(replace(one, text=left.hide_in(one.text)) for one in attached)


def segment_without(segment: Segment, left: Exclusion) -> Segment:
    """The same of a summary."""
    shown = copy(segment)
    shown.text = left.hide_in(segment.text)
    return shown


def _message(message: Message, left: Exclusion) -> Message:
    shown = copy(message)
    shown.text, shown.event_data = left.hide_in(message.text), left.hide_in(message.event_data)
    return shown
