"""Changes that a sentence makes to known facts without naming the value that changes: “got a new dentist”, “I'm vegan
now”, “we're keeping the boat after all”. Pure; `corrections.py` reads them with its own.

Each reader starts from the known facts, and from a cue that is data. What names no known fact changes nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from memory.facts.deduplication import PEOPLE
from memory.facts.keys import USER, split_key
from memory.librarian.changes.fact_words import (
    DAYS,
    OF_THE_USER,
    Word,
    find_value_of,
    find_words,
    is_about,
    is_subject,
    value_in,
)
from memory.librarian.engine import KnownFact
from memory.librarian.rules.retell import is_occupation
from memory.librarian.rules.words import DIETS
from memory.models.kinds import Kind
from memory.text.keywords import content, stem
from memory.text.language import alternatives
from memory.text.relations import PARTNERS


class Changed(NamedTuple):
    """A known fact that a sentence changes, and the new value; empty: it only ends."""

    fact: KnownFact
    old: str = ""
    new: str = ""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(words: str) -> tuple[str, ...]:
    return tuple(words.split("|"))


NOT: Final = _set("not no never isn't aren't don't doesn't can't cannot won't haven't hasn't still unless without")
WISHED: Final = _set(
    "want wants wanted need needs looking look find should recommend thinking planning plan hope hoping considering"
    " maybe might could would soon someday wish"
)
"""Words of a sentence about what may be one day."""

LIFTED: Final = _phrases(
    "outgrew|outgrown|grew out of|grown out of|not allergic|isn't allergic|isn't intolerant|not intolerant"
    "|misdiagnosis|misdiagnosed|false alarm|ruled out|cleared|all clear|came back negative|tested negative"
    "|negative for|is fine|are fine|is ok|are ok|is okay|are okay|fine for|fine with|safe for|is gone"
    "|are gone|has gone|went away|can have|can eat|can drink|may have|may eat|allowed to eat|allowed to have"
    "|back on|eating again|never was|no longer"
)
"""What lifts a restriction that the sentence names."""
_BETWEEN: Final = _set("allergy allergies intolerance thing of mine really actually totally apparently just now")
"""What may stand between the thing and such a cue."""
_RESTRICTING: Final = ("allergy:", "condition:", "diet:")
_OF_RESTRICTIONS: Final = _set("allergy allergic allergies intolerance intolerant")

NEW_ONE: Final = _set("new another different maiden married")
REPLACED: Final = _set("changed switched swapped replaced")
GOT: Final = _set("got have found hired chose picked started met joined see seeing is been my our")
_NOUN: Final = re.compile(r"The user's (?:[\w'-]+ ){0,2}?([\w-]+) (?:is|are)(?: called| named)? (.+?)\.?")
_HAS_ONE: Final = re.compile(
    r"The user (?:has|drives|uses|owns|rides) (?:an? |the |their )?(?:[\w'-]+ ){0,2}?([\w-]+)\.?"
)
NOUNS: Final = {
    "employer": "job employer company",
    "job": "job",
    "car": "car",
    "phone": "phone",
    "home": "flat apartment house place address",
    "partner": "girlfriend boyfriend partner",
    "studies": "degree course major",
    "school": "school",
    "name": "name surname",
    "surname": "surname name",
}
"""Nouns for the attributes whose statements have a verb instead: “works at Acme”, “got a new job”."""

_LEAVING: Final = "sell selling quit quitting leave leaving move moving give giving cancel drop resign return stop"
LEAVING: Final = frozenset(map(stem, _LEAVING.split()))
"""Verbs of a plan that someone who keeps a thing, or stays, has given up."""
STAYING: Final = _phrases("keep|keeping|hang on to|hanging on to|hold on to|holding on to|stay|staying|stick with")
REVERSED: Final = _phrases("after all|decided|in the end|changed|instead|anyway|talked out of|reconsidered")

CHANGED_MIND: Final = _phrases(
    "changed my mind|changed our mind|changed our minds|change of plan|change of plans|change of heart"
    "|plans changed|plans have changed|plan has changed|on second thought|on second thoughts|reconsidered"
    "|thought better of|decided against|backed out|backing out|not going ahead|new plan"
)
PLANS: Final = frozenset({Kind.GOAL, Kind.DECISION, Kind.EVENT})
_PLANNED: Final = re.compile(
    r"The user (?:is|are|will|wants?|plans?|hopes?|intends?|decided|has decided|booked|has booked|signed up)\b"
    r"(?: (?:going to|\w+ing|to)\b)?"
)

SWITCHED_USE: Final = _set("switched switching upgraded upgrading downgraded converted migrated")
"""Verbs of which even an object that no known fact names replaces the one thing that is used."""
SWITCHED: Final = SWITCHED_USE | _set("moved changed swapped")
_USED: Final = re.compile(
    r"The user (?:mostly |usually |always |now |currently )?(?:uses|shops|banks|plays|drives|drinks|has|owns|rides|runs"
    r"|watches|reads|takes|wears|eats|writes|plans|trains|learns|buys|listens|smokes|pays|gets|keeps|is with|is on"
    r"|is using|is learning|is reading|subscribes|cooks|orders|works with|works on|stores|tracks) "
)
USED_ATTRIBUTES: Final = _set("studies phone car diet")
_NAMES: Final = re.compile(
    r"(?<!\w)(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)[A-Z][\w'&-]*(?: (?:[A-Z][\w'&-]*|\d[\w.]*))*"
)

OWN_BOSS: Final = _phrases(
    "my own boss|freelancing|freelance|self-employed|my own business|my own company|my own practice|my own firm"
    "|my own studio|my own shop|for myself|retired|my own agency"
)
"""Who says so has no employer any more."""

IN_COUPLE: Final = _phrases(
    "seeing someone|met someone|in a relationship|have a girlfriend|have a boyfriend|got a girlfriend|got a boyfriend"
    "|have a partner|dating|got together with|my girlfriend|my boyfriend"
)
"""Who says so isn't single."""

