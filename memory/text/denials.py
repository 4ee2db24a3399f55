"""Denials: what a message says isn't so, or isn't so any more, and what it says holds instead. Pure, English only.

    “It's Limerick I live in, not Galway”            Galway, instead Limerick
    “I'm not in Leeds, I'm in Bradford”              Leeds, instead Bradford
    “Sold the Fabia and picked up a used Mazda 3”    Fabia, instead Mazda 3
    “We called off the Iceland trip.”                Iceland trip

A text is read as sentences of segments, a segment as words; each cue of the tables below denies the phrase beside it.
Linear in the length of the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.text.dates import MAY_DO
from memory.text.keywords import content, stem

MAX_PHRASE: Final = 5
"""Words of a phrase that is denied, or holds instead."""
MAX_ABBREVIATION: Final = 5
"""Letters: “CFA” is no more a name than “law” is."""
MAX_DENIED: Final = 40
"""Denials read from one text."""


def _phrases(*lines: str) -> tuple[tuple[str, ...], ...]:
    found = (tuple(phrase.split()) for line in lines for phrase in line.split("|"))
    return tuple(sorted(found, key=len, reverse=True))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATIONS: Final = _phrases(
    "not|isn't|wasn't|aren't|weren't|ain't|no longer|never|don't|doesn't|didn't|do not|does not|did not|won't"
    "|can't|cannot|haven't|hasn't|no more"
)
MISSPOKEN: Final = _phrases("i said|i wrote|i typed|i told you|it said")
"""Before what was wrong, if “I meant” follows: “I said Portuguese, I meant Spanish”."""
ENDINGS: Final = _phrases(
    "left|leaving|quit|quitting|stepped down from|stepped down as|pulled out of|backed out of|withdrew from"
    "|resigned from|resigned at|gave notice at|handed in my notice at|gave up|given up"
    "|giving up|stopped|dropped|dropped out of|got rid of|sold|scrapped|scrap|gave away|returned|retired from"
    "|fired from|got fired from|laid off from|laid off by|laid off at|let go by|let go from|moved away from"
    "|moved out of|cancelled|canceled|called off|call off|finished with|done with|through with|ditched|abandoned"
    "|broke up with|split up with|split from|gone off|went off|gone right off|went right off|let go of"
    "|letting go of|fed up with|tired of|sick of|lost|forgot about|over"
    "|used to live in|used to work at|used to work for|used to be|used to have|used to"
)
"""What comes after one of these was so, and is over."""
SUBJECT_ENDINGS: Final = _phrases(
    "is history|are history|fell through|is off|is cancelled|is canceled|was cancelled|was canceled|got cancelled"
    "|got canceled|is over|is gone|is no more|got stolen|was stolen|is my ex|was a mistake|is not happening"
    "|isn't happening|is off the table|is off the menu"
    "|is out of the question|let me go|fired me|laid me off|sacked me|made me redundant|dumped me|left me|let us all go"
    "|left|quit|resigned|moved away|moved out"
)
"""What comes before one of these, at the end of a segment, was so and is over: “the Aarhus place is history”."""
CHANGES: Final = _set(
    "moved moving gone went relocated renamed switched switching changed changing pushed postponed rescheduled shifted "
    "converted slipped upgraded downgraded migrated transferred swapped bumped brought"
)
"""Before “from the old to the new”."""
SWAPS: Final = _set("swapped swapping traded trading exchanged replaced replacing switched substituted")
"""Before “the old for the new”."""
SHIFTED: Final = _set("is are was got been delayed extended shortened raised lowered set now")
"""Further verbs of “the wedding is now on August 30”; then “now” must be said."""
_TO: Final = frozenset({"to", "till", "until", "now"})
INSTEAD_OF: Final = _phrases("instead of|rather than|in place of|to replace|replacing|replaces")
"""Between the new and the old."""

OPENING: Final = re.compile(
    r"(?:\w+ )?(?:updates?|news|question|note|thing|correction|topic|reminder|fyi|heads[- ]up)", re.I
)
"""Opens a message, and is no new value: “small update, Nadia isn't a paramedic any more”."""
_PUNCTUATION: Final = frozenset(",;:–—()-→")
_ENDS: Final = frozenset(".!?\n")
_TOKEN: Final = re.compile(r"\d{1,2}:\d\d|[^\W_]+(?:['’.&/-][^\W_]+)*|[,;:–—()→]|(?<=\s)-+>?(?=\s)|[.!?]+|\n+")
_WORD: Final = re.compile(r"[^\W_]+(?:['’.:-][^\W_]+)*")
_ASKING: Final = re.compile(
    r"(?:what|where|who|when|why|how|which|do|does|did|is|are|was|were|can|could|should|would|will|have|has)(?!['’])\b",
    re.I,
)
SUPPOSED: Final = re.compile(
    rf"\b(?:[Ii]f|[Ss]uppose|[Ii]magine|[Pp]retend|[Uu]nless|[Ww]hether|[Ww]hat if|would|could|might|{MAY_DO})\b"
)
"""A sentence with one of these supposes."""
_DETERMINERS: Final = _set("a an the my our your his her their its some that this those these any old new used")
_PREPOSITIONS: Final = _set("at in on with for to from of by near as about into")
_VERBS: Final = _set(
    "live lives living lived work works working worked have has having had own owns drive drives driving drove "
    "eat eats eating drink drinks drinking like likes love loves enjoy play plays playing called named learn "
    "learning study studying teach teaching run runs running use uses using be been being is are was am do doing "
    "go going goes fly flying start starts started starting join joined joining bought got get gets getting "
    "picked up moved moving took take taking adopted adopt based staying settled meant mean see seeing date "
    "dating prefer prefers want planning plan back found hired switching chose choose decided bake making make "
    "buy buying sell selling rent renting married engaged born allergic intolerant fond out speak speaking need "
    "visiting calling naming"
)
"""Verbs between a cue or a subject and the phrase; of what is denied they say how it was so."""
_VAGUE: Final = _set(
    "have has having had be been being is are was am do doing go going goes like likes get gets use uses want"
)
"""Verbs that alone don't say what is over."""
_LEADS: Final = _set(
    "they made promoted me "
    "but and so all then now just actually really well instead rather also currently since i i'm i've i'll i'd we "
    "we're we've we'll it it's its that's he he's she she's they they're is am are was will his her their my our "
    "the name name's correct right sorry no nope oh wait officially finally only always again already should make "
    "been"
)
"""Words that may open the segment that says what holds instead."""
_CONJUNCTIONS: Final = _set("and but so then all also")
_NO_CLAIM: Final = _CONJUNCTIONS | _DETERMINERS
_LINKS: Final = _set("is are was called named")
_POSSESSIVES: Final = _set("my our the his her their")
_NORMAL: Final = _set("normal normally usual usually regular regularly work square")
"""First words of what is no value: “back to normal eating”."""
_BE: Final = frozenset({"is", "are", "was", "am", "were", "i'm", "he's", "she's", "it's", "we're", "that's", "they're"})
_IS_NOT: Final = frozenset({"isn't", "wasn't", "aren't", "weren't", "ain't"})
_BEING: Final = _set("is are was am be being been called named meant mean prefer prefers want")
_WHEN: Final = _set("next today yesterday tonight already recently finally officially last week month year now")
"""Words between an end and what follows it: “sold the Fabia yesterday and …”."""
_STOPS: Final = _set(
    "is are was were am be been has have had now so because since as and but or nor anymore any more these this "
    "until till at in on for with from by to instead please if when while where who which that he she it i we you "
    "they i'm i've i'll i'd we're we've we'll we'd it's he's she's they're they've that's there's "
    "longer than after before though although today yesterday tomorrow last next "
    "officially finally again too either yet though thanks thank anyway over lol haha btw completely altogether "
    "entirely already starting yay isn't not no going live lives work works tbh pls asap dear not"
)
"""Words that end a phrase."""
_INSIDE: Final = frozenset({"of", "de", "la", "and", "the", "von", "van", "al", "el"})
"""Small words within a name: “Isle of Man”."""
_EMPTY: Final = _set(
    "sure only really very much so even quite too bad good yet that it there here this true right correct me you "
    "him what how exactly necessarily always ever just something anything nothing one mind idea mistake typo wait "
    "scratch well ok okay sorry no yes correction thanks everything stuff them us fun great"
)
"""Words that are no value."""
_TEMPORAL: Final = re.compile(
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|(?:nov|dec)(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
    re.I,
)
"""Days and months, and no names that start like one: Octavia, Mary, Janet."""

_BY_FIRST_WORD: Final[dict[str, list[tuple[tuple[str, ...], bool]]]] = {}
for _cues, _is_negation in ((INSTEAD_OF, True), (NEGATIONS, True), (ENDINGS, False)):
    for _cue in _cues:
        _BY_FIRST_WORD.setdefault(_cue[0], []).append((_cue, _is_negation))
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE = re.compile(
    rf"(?:(?:{'|'.join(_DAYS)}),? )?(?:\d{{1,2}} )?(?:(?:Jan|Febr)uary|March|April|May|June|July|August|"
    rf"(?:Septem|Octo|Novem|Decem)ber)(?: \d{{1,2}}(?!\d))?(?:,? \d{{4}})?|(?:{'|'.join(_DAYS)})"
)
_NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,:]\d+)*(?![\w])")
OF_DATES: Final = content("deadline date due start time day launch delivery trip holiday vacation visit")
"""Words that say of what a date is; a fact may say it in another: “is due on 3 March”."""
_IN_ENDINGS: Final = (
    "history stolen off cancelled canceled gone ex fell moved resigned mistake let fired laid sacked"
    " table menu question"
)
_FIRST_WORDS: Final = {*_BY_FIRST_WORD, *SWAPS, *_IN_ENDINGS.split(), "from", "made", "dumped"}
MAY_DENY: Final = re.compile(rf"\b(?:{'|'.join(sorted(_FIRST_WORDS))}|i said|i meant)\b", re.IGNORECASE)
"""A quick look: a text without one of these denies nothing."""
_SHIFTS: Final = re.compile(rf"\b(?:{'|'.join(sorted(CHANGES | SHIFTED))})\b", re.IGNORECASE)
_TARGET: Final = re.compile(rf"\b(?:{'|'.join(sorted(_TO))})\b", re.IGNORECASE)
"""The same for shifts: one word of each, in this order."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A phrase that a text denies, and what holds instead."""

    old: str
    new: str
    """Empty: the text doesn't say."""
    verbs: frozenset[str]
    """Verbs before the phrase: “don't *live* in Nantes”; empty: it stands alone."""
    is_mistake: bool
    """It was never so: what else was said of it still holds. Else it was, and is over."""
    start: int
    end: int
    """Of the sentences it rests on."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    low: str
    start: int
    end: int


type _Segment = list[_Word]


@dataclass(slots=True)
class _Sentence:
    segments: list[_Segment]
    start: int
    end: int
    is_asking: bool


def read_denials(text: str) -> list[Denial]:
    """What a text denies, in order; questions and suppositions deny nothing."""
    text = text.replace("’", "'")
    if MAY_DENY.search(text) is None:
        return []
    sentences = list(_sentences(text))
    found: list[Denial] = []
    for number, sentence in enumerate(sentences):
        if sentence.is_asking:
            continue
        following = next((one for one in sentences[number + 1 : number + 2] if not one.is_asking), None)
        read = _read(sentence, following)
        found += (replace(one, new="") if OPENING.fullmatch(one.new) else one for one in read)
        if len(found) >= MAX_DENIED:
            break
    return found


def _sentences(text: str) -> Iterator[_Sentence]:
    segments: list[_Segment] = [[]]
    start = 0
    tokens = list(_TOKEN.finditer(text))
    for number, token in enumerate(tokens):
        sign = token[0]
        is_last = number == len(tokens) - 1
        if sign[0] in _ENDS or is_last:
            if sign[0] not in _ENDS:
                segments[-1].append(_word(token))
            kept = [segment for segment in segments if segment]
            if kept:
                written = text[start : token.end()]
                is_asking = "?" in sign or _ASKING.match(kept[0][0].text) is not None
                is_asking = is_asking or SUPPOSED.search(written) is not None
                yield _Sentence(kept, kept[0][0].start, token.end(), is_asking)
            segments, start = [[]], token.end()
        elif sign[0] in _PUNCTUATION:
            segments.append([])
        else:
            segments[-1].append(_word(token))


def _word(token: re.Match[str]) -> _Word:
    return _Word(token[0], token[0].casefold().replace("’", "'"), token.start(), token.end())


def _read(sentence: _Sentence, following: _Sentence | None) -> Iterator[Denial]:
    for place, segment in enumerate(sentence.segments):
        lows = [word.low for word in segment]
        swapped = _read_swap(segment, lows)
        if swapped is not None:
            old, new = swapped
            yield Denial(old, new, frozenset(), False, sentence.start, sentence.end)
            continue
        meant = _read_misspoken(sentence, place, lows)
        if meant is not None:
            yield Denial(*meant, frozenset(), True, sentence.start, sentence.end)
            continue
        gone = _read_ended_subject(segment, lows)
        if gone:
            new, until = _instead(sentence, place, 0, (), gone, following, is_bare=False)
            if not new and place and (before := _opening_phrase(sentence.segments[place - 1], gone)):
                new = before
            yield Denial(gone, new, frozenset(), False, sentence.start, until)
            continue
        at, is_negation = _find_cue(lows)
        if at is None:
            continue
        start, end = at
        if (start, end) and _is_instead(lows, start, end):
            old = _phrase(_skip(segment[end:])[1])[0]
            new = _last_phrase(segment[:start], old) or (
                _last_phrase(sentence.segments[place - 1], old) if place else ""
            )
            if old and fits(old, new):
                yield Denial(old, new, frozenset(), True, sentence.start, sentence.end)
            continue
        verbs, rest = _skip_to_phrase(segment[end:], is_noun=lows[start] == "no")
        old, after = _phrase(rest)
        if not old:
            verb = _verb_over(lows[end:], verbs) if is_negation else ""
            yield from [Denial(verb, "", verbs, False, sentence.start, sentence.end)] if verb else []
            continue
        new, until = _instead(sentence, place, start, after, old, following, is_bare=is_negation and not verbs)
        is_over = not is_negation or lows[start] in ("no", "any") or _is_over(lows)
        yield Denial(old, new, verbs, not is_over, sentence.start, until)


def _read_ended_subject(segment: _Segment, lows: Sequence[str]) -> str:
    """What a segment says has ended, as its subject: “the Aarhus *place* is history”; empty: nothing."""
    words = [low for low in lows if low not in _WHEN]
    cue = next((cue for cue in SUBJECT_ENDINGS if tuple(words[-len(cue) :]) == cue and len(words) > len(cue)), None)
    if cue is None:
        return ""
    start = next(at for at in range(len(lows)) if tuple(lows[at : at + len(cue)]) == cue)
    return _last_phrase(segment[:start])


def _read_misspoken(sentence: _Sentence, place: int, lows: Sequence[str]) -> tuple[str, str] | None:
    """“I said the old, I meant the new”."""
    said = next((cue for cue in MISSPOKEN if tuple(lows[-len(cue) - MAX_PHRASE :])[: len(cue)] == cue), None)
    said = said or next((cue for cue in MISSPOKEN if tuple(lows[: len(cue)]) == cue), None)
    if said is None or place + 1 >= len(sentence.segments):
        return None
    old = _last_phrase(sentence.segments[place])
    later = sentence.segments[place + 1]
    means = any(word.low in ("meant", "mean", "it's", "should") for word in later)
    new = _opening_phrase(later, old) if means else ""
    return (old, new) if old and new else None


def _is_over(lows: Sequence[str]) -> bool:
    joined = " ".join(lows)
    return any(words in joined for words in ("any more", "anymore", "no longer", "any longer"))


def _verb_over(lows: Sequence[str], verbs: frozenset[str]) -> str:
    """What isn't done any more, as a verb alone: “Wim doesn't teach any more”; empty: the verb says too little."""
    return next((low for low in lows if low in verbs - _VAGUE), "") if _is_over(lows) else ""


_FOR_ME: Final = (["for", "me"], ["for", "us"])
"""Behind what is off: “no Berlin for me this year”."""


def _find_cue(lows: Sequence[str]) -> tuple[tuple[int, int] | None, bool]:
    """First and last place behind the first cue; whether it is a negation."""
    for at, low in enumerate(lows):
        for cue, is_negation in _BY_FIRST_WORD.get(low, ()):
            if tuple(lows[at : at + len(cue)]) == cue:
                return (at, at + len(cue)), is_negation
        if low == "no" and any(lows[behind : behind + 2] in _FOR_ME for behind in range(at + 2, at + 2 + MAX_PHRASE)):
            return (at, at + 1), True
    return None, False


def _is_instead(lows: Sequence[str], start: int, end: int) -> bool:
    return tuple(lows[start:end]) in INSTEAD_OF


def _read_swap(segment: _Segment, lows: Sequence[str]) -> tuple[str, str] | None:
    """“From the old to the new”, “swapped the old for the new”."""
    verb = next((at for at, low in enumerate(lows) if low in CHANGES or low in SWAPS), None)
    if verb is None:
        return None
    if "from" in lows[verb:]:
        source = lows.index("from", verb)
        old, _ = _phrase(_skip(segment[source + 1 :])[1])
        target = next((at for at in range(source + 1, len(lows)) if lows[at] in ("to", "into")), None)
        if old and target is not None:
            new, _ = _phrase(_skip(segment[target + 1 :])[1])
            return (old, new) if new else None
    if lows[verb] in SWAPS:
        old, _ = _phrase(_skip(segment[verb + 1 :])[1])
        target = next((at for at in range(verb + 1, len(lows)) if lows[at] in ("for", "with", "by")), None)
        if old and target is not None:
            new, _ = _phrase(_skip(segment[target + 1 :])[1])
            return (old, new) if new else None
    return None


def _skip_to_phrase(words: Sequence[_Word], *, is_noun: bool) -> tuple[frozenset[str], Sequence[_Word]]:
    """The same. `is_noun`: a last word that could be a verb is the phrase: “no more rent”."""
    verbs, rest = _skip(words)
    return (frozenset(), words[-1:]) if is_noun and not rest else (verbs, rest)


def _skip(words: Sequence[_Word]) -> tuple[frozenset[str], Sequence[_Word]]:
    """The verbs that come first, and the words from the phrase on."""
    at, verbs = 0, set()
    while at < len(words) and words[at].low in _VERBS | _DETERMINERS | _PREPOSITIONS | {"really", "even", "actually"}:
        if words[at].text[0].isupper() and at and words[at].low not in _DETERMINERS:
            break
        if words[at].low in _VERBS:
            verbs.add(words[at].low)
        at += 1
    return frozenset(verbs), words[at:]


def _phrase(words: Sequence[_Word]) -> tuple[str, Sequence[_Word]]:
    """The phrase that comes first, and the words behind it; a run of names ends with its last name."""
    taken: list[_Word] = []
    for word in words[:MAX_PHRASE]:
        if word.low in _STOPS and not (word.low in _INSIDE and _joins_names(words, len(taken))):
            break
        taken.append(word)
    while taken and taken[-1].low in _EMPTY | _STOPS | _DETERMINERS | _PREPOSITIONS:
        taken.pop()
    if all(word.low in _EMPTY | _DETERMINERS for word in taken) or taken[0].low in _NORMAL:
        return "", words
    taken = taken[: _names_in_front(taken)]
    return " ".join(word.text for word in taken), words[len(taken) :]


def _joins_names(words: Sequence[_Word], at: int) -> bool:
    """Whether the small word there is within a name: “Isle of Man”."""
    return 0 < at < len(words) - 1 and words[at - 1].text[0].isupper() and words[at + 1].text[0].isupper()


def _names_in_front(words: Sequence[_Word]) -> int:
    """How many words a phrase has that starts with a name: its names, with one more word if that is the last."""
    run = next((at for at, word in enumerate(words) if not (_is_named(word) or word.low in _INSIDE)), len(words))
    return len(words) if run == 0 or len(words) - run <= 1 else run


def _is_named(word: _Word) -> bool:
    return word.text[0].isupper() or word.text[0].isdigit()


def _last_phrase(words: Sequence[_Word], old: str = "") -> str:
    """The phrase at the end of these words, without the verbs and subjects before it; the names, if it has any.

    `old`: what it is told apart from; where that is no name, the last words count.
    """
    if old and _kind(old) == "words" and (plain := _last_words(words)):
        return plain
    names: list[_Word] = []
    for word in reversed(words):
        is_name = _is_named(word) and word.low not in _LEADS | _EMPTY
        if is_name or (names and word.low in _INSIDE):
            names.insert(0, word)
        elif names:
            break
    while names and names[0].text in _INSIDE:
        names.pop(0)
    if names:
        return " ".join(word.text for word in names)
    return _last_words(words)


def _last_words(words: Sequence[_Word]) -> str:
    rest = list(words)
    for at in range(len(rest) - 1, -1, -1):
        if rest[at].low in _LEADS | _VERBS | _PREPOSITIONS | _DETERMINERS:
            rest = rest[at + 1 :]
            break
    kept = [word for word in rest if word.low not in _EMPTY | _STOPS]
    return " ".join(word.text for word in kept[:MAX_PHRASE])


def _instead(
    sentence: _Sentence,
    place: int,
    start: int,
    after: Sequence[_Word],
    old: str,
    following: _Sentence | None,
    *,
    is_bare: bool,
) -> tuple[str, int]:
    """What holds instead of `old`, and the end of the words it rests on; empty: they don't say."""
    if after and after[0].low in ("but", "and") and (new := _opening_phrase(after, old)):
        return new, sentence.end
    segment = sentence.segments[place]
    before = segment[:start]
    is_said_of = bool(before) and (before[-1].low in _BE or segment[start].low in _IS_NOT)
    if is_bare and not is_said_of and (new := _last_phrase(before, old)) and fits(old, new):
        return new, sentence.end
    is_plain = is_bare and _kind(old) == "words"
    joined = next((after[at:] for at, word in enumerate(after) if at and word.low in ("and", "but", "then")), ())
    for later in (after, joined, *sentence.segments[place + 1 : place + 4]):
        if new := _opening_phrase(later, old, is_plain=is_plain):
            return new, sentence.end
        said = [word for word in later if word.low not in _WHEN]
        if (
            is_bare
            and all(word.low in _LEADS for word in before)
            and (new := _phrase(said)[0])
            and len(new.split()) == len(said)
        ):
            return (new, sentence.end) if fits(old, new) else ("", sentence.end)
    if is_bare and place and (new := _last_phrase(sentence.segments[place - 1], old)) and fits(old, new):
        return new, sentence.end
    for later in following.segments[:2] if following else ():
        if new := _opening_phrase(later, old, is_plain=is_plain):
            assert following is not None
            return new, following.end
    return "", sentence.end


