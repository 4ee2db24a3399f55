"""Recognizes a message that asks to forget something: “please forget that”, “forget what I said about the move”. Pure.

From then on, prompts are built without it (`chat/prompt/forgotten_topics.py`); the link under the message opens the
preview of its deletion. A likely figure of speech (“forget it, let's move on”) isn't a request.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.text.user_text import mask_foreign_text

_OPENING: Final = (
    r"(?:(?:ok|okay|well|actually|oh|hey|hi|hmm?|sorry|and|but|also|then|now|no|wait|so|recall|please|pls|plz"
    r"|on second thoughts?|on reflection|you know what|one more thing"
    r"|(?:can|could|would|will) you|just|kindly|you (?:can|may|should)|i(?:'d| would) like you to|i want you to)[, ]+)*"
)
_SAID: Final = r"(?:said|told you|mentioned|wrote|shared)(?: to you| before| earlier)?"
_ALL: Final = r"(?:what|everything|all|anything|whatever|the (?:things?|bits?|parts?|stuff))(?: that)?"
_KNOWN: Final = (
    rf"(?:i(?:'ve| have)? (?:just |ever )?{_SAID}"
    r"|you(?:'ve| have)?(?: (?:just |ever )?(?:got|have|know|remember|learned|noted|stored|saved|kept|wrote|written"
    r"|said))?(?: down)?)"
)
_STORE: Final = r"(?:your (?:memor(?:y|ies)|records?|notes)|my memor(?:y|ies))"
_ASKS: Final = re.compile(
    rf"{_OPENING}(?:forget|(?:don't|do not|stop) remember(?:ing)?"
    rf"|(?:delete|erase|remove|wipe|get rid of|scrub)(?=.* from {_STORE}\b| {_ALL} {_KNOWN} (?:about|on) ))"
    r"(?: about)? (?P<what>[^,.;:!?]{2,120}?)"
    rf"(?: from {_STORE})?(?:,? (?:please|pls|plz|thanks|(?:would|will|could) you)| now)*"
    r"(?P<reason>(?:[,;]| [-–—]| because| (?:since|as)(?= (?:i|you|he|she|it|we|they|that|this|there|my|our)\b))"
    r" [^?]{2,200}?)?[.! ]*(?P<asks>\?)?",
    re.IGNORECASE,
)
_HINT: Final = re.compile(r"forget|memor|remember|delete|erase|wipe|remove|get rid|scrub", re.IGNORECASE)
_PREVIOUS: Final = re.compile(
    rf"(?:that|this|it|(?:that )?i (?:just |ever )?(?:{_SAID})(?: that| this| it)?|what i (?:just )?(?:{_SAID})"
    r"|my last message|the last (?:thing|message)(?: i said)?|(?:that|this) i (?:just )?said)",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    rf"{_ALL}(?: {_KNOWN})? (?:about|on) (?P<topic>.+)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[,;:–—] | - | (?:so|and|but|then) |^(?!(?:you|people)\b|\w*(?:s|n't|nt)\b)\w+ ", re.IGNORECASE
)
"""A request may follow one of these, or one word: “hi, quick one: forget everything about the therapist”, “omg forget
what I said about Tom”; but not “Kids forget what I said about sweets”."""
MAX_SENTENCE: Final = 400
"""Characters of a sentence in which a request may follow other words."""
_NO_REQUEST: Final = re.compile(
    r"\b(?:i|he|she|they|people|will|might|may|\w+'ll|did|do|does|have|has|why|how|if|never|not|always|to|\w+n't)\b",
    re.IGNORECASE,
)
"""Words of a clause that continues with “and forget everything about the exam”."""
_OF: Final = re.compile(r"(?:.*\b)?about (?P<topic>[^,.;:!?]{2,80}): ", re.IGNORECASE)
"""“About that interview: forget I ever mentioned it” names before what is to be forgotten."""
_STATED: Final = re.compile(r"that (?!(?:it|this|that|there|we|you)\b)\w", re.IGNORECASE)
"""What is said of someone: “so forget that Paloma is pregnant”, but not “let's forget that it's Monday”."""
_MENTIONED: Final = re.compile(rf"\bi (?:just |ever )?{_SAID}", re.IGNORECASE)
_STORED: Final = re.compile(rf"\b{_STORE}\b", re.IGNORECASE)
_EVERYTHING: Final = re.compile(
    r"(?:everything|all)(?: (?:you know|i (?:ever )?told you|about me|of it))*", re.IGNORECASE
)
_POLITE: Final = re.compile(r"\b(?:please|pls|plz|(?:can|could|will|would) you)\b", re.IGNORECASE)
_PRIVATE: Final = re.compile(
    r"\b(?:must|should|can|may)(?:n't| not|not) (?:see|know|find)\b|"
    r"\b(?:stored|saved|kept|private|secret|shouldn't|don't want (?:it|that|this)|nobody|no one|none of)\b|\bdont want"
    r"|\bdon't want (?:\w+ ){1,3}to (?:keep|store|save|know|have|remember)\b|^\W*(?:all of it|the whole thing)\b"
    r"|\b(?:delete|erase|remove) (?:it|that|this|them|everything)\b|\bwant to be reminded\b"
    r"|\bover my shoulder\b|\b(?:reads?|sees?|looks? at|uses?) (?:this|these|my|our)\b",
    re.IGNORECASE,
)
"""Reasons to be forgotten: “forget how much I earn, I don't want that stored”."""
_NO_TOPIC: Final = re.compile(
    r"(?:to|(?:how|why|when|where|who)(?! (?:\w+ )?(?:i|my|we|our)\b)|whether|if)\b"
    r"|(?:it|him|her|them|us|you|me|things?|anything|something|stuff|all)$"
    r"|.*\b(?:instructions?|prompts?|rules?|guidelines|previous)\b",
    re.IGNORECASE,
)
"""Phrases that aren't about the user's memory: “forget to call”, “can you forget things?”, “forget all previous
instructions”."""
_ALSO: Final = re.compile(
    r"(?:and|also|plus)(?: also)? (?:what i said |everything )?(?:about )?(?P<topic>(?:the|my|our|his|her|their)"
    r" [^,.;:!?]{2,60}?)(?: please| pls| too)*[.! ]*",
    re.IGNORECASE,
)
"""What follows a request, “And the panic attacks.”, and is meant too."""
MORE: Final = "; "
"""Between the topics of several requests in one message."""
WITHHOLDS: Final = "withholds"
"""Key in the event data of a message that asks: references of what it names, which prompts are built without."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a message asks to forget: a topic (several with `MORE` in between), else everything, else the user's
    previous message."""

    topic: str = ""
    everything: bool = False


