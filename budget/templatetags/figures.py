"""Template filters for figures: token counts, the "estimated" mark, and labels of cut rules."""

from typing import Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.time_zones import zone_label
from recall.figures import money, percent
from recall.llm.tokens import exact

ESTIMATED: Final = "estimated"
WHY_ESTIMATED: Final = (
    "Token counts are estimated, on the high side: this server has no token vocabulary."
    " Counts reported by the model are exact."
)
CUT_REASONS: Final = {
    # budget/planning/fit.py
    "task state gives way first": "tool results are trimmed first",
    "history gives way in its middle": "middle of the conversation trimmed",
    "first and last turns: all else is cut already": "no room: first and last turns left out",
    "memories give way, lowest score first": "lowest scores trimmed first",
    "profile gives way, least important first": "least important trimmed first",
    "keyed facts: all else is cut already": "no room: key facts left out",
    "role instructions give way last": "trimmed last",
    # memory/retrieval/truth.py
    "rejected": "you rejected it",
    "retracted": "you took it back",
    "superseded": "replaced by something newer",
    "ended": "no longer true",
    "only asks": "only a question",
    "a command": "only a command",
    "states nothing": "says nothing to answer from",
    "did not know": "Recall didn't know",
    "answered from memories": "repeats other memories",
    "forgotten": "repeats what you had forgotten",
    "on the list": "changed the list that answers",
    # memory/retrieval/ranking.py
    "said by others": "someone else said it",
    "archived": "faded",
    "below the floor": "not relevant enough",
    "the same question": "repeats your question",
    "already in the window": "already in this conversation",
    "near-duplicate": "duplicate",
    "beyond top-K": "others matched better",
    "over the token budget": "no room left",
    # chat/prompt/ablation.py
    "left out at your request": "excluded at your request",
}
"""Cut rule, as receipts store it → its label on pages."""

register = template.Library()
register.filter("zone_label", zone_label)
register.filter("money", money)
register.filter("percent", percent)


@register.filter
def cut_reason(rule: str) -> str:
    """The label of a cut rule; one that has none is shown as it is stored."""
    return CUT_REASONS.get(rule, rule)


@register.filter
def tokens(number: int) -> str:
    """A whole number with thousands separators: 12,345."""
    return f"{number:,}"


@register.simple_tag
def estimated() -> str:
    """The mark for figures that are estimated without a vocabulary (recall/llm/tokens.py); else nothing."""
    return "" if exact() else f", {ESTIMATED}"


@register.simple_tag
def why_estimated() -> SafeString:
    """The same mark with its reason, for the top of a page."""
    if exact():
        return SafeString("")
    return format_html('<p class="muted"><span class="badge badge-warn">{}</span> {}</p>', ESTIMATED, WHY_ESTIMATED)
