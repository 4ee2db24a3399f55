"""Lists that the user keeps in the chat: “put rice on my shopping list”, “packing list: socks, torch”, “take it off”.

A list is one fact, whose value is all that is on it; adding and removing replace it. Pure. What is to come off tells by
being on a list which one is meant; what is added needs its name, or to follow it closely.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from memory.facts.keys import LIST
from memory.librarian.rules.clauses import Sentence, clauses_of
from memory.librarian.rules.statement import Note
from memory.librarian.rules.table import items
from memory.librarian.rules.words import NOT_A_NAME, THIRD
from memory.models.kinds import Kind
from memory.text.keywords import FILLER, content, stem
from memory.text.language import as_set

MAX_WORDS: Final = 4
"""Of a thing that is added without a verb."""
EMPTY: Final = "nothing"
"""Value of a list with nothing on it."""
MAX_SENTENCE: Final = 300
"""Characters of a sentence that changes a list; a longer one is a paste."""
_POINTERS: Final = frozenset({"it", "that", "this", "those", "these", "them"})
"""Words for a thing that is named elsewhere: “add those to the list”."""
MIN_KEPT: Final = 2
"""Things that make a list of what isn't called one."""
MAX_ITEMS: Final = 40
"""On one list: a fact's statement holds about as many."""
_OPENS: Final = (
    r"(?i)^\W{0,3}(?:(?:please|pls|and|also|plus|actually|ok(?:ay)?|oh|h(?:i|ey|ello)|yes|yeah|no|wait|hmm|good|great"
    r"|right|sorry|then|now|just|let's|(?:can|could|would|will) (?:you|u)|i need you to)\W{1,3}){0,5}"
)
_NAME: Final = (
    r"(?!(?:waiting|mailing|email|long|whole|full|short|price|play|following|ingredients?|my|our|your|the|that|this|an"
    r"|another|new|same)\b)(?:to-?(?:do|read|watch|buy)|[a-z]{3,14})"
)
_WHOSE: Final = r"(?P<whose>my|our|the|that|an?|another|(?:a )?new) "
_NAMED: Final = rf"(?P<name>{_NAME}(?: [a-z]{{3,14}}){{0,2}}) list\b"
_REF: Final = (
    rf"(?:(?P<it>it|mine|there|(?:the|my|our|that) list\b(?! (?:of|for)\b))|{_WHOSE}(?:{_NAMED}|(?P<of>{_NAME})"
    r"(?= (?:i|we) (?:want|need)\b| to (?:buy|do|get|pack|read|see|watch)\b|\W{0,3}$)))"
)
"""A list: “it”, “the list”, “my book list”, “the books I want”."""
_ONTO: Final = rf"(?:(?P<to>on|to|onto|in|into)|off|from|out of)(?: of)? {_REF}"
_ADDING: Final = "add|put|write|note|include|stick|jot|pop"
_ADD: Final = rf"(?P<adds>{_ADDING})"
_TAKE: Final = (
    r"(?:take|remove|delete|cross|tick|drop|strike|cut|scratch|scrap|skip|forget|ditch|instead of|no need for"
    r"|(?:i|we) (?:don't|dont) need)"
)
_HAVE: Final = (
    r"(?:(?:i|we)(?:'ve|ve| have)? )?(?:already )?(?P<has>have|got|bought|found|done|did|finished|packed|read|seen"
    r"|watched|done with|finished with|picked up)(?: already)?"
)
_PURPOSE: Final = (
    r"(?!(?:the|my|our|me|us|now|later|tonight|tomorrow|next|this|when|if|a|an|week(?:end)?|\w+day)\b)[^\W\d_]{3,14}"
    r"(?: (?!(?:please|pls)\b)[^\W\d_]{3,14}){0,2}"
)
"""What a list is for: Iceland, of “packing list for Iceland”, but not tomorrow."""
_STARTS: Final = re.compile(
    rf"{_OPENS}(?:(?:i'm |we're )?(?P<keeps>start|begin|open|keep|note|save|make|create|write)(?:ing)?"
    rf"(?: me| us| down)? )?(?:{_WHOSE})?(?:{_NAMED}|list of (?:my |the )?(?P<of>{_NAME}(?: [a-z]{{3,12}}(?=s\b))?)s?\b"
    rf"|list (?:called|named) (?P<call>{_NAME})|list for (?:my |our |the )?(?P<use>{_PURPOSE})(?= ?:))"
    rf"(?: for (?:my |our |the )?(?P<for>{_PURPOSE})(?=\W*(?:$|[:,–—(]| so far| please| pls)))?(?P<more>[^:?]{{0,60}}?)"
    r"(?P<sign> ?:| [-–—]| is| are| has| with) (?P<items>[^?]+)"
)
_OPENED: Final = re.compile(
    rf"{_OPENS}(?:(?:i|we)(?: want|'d like|'d love| would like)(?: you)? to )?"
    rf"(?:keep|start|begin|open|make|create|set up)(?: me| us)? (?:{_WHOSE})?(?:{_NAMED}|list of (?P<of>{_NAME})s)"
    r"(?: (?:for|with) (?:me|us|you)| together| here)*\W*"
)
_FIRST: Final = re.compile(
    r"(?i)^\W*(?:please )?(?:(?:it )?(?:starts?|begins?)(?: it)? with|to (?:start|begin)(?: with)?"
    r"|first(?: up)?(?= ?[:,]))\W{1,3}"
)
"""The sentence after one that only opens a list: “Can you keep a shopping list? Start with oat milk.”"""
_KEPT: Final = re.compile(
    rf"{_OPENS}(?:(?P<whose>my|our|the) )?(?P<name>packing|shopping|groceries|to[- ]?do|(?:[^\W\d_]{{3,14}} )?{_NAME}s"
    r"|people)\b"
    rf"(?: for (?:my |our |the )?(?P<for>{_PURPOSE})(?= ?[:(,]))?(?P<more>[^:?]{{0,60}}?) ?: (?P<items>[^?]+)"
)
"""A list without that word: “packing for Oslo: …”, “my countries so far: …”, “films, keep these for me: …”."""
_ASIDE: Final = re.compile(r"(?i)(?: for (?:this|next|the) \w+)?\s*(?:\([^()]*\))?")
"""When it is for, and what is in brackets."""
_SO_FAR: Final = re.compile(r"(?i)\b(?:my|our|i've|we've|i have|we have)\b.*\bso far\b")
_ONE_WORD: Final = re.compile(r"(?i)\b(watch|wish)list\b")
_OWN: Final = re.compile(r"(?:\w+ ){0,2}(?:shopping|grocery|packing|to[- ]?do)", re.I)
"""Lists that are hardly anyone else's: “add milk to the shopping list”, “Shopping list for tomorrow: lentils”."""
_TO_KEEP: Final = re.compile(r"(?i)\b(?:note|keep|save|remember|write)\b")
"""Behind a list's name: “holiday baking list, note it down: …”."""
_FOR_A_TASK: Final = re.compile(r"(?i) for (?!me\b|us\b)")
"""What the assistant is to list: “make a packing list for Iceland: 5 days, camping”."""
_ONE: Final = (
    r"(?:(?:the )?(?:(?:first|second|third|next|last|another) (?:one|thing|item|title|idea)|one more(?: thing)?)"
    r"|number (?:one|two|three))\b"
)
"""Before a single thing, which may have an “and”: “one more for my to-read list, Klara and the Sun”."""
_ORDERS: Final = (
    re.compile(rf"{_OPENS}(?P<adds>{_ONE}) (?:for|on|to) {_REF} ?[:,–—-] ?(?P<items>[^?]{{2,200}})"),
    re.compile(rf"{_OPENS}(?P<adds>{_ONE}) ?[:–—] ?(?P<items>[^?]{{2,200}})"),
    re.compile(rf"{_OPENS}(?P<adds>for|on|to) {_REF} ?[:–—] ?(?P<items>[^?]{{2,200}})"),
    re.compile(rf"{_OPENS}(?:{_ADD}|{_TAKE}|{_HAVE})(?: down| off)? (?P<items>[^?]{{2,200}}?),? {_ONTO}"),
    re.compile(rf"{_OPENS}(?:for|on) {_REF},? (?:{_ADD}|{_TAKE})(?: off)? (?P<items>[^?]{{2,200}})"),
    re.compile(rf"{_OPENS}(?:{_ADD}|{_TAKE}) (?:these |this )?{_ONTO}\W{{1,3}}(?P<items>[^?]{{2,200}})"),
    re.compile(
        rf"{_OPENS}(?P<items>[^?,]{{2,60}}?) (?:(?:can|should|may) )?(?P<off>comes?|go(?:es)?) off(?: of)? {_REF}"
    ),
    re.compile(rf"{_OPENS}(?:[^?]{{2,99}}, so )?(?P<items>[^?]{{2,200}}?) (?P<more>(?:should )?go(?:es)?) {_ONTO}"),
    re.compile(rf"(?i)^\W{{0,3}}(?P<adds>and|also|plus) (?P<items>[^?]{{2,100}}?) (?:on|onto|to) {_REF}"),
    re.compile(
        rf"{_OPENS}(?:(?P<adds>add|put on|put(?=[^?]{{2,200}} on(?: too| as well)?\W{{0,3}}$))|{_TAKE}|{_HAVE})"
        r"(?P<off> off)? (?P<items>[^?]{2,200})"
    ),
    re.compile(
        r"(?i)^\W{0,3}(?:(?:oh|ok|yes|yeah|wait|hmm)\W{1,3}){0,2}(?P<more>and|also|plus|(?=(?:i|we) also need))\W{0,3}"
        r"(?:(?:(?:i|we) )?(?:also )?need )?(?P<items>[^?]{2,100})$"
    ),
    re.compile(r"(?i)^\W{0,3}(?P<items>[^?]{2,60}?) (?P<more>instead)\W*$"),
    re.compile(rf"{_OPENS}(?P<items>[^?,]{{2,60}}?) (?:can )?(?P<off>comes?|goes) off(?=\W*$|,)"),
    re.compile(
        rf"{_OPENS}(?P<items>[^?,]{{2,60}}?)(?: is| are|'s)? (?P<ready>done|sorted|packed|ticked off|crossed off)"
        r"(?: too| already| now)?(?=\W*$|,)"
    ),
)
"""What is added, taken off, or there already, with the name of the list and without; “and cumin”, “cumin instead”,
“bins done”."""
_NEXT: Final = re.compile(
    r"(?i)(?:,|;|\band|\bbut|\bthen|\bso)\W{1,3}"
    r"(?:(?:and|then|also|so|please|(?:you|i) can|(?:can|could) you)\W{1,3}){0,2}"
    rf"(?=(?:{_ADDING}|{_TAKE}) )"
    r"| (?=instead of )"
)
"""Between two orders: “take the limes off, add lemons”."""
_SWAP: Final = re.compile(r"(?i)\b(?:swap|replace) (?P<one>[^,?]{2,60}?) (?:for|with) (?=\w)")
_OF_LIST: Final = re.compile(rf"{_OPENS}(?:(?P<whose>my|our|the) )?{_NAMED}\W{{1,3}}(?=(?:{_ADDING}|{_TAKE}) )")
"""Before an order: “Iceland list: scratch the wellies”."""
_COMES: Final = re.compile(r"(?i)\b(it|that|they|those) (?:can|should|may) (?:come|go)(?= (?:off|on)\b)")
_POINTS: Final = re.compile(
    rf"(?i)^\W*(?:please |(?:can|could) you )?(?P<order>{_ADDING}|take|remove|delete|cross|tick|strike|scratch)"
    r"(?P<off> off)? (?:it|that|this|those|these|them)\b"
)
"""An order for what was named just before it: “I packed extra socks too, add those to the list”."""
_NAMES: Final = re.compile(
    r"(?i)^(?:.*\b(?P<needs>need|want|bring|buy|get|out of|low on|forgot)|\W*(?:i|we)(?:'ve| have)?(?: also| just)? \w+"
    r"|(?:\W*\b(?:oh|and|also|plus|yes))*\b)\W+(?P<thing>[^,;.?]{2,40}?)(?: too| as well| also)?\W*$"
)
"""What that is: “so I also need a power bank”, “oh and washing powder”."""
_CLEARS: Final = re.compile(rf"{_OPENS}(?:clear|empty|wipe) {_REF}")
_NO_THING: Final = re.compile(
    r"(?i)['’](?:s|re)\b|\b(?:is|are|was|were|has|have|had|needs?|because|apparently|so"
    r"|the (?:end|start|text|e?mail|letter|title|top|bottom|recipe|code|answer))\b|(?:\S+ ){6}\S"
    r"|^(?-i:[A-ZÀ-ÞĀ-Ž])\w+ \w+s (?:like|an?|the|me|my|it|at|in)\b|^(?:\S+ ){2,5}(?:it|them|me|us)$"
)
"""Words behind a thing that are none: “add sunscreen, apparently snow is worse than a beach”, “Gunnar snores like a
bear”."""
_ELSEWHERE: Final = re.compile(
    r"(?i) (?:to|onto?|in|into|from|about|at) | (?:you|it|them)\b|\b(?:your|jokes?|emojis?|details?|headings?|sections?"
    r"|paragraphs?|sentences?|lines?|examples?|sources?|links|prices|quantities|columns?|humou?r|tables?)\b"
)
"""In what is added to something else: “add more metal to the playlist”, “add a table”."""
_SMALL: Final = re.compile(r"^(?!The [A-ZÀ-ÞĀ-Ž])(?i:some|the|an?|more|also|my|our) ")
_TAIL: Final = re.compile(
    r"(?i)(?: (?:off|on|on it|too|as well|instead|already|now|again|pls|please|thanks|today|any ?more|last night"
    r"|yesterday|this (?:morning|week)|to (?:begin|start) with))+$"
)
_SIZE: Final = re.compile(r"(?i)(?: size)? \(?x?\d.*$|^\d\S* ")
"""How much of it: “2kg flour”, “nappies size 4”."""
_NO_NOUN: Final = FILLER - as_set("of for the a an some with and")
"""Words of a sentence, rather than of things: “and make it shorter”."""


