"""People and animals named in passing, also in questions: “what can I cook for my sister Mary?”; and names signed."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from memory.facts.keys import USER
from memory.librarian.rules import words as lists
from memory.librarian.rules.clauses import FILLERS
from memory.librarian.rules.retell import (
    FAMILY,
    MODIFIERS,
    NAME,
    REL,
    THE_USER,
    People,
    Subject,
    clean_name,
    is_role,
    related,
    with_article,
)
from memory.librarian.rules.statement import Note
from memory.librarian.rules.table import items, job, place
from memory.models.kinds import Kind
from memory.text import relations
from memory.text.language import alternatives

_TITLE: Final = r"(?:[Pp]rof(?:essor)?|[Dd]r|[Mm]rs?|[Mm]s|[Mm]iss)\.? "
_MENTION: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur|[Tt]he(?= (?:eldest|oldest|youngest)\b))"
    rf" (?P<mod>(?i:{MODIFIERS}))(?P<rel>(?i:{REL}))(?![\w-])(?:(?:,? called|,? named|'s name is|,| is called| is(?="
    rf" {_TITLE})|:| -)? ?(?:(?-i:(?=[a-z]){_TITLE}))?\(?(?P<name>{NAME})\)?)?"
    r"(?: ?\(?(?P<age>\d{1,2})\)?(?= |,|$|\)))?",
)
_APPOSED: Final = re.compile(
    rf"(?P<name>{NAME}),? (?:is |who is |who['’]?s )?(?:[Mm]y|[Oo]ur)"
    rf" (?P<mod>(?i:{MODIFIERS}))(?P<rel>(?i:{REL}))(?![\w'-])"
)
_IS_THE_PET: Final = re.compile(
    rf"(?P<name>{NAME}) (?:is|being) the (?P<rel>{alternatives(relations.PETS)})(?=[,.;:!)]|$| and\b)"
)
"""“Bruno is the dog, he gets salmon”."""
_ASKS_OF: Final = re.compile(
    r"(?i)\W{0,9}(?:and |so |but )?(?:what|who|which|where|how old)(?:['’]?s| is| are) (?:my|our) "
)
"""Asks what is known: “What are my birds called?”."""
_KIN: Final = re.compile(
    r"(?<!'s )\b(?P<rel>[Gg]randma|[Gg]randpa|[Gg]randad|[Uu]ncle|[Aa]unt(?:ie)?|[Nn]an|[Cc]ousin)"
    r" (?P<name>[A-ZÀ-ÞĀ-Ž][a-z]{2,15})\b"
)
_CALLED: Final = re.compile(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Tt]heir|[Hh]e|[Ss]he) ?(?:name(?:'s| is)|(?:'s| is) called) (?P<name>{NAME})"
)
_DESCRIBED: Final = re.compile(
    rf"(?i:\b(?:the|an?|this|our|my) (?:[\w-]+ ){{0,3}}?(?P<rel>{alternatives(relations.PEOPLE)}))"
    r"(?: [a-z][\w-]*){0,2}?"
    rf"(?:, | \((?:[\w-]+ ){{0,2}}?)(?P<name>{NAME})(?=[,)])"
)
_THE_PET: Final = re.compile(rf"(?i)\bthe (?P<rel>{alternatives(relations.PETS)})\b(?!['-]| (?:of|next|from)\b)")
_THEIRS: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?P<rel>(?i:{REL}))(?: {NAME})?'s (?P<role>(?:[a-z-]+ )??"
    rf"(?:{alternatives(relations.ANYONE)})),? (?:called |named )?(?P<name>{NAME})"
)
"""“My son's hockey coach Pekka”, “my daughter Saga's teacher, Ms Lindqvist”."""
_SOMEONES: Final = re.compile(rf"\b[A-ZÀ-ÞĀ-Ž]\w+'s (?:[a-z-]+ )??(?:{REL}) [A-ZÀ-ÞĀ-Ž]\w+")
_THEY_HAVE: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?:{REL})(?: {NAME})? (?:just )?(?:has|had) (?:an?|another|two|three) (?:[a-z-]+ ){{0,2}}?"
    rf"(?:{alternatives(relations.PEOPLE)})\b"
)
"""Someone else's family, of whom the next sentence may tell."""
_ANOTHER: Final = re.compile(
    rf"\b(?:[Aa]nother|[Aa] (?:different|second)) (?P<name>{NAME})|(?<![a-z] )\b(?P<from>{NAME}) from [a-z]{{2,}}"
    rf"|\balso (?:called|named) (?P<same>{NAME})"
)
"""“There's another Tom at work”, “Tom from accounting”, “my neighbor, also called Tom”."""
_WHO: Final = (_MENTION, _APPOSED, _IS_THE_PET, _KIN, _DESCRIBED)
_GOT: Final = re.compile(
    r"(?i)\b(?:(?P<new>got|getting|adopted|bought|rescued|inherited|took in)|have|keep|foster) (?:an?|our|one|two)"
    r" (?:[\w-]+ ){0,2}?"
    rf"(?P<rel>{REL})(?![\w-])(?:(?:,| called| named|,? who's called|:)? (?P<name>(?-i:{NAME}))(?=[,.;]|$| and\b))?"
)
_HAVING: Final = re.compile(r"(?i)\b(?:had|has|have|having|expecting|welcomed|birth)\b")
_MY: Final = re.compile(r"(?i)\b(?:my|our)\b")
_FIRST_PERSON: Final = re.compile(r"(?i)(?<![\w'])(?:I|we|my|our|me|us)(?!\w)")
_AGED_CHILD: Final = re.compile(rf"\b(?:my|our) [\w-]{{1,6}}[- ]year[- ]old,? (?:called |named )?(?P<name>{NAME})")


