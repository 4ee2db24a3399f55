"""Checks what a pattern captured: the pattern finds where a slot begins and ends, the check accepts or refuses it.

A pattern alone would take “I live in fear” for a place and “I'm Portuguese” for a name. So each slot has a check that
returns the text as it is to be told, or None: then the pattern has not matched.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from memory.librarian.rules.dates import DAY_MONTH, MONTHS, WEEKDAYS, month_number
from memory.librarian.rules.people import ADJECTIVES, ANIMALS, PEOPLE, alternatives
from memory.librarian.rules.verbs import ADVERBS, conjugated

MAX_WORDS = 12
"""An open slot with more words is a story, not a value."""

# Words ------------------------------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SMALL_WORDS = _words("of the de da do dos la le el van von der den and in on upon sur am an del di")
"""Written small inside a name: Rio de Janeiro."""

NOT_A_NAME = _words(
    "a an the my your his her our not so very too just really still also now here there back home fine good great ok"
    " okay sorry sure"
    " happy sad tired busy ready done late early glad afraid able new old young single married engaged divorced vegan"
    " vegetarian"
    " pregnant allergic interested looking trying going working thinking having getting using learning writing"
    " building planning"
    " living moving coming feeling hoping wondering curious confused stuck lost bored hungry sick ill well awake"
    " alone free"
    " later tomorrow today tonight back when if whatever anything crazy is was has lives works likes loves hates who"
    " that which"
    " thanks thank cheers regards best please bye"
    " always never currently actually probably in at on from with to like about all both only one no yes it he she"
    " they we you i me"
    " and or but for of up down out off over asap soon sometime never once again said says told thinks called named"
).union(WEEKDAYS, MONTHS, ("christian", "catholic", "muslim", "jewish", "buddhist", "hindu", "atheist"))
NATIONALITIES = _words(
    "afghan albanian algerian american argentinian argentine armenian australian austrian azerbaijani bangladeshi"
    " belarusian"
    " belgian bolivian bosnian brazilian british bulgarian cambodian cameroonian canadian chilean chinese colombian"
    " croatian"
    " cuban cypriot czech danish dutch ecuadorian egyptian english estonian ethiopian european filipino finnish"
    " french georgian"
    " german ghanaian greek guatemalan hungarian icelandic indian indonesian iranian iraqi irish israeli italian"
    " jamaican"
    " japanese jordanian kazakh kenyan korean kurdish latvian lebanese lithuanian luxembourgish macedonian malaysian"
    " maltese"
    " mexican moldovan mongolian moroccan mozambican nepalese nigerian norwegian pakistani palestinian peruvian polish"
    " portuguese romanian russian saudi scottish senegalese serbian singaporean slovak slovenian somali spanish"
    " sudanese swedish"
    " swiss syrian taiwanese tanzanian thai tunisian turkish ugandan ukrainian uruguayan uzbek venezuelan vietnamese"
    " welsh"
    " zimbabwean african asian latino latina hispanic"
)

NOT_A_PLACE = _words(
    "fear hope peace constant pain chaos debt sin total complete a an my your his her our their this that these those"
    " it one two"
    " harmony poverty luxury denial dread silence interesting me you him them us bed here there abroad town vim excel"
    " mind love"
    " trouble shock heaven hell paradise past present future moment dorms person general particular fact sync touch"
    " charge style"
    " different another other same new bigger smaller better front back english"
)
NOT_AN_EMPLOYER = _words(
    "home night nights day days weekend weekends least once all times hours free fun money myself living my your his"
    " her our their"
    " it that this them you me nothing something minimum present first last full what which whom speed scale height"
    " heights sea"
    " altitude someone somebody him who most another other both people years months weeks"
)
NOT_A_THING = _words(
    "it that this these those you your yours him her them us me i he she they we how when what where why who which"
    " one ones"
    " anything everything nothing something someone everyone anyone being so too myself yourself there here such"
)
JOKES = _words(
    "work mornings mondays people exercise meetings nonsense bullshit stupidity effort responsibility commitment fun"
    " drama idiots"
    " math mathematics maths homework small-talk bs javascript java php cooking cleaning failure"
)
"""What nobody is really allergic to."""
NOT_LIKED = re.compile(
    r"^(?:(?:option|version|draft|variant|choice|number) (?:[a-d]|\d|one|two|three)$|(?:at|on) \d+(?= ?%)"
    r"|(?:almost |about to )?(?:dead|dying|die)$"
    r"|the (?:idea|way|fact|sound|first|second|third|last|other|one|look|new (?:one|version)|former|latter)"
    r"|to (?:know|think|say"
    r"|see|ask|hear|point|add|believe|be|bother|admit|imagine|keep you)|if|and|or|but|as|for|more|most|less|better"
    r"|least|both|all of|each)\b",
    re.I,
)
JOBS = _words(
    "nurse doctor teacher lawyer chef cook plumber carpenter student pilot judge vet surgeon architect journalist"
    " scientist"
    " engineer developer programmer designer accountant musician artist writer author baker farmer electrician mechanic"
    " photographer translator librarian dentist psychologist therapist pharmacist professor lecturer researcher"
    " consultant"
    " manager analyst barista waiter waitress driver firefighter midwife paramedic soldier actor actress singer"
    " dancer tailor"
    " hairdresser butcher gardener cleaner receptionist secretary salesperson realtor banker broker economist"
    " physicist chemist"
    " biologist mathematician historian philosopher sociologist astronomer geologist statistician entrepreneur"
    " freelancer founder"
    " ceo cto cfo intern apprentice postdoc tutor coach trainer instructor guide interpreter editor producer director"
    " composer"
    " conductor curator archivist diplomat politician priest pastor rabbi imam monk nun detective sailor fisherman"
    " miner builder"
    " welder painter sculptor illustrator animator cashier shopkeeper clerk administrator assistant technician operator"
    " policeman policewoman teacher's plumber stonemason beekeeper undertaker veterinarian physician pediatrician"
    " paediatrician"
    " radiologist cardiologist neurologist psychiatrist physiotherapist optician carer nanny babysitter housewife"
    " househusband"
    " homemaker retiree pensioner janitor courier postman policeofficer officer specialist tester sysadmin devops"
    " lecturer"
).union(("software engineer", "data scientist"))
CONDITIONS = _words(
    "diabetes asthma adhd add autism migraines migraine epilepsy depression anxiety arthritis insomnia eczema psoriasis"
    " hypertension anaemia anemia endometriosis fibromyalgia hypothyroidism hyperthyroidism dyslexia bipolar ptsd ocd"
    " ibs"
    " crohn's parkinson's alzheimer's cancer glaucoma tinnitus scoliosis narcolepsy lupus gout celiac coeliac reflux"
    " hepatitis hiv osteoporosis vertigo dementia leukaemia leukemia hemophilia haemophilia"
)
CONDITION_ENDINGS = re.compile(
    r"\b(?:disease|disorder|syndrome|blood pressure|cholesterol|intolerance|dystrophy|sclerosis|fever|apnoea|apnea)$",
    re.I,
)
DIETS = (
    "vegetarian", "vegan", "pescatarian", "pescetarian", "flexitarian", "halal", "kosher", "keto", "gluten-free",
    "gluten free", "dairy-free", "dairy free", "lactose-free", "lactose free", "low-carb", "low carb", "paleo",
)  # fmt: skip

_TAIL_OF_PLACE = re.compile(
    r",? (?:with|since|for|where|which|who|because|while|when|until|till|but|and|at the moment|right|to|as|on|so"
    r"|from (?!\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|during|these"
    r"|if|not|than|living|working|based|studying|by myself|alone|together|again|full[- ]time|last"
    r"|next|this|in (?:an?|my|the (?:next|last)|\d{4}"
    r"|january|february"
    r"|march|april|may|june|july|august|september|october|november|december))\b.*$",
    re.I,
)
_TAIL_OF_EMPLOYER = re.compile(
    r",? (?:as|since|for|where|which|who|because|while|when|until|but|and|with|on|from|doing|so|these|if|full[- ]time"
    r"|part[- ]time"
    r"|again|in [A-Z]\w*|in (?:an?|the|my|january|february|march|april|may|june|july|august|september|october|november"
    r"|december)|now|last|after|remotely|during)\b.*$"
)
_TAIL_OF_JOB = re.compile(
    r",? (?:at|for|in|with|and|but|who|which|by|from|here|on|since|these|specialis|specializ|working|living|based"
    r"|where|because|so"
    r"|while|if|to|that|of (?:a|my|two|three))\b.*$",
    re.I,
)
_TAIL_OF_THING = re.compile(
    r",? (?:because|'?cause|since|so|but|although|though|which|when|if|while|as|whereas|even|and (?:it|they"
    r"|that)(?:'s)?)\b.*$"
    r"|(?: [-–—]|,) (?:it|they|that|this|the)(?:'s)? .*$| [-–—] .*$",
    re.I,
)

# Checks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Style:
    """How the message is written: in small letters throughout, capitals say nothing."""

    small: bool


def third_person(text: str) -> str:
    """The user's words as told by another: “my sister” → “their sister”."""
    return _FIRST.sub(lambda found: _THIRD[found[0].lower()], text)


