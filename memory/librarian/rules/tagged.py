"""What the tagger marked, as proposals: the words that neither table nor clauses read."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from memory.facts.keys import make_key
from memory.librarian.engine import ProposedFact
from memory.librarian.rules import words as lists
from memory.librarian.rules.clauses import Sentence, sentences
from memory.librarian.rules.mentions import is_of_anothers, name_key, people_in
from memory.librarian.rules.retell import (
    NAME,
    THE_USER,
    People,
    Subject,
    article,
    clean_name,
    gerund,
    is_occupation,
    related,
    third_person,
)
from memory.librarian.rules.table import FREE_OF, WITH_THE, items
from memory.librarian.tagger.tags import Tag
from memory.models.kinds import Kind
from memory.text import relations
from memory.text.dates import find_date
from memory.text.keywords import content
from memory.text.language import alternatives, as_set
from memory.text.mended_names import with_cue_first

SURE_FROM: Final = 0.9
ASK_FROM: Final = 0.6
"""Probability of a tag that is kept unasked, and of one that is worth a question."""
AGREES_FROM: Final = 0.8
"""Probability of one that makes sure what the table reads as well."""
SURE: Final = 0.95
ASK: Final = 0.7


@dataclass(frozen=True, slots=True)
class Says:
    """What a label says of someone."""

    kind: Kind
    attribute: str
    """As in the table: {slug} is the value as a name of an attribute."""
    statement: str
    """{who} is the subject, {v} the value, {a} its article, {now} the month."""
    value: str = "{v}"
    named: bool = False
    """The value is a name: written with capitals."""
    health: bool = False


SAYS: Final[Mapping[str, Says]] = {
    "home": Says(Kind.BIOGRAPHY, "home", "{who} lives in {v}.", named=True),
    "origin": Says(Kind.BIOGRAPHY, "origin", "{who} is from {v}.", named=True),
    "job": Says(Kind.BIOGRAPHY, "job", "{who} works as {a} {v}."),
    "employer": Says(Kind.BIOGRAPHY, "employer", "{who} works at {v}.", named=True),
    "study": Says(Kind.BIOGRAPHY, "studies", "{who} studies {v}."),
    "name": Says(Kind.IDENTITY, "name", "{who}'s name is {v}.", named=True),
    "age": Says(Kind.BIOGRAPHY, "age", "{who} was {v} years old in {now}."),
    "birthday": Says(Kind.BIOGRAPHY, "birthday", "{who}'s birthday is {v}."),
    "partner": Says(Kind.PERSON, "partner", "{who}'s {relation} is called {v}.", named=True),
    "diet": Says(Kind.CONSTRAINT, "diet", "{who} follows this diet: {v}."),
    "allergy": Says(Kind.CONSTRAINT, "allergy:{slug}", "{who} is allergic to {v}.", value="yes", health=True),
    "pet": Says(Kind.ENTITY, "pet:{slug}", "{who} has {pet} {v}{called}.", value="yes"),
    "car": Says(Kind.ENTITY, "car", "{who} drives {a} {v}."),
    "zone": Says(Kind.BIOGRAPHY, "time_zone", "{who}'s time zone is {v}."),
    "plays": Says(Kind.BIOGRAPHY, "pastime:{slug}", "One of {who}'s pastimes is {v}.", value="yes"),
    "likes": Says(Kind.PREFERENCE, "taste:{slug}", "{who} likes {v}.", value="likes"),
    "dislikes": Says(Kind.PREFERENCE, "taste:{slug}", "{who} dislikes {v}.", value="dislikes"),
}
_NEWS: Final = re.compile(
    r"(?i)\b(?:now|these days|nowadays|any ?more|no longer|instead|actually|in fact|turns? out|since|from today|at last"
    r"|finally|just|new|changed|switched|moved|became|gone|again|back|not|never|wrong|typo|correction|sorry|no)\b"
)
"""Words with which something new is told: the newer value replaces the known one."""
_FIRST_PERSON: Final = re.compile(
    r"(?i)(?<![\w'])(?:i|im|ive|id|me|my|mine|myself|we|us|our|ours|i['’]\w+|we['’]\w+)(?![\w'])"
)
_RELATIONS: Final = re.compile(
    r"(?i)(?<!called )(?<!named )(?<!\bi )(?<![’']s an )(?<![’']s a )(?<!\bis an )(?<!\bis a )"
    rf"\b(?P<rel>{alternatives(relations.PEOPLE | relations.PETS)})\b"
)
_MINE: Final = re.compile(
    rf"(?i)\b(?:my|our)(?: [\w'-]+)? ({alternatives(relations.PEOPLE | relations.PETS)})(?=s name\b|\b)"
    r"(?!['’]s (?!called\b|named\b|name\b))"
)
"""Whose name may follow: “my neighbor had a baby, Ada” and “my daughter's teacher, Ada” name no one of the user's."""
_SECOND_HAND: Final = re.compile(
    rf"(?i)\b(?:my|our) (?:[\w-]+ )?[\w-]+['’]s (?:[\w-]+ )?(?:{alternatives(relations.PEOPLE | relations.PETS)})\b"
)
"""“My cousin's daughter” is none of the user's."""
_IN_BRACKETS: Final = re.compile(rf"{NAME} \($")
"""Before the age of the one named: “Alfie (9)”, which is read with the names."""
_IS_WRITTEN: Final = re.compile(
    rf"(?i)\b(?:my|our) (?P<rel>{alternatives(relations.PEOPLE | relations.PETS)})(?:['’]s name)?"
    r" (?:as|is spel(?:t|led)) (?:[a-z]+ )?$"
)
"""“Please write my manager as ”."""
_IS_SPELLED: Final = re.compile(r"(?i)\bspel(?:t|led) $")
"""Before the name of the relative whom the sentence names: “its spelled Aoife, I should know my own daughter”."""
_OF_A_THING: Final = re.compile(
    r"(?i)(?<!i'm )(?<!i’m )(?<!im )(?<!i am )\b(?:called|named) $"
    r"|\bmy (?!(?:first|last|full|real|middle|legal|maiden|given|family|pen|stage|nick)\b)[\w-]+ name(?:['’]s| is) $"
    r"|\b(?:my|our|an?|the|own) [\w' -]{2,40}(?:,|-|–| and) (?:its |the )?name(?:['’]s| is) $"
)
"""Before a name that is hardly the user's: “I own a boat called Marisol”, “my wifi name is Foxglove”, “my own shop,
name is Lark”."""
_OF_A_FIRM: Final = re.compile(r" ?& [A-ZÀ-ÞĀ-Ž]")
"""Behind a name that isn't whole: “Ledger & Lark”."""
_PARTNER: Final = re.compile(rf"(?i)\b(?:{alternatives(relations.PARTNERS)})\b")
_DOES: Final = re.compile(
    r"(?i)\b(?:i|we|s?he|they|(?<!go )(?<!goes )(?<!going )to|and|still|also|often|usually|sometimes)\W+$"
)
"""Before a verb: “I swim”."""
_WORKS: Final = re.compile(r"(?i)(?<!['’])\b(?:i|we|s?he|they)(?: (?:also|still|often|usually|sometimes))? $")
"""Before what someone does for a living."""
_HAS_ONE: Final = re.compile(r"(?i)\b(?:have|has) (?:an?|my|our) (?:[\w-]+ )?$")
"""Before what someone has, and isn't: “I have a pet shop”."""
_RUNS: Final = re.compile(r"(?i)\b(?P<verb>runs?|owns?|manages?|keeps?) (?:an?|the|our|my|his|her|their) $")
"""Before a business, which isn't what someone works as."""
_BEGINS: Final = re.compile(r"(?i)\b(?:i|we|s?he|to) (?:will )?(?:starts?|begins?|joins?) (?:[\w'-]+ ){1,8}$")
"""Before work that is yet to come."""
_THIRD: Final = re.compile(r"[a-z]+(?<!s)s [a-z]")
"""“drives a lorry”, behind who does."""
_THIRD_OBJECT: Final = re.compile(r"[a-z]+(?<!s)s (?:an?|the|his|her|their) ")
"""“lives in Tunis, *drives a taxi*”."""
_HEDGED: Final = re.compile(
    r"(?i)\b(?:(?:i|we) (?:think|guess|believe|suppose)|maybe|perhaps|probably|possibly|apparently|supposedly|not sure"
    r"|might|seems?|they say|says?)\b"
)
"""Before what someone isn't sure of."""
_SURNAME: Final = re.compile(r"(?i)\b(?:surname|(?:last|family|maiden|married) name)\b")
_SURNAME_IS: Final = re.compile(rf"{_SURNAME.pattern}(?: is|['’]s|:)? $")
_OF_ANOTHER: Final = re.compile(r"(?i)\b(?:her|his|their|(?!(?:it|that|he|she|who)['’])[\w-]+['’]s) (?:[\w-]+ )?$")
"""Before a relation of someone else's: “her husband”."""
_PRONOUN: Final = re.compile(r"(?i)\b(?:s?he|his|hers?|him)\b")
_POSSESSED: Final = re.compile(
    r"(?i)\b(?!(?:it|that|this|what|here|there|he|she|who|where|when|let|one|everyone|today)['’])[\w-]+['’]s"
    r" (?!now\b|not\b|the\b|an?\b)[\w ]{3,20}$"
)
"""“Shanelle's birthday is”, “the boat's name is”: what follows isn't the user's."""
_IS_CALLED: Final = re.compile(r"(?i)\b(?:name|called|named|names)\b")
"""Before a name of him or her: not “the vet for him is”."""
_REPORTED: Final = re.compile(
    r"(?i)\b(?:says|said|reckons|thinks|suggested|recommend(?:s|ed)|told (?:me|us)) (?:that )?"
)
"""Behind it begins what someone says, which is hardly about them: “the vet says she's a tortie”."""
_IS_THEIRS: Final = re.compile(
    r"(?: is|['’]s)(?: now)? (?P<whose>his|her) | that (?P<who>[A-ZÀ-ÞĀ-Ž][\w-]+) (?:can['’]?t|cannot|is|has)\b"
)
"""Behind a value that is someone else's: “Bosch is her employer”, “it's cashews that Kit can't have”."""
_HAD: Final = frozenset({"car", "pet", "job", "employer"})
_HIS: Final = re.compile(r"(?i)\b(his|her) (?:[\w-]+ ){0,2}$")
"""Before what is had by whom “he” means: “drives by in his stupid orange van”."""
_OURS: Final = re.compile(r"(?i)^\W*(?:and |but |so |cos )?(?:ours|mine)\b")
"""Opens what is said of one's own, as of others before: “How cold is too cold for a greyhound? Ours is 4.”"""
_IS_SENSITIVE: Final = re.compile(
    r"(?i)(?<!which )(?<!that )(?<!it )\bis (?:\w+ly |also |now )?(?:allergic|intolerant) to $"
)
"""Before what someone else can't have: a user writes “I'm allergic to”."""
_OF_PRONOUN: Final = {"his": "he", "him": "he", "her": "she", "hers": "she"}
_OF: Final = (
    r" (?:{}) (?:the |an? )?[\w'-]+(?: [\w'-]+)?(?=$|[,.;:!?)]| (?:at|in|for|and|but|so|now|here|since|when|because)\b)"
)
_REST: Final = {
    "name": re.compile(r" (?!(?:And|But|From|I|So|The|Nice|Please|Can)\b)[A-ZÀ-ÞĀ-Ž][a-z]+(?![\w'])"),
    "job": re.compile(_OF.format("of")),
    "zone": re.compile(r"[\w/+-]+"),
    **dict.fromkeys(
        ("likes", "dislikes"),
        re.compile(_OF.format("of|with|without|from") + r"| (?:that|which|who) [^,.;:!?\n]{3,50}"),
    ),
}
"""What belongs to a value and isn't always marked with it: “head | of supply chain”, “Asia/ | Kolkata”."""
_PLURAL: Final = re.compile(r"(?i)\b\w+(?<![sui])s$|\b(?:mice|geese|sheep|fish)$")
_NUMBER: Final = re.compile(r"\d{1,3}")
_SAID_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "diet": ("diet", "allergy:", "condition:"),
    "allergy": ("diet", "allergy:", "condition:"),
    "name": ("name", "preferred_name", "surname"),
    "likes": ("taste:", "favourite_", "answer_"),
}
"""Starts of further attributes that say of a value what a label says of it."""
MAX_SAME: Final = 9
"""Words of a statement that says no more than its value."""
MORE: Final = 2
"""Content words from which a statement says more than another."""
_TAKES_MORE: Final = {"home", "origin", "job", "study", "diet", "allergy", "plays", "pet", "likes", "dislikes", "car"}
"""Labels whose statement may say more than the value: neither names nor what is counted or dated."""
_OWN_WORDS: Final = {"plays", "pet", "likes", "dislikes", "car"}
"""Labels of which a statement in the user's words says it better: “plays for the national team”."""
YOUNGEST: Final = 10
"""Years of a user."""
SURER: Final = 0.1
"""How much surer the second of two values in a sentence must be to be the one."""
MAX_VALUE: Final = 60
"""Characters of a value."""


