"""Budget plans as data: the prompt's sections in order, and the token ceiling of each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from django.core.exceptions import ImproperlyConfigured

from recall.environment import setting


class Section(StrEnum):
    """The sections of a prompt, in request order."""

    SYSTEM_PROMPT = "blueprint"
    BOUNDARIES = "boundaries"
    ROLE = "role"
    PROFILE = "profile"
    HISTORY = "history"
    MEMORIES = "memories"
    TASK = "task"
    CLOCK = "clock"
    MESSAGE = "message"

    @property
    def heading(self) -> str:
        """Its name on the page."""
        return HEADINGS[self]

    @property
    def tier(self) -> str:
        """The memory tier it shows, for the debug view; empty: none."""
        return TIERS.get(self, "")


@dataclass(frozen=True, slots=True)
class Percent:
    """A ceiling as a percentage of what fixed ceilings and output reserve leave of a plan."""

    of_what_is_left: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Ceilings in the provider's tokens. The rest is for the message."""

    name: str
    total: int
    """All tokens of a request, the answer included."""
    output_reserve: int
    """Tokens reserved for the answer."""
    ceilings: Mapping[Section, int | Percent]
    message_minimum: int = 0


SMALL: Final = Plan(  # for a local model, or the lowest cost
    "small",
    total=8_000,
    output_reserve=1_000,
    ceilings={
        Section.SYSTEM_PROMPT: 1_000,
        Section.ROLE: 200,
        Section.PROFILE: 1_200,
        Section.HISTORY: 3_000,
        Section.MEMORIES: 800,
        Section.TASK: 800,
    },
)
STANDARD: Final = Plan(  # room for a long conversation at little cost
    "standard",
    total=40_000,
    output_reserve=4_000,
    ceilings={
        Section.SYSTEM_PROMPT: 8_000,
        Section.ROLE: 500,
        Section.PROFILE: 5_000,
        Section.HISTORY: 10_000,
        Section.MEMORIES: 5_000,
        Section.TASK: 4_000,
    },
    message_minimum=2_000,
)
LONG: Final = Plan(  # projects of hundreds of turns
    "long",
    total=128_000,
    output_reserve=8_000,
    ceilings={
        Section.SYSTEM_PROMPT: 8_000,
        Section.ROLE: 1_000,
        Section.PROFILE: 5_000,
        Section.HISTORY: Percent(60),
        Section.MEMORIES: Percent(40),
        Section.TASK: 8_000,
    },
)


def with_configured_sizes(plan: Plan) -> Plan:
    """The plan with the operator's sizes (BUDGET_TOTAL_TOKENS, BUDGET_HISTORY_TOKENS, …) instead of its own."""
    ceilings: dict[Section, int | Percent] = {
        Section.SYSTEM_PROMPT: setting("budget_system_tokens", plan.ceilings[Section.SYSTEM_PROMPT]),
        Section.ROLE: plan.ceilings[Section.ROLE],
        Section.PROFILE: setting("budget_profile_tokens", plan.ceilings[Section.PROFILE]),
        Section.HISTORY: setting("budget_history_tokens", plan.ceilings[Section.HISTORY]),
        Section.MEMORIES: setting("budget_memory_tokens", plan.ceilings[Section.MEMORIES]),
        Section.TASK: setting("budget_task_tokens", plan.ceilings[Section.TASK]),
    }
    total = setting("budget_total_tokens", plan.total)
    reserve = setting("budget_output_tokens", plan.output_reserve)
    fixed = sum(ceiling for ceiling in ceilings.values() if isinstance(ceiling, int))
    if fixed + reserve + plan.message_minimum > total:
        raise ImproperlyConfigured(
            f"Invalid settings: the sizes of the plan “{plan.name}” (BUDGET_…_TOKENS) add up to "
            f"{fixed + reserve + plan.message_minimum:,} tokens, more than its total of {total:,}."
        )
    return replace(plan, total=total, output_reserve=reserve, ceilings=ceilings)


PRESETS: Final = {plan.name: plan for plan in (SMALL, STANDARD, LONG)}
DEFAULT_PLAN: Final = with_configured_sizes(PRESETS[setting("budget_plan", "standard")])
PLANS: Final[Mapping[str, Plan]] = MappingProxyType({**PRESETS, DEFAULT_PLAN.name: DEFAULT_PLAN})

NEVER_CUT: Final = frozenset({Section.SYSTEM_PROMPT, Section.BOUNDARIES, Section.CLOCK, Section.MESSAGE})
"""Without these, an answer would be unsafe, out of date or pointless."""

SHARED_CEILING: Final[Mapping[Section, Section]] = MappingProxyType(
    {
        Section.BOUNDARIES: Section.SYSTEM_PROMPT,  # both are system text
        Section.CLOCK: Section.MESSAGE,  # both are in the current user message
    }
)
"""Section without its own ceiling → the section whose ceiling it shares."""

HEADINGS: Final[Mapping[Section, str]] = MappingProxyType(
    {
        Section.SYSTEM_PROMPT: "System prompt and tools",
        Section.BOUNDARIES: "Boundaries",
        Section.ROLE: "Role and project",
        Section.PROFILE: "Profile",
        Section.HISTORY: "Earlier messages",
        Section.MEMORIES: "Recalled memories",
        Section.TASK: "Current task",
        Section.CLOCK: "Date and your name",
        Section.MESSAGE: "Your message",
    }
)
TIERS: Final[Mapping[Section, str]] = MappingProxyType(
    {
        Section.PROFILE: "semantic",
        Section.HISTORY: "short-term",
        Section.MEMORIES: "semantic and episodic",
        Section.TASK: "working",
    }
)


@dataclass(frozen=True, slots=True)
class ResolvedPlan:
    """A plan applied to one model's context window, in tokens."""

    name: str
    total: int
    output_reserve: int
    ceilings: Mapping[Section, int]
    """Ceilings of the sections that have their own; the message gets the rest, and together they are `available`."""
    memory_cap: int | None = None
    """Maximum tokens of recalled memories, whatever other sections leave unused. Protected pieces, such as profile
    updates, don't count."""
    note: str = ""
    """Notice to the user: their plan was reduced, or no longer fits."""

    @property
    def available(self) -> int:
        """Tokens of the prompt: the total without the output reserve."""
        return self.total - self.output_reserve


def resolve(plan: Plan, window: int, memory_cap: int | None = None) -> ResolvedPlan:
    """The plan for a model with a context window of `window` tokens, input and output together.

    A window smaller than the plan scales all ceilings and the reserve down, so that the proportions stay. `memory_cap`
    lowers the ceiling of recalled memories and keeps them from borrowing.

    Raises:
        ValueError: the ceilings leave the message less than its minimum.
    """
    total = max(0, min(plan.total, window))
    reserve = plan.output_reserve * total // plan.total
    ceilings = {s: c * total // plan.total for s, c in plan.ceilings.items() if not isinstance(c, Percent)}
    left = total - reserve - sum(ceilings.values())
    ceilings |= {s: c.of_what_is_left * left // 100 for s, c in plan.ceilings.items() if isinstance(c, Percent)}
    if memory_cap is not None:
        ceilings[Section.MEMORIES] = min(ceilings[Section.MEMORIES], memory_cap)
    rest = total - reserve - sum(ceilings.values())
    minimum = plan.message_minimum * total // plan.total
    if rest < minimum:
        raise ValueError(f"The plan “{plan.name}” leaves {rest:,} tokens for the message, which needs {minimum:,}.")
    return ResolvedPlan(plan.name, total, reserve, MappingProxyType({**ceilings, Section.MESSAGE: rest}), memory_cap)