def people_in(clause: str, people: People, month: str) -> Iterator[Note]:
    """Whom a clause names, with their relation to the user."""
    if lead_in := FILLERS.match(clause):
        clause = clause[lead_in.end() :]
    people.hear(clause)
    _forget_whom_others_mean(clause, people)
    for found in [one for pattern in _WHO for one in pattern.finditer(clause) if not _only_opens(one, people)]:
        groups = found.groupdict()
        mod, name = groups.get("mod") or "", groups.get("name") or ""
        subject = people.add(related(found["rel"], name, mod))
        bare = related(subject.relation, "", mod).label
        if subject.name and name:
            yield _named(bare, subject)
        elif subject.is_pet and "mod" in groups and not (people.knows(subject) or _ASKS_OF.match(clause)):
            statement = f"The user has {with_article(bare.removeprefix("The user's "))}."
            yield _mention(subject, statement, USER, f"pet:{subject.relation}", "yes")
        if age := groups.get("age"):
            yield _mention(subject, f"{subject.label} was {age} years old in {month}.", subject.key, "age", age)
    yield from _had(clause, people)  # last, as what is new is talked of next: “got a cat off my uncle, he's called Tom”
    for found in _AGED_CHILD.finditer(clause):
        if (child := people.add(related("child", found["name"]))).name:
            yield _named("The user's child", child)
    called = _CALLED.search(clause)
    nearest = _of_gender(called["whose"], people) if called and clean_name(called["name"]) else None
    if called and nearest and not nearest.name and not nearest.is_group:
        mod = nearest.label.removeprefix("The user's ").removesuffix(nearest.relation)
        people.last.remove(nearest)
        yield _named(nearest.label, people.add(related(nearest.relation, called["name"], mod)))


def _forget_whom_others_mean(clause: str, people: People) -> None:
    """Of “Fiona's cousin Ewan”, or another Tom than the one that is known, “he” may tell."""
    if _SOMEONES.search(clause):
        people.last.clear()
    if another := _ANOTHER.search(clause):
        people.forget(another["name"] or another["from"] or another["same"])


