"""A clause as subject and predicate in the third person: “I've got two cats” → “The user” + “has two cats”.

Subjects are the user, people and animals of theirs (“my sister Mary”, then “she”), and their things. What has another
subject is no claim about the user's world and gives nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from memory.facts.keys import USER
from memory.librarian.rules import words as lists
from memory.librarian.rules.clauses import Clause, is_past
from memory.text import relations
from memory.text.language import alternatives, as_set

_NAME_WORD: Final = r"[A-ZÀ-ÞĀ-Ž][\w'-]{1,20}"
NAME: Final = (
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Professor|Auntie|Aunt|Uncle)\.? (?:(?:van|de|von|der|da|al|den|ten) ){0,2})?"
    rf"{_NAME_WORD}"
    rf"(?: (?:(?:van|de|von|der|da|al|Mc) )?{_NAME_WORD}){{0,2}}"
)
REL: Final = (
    rf"(?:{alternatives(relations.PEOPLE | relations.PETS)})"
    r"(?! (?:walk|sitt|groom|train|mind|breed|own)ers?\b| (?:food|beds?|park|show|school|flap|litter|treats?)\b)"
)
"""Someone around the user or an animal of theirs; a dog walker is none."""
MODIFIERS: Final = (
    r"(?:(?!(?:to|for|of|and|with|my|our|the|an?|from|is|was|are|at|in|on|about|or|as|by|than|that|who|has)\b)"
    r"[a-z0-9.'-]{2,14}[ -]){0,3}?"
)
"""Words between “my” and “sister”."""
_PERSON: Final = re.compile(
    rf"(?:(?:[Mm]y|[Oo]ur) |(?=[Nn]ew ))(?P<mod>(?i:{MODIFIERS}))(?P<rel>(?i:{REL}))(?![\w-])"
    rf"(?:(?:,| called| named|'s name is|:)? \(?(?P<name>{NAME})\)?)?(?: ?\(\d{{1,2}}\))?,?(?= |'s|$)"
)
_BARE: Final = re.compile(
    r"(?P<mod>(?i:best )?)(?P<rel>(?i:mum|mom|dad|grandad|grandma|grandpa|granny|girlfriend|boyfriend|friend|co-founder"
    rf"|wife|husband|baby(?= is\b|'s\b)))(?: since \w+(?: school)?)?"
    rf"(?: \((?P<name>{NAME})\)| (?P<called>[A-ZÀ-ÞĀ-Ž][a-z]+))?"
    r"(?= |'s(?! (?:birthday|bday)\b))"
)
_NAMED: Final = re.compile(
    rf"(?P<name>{NAME}), (?:who is |who's )?(?:my|our) (?P<mod>(?i:{MODIFIERS}))(?P<rel>(?i:{REL}))(?![\w-]),?(?= |$)"
)
_GROUP: Final = re.compile(
    rf"(?i)(?:my|our) (?P<mod>(?:\w+ ){{0,2}}?)(?P<rel>{alternatives(relations.GROUPS)})(?='| )"
    r"(?='ve|'re| (?!(?:in|on|at|to|of|for|with|from|and|or|who|that)\b)[a-z])"
)
_PRONOUN: Final = re.compile(r"(?i)(he|she|they|it(?!(?:'s| is| was) (?-i:[A-ZÀ-ÞĀ-Ž]))|who)(?='s|'re|'ve|'ll| )")
"""Pronouns of someone named before; “it's Madeira now” says of no animal what it is."""
_FIRST: Final = re.compile(r"(?:I|[Ww]e)(?='m|'ve|'re|'d|'ll| )")
_NAME_FIRST: Final = re.compile(rf"({NAME})(?='s|'ll| )")
_IS: Final = re.compile(
    rf"'s (?:in|at|on|back|now|not|an?|the|still|from|my|our|also|just|(?!(?:{alternatives(lists.ING_NOUNS)})\b)\w+ing"
    r"|\w+ed|been|got)\b"
)
"""“Ali's in Ankara”, unlike “Ali's dog”."""
_TOGETHER: Final = re.compile(
    r"(?i)^(?:(?:my|our) [\w' .-]{2,40}? and (?:I|me),? (?:both |we (?:both )?)?(?=\w)"
    rf"|me and (?:my|our) [\w' .-]{{2,30}}? (?=(?:are|were|have|{alternatives(lists.OPENERS)})\b))"
)
_FRONTED: Final = re.compile(
    r"(?i)(?P<when>(?:on|in|at|by|every|each|since|last|next|this|most|during|after|before|for|from|until|some ?day"
    r"|one|these|whenever|when|with|as|ever since|over|\d+|two|three|a|up) (?:[\w'’:.%/-]+ ){0,8}?[\w'’:.%/-]+,?"
    r"|(?:because of|due to|without|despite) (?:[\w'-]+ ){0,4}?[\w'-]+,?|tomorrow|yesterday|someday|lately"
    r"|today|tonight|currently|nowadays)(?<! to)(?<! for)(?<! of)(?<! about),? (?P<main>(?:I|we|my|our)(?:'m|'ve|'re"
    r"|'d|'ll)? .+)"
)
"""“Two days ago I adopted a greyhound”: the time or place comes last."""
_ON_DAYS: Final = re.compile(
    r"(?i)(?P<when>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays)"
    r"(?: (?:mornings?|afternoons?|evenings?|nights?))?,?) (?=(?:I|we|my|our)\b)"
)
"""“Tuesday evenings I'm at a class”: on Tuesday evenings."""
_TOUCHES_USER: Final = re.compile(
    r"(?i)\b(?:me|my|us|our)\b|\b(?:is|are|was|starts?|begins?|ends?|comes?|leaves?) (?:on|in|at|next|this|tomorrow)\b"
)
_NO_SUBJECT: Final = re.compile(
    r"(?i)(?:it|this|that|you|what|who|there|here|these|those|they|your|he|she|nobody|someone|everyone|people|which"
    r"|any|to|let|thanks|question)(?:'\w+)?\b"
)
_LINKS: Final = as_set("to for with of and like")
MAX_SUBJECT: Final = 6
"""Words of “my old sailing boat in Croatia”."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom or what a claim is about."""

    label: str
    """As a statement names them: “The user's sister Mary”."""
    key: str = USER
    name: str = ""
    relation: str = ""
    """Such as sister or dog; of people, animals and groups."""
    is_group: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        """By which a fact about them is found."""
        return tuple(tag for tag in (self.name, self.relation) if tag)

    @property
    def is_pet(self) -> bool:
        """Whether it is an animal."""
        return self.relation in relations.PETS

    @property
    def is_person(self) -> bool:
        """Whether it is someone else, or several."""
        return bool(self.relation) and not self.is_pet

    @property
    def is_thing(self) -> bool:
        """Whether it is neither the user nor anybody."""
        return not self.relation and self.label != THE_USER.label

    def fits(self, pronoun: str) -> bool:
        """Whether “she”, “he”, “it” or “they” may mean them."""
        if pronoun == "they":
            return self.is_group
        other = {"she": relations.MALE, "he": relations.FEMALE, "it": relations.PEOPLE}.get(pronoun, frozenset())
        return not self.is_group and self.relation not in other


