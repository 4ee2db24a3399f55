"""Plain claims about the user's life that no row of the tables covers; taken unless refused.

The tables list what is worth keeping; people say it in more ways than any list holds. So a claim about the user that
fits no row is read by its grammar: who it is about and in what tense it stands. It is put to the user, never kept
unasked, and only in a message that is not about work at hand (`scenes.about_work`).

    refused                  because
    the talk itself          “I need”, “I think”, “thanks”, whatever speaks to “you”
    words that point back    “I like this one” says nothing without the sentence before
    nobody in particular     “we last spoke”, “we have each other's back”, “their support keeps me going”
    what passes              “I'm on the bus”, “my hands are cold right now”, “the download is at 61 %”
    how somebody feels       “I'm worried”, “I felt at home”: another day, another mood
    praise                   “my family has been so awesome”
    a saying                 “I'm on the fence about it”, “I'm not a doctor, but”
    what leaves no trace     “I burnt the toast”: it takes a name, a number, a relative, a day, an animal, an illness
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from memory.librarian.rules.ailments import AILMENTS
from memory.librarian.rules.open_patterns import ASK, HAPPENINGS, KIN, OFTEN, POSSESSIONS, TASTE, VAGUE, OpenPattern
from memory.librarian.rules.people import CREATURES
from memory.librarian.rules.verbs import ADVERBS, PAST
from memory.models.kinds import Kind

# Refused ---------------------------------------------------------------------------------------------------------

ABOUT_THE_TALK: Final = re.compile(
    r"\b(?:you|your|yours|u|ur|yourself|thanks|thank|please|pls|plz|answers?|repl(?:y|ies)|questions?|chat|prompt|bot"
    r"|examples?|version|option|draft|bullet|wording|headline|outline|summary|suggestions?|exercise|titles?"
    r"|paragraphs?|intro|ending|tone|sentences?|shorter|longer|formal|homework"
    r"|deadlines?|battery"
    r"|wifi|wi-fi)\b",
    re.I,
)
POINTS_BACK: Final = re.compile(
    r"^(?:i|we)(?:'\w+| \w+){0,4}? (?:it|this|that|them|those|these|one|so|there|both|either|neither|none|any"
    r"|some|most|all|much|more)$"
    r"|\b(?:this|that|these|those) (?:one|ones|way|thing|stuff|part|bit)\b"
    r"|\bth(?:is|at|ese|ose) (?:smell|noise|sound|colou?r|taste|shape|size|brand|feeling)s?$",
    re.I,
)
ENDS_BACK: Final = re.compile(r"^(?:\S+ ){1,5}(?:it|them|this|that|those|these|there)$", re.I)
NOBODY: Final = re.compile(
    r"^(?:i|we) last (?:spoke|talked|chatted|met|saw|caught|hung|wrote|texted)\b"
    r"|^we all\b|\beach other\b(?!.*\bsince\b)|^(?:their|his|her|its) |^it(?:'s| is| has) (?:been|so|really|an?"
    r" (?:great|good|big|nice|lovely|huge|real|journey|challenge|chance|reminder)|the (?:best|least))\b"
    r"|^we (?!have (?:an?|one|two|three|four|five|\d)\b).*\b(?:together|as a team)$"
    r"|^(?:i|we) (?:\w+ly )?(?:will|won't quit)\b(?! \w+ \w)"
    r"|^the (?:support|help|love|advice|feedback|encouragement) (?:i|we)\b"
    r"|^(?:i|we) (?:almost|nearly) (?!always|never|every|only|all|died)[a-z]+ "
    r"|^(?:i|we) live in an? (?:\w+ )?(?:society|world|age|era|culture|simulation|democracy)\b"
    r"|^they (?:make|give|keep|help|let) (?:me|us)\b|^(?:my|our)(?: [\w-]+){1,2}(?: (?-i:[A-Z])[\w-]+)?$",
    re.I,
)
"""It says something of people in general, of a talk, or of somebody the sentence does not name."""
SAYING: Final = re.compile(
    r"\b(?:on the fence|a rock and a hard place|^a hard place|on cloud nine|over the moon|under the weather|all ears"
    r"|from experience|devil's advocate|in the same boat|wits' end|on thin ice|on the same page|square one|my two cents"
    r"|up to my (?:eyes|ears|neck)|not (?:gonna|going to) lie|changed (?:my|our) mind"
    r"|my first (?:thought|instinct|reaction)"
    r"|my favou?rite (?:part|line|bit|section|moment|scene))\b|\ba hard place$|^(?:i'm|i am) (?:not an?|no) "
    r"(?:doctor|lawyer|expert|scientist|chef|professional|\w+ist|genius)\b|^my (?:point|take"
    r"|hunch|view|sense|feeling|impression|theory) is\b",
    re.I,
)
AT_THE_KEYBOARD: Final = re.compile(
    r"(?<!works )(?<!work )(?<!employed )\bat \d+ ?(?:%|per ?cent)(?: (?:disk|battery|cpu|memory|volume))?$"
    r"|\b(?:download|upload|update|backup|progress bar|import|export|battery) (?:is|was|'s) at \d"
    r"|\boption (?:[a-d]|\d|one|two|three)\b"
    r"|\b(?:ran|run|rerun) the (?:tests?|code|script|query|command|build)\b"
    r"|^(?:i|we) (?:get|got|see|keep getting) (?:an? |the )?(?:errors?|warning|exception|blank|message(?! from))\b"
    r"|^(?:i|we) have an? (?:list|dataset|data ?frame|array|string|table|function|csv|json)\b"
    r"|^(?:my|our) (?:regex|query|function|script|test|array(?! of)|formula|macro|loop|class|train|bus) \w+",
    re.I,
)
OVER_SOON: Final = re.compile(
    r"\b(?:seconds|secs|moments) ago\b|\bhours? to kill\b|\bat half[- ]time\b|\bon hold\b|\bstubbed my\b"
    r"|\bthe same (?:jingle|song|tune|error|page)\b"
    r"|^(?:i|we)(?:'ve| have)(?: got| had)? (?:an? |some |no |two |three |four |\d+ )?(?:flat tyre|flat tire"
    r"|puncture|paint on|soup|pasta|tissues?|craving|coffees|beers|drinks|(?:euros?|quid|pounds|dollars) left"
    r"|spare hour|hour to myself|hours? to kill|(?:presentation|call|meeting|exam|class) (?:at|in) (?:\d|nine|ten"
    r"|eleven|twelve|one|two|three|four|five|six|seven|eight|half|an hour))\b"
    r"|^(?:i|we)(?:'ve| have)(?: got)? (?:(?:only|just|like|about|maybe) )*(?:\d+|an?|two|five|ten|fifteen|twenty)"
    r" (?:mins?|minutes?|hours?|secs?|seconds) (?!.*\b(?:every|each|per)\b)"
    r"|^(?:i|we)(?:'ve| have) .*\bin my (?:pocket|fridge|pantry|cart|basket)$"
    r"|^(?:i|we)(?:'ve| have)(?: got)? (?:some|two|three|four|six|half an?|an?) (?:[\w-]+ )?(?:eggs?|flour|onions?"
    r"|potatoes|tomatoes|tofu|chicken breasts?|leftover \w+|can of|tin of|cups? of)\b"
    r"|^(?:i|we)(?:'ve| have)(?: got)? (?:an? )?(?:bit of an? |slight |splitting |terrible |pounding |bad )?"
    r"(?:headache|hangover|cold|sore throat|stomach ?ache|runny nose)\b|^(?:i|we) have an? (?:meeting|call)\b"
    r"|\b(?:on the (?:stove|hob)|in (?:the|a) (?:oven|queue|traffic jam|waiting room))$"
    r"|^my (?:nose|stomach|eyes|tummy|belly|head|feet|legs|arms) (?:is|are) (?:running|growling|tired|rumbling"
    r"|spinning|pounding|aching|sore|killing me)\b"
    r"|\b(?:fingers|hands|feet|toes|nose|ears) (?:is|are) (?:freezing|cold|numb|frozen)\b"
    r"|^my (?:tea|coffee|soup|food|lunch|dinner|toast|bath|bus|tram)(?:'s| is| was| has) "
    r"|\b(?:lost|left|forgot) my (?:umbrella|phone|keys|wallet|bag|scarf|charger|glasses|hat|gloves|lunch|card)\b"
    r"|\b(?:is|are|'s) (?:drilling|hoovering|barking|crying|screaming|mowing|fighting|arguing|banging)$"
    r"|^(?:i'm|i am|we're|we are) (?:still |back )?(?:at|in|on) (?:the|an?|my) (?:airport|station|supermarket"
    r"|checkout|bus|train|plane|tram|queue|dentist|doctor's|gate|platform|car park|lunch break|break)\b"
    r"(?! (?:crew|staff|team|board))",
    re.I,
)
FEELS: Final = re.compile(
    rf"^(?:i|we) (?>{ADVERBS})(?:feel|felt)\b(?!.*\b(?:dizzy|sick|faint|nauseous|nausea|pain|breathless|numb"
    rf"|{AILMENTS})\b)|^(?:i'm|i am|we're|we are|i've been|we've been) (?>{ADVERBS})(?:staying"
    r" (?:positive|hopeful|strong|determined|focused|busy|calm)|keeping busy|doing (?:my|our) (?:best|part)"
    r"|doing (?:great|well|good|fine|okay|ok)\b(?! (?:at|in|with)\b)|taking (?:the|my) time|working together)\b",
    re.I,
)
PRAISE: Final = re.compile(
    r"\b(?:is|are|was|were|been|'s|'re|looks?|sounds?|seems?) "
    r"(?:(?:all|so|really|very|just|super|pretty|such|also|an?) )*(?:so important|cute|awesome|amazing|fun|lovely"
    r"|wonderful|special(?! needs)|beautiful|incredible|cool|sweet|adorable|fantastic|a blast|rewarding|priceless"
    r"|precious)\b"
    r"(?! (?:at|with|in|for|to|on)\b)(?!.*\b(?:died|passed away|(?:19|20)\d\d)\b)",
    re.I,
)
PASSING: Final = re.compile(
    r"\b(?:right now|rn|this (?:minute|second)"
    r"|last night|in (?:an?|\w+) (?:min\w*|hours?|secs?\w*)|just|a sec\w*|a minute|hungry|tired|bored|sleepy"
    r"|exhausted|asleep|awake|starving|famished|peckish|parched|knackered|hungover|snoring|in the shower"
    r"|min(?:ute)?s? (?:till|until|to go|left)|waiting (?:for|in|on|room)"
    r"|on my way|in a hurry|for this|whole|here|stuck)\b",
    re.I,
)
THIS_DAY: Final = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.I)
"""What happened today may matter; how things stand today does not."""
MOOD: Final = (
    r"(?:(?:feeling|getting|not|kinda|a bit) )*(?:sure|sorry|glad|happy|curious|confused|afraid|lost|worried|stressed"
    r"|nervous|anxious|excited|concerned|grateful|thankful|struggling|annoyed|angry|sad|proud|ready|aware|interested"
    r"|impressed|inspired|lucky|blessed|thrilled|pumped|upset|swamped|busy|torn|enjoying|feeling|freaking|panicking"
    r"|done|in|back|home|off|up|down|so|like|here|all|after|over|game|loving|new to|at \d)\b"
)
TALK_VERB: Final = (
    r"(?:need|think|thought|guess|know|knew|mean|meant|see|saw|get (?:it|this|that|what|why|how|the (?:idea|point"
    r"|gist|error|same|following)|an? error|to the)|understand|understood|believe|wonder|wondered|hope"
    r"|feel|felt|hear|heard|remember|forget|forgot|appreciate|notice|noticed|agree|assume|suppose|ask|asked|say"
    r"|said (?!yes|no)"
    r"|tell|told|promise|bet|swear|look (?!for\b|after\b)|tried|try|found|find|read|googled?|checked|clicked|typed"
    r"|pasted|wrote|added|changed|updated|installed|implemented|fixed|can|could|should|would|will|must|may|might|let"
    r"|doubt|imagine|admit|expect|wish|keep (?:on |getting|having|trying|seeing)|realise|realize|reckon|figure"
    r"|figured|apologi[sz]e|do (?!my|our|the|a\b|\w+ (?:on|every|most|a)\b)|did (?!my|our|the|an?)|does|be|dare"
    r"|insist|recall|mentioned|want|wanted|needed|used (?!to\b)|am|was|were|have|had|has|got|'\w+|just|literally|refuse"
    r"|give up|love you|come across|came across|ran|ended up|started by|go|come|put|managed|blessed|chatted|talked"
    r"|shared|highlighted|integrated|tested|configured|completed (?:any|\d+|all|the|it|this)|moved (?:on|to the"
    r"|it|this|that))"
)
"""What is done in a talk or at the keyboard, and auxiliaries, which have rows of their own."""
WORK_VERB: Final = (
    r"(?:make sure|know|see|look|understand|use|add|include|ensure|get (?:this|it)|avoid|keep|focus|improve|show"
    r"|continue"
    r"|verify|confirm|calculate|solve|determine|visuali[sz]e|implement"
    r"|make (?:a|my|this|it|them)|try|do|be|help|think|share|figure|find|check|ask|say|tell|start with|go with|give)\b"
)
"""What somebody wants at the moment rather than in life."""

# Wanted ----------------------------------------------------------------------------------------------------------

_LASTING: Final = (
    rf"\b\d|\b(?:{AILMENTS})\b|(?<=[\w,] )(?-i:(?!I\b)[A-Z][\w'-]+)|\b(?:{KIN}|{CREATURES}|{POSSESSIONS}|{OFTEN})\b"
    rf"|\b(?:{HAPPENINGS})\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|since|ago|years?"
    rf"|months?|weeks?|always|never|whole life|favou?rite|twice|once|times)\b"
)
_INNER: Final = (
    r"dreams?|goals?|voice|best|way|heart|mind|head|story|journey|emotions?|feelings?|passion|impact|chance|own"
    r"|life|lives"
    r"|loves?|thing|stuff|time|thoughts?|fault|bad|love|ambitions?|muses?|inner|true"
)


class Needs(Enum):
    """What a claim must hold to be worth a question."""

    NOTHING = re.compile("")
    TRACE = re.compile(rf"{_LASTING}|\b(?:my|our) (?!{_INNER})\w|\b(?:mine|ours)\b", re.I)
    """Something by which it can be told again, or something of the user's."""
    STRONG_TRACE = re.compile(_LASTING, re.I)


