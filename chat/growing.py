"""When did each stage of the acquaintance begin? The stages are decided in chat/person.py, by how many sessions."""

from __future__ import annotations

from datetime import datetime

from accounts.models import User
from chat.models import Conversation
from chat.person import BELOW, relationship_stage


def stages_reached(user: User) -> list[tuple[str, datetime]]:
    """Each stage after the first, with the beginning of the conversation that reached it. One statement."""
    own = Conversation.objects.standing().for_user(user).order_by("started_at", "pk")
    at = list(own.values_list("started_at", flat=True)[: max(BELOW)])
    return [(relationship_stage(below), at[below - 1]) for below in BELOW if 0 < below <= len(at)]
