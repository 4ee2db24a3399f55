"""Standing orders to the assistant: “from now on …”, “never …”, “whenever I …”, “answer in German”.

An order counts only if it is meant for later answers too; one for this answer alone is nothing to remember.
"""

import re
from dataclasses import dataclass
from typing import Final

from memory.librarian.rules.retell import inside, third_person

_ALWAYS: Final = re.compile(
    r"\b(?:from (?:now|here) on|in later|every (?:single )?(?:answer|email|mail|time|chat)|rule|always"
    r"|never|going forward|in (?:the )?future|in general|by default|whenever|every"
    r" time|each time"
    r"|any ?time|for all (?:our|your|my)|in all (?:our|your|my)|general(?:ly)? rule|standing rule|as a rule"
    r"|don't ever|ever again|ever"
    r"|in everything you|permanently|every answer|every reply|please stop|stop)\b",
    re.I,
)
_ONCE: Final = re.compile(
    r"\b(?:this (?:one|time|text|answer|once|letter|draft|email|recipe)|just once|for (?:this|the following"
    r"|now)|below|the same|today|in this|the (?:letter|text|draft|second|first|last))\b",
    re.I,
)
_VERBS: Final = (
    "answer|reply|respond|keep|use|write|give|show|be|add|put|tell|explain|speak|talk|call|convert|leave"
    "|skip|avoid|include|cite"
    "|mention|ask|start|begin|end|stop|make|send|list|check|treat|address|translate|format|say|spell|round"
    "|assume|drop|cut|quote"
    "|summari[sz]e|remember to|point|correct|flag|warn|suggest|recommend|label|number|prefer|stick|default"
    "|express|apologi[sz]e|repeat|sign"
)
_LEAD: Final = re.compile(
    r"(?:(?:and|but|so|also|please|pls|ok|okay|hey|right|oh|from now on|going forward|in future|in general"
    r"|as a rule|by default|generally|could you"
    r"|can you|would you|will you|can we|i'd like you to|i would like you to|i want you to|i need you to"
    r"|just|(?:a )?(?:general|standing) rule"
    r"(?: for [\w ]{2,30})?|for all (?:our|your|my) \w{3,12}|in all (?:our|your|my) \w{3,12})[,:]? +){1,4}",
    re.I,
)
_NO_THINGS: Final = re.compile(
    r"no (?:more )?(?P<what>[a-z][\w -]{2,40}?)(?: ever| please| pls|,|$| in (?:your|the|any))", re.I
)
_IN_LANGUAGE: Final = re.compile(
    r"(?:always )?(?:answer|reply|respond|speak|talk|write)(?: to me| me)?(?: only| always)? in"
    r" (?P<language>English|German|French|Spanish|Italian|Dutch"
    r"|Portuguese|Polish|Swedish|Danish|Norwegian|Finnish|Greek|Turkish|Russian|Ukrainian|Chinese|Japanese"
    r"|Korean|Hindi|Arabic|Welsh|Irish"
    r"|Catalan|Czech|Hungarian|Romanian)(?: please| pls| from now on| always)?$",
    re.I,
)
_LENGTH: Final = re.compile(
    r"(?:always )?(?:keep|make) (?:your |the |all )?(?:answers|replies|responses)(?: as)? (?P<length>short"
    r"|brief|concise|long|detailed|simple)"
    r"|(?:i )?prefers? (?P<liked>short|brief|concise|long|detailed|shorter|longer) (?:answers|replies|responses)",
    re.I,
)
_UNITS: Final = re.compile(
    r"(?:always )?(?:use|give me|stick to) (?P<units>metric|imperial)(?: units)?(?: please| always| only)?$", re.I
)
_RATHER: Final = re.compile(
    r"i(?:'d| would) (?:rather|prefer)(?: it if)?(?: that)? you (?P<what>(?:didn't |used |use |kept |gave "
    r"|wrote |called |don't )[^?]{3,160})",
    re.I,
)
_WHENEVER: Final = re.compile(
    r"(?:whenever|every time|each time|any ?time|when) (?P<when>(?:i|you) .{3,90}?),? (?P<then>(?:please "
    r"|pls |always |never )?"
    rf"(?:don't )?(?:{_VERBS})\b[^?]{{3,160}})",
    re.I,
)
_DOES: Final = re.compile(
    r"(?:please |pls |just |also )?(?:(?:always |never |don't ever |don't |dont |do not )[a-z]+|(?:stop"
    rf" )?(?:{_VERBS}|[a-z]+ing))\b",
    re.I,
)
_BASE: Final = {"used": "use", "kept": "keep", "gave": "give", "wrote": "write", "called": "call"}
MAX_ORDER: Final = 200
"""Characters of a sentence that gives one."""


