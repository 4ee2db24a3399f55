"""A stopwatch for the steps of a task: for receipts, pages and benchmarks."""

from time import perf_counter


class Stopwatch:
    """Milliseconds per step."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """Record the time since the last lap under `name`."""
        now = perf_counter()
        self.laps[name] = round(1000 * (now - self._last), 2)
        self._last = now
