"""Changes that the updates network reads: a message beside the known facts that are nearest to it in meaning. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from memory.facts.keys import LIST, USER, split_key
from memory.librarian.changes.corrections import BACK, Change, Correction, in_full, is_done, when_ended
from memory.librarian.changes.fact_words import OF_THE_USER, names_in, names_said_of, words_of
from memory.librarian.engine import KnownFact
from memory.librarian.rules.clauses import is_past
from memory.librarian.rules.retell import is_occupation
from memory.models.kinds import Kind
from memory.network.pieces import windows
from memory.ports.source import Utterance
from memory.retrieval.truth import ATTRIBUTE_WORDS
from memory.speech_acts.made_up import is_made_up
from memory.text.dates import MONTHS, WEEKDAYS
from memory.text.denials import find_phrase, find_value, fits, kind_of_phrase, read_denials
from memory.text.keywords import FILLER, content
from memory.text.language import alternatives, is_english
from memory.text.mended_names import with_cue_first
from memory.text.message_kinds import only_asks
from memory.text.relations import FEMALE, MALE, PEOPLE, PETS
from memory.text.user_text import mask_foreign_text
from memory.updates.pairs import MAX_STATEMENT_PIECES, WINDOW, Outcome, Update, pair_of, read

# Chosen on talks that the network hasn't learned from, whose authors had facts in mind: of what it changes, 91% is
# right, of what it asks about, 62%. Of authors who just wrote talks (`updates_people_dev.talk`, 4,380 messages), 14
# changes of 50 are, which is what `CLEAR_FROM` is for. Both files were read while thresholds were chosen.
SURE_FROM: Final = 0.7
"""Probability from which a fact is changed without asking."""
ASK_FROM: Final = 0.5
"""Probability from which review asks whether a fact is still true."""
NEAREST: Final = 5
"""Facts that are read with a message, by meaning: 95 of 100 that a message changes are among them."""
NEAR_FROM: Final = 0.2
"""Cosine of a fact and a message from which the message may change it."""
CLEAR_FROM: Final[Mapping[Outcome, float]] = {"ended": 0.25, "replaced": 0.25, "wrong": 0.35}
"""Cosine from which it is changed without asking. So 8 of 27 changes were right of authors who just wrote, and 36 of
38 of those who meant changes; of the others, which are asked about, 6 of 23 and none of 2."""
UNNAMED_FROM: Final = 0.3
"""Cosine from which review asks about a fact of which the message has no word. Of authors who just wrote, none of the
four such facts that were changed without asking had changed, nor had 24 of the 31 that were asked about."""
NEVER_SO_FROM: Final = 0.95
"""Probability from which a fact is taken back without asking, as never so. Of authors who just wrote, 10 of 11 facts
that were so from `SURE_FROM` on still held."""
MAX_CHARS: Final = 1_000
"""Characters of a message that is read: a longer one is mostly a paste."""
MAX_STRETCHES: Final = 6
"""Stretches of an earlier passage that are read: all of one of ordinary length."""
CHANGED_FROM: Final = 0.7
"""Probability from which an earlier message is recalled as perhaps changed. Of 289 pairs by an author that the network
hadn't learned from, 79 of 100 that it takes for changed are, from .65 on: an upper bound, as it helped to choose the
weights."""
_LISTS: Final = f"{USER}/{LIST}"
"""Keys of the user's lists, which only orders change: capers “on the list” take the place of no milk."""
OF_THINGS: Final = frozenset({"taste", "allergy", "pastime", "condition"})
"""Families of attributes whose values are things or activities, not names of people."""
_WORD: Final = re.compile(r"\w+")
_DENIES: Final = re.compile(
    r"(?i)\b(?:no|nope|not|never|none|\w+n['’]t|cannot|wrong|mistaken?|misspoke|typo|meant|actually|scratch|kidding"
    r"|joking|joke|lied|made (?:it|that) up|false|turns out|turned out|instead|forget|ignore|neither|nor|without"
    r"|correction|sorry)\b"
)
"""What was never so is said with one of these."""
_NAME_INSIDE: Final = re.compile(r"\w,? (?!I\b)[A-ZÀ-ÞĀ-Ž][a-z]")
_MENDS: Final = re.compile(
    r"(?i)\W*(?:(?:oh|ok|no|wait|hmm+|ah|ugh|oops|hang on|hold on)[,. -]+){0,3}"
    r"(?:sorry|correction|actually|i meant?|my bad|typo|(?:\w+ )?auto-?correct|oops|no wait|wait)\b"
)
"""The start of a message that corrects the one before: “typo up there, it's 340”."""
_MENDING: Final = re.compile(
    r"(?i)\b(?:sorry|correction|actually|meant?|my bad|typo|auto-?correct|oops|wait|no|argh|ugh|damn|up|there|above"
    r"|make|should|blasted|stupid|it['’]?s|that['’]?s|is)\b"
)
"""Words of such a message that say nothing else."""
RIGHT_BEFORE: Final = timedelta(minutes=15)
_OTHERS: Final = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)
"""“She doesn't live in Nantes” says nothing of the user."""
CHANGES: Final[dict[Outcome, Change]] = {
    "ended": Change.END,
    "wrong": Change.RETRACT,
    "replaced": Change.REPLACE,
}


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a message does to a fact, the part of it that does so, and how near the two are (cosine)."""

    fact: KnownFact
    update: Update
    quote: str
    nearness: float
    mends: bool
    """Whether the message corrects what was said right before."""

    @property
    def is_named(self) -> bool:
        """Whether the part has a word of the fact, or with another value one of its attribute: “I moved to Whitby”; or
        means what was said right before: “sorry, he's 9”."""
        if self.mends and self.update.outcome == "replaced":
            return True
        said, family = content(self.quote), split_key(self.fact.key)[1].partition(":")[0]
        asked = ATTRIBUTE_WORDS.get(family, frozenset()) if self.update.new else frozenset()
        return bool(said & (content(self.fact.statement) | asked))


