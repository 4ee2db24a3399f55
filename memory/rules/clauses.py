"""What does a message claim, clause by clause? Finds the clauses, and says which are no plain claims.

    a question            claims nothing: left out
    a made-up world       (“write a story in which I …”) claims nothing: left out
    a supposition         (“if I …”, “imagine I …”) is marked hypothetical, from the mark to the end of the sentence
    somebody's claim      (“my boss says I …”) is marked reported, from the mark to the end of the sentence
    a doubt               (“I think …”, “maybe”) is marked hedged
    a correction          (“actually”, “no longer”) is marked so

Positions are those of the message, so that a quote is a slice of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory.own_words import own_words
from memory.rules.language import is_english
from memory.rules.people import ADJECTIVES, PEOPLE, alternatives, may_mean

MAX_MESSAGE = 20_000
"""Characters read of one message; who writes more pastes a document."""
MAX_CLAUSE = 300
"""A longer clause is no plain statement and is left out. Bounds the work of every pattern."""
MAX_BACK = 200
"""A quote reaches back at most so many characters, for the name that “she” stands for."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One claim: the text the patterns are held against, and where it stands in the message."""

    text: str
    """With its subject filled in, and without “well, ” before or “, you know” behind."""
    start: int
    end: int
    hypothetical: bool = False
    reported: bool = False
    hedged: bool = False
    correction: bool = False


# Marks -----------------------------------------------------------------------------------------------------------

_POLITE = (
    r"(?:you (?:don't mind|must know|need|want to know)|it (?:helps|matters|is relevant)|that (?:helps|matters)|i"
    r" remember"
    r"|i recall|i'm (?:honest|not mistaken)|i am honest|you(?:'re| are) (?:curious|wondering|interested)|needed"
    r"|relevant)"
)
_SUPPOSED = re.compile(
    rf"\b(?:(?:if|unless|in case)(?! {_POLITE}\b)|suppos(?:e|ing)|imagin(?:e|ing)|assum(?:e|ing)|pretend|what if|i wish"
    r"|as (?:if|though)|let's (?:say|pretend|imagine|assume)|hypothetically|would have|i dreamed|i dreamt)\b",
    re.I,
)
_PLAYING = re.compile(
    r"^(?:please )?(?:imagine|pretend|suppose|let's (?:pretend|imagine|play|role-?play)|role-?play|act as|play the)\b",
    re.I,
)
"""Begins a game: the rest of the message is supposed too."""
_CLAIMED = re.compile(
    r"(?<!\bi )\b(?:says?|said|writes|wrote|told (?:me|us|everyone)|tells (?:me|us)|thinks|believes|claims?|claimed"
    r"|insists|reckons"
    r"|joked?|according to|i(?:'ve)? (?:heard|read)(?: somewhere)?(?: that| my)|rumou?r|apparently|supposedly"
    r"|allegedly)\b",
    re.I,
)
_DOUBT = re.compile(
    r"\b(?:i think|i guess|i believe|i suppose|i'm not sure|maybe|perhaps|probably|possibly|might be|may be)\b", re.I
)
_CORRECTING = re.compile(
    r"^(?:no|sorry|correction|update)[,.:!]|\b(?:actually|correction|i meant|i mean|no longer|any ?more|any longer"
    r"|(?:is|was|'s|are) (?:wrong|not (?:right|true|correct)))\b",
    re.I,
)
_WRONG = re.compile(
    r"(?:no|nope|sorry|correction|update|(?:no, |sorry, )?(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:right|true"
    r"|correct)))[,.:!]?$",
    re.I,
)
"""A sentence that says no more than that something was wrong: the next one corrects it."""
_MAKING_UP = re.compile(
    r"^(?:(?:please|ok|okay|now|hey|hi|can you|could you)[, ]+){0,3}(?:write|draft|compose|create|generate|translate"
    r"|make up"
    r"|invent|tell (?:me|us) a (?:story|joke)|continue the|proofread|summari[sz]e|rephrase|rewrite)\b",
    re.I,
)

