"""Finds the remembered sentence that answers a question: shared word stems, with rarer ones weighing more.

No language model and no vectors: stems are words cut to `STEM_LENGTH` letters after their endings, a question word
prefers sentences with matching verbs or names, and a sentence must cover more than `ENOUGH` of the question. A
superseded or ended memory only answers a question about the past.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from offline.responder.grammar import LEAD_IN, TAKES_BACK, TRAIL, without_denied
from offline.responder.request_facts import Memory

ENOUGH = 0.5  # of the question's weight; a sentence sharing one of two rare words is not an answer
CLOSE = 0.25  # less than an answer, yet worth mentioning
OTHER_SUBJECT = 0.25  # factor for a sentence about the user's sister when the question does not name her
OF_THE_PAST = 0.95  # factor for a sentence that says how it was, when the question asks how it is
KIND_WEIGHT = 0.5  # of a question word, next to the mean weight of the question's stems
STEM_LENGTH = 6  # allergic, allergy and allergies meet at six letters
MAX_SENTENCES = 3
CONTEXT_CHARS = 300  # of what was said before “he” or “it”

STOPWORD_LINES = """
a an the and or but of to in on at by for from with as is are was were be been am do does did done have has had
i me my mine you your yours we our us he she it its they them their this that these those there here so if not
no yes any some can could will would shall should may might must what where who whom whose when which how why
name names called tell know remember remind please again about user user's users just really very much many now then
days still currently actually moment today also before previously formerly used anymore more i'm i've i'd i'll isn't
say said mention mentioned what's who's where's happen happened become became
"""
STOPWORDS = frozenset(STOPWORD_LINES.split())
SAME_STEM = {
    "resid": "liv", "home": "liv", "addres": "liv", "mov": "liv", "job": "work", "employ": "work", "compan": "work",
    "profes": "work", "occupa": "work", "birthd": "born", "favour": "lik", "favori": "lik", "prefer": "lik",
    "lov": "lik", "enjoy": "lik", "marri": "spous", "marry": "spous", "wife": "spous", "husban": "spous",
    "rol": "work", "positi": "work", "occup": "work", "retir": "work", "trip": "travel",
    "travell": "travel",
    "go": "travel", "fly": "travel", "flight": "travel", "visit": "travel", "holida": "travel", "vacati": "travel",
    "puppy": "dog",
    "puppi": "dog", "kitten": "cat", "mum": "mother", "mom": "mother", "dad": "father", "mobile": "phone",
    "vehic": "car", "driv": "car", "ador": "lik", "fianc": "spous", "fiancé": "spous", "going": "travel",
    "partne": "spous", "girlfr": "spous", "boyfri": "spous", "flat": "liv", "apartm": "liv", "bas": "liv",
    "hous": "liv", "plac": "liv",
    "stud": "learn", "study": "learn", "studi": "learn", "colour": "color", "due": "deadli", "dead": "died",
    "eat": "food", "child": "kid", "childr": "kid", "diet": "food", "girl": "daught", "boy": "son",
    "relati": "spous", "dat": "spous",
}  # fmt: skip
WHICH_OF = re.compile(r"\bwhich (?:one )?of (?:my|our) (\w+)", re.IGNORECASE)
# A phrase of a question → the word it means.
REWRITES = (
    (re.compile(r"\bwhat (?:do|does) ((?:\w+ ){1,5}?)do\b(?: for (?:a living|work))?", re.I), r" \1 work "),
    (re.compile(rf"\bused? to\b|\bgo to(?=\W*$)|{WHICH_OF.pattern}", re.I), " "),
    (re.compile(r"\b(?:which|what) (?:city|town|country|village|place)\b", re.I), " where live "),
    (re.compile(r"\b(?:which|what) [\w-]+ (?=(?:do|does|did) [\w ]{1,20}? work (?:at|for|in)\b)", re.I), " where "),
    (re.compile(r"(?:\b(?:is|are|am|be|might|may|will|would|to)|['’](?:m|re|s|ll|d)) mov(?:e|ing)\b", re.I),
     " relocate "),
    (re.compile(r"\bmov(?:ed?|es) (?=(?:to |from )?(?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d))", re.I),
     " shift "),
    (re.compile(r"\b(?:which|what) (?:date|day)\b", re.I), " when "),
    (re.compile(r"\b(?:still )?alive\b|\bpassed away\b|\bput down\b|\bburied\b", re.I), " died "),
    (re.compile(r"\bbroke up\b|\bsplit up\b|\bseeing someone\b|\bgoing out with\b|\bseeing\b", re.I), " partner "),
    (re.compile(r"\bam i into\b|\bi'm into\b|\bgone off\b", re.I), " like "),
    (re.compile(r"\b(?:can't|cannot|can not) (?:i |we )?stand\b|\bhates?\b|\bdetests?\b|\bloathes?\b", re.I),
     " dislike "),
    (re.compile(r"\bhow old\b|\bwhat(?:'s| is)? (?:my )?age\b"
                r"|\byears? old\b|\baged?\b|\bturn(?:s|ed|ing)? (?=\d{1,3}\b)"
                r"|\b(?:i'm|i am) (?=\d{1,3}\b(?! \w))", re.I), " years "),
)  # fmt: skip
IS_SOMETHING = re.compile(
    r"(?:The user is|You're|You are|I'm|I am) (?:now |officially )?an? "
    r"(?!(?:\w+ )?(?:fan|lover|vegan|vegetarian|person)\b)"
    r"[\w-]+(?: [\w-]+){0,2}\W*",
    re.I,
)  # the whole of a sentence: what someone is by profession, most likely
# Words that a sentence implies without containing them.
IMPLIED = (
    (re.compile(r"(?:\b(?:is|are|was|am|as)|['’](?:m|re|s)) an? (?:[\w-]+ ){0,2}?(?:\w{2,}(?:er|or|ist|eer|tect|smith)|"
                r"nurse|chef|vet|cook|\w{2,}(?:yst|ian|wife|keeper|maker)|(?:\w+ )?lead|head|"
                r"\w*(?:accountant|assistant|consultant|student|pilot|musician|physician|technician|man|"
                r"electrician|librarian|mechanic|judge|guide|clerk|woman))\b", re.I), "work"),
    (re.compile(r"\b(?:i'm|i am|you're) (?:now )?(?:[\w-]+ )?(?:(?:fore|post|fire|chair|sales|police)(?:wo)?man|nurse|"
                r"manager|teacher|director|head|chef|lead|clerk|assistant|supervisor|engineer|developer)\b(?! of my)",
                re.I), "work"),
    (re.compile(r"\b(?:owns?|runs?) (?:an?|my|their|the) (?:[\w-]+ )?(?:bakery|b&b|inn|hostel|nursery|shop|store|pub"
                r"|bar|restaurant|caf[eé]|farm|firm|business|company|salon|garage|hotel|guesthouse|studio|practice"
                r"|agency)\b",
                re.I), "work"),
    (re.compile(r"\b(?:iphone|pixel|galaxy|fairphone)\b", re.I), "phon"),
    (re.compile(r"\b(?:sons?|daughters?|girls?|boys?)\b", re.I), "kid"),
    (re.compile(r"\b(?:vegan|vegetarian|pescatarian|keto|halal|kosher)\b", re.I), "food"),
    (re.compile(r"\b(?:budgie|cockatiel|parrot|canary|parakeet|budgerigar)\b", re.I), "bird"),
    (re.compile(r"\b(?:labrador|beagle|poodle|collie|terrier|spaniel|dachshund|retriever|corgi|husky|pug|greyhound)\b",
                re.I), "dog"),
    (re.compile(r"(?:\b(?:is|isn't|are|am)|['’](?:m|re)) (?:not |now |back )*in [A-ZÀ-ÞĀ-Ž]"), "liv"),
)  # fmt: skip
NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,5}teen|\w{3,5}ty|dozen|hundred"
    r"|thousand)\b"
)
MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b"
)
NAMED = re.compile(
    r"^(?!The |User |My |I\b|We |Our |\w+day\b)([A-ZÀ-ÞĀ-Ž][a-z]+) (?:(?:and|has|never|also|still|just|already|now"
    r"|only) )*"
    r"(?:\w+s|\w{2,}ed|died|did|had|will|would|can|could|went|got|left|made|took|came|gave|said|told|met|broke|fell|won"
    r"|lost|bought|quit|became|ran|began|wrote|sent|found|kept|grew|drove|flew|does\w*|isn't|wasn't|hasn't|don't)\b"
)
# Question word → signs of a sentence that answers it.
KINDS = {
    "job|role|profession|for a living|breed|species": re.compile(r"\b(?:is|are|as|['’]re|['’]m|am) (?:now )?an? "),
    "how (?:many|old|much|tall|long|often|far)|(?:what|which) (?:time(?! zone)|year)": re.compile(NUMBER, re.I),
    "where": re.compile(
        rf"\b(?:live[sd]?|living|moved?(?! to \w+days?\b)|born|based|located|work(?:s|ed)? (?:at|in)|from|at|behind"
        rf"|under|near|in(?! (?:{MONTHS}))|on (?!\w+day\b|{MONTHS})[A-ZÀ-ÞĀ-Ž]\w+)\b"
    ),
    "when": re.compile(
        rf"\b\d{{1,4}}(?:st|nd|rd|th)?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun|yester|to|birth)(?:day)?\b|\b{MONTHS}"
    ),
    "who|names?|called|(?:which|what) (?:city|town|country|village)": re.compile(
        rf"(?<!^)\b(?!\w+day\b|{MONTHS} \d)[A-ZÀ-ÞĀ-Ž][a-zß-ÿ]+|\b(?:called|named) \w+|{NAMED.pattern}"
    ),
}  # fmt: skip
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
SENTENCE = re.compile(r"(?:\b(?:Dr|Mrs?|Ms|Prof|St)\.|[^.!?\n])+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*")
OWNED = re.compile(
    r"^(?:the )?(?:user['’]s|my|our) (?:(?:new|old|former|best|older|younger|little|big|first|second) )?(\w+)",
    re.IGNORECASE,
)
THEIR_THING = re.compile(r"['’]s? (?:[\w-]+ ){0,2}?([\w-]+) (?=(?:is|are|was|were|has|will)\b)")
CHANGED = re.compile(
    r"\b(?:now|nowadays|these days|from now on|from here on|instead|again|changed|switched|no longer|any ?more)\b", re.I
)
ENDS = re.compile(
    r"\b(?:quit|stopped|gave up|given up|no longer|any ?more|sold|left|broke up|split up|died|cancel\w*|moved"
    r"|put (?:to sleep|down)|(?:not|\w+n['’]t) [\w ]{2,40} after all)\b",
    re.I,
)
OVER = re.compile(r"\b(?:used to|formerly|previously|no longer|back then)\b", re.IGNORECASE)
WHO = re.compile(r"^\W*(?:and |so )?who(?:se)?\b", re.IGNORECASE)
WHO_DOES = re.compile(
    rf"{WHO.pattern} (?!(?:is|are|am|was|were|do|does|did|else)\b)\w|{WHO.pattern}(?:['’]s| is| was) \w+ing\b",
    re.IGNORECASE,
)
OF_ONESELF = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
AROUND_USER = re.compile(r"\b(?:in|at|on|from) (?:my|our)\b", re.IGNORECASE)  # “who in my flat can't have nuts?”
PRONOUN_SUBJECT = re.compile(r"^\W*(?:s?he|they|it|her|his|their|its)(?:['’]\w{1,3}|s|re)?\b", re.IGNORECASE)
OF_THEM = re.compile(r"\b(?:s?he|they)(?:['’]\w+)?\b", re.IGNORECASE)
OF_SOMEONE_UNNAMED = re.compile(
    r"^\W*(?:s?he|they)(?:['’]\w+)?\b(?! (?:says?|said|thinks?|reckons?|wants? me)\b)", re.IGNORECASE
)  # what someone says may be about the user: “he says no lifting over 10 kilos”
SEVERAL_ASKED = re.compile(
    r"^(?!\W*(?:when|where|how (?:many|much)|(?:on|at|in) )).*\b(?:are|were) (?:my|our) (?:\w+ )??"
    r"(?P<group>\w+s|children)\b"
    r"|\bnames of (?:my|our)\b",
    re.IGNORECASE,
)
RELATION_ASKED = re.compile(
    r"\b(?:my|our) (?:(?:little|lil|big|older|younger|elder|eldest|oldest|youngest|best|new|old|late|twin|baby) )*(\w+)"
)
RELATIONS = (
    r"wife|husband|partner|girlfriend|boyfriend|mother|mum|mom|father|dad|sister|brother|son|daughter|uncle|aunt|cousin"
    r"|gran(?:d?ma|d?pa|dmother|dfather)?|niece|nephew|friend|neighbou?r|boss|manager|colleague|flatmate|roommate"
    r"|landlord|landlady|dog|cat"
)
OF_SOMEONE = re.compile(rf"^(?:the )?(?:user['’]s|my|our) (?:[\w-]+ )??(?:{RELATIONS})\b", re.IGNORECASE)
OF_MY = re.compile(
    rf"^\W*(?:\w+ ){{0,3}}?(?:does|did|is|was|has|can|will) my (?:\w+ )?({RELATIONS})\b",
    re.IGNORECASE,
)  # asks for someone around the user
SAYS_I = re.compile(
    r"^(?:now,? )?(?:(?:The user|I|You)(?:['’](?:m|ve|re|d|ll|s))?|My|Your)"
    r" (?!(?:parents|family|kids|children|folks)\b)",
    re.IGNORECASE,
)
ASKS_NAME = re.compile(r"\bname of my\b|\bmy \w+['’]s name\b|\bmy \w+ (?:called|named)\b", re.I)
PAST = re.compile(
    r"\bdid (?:i|he|she|they|my|we)\b|\bwhat(?:['’]s| has)? (?:happened|become|became)\b|\bused to\b|\bbefore\b"
    r"|\bprevious|\bformer|\bwas\b|\bwere\b",
    re.I,
)
ROLE_AT = re.compile(r"(\b(?:job|role|occupation|profession|position)\b.*?) (?:at|for|with|in) [A-ZÀ-ÞĀ-Ž]\w+")
BEFORE = re.compile(
    r"\bbefore (?:(?:the |my |our )?(?:(?!s?he\b|they\b|it\b|I\b|we\b|you\b)[\w-]+ )?"
    r"|(?:i|I|we) (?:[\w-]+ ){1,4})([\w-]+)\W*$"
    r"|\bbefore ([A-ZÀ-ÞĀ-Ž]\w+)"
)
WH_QUESTION = re.compile(r"^\W*(?:\w+ )?(?:who|what|which|when|where|how|until when|in (?:what|which))\b", re.I)
BEFORE_NOW = re.compile(r"\bbefore (?:this(?: one)?|that(?: one)?|now)\W*$", re.IGNORECASE)  # only what is over answers
MAX_STEMMED = 4_000  # no sentence that states something is longer
ONE_VALUE = re.compile(
    r"\b(?:where|when|how old|name|birthday|for a living|job|age)\b|\bwho(?:'s| is) my\b|\bwhat (?:do|does) \S+ do\b|"
    r"^(?:do|does|am|is|are|have|has)\b(?!.* any)",
    re.IGNORECASE,
)
ONE_SUBJECT = re.compile(r"\b(?:do|am|did) i\b", re.IGNORECASE)
SUBJECT = re.compile(
    r"^(?:The user['’]s|My|Our|the user['’]s|my|our) (?P<relation>\w+)(?:,? (?P<name>[A-ZÀ-ÞĀ-Ž]\w+))?|"
    r"^(?P<kin>[Dd]ad|[Mm]um|[Mm]om)\b|^(?!The |User |My |I\b|We |Our )(?P<other>[A-ZÀ-ÞĀ-Ž][a-z]+)\b"
)
ASKS = re.compile(r"^\W*(?:what|who|where|when|which|why|how|does|do|is|are|can|could)\b", re.IGNORECASE)
UNMARKED = re.compile(
    r"^\W*(?:what|where|how|who)s\b"
    r"|^\W*(?:so |and |also |but |ok |now )?(?:what|what's|how|where|when|why|which|who|can|could|should)\b"
    r"(?:(?! (?:i|we|he|she|they|it|you)\b).){0,40}?(?: to [a-z]+"
    r"|(?:\b(?:do|does|did|is|are|can|could|should|would)\b|(?<=s)\b) (?:i|we|you|it|they|he|she|the|my|an?)\b)",
    re.IGNORECASE,
)  # a question without its mark: “what size pen do i need for one tortoise”
NO_STATEMENT = re.compile(
    r"^\W*(?:please\b|imagine\b|suppose\b|if\b|pretend\b|let's say\b|(?:can|could|would|will) you\b|forget\b|"
    r"(?:show|tell|remind) me\b|(?:add|put|take|start|keep|cross|tick|remove)\b.{1,80}\blist\b|"
    r"you\b(?!['’]| know\b)|(?:hi|hello|hey|thanks|thank you|bye|ok|okay"
    r"|good (?:morning|afternoon|evening|night))\b[^,]*$)",
    re.IGNORECASE,
)
# Someone else's words, or a story's; between “ and ”, a conversation's document has the user's own.
QUOTED = re.compile(r"\"(?:[^\"\s]+\s+){3,}[^\"]*\"")
CLAUSES = re.compile(
    r"(\b(?:am|is|are|was|were|have|has|had|lives?|works?|likes?|loves?|moved|keeps|follows|eats|drinks|drives"
    r"|plays|takes|runs|goes|does|makes|wants|needs|hates|speaks|comes)\b|'(?:m|ve|re)\b)(.{0,120}?),? "
    r"(?:and|but) (?=I\b(?! (?:are|were)\b)|my |we |our |the user\b)"
)  # after a whole clause, the next one answers for itself
BEFORE_QUESTION = re.compile(
    r"^(\s*(?:i|i'm|i've|my|we|we're|our|the|[A-ZÀ-ÞĀ-Ž]\w+)\b[^?]{6,}?)[,;:–-]+ (?:so |and |but )?"
    r"(?:what|where|which|who|how|when|why|can|could|should|any|is|are|do|does|will|would|got|ideas)\b[^?]*\?+\s*$",
    re.IGNORECASE,
)  # “My cousin Anna lives in Split, what can we do there?” tells something, too
ASKED_ABOUT = re.compile(r"\b(?:my|our) (\w+)|(?<!^)\b(?!I\b)([A-ZÀ-ÞĀ-Ž]\w+)")
DOUBLED = "bdgmnprt"  # consonants that an ending doubles
ENDINGS = ("ing", "ed", "es", "s", "ly")


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence that answers, and its memory."""

    sentence: str
    memory: Memory


