"""Excluding memories from one answer (“Answer without this memory”): the memory, what repeats it, and its words.

An excluded memory is nowhere in that prompt: not in the profile, the recalled memories, tool results or the history.
Its words are found in any case and punctuation; a paraphrase can't be distinguished from another thought, and stays.
"""

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
from chat.prompt.inputs import ExcludedInputs, PromptInputs
from chat.turn import BESIDE, HIDDEN, NO_EXCLUSION, Exclusion
from memory.models import Chunk, Episode, Fact
from memory.refs import KINDS, ids_by_kind
from memory.retrieval.recall import MemoryItem
from memory.retrieval.truth import CURRENT
from memory.speech_acts.network import states_nothing
from memory.text.keywords import content
from memory.text.message_kinds import only_asks
from memory.text.parts import sentence_spans

RULE: Final = "left out at your request"
MIN_WORDS: Final = 3
"""A sentence of fewer words (“in Lisbon”) is too unspecific to be recognized."""
MAX_SENTENCES: Final = 200
EXCLUDABLE_KINDS: Final = (*KINDS, "document", "update")
"""Kinds of references that name a memory: a recalled one, a profile line, a line that is new in the profile."""
EXCLUDABLE_SECTIONS: Final = (Section.MEMORIES, Section.PROFILE)


def excludable_items(receipt: Receipt) -> dict[str, dict[str, Any]]:
    """The memories of a prompt that its answer can be repeated without, by reference."""
    return {
        item["ref"]: item
        for item in receipt.items
        if item["kept"] and item["section"] in EXCLUDABLE_SECTIONS and _names_a_memory(item)
    }


def load_exclusion(answer: Message) -> Exclusion:
    """What this answer must do without, from its row: `{"without": [refs], "beside": id of the first answer}`."""
    refs: list[str] = answer.event_data.get("without", [])
    receipt = Receipt.objects.filter(message_id=answer.event_data.get(BESIDE), user_id=answer.user_id).first()
    if not refs or receipt is None:
        return NO_EXCLUSION
    items = excludable_items(receipt)
    cuts = tuple(Cut(_piece(items[ref]), RULE) for ref in refs if ref in items)
    labels = [cut.piece.label.removeprefix(NEW) for cut in cuts]
    refs = [*refs, *_facts_stating(answer.user_id, labels)]
    texts = [*labels, *load_texts(answer.user_id, refs), *_pinned_lines(receipt, refs)]
    return Exclusion(cuts, frozenset(load_carriers(answer.user_id, refs)), words_pattern(texts))


def words_pattern(texts: Iterable[str]) -> re.Pattern[str] | None:
    """Matches the sentences of these texts, with anything between their words; None: no sentence is long enough."""
    sentences = {tuple(re.findall(r"\w+", part)) for text in texts for part in _sentences(text)}
    longest_first = sorted((words for words in sentences if len(words) >= MIN_WORDS), key=len, reverse=True)
    patterns = [r"\W+".join(map(re.escape, words)) for words in longest_first[:MAX_SENTENCES]]
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE) if patterns else None


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def _names_a_memory(item: dict[str, Any]) -> bool:
    kind = item["ref"].partition(":")[0]
    return kind in EXCLUDABLE_KINDS and not item["label"].startswith((HOLDS_NO_LONGER, REMOVED))


def _facts_stating(user_id: int, statements: Sequence[str]) -> Iterator[str]:
    """The facts behind lines that name none: a line that is new in the profile is only identified by its words."""
    facts = Fact.objects.filter(user=user_id, statement__in=statements, status=Fact.Status.ACTIVE)
    return (f"fact:{pk}" for pk in facts.values_list("pk", flat=True))


def _piece(item: dict[str, Any]) -> Piece:
    fields = {name: item[name] for name in ("ref", "label", "tokens", "score", "parts", "url")}
    return Piece(Section(item["section"]), is_protected=item.get("guarded", False), **fields)


def load_texts(user_id: int, refs: Iterable[str]) -> Iterator[str]:
    """The texts of the rows; for a fact, also the quote in the user's own words."""
    ids = ids_by_kind(refs)
    for statement, quote in Fact.objects.filter(user=user_id, pk__in=ids["fact"]).values_list("statement", "quote"):
        yield from (statement, quote)
    yield from Episode.objects.filter(user=user_id, pk__in=ids["episode"]).values_list("summary", flat=True)
    yield from Chunk.objects.filter(user=user_id, pk__in=ids["chunk"]).values_list("text", flat=True)
    yield from Segment.objects.filter(user=user_id, pk__in=ids["segment"]).values_list("text", flat=True)
    yield from Message.objects.filter(user=user_id, pk__in=ids["message"]).values_list("text", flat=True)


