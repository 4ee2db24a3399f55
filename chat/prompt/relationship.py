"""When did each stage of the acquaintance begin? What a stage needs is decided in chat/prompt/user_context.py."""

from __future__ import annotations

from datetime import datetime

from accounts.models import User
from chat.models import Conversation
from chat.prompt.user_context import MOST_FACTS, STAGES
from memory.models import Fact


def stages_reached(user: User) -> list[tuple[str, datetime]]:
    """Each stage after the first, with the moment at which nothing was missing for it any more. Two statements."""
    own = Conversation.objects.not_deleted().for_user(user).order_by("started_at", "pk")
    begun = list(own.values_list("started_at", flat=True)[: max(needs.sessions for needs in STAGES.values())])
    facts = Fact.objects.for_user(user).filter(status=Fact.Status.ACTIVE).order_by("recorded_at", "pk")
    learned = list(facts.values_list("recorded_at", flat=True)[:MOST_FACTS])
    reached = []
    for stage, needs in STAGES.items():
        if len(begun) < needs.sessions or len(learned) < needs.facts:
            break
        moments = [*begun[: needs.sessions], *learned[: needs.facts], user.date_joined + needs.known_for]
        reached.append((str(stage), max(moments)))
    return reached
