"""Prices requests: the real cache rules (`offline/protocol/cache.py`) with a clock of their own, and sums per turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from budget.spending.prices import LIST_PRICES, ListPrice, cost, total_input
from offline.protocol.cache import PromptCache
from offline.protocol.models import MODELS
from offline.protocol.prompt import Prompt, read_prompt

MODEL: Final = "claude-sonnet-5-5"
"""The model whose rules apply. The three priced models share them: at least 512 tokens, the same token counts."""
PRICED: Final = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")
HOUR: Final = 3_600.0
"""Seconds: no cache entry lives longer without being read."""


@dataclass(frozen=True, slots=True)
class Billed:
    """One request in the provider's tokens: the fields `budget.spending.prices` needs, and what could be cached."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    static: int = 0
    """Tokens of the tools and both system blocks."""
    static_read: int = 0
    """Of `static`, tokens that came from the cache."""
    again: int = 0
    """Tokens from the start that are the same as in an earlier request."""
    again_read: int = 0
    """Of `again`, tokens that came from the cache."""
    again_alive: int = 0
    """Of `again`, tokens that were sent within the last hour."""
    static_alive: int = 0
    """Of `static`, tokens that were sent within the last hour, or never before."""

    @property
    def total(self) -> int:
        """All input tokens."""
        return total_input(self)


@dataclass(slots=True)
class Meter:
    """One way to send a conversation: its cache, and what each request was billed."""

    billed: list[list[Billed]] = field(default_factory=list)
    """Billed requests by turn."""
    now: float = 0.0
    cache: PromptCache = field(init=False)
    _sent: dict[bytes, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cache = PromptCache(lambda: self.now)

    def begin_turn(self, at: float) -> None:
        """Start the next turn, at `at` seconds on the clock."""
        self.now = at
        self.billed.append([])

    def send(self, request: dict[str, Any], output: int = 0) -> Billed:
        """Bill one request of the turn. `output`: tokens of its answer."""
        model = MODELS[MODEL]
        prompt = read_prompt(request, model)
        booking = self.cache.look_up("bench", prompt, model.cache_minimum)
        self.cache.publish(booking)
        usage = booking.usage
        again, alive = self._known(prompt)
        static = prompt.totals[prompt.first_message_block - 1]
        one = Billed(
            usage.plain,
            usage.read,
            usage.written_5m,
            usage.written_1h,
            output,
            static=static,
            static_read=min(static, usage.read),
            again=again,
            again_read=min(again, usage.read),
            again_alive=alive,
            static_alive=min(static, alive),
        )
        self.billed[-1].append(one)
        self._sent |= dict.fromkeys(prompt.digests, self.now)
        return one

    def _known(self, prompt: Prompt) -> tuple[int, int]:
        """Tokens from the start that were ever sent before, and those sent within the last hour."""
        again = alive = 0
        for digest, total in zip(prompt.digests, prompt.totals, strict=True):
            sent = self._sent.get(digest)
            if sent is None:
                break
            again = total
            if self.now - sent < HOUR:
                alive = total
        return again, alive

    def all(self, turns: int) -> list[Billed]:
        """The requests of the first `turns` turns."""
        return [request for requests in self.billed[:turns] for request in requests]


def price_of(model: str, input_tokens: int) -> ListPrice:
    """The list price for a request with this many input tokens."""
    tiers = [price for price in LIST_PRICES if price.model == model and input_tokens >= price.from_input_tokens]
    return max(tiers, key=lambda one: one.from_input_tokens)


def dollars(requests: Iterable[Billed], model: str, *, with_output: bool = False) -> float:
    """Dollars that the requests cost, input only or everything."""
    counted = [request if with_output else replace(request, output=0) for request in requests]
    return float(sum(cost(item, price_of(model, item.total)) for item in counted))


def share(part: float, whole: float) -> float:
    """`part` as a percentage of `whole`."""
    return 100.0 * part / whole if whole else 100.0


def read_share(requests: Sequence[Billed]) -> float:
    """Percentage of all input that came from the cache."""
    return share(sum(request.cache_read for request in requests), sum(request.total for request in requests))