_WH = r"(?:what|where|who|whom|whose|when|why|how|which)"
_AUXILIARY = (
    r"(?:is|are|am|was|were|do|does|did|don't|doesn't|didn't|can|could|would|will|should|shall|may|might|has|have|had"
    r"|isn't|aren't|can't|couldn't|won't|wouldn't)"
)
_ASKED = (
    r"(?:you|i|we|he|she|it|they|there|my|your|his|her|our|their|this|that|these|those|the|an?|any|anyone|some|someone)"
)
_QUESTION = re.compile(
    rf"^(?:(?:so|and|but|ok|okay|hey|hi|hello|also|well|please|now)[, ]+){{0,3}}(?:{_AUXILIARY} {_ASKED}\b"
    rf"|{_WH}(?:'s|'re)? (?:{_AUXILIARY}|to|about|many|much|long|old|often)\b|{_WH}'s\b|guess {_WH}\b)",
    re.I,
)
"""Begins like a question, with or without its mark."""
_QUESTION_TAIL = re.compile(
    rf"(?:,|;| -| –| —)?\s{{1,9}}(?:and |but |so )?(?={_WH} (?:{_AUXILIARY}|to|about|kind|sort|many|much)\b|{_WH}'s\b"
    rf"|{_AUXILIARY} {_ASKED}\b"
    r"|any (?:\w+ ){0,3}(?:tips?|ideas?|suggestions?|advice|recommendations?|thoughts?)\b)",
    re.I,
)
"""Where a question hangs on to a statement: “I'm allergic to nuts, what can I cook?”"""

# Cutting ---------------------------------------------------------------------------------------------------------

_SENTENCE_END = re.compile(r"[.!?…]{1,8}(?=[\s\"'”’)\]]|$)|\n+|[;:](?=\s)")
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|e\.g|i\.e|no|approx|ca)|(?:^|[\s.])[a-z])$", re.I)

_SUBJECT = (
    r"(?:(?:also|now|then|currently|still|really|actually) )?"
    r"(?:i'm|i've|i'd|i'll|im|i|my|we're|we've|we|our|she's|she|he's|he|they're|they)\b"
)
_BOUNDARY = re.compile(
    r"(?:"
    rf"(?:,|\s[-–—])?\s{{1,9}}(?:and|but|so|plus|because|since|although|though|while|whereas|as|which is"
    rf" why)\s{{1,9}}(?={_SUBJECT})"
    # not before the apposition in “Mary, my sister, …”
    rf"|(?:,|\s[-–—])\s{{1,9}}(?={_SUBJECT})(?!(?:my|our) [\w' -]{{1,30}},)"
    rf"|\s\((?={_SUBJECT})"
    rf"|(?:says?|said|told (?:me|us)|thinks|believes|claims|claimed|insists|reckons|heard|think|guess|believe)"
    rf"(?: that)?,?\s{{1,9}}(?={_SUBJECT})"
    r")",
    re.I,
)
_CARRIED_VERB = re.compile(
    r"(?:,? and|,? but) (?=(?:(?:also|now|currently|never|don't|can't|really) )?(?:live|lives|work|works|loves|likes"
    r"|hates"
    r"|enjoy|enjoys|prefer|prefers|speak|speaks|studies|have|has|moved|am|is|eat|can't stand)\b)"
    r"|, (?=(?:live|work (?:as|at|for))\b)",  # not “lives”: “My sister, Mary, lives …”
    re.I,
)
_CARRIED_TASTE = re.compile(r"(?:,? and|,? but|,) (?=(?:also |really )?(?:love|hate|like)\b)", re.I)
"""Behind a state only (“I'm 34 and love jazz”): behind another verb, love may be a noun (“energy and love”)."""
_CARRIED_STATE = re.compile(
    r"(?:,? and|,? but|,)\s(?=(?:also )?(?:allergic|intolerant|vegetarian|vegan|from|based|originally|an?|married"
    r"|single"
    r"|engaged|divorced|lactose|gluten|diabetic|\d+ years)\b)",
    re.I,
)
_OPEN_VERB = re.compile(
    r"\b(?:not|never|would|could|can|might|may|will|should|let's|don't|didn't|(?:wants?|wish|hope|hoping|plan"
    r"|planning|try|trying|likes?"
    r"|loves?|hates?|prefers?|need|going|used|decided|how|able|started|learn|learning|able|happy|dream) to)\b",
    re.I,
)
"""After one of these a bare verb belongs to it: “I want to live and work in Rome” says nothing of now."""
_STATE_OF_I = re.compile(r"^(?:i'm|i am|im) (?!\w+ing\b)", re.I)
_STATE_OF_PERSON = re.compile(r"^(?:she|he|(?:my|our) [\w' -]{1,60}?)(?: is|'s) (?!\w+ing\b)", re.I)

_PERSON_WORDS = rf"(?:(?:{alternatives(ADJECTIVES)})[ -])?(?P<relation>{alternatives(PEOPLE)})"
_NAME = r"[A-Z](?:[\w-]|'(?=[A-Z]))*(?: [A-Z](?:[\w-]|'(?=[A-Z]))*)?"
_PERSON = re.compile(
    rf"\b(?i:my|our) (?P<who>(?i:{_PERSON_WORDS}))(?![\w-])(?i:'s name is|,? who is called|,? (?:is )?(?:called"
    rf"|named)|,)?"
    rf"(?: (?P<name>{_NAME})(?![\w']))?"
)
_APPOSITION = re.compile(rf"^({_NAME}), ((?i:(?:my|our) {_PERSON_WORDS.replace('(?P<relation>', '(?:')})),? (?=\w)")
"""“Mary, my sister, lives …” is read as “my sister Mary lives …”."""
_PERSON_SUBJECT = re.compile(rf"^(?i:(?:my|our) {_PERSON_WORDS})(?![\w'-])(?: {_NAME}(?![\w']))?")
_PRONOUN = re.compile(r"^(?P<pronoun>she|he|they)(?P<rest>'s |'re | )", re.I)