def list_changed(sentences: Iterable[str], lists: Mapping[str, str]) -> str:
    """The list that the first of these sentences changes that changes any: “add limes. and take the eggs off”."""
    notes = (read_list(sentence, lists) for sentence in sentences)
    return next((note.attribute.removeprefix(LIST) for note in notes if note), "")


def read_list(sentence: str, lists: Mapping[str, str], last: str = "", before: str = "") -> Note | None:
    """A list as a sentence leaves it; None: it changes none.

    `lists`: what is on each, by its name as keys spell it. `last`: the one that was changed just before, if any.
    `before`: the sentence before, which may open the list or name what is to be put on it.
    """
    if len(sentence) > MAX_SENTENCE:
        return None
    sentence, before = (_ONE_WORD.sub(r"\1 list", one[:MAX_SENTENCE]) for one in (sentence, before))
    if opened := _OPENED.fullmatch(before):
        last, sentence = _spelled(opened), _FIRST.sub("add ", sentence)
        lists = {**lists, last: ""}
    of_list = _OF_LIST.match(sentence)
    if of_list and (meant := _meant(_spelled(of_list), lists)):
        last, sentence = meant, sentence[of_list.end() :]
    elif started := _started(sentence, lists):
        return _note(*started)
    name, now = "", dict(lists)
    parts = _NEXT.split(_COMES.sub(r"take \1", _SWAP.sub(r"take \g<one>, add ", sentence)))
    parts, last = _pointed(parts, before, lists, last)
    last = next((changed[0] for part in parts if (changed := _step(part, now, last))), last)
    for part in parts:
        changed = _step(part, now, last)
        if changed is not None and name in ("", changed[0]):
            name = last = changed[0]
            now[name] = ", ".join(changed[1]) or EMPTY
    return _note(name, _on(now, name)) if name and now[name] != lists.get(name) else None


