"""The vector of a question: all-MiniLM-L6-v2 with adapters, fitted to questions and the memories that answer them.

Memories keep the vectors of the published model, so nothing is embedded again, and a question costs what it did.
"""

from pathlib import Path
from typing import Final

import numpy as np

from memory.embeddings.limits import PIECES, Vectors
from memory.embeddings.minilm import readable
from memory.embeddings.published import whole_tokenizer
from memory.network.reader import read_scores

WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")


def pieces_of(question: str) -> list[int]:
    """The question in the network's pieces."""
    return list(whole_tokenizer().encode(readable(question)).ids[:PIECES])


def encode_question(question: str) -> Vectors:
    """The question's vector of length 1, in the space of all-MiniLM-L6-v2: (384,)."""
    mean = read_scores(WEIGHTS, pieces_of(question), whole=()).mean(0)
    vector: Vectors = (mean / np.linalg.norm(mean)).astype(np.float32)
    return vector
