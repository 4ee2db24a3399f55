"""Hard filters: what is no claim about the user's world, whatever it looks like.

Fiction, exercises and role play take the whole message; passing states, plain denials and secrets one clause.
"""

import re
from typing import Final

_UNREAL: Final = re.compile(
    r"\b(?:role[- ]?play|pretend|imagine (?:i|you|we)|in this scenario|d ?& ?d|dnd|backstory|my (?:\w+"
    r" )?(?:character|protagonist|narrator|heroine|hero)\b|(?:in|for|of) (?:my|the|this|our|a) "
    r"(?:novel|screenplay|short story|story|play|script|sketch|scene|fanfic\w*|film script|campaign|fairy"
    r" tale|case study|scenario|worksheet|exercise|word problem)\b"
    r"|you(?:'re| are| be) (?:the|a|an|my|me) [\w ]{2,40},? (?:and|i'm|i am|i'll)|you be the|act as|acting"
    r" as|i'll be the|in the voice of|from the (?:view|perspective|point of view) of"
    r"|first person|verse (?:one|two|1|2)|next chapter|chapter \w+:|diary entry|dating profile|persona"
    r" (?:for|of)|word problem|case study|exercise \d|aufgabe|passive voice"
    r"|past tense|(?:german|french|spanish|italian|english|latin) (?:class|worksheet|homework)[:,]|speaking"
    r" as an?|write \d+ words as|\d+ words as an? |i(?:'m| am) called \w+ in this"
    r"|translate (?:this|into|to|the)|correct the sentence|put into|continue (?:in|from there|the story"
    r"|this story)|carry on from|monologue|limerick about a|song from the view)\b"
    r"|\b(?:let's play|(?:job )?interview: i'm|letter to santa|tall story|(?:on|from) the worksheet"
    r"|question \d+ )\b|(?:^|\n)[A-Z]: .*\n[A-Z]: "
    r"|^(?:as an? [\w ]{2,30}, (?:what|how|would|which))",
    re.I,
)
"""The message makes something up, or is about words."""
_GIVEN: Final = re.compile(
    r"\b(?:(?:check|correct|fix|improve) (?:the|my|this|these) (?:grammar|spelling|sentences?|phrasing)"
    r"|(?:is|are) (?:this|these|the following) "
    r"(?:sentences?|phrase|grammar|wording)|fill in the|complete the (?:dialogue|sentence|story|text)"
    r"|(?:make|create|write|invent|generate)"
    r" (?:me )?(?:an? )?(?:\w+ )?(?:persona|user profile|profile|dialogue|conversation|testimonial|letter"
    r" from)|(?:example|sample|test|dummy|mock|template)"
    r" (?:cv|resume|data|profile|letter|text)|for the sake of argument|(?:the )?(?:lyrics|song|line|chorus)"
    r" (?:go|goes|is|says)"
    r"|summari[sz]e (?:the following|this|below|for me)|you are (?:an?|my|the) [\w ]{2,30}[.,] i(?:'m| am)"
    r"|in (?:spanish|french|german|italian|english|dutch|portuguese|thai|japanese|polish)(?:,? please)?:"
    r"|how (?:do|would|can) (?:i|you) say)\b",
    re.I,
)
"""The message gives words to work on."""
_SECRET: Final = re.compile(
    r"\b(?:pw|pwd|pass ?words?|passwd|passcode|pass ?phrase|pin(?: code)?|log-?ins?|login code|security"
    r" code|seed phrase|recovery (?:phrase|code|words)"
    r"|(?:door|gate|alarm|entry|key ?safe|locker) code|safe combination)\b",
    re.I,
)
_PASSING: Final = re.compile(
    r"\b(?:right now|(?:sitting|waiting|standing|stuck) .{0,40}at the moment|(?:love|like|hate|prefer)"
    r" .{2,40} (?:today|tonight)$|today i(?:'m| am) (?:so |really )?(?:tired|bored)|battery"
    r"|wifi is|on the (?:bus|tram|platform) (?:rn|now)?|quick:|in the supermarket)\b"
    r"|^(?:I'm|I am|we're|feeling|so) (?:(?:[a-z]{2,12}ly|so|a bit|just|very|quite|too|still) ){0,3}(?:tired"
    r"|bored|hungry|sorry|sure|not sure|unsure|afraid so|glad|happy|confused|lost|stuck|curious|wondering"
    r"|asking|done|ready|back|aware|worried"
    r"|fine|good|ok|okay|here|there|interested|excited|grateful|sick of|fed up|going crazy|kidding|joking"
    r"|talking|guessing|serious|low|cold|hot|thirsty|late|busy|sitting|standing|wearing|on it|in a hurry|in"
    r" a rush|able|only|testing)\b",
    re.I,
)
"""Over before it could be recalled."""
_NO_CLAIM: Final = re.compile(
    r"(?:(?:[a-z]{2,12}ly|also|just|still|always) ){0,2}(?:has no|let|nearly|almost|reads? (?:that|he|she|it"
    r"|about)|is not(?! allergic| an? (?:big |huge )?fan| keen| into| fond)|was not|has not|had not|did not"
    r"|does not (?!eat|drink|like|enjoy|smoke|work|drive|own a|use|want to|have a car|speak)|will not"
    r" (?!eat|drink|be renewing|use)|cannot (?!eat|drink|have|stand|bear|tolerate|swim|drive|do|kneel|ride"
    r"|read|walk)|could not"
    r"|never (?!eats|drinks|uses|works|has breakfast|goes|got on)|no longer|has never (?!got on"
    r"|liked|learned|eaten)|knows?|thinks?|guess(?:es)?|means?|meant|said|told|says?|asked|asks|heard|saw"
    r"|noticed|wonders?|understands?|agrees?|supposes?|feels? like|sees?|hopes? (?:you|this|that)|needs?"
    r" (?:help|a|an|to know|some|advice|ideas|something|you|this|it)|wants? (?:you|a |an |some|to (?:know"
    r"|ask|understand|see|make|write|buy|find|get|say|use|try|build|create))|would (?:like|love) (?:you|a"
    r"|an|some|to (?:know|ask|understand|see|find|get|make|write))|am asking|has (?:a|one|another|some|no"
    r"|the same|two|three|just one) (?:\w+ )?(?:questions?|idea|problem|issue|clue|doubts?|time|bug|error"
    r"|look|choice|few|lot)|gets? (?:an? )?(?:\w+ )?(?:error|message)|tried|keeps? getting|forgot|mentioned"
    r"|remembers?|appreciates?|thanks?|is (?:asking|wondering|looking (?:at|for)|talking|trying to"
    r" (?:understand|figure|find|write|get|make)))\b",
    re.I,
)
"""Denials, and verbs of asking, saying and knowing: nothing to keep."""
_JEST: Final = re.compile(
    r"\b(?:literally (?:die|dying)|queen of|king of|spaceship|\d{2,3} ?(?:%|percent) (?:coffee|water"
    r"|golden)|vampire|emperor|batman|superman|father christmas|santa|unicorn|martian|alien|a ghost"
    r"|immortal|allergic to (?:work|mondays|people|effort|nonsense)|could eat (?:a|the) (?:horse|table)|i'm"
    r" basically|married (?:my|our|to my) (?:job|work|desk)|a million things"
    r"|killing me|marry me)\b",
    re.I,
)


