"""Splits a message into clauses and marks those that are not plain claims.

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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.librarian.rules.elided import begins_without_subject, in_full
from memory.librarian.rules.language import is_english
from memory.librarian.rules.people import ADJECTIVES, ANIMALS, CIRCLE, FEMALE, MALE, PEOPLE, alternatives, may_mean
from memory.librarian.rules.scenes import MADE_UP, OF_WORDS, SAMPLE, STORY_TELLING, without_material
from memory.librarian.rules.spelling import mended
from memory.text.user_text import Span, mask_foreign_text

MAX_MESSAGE = 20_000
"""Characters read of one message; who writes more pastes a document."""
MAX_CLAUSE = 300
"""A longer clause is no plain statement and is left out. Bounds the work of every pattern."""
MAX_SENTENCE = 1_500
"""A longer sentence is a list or a paste, and is left out."""
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
    r"(?:you (?:don't mind|must know|need|like|want to know)|(?:that|it)(?:'s| is) easier|i (?:could|had the "
    r"(?:time|money))|it were up to me|it (?:helps|matters|is relevant)|that (?:helps|matters)|i"
    r" remember"
    r"|i recall|i'm (?:honest|not mistaken)|i am honest|you(?:'re| are) (?:curious|wondering|interested)|needed"
    r"|relevant)"
)
_SUPPOSED = re.compile(
    rf"\b(?:(?:if|unless|in case)(?! {_POLITE}\b)|suppos(?:e|ing)|imagin(?:e|ing)|assum(?:e|ing)|pretend|what if|i wish"
    r"|as (?:if|though)|at this rate|let's (?:say|pretend|imagine|assume)|hypothetically|would have|i dreamed"
    r"|i dreamt)\b",
    re.I,
)
_PLAYING = re.compile(
    r"^(?:please |ok(?:ay)?,? |so,? |now,? |hey,? ){0,2}(?:imagine|pretend|suppose|let's (?:pretend|imagine|play"
    r"|role-?play)"
    r"|role-?play|act as|play the|(?:let's )?say (?:i|we|you|my)\b|assume (?:i|we|you|my|that)\b|picture (?:me"
    r"|this)\b)",
    re.I,
)
"""Begins a game: the rest of the message is supposed too."""
_CLAIMED = re.compile(
    r"(?<!\bi )(?<!\bshould have )(?<!\bcould have )\b(?:says?|said(?! (?:a word|nothing|hello|hi|goodbye"
    r"|thanks)\b)|writes|wrote|told (?:me|us|everyone)|tells (?:me|us)|thinks|believes|claims? "
    r"(?:that|i|my|to|we)\b|claimed"
    r"|insists|reckons|you(?: still| all| also| always)? (?:think|thought|seem to think|assumed?|remembered|figured)"
    r"|calls? me (?:an?|lazy|too|the)\b|called me (?:an?|lazy|too|the)\b|keeps? (?:saying|telling"
    r"|calling)|accus(?:es|ed)|suggests? (?:that )?i|swears(?! (?:in|at|by|like|a lot)\b)|guess(?:es|ed)|predicted"
    r"|labell?ed me|described me|voted me|horoscope|quiz (?:says|said|told|called|thinks)|tarot|star sign|has me "
    r"(?:down )?as|had"
    r" me (?:down )?as|lists me|listed me"
    r"|mistook me|marked me|everyone thinks|assumes|assumed i|(?<!of )(?<!enough )thought i|convinced (?:that )?i"
    r"|joked?|according to|i(?:'ve)? (?:heard|read)(?: somewhere)?(?: that| my)|rumou?r|apparently|supposedly"
    r"|allegedly)\b",
    re.I,
)
_DOUBT = re.compile(
    r"\b(?:i think|i guess|i believe|i suppose|i'm not sure|maybe|perhaps|probably|possibly|might be|may be)\b", re.I
)
DENIED_WITHIN: Final = 60
"""Characters before a claim in which a denial of it stands."""
_DENIED = re.compile(
    r"(?:\b(?:i|we) (?:(?:really|still|just|honestly|also) ){0,2}(?:don't|dont|do not|didn't|never|wouldn't|hardly)"
    r" (?:[\w'-]+ ){0,2}?(?:think|thought|believe|say|said|claim|reckon|suppose|imagine)"
    r"|\b(?:i|we) (?:can't|cannot|couldn't) (?:really )?(?:say|claim|think)"
    r"|\b(?:not|isn't|aren't) (?:[\w'-]+ ){0,2}?(?:sure|true|convinced|saying|claiming))(?: that)?,?\s*$",
    re.I,
)
"""“I don't think | I'm lactose intolerant”: what follows is what is not so, or not known."""
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
    r"^(?:(?:please|ok|okay|now|hey|hi|can you|could you)[, ]+){0,3}(?:write|(?:reply|respond"
    r"|react|answer) to|answer this|draft|compose|create|generate|translate"
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
    rf"^(?!had (?:my|our) (?:[\w'-]+ ){{1,3}}?(?:out|removed|taken|done|replaced|fixed)\b)(?:(?:so|and|but|ok"
    rf"|okay|hey|hi|hello|also|well|please|now)[, ]+){{0,3}}(?:{_AUXILIARY} {_ASKED}\b"
    rf"|{_WH}(?:'s|'re)? (?:{_AUXILIARY}|to|about|many|much|long|old|often)\b|{_WH} (?:[\w'-]+ ){{1,4}}(?:is|are"
    rf"|do|does|did|can|could|would|will|should) (?:i|we|you|it|they|one)\b|{_WH}'?s\b|guess {_WH}\b)",
    re.I,
)
"""Begins like a question, with or without its mark."""
_RELATIVE = (
    r"(?:who|whose|which) (?:\w+ )?(?:is|are|was|were|has|had|have|can|can't|will|starts|started|lives|works|plays"
    r"|studies|loves|hates|speaks|turns|turned|runs)\b"
    r" (?!the\b|an?\b|my\b|your\b|i\b|you\b|we\b|it\b|that\b|this\b|good\b|best\b|right\b|correct\b|more\b|less\b"
    r"|\w+er\b)"
)
"""“A lady, who is blind” goes on with a statement; “Bahn or bus, which is better” does not."""
_QUESTION_TAIL = re.compile(
    rf"(?:,|;| -| –| —|(?<=\w)(?= (?:so|and|but) ))\s{{1,9}}(?:and |but |so |anyway,? |now ){{0,3}}(?!{_RELATIVE})"
    r"(?!(?:was|am|have|had) an? )"
    rf"(?={_WH} (?:{_AUXILIARY}|to|about|kind|sort|many|much|(?:\w+ ){{1,4}}(?:{_AUXILIARY})"
    rf"|\w+(?: \w+){{0,4}}$|(?:other|else|opening|films?)\b)\b|{_WH}(?:'s|s) "
    rf"|(?:at|in|for|from|by|on|to|with|of) {_WH}\b|{_AUXILIARY} {_ASKED}\b|(?:is|are|does|do|did|can|could"
    rf"|should|would|will) (?!not\b"
    rf"|never\b|married\b|be\b|always\b)\w+(?: \w+){{0,8}}$"
    r"|is that\b|who do\b|any (?:\w+ ){0,3}(?:tips?|ideas?|suggestions?|advice|recommendations?|thoughts?)\b)",
    re.I,
)
"""Where a question hangs on to a statement: “I'm allergic to nuts, what can I cook?”"""

