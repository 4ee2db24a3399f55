"""Messages that aren't memories: bare questions, small talk, commands, and answers that know nothing or only repeat.

Decided once, when a message is indexed (`Chunk.omit`). Pure and linear in the text.
"""

import re
from collections.abc import Iterable
from typing import Final

from memory.text.keywords import content

ONLY_ASKS: Final = "only asks"
SMALL_TALK: Final = "small talk"
COMMAND: Final = "a command"
STATES_NOTHING: Final = "states nothing"
NOT_KNOWN: Final = "did not know"
UNFINISHED: Final = "unfinished answer"
FROM_MEMORIES: Final = "answered from memories"
FORGOTTEN_BEFORE: Final = "forgotten"

_TALK: Final = (
    "a afternoon again all alright and are at awesome bye can care cheers cool day do doing fine for go "
    "going good goodbye got great haha hello help helped helpful helps hey hi how i is it job later lol "
    "lot love lovely luck made many me morning much my need nice night no nope ok okay one perfect please "
    "really right see so soon sounds sure take thank thanks that thats there this to today tomorrow "
    "tonight too understood up very was welcome well what whats wonderful works wow yeah yep yes you your "
)
_SMALL_TALK: Final = frozenset(_TALK.split())
"""A message of only these words recalls nothing, and isn't recalled."""
_ASKING: Final = frozenset({"what", "whats", "how", "is", "are", "was", "do", "can"})
_ONESELF: Final = frozenset({"i", "me", "my"})
"""With a word from each set, a question is about the user: “what do I love?”, “What's my job?”."""

MAX_WORDS: Final = 10
"""A longer question or command also says what the task is about. With 20 instead, nine of 198 messages that answer a
question on long chats with an assistant would be left out; with 10, one."""
MAX_BARE: Final = 40
"""The same of a question that tells nothing: “what does a flat cost in Porto, is it cheaper than Lisbon?”. Of 47 such
messages of more than MAX_WORDS, two answer one of 10,000 labeled questions."""
_AUX: Final = (
    r"(?:is|are|am|was|were|do|does|did|can|could|will|would|should|shall|has|have|had|may|might|isn|aren|wasn|don"
    r"|doesn|didn|won)\b"
)
_ASKS: Final = re.compile(
    rf"\W*(?:(?:and|but|so|ok|okay|hey|hi|hello|well|now|also)\b\W*){{0,3}}"
    rf"(?:(?:(?<=and )|(?<=so )|(?<=but ))(?!(?:i|we|my|our)\b)(?:[\w'’-]+ ){{0,3}}[\w'’-]+, )?"
    rf"(?:(?:what|where|who|whose|whom|when|why|how"
    rf"|which)(?:['’]?s\b|\s+{_AUX}|\s+about\b)|(?:what|which|whose|how)(?:\s+\w+){{1,2}}\s+{_AUX}"
    rf"|{_AUX}(?:['’]t)?\s+(?:i|you|we|he|she|they|it|my|our|your|his|her|their|the|there|this|that|these|any"
    r"|someone|anyone)\b|(?:remind|tell|ask) me (?:again )?(?:what|where|who|when|why|how|which|if|whether|about)\b"
    r"|do you (?:know|remember)\b|any idea\b)",
    re.IGNORECASE,
)
"""How a question starts, with or without a question mark."""
_ASKS_BARELY: Final = re.compile(r"\W*(?:(?:what|who|where|when|how)s?|which|whose|name of)\b", re.IGNORECASE)
"""The same in a message that is nothing else."""
_COMMANDS: Final = re.compile(
    r"\W*(?:please\s+|can you\s+|could you\s+|now\s+|just\s+|ok(?:ay)?,?\s+)*"
    r"(?:translate|summari[sz]e|rewrite|rephrase|write|draft|explain|list|show|give|tell|search|find|look up|compute"
    r"|calculate|convert|fix|shorten|expand|continue|go on|stop|try again|repeat|undo|forget|delete|ignore|open|read"
    r"|format|make it|say|sing|pick|generate|create|suggest|recommend|describe|define|count|sort|play)\b",
    re.IGNORECASE,
)
"""How a command starts; not “remember” and “remind”, whose object matters."""
_NOT_SAID: Final = re.compile(
    r"\W*i (?:never|didn['’]t|did not|haven['’]t|have not) (?:tell|told|said?|say|mention(?:ed)?)(?: (?:to )?you)?"
    r"(?: (?:where|what|who|when|why|how|which|whether|if)\b[^,;:\n]*| that| so| anything)?[.!\n]*",
    re.IGNORECASE,
)
"""A sentence that only says what wasn't said: “I never told you where I live.”"""
_CLAIMS: Final = re.compile(r"\b(?:i|i['’]\w+|my|we|our|mine|ours)\b", re.IGNORECASE)
"""A command with one of these says something about its writer, and so does “I live in Lyon, right?”."""
_TELLS: Final = re.compile(
    r"\d|\b(?:s?he|they|his|her|their|us|myself)\b|(?<!\btell )(?<!\bremind )(?<!\bask )\bme\b", re.IGNORECASE
)
"""A long question with one of these most likely says something of someone: “without vinegar, it makes me heave”."""
_BESIDE: Final = re.compile(
    r",\s*(?:where|who|whose|which|because|since|as|now that)\b|\b(?:because|since|now that) (?:i|my|we|our)\b", re.I
)
"""A question with one of these says more than it asks."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?\n]*")
_WORD: Final = re.compile(r"[^\W_]+")
_NOT_KNOWN: Final = re.compile(
    r"\b(?:i|i['’]m|we)\b[^.!?\n]{0,40}?\b(?:do not|don['’]t|did not|didn['’]t|couldn['’]t|could not|can['’]t|cannot"
    r"|not sure|have no|haven['’]t|have not|unable)\b[^.!?\n]{0,60}"
    r"\b(?:know|remember|recall|find|found|have|sure|information|record|memory|memories|told|mentioned|shared|access)\b"
    r"|\bfound nothing\b|\b(?:you (?:haven['’]t|have not|never) (?:told|mentioned|shared|said)"
    r"|nothing (?:in|about)\b[^.!?\n]{0,40}\b(?:memory|memories|recall|knowledge))"
    r"|\bnothing (?:on|about) (?:that|this|it)\b"
    r"|\bneeds? a real model\b|\ba real model would have more\b|\bask me about it later\b"
    r"|\bnothing saved yet\b|\bcan['’]t save that here\b|\bonly recall it\b"
    r"|\bi['’]ve stopped using that\b|\btell me about yourself, then ask\b",
    re.IGNORECASE,
)
"""Phrases of an answer that doesn't know; the last are the demo's."""
NOT_KNOWN_WORDS: Final = 60
"""Maximum words of an answer that doesn't know and adds nothing; a longer one has content of its own."""

