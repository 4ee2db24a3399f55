"""What a message asks for: one pattern for each thing the demo can do. Only the user's own last text is matched."""

import re

CONTINUE = re.compile(r"^\W*(?:please )?(?:continue|go on|carry on|keep going)\b.{0,80}$", re.IGNORECASE | re.DOTALL)
REMEMBER = re.compile(
    r"^\W*(?:please )?(?:(?P<asked>(?:can|could|will|would) you (?:please )?(?:remember|note) that)"
    r"|(?:remember|note|don't forget)(?: that| this)?)\b[:,]?\s+(?P<what>.+)$",
    re.I | re.DOTALL,
)
FORGET = re.compile(
    r"^\W*(?:please )?(?:(?:can|could|would) you )?(?:please )?(?:forget|erase|delete|stop remembering)\b"
    r"(?: (?:about|that|everything about|what i (?:said|told you) about))*\s*(.*?)\W*$",
    re.IGNORECASE | re.DOTALL,
)
FORGET_NOTE = "asks to forget"  # in the line that Recall adds when it has handled the request
NEVER_MIND = re.compile(r"^\W*(?:never mind|nevermind|forget (?:it|that|about it))\W*$", re.IGNORECASE)
SHOWCASE = re.compile(r"\b(?:markdown|code)\b", re.IGNORECASE)
SHOWING = re.compile(r"\b(?:demo|sample|show|example|test)\b", re.IGNORECASE)
TIME = re.compile(r"\bwhat(?:'s| is) the time(?! of)|\btime is it\b", re.IGNORECASE)
DATE = re.compile(
    r"\bwhat(?:'s| is) (?:the |today's )date(?! of)|\b(?:what|which) (?:day|date) is (?:it|today)\b", re.IGNORECASE
)
NAME = re.compile(
    r"\b(?:what(?:'s| is) my (?:(?:first|last|full|family) |full first |sur|nick)?name|who am i|name do i go by"
    r"|i want to be called|(?:everyone|everybody|people|they|friends|family|folks) calls? me|nickname"
    r"|(?:know|remember) my name"
    r"|(?:what|how) (?:should|do|will|would) you call me)\b",
    re.IGNORECASE,
)
SURNAME = re.compile(r"\b(?:surname|last name|family name)\b(?! of\b)", re.IGNORECASE)
SURNAME_STATED = re.compile(
    r"(?i:(?:the user's|my) (?:surname|last name)(?: is|'s)) ([A-ZÀ-ÞĀ-Ž][\w'-]*(?: [A-ZÀ-ÞĀ-Ž][\w'-]*)?)"
)
CALL_ME = re.compile(r"\b(?:you|everyone|everybody|people|they|friends|family|folks) calls? me\b|nickname", re.I)
CALLED = re.compile(
    r"(?i:the user (?:wants|prefers) to be called|calls? me) ([A-ZÀ-ÞĀ-Ž][\w'-]*(?: [A-ZÀ-ÞĀ-Ž][\w'-]*)*)"
)
NAME_STATED = re.compile(
    r"(?i:(?:the user's|my) name(?: is|'s)|the user (?:is|wants to be|prefers to be) called|call me)"
    r" ([A-ZÀ-ÞĀ-Ž][\w'-]*(?: [A-ZÀ-ÞĀ-Ž][\w'-]*)*)"
)
OTHERS_NAME = re.compile(
    r"\bmy (?P<of>\w+)'s name\b|\bname of my (?P<of2>\w+)|\bmy (?P<of3>\w+) (?:called|named)\b", re.I
)
IDENTITY = re.compile(r"\b(?:who|what) are you\b|\bare you (?:a|an|the|real|claude|chatgpt|gpt|human)\b", re.IGNORECASE)
HELP = re.compile(
    r"^\W*(?:so |and |but |ok(?:ay)?[, ]+)?(?:help|what can (?:you|i) (?:actually |really )?do(?: here)?"
    r"|how (?:do you|does this|does it) work)\W*$",
    re.IGNORECASE,
)
OVERVIEW = re.compile(
    r"\bwhat (?:do|did|can|else do) you (?:know|remember|recall|have)\b(?:.{0,80}\b(?:about me|of me|on me)\b)?"
    r"(?: so far| already| yet| now)?\W*$|"
    r"^\W*(?:tell me|what is known|what's known) about (?:me|myself)\W*$",
    re.IGNORECASE,
)
DANGER = re.compile(
    r"\bsuicid|\bkill(?:ing)? myself\b|\bend(?:ing)? my life\b|\b(?:hurt|harm)(?:ing)? myself\b|\bwant to die\b", re.I
)
LOSS = re.compile(
    r"\b(?:died|passed away|funeral|miscarr\w+|divorc\w+|broke up|laid off|got fired|lost my (?:job|\w+er)|cancer|"
    r"depress\w+|i'm (?:so |very )?(?:sad|lonely|scared|desperate)|heartbroken)\b",
    re.IGNORECASE,
)
FEELING = re.compile(
    r"\b(?:lonely|alone|sad|down|unhappy|anxious|worried|afraid|scared|stressed|overwhelmed|exhausted|burn(?:ed|t) out|"
    r"upset|hurt|nervous|angry|frustrated|hopeless|homesick|ashamed|guilty|crying|miserable|awful|terrible)\b",
    re.IGNORECASE,
)
JOY = re.compile(
    r"\b(?:happy|glad|excited|proud|thrilled|delighted|relieved|grateful|can't wait|in love|overjoyed)\b", re.IGNORECASE
)
FEELS = re.compile(r"\b(?:i'?m|i am|i've been|i feel|i felt|feeling|makes me|i was|i can't wait)\b", re.IGNORECASE)
MEANT = re.compile(r"^\W*(?:(?:no|nope|sorry|oops|wait)\W+)*i meant? ([^.!?\n]{1,80})[.!]*$", re.IGNORECASE)
CORRECTS = re.compile(
    r"^(?:\*|(?=[^,.?!]{1,40}[,.]? (?i:i meant?)\W*$|[^,.?!]{0,30}\d[^,.?!]{0,20}[,.]? (?i:sorry)\W*$)"
    r"|\W*(?:(?i:no|nope|oops|wait|sorry|actually|correction|hang on|i meant?)\b\W*)+)"
    r"(?:(?i:it's|it is|i meant?|make that|that's|should be|on"
    r"|(?:his|her|its|their|the) name(?: is|'s)|(?:s?he|it|they)(?:'s| is|'re| are) called) )?"
    r"(?P<new>(?!(?:I|My|We|Our|The|He|She|They|It|This|That|Thanks?|Yes)\b)[A-ZÀ-ÞĀ-Ž][\w'-]*(?: [A-ZÀ-ÞĀ-Ž][\w'-]*)*"
    r"|\d[\d:.,]*(?:st|nd|rd|th)?(?: [A-ZÀ-ÞĀ-Ž]\w+)?)\b(?P<rest>[^?]*)$"
)
"""Another name or number for what was just said: “No wait, it's Bergen she moved to, not Oslo”."""
OPENS_CORRECTION = re.compile(r"^\W*(?:(?:no|nope|oops|wait|sorry|actually|correction)\b\W*)+", re.IGNORECASE)
OF_CHANGE = re.compile(r"\b(?:actually|moved|changed|switched|quit|left|now|no longer|not any ?more)\b", re.IGNORECASE)
NOT_OLD = re.compile(r"\bnot (?P<old>[\w' -]+?)\W*$")
NAMED = re.compile(r"(?<!^)(?<![.!?] )\b(?!I\b)[A-ZÀ-ÞĀ-Ž][\w'-]+(?: [A-ZÀ-ÞĀ-Ž][\w'-]+)*")
ONE_NAME = r"(?:(?:Dr|Mrs?|Ms|Prof)\b\.? )?[A-ZÀ-ÞĀ-Ž]\w+"
WHOLE_NAME = rf"{ONE_NAME}(?: (?:(?:and|&|of|the) )*[A-ZÀ-ÞĀ-Ž]\w+)*"  # “The studio is called Needle and Thread”
NUMBERED = re.compile(r"\d[\d:.,]*(?:st|nd|rd|th)?(?: [A-ZÀ-ÞĀ-Ž]\w+)?")
SHARED = re.compile(
    r"^\s*(?!.*\b(?:told|said|question)\b)(?:(?:and|but|so|well|oh|also)\W+)*(?:i|i'm|i've|my|we|we're)\b",
    re.IGNORECASE,
)
WHAT_IS_IN_IT = re.compile(
    r"\b(?:what(?:'s| is| does| do| do you see)|read|show|open|summari[sz]e|tell me|look at)\b[^.!?\n]{0,80}"
    r"\b(?:notes?|files?|document|doc|attach\w*|text|paste|pdf|page|this|it|that|here)\b(?! (?:cost|mean))",
    re.IGNORECASE,
)
SECRET = re.compile(
    r"\b(?:password|passcode|pin(?: code)?|cvv|iban|api[ _-]?key|secret key|social security)\b[^?]{0,40}(?:\bis\b|:|=)|"
    r"\b(?:\d[ -]?){13,19}\b|\bsk-[\w-]{8,}",
    re.IGNORECASE,
)
ASKS_SECRET = re.compile(
    r"\b(?:what(?:['’]?s| is| was)|tell me|remind me (?:of|what)|remember|know|forgot) (?:my|our|the) "
    r"(?:[\w'’-]+ ){0,3}?(?:pass ?words?|pass ?codes?|pass ?phrases?|pins?|pin (?:code|number)|cvv|security code"
    r"|seed phrase|recovery (?:phrase|codes?)|api[ -]?keys?)(?: (?:is|was))?\W*$",
    re.IGNORECASE,
)
DENIES = re.compile(r"n['’]t\b|\b(?:not|no|never|instead|rather|used to|without)\b", re.IGNORECASE)
BY_USER = re.compile(r"\b(?:i|i'm|i've|we|we've)\b", re.IGNORECASE)
HIDDEN = re.compile(r"\[(?:forgotten|left out|secret|hidden)")  # marks of what Recall doesn't say
STILL = re.compile(r"\bstill\b|\bany ?more\b|\bwhat(?:['’]s| has)? (?:happened|become|became)\b", re.IGNORECASE)
GOAL = re.compile(
    r"The user (?:(?:wants|plans|hopes|aims) to(?! be called)|is (?:planning|preparing|training|trying|writing)"
    r"|has this goal)\b"
)
GREETING = re.compile(
    r"^\W*(?:(?P<hi>hi|hiya|yo|hello|hey|howdy|(?:good )?(?:morning|afternoon|evening))\b)"
    r"(?:[ ,]+(?:there|again|recall|everyone|me again|it'?s (?:me(?: again)?|(?-i:[A-ZÀ-ÞĀ-Ž])\w+)|i'?m back))*\W*$"
    r"|^\W*(?:i'm back|me again|(?:are )?(?:you|u|anyone|anybody) (?:still )?there)\W*$",
    re.IGNORECASE,
)
SAID_HERE = re.compile(
    r"^(?=.{0,80}\b(?P<which>first|last|just)\b)(?!.{0,80}\b(?:about|of|time|day|week|month|year)\b)"
    r"\W*what(?:'s| is| was| did| the| my| very| first| last| thing| message| question)* i "
    r"(?:(?:first|last|just) )?(?:ask|say|write|tell|asked|said|wrote|told)\b.{0,30}$",
    re.IGNORECASE,
)
RETURNING = re.compile(
    r"^\W*(?:so[, ]+|ok[, ]+|can we |let's |shall we )*"
    r"(?:where (?:were we|did we (?:stop|pause|end|leave|get to|get(?= last)))\b|(?:pick up|continue|carry on|go on)"
    r"(?: from)? where we\b).{0,30}$",
    re.IGNORECASE,
)
WELL = re.compile(r"\bhow are you\b|\bhow's it going\b|\bhow do you do\b", re.IGNORECASE)
THANKS = re.compile(
    r"^\W*(?:(?:ok|okay|great|cool|perfect|no)[ ,.!]*)?(?:many )?(?:thanks|thank you|thx|cheers)\b.{0,40}$",
    re.IGNORECASE,
)
GOODBYE = re.compile(
    r"^\W*(?:ok(?:ay)?[ ,]*)?(?:bye|goodbye|good night|see (?:you|ya)|talk (?:later|soon)|cu)\b.{0,40}$", re.IGNORECASE
)
YES = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|sure|ok|okay|great|cool|nice|good|perfect|right|exactly|correct|wow|lol|haha)\b\W*){1,3}$",
    re.IGNORECASE,
)
WRONG = re.compile(
    r"^\W*(?:no\b\W*)?(?:that's|that is|this is|you're|it's) (?:all )?(?:wrong|not right|not true|incorrect)\W*$",
    re.IGNORECASE,
)
REMINDER = re.compile(r"^\W*(?:please )?remind me (?:to|at|on|in|tomorrow)\b", re.IGNORECASE)
NO = re.compile(r"^\W*(?:no|nope|nah|not really|no thanks)\W*$", re.IGNORECASE)
LIST = re.compile(
    r"^\W*(?:(?:(?i:here(?:'s| is| are)) )?(?:[Mm]y|[Oo]ur) )?"
    r"((?<=[yr] )[A-Za-z ]{3,40}|[A-Za-z]{3,20}): *(\w[^\n?]{1,120})$"
)
TASK = re.compile(
    r"^\W*(?:please )?(?:(?:hey|hi|hello)\W+)?(?:(?:can|could|would) you )?(?:please )?(?:write|explain|describe|"
    r"summari[sz]e|translate|compose|draft|generate|create|list|answer|reply|respond|proofread|rewrite|calculate|"
    r"compute|solve|code|implement|plan|suggest|give|make|compare|tell me an?|recommend|sing|draw|help me)\b",
    re.IGNORECASE,
)
LIST_OPENED = re.compile(
    r"^\W*(?:(?:can|could|would|will) you (?:please )?|please )?(?:keep|start)\b[^.?!]{0,40}\blist\b", re.IGNORECASE
)
"""Recall keeps it: “Can you keep a shopping list for me? Start with oat milk.”"""
QUESTION = re.compile(
    r"^\W*(?:who|whom|whose|what|where|when|which|how|why|do(?! not)|does|did|is|are|am|was|were|can|could|will|would|"
    r"should|have|has)\b.*[^.!]$",
    re.IGNORECASE | re.DOTALL,
)
ALSO_ASKED = re.compile(
    r"^\W*(?:and|so|but) (?:[\w'’-]+ ){0,3}[\w'’-]+, (?:what|who|where|when|which|how)"
    r"(?:['’]s| (?:is|are|was|does|do|did|has|have))\b.*[^.!]$",
    re.IGNORECASE | re.DOTALL,
)  # “and Tidemark, what's that written in”
HOW_TO_ANSWER = re.compile(
    r"(?<=\?)\s+(?!(?:i|i['’]\w+|we|we['’]\w+|my|our|it|it['’]s|he|she|they|this|that|there|because)\b)"
    r"(?:[\w'’,:-]+\s+){0,7}[\w'’-]+[.!]*$",
    re.IGNORECASE,
)  # behind a question: “What city do I live in? One word.”
REQUEST = re.compile(
    r"^\W*(?:please )?(?:tell me|remind me|do you (?:know|remember)|since when"
    r"|(?:read|show)(?: me)?(?: back| out)? (?:my|our|the) (?:[\w-]+ ){0,4}\w*list)\b",
    re.IGNORECASE,
)
# Requests for something newer than any memory; a question about the user's own life never is one.
RECENT = re.compile(
    r"\b(?:latest|newest|most recent|news|current(?:ly)?|right now|these days|weather|forecast|stock price|"
    r"exchange rate|just released|who won|search the web|look (?:it|this|that) up online)\b",
    re.IGNORECASE,
)
OWN = re.compile(
    r"\b(?:my|mine|our|i['’]?m|i've|(?:did|do|have|am|was|were) (?:i|we)|(?:i|we) \w+(?:ed|id|ld))\b", re.IGNORECASE
)
GENERAL = re.compile(
    r"^\W*(?:who|what|where|when|which|how|why)\b(?!.*\b(?:i|me|my|mine|we|us|our|am|he|she|her|his)\b)", re.I
)
ADVICE = re.compile(
    r"\bhow (?:do|can|should|could|would) (?:i|we)\b(?! (?:like|take|prefer|spell|feel|get to|commute)\b)|\bhow to\b"
    r"|\b(?:should|shall|can|could) (?:i|we|you)\b|\bis (?:it|this|that) (?:worth|ok|okay|safe|normal|bad|too)\b"
    r"|\b(?:tips|ideas?|advice|suggestions?|recommendations?)\b|\bbest (?:way|time|place)\b",
    re.IGNORECASE,
)
PRONOUN = re.compile(r"\b(?:she|he|her|his|him)\b", re.IGNORECASE)
PEOPLE = re.compile(
    r"\b(?:my|your) (\w+)|(?<=[a-z,] )(?<! in )(?<! at )(?<! to )(?<! from )(?<! near )([A-ZÀ-ÞĀ-Ž][a-z]+)\b"
)