def best_matches(question: str, memories: Sequence[Memory]) -> list[Match]:
    """The sentences that cover the question best, at most three of equal score; empty if none covers enough.

    `memories`: the most trusted first, which decides if a subject has one value (where it lives).
    """
    is_past = asks_past(question)
    earlier = [memory for memory in memories if not memory.is_current] if BEFORE_NOW.search(question) else []
    scored = _scored(question, earlier or [memory for memory in memories if memory.is_current or is_past])
    if ASKS_NAME.search(question):  # without a name there's no answer
        scored = [(score, match) for score, match in scored if has_answer_kind(question, match.sentence)]
    top = max((score for score, _ in scored), default=0.0)
    if top <= ENOUGH:
        return []
    best = [match for score, match in scored if math.isclose(score, top)]
    if not is_past:
        best = _newest_state(best)
    if is_past:
        best.sort(key=lambda match: match.memory.is_current)
    if SEVERAL_ASKED.search(question) and re.search(r"\b(?:names|called)\b", question, re.I):
        best.sort(key=lambda match: " called " not in match.sentence)
    is_single = bool(ONE_VALUE.search(question)) and not is_past and not SEVERAL_ASKED.search(question)
    most = 1 if is_single and ONE_SUBJECT.search(question) else MAX_SENTENCES
    return _distinct(best, is_single=is_single)[:most]


