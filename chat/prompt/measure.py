"""Measures every candidate piece of a prompt in tokens, with the model's learned ratios. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from budget.counting.cached_prefix import sum_counts
from budget.counting.estimate import MESSAGE_FRAME, TOOLS_FRAME, TextClass, by_class, estimate
from budget.counting.images import image_tokens
from budget.planning.fit import Piece
from budget.planning.plan import Section
from chat.attachments.prompt_blocks import PromptAttachment
from chat.messages.history import Turn
from chat.models import Message, Segment
from chat.prompt.inputs import PromptInputs
from chat.prompt.request import FRAME, RecalledMemory
from chat.prompt.system_prompt import needs_short_prompt, system_prompt_for
from chat.prompt.user_context import render_clock
from chat.tools.registry import TOOLS, shorten_tools
from chat.tools.search_providers import offer
from memory.forget_requests.requests import find_request
from memory.ports.source import get_source
from memory.retrieval.recall import MemoryItem
from memory.secrets.secrets_filter import mask_secrets
from memory.text.plain_words import in_a_line
from recall.llm.tokens import count_tokens
from recall.text import model_json

LABEL_CHARS: Final = 200
FORGET_NOTE: Final = (
    "The user asks to forget something. Recall no longer uses it. Say so in a sentence, and that "
    "the Forget button under their message previews deleting it for good. Don't repeat it."
)
SUMMARY_LABEL: Final = "Turns {first} to {last}, summarized"
TASK_LABEL: Final = "The task at hand"
CLOCK_LABEL: Final = "Time, name and how well you know each other"
FIXED_LABELS: Final = {
    "blueprint": "Who Recall is and how it treats recalled data",
    "tools": "Definitions of the tools",
    "frame": "Headings between the sections",
}
UPDATE_SCORE: Final = 1.0
"""Score of a profile update: it corrects what the model would otherwise believe."""
TOOLS_JSON: Final = json.dumps(TOOLS, sort_keys=True)
"""The same for every stored turn, so it is serialized once."""
SHORT_TOOLS_JSON: Final = json.dumps(shorten_tools(TOOLS), sort_keys=True)


@dataclass(frozen=True, slots=True)
class MeasuredPiece:
    """A piece with its text and its base counts."""

    piece: Piece
    text: str
    counts: Mapping[TextClass, int]


def measure_pieces(inputs: PromptInputs) -> Iterator[MeasuredPiece]:
    """Every candidate piece, section by section."""
    scale = Scale(inputs.budget.ratios)
    instructions, question = inputs.instructions, inputs.question
    yield from _measure_fixed(inputs, scale)
    for boundary in instructions.boundaries:
        yield scale.measure(Section.BOUNDARIES, f"boundary:{boundary.pk}", boundary.text)
    if (role := instructions.role) is not None:
        yield scale.measure(Section.ROLE, f"role:{role.pk}", role.prompt_text, label=role.name)
    if (project := instructions.project) is not None and project.prompt_text:
        yield scale.measure(Section.ROLE, f"project:{project.pk}", project.prompt_text, label=project.name)
    yield from _measure_profile(inputs, scale)
    for entry in inputs.history.in_order:
        yield from _measure_segment(entry, scale) if isinstance(entry, Segment) else _measure_turn(inputs, entry, scale)
    yield from _measure_memories(inputs, scale)
    if inputs.task:
        yield scale.measure(Section.TASK, "task", inputs.task, label=TASK_LABEL, is_protected=True)
    yield scale.measure(Section.CLOCK, "clock", clock_text(inputs), label=CLOCK_LABEL)
    yield _measure_message(Section.MESSAGE, question.message, mask_secrets(question.message.text), scale)
    yield from measure_attachments(inputs, scale, Section.MESSAGE, question.attachments)


def measure_attachments(
    inputs: PromptInputs,
    scale: Scale,
    section: Section,
    attached: Sequence[PromptAttachment],
    *,
    images_only: bool = False,
    **fields: Any,
) -> Iterator[MeasuredPiece]:
    """Images with the model's token count for their size; files and pastes by their text."""
    for attachment in attached:
        is_shown = attachment.is_image and not attachment.is_unseen
        image = image_tokens(attachment.width, attachment.height, inputs.model.name) if is_shown else 0
        if attachment.is_image or not images_only:
            yield scale.measure(
                section,
                attachment.ref,
                attachment.prompt_text,
                label=attachment.name,
                inside=attachment.text,
                image=image,
                **fields,
            )


def clock_text(inputs: PromptInputs) -> str:
    """Time and user, the offer of a web search if the question asks for news, and the effect of a request to forget."""
    clock = render_clock(inputs.user, inputs.clock.relationship, inputs.clock.now, inputs.clock.stated)
    web = offer(inputs.question.message.text) if inputs.model.tools is None else ""
    forgetting = FORGET_NOTE if inputs.model.tools is None and find_request(inputs.question.message.text) else ""
    return "\n".join(line for line in (clock, web, forgetting) if line)


