"""Messages of the user that a later one changes."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from recall.db.ownership import Owned, OwnedManager


class MessageChange(Owned):
    """A later message says that an earlier one no longer holds as it is; the librarian has read both together.

    It belongs to the messages, not to the index: passages are made again when a branch is left or words are removed.
    """

    message = models.ForeignKey("chat.Message", on_delete=models.CASCADE, related_name="+")
    changed_by = models.ForeignKey("chat.Message", on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = OwnedManager["MessageChange"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "changed_by"], name="one_change_by_a_message"),
            models.CheckConstraint(condition=~Q(message=F("changed_by")), name="no_message_changes_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.message_id} changed by {self.changed_by_id}"