def told_to_assistant(text: str) -> str:
    """An order as told by another, where “they” would be nobody: “when I ask” → “when the user asks”.

    What stands in quotation marks is to be said as it stands there.
    """
    return "".join(piece if quoted else _ordered(piece) for quoted, piece in _by_quotes(text))


def _by_quotes(text: str) -> Iterator[tuple[bool, str]]:
    return ((place % 2 == 1, piece) for place, piece in enumerate(_QUOTED.split(text)))


_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”)")


def _ordered(text: str) -> str:
    agreeing = _WHO_DOES.sub(_agreeing, text)
    return third_person(_ORDERING.sub(lambda found: _ORDERED[found[0].lower()], agreeing))


_WHO_DOES = re.compile(
    r"(?<![\w'-])(?P<who>i|(?:when(?:ever)?|if|before|after|until|till|unless|while|because|since|as|that|what(?:ever)?"
    rf"|which|how|where|once|time) you) (?P<adverbs>{ADVERBS}(?:\w+ly )?)(?P<verb>(?:do|can) not|[a-z']+)(?![\w'-])",
    re.I,
)
"""Somebody who does something. “You” only behind a word that begins a clause: “I want you to” has it otherwise."""
_NOT_ALONE = re.compile(
    r"\b(?:when(?:ever)?|if|unless|that|what|where|because|since|as|while|time) (?:my |our )?"
    r"(?!(?:i|you|we|they|he|she|it)\b)[\w-]+(?: [\w-]+)? and $|\byou and $",
    re.I,
)
"""“when my sister and I cook”, “you and I”: two do it."""
_TURNED = re.compile(
    r"\b(?:do|did|can|could|should|will|would|must|may|might|shall|have|had|am|was) $", re.I
)  # “what did I say”
_NO_VERB = _words("and or nor but to too alone myself as in at on of the a an who not")