def recalled_memory(item: MemoryItem) -> RecalledMemory:
    """The memory as the model sees it."""
    when = item.when.date().isoformat()
    return RecalledMemory(
        item.ref, item.source, when, item.text, item.said_by, item.title, item.qualifier, item.answers
    )


def score_parts(item: MemoryItem) -> dict[str, Any]:
    """Why the memory ranked where it did, and whether it is still true, for the receipt."""
    return {"parts": {str(name): value for name, value in item.parts.items()}, "qualifier": item.qualifier}


def message_link(message_id: int | None) -> str:
    """URL of the message; empty if there is none."""
    return get_source().message_url(message_id) if message_id is not None else ""


def _measure_fixed(inputs: PromptInputs, scale: Scale) -> Iterator[MeasuredPiece]:
    """The system prompt, the tools, and the headings between sections."""
    system_prompt = system_prompt_for(inputs.budget.plan)
    for ref, text in {"blueprint": system_prompt, "tools": _tools_json(inputs), "frame": FRAME}.items():
        if text:
            base = count_tokens(text) + (TOOLS_FRAME if ref == "tools" else 0)
            label = FIXED_LABELS[ref]
            yield scale.measure(Section.SYSTEM_PROMPT, ref, text, label=label, base=base, kind=TextClass.FIXED)


def _tools_json(inputs: PromptInputs) -> str:
    is_short, tools = needs_short_prompt(inputs.budget.plan), inputs.model.tools
    if tools is None:
        return SHORT_TOOLS_JSON if is_short else TOOLS_JSON
    return json.dumps(shorten_tools(tools) if is_short else tools, sort_keys=True) if tools else ""


def _measure_profile(inputs: PromptInputs, scale: Scale) -> Iterator[MeasuredPiece]:
    candidates = {candidate.item.ref: candidate.item for candidate in inputs.recalled.cut}
    for line in inputs.profile.lines:
        current, candidate = inputs.profile.current.get(line.ref), candidates.get(line.ref)
        yield scale.measure(
            Section.PROFILE,
            line.ref,
            line.text,
            base=line.tokens,
            score=current.rank if current else 0.0,
            is_protected=line.ref.startswith("fact:") and (current is None or current.is_fact),
            url=message_link(current.message_id) if current else "",
            **(score_parts(candidate) | {"relevance": candidate.score} if candidate else {}),
        )


def _measure_turn(inputs: PromptInputs, turn: Turn, scale: Scale) -> Iterator[MeasuredPiece]:
    yield from measure_attachments(inputs, scale, Section.HISTORY, turn.attachments, turn=turn.number)
    masked = ((turn.question, turn.masked_question()), (turn.answer, turn.masked_answer()))
    for message, label in masked:
        yield _measure_message(Section.HISTORY, message, label, scale, turn=turn.number)


def _measure_message(section: Section, message: Message, label: str, scale: Scale, **fields: Any) -> MeasuredPiece:
    """`label`: without secrets, because receipts outlive the turn."""
    ref = f"message:{message.pk}"
    return scale.measure(section, ref, message.text, label=label, base=message.tokens, framed=True, **fields)


def _measure_segment(segment: Segment, scale: Scale) -> Iterator[MeasuredPiece]:
    label = SUMMARY_LABEL.format(first=segment.first_turn, last=segment.last_turn)
    url = message_link(segment.last_message_id)
    yield scale.measure(Section.HISTORY, segment.ref, segment.text, label=label, turn=segment.first_turn, url=url)


def _measure_memories(inputs: PromptInputs, scale: Scale) -> Iterator[MeasuredPiece]:
    for number, line in enumerate(inputs.profile.update):
        yield scale.measure(Section.MEMORIES, f"update:{number}", line, score=UPDATE_SCORE, is_protected=True)
    for item in inputs.recalled.kept:
        yield scale.measure(
            Section.MEMORIES,
            item.ref,
            model_json(recalled_memory(item).as_json()),
            label=item.text,
            score=item.score,
            **score_parts(item),
            url=message_link(item.message_id),
            inside=item.text,
        )


class Scale:
    """Measures texts with the model's learned ratios."""

    def __init__(self, ratios: Mapping[TextClass, float]) -> None:
        self._ratios = ratios

    def measure(
        self,
        section: Section,
        ref: str,
        text: str,
        *,
        label: str = "",
        base: int | None = None,
        kind: TextClass | None = None,
        framed: bool = False,
        inside: str = "",
        image: int = 0,
        **fields: Any,
    ) -> MeasuredPiece:
        """Measure `text`. `inside`: the prose in `text`, if the rest is JSON around it. `image`: tokens of an image
        next to it."""
        base = count_tokens(text) if base is None else base
        if inside:
            prose = min(base, count_tokens(inside))
            counts = sum_counts([by_class(inside, prose), {TextClass.JSON: base - prose}])
        else:
            counts = {kind: base} if kind else by_class(text, base)
        if image:
            counts = {**counts, TextClass.IMAGE: image}
        if framed:
            counts = {**counts, TextClass.FRAME: MESSAGE_FRAME}
        piece = Piece(section, ref, in_a_line(label or text, LABEL_CHARS), estimate(counts, self._ratios), **fields)
        return MeasuredPiece(piece, text, counts)
