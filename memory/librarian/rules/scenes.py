"""Finds the parts of a message that are not about the user's life: stories, games and texts to work on.

a made-up world     “in my novel”, “role play:”, “let's say”: from that sentence to the end of the message
a text to work on   “put into passive voice: …”, “what's the rhyme scheme: …”: what follows the colon
a transcript        lines that begin with a speaker's label, two or more of them
"""

from __future__ import annotations

import re

from memory.text.user_text import THE_ASSISTANT

MADE_UP = re.compile(
    r"\b(?:role-?\s?play(?:ing)?|pretend(?:ing)?|let's (?:say|pretend|imagine|assume|play)|lets say|imagine|suppose"
    r"|supposing|hypothetical(?:ly)?|in (?:this|that|the|a) scenario|for the sake of argument|act as|acting as"
    r"|as an (?:exercise|example|illustration)|case study:"
    r"|^as an? [\w ]{3,30}, (?:what|how) would you (?:say|do|answer|reply|explain|describe|react|respond|teach|treat)"
    r"|^(?:please )?(?:do|write|make|draft) an? (?:[\w-]+ )?(?:letter|postcard|card|note|diary|speech|post|song|poem)"
    r" (?:to \w+ )?(?:from|by) an? \w+"
    r"|^for practice\b|for practice:|such as i\b"
    r"|^(?:please |(?:can|could) you )?(?:finish|continue|complete) (?:the|this|my) (?:story|sentences?|joke|poem|tale)"
    r"|you(?:'re| are| be| play) (?:the|my|an?) (?!only\b|best\b|star\b|legend\b|genius\b|lifesaver\b)"
    r"|i(?:'ll| will|'m going to|'m gonna) (?:be|play) the"
    r"|(?:my|the|a|our|this|main) (?:character|protagonist|hero(?:ine)?|narrator|villain|antagonist|fanfic\w*|campaign)"
    r"|(?:my|the|our|this) (?:screenplay|novel|novella|short story|sitcom|comic)|a (?:screenplay|novel"
    r"|novella|short story"
    r"|sitcom|comic) (?:where|in which|about|set|with|of)|fictional|fan ?fiction|back-?story|persona|d&d|dnd"
    r"|dungeon master|dating profile for|diary entry of|journal entry of|first person|from the (?:perspective"
    r"|point of view|pov) of|point of view of|in the voice of|word problem|once upon a time|dear diary"
    r"|in an ideal world|thought experiment|theoretically|picture (?:this|me)|in my dream|i"
    r" (?:had a dream|dreamt|dreamed)"
    r"|were i (?:to|an?)|had i\b|in another life|parallel universe|simulat\w+|mock (?:interview"
    r"|trial|negotiation)|practi[sc]e (?:conversation|dialogue)"
    r"|you play\b|your role|playing the role|we(?:'re| are) playing|game master|text adventure"
    r"|(?:you|u) be (?:the|my|an?)\b|in character|improv\b|alter ego|as if (?:i|we|you) were|let us (?:say|assume"
    r"|imagine|pretend)"
    r"|assume (?:that )?(?:i|we|you|my)\b|say (?:that )?(?:i|we|you) (?:had|were|was|am|have|get|win|lived|own"
    r"|inherit|earn)"
    r"|here(?:'s| is) what (?:the|my|our|an?|he|she|they) [^.:\n]{0,40}?(?:wrote|said|sent|answered|replied)"
    r"|daydream\w*|in theory\b|alternate (?:reality|history|universe)|act like"
    r"|(?:just )?kidding|only joking|jk\b"
    r"|i(?:'m| am|m) (?:the customer|the tenant|the patient|the candidate|the guest|the waiter"
    r"|the suspect|the detective)"
    r"|i(?:'m| am|m) (?:secretly |basically |actually |clearly |technically |really |just"
    r" )?(?:an? |the )?(?:\w+ )?(?:vampire|zombie|ghost|robot|dragon|pirate|ninja|alien|wizard"
    r"|witch|unicorn|goblin|dinosaur|t-rex|cactus|potato|sloth|hobbit|elf|emperor|santa|batman"
    r"|superman|spider-?man|james bond|sherlock|napoleon|caesar|einstein|billionaire|time"
    r" travell?er|fairy|mermaid|demon|skeleton|cyborg|toaster|houseplant|cat\b|dog\b|raccoon"
    r"|gremlin|bear|wolf|tiger|hamster|goldfish)"
    r"|(?:the|that|this) (?:song|poem|saying|motto|sign|caption|lyrics|card|film|movie) (?:goes"
    r"|reads|says|said|starts)|as the saying goes|famous line"
    r"|who (?:said|wrote|sang)|(?:which|what) (?:film|song|book|movie|poem)|asking for (?:a|my)"
    r" (?:friend|mate|customer|client|colleague|neighbou?r)|in an? alternate|what would happen"
    r"|monologue|lyrics|haiku|limerick|stanza|sonnet)\b",
    re.I,
)
STORY_TELLING = re.compile(
    r"^(?:please |can you |could you )?(?:write|tell|make up|invent|create|compose|continue|give me)\b[^.?!]{0,60}"
    r"\b(?:story|tale|scene|dialogue|script|song|joke|fable|saying|where i|in which|as if)\b",
    re.I,
)

