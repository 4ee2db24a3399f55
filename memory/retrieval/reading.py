"""Reads the best memories beside the question: a vector of each tells what they are about, not whether one answers.

`ranking` decides by the odds; for which questions, and from where on, is here.
"""

import math
import re
from collections.abc import Collection
from typing import Final

from memory.answers.answers import chance
from memory.retrieval.cues import ENGLISH
from memory.retrieval.query import Question
from memory.text.dates import DAYS_AND_MONTHS
from memory.text.keywords import content
from memory.text.message_kinds import asks
from memory.text.relations import are_of_others, opens_with_another
from memory.text.user_text import mask_others_claims

READ: Final = 6
"""Memories that are read, the best first: with 12, no more answers are found."""
FAR, HAS_WORDS = 0.1, 0.3
"""A memory isn't read whose cosine with the question is below the first, and that has a smaller share of its words than
the second. Of 672 questions (`asked_dev.ask` and two sets learned from) as many are answered as where that is 0.0, five
more are silent, and 2.7 memories are read for one instead of 3.5. What is only farther than the closest is read: a
message that changes an answer often is."""
MAX_WORDS: Final = 24
"""A longer message is a task: what helps with it is found by its vector."""
A_COSINE: Final = 15.0
"""Log odds that a cosine of 1 adds to those of the network. Chosen on 441 questions by an author it hadn't learned
from: an answer is the best of the memories for 69% by the cosine, for 73% by the network, for 80% by both; 12 and 20
are as good."""
ANSWERED_FROM: Final = 2.25
"""Log odds from which a memory leads as the answer. Chosen with RECALLED_FROM on two sets, for more answers and more
silence than the floors gave on both (docs/retrieval.md)."""
RECALLED_FROM: Final = 1.0
"""Log odds from which a memory is recalled."""
AS_GOOD_ODDS: Final = 1.0
"""Log odds by which a memory may be behind the best and is as good."""
OVER_KEYED: Final = 3.0
"""Log odds by which a memory leads before what has the key that is asked for: “what kind of house do I have?”. By so
much, too, what says no such thing clearly: its key is another, or it seems asked or made up."""
LACKS_KIND: Final = 5.0
"""Log odds that a memory loses that has no number, date or time where one is asked for, or no name but those of the
question. Of 1,790 questions, where nothing answers, 71.1% are silent for 68.8%, and 82.0% of the answers are recalled
for 82.1%; of the 332 among them by authors the network hasn't learned from, 74.3 for 72.9%, and 77.6% as before. That
“Can” is no name, and “which nursery” asks for one, is silent for 71.4%, at no answer."""
LEAST: Final = 1e-6
"""Of a probability, before it becomes odds."""

AGE_SAID: Final = 0.95
"""Probability that “Lina (6)” answers how old Lina is: in brackets, the network takes no number for an age."""

_HOW_OLD: Final = re.compile(r"\b[Hh]ow old (?:is|was) (?:(?:my|our) [\w-]+ )?(?P<name>[A-ZÀ-ÞĀ-Ž]\w+)")
_OF_THE_USER: Final = re.compile(r"(?i)\b(?:i|my|me|we|our|us)\b(?!['’]s)")
_ASKS_CODE: Final = re.compile(
    r"(?i)\b(?:licen[cs]e plate|number plate|registration|passport|phone number|post ?code|zip code|account number|iban"
    r"|serial number)\b"
)
_ASKS_SECRET: Final = re.compile(
    r"(?i)\b(?:what(?:['’]?s| is| was| were)|tell me|remind me (?:of|what)|remember|know|forgot) "
    r"(?:my|our|the) (?:[\w'’-]+ ){0,3}?(?:pass ?words?|pass ?codes?|pass ?phrases?|pins?|pin (?:code|number)|cvv"
    r"|security code|seed phrase|recovery (?:phrase|codes?)|api[ -]?keys?)(?: (?:is|was))?\W*$"
)
_CODE: Final = re.compile(r"\b(?=\w*[A-Za-z])(?=\w*\d)\w{3,}\b|\d[\d .-]{2,}\d")
"""Letters and digits, or a longer number."""
_ASKS_NUMBER: Final = re.compile(
    r"(?i)\b(?:how (?:many|much|old|long|far|tall|heavy|often|big)|what (?:time|age|year|number|percentage|size)"
    r"|which (?:year|time)|when|shoe size|what['’]?s my (?:age|weight|height|size|salary|pb))\b"
)
_ASKS_WHEN: Final = re.compile(r"(?i)\bwhen (?:is|are|was|were|does|do|did|will|am)\b")
_WHEN: Final = re.compile(
    r"(?i)\d(?:st|nd|rd|th)\b|\d[:./]\d|\d ?(?:[ap]\.?m|o['’]clock)\b|\b(?:19|20)\d\d\b|\b\d\d/\d"
    r"|\b(?:at|on|by|from|till|until|the|to|around|in|before|after|since) \d"
    r"|\b(?:today|tomorrow|tonight|yesterday|morning|noon|midnight|evening|night|week|month|year|summer|winter|spring"
    rf"|autumn|christmas|easter|weekend|birthday|now|soon|later|daily|every|once|ago|{DAYS_AND_MONTHS}"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|tues|wed|thu|thurs|fri|sat|sun)s?\b"
)
"""A time: “Emil is 5” is none."""
_NUMBER: Final = re.compile(
    r"(?i)\d|\b(?:one(?!s)|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,5}teen|\w{3,5}ty|hundred"
    r"|thousand"
    r"|once|twice|dozen|half|couple|no|none|today|tomorrow|tonight|yesterday|morning|noon|midnight|evening|night|week"
    r"|month|year|summer|winter|spring|autumn|christmas|easter|weekend|daily|every"
    rf"|{DAYS_AND_MONTHS})s?\b"
)
_ASKS_NAME: Final = re.compile(
    r"(?i)(?:['’]s|\b(?:my|our|his|her|their|the)) (?:[\w-]+ ){0,2}names?\b|\bnames? of\b|\bcalled\b|^(?:and )?who\b"
    r"|\bwhose\b|\bwho(?:['’]s| is| was| are)\b"
    r"|\b(?:which|what) (?:[\w-]+ )?(?:nursery|school|company|firm|gym|airline|airport|bank|brand|church|university"
    r"|college|hospital|band|clinic|team|club|street|hotel|restaurant|make|model)\b"
)
_OPENING: Final = "how|what|where|when|why|which|who|whose|thanks?|please|need|any|also|sorry|hi|hello|hey|yes|no|ok"
_NAME: Final = re.compile(
    rf"\b(?!(?i:I|{_OPENING}|{DAYS_AND_MONTHS})\b)[A-ZÀ-ÞĀ-Ž]\w+|\b(?i:called|named|name is|name['’]s) \w+"
)
_BEFORE: Final = re.compile(
    r"(?i)\b(?:before(?! (?:i|we|you) )|previous(?:ly)?|former(?:ly)?|used to|(?:my|our|the|his|her|their|'s) old)\b"
)


