"""What the networks give for a text is computed once in a process: tests read the same sentences thousands of times."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np

MOST: Final = 5_000
"""Results that a session keeps; the oldest go first."""


class Remembering:
    """An ONNX Runtime session that runs for inputs it hasn't seen yet."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._known: dict[bytes, list[np.ndarray[Any, Any]]] = {}

    def run(self, outputs: Sequence[str], inputs: Mapping[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The session's own results for these inputs."""
        key = _digest(outputs, inputs)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._session.run(outputs, inputs)
            if len(self._known) > MOST:
                self._known.pop(next(iter(self._known)), None)
        return [values.copy() for values in found]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def remembering(session: Callable[..., Any]) -> Callable[..., Any]:
    """`session`, whose sessions remember."""
    return lambda graph: Remembering(session(graph))


def _digest(outputs: Sequence[str], inputs: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    digest = blake2b(repr(outputs).encode(), digest_size=16)
    for name, values in sorted(inputs.items()):
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.digest()
