"""Prompt preflight: estimate the tokens of every request of a turn and shorten it until it fits the plan.

The estimate decides (`budget/planning/preflight.py`); near the limit, the provider counts the request, if it can. A
failed count doesn't fail the turn: the estimate with its margin decides. A prompt that is too long is assembled for
less; in the tool loop, tool results are truncated.
"""

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
"""Times a prompt is shortened; each time by its excess, so that the second one fits except for rounding."""
COUNT_TIMEOUT: Final = 5.0
"""Seconds the provider may take to count, because the user waits."""
COUNTED_FIELDS: Final = ("model", "system", "tools", "messages", "thinking", "tool_choice", "output_config")
"""The arguments of a request that change its count."""
OUTPUT_UNCERTAINTY: Final = 0.05
"""Share by which the count of the model's own blocks may differ when they are sent back."""
TOO_CLOSE: Final = "Your message may not fit your plan. Shorten it, or choose a larger plan."

Request = dict[str, Any]
Block = dict[str, Any]
StoreResult = Callable[[ToolUse], Awaitable[str]]
"""Stores a tool's whole result and returns its path; empty if it could not be stored."""


async def ensure_fits(prompt: AssembledPrompt) -> AssembledPrompt:
    """The prompt, or a shorter one that is certain to fit.

    Raises:
        TurnRejectedError: nothing is left to cut.
    """
    for _ in range(ATTEMPTS):
        result = await _check(prompt.request, prompt.fitted.tokens, prompt.uncertainty, prompt)
        if result.verdict is Verdict.SEND:
            return prompt
        plan = prompt.inputs.budget.plan
        less = max(0, min(prompt.weighed, plan.available) - result.over)
        started = time.perf_counter()
        smaller = replace(plan, total=plan.output_reserve + less)
        prompt = await run_in_thread(assemble_from_inputs, prompt.inputs, started, smaller)
    raise TurnRejectedError("too_long", TOO_CLOSE)


def store_result(turn: AcceptedTurn, call: ToolUse) -> str:
    """Store a tool's whole result where `read_document` finds it; a document's own text is already there.

    Returns an empty path if it couldn't be stored, which must not end the turn.
    """
    path = call.input.get("path")
    if call.name == "read_document" and isinstance(path, str):
        return path
    conversation = turn.conversation
    try:
        return store_artifact(conversation.user, str(conversation.pk), f"{call.name} {turn.answer.turn}", call.result)
    except (PathTakenError, ValidationError):
        return ""


@dataclass(slots=True)
class ToolLoop:
    """The tool loop of one turn: the expected size of each request, and which of its results are truncated."""

    prompt: AssembledPrompt
    run: AgentRun
    store_result: StoreResult
    results: ToolOutputBudget = field(init=False)

    def __post_init__(self) -> None:
        budget, kept = self.prompt.inputs.budget, self.prompt.fitted.kept
        noted = sum(piece.tokens for piece in kept if piece.section is Section.TASK)
        ceiling = max(0, budget.plan.ceilings[Section.TASK] - noted)
        recalled = sum(piece.tokens for piece in kept if piece.section is Section.MEMORIES and not piece.is_protected)
        cap = budget.plan.memory_cap
        snippets = None if cap is None else max(0, cap - recalled)
        self.results = ToolOutputBudget(ceiling, budget.ratios, budget.belief, snippets)
        self.run.expected_input_tokens = self.prompt.fitted.tokens

    async def next_request(
        self, request: Request, blocks: Sequence[Block], calls: Sequence[ToolUse], usage: RoundUsage
    ) -> Request | None:
        """The request with the model's blocks and these results; None: there is no room for it."""
        output = usage.output
        before = (usage.total_input or self.run.expected_input_tokens) + output
        self.results.said.append(output)
        loop_tokens = self.results.tokens
        arrived = [self.results.measure(call) for call in calls]
        uncertainty = self.results.uncertainty(arrived) + OUTPUT_UNCERTAINTY * output
        limit = self.prompt.inputs.budget.plan.available
        # Tokens available to the tool loop: the plan's total minus everything outside the loop, minus the margin.
        expected = before + sum(result.tokens for result in arrived)
        spare = limit - (before - loop_tokens) - margin_of(expected, uncertainty)
        await self._truncate(arrived, spare)
        self.results.shown += arrived
        for _ in range(ATTEMPTS):
            following = _with_results(request, blocks, arrived, self.results.shown, cached=self.prompt.cached)
            expected = before - loop_tokens + self.results.tokens
            checked = await _check(following, expected, uncertainty, self.prompt)
            if checked.verdict is Verdict.SEND:
                self.run.expected_input_tokens, self.run.task = expected, tuple(self.results.pieces())
                return following
            await self._truncate([], self.results.tokens - checked.over)
        return None

    async def _truncate(self, arrived: Sequence[SentToolResult], spare: int) -> None:
        for result, tokens in self.results.plan_truncation(arrived, spare):
            if not result.path:
                result.path = await self.store_result(result.call)
            self.results.truncate(result, tokens)


