"""Prompt caching by the provider's rules: what a request reads from the cache, writes to it, and pays in full.

    writes     happen only at breakpoints, at most 4 per request, one entry for the prefix that ends there
    reads      look back from each breakpoint over at most 20 positions, starting with the breakpoint itself,
               for entries that earlier requests wrote; the longest one found counts
    too short  prefixes below the model's minimum are silently neither written nor read
    lifetime   5 minutes or 1 hour from the start of the request that wrote or last read the entry
    visible    only once the response that wrote the entry has started to stream
    apart      per workspace; here a workspace is an API key
    billed     read up to the longest hit A; 1-hour write from A to the last 1-hour breakpoint B;
               5-minute write from there to the last breakpoint C; the rest is plain input

Two points that the provider leaves open are decided here: a read also keeps the entries at this request's earlier
breakpoints alive, since their tokens were read too; and an entry keeps the lifetime it was written with.

The class is pure except for its clock, so a benchmark can drive it in-process:
`booking = cache.look_up(key, read_prompt(body, model), model.cache_minimum)`, then `cache.publish(booking)`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from offline.protocol.prompt import Prompt

LOOK_BACK = 20
LIFETIMES = {"5m": 300.0, "1h": 3_600.0}  # seconds
SWEEP_EVERY = 4_096  # publications between two removals of expired entries

Key = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class InputUsage:
    """How the input tokens of one request are billed; the four parts add up to the whole prompt."""

    plain: int
    read: int
    written_5m: int
    written_1h: int

    @property
    def written(self) -> int:
        return self.written_5m + self.written_1h

    @property
    def total(self) -> int:
        return self.plain + self.read + self.written


@dataclass(slots=True)
class Entry:
    """A cached prefix: when it expires (clock seconds) and the lifetime each read renews."""

    expires: float
    lifetime: float


@dataclass(frozen=True, slots=True)
class Booking:
    """What a request reads, and the entries it will write once its response starts."""

    usage: InputUsage
    writes: tuple[tuple[Key, float], ...]  # key and lifetime in seconds
    started: float


class PromptCache:
    """The cache of all workspaces. `clock` returns seconds and never runs backwards."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.entries: dict[Key, Entry] = {}
        self.publications = 0

    def look_up(self, workspace: str, prompt: Prompt, minimum: int) -> Booking:
        """Bill a request that starts now: find its longest hit, refresh what it reads, note what it will write."""
        now = self.clock()
        marks = [(at, ttl) for at, ttl in prompt.breakpoints if prompt.totals[at] >= minimum]
        hit = self._longest_hit(workspace, prompt, [at for at, _ in marks], now)
        if hit is not None:
            self._refresh(workspace, prompt, [hit, *(at for at, _ in marks if at < hit)], now)
        writes = tuple(((workspace, prompt.digests[at]), LIFETIMES[ttl]) for at, ttl in marks)
        return Booking(bill(prompt, marks, hit), writes, now)

    def publish(self, booking: Booking) -> None:
        """Make readable what the booking's request wrote: its response has started to stream."""
        for key, lifetime in booking.writes:
            entry = self.entries.get(key)
            if entry and entry.expires > booking.started:
                entry.expires = max(entry.expires, booking.started + entry.lifetime)
            else:
                self.entries[key] = Entry(booking.started + lifetime, lifetime)
        self.publications += 1
        if self.publications % SWEEP_EVERY == 0:
            self._sweep()

    def _longest_hit(self, workspace: str, prompt: Prompt, marks: list[int], now: float) -> int | None:
        """The block where the longest cached prefix ends; searched from the last breakpoint back, so the first hit is
        it."""
        for mark in reversed(marks):
            furthest = prompt.positions[mark] - LOOK_BACK
            at = mark
            while at >= 0 and prompt.positions[at] > furthest:
                if self._alive((workspace, prompt.digests[at]), now):
                    return at
                at -= 1
        return None

    def _alive(self, key: Key, now: float) -> bool:
        entry = self.entries.get(key)
        return entry is not None and entry.expires > now

    def _refresh(self, workspace: str, prompt: Prompt, blocks: list[int], now: float) -> None:
        for at in blocks:
            entry = self.entries.get((workspace, prompt.digests[at]))
            if entry and entry.expires > now:
                entry.expires = now + entry.lifetime

    def _sweep(self) -> None:
        now = self.clock()
        self.entries = {key: entry for key, entry in self.entries.items() if entry.expires > now}


def bill(prompt: Prompt, marks: list[tuple[int, str]], hit: int | None) -> InputUsage:
    """Split the prompt's tokens. `marks`: the breakpoints long enough to count; `hit`: the block read up to."""
    read = prompt.totals[hit] if hit is not None else 0
    last = prompt.totals[marks[-1][0]] if marks else 0
    last_hour = max((prompt.totals[at] for at, ttl in marks if ttl == "1h"), default=0)
    hour_end = max(read, last_hour)
    return InputUsage(plain=prompt.total - last, read=read, written_5m=last - hour_end, written_1h=hour_end - read)