_SUBJECT = (
    r"(?:(?:also|now|then|currently|still|really|actually) )?"
    r"(?:i'm|i've|i'd|i'll|im|ive|i|my|we're|we've|we'll|we|our|she's|she|he's|he|they're|they|his name|her name"
    r"|(?:none|both|most|one|neither|all|half) of us|(?:everyone|everybody|people|friends|they all) calls? me"
    r"|it's the one)\b(?!/)"
)
_ORDERED = (
    r"(?:give|make|draft|write|help|show|recommend|suggest|plan|build|find|explain|tell|convert|rec|list|redo|swap"
    r"|break (?:it|this|that|down)|put|keep (?:it|the|this)|address|replace|talk me|remind|turn|send|rewrite|check|pick"
    r"|sort|create|generate|compare|summari[sz]e|outline|proofread|review|walk me|quiz|mock interview|add|include|look"
    r"|train us|teach me|rename|reorder|number|label|rank|merge|entertain|congratulate|excuse|feel free"
    r"|use (?:that|it|this|the)|update|format|calculate|fix|design|prepare|name me|lose the"
    r"|do (?:not|it|an? (?!evening|night|\w+ (?:class|course|lesson|degree|job))|me)|describe|translate"
    r"|calm me|cheer me|roast|rate|advise|set up)"
)
_WISHED = (
    r"(?:need(?:ing)?(?: an?| some| the| to (?:know|find|write|make|estimate|plan)| help|"
    r" ideas?)?|any|looking for (?:an?|some"
    r"|ideas|tips|advice)|ideas?|tips|suggestions?|advice|thoughts|help|(?:i )?(?:just )?(?:want"
    r"|need|would like) (?:you|a|an"
    r"|some|help|ideas|tips|to know|the)|(?:weekly|daily|monthly|cutting|cleaning|study|shopping|packing) (?:plan|list)"
    r"|checklist|shopping list|how about|best|easiest|easy|good|cheap|quick|pros and cons"
    r"|questions|alternatives|similar)\b"
)
_CALLED_ON = r"(?:please |pls |plz |just |maybe |kindly |then |now |anyway,? |quick(?:ly)?[:,] ){0,3}"
_REQUEST = re.compile(
    rf"{_CALLED_ON}(?:(?:can|could|would|will) (?:you|u)\b|{_ORDERED}\b(?! (?:been|was|is|are)\b)"
    rf"|(?:i )?need (?:an?|some|ideas?|help|to (?:know"
    r"|find))\b|(?:i'm |i am |im )?looking for (?:an? (?!job|flat|house|new|partner)|some|ideas"
    r"|tips|advice)|question (?:about|on)\b)",
    re.I,
)
"""Asks for something in so many words."""
_REQUEST_TAIL = re.compile(
    rf"(?:,|;| [-–—]|(?<=\w)(?= (?:so|and|but) ))\s{{1,9}}(?:and |but |so |then |now |also "
    rf"|anyway,? ){{0,3}}{_CALLED_ON}"
    rf"(?:(?:can|could|would|will) (?:you|u)\b|{_ORDERED}\b(?! (?:by|with)\b)|{_WISHED})",
    re.I,
)
_REPHRASED = re.compile(r"(?:translate|rephrase|rewrite|proofread|paraphrase)\b", re.I)
_RESTART = re.compile(
    rf"(?:,|\s[-–—]|;)\s{{1,9}}(?:and |but |so |since |because |as )?(?:(?={_SUBJECT})(?!i (?:want"
    rf"|need|mean|think|guess)\b)|(?=(?:just |recently |only )?(?:moved|been|got|bought|lost|broke|had|turned"
    rf"|joined|passed|started)"
    r" (?!to (?:know|see)|by\b|it\b|that\b|away\b)\w))",
    re.I,
)
"""Where a statement follows."""

# Cutting ---------------------------------------------------------------------------------------------------------

_SENTENCE_END = re.compile(
    r"[.!?…]{1,8}(?=[\s\"'”’)\]]|$)|\n+|[;:](?=\s)|(?:[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?){1,8}(?=\s|$)"
)
"""An emoji ends a sentence, where a full stop might stand."""
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|e\.g|i\.e|approx|ca)|(?:^|[\s.])[a-z])$", re.I)

_LEADS_ON = (
    "that", "if", "when", "whenever", "what", "how", "where", "why", "like", "who", "know", "think", "say", "says",
    "said", "sure", "than", "as", "whether", "fact", "ensure", "confirm", "check", "feel", "hope", "guess", "now",
    "claim", "mean", "while", "until", "till", "thing", "time", "ones", "all", "day", "and", "but", "so", "or",
    "nor", "because", "since", "though", "although", "before", "after", "once", "unless", "me", "believe", "wish",
    "for", "swear", "worried", "afraid", "glad", "happy", "sorry", "proud", "not", "only", "everything", "anything",
    "everyone", "first", "last", "plus",
)  # fmt: skip
_ALONE = r"(?<=\w) " + "".join(rf"(?<!\b{word} )" for word in _LEADS_ON)
_HASTY = (
    r"my (?:bf|gf|wife|husband|partner|son|daughter|kids|mum|mom|dad)(?:'s| is| has| are| hates| loves| can't| doesn't)"
)
"""“What can I cook tonight im vegan”: in haste, nothing stands between a question and what it rests on."""
_RUN_ON = re.compile(rf"{_ALONE}(?=(?:im|i'm|i am|ive|i've|we're|we've|{_HASTY})\b)", re.I)

