"""The built-in embedding model: its names, the width of its vectors and the limits of its input."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

MINILM: Final = "all-MiniLM-L6-v2"
"""Fast enough on one CPU thread, finds meaning rather than words, and is installed as a package: it needs no network.
It reads English best."""
MINILM_INT8: Final = "all-MiniLM-L6-v2-int8"
"""The same model with 8-bit weights, the default: half the time, within half a point of recall."""

DIMENSION: Final = 384
"""Width of a vector, and of the database columns."""
PIECES: Final = 256
"""Word pieces a vector covers, as published (it was trained on 128). Words beyond them don't count."""
CHARACTERS: Final = 64 * PIECES
"""Texts are cut here before tokenization: a pasted megabyte must not cost a second to read its first page. 64
characters per piece is far beyond any language."""
THREADS: Final = 1
"""Threads per question. With a second thread on two shared cores the slowest question took 484 ms (p99, measured with
PyTorch). Concurrent questions run side by side instead, each in its caller's thread."""

type Vectors = NDArray[np.float32]
