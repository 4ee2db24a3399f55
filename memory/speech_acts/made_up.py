"""Messages that make something up, or give words to work on: fiction, role play, suppositions, exercises, quotations.

Nothing in them is a claim about the user. The network separates them from what is said in earnest. `omit_rule` adds the
other reasons for which a message is no memory.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from memory.speech_acts.network import read_act, states_nothing
from memory.text.message_kinds import STATES_NOTHING, kind_of_request

MADE_UP: Final[Literal["made up"]] = "made up"
"""What such a passage is marked with in the index."""
FROM: Final = 0.9
"""Probability from which a message is made up: 85 of 100 that are reach it, and 98 of 100 that reach it are."""
_IN_EARNEST: Final = re.compile(
    r"(?i)\b(?:sav(?:e|ing)|keep(?:ing)?|stor(?:e|ing)) (?:this|these|those)(?: (?:here|for later|please))?(?=[.:,;])"
    r"|^\W{0,9}(?:[a-z']+ ){0,4}(?:intro(?:duction)?|bio|about me)\b[^:\n]{0,60}[:,] (?:i['’]?m|i am|my name is)\b"
    r"|^\W*(?:(?:hi|hey|hello|ok|okay|so)\W+){0,3}(?:for (?:some |more )?(?:context|background)"
    r"|(?:(?:some|quick|a (?:bit|little) of) )?(?:context|background)(?: dump| info)?(?=:| ))"
)
"""Said of what is meant in earnest: “saving these here”, “For context before I ask: …”, “intro for my team: I am”."""
_NUMBERED: Final = re.compile(r"(?i)^\W{0,9}(?:first|second|third|last|next)(?:ly)?: ")
"""Opens one of several requests, and says nothing of it."""
_JESTS: Final = re.compile(r"(?i)^\W*(?:(?:oh|ah|ha(?:ha)*|lol),? (?:sure|yes|yeah|of course)|yeah,? (?:right|sure))\b")
"""Opens what is hardly meant: “Oh sure, I'm a millionaire”."""
JEST_FROM: Final = 0.5
"""Probability from which a message that opens so is made up."""
_PLAY_BEGINS: Final = re.compile(
    r"(?i)\b(?:role[- ]?play(?:ing)?|let'?s (?:play|pretend|act|do)|(?:let us|we) (?:pretend|act out)|d ?& ?d|dnd"
    r"|improv|dungeon master|in character"
    r"|you(?:'re| are|r|'ll be| be| play)? (?:a|an|the|my)\b.{0,80}\bi(?:'m|m|'ll| am| will| be| play)"
    r"|i(?:'m|m|'ll be| am| be| play) (?:a|an|the|your)\b.{0,80}\byou(?:'re|'ll| are| be| play)?"
    r"|be (?:my|the|a|an) )\b"
)
"""In what is made up: it continues in the messages after it."""
_PLAY_IS_OPENED: Final = re.compile(r"(?i)^\W*let'?s (?:do|start|have|try) (?:a |an |some )?(?:role[- ]?play|improv)")
"""Needs no network."""
_OF_FICTION: Final = re.compile(
    r"(?i)^\W*(?:my (?:(?:main character|protagonist|narrator|villain|npc)\b"
    r"|character (?:lives|works|has|wants|was|is called)\b)"
    r"|(?:please )?(?:write|draft|create|make|do) .{0,60}?\b(?:made[- ]up|fictional|imaginary|invented|fake)\b"
    r"|(?:create|invent|make up|come up with|imagine) (?:a |an |some |the )?(?:\w+ )?"
    r"(?:persona|character|protagonist)\b)"
)
"""Nor does this."""
_PLAY_ENDS: Final = re.compile(
    r"(?i)\b(?:(?:game|story|scene|role[- ]?play|session)(?:'s| is)? over|out of character|ooc|(?:in )?real life"
    r"|in reality|back to (?:reality|normal|real life)|(?:stop|end|enough|done|finish(?:ed)?|drop)(?: \w+){0,4}"
    r" (?:role[- ]?play(?:ing)?|game|playing|pretending|character|scene)|my real|for real)\b"
    r"|^\W*(?:(?:ok(?:ay)?|(?:ha)+|please|thanks|great|good|nice|lol|now)\W+){0,3}stop\b"
)
"""What a role play lasts until: what is said in it is no one's, message after message."""


_FICTION: Final = re.compile(
    r"(?i)\b(?:character|protagonist|narrator|heroine|hero|story|novel|poem|script|screenplay|role(?:[- ]?play)?|game"
    r"|campaign|scene|fiction|chapter|d ?& ?d|dnd)s?\b"
)


def is_about_fiction(question: str) -> bool:
    """Whether a question asks about something made up."""
    return _FICTION.search(question) is not None


def is_made_up(text: str) -> bool:
    """Whether the message makes something up or gives words to work on, by its beginning."""
    text = _NUMBERED.sub("", text)
    if not text.strip() or (_IN_EARNEST.search(text) and not is_about_fiction(text)):
        return False
    return _OF_FICTION.match(text) is not None or read_act(text).made_up >= (JEST_FROM if _JESTS.match(text) else FROM)


def made_up(messages: Iterable[str]) -> Iterator[bool]:
    """The same of each of a conversation's messages, in their order: a role play lasts until it is ended."""
    in_play = False
    for text in messages:
        is_opened = _PLAY_IS_OPENED.match(text) is not None
        is_play = is_opened or is_made_up(text)
        begins = is_opened or (is_play and _PLAY_BEGINS.search(text) is not None)
        in_play = begins or (in_play and not _PLAY_ENDS.search(text))
        yield in_play or is_play


def omit_rule(text: str) -> str:
    """The rule by which a message of the user's isn't a memory, or MADE_UP; empty if it is one."""
    if kind := kind_of_request(text):
        return kind
    return MADE_UP if is_made_up(text) else STATES_NOTHING if states_nothing(text) else ""
