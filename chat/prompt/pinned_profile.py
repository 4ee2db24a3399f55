"""The pinned profile: which snapshot of the profile a conversation's prompts contain, and when it is renewed.

The snapshot keeps the cached prefix byte-identical between turns; later changes reach the model as a profile update.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final

from django.conf import settings
from django.db import transaction

from accounts.models import User
from budget.counting.estimate import TextClass, estimate
from budget.models import ProfileSnapshot
from budget.planning.plan import ResolvedPlan, Section
from budget.receipts import profile_snapshots
from budget.receipts.profile_snapshots import Line
from chat.messages.history import ConversationHistory
from chat.models import Conversation
from chat.turn import BESIDE, AcceptedTurn
from memory.documents.profile import FOLDER, ProfileLine, profile_lines
from memory.forget_epoch import lock_forget_epoch
from memory.models import Fact
from memory.refs import fact_ids
from memory.retrieval.recall import AlreadyInPrompt
from recall.llm.tokens import count_tokens

CACHE_LIFETIMES: Final = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}


def load_snapshot(
    turn: AcceptedTurn, history: ConversationHistory, current: Sequence[Line], epoch: int, now: datetime
) -> ProfileSnapshot:
    """The snapshot for this turn. `current`: today's profile; `epoch`: the forget epoch before it was read."""
    return _snapshot_of_first_answer(turn, current) or _pinned_or_renewed(
        turn.conversation, history, current, epoch, now
    )


def count_lines(lines: Iterable[ProfileLine]) -> list[Line]:
    """The lines with their token counts."""
    return [Line(line.ref, line.text, count_tokens(line.text)) for line in lines]


def already_in_profile(
    lines: Sequence[ProfileLine], plan: ResolvedPlan, ratios: Mapping[TextClass, float]
) -> AlreadyInPrompt:
    """The lines that are certain to be in the prompt: the best that fit the profile's own ceiling.

    The others may be recalled, because only the fit decides whether there is room for them.
    """
    room = plan.ceilings[Section.PROFILE]
    best_first = sorted(lines, key=lambda line: (not line.is_fact, -line.rank))
    used = accumulate(count_tokens(line.text) for line in best_first)
    fitting = [
        line
        for line, tokens in zip(best_first, used, strict=True)
        if estimate({TextClass.PROSE: tokens}, ratios) <= room
    ]
    refs = frozenset(ref for line in fitting for ref in (line.ref, line.tells))
    return AlreadyInPrompt(facts=refs, folder=FOLDER if len(fitting) == len(lines) else "")


def _snapshot_of_first_answer(turn: AcceptedTurn, current: Sequence[Line]) -> ProfileSnapshot | None:
    """For a trial, the snapshot of the answer it is compared with; None: that one may no longer be used."""
    if not turn.is_trial:
        return None
    snapshot = ProfileSnapshot.objects.filter(receipts__message_id=turn.answer.event_data[BESIDE]).first()
    return None if _holds_rejected(turn.conversation.user, snapshot, current) else snapshot


def _pinned_or_renewed(
    conversation: Conversation, history: ConversationHistory, current: Sequence[Line], epoch: int, now: datetime
) -> ProfileSnapshot:
    """The pinned profile, renewed when the cache has nothing to lose."""
    user = conversation.user
    latest = profile_snapshots.latest(user, conversation.pk) if history.turns else None
    last_request = history.turns[-1].answer.created_at if history.turns else now
    reason = profile_snapshots.needs_renewal(
        latest,
        last_activity=last_request,
        now=now,
        lifetime=CACHE_LIFETIMES[settings.ENVIRONMENT.cache_ttl],
        compacted=latest is not None and any(segment.created_at > latest.created_at for segment in history.segments),
        forgotten=_holds_rejected(user, latest, current),
    )
    if reason is None and latest is not None:
        return latest
    with transaction.atomic():
        is_current = lock_forget_epoch(user.pk) == epoch
        lines = current if is_current else count_lines(profile_lines(user))
        return profile_snapshots.pin(user, conversation.pk, lines, reason or profile_snapshots.Reason.NEW)


def _holds_rejected(user: User, snapshot: ProfileSnapshot | None, current: Sequence[Line]) -> bool:
    """Whether a pinned fact has since been rejected or deleted: a rejection applies from the very next prompt."""
    if snapshot is None:
        return False
    today = {line.ref for line in current}
    gone = [line.ref for line in profile_snapshots.pinned_lines(snapshot) if line.ref not in today]
    ids = set(fact_ids(gone))
    if not ids:
        return False
    remaining = Fact.objects.for_user(user).filter(pk__in=ids).exclude(status=Fact.Status.REJECTED)
    return remaining.count() < len(ids)