def _pointed(parts: Sequence[str], before: str, lists: Mapping[str, str], last: str) -> tuple[list[str], str]:
    """The orders with what their “it” means, and the list that is meant if none is named: the only one there is."""
    said: list[str] = []
    for part, source in zip(parts, (before, *parts), strict=False):
        points = _POINTS.match(part)
        named = _NAMES.match(source) if points else None
        things = [named["thing"]] if named else []
        if points and points["order"].lower() not in _ADDING.split("|"):
            every = [one for name in lists for one in _on(lists, name)]
            stems = content(source)
            things = [one for one in every if content(_SIZE.sub("", one)) <= stems]
            things = things or [one for one in every if stem(one.casefold().split()[-1]) in stems]
        elif named and not named["needs"] and not _are_things(named["thing"], things):
            things = []
        elif named and named["needs"] and len(lists) == 1:
            last = last or next(iter(lists))
        if points and things:
            said.append(f"{points['order']}{points['off'] or ''} {', '.join(things)}{part[points.end() :]}")
        else:
            said.append(part)
    return said, last


def _started(sentence: str, lists: Mapping[str, str]) -> tuple[str, list[str]] | None:
    found = _STARTS.match(sentence)
    if found is None:
        return _kept(sentence)
    name, keeps, whose = _spelled(found), (found["keeps"] or "").lower(), (found["whose"] or "").lower()
    is_own = _OWN.fullmatch(found["name"] or "") is not None
    said = list(_things(found["items"]))
    is_meant = keeps != "" or whose in ("my", "our")
    if found["sign"].strip().isalpha():  # “my list is long”
        is_meant = is_meant and "," in found["items"]
    else:
        is_meant = is_meant or is_own or name in lists or _TO_KEEP.search(found["more"]) is not None
    is_task = keeps in ("make", "create", "write") and (
        found["for"] or _FOR_A_TASK.match(found["more"]) or len(said) == 1
    )
    return (name, said) if is_meant and not is_task and said else None