_STATES: Final = frozenset({"job", "employer", "home", "study"})
_OF_A_CLASS: Final = re.compile(
    r"(?i)\b(?:year|grade|class|form|level|stage|number|no\.?|route|line|bus|tram|room|flat|gate|platform|chapter|page"
    r"|week|step) $"
)
"""Before a number that is no age: “he's in year 5 at Ashfield”, “on route 50”."""
_NO_YEARS: Final = re.compile(
    r"(?i),? (?:next|tomorrow|soon|later this|in (?:an?|two|three|\d{1,2}))\b|,? on (?:the )?\d|[- ]?(?:months?"
    r"|weeks?|days?"
    r"|hours?|minutes?|mins?|km|miles|kilos?|kg|lbs?|%|percent|times|people|kids)\b"
    r"| years? (?:in|with|at|on|into|sober|clean|married|here|now)\b"
)
"""Behind a number that counts something else, or is yet to come: “7 months pregnant”, “70 next week”,
“ten years in the trade”."""
_WAS: Final = re.compile(
    r"(?i)(?<!'ve )(?<!’ve )(?<!have )(?<!has )\b"
    r"(?:worked (?:as|at|for|in)|lived (?:in|at)|studied|used to (?:work|live|be|study)(?: \w+)?|(?<!it )was an?"
    r"|(?:quit|quitting|left|leaving|resign\w*|fired|sacked|laid off)(?: (?:from|by|at|with))?"
    r"|notice (?:at|with)|last day (?:at|with)|redundan\w+ (?:at|from|by))"
    r"(?: (?:an?|the|my))?(?: \w+(?: (?:at|with|for))?)? $"
)
"""Before a value that is no more so."""
_ENDED: Final = re.compile(
    r"(?i)(?:'s)?(?: (?:contract|job|role|lease))?(?: (?:has|was|is|just)){0,2}"
    r" (?:ended|ends|finished|over|expired|(?:ran|run) out|came to an end|fell through)\b"
)
"""Behind one: “my contract at Siemens ended in December”."""
_FROM_THEN: Final = re.compile(
    r"(?i),? (?:from|starting|as of) (?:(?:on|in|early|mid|late) )?(?:the |next |this )?"
    r"(?:\d{1,2}\b|week|month|year|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat"
    r"|sun)[a-z]*\b)"
)
"""Behind where someone is to live."""