def _pinned_lines(receipt: Receipt, refs: Sequence[str]) -> Iterator[str]:
    """The profile lines among `refs`, as the prompt had them."""
    lines = receipt.snapshot.lines if receipt.snapshot else []
    return (line["text"] for line in lines if line["ref"] in refs)


def load_carriers(user_id: int, refs: Sequence[str]) -> Iterator[str]:
    """The facts among `refs`, their messages, and the episodes that mention them."""
    facts = Fact.objects.filter(user=user_id, pk__in=ids_by_kind(refs)["fact"])
    for fact, message, episode in facts.values_list("pk", "message_id", "episodes"):
        yield f"fact:{fact}"
        if message is not None:
            yield f"message:{message}"
        if episode is not None:
            yield f"episode:{episode}"


# Out of the prompt: pure -------------------------------------------------------------------------------------------


def exclude_memories(inputs: PromptInputs, exclusion: Exclusion) -> PromptInputs:
    """Inputs without the excluded memories and everything that repeats them; `excluded` lists them for the receipt."""
    if exclusion == NO_EXCLUSION:
        return inputs
    profile, recalled, history = inputs.profile, inputs.recalled, inputs.history
    lines = [line for line in profile.lines if line.ref in exclusion.refs or exclusion.occurs_in(line.text)]
    asked = content(inputs.question.message.text)
    kept = [_item_without(item, exclusion, asked) for item in recalled.kept if item.ref not in exclusion.refs]
    left = {item.ref for item in kept if item is not None}
    items = [item for item in recalled.kept if item.ref not in left]
    return replace(
        inputs,
        clock=replace(inputs.clock, stated=inputs.clock.stated.without(exclusion.refs)),
        profile=replace(
            profile,
            lines=[line for line in profile.lines if line not in lines],
            update=[line for line in profile.update if not exclusion.occurs_in(line)],
        ),
        recalled=replace(
            recalled,
            kept=tuple(item for item in kept if item is not None),
            cut=tuple(candidate for candidate in recalled.cut if candidate.item.ref not in exclusion.refs),
        ),
        history=replace(
            history,
            turns=tuple(turn_without(turn, exclusion) for turn in history.turns),
            segments=tuple(segment_without(segment, exclusion) for segment in history.segments),
        ),
        task=exclusion.hide_in(inputs.task),
        question=replace(inputs.question, attachments=attachments_without(inputs.question.attachments, exclusion)),
        excluded=ExcludedInputs(
            exclusion.cuts,
            [line for line in lines if line.ref not in exclusion.refs],
            [item for item in items if item.ref not in exclusion.refs],
            exclusion.requests,
        ),
    )


def _item_without(item: MemoryItem, exclusion: Exclusion, asked: set[str]) -> MemoryItem | None:
    """A recalled memory as this prompt shows it: of a message its other sentences; None if they say nothing, or have no
    word of what is asked, so that the message was recalled for what is left out."""
    if not exclusion.occurs_in(item.text):
        return item
    kept = [one for one in _sentences(exclusion.hide_in(item.text)) if HIDDEN not in one]
    rest = " ".join(kept)
    if item.said_by != "user" or not asked & content(rest) or only_asks(rest) or states_nothing(rest):
        return None
    return item._replace(text=f"{rest} {HIDDEN}", answers="", qualifier=CURRENT)


def turn_without(turn: Turn, exclusion: Exclusion) -> Turn:
    """A turn as this prompt shows it; its rows stay unchanged."""
    return replace(
        turn,
        question=_message_without(turn.question, exclusion),
        answer=_message_without(turn.answer, exclusion),
        attachments=attachments_without(turn.attachments, exclusion),
    )


def attachments_without(attached: Iterable[PromptAttachment], exclusion: Exclusion) -> tuple[PromptAttachment, ...]:
    """Files and pastes in the same form; the content of an image isn't known."""
    return tuple(replace(attachment, text=exclusion.hide_in(attachment.text)) for attachment in attached)


def segment_without(segment: Segment, exclusion: Exclusion) -> Segment:
    """A summary in the same form."""
    shown = copy(segment)
    shown.text = exclusion.hide_in(segment.text)
    return shown


def _message_without(message: Message, exclusion: Exclusion) -> Message:
    shown = copy(message)
    shown.text, shown.event_data = exclusion.hide_in(message.text), exclusion.hide_in(message.event_data)
    return shown
