"""Terse notes: “kids: Noor (7), Sami (4)”, “allergic: penicillin, latex”, “34, nurse, two kids”."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from memory.librarian.rules import slots
from memory.librarian.rules.retell import NAME, article, clean_name, is_occupation
from memory.librarian.rules.words import AFFLICTED, DIETS, ONLY_ONE, PEOPLE, PETS
from memory.models.kinds import Kind


@dataclass(frozen=True, slots=True)
class Note:
    """What one value of a note says."""

    kind: Kind
    statement: str
    attribute: str = ""
    value: str = ""
    subject: str = "user"
    health: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """What people write before a colon, and what a value behind it says."""

    words: str
    kind: Kind
    says: str
    attribute: str = ""
    value: str = "{v}"
    reads: slots.Reader | None = None
    """None takes the whole value."""
    each: bool = False
    health: bool = False


_life = partial(Label, kind=Kind.BIOGRAPHY)
_body = partial(Label, kind=Kind.CONSTRAINT, value="yes", each=True, health=True)
_taste = partial(Label, kind=Kind.PREFERENCE, attribute="taste:{slug}", each=True)
LABELS: Final = (
    _body("allergies|allergy|allergic|allergic to", says="is allergic to {v}", attribute="allergy:{slug}"),
    _body("conditions|condition|health|medical|diagnosis", says="has {v}", attribute="condition:{slug}"),
    _body("meds|medication|medications|medicine", says="takes {v}"),
    Label("diet", Kind.CONSTRAINT, "follows this diet: {v}", "diet"),
    _life("job|work|occupation|profession", says="works as {a} {v}", attribute="job", reads=slots.job),
    _life("employer|company", says="works at {v}", attribute="employer", reads=slots.organisation),
    _life("home|lives in|live in|living in|based|based in|location|city", says="lives in {v}", attribute="home",
        reads=slots.place),
    _life("hometown|home town|originally from", says="is from {v}", attribute="origin", reads=slots.place),
    Label("name|my name", Kind.IDENTITY, "is called {v}", "name", reads=slots.person),
    Label("pronouns", Kind.IDENTITY, "uses the pronouns {v}", "pronouns", reads=slots.pronouns),
    _life("age", says="was {v} years old in {now}", attribute="age", reads=slots.age),
    _life("birthday|bday|dob|born", says="was born on {v}", attribute="birthday"),
    _life("languages|language|speaks|i speak", says="speaks {v}", each=True),
    _life("studies|studying|degree|major", says="studies {v}", attribute="studies"),
    _taste("likes|loves|i like|into|hobbies|hobby|interests", says="likes {v}", value="likes"),
    _taste("dislikes|hates|i hate|i dislike", says="dislikes {v}", value="dislikes"),
    Label("goal|goals", Kind.GOAL, "has this goal: {v}"),
    Label("car", Kind.ENTITY, "drives this car: {v}", "car"),
    Label("phone", Kind.ENTITY, "uses this phone: {v}", "phone"),
)  # fmt: skip
_BY_WORD: Final[Mapping[str, Label]] = {word: label for label in LABELS for word in label.words.split("|")}
_ONE: Final = {
    "kids": "child",
    "children": "child",
    "pets": "pet",
    "grandkids": "grandchild",
    "grandchildren": "grandchild",
}
_LABEL: Final = re.compile(r"(?:my |our |about me[:,]? )?([a-z][a-z -]{1,24}?)\s?(?::|=| [-–—](?= ))\s*(?=\S)", re.I)
_BEING: Final = re.compile(
    rf"({NAME})(?:[ ,]*\(?(?:aged? )?(\d{{1,2}})(?: (?:years?|yrs?|yo)(?: old)?)?\)?)?\W*",
)
_PIECE: Final = re.compile(r"\s*(?:[;|]|\s/\s)\s*")
_NONE: Final = re.compile(r"^(?:none|no|nothing|n/?a|-|unknown|tbd|yes)\b", re.I)
MAX_NOTE: Final = 160
"""Characters of a line that is a note."""
MAX_WORDS: Final = 6
"""Of one value; more is a sentence."""


def read_notes(sentence: str, month: str) -> Iterator[Note]:
    """What a line of notes says: its parts with a label, or a bare list about its writer. `month`: for ages."""
    if len(sentence) <= MAX_NOTE and "?" not in sentence:
        found = [note for piece in _PIECE.split(sentence) for note in _read_piece(piece.strip(), month)]
        yield from found or _read_profile(sentence, month)


def _read_piece(piece: str, month: str) -> Iterator[Note]:
    found = _LABEL.match(piece)
    label = " ".join(found[1].lower().split()) if found else ""
    value = piece[found.end() :].strip(" .,!\t") if found else ""
    relation = _ONE.get(label, label.removesuffix("s") if label.removesuffix("s") in PEOPLE | PETS else label)
    if not value or _NONE.match(value):
        return
    if relation in PEOPLE | PETS | {"pet"}:
        yield from _beings(relation, value, month)
    elif label.startswith(("favourite ", "favorite ")) and len(value.split()) <= MAX_WORDS:
        what = label.split(" ", 1)[1]
        yield Note(Kind.PREFERENCE, f"The user's favourite {what} is {value}.", f"favourite_{what}", value)
    elif label in _BY_WORD:
        yield from _said(_BY_WORD[label], value, month)


def _beings(relation: str, value: str, month: str) -> Iterator[Note]:
    is_pet = relation in PETS or relation == "pet"
    for part in slots.items(value):
        found = _BEING.fullmatch(part.strip())
        name = clean_name(found[1]) if found else ""
        if found is None or not name:
            continue
        kind, key = Kind.ENTITY if is_pet else Kind.PERSON, "name" if is_pet or relation in ONLY_ONE else ""
        yield Note(kind, f"The user's {relation} is called {name}.", key, name, f"user/{relation}")
        if found[2]:
            statement = f"The user's {relation} {name} was {found[2]} years old in {month}."
            yield Note(kind, statement, "age", found[2], f"user/{relation}" if is_pet else name)


def _said(label: Label, value: str, month: str) -> Iterator[Note]:
    for one in slots.items(value) if label.each else [value]:
        read = label.reads(one) if label.reads else (one.strip(" ."), "")
        if read is None or len(read[0].split()) > MAX_WORDS:
            continue
        filled = {"v": read[0], "a": article(read[0]), "slug": read[0].lower(), "now": month}
        yield Note(
            label.kind,
            f"The user {label.says.format(**filled)}.",
            label.attribute.format(**filled),
            label.value.format(**filled),
            health=label.health,
        )


# A bare list -----------------------------------------------------------------------------------------------------

_FAMILY: Final = re.compile(
    r"(?:an? |one |two |three |four |five |\d )(?:[\w-]+ ){0,2}?(?:kids?|children|child|sons?|daughters?|toddlers?"
    r"|teenagers?|dogs?|cats?|boys|girls)\b",
    re.I,
)
_STATE: Final = re.compile(
    r"(?P<home>married|single|divorced|widowed|engaged|separated)(?: since (?:19|20)\d\d)?|retired"
    r"|unemployed|self-employed",
    re.I,
)
_HAS: Final = re.compile(r"\d{1,2} years (?:in|of) [a-z][\w ]{2,30}|(?:an? )?[A-Z][a-z]+ (?:passport|citizenship)")
_AGED: Final = re.compile(r"([1-9]\d)(?: ?(?:yo|years old|y/o|m|f))?", re.I)
_AT: Final = re.compile(r"(?:(?P<origin>from)|based in|living in|live in|in) (?P<place>.+)", re.I)
MIN_ITEMS: Final = 2
"""Recognized items that make a list a profile, and at least half of all."""


def _read_profile(sentence: str, month: str) -> list[Note]:
    parts = [part.strip(" .!:;-") for part in re.split(r",| and ", sentence.partition(":")[2] or sentence)]
    found = [note for part in parts if (note := _of_profile(part, month)) is not None]
    return found if len(found) >= MIN_ITEMS and len(found) * 2 >= len(parts) else []


def _of_profile(item: str, month: str) -> Note | None:
    low, words = item.lower(), item.lower().replace(":", " : ").split()
    state, at = _STATE.fullmatch(item), _AT.match(item)
    if aged := _AGED.fullmatch(item):
        return Note(Kind.BIOGRAPHY, f"The user was {aged[1]} years old in {month}.", "age", aged[1])
    if words and len(words) <= 3 and ":" not in words and is_occupation(words[-1]):
        bare = re.sub(r"^an? ", "", item)
        return Note(Kind.BIOGRAPHY, f"The user is {article(bare)} {bare}.", "job", bare)
    if state:
        return Note(Kind.BIOGRAPHY, f"The user is {low}.", "relationship" if state["home"] else "job", words[0])
    if low in DIETS | AFFLICTED:
        attribute, value = ("diet", low) if low in DIETS else (f"condition:{low}", "yes")
        return Note(Kind.CONSTRAINT, f"The user is {low}.", attribute, value, health=low in AFFLICTED)
    if at and (read := slots.place(at["place"])) and not read[1]:
        says, attribute = ("is from", "origin") if at["origin"] else ("lives in", "home")
        return Note(Kind.BIOGRAPHY, f"The user {says} {read[0]}.", attribute, read[0])
    if _FAMILY.fullmatch(item) or _HAS.fullmatch(item):
        return Note(Kind.PERSON if _FAMILY.fullmatch(item) else Kind.BIOGRAPHY, f"The user has {item}.")
    return None
