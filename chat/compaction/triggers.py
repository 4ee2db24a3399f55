"""When is history folded? Triggers as data, each a pure predicate over what is known at the end of a turn, or later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from recall.environment import setting

VERBATIM_TURNS: Final = setting("compact_after_turns", 20)
"""Turns that stand in a prompt as they were said (seed 002: “when session reaches 20 turns”)."""
THEIR_CEILING: Final = 20_000
"""Tokens of history up to which that holds. A plan that gives history more (`long`: 58,800) gives it more turns in
proportion: folding less often costs less, and more of the prompt comes from the cache (docs/cost.md)."""
WINDOW_PERCENT: Final = setting("compact_at_window_percent", 50)
"""Of the model's window: beyond it answers become slower and less attentive (seed 001)."""


QUIET: Final = timedelta(hours=1)
"""After this long without a word the provider's cache has forgotten all: no entry lives longer."""


@dataclass(frozen=True, slots=True)
class ConversationState:
    """How a conversation stands. Tokens are estimates of the model's."""

    turns: int = 0
    """Turns not folded, the one that has just ended included."""
    history: int = 0
    """Tokens of these."""
    ceiling: int = 0
    """Tokens the plan gives to history."""
    prompt: int = 0
    """Tokens of the last prompt with its answer."""
    window: int = 0
    """Tokens the model holds."""
    task_is_done: bool = False
    """The model said so in this turn."""
    topic_has_shifted: bool = False
    has_ended: bool = False
    silence: timedelta = timedelta()
    """Since the last word, where the model's server has a cache."""
    was_asked: bool = False


def verbatim_turns(ceiling: int) -> int:
    """Turns that may stand as they were said, in a plan that gives history so many tokens."""
    return max(VERBATIM_TURNS, VERBATIM_TURNS * ceiling // THEIR_CEILING)


@dataclass(frozen=True, slots=True)
class Trigger:
    """One occasion to fold."""

    name: str
    """As `Compaction.reason` keeps it."""
    why: str
    """What the page says."""
    condition: Callable[[ConversationState], bool]


TRIGGERS: Final = (
    # (a) More is cut in a prompt than summarized, and each turn costs more than the one before.
    Trigger(
        "length",
        "the conversation has grown long",
        lambda now: now.turns > verbatim_turns(now.ceiling) or now.history > now.ceiling > 0,
    ),
    # (b) Whatever the plan says: a small model, a large plan.
    Trigger(
        "window",
        "the prompt fills half of the model’s window",
        lambda now: now.prompt * 100 > now.window * WINDOW_PERCENT > 0,
    ),
    # (c) What was needed for the task is not needed for the next one; nor for another topic.
    Trigger("task_done", "a task is completed", lambda now: now.task_is_done),
    Trigger("topic", "you have gone on to something else", lambda now: now.topic_has_shifted),
    # (d) The cache runs out anyway, and a summary is found more easily than its turns.
    Trigger("ended", "the conversation has ended", lambda now: now.has_ended),
    # … as it does when nobody goes on for so long: whoever comes back pays for every turn that stands there anew, and
    # at no other time does a folding cost nothing. With pauses `long` costs a fifth less (docs/cost.md).
    Trigger("quiet", "it was quiet for an hour", lambda now: now.silence > QUIET),
    # (e) The button.
    Trigger("asked", "you asked for it", lambda now: now.was_asked),
)
"""In the order in which they are asked; the first that holds is the reason."""

BY_NAME: Final = {trigger.name: trigger for trigger in TRIGGERS}


def first_trigger(now: ConversationState) -> str | None:
    """Name of the first trigger that holds; None: history stays as it is."""
    return next((trigger.name for trigger in TRIGGERS if trigger.condition(now)), None)
