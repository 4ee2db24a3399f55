"""Replay of a conversation: every prompt is built by the code that sends real ones, from rows kept in memory.

`assemble_from_inputs` measures, fits and renders; `ensure_fits` and `ToolLoop` are the preflight check and the tool
loop; `needs_renewal`, `first_trigger`, `select_turns`, `count_to_merge` and `merge` decide as they do for real.
Replaced are: the database (`chat/prompt/inputs.py`, `chat/turns/finish.py`, `chat/compaction/segments.py` read and
write what is passed on here), retrieval (a fixed set of memories per turn), the meaning of messages (the conversation
knows where its topic shifts) and the model that summarizes (the rules do). Compaction finishes before the next turn.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from accounts.models import User
from bench.cost.conversations import Exchange, profile
from bench.cost.meter import MODEL, Billed, Meter
from budget.counting import cached_prefix, learning
from budget.counting.estimate import TextClass, estimate
from budget.models import ProfileSnapshot
from budget.planning.history_cut import TurnRange
from budget.planning.plan import ResolvedPlan, Section
from budget.receipts import profile_snapshots
from chat.compaction.segments import ELSEWHERE_TURNS, size_turns
from chat.compaction.summaries.merge import merge
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Summary, render
from chat.compaction.summaries.schema import Exchange as Told
from chat.compaction.summaries.select_engine import summarize
from chat.compaction.triggers import ConversationState, first_trigger
from chat.compaction.window import count_to_merge, select_turns
from chat.messages.history import ConversationHistory, Turn, tool_lines
from chat.models import Message, Segment
from chat.prompt.assemble import AssembledPrompt, assemble_from_inputs
from chat.prompt.inputs import (
    BudgetInputs,
    ClockInputs,
    HistoryInputs,
    ModelInputs,
    ProfileInputs,
    PromptInputs,
    QuestionInputs,
)
from chat.prompt.pinned_profile import CACHE_LIFETIMES
from chat.prompt.preflight import ToolLoop, ensure_fits
from chat.prompt.user_context import RelationshipStats
from chat.tools.registry import history_line
from chat.turn import AgentRun, RoundUsage, ToolUse
from memory.retrieval.recall import MemoryItem, RetrievalResult
from offline.protocol import tokenizer
from recall.llm.client import Capabilities
from recall.llm.tokens import count_tokens

WINDOW: Final = 1_000_000
"""The models' context window, in tokens."""
START: Final = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
ABLE: Final = Capabilities(WINDOW, 128_000, caching=True, thinking=True, effort=True)
"""Only the estimate decides: the provider isn't asked to count."""
TTL: Final = "1h"


@dataclass(slots=True)
class Sent:
    """One turn as Recall sent it, for sending it in other ways."""

    exchange: Exchange
    at: float
    """Seconds on the clock."""
    compiled: AssembledPrompt
    requests: list[dict[str, Any]]
    """The first request, and one per tool round."""
    outputs: list[int]
    billed: list[Billed]
    turns: Sequence[Turn]
    """All earlier turns, compacted or not."""
    folded_until: int
    """The last compacted turn; 0: none."""


@dataclass(slots=True)
class Conversation:
    """What the rows of a conversation would contain."""

    plan: ResolvedPlan
    meter: Meter = field(default_factory=Meter)
    said: list[Turn] = field(default_factory=list)
    past: ConversationHistory = field(default_factory=ConversationHistory)
    belief: learning.Belief = field(default_factory=learning.unknown)
    counted: cached_prefix.KnownCounts | None = None
    cut: TurnRange | None = None
    lines: list[profile_snapshots.Line] = field(default_factory=list)
    """The current profile lines."""
    snapshot: ProfileSnapshot | None = None
    made: int = 0
    """Segments created so far."""
    folded_at: float | None = None
    """Seconds on the clock, if history was compacted since the snapshot was taken."""
    folds: dict[str, int] = field(default_factory=dict)
    """Segments by the name of their trigger."""
    seen: set[TextClass] = field(default_factory=set)


def replay(talk: Iterator[Exchange], conversation: Conversation) -> Iterator[Sent]:
    """Send each turn as Recall sends it."""
    conversation.lines = [_line(n, text) for n, text in enumerate(profile())]
    with asyncio.Runner() as runner:
        at = 0.0
        for exchange in talk:
            at += exchange.pause
            _compact_if_due(conversation, ConversationState(silence=timedelta(seconds=exchange.pause)))
            yield runner.run(_turn(conversation, exchange, at, exchange.pause))
            _close(conversation, exchange)


