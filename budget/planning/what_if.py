"""The what-if preview: the last prompt fitted into another plan by the same `fit`, without new retrieval.

The pieces come from the receipt's items. A run of turns is one item, so it is split again: by the turn sizes it stores,
or, if the run was too long for that, into equal turns; the preview then says “about”. What retrieval left out doesn't
return with a larger plan.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from budget.models import Receipt
from budget.planning.fit import PLACEHOLDER_REF, PRUNING_ORDER, SEGMENT_REF, Cut, Piece, SectionTotal, fit
from budget.planning.history_cut import TurnRange
from budget.planning.items import Item, list_items
from budget.planning.plan import ResolvedPlan, Section

RULES: Final = frozenset(rule for step in PRUNING_ORDER for rule in (step.rule, step.last_resort) if rule)
"""Rules of `fit`: a piece cut by one was a candidate for the prompt."""
TURNS_REF: Final = "turns:"
NOT_LISTED: Final = " The list of what was left out is no longer kept, so anything that would return isn't shown."
type Key = tuple[Section, str]
"""Section and ref of a piece: a document may be both in the profile and a memory."""


@dataclass(frozen=True, slots=True)
class Before:
    """A receipt's prompt as input of `fit`."""

    pieces: tuple[Piece, ...]
    """Every candidate; history in ascending order."""
    plan: ResolvedPlan
    """The plan it was fitted into."""
    cut_turns: TurnRange | None
    """The turns it left out, for `preview`: the next prompt keeps that cut."""
    exact: bool
    """False: some turn sizes are averages."""
    lists_cut: bool = True
    """False: cut items are no longer listed, so none can return."""


@dataclass(frozen=True, slots=True)
class Change:
    """A memory, profile line or run of turns that would be trimmed or included again."""

    ref: str
    label: str
    section: Section
    tokens: int
    rule: str
    """The rule that would cut it, or that cut it."""
    url: str

    @property
    def heading(self) -> str:
        """Its section's name on the page."""
        return self.section.heading


@dataclass(frozen=True, slots=True)
class Preview:
    """The same pieces under their plan and under another."""

    before: int
    """Tokens under their plan."""
    after: int
    """Tokens under the other plan; 0: refused."""
    cut: tuple[Change, ...]
    """Newly cut items, in pruning order."""
    back: tuple[Change, ...]
    """Items included again."""
    sections: tuple[SectionTotal, ...]
    """Every section under the other plan; empty: refused."""
    refused: str | None
    exact: bool
    """False: some turn sizes are averages."""
    lists_cut: bool
    """False: cut items are no longer listed."""

    @property
    def sentence(self) -> str:
        if self.refused:
            return self.refused
        changes = [self._counted(self.cut, "be trimmed"), self._counted(self.back, "be included again")]
        change = " and ".join(part for part in changes if part) or "nothing would change"
        return f"With this budget {change}.{'' if self.lists_cut else NOT_LISTED}"

    def _counted(self, changes: Sequence[Change], fate: str) -> str:
        if not changes:
            return ""
        number = "1 item" if len(changes) == 1 else f"{len(changes)} items"
        tokens = sum(change.tokens for change in changes)
        return f"{number} ({'' if self.exact else 'about '}{tokens:,} tokens) would {fate}"


def pieces_of(receipt: Receipt) -> Before:
    """The candidates of a receipt's prompt, with cut and kept turns merged in ascending order."""
    candidates = [item for item in receipt.items if _is_candidate(item)]
    pieces = sorted((piece for item in candidates for piece in _pieces(item)), key=lambda piece: piece.turn or 0)
    cut = [n for item in candidates if not item["kept"] and item["section"] == Section.HISTORY for n in _span(item)]
    return Before(
        pieces=tuple(pieces),
        plan=_plan_of(receipt),
        cut_turns=TurnRange(min(cut), max(cut)) if cut else None,
        exact=all("turns" in item for item in candidates if item["ref"].startswith(TURNS_REF)),
        lists_cut=not receipt.cut_rules,
    )


