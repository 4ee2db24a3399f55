"""Whether a message of the user's is a statement, which may be recalled as one."""

from memory.speech_acts.made_up import MADE_UP, is_made_up
from memory.speech_acts.network import states_nothing
from memory.text.message_kinds import STATES_NOTHING, kind_of_request


def omit_rule(text: str) -> str:
    """The rule by which a message of the user's isn't a memory, or MADE_UP; empty if it is one."""
    if kind := kind_of_request(text):
        return kind
    return MADE_UP if is_made_up(text) else STATES_NOTHING if states_nothing(text) else ""
