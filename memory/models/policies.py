"""A user's policy for each kind of fact. No row: the default in `memory/librarian/decision.py`."""

from django.db import models

from recall.db.ownership import Owned, OwnedManager


class KindPolicy(Owned):
    """One rule: for a kind of fact, or for a subject across kinds, such as health."""

    class Rule(models.TextChoices):
        AUTOMATIC = "automatic", "Remember without asking"
        ASK = "ask", "Ask me"
        NEVER = "never", "Never remember"

    subject = models.CharField(max_length=16, help_text="A kind of fact, “health” or “third_parties”")
    rule = models.CharField(max_length=9, choices=Rule)
    changed_at = models.DateTimeField(auto_now=True)

    objects = OwnedManager["KindPolicy"]()

    class Meta:
        verbose_name_plural = "kind policies"
        constraints = [models.UniqueConstraint(fields=["user", "subject"], name="one_policy_a_subject")]

    def __str__(self) -> str:
        return f"{self.subject}: {self.rule}"