THE_USER: Final = Subject("The user")


@dataclass(slots=True)
class People:
    """Who was named so far in a message and the user's one before; the last one first."""

    last: list[Subject] = field(default_factory=list)
    known: list[Subject] = field(default_factory=list)
    """From what is known already: they can be named, not meant by “she”."""

    def add(self, subject: Subject) -> Subject:
        """Note a person, animal or group; the one of the same relation keeps the name that is known."""
        if not subject.name:
            same = (one for one in self.last if one.relation == subject.relation and one.name)
            subject = next(same, self.only_pet(subject.relation) or subject)
        self.last = [subject, *(one for one in self.last if one != subject)]
        return subject

    def only_pet(self, relation: str) -> Subject | None:
        """Whom “the dog” means: the only one that is known, by whatever breed."""
        known = {one.key: one for one in (*self.known, *self.last) if one.is_pet}
        fitting = [one for one in known.values() if relation in (one.relation, relations.BREEDS.get(one.relation))]
        return fitting[0] if len(fitting) == 1 else None

    def knows(self, subject: Subject) -> bool:
        """Whether someone of the same relation is known by name."""
        return any(one.relation == subject.relation and one.name for one in (*self.last, *self.known))

    def find(self, pronoun: str) -> Subject | None:
        """Whom a pronoun means: the last one named whom it fits."""
        return next((one for one in self.last if one.fits(pronoun.lower())), None)

    def hear(self, clause: str) -> None:
        """Let “she” mean someone known whom a clause names, if no one else is called so: “seeing Ada, she …”."""
        by_name = {one.name: one for one in self.known if one.name}
        called = Counter(one.name for one in {*self.known})
        for word in re.findall(r"[A-ZÀ-ÞĀ-Ž][\w-]+", clause):
            if word in by_name and called[word] == 1:
                self.add(by_name[word])

    def forget(self, name: str) -> None:
        """Know no one of this name, nor whom a pronoun means, as the words are about another of that name."""
        known = [one for one in self.known if one.name.casefold() == name.casefold()]
        if known or any(one.name.casefold() == name.casefold() for one in self.last):
            self.last, self.known = [], [one for one in self.known if one not in known]

    def named(self, name: str) -> Subject | None:
        """Who is called so."""
        found = (one for one in [*self.last, *self.known] if one.name and one.name.casefold() == name.casefold())
        return self.add(known) if (known := next(found, None)) else None


