"""What is known for this turn? All reads of a compilation in one place, so that the rest of it can be pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from budget.counting import cached_prefix, calibration
from budget.counting.estimate import TextClass, estimate
from budget.counting.learning import Belief
from budget.models import ProfileSnapshot
from budget.planning.fit import Cut
from budget.planning.history_cut import TurnRange
from budget.planning.plan import ResolvedPlan, Section
from budget.planning.user_plan import plan_for
from budget.receipts import profile_snapshots
from chat.attachments.history import with_attachments
from chat.attachments.prompt_blocks import Attached
from chat.messages.branches import BESIDE
from chat.messages.history import Past, Turn, past
from chat.models import Conversation, Message, Project, Role, Segment
from chat.projects.project_scope import only_scope, project_of
from chat.prompt import task_state
from chat.prompt.ablation import strike
from chat.prompt.user_context import Acquaintance, acquaintance
from chat.tools import Definition
from chat.turns.intake import Opened
from memory.documents.profile import FOLDER, ProfileLine, profile_lines
from memory.forget_epoch import epoch, locked_epoch
from memory.models import Boundary, Fact
from memory.refs import fact_ids
from memory.retrieval.conversation_start import where_we_left
from memory.retrieval.recall import Filters, MemoryItem, Recollection, Told, recall
from recall.db.prepared import Prepared
from recall.llm.client import Capabilities, capabilities
from recall.llm.tokens import count
from recall.observability.stopwatch import Stopwatch

CONTEXT_TURNS = 2
"""Earlier turns whose names and content words the retrieval may need: “And where does she work?” (DESIGN §5)."""

CACHE_LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}

type _SegmentRow = tuple[int, int | None, int]
"""Id, id of the one it was merged into, number."""

_SEGMENTS: Final[Prepared[_SegmentRow]] = Prepared(
    lambda conversation: (
        Segment.objects.filter(conversation=conversation)
        .order_by("-number")
        .values_list("pk", "merged_into_id", "number")
    ),
    conversation=UUID,
)


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
    belief: Belief
    """The ratios once more, and how sure they are."""
    boundaries: Sequence[Boundary]
    role: Role | None
    snapshot: ProfileSnapshot
    profile: Sequence[profile_snapshots.Line]
    """The lines the conversation is pinned to."""
    importance: dict[str, ProfileLine]
    """What is known today of each profile line, by its ref; a pinned line may have gone since."""
    profile_update: Sequence[str]
    past: Past
    """What came before: summaries of folded turns, and turns as they were said."""
    newest_segment: int
    """Number of the last one made on any branch when this was read; 0: none. A higher one later tells of a folding."""
    already_cut: TurnRange | None
    task: str
    """The task at hand, as the model noted it last; empty: there is none."""
    counted: cached_prefix.Known | None
    """What the provider said of the parts of the last request."""
    recollection: Recollection
    acquaintance: Acquaintance
    question: Message
    timings: dict[str, float]
    """Milliseconds: history, profile, retrieve."""
    attachments: Sequence[Attached] = ()
    """Of the question; those of earlier turns stand with them."""
    project: Project | None = None
    """Its instructions stand beside the role's."""
    epoch: int = 0
    """The person's forget epoch when this was read (`memory/forget_epoch.py`)."""
    only_tools: Sequence[Definition] | None = None
    """What the model may call; None: all that there is."""
    left_out: Sequence[Cut] = ()
    """Memories that this answer is to do without, as the person asked."""
    struck_lines: Sequence[profile_snapshots.Line] = ()
    struck_items: Sequence[MemoryItem] = ()
    """What says the same, and had to go with them."""

    @property
    def turns(self) -> Sequence[Turn]:
        """The turns that came before and are not folded."""
        return self.past.turns