def _opening_phrase(words: Sequence[_Word], old: str, *, is_plain: bool = False) -> str:
    """What a segment says is so, if it opens like one: “it's Bradford”, “and start at Bosch”, “going to the Azores”.

    `is_plain`: only what is said with no more than a form of “to be”, as where “a barista” is denied.
    """
    at, opened, denied = 0, False, False
    while at < len(words) and words[at].low in _WHEN:
        at += 1
    while at < len(words):
        low = words[at].low
        if is_plain and low in _VERBS and low not in _BEING:
            return ""
        if (low,) in NEGATIONS:
            denied = True
        if low in _LEADS or low in _VERBS or low in _WHEN:
            opened = opened or low not in _WHEN
        elif low not in _DETERMINERS | _PREPOSITIONS:
            break
        if words[at].text[0].isupper() and at and low not in _LEADS | _VERBS:
            break
        at += 1
    rest = words[at:]
    link = next((n for n, word in enumerate(rest[:4]) if n and word.low in _LINKS), None)
    if link is not None and at and any(word.low in _POSSESSIVES for word in words[:at]):
        at, opened = at + link + 1, True  # “my new boss is Sabine”
        at += next((n for n, word in enumerate(words[at:]) if word.low not in _DETERMINERS | _PREPOSITIONS), 0)
    new, behind = _phrase(words[at:])
    if _is_another_claim([word.low for word in words[:at]], behind):
        return ""
    return new if opened and not denied and new and fits(old, new) else ""


