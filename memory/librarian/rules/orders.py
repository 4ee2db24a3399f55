"""Standing orders to the assistant: “from now on …”, “never …”, “whenever I …”, “answer in German”.

An order counts only if it is meant for later answers too; one for this answer alone is nothing to remember.
"""

import re
from collections.abc import Mapping
from typing import Final

from memory.librarian.rules.clauses import is_past
from memory.librarian.rules.retell import MODALS, inside, third_person
from memory.librarian.rules.statement import Note
from memory.librarian.rules.words import PARTICIPLES
from memory.models.kinds import Kind

_ALWAYS: Final = re.compile(
    r"(?i)\b(?:from (?:now|here) on|in later|every (?:single )?(?:answer|reply|email|mail|time|chat)|rule|always|never"
    r"|going forward|(?:in|for) (?:the )?future|in general|by default|whenever|each time|any ?time"
    r"|(?:for|in) (?:all|every)(?: of)? (?:our|your|my|chat)|ever|in everything you|permanently|please stop|stop"
    r"|every chat we have)\b"
)
_VERBS: Final = (
    "answer|reply|respond|keep|use|write|give|show|be|add|put|tell|explain|speak|talk|call|convert|leave|skip|avoid"
    "|include|cite|mention|ask|start|begin|end|stop|make|send|list|check|treat|address|translate|format|say|spell"
    "|round|assume|drop|cut|quote|summari[sz]e|remember to|point|correct|flag|warn|suggest|recommend|label|number"
    "|prefer|stick|default|express|apologi[sz]e|repeat|sign|hit|challenge"
)
_LEAD: Final = re.compile(
    r"(?i)(?:(?:and|but|so|also|please|pls|ok|okay|hey|right|oh|just|from now on|going forward|in general"
    r"|(?:in|for) (?:the )?future|as a rule|by default|generally|(?:could|can|would|will) you|can we"
    r"|i(?:'d| would) like you to|i (?:want|need) you to"
    r"|(?:an? )?(?:general|standing|quick) rule(?: for [\w ]{2,30})?|(?:for|in) all (?:our|your|my) \w{3,12})[,:]?"
    r" +){1,4}"
)
_NO_THINGS: Final = re.compile(
    r"(?i)no (?:more )?(?P<what>[a-z][\w -]{2,40}?)(?: ever| please| pls|,|$| in (?:your|the|any))"
)
_IN_LANGUAGE: Final = re.compile(
    r"(?:[Aa]lways )?(?i:answer|reply|respond|speak|talk|write)(?: to me| me)?(?: only| always)? in"
    r" (?P<language>[A-ZÀ-ÞĀ-Ž][a-z]{3,12})(?: please| pls| from now on| always)?$"
)
_LENGTH: Final = re.compile(
    r"(?i)(?:(?:always )?(?:keep|make) (?:your |the |all )?(?:answers|replies|responses)(?: as)?|(?:i )?prefers?"
    r"|i(?:'d| would)? (?:like|want|need|(?:rather|prefer to) (?:get|have))"
    r"(?=(?: \w+){2}(?:$|[,.!]| (?:from you|please|with|without|always|now)\b)))"
    r" (?P<length>short|brief|concise|long|detailed|simple|shorter|longer)(?: (?:answers|replies|responses))?"
)
_WITH: Final = re.compile(r"(?i)(?: (?:with|without|in)|, no) [\w ]{3,60}?(?=(?: please| pls)?$)")
_RATHER: Final = re.compile(
    r"(?i)i(?:'d| would) (?:rather|prefer)(?: it if)?(?: that)? you (?P<what>(?:always |didn't |used |use |kept |gave "
    r"|wrote |called |ask |say |said |don't )[^?]{3,160})"
)
_THAN: Final = re.compile(r"(?<!more)(?<!less)(?<!other)(?<!rather)(?<!\wer) than ")
"""Behind “I'd rather you say so”: “than guess”."""
_WHENEVER: Final = re.compile(
    r"(?i)(?:whenever|every time|each time|any ?time|when) (?P<when>(?:i|you) (?:(?! that\b).){3,90}?),? "
    rf"(?P<then>(?:(?:please|pls"
    rf"|always|never|just) )?(?:don't )?(?:{_VERBS})\b[^?]{{3,160}})"
)
_IF_YOU: Final = re.compile(
    rf"(?i)if you(?P<when>(?:'re| are| don't| aren't| can't) .{{3,60}}?), (?P<then>(?:{_VERBS})\b[^?]{{1,90}})"
)
_DOES: Final = re.compile(
    r"(?i)(?:please |pls |just |also )?(?:(?:always |never |don't ever |don't |dont |do not )(?![a-z]+[^su]s\b)[a-z]+"
    rf"|stop [a-z]+ing|(?:stop )?(?:{_VERBS}))\b"
)
_POLITE: Final = (
    r"(?i),? (?:please|pls|ok|okay|thanks|would you|will you|ta|from now on|in future|going forward|always)$"
)
_REASON: Final = re.compile(r"(?i),? (?:because|since|as) |, (?=(?:i|i'm|i've|we|we're|it|it's|that|that's)\b)")
"""Ends an order: “temperatures in Celsius, I'm not American”."""
_BASE: Final = {"used": "use", "kept": "keep", "gave": "give", "wrote": "write", "called": "call"}
_STANDING: Final = re.compile(
    rf"{_ALWAYS.pattern}|(?i:\byou (?:keep|people)\b|\bfeedback\b|\bstanding\b"
    r"|\b(?:i|my)\b[^.!?]{0,80}[,:] so (?:short|brief|plain))"
)
"""In a message whose orders for the form of answers are meant for later ones: “okay feedback …”, “my eyes are bad, so
short answers”."""
_FORM: Final = re.compile(
    r"(?i)(?:^|[,;:.] ?|\b(?:and|so|also) )(?P<form>no (?:more )?(?:emojis?|tables?|bullet ?points?|bullets"
    r"|headings?|markdown|jargon|exclamation (?:marks|points)|disclaimers)"
    r"|(?:short|brief|concise|plain|simple|direct|long|detailed) (?:answers|replies|paragraphs|sentences"
    r"|explanations|words))(?=$|[,;:.!]| (?:and|please|pls|either|at|only)\b)"
)
"""How answers are to look: “short paragraphs, no tables”."""
_SHAPES: Final = (
    r"(?:(?:short|proper|normal|plain|full|long|numbered|regular|ordinary) ){0,2}"
    r"(?:bullet(?:ed)?[ -]?(?:points?|lists?)|bullets|paragraphs|prose|sentences|tables|lists|text)"
)
_UNITS: Final[Mapping[str, str]] = {
    "temperature": "celsius|fahrenheit|centigrade",
    "weight": "grams|ounces|cups|kilos|kilograms|pounds",
    "distance": "miles|kilomet(?:re|er)s|kms?",
    "": "metric(?: units)?|imperial(?: units)?|feet(?: and inches)?|inches",
}
_WORK: Final = (
    "answers|replies|responses|recipes|temperatures|weights|distances|heights|amounts|measurements|quantities"
)
"""What is asked for more than once, so that an order for its form is meant for later ones, too."""
_ONE_FORM: Final = rf"(?:(?P<how>{_SHAPES})|(?P<unit>{'|'.join(_UNITS.values())}))"
_BARELY: Final = re.compile(
    rf"(?i)\A\W{{0,9}}(?:(?:all|and|please),? ){{0,2}}(?:{_WORK}) in {_ONE_FORM}"
    r"(?=\W*$|,? (?:for me|please|pls|thanks|always|only|from now|i(?:['’]m| am) not)\b)"
)
"""The same without a verb: “Temperatures in Celsius, please”."""
_ASKED_FOR: Final = re.compile(
    r"(?i)(?:\b(?:answers?|reply|replies|respond|responses)"
    r"|(?<!\bi )(?<!\bi always )(?<!\bwe )(?<!\bto )\b(?:write|give|show|explain|format|put|list|use)"
    r"|\bi(?:['’]d| would)? (?:like|prefer|rather|want)(?! (?:it|this|that)\b))\b"
    r"(?:(?! (?:not|no|without|than|never)\b|n['’]t\b)[^.;:?!]){0,60}?"
    rf" {_ONE_FORM}\b"
)
"""A form or a unit that is asked for: “I'd rather you wrote in proper paragraphs”, “give me recipes in cups”."""
_PREFERS: Final = re.compile(r"(?i)\bprefer [\w ]{0,20}(?:bullet|paragraphs|prose)")
"""In general: “I prefer bullet points from you”."""
_WORKS: Final = re.compile(rf"(?i)\b(?P<what>{_WORK})\b")
_TREAT_ME: Final = re.compile(
    r"(?i)(?:please |pls |just )?(?P<what>be (?:direct|honest|blunt|strict|frank|patient|gentle|brief|straight) with me"
    r"|correct me(?: (?:hard|strictly|every time))?|argue with me)(?=$|[.!]|, (?:i|always|please)\b)"
)
"""How the user wants to be talked to, in whichever answer."""
MAX_ORDER: Final = 200
"""Characters of a sentence that gives one."""


