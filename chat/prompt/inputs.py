"""Everything a prompt is built from. All database reads of prompt assembly are here; the rest is pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from budget.counting import cached_prefix, calibration
from budget.counting.estimate import TextClass
from budget.counting.learning import Belief
from budget.models import ProfileSnapshot
from budget.planning.fit import Cut
from budget.planning.history_cut import TurnRange
from budget.planning.plan import ResolvedPlan
from budget.planning.user_plan import plan_for, plan_read
from budget.receipts import profile_snapshots
from chat.attachments.prompt_blocks import PromptAttachment, holders_read
from chat.messages.history import ConversationHistory, history_read, load_history, with_attachments
from chat.models import Message, Project, Role, Segment
from chat.projects.project_scope import project_of, recall_scope
from chat.prompt.last_session import add_opening_memory
from chat.prompt.pinned_profile import already_in_profile, count_lines, load_snapshot
from chat.prompt.stated_identity import NOTHING_STATED, Stated, load_stated, stated_read
from chat.prompt.user_context import RelationshipStats, load_relationship, relationship_read
from chat.tools import task_state
from chat.tools.registry import Definition
from chat.turn import AcceptedTurn
from memory.documents.profile import ProfileLine, profile_lines, profile_reads
from memory.forget_epoch import epoch_reads, forget_epoch
from memory.models import Boundary
from memory.retrieval.candidates import Filters, collection_read
from memory.retrieval.recall import AlreadyInPrompt, MemoryItem, RetrievalResult, retrieve
from recall.db.acting import searching_for
from recall.db.prepared import PreparedQuery, Read, read_together
from recall.llm.client import Capabilities, get_capabilities
from recall.observability.stopwatch import Stopwatch

CONTEXT_TURNS: Final = 2
"""Earlier turns whose names and content words retrieval may need: “And where does she work?” (DESIGN §5)."""

type _SegmentRow = tuple[int, int | None, int]
"""Id of a segment, id of the one it was merged into, number."""

_SEGMENTS: Final[PreparedQuery[_SegmentRow]] = PreparedQuery(
    lambda conversation: (
        Segment.objects.filter(conversation=conversation)
        .order_by("-number")
        .values_list("pk", "merged_into_id", "number")
    ),
    conversation=UUID,
)


@dataclass(frozen=True, slots=True)
class ClockInputs:
    """The time, and how well the user and Recall know each other."""

    now: datetime
    relationship: RelationshipStats
    stated: Stated = NOTHING_STATED
    """Name and time zone as the user stated them."""


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """The model that answers, and the tools it may call."""

    name: str
    effort: str
    capabilities: Capabilities
    tools: Sequence[Definition] | None = None
    """None: every tool of the installation."""


@dataclass(frozen=True, slots=True)
class BudgetInputs:
    """The token budget, and how tokens are counted."""

    plan: ResolvedPlan
    ratios: dict[TextClass, float]
    belief: Belief
    """The token ratios with their uncertainty."""
    known_counts: cached_prefix.KnownCounts | None = None
    """The provider's counts for the parts of the last request."""


@dataclass(frozen=True, slots=True)
class InstructionInputs:
    """Instructions the model must follow, besides the system prompt."""

    boundaries: Sequence[Boundary] = ()
    role: Role | None = None
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class ProfileInputs:
    """The pinned profile, and what has changed since."""

    snapshot: ProfileSnapshot
    lines: Sequence[profile_snapshots.Line] = ()
    """Lines of the snapshot."""
    current: Mapping[str, ProfileLine] = field(default_factory=dict)
    """Today's lines by reference; a pinned line may be gone."""
    update: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class HistoryInputs(ConversationHistory):
    """Earlier turns and summaries, and which of them earlier requests left out."""

    newest_segment: int = 0
    """Number of the newest segment of any branch when this was read; 0: none. A higher one later means compaction."""
    cut: TurnRange | None = None
    """Turns behind the placeholder."""


@dataclass(frozen=True, slots=True)
class QuestionInputs:
    """The user's message; earlier attachments are in the history."""

    message: Message
    attachments: Sequence[PromptAttachment] = ()


