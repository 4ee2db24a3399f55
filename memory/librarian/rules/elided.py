"""Sentences without a subject: in chat, “got laid off yesterday” is about the writer.

Each row: how such a sentence begins, and what stands before it when it is said in full. Only forms that cannot be an
order to the assistant: “broke my wrist” is told, “break it down” is asked for.
"""

from __future__ import annotations

import re
from typing import Final

from memory.librarian.rules.ailments import AILMENTS
from memory.librarian.rules.people import CREATURES, alternatives
from memory.librarian.rules.slots import JOBS
from memory.librarian.rules.verbs import NOT_PAST_ALONE, PAST

_SOON = r"(?:(?:just|recently|finally|also|still|now|currently|actually|already|only|originally|basically) )?"
_DOING = (
    "revising|resitting|retaking|cramming|trying|hoping|aiming|planning|looking|learning"
    "|studying|training|saving|taking|moving|relocating|interviewing"
    "|working|playing|teaching|living|starting|finishing|raising|caring|volunteering|renovating|building"
    "|expecting|recovering|retiring|going|applying|preparing|selling|buying|organi[sz]ing|running|writing my|doing"
    "|running my|swimming|cycling|commuting|freelancing|dating|seeing"
)
_DID = (
    "passed|failed|broke|bought|sold|moved|quit|lost|dropped|went|finished|graduated|retired|adopted|inherited|started"
    "|got|had|became|signed|switched|accepted|turned|met|joined|gave up|left|booked|grew up"
    "|worked|lived|studied|used to"
    "|promoted|fostered|rescued|launched|founded|won|ran|flew|travelled|landed|decided|chose"
)
_BE = (
    "born|(?:from|in) (?!(?i:january|february|march|april|may|june|july|august|september|october|november"
    "|december|the)\\b)(?-i:[A-Z])\\w+(?! (?:i|we|my|our|there)\\b)|laid off|made redundant|raised|allergic"
    "|intolerant|(?:lactose|gluten)(?: "
    "|-)?(?:intoler\\w+|free)?(?:$|,| and| so)|coeliac|celiac|dyslexic|autistic|diabetic"
    "|asthmatic|epileptic|(?:vegan|vegetarian|pescatarian)(?= (?:and|but|so|since|for|because|btw|from|as|now|at"
    "|in|with|too|again)\\b|[,.!?]|$)|teetotal|sober|pregnant|retired|self-employed|unemployed|based"
    "|between (?:jobs|contracts|roles|gigs)|newly|recently (?:divorced|married|widowed|diagnosed)|divorced"
    "|widowed|married|engaged|not a (?:big"
    " |huge )?fan|not keen|not into|not big on|obsessed with|colou?r-?blind|left-handed|hard of hearing|terrified of"
    "|scared of|afraid of|sick of|so sick of|tired of|prediabetic|bilingual|fluent|\\d\\d (?:and|here|years old"
    "|yo|y/o|yrs old)\\b"
)
_NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twenty|thirty|forty"
    r"|fifty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|half)"
)
_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|final|last|\d(?:st|nd|rd|th))"
_A_YEAR = r"(?:first|second|third|fourth|fifth|final|last|\d(?:st|nd|rd|th))[- ]ye?a?r"
_PAST_FORM = rf"{alternatives(tuple(PAST - NOT_PAST_ALONE))}|\w{{2,}}ed"
_MOOD = (
    r"(?:bored|blessed|loved|tired|confused|excited|interested|stressed|worried|annoyed|scared|based|need|speed"
    r"|feed|exhausted|need"
    r"|embarrassed|disappointed|relaxed|frustrated|overwhelmed|shocked|surprised|pleased|inspired|related|required"
    r"|attached|updated|fixed|added|tried|used|given|compared|indeed|supposed|meant|thought|said|asked|understood)\b"
)
"""States and words of the talk, which no “I” is missing before."""
_NO_DOING = (
    r"(?:during|nothing|something|anything|everything|according|regarding|including|considering|assuming|depending"
    r"|following|concerning|being|wondering|thinking (?!of\\b|about \\w+ing)|asking|using|getting|having|looking"
    r"|making|sitting|waiting"
    r"|standing|feeling|wearing|writing|speaking|talking|judging|comparing|morning|evening|wedding|meeting|heading"
    r"|nothing|sibling|saying|working (?:on|together)|trying|lying|going by)\b"
)
_GOES_ON = (
    r"(?=(?:(?:not|just|also) )?(?:my|our|an?|the|in|at|to|for|with|from|on|over|out|up|between|as|by|through"
    r"|near|along|\d+|(?-i:[A-Z])\w*)\b)"
)
_STANDING_IN = (
    r"freelance|self-employed|retired|trainee|apprentice|junior|senior|part-time|full-time|former|ex|qualified|newly"
    r"|student|registered|professional|lifelong|amateur|self-taught|\d\d[- ]year[- ]old|male|female"
)
_JOB = alternatives(tuple(JOBS))
_FINITE = (
    "is|are|was|were|has|have|had|made|makes?|gave|gives?|takes?|took|helps?|helped|can|will|would|could|feels?"
    "|fills?|warms?|motivates?|inspires?|reminds?"
    "|means?|meant|sounds?|seems?|works?|needs?|keeps?|brings?|drives?|shows?|allows?"
)
"""A verb behind “searching for a flat” makes that its subject: nobody is left out."""
_TO_COME = (
    r"to be (?:so|(?:an?|the) (?:[\w-]+ ){0,2}(?:night|day|week|weekend|year|time|trip|show|event|change|success|blast"
    r"|party|journey|game|one))\b"
)
"""Of what “going to be a great night” is said: not of the user."""
_TO_ITS_VERB = (
    r"(?:(?!,|\b(?:till|until|because|while|when|since|but|so|that|which|who|if|where|before|after)\b).)*?"
    rf"(?:'s (?:an?|the|been|hard|tough|not|so|really)|\b(?:{_FINITE}|(?:is|are|was|were|does|has|can|could)n't))\b"
)
_FULL: Final[tuple[tuple[str, str], ...]] = (
    (
        rf"(?:{_SOON})(?:{_DOING})\b(?! {_TO_COME})"
        rf"(?! (?:out|by|it|this|that|with this|on it|there)\b)(?!{_TO_ITS_VERB}(?! my| "
        rf"our))",
        "I'm ",
    ),
    (
        rf"(?:(?:{_STANDING_IN})[ -])+(?:[\w-]+ ){{0,2}}?(?:{_JOB})s?\b(?! (?:is|are|who|for|with|needed"
        rf"|wanted)\b)",
        "I'm a ",
    ),
    (rf"{_SOON}been (?!there\b|wondering|thinking|meaning|ages|so long|an? (?:few|while|long|couple|bit|great|tough"
     r"|hard|busy|crazy|wild|rough|good|journey)\b)", "I've "),
    (rf"{_SOON}(?:{_BE})\b", "I'm "),
    (rf"{_SOON}(?:was|am) (?!it|this|that|there|i\b|my|the\b)", "I "),
    (rf"{_SOON}(?:{_DID})\b(?! it\b| this\b| that\b| there\b| confused\b| stuck\b| an? (?:error"
        rf"|question|idea)\b)", "I "),
    (r"(?:(?:don't|dont|do not|never) (?:really )?(?:eat|drink|like|own|drive|smoke|speak|sleep"
        r"|swim|fly|cook|have kids)"
     r"|(?:can't|cant|cannot) (?:really )?(?:eat|drink|stand|bear|drive|have|do|work|wear|fly"
         r"|sleep|swim|tolerate|digest|touch))\b(?! (?:it|this|that|me|any emojis?"
     r"|bullet)\b)", "I "),
    (r"(?:only |just )(?:have|own|eat|drink|use)\b", "I "),
    (r"(?:have|own) (?:an?|two|three|four|five|\d+|no) (?!look\b|go\b|think\b)", "I "),
    (r"(?:love|loved|adore|hate|prefer|enjoy) (?!it\b|this\b|that\b|me\b|and\b|the\b|out\b|.*\byour?\b)", "I "),
    (r"(?:work|live) (?:in|at|as|for|from|with|on|near|by|alone|together with|nights|shifts"
     r"|weekends|part|full|above|next|just|here|somewhere|close|remotely|freelance|outdoors|\d)\b", "I "),
    (r"(?:avid|keen|huge|big|massive|lifelong|total) [\w' -]{2,40}? (?:fan|nerd|geek|lover|reader"
        r"|collector)\b", "I'm a "),
    (r"(?:single|proud|stay-at-home|working|expectant|new|soon-to-be) (?:mum|mom|dad|father|mother"
        r"|parent)\b", "I'm a "),
    (r"only child\b", "I'm an "),
    (r"no longer \w+ing\b", "I'm "),
    (r"can(?:not|'t)? only \w", "I "),
    (r"(?:first|second|third|fourth|final|last|1st|2nd|3rd|4th)[- ]year (?:\w+ )?(?:student"
        r"|undergrad|phd|med|medic|law|at|of)\b", "I'm a "),
    (r"(?:big|huge) (?:fan of|on)\b|sucker for\b", "I'm a "),
    (r"(?:wanna|gonna|want to|would love to|would like to|plan to|hope to) ", "I "),
    (r"(?:\d+|two|three|five|six|eight|ten|twelve|fifteen|twenty|thirty) (?:years|yrs) (?:in|of|as|at) \w", "I have "),
    (rf"(?:(?:two|three|severe|mild|bad|chronic|type|stage|\d) ){{0,2}}(?:{AILMENTS})\b(?! (?:is"
        rf"|are|can|symptoms|treatment|vs)\b)", "I have "),
    (r"[\w-]+ (?:anything|everything)$", "I love "),
    (r"no (?:[\w-]+ ){1,3}(?:in anything|for (?:me|us)|at all|ever)\b", "I want "),
    (
        r"as an? (?!ai\b|(?:general |rough |golden )?rule\b|matter of|result|reminder|last resort|starting"
        r"|bot\b|language model|child\b|joke\b|experiment\b"
        r"|.*\b(?:i|we|you|what|how|which)\b)(?=\w)", "I'm a "),
    # by the form of the verb alone, whatever verb it is
    (rf"{_SOON}(?!{_MOOD})(?:{_PAST_FORM}) {_GOES_ON}", "I "),
    (rf"{_SOON}(?!{_NO_DOING})\w{{3,}}ing {_GOES_ON}(?!{_TO_ITS_VERB})", "I'm "),
    (rf"never (?:been|eaten|driven|flown|seen|done|gone|had|learnt|{_PAST_FORM}) \w", "I've "),
    (r"(?:usually|normally|often|mostly|sometimes|generally|regularly|rarely|typically|tend to) [a-z]+ \w", "I "),
    (
        rf"{_NUMBER} (?:years|yrs|months|weeks) (?:and counting )?(?:in|at|as|with|into|on)\b(?! (?:us|me)\b)",
        "I have been ",
    ),
    (rf"{_NUMBER} (?:years|yrs|months|weeks) (?:and counting )?(?:sober|clean|pregnant|married|old|out)\b", "I'm "),
    (r"head of \w", "I'm "),
    (r"always (?:been|loved|wanted|hated|had|lived|dreamed)\b", "I've "),
    (r"(?:(?:big|real|huge|massive) )?(?:soft spot|weakness|sweet tooth)\b", "I have a "),
    (rf"{_ORDINAL} (?:semester|term|trimester|year) of \w", "I'm in my "),
    (rf"in my {_ORDINAL} (?:semester|term|trimester|year) (?:of|at|studying|doing)\b", "I'm "),
    (rf"{_NUMBER} (?:years|yrs) an? (?!go\b)\w", "I have been "),
    (r"(?:evening|night|weekend|online|private|weekly|daily) (?:class|classes|lessons|course) in \w", "I take "),
    (
        r"no (?:kids|children|pets|car|siblings|brothers|sisters|allergies|tv|dishwasher|garden|balcony|oven"
        r"|microwave|licen[cs]e"
        r"|partner)\b(?! (?:allowed|please|under|in|on|at|welcome|is|are|was|seats?|parks?)\b)",
        "I have ",
    ),
    (
        r"(?:(?:big|final|job|driving|theory|dental|knee|hip|cataract|history|maths?|physics|chemistry"
        r"|biology|anatomy|law) )?"
        r"(?:mri|ct scan|scan|surgery|exam|interview|flight|test|op|operation|viva|hearing|check-?up"
        r"|appointment|audition|recital"
        r"|presentation) (?=(?:on|next|this (?!one|is)|tomorrow|a week|in (?:two|three|four|a|\d)|first thing"
        r"|at \d|the day after)\b)",
        "I have my ",
    ),
    (r"type (?:1|2|one|two)(?: diabetic)?(?= since\b|,|$)", "I'm diabetic, "),
    (rf"(?:two|three|four|five|six|\d+) (?:[\w-]+ )?(?:{CREATURES})\b(?=,|$| and\b)", "I have "),
    (r"[1-9]\d, (?=(?:an? )?[a-z])", "I'm "),
    (rf"{_A_YEAR} \w+(?: \w+)?(?:,|$)", "I'm a "),
    (r"(?:want|wanting) (?:an?|the|my|to) \w", "I "),
)  # fmt: skip
_ROWS: Final = tuple((re.compile(begins, re.I), full) for begins, full in _FULL)
_HERE = re.compile(r"(?P<what>[\w' -]{3,50}?) here\b(?=,| so\b| and\b| but\b|$)", re.I)
"""“Coeliac here”, “huge formula 1 nerd here”; a name before “here” is a row of the table."""
_SOMEONE = re.compile(r"(?:speaking )?as (?:someone|somebody) who (?=\w+s\b)", re.I)
_STATES = re.compile(
    r"(?:\w{3,}(?:er|or|ist|ian)|person|coeliac|celiac|diabetic|dyslexic|vegan|vegetarian|asthmatic|autistic|nerd"
    r"|fan|geek|lover|child|parent"
    r"|mum|mom|dad|student|teacher|nurse|doctor|developer|engineer|translator|designer|sufferer|freelancer|owner|hater"
    r"|pescatarian|diabetes|adhd|asthma|widow|widower|expat|immigrant|introvert|extrovert|gamer|runner|cyclist)$",
    re.I,
)
_ARTICLE = re.compile(r"(?:\w{3,}(?:er|or|ist|(?<!ar)ian)|person|nerd|fan|geek|lover|parent|mum|mom|dad|student"
                      r"|teacher|nurse|doctor|developer|engineer"
                      r"|translator|designer|sufferer|freelancer|owner|hater|widow|widower|expat|immigrant|introvert"
                      r"|extrovert|gamer|runner|cyclist)$", re.I)  # fmt: skip