_LEAD_IN = re.compile(
    r"(?:(?:well|oh|ok|okay|hi|hey|hello|hi there|hiya|yes|yeah|yep|sure|thanks|thank you|so|and|but|also|plus|now"
    r"|then|btw|by the way|fyi"
    r"|anyway|just so you know|for context|for the record|for your information|for reference|as i said|like i said|in"
    r" fact|actually|sorry|no|nope"
    r"|correction|update|i mean(?:t)?|please note(?: that)?|note(?: that)?|remember(?: that)?|please remember(?:"
    r" that)?|don't forget(?: that)?"
    r"|keep in mind(?: that)?|you should know(?: that)?|i should (?:mention|add|say)(?: that)?|let me tell you(?:"
    r" that)?|did you know(?: that)?"
    r"|because|since|as|while|although|though|however|besides|also note(?: that)?|i think(?: that)?|i guess|i"
    r" believe(?: that)?|maybe|perhaps"
    r"|probably|apparently|supposedly|honestly|personally|basically|luckily|unfortunately|sadly|first|second|finally"
    r"|recall|that|[-*•]|\d{1,2}[.)]"
    r"|if you don't mind|if it helps|if that helps|in case it helps|if i remember (?:correctly"
    r"|right))(?![\w'])[\s,:!.–—-]*)",
    re.I,
)
MAX_LEAD_INS = 6

_TRAILERS = (
    "right now", "now", "at the moment", "these days", "nowadays", "currently", "too", "as well", "also", "though",
    "by the way", "btw", "please", "you know", "lol", "haha", "actually", "again", "already", "anymore", "any more",
    "any longer", "for now", "of course", "obviously", "thanks", "thank you", "fyi", "if that helps", "if it helps",
    "if that matters", "if you must know", "just so you know", "to be honest", "tbh", "if you're curious",
)  # fmt: skip
_END_MARKS = re.compile(r"[^\w%+#)]+$|(?<=\w)\)$")


def clauses(message: str) -> Iterator[Clause]:
    """The claims of one message, in their order; nothing of sentences that are not English."""
    text = _flat(message)
    playing, corrected, claimed, person = False, False, False, _Person.nobody()
    for start, end, mark in _sentences(text):
        sentence = text[start:end]
        playing = playing or bool(_PLAYING.match(sentence.strip()))
        if is_english(sentence):
            stop = _end_of_statement(sentence, mark)
            for clause in _claims(text, start, start + stop, person, playing):
                yield replace(clause, correction=clause.correction or corrected, reported=clause.reported or claimed)
                person = _person_in(text, clause) or person
        claimed = mark == ":" and _CLAIMED.search(sentence) is not None  # “the sign says: …”
        corrected = _WRONG.match(sentence.strip()) is not None


_PLAIN = str.maketrans("’\u00a0\t\r", "'   ")