_BOUNDARY = re.compile(
    r"(?:"
    rf"(?<!\bme)(?:,|\s[-–—])?\s{{1,9}}(?:and|but|so|plus|because|since(?! (?:i|we|he|she) (?:was|were|moved|met"
    rf"|got|had|left|started|lost|turned)\b)|although|though|while|whereas|as|which is"
    rf" why|cause|'cause|coz|cuz|bc|seeing as|given that|now that)\s{{1,9}}(?={_SUBJECT})"
    # not before the apposition in “Mary, my sister, …”
    rf"|(?:,|\s[-–—])\s{{1,9}}(?={_SUBJECT})(?!(?:my|our) (?:(?!(?:is|was|has|are|were|lives"
    rf"|works)\b)[\w'-]+ ?){{1,4}},)"
    rf"|{_ALONE}(?=(?:im|ive|{_HASTY})\b)"
    r"|,\s{1,9}(?=the [\w-]+ (?:is|are|was|comes?|starts?|leaves?|hasn't|has|won't|will)\b|(?:the"
    r" )?\w+ (?:says|said)\b)"
    rf"|,\s{{1,9}}(?=(?:kids|children|twins|wife|husband|mum|mom|dad|bf|gf|gran) (?:is|are|has|have|hates?|loves?"
    rf"|can't|was|turns?)\b)"
    rf"|\s\((?={_SUBJECT}|[^()\n]{{3,40}} here\b)|(?<=\bhere)[^\w()\n]{{0,3}}\)\s{{1,9}}"
    rf"|(?:says?|said|told (?:me|us)|thinks|believes|claims|claimed|insists|reckons|heard|think|guess|believe)"
    rf"(?: that)?,?\s{{1,9}}(?={_SUBJECT})"
    r")",
    re.I,
)
_CARRIED_VERB = re.compile(
    r"(?:,? and|,? but) (?=(?:(?:also|now|currently|never|don't|can't|really) )?(?:run|own|manage"
    r"|teach|volunteer|coach|live|lives|work|works|loves|likes"
    r"|hates"
    r"|can't (?!seem|find|figure|get|decide|work|think|see|tell|remember|wait|help)(?=[a-z]+ (?!it\b|this\b|that\b))"
    r"|are (?:now )?in (?-i:[A-Z])\w+|am (?:now )?in (?-i:[A-Z])\w+|(?<=but )hate|(?<=but )love"
    r"|(?<=but )dislike|enjoy|enjoys|prefer|prefers|speak|speaks|drive an?"
    r"|rent an?|keep an?|play (?:the|an?)|sing in|commute|cycle to|grow"
    r"|studies|have|has|moved|am|is|eat|can't stand)\b)"
    r"|, (?=(?:live|work (?:as|at|for))\b)",  # not “lives”: “My sister, Mary, lives …”
    re.I,
)
_CARRIED_TASTE = re.compile(
    r"(?:,? and|,? but) (?=(?:also |really )?(?:love|hate|like)\b)|, (?=(?:also |really )?(?:love|hate)\b)", re.I
)
"""Behind a state only (“I'm 34 and love jazz”): behind another verb, love may be a noun (“energy and love”)."""
_CARRIED_STATE = re.compile(
    r"(?:,? and|,? but|,)\s(?=(?:also )?(?:allergic|intolerant|vegetarian|vegan|from|based|originally|an?|married"
    r"|single"
    r"|engaged|divorced|lactose|gluten|diabetic|\d+ years)\b)",
    re.I,
)
_OPEN_VERB = re.compile(
    r"\b(?:not|never|i'll|we'll|would|could|can|might|may|will|should|let's|don't|didn't|(?:wants?|wish|hope"
    r"|hoping|plan"
    r"|planning|try|trying|likes?"
    r"|loves?|hates?|prefers?|need|going|used|decided|how|able|started|learn|learning|able|happy|dream) to)\b",
    re.I,
)
"""After one of these a bare verb belongs to it: “I want to live and work in Rome” says nothing of now."""
_STATE_OF_I = re.compile(r"^(?:i'm|i am|im) (?!\w+ing\b)", re.I)
_STATE_OF_PERSON = re.compile(r"^(?:she|he|(?:my|our) [\w' -]{1,60}?)(?: is|'s) (?!\w+ing\b)", re.I)

_PERSON_WORDS = rf"(?:(?:{alternatives(ADJECTIVES)})[ -])?(?P<relation>{alternatives((*PEOPLE, *ANIMALS))})"
_BARE_KIN = (
    rf"(?:best )?(?:{alternatives((*FEMALE, *MALE))}|friend|partner|flatmate|roommate|housemate|boss)"
    r" (?:is|was|has|had|since|who|just|and|wants|got|from|lives|works|turns|turned)"
)
"""“Best friend since school is …” at the beginning of a message: the user's."""
_NAME = r"[A-Z](?:[\w-]|'(?=[A-Z]))*(?: [A-Z](?:[\w-]|'(?=[A-Z]))*)?"
_PERSON = re.compile(
    rf"(?:(?<!not )(?<!n't )\b(?i:my|our) |(?<![\w'-])(?=(?i:grandad|granddad|grandma|mum|dad|mom|gf|bf|nan)\b)"
    rf"|\b(?i:an?|the) (?=(?:[\w-]+ ){{0,2}}(?i:{alternatives(ANIMALS)})\b)"
    rf"|\b(?i:an?) (?=(?:[\w-]+ ){{0,2}}(?i:{alternatives(CIRCLE)})\b)|(?:^|(?<=[.!?\n] ))(?=(?i:{_BARE_KIN})\b))"
    rf"(?P<who>(?:(?!(?i:my|our|both|and|the|an?|is|was|with|for|of|in)\b)[\w-]+"
    rf" ){{0,2}}?(?i:{_PERSON_WORDS}))(?![\w-])(?i:'s name is|,? who is called|,? (?:is"
    rf" )?(?:called"
    rf"|named)|,)?"
    rf"(?: (?P<name>{_NAME})(?![\w']))?"
)
_APPOSITION = re.compile(rf"^({_NAME}), ((?i:(?:my|our) {_PERSON_WORDS.replace('(?P<relation>', '(?:')})),? (?=\w)")
"""“Mary, my sister, lives …” is read as “my sister Mary lives …”."""
_PERSON_SUBJECT = re.compile(rf"^(?i:(?:my|our) {_PERSON_WORDS})(?![\w'-])(?: {_NAME}(?![\w']))?")
_PRONOUN = re.compile(
    r"^(?:(?P<pronoun>she|he|they)(?P<rest>'s |'re |s (?=an?\b|\w+ing\b|\d|called\b|named\b|just\b|really\b|in\b)| )"
    r"|(?P<whose>her|his|their) (?=name|birthday|favou?rite|job)\b)",
    re.I,
)

_SUBJECT_OF = {"she": "she", "he": "he", "they": "they", "her": "she", "his": "he", "their": "they"}