def with_changes(
    utterance: Utterance,
    corrections: Sequence[Correction],
    facts: Iterable[KnownFact],
    nearness: Mapping[int, float],
) -> Iterator[Correction]:
    """The corrections of a message, and what else it changes of `facts`.

    `nearness`: cosines of the message and the facts nearest to it, by fact id; only these are read, and what it mends.
    """
    yield from map(_with_hour, corrections)
    corrected = {correction.fact.fact_id for correction in corrections}
    corrected_values = {correction.value.casefold() for correction in corrections if correction.value}
    others = [fact for fact in facts if fact.fact_id not in corrected and not fact.key.startswith(_LISTS)]
    readings = _readings(utterance, others, nearness)
    for reading in _one_for_each_change(readings):
        if _news(reading) not in corrected_values:
            yield _with_hour(_correction(reading, utterance))


_AN_HOUR: Final = r"\b(?:\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)\b"
_HOUR: Final = re.compile(_AN_HOUR, re.IGNORECASE)


def _with_hour(correction: Correction) -> Correction:
    """The correction of a day with the hour behind it, if the words name another: “on 26 June at 14:40 now”."""
    old, hours = correction.old or correction.fact.value, set(_HOUR.findall(correction.quote))
    if correction.change is not Change.REPLACE or not old or len(hours) != 1 or _HOUR.search(correction.value):
        return correction
    known = re.search(rf"{re.escape(old)},? (?:at )?(?P<hour>{_AN_HOUR})", correction.fact.statement, re.IGNORECASE)
    if known is None or known["hour"] in hours:
        return correction
    return replace(correction, old=known[0], value=f"{correction.value} at {hours.pop()}")


def mends_last(text: str) -> bool:
    """Whether a message opens like one that corrects the message before."""
    return _MENDS.match(with_cue_first(text)) is not None


def find_changed(utterance: Utterance, earlier: Mapping[int, str]) -> Iterator[int]:
    """Which of the user's earlier messages no longer hold as they are; `earlier`: their texts by id."""
    parts = parts_to_read(utterance)
    is_of_others = _is_of_others(parts)
    for message_id, text in earlier.items() if parts else ():
        if is_of_others and not _OTHERS.search(text):
            continue
        stretches = [stretch.strip() for _, stretch in windows(text, MAX_STATEMENT_PIECES)][:MAX_STRETCHES]
        updates = (_read_strongest(stretch, parts)[0] for stretch in stretches)
        if any(update.doubted >= CHANGED_FROM and not _says_nothing_new(update) for update in updates):
            yield message_id


def parts_to_read(utterance: Utterance) -> list[tuple[str, str]]:
    """The parts of a message that are read, without others' words, and each part's own words.

    Empty: it states nothing that could change anything.
    """
    user_text = mask_foreign_text(utterance.text, utterance.echoes)
    if (
        len(user_text) > MAX_CHARS
        or not user_text.strip()
        or only_asks(user_text)
        or is_made_up(user_text)
        or not is_english(user_text)
    ):
        return []
    return [(part, utterance.text[start : start + len(part)].strip()) for start, part in windows(user_text, WINDOW)]


