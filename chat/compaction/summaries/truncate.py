"""Truncates texts at a word boundary, marked with “…”; several texts share a limit evenly."""

from collections.abc import Sequence
from typing import Final

from recall.llm.tokens import count_tokens

CUT_MARK: Final = "…"
WORD_SEARCH_CHARS: Final = 24
"""A cut moves back to the last space if there is one within this many characters; some scripts have none."""
MIN_READABLE_TOKENS: Final = 10
"""Base tokens below which a cut text is useless; for characters, a quotation needs more than this."""


def truncate_chars(text: str, limit: int) -> str:
    """The text, or as much of its start as `limit` characters hold, mark included; a quotation stays closed."""
    if len(text) <= limit:
        return text
    mark = f"{CUT_MARK}”" if text.startswith("“") and text.endswith("”") and limit > MIN_READABLE_TOKENS else CUT_MARK
    kept = text[: max(0, limit - len(mark))]
    blank = kept.rfind(" ", max(0, len(kept) - WORD_SEARCH_CHARS))
    return f"{(kept[:blank] if blank > 0 else kept).rstrip(' …')}{mark}"


def truncate_tokens(text: str, limit: int) -> str:
    """The text, or as much of its start as `limit` base tokens hold; empty if nothing fits."""
    if count_tokens(text) <= limit:
        return text
    low, high = 1, len(text)  # `low` characters fit, or nothing does; `high` characters don't
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count_tokens(truncate_chars(text, middle)) <= limit else (low, middle)
    kept = truncate_chars(text, low)
    return kept if kept.strip("“…”") and count_tokens(kept) <= limit else ""


def fit_evenly(texts: Sequence[str], limit: int, between: int) -> list[str]:
    """Fit the texts into `limit` base tokens, `between` tokens apart: the longest are cut first.

    If there are too many to stay readable, some are left out, evenly spaced.
    """
    most = max(1, limit // (MIN_READABLE_TOKENS + between))
    kept = pick_evenly(texts, most)
    share = _even_share([count_tokens(text) for text in kept], limit - between * len(kept))
    return [short for text in kept if (short := truncate_tokens(text, share))]


def pick_evenly(texts: Sequence[str], most: int) -> list[str]:
    """At most `most` of them, evenly spaced, including the first and the last."""
    if len(texts) <= most:
        return list(texts)
    if most < 2:
        return list(texts[-1:])
    step = (len(texts) - 1) / (most - 1)
    return [texts[round(step * place)] for place in range(most)]


def _even_share(sizes: Sequence[int], limit: int) -> int:
    """The largest size that each may have so that all stay within `limit` together."""
    left, open_ = limit, len(sizes)
    for size in sorted(sizes):
        if size * open_ > left:
            return max(0, left // open_)
        left -= size
        open_ -= 1
    return max(sizes, default=0)
