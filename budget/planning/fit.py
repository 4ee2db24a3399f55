"""What stands in a prompt, and what is cut when it does not fit? Pure: pieces and a plan in, kept and cut out.

Two steps. `share` deals out the plan: a section may borrow what others leave unused, and where the sections want more
than there is, they give way in PRUNING_ORDER. Then each section keeps its best pieces within what it was dealt.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from budget.planning.history_cut import PLACEHOLDER_TOKENS, History, TurnRange
from budget.planning.plan import NEVER_CUT, ResolvedPlan, Section


@dataclass(frozen=True, slots=True)
class Step:
    """One section's place in the pruning order, and its rules by the names the page shows."""

    section: Section
    rule: str
    last_resort: str = ""
    """The rule for its guarded pieces; empty: the same."""


PRUNING_ORDER: Final = (
    # A tool can be called again, and most of its output is not what was asked.
    Step(Section.TASK, "task state gives way first"),
    # The middle is seldom what is meant; its rows stay, and `search_conversation` opens them.
    Step(Section.HISTORY, "history gives way in its middle", "first and last turns: all else is cut already"),
    # The best few carry the answer.
    Step(Section.MEMORIES, "memories give way, lowest score first"),
    # What Recall promises to know always.
    Step(Section.PROFILE, "profile gives way, least important first", "keyed facts: all else is cut already"),
    # Without them somebody else would answer.
    Step(Section.ROLE, "role instructions give way last"),
)
"""Which section gives way first. It is walked three times: for what sections borrowed beyond their ceilings, for what
they hold within them, and for guarded pieces, the last resort before a message is refused."""

QUESTION_TOKENS: Final = 200
"""What a question about a document takes at most; with less room, keeping the text as one would be of no help."""
PLACEHOLDER_REF: Final = "left-out"
"""Begins the ref of the piece that stands in place of the cut turns."""
SEGMENT_REF: Final = "segment:"
"""Begins the ref of a summary that stands in history as one turn, numbered as the first of those it was made of."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that could stand in a prompt: a memory, a profile line, one message of a turn, a tool result.

    Text that may be shortened but not dropped, such as a running tool's result, comes as two pieces: its guarded head
    and the rest.
    """

    section: Section
    ref: str
    """What it is, as in `fact:12`."""
    label: str
    """What the page shows of it."""
    tokens: int
    """Calibrated estimate."""
    score: float | None = None
    """How much it matters within its section: the lowest is cut first; None counts as 0. History goes by turns."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What the score is made of."""
    relevance: float | None = None
    """How well it fits the question, where it stands in the prompt whether it does or not; None: not found by it."""
    is_protected: bool = False
    """Cut only when nothing unguarded is left, as keyed facts. Role pieces and history's outer turns always are."""
    turn: int | None = None
    """Number of the turn: every piece of history has one, and they come in rising order."""
    url: str = ""
    """Where it comes from."""

    def __post_init__(self) -> None:
        if self.tokens < 0 or (self.score is not None and math.isnan(self.score)):
            raise ValueError(f"{self.ref} has no proper size or score.")
        if self.section is Section.HISTORY and self.turn is None:
            raise ValueError(f"{self.ref} stands in history, so it needs the number of its turn.")


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece that is left out of this prompt, and the rule that says so."""

    piece: Piece
    rule: str


@dataclass(frozen=True, slots=True)
class SectionTotal:
    """What became of one section."""

    section: Section
    ceiling: int | None
    """Tokens; None: it shares another section's."""
    tokens: int
    cut_tokens: int
    items: int
    """Pieces kept."""
    cut: int
    """Pieces cut."""


@dataclass(frozen=True, slots=True)
class OversizedMessage:
    """What a page needs to offer a way out for a message that does not fit."""

    tokens: int
    """Of the message and what is attached to it, estimated."""
    room: int
    """What a message may take beside what is never cut."""

    @property
    def can_be_kept(self) -> bool:
        """Whether the text may be offered to be kept as a document: a question about it would fit."""
        return self.room >= QUESTION_TOKENS


