"""The plan form: its sliders with stored or typed values, and the preview of a change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from accounts.models import User
from budget.models import BudgetPlan, Receipt
from budget.pages.context_panel import BAR_WIDTH
from budget.planning.plan import DEFAULT_PLAN, PLANS, SHARED_CEILING, Percent, Plan, ResolvedPlan, Section, resolve
from budget.planning.user_plan import MOVABLE, NEEDS, RESERVE_NEEDS, InvalidPlanError, resolve_stored, validate_plan
from budget.planning.what_if import Preview, pieces_of, preview
from recall.text import whole_number

TOTAL, RESERVE = "total", "output_reserve"
"""Field names beside the sections', as `validate_plan` names errors."""
LABELS: Final = {TOTAL: "Total", RESERVE: "Reserved for the answer"}
HINTS: Final = {
    TOTAL: "Everything in one request, including the answer.",
    RESERVE: "Longer answers may be cut off.",
    Section.SYSTEM_PROMPT: "System prompt, tools and your boundaries. Never trimmed.",
    Section.ROLE: "Instructions from a role or project.",
    Section.PROFILE: "Always included in every prompt.",
    Section.HISTORY: "This conversation: recent turns and summaries of older ones.",
    Section.MEMORIES: "Memories found for each question.",
    Section.TASK: "Current goal and steps, and tool results.",
}
SLIDER_FACTOR: Final = 3
"""A slider's maximum, as a multiple of the larger of preset and current value; the number field accepts any value."""
STEP: Final = 100
KEPT: Final = "kept_"
"""Prefix of a hidden field with the computed value of a percentage section. If it comes back unchanged, the section
keeps its percentage."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The user's input; None or an unnamed section: as in the preset."""

    preset: str
    total: int | None = None
    reserve: int | None = None
    ceilings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slider:
    """One adjustable size."""

    name: str
    label: str
    hint: str
    value: str
    """The field's text, even if invalid."""
    least: int
    most: int
    """The slider's maximum."""
    preset: int
    used: int | None
    """Tokens of the latest prompt; None: not applicable."""
    share: float | None
    """Share of what is left, until the user changes it."""
    error: str

    @property
    def used_width(self) -> int:
        """Width of the usage line below the slider."""
        return min(BAR_WIDTH, round(BAR_WIDTH * (self.used or 0) / max(1, self.most)))

    @property
    def preset_x(self) -> int:
        return min(BAR_WIDTH, round(BAR_WIDTH * self.preset / max(1, self.most)))

    @property
    def is_over(self) -> bool:
        """The latest prompt used more: the section borrowed unused tokens."""
        size = whole_number(self.value)
        return bool(size is not None and self.used and self.used > size)


@dataclass(frozen=True, slots=True)
class Planning:
    """The form and the preview below it."""

    presets: list[tuple[str, str]]
    preset: str
    sliders: list[Slider]
    errors: Mapping[str, str]
    preview: Preview | None
    """None: invalid input, or no prompt yet."""
    plan: ResolvedPlan | None
    """The resolved plan; None: invalid input."""
    is_own: bool
    """The user has a stored plan."""
    is_tried: bool
    """The values are typed but not saved."""
    note: str

    @property
    def message_room(self) -> int | None:
        """Tokens left for the message."""
        return None if self.plan is None else self.plan.ceilings[Section.MESSAGE]

    @property
    def sum_error(self) -> str:
        return " ".join(text for name, text in self.errors.items() if name not in {s.name for s in self.sliders})


def stored(user: User, latest: Receipt | None, window: int) -> Planning:
    """The form with the stored values."""
    row = BudgetPlan.objects.for_user(user).first()
    choice = Choice(row.preset, row.total, row.output_reserve, row.ceilings) if row else Choice(DEFAULT_PLAN.name)
    note = resolve_stored(row, window).note
    if row is not None and _wrong(choice):
        choice = Choice(choice.preset if choice.preset in PLANS else DEFAULT_PLAN.name)
    return _planning(choice, latest, window, is_own=row is not None, is_tried=False, note=note)


def trial_form(user: User, posted: Mapping[str, str], latest: Receipt | None, window: int) -> Planning:
    """The form with the typed values and their preview. Nothing is saved."""
    choice, errors = read(posted)
    is_own = BudgetPlan.objects.for_user(user).exists()
    return _planning(choice, latest, window, is_own=is_own, is_tried=True, errors=errors, posted=posted)


def of_preset(user: User, name: str, latest: Receipt | None, window: int) -> Planning:
    """The form with a preset's sizes; unknown presets fall back to the default. Nothing is saved."""
    choice = Choice(name if name in PLANS else DEFAULT_PLAN.name)
    is_own = BudgetPlan.objects.for_user(user).exists()
    return _planning(choice, latest, window, is_own=is_own, is_tried=True)