async def _turn(conversation: Conversation, exchange: Exchange, at: float, pause: float) -> Sent:
    question = _message(exchange.number * 2, exchange.number, exchange.question, at)
    known = _known(conversation, exchange, question, at, pause)
    compiled = await ensure_fits(assemble_from_inputs(known, 0.0))
    conversation.meter.begin_turn(at)
    sent = Sent(exchange, at, compiled, [], [], [], tuple(conversation.said), _compacted_until(conversation.past))
    lines = await _talk(conversation.meter, sent)
    _learn(conversation, compiled, sent.billed[0])
    answer = _message(exchange.number * 2 + 1, exchange.number, exchange.answer, at, lines)
    conversation.said.append(Turn(exchange.number, question, answer))
    conversation.cut = compiled.fitted.cut_turns
    return sent


async def _talk(meter: Meter, sent: Sent) -> list[str]:
    """Send the requests of one turn, tool rounds included; return the lines that replace these later."""
    calls = [
        ToolUse(f"toolu_{n}", "search_knowledge", {"query": call.query}, call.result)
        for n, call in enumerate(sent.exchange.calls)
    ]
    loop = ToolLoop(sent.compiled, AgentRun(), _keep)
    request = sent.compiled.request
    for number, call in enumerate(calls):
        blocks: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": sent.exchange.calls[number].thought, "signature": "x"},
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input},
        ]
        output = tokenizer.count(sent.exchange.calls[number].thought) + tokenizer.count(str(call.input))
        billed = _send(meter, sent, request, output)
        usage = RoundUsage(billed.input, billed.cache_read, billed.cache_write_5m, billed.cache_write_1h, output)
        following = await loop.next_request(request, blocks, [call], usage)
        if following is None:
            break
        request = following
    _send(meter, sent, request, tokenizer.count(sent.exchange.answer))
    return [history_line(call) for call in calls]


def _send(meter: Meter, sent: Sent, request: dict[str, Any], output: int) -> Billed:
    billed = meter.send(request, output)
    sent.requests.append(request)
    sent.outputs.append(output)
    sent.billed.append(billed)
    return billed


async def _keep(call: ToolUse) -> str:
    return f"/artifacts/bench/{call.name}"


# What is known ---------------------------------------------------------------------------------------------------


def _known(conversation: Conversation, exchange: Exchange, question: Message, at: float, pause: float) -> PromptInputs:
    pinned = profile_snapshots.pinned_lines(_snapshot(conversation, at, pause))
    ratios = {kind: conversation.belief.ratios[kind] for kind in conversation.seen}
    past = conversation.past
    return PromptInputs(
        user=User(pk=1, preferred_name="Alice", time_zone="Europe/Lisbon"),
        clock=ClockInputs(START + timedelta(seconds=at), RelationshipStats(3, START - timedelta(days=2))),
        model=ModelInputs(MODEL, "", ABLE),
        budget=BudgetInputs(conversation.plan, ratios, conversation.belief, conversation.counted),
        profile=ProfileInputs(
            ProfileSnapshot(pk=1), pinned, update=profile_snapshots.changes_since(pinned, conversation.lines)
        ),
        history=HistoryInputs(past.turns, past.segments, conversation.made, conversation.cut),
        recalled=RetrievalResult(kept=tuple(_memories(exchange))),
        question=QuestionInputs(question),
    )


def _memories(exchange: Exchange) -> Iterator[MemoryItem]:
    for place, text in enumerate(exchange.memories):
        yield MemoryItem(
            f"message:{exchange.number}{place}", "message", text, START, None, {}, 1 - place / 10, said_by="user"
        )


def _snapshot(conversation: Conversation, at: float, pause: float) -> ProfileSnapshot:
    why = profile_snapshots.needs_renewal(
        conversation.snapshot,
        last_activity=START + timedelta(seconds=at - pause),
        now=START + timedelta(seconds=at),
        lifetime=CACHE_LIFETIMES[TTL],
        compacted=conversation.folded_at is not None,
    )
    if why is not None or conversation.snapshot is None:
        lines = [{"ref": line.ref, "text": line.text, "tokens": line.tokens} for line in conversation.lines]
        conversation.snapshot, conversation.folded_at = ProfileSnapshot(pk=1, lines=lines), None
    return conversation.snapshot