@dataclass(frozen=True, slots=True)
class Row:
    """A form of claim, and what it needs."""

    told: OpenPattern
    needs: Needs


def row(kind: Kind, needs: Needs, says: str, *, past: bool = False) -> Row:
    """A row from the words it begins with."""
    return Row(OpenPattern(kind, re.compile(says, re.I), confidence=ASK, past=past), needs)


I = rf"(?:i|we) (?>{ADVERBS})"  # noqa: E741 - the word itself
IM = rf"(?:i'm|i am|we're|we are) (?>{ADVERBS})"
IVE = rf"(?:i've|i have|we've|we have|i haven't|we haven't) (?>{ADVERBS})"
PAST_VERB: Final = rf"(?:{'|'.join(sorted(PAST))}|\w{{2,}}ed)"
OWN: Final = (
    rf"{KIN}|{CREATURES}|{POSSESSIONS}|{HAPPENINGS}|phd|thesis|dissertation|company|firm|business|band|team|shop"
    rf"|club|job"
    r"|choir|school|office|contract|family|lady|gentleman|newcomer|movers|landlord|owner|chairman|inverter|engine"
    r"|village"
    r"|course|group|agent|plumber|electrician|builders|guests|inspector|delivery|notary|vet|exam|deadline"
    r"|association|charity|church|wife|kids|baby|surgeon|doctor|consultant|hospital"
)
"""What “the” makes the user's own, where a name, a number or a day follows: “the band is called Wet Dogs”."""
_OBJECT: Final = (
    r"(?!it\b|this\b|that\b|them\b|these\b|those\b|why\b|how\b|what\b|if\b|whether\b|to (?:know|see|ask)\b)"
)
_SOMEBODY_ELSE: Final = (
    r"(?!(?:it|this|that (?:is|was|one|would|will)|there|these|those|he|she|they|what|which|who|here|let|so"
    r"|always|never"
    r"|if|when|where|how|why|i|we|you|for|to|with|of|as|by|last|next|on|in|at|\w+ing|(?-i:[A-Z])\w+,|not|no|from)\b)"
)
_STATE: Final = (
    r"(?!fantastic|enthusiastic|optimistic|pessimistic|sarcastic|terrific|ecstatic|sympathetic|apologetic"
    r"|realistic|basic"
    r"|frantic|manic)[a-z]{4,}(?:ic|iac)\b"
)
"""“I'm dyscalculic”: what one is in the words of a doctor."""
_DAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends|weekdays|mornings|evenings"
ROWS: Final[tuple[Row, ...]] = (
    # wishes and tastes stand by themselves
    row(
        Kind.GOAL,
        Needs.TRACE,
        rf"(?:{I}|(?:i'd|we'd) )(?:want|hope|plan|intend|aim|dream|wish|would like|like|love)(?: to| of)? (?!to "
        rf")(?!{WORK_VERB})\w",
    ),
    row(Kind.PREFERENCE, Needs.NOTHING, rf"{I}(?:{TASTE}) {VAGUE}(?!how\b|that\b|being\b|it\b)\w"),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"(?:i'd|i would|we'd|we would) (?:\w+ )?(?:rather|sooner|never|always|pay|hate|(?:eat|drink|watch"
        r"|listen to|read|live on) .*\b(?:every|all) day)\b",
    ),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"(?:i|we) can't (?:be doing with|deal with|do with|get into|get enough|warm to|face|handle|abide|take"
        r"|stand)\b",
    ),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"(?:for me,? it(?:'s| is)|(?:usually |mostly |normally )?it(?:'s| is) (?:just |always |usually |only "
        r")?[^,?!]{2,40} for (?:me|us)\b)",
    ),
    row(Kind.PREFERENCE, Needs.NOTHING, r"there(?:'s| is) nothing (?:i|we) (?:like|love|hate|enjoy|dread|want)"),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"[\w' -]{3,30} (?:yes|always),? (?:but )?[\w' -]{3,40} (?:no|never)(?: thanks)?$",
    ),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"(?:i|we) (?:really |always |just )?find (?!it\b|this\b|that\b|out\b|myself\b|an?\b|the (?:code"
        r"|answer))[\w' -]{2,40}"
        r" \w+(?:ing|ful|less|ible|able|ous|y|ed|ive|ic)$",
    ),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"(?:the|my) (?:last|best|worst|nicest|\w{3,}est) [\w' -]{2,30} (?:i|i've|we|we've) (?:ever )?\w+(?: \w+)? "
        r"(?:is|was|were|are)\b",
    ),
    row(Kind.DECISION, Needs.TRACE, r"(?:i|we) won't (?:be )?(?!let|give|stop|forget|quit|back|rest|lie)\w+"),
    row(
        Kind.CONSTRAINT,
        Needs.STRONG_TRACE,
        r"(?:i|we) (?:really |also |still )?(?:can't|cannot|couldn't) (?!seem|find|figure|get|understand|see"
        r"|remember|tell"
        r"|think|decide|wait|believe|work out|make|do (?:this|that|it)|help|access|open|log|say|explain|go (?:on"
        r"|back)|let)\w+",
    ),
    # what has come to be
    row(
        Kind.BIOGRAPHY,
        Needs.TRACE,
        rf"{IVE}(?!tried|never completed|been (?:trying|thinking|wondering|looking|getting|told|asked)|(?:got "
        rf")?to\b|{TALK_VERB}\b)\w+",
    ),
    row(Kind.BIOGRAPHY, Needs.TRACE, rf"{IVE}(?:got|had|been) "),
    row(
        Kind.BIOGRAPHY,
        Needs.TRACE,
        rf"{I}(?:have|had) (?!to\b|.*\b(?:review|check|read|fix) (?:my|our)\b|a (?:great|good|blast|lot|hard"
        rf"|tough)|an? (?:question|problem|look|feeling|idea)\b)",
    ),
    row(
        Kind.ENTITY,
        Needs.NOTHING,
        rf"{I}got (?:given )?(?:an?|my|our) (?!bit|lot|few|question|error|idea|feeling|message)\w",
        past=True,
    ),
    row(Kind.BIOGRAPHY, Needs.NOTHING, r"there(?:'s| are| is) (?:just |only )?\w+ of us\b"),
    row(
        Kind.CONSTRAINT,
        Needs.NOTHING,
        rf"{IM}on an? (?:[\w-]+ ){{0,3}}(?:budget|diet|visa|pension|waiting list|salary|contract|scholarship)\b",
    ),
    row(
        Kind.BIOGRAPHY,
        Needs.TRACE,
        rf"{I}(?:was|were) (?!supposed|surprised|confused|tired|bored|excited|worried|interested)"
        r"(?:\w+ed|born|given|taught|brought|made|an? (?!bit|little)|in (?:the|an?))\b",
        past=True,
    ),
    row(Kind.EVENT, Needs.TRACE, rf"{I}(?!{TALK_VERB}\b){PAST_VERB} {_OBJECT}\w", past=True),
    # what is so, or is done again and again
    row(Kind.PROCEDURE, Needs.TRACE, rf"{I}(?!{TALK_VERB}\b)(?!\w+ed\b)[a-z]+ {_OBJECT}\w"),
    row(
        Kind.BIOGRAPHY,
        Needs.NOTHING,
        rf"{IM}(?:an? (?!bit|little|mess|wreck|fan of the|beginner|newbie|noob|complete|idiot|lot|loss|sucker"
        rf"|hopeless|disaster)|one of|part of|from|more of an?|that"
        r" (?:person|guy|girl|woman|man)|all about|the (?:type|kind|sort|one|only|eldest|youngest|oldest|first)"
        r"|someone who|{_STATE})\w*",
    ),
    row(Kind.BIOGRAPHY, Needs.STRONG_TRACE, rf"{IM}(?!\w+ing\b|{MOOD})\w+"),
    row(
        Kind.PROCEDURE,
        Needs.TRACE,
        r"(?:i|we) (?:don't|do not|never|no longer) (?!know|think|want|need|understand|get (?!on)|see|mind|care"
        r"|feel|remember"
        r"|believe|have (?:to|time|any idea|much time|a clue)|really|even|trust|agree|work(?:s|ed)?$)\w+",
    ),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"(?:i|we) (?:could|can) (?:live on|live off|eat|drink|listen to|watch|read|happily)\b",
    ),
    row(Kind.GOAL, Needs.NOTHING, r"(?:i'd|i would) give anything\b|(?:i|we) never (?:got the|understood the|saw the)"),
    row(
        Kind.GOAL,
        Needs.TRACE,
        rf"{IM}(?!trying|working on|considering (?:using|adding|integrating|implementing|including)|having"
        rf"|getting|thinking (?!of|about)|wondering|looking|making|updating|going "
        rf"to {WORK_VERB}|giving"
        rf"|seeing|standing|sitting|lying|holding|wearing|cooking|eating|drinking|watching|walking|heading"
        r"|boarding|queu\w+|typing|holding|staring|taking (?:care|time)|{MOOD})\w+ing\b",
    ),
    row(
        Kind.FACT,
        Needs.TRACE,
        rf"(?:my|our) (?!{_INNER})[\w' -]+? (?:is|are|was|were|has|have|had|'s|\w+s|\w+ed|does|do|don't|won't"
        rf"|can't|isn't)\b",
    ),
    row(
        Kind.FACT,
        Needs.NOTHING,
        rf"the (?:[\w'-]+ ){{0,4}}?(?:{OWN})(?:'s| is| are| was| were| has| have| comes?| starts?| ends?| opens?"
        rf"| closes?| "
        r"agreed| moved| called| belongs?| runs?| goes| go)(?: [\w' -]+?)?"
        r" (?:\d|(?-i:[A-Z]\w)|called|named|on [\w-]+ \w+|about|from|in)",
    ),
    row(Kind.PERSON, Needs.STRONG_TRACE, r"(?:in|at|on) (?:my|our) [^,?!]{2,40}? there(?:'s| is| are) \w"),
    row(Kind.PERSON, Needs.STRONG_TRACE, r"there(?:'s| is| are) [^,?!]{2,60} (?:in|at|on|of) (?:my|our) \w"),
    row(Kind.FACT, Needs.NOTHING, rf"(?:the|my|our) (?:\w+ )?(?:{OWN})(?:,| \() ?(?:an? |(?-i:[A-Z]))"),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        r"[^,?!]{3,60} (?:is|are) the (?:\w+ ){1,2}(?:that |which )?(?:i|we) (?:can't|cannot|don't|hate|love"
        r"|never|always|loathe|like"
        r"|prefer|dread|miss|trust)\b",
    ),
    row(
        Kind.FACT, Needs.NOTHING, r"(?!that|this|it|which)[^,?!]{3,60} (?:is|was|'s) (?:where|when|why|how) (?:i|we)\b"
    ),
    row(Kind.FACT, Needs.TRACE, r"[^,?!]{3,60} (?:lives?|stays?|stayed|lived|moved in|moves in) with (?:me|us)\b"),
    row(
        Kind.FACT,
        Needs.NOTHING,
        r"(?-i:[A-Z])\w+ (?:is|turns|turned|was) (?:nearly |almost |only |just |about )?(?:\d{1,2}|one|two|three"
        r"|four|five|six"
        r"|seven|eight|nine|ten)(?: (?:years|months|weeks)(?: old)?)?$"
        r"|(?-i:[A-Z])\w+ was born (?:in|on|last)\b",
    ),
    row(Kind.PROCEDURE, Needs.NOTHING, rf"(?:{_DAYS})(?: and (?:{_DAYS}))? (?:is|are|means?) \w"),
    row(
        Kind.FACT,
        Needs.NOTHING,
        r"it(?:'s| is) (?:my|our) (?:first|second|third|fourth|last|final|\d+(?:st|nd|rd|th)) \w",
    ),
    row(
        Kind.FACT,
        Needs.NOTHING,
        r"there(?:'s| is) (?:an?|another) (?:\w+ )?(?:baby|child|grandchild|wedding|puppy|kitten)\b",
    ),
    row(Kind.FACT, Needs.STRONG_TRACE, r"(?:the|my|our) (?:nearest|closest|next|only) [^,?!]{2,40} (?:is|are)\b"),
    row(
        Kind.EVENT,
        Needs.STRONG_TRACE,
        r"(?:uni|school|college|work|term|classes|lectures|training|nursery|practice|chemo) (?:starts?|ends?"
        r"|begins?|finishes|resumes|is)"
        r" .*\b(?:on|in|from|next|until)\b",
    ),
    row(
        Kind.PERSON,
        Needs.NOTHING,
        rf"(?:both|neither of|all of|all|none of|most of|some of|half of) (?:of )?(?:my|our) (?:\w+ )?(?:{KIN}|\w+s)\b",
    ),
    row(
        Kind.PERSON,
        Needs.NOTHING,
        r"the (?:eldest|youngest|oldest|older one|younger one|middle one|little one|kids|twins|wife|husband"
        r"|missus|baby|other half"
        r"|(?:guy|girl|woman|man|people|couple|neighbours?) next door) (?!is (?:asking|here)|are (?:asking"
        r"|here))[a-z']+ \w",
    ),
    row(Kind.PERSON, Needs.NOTHING, rf"an? (?:[\w-]+ ){{0,2}}(?:{KIN}) of (?:mine|ours)\b"),
    row(Kind.PERSON, Needs.NOTHING, r"(?:my|our) [\w' -]{2,30}, (?-i:[A-Z])[\w.]+(?: (?-i:[A-Z])\w+)?, [a-z]+"),
    row(
        Kind.FACT,
        Needs.NOTHING,
        r"the [\w' -]{2,30} (?:where |that )?(?:i|we) (?:work|live|study|go to|teach|volunteer|grew up|train|rent"
        r"|own|drive|run)\b",
    ),
    row(Kind.FACT, Needs.NOTHING, r"(?:my|our) (?:[\w'-]+ ){1,3}\((?-i:[A-Z])"),
    row(Kind.PROCEDURE, Needs.NOTHING, r"no [\w' -]{2,40} (?:in|at) (?:my|our) (?:house|home|place|flat|family)"),
    row(Kind.CONSTRAINT, Needs.NOTHING, r"(?:i|we) need (?:everything|all|my \w+) (?:in|to be|without|with)\b"),
    # what others do to the user, and what things are to them
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        rf"{_SOMEBODY_ELSE}[^,?!]{{2,60}}?(?:'s| is| are| was| were)\b[^,?!]{{0,30}} (?:my|our) (?:\w+ "
        rf")?(?:favou?rite|fave)",
    ),
    row(
        Kind.PREFERENCE,
        Needs.NOTHING,
        rf"{_SOMEBODY_ELSE}[^,?!]{{2,60}}?(?:'s| is| are| was| were) [^,?!]{{0,30}}\b(?:best|worst|\w{{3,}}est) "
        rf"[^,?!]+? (?:i've|i|we've|we)\b",
    ),
    row(
        Kind.FACT,
        Needs.NOTHING,
        rf"{_SOMEBODY_ELSE}(?:[\w'-]+ ){{1,5}}(?:sets?|puts?|gets?|gives?|makes?|drives?|keeps?|turns?|cheers?"
        rf"|throws?|brings?|wakes?|calms?|leaves?|bores?|scares?|wears?|helps?) me (?!think|wonder|feel like|some"
        rf"|an? (?:idea|hint)|why|want)\w",
    ),
    row(
        Kind.FACT,
        Needs.STRONG_TRACE,
        rf"{_SOMEBODY_ELSE}(?:the|an?|my|our|some|every|both|all|most|(?-i:[A-Z])\w+)\b(?:[\w'&.-]+ | (?=\w)){{1,8}}?"
        rf"(?:is|are|was|were|has|have|had|\w{{2,}}s|\w{{2,}}ed|{'|'.join(sorted(PAST))}) (?:[^?]*?\b)?(?:me|us"
        rf"|my|our)\b",
    ),
)


AGAIN: Final = re.compile(r"\b(?:every|each|always|usually|a (?:night|day|week)|per|doctor|therapist)\b", re.I)
"""What comes back is no matter of the moment: “I have a headache every morning”."""
OF_THE_MOMENT: Final = (AT_THE_KEYBOARD, OVER_SOON)
"""Refused unless it comes again."""
REFUSED: Final = (ENDS_BACK, NOBODY, SAYING, FEELS, PRAISE)


def says_nothing(words: str) -> bool:
    """Whether a claim would tell nothing if it were remembered: a mood, praise, a word that points back."""
    refused = REFUSED if AGAIN.search(words) else (*REFUSED, *OF_THE_MOMENT)
    return any(one.search(words) for one in refused)


def plainly_said(words: str) -> OpenPattern | None:
    """The row of grammar a claim fits; None: it is refused, or is no claim about the user."""
    if ABOUT_THE_TALK.search(words) or POINTS_BACK.search(words) or PASSING.search(words):
        return None
    found = next((one for one in ROWS if one.told.says.match(words)), None)
    if found is None or (THIS_DAY.search(words) and not found.told.past):
        return None
    return found.told if found.needs.value.search(words) else None
