"""Does this request fit for sure? Asked before each request of a turn, tool rounds included
(budget/planning/preflight.py).

The estimate decides; near the limit the provider counts, where it can. What is too long becomes shorter: the prompt
is compiled for less, and in a tool loop results give way. A count that fails is no failure of the turn: then the
estimate decides with its margin.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from typing import Any, Final

import httpx2
from django.core.exceptions import ValidationError

from budget.planning.plan import Section
from budget.planning.preflight import PreflightResult, Verdict, check_counted, check_estimate, margin_of
from chat.prompt.assemble import AssembledPrompt, assemble_from_inputs
from chat.tools.output_budget import SentToolResult, ToolOutputBudget, as_blocks
from chat.turn import AcceptedTurn, AgentRun, RoundUsage, ToolUse, TurnRejectedError
from memory.documents.artifacts import store_artifact
from memory.documents.revisions import PathTakenError
from recall.db.connections import run_in_thread
from recall.llm.client import get_client

log = logging.getLogger(__name__)

ATTEMPTS: Final = 4
"""Times a prompt is made shorter; each time by what it was over, so that the second one fits but for rounding."""
COUNT_TIMEOUT: Final = 5.0
"""Seconds the provider may take to count: the person waits."""
COUNTED: Final = ("model", "system", "tools", "messages", "thinking", "tool_choice", "output_config")
"""What of a request bears on its count."""
UNSURE_OUTPUT: Final = 0.05
"""Share by which the model's own blocks may count differently when they are sent back."""
TOO_NEAR: Final = (
    "Your message leaves no room that is sure to suffice in your plan. Shorten it, or choose a larger plan."
)

Request = dict[str, Any]
Block = dict[str, Any]
Keep = Callable[["ToolUse"], Awaitable[str]]
"""Keeps a tool's whole result and says where."""


async def ensure_fits(compiled: AssembledPrompt) -> AssembledPrompt:
    """The prompt, or a shorter one, of which it is sure that it fits.

    Raises:
        Refused: nothing is left that could give way.
    """
    for _ in range(ATTEMPTS):
        checked = await _checked(compiled.request, compiled.fitted.tokens, compiled.uncertainty, compiled)
        if checked.verdict is Verdict.SEND:
            return compiled
        plan = compiled.inputs.plan
        less = max(0, min(compiled.weighed, plan.available) - checked.over)
        began = time.perf_counter()
        smaller = replace(plan, total=plan.output_reserve + less)
        compiled = await run_in_thread(assemble_from_inputs, compiled.inputs, began, smaller)
    raise TurnRejectedError("too_long", TOO_NEAR)


def keep_result(opened: AcceptedTurn, call: ToolUse) -> str:
    """Keep the whole result of a tool where `read_document` finds it; a document's own text stands there already.

    Empty where it could not be kept, which is no reason to end the turn.
    """
    path = call.input.get("path")
    if call.name == "read_document" and isinstance(path, str):
        return path
    conversation = opened.conversation
    try:
        return store_artifact(conversation.user, str(conversation.pk), f"{call.name} {opened.answer.turn}", call.result)
    except (PathTakenError, ValidationError):
        return ""


