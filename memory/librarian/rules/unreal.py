"""Hard filters: what is no claim about the user's world, whatever it looks like. What is made up takes the whole
message (`memory/speech_acts/made_up.py`); passing states, plain denials and secrets take one clause."""

import re
from typing import Final

_SECRET: Final = re.compile(
    r"(?i)\b(?:pw|pwd|pass ?words?|passwd|passcode|pass ?phrase|pin(?: code)?|log-?ins?|login code|security code|seed"
    r" phrase|recovery (?:phrase|code|words)|(?:door|gate|alarm|entry|key ?safe|locker) code|safe combination)\b"
)
_NO_CLAIM: Final = re.compile(
    r"(?:[a-z]{2,12}ly |also |just |still |always ){0,2}(?:no longer (?!eats?|drinks?|smokes?)|has no|does not (?:live"
    r"|work|study|have|own|know|think)(?! (?:an? )?(?:car|dairy|gluten))|is not (?:in|from|at|with|living|working"
    r"|married)|was not|did not|has not had|let|is not sure|thinks?|is thinking (?!of\b|about\b)|guess(?:es)?"
    r"|means?|meant|said|told|says?|asked|asks|thanks?|knows?|wants? (?:you|it|this)"
    r"|needs? (?:you|it|this|to know|help)|quits?(?: in \d+)?$"
    r"|is (?:working on|writing|updating|redoing|polishing|preparing) (?:an?|the|their) (?:\w+ )?(?:cv|CV|resume"
    r"|cover letter|report|e-?mail|letter|slides|presentation|homework|assignment|essay|speech|toast|post)"
    r"|is official|is from (?:here|there)$|(?:is|has)(?: on| at)? \d+\w?(?: weeks?| pages?)?$)\b"
)
"""Plain denials, which retire what is known and are no news without it; verbs of asking, saying and knowing. What
else passes, the classifier knows."""


_PASTE: Final = re.compile(
    r"(?i)(?:[^\n]{0,300}(?::|\b(?:below|following))[ \t]*\n(?=[ \t]*\S)|[^\n]{0,300}(?:>>>|:[ \t]*\n\s*\n"
    r"|\n\s*-{3,}\s*\n))"
)
_WORK_ON: Final = re.compile(
    r"(?i)\b(?:transcript|rhyme|rate|reply|answer|extract|what does|who|is this|whose|meaning|cover letter"
    r"|review|summari[sz]e|bio|mail|letter|message|text|post|poem|lyrics|grammar|ad|listing)\b"
)


def without_pastes(text: str) -> str:
    """The message without what stands below a line that asks about it; as long as before."""
    found = _PASTE.match(text)
    if found and _WORK_ON.search(found[0]):
        return found[0] + re.sub(r"[^\n]", " ", text[found.end() :])
    return text


def names_a_secret(words: str) -> bool:
    """Whether the words speak of a secret of no known shape."""
    return _SECRET.search(words) is not None


def is_no_claim(predicate: str) -> bool:
    """Whether a predicate says nothing that lasts."""
    return _NO_CLAIM.match(predicate) is not None
