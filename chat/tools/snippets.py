"""Snippets of a search result: the start of each hit, for when there is no room for all of them.

The head of the JSON would show the first hits in full and the last ones not at all. Pure, and without a model.
"""

import json
import re
from typing import Any, Final

from recall.text import model_json

MAX_CHARS: Final = 160
"""Characters of each result's text: a sentence or two."""
_SENTENCE: Final = re.compile(r".+?[.!?…](?=\s|$)", re.DOTALL)


def render_snippets(result: str) -> str:
    """The same result with the start of each hit; empty if it isn't a list of hits, or wouldn't get shorter."""
    try:
        answer: Any = json.loads(result)
    except ValueError:
        return ""
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) < 2 or not all(_has_text(hit) for hit in results):
        return ""
    shortened = {**answer, "results": [{**hit, "text": first_sentence(hit["text"])} for hit in results]}
    snippets = model_json(shortened)
    return snippets if len(snippets) < len(result) else ""


def first_sentence(text: str) -> str:
    """The first sentence, or as many whole words as fit."""
    words = " ".join(text.split())
    found = _SENTENCE.match(words)
    first = found[0] if found else words
    return first if len(first) <= MAX_CHARS else f"{first[:MAX_CHARS].rsplit(' ', 1)[0]} …"


def _has_text(hit: object) -> bool:
    return isinstance(hit, dict) and isinstance(hit.get("text"), str)