def preview(before: Before, plan: ResolvedPlan, already_cut: TurnRange | None) -> Preview:
    """Compare `plan` with the receipt's plan on the same pieces.

    `already_cut`: the conversation's cut point, which stays. So both describe the next prompt, not the last one, which
    may have been the first to be cut.
    """
    now = fit(before.pieces, replace(before.plan, memory_cap=plan.memory_cap), already_cut)
    then = fit(before.pieces, plan, already_cut)
    kept_now, kept_then = _keys(now.kept), _keys(then.kept)
    newly_cut = [item for item in then.cut if _key(item.piece) in kept_now]
    newly_kept = [item for item in now.cut if _key(item.piece) in kept_then]
    return Preview(
        before=now.tokens,
        after=then.tokens,
        cut=tuple(_changes(newly_cut, before.pieces)),
        back=tuple(_changes(newly_kept, before.pieces)),
        sections=then.sections,
        refused=then.rejection,
        exact=before.exact,
        lists_cut=before.lists_cut,
    )


def _plan_of(receipt: Receipt) -> ResolvedPlan:
    """The receipt's plan. The operator's memory cap applies in every plan, so receipts don't store it."""
    ceilings = {
        Section(section["section"]): section["ceiling"]
        for section in receipt.sections
        if section["ceiling"] is not None
    }
    return ResolvedPlan(receipt.plan, receipt.plan_total, receipt.plan_total - sum(ceilings.values()), ceilings)


# Items into pieces -------------------------------------------------------------------------------------------------


def _is_candidate(item: Mapping[str, Any]) -> bool:
    return not item["ref"].startswith(PLACEHOLDER_REF) and (item["kept"] or item["rule"] in RULES)


def _pieces(item: Item) -> Iterator[Piece]:
    if item["ref"].startswith(TURNS_REF):
        yield from (_piece(item, f"turn:{number}", tokens, number) for number, tokens in _sizes(item))
    else:
        yield _piece(item, item["ref"], item["tokens"], item.get("turn"))


def _piece(item: Item, ref: str, tokens: int, turn: int | None) -> Piece:
    section = Section(item["section"])
    # Older receipts don't store `guarded`: there, profile facts are.
    guarded = item.get("guarded", section is Section.PROFILE and ref.startswith("fact:"))
    more = {"score": item["score"], "parts": item["parts"], "is_protected": guarded, "turn": turn, "url": item["url"]}
    return Piece(section, ref, item["label"], tokens, **more)


def _sizes(item: Item) -> list[tuple[int, int]]:
    """Number and tokens of each turn in a run; they add up to the item's."""
    if "turns" in item:
        return [(number, tokens) for number, tokens in item["turns"]]
    span, tokens = _span(item), item["tokens"]
    ends = [tokens * done // len(span) for done in range(len(span) + 1)]
    return [(number, end - begin) for number, begin, end in zip(span, ends, ends[1:], strict=False)]


def _span(item: Item) -> Sequence[int]:
    """The turns of an item; a segment counts as its first turn."""
    if item["ref"].startswith(SEGMENT_REF):
        return [item["turn"]]
    first, _, last = item["ref"].removeprefix(TURNS_REF).partition("-")
    return range(int(first), int(last) + 1)


# Pieces into changes -----------------------------------------------------------------------------------------------


def _changes(cuts: Sequence[Cut], pieces: Iterable[Piece]) -> Iterator[Change]:
    """The changes; consecutive turns are one item again."""
    place = {_key(piece): number for number, piece in enumerate(pieces)}
    numbered = enumerate(cuts)
    for _, run in groupby(numbered, key=lambda one: place[_key(one[1].piece)] - one[0]):
        yield from (_change(item) for item in list_items((), [cut for _, cut in run]))


def _key(piece: Piece) -> Key:
    return piece.section, piece.ref


def _keys(pieces: Iterable[Piece]) -> frozenset[Key]:
    return frozenset(_key(piece) for piece in pieces)


def _change(item: Item) -> Change:
    return Change(item["ref"], item["label"], Section(item["section"]), item["tokens"], item["rule"], item["url"])
