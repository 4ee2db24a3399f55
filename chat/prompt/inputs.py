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
from chat.attachments.prompt_blocks import PromptAttachment
from chat.messages.history import ConversationHistory, Turn, load_history, with_attachments
from chat.models import Conversation, Message, Project, Role, Segment
from chat.projects.project_scope import project_of, recall_scope
from chat.prompt.user_context import RelationshipStats, load_relationship
from chat.tools import task_state
from chat.tools.registry import Definition
from chat.turn import BESIDE, AcceptedTurn
from memory.documents.profile import FOLDER, ProfileLine, profile_lines
from memory.forget_epoch import forget_epoch, lock_forget_epoch
from memory.models import Boundary, Fact
from memory.refs import fact_ids
from memory.retrieval.conversation_start import find_opening_memory
from memory.retrieval.recall import AlreadyInPrompt, Filters, MemoryItem, RetrievalResult, retrieve
from recall.db.prepared import PreparedQuery
from recall.llm.client import Capabilities, get_capabilities
from recall.llm.tokens import count_tokens
from recall.observability.stopwatch import Stopwatch

CONTEXT_TURNS = 2
"""Earlier turns whose names and content words the retrieval may need: “And where does she work?” (DESIGN §5)."""

CACHE_LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}

type _SegmentRow = tuple[int, int | None, int]
"""Id, id of the one it was merged into, number."""

_SEGMENTS: Final[PreparedQuery[_SegmentRow]] = PreparedQuery(
    lambda conversation: (
        Segment.objects.filter(conversation=conversation)
        .order_by("-number")
        .values_list("pk", "merged_into_id", "number")
    ),
    conversation=UUID,
)


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """Everything a prompt is made from."""

    now: datetime
    user: User
    model: str
    effort: str
    capabilities: Capabilities
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
    history: ConversationHistory
    """What came before: summaries of folded turns, and turns as they were said."""
    newest_segment: int
    """Number of the last one made on any branch when this was read; 0: none. A higher one later tells of a folding."""
    already_cut: TurnRange | None
    task: str
    """The task at hand, as the model noted it last; empty: there is none."""
    known_counts: cached_prefix.KnownCounts | None
    """What the provider said of the parts of the last request."""
    recollection: RetrievalResult
    acquaintance: RelationshipStats
    question: Message
    timings: dict[str, float]
    """Milliseconds: history, profile, retrieve."""
    attachments: Sequence[PromptAttachment] = ()
    """Of the question; those of earlier turns stand with them."""
    project: Project | None = None
    """Its instructions stand beside the role's."""
    epoch: int = 0
    """The person's forget epoch when this was read (`memory/forget_epoch.py`)."""
    only_tools: Sequence[Definition] | None = None
    """What the model may call; None: all that there is."""
    excluded: Sequence[Cut] = ()
    """Memories that this answer is to do without, as the person asked."""
    struck_lines: Sequence[profile_snapshots.Line] = ()
    struck_items: Sequence[MemoryItem] = ()
    """What says the same, and had to go with them."""

    @property
    def turns(self) -> Sequence[Turn]:
        """The turns that came before and are not folded."""
        return self.history.turns