@dataclass(slots=True)
class ToolLoop:
    """The tool loop of one turn: what each of its requests is expected to have, and what gives way in it."""

    compiled: AssembledPrompt
    answered: AgentRun
    keep: Keep
    room: ToolOutputBudget = field(init=False)

    def __post_init__(self) -> None:
        known, kept = self.compiled.inputs, self.compiled.fitted.kept
        noted = sum(piece.tokens for piece in kept if piece.section is Section.TASK)
        ceiling = max(0, known.plan.ceilings[Section.TASK] - noted)
        recalled = sum(piece.tokens for piece in kept if piece.section is Section.MEMORIES and not piece.is_protected)
        cap = known.plan.memory_cap
        snippets = None if cap is None else max(0, cap - recalled)
        self.room = ToolOutputBudget(ceiling, known.ratios, known.belief, snippets)
        self.answered.expected_input_tokens = self.compiled.fitted.tokens

    async def next_request(
        self, request: Request, blocks: Sequence[Block], calls: Sequence[ToolUse], usage: RoundUsage
    ) -> Request | None:
        """The request that goes on from these results; None: there is no room for it."""
        said = usage.output
        before = (usage.total_input or self.answered.expected_input_tokens) + said
        self.room.said.append(said)
        held = self.room.tokens
        arrived = [self.room.weigh(call) for call in calls]
        unsure = self.room.uncertainty(arrived) + UNSURE_OUTPUT * said
        limit = self.compiled.inputs.plan.available
        # Everything but the loop stays as it is: what the total leaves for the loop, its margin taken off.
        spare = limit - (before - held) - margin_of(before + sum(one.tokens for one in arrived), unsure)
        await self._shorten(arrived, spare)
        self.room.shown += arrived
        for _ in range(ATTEMPTS):
            request_now = _with_results(request, blocks, arrived, self.room.shown, cached=self.compiled.cached)
            expected = before - held + self.room.tokens
            checked = await _checked(request_now, expected, unsure, self.compiled)
            if checked.verdict is Verdict.SEND:
                self.answered.expected_input_tokens, self.answered.task = expected, tuple(self.room.pieces())
                return request_now
            await self._shorten([], self.room.tokens - checked.over)
        return None

    async def _shorten(self, arrived: Sequence[SentToolResult], spare: int) -> None:
        for one, tokens in self.room.plan_truncation(arrived, spare):
            if not one.path:
                one.path = await self.keep(one.call)
            self.room.truncate(one, tokens)


async def _checked(request: Request, expected: int, uncertainty: float, compiled: AssembledPrompt) -> PreflightResult:
    """The decision, with the provider's help where it is near."""
    limit, able = compiled.inputs.plan.available, compiled.inputs.capabilities
    checked = check_estimate(expected, uncertainty, limit, can_count=able.count_tokens)
    if checked.verdict is not Verdict.COUNT:
        return checked
    counted = await _count(request)
    return check_counted(counted, limit) if counted is not None else replace(checked, verdict=Verdict.SHORTEN)


async def _count(request: Request) -> int | None:
    """The provider's own count; None: it did not give one."""
    from anthropic import AnthropicError  # late: the SDK takes 1.5 s to load

    counted = {name: request[name] for name in COUNTED if name in request}
    try:
        answered = await get_client().messages.count_tokens(**counted, timeout=COUNT_TIMEOUT)
    except (AnthropicError, httpx2.HTTPError, JSONDecodeError) as error:
        log.warning("The provider did not count a request: %s", type(error).__name__)
        return None
    figure = getattr(answered, "input_tokens", None)  # the SDK hands on any text that a proxy sends with status 200
    return figure if isinstance(figure, int) else None


def _with_results(
    request: Request,
    blocks: Sequence[Block],
    arrived: Sequence[SentToolResult],
    shown: Sequence[SentToolResult],
    *,
    cached: bool,
) -> Request:
    """The next request of the loop: the model's blocks go back unchanged, then one message with all results.

    Results of earlier rounds stand as they were sent, but for those that had to give way.
    """
    results = as_blocks(arrived)
    if cached:
        # Breakpoint 4, short-lived: only the next round reads it.
        results[-1]["cache_control"] = {"type": "ephemeral", "ttl": "5m"}
    texts = iter([one.text for one in shown])  # in order, not by id: a small server may give each round the same ids
    before = _with_one_mark([_as_it_stands_now(message, texts) for message in request["messages"]])
    said = {"role": "assistant", "content": list(blocks)}
    return {**request, "messages": [*before, said, {"role": "user", "content": results}]}


def _with_one_mark(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The history with its last breakpoint alone: at most four are allowed, and this round reads up to the last."""
    blocks = [block for message in messages for block in message["content"] if "cache_control" in block]
    marked = {id(block) for block in blocks[:-1]}
    return [
        {**message, "content": [_unmarked(block) if id(block) in marked else block for block in message["content"]]}
        for message in messages
    ]


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _as_it_stands_now(message: dict[str, Any], texts: Iterator[str]) -> dict[str, Any]:
    """Earlier results without their breakpoint: moving one changes no prefix."""
    if not any(block["type"] == "tool_result" for block in message["content"]):
        return message
    return {**message, "content": [_result_now(block, texts) for block in message["content"]]}


def _result_now(block: dict[str, Any], texts: Iterator[str]) -> dict[str, Any]:
    bare = _unmarked(block)
    return {**bare, "content": next(texts)} if block["type"] == "tool_result" else bare