_LEAD_IN = re.compile(
    r"(?:(?:good (?:morning|afternoon|evening|day)|greetings|dear (?:sir|madam|all|assistant|ai)|sir|hola|bonjour|g'day"
    r"|turned out(?: that)?|so basically|ok so|just fyi|side note|quick one|quick question|long story short|confession"
    r"|the thing is(?: that)?|thing is|problem is(?: that)?|the problem is(?: that)?|truth is|the truth is|my problem"
    r"|asking (?:as|because|since)|i ask (?:as|because|since)|i'm asking (?:as|because|since)|reason being"
    r"|given(?: that)?|seeing (?:as|that)|considering(?: that)?|now that|cause|coz|cuz|bc|'cause|mind you|as you know"
    r"|as i mentioned|as mentioned|bear in mind(?: that)?|be aware(?: that)?|be warned|for info|just to say"
    r"|one more thing|i (?:should|ought to|might|could) have (?:said|mentioned|added|told you)(?: (?:before"
    r"|earlier))?(?: that)?"
    r"|i(?:'ve| have)? (?:already )?told you(?: already| before| that)*(?= (?:i|i'm|i've|my|we|we're|our)\b)"
    r"|i (?:forgot|meant) to (?:say|mention|add|tell you)(?: that)?"
    r"|(?:scrap|forget|ignore|disregard) what i (?:said|told you|wrote)(?: (?:earlier"
    r"|before))?(?: about [\w' -]{2,30})?,"
    r"|well|oh|ok|okay|hi|hey|hello|hi there|hiya|yes|yeah|yep|sure|thanks|thank you|so|and|but|also|plus|now"
    r"|then|btw|by the way|fyi"
    r"|anyway|just so you know|for context|for the record|for your information|for reference|as i said|like i said|in"
    r" fact|actually|sorry|no(?=[,.!:]| (?:i|i'm|im|i've|my|we|it|that|no|she|he|they)\b)|nope"
    r"|correction|update|i mean(?:t)?|please note(?: that)?|note(?: that)?|remember(?: that)?|please remember(?:"
    r" that)?|don't forget(?: that)?"
    r"|keep in mind(?: that)?|you should know(?: that)?|i should (?:mention|add|say)(?: that)?|let me tell you(?:"
    r" that)?|did you know(?: that)?"
    r"|because(?! of\b)|since(?![^,.;]{0,60}? (?:i|we|i've|i'm|we've|we're|my|our)\b)|as(?! an? | someone | the only | "
    r"one of | the \w+est )|while|although|though|however"
    r"|besides|also note(?: that)?|i think(?: that)?|i guess|i"
    r" believe(?: that)?|maybe|perhaps"
    r"|probably|apparently|supposedly|you know what|honestly|personally|basically|luckily|unfortunately|sadly"
    r"|(?:first|second)(?=[,:])|finally"
    r"|recall|that|[-*•]|\d{1,2}[.)]"
    r"|ugh|honestly|hey so|so|right|lol|haha|tbh|turns out(?: that)?|it turns out(?: that)?|btw"
    r"|hmm+|ah|yay|omg|wow|er|um|alright|great|perfect"
    r"|cool|nice|ok thanks|and"
    r"|i said|like|you see|look|listen|guess what|good news|bad news|fun fact|quick update|change"
    r" of plans?|scratch that"
    r"|anyways|obviously|ironically|finally|in the meantime|my situation|context|some context|background|points"
    r"|if you don't mind|if it helps|if that helps|in case it helps|if i remember (?:correctly"
    r"|right))(?![\w'])[\s,:!.–—-]*)",
    re.I,
)
MAX_LEAD_INS = 6

_TRAILERS = (
    "right now", "now", "at the moment", "these days", "nowadays", "currently", "too", "as well", "also", "though",
    "by the way", "btw", "please", "you know", "lol", "haha", "actually", "again", "already", "anymore", "any more",
    "any longer", "for now", "of course", "obviously", "thanks", "thank you", "fyi", "if that helps", "if it helps",
    "if that matters", "or so", "then", "if you must know", "just so you know", "to be honest", "tbh", "if "
    "you're curious", "after all",
)  # fmt: skip
_SINCE_THEN = re.compile(r"\b(?:around|by|since|until|till|about|before|every now and) then$", re.I)
_END_MARKS = re.compile(r"[^\w%+#)]+$|(?<=\w)\)$")

_NUMBER_FOLLOWS = re.compile(r"\bno\. ?[A-Z]?\d", re.I)


def read_by_rules(message: str, echoes: Sequence[Span] = ()) -> tuple[str, int]:
    """The writer's own words, each where it stands in the message, and where a made-up world begins or they end."""
    text = without_material(_flat(message, echoes))
    for start, end, mark in sentences(text):
        if MADE_UP.search(text, start, end):
            return text, start
        if mark == ":" and _asks_for_work(text[start:end]):
            asked = _QUESTION.match(text[start:end][_lead_in(text[start:end]) :]) is not None
            stop = text.find("?", end) if asked else -1
            stop = len(text) if stop < 0 else stop
            text = text[:end] + re.sub(r"[^\n]", " ", text[end:stop]) + text[stop:]
            return text, len(text)
    return text, len(text)


def _asks_about_words(led: str) -> bool:
    """Whether a question is about what its colon leads to."""
    return _QUESTION.match(led) is not None and OF_WORDS.search(led) is not None


_A_TEXT = re.compile(r"\b(?:this|these|it|following|below|letter|e?mails?|messages?|texts?|article|list|notes)\b", re.I)
_ON_A_TEXT = re.compile(
    rf"{_CALLED_ON}(?:(?:can|could|would|will) (?:you|u) )?{_CALLED_ON}(?:translate|put|rewrite|rephrase|fix"
    rf"|correct|proofread|edit"
    r"|convert|summari[sz]e|shorten|polish|paraphrase|continue|explain|check|parse|format|sort|list|extract"
    r"|describe|calculate"
    r"|name|solve|analy[sz]e|review|debug|read|spell|carry on|go on|keep going|pick up|act|pretend|play"
    r"|answer|reply|respond|use|follow)\b",
    re.I,
)
"""What follows the colon is to be worked on. Behind “I need a meal plan:” stand facts."""


def _asks_for_work(sentence: str) -> bool:
    """Whether what follows the colon of this sentence is a text to work on, or a sample."""
    led = sentence[_lead_in(sentence) :]
    of_a_text = _REQUEST.match(led) and _A_TEXT.search(led)
    asked = _MAKING_UP.match(led) or _asks_about_words(led) or SAMPLE.search(led) or _ON_A_TEXT.match(led) or of_a_text
    return asked is not None


def clauses(message: str, echoes: Sequence[Span] = ()) -> Iterator[Clause]:
    """The claims of one message, in their order; nothing of sentences that are not English."""
    return clauses_of(read_by_rules(message, echoes)[0])


def clauses_of(text: str) -> Iterator[Clause]:
    """The same of a text that `read_by_rules` returned."""
    playing, corrected, claimed, person = False, False, False, _Person.nobody()
    for start, end, mark in sentences(text):
        sentence = text[start:end]
        playing = playing or bool(_PLAYING.match(sentence.strip())) or MADE_UP.search(sentence) is not None
        if is_english(sentence):
            for begin, stop in _statements(sentence, mark):
                person = _person_in(text, start, start + begin) or person
                for clause in _claims(text, start + begin, start + stop, person, playing):
                    yield replace(
                        clause, correction=clause.correction or corrected, reported=clause.reported or claimed
                    )
                    person = _person_in(text, clause.start, clause.end) or person
            person = _person_in(text, start, end) or person
        claimed = mark == ":" and _CLAIMED.search(sentence) is not None  # “the sign says: …”
        corrected = _WRONG.match(sentence.strip()) is not None