@dataclass(frozen=True, slots=True)
class ExcludedInputs:
    """What `exclude_memories` took out of the inputs, for the receipt."""

    cuts: Sequence[Cut] = ()
    """The memories the user named."""
    lines: Sequence[profile_snapshots.Line] = ()
    items: Sequence[MemoryItem] = ()
    """Profile lines and memories that say the same."""
    requests: Sequence[int] = ()
    """Ids of the messages that asked to forget some of it."""


@dataclass(frozen=True, slots=True)
class ReadInputs:
    """How the inputs were read."""

    epoch: int = 0
    """The user's forget epoch before the first read (`memory/forget_epoch.py`)."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds: history, profile, retrieve."""


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """Everything a prompt is built from."""

    user: User
    clock: ClockInputs
    model: ModelInputs
    budget: BudgetInputs
    profile: ProfileInputs
    question: QuestionInputs
    instructions: InstructionInputs = InstructionInputs()
    history: HistoryInputs = HistoryInputs()
    recalled: RetrievalResult = field(default_factory=RetrievalResult)
    task: str = ""
    """The current task, as the model last noted it; empty: there is none."""
    excluded: ExcludedInputs = ExcludedInputs()
    read: ReadInputs = ReadInputs()


def load_prompt_inputs(turn: AcceptedTurn) -> PromptInputs:
    """Read everything, on the thread and the connection of the caller: what is known to be needed in one round trip,
    then attachments and memories."""
    with searching_for(turn.conversation.user_id), read_together(*_known_reads(turn, now := timezone.now())):
        return _load_prompt_inputs(turn, now)


def _known_reads(turn: AcceptedTurn, now: datetime) -> Iterator[Read]:
    """What can be read before anything else is known; the epoch comes first."""
    conversation = turn.conversation
    user, before = conversation.user, turn.question.parent_id
    yield from epoch_reads(user.pk)
    yield _SEGMENTS.read(conversation=conversation.pk)
    yield holders_read(conversation.pk)
    yield from profile_reads(user, now)
    yield Boundary.read_for_prompt(user)
    yield plan_read(user)
    yield collection_read(user)
    yield relationship_read(user.pk, conversation.pk)
    yield stated_read(user)
    if before is not None:
        yield history_read(conversation, before)
        yield profile_snapshots.latest_read(user, conversation.pk)
        yield cached_prefix.known_counts_read(user, before, conversation.model or settings.ENVIRONMENT.chat_model)


def _load_prompt_inputs(turn: AcceptedTurn, now: datetime) -> PromptInputs:
    conversation, stopwatch = turn.conversation, Stopwatch()
    user = conversation.user
    epoch = forget_epoch(user.pk)
    model = load_model(conversation.model, conversation.effort)
    segments = _SEGMENTS(conversation=conversation.pk)  # of every branch, newest first
    history, attachments = with_attachments(
        load_history(conversation, turn.question.parent_id), turn.question, sees=model.capabilities.images
    )
    stopwatch.lap("history")
    lines = profile_lines(user, now)
    current = count_lines(lines)
    snapshot = load_snapshot(turn, history, current, epoch, now)
    pinned = profile_snapshots.pinned_lines(snapshot)
    boundaries = Boundary.for_prompt(user)
    stopwatch.lap("profile")
    cut = _cut_turns(turn)
    budget = load_budget(user, model)
    already_in_prompt = _already_in_prompt(turn, history, cut, already_in_profile(lines, budget.plan, budget.ratios))
    recalled = _retrieve(turn, history, segments, already_in_prompt, now)
    stopwatch.lap("retrieve")
    project = project_of(conversation)
    last_answer = history.turns[-1].answer.pk if history.turns else None
    texts = [*(earlier.question.text for earlier in history.turns), turn.question.text]
    return PromptInputs(
        user=user,
        task=task_state.render_task(conversation),
        budget=replace(
            budget,
            known_counts=cached_prefix.load_known_counts(user, last_answer, model.name) if last_answer else None,
        ),
        clock=ClockInputs(now, load_relationship(conversation), load_stated(user, texts)),
        model=model,
        instructions=InstructionInputs(boundaries, conversation.role, project),
        profile=ProfileInputs(
            snapshot, pinned, {line.ref: line for line in lines}, profile_snapshots.changes_since(pinned, current)
        ),
        history=HistoryInputs(
            history.turns, history.segments, max((number for *_, number in segments), default=0), cut
        ),
        recalled=recalled,
        question=QuestionInputs(turn.question, attachments),
        read=ReadInputs(epoch, stopwatch.laps),
    )


