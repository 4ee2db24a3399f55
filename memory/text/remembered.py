"""Remembers what was read from texts, by their digests: how much that takes doesn't depend on how long they are."""

from collections.abc import Callable
from functools import lru_cache, wraps
from hashlib import blake2b


class _Key:
    """A text until it is read; equal to others by its digest."""

    __slots__ = ("digest", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.digest == other.digest


def remembered[R](most: int) -> Callable[[Callable[[str], R]], Callable[[str], R]]:
    """Decorates a function of a text: its results for the last `most` texts are remembered, the texts are not."""

    def decorate(read: Callable[[str], R]) -> Callable[[str], R]:
        @lru_cache(most)
        def read_once(key: _Key) -> R:
            text, key.text = key.text, ""
            return read(text)

        @wraps(read)
        def look_up(text: str) -> R:
            return read_once(_Key(text))

        return look_up

    return decorate