def find_request(text: str) -> ForgetRequest | None:
    """The request in a user's message, of all its topics; None: it doesn't ask to forget anything."""
    if not _HINT.search(text):
        return None
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n", mask_foreign_text(text)) if one.strip()]
    topics: list[str] = []
    for sentence in (sentence.replace("’", "'") for sentence in sentences):
        for request in _requests_in(sentence, is_alone=len(sentences) == 1, goes_on=bool(topics)):
            if not request.topic:
                return request
            topics.append(request.topic)
    return ForgetRequest(MORE.join(topics)) if topics else None


def _requests_in(sentence: str, *, is_alone: bool, goes_on: bool) -> Iterator[ForgetRequest]:
    """Those of a sentence: “forget my weight, and everything about the diet”. `goes_on`: one is before it."""
    if goes_on and (also := _ALSO.fullmatch(sentence)):
        yield ForgetRequest(also["topic"])
    elif asked := _ASKS.fullmatch(sentence):
        if request := _read(asked, is_alone=is_alone):
            yield request
            after = (asked["reason"] or "").lstrip(" ,;-–—")
            yield from _requests_in(after, is_alone=False, goes_on=True)
    elif request := _behind_other_words(sentence):
        yield request


def _behind_other_words(sentence: str) -> ForgetRequest | None:
    for before in _CLAUSE.finditer(sentence) if len(sentence) <= MAX_SENTENCE else ():
        asked = _ASKS.fullmatch(sentence, before.end())
        if asked is None or not _is_of_memory(asked):
            continue
        goes_on = before[0].strip().isalpha() and before[0] != " so "
        goes_on = goes_on and _NO_REQUEST.search(sentence, 0, before.start() or before.end()) is not None
        if not goes_on or _STORED.search(asked[0]):
            of = _OF.fullmatch(sentence, 0, before.end()) if _PREVIOUS.fullmatch(asked["what"].strip()) else None
            return ForgetRequest(of["topic"]) if of else _read(asked, is_alone=True)
    return None


def _is_of_memory(asked: re.Match[str]) -> bool:
    """Whether it can be meant of nothing but what was said: behind other words, “forget the sugar” is an idiom."""
    what = asked["what"].strip()
    return _STORED.search(asked[0]) is not None or bool(
        _ABOUT.fullmatch(what) or _MENTIONED.search(what) or _STATED.match(what)
    )


def _read(asked: re.Match[str], *, is_alone: bool) -> ForgetRequest | None:
    what, is_polite = asked["what"].strip(), _POLITE.search(asked[0]) is not None
    if asked["reason"] and not (is_polite or _ABOUT.fullmatch(what) or _PRIVATE.search(asked["reason"])):
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
    return ForgetRequest(
        re.sub(
            r"^(?:that (?=\w+ \w)|(?:that|how \w+|where|when|who) (?=i\b|my\b|we\b|our\b))",
            "",
            what,
            flags=re.IGNORECASE,
        )
    )
