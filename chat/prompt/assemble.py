"""What does the model get to see? Gather what is known, weigh it in tokens, fit it into the plan, render it."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings

from accounts.models import User
from budget.counting.cached_prefix import Prefix, build_prefix, sum_counts, with_known_figures
from budget.counting.estimate import MESSAGE_FRAME, TOOLS_FRAME, TextClass, by_class, estimate
from budget.counting.images import image_tokens
from budget.counting.learning import standard_deviation
from budget.planning.fit import Cut, FitResult, OversizedMessage, Piece, fit
from budget.planning.history_cut import TurnRange
from budget.planning.plan import ResolvedPlan, Section
from chat.attachments.prompt_blocks import PromptAttachment
from chat.messages.history import Turn
from chat.models import Segment
from chat.prompt.ablation import RULE, exclude_memories
from chat.prompt.inputs import PromptInputs, load_prompt_inputs
from chat.prompt.request import FRAME, PromptContents, RecalledMemory, RequestOptions, build_request, digest
from chat.prompt.system_prompt import SYSTEM_PROMPT
from chat.prompt.user_context import render_clock
from chat.tools.registry import TOOLS
from chat.tools.search_providers import offer
from chat.turn import MESSAGE_TOO_LONG, AcceptedTurn, TurnRejectedError
from memory.ports.source import get_source
from memory.retrieval.recall import CutItem, MemoryItem
from recall.llm.tokens import count_tokens
from recall.text import in_a_line

CANDIDATES_KEPT: Final = 40
"""Of the candidates that retrieval left out, the receipt lists so many, the best: the legs bring up four times as many,
most of them far below the floor, and each costs half a kilobyte of every receipt."""
LABEL_CHARS: Final = 200
SUMMARY_LABEL: Final = "Turns {first} to {last}, summarised"
TASK_LABEL: Final = "The task at hand"
IMAGES_TOO_LONG: Final = (
    "The attached images are too much: about {tokens:,} tokens, and at most {room:,} fit into the plan “{plan}” with "
    "this model. Attach fewer, or choose a larger plan."
)
ALWAYS: Final = 1.0
"""Score of a profile update: it corrects what the model would else believe."""


@dataclass(frozen=True, slots=True)
class MeasuredPiece:
    """A piece with its text and its base counts."""

    piece: Piece
    text: str
    counts: Mapping[TextClass, int]


@dataclass(frozen=True, slots=True)
class AssembledPrompt:
    """A prompt that is ready to be sent, and all that its receipt needs to know."""

    inputs: PromptInputs
    fitted: FitResult
    omitted: tuple[Cut, ...]
    unlisted: int
    """Candidates beyond those of `not_taken`: they scored lower than all of them."""
    contents: PromptContents
    options: RequestOptions
    request: dict[str, Any]
    digest: str
    base_by_class: dict[TextClass, int]
    prefix: Prefix
    weighed: int
    """Tokens of the prompt by the ratios alone, which is what `fit` went by."""
    timings: dict[str, float]

    @property
    def uncertainty(self) -> float:
        """Standard deviation of the estimate, in tokens: what the provider counted before has none."""
        return math.hypot(standard_deviation(self.inputs.belief, self.prefix.unknown), math.sqrt(self.prefix.variance))

    @property
    def cached(self) -> bool:
        """Whether the request carries cache breakpoints."""
        return self.inputs.capabilities.caching

    @property
    def used_refs(self) -> list[str]:
        """What memories stand in the prompt."""
        return [p.ref for p in self.fitted.kept if p.section in (Section.MEMORIES, Section.PROFILE)]


def assemble_prompt(opened: AcceptedTurn) -> AssembledPrompt:
    """From a committed question to a request that fits.

    Raises:
        Refused: the message is too long for the plan.
    """
    began = time.perf_counter()
    return assemble_from_inputs(exclude_memories(load_prompt_inputs(opened), opened.exclusion), began)


def assemble_from_inputs(known: PromptInputs, began: float, plan: ResolvedPlan | None = None) -> AssembledPrompt:
    """The pure part: what is known, weighed, fitted and rendered. `plan`: a smaller one, where that proved too long.

    Raises:
        Refused: the message is too long for the plan.
    """
    plan = plan or known.plan
    weighed = list(measure_pieces(known))
    fitted = fit([one.piece for one in weighed], plan, known.already_cut)
    if twice := _told_twice(fitted):
        known = replace(known, recollection=known.recollection.drop_repeated(twice))
        weighed = list(measure_pieces(known))
        fitted = fit([one.piece for one in weighed], plan, known.already_cut)
    if fitted.rejection is not None:
        raise _refused(known, fitted.rejection, fitted.too_long)
    fitted = replace(fitted, cut_turns=_with_folded(fitted.cut_turns, known.history.segments))
    kept = {(piece.section, piece.ref) for piece in fitted.kept}
    contents = _contents(known, kept, fitted)
    how = _settings(known)
    request = build_request(contents, how, known.only_tools)
    standing = [one for one in weighed if (one.piece.section, one.piece.ref) in kept]
    prefix = build_prefix(standing, fitted.kept, known.known_counts)
    return AssembledPrompt(
        inputs=known,
        fitted=with_known_figures(fitted, plan, prefix),
        omitted=tuple(_not_taken(known)),
        unlisted=_unlisted(known),
        contents=contents,
        options=how,
        request=request,
        digest=digest(request),
        base_by_class=sum_counts(one.counts for one in standing),
        prefix=prefix,
        weighed=fitted.tokens,
        timings={**known.timings, "compile": round((time.perf_counter() - began) * 1000, 2)},
    )


def _told_twice(fitted: FitResult) -> set[str]:
    """Recalled memories that stand in the profile, too: its room was borrowed, which nobody knew before the fit."""
    in_profile = {piece.ref for piece in fitted.kept if piece.section is Section.PROFILE}
    return {piece.ref for piece in fitted.kept if piece.section is Section.MEMORIES and piece.ref in in_profile}


def _refused(known: PromptInputs, sentence: str, found: OversizedMessage | None) -> TurnRejectedError:
    """Why there is no request; where the images alone are too many, keeping the text as a document would not help."""
    scale = _Scale(known.ratios)
    seen = sum(one.piece.tokens for one in _attached(known, scale, Section.MESSAGE, known.attachments, images=True))
    if found is not None and seen > found.room:
        return TurnRejectedError(
            "too_long", IMAGES_TOO_LONG.format(tokens=seen, room=max(0, found.room), plan=known.plan.name)
        )
    return TurnRejectedError(MESSAGE_TOO_LONG if found is not None and found.can_be_kept else "too_long", sentence)


def _with_folded(cut: TurnRange | None, segments: Sequence[Segment]) -> TurnRange | None:
    """The turns that are left out, with all turns of a summary that is: `fit` knows it by its first turn."""
    last = max((one.last_turn for one in segments if cut is not None and one.first_turn in cut), default=0)
    return cut if cut is None or last <= cut.last else TurnRange(cut.first, last)


# Weighing: every piece that could stand in the prompt, in tokens -------------------------------------------------


def measure_pieces(known: PromptInputs) -> Iterator[MeasuredPiece]:
    """Every candidate piece, section by section."""
    scale = _Scale(known.ratios)
    fixed = {"blueprint": SYSTEM_PROMPT, "tools": _tools_json(known), "frame": FRAME}
    yield from scale.fixed(Section.SYSTEM_PROMPT, {ref: text for ref, text in fixed.items() if text})
    for boundary in known.boundaries:
        yield scale.put(Section.BOUNDARIES, f"boundary:{boundary.pk}", boundary.text)
    if known.role is not None:
        yield scale.put(Section.ROLE, f"role:{known.role.pk}", known.role.prompt_text, label=known.role.name)
    if known.project is not None and known.project.prompt_text:
        yield scale.put(
            Section.ROLE, f"project:{known.project.pk}", known.project.prompt_text, label=known.project.name
        )
    yield from _profile(known, scale)
    for one in known.history.in_order:
        yield from _segment(one, scale) if isinstance(one, Segment) else _turn(known, one, scale)
    yield from _memories(known, scale)
    if known.task:
        yield scale.put(Section.TASK, "task", known.task, label=TASK_LABEL, is_protected=True)
    yield scale.put(Section.CLOCK, "clock", _clock(known), label="Time, name and how well you know each other")
    yield scale.put(
        Section.MESSAGE, f"message:{known.question.pk}", known.question.text, base=known.question.tokens, framed=True
    )
    yield from _attached(known, scale, Section.MESSAGE, known.attachments)


def _turn(known: PromptInputs, turn: Turn, scale: _Scale) -> Iterator[MeasuredPiece]:
    yield from _attached(known, scale, Section.HISTORY, turn.attachments, turn=turn.number)
    for message in (turn.question, turn.answer):
        yield scale.put(
            Section.HISTORY,
            f"message:{message.pk}",
            message.text,
            base=message.tokens,
            framed=True,
            turn=turn.number,
        )


def _attached(
    known: PromptInputs,
    scale: _Scale,
    section: Section,
    attached: Sequence[PromptAttachment],
    *,
    images: bool = False,
    **more: Any,
) -> Iterator[MeasuredPiece]:
    """`images`: these alone."""
    for one in attached:
        seen = image_tokens(one.width, one.height, known.model) if one.is_image and not one.is_unseen else 0
        if one.is_image or not images:
            yield scale.put(section, one.ref, one.prompt_text, label=one.name, inside=one.text, image=seen, **more)


def _segment(segment: Segment, scale: _Scale) -> Iterator[MeasuredPiece]:
    label = SUMMARY_LABEL.format(first=segment.first_turn, last=segment.last_turn)
    url = _link(segment.last_message_id)
    yield scale.put(Section.HISTORY, segment.ref, segment.text, label=label, turn=segment.first_turn, url=url)


def _profile(known: PromptInputs, scale: _Scale) -> Iterator[MeasuredPiece]:
    found = {one.item.ref: one.item for one in known.recollection.cut}
    for line in known.profile:
        today, asked = known.importance.get(line.ref), found.get(line.ref)
        yield scale.put(
            Section.PROFILE,
            line.ref,
            line.text,
            base=line.tokens,
            score=today.standing if today else 0.0,
            is_protected=line.ref.startswith("fact:") and (today is None or today.is_fact),
            url=_link(today.message_id) if today else "",
            **(_why(asked) | {"relevance": asked.score} if asked else {}),
        )


def _memories(known: PromptInputs, scale: _Scale) -> Iterator[MeasuredPiece]:
    for number, line in enumerate(known.profile_update):
        yield scale.put(Section.MEMORIES, f"update:{number}", line, score=ALWAYS, is_protected=True)
    for item in known.recollection.kept:
        shown = json.dumps(_as_told(item).as_json(), ensure_ascii=False)
        yield scale.put(
            Section.MEMORIES,
            item.ref,
            shown,
            label=item.text,
            score=item.score,
            **_why(item),
            url=_link(item.message_id),
            inside=item.text,
        )


def _why(item: MemoryItem) -> dict[str, Any]:
    return {"parts": {str(name): value for name, value in item.parts.items()}}


def _tools_json(known: PromptInputs) -> str:
    if known.only_tools is None:
        return TOOLS_JSON
    return json.dumps(known.only_tools, sort_keys=True) if known.only_tools else ""


class _Scale:
    """Weighs texts with the model's learned ratios."""

    def __init__(self, ratios: Mapping[TextClass, float]) -> None:
        self._ratios = ratios

    def put(
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
        **more: Any,
    ) -> MeasuredPiece:
        """`inside`: the text that stands in `text` among JSON. `image`: tokens of an image beside it."""
        base = count_tokens(text) if base is None else base
        counts = {kind: base} if kind else by_class(text, base)
        if inside:
            own = min(base, count_tokens(inside))
            counts = sum_counts([by_class(inside, own), {TextClass.JSON: base - own}])
        if image:
            counts = {**counts, TextClass.IMAGE: image}
        if framed:
            counts = {**counts, TextClass.FRAME: MESSAGE_FRAME}
        piece = Piece(section, ref, in_a_line(label or text, LABEL_CHARS), estimate(counts, self._ratios), **more)
        return MeasuredPiece(piece, text, counts)

    def fixed(self, section: Section, texts: Mapping[str, str]) -> Iterator[MeasuredPiece]:
        """Pieces that are named by what they are."""
        for ref, text in texts.items():
            base = count_tokens(text) + (TOOLS_FRAME if ref == "tools" else 0)
            yield self.put(section, ref, text, label=FIXED_LABELS[ref], base=base, kind=TextClass.FIXED)


