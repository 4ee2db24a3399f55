"""A message cut into clauses: what one claim could be, spelled out, with its place in the message.

Sentences are `sentencex`'s; a line break ends one too. A sentence is cut where a new subject and verb begin, and where
a second verb shares the first subject. What is supposed, asked or said by someone else is marked, not dropped.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.librarian.rules.words import (
    ADVERBS,
    AFFLICTED,
    DIETS,
    ING_NOUNS,
    IRREGULAR_PAST,
    NOT_PAST,
    OPENERS,
    SHORT_FORMS,
    THIRD,
)
from memory.text.dates import DAYS_AND_MONTHS, MAY_DO
from memory.text.language import alternatives, as_set, is_english
from memory.text.relations import GROUPS, PEOPLE, PET_GROUPS, PETS
from memory.text.user_text import Span, mask_foreign_text

MAX_MESSAGE: Final = 20_000
"""Characters that are read: five pages. What is behind is hardly the user's own."""
MAX_CLAUSE: Final = 300
"""Characters of a clause; a longer one is no sentence. Every pattern is anchored in one, so that none is slow."""
MAX_SENTENCE: Final = 1_200
MAX_LINE: Final = 4_000
"""Characters in which sentences are looked for at once."""
MAX_SUBJECT: Final = 80
"""Characters in which a clause's subject and verb are looked for."""