def _newest_state(matches: list[Match]) -> list[Match]:
    """Without what is older than a sentence that says how it is now."""
    since = max((match.memory.date for match in matches if CHANGED.search(match.sentence)), default="")
    return [
        match for match in matches if match.memory.date >= since or (not match.memory.date and not since)
    ] or matches


def asks_past(question: str) -> bool:
    """Whether a question asks how it was."""
    return PAST.search(question) is not None


def has_answer_kind(question: str, sentence: str) -> bool:
    """Whether a sentence has what the question asks for: a name that the question doesn't have, a number, a day."""
    kind = _answer_kind(question)
    named = set(re.findall(r"\b[A-ZÀ-ÞĀ-Ž]\w+", question))
    return (
        kind is None
        or kind.search(re.sub(r"\b[A-ZÀ-ÞĀ-Ž]\w+", lambda one: "" if one[0] in named else one[0], sentence)) is not None
    )


def best_of_kind(question: str, memories: Sequence[Memory]) -> Match | None:
    """The sentence that covers most of the question among those that have what it asks for."""
    past = asks_past(question)
    scored = _scored(question, [memory for memory in memories if memory.is_current or past])
    fitting = [
        (score, match) for score, match in scored if score > ENOUGH and has_answer_kind(question, match.sentence)
    ]
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


