"""How long did each step take? For receipts, pages and benchmarks."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """The time since the last lap is this step's."""
        now = perf_counter()
        self.laps[name] = round(1000 * (now - self._last), 2)
        self._last = now