_REMEMBER: Final = (
    r"(?:please |(?:can|could|will|would) you (?:please )?)?(?:remember|note|keep in mind|don't forget)"
    r"(?: this)?(?: for me)?"
)
_FILLER: Final = (
    rf"(?:{_REMEMBER}(?: that)?|hi|hello|hey|hiya|good (?:morning|evening"
    r"|afternoon)|morning|ok|okay|so|well|btw|by the way|anyway|anyways|also|actually|honestly|tbh|fyi|for (?:context"
    r"|reference|what it's worth|the record)|oh|ah|um|u+gh+|argh+|omg|phew|yay|wow|damn|yeah|yes|yep"
    r"|no(?=[^\w ]| (?:I|we|he|she|they|it|you|my|our|his|her|their|the|this|that|not|no|sorry|wait|actually|in|at)\b)"
    r"|nope|nah|sorry|and|but"
    r"|plus|thanks|thank you|thx|cheers|ps|p\.s\.|(?:(?:side|small|quick|tiny|brief|big|little) )?(?:note|update|news)"
    r"|off topic|on an? (?:happ|bright|sadd|light|relat|differ|separat)\w* note|context|background|correction"
    r"|just so you know|just to say|(?:wait|hang on|hold on)(?=[,.!–—-]| (?:no|it's|that's|sorry)\b)"
    r"|please note|sure|right|now|then|however|you know|look|lol|haha|guess what|good news|bad news|turns out|it turns"
    r" out|turned out|as it happens|apparently|in fact|in short|heads up|the thing is|I meant|I mean|one thing|some"
    r" background|bit of background|to be fair|to be honest|in case it helps|if it helps|if it matters|since you asked"
    r"|given that|(?:because|since(?!.{1,120} (?:I|we|my|our|it)\b)|as|although|though|while|whereas)"
    r"(?= (?:I|we|my|our|he|she|it)\b)|unfortunately"
    r"|sadly|luckily|fortunately|finally|basically|obviously|clearly|just|first"
    r"|(?:first|second|third|last|next)(?:ly)?(?=:)|again|there|team|everyone|folks|sir|bro|bruh|dude"
    r"|(?:man|mate)(?=,? (?:I|my|we)\b)"
    r"|madam|dear \w{2,15}|(?:(?:I|we)(?:'ve| have)? )?changed (?:my|our) minds?|change of plans?|on second thoughts?)"
)
FILLERS: Final = re.compile(rf"(?i)(?:{_FILLER}(?![\w'-])[\s,:!.\-–—]{{0,3}}){{1,4}}(?=\w)")
_THINKS: Final = re.compile(
    r"(?i)(?:I (?:think|guess|believe|reckon|suppose|feel like)|maybe|perhaps|probably|possibly|I'm not sure but)"
    r"(?: that)?,? (?=\w)"
)
_SUPPOSES: Final = re.compile(
    r"(?i)\b(?:if|(?<!\bi )suppose|supposing|imagine|pretend|hypothetically|in theory|i wish|what if|let's say"
    r"|lets say|say (?:i|we|my|somebody|someone)|assume|assuming|unless|as if|as though|in another life"
    r"|were (?:i|we) to|had (?:i|we)|should (?:i|we) ever|someday maybe|would have)\b"
)
_HARMLESS_IF: Final = re.compile(
    r"(?i)\bif (?:it|that|this) (?:helps|matters|makes|explains)|\bif you (?:must|need to) know"
)
_MODAL: Final = re.compile(
    rf"(?i)^(?:(?:since|as|because|now that)(?! (?:I was|we were)\b) [\w' -]{{1,60}}? )?(?:I|we"
    rf"|my [\w' -]{{1,40}}?)(?:'d| would| could| might| {MAY_DO}| should)\b"
    r"(?! (?:love|like|rather|much rather|prefer)\b)"
)
_AUTHORITY: Final = re.compile(
    r"(?i)(?:my|our|the|his|her) (?:\w+ )?(?:doctor|gp|dentist|physio|therapist|consultant|specialist|nurse|vet"
    r"|allergist|surgeon|optician|dietitian|psychiatrist|midwife)"
    r" (?:says?|said|told me|thinks|confirmed|found(?: out)?|reckons)(?: that)? (?=(?:I|we|my|our)\b)"
)
"""Whose claims about the user are worth a question."""
_REPORTS: Final = re.compile(
    r"(?i)^(?!(?:i|we)\b|(?:[\w'.-]+ ){1,4}(?:i|we) (?:said|told|wrote|claimed)\b)(?:[\w'.-]+ ){1,5}?(?:says?|said"
    r"|claims?|claimed|insists?|reckons?|swears?|thinks?|told (?:me"
    r"|us)|tells (?:me|us|everyone|everybody)|has been telling|believes?|wrote)(?: \w+){0,2}?(?: that)?[ ,:]"
    r"|^according to\b|^if you believe\b|^(?:apparently|supposedly|allegedly),?\b"
)
_ASKS: Final = re.compile(
    r"(?i)(?:(?:and|but|so|or|then|now|ok|please|pls|also|any idea|hey|right)[, ]+){0,3}(?:what|whats|what's|where"
    r"|where's|who(?= (?:is|are|was|were|do|did|should|can|said|has))|who's|whose|when(?= (?:is|are|was|do|does|did"
    r"|should|can|will))|why|how|how's|which|is|are|am|was|were|do|does|did|can(?!')|can't (?:you|we|i|it|they)|could"
    r"|should|would|will|have you|has|isn't|aren't|don't you|shall|any|anyone|anybody|ideas|thoughts|tips|got any)\b"
)
_ORDER: Final = (
    r"(?:give|help|tell|explain|write|draft|make|show|find|suggest|recommend|list|plan|rewrite|translate|proofread"
    r"|summari[sz]e|create|build|fix|check|compare|calculate|convert|describe|rank|review|shorten|reword|redo|rephrase"
    r"|remind|add|put|use|keep|scrap|skip|ditch|drop|ignore)"
)
_ORDERS: Final = re.compile(
    rf"(?i)(?:(?:and|but|so|then|now|ok|please|pls|just)[, ]+){{0,3}}(?:please|pls|{_ORDER}|let's"
    r"|need (?:a|some|an|help|to know)|looking for (?:a|an|some|ideas|tips|help))\b"
)
_SO_DO_NOT: Final = re.compile(r"(?i)\bso\s{1,3}(?=(?:please )?(?:don't|do not|never)\b)")
"""Before an order, as no one else is named: “I'm vegan, so don't add cheese”."""
_SUBJECT: Final = (
    r"(?:I|we|my|our|he|she|his|her|their|it|it's|there's|there|you|you're|this|that|that's|I'm|I've|I'd|I'll|we're"
    r"|we've|we'll|we'd|he's|she's|they|they're|they've|im|ive|weve|hes|shes|theyre|what|what'?s|how|how'?s|any|please"
    r"|which|where|where'?s|who|why|help|give|tell"
    r"|(?:is|do|does|should|would|will|are|can|could) (?:I|we|you|it|that|this|there|the|my|our|he|she|they|any"
    r"|u))(?!\w)"
)
_ELIDED_AGAIN: Final = (
    r"(?:been|born|married|divorced|single|retired|working|living|studying|allergic|used to|was an?|moved|originally"
    r"|currently|trying|learning|now (?:head|a|an|in|at|living|working)|got|have|had|love|hate|vegan|vegetarian"
    r"|diabetic|freelance)(?![\w-])"
)
_CUT: Final = re.compile(
    r"(?i)\s{0,3}(?:\.{2,}|…|→|;|:(?=\s)|\s[-–—]{1,3}\s|—)\s{0,3}"
    rf"|\s{{0,3}},\s{{0,3}}(?:(?:and|but|so|or|plus|then)\s{{1,3}})?(?={_SUBJECT})|(?<!ever)\s{{1,3}}(?:and|n|but|so|or"
    rf"|plus|because|cause|since|as|although|though|while|whereas|yet)\s{{1,3}}(?={_SUBJECT})"
    r"|(?<! in)(?<! of)\s{0,3},?\s{1,3}(?:because|but|although|though|whereas|hence|therefore|unless|which"
    r"|whose)\s{1,3}(?=\w)|\s{0,3},\s{0,3}(?:so|until|then|plus)\s{1,3}(?=\w)|\s{1,3}so\s{1,3}(?=(?:\w+ ){1,3}(?:is"
    r"|are|can|needs?|has|have|must|will)\b)"
    rf"|\s{{0,3}},\s{{1,3}}(?=(?:last|this|next|every|each|one) \w{{3,9}},? {_SUBJECT})"
    rf"|\s{{0,3}},\s{{0,3}}(?={_ELIDED_AGAIN}|{_ORDER} (?:me|us|an?|the|some|this|it|my|what|how|something)\b)"
    r"|\s{0,3},\s{0,3}(?=(?:who (?!is my|are my)|not\b|no\b|without\b))|\s{0,3},\s{0,3}(?:where|when|while"
    rf"|since(?!\s{{1,3}}(?:{DAYS_AND_MONTHS}|last|this|the|\d))|and)\s{{1,3}}(?=\w)"
    r"|\s{1,3}(?=if\s)|\s{1,3}\((?=\D)"
)
_FINITE: Final = "|".join(sorted(verb for verb in THIRD if verb.endswith("s") or verb in {"can", "will", "won't"}))
_CUT_BEHIND_A_VERB: Final = re.compile(
    r"(?i)(?:,|\s{1,3}(?:and|but))\s{1,3}(?=(?:the |both |[\w-]+ )?[\w-]+ (?:is|are|was|were|has|have|does|keeps|isn't"
    rf"|aren't)\b|(?:(?:the|an?|this|every|some|most|no|everyone) (?:[\w-]+ ){{0,3}}?|(?-i:[A-ZÀ-ÞĀ-Ž])[\w'-]+ )"
    rf"(?:{_FINITE})\b)"
    r"|\s{1,3}so\s{1,3}(?=(?:gimme|give|any|what|how|please|can|don't|need|no|which|where|is|do)\b)"
    r"|,\s{1,3}(?=[^,?]{1,60}\?$)|(?<!\d)\)\s{1,3}"
)
"""Where a clause ends, if it has a verb: “I study law | and torts is hard”, “I'm vegan | , dinner for two?”."""
_JOINS: Final = re.compile(
    r"(?i)(?:\s{0,3},\s{0,3}(?:(?:and|but|then)\s{1,3})?|\s{1,3}(?:and|but|then)\s{1,3})(?=[a-z'])"
)
"""Where a clause ends, if what follows is a second verb of its subject: “I live in Porto | and work as a nurse”."""
_ASIDE: Final = re.compile(r"(?<=\w )\((?![A-ZÀ-ÞĀ-Ž][\w'-]+\)|\d)([^()]{6,80})\)(?= [a-z])")
"""What a sentence goes on behind: “My thesis (history, part-time) is due in June”."""
_OF_HIM: Final = re.compile(r"(?i)(?:s?he|they)\b")
_RELATIVE: Final = re.compile(r"(?i)which|whose")
"""What follows tells of what stands before it, not of the subject."""
_SPACES: Final = re.compile(r"\s+")
_HASTY_END: Final = re.compile(
    r"(?<=[\w)%\"'])(?:[!?]+|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bProf)\.{1,}(?=\s+[a-z])|(?:…|\.{2,})(?=\s+(?:No|Wait|Sorry|Oops)\b)"
    r"|,(?=\s(?i:no,? wait|wait,? no|(?:(?:no|sorry|wait),? )?I mean),?\s(?-i:[A-ZÀ-ÞĀ-Ž])[a-z]))(?=\s)"
    r"|(?<=   )\.(?=\s)"
)
"""Also behind a quotation, which is blanked out."""
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•·]|\d{1,2}[.)])[ \t]+")
_WORD: Final = re.compile(r"[^\s,;:!?()]+")
MAX_SO: Final = 5
"""Characters of “so” and its spaces."""
_TRAIL: Final = re.compile(
    r"(?i)(?:[\s,;:!\-–—(./]|(?<!\w)(?:lol|haha|hehe|btw|by the way|tho|though|too|as well|anyway|pls|please|thanks"
    r"|thx|ta"
    r"|ok|okay|right|and|but|so|or|fyi|honestly|actually|tbh|i guess|i think|obviously|of course|you know|just so you"
    r" know|unfortunately|sadly|apparently|:\)|:\(|yay|ugh|sorry|i know|cheers"
    r"|omg|lmao|ha|xx?)(?!\w)|[\U0001F000-\U0001FFFF\u2600-\u27BF\uFE0F\u200d])+$"
)
_DICTATES: Final = re.compile(rf"(?i)^\W*{_REMEMBER}(?: that)?:? (?=I\b|i\b|my\b|we\b|our\b)")
_CORRECTS: Final = re.compile(
    r"(?i)^\W*(?:actually|correction|sorry|no(?! (?:longer|more)\b)|nope|oops|wait|i meant|i misspoke|update)\b"
)
_DROPPED_S: Final = re.compile(
    r"(?i)(?<!with )(?<!from )(?<!for )(?<!of )(?<!to )(?<!by )"
    rf"\b((?:my|our) (?:\w+ )?(?!(?:grand)?parents\b)(?:{'|'.join(sorted(PEOPLE | PETS))}))s(?= (?:allergic|got"
    rf"|called|name\b|a |an "
    rf"|in |on "
    r"|from|been|\d))"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a message: one claim, or part of a question."""

    text: str
    """Its words with short forms spelled out and a shared subject repeated; no final punctuation."""
    start: int
    end: int
    """Its place in the message."""
    hypothetical: bool = False
    reported: bool = False
    by_authority: bool = False
    """A doctor's claim, say: reported, and still worth a question."""
    dictated: bool = False
    """“Remember that …”: the user asks for it to be kept."""
    hedged: bool = False
    asked: bool = False
    """A question or a request."""
    correction: bool = False
    first: bool = True
    """Begins its sentence, so that its subject may be left out."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a message, in its own words and place."""

    text: str
    start: int
    asked: bool

    @property
    def end(self) -> int:
        """Where it ends in the message."""
        return self.start + len(self.text)


def own_words(text: str, echoes: Sequence[Span] = ()) -> str:
    """The part that is read, in the user's own words, plainly spelled; as long as what is read."""
    read = text[:MAX_MESSAGE]
    return plainly_spelled(mask_foreign_text(read, [span for span in echoes if span[1] <= len(read)]))


def plainly_spelled(text: str) -> str:
    """The text with straight quotes, hyphens in “mother-in-law” and “my” for “me lad”, as long as before."""
    return _ME.sub(r"\1my ", _IN_LAW.sub(r"\1-in-law", text.replace("’", "'")))


_ME: Final = re.compile(
    r"(?im)((?:^|[.,;:!?(] |\b(?:and|but|so|also|with|of|for|at|by|from|in|on|when|because|cos|that|is|was|if|as|to"
    r"|miss|love) ))me (?=(?:(?:owd|old|wee|big|little|best|own|new|poor) )?"
    rf"(?:{alternatives(PEOPLE)})\b(?!\W{{0,3}}$|[,.!?]))"
)
"""“Me lad”, as it is said where they say so; “for me, mate” speaks to someone."""
_IN_LAW: Final = re.compile(r"(?i)\b((?:mother|father|sister|brother|daughter|son|parent)s?) in law\b")


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of `text`, from `own_words`; without empty ones and those that are too long to be one."""
    at = 0
    for line in text.splitlines(keepends=True):
        for part in _segments(line):
            begin = text.find(part, at)
            if begin >= 0:
                yield from _cut_hasty(part, begin)
                at = begin + len(part)


def _segments(line: str) -> Iterator[str]:
    """What `sentencex` finds in a line, in parts if that is long: for open quotes its time grows with the square."""
    import sentencex  # imported late: only workers read by rules

    while line.strip():
        cut = len(line) if len(line) <= MAX_LINE else line.rfind(". ", 0, MAX_LINE) + 2
        cut = cut if cut > 1 else MAX_LINE
        yield from sentencex.segment("en", line[:cut])
        line = line[cut:]


def _cut_hasty(part: str, begin: int) -> Iterator[Sentence]:
    """Cut also where the next sentence begins small: “ok? i live in Porto”."""
    ends = [found.end() for found in _HASTY_END.finditer(part)] + [len(part)]
    at = 0
    for end in ends:
        text = part[at:end]
        bullet = _BULLET.match(text)
        lead = bullet.end() if bullet else len(text) - len(text.lstrip())
        if any(map(str.isalnum, text)) and len(text) <= MAX_SENTENCE:
            yield Sentence(text[lead:].rstrip(), begin + at + lead, text.rstrip(" \"')")[-1:] == "?")
        at = end


def clauses(text: str, echoes: Sequence[Span] = ()) -> Iterator[Clause]:
    """The clauses of the user's own words in `text`, in order; of English sentences only."""
    for sentence in sentences(own_words(text, echoes)):
        if is_english(sentence.text):
            yield from clauses_of(sentence)


def clauses_of(sentence: Sentence) -> Iterator[Clause]:
    """The clauses of one sentence, and of what it says in brackets."""
    text = _ASIDE.sub(lambda found: " " * len(found[0]), sentence.text)
    for aside in _ASIDE.finditer(sentence.text):
        if _OF_HIM.match(aside[1]):  # of the one named before it
            continue
        yield from clauses_of(Sentence(aside[1], sentence.start + aside.start(1), False))
    supposed = _SUPPOSES.search(text) if not _HARMLESS_IF.search(text) else None
    reported, dictated = False, _DICTATES.match(text) is not None
    corrects, asked_before = _CORRECTS.match(text) is not None, False
    spans, subject = list(_spans(text)), None
    for number, (start, end, joined) in enumerate(spans):
        words, lead = _strip_fillers(text[start:end])
        if not words or end - start > MAX_CLAUSE:
            continue
        asked = not joined and (_ASKS.match(words) or _ORDERS.match(words)) is not None
        asked = asked or (
            sentence.asked and not dictated and number == len(spans) - 1 and (len(spans) == 1 or asked_before)
        )
        asked = asked or _SO_DO_NOT.search(text, max(0, start - MAX_SO), end) is not None
        asked_before = asked
        thinks = _THINKS.match(words)
        plain = spell_out(words[thinks.end() :] if thinks else words)
        plain = plain.rstrip("?") if dictated else plain
        said = _AUTHORITY.match(plain)
        reported = reported or _REPORTS.match(plain) is not None
        plain = plain[said.end() :] if said else plain
        clause = Clause(
            plain if asked or not number else _resumed(plain, subject) or plain,
            sentence.start + start + lead,
            sentence.start + end,
            hypothetical=(supposed is not None and (supposed.start() < end or supposed.start() == 0))
            or _MODAL.match(plain) is not None,
            reported=reported,
            dictated=dictated,
            by_authority=said is not None,
            hedged=thinks is not None,
            asked=asked,
            correction=corrects,
            first=number == 0 or (re.match(_ELIDED_AGAIN, plain) is not None and _is_user(subject, text[:start])),
        )
        subject = (None if asked else _SUBJECT_OF.match(clause.text)) or subject
        yield clause


def _is_user(subject: re.Match[str] | None, before: str) -> bool:
    """Whether what goes on without a subject may be of the user: not behind “new client, Mrs Hall, 91, …”."""
    return _SOMEONE.search(before) is None if subject is None else subject["who"].lower() in ("i", "we")


_SOMEONE: Final = re.compile(rf"(?i)\b(?:mrs?|ms|dr)\.? (?-i:[A-ZÀ-ÞĀ-Ž])|\b(?:{alternatives(PEOPLE)})\b")


_NAME_ONLY: Final = re.compile(r"\W{0,3}(?:(?:and|but|so) )?[A-ZÀ-ÞĀ-Ž][\w'-]+(?: [A-ZÀ-ÞĀ-Ž][\w'-]+)?")
_THEIR_RELATION: Final = re.compile(r"(?i)(?:my|our) [\w -]{2,30}(?:,|$)")
_GROUP: Final = re.compile(rf"(?i)\W{{0,3}}(?:my|our) (?:[\w-]+ ){{0,2}}(?:{alternatives(GROUPS | PET_GROUPS)}),")
"""Whose verb is still to come: “our two girls, Ida and Zoe, love swimming”."""
_BETWEEN: Final = re.compile(r"(?i)\bbetween [\w' -]{1,40}\Z")
_PARTNER_ONLY: Final = re.compile(
    r"(?i)\W{0,3}(?:(?:hi|hey|so|and|but|well),? )?(?:(?:me and )?(?:my|our) (?:\w+"
    rf" )?(?:{'|'.join(sorted(PEOPLE))})(?: \w+)?|me)"
)


def _spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where the clauses begin and end, and whether one goes on with the subject before it."""
    at, joined, subject, relative = 0, False, None, None
    cuts = [(cut, kind) for kind in (_CUT, _CUT_BEHIND_A_VERB, _JOINS) for cut in kind.finditer(text)]
    for cut, kind in sorted(cuts, key=lambda one: one[0].start()):
        subject = _subject_of(_strip_fillers(text[at : at + MAX_SUBJECT])[0]) or subject
        is_named = _NAME_ONLY.fullmatch(text, at, cut.start()) and _THEIR_RELATION.match(text, cut.end())
        is_pair = cut[0].strip().lower() == "and" and (
            _PARTNER_ONLY.fullmatch(text, at, cut.start()) or _BETWEEN.search(text, at, cut.start())
        )
        needs_verb = kind is _CUT_BEHIND_A_VERB or (cut[0].strip() == "," and _GROUP.match(text, at))
        has_verb = not needs_verb or _VERB.search(text, at, cut.start()) or _has_past(text[at : cut.start()])
        resumes = kind is not _JOINS or _resumed(spell_out(text[cut.end() : cut.end() + MAX_SUBJECT]), subject)
        if is_named or is_pair or not has_verb or not resumes or cut.start() < at:
            continue  # “Mary, | my sister, lives …”, “My wife Ana | and I live …”
        if cut.start() > at and not relative:
            yield at, cut.start(), joined
        at, joined, relative = cut.end(), kind is _JOINS and cut[0].strip() != ",", _RELATIVE.search(cut[0])
    if at < len(text) and not relative:
        yield at, len(text), joined


def _strip_fillers(text: str) -> tuple[str, int]:
    """The words without what opens them (“ok so …”), and how many characters that is."""
    lead = len(text) - len(text.lstrip(" \t\"'(,-–—*•"))
    while (found := FILLERS.match(text, lead)) and found.end() > lead:
        lead = found.end()
    return text[lead:].rstrip(), lead


_SUBJECT_OF: Final = re.compile(
    rf"(?i)(?P<who>I|we|he|she|(?:my|our) (?:[\w.-]+ ){{0,3}}?[\w.-]+?(?='s |'re | (?:{'|'.join(sorted(THIRD))}"
    rf"|\w{{3,12}}ed)"
    r"\b))(?P<be>'m|'re|'s| am| are| is)?(?=['\s])"
)
_VERB: Final = re.compile(rf"(?i)\b(?:{'|'.join(sorted(OPENERS | THIRD))})\b|\b(?:I|we|he|she|they)'\w")
_SHARED_VERBS: Final = as_set("am is was have has had don't can't doesn't never got haven't didn't won't couldn't")
_SHARED_STATES: Final = as_set(
    "allergic from originally married single based a an vegan vegetarian living working retired"
)


def _subject_of(words: str) -> re.Match[str] | None:
    return None if _ASKS.match(words) else _SUBJECT_OF.match(spell_out(words))


_DOING: Final = re.compile(r" (?:\w+ly )?\w+ing\b")


def _resumed(words: str, subject: re.Match[str] | None) -> str:
    """The words with the subject of the clause before, if they go on with its second verb; else empty."""
    first = words.lower().split(" ")[:3]
    verb = next((word for word in first if word not in ADVERBS), "")
    if subject is None or first[0] in ("both", "all") or first[1:2] in (["is"], ["are"], ["was"]):
        return ""
    if _continues(verb, subject["who"]):
        return f"{subject['who']} {words}"
    be = {"i": "am", "we": "are"}.get(subject["who"].lower(), "is")
    if first[0] in ("a", "an") and (be == "are" or _DOING.match(subject.string, subject.end())):
        return ""  # “we're going, two adults and a toddler”, “I'm saving for a motorbike, a Ducati”
    return f"{subject['who']} {be} {words}" if subject["be"] and first[0] in _SHARED_STATES else ""


def _continues(verb: str, who: str) -> bool:
    if who.lower() in ("i", "we"):
        return verb in OPENERS or verb in _SHARED_VERBS - {"is", "has", "doesn't"} or is_past(verb)
    is_verb = (verb.endswith("s") and verb[:-1] in OPENERS) or verb in {"is", "has", "was", "doesn't"}
    return is_verb or (is_past(verb) and verb != "been")


def _has_past(words: str) -> bool:
    return any(map(is_past, words.lower().split()))


def is_past(word: str) -> bool:
    """Whether a verb is in the past by its form."""
    return word in IRREGULAR_PAST or (word.endswith("ed") and len(word) > 3 and word not in NOT_PAST)


_ASIDES: Final = re.compile(
    r"(?i),? (?:by the way|btw)(?=,| (?:and|but|so)\b)|,? (?:as|like) i (?:said|told you|mentioned|wrote)"
    r"(?: (?:before|earlier|already|last \w+|the other \w+|at the (?:start|beginning)))?$"
    r"|, (?:so |really |a bit )?(?:\w{2,9}ous|excited|scared|worried"
    r"|stressed|thrilled|gutted|chuffed|delighted|relieved|happy|sad|proud|finally|yay)$"
)
"""What interrupts a sentence or follows it without being part of what it says: “an interview on Monday, nervous”."""
_ARE: Final = re.compile(r"(?i)\b(we|they|you) r\b")
_ILL: Final = re.compile(r"(?i)^ill(?= (?!health|at|with|since|for|again|or|and|in)[a-z])")
"""Elsewhere it is an illness."""


_BE: Final = re.compile(
    r"^((?:(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){1,3})?[A-ZÀ-ÞĀ-Ž][\w-]+)'s (?=(?P<has>(?:just |already )?(?:got|been|had|lost"
    r"|moved"
    r"|become|gone|started|stopped|joined|left|quit|passed|finished|changed|decided|bought|sold|taken|begun)\b)"
    rf"|(?:in|at|on|back|now|not|an?|the|still|from|also|just|{alternatives(AFFLICTED | DIETS)}"
    r"|allergic|married|engaged|divorced|retired|pregnant|ill|sick|away|coming"
    rf"|(?!(?:{alternatives(ING_NOUNS)})\b|\w+ing (?:is|was|has)\b)\w+ing)\b)"
)
"""“Steve's coming home” and “Sheila's diabetic”, unlike “Steve's flat”."""


_AND: Final = re.compile(r"&(?= [a-z\d])")
"""Not of a name: “Voss & Sohn”."""


def spell_out(words: str) -> str:
    """The words on one line with short forms spelled out and no final punctuation."""
    line = _ARE.sub(r"\1 are", _ILL.sub("I'll", _SPACES.sub(" ", words).strip()))
    line = _AND.sub("and", line)
    line = _BE.sub(lambda found: f"{found[1]} {'has' if found['has'] else 'is'} ", line)
    line = _WORD.sub(lambda found: SHORT_FORMS.get(found[0], SHORT_FORMS.get(found[0].lower(), found[0])), line)
    return _TRAIL.sub("", _ASIDES.sub("", _TRAIL.sub("", _DROPPED_S.sub(r"\1's", line))))