def is_wh_question(question: str) -> bool:
    """Whether a question asks what, who, when or where, and not only whether."""
    return WH_QUESTION.match(question) is not None


def says_more(question: str, sentence: str) -> bool:
    """Whether a sentence says anything beyond the words of a question that asks what, who or where."""
    return not is_wh_question(question) or bool(stems(sentence) - {"user"} - stems(question))


def newest_mention(question: str, memories: Sequence[Memory]) -> Match | None:
    """The newest sentence that tells of a change in something that the question names: whether it is *still* so."""
    scored = _scored(question, [memory for memory in memories if memory.is_current])
    near = [
        (match.memory.date, score, match)
        for score, match in scored
        if score > CLOSE and (ENDS.search(match.sentence) or CHANGED.search(match.sentence))
    ]
    return max(near, key=lambda one: one[:2])[2] if near else None


def _answer_kind(question: str) -> re.Pattern[str] | None:
    return next((kind for word, kind in KINDS.items() if re.search(rf"\b(?:{word})\b", question, re.IGNORECASE)), None)


def closest(question: str, memories: Sequence[Memory]) -> Match | None:
    """The sentence that covers some of the question and names everyone and everything it names."""
    about = whom_asked(question)
    scored = _scored(question, [memory for memory in memories if memory.is_current])
    near = [(score, match) for score, match in scored if score > CLOSE and about <= stems(match.sentence)]
    beyond = stems(question) - about
    near = [(score, match) for score, match in near if not beyond or beyond & stems(match.sentence)]
    return max(near, key=lambda one: one[0])[1] if near else None


