"""Earlier counts of the provider replace the estimate, part by part, without losing a token of the sum."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.counting.cached_prefix import (
    KnownCounts,
    apportion,
    build_prefix,
    load_known_counts,
    reconcile_usage,
    with_known_figures,
)
from budget.counting.estimate import TextClass
from budget.counting.learning import Counts, Observation, expected, unknown
from budget.planning.fit import Piece, fit
from budget.planning.plan import STANDARD, Section, resolve
from tests.budget.rows import answer_of, draft_for

PLAN = resolve(STANDARD, 1_000_000)


@dataclass(frozen=True)
class Weighed:
    piece: Piece
    text: str
    counts: Counts


def weighed(section: Section, ref: str, tokens: int, turn: int | None = None, text: str = "") -> Weighed:
    return Weighed(Piece(section, ref, ref, tokens, turn=turn), text or ref, {TextClass.PROSE: tokens})


PROMPT = [
    weighed(Section.SYSTEM_PROMPT, "blueprint", 1_000),
    weighed(Section.PROFILE, "fact:1", 50),
    weighed(Section.HISTORY, "message:1", 30, turn=1),
    weighed(Section.HISTORY, "message:2", 70, turn=1),
    weighed(Section.HISTORY, "message:3", 40, turn=2),
    weighed(Section.HISTORY, "message:4", 60, turn=2),
    weighed(Section.MEMORIES, "fact:9", 20),
    weighed(Section.MESSAGE, "message:5", 10),
]
FITTED = fit([one.piece for one in PROMPT], PLAN)


def keys(*known: str) -> dict[str, int]:
    parts = build_prefix(PROMPT, FITTED.kept, None).parts
    figures = dict(zip([part.key for part in parts], (1_200, 90, 88), strict=True))
    return {key: tokens for key, tokens in figures.items() if key.split(":")[0] in known or key in known}


def test_the_system_blocks_are_one_part_and_each_turn_is_one() -> None:
    prefix = build_prefix(PROMPT, FITTED.kept, None)
    assert [set(part.refs) for part in prefix.parts] == [
        {"blueprint", "fact:1"},
        {"message:1", "message:2"},
        {"message:3", "message:4"},
    ]
    assert prefix.tail == {TextClass.PROSE: 30}
    assert prefix.unknown == {TextClass.PROSE: 1_280}


def test_the_pieces_of_a_known_part_have_its_figure_together() -> None:
    prefix = build_prefix(PROMPT, FITTED.kept, KnownCounts(keys("system", "message")))
    fitted = with_known_figures(FITTED, PLAN, prefix)
    assert fitted.tokens == 1_200 + 90 + 88 + 30
    assert sum(total.tokens for total in fitted.sections) == fitted.tokens
    assert prefix.unknown == {TextClass.PROSE: 30}


def test_a_text_that_was_changed_since_is_not_taken_for_known() -> None:
    changed = [*PROMPT[:3], weighed(Section.HISTORY, "message:2", 70, turn=1, text="[forgotten]"), *PROMPT[4:]]
    prefix = build_prefix(changed, FITTED.kept, KnownCounts(keys("system", "message")))
    assert len(prefix.known) == 2


def test_after_a_cut_the_turns_that_still_stand_are_known() -> None:
    kept = [piece for piece in FITTED.kept if piece.turn != 1]
    prefix = build_prefix([one for one in PROMPT if one.piece.turn != 1], kept, KnownCounts(keys("system", "message")))
    assert list(prefix.known.values()) == [1_200, 88]


def settled(known: dict[str, int], cached: int, total: int) -> tuple[list[Observation], dict[str, Any]]:
    prefix = build_prefix(PROMPT, FITTED.kept, KnownCounts(known) if known else None)
    return reconcile_usage(prefix.as_json(), unknown(), cached, total)


def test_one_new_part_beside_known_ones_is_known_exactly() -> None:
    figures, now = settled(dict(list(keys("system", "message").items())[:2]), 1_200 + 90 + 131, 1_470)
    assert list(now["parts"].values()) == [1_200, 90, 131]
    assert [(figure.tokens, figure.variance) for figure in figures] == [(131, 0.0), (49, 0.0)]
    assert now["variance"] == 0.0


@pytest.mark.parametrize("cached", [0, 300, 40_000])
def test_a_cache_figure_that_cannot_be_all_parts_is_not_believed(cached: int) -> None:
    figures, now = settled({}, cached, 1_700)
    assert [figure.tokens for figure in figures] == [1_700]
    assert sum(now["parts"].values()) == 1_700 - round(expected(unknown(), {TextClass.PROSE: 30}))
    assert now["variance"] > 0


@given(st.integers(0, 100_000), st.lists(st.floats(0, 5_000), min_size=1, max_size=30))
def test_sharing_out_loses_nothing(total: int, sizes: list[float]) -> None:
    shares = apportion(total, sizes)
    assert sum(shares) == total
    assert min(shares) >= 0


@pytest.mark.django_db
def test_only_ones_own_figures_are_known(alice: Any, bob: Any) -> None:
    receipt = draft_for(answer_of(alice))
    receipt.prefix = {"parts": {"system:1": 900}, "variance": 0.0}
    receipt.save()
    assert load_known_counts(alice, receipt.message_id, receipt.model) == KnownCounts({"system:1": 900})
    assert load_known_counts(bob, receipt.message_id, receipt.model) is None
