"""Messages that make something up, or give words to work on: fiction, role play, exercises, translations.

Nothing in them is a claim about the user. Pure, and linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

MADE_UP: Final[Literal["made up"]] = "made up"
"""What such a passage is marked with in the index."""
_MADE_UP: Final = re.compile(
    r"(?i)\b(?:role[- ]?play|pretend|imagine (?:i|you|we)|let's play|in this scenario|d ?& ?d|dnd|backstory"
    r"|my (?:\w+ )?"
    r"(?:character|protagonist|narrator|heroine|hero)\b|(?:in|for|of) (?:my|the|this|our|a) (?:novel|screenplay"
    r"|(?:short )?story|play|script|sketch|scene|fanfic\w*|campaign|fairy tale|case study|scenario|worksheet|exercise"
    r"|word problem)\b|you(?:'re| are| be) (?:the|a|an|my|me) [\w ]{2,40}[,.]? (?:and |i'm|i am|i'll)|act(?:ing)? as|in"
    r" the voice of|(?:view|perspective) of|first person|verse \w+:|chapter (?:\d+|one|two|three|four|five)"
    r"|dating profile|persona|word problem"
    r"|case study|passive voice|past tense|\d+ words as an?|translate (?:this|into|to|the)|put into|continue (?:in|from"
    r"|the story|this)|monologue|limerick|fill in the|for the sake of argument|(?:check|correct|fix|improve) (?:the|my"
    r"|this|these) (?:grammar|spelling|sentences?|phrasing)|complete the (?:dialogue|sentence|story|text)|(?:the )?(?:"
    r"lyrics|song|line|chorus) (?:go|goes|is|says)|how (?:do|would|can) (?:i|you) say)\b|(?:^|\n)[A-Z]: .*\n[A-Z]: "
)
"""The message makes something up, or gives words to work on."""
_PLAY_BEGINS: Final = re.compile(
    r"(?i)\b(?:role[- ]?play(?:ing)?|(?:let'?s|let us|we) (?:pretend|act out)|d ?& ?d|dnd"
    r"|(?:stay|be|speak) in character)\b"
)
_PLAY_ENDS: Final = re.compile(
    r"(?i)\b(?:(?:game|story|scene|role[- ]?play|session)(?:'s| is)? over|out of character|ooc|(?:in )?real life"
    r"|in reality|back to (?:reality|normal|real life)|(?:stop|end|enough|done|finish(?:ed)?|drop)(?: \w+){0,4}"
    r" (?:role[- ]?play(?:ing)?|game|playing|pretending|character|scene))\b"
)
"""What a role play lasts until: what is said in it is no one's, message after message."""


_FICTION: Final = re.compile(
    r"(?i)\b(?:character|protagonist|narrator|heroine|hero|story|novel|poem|script|screenplay|role(?:[- ]?play)?|game"
    r"|campaign|scene|fiction|chapter|d ?& ?d|dnd)s?\b"
)


def is_about_fiction(question: str) -> bool:
    """Whether a question asks about something made up."""
    return _FICTION.search(question) is not None


def is_made_up(own: str) -> bool:
    """Whether the message makes something up or gives words to work on."""
    return _MADE_UP.search(own) is not None


def made_up(messages: Iterable[str]) -> Iterator[bool]:
    """The same of each of a conversation's messages, in their order: a role play lasts until it is ended."""
    in_play = False
    for own in messages:
        in_play = _PLAY_BEGINS.search(own) is not None or (in_play and not _PLAY_ENDS.search(own))
        yield in_play or is_made_up(own)