def _agreeing(found: re.Match[str]) -> str:
    before, verb = found.string[: found.start()], found["verb"].lower()
    if verb in _NO_VERB or _NOT_ALONE.search(before) or _TURNED.search(before):
        return found[0]
    return f"{found['who']} {found['adverbs']}{conjugated(verb)}"


_THIRD = {
    "i am": "they are", "i was": "they were", "i'm": "they're", "i've": "they've", "i'll": "they'll", "i'd": "they'd",
    "i": "they", "me": "them", "my": "their",
    "mine": "theirs", "myself": "themselves", "we're": "they're", "we": "they", "us": "them", "our": "their",
    "ours": "theirs", "ourselves": "themselves", "am": "are",
    "your": "its", "yours": "its", "you": "the assistant", "yourself": "itself",
}  # fmt: skip
_FIRST = re.compile(
    rf"(?<![\w'-])(?!(?<=\d )am\b)(?!i$)(?:{alternatives(tuple(_THIRD))})(?![\w'-])", re.I
)  # not the “I” of “Book I”
_ORDERED = {
    "i": "the user", "me": "the user", "my": "the user's", "mine": "the user's",
    "i'm": "the user is", "im": "the user is", "i've": "the user has", "ive": "the user has", "i'll": "the user will",
    "i'd": "the user would", "i'd better": "the user had better",
    "do i": "does the user", "am i": "is the user", "have i": "has the user",
    "you're": "the assistant is", "you've": "the assistant has", "you'll": "the assistant will",
    "you'd": "the assistant would", "you are": "the assistant is", "you were": "the assistant was",
}  # fmt: skip
_ORDERING = re.compile(rf"(?<![\w'-])(?:{alternatives(tuple(_ORDERED))})(?![\w'-])", re.I)


def capitalised(text: str) -> str:
    """A name written in small letters, as names are written."""
    words = text.split(" ")
    return " ".join(w if i and w in SMALL_WORDS else w[:1].upper() + w[1:] for i, w in enumerate(words))