def _had(clause: str, people: People) -> Iterator[Note]:
    """Whom the user has: “we have a son, Emeka”; an animal without a name, or “the dog”, is only noted in `people`."""
    for pet in filter(None, (people.only_pet(found["rel"].lower()) for found in _THE_PET.finditer(clause))):
        people.add(pet)
    for found in _GOT.finditer(clause):
        had = related(found["rel"], found["name"] or "")
        if found["new"] and not had.name:  # “a third dog” is none of those that are known
            people.last.insert(0, had)
            continue
        had = people.add(had)
        if had.name and had.is_person:
            yield _named(f"The user's {had.relation}", had)


def named_next(before: str, sentence: str) -> Note | None:
    """How an animal is called that the sentence before tells of: “got a dog. Pixel.”"""
    last = next((one for one in _GOT.finditer(before) if not before[one.end() :].strip(" .!")), None)
    if last is None or last["name"] or last["rel"].lower() not in relations.PETS:
        return None
    name = clean_name(sentence.strip(" .!"))
    if not name or name.lower() in lists.ADVERBS:
        return None
    subject = related(last["rel"], name)
    return replace(_named(f"The user's {subject.relation}", subject), confidence=SIGNED)


_MADE_OR_OWNED: Final = re.compile(
    r"(?i)\b(?:I|we)(?:'m|'re|'ve| am| are| have)?(?: just| also| now| recently)? (?:building|writing|making|developing"
    r"|running|starting|launching|opening|designing|working on|run|own|have|built|wrote|made|started|launched|opened"
    r"|bought|founded) (?:an?|my|our) (?P<what>(?:[\w-]+ ){0,3}?[\w-]+)"
    r"(?= (?:for|about|in|at|to|that|with|of|on|which|where|and|but|from)\b|[,.;:!]|$)"
)
_IT_IS_CALLED: Final = re.compile(
    r"(?i:it(?:'s| is) (?:called|named)|(?:its|the) name is) (?P<name>[A-ZÀ-ÞĀ-Ž][\w'&-]*(?: [A-ZÀ-ÞĀ-Ž][\w'&-]*){0,3})"
)


def thing_named_next(before: str, sentence: str) -> Note | None:
    """How a thing is called that the sentence before tells of: “I'm building an app for farmers. It's called Acre.”"""
    owned, named = _MADE_OR_OWNED.search(before), _IT_IS_CALLED.match(sentence)
    head = owned["what"].split()[-1].lower() if owned else ""
    if owned is None or named is None or head in relations.PEOPLE | relations.PETS:
        return None
    statement = f"The user's {owned['what'].lower()} is called {named['name']}."
    return Note(Kind.ENTITY, statement, value=named["name"], form="mention", confidence=SIGNED, tags=(named["name"],))


def is_of_anothers(before: str, sentence: str) -> bool:
    """Whether a sentence goes on about someone else's family: “Beata had twins! Two girls, Ida and Zoe.”, “My sister
    has a daughter. Her name is Ines.”"""
    lists_children = FAMILY.match(sentence) is not None and _HAVING.search(before) is not None
    is_named = _THEY_HAVE.search(before) is not None and _CALLED.match(sentence) is not None
    return is_named or (lists_children and _FIRST_PERSON.search(f"{_MY.sub('', before)} {sentence}") is None)


def _only_opens(found: re.Match[str], people: People) -> bool:
    """Whether the name before a relation may be any word that opens its sentence, as in “Listen my brother …”."""
    if found.re is not _APPOSED or found.string[: found.start()].strip():
        return False
    is_link = re.search(r"\b(?:is|who's) (?:[Mm]y|[Oo]ur)\b", found[0]) is not None
    is_closed = re.match(r"\s*(?:[,;:.!?)]|$)", found.string[found.end() :]) is not None
    is_known = any(who.name == found["name"] for who in (*people.last, *people.known))
    return not (is_link or is_closed or is_known)


def _named(label: str, subject: Subject) -> Note:
    return _mention(subject, f"{label} is called {subject.name}.", *name_key(subject), subject.name)


def _mention(subject: Subject, statement: str, key: str, attribute: str, value: str) -> Note:
    kind = Kind.ENTITY if subject.is_pet else Kind.PERSON
    return Note(kind, statement, attribute, value, key, "mention", tags=subject.tags)


