"""Finds lasting instructions to the assistant: “Always use metric” is one; “answer in one word” is for now.

It takes two things: words that make it stand (“from now on”, “whenever I …”, “in all your answers”), and words that
order. Read from whole sentences, since what an order says after its comma belongs to it.
"""

import re
from typing import Final

from memory.librarian.rules.people import alternatives
from memory.librarian.rules.slots import MOTTO, ORDER_VERBS, told_to_assistant

MAX_ORDER: Final = 240
"""Characters; a longer one is a prompt for this answer."""

_STANDING = re.compile(
    r"\b(?:always|never|from (?:now|here|today) on(?:wards)?|going forward|in (?:the )?future|for future reference"
    r"|treat me\b|(?:talk|speak) to me (?:like|as)\b|address me\b|from today\b|that goes for (?:everything|all"
    r"|every)|applies to everything"
    r"|(?:can|could|would|will) (?:you|u) (?:please |pls )?stop \w+ing|in everything (?:you|u)\b|(?:don't|dont"
    r"|do not|please don't) ever\b|with me,? (?:please|pls)|generally$"
    r"|(?:short|brief|concise|detailed|plain|simple|long)(?:er)? (?:answers|replies|responses)|in (?:later|future"
    r"|all|every|other|new) (?:chats?|conversations?|your|my|answers?|repl\w+|messages?)|henceforth"
    r"|every (?:time|answer|reply|response|email|message|recipe|code)|whenever|when(?:ever)? (?:i"
    r"|you|we)\b|each time|ever$"
    r"|by default|as a (?:general )?rule|at all times|on weekdays|at weekends|on weekends|not"
    r" just (?:this|today|here|now)"
    r"|permanently|if i (?:ask|send|paste|share)|if (?:you|u) (?:ever )?(?:quote|mention|give|use|write|suggest"
    r"|recommend|cite|list|show|translate)\b|for (?:all|any|every) (?:of )?my|unless i (?:say"
    r"|ask)|until (?:i say|further notice)|in our chats|when"
    r" (?:replying|answering|writing)|^(?:please |pls )?(?:stop|no more) \w+|any ?time (?:i|you)"
    r"|(?:standing|general|house|golden|my) rule|in general\b|^(?:you|u) keep|(?:you|u) (?:don't|dont|do not"
    r"|never) (?:need|have)"
    r" to|no need to|(?:love|hate|like|enjoy|mind|stand|prefer|rather|appreciate) (?:it |that )?(?:when |if )?you\b"
    r"|for (?:all|any|every) (?:my|future|your)|if you(?:'re| are|re) (?:ever )?(?:not sure"
    r"|unsure|uncertain|in doubt)|if you (?:don't|dont|do not) know|(?:your|all|the) (?:answers|replies|responses)\b"
    r"|with me\b(?=.*\b(?:always|never)\b))",
    re.I,
)
_VERB: Final = (
    rf"(?:{alternatives(tuple(ORDER_VERBS))}|sugarcoat|sugar-coat|skip|leave out|drop|stick to|limit|prefer|round|quote"
    r"|remind|correct|challenge|push back|be|link|show|highlight|bold|indent|comment|walk|teach|assume|let me know|flag"
    r"|warn|count|measure|schedule|book|test|prioriti[sz]e|number|date|consider|highlight|specify"
    r"|focus|stop (?!me\b|here\b)\w+ing|no more)"
)
_WHEN: Final = (
    r"(?:(?:when(?:ever)?|any ?time|each time|every time) (?:i|you|we) (?!was\b|were\b|had\b)"
    r"[^.?!\n]{2,60}?[, ] ?(?<!\bi )(?<!\bwe ))"
)
_WHEN_TALKING: Final = (  # “when I travel I prefer window seats” is a taste
    r"(?:(?:when(?:ever)?|any ?time|each time|every time)"
    r" (?:you|(?:i|we) (?:ask|chat|talk|write|send|paste|share|say|mention|request))\b[^.?!\n]{0,60}?[, ] ?)"
)
_BEGINS: Final = (
    r"(?:(?:please|pls|plz|and|also|so|ok|okay|hey|btw|actually|one thing|in general|generally|as always|just"
    r"|always|never|from today|from"
    r" (?:now|here|today) on(?:wards)?"
    r"|going forward|in (?:the )?future|for future reference|by default|as a (?:general )?rule"
    r"|henceforth|could you|can you"
    r"|would you|i want you to|i need you to|i'd like you to|i would like you to|i'd rather"
    r" (?:that )?you|i'd prefer (?:that )?(?:if )?you"
    r"|i would prefer (?:if )?you|you should|you must|you can|make sure (?:to|you)|try to"
    r"|remember to|be sure to|don't|dont"
    r"|do not|don't ever|ever|not)[,:]? ){0,5}"
)
_STRONGLY: Final = (
    r"(?:from (?:now|here|today) on(?:wards)?,? |going forward,? |in (?:the )?future,? |by default,? |in general,? "
    r"|(?:when(?:ever)?|any ?time|each time|every time) you [^.?!\n]{2,60}?[, ] ?"
    r"|(?:when(?:ever)?|any ?time|each time|every time) i (?:ask|chat|talk|write|send|paste|share|say|mention"
    r"|request|post)\b"
    r"[^.?!\n]{0,60}?, ?)"
)
_ANY_VERB: Final = (
    r"(?!(?:i|we|you|he|she|it|they|my|our|your|the|an?|this|that|there|is|are|was|were|am|been|had|has|have|do"
    r"|did|does"
    r"|can|could|would|will|should|what|who|how|why|where|which|to|of|in|on|at|for|with|and|or|but|not|so|as|if|when|a"
    r"|me|us|him|her|them|always|never|wanted|knew|thought|mind|again|more|been|enough|a|\w+(?:ed|ing|ly|n't"
    r"|s))\b)[a-z]{3,}"
)
"""A verb in its plain form: behind words that make an order stand, any will do."""
_ORDER = re.compile(
    rf"(?:{_BEGINS}{_WHEN}?{_BEGINS}(?<!\bto ){_VERB}\b|{_BEGINS}{_WHEN}(?:i want|i'd like|i expect|i need)\b"
    rf"|{_BEGINS}{_WHEN_TALKING}i prefer\b"
    r"|if you(?:'re| are|re) (?:ever )?(?:not sure|unsure|uncertain|in doubt)[^.?!]{0,40}\b(?:say|tell|ask|admit|look)"
    rf"|if (?:you|u) (?:ever )?(?:quote|mention|give|use|write|suggest|recommend|cite|list|show"
    rf"|translate)\b[^.?!]{{2,60}}?,? (?:then |please )?{_ANY_VERB} "
    r"|if you (?:don't|dont|do not) know[^.?!]{0,40}\b(?:say|tell|ask|admit)"
    rf"|(?:for|in) (?:all|any|every) (?:of )?(?:my|our|your) [\w ]{{2,30}}?,? {_BEGINS}{_VERB}\b"
    rf"|if (?:i|we) (?:ever )?(?:ask|send|paste|share|mention|write|say)\b[^.?!]{{2,60}}?,? (?:then |please )?{_VERB}\b"
    r"|(?:please )?(?:less|fewer|more|no|short|brief|concise|detailed|plain|simple|british|american"
    r"|metric)(?:er)? [\w ,-]{3,80}"
    r"|(?:please )?no (?:more )?(?:emojis?|bullet points?|disclaimers?|preambles?|jargon"
    r"|apologies|intros?|puns|flattery"
    r"|markdown|tables|links|filler|exclamation marks)\b"
    r"|i(?:'d| would)(?: much)? (?:prefer|rather|like|love|appreciate) (?:it )?(?:if |that )?you (?!could\b|can\b"
    r"|have\b)\w+"
    r"|i (?:really |always )?(?:love|hate|like|don't like|can't stand|prefer|appreciate) (?:it )?(?:when|if) you \w+"
    r"|(?:you|u) (?:really )?(?:don't|dont|do not|never) (?:need|have) to \w+|no need to \w+"
    rf"|{_BEGINS}{_STRONGLY}(?:please |just )?{_ANY_VERB} "
    r"|(?!(?:i|we|my|our|he|she|it|they|there|the)\b).{3,80}(?:that's (?:the|my) (?:standing |general |usual "
    r"|house )?rule"
    r"|[,.] (?:please )?(?:always|every (?:single )?time|from now on|in future|by default|that goes for "
    r"everything|(?:this|that) applies to everything)(?:,? please)?)$"
    r"|i (?:always )?(?:prefer|want|like|need)\b[^.?!]{1,60} (?:in|from) (?:your|the|all)"
    r" (?:answers|replies|responses)|i (?:always )?(?:prefer|want|like|need|expect) (?:your |the "
    r"|all )?(?:\w+ ){0,2}(?:answers|replies|responses|explanations)\b)",
    re.I,
)
_AGREED = re.compile(
    r", ?(?:ok|okay|deal|please|alright|yeah|got it|thanks|(?:would|could|can|will) (?:you|u)|if (?:you|u) (?:can"
    r"|could|would))\s*$",
    re.I,
)
_LEAD = re.compile(r"^[\s,.:;!–—-]+")