def _flat(message: str) -> str:
    """The writer's own words with one kind of apostrophe and space; every position as in the message."""
    return (
        own_words(message[:MAX_MESSAGE]).replace("’", "'").replace("\u00a0", " ").replace("\t", " ").replace("\r", " ")
    )


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, end mark) of each sentence."""
    start = 0
    for found in _SENTENCE_END.finditer(text):
        if found[0] == "." and _ABBREVIATION.search(text[max(start, found.start() - 8) : found.start()]):
            continue
        if text[start : found.start()].strip():
            yield start, found.start(), found[0]
        start = found.end()
    if text[start:].strip():
        yield start, len(text), ""


def _end_of_statement(sentence: str, mark: str) -> int:
    """Where the statement of a sentence ends and its question begins; 0: it is all question, or made up."""
    stripped = sentence.strip()
    if _MAKING_UP.match(stripped) or _QUESTION.match(stripped):
        return 0
    if "?" not in mark:
        return len(sentence)
    tail = _QUESTION_TAIL.search(sentence)
    return tail.start() if tail else 0


# Clauses of a sentence -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Person:
    """The person last spoken of."""

    words: str
    """Such as “my sister Mary”."""
    relation: str
    start: int

    @classmethod
    def nobody(cls) -> _Person:
        return cls("", "", 0)


def _claims(text: str, start: int, end: int, person: _Person, playing: bool) -> Iterator[Clause]:
    sentence = text[start:end]
    supposed, claimed = _SUPPOSED.search(sentence), _CLAIMED.search(sentence)
    for begin, stop, subject, subject_at in _pieces(text, start, end):
        raw = text[begin:stop]
        if len(raw) > MAX_CLAUSE:
            continue
        lead = _lead_in(raw)
        words, length = _without_trailers(raw[lead:])
        if not words:
            continue
        words, quote_at = _with_person(_APPOSITION.sub(r"\2 \1 ", f"{subject}{words}"), person, subject_at)
        reported = claimed is not None and start + claimed.start() < stop
        if reported and begin - start <= MAX_BACK:
            quote_at = start + _lead_in(sentence)  # with the words that say whose claim it is
        yield Clause(
            words,
            quote_at,
            begin + lead + length,
            hypothetical=playing or (supposed is not None and start + supposed.start() < stop),
            reported=reported,
            hedged=_DOUBT.search(_before_and_in(text, start, begin, stop)) is not None,
            correction=_CORRECTING.search(raw.strip()) is not None or bool(_CORRECTING.match(sentence.strip())),
        )


def _before_and_in(text: str, start: int, begin: int, stop: int) -> str:
    """A clause with the words right before it, where “I think” may have been cut off."""
    return text[max(start, begin - 12) : stop]


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, str, int]]:
    """(start, end, subject to fill in, where the subject stands) of each clause of a sentence."""
    cuts = list(_BOUNDARY.finditer(text, start, end))
    begins, stops = [start, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), end]
    for begin, stop in zip(begins, stops, strict=True):
        yield from _carried(text, begin, stop)


def _carried(text: str, begin: int, stop: int) -> Iterator[tuple[int, int, str, int]]:
    """A clause, cut where a second verb or state goes on with the same subject: “I live in Porto and work as …”."""
    subject_at = begin + _lead_in(text[begin:stop])
    cut = _next_carried(text, subject_at, stop)
    yield begin, cut[0] if cut else stop, "", subject_at
    while cut:
        _, begin, subject = cut
        cut = _next_carried(text, begin, stop, subject)
        yield begin, cut[0] if cut else stop, subject, subject_at


def _next_carried(text: str, begin: int, stop: int, subject: str = "") -> tuple[int, int, str] | None:
    """(end of this piece, start of the next, its subject)."""
    piece = f"{subject}{text[begin:stop]}"
    shift = begin - len(subject)
    states = _STATE_OF_I.match(piece) or _STATE_OF_PERSON.match(piece)
    subject_of = _PERSON_SUBJECT.match(piece) or re.match(r"i(?='m|'ve|\b)|(?:she|he|they)\b", piece, re.I)
    if subject_of is None:
        return None
    owner = subject_of[0]
    ways = [(_CARRIED_VERB, f"{owner} ")]
    if states:
        ways += [(_CARRIED_TASTE, f"{owner} "), (_CARRIED_STATE, "I'm " if owner in "Ii" else f"{owner} is ")]
    for pattern, filled in ways:
        found = pattern.search(piece, len(subject) + 1)
        if found is not None and not _OPEN_VERB.search(piece, 0, found.start()):
            return shift + found.start(), shift + found.end(), filled
    return None


def _with_person(words: str, person: _Person, quote_at: int) -> tuple[str, int]:
    """“She lives in Lisbon” with the person she is, quoted from where that person was named."""
    found = _PRONOUN.match(words)
    if not found or not person.words or not may_mean(found["pronoun"], person.relation):
        return words, quote_at
    verb = " " if found["rest"] == " " else " is "
    near = quote_at - person.start <= MAX_BACK
    return f"{person.words}{verb}{words[found.end() :]}", person.start if near else quote_at


def _person_in(text: str, clause: Clause) -> _Person | None:
    """The last person named in a clause."""
    people = list(_PERSON.finditer(text, clause.start, clause.end))
    if not people:
        return None
    last = people[-1]
    name = f" {last['name']}" if last["name"] else ""
    return _Person(f"my {last['who']}{name}", last["relation"], clause.start)


def _lead_in(raw: str) -> int:
    """How many characters stand before the claim itself."""
    position = len(raw) - len(raw.lstrip(" ,.:!–—\n"))
    for _ in range(MAX_LEAD_INS):
        found = _LEAD_IN.match(raw, position)
        if found is None:
            break
        position = found.end()
    return position


def _without_trailers(words: str) -> tuple[str, int]:
    """The claim without end marks and fillers, and its length, which is where its quote ends."""
    words = _END_MARKS.sub("", words)
    length = len(words)
    for _ in range(MAX_LEAD_INS):
        trailer = next((t for t in _TRAILERS if words.lower().endswith(f" {t}")), None)
        if trailer is None:
            break
        words = words[: -len(trailer)].rstrip(" ,-–—(")
    return words, length
