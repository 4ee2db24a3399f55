"""The librarian's rule engine: small, without a model. Reads English, and proposes nothing for text in other languages.

message → the user's own words → sentences → clauses → subject and predicate → a row of the table, or the clause
itself in the third person → is it worth keeping (`judged.py`) → one well-formed statement, with its key
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from memory.facts.keys import LIST, USER, make_key
from memory.librarian.claims.claims import WEIGHTS as CLAIMS
from memory.librarian.engine import (
    MAX_NAME,
    MAX_STATEMENT,
    Extraction,
    ExtractionInput,
    KnownFact,
    ProposedFact,
)
from memory.librarian.rules import mentions, notes, tagged, unreal
from memory.librarian.rules.clauses import (
    Clause,
    Sentence,
    clauses_of,
    is_past,
    own_words,
    plainly_spelled,
    sentences,
    spell_out,
)
from memory.librarian.rules.episodes import episode_in, stories_in
from memory.librarian.rules.judged import ASK, Candidate, select_candidates, select_facts
from memory.librarian.rules.mentions import SIGNED, name_key, people_in
from memory.librarian.rules.orders import is_standing, read_order
from memory.librarian.rules.retell import (
    THE_USER,
    Claim,
    People,
    Subject,
    article,
    as_said,
    clean_name,
    inside,
    known_people,
    read_claim,
    with_article,
)
from memory.librarian.rules.statement import Note, finished
from memory.librarian.rules.table import LABEL_OF, SCHOOL, Row, Value, compiled_rows, items, thing
from memory.librarian.rules.user_lists import MAX_SENTENCE, list_changed, read_list
from memory.librarian.rules.words import ADVERBS, AFFLICTED, IRREGULAR_PAST, THIRD
from memory.librarian.tagger.tags import WEIGHTS as TAGGER
from memory.librarian.tagger.tags import tags_in
from memory.models.kinds import Kind, default_importance
from memory.network.reader import load, load_first
from memory.ports.source import Utterance
from memory.secrets.secrets_filter import MASK, sensitive
from memory.speech_acts.made_up import made_up
from memory.text.dates import FoundDate, find_date
from memory.text.keywords import content
from memory.text.language import alternatives, as_set, is_english
from memory.text.mended_names import find_mended_name, name_like
from memory.text.relations import PETS
from memory.text.replaced_statement import replaced_statement
from memory.updates.pairs import pair_of, read
from recall.cpu_limit import CpuLimit, TookTooLongError

VERSION: Final = "rules/37"
MAX_DURATION: Final = timedelta(seconds=30)
"""Milliseconds are usual; this leaves room for the embedding model's first load on a busy machine."""
TABLE: Final = 0.95
"""Confidence of what the table reads."""
HEDGED: Final = 2 / 3
"""Factor on the confidence of “I think …”: never kept unasked."""
MAX_KEY_WORDS: Final = 4
"""A taste in more words than this has no key: it will hardly be said again in the same words."""
HOLDS_FROM: Final = 0.9
"""Probability from which a known value holds, whatever another form of the message seems to say."""
PRONOUN_REACH: Final = 2
"""The user's messages before one in which “she” may have been named."""
ONE_TOPIC: Final = timedelta(minutes=20)
"""A conversation that paused for longer has another topic."""
_OPEN: Final = ("active", "proposed")
"""States of a known fact that may be true."""
NEVER_STORED: Final = "The user told something that is never stored."


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Proposes what the rules read. Stateless: one serves every reading."""

    version: str = VERSION
    max_duration: timedelta = MAX_DURATION
    uses_tokens: bool = False

    def extract(self, reading: ExtractionInput) -> Extraction:
        """The facts in what the user wrote, the episode and the stories; a message that takes too long is skipped."""
        facts: list[ProposedFact] = []
        skipped = 0
        said = [utterance for utterance in reading.utterances if utterance.speaker == "user"]
        load(TAGGER)  # here, so that building them takes no message's time
        load_first(CLAIMS)
        texts = (own_words(utterance.text, utterance.echoes) for utterance in said)
        for utterance, is_made_up in zip(said, made_up(texts), strict=True):
            limit = CpuLimit()
            try:
                stated = select_candidates(list(candidates(utterance, reading, limit, facts)), utterance.text)
                if is_made_up:
                    facts += _list_ordered(utterance, stated)
                    continue
                mended = {fact.key: fact.value for fact in stated if fact.key and fact.correction}
                stated = [fact for fact in stated if fact.value == mended.get(fact.key, fact.value)]
                found = _tagged(utterance, reading, limit, facts)
            except TookTooLongError:
                skipped += 1
                continue
            today = utterance.said_at.astimezone(reading.zone).date()
            more, replaced = tagged.proposals(found, stated, utterance.number, today)
            more = [fact for fact in more if not _is_on_a_list(fact, stated, (*facts, *reading.known))]
            new = [*(fact for fact in stated if fact not in replaced), *select_facts(more, utterance.text)]
            for fact in map(_at_school, new):
                if not (_is_short_name(fact, facts, reading.known) or _is_anothers_name(fact, utterance, reading)):
                    facts.append(_asked_if_the_other_holds(fact, reading.known))
                    facts += _renamed(fact, reading.known)
        names = sorted({tag for fact in facts for tag in fact.tags if tag[:1].isupper()})
        episode, stories = episode_in(reading.utterances, names), stories_in(reading.utterances, reading.zone)
        return Extraction(facts, episode=episode, stories=stories, skipped=skipped)


_OF_A_CHILD: Final = re.compile(
    r"The user's (?:[a-z-]+ )?(?:(?:grand|step)?(?:son|daughter|child)|boy|girl|kid|toddler|nephew|niece)\b"
)
_EMPLOYED: Final = re.compile(r"(?i)\b(?:work\w*|jobs?|shifts?|teach\w*|hired|cooks?|cooking|clean\w*|as an?)\b")
"""Says that who is at a school works there."""


def _at_school(fact: ProposedFact) -> ProposedFact:
    """The fact, with the school of a child that was read as where they work: “my son started at Fairfield High”."""
    is_child = fact.attribute == "employer" and _OF_A_CHILD.match(fact.statement)
    if not is_child or not SCHOOL.search(fact.value) or _EMPLOYED.search(fact.quote):
        return fact
    return fact.model_copy(
        update={"statement": fact.statement.replace(" works at ", " goes to ", 1), "attribute": "school"}
    )


def _list_ordered(utterance: Utterance, stated: Iterable[ProposedFact]) -> list[ProposedFact]:
    """The list that a message which seems made up starts with: “start a shopping list: oat milk, 2 aubergines”."""
    lists = (fact for fact in stated if fact.attribute.startswith(LIST))
    return [fact for fact in lists if utterance.text.lstrip().startswith(fact.quote)]


def _is_on_a_list(
    fact: ProposedFact, stated: Iterable[ProposedFact], before: Iterable[KnownFact | ProposedFact]
) -> bool:
    """Whether a fact says no more than what came on a list or off it: “I've finished Emma, take it off the list”."""
    lists = {one.key: one for one in stated if one.attribute.startswith(LIST) and fact.quote in one.quote}
    values = [one.value for one in (*lists.values(), *before) if one.key in lists]
    return any(content(thing) <= content(fact.statement) for value in values for thing in value.split(", "))