_PLAIN = str.maketrans("’\u00a0\t\r", "'   ")


def _flat(message: str, echoes: Sequence[Span]) -> str:
    """The writer's own words with one kind of apostrophe and space; every position as in the message."""
    own = mask_foreign_text(message, echoes)[:MAX_MESSAGE]
    return own.replace("’", "'").replace("\u00a0", " ").replace("\t", " ").replace("\r", " ")


_PLAN = re.compile(
    r"(?:^|\b(?:my|our|the|new|current) (?:\w+ )?)(?:plan|goal|aim|target|resolution)(?: for (?:this|next|the) \w+)?"
    r"(?: is)?(?: now)?$",
    re.I,
)


def sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, end mark) of each sentence."""
    start = 0
    for found in _SENTENCE_END.finditer(text):
        if found[0] == ":" and _PLAN.search(text[max(start, found.start() - 20) : found.start()]):
            continue
        if found[0] == "." and _ABBREVIATION.search(text[max(start, found.start() - 8) : found.start()]):
            continue
        if found[0] == "." and _NUMBER_FOLLOWS.match(text, max(start, found.start() - 2)):
            continue
        if text[start : found.start()].strip():
            yield start, found.start(), found[0]
        start = found.end()
    if text[start:].strip():
        yield start, len(text), ""


def _statements(sentence: str, mark: str) -> list[tuple[int, int]]:
    """From where to where a sentence states something: without the questions and requests that hang on to it.

    Behind a question or request it may go on with a statement: “plan a trip for us two, she's a vegetarian”.
    """
    if len(sentence) > MAX_SENTENCE:
        return []
    lead = _lead_in(sentence)
    led = sentence[lead:]
    if _REPHRASED.match(led) or STORY_TELLING.match(led):
        return []
    if _MAKING_UP.match(led) or _QUESTION.match(led) or _REQUEST.match(led):
        asks = "?" in mark and not _REQUEST.match(led)
        return _reasons(sentence, lead) if asks else _restarted(sentence, lead)
    tail = _tail(sentence, lead)
    if "?" in mark and (tail is None or lead >= tail.start()):
        return _before_last_comma(sentence, lead)
    if tail is None:
        return [(0, len(sentence))]
    rest = _reasons(sentence, tail.end()) if "?" in mark else _restarted(sentence, tail.end())
    return [(0, tail.start()), *rest]


_FIRM = re.compile(
    r"(?:i'm|i am|im|i've|i have|we're|we have|i|we|my|our)(?: |$)(?!not\b|i\b|supposed\b|allowed\b)", re.I
)
_GOES_ON = re.compile(r", (?:and|but|so)\b", re.I)
"""What was said before such a part stands by itself, however long the part is."""
MAX_FRAGMENT = 5
_CONFIRM = re.compile(
    r"(?:right|ok|okay|correct|no|yes|yeah|true|isn't it|aren't i|is it|am i|don't i|huh|eh)\s*$", re.I
)


def _before_last_comma(sentence: str, lead: int) -> list[tuple[int, int]]:
    """“I'm a vegan, the others are not, lunch for eight?”: all but the last part, where it begins as a plain claim."""
    comma = sentence.rfind(", ")
    few = len(sentence[comma + 1 :].split()) <= MAX_FRAGMENT or _GOES_ON.match(sentence, comma) is not None
    firm = (
        _FIRM.match(sentence, lead) or _LEADING_DATE.match(sentence[lead:]) or begins_without_subject(sentence[lead:])
    )
    asked = comma < lead or not few or not firm or _CONFIRM.search(sentence)
    return [] if asked else [(0, comma)]


_ASKED_AT_ONCE = re.compile(
    r"(?<=\w)(?<!\bknow)(?<!\bsure)(?<!\bme)(?<!\bso)(?<!\bnor)(?<!\bneither)(?<!\bas)(?<!\bthat)(?<!\band)(?<!\bor) "
    rf"(?=(?:{_WH} )?(?:am|can|should|could|do|is|are|will|would|does) (?:i|we|you|it)\b|{_WH} (?:can|do|should"
    rf"|could) )",
    re.I,
)
"""“As a vegan what can I eat”: a verb before its subject asks, with a comma before it or without."""


def _tail(sentence: str, start: int) -> re.Match[str] | None:
    found = (pattern.search(sentence, start + 1) for pattern in (_QUESTION_TAIL, _REQUEST_TAIL, _ASKED_AT_ONCE))
    asked = (tail for tail in found if tail is not None and not _APPOSED.search(sentence[: tail.start()]))
    return min(asked, key=lambda tail: tail.start(), default=None)


_APPOSED = re.compile(r"(?:^|[.!?] |\b)(?i:my|our|the) [\w' -]{2,30}, (?:[A-Z][\w.-]* ?){1,3}$")
"""“Our cleaner, Mrs Hill, is retiring” asks nothing."""


def _restarted(sentence: str, start: int) -> list[tuple[int, int]]:
    """The statement behind a question or request, or that it takes for granted, if there is one."""
    begins = (pattern.search(sentence, start) for pattern in (_RESTART, _PRESUPPOSED, _RUN_ON))
    found = min(filter(None, begins), key=lambda begin: begin.start(), default=None)
    if found is None:
        return []
    tail = _tail(sentence, found.end())
    return [(found.end(), tail.start() if tail else len(sentence))]


def _reasons(sentence: str, start: int) -> list[tuple[int, int]]:
    """What a question gives as its reason: “Can I sell the car now that I work from home?”."""
    found = _REASON.search(sentence, start)
    return [] if found is None or _tail(sentence, found.end()) else [(found.end(), len(sentence))]