def _learn(conversation: Conversation, compiled: AssembledPrompt, first: Billed) -> None:
    """Do the work of `budget.receipts.record.learned_from` and `budget.counting.calibration.observe`."""
    cached = first.cache_read + first.cache_write_5m + first.cache_write_1h
    figures, settled = cached_prefix.reconcile_usage(
        compiled.prefix.as_json(), conversation.belief, cached, first.total
    )
    for figure in figures:
        conversation.belief = learning.learn(conversation.belief, figure)
        conversation.seen |= {kind for kind, base in figure.base_by_class.items() if base > 0}
    conversation.counted = cached_prefix.KnownCounts(settled["parts"], settled["variance"])


def _line(number: int, text: str) -> profile_snapshots.Line:
    return profile_snapshots.Line(f"fact:{number}", text, count_tokens(text))


def _message(pk: int, turn: int, text: str, at: float, lines: Sequence[str] = ()) -> Message:
    data = {"tool_lines": list(lines)} if lines else {}
    tokens = count_tokens("\n".join([*lines, text]))
    return Message(
        pk=pk, turn=turn, text=text, tokens=tokens, event_data=data, created_at=START + timedelta(seconds=at)
    )


# After the turn --------------------------------------------------------------------------------------------------


def _close(conversation: Conversation, exchange: Exchange) -> None:
    """Do the work of `chat/turns/finish.py` and the worker."""
    if exchange.learned:
        conversation.lines.append(_line(1_000 + exchange.number, exchange.learned))
    conversation.past = ConversationHistory(
        (*conversation.past.turns, conversation.said[-1]), conversation.past.segments
    )
    _compact_if_due(conversation, _moment(conversation, exchange))


def _compact_if_due(conversation: Conversation, now: ConversationState) -> None:
    why = first_trigger(now)
    while why is not None and _compact(conversation):
        conversation.folds[why] = conversation.folds.get(why, 0) + 1


def _moment(conversation: Conversation, exchange: Exchange) -> ConversationState:
    ratios = {kind: conversation.belief.ratios[kind] for kind in conversation.seen}
    sizes = size_turns(conversation.past.turns, ratios)
    prompt = conversation.meter.billed[-1][0].total
    return ConversationState(
        turns=len(sizes),
        history=sum(size.tokens for size in sizes),
        ceiling=conversation.plan.ceilings[Section.HISTORY],
        prompt=prompt + estimate({TextClass.PROSE: conversation.said[-1].answer.tokens}, ratios),
        window=WINDOW,
        task_is_done=exchange.task_is_done,
        topic_has_shifted=exchange.topic_has_shifted,
    )


def _compact(conversation: Conversation) -> bool:
    """Create one segment, like `chat.compaction.segments.create_segment`; False: there is nothing to compact."""
    past = conversation.past
    ratios = {kind: conversation.belief.ratios[kind] for kind in conversation.seen}
    found = select_turns(size_turns(past.turns, ratios), conversation.plan.ceilings[Section.HISTORY])
    if found is None:
        return False
    folded = [turn for turn in past.turns if turn.number in found]
    elsewhere = [turn.question.text for turn in conversation.said if turn.number not in found]
    told = summarize(_digest_turns(folded), engine=RuleEngine(elsewhere[-ELSEWHERE_TURNS:]))
    segments = [*past.segments, _segment(conversation, found, told.summary)]
    oldest = segments[: count_to_merge(len(segments))]
    if oldest:
        parts = [(item.first_turn, item.last_turn, Summary.from_json(item.summary)) for item in oldest]
        merged = TurnRange(oldest[0].first_turn, oldest[-1].last_turn)
        segments[: len(oldest)] = [_segment(conversation, merged, merge(parts, DEFAULT_VERBOSITY.limit))]
    conversation.past = ConversationHistory(
        tuple(turn for turn in past.turns if turn.number not in found), tuple(segments)
    )
    conversation.cut, conversation.folded_at = None, conversation.meter.now
    return True


def _digest_turns(turns: Sequence[Turn]) -> list[Told]:
    return [Told(t.number, t.question.text, t.answer.text, tool_lines(t.answer), START) for t in turns]


def _segment(conversation: Conversation, turns: TurnRange, summary: Summary) -> Segment:
    conversation.made += 1
    text = render(summary, turns.first, turns.last, DEFAULT_VERBOSITY.limit)
    return Segment(
        pk=conversation.made,
        number=conversation.made,
        first_turn=turns.first,
        last_turn=turns.last,
        text=text,
        summary=summary.as_json(),
        tokens=count_tokens(text),
    )


def _compacted_until(past: ConversationHistory) -> int:
    return max((segment.last_turn for segment in past.segments), default=0)
