"""Hard filters: what is no claim about the user's world, whatever it looks like.

Fiction, exercises and role play take the whole message; passing states, plain denials and secrets one clause.
"""

import re
from typing import Final

_UNREAL: Final = re.compile(
    r"(?i)\b(?:role[- ]?play|pretend|imagine (?:i|you|we)|in this scenario|d ?& ?d|dnd|backstory|my (?:\w+"
    r" )?(?:character|protagonist|narrator|heroine|hero)\b|(?:in|for|of) (?:my|the|this|our|a) (?:novel|screenplay"
    r"|short story|story|play|script|sketch|scene|fanfic\w*|film script|campaign|fairy tale|case study|scenario"
    r"|worksheet|exercise|word problem)\b|you(?:'re| are| be) (?:the|a|an|my|me) [\w ]{2,40},? (?:and|i'm|i am|i'll)"
    r"|you be the|act as|acting as|i'll be the|in the voice of|from the (?:view|perspective|point of view) of|first"
    r" person|verse (?:one|two|1|2)|next chapter|chapter \w+:|diary entry|dating profile|persona (?:for|of)|word"
    r" problem|case study|exercise \d|aufgabe|passive voice|past tense|(?:german|french|spanish|italian|english|latin)"
    r" (?:class|worksheet|homework)[:,]|speaking as an?|write \d+ words as|\d+ words as an? |i(?:'m| am) called \w+ in"
    r" this|translate (?:this|into|to|the)|correct the sentence|put into|continue (?:in|from there|the story|this"
    r" story)|carry on from|monologue|limerick about a|song from the view)\b|\b(?:let's play|(?:job )?interview: i'm"
    r"|letter to santa|tall story|(?:on|from) the worksheet|question \d+ )\b|(?:^|\n)[A-Z]: .*\n[A-Z]: |^(?:as an? [\w"
    r" ]{2,30}, (?:what|how|would|which))|\b(?:(?:check|correct|fix|improve) (?:the|my|this|these) (?:grammar|spelling"
    r"|sentences?|phrasing)|(?:is|are) (?:this|these|the following) (?:sentences?|phrase|grammar|wording)|fill in the"
    r"|complete the (?:dialogue|sentence|story|text)|(?:make|create|write|invent|generate) (?:me )?(?:an? )?(?:\w+"
    r" )?(?:persona|user profile|profile|dialogue|conversation|testimonial|letter from)|(?:example|sample|test|dummy"
    r"|mock|template) (?:cv|resume|data|profile|letter|text)|for the sake of argument|(?:the )?(?:lyrics|song|line"
    r"|chorus) (?:go|goes|is|says)|summari[sz]e (?:the following|this|below|for me)|you are (?:an?|my|the) [\w"
    r" ]{2,30}[.,] i(?:'m| am)|in (?:spanish|french|german|italian|english|dutch|portuguese|thai|japanese|polish)(?:,?"
    r" please)?:|how (?:do|would|can) (?:i|you) say)\b"
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


_THEIR_WORDS: Final = re.compile(
    r"(?i)\b(?:text|mail|email|message|letter|note|review|post|reply|advert|comment|caption|lyrics|song|poem|quote"
    r"|article|sentence|worksheet|transcript)s?\b(?: (?:from|by|of) (?:my|the|a|an|our|his|her|their) [\w' -]{2,30}|"
    r" says| goes| reads)?:(?=\s)|\blyrics:|(?:^|[.!?]\s)(?:please |can you |could you )?(?:write|draft|continue"
    r"|proofread|translate|rephrase|check|correct|improve|summari[sz]e|rewrite|edit|conjugate|grade|solve|fix|shorten"
    r"|explain|rate)\b[^:\n.?!]{0,80}:(?=\s)"
)


def without_pastes(own: str) -> str:
    """The message without what stands below a line that asks about it; as long as before."""
    if found := _THEIR_WORDS.search(own):
        return own[: found.end()] + re.sub(r"[^\n]", " ", own[found.end() :])
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
