"""Receipts of forgetting: how much, when, who did it, and the check afterwards. Never the content."""

from django.db import models

from recall.db.ownership import Owned, OwnedManager


class Forgetting(Owned):
    """One forgetting. The user's newest one is their forget epoch: a job started before it must restart."""

    class What(models.TextChoices):
        FACT = "fact", "A fact"
        MESSAGE = "message", "A message"
        CONVERSATION = "conversation", "A conversation"
        DOCUMENT = "document", "A document"
        EPISODE = "episode", "An episode"
        TOPIC = "topic", "A topic"
        EVERYTHING = "everything", "Everything"

    what = models.CharField(max_length=12, choices=What)
    gone = models.JSONField(default=dict, help_text="What went: type → count")
    restored = models.PositiveIntegerField(default=0, help_text="Facts that came back")
    to_rewrite = models.JSONField(
        default=list, help_text="Summaries to rewrite from what is left: {what, id} or turns; ids only"
    )
    found_again = models.PositiveIntegerField(null=True, help_text="Hits when it was asked for afterwards; 0 proves it")
    checked_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey("accounts.User", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["Forgetting"]()

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="forgetting_latest")]

    def __str__(self) -> str:
        return f"{self.what}, {self.created_at:%Y-%m-%d}"
