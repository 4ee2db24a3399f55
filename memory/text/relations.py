"""What people call those around them: relatives, friends, people they deal with, animals; and whose a thing is."""

import re
from typing import Final

from memory.text.language import alternatives, as_set

FEMALE: Final = as_set(
    "wife girlfriend fiancée mother mum mom mam mama mummy sister daughter grandmother grandma gran granny nan nana"
    " aunt auntie niece mother-in-law sister-in-law daughter-in-law stepmother stepmum stepmom stepsister stepdaughter"
    " granddaughter godmother goddaughter landlady ex-wife ex-girlfriend lass missus"
)
MALE: Final = as_set(
    "husband boyfriend fiancé father dad daddy papa brother son grandfather grandad grandpa granddad uncle nephew"
    " father-in-law brother-in-law son-in-law stepfather stepdad stepbrother stepson grandson godfather godson landlord"
    " ex-husband ex-boyfriend lad hubby"
)
ANYONE: Final = as_set(
    "partner spouse fiance fiancee child kid baby toddler eldest oldest youngest twin cousin grandchild parent friend"
    " bestie buddy mate flatmate housemate roommate neighbour neighbor colleague coworker co-worker boss manager"
    " supervisor co-founder cofounder teacher tutor coach trainer doctor gp dentist therapist physio nurse midwife"
    " assistant apprentice mentor student pupil client accountant lawyer ex tenant babysitter nanny carer"
    " stepchild sibling professor advisor director physiotherapist psychologist psychiatrist hairdresser barber plumber"
    " electrician builder gardener cleaner vet optician chiropractor osteopath surgeon cardiologist dermatologist"
    " rheumatologist oncologist neurologist paediatrician pediatrician solicitor headteacher"
)
PEOPLE: Final = FEMALE | MALE | ANYONE
"""Whom “my …” may name."""
GROUPS: Final = as_set(
    "parents kids children twins sons daughters brothers sisters grandparents siblings friends neighbours neighbors"
    " in-laws grandkids grandchildren girls boys lads lasses cousins nephews nieces colleagues flatmates housemates"
    " students stepkids stepchildren triplets parents-in-law uncles aunts"
)
PARTNERS: Final = as_set("wife husband partner spouse girlfriend boyfriend fiancé fiancée fiance fiancee missus hubby")
_OF_LIFE: Final = as_set(
    "new old ex former current late dear lovely amazing wonderful beautiful brilliant poor long-term longterm term life"
    " civil domestic same-sex queer trans non-binary own"
)
SOME_PARTNER: Final = re.compile(
    rf"(?i)\b(?:my|our|his|her|their|an?|the|user's) (?:[\w'-]+ )?(?!(?:{alternatives(_OF_LIFE)}) )[\w-]+ partner\b"
)
"""“My tennis partner”: whom someone does something with, and doesn't share their life."""
ONLY_ONE: Final = PARTNERS | as_set(
    "mother mum mom mam dad father boss manager landlord landlady supervisor therapist gp dentist mother-in-law"
    " father-in-law flatmate roommate"
)
"""Relations of which a person has one by far the most often, so that a second name is news of the first."""
PETS: Final = as_set(
    "dog puppy pup cat kitten rabbit bunny hamster guinea-pig horse pony parrot budgie bird tortoise turtle snake"
    " lizard fish goldfish ferret rat mouse hen chicken cockerel duck goat sheep donkey cow labrador greyhound poodle"
    " beagle collie terrier spaniel dachshund retriever shepherd sheepdog tabby corgi husky pug whippet lurcher mutt"
    " tomcat bulldog dalmatian chihuahua hound setter parakeet cockatiel rooster axolotl gecko canary"
) | {"guinea pig"}
BREEDS: Final = dict.fromkeys(
    as_set(
        "labrador greyhound poodle beagle collie terrier spaniel dachshund retriever shepherd sheepdog corgi husky pug"
        " whippet lurcher mutt bulldog dalmatian chihuahua hound setter puppy pup"
    ),
    "dog",
) | dict.fromkeys(as_set("kitten tabby tomcat"), "cat")
"""Other words for an animal, and what “the dog” may mean."""
PET_GROUPS: Final = frozenset({f"{pet}s" for pet in PETS} | {"puppies", "ponies"})
_ALIKE: Final = tuple(
    map(
        as_set,
        (
            "mother mum mom mam mama mummy parent",
            "father dad daddy papa parent",
            "wife husband partner spouse girlfriend boyfriend fiancée fiancé",
            "daughter child kid girl baby toddler teenager eldest youngest oldest twin",
            "son child kid boy baby toddler teenager eldest youngest oldest twin",
            "grandmother grandma gran granny nan nana",
            "grandfather grandad grandpa granddad",
            "sister sibling twin",
            "brother sibling twin",
            "neighbour neighbor landlord landlady",
            "flatmate housemate roommate friend mate buddy bestie best",
            "colleague coworker co-worker boss manager supervisor friend",
            "doctor gp surgeon therapist",
            "dog puppy pup",
            "cat kitten",
        ),
    )
)
"""Words that may mean the same one."""
_KIN: Final = FEMALE | MALE | PETS | as_set("partner child kid baby toddler twin cousin grandchild parent sibling")
"""Those of whom one is never another: a friend may be a colleague, too."""
_OWNED: Final = re.compile(
    r"\b(?:(?P<name>[A-ZÀ-ÞĀ-Ž][\w-]{1,30})['’]s|(?:[Mm]y|[Oo]ur|[Tt]he) (?!user['’]s)(?P<role>[a-z][a-z-]{1,30})['’]s"
    r"|[Mm]y|[Oo]ur|[Tt]he user['’]s) (?P<thing>(?!own\b)[a-z][a-z-]{1,30})(?!['’])\b"
)
"""“Sami's birthday”, “my birthday”, “the neighbour's parrot”."""