def _asked_if_the_other_holds(fact: ProposedFact, known: Iterable[KnownFact]) -> ProposedFact:
    """The fact; it waits in Review if its words leave another value of its key as it is, by the network. A list that is
    added to is ordered so."""
    if fact.attribute.startswith(LIST):
        return fact
    others = (one for one in known if fact.key and one.key == fact.key and one.status == "active")
    other = next((one for one in others if one.value.casefold() != fact.value.casefold()), None)
    if other is None or fact.confidence <= ASK:
        return fact
    update = read(pair_of(other.statement, fact.quote))
    holds = update.outcome == "holds" and update.sure >= HOLDS_FROM
    return fact.model_copy(update={"confidence": ASK}) if holds else fact


_DOES: Final = (
    r"['’]s\b| (?:also |just |still |really |now )?"
    r"(?:had|can|can['’]?t|cannot|doesn['’]?t|[a-z]{1,10}(?:s|ed))\b"
)
"""Behind someone whose name has no capital, and hardly behind the word that it may be."""


def _renamed(surname: ProposedFact, known: Iterable[KnownFact]) -> Iterator[ProposedFact]:
    """The user's whole name with the surname that they have now."""
    if surname.key != f"{USER}/surname":
        return
    name = next((one.value for one in known if one.key == f"{USER}/name" and one.status == "active"), "")
    first, _, last = name.partition(" ")
    if last and not name.casefold().endswith(surname.value.casefold()):
        whole = f"{first} {surname.value}"
        update = {"statement": f"The user's name is {whole}.", "attribute": "name", "value": whole, "correction": True}
        yield surname.model_copy(update=update)


@dataclass(slots=True)
class _Message:
    """A message while it is read."""

    said: Utterance
    user_text: str
    today: date
    before: str
    """What the assistant said right before."""
    previous: int
    """The number of the user's message before; -1: there is none."""
    people: People = field(default_factory=People)
    month: str = field(init=False)
    """For ages, which change."""
    is_standing: bool = field(init=False)
    """Whether what it asks of answers is meant for later ones."""

    def __post_init__(self) -> None:
        self.month = f"{self.today:%B %Y}"
        self.is_standing = is_standing(self.user_text)

    def candidate(self, place: Clause | Sentence, form: str, statement: str, kind: Kind, **fields: Any) -> Candidate:
        """A candidate with the words at `place` as its quote."""
        quote = self.said.text[place.start : place.end].strip().rstrip(".,;:!")
        subject, attribute = fields.pop("subject", USER) or USER, fields.pop("attribute", "")
        statement = finished(statement)[:MAX_STATEMENT]
        confidence = fields.pop("confidence", TABLE) * bool(statement)
        if isinstance(place, Clause):
            fields |= {"reported": place.reported}
            form, confidence = ("note", TABLE * bool(statement)) if place.dictated else (form, confidence)
            confidence *= HEDGED if place.hedged else 1.0
        fact = ProposedFact(
            statement=statement or NEVER_STORED,
            kind=kind,
            subject=subject[:MAX_NAME],
            attribute=attribute if attribute and make_key(subject, attribute) else "",
            quote=quote or "-",
            number=self.said.number,
            confidence=confidence,
            importance=default_importance(kind),
            **fields,
        )
        return Candidate(fact, form)

    def noted(self, note: Note, place: Clause | Sentence, *, correction: bool = False) -> Candidate:
        """The candidate for a note."""
        return self.candidate(place, note.form, note.statement, note.kind, subject=note.subject,
                              attribute=note.attribute, value=note.value, health=note.health,
                              confidence=note.confidence, tags=note.tags,
                              about_third_party=note.kind == Kind.PERSON, correction=correction,
                              addressed_to_assistant=note.form == "order")  # fmt: skip


