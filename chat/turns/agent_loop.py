"""How is an answer got from the model? Stream, run the tools it asks for, stream again; at most MAX_ROUNDS times."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import httpx2

from chat.messages.activity import OTHER_TOOL, TOOL_LABELS, step_of
from chat.tools.registry import call_limit
from chat.turn import MAX_ROUNDS, AgentRun, RoundUsage, ToolUse
from chat.turns.live import RunningTurn
from chat.turns.stream import ModelReply
from recall.llm.client import get_client
from recall.llm.failures import Failure, backoff_seconds, classify

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import MessageDeltaUsage, Usage

TOO_OFTEN = "This tool was called too often in this turn. Go on without it."
GOING_ON = "Going on with what was found"
NO_ROOM = Failure(
    "too_long", "What the tools brought leaves no room for an answer in your plan. Ask for less, or take a larger plan."
)
BETWEEN_ROUNDS = "\n\n"

Request = dict[str, Any]
"""The keyword arguments of `client.messages.create`, but for `stream`."""


Block = dict[str, Any]
ToolRunner = Callable[[ToolUse], Awaitable[None]]
"""Fills in a tool use's result."""
BuildNextRequest = Callable[
    [Request, Sequence[dict[str, Any]], Sequence[ToolUse], RoundUsage], Awaitable[Request | None]
]
"""The request that carries the model's blocks and these results; None: there is no room for it in the plan."""


async def run_agent_loop(
    turn: RunningTurn, request: Request, answered: AgentRun, use_tool: ToolRunner, go_on: BuildNextRequest
) -> None:
    """Talk with the model until it has answered; the text goes to `turn`, the rest into `answered`."""
    answered.requested_at = time.monotonic()
    for number in range(MAX_ROUNDS + 1):
        if number == MAX_ROUNDS:
            request = {**request, "tool_choice": {"type": "none"}}
        reply = await _request_with_retry(turn, request, answered)
        if reply is not None:
            await _write_down_searches(turn, reply, answered, use_tool)
        if reply is None or reply.stop_reason != "tool_use":
            return
        calls = await _use_tools(turn, reply, answered, use_tool)
        following = await go_on(request, reply.blocks, calls, answered.rounds[-1])
        if following is None:
            answered.failure = NO_ROOM
            return
        request = following
        if turn.text:
            turn.write(BETWEEN_ROUNDS)


async def _request_with_retry(turn: RunningTurn, request: Request, answered: AgentRun) -> ModelReply | None:
    """One request, tried again unasked while nothing of its answer was shown; None: it failed."""
    from anthropic import AnthropicError  # late, see above

    attempt, shown = 0, len(turn.text)
    while True:
        begun = len(answered.rounds)
        try:
            reply = await _stream(turn, request, answered)
        except asyncio.CancelledError:
            if begun == len(answered.rounds) > 0:
                # It was sent and costs its input, though the provider has said nothing of it yet. The first request
                # of a turn has no figures to add up to: `receipts.close` estimates it as a whole.
                answered.rounds.append(
                    RoundUsage(input=answered.expected_input_tokens, predicted=answered.expected_input_tokens)
                )
            raise
        except (AnthropicError, httpx2.HTTPError) as error:
            failure, attempt = classify(error), attempt + 1
            pause = backoff_seconds(failure, attempt, shown=len(turn.text) > shown)
            if pause is None:
                answered.failure = failure
                return None
            turn.set_status("waiting", "The model did not answer; trying again.")
            await asyncio.sleep(pause)
        else:
            answered.stop_reason = reply.stop_reason
            return reply


async def _stream(turn: RunningTurn, request: Request, answered: AgentRun) -> ModelReply:
    usage, reply = RoundUsage(predicted=answered.expected_input_tokens), ModelReply()
    thinking_since: float | None = None
    async with await get_client().messages.create(**request, stream=True) as events:
        async for event in events:
            text = reply.apply_event(event)
            if text:
                if answered.first_token is None:
                    answered.first_token = (time.monotonic() - answered.requested_at) * 1000
                turn.write(text)
            elif event.type == "message_start":
                _book(usage, event.message.usage)
                answered.rounds.append(usage)
            elif event.type == "content_block_start":
                _announce(turn, event.content_block.type)
                thinking_since = time.monotonic() if event.content_block.type == "thinking" else None
            elif event.type == "content_block_stop" and thinking_since is not None:
                answered.thought = (answered.thought or 0.0) + time.monotonic() - thinking_since
            elif event.type == "message_delta":
                _book(usage, event.usage)
    usage.final = True
    return reply


def _announce(turn: RunningTurn, block: str) -> None:
    if block == "thinking":
        turn.set_status("thinking", "Thinking")
    elif block == "tool_use":
        turn.set_status("tool", OTHER_TOOL.doing)
    elif block == "server_tool_use":
        turn.set_status("tool", TOOL_LABELS["web_search"].doing)


def _book(usage: RoundUsage, figures: Usage | MessageDeltaUsage) -> None:
    """Take over what the provider says; `message_delta` is cumulative and may leave the input figures out."""
    if figures.input_tokens is not None:
        usage.input = figures.input_tokens
    if figures.cache_read_input_tokens is not None:
        usage.cache_read = figures.cache_read_input_tokens
    if figures.cache_creation_input_tokens is not None:
        split = getattr(figures, "cache_creation", None)
        if split is not None:
            usage.cache_write_1h = split.ephemeral_1h_input_tokens
        usage.cache_write_5m = figures.cache_creation_input_tokens - usage.cache_write_1h
    usage.output = figures.output_tokens


async def _write_down_searches(turn: RunningTurn, reply: ModelReply, answered: AgentRun, use_tool: ToolRunner) -> None:
    """What the provider searched for by itself is kept like any tool use; it comes with its result."""
    for search in reply.searches:
        call = ToolUse(search.id, search.name, search.input, search.result, search.failed)
        answered.tools.append(call)
        await use_tool(call)
        turn.steps.append(step_of(call).line)


async def _use_tools(turn: RunningTurn, reply: ModelReply, answered: AgentRun, use_tool: ToolRunner) -> list[ToolUse]:
    calls = [ToolUse(block["id"], block["name"], block["input"]) for block in reply.tool_calls]
    for call in calls:
        asked_before = sum(earlier.name == call.name for earlier in answered.tools)
        answered.tools.append(call)
        turn.set_status("tool", step_of(call).beginning)
        if asked_before >= call_limit(call.name):
            call.result, call.is_error = TOO_OFTEN, True
        else:
            await use_tool(call)
        turn.steps.append(step_of(call).line)
        turn.set_status("tool", GOING_ON)
    return calls