def _kept(sentence: str) -> tuple[str, list[str]] | None:
    """A list that is kept under what it is for, or what is on it."""
    found = _KEPT.match(sentence)
    said = list(_things(found["items"])) if found else []
    if found is None or len(said) < MIN_KEPT:
        return None
    is_meant = _TO_KEEP.search(found["more"]) or _SO_FAR.search(f"{found['whose']} {found['more']}")
    is_own = _OWN.fullmatch(found["name"]) and _ASIDE.fullmatch(found["more"])
    name = re.sub(r"to-?do", "to do", found["name"].lower())
    if is_own or (is_meant and not _OWN.fullmatch(found["name"])):
        purpose = f"{found['for'].lower()} " if found["for"] else ""
        return f"{purpose}{_singular(name)}".replace(" ", "_").replace("-", "_"), said
    return None


def _singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def _step(part: str, lists: Mapping[str, str], last: str) -> tuple[str, list[str]] | None:
    """What is on which list after one order; None: it is none."""
    if cleared := _CLEARS.match(part):
        name = _named(cleared, lists, last)
        return (name, []) if name in lists else None
    for order in _ORDERS:
        if found := order.match(part):
            groups = found.groupdict()
            name = _named(found, lists, last) if "whose" in groups else ""
            if name or "whose" not in groups:
                is_added = (groups["adds"] if "adds" in groups else groups.get("more")) is not None
                return (_added if is_added else _taken)(groups, lists, name, last)
    return None