SAMPLE = re.compile(
    r"\b(?:sentences?|exercise|homework|example|verse|chorus|chapter|opening|dialogue|text|caption|bio|tweet|headline|slogan"
    r"|quote|lyrics|riddle|joke"
    r"|prompt|scenario|premise|plot|scene|persona|paragraph|essay|poem|speech|script|review|transcript|class|advert|ad"
    r"|testimonial|voice ?mail|status|line|dictation|grammar|passage|problem)\b[^:\n]{0,40}$"
    r"|\b(?:(?:gave|set|handed) (?:us|the class)|(?:e?mailed|texted|forwarded) (?:us|me)) (?:this|the following)$",
    re.I,
)
"""Before a colon: what follows is a sample of something."""
PUZZLE = re.compile(
    r"\bwhen (?:do|will|would) (?:they|we|the two) meet\b|\bkm/h\b.*\bkm/h\b|\bhow (?:many"
    r"|much)\b.{0,60}\b(?:left|remain|altogether|in total|together|does each|will i have|do i have)\b",
    re.I,
)
_LETTER = re.compile(
    rf"(?:^(?:Dear(?! (?i:{THE_ASSISTANT}))|To whom)|(?<=\n)(?:Hello|Hi))"
    r" [^\n]{0,60}[,:]?\n[\s\S]*",
    re.MULTILINE,
)
"""A letter; “Hi there” at the beginning of the message greets the assistant."""
_ASKED_FIRST = re.compile(r"\A(?:[^\n]{0,160}[?:!.]?)\n[ \t]*\n(?P<rest>[\s\S]+)\Z")
_ASKS = re.compile(
    r"\b(?:summar\w+|fix|translate|shorten|rewrite|proofread|reply|review|bullet points?|check"
    r"|improve|correct|rhyme|poem"
    r"|edit|tl;?dr|what does (?:this|it)|is this|thoughts|feedback|tone|analy[sz]e|critique|grade"
    r"|explain|meaning|mean|reword"
    r"|answer this|respond to|draft|scam|polish)\b",
    re.I,
)
_OF_WORDS = (
    r"\b(?:mean|means|meaning|correct|right|wrong|grammar\w*|say|spell\w*|spelt|tense|sentences?|phrase|words?"
    r"|line|lines|rhyme"
    r"|scheme|translat\w+|sounds?|ok|okay|fine|better|read|reads|this|these|following|text|quote|passage|passive"
    r"|verb|poem|song)\b"
)
"""A question about words: what follows its colon are they. “Could you plan my week: I work nights” is another."""
_MATERIAL = re.compile(
    rf"^[^\n]{{0,10}}?\b(?:(?:translate|put(?! together)|rewrite|rephrase|correct|shorten|summari[sz]e|proofread"
    rf"|convert|edit"
    rf"|parse|paraphrase|conjugate|polish|transcribe|annotate|punctuate|grade|reword|spell-?check|debug|continue"
    rf"|start with"
    rf"|(?:fix|change(?! of)|turn|check|analy[sz]e|explain|improve|complete|simplify|review|mark|expand)(?=:"
    rf"|[^:\n]{{0,100}}{_OF_WORDS}))"
    r"\b(?![^:\n]{0,100}\b(?:for me|about me)\b))[^:\n.?!]{0,100}:(?=\s)",
    re.I | re.MULTILINE,
)
OF_WORDS = re.compile(_OF_WORDS, re.I)
_ASKED_OF = re.compile(
    rf"^[^\n]{0, 10}?\b(?:what|how|is|does|are|who|which|can"
    rf"|could)\b(?=[^:\n.?!]{{0,100}}{_OF_WORDS})[^:\n.?!]{{0,100}}:\s[^\n?]{{0,400}}\??",
    re.I | re.MULTILINE,
)
"""“Which is right: …?”: what stands between the colon and the question's end is asked about."""
_MARKED_OFF = re.compile(
    r"^(?P<before>[\s\S]{3,400}?)(?:\n[ \t]*[-=_*~#]{3,}[ \t]*\n|(?:>>>|<<<|\[\[|={3,})|(?<=\s)-{3,}\s)[\s\S]*$"
)
"""Behind a line of dashes, or between arrows, stands what the message is about."""
_HANDED_OVER = re.compile(
    r"\A(?:(?:hi|hey|hello|please|pls|ok|so),? )*(?:(?:can|could|would|will) (?:you|u) (?:please |pls )?)?"
    r"(?:please |pls )?(?:(?:proofread|rephrase|paraphrase|reword) (?:this|it|the following)(?:,? please)?[?.!:](?=\s)"
    r"|(?:translate|correct|fix|polish|shorten) (?:this|it|the following)(?: [\w ]{1,40})?(?:,? please)?"
    r"(?::(?=\s)|[?.!](?=\s*[\n\"“])))",
    re.I,
)
"""“Can you proofread this? …”: what follows is the text."""
_TEST_DATA = re.compile(
    r"\A[^\n]{0,120}\b(?:csv|json|yaml|xml|parser|regex|logs?|dataset|table|data|sql|output|input|transcript"
    r"|stack ?trace|case study|exercise|worksheet)\b[^\n]{0,60}\n[\s\S]+\Z",
    re.I,
)
"""A first line that speaks of data: the lines below are it."""
_SAY_IT = re.compile(
    r"\b(?:how (?:do|would|can) (?:you|i|we|one) say|what(?:'s| is) .{1,20} for|is it correct to"
    r" say|the (?:sentence|phrase"
    r"|line|words?|text|question))\b[^\n]{0,20}?[:,] ?",
    re.I,
)
_LABEL = re.compile(r"^[ \t]*(?:[A-Z][\w.]{0,20}|[A-Z][A-Z ]{1,20}):[ \t]+\S.*$", re.MULTILINE)
_IN_LINE_LABEL = re.compile(r"(?:^|(?<=[.?!] ))[A-Z][a-z]{1,20}: ")
_LOUD_LABEL = re.compile(r"\b[A-Z]{3,20}: .*$", re.MULTILINE)
MIN_LABELS = 2