@dataclass(frozen=True, slots=True)
class FitResult:
    """A prompt that fits its plan, or the sentence that says why there is none."""

    kept: tuple[Piece, ...] = ()
    """In the order of the prompt."""
    cut: tuple[Cut, ...] = ()
    """In pruning order."""
    sections: tuple[SectionTotal, ...] = ()
    """Every section, in order."""
    cut_turns: TurnRange | None = None
    """Turns behind the placeholder: to be stored, and given to the next `fit`."""
    rejection: str | None = None
    too_long: OversizedMessage | None = None
    """Set where it is the message that does not fit, and not the instructions alone."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of the whole prompt."""
        return sum(piece.tokens for piece in self.kept)


def fit(pieces: Iterable[Piece], plan: ResolvedPlan, already_cut: TurnRange | None = None) -> FitResult:
    """The prompt that keeps as much as `plan` allows. `already_cut`: the turns that the last prompt left out."""
    sections = _by_section(pieces)
    fixed = sum(_tokens(sections[section]) for section in NEVER_CUT)
    if fixed > plan.available:
        return _refused(fixed, _tokens(sections[Section.MESSAGE]), plan)
    history = History(_turn_tokens(sections[Section.HISTORY]), already_cut)
    dealt = allocate([_want(step.section, sections, history, plan) for step in PRUNING_ORDER], plan.available - fixed)
    cut_turns = history.cut(plan.ceilings[Section.HISTORY], dealt[Section.HISTORY])
    cut = [
        cut
        for step in PRUNING_ORDER
        for cut in (
            _turns_within(cut_turns, history, step, sections[step.section])
            if step.section is Section.HISTORY
            else _worst_beyond(dealt[step.section], step, sections[step.section])
        )
    ]
    kept = _without(cut, sections)
    if cut_turns:
        kept = _with_placeholder(kept, cut_turns, dealt[Section.HISTORY])
    return FitResult(tuple(kept), tuple(cut), section_totals(kept, cut, plan), cut_turns)


# Dealing out ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SectionDemand:
    """What one section would take, in tokens."""

    section: Section
    ceiling: int
    unguarded: int
    guarded: int

    @property
    def borrowed(self) -> int:
        """What it can give back before it falls to its ceiling."""
        return min(self.unguarded, max(0, self.unguarded + self.guarded - self.ceiling))

    @property
    def within(self) -> int:
        """What it can give back below its ceiling before it touches guarded pieces."""
        return self.unguarded - self.borrowed


def allocate(wants: Sequence[SectionDemand], room: int) -> dict[Section, int]:
    """Tokens for each section, at most `room` in all. `wants` come in pruning order.

    A larger room never gives a section less, nor do larger ceilings whose growth the room follows.
    """
    dealt = {want.section: want.unguarded + want.guarded for want in wants}
    excess = max(0, sum(dealt.values()) - room)
    rounds = (
        [(want.section, want.borrowed) for want in wants],
        [(want.section, want.within) for want in wants],
        [(want.section, want.guarded) for want in wants],
    )
    for section, can_give in (offer for offers in rounds for offer in offers):
        given = min(excess, can_give)
        dealt[section] -= given
        excess -= given
    return dealt


def _want(
    section: Section, sections: Mapping[Section, Sequence[Piece]], history: History, plan: ResolvedPlan
) -> SectionDemand:
    if section is Section.HISTORY:
        return SectionDemand(section, plan.ceilings[section], history.spare, history.wanted - history.spare)
    guarded = _tokens(piece for piece in sections[section] if _is_guarded(piece))
    unguarded = _tokens(sections[section]) - guarded
    if section is Section.MEMORIES and plan.memory_cap is not None:
        unguarded = min(unguarded, plan.memory_cap)  # what is guarded was not recalled: a profile that changed since
    return SectionDemand(section, plan.ceilings[section], unguarded, guarded)


# Cutting ----------------------------------------------------------------------------------------------------------