_REASON = re.compile(
    r"(?<=\w),? (?:because|since|now that|given that|seeing as|even though|although|bc|cuz|cos) "
    r"(?=(?:i|i'm|im|i've|ive|we|we're|we've|my|our)\b(?! (?:can|could|should|would|will|need|want|might|may)\b))",
    re.I,
)
_PRESUPPOSED = re.compile(
    r"(?<=\w) (?:because|since|now that|when(?:ever)?|every time|each time|after|before|until|while|as|where|given that"
    r"|even though|although|though|if it helps,?|bc|cuz|cause|cos) "
    r"(?=(?:i|i'm|im|i've|ive|we|we're|we've|my|our)\b(?! (?:can|could|should|would|will|need|want|use|do|have to|might"
    r"|may|try|click|run|open|add|call|get|start|go to|write|type|don't)\b))",
    re.I,
)
"""“What gloves do I need when I cycle to work?” asks for gloves, and says that the user cycles to work."""


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
    for begin, stop, subject, subject_at in _short_enough(text, _pieces(text, start, end)):
        raw = text[begin:stop]
        if _GAP.search(raw):
            continue  # a quotation stood in its middle: what is left says something else
        lead = _lead_in(raw)
        if _CLAIM_FOLLOWS.match(text, stop) or _DENIED.search(
            text[max(start, begin + lead - DENIED_WITHIN) : begin + lead]
        ):
            continue
        words, length = _without_trailers(raw[lead:])
        if not words or _NOT_THAT.match(words) or (_SAID_BEFORE.match(raw.strip()) and _BUT.match(text, stop)):
            continue
        words = words if subject else _spelt_out(in_full(mended(words)))
        words = _NAME_IS.sub("name is ", words)
        if mine := _MINE.match(words):
            words, quote_at = _with_its_noun(words, mine, text, begin + lead)
        words, quote_at = _with_person(_APPOSITION.sub(r"\2 \1 ", f"{subject}{words}"), person, subject_at)
        if claimed is not None and (cut := _before_claim(raw, start + claimed.start() - begin)):
            words, claimed = _without_trailers(raw[lead:cut])[0], None
            words, quote_at = _with_person(_spelt_out(in_full(mended(words))), person, subject_at)
        reported = claimed is not None and start + claimed.start() < stop
        if reported and begin - start <= MAX_BACK:
            quote_at = start + _lead_in(sentence)  # with the words that say whose claim it is
        yield Clause(
            words,
            quote_at,
            begin + lead + length,
            hypothetical=playing or _is_supposed(sentence, supposed, begin + lead - start, stop - start),
            reported=reported,
            hedged=_DOUBT.search(_before_and_in(text, start, begin, stop)) is not None,
            correction=_CORRECTING.search(raw.strip()) is not None or bool(_CORRECTING.match(sentence.strip())),
        )
        person = _person_in(text, begin, stop) or person


_NOT_THAT = re.compile(r"(?:it(?:'s| is) (?:just )?not|it isn't|not) that\b", re.I)
"""“It's not that I hate jazz”: what follows is not so."""
_SAID_BEFORE = re.compile(
    r"(?:sorry,? )?i (?:said|told you|wrote|mentioned) (?:earlier|before|last time|yesterday)\b", re.I
)
_BUT = re.compile(r",? (?:and |but )", re.I)
"""“I said earlier it's on Tuesday, but …”: it no longer is."""
_NAME_IS = re.compile(r"\bname's (?=[A-Z])")
_MINE = re.compile(r"(?:mine|ours)(?:'s| is| was| are| has)? ", re.I)
_A_THING = re.compile(
    r"\ban? (?P<what>(?:[\w'-]+ ){0,2}?[\w'-]+)(?= (?:worth|good|from|in|on|at|to|of|i|is|are|was|you|taken|cost"
    r"|do|does"
    r"|need|if|when|that|who|for"
    r"|with|take|last|like|be|count|and|or|as|by|work|go|get)\b|\s?[?,.!;:)]|$)",
    re.I,
)
"""“How long does a colonoscopy take? Mine is …”"""


def _with_its_noun(words: str, mine: re.Match[str], text: str, at: int) -> tuple[str, int]:
    """“Mine is on Friday” with what is meant, quoted from where that was named."""
    near = max(0, at - MAX_BACK)
    named = list(_A_THING.finditer(text, near, at))
    if not named or named[-1]["what"].lower() in {"lot", "bit", "few", "good", "way"}:
        return words, at
    verb = "is" if "'s" in mine[0] else mine[0].strip().partition(" ")[2]
    return f"my {named[-1]['what']} {verb} {words[mine.end() :]}".replace("  ", " "), named[-1].start()


def _before_claim(raw: str, claim: int) -> int:
    """Where a clause ends that stands before somebody's claim; 0: there is none. “Call me Bo, only my nan says …”."""
    comma = max(raw.rfind(mark, 0, max(claim, 0)) for mark in (", ", " and "))
    return comma if comma >= MIN_CLAIM and 0 < claim < len(raw) else 0


def _short_enough(text: str, pieces: Iterable[tuple[int, int, str, int]]) -> Iterator[tuple[int, int, str, int]]:
    """The pieces; one that is too long to be a claim is read from comma to comma."""
    for begin, stop, subject, subject_at in pieces:
        if stop - begin <= MAX_CLAUSE:
            yield begin, stop, subject, subject_at
            continue
        first = begin
        for comma in [*(found.start() for found in re.finditer(", ", text[begin:stop])), stop - begin]:
            if begin + comma - first <= MAX_CLAUSE:
                yield first, begin + comma, "", first
            first = begin + comma + 1


def _is_supposed(sentence: str, supposed: re.Match[str] | None, begin: int, stop: int) -> bool:
    """Whether a clause rests on an “if” before it, or is no more than what would be."""
    if supposed is None or supposed.start() >= stop:
        return False
    conditional = supposed[0].lower() in {"if", "unless", "in case"}
    if conditional and supposed.start() > begin + MIN_CLAIM:
        return _WOULD.search(sentence, begin, supposed.start()) is not None  # told with its condition
    late = supposed.start() > _lead_in(sentence) + MIN_CLAIM
    breaks_off = re.search(r"(?:,|\s[-–—]|\()\s?$", sentence[:begin]) is not None
    firm = _FIRM.match(sentence, begin) is not None
    return not (conditional and late and breaks_off and firm and not _WOULD.search(sentence[:begin]))


MIN_CLAIM = 8
"""Characters; so much must stand before an “if” for a claim to be made before it."""
_WOULD = re.compile(r"\b(?:would|wouldn't|could|might|should|[a-z]+'d|were|wonder\w*|had)\b", re.I)
_GAP = re.compile(r"\w {4,}[\w'(]")
_CLAIM_FOLLOWS = re.compile(
    rf"(?:says?|said|told (?:me|us)|thinks|believes|claims|claimed|insists|reckons|think|guess)(?:"
    rf" that)?,?\s{{1,9}}(?={_SUBJECT})",
    re.I,
)
"""“My granny used to | say that I …”: what stands before is no statement of its own."""
_LEADING_DATE = re.compile(
    r"^(?P<date>(?:on |in |since |by |from )?(?:(?:next|last|this|the|a|an|one|two|three|four"
    r"|five|six|\d{1,2}) )?(?:\w+ )?"
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|month|year|days|weeks"
    r"|months|years|january|february|march"
    r"|april|may|june|july|august|september|october|november|december|today|tomorrow|yesterday"
    r"|summer|winter|autumn|spring"
    r"|christmas|easter|(?:19|20)\d\d)(?: (?:from (?:today|now|tomorrow)|ago|week|time|(?:19"
    r"|20)\d\d|morning|evening|night))?),?"
    r" (?P<rest>(?:i|i'm|im|i've|we|we're|we've|my|our)\b.+)$",
    re.I,
)
"""“Two days ago I adopted …” is read as “I adopted … two days ago”."""


