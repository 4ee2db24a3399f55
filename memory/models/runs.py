"""Librarian runs: the message range of a conversation, the engine, and the result."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from recall.db.ownership import Owned, OwnedManager


class LibrarianRun(Owned):
    """One reading of one range of a conversation. The row is the truth; a task only points to it."""

    class State(models.TextChoices):
        PENDING = "pending", "Waiting"
        RUNNING = "running", "Reading"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    conversation = models.ForeignKey("chat.Conversation", on_delete=models.CASCADE, related_name="librarian_runs")
    first_seq = models.PositiveIntegerField(help_text="First message read")
    last_seq = models.PositiveIntegerField(help_text="Last message read")
    trigger = models.CharField(max_length=12, help_text="ended, idle, left, turns or asked")
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True, help_text="Of the worker that reads it now")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="When that worker counts as dead")
    not_before = models.DateTimeField(default=timezone.now, help_text="Earliest next attempt")
    error = models.TextField(blank=True)
    engine = models.CharField(max_length=60, blank=True)
    learned = models.PositiveIntegerField(default=0, help_text="Facts made active")
    waiting = models.PositiveIntegerField(default=0, help_text="Proposals for review")
    dropped = models.JSONField(default=dict, blank=True, help_text="What was not stored: reason → count")
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0, help_text="US dollars")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedManager["LibrarianRun"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "first_seq", "last_seq"], name="one_librarian_run_a_range")
        ]
        indexes = [
            models.Index(fields=["state", "not_before"], name="run_due", condition=Q(state__in=["pending", "running"]))
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.state}"
