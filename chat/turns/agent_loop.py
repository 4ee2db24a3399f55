"""The agent loop: stream a response, run its tool calls, send the results back, for at most `MAX_ROUNDS` rounds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import httpx2

from chat.messages.activity import OTHER_TOOL, TOOL_LABELS, step_of
from chat.messages.thinking import REDACTED
from chat.tools.registry import call_limit
from chat.turn import MAX_ROUNDS, AgentRun, RoundUsage, ToolUse
from chat.turns.live import RunningTurn
from chat.turns.stream import ModelReply
from recall.llm.client import cached_capabilities, open_stream, refuse_caching
from recall.llm.failures import Failure, backoff_seconds, classify

log = logging.getLogger(__name__)

MARK: Final = "cache_control"
"""Names a mark for the provider's cache, in a request and in the 400 of a server that doesn't know it."""
TOO_OFTEN: Final = "This tool was called too often in this turn. Go on without it."
CONTINUING: Final = "Reading the results"
NO_ROOM: Final = Failure(
    "too_long", "The tool results leave no room for an answer in your plan. Ask for less, or choose a larger plan."
)
BETWEEN_ROUNDS: Final = "\n\n"
THOUGHTS: Final = ("thinking", "redacted_thinking")

Request = dict[str, Any]
"""The keyword arguments of `client.messages.create`, but for `stream`."""
Block = dict[str, Any]
ToolRunner = Callable[[ToolUse], Awaitable[None]]
"""Fills in a tool use's result."""
BuildNextRequest = Callable[[Request, Sequence[Block], Sequence[ToolUse], RoundUsage], Awaitable[Request | None]]
"""The request that carries the model's blocks and these results; None: there is no room for it in the plan."""


async def run_agent_loop(
    turn: RunningTurn, request: Request, run: AgentRun, run_tool: ToolRunner, next_request: BuildNextRequest
) -> None:
    """Request, tools, request, until the model has answered. The text goes to `turn`, everything else into `run`."""
    run.requested_at = time.monotonic()
    for number in range(MAX_ROUNDS + 1):
        if number == MAX_ROUNDS:
            request = {**request, "tool_choice": {"type": "none"}}
        reply = await _request_with_retry(turn, request, run)
        if reply is not None:
            await _store_provider_searches(turn, reply, run, run_tool)
        if reply is None or reply.stop_reason != "tool_use":
            return
        calls = await _run_tools(turn, reply, run, run_tool)
        following = await next_request(request, reply.blocks, calls, run.rounds[-1])
        if following is None:
            run.failure = NO_ROOM
            return
        request = following
        if turn.text:
            turn.write(BETWEEN_ROUNDS)


async def _request_with_retry(turn: RunningTurn, request: Request, run: AgentRun) -> ModelReply | None:
    """One request, retried with backoff while none of its answer was shown; None: it failed."""
    from anthropic import AnthropicError, BadRequestError  # late: the SDK takes 1.5 s to load, and pages don't need it

    attempt, shown, thought, is_unmarked = 0, len(turn.text), len(turn.thinking), False
    while True:
        rounds_before = len(run.rounds)
        known = cached_capabilities(request["model"])
        caches = known is None or known.caching
        try:
            reply = await _stream(turn, _without_marks(request) if is_unmarked or not caches else request, run)
        except asyncio.CancelledError:
            if rounds_before == len(run.rounds) > 0:
                # It was sent and costs its input, though the provider reported nothing yet. The first request of a
                # turn has no figures to add to: the receipt estimates it as a whole.
                expected = run.expected_input_tokens
                run.rounds.append(RoundUsage(input=expected, predicted=expected))
            raise
        except (AnthropicError, httpx2.HTTPError) as error:
            if caches and not is_unmarked and isinstance(error, BadRequestError) and MARK in str(error.body):
                is_unmarked = True  # servers name the field in many ways, or quote the user: what succeeds decides
                continue
            failure, attempt = classify(error), attempt + 1
            pause = backoff_seconds(failure, attempt, shown=len(turn.text) > shown)
            if pause is None:
                run.failure = failure
                return None
            turn.rethink(thought)
            turn.set_status("waiting", "The model isn't responding. Trying again")
            await asyncio.sleep(pause)
        else:
            if is_unmarked:
                log.warning("%s refused cache_control; prompts are sent without it.", request["model"])
                refuse_caching(request["model"])
            run.stop_reason = reply.stop_reason
            return reply