def _name(text: str, style: Style) -> str | None:
    text = text.strip(" ,")
    words = text.split(" ")
    if not 1 <= len(words) <= 4 or any(word.lower().strip(".") in NOT_A_NAME for word in words):
        return None
    if any(NO_NAME.search(word) for word in words):
        return None
    if not all(re.fullmatch(r"[^\W\d_][\w'.-]*", word) for word in words):
        return None
    if words[0][0].islower() or any(word[0].islower() and word not in SMALL_WORDS for word in words):
        return capitalised(text) if style.small and len(words) <= 2 else None
    return text


NO_NAME = re.compile(
    r"\w['’](?:m|re|ve|ll|s|d|t)$|(?:fully|ately|ingly|ously|ently|antly|edly|tably|sadly|luckily|happily|lately"
    r"|recently|apparently|obviously)$|^(?:every|some|any|no)(?:one|body|thing|where)$|^(?:people|folks|things|life"
    r"|work|working|live|living|love|settled|sitting|same|stuck|still|new|newbie|right|nice|greetings|based|born|school"
    r"|weather|meanwhile|anyway|yesterday|plus|also|okay|once|mr|mrs|ms|miss|mx)$",
    re.I,
)
"""What stands where a name would, with a capital because a sentence begins: “I'm here”, “Thankfully, my son”."""


def _own_name(text: str, style: Style) -> str | None:
    """A name behind “I'm”, where a nationality or an adjective is as likely; so it must be capitalised."""
    return None if text.lower() in NATIONALITIES else _name(text, Style(small=False))


def _nationality(text: str, style: Style) -> str | None:
    return text if text.lower() in NATIONALITIES and text[0].isupper() else None


def _place(text: str, style: Style) -> str | None:
    place = _TAIL_OF_PLACE.sub("", re.sub(r",? (?:GMT|UTC)\b.*$", "", text)).strip(" ,")
    words = place.split(" ")
    if not place or len(words) > 6 or (words[0].lower() in NOT_A_PLACE and not _has_capital(" ".join(words[1:]))):
        return None
    if _has_capital(place):
        return place
    return capitalised(place) if style.small and words[0] != "the" and len(words) <= 3 else None


def _employer(text: str, style: Style) -> str | None:
    name = _TAIL_OF_EMPLOYER.sub("", text).strip(" ,")
    words = name.split(" ")
    if not name or len(words) > 6 or words[0].lower() in NOT_AN_EMPLOYER or words[0].isdigit():
        return None
    described = words[0].lower() in {"a", "an", "the"}
    if described:
        return (
            name if len(words) > 1 and words[1].lower() not in {"moment", "same", "time", "while", "minute"} else None
        )
    return name if _has_capital(name) else capitalised(name) if style.small and len(words) <= 2 else None


def _job(text: str, style: Style) -> str | None:
    """Behind “I'm a”: only what is known to be a job, by its last word."""
    job = _TAIL_OF_JOB.sub("", text).strip(" ,")
    words = job.lower().split(" ")
    return job if len(words) <= 5 and (words[-1] in JOBS) and not _words("bad good great terrible") & {*words} else None


def _said_job(text: str, style: Style) -> str | None:
    """Behind “I work as a”: whatever it is."""
    job = _TAIL_OF_JOB.sub("", text).strip(" ,")
    return job if job and len(job.split(" ")) <= 5 and job.split(" ")[0].lower() not in NOT_A_THING else None


def _thing(text: str, style: Style) -> str | None:
    thing = _TAIL_OF_THING.sub("", text).strip(" ,")
    words = thing.lower().split(" ")
    vague = words[0] in NOT_A_THING or words[-1] in _OPEN_ENDS or NOT_LIKED.match(thing)
    return None if not thing or vague or len(words) > MAX_WORDS else third_person(thing)


_OPEN_ENDS = _words("to and or the a an of with for at in on my your")
"""A slot that ends like this was cut too early."""


def _skill(text: str, style: Style) -> str | None:
    """What somebody learns."""
    vague = re.match(r"(?:a (?:ton|lot|bit|little)|so much|more|as i|the hard way|about)\b", text, re.I)
    return None if vague else _thing(text, style)


