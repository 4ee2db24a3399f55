"""Prompt assembly: load the inputs, measure the pieces, fit them into the budget plan, render the request.

Enter at `assemble_prompt`; `assemble_from_inputs` is its pure part.
"""

import hashlib
import hmac
import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings

from accounts.models import User
from budget.counting.cached_prefix import Prefix, build_prefix, sum_counts, with_known_figures
from budget.counting.estimate import TextClass
from budget.counting.learning import standard_deviation
from budget.planning.fit import Cut, FitResult, OversizedMessage, fit
from budget.planning.history_cut import TurnRange
from budget.planning.plan import ResolvedPlan, Section
from chat.models import Segment
from chat.prompt.ablation import RULE, exclude_memories
from chat.prompt.inputs import PromptInputs, load_prompt_inputs
from chat.prompt.measure import (
    Scale,
    clock_text,
    measure_attachments,
    measure_pieces,
    message_link,
    recalled_memory,
    score_parts,
)
from chat.prompt.request import PromptContents, RequestOptions, build_request, digest
from chat.prompt.system_prompt import needs_short_prompt, system_prompt_for
from chat.turn import MESSAGE_TOO_LONG, AcceptedTurn, TurnRejectedError
from memory.retrieval.recall import NO_ATTRIBUTES, CutItem

CANDIDATES_KEPT: Final = 40
"""Candidates cut by retrieval that the receipt lists, best first: there are about four times as many, most of them far
below the floor, and each adds half a kilobyte to every receipt."""
IMAGES_TOO_LONG: Final = (
    "The attached images need about {tokens:,} tokens, but only {room:,} fit your “{plan}” plan with this model. "
    "Attach fewer images, or choose a larger plan."
)


@dataclass(frozen=True, slots=True)
class AssembledPrompt:
    """A request that is ready to be sent, with everything its receipt needs."""

    inputs: PromptInputs
    fitted: FitResult
    omitted: tuple[Cut, ...]
    """Candidates dropped before fitting."""
    unlisted: int
    """Number of candidates beyond those in `omitted`: they scored lower than all of them."""
    contents: PromptContents
    options: RequestOptions
    request: dict[str, Any]
    digest: str
    base_by_class: dict[TextClass, int]
    prefix: Prefix
    weighed: int
    """Tokens of the prompt by the ratios alone, which `fit` used."""
    timings: dict[str, float]

    @property
    def uncertainty(self) -> float:
        """Standard deviation of the estimate, in tokens; parts the provider has counted add none."""
        unknown = standard_deviation(self.inputs.budget.belief, self.prefix.unknown)
        return math.hypot(unknown, math.sqrt(self.prefix.variance))

    @property
    def cached(self) -> bool:
        """Whether the request carries cache breakpoints."""
        return self.inputs.model.capabilities.caching

    @property
    def used_refs(self) -> list[str]:
        """References of the memories in the prompt."""
        return [piece.ref for piece in self.fitted.kept if piece.section in (Section.MEMORIES, Section.PROFILE)]


def assemble_prompt(turn: AcceptedTurn) -> AssembledPrompt:
    """Assemble a request that fits, from a saved question.

    Raises:
        TurnRejectedError: the message is too long for the plan.
    """
    started = time.perf_counter()
    return assemble_from_inputs(exclude_memories(load_prompt_inputs(turn), turn.exclusion), started)


def assemble_from_inputs(inputs: PromptInputs, started: float, plan: ResolvedPlan | None = None) -> AssembledPrompt:
    """The pure part: measure, fit, render. `plan`: a smaller one, if the user's own proved too long.

    Raises:
        TurnRejectedError: the message is too long for the plan.
    """
    plan = plan or inputs.budget.plan
    measured = list(measure_pieces(inputs))
    fitted = fit([each.piece for each in measured], plan, inputs.history.cut)
    answers = {item.ref for item in inputs.recalled.kept if item.answers not in NO_ATTRIBUTES}
    if repeated := _repeated_refs(fitted) - answers:
        inputs = replace(inputs, recalled=inputs.recalled.drop_repeated(repeated))
        measured = list(measure_pieces(inputs))
        fitted = fit([each.piece for each in measured], plan, inputs.history.cut)
    if fitted.rejection is not None:
        raise _rejection(inputs, fitted.rejection, fitted.too_long)
    fitted = replace(fitted, cut_turns=_with_segments(fitted.cut_turns, inputs.history.segments))
    kept = {(piece.section, piece.ref) for piece in fitted.kept}
    contents = _build_contents(inputs, kept, fitted)
    options = _build_options(inputs)
    request = build_request(contents, options, inputs.model.tools)
    sent = [each for each in measured if (each.piece.section, each.piece.ref) in kept]
    prefix = build_prefix(sent, fitted.kept, inputs.budget.known_counts)
    return AssembledPrompt(
        inputs=inputs,
        fitted=with_known_figures(fitted, plan, prefix),
        omitted=tuple(_omitted(inputs)),
        unlisted=max(0, len(_beaten_candidates(inputs)) - CANDIDATES_KEPT),
        contents=contents,
        options=options,
        request=request,
        digest=digest(request),
        base_by_class=sum_counts(each.counts for each in sent),
        prefix=prefix,
        weighed=fitted.tokens,
        timings={**inputs.read.timings, "compile": round((time.perf_counter() - started) * 1000, 2)},
    )