_NAMED: Final = re.compile(
    rf"\b(?P<role>(?i:{alternatives(PEOPLE)})),? (?P<name>[A-ZÀ-ÞĀ-Ž][\w-]{{1,30}})\b"
    r"|\b(?P<colleague>[A-ZÀ-ÞĀ-Ž][\w-]{1,30}) (?:from|at) (?:the |my |our )?(?:work|office)\b"
)
"""“My cousin Priya”, “Omar from work”."""


_ASKED_KIN: Final = re.compile(rf"(?i)\b(?:my|our) (?P<role>{alternatives(_KIN)})\b(?!['’-])")
_OPENING_KIN: Final = re.compile(rf"(?i)(?:my|our|the user['’]s) (?P<role>{alternatives(_KIN)})\b(?!['’-])")


def alike(role: str) -> frozenset[str]:
    """The words that may mean the same one: “mum” for “mother”, “kid” for “son”."""
    animal = BREEDS.get(role, role)
    breeds = {breed for breed, kind in BREEDS.items() if kind == animal}
    return frozenset({role, animal} | breeds).union(*(words for words in _ALIKE if role in words))


def opens_with_another(asked: str, text: str) -> bool:
    """Whether a question asks about one relative or animal, and the text is about another, whom it names first: “Where
    does my brother live?”, “My sister Mary lives in Lisbon”."""
    roles = {found["role"].lower().removeprefix("step") for found in _ASKED_KIN.finditer(asked)}
    opening = _OPENING_KIN.match(text)
    if len(roles) != 1 or opening is None:
        return False
    (role,) = roles
    meant = alike(role) | {f"step{role}"}
    named = re.search(rf"(?i)\b(?:{alternatives(meant)})\b", text)
    return opening["role"].lower() not in meant and named is None


def are_of_others(one: str, other: str) -> bool:
    """Whether two texts name the same thing of different people, “Sami's birthday”, “Leila's birthday again?”, or
    different people of one name, “my cousin Priya”, “my colleague Priya”."""
    pairs = ((_owners(one), _owners(other)), (_roles(one), _roles(other)))
    return any(mine[what].isdisjoint(theirs[what]) for mine, theirs in pairs for what in mine.keys() & theirs.keys())


def _roles(text: str) -> dict[str, set[str]]:
    """What each one is to someone, of those who are named with it."""
    roles: dict[str, set[str]] = {}
    for found in _NAMED.finditer(text):
        who, role = found["name"] or found["colleague"], (found["role"] or "colleague").lower()
        roles.setdefault(who, set()).add(role)
    return roles


def _owners(text: str) -> dict[str, set[str]]:
    """Whose each thing is that a text names with its owner; empty: the user's."""
    owners: dict[str, set[str]] = {}
    for found in _OWNED.finditer(text):
        owners.setdefault(found["thing"], set()).add(found["name"] or found["role"] or "")
    return owners
