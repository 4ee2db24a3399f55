"""How is a text made to fit? Cut at a word, marked with “…”; several texts give up their length evenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recall.llm.tokens import count_tokens

CUT_MARK: Final = "…"
WORD_WITHIN: Final = 24
"""A cut goes back to the last blank if there is one within so many characters; some scripts have none."""
READABLE: Final = 10
"""Base tokens below which what is left of a text says nothing; of characters a quotation needs more."""


def truncate_chars(text: str, limit: int) -> str:
    """The text, or as much of its beginning as `limit` characters hold, the mark included; a quotation stays closed."""
    if len(text) <= limit:
        return text
    mark = f"{CUT_MARK}”" if text.startswith("“") and text.endswith("”") and limit > READABLE else CUT_MARK
    kept = text[: max(0, limit - len(mark))]
    blank = kept.rfind(" ", max(0, len(kept) - WORD_WITHIN))
    return f"{(kept[:blank] if blank > 0 else kept).rstrip(' …')}{mark}"


def truncate_tokens(text: str, limit: int) -> str:
    """The text, or as much of its beginning as `limit` base tokens hold; empty where not even a letter fits."""
    if count_tokens(text) <= limit:
        return text
    low, high = 1, len(text)  # `low` characters fit, or nothing does; `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count_tokens(truncate_chars(text, middle)) <= limit else (low, middle)
    kept = truncate_chars(text, low)
    return kept if kept.strip("“…”") and count_tokens(kept) <= limit else ""


def evenly(texts: Sequence[str], limit: int, between: int) -> list[str]:
    """The texts within `limit` base tokens, `between` tokens apart: the longest give way first.

    Where there are too many to stay readable, some go altogether, evenly over the whole.
    """
    most = max(1, limit // (READABLE + between))
    kept = spread(texts, most)
    share = _share([count_tokens(text) for text in kept], limit - between * len(kept))
    return [short for text in kept if (short := truncate_tokens(text, share))]


def spread(texts: Sequence[str], most: int) -> list[str]:
    """At most `most` of them, the first and the last among them, the others equally far apart."""
    if len(texts) <= most:
        return list(texts)
    if most < 2:
        return list(texts[-1:])
    step = (len(texts) - 1) / (most - 1)
    return [texts[round(step * place)] for place in range(most)]


def _share(sizes: Sequence[int], limit: int) -> int:
    """The largest size that each may have so that all stay within `limit` together."""
    left, open_ = limit, len(sizes)
    for size in sorted(sizes):
        if size * open_ > left:
            return max(0, left // open_)
        left -= size
        open_ -= 1
    return max(sizes, default=0)