_OF_ITSELF: Final = re.compile(
    r"\b(?:built-in demo|i answer from your memories|a real model|waits? (?:in review|under memory|for your review)"
    r"|you said so on|from our conversation on|what i know about you|more, under memory"
    r"|a simple demo|a demo with simple rules|for telling me|for sharing that"
    r"|that sounds hard|it may help to talk|gets easier|(?:good|sorry) to hear|sorry you feel"
    r"|(?:glad|happy) for you)\b",
    re.IGNORECASE,
)
"""In sentences of the demo about itself and about where it knows something from: they say nothing of the user."""

REPEATED: Final = 0.5
"""Share of an answer's words from which on it repeats memories: “You live in Lyon, as you told me” adds “told” at most,
while a plan or a recipe is made of words that no memory has."""
_REPORTING: Final = content(
    "remember recall told tell said say mentioned according know knew memory yes got note noted okay thanks read right"
    " i've you're you've you'd you'll"
)

_COURTESIES: Final = content(f"{_TALK} meet")
"""“Nice to meet you, Lena” adds nothing to “I'm Lena”."""


def words_of(text: str) -> list[str]:
    """The words in lower case."""
    return _WORD.findall(text.lower())


def is_small_talk(text: str) -> bool:
    """Whether no memory could answer the message, such as “Good morning, how are you?”."""
    words = set(words_of(text.replace("'", "").replace("’", "")))
    asks_about_oneself = bool(words & _ASKING and words & _ONESELF)
    return bool(words) and words <= _SMALL_TALK and not asks_about_oneself


def kind_of_request(text: str) -> str:
    """ONLY_ASKS, SMALL_TALK or COMMAND for a user's message that states nothing; empty for others and for long ones."""
    if is_small_talk(text):
        return SMALL_TALK
    if len(text) > 20 * MAX_WORDS or len(words_of(text)) > MAX_WORDS:
        return ONLY_ASKS if _asks_barely(text) else ""
    kinds = {_kind_of(sentence) for sentence in _SENTENCE.findall(text) if _WORD.search(sentence)}
    if "" in kinds or not kinds:
        return ""
    return ONLY_ASKS if ONLY_ASKS in kinds else COMMAND if COMMAND in kinds else SMALL_TALK


def _asks_barely(text: str) -> bool:
    """Whether each sentence of a longer message starts as a question, and none tells of the user or of someone."""
    if len(text.split()) > MAX_BARE or _CLAIMS.search(text) or _TELLS.search(text):
        return False
    said = [sentence for sentence in _SENTENCE.findall(text) if _WORD.search(sentence)]
    return all(_ASKS.match(sentence) and _kind_of(sentence) == ONLY_ASKS for sentence in said)


def only_asks(text: str) -> bool:
    """Whether it is a bare question, small talk or a command."""
    return bool(kind_of_request(text))


def asks(text: str) -> bool:
    """Whether it is a question, in one sentence or at its end: “whats my plate”."""
    return text.rstrip().endswith("?") or _ASKS.match(text) is not None or _ASKS_BARELY.match(text) is not None


def admits_not_knowing(answer: str) -> bool:
    """Whether an answer says that it doesn't know, and adds nothing."""
    return len(answer.split()) <= NOT_KNOWN_WORDS and _NOT_KNOWN.search(answer) is not None


def repeats_memories(answer: str, question: str, memories: Iterable[str]) -> bool:
    """Whether an answer's own words, apart from the question's, mostly come from the memories it was given."""
    known = set[str]().union(*map(content, memories))
    rest = " ".join(sentence for sentence in _SENTENCE.findall(answer) if not _OF_ITSELF.search(sentence))
    added = content(rest) - content(question) - _REPORTING - _COURTESIES
    if not added:
        return True  # “Got it: you live in Lyon.”
    return bool(known) and len(added & known) >= REPEATED * len(added)


def _kind_of(sentence: str) -> str:
    if is_small_talk(sentence):
        return SMALL_TALK
    claims = _CLAIMS.search(sentence) is not None
    if _ASKS.match(sentence) or (sentence.rstrip().endswith("?") and not claims):
        return "" if _BESIDE.search(sentence) else ONLY_ASKS
    if _NOT_SAID.fullmatch(sentence.rstrip()):
        return ONLY_ASKS
    return COMMAND if _COMMANDS.match(sentence) and not claims else ""
