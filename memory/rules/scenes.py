"""Does a message speak of the user's own world? A story, a game or a text to work on holds nobody's facts.

a made-up world     “in my novel”, “role play:”, “let's say”: from that sentence to the end of the message
a text to work on   “put into passive voice: …”, “what's the rhyme scheme: …”: what follows the colon
a transcript        lines that begin with a speaker's label, two or more of them
"""

from __future__ import annotations

import re

MADE_UP = re.compile(
    r"\b(?:role-?\s?play(?:ing)?|pretend(?:ing)?|let's (?:say|pretend|imagine|assume|play)|lets say|imagine|suppose"
    r"|supposing|hypothetical(?:ly)?|in (?:this|that|the|a) scenario|for the sake of argument|act as|acting as"
    r"|you(?:'re| are| be| play) (?:the|my|an?) (?!only\b|best\b|star\b|legend\b|genius\b|lifesaver\b)"
    r"|i(?:'ll| will|'m going to|'m gonna) (?:be|play) the"
    r"|(?:my|the|a|our|this|main) (?:character|protagonist|hero(?:ine)?|narrator|villain|antagonist|screenplay|novel"
    r"|novella|short story|fanfic\w*|sitcom|comic|campaign)|fictional|fan ?fiction|back-?story|persona|d&d|dnd"
    r"|dungeon master|dating profile for|diary entry of|journal entry of|first person|from the (?:perspective"
    r"|point of view|pov) of|point of view of|in the voice of|word problem|once upon a time|dear diary"
    r"|in an ideal world|thought experiment|theoretically|picture (?:this|me)|in my dream|i"
    r" (?:had a dream|dreamt|dreamed)"
    r"|were i (?:to|an?)|had i\b|in another life|parallel universe|simulat\w+|mock (?:interview"
    r"|trial|negotiation)|practi[sc]e (?:conversation|dialogue)"
    r"|you play\b|your role|playing the role|we(?:'re| are) playing|game master|text adventure"
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
    r"\b(?:sentences?|exercise|homework|example|dialogue|text|caption|bio|tweet|headline|slogan"
    r"|quote|lyrics|riddle|joke"
    r"|prompt|scenario|premise|plot|scene|persona|paragraph|essay|poem|speech|script|review|transcript|class|advert|ad"
    r"|testimonial|voice ?mail|status|line|dictation|grammar|passage|problem)\b[^:\n]{0,40}$",
    re.I,
)
"""Before a colon: what follows is a sample of something."""
PUZZLE = re.compile(
    r"\bhow (?:many|much)\b.{0,60}\b(?:left|remain|altogether|in total|together|does each|will i have|do i have)\b",
    re.I,
)
_LETTER = re.compile(r"^(?:Dear|To whom|Hello|Hi) [^\n]{0,60}[,:]?\n[\s\S]*", re.MULTILINE)
_ASKED_FIRST = re.compile(r"\A(?:[^\n]{0,160}[?:!.]?)\n[ \t]*\n(?P<rest>[\s\S]+)\Z")
_ASKS = re.compile(
    r"\b(?:summar\w+|fix|translate|shorten|rewrite|proofread|reply|review|bullet points?|check"
    r"|improve|correct|rhyme|poem"
    r"|edit|tl;?dr|what does (?:this|it)|is this|thoughts|feedback|tone|analy[sz]e|critique|grade"
    r"|explain|meaning|mean|reword"
    r"|answer this|respond to|draft|scam|polish)\b",
    re.I,
)
_MATERIAL = re.compile(
    r"^[^\n]{0,10}?\b(?:(?:translate|put|rewrite|rephrase|fix|correct|continue|start with|shorten"
    r"|summari[sz]e|proofread"
    r"|convert|change|turn|edit|check|analy[sz]e|explain|parse|improve|complete|paraphrase|conjugate|simplify|polish"
    r"|transcribe|annotate|punctuate|review|grade|mark|reword|expand|spell-?check|debug)\b(?![^:\n]{0,100}\b(?:for me"
    r"|about me)\b))[^:\n.?!]{0,100}:(?=\s)",
    re.I | re.MULTILINE,
)
_ASKED_OF = re.compile(
    r"^[^\n]{0,10}?\b(?:what|how|is|does|are|who|which|can|could)\b[^:\n.?!]{0,100}:\s[^\n?]{0,400}\??",
    re.I | re.MULTILINE,
)
"""“Which is right: …?”: what stands between the colon and the question's end is asked about."""
_MARKED_OFF = re.compile(
    r"^(?P<before>[\s\S]{3,400}?)(?:\n[ \t]*[-=_*~#]{3,}[ \t]*\n|(?:>>>|<<<|\[\[|={3,})|(?<=\s)-{3,}\s)[\s\S]*$"
)
"""Behind a line of dashes, or between arrows, stands what the message is about."""
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
_LOUD_LABEL = re.compile(r"\b[A-Z]{3,20}: .*$", re.MULTILINE)
MIN_LABELS = 2


def without_material(text: str) -> str:
    """`text` with the texts to work on and the transcripts blanked out, as long as it was."""
    for begins in (_MATERIAL, _SAY_IT):
        if found := begins.search(text):
            text = text[: found.end()] + re.sub(r"[^\n]", " ", text[found.end() :])
    if found := _ASKED_OF.search(text):
        colon = text.index(":", found.start())
        text = text[:colon] + re.sub(r"[^\n]", " ", text[colon : found.end()]) + text[found.end() :]
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
    return _LOUD_LABEL.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