def standing_order(sentence: str, mark: str) -> str | None:
    """The order as told by another, without its full stop; None: the sentence gives none that is to last.

    `mark` is what ends the sentence; a question is an order only where it asks the assistant to do something.
    """
    words = _LEAD.sub("", sentence).strip(" ,")
    agreed = _AGREED.search(words)
    asks = re.match(r"(?:can|could|would) you\b", words, re.I) is not None
    if len(words) > MAX_ORDER or ("?" in mark and not agreed and not asks) or MOTTO.match(_MOOD.sub("", words)):
        return None
    words = words[: agreed.start()] if agreed else words
    if _ORDER.match(words) is None or _STANDING.search(words) is None or _FOR_NOW.search(words):
        return None
    return told_to_assistant(_NEED_NOT.sub("the assistant does not", words))


_NEED_NOT = re.compile(r"^(?:you|u) (?:don't|dont|do not|never)(?= (?:need|have)\b)", re.I)
_ONLY_STANDING = re.compile(
    r"\s*(?:please,? |and )?(?:always|every (?:single )?time|from now on|in (?:the )?future|by default|as a rule"
    r"|permanently"
    r"|for good|that goes for (?:everything|all .*)|(?:this|that) applies to everything|not just (?:now|today"
    r"|this time)|going forward)(?:,? please)?\s*",
    re.I,
)
MAX_LABEL: Final = 3


def stretches(text: str, marked: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The sentences of `text` as orders are given: with the label before them, and “Every time.” behind them."""
    told: list[tuple[int, int, str]] = []
    for start, end, mark in marked:
        label = told and told[-1][2] == ":" and len(text[told[-1][0] : told[-1][1]].split()) <= MAX_LABEL
        if told and (label or _ONLY_STANDING.fullmatch(text[start:end])):
            told[-1] = (told[-1][0], end, mark)
        else:
            told.append((start, end, mark))
    return told


_MOOD = re.compile(r"^(?:never|always|please|don't) ", re.I)
_FOR_NOW = re.compile(
    r"\b(?:in this (?:text|one|answer|case|email|letter|story|message|function|script)|for this"
    r" (?:one|answer|time)|this time"
    r"|right now|for now|for once|for today|just this once|remember (?:to carry|when)|when you(?:'re"
    r"| are) (?:done|ready|finished)|whenever"
    r" you(?:'re| are) ready)\b",
    re.I,
)
