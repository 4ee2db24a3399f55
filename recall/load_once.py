"""Loads what a process needs one of, such as a network, once, however many threads ask for it."""

import threading
from collections.abc import Callable, Hashable
from functools import update_wrapper


class LoadOnce[**P, T]:
    """A function whose result is loaded at the first call with its arguments, and then given without a lock.

    A lock that every call takes would be handed from thread to thread: where ten answered at once, a third of the
    time that they read memories was spent waiting for it.
    """

    def __init__(self, load: Callable[P, T]) -> None:
        self._load = load
        self._loading = threading.Lock()
        self._loaded: dict[Hashable, T] = {}
        update_wrapper(self, load)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (args, *kwargs.items())
        try:
            return self._loaded[key]
        except KeyError:
            with self._loading:
                if key not in self._loaded:
                    self._loaded[key] = self._load(*args, **kwargs)
                return self._loaded[key]

    def clear(self) -> None:
        """Load again at the next call; for tests."""
        self._loaded.clear()
