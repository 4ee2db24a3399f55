"""Words for people and animals in the user's life, and the pronouns that may mean them."""

from __future__ import annotations

from typing import Final

FEMALE: Final = (
    "sister", "mother", "mum", "mom", "wife", "daughter", "girlfriend", "aunt", "auntie", "grandmother", "grandma",
    "granny", "niece", "fiancée", "sister-in-law", "mother-in-law", "daughter-in-law", "stepmother", "stepsister",
    "granddaughter", "godmother", "nan", "nana", "gran", "gf", "stepmum", "stepmom", "stepdaughter", "goddaughter",
    "ex-wife", "ex-girlfriend", "half-sister",
    "great-aunt", "auntie", "mummy", "bride", "landlady", "girl", "sister in law", "mother in law", "daughter in law",
    "foster daughter", "nanna", "nonna", "abuela", "oma", "mama", "mam", "sis", "missus", "mil", "sil",
)  # fmt: skip
MALE: Final = (
    "brother", "father", "dad", "husband", "son", "boyfriend", "uncle", "grandfather", "grandpa", "nephew", "fiancé",
    "brother-in-law", "father-in-law", "son-in-law", "stepfather", "stepbrother", "grandson", "godfather",
    "grandad", "granddad", "bf", "stepdad", "stepson", "godson", "ex-husband", "ex-boyfriend", "half-brother", "hubby",
    "great-uncle", "daddy", "groom", "boy", "brother in law", "father in law", "son in law", "foster son", "opa",
    "nonno", "papa", "fil", "bil",
)  # fmt: skip
OF_AN_AGE: Final = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|\w+teen)[- ]year[- ]old(?=[,.)?!]|$| (?-i:[A-Z])"
    r"| (?:is|has|was|loves|likes|hates|wants|needs|starts|can't|won't|doesn't|just|who|and|keeps|refuses)\b)"
)
"""“My five-year-old”, and nothing behind it that is of that age: a pattern, as there are so many."""
ANYONE: Final = (
    "partner", "spouse", "fiance", "friend", "best friend", "cousin", "boss", "manager", "colleague", "coworker",
    "co-worker", "teacher", "roommate", "flatmate", "housemate", "neighbour", "neighbor", "child", "kid", "baby",
    "twin", "sibling", "ex", "doctor", "therapist", "landlord", "landlady", "mentor", "assistant", "coach",
    "in-laws", "parents", "grandparents", "tutor", "gp", "dentist", "co-founder", "cofounder", "business partner",
    "editor", "physio", "barber", "supervisor", "professor", "intern", "team lead", "pen pal", "mate", "buddy", "pal",
    "classmate", "lecturer", "trainer", "accountant", "lawyer", "nanny", "babysitter", "godparent", "fiancee",
    "other half",
    "physiotherapist", "surgeon", "vet", "midwife", "psychologist", "instructor", "piano teacher", "head teacher",
    "line manager", "bestie", "guide dog", "toddler", "newborn", "teenager", "bandmate", "workmate", "deskmate",
    "study partner", "in laws", "lodger", "tenant", "grandchild", "stepchild", "godchild", "foster child",
    "preschooler", "eldest", "oldest", "youngest", "firstborn",
    OF_AN_AGE,
    "teen", "grandparent", "chairman", "chairwoman", "headteacher", "childminder", "running partner",
    "training partner",
    "climbing partner", "gym buddy", "team mate", "teammate", "cellmate", "roomie", "lab partner", "dance partner",
    "study partner", "advisor", "adviser", "counsellor", "counselor", "carer", "employee", "student", "pupil",
    "cleaner", "gardener", "hairdresser", "mechanic", "builder", "electrician", "plumber", "handyman", "solicitor",
    "pastor", "priest", "vicar", "stylist", "chiropractor", "osteopath", "nutritionist", "counsellor",
)  # fmt: skip
ANIMALS: Final = (
    "dog", "cat", "puppy", "kitten", "horse", "rabbit", "parrot", "hamster", "pet", "bird", "tortoise",
    "turtle", "guinea pig", "pony", "donkey", "goat", "hen", "cockerel", "ferret", "gerbil", "rat", "snake", "gecko",
    "lizard", "budgie", "canary", "cockatiel", "goldfish", "labrador", "greyhound", "spaniel", "poodle", "retriever",
    "collie", "terrier", "beagle", "husky", "dachshund", "corgi", "pug", "bulldog", "whippet", "chicken", "duck",
    "mare",
    "foal", "labradoodle", "cockapoo", "cavapoo", "staffie", "jack russell", "shih tzu", "chihuahua",
    "maine coon", "ragdoll", "rottweiler", "malinois", "pit bull", "pitbull", "german shepherd", "sheepdog", "mongrel",
    "mutt", "lurcher", "samoyed", "pomeranian", "dalmatian", "great dane", "schnauzer", "yorkie", "frenchie",
    "goldendoodle", "bearded dragon", "corn snake", "cockatoo", "macaw", "lovebird", "betta", "stallion", "gelding",
    "tomcat", "rescue dog", "rescue cat", "house rabbit", "akita",
    "axolotl", "iguana", "chinchilla", "hedgehog", "tabby", "bunny", "pup",
)  # fmt: skip