def name_key(subject: Subject) -> tuple[str, str]:
    """Subject and attribute of the fact that says what someone is called; no attribute where there may be several."""
    if subject.relation in relations.PARTNERS:
        return USER, "partner"
    return f"{USER}/{subject.relation}", "name" if subject.is_pet or subject.relation in relations.ONLY_ONE else ""


_MY_CONDITION: Final = re.compile(
    rf"(?i)\b(?:my|of my|due to my|because of my) (?:severe |bad |mild |chronic"
    rf" )?(?P<what>{alternatives(lists.CONDITIONS)})(?![\w-])"
)
_MY_DEVICE: Final = re.compile(rf"(?i)\b(?:my|our) (?P<what>{alternatives(lists.DEVICES)})(?![\w-])")
_MY_MEDICINE: Final = re.compile(
    rf"(?i)\b(?:(?:my|the|on|taking) (?P<mine>{alternatives(lists.MEDICINES)}|[a-z]{{3,12}}(?:pril|olol"
    r"|sartan|dipine|statin|oxetine|traline|thyroxine|azepam|gliptin|parin|xaban))|(?:the|my) (?P<what>[a-z]{4,20})"
    r" (?:that )?I(?:'m| am) on)(?!\w)"
)
_OTHER_IS: Final = re.compile(
    rf"(?:\b(?i:s?he|they|(?:{alternatives(relations.PEOPLE | relations.GROUPS | relations.PETS)})(?: [A-ZÀ-ÞĀ-Ž]\w+)?)"
    r"|\b(?!I\b|We\b)[A-ZÀ-ÞĀ-Ž][\w-]+)(?:['’]?s|['’]?re| is| are| was| were|['’]ve been| has been| have been| went"
    r"| got"
    r"| started)(?: (?!I\b)[a-z]+){0,2} $"
)
"""Before what someone else takes: “she's ”, “Priti is now ”."""
_WHERE_I_LIVE: Final = re.compile(
    r"\b[Ww]here (?:I|we) live, (?:in|near) |\b(?:in|from|to|of|around|near) (?=[^,]{2,40}?,? where (?:[Ii]|we)(?:'m|"
    r" am| are|'re)? (?:now )?(?:live|based|living)\b)|\b(?:up|down|over|out) here in |\bhere in |^(?:up|down"
    r"|over|out|back|here) in (?=[A-ZÀ-ÞĀ-Ž])"
)
_WHERE_FROM: Final = re.compile(
    r"\b(?:in|from|to|of|around|near) (?=[^,]{2,40}?,? where (?:[Ii]|we)(?:'m| am|'re| are)? (?:originally )?"
    r"(?:from|grew up|was born|were born|come from)\b)"
)
_PLACES: Final = {"home": (_WHERE_I_LIVE, "lives in"), "origin": (_WHERE_FROM, "is from")}
_AGED: Final = r"(?:,? who(?:'s| is)|,? aged|,| is)? (?!\d{1,2}[-:/.%]\w)"
_ASIDE: Final = rf"(?: \([^()]{{1,60}}\)|{_AGED}\d{{1,2}}\b)?"
_NAMES: Final = rf"{NAME}{_ASIDE}(?:(?:, | and | & | \+ |, and )(?:the [a-z]+ )?{NAME}{_ASIDE}){{1,5}}"
"""“Martin (he's in Leeds) and Steve”."""
_NAMED_AND_AGED: Final = re.compile(rf"(?P<name>{NAME})(?: \(|{_AGED})(?P<age>\d{{1,2}})(?=[,) ]|$)")
_SEVERAL: Final = re.compile(
    r"(?i)\b(?:my|our|the(?= (?:kids|twins|children|boys|girls|grand(?:children|kids)))|two|three|four|five|six|\d)"
    r" (?:[a-z-]+ ){0,2}?"
    rf"(?P<rel>{alternatives(relations.GROUPS | relations.PET_GROUPS)})"
    rf"(?:(?:,| called| named|:| \(|'s names are| are(?: called)?:?|,? \()? ?(?-i:(?P<names>{_NAMES}))"
    r"|(?:,? aged|,| \() ?(?P<ages>\d{1,2}(?:(?:, | and | & |, and )\d{1,2}){1,4})\b"
    r"(?! (?:months?|weeks?|days?)\b))"
)
_AT_HOME: Final = re.compile(
    r"(?i)\b(?:have|have got|got|with) (?:two|three|four|five|six|\d)(?: at home)?[:,-]? (?-i:(?P<names>"
    rf"{NAME} \(\d{{1,2}}\)(?:(?:, | and | & |, and ){NAME} \(\d{{1,2}}\)){{1,5}}))"
)
"""“Got three at home: Alfie (9), Poppy (6) and Reuben (2)”."""
_WORDS: Final = re.compile(r"\w+")
_ANOTHERS: Final = re.compile(
    rf"(?:\b(?i:s?he|they|(?:my|our|his|her|their) (?:[\w-]+ )?(?:{alternatives(relations.PEOPLE | relations.GROUPS)}))"
    r"(?: [A-ZÀ-ÞĀ-Ž][\w-]+)?|\b(?!I\b|We\b)[A-ZÀ-ÞĀ-Ž][\w-]+)(?:'s|'ve| has| have| had)(?: also| now| already| just"
    r"| got)* $"
)
"""Before a group that is not the user's: “my sister has three children: …”."""
MAX_OWNER: Final = 60
"""Characters of that."""
MAX_ELIDED: Final = 2
"""Words before a medicine by which a sentence without “I” is still of the user: “still on warfarin”."""

