"""Recognizes a message that asks to forget something: “please forget that”, “forget what I said about the move”. Pure.

From then on, prompts are built without it (`chat/prompt/forgotten_topics.py`); the link under the message opens the
preview of its deletion. A likely figure of speech (“forget it, let's move on”) isn't a request.
"""

import re
from dataclasses import dataclass
from typing import Final

from memory.text.user_text import mask_foreign_text

_OPENING: Final = (
    r"(?:(?:ok|okay|well|actually|oh|hey|hi|sorry|and|but|now|no|wait|so|recall|please|pls|plz"
    r"|(?:can|could|would|will) you|just|kindly|you (?:can|may|should)|i(?:'d| would) like you to|i want you to)[, ]+)*"
)
_SAID: Final = r"(?:said|told you|mentioned|wrote|shared)(?: to you| before| earlier)?"
_ASKS: Final = re.compile(
    rf"{_OPENING}(?:forget|(?:don't|do not|stop) remember(?:ing)?"
    r"|(?:delete|erase|remove)(?=.* from (?:your|my) memor(?:y|ies)\b))"
    r"(?: about)? (?P<what>[^,.;:!?]{2,120}?)"
    r"(?: from (?:your|my) memor(?:y|ies))?(?:,? (?:please|pls|plz|thanks|(?:would|will|could) you)| now)*"
    r"(?P<reason>(?:,| [-–—]| because| since| as) [^?]{2,200}?)?[.! ]*(?P<asks>\?)?",
    re.IGNORECASE,
)
_HINT: Final = re.compile(r"forget|memor|remember", re.IGNORECASE)
_PREVIOUS: Final = re.compile(
    rf"(?:that|this|it|(?:that )?i (?:just |ever )?(?:{_SAID})(?: that| this| it)?|what i (?:just )?(?:{_SAID})"
    r"|my last message|the last (?:thing|message)(?: i said)?|(?:that|this) i (?:just )?said)",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    rf"(?:what|everything|all|anything|whatever|the things?)(?: that)?(?: (?:i|you)(?:'ve| have)? (?:just |ever )?"
    rf"(?:{_SAID}|know|remember|learned|noted))? about (?P<topic>.+)",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(
    rf"(?P<before>.*?)\bforget (?:what|everything|all|anything|whatever|the things?)(?: that)? i(?:'ve| have)?"
    rf" (?:just |ever )?{_SAID} about (?P<topic>[^,.;:!?]{{2,120}})",
    re.IGNORECASE,
)
"""What can be nothing else, with any words around it: “hmm forget what I said about the interview, it went badly”."""
_NO_REQUEST: Final = re.compile(
    r"\b(?:i|he|she|they|people|will|might|may|\w+'ll|did|do|does|have|has|why|how|if|never|not|always|to|\w+n't)\b",
    re.IGNORECASE,
)
"""Words before it that make it none: “did you forget …?”, “don't forget …”."""
_EVERYTHING: Final = re.compile(
    r"(?:everything|all)(?: (?:you know|i (?:ever )?told you|about me|of it))*", re.IGNORECASE
)
_POLITE: Final = re.compile(r"\b(?:please|pls|plz|(?:can|could|will|would) you)\b", re.IGNORECASE)
_NO_TOPIC: Final = re.compile(
    r"(?:to|how|why|when|where|who|whether|if)\b|(?:it|him|her|them|us|you|me|things?|anything|something|stuff|all)$"
    r"|.*\b(?:instructions?|prompts?|rules?|guidelines|previous)\b",
    re.IGNORECASE,
)
"""Phrases that aren't about the user's memory: “forget to call”, “can you forget things?”, “forget all previous
instructions”."""
WITHHOLDS: Final = "withholds"
"""Key in the event data of a message that asks: references of what it names, which prompts are built without."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a message asks to forget: a topic, else everything, else the user's previous message."""

    topic: str = ""
    everything: bool = False


def find_request(text: str) -> ForgetRequest | None:
    """The request in a user's message; None: it doesn't ask to forget anything."""
    if not _HINT.search(text):
        return None
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n", mask_foreign_text(text)) if one.strip()]
    for sentence in sentences:
        asked = _ASKS.fullmatch(sentence.replace("’", "'"))
        if asked is not None:
            return _read(asked, is_alone=len(sentences) == 1)
        told = _TOLD.match(sentence.replace("’", "'"))
        if told is not None and not _NO_REQUEST.search(told["before"]):
            return ForgetRequest(told["topic"])
    return None


def _read(asked: re.Match[str], *, is_alone: bool) -> ForgetRequest | None:
    what, is_polite = asked["what"].strip(), _POLITE.search(asked[0]) is not None
    if asked["reason"] and not (is_polite or _ABOUT.fullmatch(what)):
        return None  # “forget the sugar, how much flour?”
    if _PREVIOUS.fullmatch(what):
        is_idiom = what.casefold() == "it" or not is_alone  # “Forget it.” and “Forget that. What about lunch?”
        return None if is_idiom and not is_polite else ForgetRequest()
    about = _ABOUT.fullmatch(what)
    if _EVERYTHING.fullmatch(what) or (about and about["topic"].casefold() == "me"):
        return ForgetRequest(everything=True)
    if about:
        return ForgetRequest(about["topic"])
    if _NO_TOPIC.match(what):
        return None
    return ForgetRequest(re.sub(r"^that ", "", what, flags=re.IGNORECASE))