_INSTEAD: Final = re.compile(
    r"(?i)(?:(?:actually|no|nope|sorry|correction|wait|oops|i meant|i mean)[,:. -]*){1,3}(?:it's|it is|i meant|i mean"
    r"|make that|that's)? ?(?P<value>[A-ZÀ-ÞĀ-Ž][\w' -]{1,30}?)(?: now| not .{1,30}|, not .{1,30}|,? (?:typo"
    r"|autocorrect"
    r"|sorry|my bad))?[.!]?$"
)


def find_instead(sentence: str) -> re.Match[str] | None:
    """Another value for what was said last, as group `value`: “Actually it's Lyon”, “Lyon, I mean”."""
    return _INSTEAD.match(with_cue_first(sentence))


@dataclass(frozen=True, slots=True)
class Marked:
    """A tag with whom it is about, and the sentence it is in."""

    tag: Tag
    subject: Subject
    sentence: Sentence
    quote: str
    """The sentence as it was written."""
    value: str

    @property
    def before(self) -> str:
        """What the sentence says before the tag."""
        return self.sentence.text[: self.tag.start - self.sentence.start]

    @property
    def was_so(self) -> bool:
        """Whether the words around it tell of the past: “I worked as a croupier”, “my job at Aldi ended”."""
        is_over = _WAS.search(self.before) is not None or _ENDED.match(self.after) is not None
        return self.tag.label in _STATES and is_over

    @property
    def is_ahead(self) -> bool:
        """Whether the words around it tell of what is to come: “I start at BVG on 1 May”, “in Chiang Mai from June”."""
        if self.tag.label == "home":
            return _FROM_THEN.match(self.after) is not None
        return self.tag.label in ("job", "employer") and _BEGINS.search(self.before) is not None

    @property
    def does(self) -> bool:
        """Whether the value is a verb behind the one who does it: “my sister runs”."""
        is_named_before = self.before.rstrip().endswith((self.subject.name or "\0", self.subject.relation or "\0"))
        return is_named_before and _THIRD.match(f"{self.value} x") is not None

    @property
    def is_verb(self) -> bool:
        """Whether a job is told by what someone does."""
        is_work = is_occupation(self.value.split()[-1])  # “I'm a poet and carpenter”
        does = self.does and " " in self.value
        has_object = _THIRD_OBJECT.match(self.value) is not None
        return self.tag.label == "job" and (has_object or (not is_work and (does or bool(_WORKS.search(self.before)))))

    @property
    def hedged(self) -> bool:
        """Whether the words before it leave it open, or an animal or a pastime is in a sentence without the user."""
        is_anyones = self.tag.label in ("pet", "plays") and _FIRST_PERSON.search(self.sentence.text) is None
        return is_anyones or _HEDGED.search(self.before) is not None

    @property
    def after(self) -> str:
        """What the sentence says behind the tag."""
        return self.sentence.text[self.tag.end - self.sentence.start :]


def marked(user_text: str, text: str, tags: Iterable[Tag], people: People, month: str) -> Iterator[Marked]:
    """The tags of a message that are sure enough, with their subjects; what is of no known subject is left out.

    `user_text`: the user's own words in `text`, at the same places.
    """
    waiting, last, said = [tag for tag in tags if tag.sure >= ASK_FROM], "", ""
    for sentence in sentences(user_text):
        last, said = said, sentence.text
        if find_instead(said) or is_of_anothers(last, said) or (sentence.asked and _WHETHER.match(said)):
            continue  # what it corrects says whose it is; “Am I vegetarian?” doesn't say
        for _ in people_in(sentence.text, people, month):
            pass  # notes in `people` whom the sentence names
        by_place: dict[tuple[str, str], Marked] = {}
        tags_here = [tag for tag in waiting if sentence.start <= tag.start < sentence.end]
        for tag in tags_here:
            before, words = user_text[sentence.start : tag.start], user_text[tag.start : tag.end]
            if _is_denied(tag, before) or _is_known_pet(tag, before, words, people):
                continue
            subject = _owner(tag, _whose(tag, sentence, user_text, people), before, tags_here)
            value = _value(tag, user_text[tag.start : sentence.end], sentence.text)
            if subject is None or not value or not _CHECKS.get(tag.label, _passes)(value, sentence.text):
                continue
            key = make_key(subject.key, SAYS[tag.label].attribute.format(slug=value.lower()))
            place = (key, tag.state) if tag.state == "now" and key else ("", str(tag.start))
            other = by_place.get(place)
            if other is None or tag.sure > other.tag.sure + SURER:  # “in Pune, near Kothrud”: the first is the value
                by_place[place] = Marked(tag, subject, sentence, text[sentence.start : sentence.end].strip(), value)
        yield from by_place.values()


_IS_ONE: Final = re.compile(r"(?i) (?:the|(?:is|was|['’]s) an?) $")
"""Before what someone is, or what isn't theirs: “my girlfriend is a flautist”."""
_DENIED: Final = re.compile(
    r"(?i)(?:\bnot|n['’]t|\bnever)"
    r"(?: (?:an?|the|from|in|at|into|of|really|even|much|big|huge|great|fan|keen|on)){0,5} $"
)
"""Before what isn't so: “not from Spain”, “not a fan of open offices”."""
_AS_A_WORD: Final = re.compile(
    r"(?i)\b(?:how (?:to|(?:do|would|should) (?:i|you|we)|you)|can['’]?t|to) (?:say|spell|pronounce|write|translate)"
    r" (?:the )?$|\b(?:the|an?) words? (?:for )?$"
)
"""Before a word that is spoken of: “how to say penicillin out loud”."""
_NEAR: Final = re.compile(r"(?i)\b(?:near|close to|next to|outside|off|by|opposite) (?:the )?$")
_WHETHER: Final = re.compile(
    r"(?:(?i:so|and|but|or|remind me|do you (?:know|remember) (?:if|whether)|wait)\W+){0,2}"
    r"(?i:am|are|is|was|were|do|does|did|have|has) (?:(?i:i|we|my|our)\b|[A-ZÀ-ÞĀ-Ž]\w+\b)"
)
"""Opens a question that asks whether something is so."""
_IS_A: Final = re.compile(r"(?i)^\W*(?:s?he|it)(?:'s| is) (?:an? |part |half |pure )+$")


def _is_denied(tag: Tag, before: str) -> bool:
    """Whether the words before a tag say that it isn't so or only a word, that its number is no age, or its place only
    near."""
    is_beside = {"age": _OF_A_CLASS, "home": _NEAR}.get(tag.label)
    is_denied = _AS_A_WORD.search(before) is not None or (tag.state == "now" and _DENIED.search(before) is not None)
    return is_denied or (is_beside is not None and is_beside.search(before) is not None)


def _is_known_pet(tag: Tag, before: str, words: str, people: People) -> bool:
    """Whether “the dog” is one that is known, or the words say of which breed one is: “she's a Siamese”."""
    is_the = before.lower().endswith("the ") and people.only_pet(words.lower()) is not None
    return tag.label == "pet" and (is_the or _IS_A.match(before) is not None)


