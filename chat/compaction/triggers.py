"""Compaction triggers: a table of pure predicates, evaluated at the end of a turn and by the scheduler."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings

from chat.compaction.window import KEPT_TURNS
from recall.environment import setting

VERBATIM_TURNS: Final = setting("compact_after_turns", 20)
"""Turns in a prompt before older ones are compacted."""
VERBATIM_CEILING: Final = 20_000
"""Tokens of history for which VERBATIM_TURNS holds. A plan with more (`long`: 58,800) allows more turns in proportion:
compacting less often costs less, because more of the prompt comes from the cache (docs/cost.md)."""
SUMMARY_EVERY_MESSAGES: Final[int | None] = settings.ENVIRONMENT.convo_summary_every_n_messages
"""Seed 003 counts messages, two per turn: this many are compacted at a time, whatever the plan. None: as above."""
WINDOW_PERCENT: Final = setting("compact_at_window_percent", 50)
"""Percentage of the model's window: beyond it, answers become slower and less attentive."""


QUIET: Final = timedelta(hours=1)
"""After this long the provider’s cache has expired entirely."""


@dataclass(frozen=True, slots=True)
class ConversationState:
    """Figures the triggers look at. Tokens are estimates for the model."""

    turns: int = 0
    """Verbatim turns, including the one that just ended."""
    history: int = 0
    """Tokens of these turns."""
    ceiling: int = 0
    """Tokens the plan gives to history."""
    prompt: int = 0
    """Tokens of the last prompt and its answer."""
    window: int = 0
    """Tokens the model holds."""
    task_is_done: bool = False
    """The model said so in this turn."""
    topic_has_shifted: bool = False
    has_ended: bool = False
    silence: timedelta = timedelta()
    """Time since the last message, if the model's server has a cache."""
    was_asked: bool = False


def verbatim_turns(ceiling: int) -> int:
    """Turns that may stay verbatim in a plan with this ceiling of history."""
    if SUMMARY_EVERY_MESSAGES is not None:
        return KEPT_TURNS + SUMMARY_EVERY_MESSAGES // 2
    return max(VERBATIM_TURNS, VERBATIM_TURNS * ceiling // VERBATIM_CEILING)


@dataclass(frozen=True, slots=True)
class Trigger:
    """One reason to compact."""

    name: str
    """As stored in `Compaction.reason`."""
    why: str
    """The reason, as the page states it."""
    condition: Callable[[ConversationState], bool]


TRIGGERS: Final = (
    # (a) Prompts would be cut without a summary, and each turn costs more than the one before.
    Trigger(
        "length",
        "the conversation has grown long",
        lambda now: now.turns > verbatim_turns(now.ceiling) or now.history > now.ceiling > 0,
    ),
    # (b) Whatever the plan says: for a small model, or a large plan.
    Trigger(
        "window",
        "the prompt fills half of the model’s window",
        lambda now: now.prompt * 100 > now.window * WINDOW_PERCENT > 0,
    ),
    # (c) The next task, or another topic, doesn't need these details.
    Trigger("task_done", "a task was completed", lambda now: now.task_is_done),
    Trigger("topic", "you changed the subject", lambda now: now.topic_has_shifted),
    # (d) The cache expires anyway, and search finds a summary more easily than its turns.
    Trigger("ended", "the conversation has ended", lambda now: now.has_ended),
    # Also during a long silence: the next message would pay for every verbatim turn again, so compacting now costs
    # nothing. In conversations with pauses, `long` costs a fifth less (docs/cost.md).
    Trigger("quiet", "it was quiet for an hour", lambda now: now.silence > QUIET),
    # (e) The button.
    Trigger("asked", "you asked for it", lambda now: now.was_asked),
)
"""In order of evaluation; the first that holds is the reason."""

BY_NAME: Final = {trigger.name: trigger for trigger in TRIGGERS}


def first_trigger(now: ConversationState) -> str | None:
    """Name of the first trigger that holds, or None."""
    return next((trigger.name for trigger in TRIGGERS if trigger.condition(now)), None)