FIXED_LABELS: Final = {
    "blueprint": "Who Recall is and how it treats recalled data",
    "tools": "Definitions of the tools",
    "frame": "Headings between the sections",
}
TOOLS_JSON: Final = json.dumps(TOOLS, sort_keys=True)
"""Of every stored turn: written once, it is long."""


# What becomes of the pieces --------------------------------------------------------------------------------------


def _as_told(item: MemoryItem) -> RecalledMemory:
    return RecalledMemory(item.ref, item.source, item.when.date().isoformat(), item.text, item.said_by, item.title)


def _unlisted(known: PromptInputs) -> int:
    """How many candidates that retrieval left out the receipt does not list."""
    return max(0, len(_beaten(known)) - CANDIDATES_KEPT)


def _beaten(known: PromptInputs) -> list[CutItem]:
    """What retrieval left out, best first. Of the profile's lines, pinned or new, the profile says what became."""
    in_profile = {line.ref for line in known.profile} | known.importance.keys()
    return [one for one in known.recollection.cut if one.item.ref not in in_profile]


def _not_taken(known: PromptInputs) -> Iterator[Cut]:
    """What retrieval, or the window, left out before anything had to fit: each with the rule that says so."""
    left_out = [(one.item, str(one.rule)) for one in _beaten(known)[:CANDIDATES_KEPT]]
    left_out += [(item, RULE) for item in known.struck_items]
    scale = _Scale(known.ratios)
    yield from known.excluded
    for line in known.struck_lines:
        yield Cut(scale.put(Section.PROFILE, line.ref, line.text, base=line.tokens).piece, RULE)
    for item, rule in left_out:
        url = _link(item.message_id)
        weighed = scale.put(
            Section.MEMORIES, item.ref, item.text, base=item.tokens, score=item.score, url=url, **_why(item)
        )
        yield Cut(weighed.piece, rule)


