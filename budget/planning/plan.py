"""How many tokens may each section of a prompt hold? The sections in their order, and the budget plans as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from django.core.exceptions import ImproperlyConfigured

from recall.environment import setting


class Section(StrEnum):
    """The parts of a prompt, in the order in which they stand in the request."""

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
        """What the page calls it."""
        return HEADINGS[self]

    @property
    def tier(self) -> str:
        """The memory tier it shows; empty: none."""
        return TIERS.get(self, "")


@dataclass(frozen=True, slots=True)
class Percent:
    """A ceiling as a share of what the fixed ceilings and the output reserve leave of a plan."""

    of_what_is_left: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Ceilings in the provider's tokens. What no ceiling names is for the message."""

    name: str
    total: int
    """All tokens of a request, the answer included."""
    output_reserve: int
    """Tokens kept free for the answer."""
    ceilings: Mapping[Section, int | Percent]
    message_minimum: int = 0


SMALL: Final = Plan(  # seeds 000 and 003: for a local model, or the least cost
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
STANDARD: Final = Plan(  # seed 001: room for a long talk at little cost
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
LONG: Final = Plan(  # seed 004: projects of hundreds of turns
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


def with_operators_sizes(plan: Plan) -> Plan:
    """The plan with the sizes an operator chose (BUDGET_TOTAL_TOKENS, BUDGET_HISTORY_TOKENS, …) in place of its own."""
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
DEFAULT_PLAN: Final = with_operators_sizes(PRESETS[setting("budget_plan", "standard")])
PLANS: Final[Mapping[str, Plan]] = MappingProxyType({**PRESETS, DEFAULT_PLAN.name: DEFAULT_PLAN})

NEVER_CUT: Final = frozenset({Section.SYSTEM_PROMPT, Section.BOUNDARIES, Section.CLOCK, Section.MESSAGE})
"""Without these an answer would be unsafe, out of time, or an answer to nothing."""

SHARED_CEILING: Final[Mapping[Section, Section]] = MappingProxyType(
    {
        Section.BOUNDARIES: Section.SYSTEM_PROMPT,  # both are system text
        Section.CLOCK: Section.MESSAGE,  # both stand in the current user message
    }
)
"""Sections without a ceiling of their own, and the one whose ceiling counts for both."""

HEADINGS: Final[Mapping[Section, str]] = MappingProxyType(
    {
        Section.SYSTEM_PROMPT: "System prompt and tools",
        Section.BOUNDARIES: "Boundaries",
        Section.ROLE: "Role and project",
        Section.PROFILE: "Profile",
        Section.HISTORY: "History",
        Section.MEMORIES: "Recalled memories",
        Section.TASK: "Task state",
        Section.CLOCK: "Date and user info",
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
    """A plan as it holds for one model's window, in tokens."""

    name: str
    total: int
    output_reserve: int
    ceilings: Mapping[Section, int]
    """Of each section that has its own; the message's is the rest, and all together they make up `available`."""
    memory_cap: int | None = None
    """What recalled memories may never exceed, whatever other sections leave unused. Guarded pieces, such as what
    changed in the profile, are no recalled memories and do not count."""
    note: str = ""
    """What the person should know of it: that their own plan was shrunk, or does not hold any more."""

    @property
    def available(self) -> int:
        """What the prompt may hold: the total without the output reserve."""
        return self.total - self.output_reserve


def resolve(plan: Plan, window: int, memory_cap: int | None = None) -> ResolvedPlan:
    """The plan for a model whose input and output together may hold `window` tokens.

    A window smaller than the plan shrinks every ceiling and the reserve alike, so that the plan keeps its character.
    `memory_cap` lowers the ceiling of recalled memories and forbids them to borrow.

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
        raise ValueError(f"The plan “{plan.name}” leaves {rest:,} tokens for the message; it needs {minimum:,}.")
    return ResolvedPlan(plan.name, total, reserve, MappingProxyType({**ceilings, Section.MESSAGE: rest}), memory_cap)