def whom_asked(question: str) -> frozenset[str]:
    """The stems of whom and what a question names: “my wife”, “Agnieszka”."""
    return stems(" ".join(one or other for one, other in ASKED_ABOUT.findall(question)))


def _scored(question: str, memories: Sequence[Memory]) -> list[tuple[float, Match]]:
    """Each statement with its score; for "before Lyon", only those that don't name Lyon."""
    before = BEFORE.search(question)
    asked = stems(BEFORE_NOW.sub("", BEFORE.sub("", ROLE_AT.sub(r"\1", question))))
    asked -= {stem for stem in asked if stem.isdigit()} if asks_past(question) and len(asked) > 1 else set()
    found = [
        (Match(sentence, memory), context)
        for memory in memories
        for sentence, context in _newest_first(memory)
        if before is None or (before[1] or before[2]).lower() not in sentence.lower()
    ]
    matches = [match for match, _ in found]
    known = [stems(match.sentence) | (stems(context) & asked) for match, context in found]
    weights = {stem: _rarity(stem, known) for stem in asked}
    if not asked:
        return []
    needs_more, words = is_wh_question(question), stems(question)
    return [
        (_score(question, asked, weights, match.sentence, sentence_words), match)
        for match, sentence_words in zip(matches, known, strict=True)
        if not needs_more or sentence_words - {"user"} - words
    ]