def _repeated_refs(fitted: FitResult) -> set[str]:
    """Recalled memories that are also in the profile: only the fit shows that the profile borrowed room for them."""
    in_profile = {piece.ref for piece in fitted.kept if piece.section is Section.PROFILE}
    return {piece.ref for piece in fitted.kept if piece.section is Section.MEMORIES and piece.ref in in_profile}


def _rejection(inputs: PromptInputs, sentence: str, oversized: OversizedMessage | None) -> TurnRejectedError:
    """Why there is no request. If the images alone are too many, storing the text as a document wouldn't help."""
    pieces = measure_attachments(
        inputs, Scale(inputs.budget.ratios), Section.MESSAGE, inputs.question.attachments, images_only=True
    )
    images = sum(each.piece.tokens for each in pieces)
    if oversized is not None and images > oversized.room:
        room, plan = max(0, oversized.room), inputs.budget.plan.name
        return TurnRejectedError("too_long", IMAGES_TOO_LONG.format(tokens=images, room=room, plan=plan))
    return TurnRejectedError(
        MESSAGE_TOO_LONG if oversized is not None and oversized.can_be_kept else "too_long", sentence
    )


def _with_segments(cut: TurnRange | None, segments: Sequence[Segment]) -> TurnRange | None:
    """The cut turns, with all turns of a cut summary: `fit` knows a summary by its first turn."""
    last = max((each.last_turn for each in segments if cut is not None and each.first_turn in cut), default=0)
    return cut if cut is None or last <= cut.last else TurnRange(cut.first, last)


def _beaten_candidates(inputs: PromptInputs) -> list[CutItem]:
    """Candidates that retrieval cut, best first, without profile lines, pinned or new: the profile pieces cover
    those."""
    in_profile = {line.ref for line in inputs.profile.lines} | inputs.profile.current.keys()
    return [candidate for candidate in inputs.recalled.cut if candidate.item.ref not in in_profile]


def _omitted(inputs: PromptInputs) -> Iterator[Cut]:
    """Candidates that retrieval or an exclusion left out before the fit, each with its rule."""
    omitted = [(each.item, str(each.rule)) for each in _beaten_candidates(inputs)[:CANDIDATES_KEPT]]
    omitted += [(item, RULE) for item in inputs.excluded.items]
    scale = Scale(inputs.budget.ratios)
    yield from inputs.excluded.cuts
    for line in inputs.excluded.lines:
        yield Cut(scale.measure(Section.PROFILE, line.ref, line.text, base=line.tokens).piece, RULE)
    for item, rule in omitted:
        url, parts = message_link(item.message_id), score_parts(item)
        measured = scale.measure(
            Section.MEMORIES, item.ref, item.text, base=item.tokens, score=item.score, url=url, **parts
        )
        yield Cut(measured.piece, rule)


def _build_contents(inputs: PromptInputs, kept: Collection[tuple[Section, str]], fitted: FitResult) -> PromptContents:
    boundaries, role, project = (
        inputs.instructions.boundaries,
        inputs.instructions.role,
        inputs.instructions.project,
    )
    history, cut = inputs.history, fitted.cut_turns
    return PromptContents(
        blueprint=system_prompt_for(inputs.budget.plan),
        global_boundaries=[boundary.text for boundary in boundaries if boundary.user_id is None],
        own_boundaries=[boundary.text for boundary in boundaries if boundary.user_id is not None],
        role=role.prompt_text if role is not None and (Section.ROLE, f"role:{role.pk}") in kept else "",
        project=project.prompt_text if project is not None and (Section.ROLE, f"project:{project.pk}") in kept else "",
        profile=[line.text for line in inputs.profile.lines if (Section.PROFILE, line.ref) in kept],
        turns=[turn for turn in history.turns if cut is None or turn.number not in cut],
        segments=[segment for segment in history.segments if (Section.HISTORY, segment.ref) in kept],
        cut_turns=cut,
        recalled=[recalled_memory(item) for item in inputs.recalled.kept if (Section.MEMORIES, item.ref) in kept],
        profile_update=[
            line for number, line in enumerate(inputs.profile.update) if (Section.MEMORIES, f"update:{number}") in kept
        ],
        task=inputs.task if (Section.TASK, "task") in kept else "",
        clock=clock_text(inputs),
        message=inputs.question.message.text,
        attachments=inputs.question.attachments,
    )


def _build_options(inputs: PromptInputs) -> RequestOptions:
    capabilities = inputs.model.capabilities
    return RequestOptions(
        model=inputs.model.name,
        effort=inputs.model.effort,
        max_tokens=min(inputs.budget.plan.output_reserve, capabilities.max_output),
        ttl=settings.ENVIRONMENT.cache_ttl,
        able=capabilities,
        person=opaque_name(inputs.user),
        short_tools=needs_short_prompt(inputs.budget.plan),
    )


def opaque_name(user: User) -> str:
    """A stable name of the user for the provider that reveals nothing."""
    key = settings.SECRET_KEY.encode()
    return hmac.new(key, f"provider user {user.pk}".encode(), hashlib.sha256).hexdigest()[:32]