def gather(opened: Opened) -> Known:
    """Read it all, on the thread and the connection of the caller."""
    conversation, now, timed = opened.conversation, timezone.now(), Stopwatch()
    user = conversation.user
    began = epoch(user.pk)
    model = conversation.model or settings.ENVIRONMENT.chat_model
    able = capabilities(model)
    segments = _all_segments(conversation)
    before, attachments = with_attachments(
        past(conversation, opened.question.parent_id), opened.question.pk, sees=able.images
    )
    timed.lap("history")
    lines = profile_lines(user)
    current = _weighed(lines)
    snapshot = _snapshot_then(opened, current) or _snapshot(conversation, before, current, began, now)
    pinned = profile_snapshots.pinned_lines(snapshot)
    boundaries = Boundary.for_prompt(user)
    timed.lap("profile")
    already_cut = _already_cut(opened)
    plan, ratios = plan_for(user, able.context_window), calibration.ratios(model)
    told = _told(opened, before, already_cut, told_by_profile(lines, plan, ratios))
    recollection = _recalled(opened, before, segments, told, now)
    timed.lap("retrieve")
    known = Known(
        now=now,
        user=user,
        model=model,
        effort=conversation.effort,
        able=able,
        plan=plan,
        ratios=ratios,
        belief=calibration.belief(model),
        boundaries=boundaries,
        role=conversation.role,
        project=project_of(conversation),
        snapshot=snapshot,
        profile=pinned,
        importance={line.ref: line for line in lines},
        profile_update=profile_snapshots.changes_since(pinned, current),
        past=before,
        newest_segment=max((number for *_, number in segments), default=0),
        already_cut=already_cut,
        task=task_state.told(conversation),
        counted=cached_prefix.known_from(user, before.turns[-1].answer.pk, model) if before.turns else None,
        recollection=recollection,
        acquaintance=acquaintance(conversation),
        question=opened.question,
        attachments=attachments,
        timings=timed.laps,
        epoch=began,
    )
    return strike(known, opened.left_out)


def _already_cut(opened: Opened) -> TurnRange | None:
    """The turns behind the placeholder; of an answer that is tried beside an earlier one, as the plan cuts them."""
    conversation = opened.conversation
    if not conversation.cut_from or (opened.is_aside and conversation.cut_until >= opened.question.turn):
        return None
    return TurnRange(conversation.cut_from, conversation.cut_until)


def _is_shown(number: int, cut: TurnRange | None) -> bool:
    return cut is None or number not in cut


def _recalled(opened: Opened, before: Past, segments: Sequence[_SegmentRow], told: Told, now: datetime) -> Recollection:
    """What bears on the question; in a first turn, also what was going on before."""
    conversation = opened.conversation
    user = conversation.user
    recollection = recall(
        user,
        opened.question.text,
        now=now,
        filters=Filters(scope=only_scope(conversation)),
        project=conversation.scope,
        exclude_refs=[
            *told.said,
            *_on_other_branches(segments, before),
            *_left_out(opened),
        ],
        told=told,
        context=[message.text for turn in before.turns[-CONTEXT_TURNS:] for message in (turn.question, turn.answer)],
    )
    return recollection if before.turns else with_where_we_left(user, recollection, now, told, conversation)


def _told(opened: Opened, before: Past, cut: TurnRange | None, by_profile: Told) -> Told:
    """What the prompt says anyway: the profile, the turns and summaries that stand there, this very question."""
    is_whole = not before.segments and cut is None
    said = frozenset(_in_the_window(opened, before, cut))
    return replace(by_profile, said=said, conversation=str(opened.conversation.pk) if is_whole else "")


def told_by_profile(lines: Sequence[ProfileLine], plan: ResolvedPlan, ratios: Mapping[TextClass, float]) -> Told:
    """The lines that are sure of their place, the best as many as the profile's own ceiling holds: the others may be
    recalled, for whether they find room is only known when all is fitted."""
    room = plan.ceilings[Section.PROFILE]
    best_first = sorted(lines, key=lambda line: (not line.is_fact, -line.standing))
    used = accumulate(count(line.text) for line in best_first)
    sure = [
        line
        for line, tokens in zip(best_first, used, strict=True)
        if estimate({TextClass.PROSE: tokens}, ratios) <= room
    ]
    refs = frozenset(ref for line in sure for ref in (line.ref, line.tells))
    return Told(facts=refs, folder=FOLDER if len(sure) == len(lines) else "")


def _in_the_window(opened: Opened, before: Past, cut: TurnRange | None) -> list[str]:
    """What stands in the prompt anyway: turns, summaries, and this very question with the answers it had before.

    What was said in a folded turn is not among it, and may be recalled beside the summary.
    """
    shown = [turn for turn in before.turns if _is_shown(turn.number, cut)]
    messages = [message.pk for turn in shown for message in (turn.question, turn.answer)]
    messages.append(opened.question.pk)  # an edited one may be in the index by now: its branch was turned to
    if opened.answer.seq != opened.question.seq + 1:
        messages += opened.question.children.values_list("pk", flat=True)
    summaries = [segment.ref for segment in before.segments if _is_shown(segment.first_turn, cut)]
    return [*summaries, *(f"message:{pk}" for pk in messages)]


