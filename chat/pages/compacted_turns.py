"""Compacted turns on the chat page: the summary in their place, the turns on request, and a warning before the next.

The page shows each segment as it was created, even if the prompt has merged several: their own summaries say more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from budget.counting import calibration
from budget.models import Receipt
from budget.planning.history_cut import FIRST_TURNS, TurnRange
from budget.planning.plan import Section
from chat.compaction.segments import load_uncompacted, size_turns
from chat.compaction.summaries.schema import HEADINGS, Summary
from chat.compaction.triggers import VERBATIM_CEILING, WINDOW_PERCENT, verbatim_turns
from chat.compaction.window import KEPT_TURNS, MAX_SEGMENT_TURNS, SizedTurn, select_turns
from chat.messages.branch_path import walk
from chat.messages.history import finished_turns
from chat.messages.rendering import MessageView
from chat.models import Compaction, Conversation, Message, Segment
from recall.llm.client import cached_capabilities, configured_capabilities

TURNS_AHEAD: Final = 3
"""Turns before the next compaction at which the page warns of it."""
MIN_TURNS_TO_COMPACT: Final = FIRST_TURNS + KEPT_TURNS + MAX_SEGMENT_TURNS
"""From this many turns, some are compacted next, and which ones doesn't depend on their sizes."""
PERCENT_AHEAD: Final = 85
"""The page also warns at this percentage of the history's ceiling, or of the prompt's share of the window."""


# Segments --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SegmentView:
    """Compacted turns on a page: their summary, and the turns themselves on request."""

    id: int
    first: int
    last: int
    last_message: int
    """Id of the last message it covers."""
    narrative: str
    lists: list[tuple[str, tuple[str, ...]]]
    """Heading and sentences; no empty lists."""
    topics: tuple[str, ...]
    shown: Sequence[MessageView] = ()

    is_segment: bool = True

    @property
    def turns(self) -> int:
        return self.last - self.first + 1


def build_segment_view(segment: Segment, turns: Sequence[MessageView] = ()) -> SegmentView:
    summary = Summary.from_json(segment.summary)
    lists = [(heading, getattr(summary, name)) for name, heading in HEADINGS.items()]
    return SegmentView(
        id=segment.pk,
        first=segment.first_turn,
        last=segment.last_turn,
        last_message=segment.last_message_id or 0,
        narrative=segment.text if summary.is_empty else summary.narrative,
        lists=[(heading, sentences) for heading, sentences in lists if sentences],
        topics=summary.topics,
        shown=turns,
    )


# Status ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompactionStatus:
    """Compaction in the context panel: progress, warning, error, and whether “Compact now” has something to do."""

    is_working: bool = False
    warning: str = ""
    error: str = ""
    can_compact: bool = False


def compaction_status(conversation: Conversation) -> CompactionStatus:
    """The conversation's compaction status, without a call to the model's provider."""
    latest: Compaction | None = Compaction.objects.filter(conversation=conversation).order_by("-pk").first()
    if latest is not None and latest.finished_at is None:
        return CompactionStatus(is_working=True)
    error = latest.error if latest is not None and latest.state == Compaction.State.FAILED else ""
    last = _last_prompt(conversation)
    coming = _next_of_long_conversation(conversation, last.ceiling)
    if coming is not None:
        return CompactionStatus(warning=warning(coming), error=error, can_compact=True)
    turns = load_uncompacted(conversation).turns
    model = conversation.model or settings.ENVIRONMENT.chat_model
    sizes = size_turns(turns, calibration.ratios(model))
    upcoming = select_turns(sizes, last.ceiling, was_asked=True)
    is_near = (
        sum(turn.tokens for turn in sizes) * 100 > last.ceiling * PERCENT_AHEAD
        or len(turns) > verbatim_turns(last.ceiling) - TURNS_AHEAD
        or last.tokens * 10_000
        > (cached_capabilities(model) or configured_capabilities()).context_window * WINDOW_PERCENT * PERCENT_AHEAD
    )
    return CompactionStatus(
        warning=warning(upcoming) if upcoming is not None and is_near else "",
        error=error,
        can_compact=upcoming is not None,
    )


def _next_of_long_conversation(conversation: Conversation, ceiling: int) -> TurnRange | None:
    """The turns compacted next in a conversation so long that their sizes don't matter; None if it is shorter.

    An imported conversation may have thousands of turns, too many to read for a page.
    """
    uncompacted = [piece.message for piece in walk(conversation, conversation.active_leaf_id) if piece.message]
    if len(uncompacted) <= 2 * (verbatim_turns(ceiling) + MIN_TURNS_TO_COMPACT):
        return None
    first = Message.objects.filter(pk__in=uncompacted[: 2 * MIN_TURNS_TO_COMPACT]).defer("search").order_by("seq")
    return select_turns([SizedTurn(turn.number, 0) for turn in finished_turns(list(first))], 1, was_asked=True)


def warning(turns: TurnRange) -> str:
    """A sentence on what will happen to these turns."""
    which = f"turns {turns.first}–{turns.last}" if turns.last > turns.first else f"turn {turns.first}"
    return f"Soon the model will get a summary of {which}. You'll still see every message."


@dataclass(frozen=True, slots=True)
class _LastPrompt:
    """Sizes in tokens."""

    tokens: int = 0
    ceiling: int = VERBATIM_CEILING
    """The history's share of its plan, or the default."""


def _last_prompt(conversation: Conversation) -> _LastPrompt:
    receipts = Receipt.objects.for_user(conversation.user).filter(conversation=conversation).order_by("-pk")
    found = receipts.values_list("estimated_input", "output_tokens", "sections").first()
    if found is None:
        return _LastPrompt()
    prompt, answer, sections = found
    ceilings = (row["ceiling"] for row in sections or [] if row["section"] == Section.HISTORY)
    return _LastPrompt(prompt + answer, next(ceilings, None) or VERBATIM_CEILING)