_taken: Final = partial(Note, form="mention")
_body: Final = partial(_taken, Kind.CONSTRAINT, health=True)


_BIRTHDAY: Final = re.compile(
    r"(?i)\b(?:it's|it is|it was|today is|today's|had|celebrated|celebrating) my (?P<age>\d{1,3})(?:st|nd|rd|th)"
    r" birthday\b(?! (?:next|in|on|soon))|\b(?:I'm|I am) turning (?P<turning>\d{1,3}) today\b"
)


_MADE: Final = re.compile(
    r"(?i)\b(?:(?:they|my boss|the boss|work)(?:'ve| have| has)? (?:just )?(?:made|promoted|bumped|appointed) me"
    r"|(?:I|I've) (?:just |been |got |was )*(?:promoted|appointed|bumped up)) (?:up )?(?:to |as )?(?:the |an? )?"
    r"(?P<job>[a-z][\w -]{3,60})"
)


def presupposed(sentence: str, month: str) -> Iterator[Note]:
    """What a sentence takes for granted: “with my asthma”, “our two sons (Henrik and Aksel)”, “our village, Lund,"
    " …”."""
    for found in _MY_CONDITION.finditer(sentence):
        what = found["what"] if found["what"].isupper() else found["what"].lower()
        yield _body(f"The user has {what}.", f"condition:{what.lower()}", "yes")
    for found in _MY_DEVICE.finditer(sentence):
        what = found["what"].lower()
        yield _taken(
            Kind.CONSTRAINT,
            f"The user has {what if what.endswith('s') else with_article(what)}.",
            health=True,
            form="mention",
        )
    for found in _MY_MEDICINE.finditer(sentence):
        before = sentence[: found.start()]
        is_own = _FIRST_PERSON.search(sentence) is not None or len(before.split()) <= MAX_ELIDED
        if not is_own or _OTHER_IS.search(before[-MAX_OWNER:]):
            continue
        yield _body(f"The user takes {(found['mine'] or found['what']).lower()}.")
    for found in _THEIRS.finditer(sentence):
        if name := clean_name(found["name"]):
            statement = f"The user's {found['rel'].lower()}'s {found['role']} is called {name}."
            yield _taken(Kind.PERSON, statement, value=name, tags=(name,))
    yield from _reached(sentence, month)
    yield from _children(sentence, month)
    yield from _placed(sentence)
    for found in _SEVERAL.finditer(sentence):
        if _ANOTHERS.search(sentence[max(0, found.start() - MAX_OWNER) : found.start()]):
            continue
        yield from _several(found["rel"].lower(), found["names"], found["ages"], month)