def _owner(tag: Tag, subject: Subject | None, before: str, tags_here: Sequence[Tag]) -> Subject | None:
    """Whose what a tag names is, by whom it is about: a pet's or a partner's partner is the user's."""
    if subject is None:
        is_pets = tag.label == "name" and any(one.label == "pet" and one.end <= tag.start for one in tags_here)
        return related("pet") if is_pets else None  # of a kind that isn't in the list
    if tag.label == "partner" and subject.relation in relations.PARTNERS:
        return THE_USER
    if tag.label != "pet" or subject == THE_USER:
        return subject
    return THE_USER if subject.is_pet else None if _IS_ONE.search(before) else subject


def _whose(tag: Tag, sentence: Sentence, user_text: str, people: People) -> Subject | None:
    """Whom a tag is about: by “his” or “her” beside it, else as `_subject` reads it."""
    before = user_text[sentence.start : tag.start]
    if behind := _IS_THEIRS.match(user_text, tag.end):
        return people.named(behind["who"]) if behind["who"] else people.find(_OF_PRONOUN[behind["whose"].lower()])
    if tag.label in _HAD and (his := _HIS.search(before)):
        return people.find(_OF_PRONOUN[his[1].lower()])
    if _OURS.search(before) and (kind := [*_RELATIONS.finditer(user_text, 0, sentence.start)]):
        return people.add(related(kind[-1][1]))
    return _subject(tag, sentence, user_text, people)


def _whose_spelling(sentence: Sentence, before: str) -> str:
    """Of whom a sentence says how the name is written; empty: of none that it names."""
    if written := _IS_WRITTEN.search(before):
        return written["rel"]
    whom = _MINE.search(sentence.text) if _IS_SPELLED.search(before) else None
    return whom[1] if whom else ""


def _subject(tag: Tag, sentence: Sentence, user_text: str, people: People) -> Subject | None:
    """Whom a tag is about: the user, or the one named last before it, or behind it, or whom a pronoun means.

    None: its sentence names no one. Animals own none: a pet is the user's, or a person's.
    """
    before = _REPORTED.split(user_text[sentence.start : tag.start])[-1]
    is_own = _FIRST_PERSON.search(sentence.text) is not None or not _PRONOUN.search(before)
    of_theirs = _POSSESSED.search(before)
    if tag.label == "name" and (relation := _whose_spelling(sentence, before)):
        return people.add(related(relation))
    is_of_none = _SECOND_HAND.search(before) or relations.SOME_PARTNER.search(before)
    if tag.label == "name" and (is_of_none or (not tag.other and _OF_A_THING.search(before))):
        return None
    if (
        not tag.other
        and is_own
        and not _IS_SENSITIVE.search(before)
        and (of_theirs is None or (tag.label == "partner" and _PARTNER.search(of_theirs[0])))
    ):
        return THE_USER
    kin = list(_KIN.finditer(before))
    theirs = _OF_ANOTHER.search(before[: kin[-1].start()]) if kin else None
    is_with_them = theirs is None or before[: theirs.start()].endswith("and ")
    if (not is_with_them and _DOES_IT.match(before[kin[-1].end() :])) or (kin and kin[-1]["group"]):
        return None
    if kin and _OF_MINE.search(before[: kin[-1].start()]):
        return None
    named = (who for who in (*people.last, *people.known) if who.name)
    called = next((who for who in named if re.search(rf"\b{re.escape(who.name)}\b", before)), None)
    if called and tag.label != "name":
        return called
    whose = _MINE if tag.label == "name" else _RELATIONS
    if mentioned := list(whose.finditer(before)):
        is_of_another = _OF_ANOTHER.search(before[: mentioned[-1].start()])
        return None if is_of_another else people.add(related(mentioned[-1][1]))
    pronoun = _PRONOUN.search(before) if tag.label != "name" or _IS_CALLED.search(before) else None
    if pronoun and (meant := people.find(_OF_PRONOUN.get(pronoun[0].lower(), pronoun[0].lower()))):
        return meant
    after = whose.search(user_text[tag.end : sentence.end])
    is_one = after is not None and user_text[: tag.end + after.start()].endswith((" a ", " an "))  # “29 and a nurse”
    if (
        after and not is_one and not user_text.startswith(("'s", "’s"), tag.end + after.end())
    ):  # “to Leipzig for my wife's job”
        return people.add(related(after[1]))
    return None


