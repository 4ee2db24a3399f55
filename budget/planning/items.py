"""Items: the candidates of a prompt as a receipt stores and shows them, each kept or cut by a rule. Pure."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from budget.planning.fit import PLACEHOLDER_REF, SEGMENT_REF, Cut, Piece
from budget.planning.plan import Section

Item = dict[str, Any]
"""{ref, section, label, tokens, score, parts, kept, rule, url}; also `guarded` where true and the `qualifier` of a
memory; for a run of turns `turns`,
[[number, tokens], …]; for a segment `turn`, its first."""
SIZES_KEPT: Final = 100
"""Turns of a run whose sizes are kept, for the what-if preview: more than a compacted history ever has."""


def list_items(kept: Iterable[Piece], cut: Iterable[Cut]) -> list[Item]:
    """The items of a prompt, kept pieces first. Consecutive turns with the same rule are one item."""
    fates = [(piece, "") for piece in kept] + [(left_out.piece, left_out.rule) for left_out in cut]
    listed: list[Item] = []
    for (is_turn, rule), run in groupby(fates, key=lambda fate: (_is_turn(fate[0]), fate[1])):
        pieces = [piece for piece, _ in run]
        listed += [_turns_item(pieces, rule)] if is_turn else [_item(piece, rule) for piece in pieces]
    return listed


def _item(piece: Piece, rule: str) -> Item:
    more: Item = {"guarded": True} if piece.is_protected else {}
    if piece.relevance is not None:
        more |= {"fits": round(piece.relevance, 4)}
    if piece.qualifier:
        more |= {"qualifier": piece.qualifier}
    if piece.ref.startswith(SEGMENT_REF):
        more |= {"turn": piece.turn}
    return {
        "ref": piece.ref,
        "section": piece.section,
        "label": piece.label,
        "tokens": piece.tokens,
        "score": None if piece.score is None else round(piece.score, 4),
        "parts": {name: round(value, 4) for name, value in piece.parts.items()},
        "kept": not rule,
        "rule": rule,
        "url": piece.url,
        **more,
    }


def _turns_item(pieces: Sequence[Piece], rule: str) -> Item:
    """One item for a run of turns, so that a long conversation's receipt doesn't grow; short runs keep turn sizes."""
    first, last = pieces[0].turn, pieces[-1].turn
    run = Piece(
        Section.HISTORY,
        ref=f"turns:{first}-{last}",
        label=f"Turn {first}" if first == last else f"Turns {first} to {last}",
        tokens=sum(piece.tokens for piece in pieces),
        turn=first,
        url=pieces[0].url,
    )
    sizes: dict[int, int] = {}
    for piece in pieces:
        sizes[piece.turn or 0] = sizes.get(piece.turn or 0, 0) + piece.tokens
    return _item(run, rule) | ({"turns": list(sizes.items())} if len(sizes) <= SIZES_KEPT else {})


def _is_turn(piece: Piece) -> bool:
    """Whether it is part of a verbatim turn, not a placeholder or summary of several."""
    return piece.section is Section.HISTORY and not piece.ref.startswith((PLACEHOLDER_REF, SEGMENT_REF))