_PASTE: Final = re.compile(
    r"(?:[^\n]{0,300}(?::|\b(?:below|following))[ \t]*\n(?=[ \t]*\S)|[^\n]{0,300}(?:>>>|:[ \t]*\n\s*\n"
    r"|\n\s*-{3,}\s*\n))",
    re.I,
)
_WORK_ON: Final = re.compile(
    r"\b(?:transcript|rhyme|rate|reply|answer|extract|what does|who|is this|whose|meaning|cover letter"
    r"|review|summari[sz]e|bio|mail|letter|message|text|post|poem|lyrics|grammar|ad|listing)\b",
    re.I,
)


def without_pastes(own: str) -> str:
    """The message without what stands below a line that asks about it; as long as before."""
    found = _PASTE.match(own)
    if found and _WORK_ON.search(found[0]):
        return found[0] + re.sub(r"[^\n]", " ", own[found.end() :])
    return own


def is_unreal(own: str) -> bool:
    """Whether the message makes something up or gives words to work on."""
    return _UNREAL.search(own) is not None or _GIVEN.search(own) is not None


def names_a_secret(words: str) -> bool:
    """Whether the words speak of a secret of no known shape."""
    return _SECRET.search(words) is not None


def is_passing(clause: str) -> bool:
    """Whether a clause tells of this hour only, or is a joke."""
    return _PASSING.search(clause) is not None or _JEST.search(clause) is not None


def is_no_claim(predicate: str) -> bool:
    """Whether a predicate says nothing that lasts."""
    return _NO_CLAIM.match(predicate) is not None