_OF_MINE: Final = re.compile(rf"(?i)\b(?:{alternatives(relations.PEOPLE)}) of (?:my|our) $")
"""Someone else is told of: “Haruto is the son of my daughter Emi, he is 8”."""
_KIN: Final = re.compile(
    rf"{_RELATIONS.pattern}|\b(?P<group>{alternatives(relations.GROUPS | relations.PET_GROUPS)})\b"
)
_DOES_IT: Final = re.compile(rf"(?i)(?: (?-i:[A-ZÀ-ÞĀ-Ž])[\w-]+)? (?:{alternatives(lists.THIRD | lists.OPENERS)})\b")
"""Behind someone else's relation, who is what follows: “our neighbor Graham, his wife is a vet”."""
_BORN: Final = re.compile(r"(?i)\bborn (?:on |in )?(?:the )?$")
"""Before a day that is hardly the user's own, if they don't say so: “she's here!! born on 28 Feb”."""
_BIRTHDAY: Final = re.compile(r"(?i)\b(?:b-?days?|birthdays?|born|turn(?:s|ed|ing)?|years? old|dob|day)\b")
_FRIEND: Final = re.compile(r"(?i)\b(?:bff|bestie|(?:best )?(?:friend|mate|buddy))\b")
_FORMER: Final = re.compile(r"(?i)\b(?:ex|former|late)\b")
_OWNS: Final = re.compile(
    r"(?i)\b(?:own|owns|owned|rent out|rents out) (?:an?|the|our|my)\b"
    r"|\brents? (?:an?|the|our|my) (?:[\w-]+ ){1,3}out\b"
)
"""A house they own may be a second one."""
_NO_HOME: Final = re.compile(
    r"(?i)\b(?:work|teach|stud)\w* (?:[\w'-]+ ){0,3}(?:at|for) (?:an?|the) (?:[\w'-]+ ){1,4}in $"
    r"|\b(?:go|goes|going|went) to $"
    r"|(?<!since )(?<!after )(?<!before )\b(?:move|moves|moving|relocate|relocating) (?:[a-z]+ ){0,2}to $"
    r"|\b(?:migrat|switch|upgrad|convert)\w* (?:[\w'-]+ ){0,2}to $"
)
"""Before where someone works, goes, or doesn't live yet: “teach at a school in Hackney”, “we move to Kerry in May”; and
before what they use: “we've migrated to Rust”."""
_ONLY_NAMES: Final = re.compile(r"[A-ZÀ-ÞĀ-Ž][\w'-]*(?:,? (?:and |& )?[A-ZÀ-ÞĀ-Ž][\w'-]*){2,}\W*")
"""A list, of which no place is where someone lives: “Tokyo, Kanazawa, Hiroshima.”"""
_SPEAKS: Final = re.compile(
    r"(?i)\b(?:speak|speaks|speaking|spoke|learn|learns|learning|learnt|learned|fluent|language)\b"
)
_COMES_FROM: Final = re.compile(
    r"(?i)\b(?:morning|afternoon|evening|day|hi|hello|hey|greetings|back|home|away|returned|arrived|flew|flying"
    r"|driving|train|flight) from $|: (?:[\w ]+, )*$|\bretired (?:[\w'-]+ ){0,3}from $|\bfrom [a-z]{3,12}ing $"
)
"""Before where someone has only been: “back from Oaxaca”, “my countries so far: Laos, Peru”."""
_OTHER_THING: Final = re.compile(
    r"(?i)\b(?:the|my|our) (?!car\b|van\b|truck\b|bike\b|ride\b|wheels\b)[\w-]+ is (?:an? |the )?$"
)
"""Before what a thing is that no one drives: “the boiler is a Worcester”."""
_DRIVES: Final = re.compile(
    r"(?i)\b(?:dr[io]v\w+|cars?|vans?|trucks?|pickup|bikes?|motor\w+|wheels|garage|mechanic|engine|lease\w*|park(?:ed"
    r"|ing|s)?"
    r"|tyres?|tires?|clutch|brakes?|mileage|km|miles|petrol|diesel|electric|hybrid|(?<!from )\d{4})\b"
)
_FETCHED: Final = re.compile(
    r"(?i)\b(?:picked up|fetched|collected|took delivery of) (?:my|our|the) (?:brand )?(?:new )?$"
)
"""Before a car that is theirs from that day on."""
_NO_CAR: Final = re.compile(r"(?i)\b(?:bike|bicycle|e-?bike|train|tram|bus|metro)$")
_WANTED: Final = re.compile(r"(?i)\b(?:saving|wants?|wanting|looking|dream\w*|hop(?:e|ing)|wish\w*|consider\w*)\b")
_I_AM: Final = re.compile(r"(?i)\b(?:i['’]?m|i am|this is|my name(?:['’]s| is)) $")
"""Before the user's own name: “I'm Mira, and moved for my girlfriend's job”."""
_LEFT: Final = re.compile(r"(?i)\b(?:dumped|left me|broke up|split up|divorced|ghosted)\b")
_WRITES: Final = re.compile(
    r"(?i)\b(?:thesis|dissertation|paper|essay|article|book|report|exams?|wanna|(?:want|like|love|hope|hoping|plan"
    r"|planning|going) to|apply\w*|teach\w*|taught|tutor\w*|lectur\w*|pass(?:ed)?|failed|resit\w*|revis\w*"
    r"|got \d+|scored)\b"
)
"""Before a topic that isn't, or isn't yet, what someone studies: “I teach chemistry”."""
_AVOIDED: Final = re.compile(
    r"(?i)\b(?:off|without|avoid\w*|cut(?:ting)? out|quit|gave up|(?:don['’]t|not|never) (?:eat|drink|have|touch))\b"
    rf" (?:(?!{alternatives(lists.DIETS)})[\w-]+ ){{0,3}}$"
)
"""Before what someone does without, which is no diet: “off dairy”."""
_AGED_THEN: Final = re.compile(
    r"(?i)\b(?:since|when|until|till|before|after|by the time|back) (?:i|we|s?he|they)"
    r"(?: was| were|['’]d been)(?: (?:only|just|about))? $"
)
"""Before the age of another time: “I've missed every Christmas since I was 22”."""
_NOT_YET: Final = re.compile(
    r"(?i)\b(?:turn|turning|turns|(?:will|to) (?:be|turn)|(?:gonna|about to) (?:be|turn)|almost|nearly)\b"
)
"""An age that is still to come."""


_TRAINS: Final = re.compile(
    r"(?i)\b(?:(?:re)?training|studying|hoping|trying|wants?|wanting|going|learning|qualifying)"
    r" (?:to (?:be|become)|as) (?:an? )?(?:\w+ )?$"
)
"""Before work that someone doesn't do yet: “she's training to be a midwife”."""
_FOR_FUN: Final = re.compile(r"(?i)\b(?:weekends?|(?:spare|free) time|hobb(?:y|ies)|for fun|pastimes?)\b")
"""Beside what someone does when they don't work."""
_SOMEONES: Final = re.compile(r"(?i)\b(?!(?:it|that|this|he|she|who|there|here)['’])[\w-]+['’]s $")
"""Before who works for someone: “she's my son's speech therapist”."""
_OF_SOMEONE: Final = re.compile(r"(?i)\b(?:my|our|his|her|their) (?:(?!work\b|job\b|career\b)[a-z-]+ )?$")
"""Before the work of someone else: “my physiotherapist's invoice”."""
_WHO_DOES: Final = re.compile(r" ?[:=] ?[A-ZÀ-ÞĀ-Ž]")
"""Behind the work of someone who is named: “electrician: Keeley”."""
_ROLE: Final = re.compile(
    r"(?i)\b(?:it's|its|interview|apply|applying|applied|ad|vacancy|post|role|job) for (?:an? |the )?$"
    r"|\bdo(?:es)? an? $"
)
"""Before work that someone may get, and what is done: “an interview, it's for shift manager”, “do an exchange”."""
_SCORED: Final = re.compile(r"(?i)\b(?:got|scored|have|weighs?|scores?) (?:an? )?$")
"""Before a number that is no age: “got 68 in pharmacology”."""
_WITH_ME: Final = re.compile(r"(?i)\b(?:me|us)(?:,| and) (?:and )?$")
"""Before who else is of a number: “me, Samira who runs sales, and Gregor”."""
_YOU_ARE: Final = re.compile(r"(?i)\byou(?:['’]?re| are| be) (?:my |the |an? )?$")
"""Before a role of the assistant's in a game: “you're my parrot”."""
_NO_EMPLOYER: Final = lists.NO_EMPLOYER | as_set("post job position role place work office shift placement")
"""What no one works at: “moved to Hamburg for the new post”."""
_CUSTOMER: Final = re.compile(
    r"(?i)\b(?:pension|mortgage|account|bank(?:ing)?|insurance|broadband|savings|energy|electricity)\b[^.;:]{0,40}"
    r" (?:from|to|with|at) $"
)
"""Before a company that someone buys of: “moved my pension from Aviva to Vanguard”."""
_TREATED: Final = re.compile(
    r"(?i)\b(?:ivf|treat(?:ed|ment)|appointments?|scans?|surgery|operation|operated|check-?ups?|physio|therapy|chemo"
    r"|dialysis|tests?|seen|patient|admitted|born|stay(?:ed|ing)?|clinic|ward)\b[^,.;:]{0,20} (?:at|in) (?:the )?$"
)
"""Before where someone is treated: “doing IVF at the Hollis clinic”."""
_HELD: Final = re.compile(
    r"(?i)\b(?:\d{1,3}(?:st|nd|rd|th)|birthday|party|wedding|anniversary|retirement|funeral|reception|christening"
    r"|dinner"
    r"|lunch|drinks|concert|reunion|graduation)(?: is| was|['’]s| will be)?(?: being held| held)?"
    r" (?:at|in) (?:the )?$"
)
"""Before where something is celebrated: “Mum's 60th is at the Crown Hotel”."""
_WORK: Final = re.compile(
    r"(?i)\b(?:work\w*|jobs?|shifts?|employ\w*|staff|team|boss|manager|colleagues?|started|hired|intern\w*|volunteer\w*"
    r"|teach\w*|nurse|as an?)\b"
)
"""Beside where someone works, if it has no name: “in the supermarket right now” is none."""
_TAKES: Final = re.compile(
    r"(?i)\b(?:on|off|take|takes|taking|took|prescribed|stopped|started|give|given|gave)(?: (?:me|him|her|some|the"
    r"|daily))? $"
)
"""Before a medicine: “I'm on ferrous sulphate”."""
_MEDICINE: Final = re.compile(
    r"(?i)\b(?:antibiotics?|tablets?|pills?|meds|medication|medicine|dose|\d+ ?mg|prescri\w+)\b"
)
_REACTS: Final = re.compile(
    r"(?i)\b(?:allerg\w+|react\w*|intoleran\w+|sensitiv\w+|hives|rash|swell\w*|avoid\w*|can(?:no|')t)\b"
)
"""Beside a medicine that someone is allergic to."""
_FAITHS: Final = as_set("muslim jewish hindu buddhist jain sikh christian catholic")
_LESS_LIKED: Final = re.compile(r"(?i)\bprefer\w* [\w ]{2,40} (?:to|over) $")
"""Before what is liked less: “I prefer trains to planes”."""
_ITS_OBJECT: Final = re.compile(r"(?i) (?:(?:an?|the|my|our|his|her|their) |partner\b)")
"""Behind a word that is no pastime with it: “my sister runs a nail bar”, “my dance partner”."""
_COUNTED: Final = re.compile(r"(?i)\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|a few|several)\b")
"""Opens what is a number of things, and no taste: “I drink like five espressos a day”."""
_SEEMS: Final = re.compile(r"(?i) (?:tastes?|smells?|sounds?|looks?|feels?) ")
"""After what someone hardly likes: “rooibos tastes like hay to me”."""
_NOT_A_PERSON: Final = re.compile(
    r"(?i)\bthe $|\b(?:an?|the|this|that|his|her|their)"
    rf" (?!(?:[\w-]+ )?(?:{alternatives(relations.PEOPLE | relations.PETS)})\b)"
    r"(?:[\w-]+ ){1,2}(?:is )?(?:called|named) $"
)
"""Before what is no one's name: “went with the Nihola”, “goes to a nursery called Bølgen”."""