def _placed(sentence: str) -> Iterator[Note]:
    """Where the user lives or comes from: “Lund, where I grew up”."""
    for attribute, (lead, says) in _PLACES.items():
        if (found := lead.search(sentence)) and (read := place(sentence[found.end() :])):
            yield _taken(Kind.BIOGRAPHY, f"The user {says} {read[0]}.", attribute, read[0])


def _children(sentence: str, month: str) -> Iterator[Note]:
    for found in _AT_HOME.finditer(sentence):
        yield from _several("kids", found["names"], None, month)


def only_lists(statement: str, sentence: str) -> bool:
    """Whether a statement says no more than the names and ages that a sentence lists: “The user's kids: Noor, 7.”"""
    found = _SEVERAL.search(sentence)
    if found is None or not _NAMED_AND_AGED.search(found["names"] or ""):
        return False
    return not {*_WORDS.findall(statement)} - {*_WORDS.findall(found[0])} - {"The", "user", "s", "has", "mentions"}


def _reached(sentence: str, month: str) -> Iterator[Note]:
    """A post or an age that someone else's words or a day give: “they've made me head”, “it's my 40th birthday”."""
    for found in _MADE.finditer(sentence):
        if read := job(found["job"]):
            statement = f"The user is {with_article(read[0])}."
            yield _taken(Kind.BIOGRAPHY, statement, "job", read[0], form="note")
    for found in _BIRTHDAY.finditer(sentence):
        age = found["age"] or found["turning"]
        yield _taken(Kind.BIOGRAPHY, f"The user was {age} years old in {month}.", "age", age, form="note")


def _several(relation: str, names: str | None, ages: str | None, month: str) -> Iterator[Note]:
    one = lists.singular(relation)
    said = partial(_taken, Kind.ENTITY if relation in relations.PET_GROUPS else Kind.PERSON, subject=f"user/{one}")
    for name in filter(clean_name, items(re.sub(_ASIDE, "", names or ""))):
        yield said(f"The user's {one} is called {name}.", value=name)
    for found in _NAMED_AND_AGED.finditer(names or ""):
        who = related(one, found["name"])
        yield _mention(who, f"{who.label} was {found['age']} years old in {month}.", who.key, "age", found["age"])
    if ages:
        yield said(f"The user's {relation} were {ages} years old in {month}.", value=ages)


def _of_gender(whose: str | None, people: People) -> Subject | None:
    pronoun = {"his": "he", "her": "she", "he": "he", "she": "she"}.get((whose or "").lower())
    return people.find(pronoun) if pronoun else next((one for one in people.last if not one.is_group), None)


def owner(whose: str | None, his: str | None, people: People) -> Subject | None:
    """Whose attribute “my sister's name”, “her job” or “my job” is."""
    if his:
        return _of_gender(his, people)
    if not whose:
        return THE_USER
    relation = whose.strip().removesuffix("'s").lower()
    last = relation.split()[-1]
    return (
        people.add(related(last, "", " ".join(relation.split()[:-1])))
        if last in relations.PEOPLE | relations.PETS
        else None
    )