def without_material(text: str) -> str:
    """`text` with the texts to work on and the transcripts blanked out, as long as it was."""
    for begins in (_HANDED_OVER, _MATERIAL, _SAY_IT):
        if found := begins.search(text):
            text = text[: found.end()] + re.sub(r"[^\n]", " ", text[found.end() :])
    if found := _ASKED_OF.search(text):
        colon = text.index(":", found.start())
        text = text[:colon] + re.sub(r"[^\n?]", " ", text[colon : found.end()]) + text[found.end() :]
    if found := _MARKED_OFF.match(text):
        text = found["before"] + re.sub(r"[^\n]", " ", text[found.end("before") :])
    if found := _TEST_DATA.match(text):
        first = text.index("\n")
        text = text[:first] + re.sub(r"[^\n]", " ", text[first:])
    asked = _ASKED_FIRST.match(text)
    if asked is not None and _ASKS.search(text[: asked.start("rest")]):
        text = text[: asked.start("rest")] + re.sub(r"[^\n]", " ", asked["rest"])
    if PUZZLE.search(text):
        return re.sub(r"[^\n]", " ", text)
    text = _LETTER.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    labelled = list(_LABEL.finditer(text))
    if len(labelled) >= MIN_LABELS:
        text = _LABEL.sub(_blank, text)
    spoken = list(_IN_LINE_LABEL.finditer(text))
    if len(spoken) >= MIN_LABELS:
        text = text[: spoken[0].start()] + re.sub(r"[^\n]", " ", text[spoken[0].start() :])
    return _LOUD_LABEL.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_WORK = re.compile(
    r"\b(?:code|scripts?|functions?|errors?|bugs?|debug\w*|quer(?:y|ies)|apis?|endpoints?|python|javascript|js"
    r"|html|css|sql\w*|flask"
    r"|django|react|node|npm|pip|docker|git\w*|deploy\w*|database|schema|server|regex|algorithms?|json|csv|yaml"
    r"|variables?"
    r"|loops?|class(?:es)?|modules?|library|probabilit\w+|triangles?|angles?|equations?|theorem|formula\w*|dice"
    r"|calculat\w+"
    r"|integral|derivative|permutations?|implement\w*|optimi[sz]\w+|config\w*|frontend|backend|app|dashboard|router?"
    r"|form validation|dns|https?|ats|r[eé]sum[eé]|cover letter|keywords?|excel|spreadsheet|formula|latency|cache"
    r"|tests?|sprint|mvp|backlog|milestones?|problems|congruen\w+|classification|metrics|seo|site speed|portfolio"
    r"|analytics)\b",
    re.I,
)
MIN_WORK = 2
"""Different words of the trade; one alone may be a job: “I teach Python”."""


