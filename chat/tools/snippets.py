"""What does a search's answer come to in a few words? The beginning of each result, where there is no room for all.

The head of an answer would tell the first results in full and nothing of the last ones. Pure, and without a model: a
tool's result is no text to be told in other words, and the model reads the whole where it needs it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

MOST_CHARS: Final = 160
"""Of each result's text: a sentence or two."""
_SENTENCE: Final = re.compile(r".+?[.!?…](?=\s|$)", re.DOTALL)


def render_snippets(result: str) -> str:
    """The same answer with the beginning of each result; empty where it is no list of results, or says little less."""
    try:
        answer: Any = json.loads(result)
    except ValueError:
        return ""
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) < 2 or not all(_has_text(one) for one in results):
        return ""
    told = {**answer, "results": [{**one, "text": beginning(one["text"])} for one in results]}
    gist = json.dumps(told, ensure_ascii=False, sort_keys=True)
    return gist if len(gist) < len(result) else ""


def beginning(text: str) -> str:
    """The first sentence, or as many whole words as there is room for."""
    words = " ".join(text.split())
    found = _SENTENCE.match(words)
    first = found[0] if found else words
    return first if len(first) <= MOST_CHARS else f"{first[:MOST_CHARS].rsplit(' ', 1)[0]} …"


def _has_text(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("text"), str)
