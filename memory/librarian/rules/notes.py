"""Terse notes: “kids: Noor (7), Sami (4)”, “allergic: penicillin, latex”, “34, nurse, two kids”."""

import re
from collections.abc import Iterator
from typing import Final

from memory.librarian.rules.mentions import name_key
from memory.librarian.rules.retell import FAMILY, NAME, article, clean_name, is_occupation, related
from memory.librarian.rules.statement import Note
from memory.librarian.rules.table import FREE_OF, LABEL_OF, Label, items, place
from memory.librarian.rules.words import AFFLICTED, DIETS, singular
from memory.models.kinds import Kind
from memory.text.language import alternatives
from memory.text.relations import GROUPS, PEOPLE, PETS

_LABEL: Final = re.compile(
    r"(?i)(?:my |our |about me[:,]? )?(?:new )?([a-z][a-z -]{1,24}?)\s?(?::|=| [-–—](?= ))\s*(?=\S)"
)
_INNER: Final = re.compile(r"([a-z][a-z -]{1,24}?)\s?(?::|=)\s*(?=\S)")
"""The label behind one that only announces it: “reminder: dentist = …”."""
_BEING: Final = re.compile(
    rf"(?:(?:an?|one|the|my) )?(?:(?P<title>(?i:dr|mrs?|ms|prof)\.?) |(?P<what>[a-z]{{2,12}} ))?"
    rf"\(?(?P<name>{NAME})\)?(?: \(?(?:the )?(?P<kind>[a-z]{{2,12}})\)?)?"
    r"(?:[ ,]*\(?(?:aged? )?(?P<years>\d{1,2})(?: (?:years?|yrs?|yo)(?: old)?)?(?:, [\w ]{2,40})?\)?)?"
    r"(?: \([\w ,]{2,60}\)|(?: at| in) [\w. ]{2,20})?\W*"
)
_PIECE: Final = re.compile(
    r"(?i)\s*(?:[;|]|\s/\s)\s*|,\s+(?=(?:my )?[a-z]{2,12}(?: [a-z]{2,12})?\s?(?::|=| [-–—] ))|(?<=\w)\.\s+(?=[a-z]+:)"
)
_NAMED: Final = re.compile(rf"(?i)(?:my |our )?({alternatives(PEOPLE | PETS)}) (?=[A-ZÀ-ÞĀ-Ž])")
_NONE: Final = re.compile(r"(?i)^(?:none|no|nothing|n/?a|-|unknown|tbd|yes)\b")
_THING: Final = re.compile(r"(?!(?:total|price|cost|note|status|todo)\b)[a-z]+(?: [a-z]+){0,2}")
_GIVEN: Final = re.compile(r"[A-ZÀ-ÞĀ-Ž][\w'&.-]*(?: [\w'&.-]+){0,4}")
"""A thing and its name, in a note about neither a person nor what is in the table: “alarm company = Verisure”."""
_OF_A_PERSON: Final = re.compile(r"\s*[A-ZÀ-ÞĀ-Ž]\w+ [-–—:] ")
"""“Allergies: Kosi – groundnut” is of Kosi."""
ASKED: Final = 0.7
"""Confidence with which it is asked for."""
MAX_NOTE: Final = 160
"""Characters of a line that is a note."""
MAX_WORDS: Final = 6
"""Of one value; more is a sentence."""


def read_notes(sentence: str, month: str) -> Iterator[Note]:
    """What a line of notes says: its parts with a label, or a bare list about its writer. `month`: for ages."""
    if len(sentence) <= MAX_NOTE and not re.search(r"\?|\w=|\w\(|[{}]", sentence):
        found = [note for piece in _PIECE.split(sentence) for note in _read_piece(piece.strip(), month)]
        yield from found or _read_profile(sentence, month)


def _read_piece(piece: str, month: str) -> Iterator[Note]:
    labeled = _LABEL.match(piece)
    if labeled and labeled[1].lower() not in LABEL_OF and (inner := _INNER.match(piece, labeled.end())):
        labeled = inner
    found = labeled or _NAMED.match(piece)
    label = " ".join(found[1].lower().split()) if found else ""
    value = piece[found.end() :].strip(" .,!\t") if found else ""
    relation = singular(label) if label in GROUPS | {"pets"} or singular(label) in PETS else label
    if not value or _NONE.match(value):
        return
    if relation in PEOPLE | PETS | {"pet"} or (labeled and relation.split()[-1] in PEOPLE):  # “window cleaner: Ali”
        beings = list(_beings(relation, value, month))
        yield from beings if labeled or len(piece.split()) <= 2 * len(beings) + 1 else ()
    elif label in LABEL_OF:
        yield from _read_label(LABEL_OF[label], value, month)
    elif labeled and "=" in labeled[0] and _THING.fullmatch(labeled[1]) and _GIVEN.fullmatch(value):
        yield Note(Kind.FACT, f"The user's {label} is {value}.", confidence=ASKED)