def candidates(
    said: Utterance, reading: ExtractionInput, limit: CpuLimit, earlier: list[ProposedFact] | None = None
) -> Iterator[Candidate]:
    """Everything the rules read in a message, before it is judged; each statement once. `earlier`: of this reading.

    Raises:
        TookTooLongError: the message used up its processor time.
    """
    before = [utterance for utterance in reading.utterances if utterance.number < said.number]
    reply = before[-1].text if before and before[-1].speaker == "assistant" else ""
    people = _people_before(said, reading, earlier or [])
    user_text = _user_text(said, people)
    previous = next((one.number for one in reversed(before) if one.speaker == "user"), -1)
    message = _Message(said, user_text, said.said_at.astimezone(reading.zone).date(), reply, previous, people)
    seen, said_before = set[str](), [*(earlier or [])]
    if not is_english(user_text) or "\0" in user_text:
        return
    for candidate in _read_message(message, limit, said_before, reading.known):
        if candidate.fact.statement not in seen:
            seen.add(candidate.fact.statement)
            said_before.append(candidate.fact)
            yield candidate


def _user_text(said: Utterance, people: People) -> str:
    """The user's own words, at the same places, with capitals for those who are known: “adam cant have eggs”."""
    text = unreal.without_pastes(own_words(said.text, said.echoes))
    names = [one.name for one in people.known if one.name.istitle() and one.name.lower() in text]
    if not names:
        return text
    does = rf"(?<![\w.@'’-])({alternatives(frozenset(map(str.lower, names)))})(?={_DOES})"
    return re.sub(does, lambda name: name[0].title(), text)


def _people_before(said: Utterance, reading: ExtractionInput, earlier: list[ProposedFact]) -> People:
    """The people who are known, and those named just before a message."""
    before = [utterance for utterance in reading.utterances if utterance.number < said.number]
    previous = [utterance.number for utterance in before if utterance.speaker == "user"][-PRONOUN_REACH:]
    mended = _with_mended_names([utterance.text for utterance in before if utterance.speaker == "user"])
    just_before = known_people(mended(fact.statement) for fact in earlier if fact.number in previous)
    learned = (mended(fact.statement) for fact in earlier)
    statements = [*(fact.statement for fact in reading.known), *learned, *reading.waiting]
    known = known_people(statements)
    texts = " ".join(utterance.text for utterance in before if utterance.number in previous)
    named = [one for one in known if one.name and re.search(rf"\b{re.escape(one.name)}\b", texts)]
    return People([*just_before[::-1], *(one for one in named if one not in just_before)], known)


def _with_mended_names(said: Sequence[str]) -> Callable[[str], str]:
    """A statement with the names as later messages mend them: “my girlfriend Merit”, “*Marit”."""
    names = {
        wrong: right["name"]
        for one, following in pairwise(said)
        if (right := find_mended_name(following)) and (wrong := name_like(right["name"], one))
    }
    return lambda statement: re.sub(r"\w+", lambda word: names.get(word[0], word[0]), statement) if names else statement


def _tagged(
    said: Utterance, reading: ExtractionInput, limit: CpuLimit, earlier: list[ProposedFact]
) -> list[tagged.Marked]:
    """What the tagger marks in a message, with whom it is about."""
    people = _people_before(said, reading, earlier)
    user_text = _user_text(said, people)
    if not is_english(user_text) or "\0" in user_text:
        return []
    month = f"{said.said_at.astimezone(reading.zone):%B %Y}"
    found = tagged.marked(user_text, said.text, tags_in(user_text, limit), people, month)
    return [mark for mark in found if not _is_hidden(mark.sentence, said)]


def _is_hidden(sentence: Sentence, said: Utterance) -> bool:
    """Whether a sentence isn't all the user's own, or names a secret."""
    quote = said.text[sentence.start : sentence.end]
    is_own = plainly_spelled(quote).rstrip().casefold() == sentence.text.rstrip().casefold()
    return not is_own or MASK in quote or bool(sensitive(quote)) or unreal.names_a_secret(quote)


MIN_NICKNAME: Final = 2
"""Letters of a name beyond which it may be the start of a longer one: “Alex” of Alexandra."""
MIN_SENTENCE: Final = 3
"""Characters of a sentence that can say anything."""