async def _stream(turn: RunningTurn, request: Request, run: AgentRun) -> ModelReply:
    usage, reply = RoundUsage(predicted=run.expected_input_tokens), ModelReply()
    thinking_since: float | None = None
    async with await open_stream(request) as events:
        async for event in events:
            kind, text = event["type"], reply.apply_event(event)
            if text:
                if run.first_token is None:
                    run.first_token = (time.monotonic() - run.requested_at) * 1000
                turn.write(text)
            elif kind == "message_start":
                _record_usage(usage, event["message"]["usage"])
                run.rounds.append(usage)
            elif kind == "content_block_start":
                block = event["content_block"]["type"]
                _announce(turn, block)
                thinking_since = time.monotonic() if block in THOUGHTS else None
                _begin_thought(turn, run, block)
            elif kind == "content_block_delta" and event["delta"]["type"] == "thinking_delta":
                _think(turn, run, event["delta"]["thinking"])
            elif kind == "content_block_stop" and thinking_since is not None:
                run.thought = (run.thought or 0.0) + time.monotonic() - thinking_since
            elif kind == "message_delta":
                _record_usage(usage, event["usage"])
    usage.final = True
    return reply


def _without_marks(value: Any) -> Any:
    """A request, or a part of it, without marks for the cache."""
    if isinstance(value, dict):
        return {name: _without_marks(item) for name, item in value.items() if name != MARK}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def _begin_thought(turn: RunningTurn, run: AgentRun, block: str) -> None:
    """A paragraph for each block."""
    if block in THOUGHTS and turn.thinking and not turn.thinking.endswith(BETWEEN_ROUNDS):
        _think(turn, run, BETWEEN_ROUNDS)
    if block == "redacted_thinking":
        _think(turn, run, REDACTED)


def _think(turn: RunningTurn, run: AgentRun, text: str) -> None:
    turn.think(text)
    run.thinking = turn.thinking


def _announce(turn: RunningTurn, block: str) -> None:
    if block in THOUGHTS:
        turn.set_status("thinking", "Thinking")
    elif block == "tool_use":
        turn.set_status("tool", OTHER_TOOL.doing)
    elif block == "server_tool_use":
        turn.set_status("tool", TOOL_LABELS["web_search"].doing)


def _record_usage(usage: RoundUsage, reported: Mapping[str, Any]) -> None:
    """Take the provider's figures; `message_delta` is cumulative and may leave the input figures out."""
    known = {name: figure for name, figure in reported.items() if figure is not None}
    usage.input = known.get("input_tokens", usage.input)
    usage.cache_read = known.get("cache_read_input_tokens", usage.cache_read)
    if "cache_creation_input_tokens" in known:
        split = known.get("cache_creation", {})
        usage.cache_write_1h = split.get("ephemeral_1h_input_tokens", usage.cache_write_1h)
        usage.cache_write_5m = known["cache_creation_input_tokens"] - usage.cache_write_1h
    usage.output = known.get("output_tokens", usage.output)


async def _store_provider_searches(turn: RunningTurn, reply: ModelReply, run: AgentRun, run_tool: ToolRunner) -> None:
    """Searches that the provider ran are stored like any tool use; they come with their results."""
    for search in reply.searches:
        call = ToolUse(search.id, search.name, search.input, search.result, search.failed)
        run.tools.append(call)
        await run_tool(call)
        turn.steps.append(step_of(call).line)


async def _run_tools(turn: RunningTurn, reply: ModelReply, run: AgentRun, run_tool: ToolRunner) -> list[ToolUse]:
    calls = [ToolUse(block["id"], block["name"], block["input"]) for block in reply.tool_calls]
    for call in calls:
        earlier_calls = sum(earlier.name == call.name for earlier in run.tools)
        run.tools.append(call)
        turn.set_status("tool", step_of(call).running_line)
        if earlier_calls >= call_limit(call.name):
            call.result, call.is_error = TOO_OFTEN, True
        else:
            await run_tool(call)
        turn.steps.append(step_of(call).line)
        turn.set_status("tool", CONTINUING)
    return calls