def load_prompt_inputs(opened: AcceptedTurn) -> PromptInputs:
    """Read it all, on the thread and the connection of the caller."""
    conversation, now, timed = opened.conversation, timezone.now(), Stopwatch()
    user = conversation.user
    began = forget_epoch(user.pk)
    model = conversation.model or settings.ENVIRONMENT.chat_model
    able = get_capabilities(model)
    segments = _all_segments(conversation)
    before, attachments = with_attachments(
        load_history(conversation, opened.question.parent_id), opened.question.pk, sees=able.images
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
    told = _already_in_prompt(opened, before, already_cut, told_by_profile(lines, plan, ratios))
    recollection = _recalled(opened, before, segments, told, now)
    timed.lap("retrieve")
    return PromptInputs(
        now=now,
        user=user,
        model=model,
        effort=conversation.effort,
        capabilities=able,
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
        history=before,
        newest_segment=max((number for *_, number in segments), default=0),
        already_cut=already_cut,
        task=task_state.render_task(conversation),
        known_counts=cached_prefix.load_known_counts(user, before.turns[-1].answer.pk, model) if before.turns else None,
        recollection=recollection,
        acquaintance=load_relationship(conversation),
        question=opened.question,
        attachments=attachments,
        timings=timed.laps,
        epoch=began,
    )


def _already_cut(opened: AcceptedTurn) -> TurnRange | None:
    """The turns behind the placeholder; of an answer that is tried beside an earlier one, as the plan cuts them."""
    conversation = opened.conversation
    if not conversation.cut_from or (opened.is_trial and conversation.cut_until >= opened.question.turn):
        return None
    return TurnRange(conversation.cut_from, conversation.cut_until)


def _is_shown(number: int, cut: TurnRange | None) -> bool:
    return cut is None or number not in cut


def _recalled(
    opened: AcceptedTurn,
    before: ConversationHistory,
    segments: Sequence[_SegmentRow],
    told: AlreadyInPrompt,
    now: datetime,
) -> RetrievalResult:
    """What bears on the question; in a first turn, also what was going on before."""
    conversation = opened.conversation
    user = conversation.user
    recollection = retrieve(
        user,
        opened.question.text,
        now=now,
        filters=Filters(scope=recall_scope(conversation)),
        project=conversation.scope,
        exclude_refs=[
            *told.said,
            *_on_other_branches(segments, before),
            *_left_out(opened),
        ],
        told=told,
        context=[message.text for turn in before.turns[-CONTEXT_TURNS:] for message in (turn.question, turn.answer)],
    )
    return recollection if before.turns else add_opening_memory(user, recollection, now, told, conversation)


def _already_in_prompt(
    opened: AcceptedTurn, before: ConversationHistory, cut: TurnRange | None, by_profile: AlreadyInPrompt
) -> AlreadyInPrompt:
    """What the prompt says anyway: the profile, the turns and summaries that stand there, this very question."""
    is_whole = not before.segments and cut is None
    said = frozenset(_in_the_window(opened, before, cut))
    return replace(by_profile, said=said, conversation=str(opened.conversation.pk) if is_whole else "")


def told_by_profile(
    lines: Sequence[ProfileLine], plan: ResolvedPlan, ratios: Mapping[TextClass, float]
) -> AlreadyInPrompt:
    """The lines that are sure of their place, the best as many as the profile's own ceiling holds: the others may be
    recalled, for whether they find room is only known when all is fitted."""
    room = plan.ceilings[Section.PROFILE]
    best_first = sorted(lines, key=lambda line: (not line.is_fact, -line.standing))
    used = accumulate(count_tokens(line.text) for line in best_first)
    sure = [
        line
        for line, tokens in zip(best_first, used, strict=True)
        if estimate({TextClass.PROSE: tokens}, ratios) <= room
    ]
    refs = frozenset(ref for line in sure for ref in (line.ref, line.tells))
    return AlreadyInPrompt(facts=refs, folder=FOLDER if len(sure) == len(lines) else "")


def _in_the_window(opened: AcceptedTurn, before: ConversationHistory, cut: TurnRange | None) -> list[str]:
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


def _left_out(opened: AcceptedTurn) -> Iterator[str]:
    """What an answer that is tried without a memory may not recall: that memory, and what was said after it."""
    yield from opened.exclusion.refs
    if opened.is_trial:
        later = Message.objects.filter(conversation=opened.conversation, seq__gt=opened.question.seq)
        yield from (f"message:{pk}" for pk in later.values_list("pk", flat=True))


def _on_other_branches(segments: Sequence[_SegmentRow], before: ConversationHistory) -> list[str]:
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


def add_opening_memory(
    user: User,
    recollection: RetrievalResult,
    now: datetime,
    told: AlreadyInPrompt,
    conversation: Conversation | None = None,
) -> RetrievalResult:
    """A conversation's first turn is also told what was going on before, behind what was asked for."""
    project, only = (conversation.scope, conversation.only_project) if conversation else ("", False)
    known = [*(item.ref for item in recollection.kept), *told.facts]
    begun = find_opening_memory(user, now, known, project=project, only_project=only)
    if begun is None:
        return recollection
    cut = tuple(one for one in recollection.cut if one.item.ref != begun.ref)
    return replace(recollection, kept=(*recollection.kept, begun), cut=cut)


def _snapshot_then(opened: AcceptedTurn, current: Sequence[profile_snapshots.Line]) -> ProfileSnapshot | None:
    """What the first answer was pinned to, for one that is tried beside it; None: it is not to be told any more."""
    if not opened.is_trial:
        return None
    pinned = ProfileSnapshot.objects.filter(receipts__message_id=opened.answer.event_data[BESIDE]).first()
    return None if _holds_rejected(opened.conversation.user, pinned, current) else pinned


def _snapshot(
    conversation: Conversation,
    before: ConversationHistory,
    current: Sequence[profile_snapshots.Line],
    began: int,
    now: datetime,
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
        is_as_read = lock_forget_epoch(user.pk) == began
        lines = current if is_as_read else _weighed(profile_lines(user))
        return profile_snapshots.pin(user, conversation.pk, lines, reason or profile_snapshots.Reason.NEW)


def _weighed(lines: Iterable[ProfileLine]) -> list[profile_snapshots.Line]:
    return [profile_snapshots.Line(line.ref, line.text, count_tokens(line.text)) for line in lines]


def _holds_rejected(user: User, pinned: ProfileSnapshot | None, current: Sequence[profile_snapshots.Line]) -> bool:
    """Whether a pinned fact was rejected or deleted meanwhile: a person's no reaches the very next prompt."""
    if pinned is None:
        return False
    today = {line.ref for line in current}
    gone = [line.ref for line in profile_snapshots.pinned_lines(pinned) if line.ref not in today]
    ids = set(fact_ids(gone))
    there = Fact.objects.for_user(user).filter(pk__in=ids).exclude(status=Fact.Status.REJECTED)
    return bool(ids) and there.count() < len(ids)
