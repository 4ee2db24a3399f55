"""Who is meant where the subject is left out? In chat many say “got laid off yesterday” and mean themselves.

Each row: how such a sentence begins, and what stands before it when it is said in full. Only forms that cannot be an
order to the assistant: “broke my wrist” is told, “break it down” is asked for.
"""

from __future__ import annotations

import re
from typing import Final

from memory.rules.ailments import AILMENTS

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
    "born|laid off|made redundant|raised|allergic|intolerant|lactose|gluten|coeliac|celiac|dyslexic|autistic|diabetic"
    "|asthmatic|epileptic|vegan|vegetarian|pescatarian|teetotal|sober|pregnant|retired|self-employed|unemployed|based"
    "|between jobs|newly|recently (?:divorced|married|widowed|diagnosed)|divorced|widowed|married|engaged|not a (?:big"
    " |huge )?fan|not keen|not into|not big on|obsessed with|colou?r-?blind|left-handed|hard of hearing|terrified of"
    "|scared of|afraid of|sick of|so sick of|tired of|prediabetic|bilingual|fluent|\\d\\d (?:and|here|years|yo|yrs)\\b"
)
_FULL: Final[tuple[tuple[str, str], ...]] = (
    (rf"(?:{_SOON})(?:{_DOING})\b(?! (?:out|by|it|this|that|with this|on it|there)\b)", "I'm "),
    (rf"{_SOON}been (?!there\b|wondering|thinking|meaning)", "I've "),
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
    (r"(?:love|loved|adore|hate|prefer|enjoy|work|live) (?!it\b|this\b|that\b|you\b|the (?:way"
        r"|idea|answer)\b|out\b)", "I "),
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
    (r"no (?:[\w-]+ ){1,3}(?:in anything|for me|at all|ever)\b", "I want "),
    (r"as an? (?=\w)", "I'm a "),
)  # fmt: skip
_ROWS: Final = tuple((re.compile(begins, re.I), full) for begins, full in _FULL)
_HERE = re.compile(r"(?P<what>[\w' -]{3,50}?) here\b(?=,| so\b| and\b| but\b|$)", re.I)
"""“Coeliac here”, “huge formula 1 nerd here”; a name before “here” is a row of the table."""
_SOMEONE = re.compile(r"(?:speaking )?as (?:someone|somebody) who (?=\w+s\b)", re.I)
_STATES = re.compile(
    r"(?:coeliac|celiac|diabetic|dyslexic|vegan|vegetarian|asthmatic|autistic|beginner|nerd|fan|geek|lover|child|parent"
    r"|mum|mom|dad|student|teacher|nurse|doctor|developer|engineer|translator|designer|sufferer|freelancer|owner|hater"
    r"|pescatarian|diabetes|adhd|asthma|widow|widower|expat|immigrant|introvert|extrovert|gamer|runner|cyclist)$",
    re.I,
)
_ARTICLE = re.compile(r"(?:nerd|fan|geek|lover|parent|mum|mom|dad|student|teacher|nurse|doctor|developer|engineer"
                      r"|translator|designer|sufferer|freelancer|owner|hater|widow|widower|expat|immigrant|introvert"
                      r"|extrovert|gamer|runner|cyclist)$", re.I)  # fmt: skip


def in_full(words: str) -> str:
    """The sentence with the “I” that was left out; itself, if none was."""
    told = _told_here(words)
    if told is not None:
        return told
    someone = _SOMEONE.match(words)
    if someone is not None:
        return f"The user {words[someone.end() :]}"
    full = next((full for begins, full in _ROWS if begins.match(words)), None)
    if full is None:
        return words
    if words.lower().startswith("as a"):
        return f"I'm {words[3:]}"
    full = "I was " if _IN_THE_PAST.match(words) else full
    return f"{full}{words[0].lower()}{words[1:]}"


_IN_THE_PAST = re.compile(r"(?:born|laid off|made redundant|raised)\b", re.I)
_A_YEAR_OF = re.compile(r"(?:\w+|\d\w+)[- ]year\b", re.I)
_WHOLE = re.compile(r"(?:i|i'm|im|my)\b", re.I)


def _told_here(words: str) -> str | None:
    """“Coeliac here” in full; None: it is nothing of the kind."""
    here = None if _A_YEAR_OF.match(words) or _WHOLE.match(words) else _HERE.match(words)
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