def _is_another_claim(opening: Sequence[str], behind: Sequence[_Word]) -> bool:
    """Whether a segment says something else than what holds instead, by what opens it and stands behind its phrase.

    “and Figaro lives with my ex”, “The cashews and latex ones stay”, “it was making me miserable”
    """
    if behind and set(opening) <= _NO_CLAIM:
        return behind[0].low in _VERBS or not set(opening) <= _CONJUNCTIONS
    return opening[:1] == ["it"] and "me" in opening


def fits(old: str, new: str) -> bool:
    """Whether both can be values of one attribute: a name for a name, a number for a number, a day for a day."""
    if not new or new.casefold() == old.casefold():
        return False
    kinds = {_kind(old), _kind(new)}
    return len(kinds) == 1 or kinds == {"date", "number"} or (kinds == {"name", "words"} and _kind(new) == "name")


def _kind(phrase: str) -> str:
    """`date`, `name`, `number` or `words`; an abbreviation is a word like any other."""
    words = phrase.split()
    if any(_TEMPORAL.fullmatch(word) for word in words):
        return "date"
    if any(word[0].isupper() and not (word.isupper() and len(word) <= MAX_ABBREVIATION) for word in words):
        return "name"
    return "number" if any(word[0].isdigit() for word in words) else "words"


