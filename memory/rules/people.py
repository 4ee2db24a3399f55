"""Who is somebody to the user? The words for people and animals, and which pronouns may mean them."""

from __future__ import annotations

from typing import Final

FEMALE: Final = (
    "sister", "mother", "mum", "mom", "wife", "daughter", "girlfriend", "aunt", "auntie", "grandmother", "grandma",
    "granny", "niece", "fiancée", "sister-in-law", "mother-in-law", "daughter-in-law", "stepmother", "stepsister",
    "granddaughter", "godmother",
)  # fmt: skip
MALE: Final = (
    "brother", "father", "dad", "husband", "son", "boyfriend", "uncle", "grandfather", "grandpa", "nephew", "fiancé",
    "brother-in-law", "father-in-law", "son-in-law", "stepfather", "stepbrother", "grandson", "godfather",
)  # fmt: skip
ANYONE: Final = (
    "partner", "spouse", "fiance", "friend", "best friend", "cousin", "boss", "manager", "colleague", "coworker",
    "co-worker", "teacher", "roommate", "flatmate", "housemate", "neighbour", "neighbor", "child", "kid", "baby",
    "twin", "sibling", "ex", "doctor", "therapist", "landlord", "landlady", "mentor", "assistant", "coach",
)  # fmt: skip
ANIMALS: Final = ("dog", "cat", "puppy", "kitten", "horse", "rabbit", "parrot", "hamster", "pet", "bird")

PEOPLE: Final = (*FEMALE, *MALE, *ANYONE)

ADJECTIVES: Final = (
    "older", "elder", "eldest", "oldest", "younger", "youngest", "big", "little", "twin", "best", "old", "new", "late",
    "ex", "half", "step", "middle", "dear", "first", "second", "good", "close",
)  # fmt: skip
"""What may stand between “my” and the word for a person."""

PRONOUNS: Final[dict[str, tuple[str, ...]]] = {"she": (*FEMALE, *ANYONE), "he": (*MALE, *ANYONE), "they": PEOPLE}
"""Whom a pronoun may mean: “he” is never the sister."""


def alternatives(words: tuple[str, ...]) -> str:
    """A pattern for any of `words`; the longer first, so that “best friend” is not read as a friend of another kind."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def may_mean(pronoun: str, relation: str) -> bool:
    """Whether `pronoun` (she, he or they) may mean somebody who is `relation` to the user."""
    return relation.lower() in PRONOUNS.get(pronoun.lower(), ())