@dataclass(frozen=True, slots=True)
class Order:
    """A standing order as a statement, with its key."""

    statement: str
    attribute: str = ""
    value: str = ""


def read_order(sentence: str) -> Order | None:
    """The standing order in a sentence."""
    text = sentence.strip(" .!?-*•")
    if len(text) > MAX_ORDER or _ONCE.search(text):
        return None
    lead = _LEAD.match(text)
    bare = text[lead.end() :] if lead else text
    return _of_form(bare, is_question=sentence.endswith("?")) or _in_words(text, bare)


def _of_form(bare: str, *, is_question: bool) -> Order | None:
    """An order with a key."""
    if found := _LENGTH.match(bare):
        length = (found["length"] or found["liked"]).lower()
        return Order(f"The user wants {length} answers.", "answer_length", length)
    if found := _UNITS.match(bare):
        return Order(f"The user wants {found['units'].lower()} units.", "units", found["units"].lower())
    found = None if is_question else _IN_LANGUAGE.match(bare)
    language = found["language"].capitalize() if found else ""
    return Order(f"The user wants answers in {language}.", "answer_language", language) if found else None


def _in_words(text: str, bare: str) -> Order | None:
    """Any other order for later answers, in the user's words."""
    if found := _RATHER.match(text):
        return Order(f"The user wants the assistant {_infinitive(found['what'])}.")
    if _ALWAYS.search(text) is None:
        return None
    if (found := _WHENEVER.search(text)) and _DOES.match(then := _LEAD.sub("", found["then"])):
        who, when = (
            ("the user ", found["when"][1:]) if found["when"][0] in "iI" else ("the assistant ", found["when"][3:])
        )
        condition = who + third_person(when, user=True)
        return Order(f"Whenever {condition}, the user wants the assistant {_infinitive(then)}.")
    if found := _NO_THINGS.match(bare):
        return Order(f"The user wants no {found['what'].strip()}.")
    return Order(f"The user wants the assistant {_infinitive(bare)}.") if _DOES.match(bare) else None


def _infinitive(words: str) -> str:
    """“Never use emojis, ok” → “never to use emojis”."""
    words = re.sub(r"^(?:please |pls |just |also )+", "", words.strip(" ,."), flags=re.I)
    words = re.sub(
        r",? (?:please|pls|ok|okay|thanks|would you|will you|ta|from now on|in future|going forward|always)$",
        "",
        words,
        flags=re.I,
    )
    negative = re.match(r"(?:never|don't ever|don't|dont|do not|didn't) ", words, re.I)
    verb, _, rest = (words[negative.end() :] if negative else re.sub(r"^always ", "", words, flags=re.I)).partition(" ")
    never = "never " if negative and "n" in negative[0][:1].lower() else "not " if negative else ""
    verb = _BASE.get(verb.lower(), verb.lower())
    rest = re.sub(r"\byour\b", "its", inside(rest, user=True), flags=re.I)
    rest = re.sub(r"\byou\b", "the assistant", rest)
    return f"{never}to {verb} {rest}".rstrip(" ,.")
