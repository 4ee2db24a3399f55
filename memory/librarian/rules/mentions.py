"""People and animals named in passing, also in questions: “what can I cook for my sister Mary?”; and names signed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.librarian.rules import slots
from memory.librarian.rules.retell import MODIFIERS, NAME, THE_USER, People, Subject, clean_name, related
from memory.librarian.rules.words import CONDITIONS, FEMALE, MALE, PEOPLE, PETS

_REL: Final = "|".join(sorted((re.escape(word) for word in PEOPLE | PETS), key=len, reverse=True))
_MENTION: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?P<mod>(?i:{MODIFIERS}))(?P<rel>(?i:{_REL}))(?![\w-])(?:(?:,? called|,? named|'s"
    rf" name is|,| is called|:| -)? ?\(?(?P<name>{NAME})\)?)?(?: ?\(?(?P<age>\d{{1,2}})\)?(?= |,|$|\)))?",
)
_APPOSED: Final = re.compile(
    rf"(?P<name>{NAME}),? (?:is |who is |who's )?(?:[Mm]y|[Oo]ur)"
    rf" (?P<mod>(?i:{MODIFIERS}))(?P<rel>(?i:{_REL}))(?![\w'-])"
)
_KIN: Final = re.compile(
    r"\b(?P<rel>[Gg]randma|[Gg]randpa|[Gg]randad|[Uu]ncle|[Aa]unt(?:ie)?|[Nn]an|[Cc]ousin)"
    r" (?P<name>[A-Z][a-z]{2,15})\b"
)
_CALLED: Final = re.compile(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Tt]heir|[Hh]e|[Ss]he) ?(?:name(?:'s| is)|(?:'s| is) called) (?P<name>{NAME})"
)
_AGED_CHILD: Final = re.compile(rf"\b(?:my|our) [\w-]{{1,6}}[- ]year[- ]old,? (?:called |named )?(?P<name>{NAME})")
_OLD: Final = re.compile(r"(\d{1,2})[- ](?:year|yr)s?[- ]old", re.I)


@dataclass(frozen=True, slots=True)
class Mention:
    """Someone close to the user who is named in passing."""

    subject: Subject
    statement: str
    """With {now} for the month."""
    value: str
    is_name: bool = True


def people_in(clause: str, people: People) -> Iterator[Mention]:
    """Whom a clause names, with their relation to the user."""
    for found in [*_MENTION.finditer(clause), *_APPOSED.finditer(clause), *_KIN.finditer(clause)]:
        groups = found.groupdict()
        subject = related(found["rel"], groups.get("name") or "", groups.get("mod") or "")
        subject = people.add(subject)
        bare = related(subject.relation, "", groups.get("mod") or "").label
        if subject.name and groups.get("name"):
            yield Mention(subject, f"{bare} is called {subject.name}.", subject.name)
        old = _OLD.search(groups.get("mod") or "")
        age = groups.get("age") or (old[1] if old else "")
        if age and subject.relation:
            yield Mention(subject, f"{subject.label} was {age} years old in {{now}}.", age, is_name=False)
    for found in _AGED_CHILD.finditer(clause):
        child = people.add(related("child", found["name"]))
        if child.name:
            yield Mention(child, f"The user's child is called {child.name}.", child.name)
    called = _CALLED.search(clause)
    if called and people.last and clean_name(called["name"]):
        nearest = (
            people.find(called["whose"])
            if (called["whose"] or "").lower() in ("he", "she")
            else _of_gender(called["whose"], people)
        )
        if nearest and not nearest.name and not nearest.is_group:
            named = people.add(
                related(
                    nearest.relation,
                    called["name"],
                    nearest.label.removeprefix("The user's ").removesuffix(nearest.relation),
                )
            )
            people.last = [one for one in people.last if one != nearest]
            yield Mention(named, f"{nearest.label} is called {named.name}.", named.name)


_MY_CONDITION: Final = re.compile(
    r"\b(?:my|of my|due to my|because of my) (?:severe |bad |mild |chronic"
    rf" )?(?P<what>{'|'.join(sorted(map(re.escape, CONDITIONS), key=len, reverse=True))})(?![\w-])",
    re.I,
)
_WHERE_I_LIVE: Final = re.compile(
    r"\bwhere (?:I|we) live, (?:in|near) |\b(?:in|from|to|of|around|near) (?=[^,]{2,40}, where (?:I|we)(?:'m|"
    r" am| are|'re)? (?:now )?(?:live|based|living)\b)"
)


def presupposed(sentence: str) -> Iterator[tuple[str, str, str]]:
    """What a sentence takes for granted (“with my asthma”), as statement, attribute and value."""
    for found in _MY_CONDITION.finditer(sentence):
        what = found["what"] if found["what"].isupper() else found["what"].lower()
        yield f"The user has {what}.", f"condition:{what.lower()}", "yes"
    lives = _WHERE_I_LIVE.search(sentence)
    read = slots.place(sentence[lives.end() :]) if lives else None
    if read:
        yield f"The user lives in {read[0]}.", "home", read[0]


def _of_gender(whose: str | None, people: People) -> Subject | None:
    pronoun = {"his": "he", "her": "she"}.get((whose or "").lower())
    return people.find(pronoun) if pronoun else next((one for one in people.last if not one.is_group), None)


def owner(whose: str | None, his: str | None, people: People) -> Subject | None:
    """Whose attribute “my sister's name”, “her job” or “my job” is."""
    if his:
        return _of_gender(his, people)
    if not whose:
        return THE_USER
    relation = whose.strip().removesuffix("'s").lower()
    last = relation.split()[-1]
    return people.add(related(last, "", " ".join(relation.split()[:-1]))) if last in PEOPLE | PETS else None