PROMOTED: Final = _set(
    "promoted bumped made moved stepped appointed named retrained switched hired started became become got work working"
    " going"
)
RANKS: Final = _set("lead head supervisor partner principal chief captain")
_BECOME: Final = _set(
    "i'm am gone went going become became turned now full fully being strictly mostly strict a again back to"
)
_AFTER_DIET: Final = _set("now again since for and but too instead these no so because as from")


_STATED: Final = {
    "home": re.compile(
        r"(?:stays|is staying|rents|is renting|ended up renting|(?:is |has )?settled|is house sitting|has moved|moved"
        r"|is (?:just )?(?:outside|near)|is based|has a (?:room|flat|place|house))(?: \w+){0,3}? "
        r"(?:in|at|near|outside|to) (?=[A-Z])|is (?:just )?(?:outside|near) (?=[A-Z])"
    ),
    "job": re.compile(
        r"(?:works|teaches|manages|runs an?|runs the|nurses|practises|practices|freelances)\b|.* for a living\b"
        r"|(?:is|has been) (?:an? |the )(?P<job>[\w -]{3,40})"
    ),
}
"""How a statement without a key gives someone's home or job."""
_OF_THE_PARTNER: Final = re.compile(rf"The user's (?:{alternatives(PARTNERS)}) [A-Z]")


def states_attribute(statement: str, key: str) -> bool:
    """Whether a statement without a key gives the attribute of this key, of the same subject."""
    subject, attribute = split_key(key)
    if (subject, attribute) == (USER, "partner"):  # what was said of the one before
        return _OF_THE_PARTNER.match(statement) is not None
    pattern = _STATED.get(attribute)
    if pattern is None:
        return False
    whose = (
        r"The user"
        if subject == USER
        else rf"(?:The user's (?:[\w-]+ ){{1,2}})?{re.escape(subject.rpartition('/')[2])}"
    )
    found = re.match(rf"{whose} ", statement, re.IGNORECASE)
    told = pattern.match(statement, found.end()) if found else None
    if told is None or "job" not in told.groupdict() or not told["job"]:
        return told is not None
    return any(is_occupation(word) for word in told["job"].split())