def _food(text: str, style: Style) -> str | None:
    """A single thing of a list of allergens or foods."""
    thing = re.sub(r"^(?:all |any |most |some |both |eating |a |an |the )", "", text.strip(), flags=re.I)
    words = thing.lower().split(" ")
    bad = (
        not thing
        or "'s " in thing
        or len(words) > 4
        or words[0] in NOT_A_THING
        or words[-1] in JOKES
        or {*words} & _VERBS
        or any(word.endswith("ed") for word in words[1:])
    )
    return None if bad else f"{thing}s" if words[-1] in COUNTED else thing


COUNTED = _words(
    "peanut nut walnut almond cashew hazelnut pistachio egg cat dog horse bee wasp prawn oyster mango lentil"
)
"""Told in the plural, so that a peanut allergy and an allergy to peanuts are one."""
_VERBS = _words("love like hate is am are was have has live work want need prefer can can't don't will")


def _condition(text: str, style: Style) -> str | None:
    if text.lower().startswith(("get ", "got ")):
        return None  # “I get migraines from …”: told with what follows
    said = re.sub(r"^(?:an? |the |some |severe |mild |chronic |bad |very )+", "", text.strip(), flags=re.I)
    said = re.sub(
        r",? (?:and|but|so|since|because|which|for|from|in|last|when|as|at|this|two|a few)\b.*$", "", said, flags=re.I
    )
    words = said.lower().split(" ")
    known = words[0] in CONDITIONS or words[-1] in CONDITIONS or CONDITION_ENDINGS.search(said) is not None
    return said if known and words[0] != "been" and len(words) <= 6 else None


def _diet(text: str, style: Style) -> str | None:
    diet = re.sub(r"^(?:an? |strictly |mostly |fully )", "", text.strip().lower())
    return diet if diet in DIETS else None


def _age(text: str, style: Style) -> str | None:
    return text if 3 <= int(text) <= 110 else None


def _activity(text: str, style: Style) -> str | None:
    """What somebody wants, plans or decided: any words, told in the third person."""
    words = text.lower().split(" ")
    too_long = len(words) > 2 * MAX_WORDS
    return None if too_long or words[0] in NOT_A_THING or _LEANING.match(text) else third_person(text.strip(" ,"))


_LEANING = re.compile(r"(?:to )?(?:\S+ )?(?:this|it|that|them|these|those|following)\b", re.I)
"""Begins with an object that means nothing without the sentence before: “I want to master this”."""


def _order(text: str, style: Style) -> str | None:
    """What the assistant is told to do: an order begins with its verb."""
    words = text.split(" ")
    is_order = 2 <= len(words) <= 2 * MAX_WORDS and words[0].lower() in ORDER_VERBS and not MOTTO.match(text)
    return told_to_assistant(text.strip(" ,")) if is_order else None


def _goal(text: str, style: Style) -> str | None:
    """What somebody wants in life, told from what they want just now by its verb."""
    return _activity(text, style) if GOAL_VERBS.match(text) and " " in text else None


GOAL_VERBS = re.compile(
    r"(?:learn|become|run (?:a|an|my|the)|write (?:a|my) (?:book|novel|thesis|memoir)|read (?:more|\d+)|lose"
    r" (?:weight|\d+)|save (?:up|money|\d+|enough)"
    r"|quit|stop (?:smoking|drinking|biting)|start (?:a|my own|my)|open (?:a|my own)|improve my|get (?:fit|in shape"
    r"|better at|healthier|promoted|married|into"
    r"|a (?:new job|promotion|degree|phd|dog|cat))|move to|travel (?:to|the|around)|visit|buy (?:a|my|our) (?:\w+"
    r" )?(?:house|home|flat|apartment|car)|finish my|master|climb|complete (?:a|my)"
    r"|launch (?:a|my)|found|retire|graduate|emigrate|adopt|have (?:kids|children|a baby)|live in|be (?:a|an|able to)"
    r"|exercise more|sleep more|eat (?:less|more|healthier))\b",
    re.I,
)
MOTTO = re.compile(
    r"(?:give (?:up|in|it)|stop (?:learning|dreaming|believing|trying)|be (?:yourself|kind|afraid|happy|careful"
    r"|yourselves)|say never"
    r"|keep (?:going|calm|smiling|moving|trying|learning)|end up|make sure (?:i|to)|start over|ask for help)\b",
    re.I,
)
"""“Never give up” is not said to the assistant."""
ORDER_VERBS = _words(
    "answer reply respond write use give explain speak talk call address include add show keep be start end format"
    " avoid mention"
    " ask tell translate cite provide put suggest remember assume summarise summarize list send double-check check"
    " make quote"
    " refer treat apologise apologize repeat say greet sign speak offer recommend structure return begin stop convert"
    " spell"
)