def _named(found: re.Match[str], lists: Mapping[str, str], last: str) -> str:
    """The list that is named, as keys spell it; empty: none that there is, or that would begin so."""
    if found["it"]:
        is_list = last or found["it"].lower().endswith(("list", "mine"))
        return last or (next(iter(lists)) if is_list and len(lists) == 1 else "")
    name = _spelled(found)
    if meant := _meant(name, lists):
        return meant
    begins = found["name"] and (found["whose"].lower() in ("my", "our") or _OWN.fullmatch(found["name"]))
    return name if begins else ""


def _meant(name: str, lists: Mapping[str, str]) -> str:
    """The list of this name, or the only one whose name has its words: Iceland, of the packing list for it."""
    named = [one for one in lists if set(map(stem, name.split("_"))) <= set(map(stem, one.split("_")))]
    return name if name in lists else named[0] if len(named) == 1 else ""


def _added(
    groups: Mapping[str, str | None], lists: Mapping[str, str], name: str, last: str
) -> tuple[str, list[str]] | None:
    words, meant = groups["items"] or "", name or last
    said = list(_things(words, is_one=re.match(_ONE, groups.get("adds") or "", re.IGNORECASE) is not None))
    is_other = (not name and _ELSEWHERE.search(words)) or ("more" in groups and not _are_things(words, said))
    on_it = {one.casefold(): one for one in (*_on(lists, meant), *said)}
    return (meant, list(on_it.values())[:MAX_ITEMS]) if meant and said and not is_other else None