def _left_out(opened: Opened) -> Iterator[str]:
    """What an answer that is tried without a memory may not recall: that memory, and what was said after it."""
    yield from opened.left_out.refs
    if opened.is_aside:
        later = Message.objects.filter(conversation=opened.conversation, seq__gt=opened.question.seq)
        yield from (f"message:{pk}" for pk in later.values_list("pk", flat=True))


def _on_other_branches(segments: Sequence[_SegmentRow], before: Past) -> list[str]:
    """Summaries of turns that this branch never had. `segments`: a merged one comes before its parts."""
    own = {segment.pk for segment in before.segments}
    others = []
    for pk, merged_into, _ in segments:
        if pk in own or merged_into in own:
            own.add(pk)
        else:
            others.append(f"segment:{pk}")
    return others


def _all_segments(conversation: Conversation) -> list[_SegmentRow]:
    """Those of every branch, the newest first."""
    return _SEGMENTS(conversation=conversation.pk)


def with_where_we_left(
    user: User, recollection: Recollection, now: datetime, told: Told, conversation: Conversation | None = None
) -> Recollection:
    """A conversation's first turn is also told what was going on before, behind what was asked for."""
    project, only = (conversation.scope, conversation.only_project) if conversation else ("", False)
    known = [*(item.ref for item in recollection.kept), *told.facts]
    begun = where_we_left(user, now, known, project=project, only_project=only)
    if begun is None:
        return recollection
    cut = tuple(one for one in recollection.cut if one.item.ref != begun.ref)
    return replace(recollection, kept=(*recollection.kept, begun), cut=cut)


def _snapshot_then(opened: Opened, current: Sequence[profile_snapshots.Line]) -> ProfileSnapshot | None:
    """What the first answer was pinned to, for one that is tried beside it; None: it is not to be told any more."""
    if not opened.is_aside:
        return None
    pinned = ProfileSnapshot.objects.filter(receipts__message_id=opened.answer.event_data[BESIDE]).first()
    return None if _holds_rejected(opened.conversation.user, pinned, current) else pinned


def _snapshot(
    conversation: Conversation, before: Past, current: Sequence[profile_snapshots.Line], began: int, now: datetime
) -> ProfileSnapshot:
    """The pinned profile, renewed where that costs nothing. `began`: the forget epoch before `current` was read."""
    user = conversation.user
    latest = profile_snapshots.latest(user, conversation.pk) if before.turns else None
    last_request = before.turns[-1].answer.created_at if before.turns else now
    lifetime = CACHE_LIFETIMES[settings.ENVIRONMENT.cache_ttl]
    rejected = _holds_rejected(user, latest, current)
    reason = profile_snapshots.needs_renewal(
        latest,
        last_activity=last_request,
        now=now,
        lifetime=lifetime,
        compacted=latest is not None and any(segment.created_at > latest.created_at for segment in before.segments),
        forgotten=rejected,
    )
    if reason is None and latest is not None:
        return latest
    with transaction.atomic():
        is_as_read = locked_epoch(user.pk) == began
        lines = current if is_as_read else _weighed(profile_lines(user))
        return profile_snapshots.pin(user, conversation.pk, lines, reason or profile_snapshots.Reason.NEW)


def _weighed(lines: Iterable[ProfileLine]) -> list[profile_snapshots.Line]:
    return [profile_snapshots.Line(line.ref, line.text, count(line.text)) for line in lines]


def _holds_rejected(user: User, pinned: ProfileSnapshot | None, current: Sequence[profile_snapshots.Line]) -> bool:
    """Whether a pinned fact was rejected or deleted meanwhile: a person's no reaches the very next prompt."""
    if pinned is None:
        return False
    today = {line.ref for line in current}
    gone = [line.ref for line in profile_snapshots.pinned_lines(pinned) if line.ref not in today]
    ids = set(fact_ids(gone))
    there = Fact.objects.for_user(user).filter(pk__in=ids).exclude(status=Fact.Status.REJECTED)
    return bool(ids) and there.count() < len(ids)