def _read_message(
    message: _Message, limit: CpuLimit, earlier: list[ProposedFact], known: Iterable[KnownFact]
) -> Iterator[Candidate]:
    for name_note in mentions.names_given(message.user_text, message.before):
        yield message.noted(name_note, Sentence(name_note.quote, message.user_text.find(name_note.quote), False))
    before = ""
    for sentence in sentences(message.user_text):
        limit.check()
        last, before = before, sentence.text
        if len(sentence.text) < MIN_SENTENCE or mentions.is_of_anothers(last, sentence.text):
            continue
        quote = message.said.text[sentence.start : sentence.end]
        if sensitive(quote) or MASK in quote:
            yield from _read_around_secret(sentence, message, limit)
        elif not is_english(sentence.text) or unreal.names_a_secret(quote):
            continue
        elif asked_for := _asked_for(sentence, last, message, earlier, known):
            yield asked_for
        elif noted := list(notes.read_notes(sentence.text, message.month)):
            presupposed = mentions.presupposed(sentence.text, message.month)
            yield from (message.noted(note, sentence) for note in (*noted, *presupposed))
        elif named := mentions.named_next(last, sentence.text) or mentions.thing_named_next(last, sentence.text):
            yield message.noted(named, sentence)
        elif other := _corrected(sentence, message, earlier, known):
            yield other
        else:
            yield from _read_sentence(sentence, message, limit)


def _is_short_name(fact: ProposedFact, earlier: Iterable[ProposedFact], known: Iterable[KnownFact]) -> bool:
    """Whether a name is how the user wants to be called, or a part of the name that is known: “it's Hilde”."""
    if fact.key != f"{USER}/name":
        return False
    said = {one.key: one.value for one in known if one.status in _OPEN}
    said |= {one.key: one.value for one in earlier}
    name = fact.value
    full, called = said.get(f"{USER}/name", ""), said.get(f"{USER}/preferred_name", "")
    is_part = full != name and (name in full.split() or (len(name) > MIN_NICKNAME and full.startswith(name)))
    return is_part or name == called


def _is_anothers_name(fact: ProposedFact, said: Utterance, reading: ExtractionInput) -> bool:
    """Whether a name takes the place of one just said of someone else: “oh no, sorry, it's Kowalski!”."""
    mended = find_mended_name(said.text) if fact.key == f"{USER}/name" else None
    before = [one.text for one in reading.utterances if one.speaker == "user" and one.number < said.number]
    return mended is not None and mended["name"] == fact.value and bool(name_like(fact.value, " ".join(before[-1:])))


def _asked_for(
    sentence: Sentence, before: str, message: _Message, earlier: list[ProposedFact], known: Iterable[KnownFact]
) -> Candidate | None:
    """What the assistant is asked to keep: a list, or an order for its answers. `before`: the sentence before."""
    lists, last = _lists(message, earlier, known)
    if lists and not last and len(message.user_text) <= MAX_SENTENCE:
        last = list_changed((one.text for one in sentences(message.user_text)), lists)
    if listed := read_list(sentence.text, lists, last, before):
        here = (fact for fact in earlier if fact.attribute == listed.attribute and fact.number == message.said.number)
        is_alone = read_list(sentence.text, lists, last) == listed
        start = sentence.start if is_alone else message.said.text.rfind(before, 0, sentence.start)
        start = next((message.said.text.find(fact.quote) for fact in here), start if start >= 0 else sentence.start)
        all_of_it = Sentence(message.user_text[start : sentence.end], start, asked=False)
        return message.noted(listed, all_of_it, correction=True)
    order = read_order(spell_out(sentence.text), is_standing=message.is_standing)
    return message.noted(order, sentence) if order else None


def _lists(
    message: _Message, earlier: Iterable[ProposedFact], known: Iterable[KnownFact]
) -> tuple[dict[str, str], str]:
    """What is on each of the user's lists, and the name of the one that was changed right before."""
    prefix = f"{USER}/{LIST}"
    stored = [fact for fact in known if fact.key.startswith(prefix) and fact.status in _OPEN]
    said = [fact for fact in earlier if fact.key.startswith(prefix)]
    here = [fact.key for fact in said if fact.number in (message.said.number, message.previous)]
    if message.previous < 0 and not here:  # what was read just before this reading
        here = [fact.key for fact in stored if message.said.said_at - fact.said_at <= ONE_TOPIC]
    lists = {fact.key.removeprefix(prefix): fact.value for fact in stored}
    lists |= {fact.key.removeprefix(prefix): fact.value for fact in said}
    return lists, here[-1].removeprefix(prefix) if here else ""


def _read_around_secret(sentence: Sentence, message: _Message, limit: CpuLimit) -> Iterator[Candidate]:
    """The clauses of a sentence that neither hold its secret nor name one."""
    if sensitive(message.said.text[sentence.start : sentence.end]):  # without a word of it, so that it is counted
        yield message.candidate(sentence, "secret", NEVER_STORED, Kind.FACT)
    for clause in clauses_of(sentence) if is_english(sentence.text) else ():
        words = message.said.text[clause.start : clause.end]
        if not (clause.hypothetical or MASK in words or sensitive(words) or unreal.names_a_secret(words)):
            yield from _read_clause(clause, message, limit)


