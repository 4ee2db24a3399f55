"""What becomes of drafts nobody sent? They go after a day (`limits.DRAFTS_LIVE`)."""

from __future__ import annotations

from django.utils import timezone

from chat.attachments.limits import DRAFTS_LIVE
from chat.models import Attachment


def remove_old_drafts() -> int:
    """Remove them; how many they were."""
    old = Attachment.objects.filter(message=None, created_at__lt=timezone.now() - DRAFTS_LIVE)
    return old.delete()[0]