def _before(value: str, sentence: str) -> str:
    """What stands before a value in its sentence; all of it, if the value isn't there as it is spelled."""
    return sentence[: len(sentence.lower().partition(value.lower())[0])]


_CHECKS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "allergy": lambda value, sentence: (
        _TAKES.search(_before(value, sentence)) is None
        and (_MEDICINE.search(sentence) is None or _REACTS.search(sentence) is not None)
    ),
    "age": lambda value, sentence: (
        not (
            _NOT_YET.search(sentence)
            or _SCORED.search(_before(value, sentence))
            or _AGED_THEN.search(_before(value, sentence))
            or _IN_BRACKETS.search(_before(value, sentence))
            or _NO_YEARS.match(sentence[len(_before(value, sentence)) + len(value) :])
        )
    ),
    "diet": lambda value, sentence: (
        "eating" not in value and value.lower() not in _FAITHS and _AVOIDED.search(_before(value, sentence)) is None
    ),
    "birthday": lambda value, sentence: (
        _BIRTHDAY.search(sentence) is not None
        and (
            _BORN.search(_before(value, sentence)) is None or _FIRST_PERSON.search(_before(value, sentence)) is not None
        )
    ),
    "job": lambda value, sentence: (
        _names_work(value)
        and (_FOR_FUN.search(sentence) is None or _WORK.search(sentence) is not None)
        and _ROLE.search(_before(value, sentence)) is None
        and _HAS_ONE.search(_before(value, sentence)) is None
        and _SOMEONES.search(_before(value, sentence)) is None
        and _TRAINS.search(_before(value, sentence)) is None
        and not _before(value, sentence).lower().endswith(("using a ", "using the "))
        and not (is_occupation(value.split()[-1]) and _OF_SOMEONE.search(_before(value, sentence)))
        and not _WHO_DOES.match(sentence[len(_before(value, sentence)) + len(value) :])
    ),
    "car": lambda value, sentence: (
        (_DRIVES.search(sentence) or _FETCHED.search(_before(value, sentence))) is not None
        and not (
            _NO_CAR.search(value)
            or value.isdigit()  # “its a 2012”
            or value.lower() in {"car", "van", "truck", "motor", "vehicle"}
            or _WANTED.search(_before(value, sentence))
            or _OTHER_THING.search(_before(value, sentence))
        )
    ),
    "employer": lambda value, sentence: (
        _CUSTOMER.search(_before(value, sentence)) is None
        and value.split()[-1].lower() not in _NO_EMPLOYER
        and not (value.startswith("the ") and value.islower() and _WORK.search(sentence) is None)
        and not _TREATED.search(_before(value, sentence))
        and not _HELD.search(_before(value, sentence))
    ),
    "likes": lambda value, sentence: (
        not (
            _COUNTED.match(value)
            or _SEEMS.match(sentence[len(_before(value, sentence)) + len(value) :])
            or _LESS_LIKED.search(_before(value, sentence))
        )
    ),
    "plays": lambda value, sentence: (
        value.lower() != "book"
        and (not _before(value, sentence).lower().endswith(("i'm ", "im ")) or "ing" in value)
        and not _ITS_OBJECT.match(sentence[len(_before(value, sentence)) + len(value) :])
    ),
    "study": lambda value, sentence: _WRITES.search(_before(value, sentence)) is None,
    "pet": lambda value, sentence: (
        _YOU_ARE.search(_before(value, sentence)) is None
        and (_is_animal(value) or not _before(value, sentence).lower().endswith("the "))  # “the Kangoo”
    ),
    "partner": lambda value, sentence: (
        not value.isupper()  # “I'm with EDF now”
        and _FORMER.search(sentence) is None
        and (_PARTNER.search(sentence) is not None or _FRIEND.search(sentence) is None)
        and relations.SOME_PARTNER.search(sentence) is None
        and _LEFT.search(sentence) is None
        and not _before(value, sentence).endswith((" old ", " old, "))  # “our 8 month old, Rowan”
        and _I_AM.search(_before(value, sentence)) is None
    ),
    "zone": lambda value, sentence: not sentence.startswith(" here", len(_before(value, sentence)) + len(value)),
    "origin": lambda value, sentence: not (_SPEAKS.search(sentence) or _COMES_FROM.search(_before(value, sentence))),
    "home": lambda value, sentence: (
        not (
            any(char.isdigit() for char in value)  # “rent is 9k”
            or _OWNS.search(sentence)
            or _NO_HOME.search(_before(value, sentence))
            or (_before(value, sentence).lower().endswith(" the ") and not WITH_THE.match(f"the {value}"))
            or _ONLY_NAMES.fullmatch(sentence)
        )
    ),
    "name": lambda value, sentence: (
        not (
            _NOT_A_PERSON.search(_before(value, sentence))
            or _WITH_ME.search(_before(value, sentence))
            or _OF_A_FIRM.match(sentence[len(_before(value, sentence)) + len(value) :])
        )
    ),
}
"""What a value and its sentence must be like, by label."""


def _is_animal(value: str) -> bool:
    """Whether the words end with the name of an animal."""
    word = value.split()[-1].lower()
    return word in relations.PETS | relations.PET_GROUPS


def _passes(value: str, sentence: str) -> bool:
    return True


_NO_WORK: Final = as_set(
    "year grade class form level helper beginner member guest visitor newcomer leave apprenticeship pensioner"
)
"""Last words of what is no work: a class, whose number is behind it, a part in something, or “maternity leave”."""


