"""Recognizes a message that asks to forget something: “please forget that”, “wipe what I told you about the move”.

A small network reads the message: whether it asks, and which of its words name what is to be forgotten. From then on,
prompts are built without it (`chat/prompt/forgotten_topics.py`); the link under the message opens the preview of its
deletion.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

from memory.embeddings.published import Array
from memory.network.adapted import softmax
from memory.network.pieces import Pieces, pieces_of, windows, words_of
from memory.network.reader import load, read_scores
from memory.text.keywords import content
from memory.text.language import is_english
from memory.text.message_kinds import only_asks
from memory.text.parts import TITLE, sentence_spans
from memory.text.remembered import remembered
from memory.text.user_text import mask_foreign_text

type Kind = Literal["none", "topic", "before", "everything"]

KINDS: Final[tuple[Kind, ...]] = ("none", "topic", "before", "everything")
"""No request; one that names its topic; one for what was said before it (“forget that”); one for everything."""
OUTPUTS: Final = (len(KINDS), 2)
"""Of the head: a kind at the first piece; for each other piece whether it names a topic."""
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
FROM: Final = 0.9
"""Probability from which a message asks. Of 127 requests by an author that the weights haven't learned from 94% reach
it, and none of 113 near misses; of 1,540 messages as people write them, nine, half of which ask. Upper bounds: it was
chosen by them."""
BARELY_FROM: Final = 0.97
"""The same of a message without any of the words of most requests (`_HINT`). With ALONE_FROM, of 26 such requests by
an author that the weights haven't learned from 25 are still found, and 286 of 293 by others; of 4,174 messages as
people write them five of 13 are still taken for one. Upper bounds, too: both were chosen by them."""
ALONE_FROM: Final = 0.5
"""The same of such a message from the sentence with its topic on."""
_KEEPS: Final = re.compile(
    r"(?i)(?<!n't )(?<!not )(?<!to )(?<!you )\bremember\b|\b(?:keep|bear) in mind\b|\bkeep forgetting\b|n't forget\b"
    r"|\bremind me\b|\bforgot\b|\b(?:i|he|she|they) forgets?\b|\b(?:always|often|usually|sometimes|never) forgets?\b"
)
_ERASES: Final = re.compile(r"(?i)\bforget(?!t)|delet|eras|\bwip|remov|get rid|scrub|drop|purge|\bbin\b")
"""“Please remember my nut allergy” asks for the opposite, unless something else is to go."""
_STAYS: Final = re.compile(
    r"(?i)(?<!n't )(?<!nt )(?<!not )(?<!to )(?<!never )\b(?:keep|retain|leave(?! out)) "
    r"(?:the (?:bit|part|stuff|thing|one)s? (?:about|on|with) )?$|\b(?:talk|tell me|chat) (?:more )?about $"
)
_MAY_STAY: Final = re.compile(
    r"(?i)\W{1,2}(?:itself |alone )?(?:(?:that |which )?(?:you )?(?:can|may|should|must)(?: \w+ly| still)?"
    r"|(?:is|are)(?: (?:still|quite|perfectly))? (?:fine|ok|okay|alright|all right|good|welcome) to|to)"
    r" (?:keep|stay|remain|remember|know|have|be (?:kept|remembered|known))\b"
)
"""Before and behind what is to stay: “forget my weight, but keep my height”, “the allergy you should keep”, “the job is
fine to remember”."""
_ABOUT: Final = re.compile(
    r"(?i)\b(?:everything|all|anything|whatever)\b[^.!?,;]{0,40}?\b(?:about|to do with|on|regarding|concerning) "
    r"(?P<topic>[^,.;:!?]{2,60})"
)
"""Of all of something: “everything to do with the divorce”."""
_PRONOUNS: Final = frozenset({"him", "her", "them", "he", "she", "they"})
"""Of “Jarek's gone. Drop him from your memory” the name before it is meant."""
_MENDS: Final = re.compile(
    r"(?i)\W{0,9}(?:(?:w?h?oops|sorry|no|nope|wait|argh|ugh|ah|i meant?)\W{1,3}){1,3}\S+(?: \S+){0,3}?,? not \S"
)
"""“Oops, Bundaberg, not Brisbane” names what holds instead."""
_NAME: Final = re.compile(r"\b[A-ZÀ-ÞĀ-Ž][\w-]+")
_ASKING: Final = re.compile(r"(?i)^(?:(?:forget|delete|erase|wipe|drop|remove|strike|about|with|of)\b ?)+")
"""Words of the request itself at the start of a topic."""
_OPENS: Final = (
    r"(?im)(?:^|[.!?] )[^\w\n]{0,9}(?:(?:ok(?:ay)?|so|and|also|now|oh|hey|hi|please|pls|plz|actually|sorry)[, ]+){0,3}"
    r"(?:(?:can|could|would|will) you (?:please )?|you (?:can|may|should) )?"
)
_PLAIN: Final = re.compile(
    rf"{_OPENS}(?:forget|delete|erase) (?:(?:that|the fact that) "
    r"(?=(?:i|we)\b|(?:im|ive|my|our|he|she|they) |(?-i:[A-ZÀ-ÞĀ-Ž])[a-z]+ )|what (?:i|we) (?:said|told you) about )"
    r"(?P<topic>[^.!?\n,;]{2,80}?)(?=,? (?:please|pls|plz|thanks|thank you)\b|[.!?\n]|$)"
)
"""A request whatever the network makes of its words, if nothing follows: “Forget that I can't eat shellfish”."""
_KNOWN: Final = re.compile(
    rf"{_OPENS}(?:forget|delete|erase|drop|wipe|remove|scrub|bin) (?:everything|all|anything|whatever|what)(?: that)?"
    r" you(?:['’]ve| have)?(?: (?:got|have|know|hold|keep|kept|stored|saved|noted|remember))? (?:on|about|of)"
    r" (?:me and )?(?P<topic>(?:(?:my|our|the) |(?-i:[A-ZÀ-ÞĀ-Ž]))[^.!?\n,;]{2,80}?)"
    r"(?=,? (?:please|pls|plz|thanks|thank you)\b|[.,!?\n]|$)"
)
"""The same of all that is known of something: “you can drop whatever you have on me and the orchestra”."""
NAMED_FROM: Final = 0.5
"""Probability from which a word names a topic."""
MAY_NAME_FROM: Final = 0.2
"""Probability from which a request is taken to name its topic, even if it more likely means everything."""
TELLING: Final = 0.8
"""Share of the most probable word's probability that a stretch of words has to reach with one of its own."""
MAX_BEFORE: Final = 40
"""Characters before a topic that may say that it stays."""
MAX_CHARS: Final = 4_000
"""Characters of a message that may ask; a longer one is a text to work on."""
WINDOW: Final = 64
"""Pieces that are read at once: most of what was learned from is no longer."""
CACHED: Final = 1_024
"""Messages that a process remembers: intake, the prompt and the page ask for the same."""
MORE: Final = "; "
"""Between the topics of several requests in one message."""
_HINT: Final = re.compile(
    r"(?i)forg[eo]t|memor|remember|delet|eras|\bwip|remov|get rid|scrub|scrap|keep|\bstor|\bsav|\bnotes?\b|know|mention"
)
"""Words of most requests. Without one, a bare question isn't read, nor the middle of a long message; and what names no
topic is no request."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a message asks to forget: a topic (several with `MORE` in between), else everything, else the user's
    previous message."""

    topic: str = ""
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What the network says of a text."""

    kind: Kind
    sure: float
    """Probability that it is a request, 0 to 1."""
    topics: tuple[str, ...]


def load_network() -> None:
    """Load the network, so that no message waits for it."""
    load(WEIGHTS, ())


@remembered(CACHED)
def find_request(text: str) -> ForgetRequest | None:
    """The request in a user's message, of all its topics; None: it doesn't ask to forget anything."""
    if len(text) > MAX_CHARS or (only_asks(text) and not _HINT.search(text)) or not is_english(text):
        return None
    own = TITLE.sub(r"\1", mask_foreign_text(text)).replace("’", "'")
    parts = [part for _, part in windows(own, WINDOW)]
    asking = [read(pieces_of(part)) for part in parts if part in (parts[0], parts[-1]) or _HINT.search(part)]
    asking = [one for one in asking if one.sure >= FROM and (_HINT.search(own) or _asks_barely(own, one))] or [
        Reading("topic", 1.0, (found["topic"],)) for form in (_PLAIN, _KNOWN) for found in form.finditer(own)
    ]
    if (_KEEPS.search(own) and not _ERASES.search(_KEEPS.sub(" ", own))) or (
        _MENDS.match(own) and not _HINT.search(own)
    ):
        return None
    if topics := MORE.join(dict.fromkeys(topic for one in asking for topic in one.topics)):
        return None if content(own) <= content(topics) else ForgetRequest(topics)
    kinds = {one.kind for one in asking} - {"topic"} if _HINT.search(own) else set()
    return ForgetRequest(everything="everything" in kinds) if kinds else None


def _asks_barely(text: str, reading: Reading) -> bool:
    """Whether a message asks without any of the words of most requests: “you can bin the tattoo now”."""
    if reading.sure < BARELY_FROM or not reading.topics:
        return reading.sure >= BARELY_FROM
    topic = text.find(reading.topics[0])
    start = max((start for start, _ in sentence_spans(text) if start <= topic), default=0)
    (_, alone), *_ = windows(text[start:], WINDOW)
    return read(pieces_of(alone)).sure >= ALONE_FROM


def read(pieces: Pieces) -> Reading:
    """What a text asks to forget. One that seems to name a topic, but names none that is to go, is no request."""
    outputs = read_scores(WEIGHTS, pieces.ids, whole=())
    kinds = softmax(outputs[0, : len(KINDS)])
    marks = softmax(outputs[:, len(KINDS) :])[:, 1]
    best, sure = KINDS[int(kinds[1:].argmax()) + 1], 1 - float(kinds[0])
    if best == "everything" and (about := _ABOUT.search(pieces.text)) and content(about["topic"]):
        return Reading("topic", sure, (about["topic"],))
    if best != "topic" and kinds[KINDS.index("topic")] < MAY_NAME_FROM:
        return Reading(best, sure, ())
    topics = tuple(_topics(pieces, marks))
    return Reading("topic", sure if topics else 0.0, topics)


def _topics(pieces: Pieces, marks: Array) -> Iterator[str]:
    """The stretches of words that name a topic; if there is none, the likeliest word."""
    words = [(word, float(marks[word].mean())) for word in words_of(pieces.text, pieces.places)]
    most = max((share for _, share in words), default=0.0)
    for is_named, stretch in groupby(words, lambda one: one[1] >= min(NAMED_FROM, most)):
        named = list(stretch)
        if is_named and max(share for _, share in named) >= TELLING * most:
            start, end = pieces.places[named[0][0][0]][0], pieces.places[named[-1][0][-1]][1]
            topic = _ASKING.sub("", pieces.text[start:end].strip(" ,.;:!?"))
            if topic.casefold() in _PRONOUNS:
                names = reversed(_NAME.findall(pieces.text[:start]))
                topic = next((name for name in names if content(_ASKING.sub("", name))), "")
            stays = _STAYS.search(pieces.text[max(0, start - MAX_BEFORE) : start]) or _MAY_STAY.match(pieces.text, end)
            if content(topic) and not stays:
                yield topic