PEOPLE: Final = (*FEMALE, *MALE, *ANYONE)

ADJECTIVES: Final = (
    "older", "elder", "eldest", "oldest", "younger", "youngest", "big", "little", "twin", "best", "old", "new", "late",
    "ex", "half", "step", "middle", "dear", "first", "second", "good", "close",
)  # fmt: skip
"""What may stand between “my” and the word for a person."""

CIRCLE: Final = (
    "friend", "neighbour", "neighbor", "colleague", "coworker", "co-worker", "classmate", "cousin", "flatmate",
    "roommate", "housemate",
)  # fmt: skip
"""People who are somebody's even behind “a”: “a neighbour watered my plants”."""
PRONOUNS: Final[dict[str, tuple[str, ...]]] = {
    "she": (*FEMALE, *ANYONE, *ANIMALS),
    "he": (*MALE, *ANYONE, *ANIMALS),
    "they": (
        "partner", "spouse", "child", "kid", "baby", "sibling", "twin", "toddler", "teenager", "teen", "parents",
        "grandparents", "in-laws", "in laws", "grandchild", "flatmate", "roommate", "housemate", "friend", "best "
        "friend",
        *ANIMALS,
    ),
}  # fmt: skip
"""Whom a pronoun may mean: “he” is never the sister, and “they” are not the uncle."""


def alternatives(words: tuple[str, ...]) -> str:
    """A pattern for any of `words`; the longer first, so that “best friend” is not read as a friend of another kind."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def may_mean(pronoun: str, relation: str) -> bool:
    """Whether `pronoun` (she, he or they) may mean somebody who is `relation` to the user."""
    return relation.lower() in PRONOUNS.get(pronoun.lower(), ())


CREATURES: Final = (
    rf"{alternatives(ANIMALS)}|dogs|cats|puppies|kittens|hens?|chickens?|cockerel|rooster|ducks?"
    rf"|geese|goats?|sheep|pigs?"
    r"|cows?|pony|ponies|donkey|guinea pigs?|gerbils?|rats?|mice|ferrets?|tortoises?|turtles?|snakes?|gecko|lizards?"
    r"|iguana|frogs?|axolotl|budgies?|canar(?:y|ies)|cockatiel|parakeet|finches|goldfish|fish|koi|spaniel|labrador"
    r"|retriever|poodle|greyhound|collie|terrier|beagle|husky|dachshund|corgi|pug|bulldog|whippet|shepherd|cob|mare"
    r"|gelding|foal|neon tetras|tetras?|guppies|corys|corydoras|bettas?|quails?|alpacas?|llamas?|tarantula"
    r"|stick insects?|rabbits|horses|hamsters|birds|parrots"
)
"""Any animal somebody keeps, as a part of a pattern."""