async def _check(request: Request, expected: int, uncertainty: float, prompt: AssembledPrompt) -> PreflightResult:
    """The verdict on the estimate, or near the limit on the provider's count."""
    limit, capabilities = prompt.inputs.budget.plan.available, prompt.inputs.model.capabilities
    result = check_estimate(expected, uncertainty, limit, can_count=capabilities.count_tokens)
    if result.verdict is not Verdict.COUNT:
        return result
    counted = await _count(request)
    return check_counted(counted, limit) if counted is not None else replace(result, verdict=Verdict.SHORTEN)


async def _count(request: Request) -> int | None:
    """The provider's own count, or None."""
    from anthropic import AnthropicError  # imported late: the SDK takes 1.5 s to load

    arguments = {name: request[name] for name in COUNTED_FIELDS if name in request}
    try:
        response = await get_client().messages.count_tokens(**arguments, timeout=COUNT_TIMEOUT)
    except (AnthropicError, httpx2.HTTPError, JSONDecodeError) as error:
        log.warning("The provider did not count a request: %s", type(error).__name__)
        return None
    tokens = getattr(response, "input_tokens", None)  # the SDK passes on any text that a proxy sends with status 200
    return tokens if isinstance(tokens, int) else None


def _with_results(
    request: Request,
    blocks: Sequence[Block],
    arrived: Sequence[SentToolResult],
    shown: Sequence[SentToolResult],
    *,
    cached: bool,
) -> Request:
    """The next request of the loop: the model's blocks go back unchanged, then one message with all results.

    Results of earlier rounds stay as they were sent, unless they had to be truncated.
    """
    results = as_blocks(arrived)
    if cached:
        # Fourth cache breakpoint, five-minute TTL: only the next round reads it.
        results[-1]["cache_control"] = {"type": "ephemeral", "ttl": "5m"}
    texts = iter([result.text for result in shown])  # by order, not by id: a small server may repeat ids
    before = _keep_last_breakpoint([_with_current_results(message, texts) for message in request["messages"]])
    reply = {"role": "assistant", "content": list(blocks)}
    return {**request, "messages": [*before, reply, {"role": "user", "content": results}]}


def _keep_last_breakpoint(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The history with only its last breakpoint: at most four are allowed, and this round reads up to the last."""
    blocks = [block for message in messages for block in message["content"] if "cache_control" in block]
    marked = {id(block) for block in blocks[:-1]}
    return [
        {
            **message,
            "content": [_bare(block) if id(block) in marked else block for block in message["content"]],
        }
        for message in messages
    ]


def _bare(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _with_current_results(message: dict[str, Any], texts: Iterator[str]) -> dict[str, Any]:
    """Earlier results as since truncated, and without their breakpoint: moving one doesn't change a prefix."""
    if not any(block["type"] == "tool_result" for block in message["content"]):
        return message
    return {**message, "content": [_current_block(block, texts) for block in message["content"]]}


def _current_block(block: dict[str, Any], texts: Iterator[str]) -> dict[str, Any]:
    bare = _bare(block)
    return {**bare, "content": next(texts)} if block["type"] == "tool_result" else bare
