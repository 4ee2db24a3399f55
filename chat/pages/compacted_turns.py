"""What does a page show of folded turns? The summary where they stood, the turns on request, and what comes next.

The page shows each folding as it was made; where the prompt has merged several into one, their own summaries tell more.
"""

from __future__ import annotations

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
"""So many turns before the conversation grows too long the page says so."""
SURELY: Final = FIRST_TURNS + KEPT_TURNS + MAX_SEGMENT_TURNS
"""Of so many turns some are folded, and which ones is known without their sizes."""
PERCENT_AHEAD: Final = 85
"""Or when history fills so much of its ceiling, or the prompt so much of the part of the window it may fill."""
WHAT_HAPPENS: Final = (
    "the model then reads a short summary in their place, and every word stays here, readable and searchable."
)


# Where turns were folded -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SegmentView:
    """Folded turns on a page: their summary, and the turns themselves where they were asked for."""

    id: int
    first: int
    last: int
    last_message: int
    """Id of the last one that it tells of."""
    narrative: str
    lists: list[tuple[str, tuple[str, ...]]]
    """Heading and sentences; those that are empty are left out."""
    topics: tuple[str, ...]
    shown: Sequence[MessageView] = ()

    is_fold: bool = True

    @property
    def turns(self) -> int:
        """How many there are to be shown."""
        return self.last - self.first + 1


def build_segment_view(segment: Segment, turns: Sequence[MessageView] = ()) -> SegmentView:
    """What a page shows in the place of the turns that the segment tells of; with the turns, if they are given."""
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


# What comes next -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompactionStatus:
    """What the context panel says of folding: a warning before it, a word while it is done, and whether there is
    something for the button to do."""

    is_working: bool = False
    warning: str = ""
    error: str = ""
    can_fold: bool = False


def compaction_status(conversation: Conversation) -> CompactionStatus:
    """How it stands with this conversation; asks no model and no provider."""
    latest: Compaction | None = Compaction.objects.filter(conversation=conversation).order_by("-pk").first()
    if latest is not None and latest.finished_at is None:
        return CompactionStatus(is_working=True)
    error = latest.error if latest is not None and latest.state == Compaction.State.FAILED else ""
    last = _last_prompt(conversation)
    coming = _coming_of_a_long_one(conversation, last.ceiling)
    if coming is not None:
        return CompactionStatus(warning=warning(coming), error=error, can_fold=True)
    turns = load_uncompacted(conversation).turns
    model = conversation.model or settings.ENVIRONMENT.chat_model
    sizes = size_turns(turns, calibration.ratios(model))
    next_ones = select_turns(sizes, last.ceiling, was_asked=True)
    is_near = (
        sum(one.tokens for one in sizes) * 100 > last.ceiling * PERCENT_AHEAD
        or len(turns) > verbatim_turns(last.ceiling) - TURNS_AHEAD
        or last.tokens * 10_000
        > (cached_capabilities(model) or configured_capabilities()).context_window * WINDOW_PERCENT * PERCENT_AHEAD
    )
    return CompactionStatus(
        warning=warning(next_ones) if next_ones is not None and is_near else "",
        error=error,
        can_fold=next_ones is not None,
    )


def _coming_of_a_long_one(conversation: Conversation, ceiling: int) -> TurnRange | None:
    """The turns folded next where so many are not that their sizes do not matter: an imported conversation may have
    thousands, and no page reads them all to say so. None: it is not so long."""
    unfolded_ones = [piece.message for piece in walk(conversation, conversation.active_leaf_id) if piece.message]
    if len(unfolded_ones) <= 2 * (verbatim_turns(ceiling) + SURELY):
        return None
    first = Message.objects.filter(pk__in=unfolded_ones[: 2 * SURELY]).defer("search").order_by("seq")
    return select_turns([SizedTurn(turn.number, 0) for turn in finished_turns(list(first))], 1, was_asked=True)


def warning(turns: TurnRange) -> str:
    """What will happen to these turns, in one sentence."""
    which = f"turns {turns.first} to {turns.last}" if turns.last > turns.first else f"turn {turns.first}"
    return f"Soon {which} will be folded away: {WHAT_HAPPENS}"


@dataclass(frozen=True, slots=True)
class _LastPrompt:
    """In tokens."""

    tokens: int = 0
    ceiling: int = VERBATIM_CEILING
    """What its plan gave to history; without one, what is usual."""


def _last_prompt(conversation: Conversation) -> _LastPrompt:
    receipts = Receipt.objects.for_user(conversation.user).filter(conversation=conversation).order_by("-pk")
    found = receipts.values_list("estimated_input", "output_tokens", "sections").first()
    if found is None:
        return _LastPrompt()
    prompt, answer, sections = found
    ceilings = (one["ceiling"] for one in sections or [] if one["section"] == Section.HISTORY)
    return _LastPrompt(prompt + answer, next(ceilings, None) or VERBATIM_CEILING)