def load_model(name: str, effort: str, tools: Sequence[Definition] | None = None) -> ModelInputs:
    """The chosen model, or the installation's, with its capabilities."""
    name = name or settings.ENVIRONMENT.chat_model
    return ModelInputs(name, effort, get_capabilities(name), tools)


def load_budget(user: User, model: ModelInputs) -> BudgetInputs:
    """The user's plan for this model, and what is known about its tokens."""
    plan, ratios = plan_for(user, model.capabilities.context_window), calibration.ratios(model.name)
    return BudgetInputs(plan, ratios, calibration.belief(model.name))


def _cut_turns(turn: AcceptedTurn) -> TurnRange | None:
    """The turns behind the placeholder; None for a trial of an earlier turn, for which the plan makes a new cut."""
    conversation = turn.conversation
    if not conversation.cut_from or (turn.is_trial and conversation.cut_until >= turn.question.turn):
        return None
    return TurnRange(conversation.cut_from, conversation.cut_until)


def _retrieve(
    turn: AcceptedTurn,
    history: ConversationHistory,
    segments: Sequence[_SegmentRow],
    already_in_prompt: AlreadyInPrompt,
    now: datetime,
) -> RetrievalResult:
    """Memories relevant to the question; in a first turn, also what the user was last working on."""
    conversation = turn.conversation
    user = conversation.user
    recalled = retrieve(
        user,
        turn.question.text,
        now=now,
        filters=Filters(scope=recall_scope(conversation)),
        project=conversation.scope,
        exclude_refs=[
            *already_in_prompt.said,
            *_segments_of_other_branches(segments, history),
            *_excluded_refs(turn),
        ],
        told=already_in_prompt,
        context=[message.text for turn in history.turns[-CONTEXT_TURNS:] for message in (turn.question, turn.answer)],
        reads=True,
    )
    if history.turns:
        return recalled
    return add_opening_memory(user, recalled, now, already_in_prompt, conversation, turn.question.text)


def _already_in_prompt(
    turn: AcceptedTurn, history: ConversationHistory, cut: TurnRange | None, in_profile: AlreadyInPrompt
) -> AlreadyInPrompt:
    """What retrieval must not repeat: the profile, the turns and summaries in the window, and the question itself."""
    is_whole = not history.segments and cut is None
    refs = frozenset(_refs_in_window(turn, history, cut))
    return replace(in_profile, said=refs, conversation=str(turn.conversation.pk) if is_whole else "")


def _refs_in_window(turn: AcceptedTurn, history: ConversationHistory, cut: TurnRange | None) -> list[str]:
    """Messages and summaries that are in the prompt anyway, with this question and its earlier answers.

    Messages of compacted turns aren't among them, and may be recalled next to the summary.
    """
    shown = [earlier for earlier in history.turns if _is_shown(earlier.number, cut)]
    messages = [message.pk for earlier in shown for message in (earlier.question, earlier.answer)]
    messages.append(turn.question.pk)  # an edited question may already be indexed with its branch
    if turn.answer.seq != turn.question.seq + 1:
        messages += turn.question.children.values_list("pk", flat=True)
    summaries = [segment.ref for segment in history.segments if _is_shown(segment.first_turn, cut)]
    return [*summaries, *(f"message:{pk}" for pk in messages)]


def _is_shown(number: int, cut: TurnRange | None) -> bool:
    return cut is None or number not in cut


def _excluded_refs(turn: AcceptedTurn) -> Iterator[str]:
    """What a trial may not recall: the excluded memories, and everything said after its question."""
    yield from turn.exclusion.refs
    if turn.is_trial:
        later = Message.objects.filter(conversation=turn.conversation, seq__gt=turn.question.seq)
        yield from (f"message:{pk}" for pk in later.values_list("pk", flat=True))


def _segments_of_other_branches(segments: Sequence[_SegmentRow], history: ConversationHistory) -> list[str]:
    """Summaries of turns that this branch never had. `segments`: a merged one comes before its parts."""
    of_branch = {segment.pk for segment in history.segments}
    others = []
    for pk, merged_into, _ in segments:
        if pk in of_branch or merged_into in of_branch:
            of_branch.add(pk)
        else:
            others.append(f"segment:{pk}")
    return others