def _is_of_others(parts: Iterable[tuple[str, str]]) -> bool:
    """Whether a message speaks of him or her, and not of the user."""
    texts = [part for part, _ in parts]
    said = {word.low for text in texts for word in words_of(text)}
    return not said & OF_THE_USER and any(_OTHERS.search(text) for text in texts)


def _read_strongest(statement: str, parts: Iterable[tuple[str, str]]) -> tuple[Update, str]:
    """What the part that changes a statement most does to it, and that part's own words."""
    return max(((read(pair_of(statement, part)), quote) for part, quote in parts), key=lambda one: one[0].doubted)


def _readings(utterance: Utterance, facts: Iterable[KnownFact], nearness: Mapping[int, float]) -> Iterator[_Reading]:
    parts, facts = parts_to_read(utterance), list(facts)
    is_of_others = _is_of_others(parts)
    names = frozenset(found["name"] for fact in facts if (found := _NAMED.match(fact.statement)))
    is_mending = mends_last(utterance.text)
    recent = {
        fact.fact_id: fact.message_id
        for fact in facts
        if is_mending and utterance.said_at - fact.said_at <= RIGHT_BEFORE
    }
    last = max(filter(None, recent.values()), default=None) if _says_no_more(utterance.text) else None
    for fact in facts if parts else ():
        mends = fact.fact_id in recent
        is_of_last = mends and last is not None and fact.message_id == last
        near = max(nearness.get(fact.fact_id, 0.0), UNNAMED_FROM if is_of_last else 0.0)
        if near >= NEAR_FROM and not (is_of_others and fact.statement.startswith("The user ")):
            update, quote = _read_strongest(fact.statement, parts)
            if not (
                _says_nothing_new(update)
                or _is_of_another_kind(fact, update, quote)
                or _is_of_someone_else(fact, update, quote)
                or _is_of_someone_named(names, fact, update, quote)
                or _is_still_so(fact, update, quote)
                or _is_of_another_thing(fact, update, quote)
                or _is_returned_to(fact, quote)
                or not _may_take_its_place(update, quote)
            ):
                reading = _Reading(fact, update, quote, near, mends)
                if reading.is_named or near >= UNNAMED_FROM:
                    yield reading


def _says_no_more(text: str) -> bool:
    """Whether a message that mends the one before says nothing but a value: “typo up there, it's 340”, but not “sorry,
    the dentist is at 9:15”."""
    return len(content(_MENDING.sub(" ", text))) <= 1


def _says_nothing_new(update: Update) -> bool:
    """Whether the new value is the old one, or a part of its one word: “left-handed”, “left handed”."""
    old, new = (frozenset(_WORD.findall(value.casefold())) for value in (update.old, update.new))
    return bool(new) and (new == old or (" " not in update.old and new < old))


def _is_of_another_kind(fact: KnownFact, update: Update, quote: str) -> bool:
    """Whether a name would take the place of a thing: who hates buzzwords doesn't come to hate Philippa; or of what
    someone is or does: with Dev moved to Perth, no podcast is about Perth. A food that is left out replaces no diet:
    who is vegetarian may be gluten-free as well. A surname replaces no first name, an age no hour: “Max is 9 now”; a
    firm no work, and a weekday no month."""
    family = split_key(fact.key)[1].partition(":")[0]
    is_left_out = family == "diet" and re.search(r"(?i)free$|^(?:low|high|reduced)\b", update.new) is not None
    before = quote[: max(quote.find(update.new), 0)]
    is_surname = family in ("name", "preferred_name") and _SURNAME.search(before)
    is_place = _MOVED_TO.search(before) is not None
    is_name_for_thing = update.new.istitle() and (family in OF_THINGS or update.old in PEOPLE | PETS or is_place)
    is_job = family == "job" or re.search(rf"\bworks as (?:an? )?{re.escape(update.old)}", fact.statement) is not None
    if is_job and update.new.istitle() and not is_occupation(update.new.split()[-1]):
        return True
    if update.new.casefold() in WEEKDAYS and _MONTH.fullmatch(update.old):
        return True
    is_age_for_hour = f" at {update.old}" in fact.statement and update.new.isdigit() and not _AT_HOUR.search(before)
    return is_left_out or bool(is_surname) or is_age_for_hour or (is_name_for_thing and update.old.islower())


