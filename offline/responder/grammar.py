"""Rewrites a sentence in another grammatical person. Pure, and English only.

A memory becomes "Your sister …" for the user (`second_person`), what the user just said becomes "you moved to Lyon"
(`restate_claim`), and what they want remembered becomes "The user's sister …" (`third_person`).
"""

import re

HAVE_AND_BE = {
    "is": "are", "was": "were", "has": "have", "does": "do", "goes": "go",
    "isn't": "aren't", "wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't",
}  # fmt: skip
FIRST_TO_SECOND = {
    "i'm": "you're", "i am": "you are", "i was": "you were", "am i": "are you", "was i": "were you", "i've": "you've",
    "i'll": "you'll", "i'd": "you'd", "i": "you", "my": "your", "mine": "yours", "me": "you", "myself": "yourself",
    "we're": "you're", "we've": "you've", "we'll": "you'll", "we'd": "you'd", "we": "you", "our": "your",
    "ours": "yours", "us": "you", "ourselves": "yourselves",
}  # fmt: skip
FIRST_TO_THIRD = {
    "i'm": "the user is", "i am": "the user is", "i was": "the user was", "i have": "the user has",
    "i've": "the user has", "i do": "the user does", "i don't": "the user doesn't", "i'll": "the user will",
    "i'd": "the user would", "my": "the user's", "mine": "the user's", "me": "the user", "myself": "the user",
}  # fmt: skip
# After "I" these keep their form in the third person; other verbs get an -s.
SAME_IN_THIRD = re.compile(r"will|would|can|could|shall|should|may|might|must|had|did|went|got|\w+ed")
ADVERBS = r"(?:also|still|now|often|usually|sometimes|really|always|never|\w+ly)"
# Verbs that are also changed after "and" or "but", where any word in -s could just as well be a noun.
JOINED_VERBS = (
    "is|isn't|was|has|does|doesn't|goes|lives|works|likes|loves|enjoys|plays|prefers|wants|needs|studies|speaks|"
    "teaches|owns|hates|eats|drinks|runs|uses|keeps"
)