def _language(text: str, style: Style) -> str | None:
    return capitalised(text) if text.lower() in NATIONALITIES or text.lower() in LANGUAGES else None


LANGUAGES = _words(
    "latin mandarin cantonese hindi urdu bengali tamil arabic hebrew farsi swahili catalan basque esperanto"
)


def _languages(text: str, style: Style) -> str | None:
    """One or several languages, told by their capitals."""
    names = [name for name in re.split(r",? and |, ", re.sub(r",? (?:at|but|with|because|to)\b.*$", "", text)) if name]
    spoken = [re.sub(r"^(?:fluent|some|a (?:bit|little) (?:of )?|native|basic|good) ?", "", name) for name in names]
    return " and ".join(names) if spoken and all(name[:1].isupper() for name in spoken) else None


def _day_of_year(text: str, style: Style) -> str | None:
    """A birthday, with its year if that is said: “4 May 1990”."""
    found = DAY_MONTH.fullmatch(text.strip(" ,"))
    if found is None:
        return None
    month = MONTHS[month_number(found["month"] or found["month_first"]) - 1].capitalize()
    day = int(found["day"] or found["day_second"])
    return f"{day} {month} {found['year'] or found['year_last'] or ''}".strip() if 1 <= day <= 31 else None


def _subject(text: str, style: Style) -> str | None:
    """What a favourite is one of: “colour”, “programming language”."""
    return text.lower() if len(text.split(" ")) <= 4 else None


def _as_it_is(text: str, style: Style) -> str | None:
    return third_person(text)


def _has_capital(text: str) -> bool:
    return any(char.isupper() for char in text)


# The slots -------------------------------------------------------------------------------------------------------

_OPEN = r"\S.{0,200}"
_WORD_OR_THREE = r"\S+(?: \S+){0,2}?"

type Check = Callable[[str, Style], str | None]


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a slot begins and ends, what may stand in it, and whether it holds a list of such things."""

    pattern: str
    check: Check
    is_list: bool = False


SLOTS: Mapping[str, Slot] = {
    "name": Slot(_WORD_OR_THREE, _name),
    "own_name": Slot(_WORD_OR_THREE, _own_name),
    "relation": Slot(rf"(?:(?:{alternatives(ADJECTIVES)})[ -])?(?:{alternatives(PEOPLE)})(?![\w-])", _as_it_is),
    "animal": Slot(rf"(?:(?:{alternatives(ADJECTIVES)})[ -])?(?:{alternatives(ANIMALS)})(?![\w-])", _as_it_is),
    "place": Slot(_OPEN, _place),
    "employer": Slot(_OPEN, _employer),
    "job": Slot(_OPEN, _job),
    "said_job": Slot(_OPEN, _said_job),
    "thing": Slot(_OPEN, _thing),
    "shorter": Slot(r"\S.{0,80}?", _thing),
    "allergen": Slot(_OPEN, _food, is_list=True),
    "food": Slot(_OPEN, _food, is_list=True),
    "condition": Slot(_OPEN, _condition),
    "diet": Slot(_OPEN, _diet),
    "short_diet": Slot(r"\S.{0,20}?", _diet),
    "age": Slot(r"\d{1,3}", _age),
    "birthdate": Slot(r"\S.{0,40}?", _day_of_year),
    "nationality": Slot(r"\w+", _nationality),
    "languages": Slot(r"\S.{0,100}", _languages),
    "goal": Slot(_OPEN, _goal),
    "short_job": Slot(r"\S.{0,60}?", _job),
    "where": Slot(r"in|near|outside|close to|just outside", _as_it_is),
    "article": Slot(r"an?|the", _as_it_is),
    "activity": Slot(_OPEN, _activity),
    "skill": Slot(_OPEN, _skill),
    "order": Slot(_OPEN, _order),
    "language": Slot(r"\S+", _language),
    "subject": Slot(r"\S.{0,60}?", _subject),
    "dated": Slot(_OPEN, _activity),
    "date": Slot(r"\S.{0,60}", _as_it_is),
}
"""By the name that patterns use. `<dated>` must hold a date, and `<date>` be one: `engine.py` resolves them."""