def _is_of_someone_else(fact: KnownFact, update: Update, quote: str) -> bool:
    """Whether the new value is said of him or her, the fact of the user: “I met someone, her name is Ines”. A name is
    the user's behind “I'm” or “my name is”, or alone: not in “the new boss is called Iwona”."""
    subject, attribute = split_key(fact.key)
    if not update.new or subject.partition("/")[0] != USER:
        return False
    if _OF_THEIRS.search(quote[: max(quote.find(update.new), 0)]):  # “his wife is called Helen”
        return True
    if subject != USER or attribute == "partner":
        return False
    if re.search(rf"(?i)\b(?:her|his|their|s?he)(?:['’]s)? (?:[\w'’]+ ){{0,3}}?{re.escape(update.new)}", quote):
        return True
    before = _CLAUSE_END.split(quote[: max(quote.find(update.new), 0)])[-1]
    return attribute in _NAMES and bool(content(before)) and not _OWN_NAME.search(before)


_MONTH: Final = re.compile(rf"(?i)(?:{'|'.join(MONTHS)})(?: \d{{4}})?")
_MOVED_TO: Final = re.compile(r"(?i)\bmov(?:ed|es|ing) (?:back |over |out )?to $")
"""Before where someone lives."""
_OF_THEIRS: Final = re.compile(
    rf"(?i)\b(?:his|her|their) (?:[\w-]+ )?(?:{alternatives(PEOPLE | PETS)})\b[^,.;:!?]{{0,20}}$"
)
_NAMES: Final = frozenset({"name", "preferred_name", "surname"})
_SURNAME: Final = re.compile(r"(?i)\b(?:sur|last |family )name\b[^,.;:]{0,20}$")
_AT_HOUR: Final = re.compile(r"(?i)\b(?:at|to|till|until|from|by|around|about) $")
_OWN_NAME: Final = re.compile(
    r"(?i)\b(?:i['’]?m|i am|it['’]?s|(?:calls?|knows?) me|go by|known as|my (?:[\w-]+ ){0,2}name|(?<!['’]s )"
    r"(?:sur)?name)\b[^,.;:]{0,20}$"
)
_CLAUSE_END: Final = re.compile(r"[,.;:!?()]\s|\s[-–—]\s")
KIN: Final = FEMALE | MALE
"""Of these, “Rosa from nursery” is none; a colleague may be “Rosa from work”."""
_NAMED: Final = re.compile(r"The user's (?:[\w-]+ ){1,3}?(?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]+) ")
"""Whose fact it is: “The user's brother Ali lives in Izmir.”"""


def _is_of_someone_named(names: frozenset[str], fact: KnownFact, update: Update, quote: str) -> bool:
    """Whether the one who is named last before the new value isn't the one of the fact: “Ali's in Ankara now”; or is
    another of that name: “Rosa from nursery lives in Malmö”."""
    before = quote[: max(quote.lower().find(update.new.lower()), 0)] if update.new else ""
    spoken_of = [word for word in _WORD.findall(before) if word in names or word in {"I", "we", "We"}]
    own = names & set(_WORD.findall(fact.statement))
    is_kin = not KIN.isdisjoint(_WORD.findall(fact.statement))
    if any(is_kin and re.search(rf"\b{name} from [a-z]|\b[Aa](?:nother| different) {name}\b", quote) for name in own):
        return True
    return bool(spoken_of) and spoken_of[-1] in names and spoken_of[-1] not in own


_AS_BEFORE: Final = re.compile(r"(?i)\b(?:(?<!never )again|still|remember|as (?:usual|always|ever))\b")


_ANY_NUMBER: Final = (f"{USER}/allergy:", f"{USER}/condition:")
"""Keys of what one has beside others of its kind: who reacts to penicillin may react to latex, too."""
_TOGETHER: Final = re.compile(r"(?i)\b(?:married|engaged|moved in together|our (?:wedding|anniversary))\b")
"""With a partner's name: they are no less together."""


def _is_still_so(fact: KnownFact, update: Update, quote: str) -> bool:
    """Whether the same words say that it is as before: “Lotte's daycare is called De Speelberg”, “the Newcastle I live
    in”, “the train was packed again”, “I'm on nights” of night shifts, “Noemi and I got married” of a girlfriend."""
    denied = any(find_phrase(fact.statement, denial.old) for denial in read_denials(quote))
    is_partner = split_key(fact.key)[1] == "partner" and fact.value in _WORD.findall(quote)
    if update.outcome == "ended" and is_partner and _TOGETHER.search(quote):
        return True
    if update.outcome == "replaced" and not denied and fact.key.startswith(_ANY_NUMBER):
        return True
    if update.outcome == "ended" or (update.new and content(update.new) <= content(fact.statement)):
        return _AS_BEFORE.search(quote) is not None and not denied
    is_named = rf"\b{re.escape(update.old)}(?:['’]s\b| (?:that )?(?:I|we)\b)"
    return bool(update.old and update.new) and re.search(is_named, quote) is not None