_SUBJUNCTIVE = re.compile(
    r"\b(?:if (?:i|we|my \w+) (?:were|had|was|lived|moved|earned|won|quit|bought|worked|married|died|could)|were "
    r"(?:i|we) to"
    r"|should (?:i|we) ever|what if|say (?:i|we|you) (?:had|were|have|am)|hypothetical\w*)\b",
    re.I,
)
_EXERCISE = re.compile(
    r"\b(?:homework|exercise \d|worksheet|word problem|case study|textbook|fill in the (?:gap|blank)s?"
    r"|(?:practice|example)"
    r" (?:question|sentence)s?|multiple choice|true or false|riddle|conjugat\w+)\b",
    re.I,
)
_GAME = re.compile(
    r"\b(?:in the game|in-game|minecraft|skyrim|forza|zelda|fifa|the sims|my sim|stardew|pok[eé]mon|elden ring"
    r"|npcs?|my build"
    r"|xp|dungeon|world of warcraft|fortnite|roblox)\b",
    re.I,
)
_IRONY = re.compile(r"[🙄😜🤪😏🤡]|(?<=\s)/s\b|\bsarcas\w+", re.I)


def plainly_meant(text: str) -> bool:
    """Whether what a message says in passing may be taken at its word: it is no work and no supposition."""
    return not (about_work(text) or _SUBJUNCTIVE.search(text))


def is_unreal(text: str) -> bool:
    """Whether nothing in a message is of the user's own world: an exercise, a game, irony."""
    return any(sign.search(text) for sign in (_EXERCISE, _GAME, _IRONY))


_SURELY_WORK = re.compile(
    r"\b(?:probabilit\w+|triangles?|theorem|equations?|permutations?|apis?|endpoints?|javascript|flask|sql\w*|css"
    r"|html|debug\w*"
    r"|coin toss|card draw|per problem|eslint|accuracy rate|source code|code review|my code|this code|the code"
    r"|app launch)\b",
    re.I,
)
"""One of them is enough."""


def about_work(text: str) -> bool:
    """Whether a message is about work at hand: code, sums, a text in the making."""
    if _SURELY_WORK.search(text):
        return True
    return "```" in text or len({found[0].lower() for found in _WORK.finditer(text)}) >= MIN_WORK
