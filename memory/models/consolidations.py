"""Consolidation reports: when each ran, why, and what it changed, in numbers."""

from django.db import models
from django.db.models import Q

from recall.db.ownership import Owned, OwnedManager


class Consolidation(Owned):
    """One consolidation of a user's memory: a waiting request, or its report."""

    class How(models.TextChoices):
        NIGHTLY = "nightly", "Every night"
        ASKED = "asked", "You asked for it"
        COMMAND = "command", "By command"

    class State(models.TextChoices):
        WAITING = "waiting", "Queued"
        DONE = "done", "Done"
        FAILED = "failed", "Not done"

    how = models.CharField(max_length=8, choices=How)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    figures = models.JSONField(
        default=dict, blank=True, help_text="What it did, in numbers: memory/consolidation/consolidate.py: Report"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["Consolidation"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user"], condition=Q(state="waiting"), name="one_waiting_consolidation")
        ]
        indexes = [models.Index(fields=["user", "-id"], name="consolidation_latest")]

    def __str__(self) -> str:
        return f"consolidation {self.pk}: {self.state}"