# The user's own name ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GivenName:
    """The user's name, as they give it."""

    statement: str
    value: str
    quote: str
    attribute: str = "name"


_ONE: Final = r"[A-ZÀ-ÞŁŚŽČŞİ][^\W\d_]{1,20}(?:-\w{1,20})?"
_SIGNED: Final = re.compile(rf"\n[ \t]*(?:[-–—]{{1,2}} ?)?(?P<name>{_ONE}(?: {_ONE})?)[ \t.!]*$")
_INTRODUCED: Final = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|evening|afternoon))(?: there| again)?[\s,!.]+)?(?:this is"
    rf"|it's) (?P<name>{_ONE}(?: {_ONE})?)(?=[,.!\n(]|$| \(| (?i:from|at"
    r"|again|here|by|and)\b)",
    re.I,
)
_HERE: Final = re.compile(rf"(?:^|[.!,?] )(?P<name>{_ONE}(?: {_ONE})?) (?:here|speaking)\b(?! (?:is|are|was))")
_CALL_ME: Final = re.compile(
    r"\b(?i:call me|i go by|everyone calls me|people call me|friends call me|i prefer to be called)"
    rf" (?P<name>{_ONE})\b(?!/)"
)
_ASKED: Final = re.compile(r"\b(?:what (?:should|can|may|shall|do) i call you|your name)\b", re.I)
_ANSWERED: Final = re.compile(rf"^(?:it's |i'm |my name is |just )?(?P<name>{_ONE}(?: {_ONE})?)(?=[,.!]|$)", re.I)
_NO_ROLE: Final = frozenset(FEMALE | MALE)


def names_given(own: str, before: str) -> Iterator[GivenName]:
    """The user's name: in an introduction, a signature, or an answer to the question for it."""
    short = own[:400]
    patterns = [_INTRODUCED.match(short.lstrip()), _HERE.search(short)]
    if _ASKED.search(before):
        patterns.append(_ANSWERED.match(short))
    if len(own) < 2_000 and own.count("\n") < 12:
        patterns.append(_SIGNED.search(own.rstrip()))
    for found in patterns:
        name = clean_name(found["name"]) if found else ""
        if found and name and name.lower() not in _NO_ROLE:
            yield GivenName(f"The user's name is {name}.", name, found["name"])
            break
    called = _CALL_ME.search(short)
    if called and clean_name(called["name"]):
        yield GivenName(f"The user wants to be called {called['name']}.", called["name"], called[0], "preferred_name")