def _names_work(value: str) -> bool:
    words = value.lower().split()
    if words[-1] in _NO_WORK:
        return False
    is_work = is_occupation(words[-1]) or words[-1].endswith(("er", "or", "ist", "ian", "man", "ic"))
    if any(char.isdigit() for char in value) or words[0] in {"a", "an", "the", "my", "our", "his", "her", "their"}:
        return False
    if {*words} & lists.AFFLICTED or words[-1] == "user":
        return False
    return is_work or (len(words) > 1 and not words[0].endswith("ing"))


_AMOUNT: Final = re.compile(r"\d(?:[\d.,:]*\d)?")


_AS_A: Final = re.compile(r"as (?:an?|the) ")
_NO_MORE: Final = re.compile(r"(?i),? (?:any ?more|any longer|at all)\b")
"""Ends the value: “I don't enjoy opera any more, too long”."""
_ORDINAL: Final = re.compile(r"(?i)\d(?:st|nd|rd|th)\b")
"""Ends a number that is no age: “dad's 70th is coming up”."""
_ONE_OF_MANY: Final = re.compile(r"(?i)\ban? $")
"""Before what is no name: “for a chain of garden centers”."""
_NAME_BEFORE: Final = re.compile(r"(?<=[a-z,] )(?!(?:I|[A-ZÀ-ÞĀ-Ž][a-z]+day) )(?:[A-ZÀ-ÞĀ-Ž][\w'-]* ){1,3}$")
"""The beginning of a name whose end alone is marked: “Locum vet here, Northern Territory”."""
_NAME_INSIDE: Final = re.compile(r"\w,? (?!I\b)[A-ZÀ-ÞĀ-Ž][a-z]")


def _writes_names(sentence: str) -> bool:
    """Whether a sentence writes names with capitals, so that “the merchant navy” or “for ages” is none in it."""
    return _NAME_INSIDE.search(sentence) is not None


def _value(tag: Tag, words: str, sentence: str) -> str:
    """The value in the words from its tag on to the end of the sentence; empty: they are none."""
    length = tag.end - tag.start
    if (number := _AMOUNT.match(words, length - 1)) is not None:
        length = number.end()  # the tag is only the first of “61,500”
    rest = _REST[tag.label].match(words[length:]) if tag.label in _REST else None
    value = " ".join(words[: length + (rest.end() if rest else 0)].split()).strip(" ,.;:!?\"'()")[:MAX_VALUE]
    value = re.sub(r" & (?=[a-z])", " and ", _AS_A.sub("", _NO_MORE.split(value)[0]))
    is_named = SAYS[tag.label].named
    if tag.label == "age":
        found = _NUMBER.search(value) if not re.search(r"[.,]\d", value) else None
        is_age = found and not _ORDINAL.search(words[: length + 2])
        return found[0] if found and is_age and (tag.other or int(found[0]) >= YOUNGEST) else ""
    if tag.label == "employer" and value[:1].islower() and _before(value, sentence).endswith(" the "):
        value = f"the {value}"
    if is_named and value.islower():
        if _writes_names(sentence):
            return ""
        if one := _ONE_OF_MANY.search(_before(value, sentence)):
            return f"{one[0]}{value}" if tag.label == "employer" else ""
        value = value if value.startswith("the ") else value.title()
    if tag.label in {"name", "partner"}:
        return clean_name(value)
    if is_named and (begun := _NAME_BEFORE.search(_before(value, sentence))):
        return f"{begun[0]}{value}"
    return value if is_named or content(value) else ""


def proposals(
    found: Sequence[Marked], facts: Sequence[ProposedFact], number: int, today: date
) -> tuple[list[ProposedFact], list[ProposedFact]]:
    """New facts, and those of `facts` (of the same message) that they replace: the same value without a key."""
    new: list[ProposedFact] = []
    replaced: list[ProposedFact] = []
    denied = {(mark.tag.label, mark.value.casefold()) for mark in found if mark.tag.state == "not"}
    for mark in found:
        is_denied = (mark.tag.label, mark.value.casefold()) in denied  # “violin strings? Not violin, VIOLA”
        if mark.tag.state != "now" or is_denied or mark.tag.sure < ASK_FROM or mark.was_so or mark.is_ahead:
            continue
        fact = _proposal(mark, found, number, today)
        if fact is None or any(_is_same_value(mark, fact, other) for other in new):
            continue
        stated = next((other for other in facts if _is_same_value(mark, fact, other)), None)
        if stated is not None and _only_names(stated, fact):
            replaced.append(stated)
            new.append(fact)
            continue
        if stated is not None:
            if (
                stated.confidence < SURE
                and mark.tag.sure >= AGREES_FROM
                and not mark.hedged
                and stated.value.casefold() == fact.value.casefold()
            ):
                replaced.append(stated)
                new.append(stated.model_copy(update={"confidence": SURE}))
            continue
        same = [other for other in facts if fact.key and _says_the_same(mark, fact, other)]
        if same and _says_it_better(mark, fact, same[0]):
            fact = fact.model_copy(update={"statement": same[0].statement})
        replaced += same
        new.append(fact)
    return new, replaced


def _only_names(stated: ProposedFact, fact: ProposedFact) -> bool:
    """Whether a statement says no more than the name: “my sister is Annelies”."""
    return stated.statement != fact.statement == stated.statement.replace(" is ", " is called ", 1)


@dataclass(frozen=True, slots=True)
class _Wording:
    """What a tag says: the key, the value, and the statement's pattern."""

    subject: str
    attribute: str
    value: str
    pattern: str
    tags: tuple[str, ...]
    called: str = ""
    """“ called Olive”, of an animal."""


def _proposal(mark: Marked, found: Sequence[Marked], number: int, today: date) -> ProposedFact | None:
    tag, subject, says = mark.tag, mark.subject, SAYS[mark.tag.label]
    wording = _worded(mark, today)
    if wording is None:
        return None
    changes = any(
        other.tag.state != "now" and other.tag.label == tag.label and other.subject == subject for other in found
    )
    is_other = subject != THE_USER
    kind = (Kind.ENTITY if subject.is_pet else Kind.PERSON) if is_other else says.kind
    return ProposedFact(
        statement=_statement(wording, mark, today),
        kind=kind,
        subject=wording.subject,
        attribute=wording.attribute if make_key(wording.subject, wording.attribute) else "",
        value=says.value.format(v=wording.value),
        quote=mark.quote,
        number=number,
        confidence=SURE if tag.sure >= SURE_FROM and not mark.hedged else ASK,
        importance=0.5,
        tags=wording.tags,
        about_third_party=kind is Kind.PERSON,
        health=says.health,
        correction=changes or _NEWS.search(mark.sentence.text) is not None,
    )


def _worded(mark: Marked, today: date) -> _Wording | None:
    """The key and the words for a tag; None: it says nothing that can be told."""
    label, subject, says, value = mark.tag.label, mark.subject, SAYS[mark.tag.label], mark.value
    plain = _Wording(subject.key, says.attribute, value, says.statement, subject.tags)
    if label == "name":
        return _name_worded(mark, plain)
    if label == "origin" and _NATIONALITY.fullmatch(value):
        return replace(plain, pattern="{who} is {v}.")
    if label in {"allergy", "diet"} and value.lower() in {"celiac", "coeliac"}:
        disease = f"{value} disease"
        return replace(plain, attribute=f"condition:{disease.lower()}", value=disease, pattern="{who} has {v}.")
    if label == "allergy" and value.lower() in lists.CONDITIONS | {"hay fever"}:
        return replace(plain, attribute=f"condition:{value.lower()}", pattern="{who} has {v}.")
    if label == "diet" and (diet := _diet_worded(plain)):
        return diet
    if label == "birthday":
        day = find_date(value, today)
        is_day = day is not None and day.first == day.last
        return replace(plain, value=f"{day.first.day} {day.first:%B}") if day and is_day else None
    if label == "pet" and _ADDED.search(mark.before) and clean_name(value) and value.lower() not in relations.PETS:
        plain = replace(plain, pattern="{who} has a pet called {v}.", tags=(value,))
    elif label == "pet":
        value, called = _animal(value.split(), mark.after)
        tags = tuple(word for word in (*items(called.removeprefix(" called ")), value) if word)
        plain = replace(plain, value=value, tags=tags, called=called)
    elif label in ("plays", "job"):
        plain = _action_worded(mark, plain)
    return replace(plain, attribute=says.attribute.format(slug=plain.value.lower())) if plain.value else None