def _read_sentence(sentence: Sentence, message: _Message, limit: CpuLimit) -> Iterator[Candidate]:
    supposed = False
    for clause in clauses_of(sentence):
        supposed = supposed or clause.hypothetical
        if not clause.hypothetical:
            read = _read_clause(clause, message, limit)
            yield from (one for one in read if not mentions.only_lists(one.fact.statement, sentence.text))
    for note in () if supposed else mentions.presupposed(sentence.text, message.month):
        yield message.noted(note, sentence)
    if not supposed and (event := _event_in(sentence, message)):
        yield event


def _read_clause(clause: Clause, message: _Message, limit: CpuLimit) -> Iterator[Candidate]:
    limit.check()
    yield from (message.noted(note, clause) for note in people_in(clause.text, message.people, message.month))
    written = plainly_spelled(message.said.text[clause.start : clause.end])
    says_other = clause.reported and not clause.by_authority
    if not (clause.asked or says_other or message.user_text[clause.start : clause.end] != written):
        yield from _attribute_of(clause, message) or _claimed(clause, message)


_EVENTS: Final = (
    "exam|test|interview|appointment|wedding|flight|surgery|operation|reunion|deadline|conference|viewing"
    "|hearing|trip|party"
    "|concert|race|marathon|baptism|christening|funeral|recital|defen[cs]e|competition|tournament|gig|holiday"
    "|check-?up|scan"
    "|mri|ct|x-?ray|ultrasound|op|graduation|ceremony|due date|birthday|anniversary|audition|viva|move|hen do|stag do"
    "|dissertation|thesis|essay|visa|lease|contract|court date|start date|premiere|exhibition|launch|retreat"
    "|shift|training"
)
_DUE: Final = re.compile(
    rf"(?i)(?:^|[,;:(] ?|\b(?:and|but|so|my|our|the|an?|have|got|for) )(?P<what>(?!(?:the|an?|my"
    rf"|our|his|her|their|had|has|have)\b)(?:[\w-]+ ){{0,2}}?(?:{_EVENTS}))"
    r"(?: (?:home|back|(?:to|from|in|with) [A-ZÀ-ÞĀ-Ž]\w+)){0,2}(?: ?(?:is|'s|=|:|,|on|in|at|due|next|this|the"
    r"|coming up)){0,3} ?$"
)


def _event_in(sentence: Sentence, message: _Message) -> Candidate | None:
    """“… , MRI on the 24th, …”: an event of the user's with its day, wherever it stands."""
    day = find_date(sentence.text, message.today)
    found = _DUE.search(sentence.text[max(0, day.start - 80) : day.start]) if day else None
    if day is None or found is None or (sentence.asked and "my " not in found[0].lower()):
        return None
    if found["what"].lower().endswith("birthday"):  # which has an attribute of its own
        return None
    statement = f"The user has {with_article(found['what'])} {day.words}."
    return message.candidate(sentence, "mention", statement, Kind.EVENT, value=_span(day), confidence=ASK)


def _about(subject: Subject) -> dict[str, Any]:
    return {"about_third_party": subject.is_person, "tags": subject.tags}


def _corrected(
    sentence: Sentence, message: _Message, earlier: list[ProposedFact], known: Iterable[KnownFact]
) -> Candidate | None:
    """“Actually it's Lyon”: another value for what was said last, or for what the assistant just repeated."""
    found = tagged.find_instead(sentence.text)
    if found is None or not found["value"][0].isupper() or not clean_name(found["value"]):
        return None
    last = next((fact for fact in reversed(earlier) if fact.key and fact.value), None)
    repeated = (fact for fact in known if fact.key and fact.value and fact.value in message.before)
    fact = last or next(repeated, None)
    if fact is None or fact.value[:1].islower():
        return None
    subject, _, attribute = fact.key.rpartition("/")
    known_as = KnownFact(0, fact.statement, fact.kind, fact.key, fact.value, 1.0, "active", "", message.said.said_at)
    statement = replaced_statement(known_as.statement, known_as.value, found["value"])
    return message.candidate(sentence, "note", statement, fact.kind, subject=subject, attribute=attribute,
                             value=found["value"], correction=True,
                             about_third_party=fact.kind == Kind.PERSON)  # fmt: skip


_MY: Final = re.compile(
    rf"(?i)(?:(?:my|our|the(?= (?:{alternatives(PETS)})'s))"
    r" (?P<whose>[\w -]{2,24}?'s )?|(?P<his>his|her) |(?=\w))(?:new )?(?P<what>[a-z][a-z ]{2,24}?)(?:'s| is|"
    r" are|:| has(?= changed to))(?: now| actually)? (?:not \w+,? but )?(?P<rest>.+)"
)
_FAVOURITE: Final = re.compile(
    r"(?i)(?:my|our) (?:absolute |all-time )?fav(?:ou?rite)? (?P<what>[\w ]{2,40}?)(?: of all time| ever"
    r"| in the world)?"
    r" (?:is|are|has always been)(?: definitely| probably)? (?P<rest>.+)"
    r"|(?:.{0,30}\b(?:bc|because|since|as|but|so) )?(?P<it>[\w' -]{2,40}?) (?:is|are)"
    r"(?: now| still| definitely| probably)? (?:my|our) (?:absolute |all-time |new )?fav(?:ou?rite)?"
    r" (?P<of>[a-z ]{2,30}?)(?: now| these days| ever| in the world)?(?=,|$)"
)