_SHORT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(short, re.I), long)
    for short, long in (
        (r"^(?:gf|girlfriend) (?=\w)", "my girlfriend "),
        (r"^(?:bf|boyfriend) (?=\w)", "my boyfriend "),
        (r"^my gf\b", "my girlfriend"),
        (
            r"\b(?:the|all) (?:two|three|four|five|six|both) of us (?=(?:are|were|have|had|will|went|go|live"
            r"|love|hate)\b)",
            "we ",
        ),
        (r"^i are (?:both )?(?=\w)", "i am "),
        (r"^(i|we) both (?=\w)", r"\1 "),
        (
            r"^the (?=(?:eldest|oldest|youngest|middle one),? (?:(?-i:[A-Z])|(?:is|has|was|starts|just|who"
            r"|wants|turns)\b))",
            "my ",
        ),
        (
            r"^(?:me|myself) and my [\w' -]{2,30}? (?=(?:are|have|were|had|live|love|hate|want|need|both|just"
            r"|like|got|go)\b)",
            "we ",
        ),
        (
            r"^(?=(?:kids|children|twins) (?:are|were|have|had|turned|just turned) (?:\d|both|one\b|two|three|four|five"
            r"|six|seven|eight|nine|ten|at |in (?:school|bed|year|the )|allergic|vegetarian|vegan|asthma|away|off))",
            "my ",
        ),
        (
            r"^(?=(?:twins|gran|granny|grandpa|nana|parents|toddler|brothers|sisters|sons|daughters)"
            r" (?:are|is|was|were|has|have|had|love|hate|loves|hates|live|lives|turns?|just)\b)",
            "my ",
        ),
        (
            r"^(?=(?:sister|brother|mum|mom|dad|son|daughter|wife|husband|partner|gran|grandma|nan|boss|best "
            r"friend)'s \w)",
            "my ",
        ),
        (r"^goal for (?=[\w ]+: \w)", "my goal for "),
        (
            r"^(?=(?:son|daughter|husband|wife|partner|sister|brother|fianc\w+|niece|nephew"
            r"|cousin|uncle|aunt) (?:has|is|was|wants|just|turned|turns|starts|started|got|hates"
            r"|loves|likes|won't|can't|needs|lives|works)\b)",
            "my ",
        ),
        (
            r"^(?=(?:max )?(?:budget|wedding|flight|exam|interview|surgery|birthday|major"
            r"|favou?rite \w+|diet|allergies|hobby|hobbies|rent|degree)(?: is| are| was|:) )",
            "my ",
        ),
        (r"^my bf\b", "my boyfriend"),
        (r"^(?=(?:grandad|granddad|grandma|mum|mom|dad|nan|hubby)(?:'s)? \w)", "my "),
        (r"^(?:my )?(dad|mum|mom|nan)s (?=got|in|not|been|a\b)", r"my \1 has "),
        (r"^(my [\w -]{1,30}?)'s (?=got|had|been)\b", r"\1 has "),
        (r"^name's ", "my name's "),
        (r"^pronouns ", "my pronouns are "),
        (r"^(?:home ?town) is ", "my hometown is "),
        (r"\bhas got\b", "has"),
        (r"^(?=(?:best friend|co-?founder|business partner|flatmate|roommate|housemate|boss|landlord|hubby)\b)", "my "),
        (
            r"^(?:the|my|our) (?:plan|idea|aim|dream|target|ambition)(?: for (?:this|next"
            r"|the) \w+)? (?:now )?is to (?=\w)",
            "I plan to ",
        ),
        (r"^(?:the|my|our) plan(?: now| is now)?: (?=\w)", "I plan to "),
        (
            r"^(?:(?:my|our|the) )?(?:\w+ )?(?:goal|aim|target|resolution)(?: for (?:this|next|the) \w+)?: (?=\w)",
            "my goal is ",
        ),
        (
            r"^the (?=(?:old |new |little )?(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?"
            r"|hamster|horse|tortoise|parrot|hens|chickens)\b)",
            "my ",
        ),
    )
)
"""How people shorten in chat, and what it is in full."""


_NOT_BEHIND_A_PREPOSITION = "".join(
    rf"(?<!\b{word})"
    for word in (
        "from",
        "of",
        "with",
        "to",
        "in",
        "at",
        "for",
        "on",
        "before",
        "after",
        "than",
        "and",
        "by",
        "about",
        "like",
    )
)
_LEADING_PHRASE = re.compile(
    r"^(?P<when>someday|one day|some day|one of these days|the rest of the (?:\w+)|otherwise|(?:first"
    r"|last) thing(?: in the morning| at night)?|(?:within"
    r"|over|throughout) [^,]{3,40}?|being [^,]{3,50}?|ever since [^,]{3,50}?|(?:(?:(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)days?|weekdays|weekends|mornings"
    r"|evenings|nights)(?:,? and |, | or )?)+|as (?:an?|the only|one of the|the \w+est) [\w' -]{3,40}?"
    r"|(?:when(?:ever)?|any ?time|every ?time|each time|since|before|after|until|once|in|at|on|for|during|with"
    r"|from|around|over|between|by|most|some|every|each|twice|because of|thanks to|due to|despite)\b"
    r"[^,;:?!()]{2,60}?)"
    + _NOT_BEHIND_A_PREPOSITION
    + r",? (?P<rest>(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'd|we'll|my|our)\b(?!/).+)$",
    re.I,
)
"""“When I travel I'd rather …” is read as “I'd rather … when I travel”."""
_SUBORDINATE = re.compile(
    r"^(?:since|because|as|while|although|though|given that|otherwise) (?=(?:i|i'm|i've|we|we're|we've|my|our)\b)", re.I
)
_LED_BY_NOTHING = re.compile(
    r"\b(?:you|your|this|that|it|these|those)\b|^(?:in (?:general|the end|total|fact|short|theory|practice|case|order)"
    r"|after all|for (?:now|instance|example|sure)|since then|at (?:least|first|the end)|on top|once again)$",
    re.I,
)
"""Such a beginning adds nothing, or points at what was said before; it is left away."""


def _with_lead_behind(words: str) -> str:
    """The clause with what stands before its subject behind it: when, where, since when."""
    led = _LEADING_PHRASE.match(words)
    if led is None:
        return _SUBORDINATE.sub("", words)
    rest, when = led["rest"], led["when"]
    if _LED_BY_NOTHING.search(when):
        return rest
    head, comma, tail = rest.partition(",")
    return f"{head.rstrip()} {when[0].lower()}{when[1:]}{comma}{tail}"