def _beings(relation: str, value: str, month: str) -> Iterator[Note]:
    is_pet = relation in PETS or relation == "pet"
    for part in items(value):
        found = _BEING.fullmatch(part.strip())
        name = clean_name(found["name"]) if found else ""
        name = f"{found['title'].capitalize()} {name}" if found and name and found["title"] else name
        if found is None or not name:
            continue
        kind_of = (found["what"] or found["kind"] or "").strip()
        relation = kind_of if kind_of in PEOPLE | PETS else relation
        *what, role = relation.split()
        kind, subject = Kind.ENTITY if is_pet else Kind.PERSON, related(role, name, " ".join(what))
        whose, key = ("user/pet", "name") if relation == "pet" else name_key(subject)
        yield Note(kind, f"The user's {relation} is called {name}.", key, name, whose, tags=subject.tags)
        if found["years"]:
            statement = f"The user's {relation} {name} was {found['years']} years old in {month}."
            yield Note(kind, statement, "age", found["years"], f"user/{relation}" if is_pet else name)


def _read_label(label: Label, value: str, month: str) -> Iterator[Note]:
    for one in items(value) if label.each else [value]:
        read = label.reads(one) if label.reads else (one.strip(" ."), "")
        if read is None or len(read[0].split()) > MAX_WORDS or _OF_A_PERSON.match(one):
            continue
        filled = {"v": read[0], "a": article(read[0]), "slug": read[0].lower(), "now": month}
        attribute, value = label.attribute.format(**filled), label.value.format(**filled)
        yield Note(label.kind, f"The user{label.says.format(**filled)}.", attribute, value, health=label.health)


_STATE: Final = re.compile(
    r"(?i)(?P<home>married|single|divorced|widowed|engaged|separated)(?: since (?:19|20)\d\d)?|retired"
    r"|unemployed|self-employed"
)
_HAS: Final = re.compile(
    r"\d{1,2} years (?:in|of) [a-z][\w ]{2,30}|(?:an? )?[A-ZÀ-ÞĀ-Ž][a-z]+ (?:passport|citizenship)"
)
_AGED: Final = re.compile(r"(?i)[mf]?([1-9]\d)(?: ?(?:yo|years old|y/o|m|f|male|female))?")
_AT: Final = re.compile(r"(?i)(?:(?P<origin>from)|based in|living in|renting in|live in|in) (?P<place>.+)")
_OF_ANOTHER: Final = re.compile(rf"(?i)\b(?:{alternatives(PEOPLE | PETS)}) \([^()]*\)")
"""Tells of someone else: “my kid (Theo, 11, autistic)”."""
_TELLS: Final = re.compile(r"(?i)(?:i|we|you|s?he|they|it)(?:['’](?:ve|d|ll))? (?!am\b|live\b|work\b)[a-z]+ [a-z]")
"""A sentence with a verb: what follows belongs to it, “I applied for a job at Maersk, ops planner, in Aarhus”."""
MIN_ITEMS: Final = 2
"""Recognized items that make a list a profile, and at least half of all."""


def _read_profile(sentence: str, month: str) -> list[Note]:
    own = _OF_ANOTHER.sub(" ", sentence.partition(":")[2] or sentence)
    parts = [part.strip(" .!:;-") for part in re.split(r",| and |\s\+\s", own)]
    if _TELLS.match(parts[0]):
        return []
    found = [note for part in parts if (note := _of_profile(part, month)) is not None]
    return found if len(found) >= MIN_ITEMS and len(found) * 2 >= len(parts) else []


def _eats_or_has(low: str) -> Note | None:
    """“gluten-free”, “vegan”, “diabetic”."""
    if free := re.fullmatch(FREE_OF, low):
        return Note(Kind.CONSTRAINT, f"The user is {low}.", f"diet:{free['what']}", "no")
    if low in DIETS:
        return Note(Kind.CONSTRAINT, f"The user is {low}.", "diet", low)
    if low in AFFLICTED:
        return Note(Kind.CONSTRAINT, f"The user is {low}.", f"condition:{low}", "yes", health=True)
    return None


def _of_profile(item: str, month: str) -> Note | None:
    low, words = item.lower(), item.lower().replace(":", " : ").split()
    state, at = _STATE.fullmatch(item), _AT.match(item)
    if aged := _AGED.fullmatch(item):
        return Note(Kind.BIOGRAPHY, f"The user was {aged[1]} years old in {month}.", "age", aged[1])
    if (
        words
        and len(words) <= 3
        and ":" not in words
        and {words[0]} & PEOPLE <= {words[-1]}
        and is_occupation(words[-1])
    ):
        bare = re.sub(r"^an? ", "", item)
        return Note(Kind.BIOGRAPHY, f"The user is {article(bare)} {bare}.", "job", bare)
    if state:
        return Note(Kind.BIOGRAPHY, f"The user is {low}.", "relationship" if state["home"] else "job", words[0])
    if fed := _eats_or_has(low):
        return fed
    if at and (read := place(at["place"])) and not read[1]:
        says, attribute = ("is from", "origin") if at["origin"] else ("lives in", "home")
        return Note(Kind.BIOGRAPHY, f"The user {says} {read[0]}.", attribute, read[0])
    if FAMILY.fullmatch(item) or _HAS.fullmatch(item):
        return Note(Kind.PERSON if FAMILY.fullmatch(item) else Kind.BIOGRAPHY, f"The user has {item}.")
    if re.fullmatch(r"single (?:mum|mom|dad|mother|father|parent)", low):
        return Note(Kind.BIOGRAPHY, f"The user is a {low}.")
    if re.match(r"(?:part|full)-time (?:at|in|as) ", low):
        return Note(Kind.BIOGRAPHY, f"The user works {item}.")
    if born := re.fullmatch(r"born(?: in)? (\d{4})", low):
        return Note(Kind.BIOGRAPHY, f"The user was born in {born[1]}.", "birth_year", born[1])
    return None