def _newest_first(memory: Memory) -> list[tuple[str, str]]:
    """Its statements, each with what its “he” or “it” may be; those of a conversation's summary, which has them in the
    order said, from the last one on."""
    found, context = [], ""
    for item in SENTENCE.findall(memory.text):
        is_continued = bool(PRONOUN_SUBJECT.match(LEAD_IN.sub("", item.lstrip())))
        found += [(sentence, context if is_continued else "") for sentence in sentences(item)]
        context = f"{context[-CONTEXT_CHARS:]} {item}" if is_continued else item
    return found[::-1] if memory.title.startswith("/conversations") else found


def sentences(text: str) -> list[str]:
    """The statements of a text; questions, commands and greetings answer nothing."""
    items = (BEFORE_QUESTION.sub(r"\1", one) for one in SENTENCE.findall(QUOTED.sub(" ", text)))
    items = (one for one in items if not (ASKS.match(one) and "?" in one))
    whole = (part for item in items for part in CLAUSES.sub(r"\1\2\n", item).splitlines())
    found = (TRAIL.sub("", LEAD_IN.sub("", sentence.strip())) for sentence in whole)
    stated = (item for item in found if not (item.endswith("?") or NO_STATEMENT.match(item) or UNMARKED.match(item)))
    return [item for item in stated if " " in item]


