"""Prompts for tests of `fit`: small ones by hand, and any by hypothesis."""

from types import MappingProxyType

from hypothesis import strategies as st

from budget.planning.fit import PLACEHOLDER_REF, FitResult, Piece
from budget.planning.history_cut import TurnRange
from budget.planning.plan import PLANS, Percent, ResolvedPlan, Section, resolve
from budget.planning.user_plan import MOVABLE, NEEDS, RESERVE_NEEDS, validate_plan

CUTTABLE = (Section.ROLE, Section.PROFILE, Section.HISTORY, Section.MEMORIES, Section.TASK)
FIXED = (Section.SYSTEM_PROMPT, Section.BOUNDARIES, Section.CLOCK, Section.MESSAGE)


def piece(
    section: Section,
    ref: str,
    tokens: int,
    score: float | None = None,
    *,
    is_protected: bool = False,
    turn: int | None = None,
) -> Piece:
    """A piece whose label is its ref."""
    return Piece(section, ref, label=ref, tokens=tokens, score=score, is_protected=is_protected, turn=turn)


def turns(*tokens: int) -> list[Piece]:
    """A history with one piece per turn, numbered from 1."""
    return [piece(Section.HISTORY, f"turn:{n}", size, turn=n) for n, size in enumerate(tokens, start=1)]


def plan_of(available: int, *, reserve: int = 0, memory_cap: int | None = None, **ceilings: int) -> ResolvedPlan:
    """A plan with these ceilings, and the rest for the message."""
    named = {section: ceilings.get(section, 0) for section in (*CUTTABLE, Section.SYSTEM_PROMPT)}
    rest = available - sum(named.values())
    assert rest >= 0
    return ResolvedPlan(
        "test", available + reserve, reserve, MappingProxyType({**named, Section.MESSAGE: rest}), memory_cap
    )


def refs(fitted: FitResult) -> list[str]:
    """The refs of kept pieces, without the placeholder."""
    return [p.ref for p in fitted.kept if not p.ref.startswith(PLACEHOLDER_REF)]


def cut_refs(fitted: FitResult) -> list[str]:
    """The refs of cut pieces."""
    return [one.piece.ref for one in fitted.cut]


sizes = st.integers(0, 400) | st.sampled_from([0, 1, 79, 80, 81, 5_000])
scores = st.none() | st.floats(0, 1)


@st.composite
def prompts(draw: st.DrawFn) -> list[Piece]:
    """Any pieces: any mix of sections, history of any length with turns of one or two pieces, and segments."""
    pieces = []
    for section in (*FIXED, Section.ROLE, Section.PROFILE, Section.MEMORIES, Section.TASK):
        for number in range(draw(st.integers(0, 2 if section in FIXED else 6))):
            guarded = section in CUTTABLE and draw(st.booleans())
            pieces.append(piece(section, f"{section}:{number}", draw(sizes), draw(scores), is_protected=guarded))
    number = draw(st.integers(0, 2))
    for _ in range(draw(st.integers(0, 14))):
        number += draw(st.integers(1, 2))
        if draw(st.integers(0, 4)) == 0:
            pieces.append(piece(Section.HISTORY, f"segment:{number}", draw(sizes), turn=number))
            number += draw(st.integers(0, 9))
            continue
        sides = ("question", "answer")[: draw(st.integers(1, 2))]
        pieces += [piece(Section.HISTORY, f"{side}:{number}", draw(sizes), turn=number) for side in sides]
    return pieces


def _plans(memory_caps: st.SearchStrategy[int | None]) -> st.SearchStrategy[ResolvedPlan]:
    return st.builds(
        lambda named, rest, reserve, cap: plan_of(sum(named.values()) + rest, reserve=reserve, memory_cap=cap, **named),
        st.fixed_dictionaries({str(section): st.integers(0, 3_000) for section in (*CUTTABLE, Section.SYSTEM_PROMPT)}),
        st.integers(0, 3_000),
        st.integers(0, 1_000),
        memory_caps,
    )


@st.composite
def own_plans(draw: st.DrawFn, memory_caps: st.SearchStrategy[int | None]) -> ResolvedPlan:
    """Plans as users make them: a preset with any ceilings changed, for a model with any window."""
    base = PLANS[draw(st.sampled_from(sorted(PLANS)))]
    moved = draw(st.dictionaries(st.sampled_from(MOVABLE), st.integers(0, 3_000)))
    ceilings = {section: max(tokens, NEEDS.get(section, 0)) for section, tokens in moved.items()}
    reserve = draw(st.integers(RESERVE_NEEDS, 4_000))
    fixed = [c for c in {**base.ceilings, **ceilings}.values() if not isinstance(c, Percent)]
    taken = sum(fixed) + reserve + base.message_minimum
    total = taken + draw(st.integers(1_000, 3_000))  # of 900, the history of `long` has the 500 it needs
    plan = validate_plan(base.name, total, reserve, {str(s): tokens for s, tokens in ceilings.items()})
    return resolve(plan, draw(st.integers(0, total) | st.just(total)), draw(memory_caps))


caps = st.none() | st.integers(0, 1_000)
plans = _plans(caps) | own_plans(caps)
plans_without_cap = _plans(st.none()) | own_plans(st.none())
stored_cuts = st.none() | st.builds(
    lambda first, more: TurnRange(first, first + more), st.integers(1, 12), st.integers(0, 12)
)


def larger(plan: ResolvedPlan, more: dict[Section, int]) -> ResolvedPlan:
    """The plan with this much more for each named section, so that no other one loses."""
    ceilings = {section: ceiling + more.get(section, 0) for section, ceiling in plan.ceilings.items()}
    growth = sum(ceilings.values()) - sum(plan.ceilings.values())
    return ResolvedPlan(
        plan.name, plan.total + growth, plan.output_reserve, MappingProxyType(ceilings), plan.memory_cap
    )