def read(posted: Mapping[str, str]) -> tuple[Choice, dict[str, str]]:
    """The input, and a sentence for each invalid field. An empty field: as in the preset."""
    numbers: dict[str, int] = {}
    errors: dict[str, str] = {}
    for name in (TOTAL, RESERVE, *map(str, MOVABLE)):
        typed = posted.get(name, "").strip().replace(",", "").replace(" ", "")
        if not typed or typed == posted.get(KEPT + name):
            continue
        if typed.isdecimal() and len(typed) < 10:
            numbers[name] = int(typed)
        else:
            errors[name] = "Enter a whole number of tokens, 0 or more."
    preset = posted.get("preset", "")
    base = PLANS.get(preset)
    total, reserve = numbers.pop(TOTAL, None), numbers.pop(RESERVE, None)
    if base is not None:  # preset values follow the preset: a small model reduces them instead of refusing
        total = None if total == base.total else total
        reserve = None if reserve == base.output_reserve else reserve
    return Choice(preset, total, reserve, numbers), errors


def _planning(
    choice: Choice,
    latest: Receipt | None,
    window: int,
    *,
    is_own: bool,
    is_tried: bool,
    note: str = "",
    errors: Mapping[str, str] | None = None,
    posted: Mapping[str, str] | None = None,
) -> Planning:
    wrong = dict(errors or {}) or _wrong(choice, window if is_tried else None)
    base = PLANS.get(choice.preset, DEFAULT_PLAN)
    plan = None if wrong else _validated(choice, None)
    fitted = None if plan is None else resolve(plan, window, settings.ENVIRONMENT.rag_per_turn_memory_budget_tokens)
    return Planning(
        presets=[(name, f"{name} ({PLANS[name].total:,})") for name in PLANS],
        preset=base.name,
        sliders=list(_sliders(choice, base, latest, wrong, posted or {})),
        errors=wrong,
        preview=preview_of(latest, fitted) if fitted is not None and is_tried else None,
        plan=fitted,
        is_own=is_own,
        is_tried=is_tried,
        note=note,
    )


def preview_of(latest: Receipt | None, plan: ResolvedPlan) -> Preview | None:
    """The plan's preview on the latest prompt; None: no prompt yet."""
    if latest is None:
        return None
    before = pieces_of(latest)
    return preview(before, plan, before.cut_turns)


def _wrong(choice: Choice, window: int | None = None) -> dict[str, str]:
    try:
        _validated(choice, window)
    except InvalidPlanError as wrong:
        return wrong.errors
    return {}


def _validated(choice: Choice, window: int | None) -> Plan:
    return validate_plan(choice.preset, choice.total, choice.reserve, choice.ceilings, window)


# The sliders --------------------------------------------------------------------------------------------------------


def _sliders(
    choice: Choice, base: Plan, latest: Receipt | None, errors: Mapping[str, str], posted: Mapping[str, str]
) -> Iterable[Slider]:
    used = _used(latest)
    by_section = _resolved_freely(base, choice)
    chosen = {TOTAL: choice.total, RESERVE: choice.reserve, **choice.ceilings}
    presets = {TOTAL: base.total, RESERVE: base.output_reserve, **{str(s): by_section[s] for s in MOVABLE}}
    needs = {RESERVE: RESERVE_NEEDS, **{str(s): least for s, least in NEEDS.items()}}
    for name, preset in presets.items():
        value = chosen.get(name)
        now = preset if value is None else value
        ceiling = base.ceilings.get(Section(name)) if name in MOVABLE else None
        yield Slider(
            name=name,
            label=LABELS.get(name) or Section(name).heading,
            hint=HINTS[name],
            value=posted.get(name, str(now)) if name in errors else str(now),
            least=needs.get(name, 0),
            most=-(-max(SLIDER_FACTOR * preset, now, used.get(name, 0)) // STEP) * STEP,
            preset=preset,
            used=used.get(name),
            share=ceiling.of_what_is_left / 100 if isinstance(ceiling, Percent) and value is None else None,
            error=errors.get(name, ""),
        )


def _resolved_freely(base: Plan, choice: Choice) -> Mapping[Section, int]:
    """The preset's resolved ceilings, percentages with the chosen total."""
    try:
        plan = validate_plan(base.name, choice.total, choice.reserve, choice.ceilings)
    except InvalidPlanError:
        plan = base
    resolved = resolve(plan, plan.total).ceilings
    fixed = {s: c for s, c in base.ceilings.items() if not isinstance(c, Percent)}
    return {**resolved, **fixed}


def _used(latest: Receipt | None) -> dict[str, int]:
    """The latest prompt's use of each ceiling, shared ceilings combined."""
    if latest is None:
        return {}
    used: dict[str, int] = {}
    for one in latest.sections:
        section = Section(one["section"])
        name = str(SHARED_CEILING.get(section, section))
        used[name] = used.get(name, 0) + one["tokens"]
    return {**used, TOTAL: latest.estimated_input}
