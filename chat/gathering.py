"""What is known for this turn? All reads of a compilation in one place, so that the rest of it can be pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from budget import calibration, snapshots
from budget.counting import TextClass
from budget.history import TurnRange
from budget.models import ProfileSnapshot
from budget.plan import DEFAULT_PLAN, ResolvedPlan, resolve
from chat.history import Turn, active_path, finished_turns
from chat.models import Conversation, Message, Role
from chat.opening import Opened
from chat.person import Acquaintance, acquaintance
from memory.first_turn import where_we_left
from memory.models import Boundary, Fact
from memory.profile import ProfileLine, profile_lines
from memory.refs import fact_ids
from memory.retrieval import Recollection, recall
from recall.provider import Capabilities, capabilities
from recall.stopwatch import Stopwatch
from recall.tokens import count

CONTEXT_TURNS = 2
"""Earlier turns whose names and content words the retrieval may need: “And where does she work?” (DESIGN §5)."""

CACHE_LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}


@dataclass(frozen=True, slots=True)
class Known:
    """Everything a prompt is made from."""

    now: datetime
    user: User
    model: str
    effort: str
    able: Capabilities
    plan: ResolvedPlan
    ratios: dict[TextClass, float]
    boundaries: Sequence[Boundary]
    role: Role | None
    snapshot: ProfileSnapshot
    profile: Sequence[snapshots.Line]
    """The lines the conversation is pinned to."""
    importance: dict[str, ProfileLine]
    """What is known today of each profile line, by its ref; a pinned line may have gone since."""
    profile_update: Sequence[str]
    turns: Sequence[Turn]
    already_cut: TurnRange | None
    recollection: Recollection
    acquaintance: Acquaintance
    question: Message
    timings: dict[str, float]
    """Milliseconds: history, profile, retrieve."""

    @property
    def turns_shown(self) -> list[Turn]:
        """The turns that stand in the prompt, as far as the last cut decides."""
        return _shown(self.turns, self.already_cut)


def gather(opened: Opened) -> Known:
    """Read it all, on the thread and the connection of the caller."""
    conversation, now, timed = opened.conversation, timezone.now(), Stopwatch()
    user = conversation.user
    model = conversation.model or settings.ENVIRONMENT.chat_model
    able = capabilities(model)
    turns = _turns_before(opened)
    timed.lap("history")
    lines = profile_lines(user)
    current = [snapshots.Line(line.ref, line.text, count(line.text)) for line in lines]
    snapshot = _snapshot(conversation, turns, current, now)
    pinned = snapshots.pinned_lines(snapshot)
    boundaries = Boundary.objects.for_prompt(user)
    timed.lap("profile")
    already_cut = TurnRange(conversation.cut_from, conversation.cut_until) if conversation.cut_from else None
    recollection = _recalled(opened, turns, _shown(turns, already_cut), now)
    timed.lap("retrieve")
    return Known(
        now=now,
        user=user,
        model=model,
        effort=conversation.effort,
        able=able,
        plan=resolve(DEFAULT_PLAN, able.context_window),
        ratios=calibration.ratios(model),
        boundaries=boundaries,
        role=conversation.role,
        snapshot=snapshot,
        profile=pinned,
        importance={line.ref: line for line in lines},
        profile_update=snapshots.changes_since(pinned, current),
        turns=turns,
        already_cut=already_cut,
        recollection=recollection,
        acquaintance=acquaintance(conversation),
        question=opened.question,
        timings=timed.laps,
    )


def _turns_before(opened: Opened) -> list[Turn]:
    """The finished turns of the branch that the question follows."""
    if opened.question.parent_id is None:
        return []
    turns = finished_turns(active_path(opened.conversation))
    return [turn for turn in turns if turn.question.pk != opened.question.pk]


def _shown(turns: Sequence[Turn], cut: TurnRange | None) -> list[Turn]:
    return [turn for turn in turns if cut is None or turn.number not in cut]


def _recalled(opened: Opened, turns: Sequence[Turn], shown: Sequence[Turn], now: datetime) -> Recollection:
    """What bears on the question; in a first turn, also what was going on before."""
    user = opened.conversation.user
    recollection = recall(
        user,
        opened.question.text,
        now=now,
        exclude_refs=_in_the_window(opened, shown),
        context=[message.text for turn in turns[-CONTEXT_TURNS:] for message in (turn.question, turn.answer)],
    )
    return recollection if turns else _with_where_we_left(user, recollection, now)


def _in_the_window(opened: Opened, shown: Sequence[Turn]) -> list[str]:
    """What was said in the turns that stand in the prompt; and this very question, with the answers it had before."""
    messages = [message.pk for turn in shown for message in (turn.question, turn.answer)]
    if opened.answer.seq != opened.question.seq + 1:
        messages += [opened.question.pk, *opened.question.children.values_list("pk", flat=True)]
    return [f"message:{pk}" for pk in messages]


def _with_where_we_left(user: User, recollection: Recollection, now: datetime) -> Recollection:
    """A conversation's first turn is also told what was going on before, behind what was asked for."""
    begun = where_we_left(user, now, [item.ref for item in recollection.kept])
    if begun is None:
        return recollection
    cut = tuple(one for one in recollection.cut if one.item.ref != begun.ref)
    return replace(recollection, kept=(*recollection.kept, begun), cut=cut)


def _snapshot(
    conversation: Conversation, turns: Sequence[Turn], current: Sequence[snapshots.Line], now: datetime
) -> ProfileSnapshot:
    """The pinned profile, renewed where that costs nothing."""
    user = conversation.user
    latest = snapshots.latest(user, conversation.pk) if turns else None
    last_request = turns[-1].answer.created_at if turns else now
    lifetime = CACHE_LIFETIMES[settings.ENVIRONMENT.cache_ttl]
    rejected = _holds_rejected(user, latest, current)
    reason = snapshots.needs_renewal(latest, last_activity=last_request, now=now, lifetime=lifetime, forgotten=rejected)
    if reason is None and latest is not None:
        return latest
    return snapshots.pin(user, conversation.pk, current, reason or snapshots.Reason.NEW)


def _holds_rejected(user: User, pinned: ProfileSnapshot | None, current: Sequence[snapshots.Line]) -> bool:
    """Whether a pinned fact was rejected meanwhile: a person's no reaches the very next prompt."""
    if pinned is None:
        return False
    today = {line.ref for line in current}
    gone = [line.ref for line in snapshots.pinned_lines(pinned) if line.ref not in today]
    rejected = Fact.objects.for_user(user).filter(pk__in=fact_ids(gone), status=Fact.Status.REJECTED)
    return bool(fact_ids(gone)) and rejected.exists()