def _attribute_of(clause: Clause, message: _Message) -> list[Candidate]:
    """“My birthday is …”, “my sister's name is …”, “my favourite colour is …”."""
    if favourite := _FAVOURITE.match(clause.text):
        read, what = (
            thing((favourite["rest"] or favourite["it"]).strip()),
            (favourite["what"] or favourite["of"]).lower(),
        )
        form = "lexicon" if _NEWS.search(clause.text) else "table"
        return [message.candidate(clause, form, f"The user's favourite {what} is {read[0]}.", Kind.PREFERENCE,
                                  attribute=f"favourite_{what}", value=read[0])] if read else []  # fmt: skip
    found = _MY.match(clause.text)
    label = LABEL_OF.get(found["what"].lower()) if found else None
    subject = mentions.owner(found["whose"], found["his"], message.people) if found and label else None
    if found is None or label is None or subject is None:
        return []
    rest, is_user = inside(found["rest"], user=subject == THE_USER), subject == THE_USER
    is_news = label.attribute in LASTING and _NEWS.search(clause.text) is not None
    form = "lexicon" if is_news else "table"
    kind = label.kind if is_user else Kind.ENTITY if subject.is_pet else Kind.PERSON
    made = []
    for part in items(rest) if label.each else [rest]:
        read = _birthday(part, message.today) if label.attribute == "birthday" else label.reads and label.reads(part)
        if not read:
            continue
        filled = {"v": read[0], "a": article(read[0]), "slug": read[0].lower(), "now": message.month}
        key, statement = (subject.key, label.attribute.format(**filled)), subject.label + label.says.format(**filled)
        if label.attribute == "name" and not is_user:
            key, statement = name_key(subject), f"The user's {subject.relation} is called {read[0]}"
            subject = message.people.add(
                replace(subject, name=read[0], label=f"The user's {subject.relation} {read[0]}")
            )
        made.append(message.candidate(clause, form, f"{statement}.", kind, subject=key[0], attribute=key[1],
                                      value=label.value.format(**filled), health=label.health,
                                      correction=clause.correction or is_news, **_about(subject)))  # fmt: skip
    return made


def _birthday(words: str, today: date) -> Value | None:
    day = find_date(words, today)
    if day is None or day.start > len("sometime on ") or day.first != day.last:
        return None
    year = re.search(r"\b(?:19|20)\d\d\b", words)
    return f"{day.first.day} {day.first:%B}{f' {year[0]}' if year else ''}", ""


def _claimed(clause: Clause, message: _Message) -> Iterator[Candidate]:
    claim = read_claim(clause, message.people)
    if claim is None and (said := as_said(clause)):
        yield message.candidate(clause, *said, Kind.FACT, confidence=ASK)
    if claim is None or not claim.predicate or unreal.is_no_claim(claim.predicate):
        return
    if claim.subject.label.endswith(" birthday") and _birthday(claim.predicate.removeprefix("is "), message.today):
        return  # it is read with its key
    name = clean_name(claim.predicate.removeprefix("is ")) if claim.subject == THE_USER else ""
    if name and len(name.split()) < 3:
        yield message.noted(Note(Kind.IDENTITY, f"The user's name is {name}.", "name", name, form="name",
                                 confidence=SIGNED), clause)  # fmt: skip
        return
    rowed = [] if claim.subject.is_thing else list(_by_table(claim, clause, message))
    yield from rowed or [_in_own_words(claim, clause, message)]


def _by_table(claim: Claim, clause: Clause, message: _Message) -> Iterator[Candidate]:
    """What the first row that fits makes of a predicate, and another of what goes on behind its value."""
    for row, compiled in compiled_rows():
        found = compiled.match(claim.predicate)
        if found is None:
            continue
        rest = claim.predicate[found.end() :]
        read = row.reads(rest) if row.reads else ("", rest)
        if read is None:
            continue
        yield from _by_row(row, found, read, claim, clause, message)
        more = _GOES_ON.match(read[1]) if row.reads else None
        if more and not (row.attribute == "home" and more["work"] and not more["work"].startswith("as ")):
            predicate = f"works {more['work']}" if more["work"] else f"is {more['is']}"
            further = replace(claim, predicate=predicate)
            yield from list(_by_table(further, clause, message)) or _worked_in(further, clause, message)
        return


def _worked_in(claim: Claim, clause: Clause, message: _Message) -> Iterator[Candidate]:
    """“works in a hotel in Edinburgh”, in the user's words."""
    if claim.predicate.startswith("works in a"):
        yield _in_own_words(claim, clause, message)