_SOMEONE: Final = frozenset({"they", "they've", "he", "she", "someone", "the hospital", "the clinic", "the doctor"})


def read_shifts(text: str) -> list[tuple[str, str, int, int]]:
    """“The wedding got pushed back to August 30”: what a text gives another date or number, that one, and its place."""
    found: list[tuple[str, str, int, int]] = []
    verb_found = _SHIFTS.search(text)
    if verb_found is None or _TARGET.search(text, verb_found.end()) is None:
        return found
    for sentence in _sentences(text):
        if sentence.is_asking:
            continue
        for segment in sentence.segments:
            lows = [word.low for word in segment]
            verb = next((at for at, low in enumerate(lows) if low in CHANGES | SHIFTED), None)
            target = next((at for at in range(verb, len(lows)) if lows[at] in _TO), None) if verb else None
            if not verb or target is None:
                continue
            new = _phrase(_skip(segment[target + 1 :])[1])[0]
            subject = " ".join(lows[:verb])
            if not content(subject) or subject in _SOMEONE:  # “I switched my runs to Thursdays”, “they moved the scan”
                subject = " ".join(lows[verb + 1 : target])
            if _kind(new) in ("date", "number"):
                found.append((subject, new, sentence.start, sentence.end))
    return found


def kind_of_phrase(phrase: str) -> str:
    """`date`, `name`, `number` or `words`."""
    return _kind(phrase)


def find_phrase(text: str, phrase: str) -> tuple[int, int] | None:
    """Where a text has the phrase, whatever its endings, or else the names in it: first and last character."""
    said = [(stem(t[0].casefold()), t.start(), t.end()) for t in _WORD.finditer(text)]
    whole = [word for word in _WORD.findall(phrase) if word.casefold() not in _DETERMINERS]
    names = [word for word in whole if word[0].isupper()]
    for stems in ([stem(word.casefold()) for word in wanted] for wanted in (whole, names) if wanted):
        for at in range(len(said) - len(stems) + 1):
            if [word for word, _, _ in said[at : at + len(stems)]] == stems:
                return said[at][1], said[at + len(stems) - 1][2]
    return None


def find_value(text: str, kind: str) -> str:
    """The date or number of a statement; empty if it has none, or more than one."""
    found = [match[0] for match in (_DATE if kind == "date" else _NUMBER).finditer(text)]
    return found[0] if len(found) == 1 else ""