def _contents(known: PromptInputs, kept: Collection[tuple[Section, str]], fitted: FitResult) -> PromptContents:
    role, project = known.role, known.project
    return PromptContents(
        blueprint=SYSTEM_PROMPT,
        global_boundaries=[b.text for b in known.boundaries if b.user_id is None],
        own_boundaries=[b.text for b in known.boundaries if b.user_id is not None],
        role=role.prompt_text if role is not None and (Section.ROLE, f"role:{role.pk}") in kept else "",
        project=project.prompt_text if project is not None and (Section.ROLE, f"project:{project.pk}") in kept else "",
        profile=[line.text for line in known.profile if (Section.PROFILE, line.ref) in kept],
        turns=[turn for turn in known.turns if fitted.cut_turns is None or turn.number not in fitted.cut_turns],
        segments=[segment for segment in known.history.segments if (Section.HISTORY, segment.ref) in kept],
        cut_turns=fitted.cut_turns,
        recalled=[_as_told(item) for item in known.recollection.kept if (Section.MEMORIES, item.ref) in kept],
        profile_update=[
            line for n, line in enumerate(known.profile_update) if (Section.MEMORIES, f"update:{n}") in kept
        ],
        task=known.task if (Section.TASK, "task") in kept else "",
        clock=_clock(known),
        message=known.question.text,
        attachments=known.attachments,
    )


def _settings(known: PromptInputs) -> RequestOptions:
    return RequestOptions(
        model=known.model,
        effort=known.effort,
        max_tokens=min(known.plan.output_reserve, known.capabilities.max_output),
        ttl=settings.ENVIRONMENT.cache_ttl,
        able=known.capabilities,
        person=opaque_name(known.user),
    )


def opaque_name(user: User) -> str:
    """What the provider may call the person: it tells nothing, and is always the same."""
    key = settings.SECRET_KEY.encode()
    return hmac.new(key, f"provider user {user.pk}".encode(), hashlib.sha256).hexdigest()[:32]


def _clock(known: PromptInputs) -> str:
    clock = render_clock(known.user, known.acquaintance, known.now)
    web = offer(known.question.text) if known.only_tools is None else ""
    return "\n".join(line for line in (clock, web) if line)


def _link(message_id: int | None) -> str:
    return get_source().message_url(message_id) if message_id is not None else ""