_GOES_ON: Final = re.compile(
    r",? ?(?:(?P<work>(?:(?:at|for|as|in) (?!work\b)|with (?=[A-ZÀ-ÞĀ-Ž])).+)"
    r"|(?:years old )?and (?:I'm )?(?P<is>(?:from|an?|based|living) .+))"
)
_SINCE: Final = re.compile(r"\b(?:since|in) ((?:19|20)\d\d)\b")
_UNTIL: Final = re.compile(
    r"\b(?:(?:(?:from|between) )?((?:19|20)\d\d)(?: to | and | till | until | ?[-–] ?)|(?:until|till) (?:\w+ )?)"
    r"((?:19|20)\d\d)\b"
)
_NEWS: Final = re.compile(r"\bnow\b(?! (?:and then|that)\b)")
"""“I'm a midwife now”: it was otherwise before."""
LASTING: Final = frozenset({"job", "employer", "studies", "partner", "relationship", "diet", "age", "name", "car",
                               "surname", "address"})  # fmt: skip
"""Attributes of which “now” tells a change. Where someone is now may be a journey, and is judged by its words."""


_TOO_YOUNG: Final = re.compile(r"\d|two|three|four|five|six|seven|eight|nine")


def _by_row(
    row: Row, found: re.Match[str], read: Value, claim: Claim, clause: Clause, message: _Message
) -> Iterator[Candidate]:
    groups = {  # “COPD” stays
        name: value if value.isupper() else value.lower() for name, value in found.groupdict().items() if value
    }
    label, key = claim.subject.label, claim.subject.key
    if row.attribute == "name" and claim.subject != THE_USER:
        label, key = f"The user's {claim.subject.relation}", name_key(claim.subject)[0]
    since, until = _SINCE.search(read[1]), _UNTIL.search(read[1]) if row.past else None
    begins = since is not None and row.kind is Kind.BIOGRAPHY and not row.past
    if row.attribute == "age" and claim.subject == THE_USER and _TOO_YOUNG.fullmatch(read[0]):
        return  # “we're four: me, my wife and the boys”
    is_news = row.attribute in LASTING and _NEWS.search(claim.predicate) is not None
    is_judged = row.reads is not None and row.attribute != "age" and not is_news
    for value in items(read[0]) if row.each else [read[0]]:
        named = value or next(iter(groups.values()), "")
        filled = {**groups, "v": value, "a": article(named), "slug": named.lower(), "now": message.month}
        is_keyed = len(named.split()) <= MAX_KEY_WORDS or "{" not in row.attribute
        is_keyed = is_keyed and (until is not None or not row.past)
        statement = f"{label} {row.says.format(**filled)}"
        if until:
            period = f"from {until[1]} to {until[2]}" if until[1] else f"until {until[2]}"
            statement = f"{statement[:-1]} {period}."
        yield message.candidate(
            clause, "elided" if claim.elided else "table" if is_judged else "lexicon",
            statement,
            Kind.PERSON if claim.subject.is_person else row.kind, subject=key,
            attribute=row.attribute.format(**filled) if is_keyed else "", value=row.value.format(**filled),
            health=row.health, correction=row.correction or clause.correction or is_news,
            valid_from=datetime(int(since[1]), 1, 1, tzinfo=UTC) if since and begins else None,
            valid_until=datetime(int(until[2]), 12, 31, tzinfo=UTC) if until else None,
            confidence=ASK if row.asks else TABLE, **_about(claim.subject),
        )  # fmt: skip