def _is_of_another_thing(fact: KnownFact, update: Update, quote: str) -> bool:
    """Whether words deny other things than the fact is about: “not allergic to kiwi any more! The cashews stay”, or say
    what holds instead of something else: “Helen, not Ellen”."""
    denials = read_denials(quote)
    denied = [one.old for one in denials if ":" in fact.key or (update.new and update.new in one.new)]
    return bool(denied) and all(find_phrase(fact.statement, old) is None for old in denied)


_BACK_TO: Final = re.compile(rf"(?i)\b(?:{'|'.join(BACK)}) (?:an? |the |my )?(?P<what>[\w-]+)")


def _is_returned_to(fact: KnownFact, quote: str) -> bool:
    """Whether the words say that it is so again: “I've gone back to an iPhone”."""
    return any(find_phrase(fact.statement, found["what"]) is not None for found in _BACK_TO.finditer(quote))


def _may_take_its_place(update: Update, quote: str) -> bool:
    """Whether a new value is of the old one's kind: £7,400 takes the place of no gas boiler."""
    is_name_written_small = update.new.islower() and not _NAME_INSIDE.search(quote)
    return not (update.old and update.new) or fits(update.old, update.new) or is_name_written_small


def _is_cut_short(update: Update, quote: str) -> bool:
    """Whether the new value is only the first word of what is said: “insurance” of “an insurance company”."""
    found = re.search(rf"(?<!\w){re.escape(update.new)} ([a-z]+)", quote)
    return found is not None and update.new.islower() and not update.old.istitle() and found[1] not in FILLER


def _one_for_each_change(readings: Iterable[_Reading]) -> Iterator[_Reading]:
    """The most likely fact for each new value, and for what ends: one piece of news rarely changes two facts.

    A name that is replaced is so in every fact that has it, but “Lolo is a canary, not a parrot” is of Lolo alone.
    """
    doubted = [one for one in readings if one.update.outcome != "holds" and one.update.doubted >= ASK_FROM]
    best: dict[str, _Reading] = {}
    for reading in doubted:
        news = _news(reading)
        if news not in best or _likelihood(reading) > _likelihood(best[news]):
            best[news] = reading
    for reading in doubted:
        likeliest = best[_news(reading)]
        is_same = reading.update.old and reading.update.old == likeliest.update.old
        named = names_said_of([likeliest.fact], likeliest.quote) - set(_WORD.findall(likeliest.update.old))
        if reading is likeliest or (is_same and named <= names_in(reading.fact.statement)):
            yield reading


def _news(reading: _Reading) -> str:
    return reading.update.new.casefold() or reading.update.outcome


_GIVEN_UP: Final = (
    r"\b(?:forget|from|not|no more|instead of|rather than|ditch\w*|dropp\w*|scrap\w*|left|leaving|quit|over)"
    r"(?: (?:the|my|our|about))? "
)


def _likelihood(reading: _Reading) -> float:
    """How likely a fact is the one that is changed. “Forget Django” makes sure that it is that of Django."""
    update = reading.update
    is_given_up = update.old and re.search(rf"(?i){_GIVEN_UP}{re.escape(update.old)}(?!\w)", reading.quote)
    return update.doubted + reading.nearness + bool(is_given_up)


MIN_NAME: Final = 4
"""Letters of a first word that may be a whole name: “St” is the start of “St Mark's”."""
_NO_NAME: Final = alternatives(
    frozenset({*WEEKDAYS, *MONTHS, "since", "until", "for", "and", "but", "so", "now", "today"})
)
_REST_OF_NAME: Final = (
    rf"(?:(?<=Dr)\.|(?<=Mrs)\.|(?<=Mr)\.|(?<=Ms)\.)?(?: (?!I\b|(?i:{_NO_NAME})\b)[A-ZÀ-ÞĀ-Ž][\w'’-]+){{1,2}}"
)


