"""Changes the person of a sentence: a memory becomes "Your sister …" for the user, and what the user wants remembered
becomes "The user's sister …".
"""

import re

THIRD_TO_SECOND = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "goes": "go",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "doesn't": "don't",
}
FIRST_TO_SECOND = {
    "i'm": "you're",
    "i am": "you are",
    "i was": "you were",
    "am i": "are you",
    "i've": "you've",
    "i'll": "you'll",
    "i'd": "you'd",
    "i": "you",
    "my": "your",
    "mine": "yours",
    "me": "you",
    "myself": "yourself",
}
FIRST_TO_THIRD = {
    "i'm": "the user is",
    "i am": "the user is",
    "i was": "the user was",
    "i have": "the user has",
    "i've": "the user has",
    "i do": "the user does",
    "i don't": "the user doesn't",
    "i'll": "the user will",
    "i'd": "the user would",
    "my": "the user's",
    "mine": "the user's",
    "me": "the user",
    "myself": "the user",
}
# After "I" these keep their form in the third person; other verbs get an -s.
SAME_IN_THIRD = re.compile(r"will|would|can|could|shall|should|may|might|must|had|did|went|got|\w+ed")
ADVERBS = r"(?:also|still|now|often|usually|sometimes|really|always|never|\w+ly)"
# Verbs that are changed after "and" or "but" too, where any word in -s could as well be a noun.
JOINED_VERBS = "is|was|has|does|goes|lives|works|likes|loves|enjoys|plays|prefers|wants|needs|studies|speaks"

USER_SUBJECT = re.compile(rf"^(?:the )?user (?P<adverb>{ADVERBS} )?(?P<verb>[\w']+)", re.IGNORECASE)
USER_OWNER = re.compile(r"\b(?:the )?user['’]s\b", re.IGNORECASE)
USER_ELSEWHERE = re.compile(r"\bthe user\b", re.IGNORECASE)
JOINED = re.compile(rf"\b(and|but) ({JOINED_VERBS})\b")
FIRST_PERSON = re.compile(rf"\b(?:{'|'.join(sorted(FIRST_TO_SECOND, key=len, reverse=True))})\b(?!['’])", re.IGNORECASE)


I_AND_VERB = re.compile(rf"\bI (?P<adverb>{ADVERBS} )?(?P<verb>\w+)\b")
OWN_PERSON = re.compile(rf"\b(?:{'|'.join(sorted(FIRST_TO_THIRD, key=len, reverse=True))})\b", re.IGNORECASE)


def to_user(sentence: str) -> str:
    """The sentence as said to the user, with a capital first and a full stop last."""
    told = sentence.strip().replace("’", "'")
    if USER_SUBJECT.match(told):
        told = _subject(told)
    elif not USER_OWNER.search(told):
        told = FIRST_PERSON.sub(lambda found: FIRST_TO_SECOND[found[0].lower()], told)
    told = USER_ELSEWHERE.sub("you", USER_OWNER.sub("your", told))
    told = told[:1].upper() + told[1:]
    return told if told.endswith((".", "!", "?", ":", "”", '"')) else f"{told}."


def _subject(told: str) -> str:
    """ "The user lives … and works …" → "You live … and work …"."""
    told = USER_SUBJECT.sub(lambda found: f"You {found['adverb'] or ''}{second_person(found['verb'])}", told)
    told = JOINED.sub(lambda found: f"{found[1]} {second_person(found[2])}", told)
    return re.sub(r"\btheir\b", "your", told)


def second_person(verb: str) -> str:
    """lives → live, studies → study, watches → watch, is → are; other words unchanged."""
    if verb.lower() in THIRD_TO_SECOND:
        return THIRD_TO_SECOND[verb.lower()]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def about_user(sentence: str) -> str:
    """What the user said of themselves as a statement about them: "I like tea" → "The user likes tea."."""
    told = OWN_PERSON.sub(lambda found: FIRST_TO_THIRD[found[0].lower()], sentence.strip().replace("’", "'"))
    told = I_AND_VERB.sub(lambda found: f"the user {found['adverb'] or ''}{third_person(found['verb'])}", told)
    told = told[:1].upper() + told[1:]
    return told if told.endswith((".", "!", "?")) else f"{told}."


def third_person(verb: str) -> str:
    """live → lives, study → studies, watch → watches; will, moved and the like unchanged."""
    if SAME_IN_THIRD.fullmatch(verb):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("ch", "sh", "s", "x", "z", "o")) else f"{verb}s"