SIGNED: Final = 0.6
"""Confidence of a name that is given in passing: it may be another's."""
CALLED: Final = 0.95
"""The same, if the user says that they are called so."""
_ONE: Final = r"[A-ZÀ-ÞĀ-Ž][^\W\d_]{1,20}(?:-\w{1,20})?"
_GIVEN: Final = rf"(?-i:(?P<name>(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_ONE}(?: {_ONE}){{0,2}}))"
_SIGNED: Final = re.compile(rf"(?:\n[ \t]*(?:[-–—]{{1,2}} ?)?|[.!?)] ?[-–—]{{1,2}} ?){_GIVEN}(?: \([\w/]+\))?[ \t.!]*$")
_INTRODUCED: Final = re.compile(
    r"(?i)(?:(?:hi|hello|hey|sorry|good (?:morning|evening|afternoon))(?: there| again)?[\s,!.]+)?(?:this is|it'?s|"
    rf"(?:should have |let me |to )introduced? myself[:,]) {_GIVEN}(?=[,.!\n(]|$| \(| (?:from|at|again|here|by"
    rf"|and|but)\b)"
)
_GREETED: Final = re.compile(
    r"(?i)(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon))(?: there| again| all| everyone)?[\s,!.]+"
    rf"(?:i'm|i am|this is) {_GIVEN}(?=[,.!\n(]|$| \(| (?:from|at|again|here|by|and)\b)"
)
_HERE: Final = re.compile(rf"(?:^|[.!,?] ){_GIVEN} (?:here|speaking)\b(?! (?:is|are|was))")
_OPENS_WITH_NAME: Final = re.compile(
    r"(?!\w+(?:er|or|ist|ian|ie|ent|ant|an|ish|ese|um|om|ad|se)\b)[A-ZÀ-ÞĀ-Ž][a-zß-ÿ]+ here(?:[.!,–-]| again\b)"
)
"""“Rangi here.”, but not “Nurse here” or “Mum here”: of other words, the classifier says whether they are a name."""
_CALL_ME: Final = re.compile(
    r"\b(?i:(?<!n't )(?<!dont )(?<!not )(?<!never )(?<!do you )call me|i go by|(?:i'm|i am|im|now|btw,?) going by"
    r"|everyone calls me|i prefer to be called|called me anything except|you can say)"
    rf" (?P<name>(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_ONE})\b(?!/|,? but\b)"
    rf"|\b(?i:name(?:['’]?s| is)|i['’]?m|i am) {_ONE},? (?i:but (?:everyone|everybody|people|they|(?:my )?friends)"
    r"(?: all)? calls? me) (?P<small>[a-z]{2,15})(?=[,.!]|$| (?:and|so|but)\b)"
    rf"|\bI use (?P<used>{_ONE})(?=[,.])"
)
_PRONOUNS: Final = re.compile(
    r"(?i)(?<![\w/])(?:she/hers?|he/him|they/them|xe/xem|ze/hir|it/its)(?:/\w{2,6})?(?![\w/])"
)
_ASKED: Final = re.compile(r"(?i)\b(?:what (?:should|can|may|shall|do) i call you|your name)\b")
_ANSWERED: Final = re.compile(rf"(?i)^(?:it's |i'm |my name is |just )?{_GIVEN}(?=[,.!]|$)")


def names_given(text: str, before: str) -> Iterator[Note]:
    """The user's name: in an introduction, a signature, or an answer to the question for it."""
    short = text[:400]
    greeted = _GREETED.match(short.lstrip())
    here = _HERE.search(short)
    patterns = [greeted, _INTRODUCED.match(short.lstrip()), here]
    if _ASKED.search(before):
        patterns.append(_ANSWERED.match(short))
    if len(text) < 2_000 and text.count("\n") < 12:
        patterns.append(_SIGNED.search(text.rstrip()))
    for found in patterns:
        name = clean_name(found["name"]) if found else ""
        if found and name and name.lower() not in relations.FEMALE | relations.MALE and not is_role(name):
            sure = CALLED if found is greeted else SIGNED
            note = _build_name_note(f"The user's name is {name}.", "name", name, found["name"], confidence=sure)
            yield replace(note, form="note") if found is here and _OPENS_WITH_NAME.match(short) else note
            break
    if pronouns := _PRONOUNS.search(text):
        value = pronouns[0].lower()
        yield _build_name_note(f"The user's pronouns are {value}.", "pronouns", value, pronouns[0])
    called = _CALL_ME.search(short)
    if called and (name := clean_name(called["name"] or called["used"] or called["small"].title())):
        yield _build_name_note(
            f"The user wants to be called {name}.", "preferred_name", name, called[0], confidence=CALLED
        )


def _build_name_note(statement: str, attribute: str, value: str, quote: str, *, confidence: float = SIGNED) -> Note:
    return Note(Kind.IDENTITY, statement, attribute, value, form="name", confidence=confidence, quote=quote)