def stems(text: str) -> frozenset[str]:
    """Stems of the meaningful words, of the first MAX_STEMMED characters."""
    text = text[:MAX_STEMMED]
    for phrase, word in REWRITES:
        text = phrase.sub(word, text)
    words = (word.lower().removesuffix("'s").removesuffix("’s") for word in WORD.findall(text))
    implied = [stem for pattern, stem in IMPLIED if pattern.search(text)]
    implied += ["work"] if IS_SOMETHING.fullmatch(text.strip()) else []
    return frozenset((*(_stem(word) for word in words if word not in STOPWORDS), *implied))


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if word[-2:-1] == word[-1:] and word[-1:] in DOUBLED:  # running → run
        word = word[:-1]
    stem = word.removesuffix("e")[:STEM_LENGTH]
    return SAME_STEM.get(stem, stem)


def _rarity(stem: str, known: list[frozenset[str]]) -> float:
    seen = sum(stem in sentence_words for sentence_words in known)
    return math.log(1 + len(known) / max(seen, 0.5))


def _score(
    question: str, asked: frozenset[str], weights: dict[str, float], sentence: str, sentence_words: frozenset[str]
) -> float:
    """The covered share of the question's weight, 0 to 1; the question word counts as half a stem."""
    total = sum(weights.values())
    covered = sum(weights[stem] for stem in asked & sentence_words)
    kind = _answer_kind(question)
    if kind is not None and covered:
        extra = KIND_WEIGHT * total / len(asked)
        total += extra
        covered += extra if kind.search(sentence) else 0.0
    share = covered / total * (1 if asks_past(question) or not OVER.search(without_denied(sentence)) else OF_THE_PAST)
    return share * OTHER_SUBJECT if is_about_another(question, sentence, asked, sentence_words) else share