def in_full(words: str) -> str:
    """The sentence with the “I” that was left out; itself, if none was."""
    told = _told_here(words)
    if told is not None:
        return told
    if _NAME_AND_AGE.match(words):
        return f"I'm {words}"
    someone = _SOMEONE.match(words)
    if someone is not None:
        return f"The user {words[someone.end() :]}"
    full = next((full for begins, full in _ROWS if begins.match(words)), None)
    if full is None:
        return words
    if words.lower().startswith("as a"):
        return f"I'm {words[3:]}"
    full = "I was " if _IN_THE_PAST.match(words) else full
    full = f"{full[:-1]}n " if full.endswith(" a ") and words[0].lower() in "aeio" else full
    return f"{full}{words[0].lower()}{words[1:]}"


_NAME_AND_AGE = re.compile(r"[A-Z][a-z]+, [1-9]\d(?=, (?:an? )?[a-z]|$)")
"""“Hanneke, 58, retired”."""
_IN_THE_PAST = re.compile(r"(?:born|laid off|made redundant|raised)\b", re.I)
_A_YEAR_OF = re.compile(r"(?:\w+|\d\w+)[- ]year\b", re.I)
_IN_YEAR = re.compile(r"(?:year|grade|p|class) ?\d{1,2}", re.I)
_WHOLE = re.compile(r"(?:i|i'm|im|my)\b", re.I)


def _told_here(words: str) -> str | None:
    """“Coeliac here” in full; None: it is nothing of the kind."""
    here = None if _A_YEAR_OF.match(words) or _WHOLE.match(words) else _HERE.match(words)
    if here is not None and _IN_YEAR.fullmatch(here["what"]):
        return f"I'm in {here['what']}{words[here.end() :]}"
    if here is None or not _STATES.search(here["what"]):
        return None
    rest = words[here.end() :]
    if re.match(r"only child\b", words, re.I):
        return f"I'm an {here['what']}{rest}"
    article = "a " if _ARTICLE.search(here["what"]) and not re.match(r"an? ", here["what"], re.I) else ""
    return f"I'm {article}{here['what']}{rest}"


def begins_without_subject(words: str) -> bool:
    """Whether the user left themselves out at the beginning of `words`."""
    return in_full(words) != words
