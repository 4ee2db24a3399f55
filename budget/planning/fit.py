"""Fits candidate pieces into a token budget. Pure: takes pieces and a plan, returns what is kept and what is cut.

Two steps. `allocate` distributes the plan: a section may borrow what others leave unused; if the sections need more
than the plan has, they are trimmed in PRUNING_ORDER. Then each section keeps its best pieces within its allocation.
"""

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
    """A section's place in the pruning order and its cut rules, as receipts store them."""

    section: Section
    rule: str
    last_resort: str = ""
    """The rule for its protected pieces; empty: the same."""


PRUNING_ORDER: Final = (
    # A tool can be called again, and most of its output isn't needed.
    Step(Section.TASK, "task state gives way first"),
    # Questions rarely refer to middle turns; their rows remain, and `search_conversation` finds them.
    Step(Section.HISTORY, "history gives way in its middle", "first and last turns: all else is cut already"),
    # The best few decide the answer.
    Step(Section.MEMORIES, "memories give way, lowest score first"),
    # Recall promises to always know these.
    Step(Section.PROFILE, "profile gives way, least important first", "keyed facts: all else is cut already"),
    # Without them the answer would come from another role.
    Step(Section.ROLE, "role instructions give way last"),
)
"""Which section is trimmed first. Walked three times: for what sections borrowed beyond their ceilings, for what they
hold within them, and for protected pieces, the last resort before a message is refused."""

QUESTION_TOKENS: Final = 200
"""Maximum tokens of a question about a document; with less room, saving the text as one wouldn't help."""
PLACEHOLDER_REF: Final = "left-out"
"""Prefix of the placeholder's ref, which replaces the cut turns."""
SEGMENT_REF: Final = "segment:"
"""Prefix of a summary's ref. In history it is one turn, numbered as the first turn it summarizes."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate for the prompt: a memory, a profile line, one message of a turn, a tool result.

    Text that may be shortened but not dropped, such as a running tool's result, is two pieces: a protected head and the
    rest.
    """

    section: Section
    ref: str
    """Its reference, such as `fact:12`."""
    label: str
    """Its text on the page."""
    tokens: int
    """Calibrated estimate."""
    score: float | None = None
    """Rank within its section: the lowest is cut first; None counts as 0. History is cut by turn."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Parts of the score."""
    relevance: float | None = None
    """Relevance to the question, for pieces that are always included; None: not found by the question."""
    is_protected: bool = False
    """Cut only when nothing unprotected is left, as keyed facts. Role pieces and history's outer turns always are."""
    turn: int | None = None
    """Turn number: every piece of history has one, in ascending order."""
    url: str = ""
    """Address of its source."""
    qualifier: str = ""
    """For a recalled memory: current, until a date, superseded by a fact, perhaps changed by a message, said before a
    fact, or waiting."""

    def __post_init__(self) -> None:
        if self.tokens < 0 or (self.score is not None and math.isnan(self.score)):
            raise ValueError(f"{self.ref} has an invalid size or score.")
        if self.section is Section.HISTORY and self.turn is None:
            raise ValueError(f"{self.ref} is in history, so it needs a turn number.")


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece left out of this prompt, and the rule that cut it."""

    piece: Piece
    rule: str


@dataclass(frozen=True, slots=True)
class SectionTotal:
    section: Section
    ceiling: int | None
    """Tokens; None: shared with another section."""
    tokens: int
    cut_tokens: int
    items: int
    """Pieces kept."""
    cut: int
    """Pieces cut."""


@dataclass(frozen=True, slots=True)
class OversizedMessage:
    """Sizes for the page's suggestion when a message doesn't fit."""

    tokens: int
    """Estimate for the message and its attachments."""
    room: int
    """Tokens left for a message beside what is never cut."""

    @property
    def can_be_kept(self) -> bool:
        """Whether to offer saving the text as a document: a question about it would fit."""
        return self.room >= QUESTION_TOKENS


@dataclass(frozen=True, slots=True)
class FitResult:
    """A prompt that fits its plan, or a sentence that says why there is none."""

    kept: tuple[Piece, ...] = ()
    """Kept pieces, in the order of the prompt."""
    cut: tuple[Cut, ...] = ()
    """Cut pieces, in pruning order."""
    sections: tuple[SectionTotal, ...] = ()
    """Every section, in order."""
    cut_turns: TurnRange | None = None
    """Turns behind the placeholder: stored, and passed to the next `fit`."""
    rejection: str | None = None
    too_long: OversizedMessage | None = None
    """Set if the message is what doesn't fit, not the instructions."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of the whole prompt."""
        return sum(piece.tokens for piece in self.kept)


def fit(pieces: Iterable[Piece], plan: ResolvedPlan, already_cut: TurnRange | None = None) -> FitResult:
    """The prompt that keeps as much as `plan` allows. `already_cut`: the turns the last prompt left out."""
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


# Allocation -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SectionDemand:
    """Tokens one section asks for."""

    section: Section
    ceiling: int
    unguarded: int
    guarded: int

    @property
    def borrowed(self) -> int:
        """Tokens it can give back before it reaches its ceiling."""
        return min(self.unguarded, max(0, self.unguarded + self.guarded - self.ceiling))

    @property
    def within(self) -> int:
        """Tokens it can give back below its ceiling before it cuts protected pieces."""
        return self.unguarded - self.borrowed


def allocate(wants: Sequence[SectionDemand], room: int) -> dict[Section, int]:
    """Tokens for each section, at most `room` in all. `wants` are in pruning order.

    A larger room never gives a section less, nor do larger ceilings with a room that grows along.
    """
    dealt = {want.section: want.unguarded + want.guarded for want in wants}
    excess = max(0, sum(dealt.values()) - room)
    rounds = (
        [(want.section, want.borrowed) for want in wants],
        [(want.section, want.within) for want in wants],
        [(want.section, want.guarded) for want in wants],
    )
    for section, can_give in (offer for offers in rounds for offer in offers):
        reduction = min(excess, can_give)
        dealt[section] -= reduction
        excess -= reduction
    return dealt


def _want(
    section: Section, sections: Mapping[Section, Sequence[Piece]], history: History, plan: ResolvedPlan
) -> SectionDemand:
    if section is Section.HISTORY:
        return SectionDemand(section, plan.ceilings[section], history.spare, history.wanted - history.spare)
    guarded = _tokens(piece for piece in sections[section] if _is_guarded(piece))
    unguarded = _tokens(sections[section]) - guarded
    if section is Section.MEMORIES and plan.memory_cap is not None:
        unguarded = min(unguarded, plan.memory_cap)  # protected pieces weren't recalled: updates of the profile
    return SectionDemand(section, plan.ceilings[section], unguarded, guarded)


# Cutting ----------------------------------------------------------------------------------------------------------


def _worst_beyond(room: int, step: Step, pieces: Iterable[Piece]) -> Iterator[Cut]:
    """Pieces beyond the best that fit into `room`. None is skipped for a smaller one: otherwise a larger plan could
    show less."""
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
    gone = {id(left_out.piece) for left_out in cut}
    return [piece for section in Section for piece in sections[section] if id(piece) not in gone]


def _with_placeholder(kept: Sequence[Piece], cut: TurnRange, room: int) -> list[Piece]:
    """`kept` with the placeholder in place of the cut turns, if there is room."""
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


# Totals -----------------------------------------------------------------------------------------------------------


def section_totals(kept: Iterable[Piece], cut: Iterable[Cut], plan: ResolvedPlan) -> tuple[SectionTotal, ...]:
    """One row for every section, in order."""
    kept_by, cut_by = _by_section(kept), _by_section(item.piece for item in cut)
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