def _order(statement: str, attribute: str = "", value: str = "") -> Note:
    return Note(Kind.INSTRUCTION, f"{statement}.", attribute, value, form="order")


def is_standing(message: str) -> bool:
    """Whether a message says that what it asks of answers is meant for later ones."""
    return _STANDING.search(message) is not None


def read_order(sentence: str, *, is_standing: bool = False) -> Note | None:
    """The standing order in a sentence. `is_standing`: whether its message says that it gives some."""
    text = sentence.strip(" .!?-*•")
    if len(text) > MAX_ORDER:
        return None
    lead = _LEAD.match(text)
    bare = text[lead.end() :] if lead else text
    if (found := _LENGTH.match(bare)) and re.search("answer|repl|respon", bare):
        rest = _WITH.match(bare, found.end())
        how = rest[0].lower() if rest else ""
        return _order(
            f"The user wants {found['length'].lower()} answers{how}", "answer_length", found["length"].lower()
        )
    if (found := _IN_LANGUAGE.match(bare)) and not sentence.endswith("?"):
        return _order(f"The user wants answers in {found['language']}", "answer_language", found["language"])
    if order := _shape(sentence, is_standing=is_standing):
        return order
    if found := _TREAT_ME.match(text):
        return _order(f"The user wants the assistant {_infinitive(found['what'])}")
    forms = [found["form"].lower() for found in _FORM.finditer(text)] if is_standing else []
    return _order(f"The user wants {' and '.join(forms)}") if forms else _in_words(text, bare)


