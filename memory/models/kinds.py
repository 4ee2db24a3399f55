"""Kinds of facts and episodes, and the default importance of each kind of fact (DESIGN §3)."""

from django.db import models


class Kind(models.TextChoices):
    """What a fact is about."""

    IDENTITY = "identity", "Identity"
    BIOGRAPHY = "biography", "Biography"
    PERSON = "person", "Person"
    PLACE = "place", "Place"
    EVENT = "event", "Event"
    PREFERENCE = "preference", "Preference"
    CONSTRAINT = "constraint", "Things to avoid"
    INSTRUCTION = "instruction", "Instruction"
    GOAL = "goal", "Goal"
    DECISION = "decision", "Decision"
    PROCEDURE = "procedure", "How you do it"
    ENTITY = "entity", "Pets and things"
    FACT = "fact", "Other"


class EpisodeKind(models.TextChoices):
    """What makes a stretch of conversation an episode (seed 004, layer 4)."""

    PLAIN = "plain", "Conversation"
    DECISION_MADE = "decision_made", "Decision made"
    PROBLEM_SOLVED = "problem_solved", "Problem solved"
    BREAKTHROUGH = "breakthrough", "Breakthrough"
    ISSUE_IDENTIFIED = "issue_identified", "Issue identified"
    TASK_COMPLETED = "task_completed", "Task completed"
    PIVOT = "pivot", "Change of direction"


class EpisodeOutcome(models.TextChoices):
    """How an episode ended."""

    NONE = "", "Unknown"
    SUCCESS = "success", "Success"
    PARTIAL = "partial", "Partly"
    INTERRUPTED = "interrupted", "Interrupted"


OTHER_IMPORTANCE = 0.5
DEFAULT_IMPORTANCE: dict[Kind, float] = {
    Kind.GOAL: 0.8,  # seed 004
    Kind.IDENTITY: 0.8,  # seed 002: the structured facts
    Kind.DECISION: 0.7,  # seed 004
    Kind.CONSTRAINT: 0.6,
    Kind.INSTRUCTION: 0.6,
    Kind.PREFERENCE: 0.6,
}
"""Importance 0–1 of a fact whose extraction doesn't state it; kinds not listed: OTHER_IMPORTANCE."""


def default_importance(kind: Kind) -> float:
    """Importance 0–1 for a fact of this kind."""
    return DEFAULT_IMPORTANCE.get(kind, OTHER_IMPORTANCE)
