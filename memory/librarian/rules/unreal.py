"""Hard filters: what is no claim about the user's world, whatever it looks like.

Fiction, exercises and role play take the whole message; passing states, plain denials and secrets one clause.
"""

import re
from typing import Final

_UNREAL: Final = re.compile(
    r"(?i)\b(?:role[- ]?play|pretend|imagine (?:i|you|we)|let's play|in this scenario|d ?& ?d|dnd|backstory"
    r"|my (?:\w+ )?"
    r"(?:character|protagonist|narrator|heroine|hero)\b|(?:in|for|of) (?:my|the|this|our|a) (?:novel|screenplay"
    r"|(?:short )?story|play|script|sketch|scene|fanfic\w*|campaign|fairy tale|case study|scenario|worksheet|exercise"
    r"|word problem)\b|you(?:'re| are| be) (?:the|a|an|my|me) [\w ]{2,40}[,.]? (?:and |i'm|i am|i'll)|act(?:ing)? as|in"
    r" the voice of|(?:view|perspective) of|first person|verse \w+:|chapter (?:\d+|one|two|three|four|five)"
    r"|dating profile|persona|word problem"
    r"|case study|passive voice|past tense|\d+ words as an?|translate (?:this|into|to|the)|put into|continue (?:in|from"
    r"|the story|this)|monologue|limerick|fill in the|for the sake of argument|(?:check|correct|fix|improve) (?:the|my"
    r"|this|these) (?:grammar|spelling|sentences?|phrasing)|complete the (?:dialogue|sentence|story|text)|(?:the )?(?:"
    r"lyrics|song|line|chorus) (?:go|goes|is|says)|how (?:do|would|can) (?:i|you) say)\b|(?:^|\n)[A-Z]: .*\n[A-Z]: "
)
"""The message makes something up, or gives words to work on."""
_SECRET: Final = re.compile(
    r"(?i)\b(?:pw|pwd|pass ?words?|passwd|passcode|pass ?phrase|pin(?: code)?|log-?ins?|login code|security code|seed"
    r" phrase|recovery (?:phrase|code|words)|(?:door|gate|alarm|entry|key ?safe|locker) code|safe combination)\b"
)
_NO_CLAIM: Final = re.compile(
    r"(?:[a-z]{2,12}ly |also |just |still |always ){0,2}(?:no longer (?!eats?|drinks?|smokes?)|has no|does not (?:live"
    r"|work|study|have|own|know|think)(?! (?:an? )?(?:car|dairy|gluten))|is not (?:in|from|at|with|living|working"
    r"|married)|was not|did not|has not had|let|is not sure|thinks?|guess(?:es)?|means?|meant|said|told|says?|asked"
    r"|asks|thanks?|knows?|wants? (?:you|it|this)|needs? (?:you|it|this|to know|help))\b"
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


def without_pastes(own: str) -> str:
    """The message without what stands below a line that asks about it; as long as before."""
    found = _PASTE.match(own)
    if found and _WORK_ON.search(found[0]):
        return found[0] + re.sub(r"[^\n]", " ", own[found.end() :])
    return own


def is_unreal(own: str) -> bool:
    """Whether the message makes something up or gives words to work on."""
    return _UNREAL.search(own) is not None


def names_a_secret(words: str) -> bool:
    """Whether the words speak of a secret of no known shape."""
    return _SECRET.search(words) is not None


def is_no_claim(predicate: str) -> bool:
    """Whether a predicate says nothing that lasts."""
    return _NO_CLAIM.match(predicate) is not None
