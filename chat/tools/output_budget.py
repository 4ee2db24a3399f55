"""Tokens of tool results in one turn: how much of each result the model sees.

A result is truncated when it arrives: for a search to the start of each hit; otherwise, or if that is too long, to the
head of the text. A line says how much was left out and where the whole is stored. A result that was sent is in the
provider's cache, so it is only truncated again if a later round has no room.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from budget.counting.cached_prefix import sum_counts
from budget.counting.estimate import MESSAGE_FRAME, TextClass, by_class, estimate
from budget.counting.learning import Belief, standard_deviation
from budget.planning.fit import PRUNING_ORDER, Cut, FitResult, Piece
from budget.planning.plan import Section
from budget.planning.preflight import allocate_results
from chat.tools.snippets import render_snippets
from chat.turn import ToolUse
from recall.llm.tokens import count_tokens

NOTE: Final = "\n[Shortened: the first {shown:,} of {whole:,} characters.{where}]"
SUMMARISED: Final = "\n[Summarised: the beginning of each result.{where}]"
KEPT_AT: Final = " The whole is kept at {path}: read_document reads on from a start, search_knowledge finds in it."
GONE: Final = "[Left out for want of room.{where}]"
RULE: Final = next(step.rule for step in PRUNING_ORDER if step.section is Section.TASK)
FRAME: Final = {TextClass.FRAME: MESSAGE_FRAME * 2}
"""A result costs as much as a message, plus the name of its call."""
LABEL_CHARS: Final = 120
_ORDER: Final = {section: place for place, section in enumerate(Section)}
TRIES, BELOW = 8, 0.97
"""A head is cut by the measured characters per token, a little shorter each time, until it fits."""


@dataclass(slots=True)
class SentToolResult:
    """A tool's result as currently sent."""

    call: ToolUse
    text: str
    tokens: int
    """Estimated tokens, as sent."""
    whole: int
    """Estimated tokens of the whole result."""
    counts: Mapping[TextClass, int]
    path: str = ""
    """Where the whole result is stored, if part of it was left out."""


@dataclass(slots=True)
class ToolOutputBudget:
    """The tool loop's share of the prompt, and its results."""

    ceiling: int
    """Tokens the plan has for task state, minus the task itself."""
    ratios: Mapping[TextClass, float]
    belief: Belief
    snippets: int | None = None
    """Tokens for all results together: what the cap on memories leaves; None: there is no cap."""
    shown: list[SentToolResult] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    """Tokens of the model's own blocks, one figure per round: they are sent back unchanged."""

    @property
    def tokens(self) -> int:
        """Tokens that the loop added to the first request."""
        return sum(self.said) + sum(part.tokens for part in self.shown)

    def measure(self, call: ToolUse) -> SentToolResult:
        """A result as it arrived."""
        counts = self._counts(call.result)
        tokens = estimate(counts, self.ratios)
        return SentToolResult(call, call.result, tokens, tokens, counts)

    def plan_truncation(self, arrived: Sequence[SentToolResult], spare: int) -> list[tuple[SentToolResult, int]]:
        """The results that must be shortened so that ceiling and `spare` hold, and to how many tokens.

        `spare`: what the plan's total leaves for this loop, in tokens, including everything the loop already holds.
        """
        room = min(self.ceiling, spare) - sum(self.said)
        if self.snippets is not None:
            room = min(room, self.snippets)
        older = [part.tokens for part in self.shown]
        allotted = allocate_results([part.tokens for part in arrived], older, max(0, room))
        both = [*zip(self.shown, allotted.older, strict=True), *zip(arrived, allotted.new, strict=True)]
        return [(one, tokens) for one, tokens in both if tokens < one.tokens]

    def truncate(self, one: SentToolResult, tokens: int) -> None:
        """Shorten a result to `tokens`, note included: the start of each hit, else the head."""
        where = KEPT_AT.format(path=one.path) if one.path else ""
        result = one.call.result
        if gist := render_snippets(result):
            self._set(one, gist + SUMMARISED.format(where=where))
            if one.tokens <= tokens:
                return
        length = len(result)
        for _ in range(TRIES):
            length = int(length * BELOW * tokens / max(1, one.tokens))
            if not length:
                break
            self._set(one, result[:length] + NOTE.format(shown=length, whole=len(result), where=where))
            if one.tokens <= tokens:
                return
        self._set(one, GONE.format(where=where))
        if one.tokens > tokens:
            self._set(one, GONE.format(where=""))

    def uncertainty(self, arrived: Iterable[SentToolResult]) -> float:
        """Standard deviation of the estimate of these results."""
        return standard_deviation(self.belief, sum_counts(part.counts for part in arrived))

    def pieces(self) -> Iterator[Piece | Cut]:
        """The loop's pieces for the receipt: the model's blocks, each sent result, and what was cut from it."""
        for number, tokens in enumerate(self.said, start=1):
            label = f"What the model thought, said and asked for in round {number}"
            yield Piece(Section.TASK, f"round:{number}", label, tokens, is_protected=True)
        for number, one in enumerate(self.shown, start=1):
            label = f"{one.call.name} {one.call.input}"[:LABEL_CHARS]
            yield Piece(Section.TASK, f"tool:{number}", label, one.tokens, is_protected=True)
            rest = max(0, one.whole - one.tokens)
            if one.text != one.call.result:
                yield Cut(Piece(Section.TASK, f"tool:{number}:rest", f"The rest of: {label}", rest), RULE)

    def _set(self, one: SentToolResult, text: str) -> None:
        one.text, one.counts = text, self._counts(text)
        one.tokens = estimate(one.counts, self.ratios)

    def _counts(self, text: str) -> dict[TextClass, int]:
        return sum_counts([by_class(text, count_tokens(text)), FRAME])


def with_task(fitted: FitResult, task: Iterable[Piece | Cut]) -> FitResult:
    """The pieces of a turn's last request: the first request's, and those the loop added."""
    task = list(task)
    kept = [*fitted.kept, *(message for message in task if isinstance(message, Piece))]
    in_order = tuple(sorted(kept, key=lambda piece: _ORDER[piece.section]))
    return replace(fitted, kept=in_order, cut=(*fitted.cut, *(message for message in task if isinstance(message, Cut))))


def as_blocks(shown: Iterable[SentToolResult]) -> list[dict[str, Any]]:
    """Results as the next request carries them."""
    return [
        {"type": "tool_result", "tool_use_id": part.call.id, "content": part.text, "is_error": part.call.is_error}
        for part in shown
    ]