def _whole_name(new: str, quote: str) -> str:
    """The name that starts with these words in the message: “Hoi An”, not “Hoi”; “Dr. Sand”, not “Dr”."""
    found = re.search(rf"(?<!\w){re.escape(new)}{_REST_OF_NAME}", quote)
    return found[0] if found and new[:1].isupper() else new


def _whole_date(new: str, quote: str) -> str:
    """The date in the message that a number belongs to: “4 April”, not “4”."""
    date = find_value(quote, "date") if new.isdigit() else ""
    return date if new in re.findall(r"\d+", date) else new


def _has_values(reading: _Reading) -> bool:
    """Whether a fact that is replaced has words that are, and others that take their place."""
    return reading.update.outcome != "replaced" or bool(reading.update.old and reading.update.new)


def _may_be_so(reading: _Reading) -> bool:
    """Whether words of denial say what was never so, and no amount takes the place of a goal's."""
    update, quote = reading.update, reading.quote
    if update.outcome == "wrong":
        return _DENIES.search(quote) is not None
    if update.outcome != "replaced":
        return True
    is_amount = kind_of_phrase(update.old) == "number" and reading.fact.kind is Kind.GOAL
    return not is_amount


_PLACED: Final = re.compile(r"\b(in|at|to|from|with) (?:the )?$")


def _place_taken(statement: str, update: Update, quote: str) -> str:
    """The words of a statement that are replaced: where what is new is “in Deptford”, what the fact is “in”, whatever
    the network marks."""
    new = _PLACED.search(quote[: max(quote.find(update.new), 0)]) if update.new[:1].isupper() else None
    if new is None or _PLACED.search(statement[: max(statement.find(update.old), 0)]):
        return update.old
    place = re.search(rf"\b{new[1]} ([A-ZÀ-ÞĀ-Ž][\w'-]+(?: [A-ZÀ-ÞĀ-Ž][\w'-]+)*)", statement)
    return place[1] if place else update.old


_THING: Final = re.compile(r"([\w'-]+) (?:in|at|to|from|with) (?:the )?$")
"""The word right before a place."""


def _says_where_other_is(statement: str, old: str, new: str, quote: str) -> bool:
    """Whether the new place is where something else is: “oyster reefs in Clew Bay”, of a dissertation on “peat bogs in
    Connacht”, of which only the place would change."""
    was = _THING.search(statement[: max(statement.find(old), 0)])
    now = _THING.search(quote[: max(quote.find(new), 0)])
    if was is None or now is None or is_past(now[1]) or now[1].endswith("ing"):
        return False
    other = content(now[1]) - content(statement)
    return bool(other) and content(was[1]).isdisjoint(content(quote))


def _correction(reading: _Reading, said: Utterance) -> Correction:
    fact, update, change = reading.fact, reading.update, CHANGES[reading.update.outcome]
    number, when = said.number, when_ended(reading.quote, said.said_at)
    least = NEVER_SO_FROM if update.outcome == "wrong" else SURE_FROM
    is_clear = reading.nearness >= CLEAR_FROM[update.outcome] and reading.is_named
    if update.doubted < least or not is_clear or not _has_values(reading) or not _may_be_so(reading):
        return Correction(fact, Change.ASK, reading.quote, number)
    if change is Change.REPLACE and content(update.new) & content(fact.statement.replace(update.old, " ", 1)):
        change = Change.END  # “an aisle seat on *planes*”, “a *window seat*”: not the words that it replaces
    if change is Change.REPLACE and (_is_cut_short(update, reading.quote) or is_done(update.new, reading.quote)):
        change = Change.END
    if change is not Change.REPLACE:
        return Correction(fact, change, reading.quote, number, when=when)
    new = (
        update.new.title() if update.old.istitle() and update.new.islower() else _whole_name(update.new, reading.quote)
    )
    if _HOUR.fullmatch(new) and not _HOUR.search(update.old):  # an hour is no day: “No, 9:20.”
        return Correction(fact, Change.ASK, reading.quote, number)
    old = _place_taken(fact.statement, update, reading.quote)
    if len(old) < MIN_NAME or " " in new:
        old = _whole_name(old, fact.statement)
    if _says_where_other_is(fact.statement, old, new, reading.quote):
        return Correction(fact, Change.ASK, reading.quote, number)
    new = _whole_date(new, reading.quote)
    date = find_value(fact.statement, "date") if kind_of_phrase(new) == "date" else ""
    if date and old in date:  # “June 2027”, of which the network marks the year alone
        old, new = date, in_full(new, date, said.said_at)
    return Correction(fact, change, reading.quote, number, new, when, old)