def _are_things(words: str, said: Sequence[str]) -> bool:
    """Whether words without a verb name things: “and cumin seeds”."""
    is_order = any(clause.asked for clause in clauses_of(Sentence(words, 0, False)))
    return not is_order and not any(
        _NO_NOUN.intersection(one) or len(one) > MAX_WORDS or one[0] in (THIRD if len(one) > 1 else NOT_A_NAME)
        for one in (thing.lower().split() for thing in said)
    )


def _taken(
    groups: Mapping[str, str | None], lists: Mapping[str, str], name: str, last: str
) -> tuple[str, list[str]] | None:
    """What is left, if any of it was on the list."""
    has = (groups.get("has") or groups.get("ready") or "").lower()
    if groups.get("to"):  # “I have rice on my list”
        return None
    meant = name or last or (next(iter(lists)) if len(lists) == 1 else "")
    if not name and has:  # what is to be packed may well be there
        meant = "" if "packing" in meant and has != "packed" else meant
        meant = meant if last or (has in ("got", "bought") and "shopping" in meant) else ""
    elif not name and not last:
        is_off = groups.get("off") or re.search(r"(?i) off(?:,|\W*$)", groups["items"] or "")
        meant = meant if is_off else ""
    on_it = _on(lists, meant)
    gone = {
        thing for one in _things(groups["items"] or "") for thing in _same(one, on_it, exact=bool(groups.get("has")))
    }
    return (meant, [one for one in on_it if one not in gone]) if gone else None


def _same(said: str, on_it: Sequence[str], *, exact: bool) -> list[str]:
    """What is meant by it on a list: by all its words, else by its last ones, as “plates” of “paper plates”."""
    words = content(_SIZE.sub("", said))
    cores = [(one, _SIZE.sub("", one)) for one in on_it]
    if not words:
        return []
    if same := [one for one, core in cores if content(core) == words or one.casefold() == said.casefold()]:
        return same
    last = stem(said.casefold().split()[-1])
    ending = (one for one, core in cores if words < content(core) and stem(core.casefold().split()[-1]) == last)
    return [] if exact else list(ending)


def _spelled(found: re.Match[str]) -> str:
    said = found.groupdict("")
    name, of = (said["name"] or said.get("use", "") or said.get("call", "")).lower(), said.get("of", "").lower()
    of = _singular(of)
    purpose = "" if " " in name else said.get("for", "").lower()
    return re.sub(r"\bto-?(?=do|read|watch|buy)", "to_", f"{purpose} {name or of}".strip()).replace(" ", "_")


def _on(lists: Mapping[str, str], name: str) -> list[str]:
    return [one for one in lists.get(name, "").split(", ") if one not in ("", EMPTY)]


def _things(text: str, *, is_one: bool = False) -> Iterator[str]:
    """`is_one`: the words before call it one, which may have a verb: “another one: the cat flap is stuck”."""
    for number, one in enumerate(text.strip(" .!,").split(", ") if is_one else items(text.strip(" .!,"))):
        if _NO_THING.search(one) and (number or not is_one):
            return
        thing = _TAIL.sub("", _SMALL.sub("", one.strip(" .!,")))
        if thing and thing.lower() not in _POINTERS:
            yield thing


def _note(name: str, on_it: Sequence[str]) -> Note:
    label, attribute = re.sub(r"\bto_", "to-", name).replace("_", " "), f"{LIST}{name}"
    if not on_it:
        return Note(Kind.FACT, f"On the user's {label} list is {EMPTY}.", attribute, EMPTY, form="note")
    *most, last = on_it
    listed = f"are {', '.join(most)} and {last}" if most else f"is {last}"
    return Note(Kind.FACT, f"On the user's {label} list {listed}.", attribute, ", ".join(on_it), form="note")
