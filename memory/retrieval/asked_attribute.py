"""Which attribute of someone a question asks for: softmax regression over the question's vector.

`manage.py train-questions` fits the weights to questions that people put in very different words (“what do I do for a
living”, “which box do I tick for my line of work”). Its subject is not learned: `keyed_answers.py`
reads that from its words.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from memory.embeddings.limits import MINILM, MINILM_INT8, Vectors
from memory.embeddings.port import Embedder
from memory.network.adapted import Weights, softmax, trained
from memory.query_encoder.encoder import encode_question

ASKS_FOR: Final[Mapping[str, tuple[str, ...]]] = {
    "home": ("home",),
    "address": ("address", "home"),
    "origin": ("origin",),
    "job": ("job",),
    "employer": ("employer",),
    "studies": ("studies",),
    "school": ("school",),
    "name": ("name", "preferred_name"),
    "pet_name": ("name", "pet:"),
    "preferred_name": ("preferred_name", "name"),
    "surname": ("surname", "name"),
    "age": ("age", "birthday"),
    "birthday": ("birthday",),
    "partner": ("partner", "relationship"),
    "relationship": ("relationship", "partner"),
    "diet": ("diet", "diet:", "allergy:"),
    "allergy": ("allergy:",),
    "condition": ("condition:", "allergy:"),
    "pets": ("pet:", "species"),
    "breed": ("breed", "species", "pet:"),
    "car": ("car",),
    "phone": ("phone",),
    "time_zone": ("time_zone",),
    "pronouns": ("pronouns",),
    "pastime": ("pastime:",),
    "likes": ("favourite_", "taste:"),
    "dislikes": ("taste:",),
}
"""What questions ask for → the attributes or families whose facts answer; the first does so best."""
LABELS: Final = ("none", *ASKS_FOR)
POSSIBLE: Final = 0.1
"""Probability from which an attribute may be what a question asks for."""
SECOND: Final = 0.5
"""Weight of an attribute that answers less well than another."""
AS_WELL: Final = frozenset({"diet:"})
"""Families that answer as well as the first attribute: who is vegetarian and eats no gluten has a diet of both."""
WEIGHTS: Final = Path(__file__).with_name("asked_attribute.safetensors")


def asked_attributes(text: str, vectors: Mapping[Embedder, Vectors]) -> Mapping[str, float]:
    """How likely a question asks for each attribute or family of `memory/facts/keys.py`: those that are POSSIBLE; none
    of them if it most likely asks for none.

    `text`: in the third person; `vectors`: those it has already, by model.
    """
    read = next((vector for model, vector in vectors.items() if model.name in (MINILM_INT8, MINILM)), None)
    none, *chances = probabilities(encode_question(text) if read is None else read)
    if none >= max(chances):
        return {}
    asked: defaultdict[str, float] = defaultdict(float)
    for attributes, chance in zip(ASKS_FOR.values(), chances, strict=True):
        for place, attribute in enumerate(attributes):
            asked[attribute] += float(chance) * _weight(place, attribute)
    return {attribute: chance for attribute, chance in asked.items() if chance >= POSSIBLE}


def named_attributes(label: str) -> Mapping[str, float]:
    """The same for a question whose words name one of LABELS; none of them for an empty label."""
    return {attribute: _weight(place, attribute) for place, attribute in enumerate(ASKS_FOR.get(label, ()))}


def _weight(place: int, attribute: str) -> float:
    return SECOND if place and attribute not in AS_WELL else 1.0


def probabilities(vectors: Vectors) -> Vectors:
    """Of each of LABELS: (384,) → (labels,), or of several vectors at once."""
    return softmax(vectors @ _weights()["weight"] + _weights()["bias"])


@cache
def _weights() -> Weights:
    return trained(WEIGHTS)