def asks_code(question: Question) -> bool:
    """Whether a question asks for letters and digits that name a thing or an account, such as a licence plate."""
    return _ASKS_CODE.search(question.text) is not None


def asks_secret(question: Question) -> bool:
    """Whether a question asks for a secret, which no memory holds."""
    return _ASKS_SECRET.search(question.text) is not None


def asks_before(question: Question) -> bool:
    """Whether a question asks how it was before something changed."""
    return question.asks_past and _BEFORE.search(question.text) is not None


def is_read(question: Question, authors: Collection[str]) -> bool:
    """Whether memories are read beside a question: a short one in English that is whole without the turns before it,
    asks for one memory and of no time that is over; and where no one but the user and the model speaks."""
    of_then = bool(question.periods) and question.asks_past  # what holds now answers nothing of a time that is over
    is_plain = question.kind.more == 1 and not (question.context or authors or of_then)
    return is_plain and question.cues is ENGLISH and len(question.text.split()) <= MAX_WORDS and asks(question.text)


def read_beside(question: Question, memory: str) -> float:
    """The probability that a memory answers the question, 0 to 1. Whose birthday it is, is part of the question; and
    asked about themselves, a user isn't answered by what a message only supposes, or quotes someone for: “Suppose I
    moved to Victoria”."""
    if are_of_others(question.text, memory) or opens_with_another(question.text, memory):
        return 0.0
    own = mask_others_claims(memory) if _OF_THE_USER.search(question.text) else memory
    asked = content(question.text)
    if not own.strip() or (own != memory and asked & content(memory) and not asked & content(own)):
        return 0.0  # only others say it
    if (named := _HOW_OLD.search(question.text)) and re.search(rf"\b{named['name']} \(\d{{1,2}}\)", own):
        return AGE_SAID
    found = chance(question.text, own)
    return _with_log_odds(found, -LACKS_KIND) if _lacks_kind(question.text, own) else found


def _lacks_kind(question: str, memory: str) -> bool:
    """Whether a memory has nothing of the kind that is asked for: “Who is my dentist?” of “I was at my dentist”. What
    is written without capitals may have names."""
    if _ASKS_CODE.search(question):
        return _CODE.search(memory) is None
    if _ASKS_WHEN.search(question):
        return _WHEN.search(memory) is None
    if _ASKS_NUMBER.search(question):
        return _NUMBER.search(memory) is None
    if not _ASKS_NAME.search(question) or memory.islower():
        return False
    asked = question.lower()
    return all(name[0].lower() in asked or not content(name[0]) for name in _NAME.finditer(memory))


def _with_log_odds(chance: float, added: float) -> float:
    """The probability with these log odds added."""
    return 1 / (1 + (1 - chance + LEAST) / (chance + LEAST) * math.exp(-added))


def is_far(cosine: float, words: float) -> bool:
    """Whether a memory is too far from the question to be read. `words`: the share of the question's that it has."""
    return cosine < FAR and words < HAS_WORDS


def odds(chance: float, cosine: float) -> float:
    """Log odds that a memory answers: by how likely the network finds it, and by its cosine with the question."""
    return math.log((chance + LEAST) / (1 - chance + LEAST)) + A_COSINE * cosine
