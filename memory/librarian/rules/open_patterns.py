"""The second table of the rule engine: sentences worth keeping in the user's own words.

A row of `patterns.py` understands a sentence and gives its fact a key; a row here only knows by its beginning and its
nouns that it says something lasting about the user's life. Its statement is the sentence, told in the third person
with its date in full. The rows are tried in their order where no row of the first table matched; the first one wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory.librarian.rules.ailments import AILMENTS, IMPAIRED, MEDICINE
from memory.librarian.rules.people import CREATURES, PEOPLE, alternatives
from memory.librarian.rules.slots import JOBS, NATIONALITIES
from memory.librarian.rules.verbs import ADVERBS
from memory.models.kinds import Kind

SURE: Final = 0.85
FAIR: Final = 0.8
ASK: Final = 0.7
"""Put to the user: the wording is often meant for the moment."""

I = rf"(?:i|we) {ADVERBS}"  # noqa: E741 - the word itself
IM = rf"(?:i'm|i am|im|we're|we are) {ADVERBS}"
IVE = rf"(?:i've|ive|i have|we've|we have|i|we) {ADVERBS}"
MY = r"(?:my|our) "
DET = r"(?:an?|the|my|our|this|another|one|two|three|four|five|six|\d+|some|several|both|no|just the one)"

MACHINE: Final = (
    r"code|scripts?|functions?|errors?|bugs?|quer(?:y|ies)|tests?|commands?|programs?|loops?"
    r"|class(?:es)?|endpoints?|apis?"
    r"|modules?|variables?|database|db|table|schema|server|container|docker|component|dataset|dataframe|regex|git"
    r"|branch|commit|merge|build|deploy\w*|algorithm|equation|formula|files?|csv|json|logs?|exception|trace\w*"
    r"|implementation|migration|cache|index(?:es)?|response|request|output|input|prompt|questions?|answers?|example"
    r"|essay|draft|email|paragraph|sentence|wording|spreadsheet|template|code ?base|feature|latency|queries|website"
    r"|form|page|route|token|library|package|version|install\w*|settings?|config\w*|frontend|css"
    r"|html|sql|triangles?|dice|coins?|probability|permutations?|calculations?|accuracy"
    r"|pipelines?|deployment"
)
"""What is spoken of while one works on it; a sentence about it says nothing lasting of the user."""

POSSESSIONS: Final = (
    r"car|van|motorbike|motorcycle|scooter|bike|e-bike|bicycle|boat|narrowboat|yacht|caravan|camper ?van|truck|tractor"
    r"|house|home|flat|apartment|condo|cottage|cabin|farm|bungalow|studio|garden|allotment|balcony|greenhouse|shed"
    r"|garage|attic|loft|basement|kitchen|cellar|pool|hot tub|workshop|field|land|plot|orchard|vineyard|place|room|dorm"
    r"|piano|guitar|violin|cello|ukulele|drum ?kit|drums|flute|trumpet|saxophone|clarinet|keyboard|synth\w*|accordion"
    r"|harp|banjo|viola|bass|sewing machine|loom|kiln|telescope|camera|lens|drone|printer|router|laptop|macbook"
    r"|chromebook|desktop|pc|computer|phone|iphone|pixel|android|ipad|tablet|kindle|tv|console|playstation|xbox|switch"
    r"|headphones|speaker|turntable|record player|vinyl|oven|stove|hob|cooker|boiler|heat pump|solar panels|fridge"
    r"|freezer|dishwasher|washing machine|dryer|air fryer|rice cooker|kettle|blender|instant pot|wok|barbecue|grill"
    r"|espresso machine|coffee machine|mattress|sofa|desk|treadmill|rowing machine|kettlebells?|dumbbells?|tent|kayak"
    r"|canoe|surfboard|skis|snowboard|skateboard|tesla|honda|toyota|ford|volvo|vw|volkswagen|bmw|audi|skoda|fiat"
    r"|renault|peugeot|mazda|nissan|hyundai|kia|corsa|golf|polo|watch|ring|collection|aquarium|fish tank|terrarium"
    r"|beehives?|hives?|bees|olive trees|fireplace|wood burner|3d printer|raspberry pi|nas|hearing aids?|wheelchair"
    r"|pacemaker|passport|visa|licen[cs]e|mortgage|pension|savings|credit cards?|debt|loan|inheritance"
)
KIN: Final = (
    rf"{alternatives(PEOPLE)}|kids|children|sons|daughters|brothers|sisters|girls|boys|twins|siblings|grandkids"
)
BODY: Final = (
    r"knees?|hips?|back|shoulders?|elbows?|wrists?|ankles?|neck|heart|liver|kidneys?|lungs?|thyroid|eyes?|eyesight"
    r"|vision|hearing|skin|stomach|gut|blood pressure|blood sugar|cholesterol|iron|immune system|teeth|jaw|feet|foot"
    r"|hands?|legs?|arms?|spine|discs?|joints|sinuses|period|pregnancy|height|weight|blood type"
)
ROLES: Final = (
    rf"{alternatives(tuple(JOBS))}|sysadmin|dev|devs|postdoc|head of|lead|team lead|leader|owner|landlord|landlady"
    r"|immigrant|expat|refugee|veteran|widow|widower|citizen|resident|parent|mum|mom|dad|father|mother|grandmother"
    r"|grandfather|grandparent|grandma|grandpa|carer|caregiver|orphan|only child|twin|oldest|youngest|eldest"
    r"|middle child|volunteer|trustee|councillor|governor|chair|treasurer|captain|member"
    r"|undergrad\w*|graduate|sophomore"
    r"|freshman|junior|senior|phd|master's|trainee|apprentice|school ?teacher|teaching assistant|paralegal|solicitor"
    r"|barrister|radiographer|paediatric\w*|\w+(?:ologist|ographer|ician|iatrist|therapist|keeper|smith|wright)"
    r"|contractor|handyman|roofer|joiner|locksmith|decorator|landscaper|florist|jeweller|potter|weaver|blogger"
    r"|youtuber|streamer|podcaster|novelist|poet|playwright|copywriter|columnist|reporter|publisher|recruiter"
    r"|trader|auditor|actuary|underwriter|bookkeeper|treasurer|buyer|merchandiser|estate agent|civil servant"
    r"|social worker|youth worker|support worker|product manager|project manager|scrum master|night shift|night owl"
    r"|early riser|morning person|introvert|extrovert|smoker|non-smoker|vegetarian|vegan|muslim|christian|jew|hindu"
    r"|buddhist|catholic|atheist|quaker|sikh|beekeeper|gamers?|birder|birdwatcher|runner|cyclist|swimmer|climber|hiker"
    r"|knitter|collector|nerd|geek|board gamers|marathoner|triathlete|sailor|diver|skier|dancer|goalkeeper|drummer"
    r"|guitarist|pianist|violinist|cellist|bassist|singer|chess player|player|fan|lover|enthusiast|reader|man|woman"
    r"|guy|girl|bloke|male|female"
)
HAPPENINGS: Final = (
    r"wedding|party|test|exams?|finals|interview|surgery|operation|procedure|appointment|check-?up|scan|flight|train"
    r"|ferry|trip|holiday|vacation|honeymoon|move|moving|funeral|wake|memorial|birthday|\d\dth|\d\dst|anniversary"
    r"|graduation|reunion|conference|talk|lecture|concert|gig|play|show|recital|race|marathon|half|10k|match|game"
    r"|tournament|deadline|court|hearing|trial|start date|ceremony|baptism|christening|baby shower|hen do|stag do"
    r"|offsite|retreat|workshop|presentation|viva|defen[cs]e|exhibition|festival|visit|delivery|lease|contract|visa"
    r"|tenancy|course|semester|term|internship|apprenticeship|placement|probation|launch|opening|audition|competition"
    r"|performance|open day|barbecue|bbq|camping|cruise|safari|tour|rehearsal|due|date|meeting|event|sale|auction"
    r"|boiler|engineer|plumber|electrician|inspector|inspection|survey|completion|closing|treatment|transplant|chemo"
    r"|eid|ramadan|christmas|easter|diwali|hanukkah|passover|bar mitzvah|bat mitzvah|quincea\w+|parents' evening"
    r"|sports day|nativity|quiz|cup|final|semi-?final|championship|regatta|gala|fundraiser|market"
    r"|fair|demo|pitch|resit|retake|crash|accident|baby|shower|prom|vote|election|harvest|recital"
    r"|christening"
)
OFTEN: Final = (
    r"(?:every|each) (?:\w+ )?(?:day|night|morning|evening|week|weekend|month|year|summer|winter|spring|autumn|fall"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|christmas|lunch\w*|shift|time|single)"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|at weekends"
    r"|on weekends|on weekdays|(?:once|twice|three times|four times|five times|\w+ times|\d+ ?x"
    r"|\dx) (?:a|per|each|every)"
    r" (?:day|week|month|year)|(?:\d+|\w+) (?:days|nights|hours|hrs|times) (?:a|per|each) (?:day"
    r"|week|month)|daily|weekly"
    r"|before (?:work|breakfast|bed|school)|after (?:work|dinner|school)|by (?:train|bike|bus|car|tram|ferry)"
    r"|in the (?:mornings|evenings|afternoons|day)|at night|by (?:day|night)|during (?:ramadan|lent|the week)"
    r"|for breakfast|for lunch|all year"
    r"|on the first of|most (?:days|nights|mornings|weekends|evenings|of the)|nightly|until \d|every so often|each way"
)
MOVES: Final = (
    r"(?:moved|relocated|emigrated|immigrated|moving|relocating|emigrating|move|relocate|moving house|moving out)"
)
LIFE: Final = (
    r"(?:been |gotten |got |was |were |just )?(?:married|engaged|divorced|separated|widowed|laid"
    r" off|made redundant|fired"
    r"|promoted|diagnosed|accepted|pregnant|hired|elected|naturali[sz]ed|baptised|evicted|burgled|robbed|scammed)\b"
    r"|(?:broke|fractured|sprained|tore|dislocated|injured|hurt|twisted|pulled) (?:my|our|an?|both|up)\b|broke up\b"
    r"|(?:passed|failed|sat) (?:my|our|the|an?)\b"
    r"|graduated|dropped out|retired|gave birth|became|lost (?:(?:my|our|the|a) (?:\w+ )?(?:job"
    r"|house|home|dad|mum|mom|father|mother|husband|wife|brother|sister|son|daughter|baby|child"
    r"|leg|arm|hearing|sight|faith|licen\w+|pregnancy|grand\w+|dog|cat|friend|farm|business"
    r"|savings|flat)|\w+ (?:kilos|kg|pounds|stone))\b"
    r"|(?:quit|left|resigned) (?:my|our|the|an?|from|smoking|drinking|in|school|uni\w*|teaching|law|home)\b|quit\b"
    r"|had (?:an? |my |our |to have )?(?:\w+ ){0,3}(?:surgery|operation|baby|babies|stroke|heart attack|transplant"
    r"|miscarriage|accident|bypass|replaced|removed|c-section|concussion|breakdown|twins|son|daughter)"
    r"|had to put|finished (?:my|our|an?|chemo\w*|school|uni\w*)\b|start(?:ed)? (?:my|our|a new"
    r"|an?|chemo\w*|hrt|therapy|uni\w*|school"
    r"|work|learning|running|playing)\b"
    r"|finish (?:chemo|my|school|uni)|switched|won (?:an?|the|my)|adopted|fostered|rescued|was born|were born|grew up"
    r"|(?:lived|worked|studied|taught|served|spent|interned|volunteered|trained) (?!for hours|hard|on (?:it|this|that))"
    r"|was (?:an?|the|raised|brought up|born|head|in)\b|used to (?!the\b|this\b)|went (?:back|to"
    r" (?:school|uni\w*|college)|vegan|freelance"
    r"|part-time|blind|deaf|through a)|put \w+ .{0,30}to sleep|accepted (?:the|an?|my)|signed"
    r" (?:up|an?|the|my|our)|bought (?:my|our) first"
    r"|inherited|sold (?:my|our|the)|converted to|came out|emigrated|immigrated|relocated|founded|launched my"
    r"|published (?:my|a)|joined (?:the|an?|my)|enlisted|enrolled|started my|opened (?:my|our|a)|closed (?:my|our)"
    r"|got (?:my|our|the keys|an? (?:new )?(?:job|puppy|dog|cat|kitten|promotion|raise|scholarship|place|offer|divorce"
    r"|diagnosis|tattoo|visa|kitten|autism|adhd)|into|custody|citizenship|sober|laid|tenure|back together)"
    r"|gave up|cut out|stopped (?:eating|drinking|smoking|taking|working|playing|going)|reached|turned \d\d|hit my"
    r"|ran (?:my|a|the|an)|climbed|completed (?:my|an?|the)|booked|agreed|changed (?:my|our) (?:name|mind)s?"
)
AIMS: Final = (
    r"(?:to )?(?:learn (?!from|how|about|more|if|whether|the basics|this|\W|$)\w|become|run"
    r" (?:an?|my|the|for|my own)|write (?:an?|my|the) (?:\w+ )?(?:book|novel|thesis|memoir\w*)"
    r"|read"
    r"|lose|save|pay (?:off|down)|quit|stop|start (?!with|from|by|off|this|the)|open|improve my"
    r" (?:\w+ )?(?:health|fitness|english|spanish|french|german|italian|diet|sleep|grades|credit"
    r"|resume|posture|handwriting|time|mile|swimming|relationship\w*|confidence|memory|vocabulary"
    r"|pronunciation)|get (?:fit|in shape|better|healthier|promoted|married"
    r"|into|an?|out of|back|my|rid|stronger|sober)|move|travel|visit|buy|finish|master|climb|complete|launch|found"
    r"|retire|graduate|emigrate|adopt|have (?:kids|children|a baby|another)|live|be (?:an?|able|more|less|the|fluent"
    r"|better|debt|home)|exercise|sleep|eat|switch|change (?:career|job)s?|go (?:back|to|vegan|freelance|part|on a|into"
    r"|abroad|solo)|apply (?:for|to (?:uni|college|med|law|grad|jobs))|study|train|build (?:an?"
    r"|my|our|up)|grow|earn|make (?:partner|more|friends|it to)|win|pass|speak|play|cycle|swim"
    r"|hike|walk|sail|see|publish|record|raise|set up|do (?:maths|an?|my|a phd|medicine|law)|qualify|conceive|foster"
    r"|cut (?:down|out|back)|beat (?:my|the)|break (?:my|the|into)|work (?:as|in|for|abroad|less"
    r"|part)|spend (?:more|less)|volunteer|meet|keep|learn|teach"
    r"|convert|renovate|restore|knit|bake|cook|dance|perform|compete|join|restart|retrain|downsize|declutter)\b"
)
TASTE: Final = (
    r"(?:loved?|adored?|liked?|enjoy(?:ed)?|hated?|disliked?|detest|loathed?|despised?"
    r"|prefer(?:red)?|can't stand|cant stand"
    r"|cannot stand|can't bear|cannot bear|cant bear|don't like|dont like|do not like|don't enjoy|don't care for|miss"
    r"|have always loved|fear|dread|avoid|don't drink|dont drink|don't eat|dont eat|do not eat|do not drink|don't do"
    r"|don't touch|won't touch|won't eat|won't drink|collect|support|follow|listen to|have a soft spot for"
    r"|have a sweet tooth|have a thing for|live for|swear by|can't get enough of|could eat|dont do|would rather"
    r"|find .{1,40} (?:boring|annoying|relaxing|stressful|overwhelming|exhausting|fascinating|soothing))"
)
VAGUE: Final = (
    r"(?!(?:it|this|that|these|those|them|you|your|the (?:idea|way|first|second|third|last|other|one|answer|version"
    r"|sound|look|option|draft|new|tone|style|structure|approach|concept|fact|suggestion|opening|title|ending|plan)"
    r"|to (?:know|see|hear|say|ask|think|make sure|keep|use|add|understand|get|have|be|try|point|admit|bother)|how|what"
    r"|when|where|if|option|both|all of|more|some|one|another|something|someone|anything|nothing|an example|help"
    r"|being able|working with you|our|talking to you|doing this)\b)"
)


@dataclass(frozen=True, slots=True)
class OpenPattern:
    """One row: how the sentence begins, or what stands in it, and what kind of fact it then is."""

    kind: Kind
    says: re.Pattern[str]
    confidence: float = SURE
    importance: float | None = None
    third_party: bool = False
    health: bool = False
    past: bool = False
    """Whose “on Friday” is the last one."""
    dated: bool = False
    """Only with a date that names a day, a month or a year."""
    machine: bool = True
    """Also where it speaks of code, a form, an answer."""
    starts: str = ""
    """“i” or “my”, where it can begin with nothing else; saves trying it."""
    passing: bool = False
    """Kept although it is said of today: what happened, not how things stand this hour."""


def row(kind: Kind, says: str, **rest: object) -> OpenPattern:
    """A row from the words it begins with; “…” in it stands for anything, within its sentence."""
    compiled = re.compile(says.replace("…", r"[^\n]{0,120}?"), re.I)
    starts = "my" if says.startswith(MY) else "i" if says.startswith((I, IM, IVE, f"(?:{IVE}", "(?:i")) else ""
    machine = NO_MACHINE not in says
    return OpenPattern(kind, compiled, starts=starts, machine=machine, **rest)  # type: ignore[arg-type]


NO_MACHINE: Final = "(?#no machine)"
"""Stands in a row that does not hold for what is spoken of while one works on it (`MACHINE`)."""
ABOUT_A_MACHINE = re.compile(rf"^.{{0,90}}?\b(?:{MACHINE})\b", re.I)
NEVER_FIRST = re.compile(
    r"^(?:i|we|i'm|i've|im|ive|we're|we've|i am|i have|i'll|i'd)(?: \w+){0,3}? (?:it|this|that"
    r"|them|these|those|the following)\b(?! (?:day|one day|year|month|week|summer|winter|spring"
    r"|autumn|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|girl|guy))",
    re.I,
)
"""Its object means nothing without the sentence before."""

OPEN_PATTERNS: Final[tuple[OpenPattern, ...]] = (
    # what others did to the user, what stands in their house, and what they promised themselves
    row(
        Kind.EVENT,
        r"(?:somebody|someone|they|burglars|thieves|kids|a \w+) (?:broke into|stole|nicked|robbed"
        r"|vandali[sz]ed|smashed|crashed into"
        r"|drove into|keyed|ran over) (?:my|our) ",
        past=True,
        passing=True,
    ),
    row(
        Kind.ENTITY,
        r"there(?:'s| is| are) (?:an?|two|three|four) [\w' -]{2,30} in (?:(?:my|our) (?:family|house|garden"
        r"|garage|flat|attic|basement"
        r"|shed|building|street|village|kitchen)|the family)\b",
        confidence=ASK,
    ),
    row(
        Kind.FACT,
        r"(?:everything|nothing|everyone|everybody|nobody) (?:in|at) (?:my|our) (?:kitchen|house|home|family"
        r"|flat|office) (?:is|has|eats"
        r"|drinks|speaks|wears)\b",
        confidence=ASK,
    ),
    row(
        Kind.CONSTRAINT,
        r"(?:(?:my|our|the) )?(?:rent|budget|price|total|fee|deposit|commute) (?:can't|cannot|mustn't"
        r"|shouldn't) (?:go|be|cost|exceed) "
        r"(?:above|over|more than|beyond|longer than|\d)",
    ),
    row(
        Kind.BIOGRAPHY,
        r"(?:they|the \w+(?: \w+)?|my \w+)(?:'ve| have|'s| has)? (?:just |finally "
        r"|recently )?(?:made me (?:an? |the )?(?:head"
        r"|director|manager|captain|chair\w*|lead\w*|partner|president|editor|deputy|supervisor|team|permanent|redundant"
        r"|godmother|godfather|treasurer|secretary)|(?:appointed|promoted|elected|hired|headhunted) me)\b",
        past=True,
    ),
    row(
        Kind.GOAL,
        r"(?:i|we)(?:'ve| have)? (?:promised|sworn to|vowed to) (?:myself|ourselves) (?:that )?(?:i'd|i would"
        r"|i'll|we'd|we'll|to) "
        r"(?!look|check|try|read|be )\w",
    ),
    row(
        Kind.PREFERENCE,
        r"(?:i|we)(?:'ll| will|'d) (?:read|watch|eat|drink|listen to|play) (?:anything|everything|whatever) \w",
    ),
    row(
        Kind.PREFERENCE,
        r"what (?:(?:got|gets|has|keeps) me (?:hooked|going|sane)|(?:i|we) (?:really |always )?(?:love|like"
        r"|enjoy|hate|miss"
        r"|adore|dread))\b[\w' ]{0,30}? (?:is|are) (?!that (?:you|it)|how you|the way you)\w",
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{IVE}(?:come|came|moved|gone|went|returned) (?:back |home )?to (?!(?:it|this|that|you|the)\b)(?-i:[A-Z])",
    ),
    row(
        Kind.ENTITY,
        rf"{IVE}(?:just )?(?:brought home|taken in|took in|picked up|taken on|took on) (?:an?|two|three|our|my) "
        rf"(?:[\w-]+ ){{0,3}}(?:{CREATURES})\b",
        past=True,
    ),
    row(
        Kind.PROCEDURE,
        rf"{IM}(?:in bed|asleep|up and about|at my desk|out of the house|home) (?:by|before|from|until) "
        r"(?:\d|half|five|six|seven|eight|nine|ten|eleven|midnight|noon)",
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{I}do (?!it\b|this\b|that\b|so\b)[\w' -]{{3,30}}? (?:from home|for a living|part[- ]time"
        rf"|full[- ]time|on the side)\b",
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{I}(?:have|hold|did) (?:an?|my|two) (?:[\w-]+ )?(?:degree|diploma|phd|doctorate|masters?|licen[cs]e"
        rf"|certificate|qualification"
        r"|apprenticeship|bachelor's|master's)\b",
    ),
    row(Kind.BIOGRAPHY, rf"{I}identify as \w"),
    row(Kind.FACT, r"home(?:'s| is) (?:an? (?!mess|mile)|in (?-i:[A-Z])|on (?-i:[A-Z]))"),
    row(Kind.PROCEDURE, rf"{IM}up (?:at|by|before|until|till) …\b(?:{OFTEN})"),
    row(
        Kind.PROCEDURE,
        r"(?:every|each|most) [\w' ]{3,30}?,? it(?:'s| is) (?!(?:been|going|the same|about|hard|so|really|not)\b)\w",
    ),
    row(
        Kind.EVENT,
        r"(?:the|our|my) (?:removal (?:van|men|people|firm|company)|movers|midwife|surveyor|plumber"
        r"|electricians?|builders|engineer"
        r"|inspector|inspectors|fitters?|scaffolding|kitchen|sofa|fridge|boiler|piano|baby|in-laws|skip"
        r"|locksmith|au pair)"
        r" (?:comes?|arrives?|is coming|are coming|is due|are due|gets here|is being (?:delivered|fitted|installed))\b",
        dated=True,
    ),
    row(
        Kind.CONSTRAINT,
        rf"{IM}(?:\w+ )?(?:{IMPAIRED})$",
        health=True,
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{I}(?:do|take|attend|go to|am in) (?:an? )?(?:evening|night|weekend|online|weekly|saturday"
        rf"|sunday) (?:class|classes|course"
        r"|lessons?) (?:in|on|at) \w",
    ),
    row(
        Kind.EVENT,
        rf"{I}had (?:my|our|an?|all my|both) [\w' -]{{2,30}}? (?:out|removed|taken out|replaced|pinned|amputated)\b",
        health=True,
        past=True,
    ),
    row(
        Kind.FACT,
        r"the (?:firm|company|school|hospital|shop|studio|agency|charity|start-?up|place|team|lab|office|bank"
        r"|hotel|restaurant)"
        r" (?:that )?(?:i'm|i am|we're|we are) (?:with|at|in) \w",
    ),
    # the body
    row(
        Kind.CONSTRAINT,
        rf"{IVE}(?:got |get |suffer from |live with |struggle with |been diagnosed with |was diagnosed"
        rf" with |had )(?:…\b)?(?:{AILMENTS})\b",
        health=True,
    ),
    row(Kind.CONSTRAINT, rf"(?:i've|ive|i have|we have) …\b(?:{AILMENTS})\b", health=True),
    row(
        Kind.CONSTRAINT,
        rf"{IM}(?:on|taking|allergic to|intolerant to|sensitive to|prone to) …\b(?:{MEDICINE})\b",
        health=True,
    ),
    row(
        Kind.CONSTRAINT,
        rf"{I}(?:take|use|inject) …\b(?:{MEDICINE}|inhaler|wheelchair|crutches|walking stick|cane"
        rf"|screen reader|hearing aids?|walker|mobility scooter|cpap)\b",
        health=True,
    ),
    row(
        Kind.CONSTRAINT,
        rf"{IM}(?:a (?:\w+ )?(?:coeliac|celiac|diabetic|haemophiliac)|coeliac|celiac|lactose|gluten"
        rf"|dyslexic|autistic|diabetic|asthmatic|epileptic|colou?r-?blind|deaf|(?:legally |registered )?blind"
        rf"|partially sighted"
        rf"|hard of hearing|hiv|in remission|immunocompromised|prediabetic|neurodivergent|sober"
        rf"|teetotal|insulin|\d+ (?:weeks|months) pregnant|pregnant|allergic|intolerant|recovering"
        rf" from|in recovery|prone to|phobic|terrified of|scared of|afraid of|claustrophobic"
        rf"|short-sighted|left-handed)\b",
        health=True,
    ),
    row(Kind.BIOGRAPHY, rf"{IM}(?:\w+ )?\w+ (?:days|weeks|months|years) (?:sober|clean|into recovery)", health=True),
    row(Kind.CONSTRAINT, rf"{IM}(?:vegan|vegetarian|pescatarian|kosher|halal|plant-based|keto)\b"),
    row(
        Kind.CONSTRAINT,
        rf"{I}(?:can't|cannot|cant|can not|mustn't|shouldn't) (?:really )?(?:eat|drink|have|lift|jump"
        rf"|walk|drive|fly|swim|digest|tolerate|stand for|climb|sit for|bend|kneel|do (?:stairs|dairy"
        rf"|gluten|sundays|mondays|evenings|high impact)|work (?:on |at )?(?:sun|mon|tues|wednes|thurs"
        rf"|fri|satur|week|night|evening)\w*|handle|wear|hear out|see (?:well|colou?rs|red)|smell"
        rf"|afford)\b",
    ),
    row(
        Kind.CONSTRAINT,
        rf"{IM}not (?:allowed|supposed|able|meant) to (?:eat|drink|have|lift|run|jump|walk|drive|fly"
        rf"|work|take|travel|leave)\b",
    ),
    row(
        Kind.CONSTRAINT,
        r"(?:i |we )(?:only |just )?(?:have|got|'ve got) (?:only |just )?(?:\w+|\d+) ?(?:min\w*"
        r"|hours?|hrs?|evenings?|days?) (?:a|per|each) (?:day|week|night)\b",
    ),
    row(
        Kind.CONSTRAINT,
        rf"{MY}(?:{BODY})\b ?(?:'s|'re|is|are|was|has|have|won't|doesn't|don't|can't|clicks?|gives?"
        rf"|keeps?|locks?|were) {NO_MACHINE}(?!killing|at \d+%|sore|stiff|tired|aching|a mess|terrible"
        rf" today)",
        health=True,
        confidence=ASK,
    ),
    row(Kind.CONSTRAINT, r"(?:we|i) (?:can|could) (?:only )?spend …\d", confidence=FAIR),
    row(Kind.CONSTRAINT, rf"{MY}(?:budget|rent|income|salary|deposit)(?:'s| is| has) …\d", confidence=ASK),
    row(Kind.CONSTRAINT, rf"(?:{IVE})(?:a )?(?:tight |total )?budget of …\d", confidence=ASK),
    row(
        Kind.CONSTRAINT,
        r"(?:none|neither|not all) of us (?:drinks?|eats?|smokes?|drives?|swims?|likes?|speaks?|have"
        r"|has)\b",
    ),
    # people and animals of the user's
    row(
        Kind.PERSON,
        rf"{MY}(?:\w+ )?(?:{KIN})(?:\b(?!'s)(?=(?: \S+){{2}})(?!(?: [A-Z]\w+)? (?:wants (?:me|us|an?"
        rf"|the)|keeps asking|keeps saying|asked|asks|told|expects|said|used to say|gave me|keeps?"
        rf" (?:asking|saying|telling))\b)|'s (?=(?:got|been|a|an|the|in|on|\w+ing|\d|\w+\b(?= and"
        rf"|$))))",
        third_party=True,
        passing=False,
    ),
    row(
        Kind.PERSON,
        rf"(?:one|two|three|four|some) of (?:my|our) (?:\w+ )?(?:{KIN}|students|pupils|colleagues"
        rf"|friends|clients)\b",
        third_party=True,
    ),
    row(Kind.EVENT, rf"{MY}(?:{KIN})(?: [A-Z]\w+)?'s …(?:{HAPPENINGS})\b", third_party=True, dated=True, past=False),
    row(
        Kind.PERSON,
        rf"{IVE}(?!\d\d )(?:got |raised |raising |expecting )?(?:…\b)?(?:{KIN})\b(?! who (?:said|says"
        rf"|asked|told|thinks))",
        third_party=True,
    ),
    row(Kind.PERSON, rf"{I}share (?:an office|a flat|a room|a house|a desk|custody) with ", third_party=True),
    row(
        Kind.PERSON,
        rf"{IM}(?:married to|engaged to|dating|seeing (?:an?|my)|living with (?:my|an?|the)|in love"
        rf" with|the (?:son|daughter|grandson) of|caring for|looking after|raising|the (?:mother"
        rf"|father|parent) of|marrying|close to my)\b(?! (?:a lot|this|that|some))",
        third_party=True,
    ),
    row(Kind.ENTITY, rf"{MY}(?:[\w-]+ ){{0,2}}(?:{CREATURES})\b(?! in (?:the|this) (?:story|dream))", confidence=SURE),
    row(
        Kind.ENTITY,
        rf"{IVE}(?:got |adopted |bought |inherited |rescued |fostered |keep |own |had |raise |breed"
        rf" )(?:…\b)?(?:{CREATURES})\b",
        past=True,
        passing=True,
    ),
    row(Kind.ENTITY, rf"(?:i've|ive|i have|we've|we have) (?:…\b)?(?:{CREATURES})\b"),
    row(Kind.ENTITY, rf"{I}had to put …\bto sleep\b", past=True, passing=True),
    # what happens when
    row(
        Kind.EVENT,
        rf"(?:the |my |our |this |a )?(?:[\w'-]+ ){{0,3}}(?:{HAPPENINGS})\b(?: [\w'-]+){{0,4}}?(?:"
        rf" (?:is|are|'s|was|were|starts?|started|begins?|began|ends?|ended|leaves?|takes place|took"
        rf" place|has been moved|got moved|falls|comes?|died|broke|lands|expires?|runs out|will be"
        rf"|due)\b|,? in | on | next | this | last |:? \d| tomorrow| tmrw)…",
        dated=True,
        confidence=FAIR,
        third_party=False,
    ),
    row(
        Kind.EVENT,
        rf"{IM}(?!using|trying to|working on|getting (?:this|an? (?:error|\w+Error))|looking|wondering"
        rf"|thinking|asking|sure|not sure|kinda|planning to (?:use|implement|add)"
        rf"|stuck){NO_MACHINE}\w+(?:ing\b| to\b)…",
        dated=True,
        confidence=FAIR,
    ),
    row(Kind.EVENT, rf"(?:{IVE})(?:{LIFE})", dated=True, past=True, passing=True),
    row(
        Kind.EVENT,
        rf"(?:i|we)(?:'ll| will|'ve booked|'ve got| have| fly| leave| move| start| finish| travel| go|"
        rf" begin| launch| give| take| meet| see| get| sit| arrive| land| host| graduate|"
        rf" retire)\b{NO_MACHINE}(?! (?:to (?:know|see|ask|understand|make|use|have|be|get|do|add"
        rf"|create)|nothing|a question|an? (?:issue|problem|error|bug))\b)…",
        dated=True,
        confidence=FAIR,
    ),
    row(
        Kind.EVENT,
        rf"{MY}(?!(?:\w+ )?(?:{KIN})\b|question|problem|issue|goal|dream"
        rf"|favou?rite){NO_MACHINE}(?:[\w'-]+ ){{1,3}}(?:is|are|was|were|died|broke|leaves?|starts?"
        rf"|ends?|comes?|arrives?|expires?|had|got)\b…",
        dated=True,
        past=False,
        confidence=FAIR,
    ),
    row(
        Kind.EVENT,
        rf"(?:i|we) {ADVERBS}(?!made|said|thought|noticed|tried|asked|wanted|needed|fixed|used|had"
        rf" (?:dinner|lunch|breakfast|a (?:coffee|chat|call|meeting|drink))|made|ate|cooked|completed"
        rf"|implemented|updated|added|created|started working)(?:had|went|did|saw|met|took|gave|came"
        rf"|flew|drove|ran|sold|bought|began|caught|spent|won|lost|left|\w{{3,}}ed){NO_MACHINE} ",
        dated=True,
        past=True,
        confidence=ASK,
    ),
    row(
        Kind.EVENT,
        rf"(?:i|we) {ADVERBS}(?:postponed|cancelled|canceled|moved|rescheduled|called off|brought"
        rf" forward|booked|planned) (?:the|my|our|an?) {NO_MACHINE}",
        confidence=FAIR,
        passing=True,
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{I}keep (?!getting|trying|on\b|it\b|this|having|seeing|asking|my\b|the\b|in\b|these"
        rf"|those)(?:\w+ )?\w+s\b{NO_MACHINE}",
        confidence=FAIR,
    ),
    row(
        Kind.PERSON,
        r"there(?:'s|s| is) (?:this |an? )(?:guy|girl|woman|man|colleague|kid|bloke|lady|person)"
        r" (?:at|in|from) [\w' ]+, (?-i:[A-Z])\w+",
        third_party=True,
    ),
    # life
    row(
        Kind.BIOGRAPHY,
        rf"{IVE}{MOVES} (?!on\b|it\b|this\b|that\b|forward|past|ahead|the (?:code|file|function)|to"
        rf" the (?!u[ks]|usa|netherlands|coast|country|city|suburb|philippines|states|north|south|east"
        rf"|west|island|mountain|area|capital))",
        past=True,
        passing=True,
    ),
    row(
        Kind.EVENT,
        rf"{IM}{MOVES}\b(?! (?:on|forward|ahead|away|towards|it|this|that|the (?:code|file|function"
        rf"|data))\b)",
        confidence=FAIR,
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{IVE}been (?:in|at|living|working|teaching|married|single|together|with|doing|a|an|based"
        rf"|playing|learning|studying|running|journaling|journalling|writing|vegan|vegetarian"
        rf"|vegetarian|sober|keeping|making|volunteering|unemployed|self-employed|retired|freelanc\w+"
        rf"|on) (?!looking|trying|thinking|wondering|there|this|that|it|\w+ing for (?:an?|one|two"
        rf"|three|\d+) (?:hours?|days?|weeks?)$){NO_MACHINE}…",
    ),
    row(Kind.EVENT, rf"{IVE}(?:{LIFE})(?! (?:it|this|that) )", past=True, passing=True, confidence=FAIR),
    # work, study, home, belongings
    row(
        Kind.BIOGRAPHY,
        rf"{IM}(?!\w+ing\b)(?:an?|the|one of the|your typical|basically an?)? ?(?:[\w/&'-]+"
        rf" ){{0,4}}?(?:{ROLES})\b(?! of (?:the (?:opinion|view)))",
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{IM}(?:\d+|\w+) (?:backend |frontend |people|devs|of us|staff|employees|siblings|teachers"
        rf"|nurses|doctors|engineers|developers)",
        confidence=FAIR,
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{IM}(?:based|living|located|staying|working|employed|stationed|posted|studying|teaching"
        rf"|training|enrolled|registered|self-employed|freelanc\w+|between jobs|retired|unemployed|on"
        rf" (?:maternity|paternity|parental|sick|medical) leave|on benefits|on a (?:visa|student)"
        rf"|doing (?:an?|my|the|postdoc|gcses|a-levels)|majoring|volunteering|interning|in (?:charge"
        rf" of|my (?:first|second|third|final|last|\w+ year|\d+s)|year \d|recovery|the army|the navy"
        rf"|sixth form|high school|secondary|college|grad school|procurement|sales|finance|marketing)"
        rf"|divorced|single|widowed|married|originally|native|fluent|bilingual|half|in (?:a|the)"
        rf" (?:polyamorous|long-distance|band|choir|wheelchair))\b(?! (?:on|with|through|from home"
        rf" today)\b){NO_MACHINE}",
    ),
    row(
        Kind.BIOGRAPHY,
        r"(?:i'm|i am|im|I'm|we're|we are|We're) (?:both |now |currently |still )?(?:in|from|near"
        r"|outside|over in) (?:an? \w+(?: \w+)? (?:in|near|outside) )?(?:the |northern |southern "
        r"|eastern |western |rural |central |downtown |north |south )?(?-i:[A-Z])\w+(?! (?:mode"
        r"|class))",
        confidence=FAIR,
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{I}(?:run|own|manage|lead|teach|coach|supervise|volunteer|freelance|co-own|co-run|report to"
        rf"|serve|do payroll|do \w+ing for|edit|tutor|chair|organi[sz]e|direct|mentor|foster|import"
        rf"|export|sell|breed|farm|study|major|attend|go to (?:school|uni\w*|college|church|mosque"
        rf"|synagogue)|train as|am doing|earn|make (?:\d|[£$€])|owe|translate|interpret|look after"
        rf"|care for|work (?!it|this|that|out|through|around|hard|well|best|on (?:it|this|that|the"
        rf"|a)\b)|live (?!it|in fear|with (?:it|this|that)|chat)|speak|grew|come from|belong|hold an?"
        rf"|practi[sc]e|rent|do (?:research|freelance|shift|night))\b{NO_MACHINE}(?! (?:it|this|that"
        rf"|into|out|through|the (?:numbers|risk)|a (?:query|test|risk))\b)",
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{MY}(?:team|company|business|firm|startup|start-up|shop|store|school|office|lab|department"
        rf"|charity|church|band|choir|employer|job|work|commute|shift|shifts|degree|major|thesis|phd"
        rf"|dissertation|apprenticeship|internship|course|hometown|home town|nationality|background"
        rf"|family|parents|ancestors|native language|mother tongue|first language|surname|last name"
        rf"|maiden name|nickname|accent|religion|faith|time ?zone|address|street|neighbou?rhood"
        rf"|village|town|city|country|gym|club|pronouns|star sign|degree|salary|income"
        rf"|{alternatives(tuple(NATIONALITIES))})\b,? ?{NO_MACHINE}(?:…\b)?(?:is|are|was|has|have"
        rf"|sells?|makes?|uses?|does|do|starts?|ends?|runs?|'s|changed|consists?|comes?|lives?|meets?"
        rf"|plays?|takes?)\b",
    ),
    row(
        Kind.ENTITY,
        rf"{MY}(?:[\w-]+ ){{0,2}}(?:{POSSESSIONS})(?: \([^)]*\))?(?:'s| is| are| was| has| have| does|"
        rf" needs| runs| hasn't| hasnt| isn't| cuts| keeps| came| faces) (?!at \d+ ?%|at \d+ percent"
        rf"|dead|not working|slow|down|full|broken|on fire|a mess|a tip|a spaceship|freezing|acting)",
        confidence=FAIR,
    ),
    row(
        Kind.ENTITY,
        rf"{IVE}(?:own|inherited|bought|built|restored|renovated|rent|drive|ride|collect|co-own|lease"
        rf"|purchased) (?:an?|my|our|the|two|three|one|some|\d+|old|vintage|lots)\b{NO_MACHINE}",
        past=True,
        passing=True,
    ),
    row(
        Kind.ENTITY,
        rf"(?:{IVE})(?:only |just )?(?:have|got|'ve got|have got|own|use|bought)? ?{DET} (?:[\w'-]+"
        rf" ){{0,4}}(?:{POSSESSIONS})\b",
        confidence=FAIR,
    ),
    row(Kind.ENTITY, r"(?:it's|its|it is) the one (?:we|i) have at home", confidence=FAIR),
    # habits
    row(Kind.PROCEDURE, rf"the user \w+ (?:…\b)?(?:{OFTEN})"),
    row(Kind.PROCEDURE, rf"{I}(?:split|share|take turns) (?:the|our|all|with|on)\b"),
    row(Kind.PREFERENCE, rf"{I}want no \w"),
    row(Kind.PREFERENCE, r"[\w' -]{2,30} over [\w' -]{2,30} (?:always|any ?day|every time)$"),
    row(
        Kind.PERSON,
        r"(?-i:[A-Z])\w+ and i (?:have been|are|were|met|share|work|live|went|got|run|grew)\b",
        third_party=True,
    ),
    row(
        Kind.PERSON,
        r"there(?:'s|s| is) (?:this|an?) (?:girl|guy|boy|woman|man|colleague|kid|bloke|lady)"
        r" (?-i:[A-Z])\w+ (?:in|at|from) my",
        third_party=True,
    ),
    row(Kind.DECISION, rf"{I}plan to \w{NO_MACHINE}(?!\w* (?:it|this|that)\b)", confidence=ASK),
    row(Kind.PROCEDURE, rf"(?:(?:{OFTEN}),? )(?:i|we) \w+"),
    row(
        Kind.PROCEDURE,
        rf"(?:i|we) (?!need\b|want\b|keep getting\b|have to\b|should\b|was\b|were\b|think\b|am\b"
        rf"|'){NO_MACHINE}\w+ (?:…\b)?(?:{OFTEN})",
    ),
    row(Kind.PROCEDURE, rf"{IM}(?!trying|working on|using){NO_MACHINE}\w+ing\b…\b(?:{OFTEN})", confidence=FAIR),
    row(
        Kind.PROCEDURE,
        rf"{I}(?:play|sing|swim|cycle|climb|knit|bake|garden|journal|meditate|fast|paint|sew|surf|ski"
        rf"|dance|hike|jog|box|row|sail|fish|hunt|brew|forage|commute|crochet|quilt|draw|birdwatch"
        rf"|busk|pray|camp|dive|ferment|homeschool|compost|carpool)\b(?! (?:it|this|that|around|with"
        rf" (?:it|this|that|the))\b){NO_MACHINE}",
    ),
    row(
        Kind.PROCEDURE,
        rf"{MY}(?:usual|go[- ]to|regular|standard|normal|typical|daily|morning|evening|weekly) (?:[\w"
        rf" -]{{1,30}} )?(?:is|are|consists)\b",
    ),
    row(
        Kind.PROCEDURE,
        rf"{IVE}(?:never|always) (?:eaten|drunk|smoked|driven|been to|flown|owned|had a|learned|learnt"
        rf"|swum|skied|worn|cooked|lived)\b",
        confidence=FAIR,
    ),
    row(
        Kind.PROCEDURE,
        rf"{I}(?:don't|dont|do not) (?:eat|drink|smoke|own|have (?:an?|any) (?:car|tv|oven|phone"
        rf"|licen[cs]e|microwave|freezer|garden)|drive|speak|fly|cook|wear)\b",
    ),
    row(
        Kind.PROCEDURE,
        rf"{MY}(?:partner|wife|husband|\w+) (?-i:[A-Z])\w+ and i (?!are\b|were\b|have a question)\w+",
        third_party=True,
    ),
    # tastes
    row(Kind.PREFERENCE, rf"{IVE}(?:{TASTE}) {VAGUE}{NO_MACHINE}\w"),
    row(Kind.PREFERENCE, rf"{I}(?:really |both )*(?:{TASTE}) {VAGUE}{NO_MACHINE}\w"),
    row(
        Kind.PREFERENCE,
        rf"{IM}(?:so |really |pretty |not |a |an |big |huge |massive |such |very |more |the )*(?:sick"
        rf" of|tired of|fed up with|bored of|fan of|fond of|keen on|into|obsessed with|addicted to"
        rf"|crazy about|mad about|picky about|nerd|geek|[\w ]{{2,30}} (?:fan|lover|person|nerd|geek"
        rf"|guy|girl|type|gamers))\b(?! (?:it|this|that|you|your)\b)(?! the (?:answer|idea|way))",
    ),
    row(Kind.PREFERENCE, rf"(?:\w+ is |{MY})…\b(?:least |most )?favou?rite\b"),
    row(
        Kind.PREFERENCE,
        r"(?!this|that|it|these|those|you|your|the (?:answer|idea|last)|which|what)(?:[\w'-]+"
        r" ){1,5}(?:drains?|makes?|freezes?|bores?|stresses?|overwhelms?|relaxes?|calms?|terrif(?:y"
        r"|ies)|scares?|annoys?|irritates?|exhausts?|triggers?|confuses?|disgusts?|soothes?|gives?"
        r"|calm|drives?|sends?|puts?) me\b(?! (?:an? (?:error|idea|hint|answer)|the (?:error|same"
        r"|wrong|answer|following)|think|wonder|sure)\b)(?: |$)",
        confidence=FAIR,
    ),
    row(Kind.PREFERENCE, r"nothing (?:beats|better than|like) [\w' -]+?(?: for me)?$"),
    row(Kind.PREFERENCE, r"[\w' -]{3,40} (?:taste|smell|feel|sound)s? (?:of|like) [\w' -]+ to me", confidence=FAIR),
    row(
        Kind.PREFERENCE,
        r"[\w' -]{2,40} (?:is|are|isn't|aren't) (?:not |just |really |totally )*(?:my|our) (?:jam"
        r"|thing|happy place|comfort \w+|guilty pleasure|weakness|cup of tea|go-to|kryptonite|bag"
        r"|idea of|nightmare|pet peeve|passion)\b",
    ),
    row(
        Kind.PREFERENCE,
        r"[\w' -]{2,40} (?:is|are) not (?:my thing|for me|my cup of tea)|[\w' -]{2,40} (?:isn't"
        r"|aren't) for me",
    ),
    row(Kind.PREFERENCE, r"(?:give me|i'll take|i'd take) …(?:over|any ?day|any ?time)\b"),
    row(Kind.PREFERENCE, r"(?!it\b|this\b|that\b)[\w' -]{3,40} (?:does|do) (?:nothing|it) for me$"),
    row(Kind.PREFERENCE, r"i could …(?:all day|for ever|forever|every day|for hours)\b"),
    row(
        Kind.PREFERENCE,
        rf"{IM}(?:an? )?(?:total |real |bit |absolute )*(?:sucker for|big on|partial to|hooked on"
        rf"|passionate about|nuts about|not big on|not one for)\b",
    ),
    row(Kind.PREFERENCE, rf"{I}have (?:an? )?(?:\w+ )?(?:weakness|thing|soft spot|passion|love|sweet tooth|crush)\b"),
    row(
        Kind.EVENT,
        r"(?:the|my|our) [\w' -]{2,40} (?:is|was|has|got|have|were)(?: been)? (?:cancelled|canceled"
        r"|postponed|called off|rescheduled|brought forward|moved to)\b",
        confidence=FAIR,
    ),
    row(
        Kind.BIOGRAPHY, rf"(?:i|we) (?:no longer|stopped|gave up|ended up) {NO_MACHINE}\w+", past=True, confidence=FAIR
    ),
    row(Kind.BIOGRAPHY, rf"{IM}not [\w -]{{3,40}} any ?(?:more|longer)\b", confidence=FAIR),
    row(
        Kind.CONSTRAINT,
        rf"{I}(?:can only|keep (?:kosher|halal)|observe|have to (?:avoid|take|wear|leave by|be home"
        rf"|stay off|rest|watch my|eat)|must (?:avoid|take|wear|not))\b{NO_MACHINE}",
    ),
    row(
        Kind.BIOGRAPHY,
        rf"{IM}(?:resitting|retaking|revising|cramming|auditing|repeating|taking (?:an? |my )?(?:\w+"
        rf" )?(?:course|class|classes|lessons|a-levels|gcses|year out|gap year|night class))\b",
    ),
    # goals and decisions
    row(
        Kind.GOAL,
        rf"(?:i|we)(?:'d| would)? {ADVERBS}(?:want|wanna|hope|plan|intend|aim|like|love|need|dream)(?:"
        rf" to| of) {NO_MACHINE}\w+ …(?:one day|some ?day|this year|next year|by (?:the|20|summer"
        rf"|christmas|my|january|february|march|april|may|june|july|august|september|october|november"
        rf"|december)|before (?:i|my|the|summer|christmas|winter)|eventually|within|in (?:the next|two"
        rf"|three|four|five|\d+) )",
        confidence=FAIR,
    ),
    row(
        Kind.GOAL,
        rf"{IM}(?:trying|hoping|planning|aiming|looking|wanting) to {NO_MACHINE}\w+ …(?:one day|some"
        rf" ?day|this year|next year|by (?:the|20|summer|christmas|my|january|february|march|april|may"
        rf"|june|july|august|september|october|november|december)|before (?:i|my|the|summer|christmas"
        rf"|winter)|eventually|within)",
        confidence=FAIR,
    ),
    row(
        Kind.DECISION,
        rf"{IVE}(?:decided|chosen|picked|settled|agreed|opted|accepted|made up my mind(?= (?:to|that|about"
        rf"|on)\b)|turned down"
        rf"|declined|committed|resolved|signed up)\b(?! (?:on |to |for |with |against )?(?:it|this"
        rf"|that|the (?:following|first|second|third|last|other|one|option|version|draft|shorter"
        rf"|longer)|option|version|your)\b)(?! yet)",
    ),
    row(
        Kind.DECISION,
        rf"{IM}(?:going (?:(?:with|for) (?!it|this|that|the (?:first|second|third|last|other|one"
        rf"|option|version|draft|shorter|longer)|option|version|your|plan)|vegan|vegetarian|freelance"
        rf"|part-time|back to (?:school|uni\w*|work)|to be (?:an?|the))|not (?:renewing|going (?:to"
        rf"|back)|taking|having|buying|selling|moving|doing|coming|joining|inviting)|selling|buying"
        rf"|getting (?:married|divorced|engaged|baptised|braces|surgery|two|three|rid of (?:my|our)|my"
        rf" \w+ (?:off|out|removed|done)|an? (?:\w+ ){0, 2}(?:dog|cat|puppy|kitten|car|bike|house|flat"
        rf"|tattoo|job|divorce|degree|mortgage))|leaving (?:my|the|our)|quitting|switching|dropping"
        rf" out|keeping the|giving up|taking the|renting|adopting|hiring|closing"
        rf"|opening)\b{NO_MACHINE}",
    ),
    row(
        Kind.DECISION,
        rf"(?:i|we)(?:'ll| will| won't) (?:paint|sell|buy (?:an?|the|our|my)|move (?:to|in|out|back)"
        rf"|adopt|rent|renovate|quit|marry|home-?school|build (?:our|the)|stay (?:in|at|with)|leave"
        rf" (?:my|the|our))\b{NO_MACHINE}",
        confidence=ASK,
    ),
    row(
        Kind.GOAL,
        rf"{IM}(?:trying|hoping|aiming|planning|looking|determined|working (?:hard )?(?:towards?|to)"
        rf"|wanting|keen|desperate|saving(?: up)?|dying|considering|thinking of|thinking about"
        rf"|dreaming of|set on|preparing|practi[sc]ing) (?:for |on )?(?:to )?(?:{AIMS}|(?:be|mov|start"
        rf"|leav|retir|adopt|buy|sell|chang|gett|quitt|learn|open|relocat|go)\w*ing\b|an? (?:baby|\w+"
        rf" (?:certificate|exam|marathon|degree|house))|a b2)",
    ),
    row(
        Kind.GOAL,
        rf"{IM}(?:trying for|aiming for|saving(?: up)? for|training for|working towards?|preparing for"
        rf"|applying (?:for|to)|interviewing (?:for|at)|job[- ]hunting|house[- ]hunting|looking for"
        rf" (?:an? (?:new )?(?:job|flat|house|apartment|home|partner|role|position|place to live)"
        rf"|work)|studying for|practi[sc]ing for|hoping for|in the market for)\b{NO_MACHINE}",
    ),
    row(
        Kind.GOAL,
        rf"(?:(?:one|some) ?day,? )?{I}(?:want|wanna|hope|plan|intend|aim|dream|would love|would like"
        rf"|need|wish|aspire)(?: to| of)? (?:{AIMS}){NO_MACHINE}",
        confidence=FAIR,
    ),
    row(
        Kind.GOAL,
        rf"(?:(?:one|some) ?day,? )?(?:i'd|id|we'd|i would|we would) (?:really |one day )?(?:love"
        rf"|like) (?:to |an? )(?:{AIMS}|baby|family|degree){NO_MACHINE}",
        confidence=FAIR,
    ),
    row(
        Kind.GOAL,
        rf"{IM}(?:learning|building|writing (?:an?|my) (?:\w+ )?(?:book|novel|thesis|memoir"
        rf"|dissertation|cookbook|blog|screenplay|play|album)|making an?|developing|designing|creating"
        rf"|working on (?:an?|my)|planning (?:an?|my|our)|organi[sz]ing (?:an?|my|our|the)|renovating"
        rf"|restoring|starting (?:an?|my)|launching|researching|planting|restoring|knitting|training"
        rf"|recording|composing|converting|putting together an?) (?!(?:\w+ )?(?:bug|error|function"
        rf"|problem|question|pull request|task|query|test|issue)s?\b)(?!it|this|that|how|the (?:code"
        rf"|function|query)|an? (?:error|function|query|loop|regex|prompt|reply|email|letter|list"
        rf"|table|class|method|simple function))\w",
        confidence=ASK,
    ),
    row(
        Kind.GOAL,
        rf"{MY}(?:(?:main|big|biggest|next|long-term|ultimate|current|one|new year's|personal|fitness"
        rf"|career|savings) )*(?:goal|dream|aim|ambition|resolution|plan|target|bucket list)s?\b(?! in"
        rf" life is to never)…(?:is|are|'s) ",
    ),
)
"""In the order they are tried."""

PASSING_NOW = re.compile(
    r"\b(?:today|tonight|right now|rn|this minute|a headache|a cold|a hangover|the flu|a cough|a"
    r" sore|a fever|stuck in|on my way|waiting|hungry|too tired|starving|famished|peckish|parched|knackered|sleepy"
    r"|exhausted|a (?:bit of a|slight|splitting) headache|at the moment|this"
    r" (?:morning|afternoon|evening|second|minute|very)|for now|an hour"
    r" ago|in (?:five|ten|\d+) min\w*|in an hour|currently (?:at|on|in)|just now|atm)\b",
    re.I,
)
"""Over before it could be recalled."""
CHAT_TALK = re.compile(
    r"^(?:i|i'm|i am|im|we|we're|i've|i have|ive|my) (?:\w+ )?(?:(?:have|got|having) (?:an?"
    r" )?(?:few |couple of |quick |lot of |another |follow-up )?"
    r"(?:questions?|problems?|issues?|ideas?|doubts?|errors?|trouble|difficult\w+|look|feeling|hard time)|need|wonder"
    r"|guess|think|suppose|know|mean\b|see\b|agree|get it|understand|asked|tried|noticed|appreciate|forgot to|meant"
    r"|wondering|asking|stuck|confused|struggling (?:with|to)|using|trying to (?:understand|figure|fix|implement|solve"
    r"|find|make|get (?:the|this|my)|use|create|calculate|determine|decide|come up|work out|set up|add|keep)|sure\b"
    r"|not sure|curious|just (?:wondering|curious|asking)|looking for (?:some|advice|help|ideas|tips)|happy to|glad"
    r"|worried about (?:the|this|how)|only (?:asking|joking|kidding)|kidding|joking|question|problem|issue|code)\b",
    re.I,
)
"""What is said about the talk itself."""
