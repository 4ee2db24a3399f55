"""Corrects hasty typing: “my daughters allergic” → “my daughter's allergic”, “dont” → “don't”.

Only the text a pattern is held against is mended; quotes keep what was typed. Two lists: words that mean one thing
wherever they stand, and beginnings that people shorten in chat.
"""

from __future__ import annotations

import re
from typing import Final

from memory.librarian.rules.people import ANIMALS, PEOPLE, alternatives

_WORDS: Final = {
    "dont": "don't", "cant": "can't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't",
    "wasnt": "wasn't", "werent": "weren't", "wouldnt": "wouldn't", "couldnt": "couldn't", "shouldnt": "shouldn't",
    "havent": "haven't", "hasnt": "hasn't", "hadnt": "hadn't", "wont": "won't", "im": "I'm", "ive": "I've",
    "weve": "we've", "theyre": "they're", "theyve": "they've", "shes": "she's", "hes": "he's", "thats": "that's",
    "w/": "with", "w/o": "without", "b/c": "because", "thru": "through", "tho": "though", "ppl": "people",
    "yrs": "years", "yr": "year", "wks": "weeks", "mths": "months", "gonna": "going to", "wanna": "want to",
    "hafta": "have to", "gotta": "have to", "bday": "birthday", "b-day": "birthday", "xmas": "Christmas",
    "appt": "appointment", "favs": "favourites", "fave": "favourite", "fav": "favourite",
    "theres": "there's", "whats": "what's", "wheres": "where's", "hows": "how's", "tmrw": "tomorrow", "tmr": "tomorrow",
    "tomoz": "tomorrow", "b4": "before", "cos": "because", "coz": "because", "abt": "about", "mins": "minutes",
    "hubby": "husband", "bf": "boyfriend", "gf": "girlfriend",
}  # fmt: skip
"""Whole words; none of them is another word of English."""
_WORD: Final = re.compile(rf"(?<![\w'/-])(?:{alternatives(tuple(_WORDS))})(?![\w'/])", re.I)
_LOST: Final = re.compile(
    r"(?<!\bby )(?<!\bwith )(?<!\bto )(?<!\bfor )(?<!\bfrom )(?<!\bof )"
    rf"\b(?P<who>(?:my|our) (?:[\w-]+ )?(?!(?:grand)?parents)(?:{alternatives((*PEOPLE, *ANIMALS))}))s "
    r"(?=(?:allergic|intolerant|vegan"
    r"|vegetarian|coeliac|celiac|diabetic|autistic|dyslexic|pregnant|deaf|blind|not|an?|the|in|from|at|on|off|got|been"
    r"|just|so|really|very|super|always|terrified|scared|afraid|obsessed|turning|getting|having|going|starting|moving"
    r"|coming|working|living|learning|called|named|retired|\d+)\b)",
    re.I,
)
"""The apostrophe that was left out of “is”: “our daughters allergic to bees”."""


_SOFTENED: Final = re.compile(
    r"\b(don't|doesn't|can't|didn't|won't) (?:really|particularly|actually|even|generally|usually|tend to) ", re.I
)
"""“I don't really eat” says that one does not."""


_NOUN_IS: Final = re.compile(
    r"\b(?!(?:it|that|what|there|he|she|who|where|how|here|let|when|this)'s)(\w+)'s (?=(?:on|due|scheduled|booked"
    r"|cancelled|coming up|at \d)\b)",
    re.I,
)
"""“The exam's on Monday”."""


def mended(words: str) -> str:
    """A clause with its contractions and short forms written out."""
    words = _WORD.sub(lambda found: _cased(found[0], _WORDS[found[0].lower()]), words)
    words = _NOUN_IS.sub(r"\1 is ", words)
    words = _SOFTENED.sub(r"\1 ", words)
    return _LOST.sub(r"\g<who>'s ", words)


def _cased(typed: str, full: str) -> str:
    return f"{full[0].upper()}{full[1:]}" if typed[0].isupper() else full
