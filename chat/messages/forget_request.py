"""Recognizes a message that asks to forget something: “please forget that”, “forget what I said about the move”. Pure.

From then on, prompts are built without it (`chat/prompt/forgotten_topics.py`); the link under the message opens the
preview of its deletion. A likely figure of speech (“forget it, let's move on”) isn't a request.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from memory.text.parts import TITLE
from memory.text.user_text import mask_foreign_text

_OPENING: Final = (
    r"(?:(?:ok|okay|well|actually|oh|hey|hi|hmm?|sorry|and|but|also|then|now|no|wait|so|recall|please|pls|plz"
    r"|on second thoughts?|on reflection|you know what|one more thing|btw|by the way"
    r"|(?:can|could|would|will) you|just|kindly|you (?:can|may|should)|i(?:'d| would) like you to|i want you to)[, ]+)*"
)
_SAID: Final = r"(?:said|told you|gave you|mentioned|wrote|shared)(?: to you| before| earlier)?"
_ALL: Final = r"(?:what|everything|all|anything|whatever|the (?:things?|bits?|parts?|stuff|notes?))(?: that)?"
_KNOWN: Final = (
    rf"(?:i(?:'ve| have)? (?:just |ever )?{_SAID}"
    r"|you(?:'ve| have)?(?: (?:just |ever )?(?:got|have|know|remember|learned|noted|stored|saved|kept|wrote|written"
    r"|said))?(?: down)?)"
)
_STORE: Final = r"(?:your (?:memor(?:y|ies)|records?|notes)|my memor(?:y|ies))"
_ASKS: Final = re.compile(
    rf"{_OPENING}(?:forget|(?:don't|do not|stop) remember(?:ing)?"
    r"|(?:don't|do not) (?:keep|store|save)"
    r"(?= (?:my|our|what|where|how (?:much|many|old)) | (?:that|this) ?(?:[,.;!–—-]|$))"
    r"|(?P<erases>delete|erase|remove|wipe|get rid of|scrub|scrap)"
    rf"(?=.* from {_STORE}\b| {_ALL} (?:{_KNOWN} )?(?:about|on) | the [^,.;:!?]{{2,40}} (?:bit|part|thing|stuff)\b))"
    r"(?: about)? (?P<what>[^,.;:!?]{2,120}?)"
    rf"(?: from {_STORE})?(?:,? (?:please|pls|plz|thanks|by the way|btw|(?:would|will|could) you)| now)*"
    r"(?P<reason>(?:[,;]| [-–—]| because| (?:since|as)(?= (?:i|you|he|she|it|we|they|that|this|there|my|our)\b))"
    r" [^?]{2,200}?)?[.! ]*(?P<asks>\?)?",
    re.IGNORECASE,
)
_HINT: Final = re.compile(
    r"forget|memor|remember|delete|erase|wipe|remove|get rid|scrub|scrap|(?:n['’]t|not) (?:keep|store|save)",
    re.IGNORECASE,
)
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
_TAKEN_BACK: Final = re.compile(
    rf"(?:\babout (?P<of>[^,.;:!?\n]{{2,80}}): forget i (?:just |ever )?{_SAID}(?: it| that)?"
    rf"|\bi (?:should(?:n't| not) have|wish i(?:'d| had)(?:n't| not| never)) {_SAID}(?: anything)?(?: about| that)?"
    r" (?P<topic>[^,.;:!?\n]{2,80})[,.;:!–—]* (?:(?:so|and|please|pls|just|(?:can|could|would|will) you),? )*"
    r"(?:forget|delete|erase|remove|wipe|scrub)(?: about)? (?:it|that|this))\b",
    re.IGNORECASE,
)
"""“About that interview: forget I ever mentioned it”, “I shouldn't have told you about Tom, could you wipe that?” name
before what is to be forgotten."""
_STATED: Final = re.compile(r"that (?!(?:it|this|that|there|we|you)\b)\w", re.IGNORECASE)
"""What is said of someone: “so forget that Paloma is pregnant”, but not “let's forget that it's Monday”."""
_MENTIONED: Final = re.compile(rf"\bi (?:just |ever )?{_SAID}", re.IGNORECASE)
_MENTIONED_LAST: Final = re.compile(rf"(?: that| which)? i (?:just |ever )?{_SAID}(?: \w+){{0,2}}$", re.IGNORECASE)
"""“The salary I told you”: the salary."""
_OF_MEMORY: Final = re.compile(rf"{_ALL} {_KNOWN} (?:about|on) ", re.IGNORECASE)
_STORED: Final = re.compile(rf"\b{_STORE}\b", re.IGNORECASE)
_EVERYTHING: Final = re.compile(
    r"(?:everything|all)(?: (?:you know|i (?:ever )?told you|about me|of it))*", re.IGNORECASE
)
_POLITE: Final = re.compile(r"\b(?:please|pls|plz|(?:can|could|will|would) you|(?:like|want) you to)\b", re.IGNORECASE)
_NEVER_AGAIN: Final = re.compile(
    r"\b(?:never|\w+n't|not|stop)\b(?: (?:please|ever|want|to|be|have|you))*"
    r" (?:mention\w*|remind\w*|bring\w* (?:\w+ )?up|hear(?:ing)? (?:about|of)|come up)\b",
    re.IGNORECASE,
)
"""“Don't ever mention it again”, which may be a sentence of its own."""
_PRIVATE: Final = re.compile(
    r"\b(?:must|should|can|may)(?:n't| not|not) (?:see|know|find)\b|"
    r"\b(?:stored|saved|kept|private|secret|shouldn't|don't want (?:it|that|this)|nobody|no one|none of)\b|\bdont want"
    r"|\bdon't want (?:\w+ ){1,3}to (?:keep|store|save|know|have|read|see|remember)\b"
    r"|^\W*(?:all of it|the whole thing)\b"
    r"|\b(?:delete|erase|remove) (?:it|that|this|them|everything)\b|\bto myself\b|\bto (?:share|tell)\b"
    r"|\b(?:confidential|embarrass\w+|too much information)\b|\brather you did(?:n't| not)\b"
    r"|\bover my shoulder\b|\b(?:reads?|sees?|looks? at|uses?) (?:this|these|my|our)\b",
    re.IGNORECASE,
)
"""Reasons to be forgotten: “forget how much I earn, I don't want that stored”."""
_NO_TOPIC: Final = re.compile(
    r"(?:to|(?:how|why|when|where|who)(?! (?:\w+ ){0,2}(?:i|my|we|our)\b)|whether|if)\b"
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
    own = TITLE.sub(r"\1", mask_foreign_text(text)).replace("’", "'")
    own = _TAKEN_BACK.sub(lambda found: f", please forget what I said about {found['of'] or found['topic']}", own)
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n", own) if one.strip()]
    topics: list[str] = []
    for sentence, after in zip_longest(sentences, sentences[1:], fillvalue=""):
        for request in _requests_in(sentence, after, is_alone=len(sentences) == 1, goes_on=bool(topics)):
            if not request.topic:
                return request
            topics.append(request.topic)
    return ForgetRequest(MORE.join(topics)) if topics else None


def _requests_in(sentence: str, after: str, *, is_alone: bool, goes_on: bool) -> Iterator[ForgetRequest]:
    """Those of a sentence: “forget my weight, and everything about the diet”. `after`: the sentence after it, which may
    say why. `goes_on`: one is before it."""
    if goes_on and (also := _ALSO.fullmatch(sentence)):
        yield ForgetRequest(also["topic"])
    elif asked := _ASKS.fullmatch(sentence):
        if request := _read(asked, after, is_alone=is_alone):
            yield request
            reason = (asked["reason"] or "").lstrip(" ,;-–—")
            yield from _requests_in(reason, after, is_alone=False, goes_on=True)
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
            return _read(asked, "", is_alone=True)
    return None


def _is_of_memory(asked: re.Match[str]) -> bool:
    """Whether it can be meant of nothing but what was said: behind other words, “forget the sugar” is an idiom."""
    what = asked["what"].strip()
    return _STORED.search(asked[0]) is not None or bool(
        _ABOUT.fullmatch(what) or _MENTIONED.search(what) or _STATED.match(what)
    )


def _read(asked: re.Match[str], after: str, *, is_alone: bool) -> ForgetRequest | None:
    what, is_polite = asked["what"].strip(), _POLITE.search(asked[0]) is not None
    is_private = _NEVER_AGAIN.search(f"{asked['reason'] or ''} {after}") or _PRIVATE.search(asked["reason"] or "")
    is_of_memory = _STORED.search(asked[0]) or _OF_MEMORY.match(what)
    if asked["erases"] and not (is_private or is_of_memory or _PRIVATE.search(after)):
        return None  # “delete the part about dogs”
    if asked["reason"] and not (is_polite or is_private or _is_of_memory(asked)):
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
    what = _MENTIONED_LAST.sub("", what)
    return ForgetRequest(
        re.sub(
            r"^(?:that (?=\w+ \w)|(?:that|how \w+|where|when|who) (?=i\b|my\b|we\b|our\b))",
            "",
            what,
            flags=re.IGNORECASE,
        )
    )
