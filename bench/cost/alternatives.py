"""Alternative request layouts that Recall is compared with, billed by the same cache.

Each has the same memories, clock, question and tool rounds as Recall's request of that turn.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from bench.cost.meter import MODEL, Billed, Meter
from bench.cost.replay import Sent
from chat.messages.history import Turn, render_turn
from chat.prompt.request import PromptContents, build_request, render_memories
from offline.protocol.models import MODELS
from offline.protocol.prompt import MESSAGE_TOKENS, measure, read_prompt

WINDOW_TURNS: Final = 20
"""Turns in the sliding window: the most that Recall shows verbatim."""
AUTOMATIC: Final = {"type": "ephemeral"}
"""Automatic caching with its default lifetime, 5 minutes."""

Request = dict[str, Any]


# The first request of a turn -------------------------------------------------------------------------------------


def sliding_window(sent: Sent) -> Request:
    """The last turns verbatim, and nothing of those before; breakpoints as in Recall."""
    return _built(sent, turns=sent.turns[-WINDOW_TURNS:])


def whole_history(sent: Sent) -> Request:
    """All turns verbatim; breakpoints as in Recall."""
    return _built(sent, turns=sent.turns)


def memories_in_system(sent: Sent) -> Request:
    """A1: Recall's prompt with everything that changes per turn in the system block; only the static part is marked."""
    bare = _built(sent, turns=None, recalled=[], profile_update=[])
    contents = sent.compiled.contents
    told = render_memories(contents.recalled, contents.profile_update)
    first, *others = bare["system"]
    system = [first, *(_unmarked(block) for block in others), *([{"type": "text", "text": told}] if told else [])]
    messages = [
        {**message, "content": [_unmarked(block) for block in message["content"]]} for message in bare["messages"]
    ]
    return {**bare, "system": system, "messages": messages}


def memories_in_system_automatic(sent: Sent) -> Request:
    """A2: the same, with automatic caching at the end."""
    return {**memories_in_system(sent), "cache_control": AUTOMATIC}


def _built(sent: Sent, *, turns: Any, **changes: Any) -> Request:
    """Recall's request of this turn with other contents. `turns` None: the same history."""
    contents: PromptContents = sent.compiled.contents
    if turns is not None:
        changes |= {"turns": turns, "segments": [], "cut_turns": None}
    return build_request(replace(contents, **changes), sent.compiled.options)


def _unmarked(block: Any) -> Any:
    return {name: value for name, value in block.items() if name != "cache_control"}


LAYOUTS: Final[dict[str, Callable[[Sent], Request]]] = {
    "sliding window, cached": sliding_window,
    "whole history, cached": whole_history,
    "memories in system (A1)": memories_in_system,
    "the same, automatic (A2)": memories_in_system_automatic,
}


def send(sent: Sent, layout: Callable[[Sent], Request], meter: Meter) -> None:
    """Send the turn's requests: the first in the given layout, then the same tool rounds as in Recall."""
    meter.begin_turn(sent.at)
    first = layout(sent)
    common = len(sent.requests[0]["messages"])
    for request, output in zip(sent.requests, sent.outputs, strict=True):
        meter.send({**first, "messages": [*first["messages"], *request["messages"][common:]]}, output)


# No cache and the whole history ----------------------------------------------------------------------------------


class Uncached:
    """The whole history, paid in full in each request. Tokens add up, so nothing is rendered again."""

    def __init__(self) -> None:
        self.history = 0
        self.counted = 0
        self.billed: list[list[Billed]] = []

    def send(self, sent: Sent) -> None:
        """Bill the turn's requests."""
        for turn in sent.turns[self.counted :]:
            self.history += turn_tokens(turn)
        self.counted = len(sent.turns)
        first = _built(sent, turns=[])
        recalls = [read_prompt(request, MODELS[MODEL]).total for request in sent.requests]
        alone = read_prompt(first, MODELS[MODEL]).total + self.history
        both = zip(recalls, sent.outputs, strict=True)
        self.billed.append([Billed(alone + total - recalls[0], output=output) for total, output in both])


def turn_tokens(turn: Turn) -> int:
    """Tokens of a finished turn in a request, by the provider's count."""
    messages: list[Any] = [*render_turn(turn)]
    return 2 * MESSAGE_TOKENS + sum(measure(block)[1] for message in messages for block in message["content"])