def _either(words: dict[str, str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


NO_LONGER = "It is no longer true that "
USER_SUBJECT = re.compile(rf"^(?:the )?user (?P<adverb>{ADVERBS} )?(?P<verb>[\w']+)", re.IGNORECASE)
USER_OWNER = re.compile(r"\b(?:the )?user['’]s\b", re.IGNORECASE)
USER_OWNS = re.compile(r"\b(?:the )?user['’]s(?= ?(?:[,.;:!?)]|$))", re.IGNORECASE)
USER_ELSEWHERE = re.compile(r"\bthe user\b", re.IGNORECASE)
JOINED = re.compile(rf"\b(and|but) ({JOINED_VERBS})\b")
PRESENT_VERB = re.compile(rf"(?<![\w'’-])(?P<verb>are|{JOINED_VERBS})(?![\w'’-])")
FIRST_VERB = re.compile(
    rf"(?<![\w'’-])(?:(?P<past>was|were|had|did|used to)|(?P<present>are|{JOINED_VERBS}))(?![\w'’-])"
)
PAST = {"is": "was", "isn't": "wasn't", "are": "were", "has": "had", "does": "did", "doesn't": "didn't"}
FIRST_PERSON = re.compile(
    rf"\b(?:(?P<says>told|tell|asked?|gave) you|{_either(FIRST_TO_SECOND)})\b(?!['’])", re.IGNORECASE
)
YOU_ARE = re.compile(r"(?<!and )\b([Yy]ou) are(?= \w)")
I_AND_VERB = re.compile(rf"\b[Ii] (?P<adverb>{ADVERBS} )?(?P<verb>\w+)\b")
OWN_PERSON = re.compile(rf"\b(?:{_either(FIRST_TO_THIRD)})\b", re.IGNORECASE)

LEAD_IN = re.compile(
    r"^(?:(?:no(?! (?:longer|more)\b)|nope|yes|yeah|yep|well|oh|ugh|argh|omg|phew|wow|so|and|but|also|hi"
    r"|hello|hey|sorry|ok|okay|actually|btw"
    r"|by the way|in fact|"
    r"(?:please )?(?:remember|note|keep in mind|don['’]t forget) that(?! (?:time|day|one|was|is)\b)|"
    r"that's (?:wrong|right|not right)|correction(?=\W* (?!to\b)|\W+$)|fyi)\b[\s,.:;!–-]*)+",
    re.IGNORECASE,
)
"""The words before the claim in "No, actually I live in Lyon"."""
TAKES_BACK = re.compile(
    r"^(?:please )?(?:ignore|forget|disregard|scratch) (?:what|everything) i (?:said|told you)(?: about [^,;]+)?[,;:] ",
    re.IGNORECASE,
)
"""The words before the claim in "Ignore what I said about nuts, I'm not allergic to them"."""
TRAIL = re.compile(r"(?:[ ,]{1,3}(?:tbh|lol|haha|btw|ngl|imo|though|pls|please|thanks))+(?=[.!]*$)", re.IGNORECASE)
"""The words behind it: "I hate mornings tbh"."""
CLAIM = re.compile(
    r"^(?:(?:[Ii]|[Ww]e)\b(?:['’](?:m|ve|d|re))? |(?:[Mm]y|[Oo]ur) \w|"
    r"(?:[Ss]?[Hh]e|[Tt]hey) (?:is|isn't|has|was|lives?|works?|moved|had)\b|"
    rf"[A-ZÀ-ÞĀ-Ž][a-z]+(?: and [A-ZÀ-ÞĀ-Ž][a-z]+)? (?:{JOINED_VERBS}|are|moved|had|left|started|stopped)\b)"
)
NO_CLAIM = re.compile(
    r"^(?:i|we)(?:['’]\w+)? (?:\w+ly )?(?:think|guess|wish|hope|want|would|could|should|might|may|"
    r"(?:was )?wonder(?:ing)?|need|told|said|mean|meant|know|knew|don't (?:know|think|want|understand)|feel|see|agree|"
    r"understand|asked?|have (?:an?|another|one|some) (?:\w+ )?(?:question|problem|request|idea)s?\b|like to\b|"
    r"(?:am )?(?:sorry|fine|ok|okay|good|back|here|sure|not|so|tired|bored|asking|trying|kidding|joking)\b)|"
    r"^(?:this|that|these|there|it|what|here)\b|\b(?:if|maybe|perhaps|you|your|yours|imagine|suppose)\b|[“”\"`{}<>\n]",
    re.IGNORECASE,
)
"""Wishes, thoughts, talk to the assistant, suppositions and quotations: perhaps true, but not to be repeated."""
CLAIM_WORDS = range(3, 19)
_TURNS = (
    r"\b(?i:mov|chang|switch|swapp?|relocat|shift|transferr?|upgrad|convert|went|rais|lower|increas|reduc|cut|dropp)"
    r"\w*\b"
)
"""Before “from 640 to 690”: one took the other's place."""
DENIED = (
    (re.compile(r"^(?:(?:i|we)(?:'ve| have)? )?changed (?:my|our) minds? about [^,;:]+[,;:] (?:and |so |but )?",
                re.I), ""),
    (re.compile(r"^(?:i'm |i am |been )?off [^,;:]+[,;:] (?:and |so |but )?(?=now\b|i\b|i'm\b)", re.I), ""),
    (re.compile(r"^(.{1,120}?) (?:isn't|is not|wasn't|was not) [^,;]+?[,;] (?:but |and )?"
                r"(?:it's|it is|it was|he's|she's) ", re.I), r"\1 is "),
    (re.compile(r"^(?:[\w']+[ ,]+){0,3}?(?:(?:i'm|i am|we're) (?:not|no longer)|(?:i|we) (?:don't|no longer)|not) "
                r"[^,;:]+?[,;:] (?:but )?(?=(?:i|we|i'm|we're|it's)\b)", re.I), ""),
    (re.compile(r"^(?:i|we) used to [^,;]+?[,;] (?:but )?(?=now\b|i\b|i'm\b|we\b|we're\b|these days\b)", re.I), ""),
    (re.compile(r"(?<=\w)(?:,? (?:rather than|instead of)|, (?:and )?(?:not|no longer)) [^,;.!?]+", re.I), ""),
    (re.compile(rf"({_TURNS}[^;.!?]{{0,40}}?),? from [^,;.!?]{{1,80}}?(?= to \w)", re.I), r"\1"),
)  # fmt: skip
"""What is left out of an answer about now."""


_DAY = r"(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
_VALUE = (
    rf"\d[\d:.,]*(?<=\d)(?:st|nd|rd|th)?|{_DAY}|[A-ZÀ-ÞĀ-Ž][\w'’-]+(?: [A-ZÀ-ÞĀ-Ž][\w'’-]+)*|an? [a-z]+(?: [a-z]+)?"
)
CONTRASTS = (
    re.compile(rf"\b(?P<new>{_VALUE})(?P<cut>,? (?:and )?not (?P<old>{_VALUE}))\b"),
    re.compile(rf"\b(?P<cut>not (?:the )?(?P<old>{_VALUE})(?:[,;:.]| but) )(?:[a-z'’]+ ){{0,3}}?(?P<new>{_VALUE})\b"),
    re.compile(rf"\b(?:is|was|are)(?P<cut>(?: not|n['’]?t) (?P<old>{_VALUE})[,;:.!] (?:it|that|s?he|they)['’]?(?:s|re))"
               rf" (?P<new>{_VALUE})\b"),
    re.compile(rf"{_TURNS}[^.;!?]{{0,40}}?(?P<cut>,? from (?P<old>{_VALUE})(?: [a-z]+)?)(?= to (?P<new>{_VALUE})\b)"),
)  # fmt: skip
"""“9 not 8”, “not Trieste, they're in Treviso”, “not a pilot, a radio operator”, “isn't Karin, it's Corinne”, “raised
from 640 to 690”: both of one kind."""


def find_contrast(text: str) -> re.Match[str] | None:
    """What a text says is so instead of something else: groups `new`, `old`, and `cut`, the words that deny."""
    found = (pattern.search(text) for pattern in CONTRASTS)
    return next((one for one in found if one and _kind(one["old"]) == _kind(one["new"])), None)


def _kind(value: str) -> tuple[bool, bool]:
    return value[0].isdigit(), value[0].isupper() and re.fullmatch(_DAY, value) is None


def without_contrast(text: str) -> str:
    """The text without the value that it denies, if it says another."""
    found = find_contrast(text)
    return text[: found.start("cut")] + text[found.end("cut") :] if found else text


def without_denied(sentence: str) -> str:
    """What a sentence says is so, without what it says is not, or no longer: “Bisto, not Biscuit” → “Bisto”.

    A sentence that only denies stays as it is.
    """
    for pattern, kept in DENIED:
        sentence = pattern.sub(kept, sentence, count=1)
    return sentence


def second_person(sentence: str) -> str:
    """The sentence as said to the user, with an initial capital and a final period."""
    text = sentence.strip().replace("’", "'")
    if (said := text.removeprefix(NO_LONGER)) != text:
        said = second_person(said)
        return f"{NO_LONGER}{said[0].lower()}{said[1:]}"
    if USER_SUBJECT.match(text):
        text = _user_as_subject(text)
    elif not USER_OWNER.search(text):
        text = FIRST_PERSON.sub(_to_second, text)
    text = USER_ELSEWHERE.sub("you", USER_OWNER.sub("your", USER_OWNS.sub("yours", text)))
    return _finish(YOU_ARE.sub(r"\1're", text))


def _to_second(found: re.Match[str]) -> str:
    return f"{found['says']} me" if found["says"] else FIRST_TO_SECOND[found[0].lower()]


def in_past(statement: str) -> str:
    """A statement that is over: "The user lives in Nantes." → "The user used to live in Nantes."; one whose first verb
    is past, or unknown, stays."""
    if " no longer " in statement:
        return statement
    subject = USER_SUBJECT.match(statement)
    if subject is None:
        first = FIRST_VERB.search(statement)
        return PRESENT_VERB.sub(_past_verb, statement, count=1) if first and first["present"] else statement
    verb = subject["verb"]
    is_present = verb in PAST or (verb.endswith("s") and not verb.endswith("ss") and verb != "was")
    past_verb = PAST.get(verb) or f"used to {second_person_verb(verb)}"
    return (
        f"{statement[: subject.start('verb')]}{past_verb}{statement[subject.end('verb') :]}"
        if is_present
        else statement
    )


def _past_verb(found: re.Match[str]) -> str:
    return PAST.get(found["verb"]) or f"used to {second_person_verb(found['verb'])}"


def restate_claim(text: str) -> str | None:
    """The first clear claim of a message, as said to the user and without a period; None: there is none."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text.strip()):
        claim = TRAIL.sub("", LEAD_IN.sub("", sentence).rstrip(" .!;,"))
        if claim.endswith("?") or len(claim.split()) not in CLAIM_WORDS:
            continue
        if CLAIM.match(claim) and not NO_CLAIM.search(claim):
            told = second_person(claim).rstrip(".")
            return told[0].lower() + told[1:] if told.lower().startswith(("you", "she ", "he ", "they ")) else told
    return None


def third_person(sentence: str) -> str:
    """A user's statement about themselves in the third person: "I like tea" → "The user likes tea."."""
    text = OWN_PERSON.sub(lambda found: FIRST_TO_THIRD[found[0].lower()], sentence.strip().replace("’", "'"))
    text = I_AND_VERB.sub(lambda found: f"the user {found['adverb'] or ''}{third_person_verb(found['verb'])}", text)
    return _finish(text)


def second_person_verb(verb: str) -> str:
    """lives → live, studies → study, watches → watch, is → are; other words unchanged."""
    if verb.lower() in HAVE_AND_BE:
        return HAVE_AND_BE[verb.lower()]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def third_person_verb(verb: str) -> str:
    """live → lives, study → studies, watch → watches; will, moved and similar words unchanged."""
    if SAME_IN_THIRD.fullmatch(verb):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("ch", "sh", "s", "x", "z", "o")) else f"{verb}s"


def _user_as_subject(text: str) -> str:
    """ "The user lives … and works …" → "You live … and work …"."""
    text = USER_SUBJECT.sub(lambda found: f"You {found['adverb'] or ''}{second_person_verb(found['verb'])}", text)
    text = JOINED.sub(lambda found: f"{found[1]} {second_person_verb(found[2])}", text)
    text = re.sub(r"\b(?:themsel(?:f|ves)|himself|herself)\b", "yourself", text)
    return re.sub(r"\btheir\b", "your", text)


def _finish(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", ":", "”", '"')) else f"{text}."