@dataclass(frozen=True, slots=True)
class Claim:
    """A clause read as a claim."""

    subject: Subject
    predicate: str
    """In the third person: “lives in Lisbon”."""
    elided: bool = False
    """The clause leaves its subject out."""


def related(rel: str, name: str | None = "", mod: str = "") -> Subject:
    """The subject for a person of the user's."""
    relation, name = rel.lower(), clean_name(name or "")
    mod = re.sub(r"\b(?:my|our|new|old|dear|\w+[- ](?:year|month|week)s?[- ]old)\b ?", "", mod.lower()).strip(" -")
    if mod == "late" and relation in relations.PARTNERS:
        relation = f"late {relation}"  # whoever died is no partner any more
    mod = mod.removeprefix("late ") if relation != f"late {rel}" else mod
    if relation == "partner" and relations.SOME_PARTNER.search(f"my {mod} partner"):
        relation = f"{mod} partner"
    mod = "" if mod and relation.startswith(f"{mod} ") else mod
    label = " ".join(part for part in ("The user's", mod, relation, name) if part)
    return Subject(label, name if name and relation not in relations.PETS else f"{USER}/{relation}", name, relation)


_KNOWN: Final = re.compile(
    rf"The user's (?P<mod>{MODIFIERS})(?P<rel>{REL})(?: (?:is called )?(?P<name>{NAME}))?(?= |\.)"
)


def known_people(statements: Iterable[str]) -> list[Subject]:
    """The people and animals of whom statements tell, by their names where any has one."""
    found = [
        related(said["rel"], said["name"], said["mod"]) for statement in statements if (said := _KNOWN.match(statement))
    ]
    named = {one.relation for one in found if one.name}
    return [one for one in found if one.name or one.relation not in named]


def clean_name(name: str) -> str:
    """The name, if it is one; “No”, “What” and days of the week are none."""
    name = (name or "").strip(" ,.'").removesuffix("'s")
    parts = name.split()
    spelled = bool(parts) and all(
        part[0].isupper() or part in {"van", "de", "von", "der", "da", "al"} for part in parts
    )
    return (
        name
        if spelled
        and len(name) > 1
        and not name.startswith(("I'", "I’"))
        and not any(part.lower() in lists.NOT_A_NAME for part in parts)
        else ""
    )


def is_occupation(word: str) -> bool:
    """Whether a word names a profession."""
    low = word.lower().strip(",.")
    return low in lists.OCCUPATIONS or low.endswith(lists.OCCUPATION_ENDINGS)


def is_role(word: str) -> bool:
    """Whether a word says what someone is: a profession, or such as student and owner."""
    return word.lower() in _ROLES or is_occupation(word)