def _diet_worded(plain: _Wording) -> _Wording | None:
    """The words for a diet that leaves others as they are: vegetarians may be gluten-free, and eat little salt."""
    if free := re.fullmatch(FREE_OF, plain.value, re.I):
        attribute = f"diet:{free['what'].lower()}"
        return replace(plain, attribute=attribute, value="no", pattern=f"{{who}} is {plain.value}.")
    if amount := _LOW_IN.fullmatch(plain.value):
        how, what = amount["how"].lower(), amount["what"].lower()
        return replace(plain, attribute=f"diet:{what}", value=how, pattern=f"{{who}} follows a {how}-{what} diet.")
    return None


def _action_worded(mark: Marked, plain: _Wording) -> _Wording:
    """The words for a pastime or work, which may be told by a verb: “she runs”, “I teach year 6”."""
    if mark.tag.label == "plays":
        value = mark.value.removesuffix("s") if mark.does else mark.value
        is_verb = mark.does or _DOES.search(mark.before) or value.lower() in lists.OPENERS
        return replace(plain, value=gerund(value)) if is_verb else plain
    if runs := _RUNS.search(mark.before):
        return replace(plain, pattern=f"{{who}} {runs['verb'].lower().removesuffix('s')}s {{a}} {{v}}.")
    if mark.is_verb:
        is_user = mark.subject == THE_USER
        return replace(plain, value=third_person(f" {mark.value}", user=is_user), pattern="{who} {v}.")
    return plain


def _name_worded(mark: Marked, plain: _Wording) -> _Wording | None:
    subject = mark.subject
    if subject != THE_USER:
        key, attribute = name_key(subject) if subject.relation else ("", "")
        pattern = f"The user's {subject.relation} is called {{v}}."
        return replace(plain, subject=key, attribute=attribute, pattern=pattern) if subject.relation else None
    if _CALL_ME.search(mark.before):
        return replace(plain, attribute="preferred_name", pattern="{who} wants to be called {v}.")
    is_surname = _SURNAME_IS.search(mark.before) or (_SURNAME.search(mark.sentence.text) and " " not in mark.value)
    return replace(plain, attribute="surname", pattern="{who}'s surname is {v}.") if is_surname else plain


_CALL_ME: Final = re.compile(r"(?i)\b(?:call me|go by) $")
_LOW_IN: Final = re.compile(r"(?i)(?P<how>low|high|reduced)[- ](?P<what>[a-z]{3,12})(?: diet)?")
_NATIONALITY: Final = re.compile(
    r"[A-ZÀ-ÞĀ-Ž]\w+(?:ian|ish|ese|ican|ean)|Dutch|French|German|Greek|Welsh|Swiss|Czech|Thai"
)


def _statement(wording: _Wording, mark: Marked, today: date) -> str:
    label, relation = mark.subject.label, _PARTNER.search(mark.sentence.text)
    return wording.pattern.format(
        who=label[0].lower() + label[1:] if wording.pattern.startswith("One") else label,
        v=wording.value,
        a=article(wording.value),
        now=f"{today:%B %Y}",
        relation=relation[0].lower() if relation else "partner",
        pet="pet" if _PLURAL.search(wording.value) else "a pet",
        called=wording.called,
    )


_ADDED: Final = re.compile(r"[,(:–—] ?$")
"""Before a name that is added: “she's a rescue, Noodle”."""
_CALLED: Final = re.compile(
    rf"(?:,? (?:called|named|(?:is|who's) called)|,|:| \(| is(?! [A-ZÀ-ÞĀ-Ž]\w+(?:ian|ish|ese|an)\b)) ?"
    rf"(?P<name>{NAME})(?P<more>(?:, {NAME}){{0,5}},? (?:and|&) {NAME})?(?=[,.)!?:]| [a-z]|$)"
)


def _animal(words: Sequence[str], after: str) -> tuple[str, str]:
    """The kind of an animal, and how it is called: “spaniel Biscuit”, “a greyhound called Olive”, or several are."""
    names = " ".join(word for word in words if word[0].isupper()) if not words[0][0].isupper() else ""
    kind = " ".join(word for word in words if word not in names.split())
    if not names and (found := _CALLED.match(after)) and (names := clean_name(found["name"])):
        names += (found["more"] or "") if _PLURAL.search(kind) else ""
        kind = kind if found["more"] or " is" in found[0] else lists.singular(kind)  # “the dogs called Mochi”
    return kind, f" called {names}" if names else ""


def _is_same_value(mark: Marked, fact: ProposedFact, other: ProposedFact) -> bool:
    """Whether another fact of the message says it: by its key, the same value, or as whom or what it is about."""
    if mark.tag.label == "name" and fact.value in {*other.tags, other.value}:
        return True  # “the user's sister Mary lives in Oslo”
    if mark.tag.label == "pet" and {mark.value.split()[0], lists.singular(mark.value)} & {*other.tags}:
        return True  # “the user's dog Rex likes cheese”
    if other.attribute.startswith(_SAID_BY.get(mark.tag.label, ())) and _shares_value(mark, fact, other):
        return True  # “the user is coeliac”: a condition
    return (bool(fact.key) and fact.key == other.key) or (not fact.key and _shares_value(mark, fact, other))


def _says_it_better(mark: Marked, fact: ProposedFact, other: ProposedFact) -> bool:
    """Whether the user's words are the better statement: “works night shifts at a warehouse”."""
    if other.kind is Kind.FACT:
        return False
    says_work = mark.tag.label == "employer" and other.statement.startswith("The user works ")
    more = mark.tag.label in _TAKES_MORE and _says_more(fact, other)
    return says_work or mark.tag.label in _OWN_WORDS or mark.is_verb or more


def _says_the_same(mark: Marked, fact: ProposedFact, other: ProposedFact) -> bool:
    """Whether a fact without a key is the same in other words, or its statement can be this fact's."""
    if other.key or len(other.statement.split()) > MAX_SAME or not _shares_value(mark, fact, other):
        return False
    takes_it = mark.tag.label in _TAKES_MORE | {"employer"} and other.kind is not Kind.FACT
    return takes_it or not _says_more(fact, other)


def _says_more(fact: ProposedFact, other: ProposedFact) -> bool:
    return len({*content(other.statement)} - {*content(fact.statement), "mention"}) >= MORE


def _shares_value(mark: Marked, fact: ProposedFact, other: ProposedFact) -> bool:
    value = fact.value if mark.is_verb else mark.value
    is_of_same = fact.subject == other.subject or other.kind is Kind.FACT  # “Wim's birthday is on …”, as it was said
    return value.casefold() in other.statement.casefold() and is_of_same