def find_changed(text: str, words: Sequence[Word], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """The known facts that a sentence changes without their values."""
    lows = frozenset(word.low for word in words)
    for reader in _READERS:
        yield from reader(text, words, lows, facts)


def _lifted(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“Outgrew my strawberry allergy”: an allergy, an intolerance, a food that wasn't eaten."""
    restrictions = [fact for fact in facts if split_key(fact.key)[1].startswith(_RESTRICTING) and not _is_lifted(fact)]
    named = [(fact, span) for fact in restrictions if (span := find_value_of(fact, words)) is not None]
    for fact, span in named:
        if is_about(fact, words) and _is_of_its_subject(fact, words) and _lifts(words, span):
            yield Changed(fact)
    unnamed = [fact for fact in restrictions if not split_key(fact.key)[1].startswith("diet:")]
    is_lifted = not named and bool(lows & _OF_RESTRICTIONS) and find_words(words, LIFTED) is not None
    for fact in unnamed if is_lifted and len(unnamed) == 1 else ():
        if is_about(fact, words) and _is_of_its_subject(fact, words):
            yield Changed(fact)


def _is_lifted(fact: KnownFact) -> bool:
    return split_key(fact.key)[1].startswith("allergy:") and fact.value == "no"


def _is_of_its_subject(fact: KnownFact, words: Sequence[Word]) -> bool:
    """Whether no one else is named: “my son isn't allergic to nuts” says nothing of the user."""
    if split_key(fact.key)[0] != USER:
        return True
    is_named = any(word.text[0].isupper() and word.low not in OF_THE_USER | DAYS for word in words[1:])
    return not is_named and not any(
        stem(word.low.removesuffix("'s")) in PEOPLE or word.low in _OTHERS for word in words
    )


def _lifts(words: Sequence[Word], span: tuple[int, int]) -> bool:
    """Whether a cue lifts what is named there: before it with nothing but “not” in between, or after it."""
    before, after = words[max(0, span[0] - 5) : span[0]], words[span[1] + 1 :]
    if before and before[-1].low == "no" and after and after[0].low in _OF_RESTRICTIONS:
        return True
    cue = find_words(before, LIFTED)
    if cue is not None:
        return not {word.low for word in before[cue[1] + 1 :]} & NOT
    behind = after[:6]
    cue = find_words(behind, LIFTED)
    return cue is not None and {word.low for word in behind[: cue[0]]} <= _BETWEEN


def _new_of_its_kind(
    text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]
) -> Iterator[Changed]:
    """“Got a new dentist, Dr. Amari”, “switched gyms”: the one there was is no longer theirs."""
    if not lows & (NEW_ONE | REPLACED) or lows & (NOT | WISHED):
        return
    for fact in facts:
        nouns, value = _slot(fact)
        place = next((at for at, word in enumerate(words) if at and stem(word.low) in nouns), None)
        if place is None or not is_about(fact, words):
            continue
        before = [word.low for word in words[max(0, place - 4) : place]]
        is_new = bool(NEW_ONE & set(before[-3:])) and (place <= 3 or bool(GOT & lows))
        if not is_new and not REPLACED & set(before):
            continue
        new = name_after(text, words, place)
        if not new and split_key(fact.key)[1] in ("name", "surname"):  # “it's Ms Pryce again, my maiden name”
            new = value_in(words[:place], from_end=True)
            new = new if new[:1].isupper() else ""
        if new.casefold() != value.casefold():
            yield Changed(fact, value if new else "", new)


def _slot(fact: KnownFact) -> tuple[frozenset[str], str]:
    """The nouns for what a fact gives the value of, as stems; and the value."""
    subject, attribute = split_key(fact.key)
    if subject.startswith(f"{USER}/") and attribute == "name":
        return frozenset({stem(subject.rpartition("/")[2])}), fact.value
    if subject == USER and attribute in NOUNS:
        return frozenset(map(stem, NOUNS[attribute].split())), fact.value
    if found := _NOUN.fullmatch(fact.statement):
        return frozenset({stem(found[1])}), fact.value or found[2]
    found = None if fact.key else _HAS_ONE.fullmatch(fact.statement)
    return (frozenset({stem(found[1])}), found[1]) if found else (frozenset(), "")


_LINKS: Final = _set("is are called named it's he's she's a an the at with from")


def name_after(text: str, words: Sequence[Word], place: int) -> str:
    """The name behind a word, as it is written: “a new dentist, *Dr. Amari*, much gentler”."""
    at = place + 1
    while at < len(words) and words[at].low in _LINKS:
        at += 1
    end = at
    while end < len(words) and (words[end].text[0].isupper() or words[end].text[0].isdigit()):
        end += 1
        if text[words[end - 1].end :][:1] == ",":
            break
    while end > at and words[end - 1].low in OF_THE_USER:
        end -= 1
    return text[words[at].start : words[end - 1].end] if end > at else ""


def _kept(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“We're keeping the boat after all”: who keeps it isn't selling it."""
    cue = find_words(words, STAYING)
    if cue is None or find_words(words, REVERSED) is None or (not lows & OF_THE_USER and cue[0] > 2):
        return
    if {word.low for word in words[max(0, cue[0] - 2) : cue[0]]} & NOT:
        return
    said = content(" ".join(word.text for word in words[cue[1] + 1 :]))
    stays = words[cue[0]].low.startswith("stay")
    for fact in facts:
        meant = content(fact.statement)
        is_leaving = bool(meant & LEAVING) and (fact.kind in PLANS or _PLANNED.match(fact.statement) is not None)
        if is_leaving and is_about(fact, words) and (said & (meant - LEAVING) or (stays and stem("move") in meant)):
            yield Changed(fact)


def _changed_mind(
    text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]
) -> Iterator[Changed]:
    """“We changed our minds, …”: the plan that the sentence is about, or the only one."""
    if find_words(words, CHANGED_MIND) is None:
        return
    said = content(text)
    plans = [fact for fact in facts if _is_plan(fact) and is_about(fact, words)]
    shared = {fact.fact_id: len(content(fact.statement) & said) for fact in plans}
    most = max(shared.values(), default=0)
    best = [fact for fact in plans if shared[fact.fact_id] == most]
    if len(best) == 1:
        yield Changed(best[0])


def _is_plan(fact: KnownFact) -> bool:
    return not fact.key and (fact.kind in PLANS or _PLANNED.match(fact.statement) is not None)


def _switched(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“Upgraded to a Pixel 9”, “we've switched to Lidl for the groceries”: what is used instead, with nothing said of
    what was used before."""
    verb = next((at for at, word in enumerate(words) if word.low in SWITCHED), None)
    if verb is None or lows & WISHED or "from" in lows or not (lows & OF_THE_USER or verb <= 2):
        return
    to = next((at for at in range(verb + 1, min(verb + 7, len(words))) if words[at].low in ("to", "onto")), None)
    if to is None or "back" in lows:
        return
    said = content(" ".join(word.text for at, word in enumerate(words) if at != verb))
    used = [
        fact
        for fact in facts
        if (_USED.match(fact.statement) or split_key(fact.key)[1] in USED_ATTRIBUTES) and is_about(fact, words)
    ]
    shared = {fact.fact_id: len(content(fact.statement) & said) for fact in used}
    most = max(shared.values(), default=0)
    best = [fact for fact in used if shared[fact.fact_id] == most]
    if len(best) != 1 or (not most and words[verb].low not in SWITCHED_USE):
        return
    new = name_after(text, words, to)
    names = [found[0] for found in _NAMES.finditer(best[0].statement, len("The user "))]
    old = names[0] if len(names) == 1 and new else ""
    if not old and best[0].value and split_key(best[0].key)[1] in USED_ATTRIBUTES:
        old, new = best[0].value, new or value_in(words[to + 1 : to + 4])
    yield Changed(best[0], old, new if old else "")


_OFF: Final = re.compile(r"(?:^\W*|\b(?:i'm|im|am|been|came|come|gone) )off (?:the )?([\w-]+)\b", re.I)
_ON: Final = re.compile(r"The user (?:is doing|does|is on|follows|takes|drinks|eats|smokes|uses|has been on) ")


def _off(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“Off keto since January”: what the user was on."""
    found = _OFF.search(text)
    for fact in facts if found and not lows & NOT else ():
        is_on = _ON.match(fact.statement) or fact.key == f"{USER}/diet"
        if found and is_on and stem(found[1].casefold()) in content(fact.statement) and is_about(fact, words):
            yield Changed(fact)


def _own_boss(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“I run my own practice now”: who works for themselves has no employer."""
    cue = find_words(words, OWN_BOSS)
    if cue is None or lows & (WISHED | NOT) or not is_subject(USER, words[: cue[0]]):
        return
    for fact in facts:
        if fact.key == f"{USER}/employer":
            yield Changed(fact)


def _renamed(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“We've renamed the puppy Baxter”: everyone of that relation has another name in every statement."""
    verb = next((at for at, word in enumerate(words) if word.low in ("renamed", "rename", "renaming")), None)
    if verb is None or lows & (NOT | WISHED):
        return
    for at in range(verb + 1, min(verb + 5, len(words))):
        new = name_after(text, words, at)
        named = re.compile(rf"\b{re.escape(words[at].low)}(?: is called| called)? ([A-Z][\w'-]+)")
        for fact in facts if new else ():
            found = named.search(fact.statement)
            if found and found[1].casefold() != new.casefold():
                yield Changed(fact, found[1], new)


def _aged(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“Birthday today, im 18!!!”: another age of the user, whose age is known."""
    known = next((fact for fact in facts if fact.key == f"{USER}/age" and fact.value), None)
    found = _IM_AGED.search(text)
    if known is not None and found is not None and found[1] != known.value and not lows & (NOT | WISHED):
        yield Changed(known, known.value, found[1])


_IM_AGED: Final = re.compile(
    r"\b(?:i'm|im|i am|turned) (\d{1,2})\b"
    r"(?! ?(?:minutes?|mins?|hours?|days?|weeks?|months?|km|miles|kg|cm|%|st|lbs|th\b))",
    re.I,
)


def _in_couple(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“I'm seeing someone”: the user isn't single any more."""
    cue = find_words(words, IN_COUPLE)
    if cue is None or lows & (WISHED | NOT):
        return
    if words[cue[0]].low != "my" and not is_subject(USER, words[: cue[0]]):
        return
    for fact in facts:
        if fact.key == f"{USER}/relationship" and fact.value == "single":
            yield Changed(fact)


def _new_job(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“They bumped me up to team lead”: an occupation behind a verb of change."""
    known = [fact for fact in facts if split_key(fact.key)[1] == "job" and fact.value]
    if not known or not lows & PROMOTED or lows & WISHED:
        return
    for at, word in enumerate(words):
        if not (is_occupation(word.low) or word.low in RANKS):
            continue
        start = next((n for n in range(at - 1, max(-1, at - 4), -1) if words[n].low in _BEFORE_JOB), None)
        verb = next(
            (n for n in range((start or 0) - 1, max(-1, (start or 0) - 6), -1) if words[n].low in PROMOTED), None
        )
        if start is None or verb is None or any(one.low in NOT for one in words[:verb]):
            continue
        new = " ".join(one.text for one in words[start + 1 : at + 1])
        for fact in known:
            if is_subject(split_key(fact.key)[0], words[: start + 1]) and new.casefold() != fact.value.casefold():
                yield Changed(fact, fact.value, new)
        return


_BEFORE_JOB: Final = _set("to as a an the into me")


def _new_diet(text: str, words: Sequence[Word], lows: frozenset[str], facts: Sequence[KnownFact]) -> Iterator[Changed]:
    """“Gone full vegetarian now”: another diet of someone whose diet is known."""
    known = [fact for fact in facts if split_key(fact.key)[1] == "diet" and fact.value]
    if not known:
        return
    for at, word in enumerate(words):
        if word.low not in DIETS or not at or words[at - 1].low not in _BECOME:
            continue
        if at + 1 < len(words) and words[at + 1].low not in _AFTER_DIET and text[word.end :][:1] not in ",;":
            continue
        if {one.low for one in words[max(0, at - 4) : at]} & NOT or lows & WISHED:
            continue
        for fact in known:
            subject = split_key(fact.key)[0]
            is_its = is_subject(subject, words[:at]) or (subject == USER and not lows & _OTHERS)
            if is_its and is_about(fact, words) and word.low != fact.value.casefold():
                yield Changed(fact, fact.value, word.low)


_OTHERS: Final = _set("he she they his her their he's she's they're")
type _Reader = Callable[[str, Sequence[Word], frozenset[str], Sequence[KnownFact]], Iterable[Changed]]
_READERS: Final[tuple[_Reader, ...]] = (
    _lifted,
    _new_of_its_kind,
    _kept,
    _changed_mind,
    _switched,
    _off,
    _own_boss,
    _in_couple,
    _renamed,
    _aged,
    _new_job,
    _new_diet,
)
