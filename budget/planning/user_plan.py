"""A user's plan: a preset with changed ceilings, its validation, and the fallback if it no longer fits the model."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from django.conf import settings

from accounts.models import User
from budget.models import BudgetPlan
from budget.planning.plan import DEFAULT_PLAN, PLANS, Percent, Plan, ResolvedPlan, Section, resolve
from recall.db.prepared import PreparedQuery, Read

NEEDS: Final[Mapping[Section, int]] = MappingProxyType(
    {
        Section.SYSTEM_PROMPT: 1_000,  # system prompt and tools, which are in every prompt
        Section.HISTORY: 500,  # one question and answer; with less, follow-ups have no context
        Section.TASK: 300,  # the goal, and the head of one tool result
    }
)
"""Minimum tokens per section. Others may be 0 and use what is left over."""
RESERVE_NEEDS: Final = 500
"""Minimum tokens of an answer."""
MAX_TOTAL: Final = 2_000_000
"""Tokens: twice the largest context window."""
MOVABLE: Final = tuple(section for section in Section if section in DEFAULT_PLAN.ceilings)
"""Sections with an adjustable ceiling; the message gets the rest."""
OWN: Final = "{preset} (yours)"
"""Name of a plan with changed ceilings."""

_STORED: Final = PreparedQuery(lambda user: BudgetPlan.objects.filter(user=user), user=int)


class InvalidPlanError(ValueError):
    """An invalid plan. `errors`: a sentence per field (preset, total, output_reserve, a section, `ceilings`)."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = dict(errors)


def plan_for(user: User, window: int) -> ResolvedPlan:
    """The user's plan for a model with a context window of `window` tokens. One statement.

    A stored plan that no longer fits is replaced by its preset, and `note` says so.
    """
    stored = _STORED.first(user=user.pk)
    return resolve_stored(stored, window, settings.ENVIRONMENT.rag_per_turn_memory_budget_tokens)


def plan_read(user: User) -> Read:
    """What `plan_for` reads."""
    return _STORED.read(user=user.pk)


def resolve_stored(stored: BudgetPlan | None, window: int, memory_cap: int | None = None) -> ResolvedPlan:
    """The resolved plan of a stored row; None: no row."""
    if stored is None:
        return resolve(DEFAULT_PLAN, window, memory_cap)
    try:
        plan = validate_plan(stored.preset, stored.total, stored.output_reserve, stored.ceilings)
        resolved = resolve(plan, window)
        if plan.name not in PLANS:
            _raise_if(_too_small(resolved))
    except InvalidPlanError as wrong:
        preset = PLANS.get(stored.preset, DEFAULT_PLAN)
        note = f"Your plan doesn't fit this model. {wrong} Until you change it, “{preset.name}” is used."
        return replace(resolve(preset, window, memory_cap), note=note)
    shrunk = plan.name not in PLANS and window < plan.total
    note = f"Your plan of {plan.total:,} tokens is reduced to this model's limit of {window:,}." if shrunk else ""
    return replace(resolve(plan, window, memory_cap), note=note)


def validate_plan(
    preset: str,
    total: int | None,
    reserve: int | None,
    ceilings: Mapping[str, int],
    window: int | None = None,
) -> Plan:
    """The plan of these choices; None or an unnamed section: as in the preset.

    `window`: the model's, to refuse a larger total instead of reducing it.

    Raises:
        InvalidPlanError: one sentence per wrong value.
    """
    base = PLANS.get(preset)
    if base is None:
        raise InvalidPlanError({"preset": f"No plan named “{preset}”. Choose {', '.join(PLANS)}."})
    if not isinstance(ceilings, Mapping):  # a stored row may hold any JSON
        raise InvalidPlanError({"ceilings": "Name each ceiling by its section."})
    _raise_if(_wrong_sizes(total, reserve, ceilings, window))
    moved = {Section(name): tokens for name, tokens in ceilings.items() if tokens != base.ceilings[Section(name)]}
    plan = replace(
        base,
        total=base.total if total is None else total,
        output_reserve=base.output_reserve if reserve is None else reserve,
        ceilings=MappingProxyType({**base.ceilings, **moved}),
    )
    if not moved and (plan.total, plan.output_reserve) == (base.total, base.output_reserve):
        return base
    plan = replace(plan, name=OWN.format(preset=preset))
    _raise_if(_wrong_sum(plan))
    _raise_if(_too_small(resolve(plan, plan.total)))
    return plan