def read_claim(clause: Clause, people: People) -> Claim | None:
    """The subject and predicate of a clause; None if it is neither about the user nor about anything of theirs."""
    text = _TOGETHER.sub("we ", clause.text)
    if days := _ON_DAYS.match(text):
        when = days["when"].lower() if days["when"].lower().startswith("week") else days["when"].capitalize()
        text = f"on {when}{text[days.end('when') :]}"
    if first := _FIRST.match(text):
        return Claim(THE_USER, third_person(text[first.end() :], user=True))
    fronted = None if _AS_A.match(text) else _FRONTED.match(text)
    if fronted and (claim := read_claim(replace(clause, text=fronted["main"]), people)) and claim.predicate:
        when = fronted["when"].strip(" ,")
        when = inside(when[0].lower() + when[1:], user=claim.subject == THE_USER)
        return replace(claim, predicate=f"{claim.predicate} {when}")
    if (there := _THERE.match(text)) and _TOUCHES_USER.search(text):
        return Claim(Subject("There"), inside(f"{there['be'].replace("'s", 'is')} {text[there.end() :]}", user=False))
    return _person(text, people) or _other(text, people) or _elided(clause)


_THERE: Final = re.compile(r"(?i)there ?(?P<be>is|are|'s) (?=\w)")


def as_said(clause: Clause) -> tuple[str, str]:
    """How a clause was read that has another subject or none, and what it says, in the user's words; empty: nothing.

    “Gareth at work is leaving”; “two ferrets, one of them diabetic” → “The user mentions two ferrets, …”.
    """
    bare = [word.strip(",'").lower() for word in clause.text.split(" ")]
    is_open = _NO_SUBJECT.match(clause.text) is not None or bare[0] in lists.ADVERBS | _NO_OPENING
    is_open = is_open or bool((_UNNAMED | {"not"}) & {*bare}) or "n't" in clause.text
    if not 3 <= len(bare) <= MAX_SAID or is_open:
        return "", ""
    said = inside(clause.text, user=False)
    if any(word in _FINITE or is_past(word) for word in bare[1:]) or _IS.search(clause.text):
        return ("", "") if bare[0] in {"a", "an"} else ("whole", f"{said[0].upper()}{said[1:]}.")
    is_verb = bare[0] in lists.OPENERS | lists.THIRD or is_past(bare[0])
    is_name = said[1:2].isupper() or not clause.first or re.match(r"[A-ZÀ-ÞĀ-Ž]\w+ [A-ZÀ-ÞĀ-Ž]", said)
    if is_verb or said.lower().startswith("the user's") or said.endswith("the user"):
        return "", ""
    return "fragment", f"The user mentions {said if is_name else said[0].lower() + said[1:]}."


MAX_SAID: Final = 25
"""Words of a clause that is kept as it was said."""
_NO_OPENING: Final = (lists.NEVER_LAST - {"a", "an", "the", "my"}) | as_set(
    "kindly not i we he she they thanks thank sorry yes since because until same speaking mine ours"
)
_UNNAMED: Final = as_set("he she him her his hers she's he's")
"""A statement that needs someone named before is none by itself; one with “not” is a correction of what is known."""
_FINITE: Final = frozenset(verb for verb in lists.THIRD if verb.endswith("s")) | {"are", "were", "can", "will", "can't"}


_POSSESSIVE: Final = re.compile(
    r"(?i)'s (?:(?!(?:he|she|they|it|I|we|who|that|and|so|very|too|just|also|still|now|already|not|always|never|\w+ly"
    rf"|\w+ed|{alternatives(lists.IRREGULAR_PAST)})\b)[\w-]+ ){{1,3}}?"
    rf"(?:{alternatives(_FINITE | {'used'} | lists.IRREGULAR_PAST)}"
    rf"|(?!(?:{alternatives(lists.NOT_PAST)})\b)\w{{2,}}ed)\b"
    rf"|'s (?:[\w-]+ ){{0,2}}?(?:{REL})(?![\w-])"
)
"""“Sister's boyfriend works …”, but not “sister's a nurse”."""


def _person(text: str, people: People) -> Claim | None:
    """“My sister Mary lives …”, “Mary, my sister, lives …”, “mum is …”."""
    for pattern in (_PERSON, _BARE, _NAMED):
        found = pattern.match(text)
        if found is None:
            continue
        groups, rest = found.groupdict(), text[found.end() :]
        subject = related(found["rel"], groups.get("name") or groups.get("called") or "", groups.get("mod") or "")
        if groups.get("name") and not subject.name:
            rest = text[found.start("name") - 1 :]
        if _verb_follows(rest):
            return Claim(people.add(subject), third_person(rest))
    return None


def _other(text: str, people: People) -> Claim | None:
    if found := _GROUP.match(text):
        label = f"The user's {(found['mod'] + found['rel']).lower()}"
        group = Subject(label, f"{USER}/{found['rel'].lower()}", relation=found["rel"].lower(), is_group=True)
        return Claim(people.add(group), plural(text[found.end() :]))
    if found := _PRONOUN.match(text):
        subject, rest = people.find(found[1]), text[found.end() :]
        return Claim(subject, plural(rest) if subject.is_group else third_person(rest)) if subject else None
    if found := _NAME_FIRST.match(text):
        name = found[1].removesuffix("'s")
        rest = text[len(name) :]
        if (_IS.match(rest) or not rest.startswith("'s")) and (known := people.named(name)):
            return Claim(known, third_person(rest))
    return _thing(text)


def _thing(text: str) -> Claim | None:
    """“My old boat leaks”, “phone calls make me anxious”: the subject ends at the first verb."""
    possessive = re.match(r"(?:my|our) ", text, re.I)
    if possessive is None and (_TOUCHES_USER.search(text) is None or _NO_SUBJECT.match(text)):
        return None
    parts = text.split(" ")
    for at in range(2 if possessive else 1, min(len(parts), MAX_SUBJECT + 1)):
        touched = parts[at + 1 : at + 2] in (["me"], ["us"]) and parts[at] not in _LINKS
        if parts[at].lower() in lists.THIRD or (touched and not possessive):
            label = inside(" ".join(parts[:at]), user=False)
            if label.endswith((",", "'s", "est")) or label.split()[-1].lower() in lists.NEVER_LAST:
                continue
            return Claim(Subject(label[0].upper() + label[1:]), inside(" ".join(parts[at:]), user=False))
    owned = text[text.find("'s") :]
    if possessive and len(parts) > 2 and parts[1].endswith("'s") and (_IS.match(owned) or not _POSSESSIVE.match(owned)):
        return Claim(Subject(f"The user's {parts[1][:-2]}"), third_person("'s " + " ".join(parts[2:])))
    return None


def _verb_follows(rest: str) -> bool:
    """Whether a finite verb comes next, after adverbs; not where “'s” says whose something is: “'s boyfriend works”."""
    if _POSSESSIVE.match(rest) and not _IS.match(rest):
        return False
    if re.match(r"'(?:s|re|ve|ll|d) ", rest):
        return True
    bare = [word.strip(",") for word in rest.lower().split(" ")[1:4]]
    verb = next((word for word in bare if word not in lists.ADVERBS), "")
    return verb in lists.THIRD or is_past(verb) or (verb.endswith("s") and len(verb) > 3 and not verb.endswith("'s"))


_AS_A: Final = re.compile(
    r"(?i)as (?P<who>(?:an? |the )(?!(?:result|rule|kid|child|gift|present|whole|side|bonus|teenager|student|test|last"
    r"|start|matter)\b)[\w-]+(?: [\w-]+){0,4}|someone who (?P<does>\w+s .+))(?:,|$| I\b| who\b)"
)
_STATE: Final = re.compile(
    r"(?i)(?:allergic to|originally from|from [A-ZÀ-ÞĀ-Ž]|(?:based|renting) in"
    r"|(?P<was>born (?:and|in|on (?=[^,.;!]{0,20}\b(?:19|20)\d\d))|raised in)"
    r"|married|divorced|widowed|single|separated|engaged|retired|currently|self-employed|between jobs|on a \w+ diet"
    r"|(?P<a>big|huge|keen|total) (?=(?:[\w-]+ ){0,2}?(?:fan|lover|nerd|addict|foodie|\w+(?:er|ist))\b)\w+"
    r"|vegan|vegetarian|pescatarian|gluten[- ]free|(?:left|right)[- ]handed|diabetic|coeliac|celiac|pregnant"
    r"|colou?r[- ]?blind"
    r"|dyslexic|autistic|off to|in my|lactose|not (?:an? |a big |a huge )?(?:fan of|keen on|big on)|\d{2} years old"
    r"|\d{2},? (?:male|female|single|married))\b"
)
_DOING: Final = re.compile(
    rf"(?i)(?!(?:{alternatives(lists.ING_NOUNS)}|during|looking|wondering|asking|feeling|sounding|seeing|using"
    rf"|regarding|according|assuming|speaking|being"
    r"|having|meaning|missing|following)\b)[a-z]{2,12}ing"
    r" (?!is\b|are\b|was\b|lists?\b|lessons?\b|class(?:es)?\b|tips?\b|ideas?\b|advice\b|plans?\b|tests?\b|shoes\b)\w"
)
_EVENT: Final = re.compile(
    r"(?i)(?:(?!(?:the|a|an|my|is|are|what|when|how|do|does)\b)[\w-]+ ){0,3}(?:exam|test|interview|appointment|talk"
    r"|wedding|flight|surgery|operation|reunion|deadline|conference|viewing|hearing|trip|party|concert|race|marathon"
    r"|meeting|baptism|funeral|recital|presentation|defen[cs]e|competition|tournament|gig|holiday|check-?up|scan|move)"
    r" (?:is )?(?:on|in|at|next|this|tomorrow|due|coming up|scheduled)\b"
)
_ON_A_DAY: Final = (
    r"(?:(?:on|in|at|next|this|due) (?:the )?(?:coming )?)?(?:\d{1,2}(?:st|nd|rd|th)|(?:\d{1,2} )?(?:jan|feb"
    r"|mar|apr|may|jun|jul|aug"
    r"|sep|oct|nov|dec)[a-z]{0,6}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow)"
)
_DATED: Final = re.compile(
    r"(?i)(?!(?:the|what|when|how|is|are|do|does|see|good|happy|until|till|by|not|no|only|every|each|any|and|or|born"
    r"|starts?|begins?|leaves?|finish|back)\b)"
    rf"(?:[\w'-]+ ){{1,4}}{_ON_A_DAY}(?: (?:\w+ ){{0,3}}\w+)?"
)
_HERE: Final = re.compile(r"(?i)(?P<what>(?:[\w-]+ ){0,3}(?P<head>[\w-]+)) (?:here|speaking)\b(?! (?:is|are|was))")
_ROLE: Final = re.compile(
    r"(?i)(?!(?:the|my|our|your|his|her|what|which|any|is|are|do|does|for|with|to|as|how|if|when|no|not|dear)\b)"
    r"(?:[\w-]+ ){1,4}?(?P<head>[\w-]+) (?:at|in|for|from|here)\b[^?]{1,60}$"
)
_ROLES: Final = as_set("fan nerd beginner newbie person mother father mum dad student owner lover sufferer child user")
_PLAIN: Final = re.compile(
    r"(?:have|has|love|hate|work|live|prefer|hope|want|(?:can't|don't) (?:like|eat|drink|have|own|want|speak"
    r"|drive|smoke|do|stand|bear|work))\b"
)


def _elided(clause: Clause) -> Claim | None:
    """A clause that leaves “I” out: “moved to Porto last month”, “allergic to nuts”, “bus driver here”."""
    text = clause.text
    if role := _AS_A.match(text):
        return Claim(THE_USER, role["does"] or f"is {role['who']}", elided=True)
    if not clause.first or not text or re.match(r"(?i)(?:both|all|none|some) |\w+ (?:his|her|their)\b", text):
        return None
    predicate = _noun_phrase(re.sub(r"(?i)^currently ", "", text))
    lower = text[0].lower() + text[1:]
    parts = lower.lower().split(" ")
    at = next((at for at, part in enumerate(parts[:3]) if part not in lists.ADVERBS), 0)
    verb, bare = parts[at], " ".join(parts[at:])
    if parts[at + 1 : at + 2] in (["is"], ["was"], ["are"]):
        return None  # “rent is 740”
    if not predicate and (state := _STATE.match(text)):
        said = with_article(lower) if state["a"] else lower
        predicate = third_person(f" {'was' if state['was'] else 'am'} {said}", user=True)
    elif not predicate and _DOING.match(text):
        predicate = third_person(f" am {lower}", user=True)
    elif not predicate and bare.startswith("no longer "):
        predicate = third_person(f" {lower}" if parts[at + 2] in lists.OPENERS else f" am {lower}", user=True)
    elif (
        not predicate
        and len(parts) > 1
        and (
            _PLAIN.match(bare)
            or (at and verb in lists.OPENERS)
            or (is_past(verb) and verb not in {"called", "named"} and not re.search(r"^\w+ (?:by|from|with) ", lower))
        )
    ):
        predicate = third_person(f" {lower}", user=True)
    return Claim(THE_USER, predicate, elided=True) if predicate else None


FAMILY: Final = re.compile(
    r"(?i)(?:an? |one |two |three |four |five |\d )(?:[a-z-]+ ){0,2}?(?:kids?|children|child|sons?|daughters?|toddlers?"
    rf"|teenagers?|twins|boys|girls|(?:{alternatives(relations.PETS)})s?)(?=,|\.|$| (?:at|in|and|under|aged)\b)"
)
_FOR_YEARS: Final = re.compile(
    r"(?i)(?P<long>(?:\d{1,2}|[a-z-]{3,14}) (?:years?|months?)) (?:(?P<as>(?:as )?an? )|in |at )(?P<what>[\w ]{3,40}?)"
    r"(?= and now|,| but|$)"
)


_BIRTHDAY_OF: Final = re.compile(r"(?:it'?s )?[\w-]+'s birthday\b")
"""“its samir's birthday”: someone has it, and it is no event of the user's."""


def _noun_phrase(text: str) -> str:
    """“apprentice chef”, “bus driver here”, “driving test on Friday” as predicates."""
    if (family := FAMILY.match(text)) and not text.endswith("?"):
        return f"has {family[0][0].lower()}{family[0][1:]}"
    if long := _FOR_YEARS.match(text):
        what = f"a {long['what']}" if long["as"] else text[len(long["long"]) + 1 : long.end("what")]
        return f"has been {what} for {long['long'].lower()}"
    lower, parts = text[0].lower() + text[1:], text.split(" ")
    is_verbless = not any(is_past(word) or word in lists.THIRD | lists.ADVERBS for word in lower.split(" "))
    if is_verbless and (role := _ROLE.match(text.partition(",")[0])) and is_role(role["head"]):
        return f"is {with_article(lower.partition(',')[0])}"
    if (
        len(parts) <= 4
        and is_occupation(parts[-1])
        and "'" not in parts[0]  # “he's a vet”
        and parts[0].lower() not in (lists.NOT_A_NAME | relations.PEOPLE) - {"a", "an"}
    ):
        return f"is {with_article(lower)}"
    is_dated = is_verbless and not parts[0].endswith("ing") and parts[0].lower() not in relations.PEOPLE
    if not _BIRTHDAY_OF.match(lower) and (_EVENT.match(text) or (is_dated and _DATED.fullmatch(text))):
        return f"has {with_article(re.sub(r' is (?=on|in|at|next|this|tomorrow|due|coming|scheduled)', ' ', lower))}"
    here = _HERE.match(text)
    head = here["head"].lower() if here else ""
    if here and (head in lists.DIETS | lists.AFFLICTED):
        return f"is {here['what'].lower()}"
    return f"is {with_article(here['what'])}" if here and is_role(head) else ""


def with_article(phrase: str) -> str:
    """The phrase with “a” or “an”, unless it has an article."""
    if re.match(r"[a-z][A-ZÀ-ÞĀ-Ž]", phrase):
        phrase = phrase[0].upper() + phrase[1:]
    if re.match(r"(?:my|our|the|an?|two|three|\d)\b", phrase, re.I):
        return phrase
    if _MANY.search(re.split(r" (?:to|of|for|in|on|at|from|with|this|next)\b", phrase)[0]):
        return phrase[0].lower() + phrase[1:]
    return f"{article(phrase)} {phrase if phrase[1:2].isupper() else phrase[0].lower() + phrase[1:]}"


_MANY: Final = re.compile(r"(?<![suia'])s$")
"""“keys”, “piano lessons”, but no “bus”."""


def article(word: str) -> str:
    """“an” before a vowel's sound, else “a”."""
    return "an" if word[:1].lower() in "aeiou" and word[:3].lower() not in {"uni", "one", "use"} else "a"


_SHORT: Final = (
    (re.compile(r"^(?:'m|'re)(?= )"), " is"),
    (re.compile(r"^'ve(?= )|^(?= been )"), " has"),
    (
        re.compile(
            r"^'s(?= (?:\w+ )?(?:got|been|had|lost|moved|lived|become|gone|started|stopped|joined|left|quit|passed"
            r"|finished|changed|decided|bought|sold|taken|begun)\b"
            r"| (?:always|never|long|already) (?:loved|liked|hated|wanted|enjoyed|preferred|worked|played|needed|feared"
            r"|known|kept|supported|owned|collected|dreamt|dreamed)\b"
            r"| (?!(?:called|named|allowed)\b)\w+ed (?:me|us|my|our|him|her|them|it|the)\b)"
        ),
        " has",
    ),
    (re.compile(r"^'s(?= )"), " is"),
    (re.compile(r"^'d(?= )"), " would"),
    (re.compile(r"^'ll(?= )"), " will"),
    (re.compile(r"^( (?:has|have)) got (?!to\b)"), r"\1 "),
)
_NEGATIONS: Final = {
    "don't": "does not", "can't": "cannot", "won't": "will not", "didn't": "did not", "haven't": "has not",
    "wasn't": "was not", "weren't": "was not", "isn't": "is not", "aren't": "is not", "couldn't": "could not",
    "hasn't": "has not", "doesn't": "does not", "wouldn't": "would not", "hadn't": "had not",
}  # fmt: skip
MODALS: Final = as_set("can could will would must may might should cannot is was has had does did used")
_FORMS: Final = {"have": "has", "do": "does", "go": "goes", "am": "is", "are": "is", "were": "was", "be": "is"}
_VERBS: Final = {"": "", "'m": "are", "'re": "are", "'ve": "have", "'d": "would", "'ll": "will"}
_POSSESSED: Final = {"my": "their", "our": "their", "mine": "theirs", "ours": "theirs", "me": "them", "us": "them",
                     "myself": "themselves", "ourselves": "themselves"}  # fmt: skip
_INNER: Final = re.compile(
    r"(?<![\w'])(?:(I|[Ww]e)('m|'re|'ve|'d|'ll)?|([Mm]y|[Oo]ur|mine|ours|[Mm]e|us|myself|ourselves))(?![\w'])"
)


_AGREES: Final = re.compile(
    rf"(?:(\b(?:let|lets|make|makes|made|help|helps|helped|saw|see|sees) )|\b)"
    rf"the user ({alternatives(lists.OPENERS)}|am|do)\b"
)
"""“The user eat”, after “I” became “the user”."""


_NO_VERB: Final = as_set("with at in on for of by from to under about without")


def third_person(rest: str, *, user: bool = False) -> str:
    """What follows a subject, such as “'m from Porto and love it”, as a third person's predicate; empty if none can."""
    for pattern, long in _SHORT:
        rest = pattern.sub(long, rest)
    parts = rest.strip().split(" ")
    at = next((n for n, word in enumerate(parts) if word.lower().strip(",") not in lists.ADVERBS), len(parts))
    if at == len(parts):
        return ""
    verb = parts[at].lower()
    if verb in _NO_VERB:
        return ""
    if verb == "no":
        longer = parts[at + 1 : at + 2] == ["longer"]
        return f"no longer {third_person(' '.join(['', *parts[at + 2 :]]), user=user)}" if longer else ""
    if verb.endswith((",", ";", ":")):
        parts, verb = [*parts[:at], verb[:-1]], verb[:-1]
    if verb.endswith("n't") and verb not in _NEGATIONS:
        return ""
    if user and at and verb in lists.PARTICIPLES:  # “never been to Rome” → “has never been to Rome”
        return f"has {' '.join(parts[: at + 1])} {inside(' '.join(parts[at + 1 :]), user=user)}".strip()
    parts[at] = _NEGATIONS.get(verb) or (inflected(verb) if user else parts[at])
    head = " ".join(parts[: at + 1])
    return f"{head} {inside(' '.join(parts[at + 1 :]), user=user)}".strip()


def plural(rest: str) -> str:
    """The same for several: “'re both vegan” → “are both vegan”."""
    return inside(re.sub(r"^'ve ", " have ", re.sub(r"^'re ", " are ", rest)).strip(), user=False)


def inside(words: str, *, user: bool) -> str:
    """The user's “my”, “me” and “I” inside a predicate: theirs if it is the user's own, else the user's."""

    def replace_pronoun(found: re.Match[str]) -> str:
        who, verb, possessive = found[1], found[2] or "", (found[3] or "").lower()
        if who:
            verb = f" {_VERBS[verb]}" if verb else ""
            return f"they{verb}" if user else f"the user{ {' are': ' is', ' have': ' has'}.get(verb, verb) }"
        return (
            _POSSESSED[possessive]
            if user
            else ("the user's" if possessive in {"my", "our", "mine", "ours"} else "the user")
        )

    text = _INNER.sub(replace_pronoun, words)
    if not user:
        text = _AGREES.sub(lambda found: found[0] if found[1] else f"the user {inflected(found[2])}", text)
    return re.sub(r"\bthey (?:was|am)\b", "they were" if " was" in text else "they are", text) if user else text


def inflected(verb: str) -> str:
    """A verb after “I” as it is after “she”; a past or helping verb stays."""
    if verb in _FORMS:
        return _FORMS[verb]
    if verb in lists.PARTICIPLES:
        return f"has {verb}"
    if verb in MODALS or is_past(verb):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def gerund(verb: str) -> str:
    """swim → swimming, ride a bike → riding a bike; a word that ends so already stays."""
    first, _, rest = verb.partition(" ")
    if re.search(r"(?i)[aeiouy].*ing$", first):  # “sing” and “bring” don't
        return verb
    if first.endswith("ie"):
        first = f"{first[:-2]}y"
    elif first.endswith("e") and not first.endswith(("ee", "oe", "ye")):
        first = first[:-1]
    elif _SHORT_VERB.fullmatch(first):
        first += first[-1]
    return f"{first}ing {rest}".rstrip()


_SHORT_VERB: Final = re.compile(r"(?i)[^aeiou\W]+[aeiou][^aeiouwxy\W]")
"""One vowel between consonants: the last letter doubles."""