def _worst_beyond(room: int, step: Step, pieces: Iterable[Piece]) -> Iterator[Cut]:
    """What is left when the best pieces, as many as `room` holds, are taken. None is skipped for a smaller one:
    else a larger plan could show less."""
    best_first = sorted(pieces, key=lambda piece: (not _is_guarded(piece), -(piece.score or 0.0)))
    used = accumulate(piece.tokens for piece in best_first)
    for piece, tokens in zip(best_first, used, strict=True):
        if tokens > room:
            yield Cut(piece, step.last_resort or step.rule if _is_guarded(piece) else step.rule)


def _turns_within(cut: TurnRange | None, history: History, step: Step, pieces: Iterable[Piece]) -> Iterator[Cut]:
    for piece in pieces:
        if cut and piece.turn is not None and piece.turn in cut:
            yield Cut(piece, step.last_resort if piece.turn in history.outer else step.rule)


def _is_guarded(piece: Piece) -> bool:
    return piece.is_protected or piece.section is Section.ROLE


def _without(cut: Iterable[Cut], sections: Mapping[Section, Sequence[Piece]]) -> list[Piece]:
    gone = {id(one.piece) for one in cut}
    return [piece for section in Section for piece in sections[section] if id(piece) not in gone]


def _with_placeholder(kept: Sequence[Piece], cut: TurnRange, room: int) -> list[Piece]:
    """`kept` with the placeholder where the cut turns stood, if it has room."""
    if _tokens(piece for piece in kept if piece.section is Section.HISTORY) + PLACEHOLDER_TOKENS > room:
        return list(kept)
    placeholder = Piece(
        Section.HISTORY,
        ref=f"{PLACEHOLDER_REF}:{cut.first}-{cut.last}",
        label=f"Note: turns {cut.first} to {cut.last} left out",
        tokens=PLACEHOLDER_TOKENS,
        turn=cut.first,
    )
    place = sum(1 for piece in kept if _place(piece) < _place(placeholder))
    return [*kept[:place], placeholder, *kept[place:]]


def _place(piece: Piece) -> tuple[int, int]:
    in_section = piece.turn or 0 if piece.section is Section.HISTORY else 0
    return _SECTIONS.index(piece.section), in_section


_SECTIONS: Final = tuple(Section)


# Adding up --------------------------------------------------------------------------------------------------------


def section_totals(kept: Iterable[Piece], cut: Iterable[Cut], plan: ResolvedPlan) -> tuple[SectionTotal, ...]:
    """One row for every section, in order."""
    kept_by, cut_by = _by_section(kept), _by_section(one.piece for one in cut)
    return tuple(
        SectionTotal(
            section,
            plan.ceilings.get(section),
            tokens=_tokens(kept_by[section]),
            cut_tokens=_tokens(cut_by[section]),
            items=len(kept_by[section]),
            cut=len(cut_by[section]),
        )
        for section in Section
    )


def _by_section(pieces: Iterable[Piece]) -> defaultdict[Section, list[Piece]]:
    found: defaultdict[Section, list[Piece]] = defaultdict(list)
    for piece in pieces:
        found[piece.section].append(piece)
    return found


def _turn_tokens(pieces: Iterable[Piece]) -> dict[int, int]:
    turns: defaultdict[int, int] = defaultdict(int)
    for piece in pieces:
        turns[piece.turn or 0] += piece.tokens
    return turns


def _tokens(pieces: Iterable[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


def _refused(fixed: int, message: int, plan: ResolvedPlan) -> FitResult:
    room = plan.available - (fixed - message)
    if room <= 0:
        return FitResult(
            rejection=f"The instructions alone need about {fixed - message:,} tokens. The plan “{plan.name}” allows "
            f"{plan.available:,} with this model. Choose a larger plan, or a model with a larger context window."
        )
    too_long = OversizedMessage(message, room)
    way_out = "save it as a document and ask about it" if too_long.can_be_kept else "choose a larger plan"
    sentence = (
        f"Your message is too long: about {message:,} tokens. The plan “{plan.name}” has room for {room:,} "
        f"with this model. Shorten it, or {way_out}."
    )
    return FitResult(rejection=sentence, too_long=too_long)
