"""Questions asked of someone else: what answered them answers them no more (Kaushik et al. 2020, “Learning the
Difference that Makes a Difference with Counterfactually-Augmented Data”)."""

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from memory.text.language import alternatives, as_set
from memory.text.relations import PEOPLE, PETS, alike

_OTHERS: Final = as_set(
    "sister brother mum dad wife husband daughter son cousin uncle aunt grandmother grandfather"
) | as_set("boss neighbour flatmate friend colleague landlord teacher doctor girlfriend boyfriend")
_OTHER_PETS: Final = as_set("dog cat rabbit hamster horse parrot tortoise")
_OF_A_RELATION: Final = re.compile(rf"(?i)\b(?:my|our) (?P<role>{alternatives(PEOPLE | PETS)})\b(?!-)")
_OF_ONE_NAMED: Final = re.compile(r"(?<=[a-z,] )(?P<name>[A-ZÀ-ÞĀ-Ž][a-zß-ÿ]{2,})\b")
_OF_THE_USER: Final = re.compile(
    r"(?i)\b(?P<do>do|am|was|did|have) i\b(?! (?:have|call|tell|told|say|said|know|ask|mention))"
    r"|\bmy (?=(?:job|age|name|birthday|employer|company|city|town|address|diet|hobby|favou?rite|star sign)\b)"
)
_OF_THEM: Final = {"do": "does", "am": "is", "was": "was", "did": "did", "have": "has"}


def of_another(question: str, memory: str, memories: Iterable[str], chance: Random) -> str | None:
    """The question, asked of someone that the memory doesn't name; None where it may be asked of several people.

    `memories`: of the same user. A name is taken from them, so that both are known.
    """
    found = [*_OF_A_RELATION.finditer(question)]
    if len(found) == 1:
        return _with(question, found[0], "role", _other_role(found[0]["role"].lower(), memory, chance))
    if found:
        return None
    known = {name for text in memories for name in _people_in(text)}
    for named in _OF_ONE_NAMED.finditer(question):
        if named["name"] in known and named["name"] in memory:
            return _with(question, named, "name", _other_name(question, memory, known, chance))
    if (of_user := _OF_THE_USER.search(question)) and not _OF_A_RELATION.search(memory):
        who = f"my {chance.choice(sorted(_OTHERS))}"
        asked = f"{_OF_THEM[of_user['do'].lower()]} {who}" if of_user["do"] else f"{who}'s "
        return question[: of_user.start()] + asked + question[of_user.end() :]
    return None


def _with(question: str, found: re.Match[str], group: str, other: str | None) -> str | None:
    return other and question[: found.start(group)] + other + question[found.end(group) :]


def _other_role(role: str, memory: str, chance: Random) -> str | None:
    if not _names(memory, alike(role)):
        return None
    others = _OTHER_PETS if role in PETS else _OTHERS
    fitting = [one for one in sorted(others) if one not in alike(role) and not _names(memory, alike(one))]
    return chance.choice(fitting) if fitting else None


def _names(memory: str, words: frozenset[str]) -> bool:
    return re.search(rf"(?i)\b(?:{alternatives(words)})s?\b", memory) is not None


def _other_name(question: str, memory: str, known: set[str], chance: Random) -> str | None:
    fitting = sorted(one for one in known if one not in memory and one not in question)
    return chance.choice(fitting) if fitting else None


def _people_in(text: str) -> Iterator[str]:
    """Names that follow what someone is to the user: “my sister Yvonne”."""
    yield from re.findall(rf"(?i:\b(?:{alternatives(PEOPLE)}),? )([A-ZÀ-ÞĀ-Ž][a-zß-ÿ]{{2,}})\b", text)