_KINDS: Final = tuple(
    (kind, re.compile(rf"^(?:(?:\w{{2,12}}ly|also|always|just|has|is) ){{0,3}}(?:{says})\b"))
    for kind, says in (
        (Kind.PREFERENCE, "loves?|likes?|enjoys?|adores?|hates?|dislikes?|prefers?|cannot (?:stand|bear)|does not (?:"
                          "like|enjoy)|would (?:much )?rather|loathes?|misses|finds?|loved|hated|adored|loathed"),
        (Kind.GOAL, "wants?|hopes?|aims?|plans?|intends?|dreams?|would (?:love|like)|trying|hoping|planning|saving"
                    "|training|aiming|working (?:on|towards)|looking (?:for|to)|thinking|considering"),
        (Kind.DECISION, "decided|chose|chosen|settled|agreed|picked|opted|going with|gone for|went with|made up"),
        (Kind.ENTITY, r"an? .+ owner|(?:an?|two|three|\d|the|some) [\w -]+$|owns|drives|bought|uses|using"
                      "|got an?|rents"),
        (Kind.PROCEDURE, r".*\b(?:always|usually|never|every|each|tends? to|on \w+days|mornings|evenings|weekends"
                         "|normally|a (?:week|day|month))"),
    )
)  # fmt: skip
_HEALTH: Final = re.compile(
    r"(?i)\b(?:allerg\w+|diagnos\w+|surgery|operation|chemo\w*|pregnan\w*|medication|dementia|stroke|cancer"
    r"|intoleran\w+|pacemaker"
    rf"|wheelchair|depress\w+|anxiety|disab\w+|asthma|epipen|heart attack|{alternatives(AFFLICTED)})\b"
)
_HAPPENS: Final = re.compile(r"(?:\w+ly )?(?:is (?:\w+ing|off|due)|will|starts?|leaves?|gets?|flies)\b")
_AHEAD: Final = frozenset({"booked", "planned", "scheduled", "arranged", "reserved"})
"""What was done for a day to come: “we've booked Crete for May”."""
_TO_COME: Final = re.compile(r"\b(?:start(?:s|ing)?|begin(?:s|ning)?|due|until|till|by) (?:on )?$")
"""Before a day that is still to come, whatever was: “hired Noor, starts 1 February”."""
_MOVED: Final = as_set(
    "moved pushed swapped postponed rescheduled put brought changed switched shifted delayed deferred extended renewed"
)
"""What was done to a plan, if a day follows with “to”: “we've moved the wedding to 19 September”."""
_MEANT: Final = as_set("decided agreed promised asked invited offered chosen chose persuaded")
"""The same of “to”: “decided to go home in December”."""
_PARTS: Final = re.compile(r",| (?:since|when|while|after|before|because|as|who|that|which|and|but|so) ")
"""Where another verb may begin."""
_GOVERNS: Final = re.compile(
    r"(?i)(?:^|\s)(?:(?:has|have)(?: (?:not|just|recently|already|been|also|finally|now|\w+ly)){0,3} )?"
    r"(?P<verb>is|are|am|will|has|have|was|were|[a-z]{3,12}ing|[a-z]{2,12}ed"
    rf"|{alternatives(IRREGULAR_PAST | THIRD)})(?![\w'-])"
)
_IS_DUE: Final = re.compile(r"'s (?:due |back )?(?:on|at|in|next|this)? ?$")
"""“The scan's on the 6th”."""
_AN_UNNAMED_DAY: Final = re.compile(r"\ban? $")
"""“A Sunday league” is on no day."""
_HABIT: Final = re.compile(
    r"\b(?:every|each|usually|often|normally|always)\b"
    r"|(?i:day(?: and|,| &| \+) (?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
"""“On Tuesday and Thursday” is hardly once."""
_FROM: Final = re.compile(r"\b(?:from|until|till|by|since|before|after|of|for|around|to)$")


def _in_own_words(claim: Claim, clause: Clause, message: _Message) -> Candidate:
    """The clause itself in the third person, with its day spelled out."""
    predicate, subject = claim.predicate, claim.subject
    verb = next((word for word in predicate.lower().split(" ")[:4] if word not in ADVERBS), "")
    perfect = re.match(r"(?:\w+ly )?has (?:just |recently |already )?(\w+)", predicate)
    verb = perfect[1].lower() if perfect else verb
    day = None if _HABIT.search(predicate) else find_date(predicate, message.today)
    if day and _AN_UNNAMED_DAY.search(predicate[: day.start]):
        day = None
    if day and _is_behind(predicate[: day.start]):
        day = find_date(predicate, message.today, past=True)
    kind = next((kind for kind, says in _KINDS if says.match(predicate)), None)
    if kind is None:
        happens = day is not None or is_past(verb) or _HAPPENS.match(predicate) is not None
        kind = Kind.EVENT if happens else Kind.ENTITY if subject.is_pet or subject.is_thing else Kind.BIOGRAPHY
    label = subject.label
    if subject.name and predicate.startswith(f"is {subject.name}"):  # “my therapist is Dr Amin, on Tuesdays”
        label = label.removesuffix(f" {subject.name}")
    statement = f"{label} {_dated(predicate, day) if day else predicate}."
    return message.candidate(clause, "elided_words" if claim.elided else "words", statement,
                             Kind.PERSON if subject.is_person else kind, subject=subject.key,
                             value=_span(day) if day else "", health=_HEALTH.search(predicate) is not None,
                             confidence=ASK, **_about(subject))  # fmt: skip


def _is_behind(before: str) -> bool:
    """Whether the verb that governs a day tells of the past. `before`: the predicate up to the day."""
    for part in reversed(_PARTS.split(before)):
        if (found := _GOVERNS.search(part)) or _IS_DUE.search(part):
            verb = found["verb"].lower() if found else "is"
            return (is_past(verb) or verb in {"was", "were"}) and not _is_ahead(verb, part)
    return False


def _is_ahead(verb: str, before: str) -> bool:
    """Whether what was done concerns a day to come: “booked Crete for May”, “moved the scan to Thursday”."""
    is_moved = verb in _MOVED and re.search(r"\b(?:to|till|until|for)(?: the)? ?$", before) is not None
    is_meant = verb in _MEANT and re.search(rf"\b{verb} (?:\w+ )?to \w", before) is not None
    return verb in _AHEAD or is_moved or is_meant or _TO_COME.search(before) is not None


def _dated(predicate: str, day: FoundDate) -> str:
    """The predicate with its day as a calendar has it."""
    before = re.sub(r"\b(?:on|in)(?: (?:a|the))?$|(?<=\bto) the$", "", predicate[: day.start].rstrip()).rstrip()
    words = re.sub(r"^(?:on|in|from) ", "", day.words) if _FROM.search(before) else day.words
    return f"{before} {words}{predicate[day.end :]}"


def _span(day: FoundDate) -> str:
    return day.first.isoformat() if day.first == day.last else f"{day.first.isoformat()}/{day.last.isoformat()}"