def _shape(sentence: str, *, is_standing: bool) -> Note | None:
    """The form or the unit that an order asks for, in answers or in one kind of them."""
    found = _ASKED_FOR.search(sentence) or _BARELY.match(sentence)
    works = _WORKS.search(sentence)
    prefers = found is not None and found["how"] and _PREFERS.search(sentence)
    if found is None or not (works or is_standing or prefers or _ALWAYS.search(sentence)):
        return None
    what = works["what"].lower() if works else ""
    if unit := found["unit"]:
        quantity = next(name for name, units in _UNITS.items() if re.fullmatch(units, unit.lower()))
        attribute, what = f"units:{quantity}" if quantity else "units", what or f"{quantity or 'measurement'}s"
        return _order(f"The user wants {what} in {unit}", attribute, unit.lower())
    how = found["how"].lower()
    return _order(f"The user wants {what or 'answers'} in {how}", "answer_format", how)


def _in_words(text: str, bare: str) -> Note | None:
    """Any other order for later answers, in the user's words."""
    if found := _RATHER.match(text) or _RATHER.match(bare):
        return _order(f"The user wants the assistant {_infinitive(_THAN.sub(' rather than ', found['what']))}")
    if found := _IF_YOU.search(text):
        when = third_person(found["when"].replace("'re", " are"))
        return _order(f"If the assistant {re.sub('^are', 'is', when)}, the user wants it {_infinitive(found['then'])}")
    if (found := _WHENEVER.match(bare)) and _DOES.match(then := _without_lead(found["then"])):
        who, at = ("the user ", 1) if found["when"][0] in "iI" else ("the assistant ", 3)
        condition = who + third_person(found["when"][at:], user=True)
        return _order(f"Whenever {condition}, the user wants the assistant {_infinitive(then)}")
    if _ALWAYS.search(text) is None:
        return None
    if found := _NO_THINGS.match(bare):
        return _order(f"The user wants no {found['what'].strip()}")
    bare = _REASON.split(bare)[0]
    does = _DOES.match(bare)
    return _order(f"The user wants the assistant {_infinitive(bare)}") if does and _is_base(does[0]) else None


def _is_base(words: str) -> bool:
    """Whether the last word is a verb that can be asked for: “never write”, unlike “never could”, “always been”."""
    verb = words.lower().split()[-1]
    return re.fullmatch(_VERBS, verb) is not None or not (verb in MODALS | PARTICIPLES or is_past(verb))


def _without_lead(words: str) -> str:
    lead = _LEAD.match(words)
    return words[lead.end() :] if lead else words


def _infinitive(words: str) -> str:
    """“Never use emojis, ok” → “never to use emojis”."""
    words = re.sub(_POLITE, "", re.sub(r"(?i)^(?:please |pls |just |also )+", "", words.strip(" ,.")))
    negative = re.match(r"(?i)(?:never|don't ever|don't|dont|do not|didn't) ", words)
    verb, _, rest = (words[negative.end() :] if negative else re.sub(r"(?i)^always ", "", words)).partition(" ")
    never = "never " if negative and negative[0][0] in "nN" else "not " if negative else ""
    rest = re.sub(r"(?i)\byour\b", "its", inside(rest, user=True))
    rest = re.sub(r"\byou(?:['’]re| are)\b", "it is", re.sub(r"\byou don['’]t\b", "it doesn't", rest))
    rest = re.sub(r"\byou\b", "the assistant", rest)
    return f"{never}to {_BASE.get(verb.lower(), verb.lower())} {rest}".rstrip(" ,.")
