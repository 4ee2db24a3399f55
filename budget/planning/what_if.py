"""What would this plan cut? The last prompt, fitted again by the same `fit` into another plan; nothing is asked anew.

The pieces come from the receipt's items. A receipt lists turns in a row as one item, so a run is taken apart again: by
the sizes that it keeps of its turns, or, where the run was too long for that, into turns of even size; then the
preview says that it is about right. What retrieval itself had left out does not come back with a larger plan.
"""

from __future__ import annotations

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
"""A piece that was cut by one of these was a candidate for the prompt."""
TURNS_REF: Final = "turns:"
NOT_LISTED: Final = " The list of what was left out is no longer kept, so anything that would return isn't shown."
type Key = tuple[Section, str]
"""Section and ref of a piece: a document may be told both in the profile and as a memory."""


@dataclass(frozen=True, slots=True)
class Before:
    """What a receipt says of its prompt, as `fit` takes it."""

    pieces: tuple[Piece, ...]
    """Every candidate; history in rising order."""
    plan: ResolvedPlan
    """The plan it was fitted into."""
    cut_turns: TurnRange | None
    """The turns it left out: to be given to `preview`, since the next prompt keeps that cut."""
    exact: bool
    """False: the sizes of some turns are a mean."""
    lists_cut: bool = True
    """False: what had been cut is no longer listed, so that nothing of it can come back."""


@dataclass(frozen=True, slots=True)
class Change:
    """One memory, profile line or run of turns whose fate would be another."""

    ref: str
    label: str
    section: Section
    tokens: int
    rule: str
    """The rule that would cut it, or that had cut it."""
    url: str

    @property
    def heading(self) -> str:
        """What the page calls its section."""
        return self.section.heading


@dataclass(frozen=True, slots=True)
class Preview:
    """The same pieces under the plan they had and under another."""

    before: int
    """Tokens under the plan they had."""
    after: int
    """Tokens under the other one; 0: refused."""
    cut: tuple[Change, ...]
    """What would be cut that was not, in pruning order."""
    back: tuple[Change, ...]
    """What would stand in the prompt that did not."""
    sections: tuple[SectionTotal, ...]
    """Every section as it would be; none: refused."""
    refused: str | None
    exact: bool
    """False: the sizes of some turns are a mean."""
    lists_cut: bool
    """False: what had been cut is no longer listed."""

    @property
    def changes_nothing(self) -> bool:
        return not (self.cut or self.back or self.refused)

    @property
    def sentence(self) -> str:
        """The whole in one sentence."""
        if self.refused:
            return self.refused
        told = [self._counted(self.cut, "be trimmed"), self._counted(self.back, "be included again")]
        change = " and ".join(part for part in told if part) or "nothing would change"
        return f"With this budget {change}.{'' if self.lists_cut else NOT_LISTED}"

    def _counted(self, changes: Sequence[Change], fate: str) -> str:
        if not changes:
            return ""
        number = "1 item" if len(changes) == 1 else f"{len(changes)} items"
        tokens = sum(change.tokens for change in changes)
        return f"{number} ({'' if self.exact else 'about '}{tokens:,} tokens) would {fate}"


def pieces_of(receipt: Receipt) -> Before:
    """The candidates of a receipt's prompt. Cut and kept turns come back into one rising order."""
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
    """What `plan` would make of the same pieces, compared with the plan they had. `already_cut`: the conversation's
    cut point, which stays; so both are the next prompt, and not the last one, which may have been the first to be cut.
    """
    now = fit(before.pieces, replace(before.plan, memory_cap=plan.memory_cap), already_cut)
    then = fit(before.pieces, plan, already_cut)
    kept_now, kept_then = _keys(now.kept), _keys(then.kept)
    newly_cut = [one for one in then.cut if _key(one.piece) in kept_now]
    newly_kept = [one for one in now.cut if _key(one.piece) in kept_then]
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
    """The plan as the receipt tells it. The operator's cap on memories holds in every plan, so no receipt keeps it."""
    ceilings = {Section(one["section"]): one["ceiling"] for one in receipt.sections if one["ceiling"] is not None}
    return ResolvedPlan(receipt.plan, receipt.plan_total, receipt.plan_total - sum(ceilings.values()), ceilings)


# Items into pieces -------------------------------------------------------------------------------------------------


def _is_candidate(item: Mapping[str, Any]) -> bool:
    return not _is_placeholder(item["ref"]) and (item["kept"] or item["rule"] in RULES)


def _is_placeholder(ref: str) -> bool:
    return ref.startswith(PLACEHOLDER_REF)


def _pieces(item: Item) -> Iterator[Piece]:
    if item["ref"].startswith(TURNS_REF):
        yield from (_piece(item, f"turn:{number}", tokens, number) for number, tokens in _sizes(item))
    else:
        yield _piece(item, item["ref"], item["tokens"], item.get("turn"))


def _piece(item: Item, ref: str, tokens: int, turn: int | None) -> Piece:
    section = Section(item["section"])
    # Receipts of before `guarded` was kept: a profile's facts are.
    guarded = item.get("guarded", section is Section.PROFILE and ref.startswith("fact:"))
    more = {"score": item["score"], "parts": item["parts"], "is_protected": guarded, "turn": turn, "url": item["url"]}
    return Piece(section, ref, item["label"], tokens, **more)


def _sizes(item: Item) -> list[tuple[int, int]]:
    """Number and tokens of each turn of a run; their sum is the item's."""
    if "turns" in item:
        return [(number, tokens) for number, tokens in item["turns"]]
    span, tokens = _span(item), item["tokens"]
    ends = [tokens * done // len(span) for done in range(len(span) + 1)]
    return [(number, end - begin) for number, begin, end in zip(span, ends, ends[1:], strict=False)]


def _span(item: Item) -> Sequence[int]:
    """The turns an item stands for; a segment stands at the first of its own."""
    if item["ref"].startswith(SEGMENT_REF):
        return [item["turn"]]
    first, _, last = item["ref"].removeprefix(TURNS_REF).partition("-")
    return range(int(first), int(last) + 1)


# Pieces into changes -----------------------------------------------------------------------------------------------


def _changes(cuts: Sequence[Cut], pieces: Iterable[Piece]) -> Iterator[Change]:
    """Each by name; turns that follow each other in the history are one again."""
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