def is_about_another(question: str, sentence: str, asked: frozenset[str], sentence_words: frozenset[str]) -> bool:
    """Whether the sentence is about someone else, such as the user's sister, and "Where do I live?" was asked."""
    owned = OWNED.match(sentence)
    asked_about = stems(" ".join(re.findall(r"(?<!^)\b(?!I\b)[A-ZÀ-ÞĀ-Ž]\w+", question)))
    is_of_someone = bool(asked_about) and not OF_ONESELF.search(question) and not WHO.match(question)
    if is_of_someone and not asked_about & sentence_words:
        return True
    if one_of := WHICH_OF.search(question):
        return owned is None and SAYS_I.match(sentence) is not None and not stems(one_of[1]) & sentence_words
    if _asks_of_anyone(question):
        return False
    theirs = rf"\b(?:my|our|user's|the) (?:[\w-]+ )??(?:{'|'.join(RELATION_ASKED.findall(question)) or '$'})\b(?! of\b)"
    if re.search(theirs, sentence, re.IGNORECASE):
        return False  # “Ingrid left, my boss is Tomas now” tells of the boss
    if any(_is_of_others(word, sentence) for word in RELATION_ASKED.findall(question)):
        return True
    of_my = OF_MY.match(question)
    if of_my and SAYS_I.match(sentence) and not stems(of_my[1]) & sentence_words:
        return True  # “Does my wife drink coffee?”, “What was my mother's job?”
    if owned is None:
        if OF_SOMEONE_UNNAMED.match(sentence):
            is_named = any(_stem(word) in sentence_words for word in RELATION_ASKED.findall(question.lower()))
            return bool(OF_ONESELF.search(question)) and not is_named
        named = NAMED.match(TAKES_BACK.sub("", sentence))
        is_of_other = named is not None and _stem(named[1].lower()) not in asked
        return is_of_other and bool(OF_ONESELF.search(question)) and not ASKS_NAME.search(question)
    owner = stems(owned[1])  # none of “the user's name”
    if not owner or owner & (asked - {"kid"} if asked & {"son", "daught"} else asked):  # a daughter is a child, no son
        return False
    names = stems(" ".join(re.findall(r"(?<!^)\b[A-ZÀ-ÞĀ-Ž]\w+", sentence)))
    is_named = bool(asked & sentence_words & names)
    called = sentence[owned.end() :].split(maxsplit=1)[:1]  # “my roommate callum”
    is_named |= _is_their_thing(question, sentence, owned.end())
    return not is_named and not any(re.search(rf"\b(?:is|does) {re.escape(name)}\b", question) for name in called)


def _is_their_thing(question: str, sentence: str, owner_ends: int) -> bool:
    """Whether a question that names no one asks for what someone has: “the recital” of “my pupils' recital”."""
    thing = None if OF_ONESELF.search(question) else THEIR_THING.match(sentence, owner_ends)
    return thing is not None and bool(stems(thing[1]) & stems(question))


def _asks_of_anyone(question: str) -> bool:
    """Whether a question asks for a name, or of “she”, whom no word of it names."""
    if OF_ONESELF.search(AROUND_USER.sub("", question)):
        return WHO_DOES.match(question) is not None
    is_of_unnamed = OF_THEM.search(question) and not re.search(r"(?<!^)\b[A-ZÀ-ÞĀ-Ž]\w", question)
    return bool(WHO.match(question) or is_of_unnamed)


def _is_of_others(noun: str, sentence: str) -> bool:
    """Whether a sentence has the noun as someone else's: “the dog of my neighbour”, “my sister's dog”."""
    theirs = rf"\b(?:[a-z-]+['’]s|[Hh]is|[Hh]er|[Tt]heir) {noun}\b|\b{noun} of (?:my|our|the user['’]s|the) \w"
    return re.search(theirs, sentence.replace("The user's", "My").replace("the user's", "my")) is not None


def _distinct(matches: list[Match], *, is_single: bool) -> list[Match]:
    """Each sentence once; if a subject has one value, the first sentence about each subject."""
    kept: dict[str, Match] = {}
    one_named = _only_names(matches)
    for match in matches:
        subject = _subject(match.sentence)
        kept.setdefault(one_named.get(subject, subject) if is_single else match.sentence.lower().rstrip("."), match)
    return list(kept.values())


def _only_names(matches: list[Match]) -> dict[str, str]:
    """Name → relation, of those who alone have it: “my sister” and “my sister Mary” are one, unless there's Ann."""
    found = [subject for match in matches if (subject := SUBJECT.match(match.sentence)) and subject["name"]]
    names: dict[str, set[str]] = {}
    for subject in found:
        names.setdefault(subject["relation"].lower(), set()).add(subject["name"].lower())
    return {name: relation for relation, those in names.items() if len(those) == 1 for name in those}


def _subject(sentence: str) -> str:
    """The name or relation that the sentence is about; the user is "user"."""
    found = SUBJECT.match(sentence)
    return (
        "user"
        if found is None
        else (found["name"] or found["other"] or found["kin"] or found["relation"] or "user").lower()
    )
