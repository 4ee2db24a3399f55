"""Lists that the user keeps in the chat: “put rice on my shopping list”, “packing list: socks, torch”, “take it off”.

A list is one fact, whose value is all that is on it; adding and removing replace it. Pure; `what_is_on` gives a list
as it is known.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from memory.facts.keys import LIST
from memory.librarian.rules.statement import Note
from memory.librarian.rules.table import items
from memory.models.kinds import Kind

EMPTY: Final = "nothing"
"""Value of a list with nothing on it."""
MAX_SENTENCE: Final = 300
"""Characters of a sentence that changes a list; a longer one is a paste."""
MAX_ITEMS: Final = 40
"""On one list: a fact's statement holds about as many."""
_POLITE: Final = (
    r"(?i)^\W*(?:(?:please|pls|and|also|ok(?:ay)?|oh|hey|then|now|(?:can|could|would|will) you|i need you to)\W+){0,4}"
)
_NAME: Final = (
    r"(?P<whose>(?:my|our|the|an?|another|a new) )(?P<name>(?!(?:waiting|mailing|email|long|whole|short|price|play)\b)"
    r"(?:to-?do|[a-z]{3,14})(?: [a-z]{3,14})?) list\b"
)
_STARTS: Final = re.compile(
    rf"{_POLITE}(?:(?:start|make|begin|create|open|keep|write)(?: me| us)? )?{_NAME}(?: for [^:,]{{2,40}})?"
    r"(?: ?:| [-–—]| is| has| with) (?P<items>[^?]+)"
)
_OWN: Final = "shopping|grocery|packing|to-?do"
"""Lists that are hardly anyone else's: “add milk to the shopping list”, “Shopping list for tomorrow: lentils”."""
_BARE: Final = re.compile(rf"(?i)^\W*(?P<whose>)(?P<name>{_OWN}) list(?: for [^:,]{{2,40}})? ?: (?P<items>[^?]+)")
_ADDS: Final = re.compile(
    rf"{_POLITE}(?:add|put|write|note|include|stick|jot)(?: down)? (?P<items>[^?]{{2,200}}?) (?:on|to|onto|in|into)"
    rf" {_NAME}"
)
_TAKES: Final = re.compile(
    rf"{_POLITE}(?:take|remove|delete|cross|drop|strike|cut|scratch)(?: off)? (?P<items>[^?]{{2,200}}?)"
    rf" (?:off|from|out of)(?: of)? {_NAME}"
)
_MORE: Final = re.compile(
    rf"{_POLITE}(?P<how>add|put on|include|take off|remove|cross off) (?P<items>[^?]{{2,200}}?)"
    r"(?: too| as well| instead)?\W*$"
)
"""On the list that the sentence before changed: “add a whistle”."""
_UNNAMED: Final = re.compile(
    r"(?i)\b(?P<the>(?:to|on|onto|off|from|out of|of|clear|empty|wipe) (?:the|my|our|that)) list\b(?! (?:of|for)\b)"
)
"""The list that was changed last, or the only one: “take the limes off the list”."""
_CLEARS: Final = re.compile(rf"{_POLITE}(?:clear|empty|wipe) {_NAME}")
_LIST: Final = re.compile(r"\blist\b", re.I)
_NO_THING: Final = re.compile(
    r"(?i)['’](?:s|re)\b|\b(?:is|are|was|were|has|have|had|needs?|because|apparently|so"
    r"|the (?:end|start|text|e?mail|letter|title|top|bottom|recipe|code|answer))\b|(?:\S+ ){5}\S"
)
"""Words behind a thing that are none: “add sunscreen, apparently snow is worse than a beach”."""
_SMALL: Final = re.compile(r"(?i)^(?:some|the|an?|more|also|my|our) ")
_BEGINS: Final = {_ADDS: ("my ", "our "), _STARTS: ("my ", "our ", "a ", "an ", "another ", "a new "), _BARE: ("",)}
"""Whose list it is that begins with these words: “my book list”, and “the” one only if it is known or one of `_OWN`."""


def read_list(sentence: str, what_is_on: Callable[[str], str], changed: str = "", only: str = "") -> Note | None:
    """A list as a sentence leaves it; None: it changes none.

    `what_is_on`: the value of a list by its attribute; empty: there's no such list. `changed`: the attribute of the one
    that the sentences before changed; `only`: of the only one that is known; empty: none.
    """
    if len(sentence) > MAX_SENTENCE:
        return None
    if meant := changed or only:
        sentence = _UNNAMED.sub(rf"\g<the> {meant.removeprefix(LIST).replace('_', '-')} list", sentence)
    is_named = _LIST.search(sentence) is not None
    if changed and not is_named and (more := _MORE.match(sentence)):
        said = list(_things(more["items"]))
        on_it = [one for one in what_is_on(changed).split(", ") if one not in ("", EMPTY)]
        how = _ADDS if more["how"].lower() in ("add", "put on", "include") else _TAKES
        return (
            _note(changed.removeprefix(LIST).replace("_", "-"), changed, _changed(on_it, said, how)) if said else None
        )
    if not is_named:
        return None
    for pattern in (_ADDS, _TAKES, _CLEARS, _STARTS, _BARE):
        found = pattern.match(sentence)
        if found is None:
            continue
        attribute = f"{LIST}{found['name'].lower()}"
        known = what_is_on(attribute)
        said = list(_things(found["items"])) if pattern is not _CLEARS else []
        on_it = [one for one in known.split(", ") if one != EMPTY] if known else []
        is_own = pattern is _ADDS and re.fullmatch(_OWN, found["name"], re.I) is not None
        is_meant = known or is_own or found["whose"].lower() in _BEGINS.get(pattern, ())
        if not is_meant or not (said or pattern is _CLEARS):
            return None
        return _note(found["name"].lower(), attribute, _changed(on_it, said, pattern))
    return None


def _things(text: str) -> Iterator[str]:
    for one in items(text.strip(" .!,")):
        if _NO_THING.search(one):
            return
        if thing := _SMALL.sub("", one.strip(" .!,")):
            yield thing


def _changed(on_it: Sequence[str], said: Sequence[str], how: re.Pattern[str]) -> list[str]:
    """What is on the list then, each thing once."""
    if how in (_TAKES, _CLEARS):
        gone = {one.casefold().rstrip("s") for one in said}
        return [one for one in on_it if said and one.casefold().rstrip("s") not in gone]
    before = on_it if how is _ADDS else []
    return list({one.casefold(): one for one in (*before, *said)}.values())[:MAX_ITEMS]


def _note(name: str, attribute: str, on_it: Sequence[str]) -> Note:
    if not on_it:
        return Note(Kind.FACT, f"On the user's {name} list is {EMPTY}.", attribute, EMPTY, form="note")
    *most, last = on_it
    listed = f"are {', '.join(most)} and {last}" if most else f"is {last}"
    return Note(Kind.FACT, f"On the user's {name} list {listed}.", attribute, ", ".join(on_it), form="note")