def save(
    user: User,
    preset: str,
    total: int | None,
    reserve: int | None,
    ceilings: Mapping[str, int],
    window: int | None = None,
) -> BudgetPlan:
    """Save a user's choice; unchanged values aren't stored, so that they follow the preset.

    Raises:
        InvalidPlanError: see `validate_plan`; nothing was saved.
    """
    plan = validate_plan(preset, total, reserve, ceilings, window)
    base = PLANS[preset]
    stored, _ = BudgetPlan.objects.update_or_create(
        user=user,
        defaults={
            "preset": preset,
            "total": None if plan.total == base.total else plan.total,
            "output_reserve": None if plan.output_reserve == base.output_reserve else plan.output_reserve,
            "ceilings": {str(s): c for s, c in plan.ceilings.items() if c != base.ceilings[s]},
        },
    )
    return stored


def reset_to_default(user: User) -> None:
    """Delete the user's plan: the default preset applies."""
    BudgetPlan.objects.for_user(user).delete()


# Validation --------------------------------------------------------------------------------------------------------


def _raise_if(errors: Mapping[str, str]) -> None:
    if errors:
        raise InvalidPlanError(errors)


def _wrong_sizes(
    total: int | None, reserve: int | None, ceilings: Mapping[str, int], window: int | None
) -> dict[str, str]:
    """Errors of single values."""
    wrong = {name: "No such section." for name in ceilings if name not in MOVABLE}
    sizes = {name: size for name, size in ceilings.items() if name in MOVABLE}
    figures = {"total": total, "output_reserve": reserve} | sizes
    wrong |= {name: "Enter a whole number of tokens, 0 or more." for name, v in figures.items() if _no_size(v)}
    most = MAX_TOTAL if window is None else min(window, MAX_TOTAL)
    if "total" not in wrong and total is not None and total > most:
        holder = "any model" if window is None or window > most else "this model"
        wrong["total"] = f"{total:,} tokens is too much: {holder} takes at most {most:,}."
    return wrong


def _no_size(value: object) -> bool:
    """Whether a value isn't a number of tokens; None means the preset's."""
    return value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0)


def _wrong_sum(plan: Plan) -> dict[str, str]:
    """Error of the sum: sections, reserve and the minimum for a message."""
    sections = sum(ceiling for ceiling in plan.ceilings.values() if not isinstance(ceiling, Percent))
    taken = sections + plan.output_reserve + plan.message_minimum
    if taken <= plan.total:
        return {}
    message = f", your message at least {plan.message_minimum:,}" if plan.message_minimum else ""
    return {
        "ceilings": f"The sections need {sections:,} tokens, the answer {plan.output_reserve:,}{message}. That's "
        f"{taken - plan.total:,} more than the total of {plan.total:,}."
    }


def _too_small(plan: ResolvedPlan) -> dict[str, str]:
    """Errors of sections below their minimum."""
    wrong = {
        str(section): f"{section.heading}: at least {least:,} tokens are needed, not {plan.ceilings[section]:,}."
        for section, least in NEEDS.items()
        if plan.ceilings[section] < least
    }
    if plan.output_reserve < RESERVE_NEEDS:
        wrong["output_reserve"] = f"The answer has {plan.output_reserve:,} tokens but needs at least {RESERVE_NEEDS:,}."
    return wrong