_MY_CAPITAL = re.compile(
    r"(?<=^my )(?:Kids|Children|Twins|Son|Daughter|Husband|Wife|Partner|Sister|Brother|Parents|Boss|Flight|Budget)\b"
)
"""It began the sentence before “my” was put before it."""


def _spelt_out(words: str) -> str:
    for short, long in _SHORT:
        words = short.sub(long, words)
    words = _MY_CAPITAL.sub(lambda found: found[0].lower(), words)
    dated = _LEADING_DATE.match(words)
    if dated is not None:
        rest = re.split(r"(?=,| and i\b)", dated["rest"], maxsplit=1, flags=re.I)
        words = f"{rest[0].rstrip()} {dated['date'][0].lower()}{dated['date'][1:]}{''.join(rest[1:])}"
    else:
        words = _with_lead_behind(words)
    return words


def _before_and_in(text: str, start: int, begin: int, stop: int) -> str:
    """A clause with the words right before it, where “I think” may have been cut off."""
    return text[max(start, begin - 12) : stop]


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, str, int]]:
    """(start, end, subject to fill in, where the subject stands) of each clause of a sentence."""
    cuts = [cut for cut in _BOUNDARY.finditer(text, start, end) if not _SINCE_WE.search(text[start : cut.end()])]
    begins, stops = [start, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), end]
    for begin, stop in zip(begins, stops, strict=True):
        for first, last in _elided_cuts(text, begin, stop):
            yield from _carried(text, first, last)


_SINCE_WE = re.compile(
    r"(?:^|[\s,])(?i:since|when|after|before|while|as|until) (?:(?i:my|our) [\w' -]{2,20}|[A-Z]\w+) (?i:and) (?=$|\Z)"
)
"""“Since Maud and | I separated I've had the kids”: it is one clause."""


def _elided_cuts(text: str, begin: int, stop: int) -> Iterator[tuple[int, int]]:
    """A clause of the user's own, cut where the next one leaves the “I” out: “was a teacher, interviewing for …”."""
    words = text[begin + _lead_in(text[begin:stop]) : stop]
    if _FIRST_PERSON.match(words) or begins_without_subject(words) or _SURELY_ELIDED.search(words):
        for cut in _ELIDED_CUT.finditer(text, begin + 1, stop):
            yield begin, cut.start()
            begin = cut.end()
    yield begin, stop


_SURELY_ELIDED = re.compile(r", (?:been|(?:\w+|\d+) (?:years|yrs|months) (?:in|at|as|sober|clean|with|into))\b", re.I)
"""What can only be said of somebody, whatever stands before: “Spanish passport, been in Leeds since May”."""
_FIRST_PERSON = re.compile(r"(?:i|i'm|im|i've|ive|we|we're|we've)\b", re.I)
_ELIDED_CUT = re.compile(
    r", (?=(?:(?:now|just|currently|still|also|then) )?(?:(?:\w+|\d+) (?:years|yrs|months|weeks) (?:in|at|as|sober"
    r"|clean|with|into)|(?:freelance|self-employed|retired|trainee|head of|senior|junior)\b|been|was|got"
    r"|interviewing|playing"
    r"|worked|trying|moved|born|raised"
    r"|working|lived|studied|hoping|planning|used to|moving out|training|living)\b)",
    re.I,
)


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
    subject_of = _PERSON_SUBJECT.match(piece) or re.match(r"(?:i|we)(?='m|'re|'ve|\b)|(?:she|he|they)\b", piece, re.I)
    if subject_of is None:
        return None
    owner = subject_of[0]
    ways = [(_CARRIED_VERB, f"{owner} ")]
    if states:
        ways += [(_CARRIED_TASTE, f"{owner} "), (_CARRIED_STATE, "I'm " if owner in "Ii" else f"{owner} is ")]
    for pattern, filled in ways:
        found = pattern.search(piece, len(subject) + 1)
        if found is not None and owner.lower() in {"i", "we"} and _OF_ANOTHER.match(piece, found.end()):
            continue
        if found is not None and not _OPEN_VERB.search(piece, 0, found.start()):
            return shift + found.start(), shift + found.end(), filled
    return None


_OF_ANOTHER = re.compile(r"(?:\w+ )?(?:lives|works|loves|hates|enjoys|prefers|speaks|studies|has|is)\b", re.I)
"""“My cousin, who I miss and works nights”: the verb is not the user's."""


def _with_person(words: str, person: _Person, quote_at: int) -> tuple[str, int]:
    """“She lives in Lisbon” with the person she is, quoted from where that person was named."""
    found = _PRONOUN.match(words)
    if person.words and _LEFT_OUT.match(words):
        return f"{person.words} {words[0].lower()}{words[1:]}", quote_at
    if (
        not found
        or not person.words
        or not may_mean(_SUBJECT_OF[(found["pronoun"] or found["whose"]).lower()], person.relation)
    ):
        return words, quote_at
    if found["whose"]:
        near = quote_at - person.start <= MAX_BACK
        return f"{person.words}'s {words[found.end() :]}", person.start if near else quote_at
    been = re.match(r"(?:been|got|had)\b", words[found.end() :], re.I)
    verb = " " if found["rest"] == " " else " has " if been else " is "
    near = quote_at - person.start <= MAX_BACK
    return f"{person.words}{verb}{words[found.end() :]}", person.start if near else quote_at


_LEFT_OUT = re.compile(
    r"(?-i:Loves|Hates|Likes|Enjoys|Has|Lives|Works|Plays|Eats|Is|Was|Can't|Doesn't|Turns|Wants|Had|Speaks|Drinks"
    r"|Collects|Knits) "
    r"(?!an? (?:way|good)|there|it|that|this)\w",
    re.I,
)
"""“What do I get my gran? Loves crosswords”: whom it is said of stands in the sentence before."""


def _person_in(text: str, start: int, end: int) -> _Person | None:
    """The last person or animal named between two places of the text."""
    people = list(_PERSON.finditer(text, start, end))
    if not people or _ANOTHER.search(text, start, end):
        return None
    last = people[-1]
    name = f" {last['name']}" if last["name"] else ""
    who = last["who"]
    who = f"{who[0].lower()}{who[1:]}" if who[1:2].islower() else who
    return _Person(f"my {who}{name}", last["relation"], last.start())


_ANOTHER = re.compile(r"\b(?:not|isn't|wasn't|isnt) (?:my|our) \w", re.I)
"""“It's not my sister who …, it's …”: who is meant instead is not told by these words alone."""


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
        if trailer is None or (trailer == "then" and _SINCE_THEN.search(words)):
            break
        words = words[: -len(trailer)].rstrip(" ,-–—(")
    return words, length
