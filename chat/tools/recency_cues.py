"""Detects questions that need current information, by words and without a model.

English only, and cautious: a cue adds one line to the prompt that offers the web (`chat/tools/search_providers.py`).
Without it the model can still search, if the installation has a search.
"""

import re
from typing import Final

ORDERS: Final = (
    r"search (?:the web|the internet|online)",
    r"(?:look|check)(?: it| this| that)?(?: up)? (?:online|on the (?:web|internet))",
    r"google (?:it|this|that|for)",
    r"what does the (?:web|internet) say",
)
"""The user asks for a web search; counts in any message."""
CUES: Final = (
    # The newest of its kind.
    r"latest",
    r"newest",
    r"most recent(?:ly)?",
    r"up[- ]to[- ]date",
    r"(?:just|recently|newly) (?:released|announced|published|launched|elected|opened)",
    r"(?:new|current|stable) (?:version|release)",
    # Current events.
    r"(?:breaking |recent |today's |the )news",
    r"news (?:on|about|from|of)",
    r"current(?:ly)?",
    r"right now",
    r"at the moment",
    r"these days",
    r"nowadays",
    r"as of (?:now|today)",
    r"(?:happened|happening|announced|released|going on) (?:today|yesterday|(?:this|last) (?:week|month|year))",
    r"(?:today|tonight|tomorrow|this weekend)'?s? (?:weather|forecast|game|match|results?|score)",
    # Things that change by the hour.
    r"weather (?:in|at|for|like|today|tomorrow)",
    r"(?:share|stock|oil|gold|bitcoin) price",
    r"exchange rate",
    r"(?:final |live )?score of",
    r"who (?:won|is winning|leads)",
    r"opening hours",
    r"(?:still|already) (?:open|available|alive|valid|supported)",
)
"""The answer changes with time; counts in a question about the world."""
OWN: Final = (
    r"(?:my|mine|our|ours)",
    r"(?:did|do|have|had|am|was|were|are) (?:i|we)",
    r"(?:i|we)(?:'ve| have| had)? (?:\w+ )?(?:said|told|wrote|mentioned|decided|agreed|discussed|talked|noted|asked)",
    r"you (?:know|remember) (?:about|of) me",
    r"(?:told|asked) you",
)
"""Words about the user's own life or an earlier conversation, which no web page knows: then no cue counts."""
ASKING: Final = (
    r"^\W*(?:who|whom|whose|what|where|when|which|how|why|is|are|was|were|has|have|does|do|did|can|could|will|would)\b",
    r"^\W*(?:please )?(?:tell|show|find|give|list|check|look up|summari[sz]e)\b",
    r"\?",
)
"""How a question starts or ends: “I love the current weather” isn't a question."""


def _any(patterns: tuple[str, ...], *, words: bool = True) -> re.Pattern[str]:
    joined = "|".join(patterns)
    return re.compile(rf"\b(?:{joined})\b" if words else joined, re.IGNORECASE)


_ORDERS, _CUES, _OWN, _ASKING = _any(ORDERS), _any(CUES), _any(OWN), _any(ASKING, words=False)


def needs_web_search(message: str) -> bool:
    """Whether `message` asks for a web search or for current information."""
    plain = message.replace("’", "'")
    if _ORDERS.search(plain):
        return True
    sentences = re.split(r"(?<=[.!?])\s+|\n+", plain)
    return any(_ASKING.search(one) and _CUES.search(one) and not _OWN.search(one) for one in sentences)
