"""Whatever the pieces and the plan: it fits, the order is the constant's, and more room never shows less."""

from hypothesis import assume, given
from hypothesis import strategies as st

from budget.planning.fit import PLACEHOLDER_REF, PRUNING_ORDER, Piece, SectionDemand, allocate, fit
from budget.planning.history_cut import PLACEHOLDER_TOKENS, History, TurnRange
from budget.planning.plan import NEVER_CUT, ResolvedPlan, Section
from tests.budget.pieces import CUTTABLE, larger, plans, plans_without_cap, prompts, refs, stored_cuts

ORDER = [step.section for step in PRUNING_ORDER]


def tokens(pieces: list[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


def is_guarded(piece: Piece, pieces: list[Piece]) -> bool:
    """Expressed differently from the code under test."""
    if piece.section is not Section.HISTORY:
        return piece.is_protected or piece.section is Section.ROLE
    numbers = sorted({p.turn for p in pieces if p.section is Section.HISTORY and p.turn is not None})
    last = numbers[-3:]
    first = [number for number in numbers[:2] if number not in last]
    return piece.turn in first + last


def stands_for_the_middle(piece: Piece, pieces: list[Piece]) -> bool:
    """True for the placeholder, and for turns that take no more than the placeholder would."""
    middle = [p for p in pieces if p.section is Section.HISTORY and not is_guarded(p, pieces)]
    return piece.ref.startswith(PLACEHOLDER_REF) or (piece in middle and tokens(middle) <= PLACEHOLDER_TOKENS)


@given(prompts(), plans, stored_cuts)
def test_the_sum_with_the_output_reserve_never_exceeds_the_plan(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None
) -> None:
    fitted = fit(pieces, plan, stored)
    assert fitted.tokens + plan.output_reserve <= plan.total
    assert fitted.tokens == sum(total.tokens for total in fitted.sections)


@given(prompts(), plans, stored_cuts)
def test_what_is_never_cut_survives_whole_or_the_message_is_refused(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None
) -> None:
    fixed = [piece for piece in pieces if piece.section in NEVER_CUT]
    fitted = fit(pieces, plan, stored)
    assert bool(fitted.rejection) == (tokens(fixed) > plan.available)
    if not fitted.rejection:
        assert {piece.ref for piece in fixed} <= set(refs(fitted))


@given(prompts(), plans, stored_cuts)
def test_every_piece_is_either_kept_or_cut_with_a_rule_of_its_section(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None
) -> None:
    fitted = fit(pieces, plan, stored)
    assume(not fitted.rejection)
    rules = {step.section: {step.rule, step.last_resort} - {""} for step in PRUNING_ORDER}
    assert sorted([*refs(fitted), *(one.piece.ref for one in fitted.cut)]) == sorted(piece.ref for piece in pieces)
    assert all(one.rule in rules[one.piece.section] for one in fitted.cut)


@given(prompts(), plans)
def test_nothing_is_cut_when_all_of_it_fits(pieces: list[Piece], plan: ResolvedPlan) -> None:
    roomy = larger(plan, {Section.MESSAGE: tokens(pieces)})
    capped = plan.memory_cap is not None and (
        tokens([piece for piece in pieces if piece.section is Section.MEMORIES and not piece.is_protected])
        > plan.memory_cap
    )
    fitted = fit(pieces, roomy)
    assert refs(fitted) == [piece.ref for section in Section for piece in pieces if piece.section is section] or capped


@given(prompts(), plans_without_cap)
def test_the_order_of_cuts_is_the_constants_order(pieces: list[Piece], plan: ResolvedPlan) -> None:
    fitted = fit(pieces, plan)
    assume(not fitted.rejection)
    kept, cut = list(fitted.kept), [one.piece for one in fitted.cut]
    for place, section in enumerate(ORDER):
        if not any(piece.section is section for piece in cut):
            continue
        # A section gives something: each earlier one has already given back what it borrowed.
        for earlier in ORDER[:place]:
            held = [piece for piece in kept if piece.section is earlier]
            outer = [piece for piece in pieces if piece.section is earlier and is_guarded(piece, pieces)]
            placeholder = PLACEHOLDER_TOKENS if earlier is Section.HISTORY else 0
            assert tokens(held) <= max(plan.ceilings[earlier], tokens(outer) + placeholder)


@given(prompts(), plans_without_cap)
def test_a_section_within_its_ceiling_gives_only_when_the_earlier_ones_have_given_all(
    pieces: list[Piece], plan: ResolvedPlan
) -> None:
    fitted = fit(pieces, plan)
    assume(not fitted.rejection)
    kept, cut = list(fitted.kept), [one.piece for one in fitted.cut]
    for place, section in enumerate(ORDER):
        wanted = tokens([piece for piece in pieces if piece.section is section])
        if wanted > plan.ceilings[section] or not any(piece.section is section for piece in cut):
            continue
        for piece in kept:
            if piece.section in ORDER[:place] and piece.tokens:
                assert is_guarded(piece, pieces) or stands_for_the_middle(piece, pieces)


@given(prompts(), plans_without_cap)
def test_guarded_pieces_give_way_only_when_nothing_unguarded_is_left(pieces: list[Piece], plan: ResolvedPlan) -> None:
    fitted = fit(pieces, plan)
    assume(not fitted.rejection)
    if any(is_guarded(one.piece, pieces) for one in fitted.cut):
        left = [piece for piece in fitted.kept if piece.section in CUTTABLE and piece.tokens]
        assert all(is_guarded(piece, pieces) or stands_for_the_middle(piece, pieces) for piece in left)


@given(prompts(), plans)
def test_within_a_section_the_worst_goes_first(pieces: list[Piece], plan: ResolvedPlan) -> None:
    fitted = fit(pieces, plan)
    for section in (Section.ROLE, Section.PROFILE, Section.MEMORIES, Section.TASK):
        kept = [(is_guarded(p, pieces), p.score or 0.0) for p in fitted.kept if p.section is section]
        cut = [(is_guarded(p.piece, pieces), p.piece.score or 0.0) for p in fitted.cut if p.piece.section is section]
        if kept and cut:
            assert min(kept) >= max(cut)


@given(
    prompts(), plans, stored_cuts, st.dictionaries(st.sampled_from((*CUTTABLE, Section.MESSAGE)), st.integers(0, 2_000))
)
def test_a_larger_plan_never_shows_less(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None, more: dict[Section, int]
) -> None:
    assert set(refs(fit(pieces, plan, stored))) <= set(refs(fit(pieces, larger(plan, more), stored)))


@given(prompts(), plans, stored_cuts, st.randoms(use_true_random=False))
def test_the_same_pieces_give_the_same_prompt_however_the_sections_are_mixed(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None, random: object
) -> None:
    by_section = sorted(pieces, key=lambda piece: ORDER.index(piece.section) if piece.section in ORDER else -1)
    assert fit(pieces, plan, stored) == fit(list(pieces), plan, stored) == fit(by_section, plan, stored)


@given(prompts(), plans, stored_cuts)
def test_a_prompt_that_was_cut_fits_again_with_the_same_turns_left_out(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None
) -> None:
    first = fit(pieces, plan, stored)
    again = fit(pieces, plan, first.cut_turns)
    guarded_gave = any(one.piece.section is Section.HISTORY and is_guarded(one.piece, pieces) for one in first.cut)
    assert again.cut_turns == first.cut_turns or guarded_gave or first.rejection


@given(
    st.lists(
        st.builds(SectionDemand, st.sampled_from(ORDER), st.integers(0, 500), st.integers(0, 500), st.integers(0, 500)),
        unique_by=lambda want: want.section,
    ),
    st.integers(0, 3_000),
    st.integers(0, 500),
)
def test_what_is_dealt_out_uses_the_room_to_the_last_token_and_grows_with_it(
    wants: list[SectionDemand], room: int, more: int
) -> None:
    wanted = sum(want.unguarded + want.guarded for want in wants)
    dealt, dealt_more = allocate(wants, room), allocate(wants, room + more)
    assert sum(dealt.values()) == min(room, wanted)
    assert all(0 <= dealt[section] <= dealt_more[section] for section in dealt)


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(0, 4_000), st.integers(0, 4_000), stored_cuts)
def test_a_history_never_keeps_more_than_its_room(
    sizes: list[int], ceiling: int, room: int, stored: TurnRange | None
) -> None:
    numbered = dict(enumerate(sizes, start=1))
    cut = History(numbered, stored).cut(ceiling, room)
    kept = sum(size for number, size in numbered.items() if not cut or number not in cut)
    assert kept <= room
