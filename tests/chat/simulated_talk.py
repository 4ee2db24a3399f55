"""Conversations of mixed content, and the offline server's own count of each request that Recall makes of them.

Everything in between is real: measuring, fitting, rendering, the cache's accounting, recording and learning.
"""

import asyncio
import inspect
import json
import random
import textwrap
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from typing import Any

import django.conf
from asgiref.sync import async_to_sync

from accounts.models import User
from budget.counting import cached_prefix, calibration
from budget.models import ProfileSnapshot, Receipt
from budget.planning.fit import Cut
from budget.planning.history_cut import TurnRange
from budget.planning.plan import ResolvedPlan
from budget.receipts.profile_snapshots import Line
from budget.receipts.record import draft_receipt
from budget.spending import prices
from chat.messages.history import Turn
from chat.models import Message
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
from chat.prompt.preflight import ensure_fits
from chat.prompt.user_context import RelationshipStats
from memory.retrieval.recall import MemoryItem, RetrievalResult
from offline.protocol.cache import PromptCache
from offline.protocol.models import MODELS
from offline.protocol.prompt import read_prompt
from recall.llm.client import Capabilities
from recall.llm.tokens import count_tokens

MODEL = "claude-sonnet-5-5"
WORKSPACE = "test"
LANGUAGES = {"german": "de", "french": "fr", "russian": "ru", "chinese": "zh_Hans", "japanese": "ja", "korean": "ko"}
KINDS = ("english", "code", "json", *LANGUAGES)
START = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


# What people and models write -------------------------------------------------------------------------------------


@cache
def _sentences(kind: str) -> Sequence[str]:
    """Real text: documentation and source of the standard library, and the sentences of Django's translations."""
    modules = (asyncio, json, textwrap, threading, inspect, random)
    if kind == "english":
        # Only the module's own: other libraries, and pytest, replace some of what is in it while they run.
        values = [getattr(module, name) for module in modules for name in module.__all__]
        own = {module.__name__ for module in modules}
        docs = [inspect.getdoc(it) or "" for it in values if str(getattr(it, "__module__", "")).split(".")[0] in own]
        return sorted({line for doc in docs for line in doc.split("\n\n") if len(line) > 60 and ">>>" not in line})
    if kind == "code":
        lines = [line for module in modules for line in inspect.getsource(module).splitlines()]
        return ["\n".join(lines[at : at + 6]) for at in range(0, len(lines) - 6, 6)]
    path = Path(django.conf.__file__).parent / "locale" / LANGUAGES[kind] / "LC_MESSAGES" / "django.mo"
    with path.open("rb") as file:
        catalogue: dict[Any, str] = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return sorted({text for key, text in catalogue.items() if key and len(text) > 12 and "%" not in text})


def words_of(kind: str, length: int, chance: random.Random) -> str:
    """About `length` characters of one kind."""
    if kind == "json":
        rows: list[dict[str, Any]] = []
        while len(json.dumps(rows)) < length:
            name = chance.choice(_sentences("english")).split()[0]
            rows.append({"id": chance.randint(1, 99_999), "name": name, "price": chance.random() * 100, "ok": True})
        return json.dumps(rows, indent=chance.choice([None, 2]))
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts.append(chance.choice(_sentences(kind)))
    text = ("\n" if kind == "code" else " ").join(parts)
    return f"```\n{text[:length]}\n```" if kind == "code" else text[:length]


@dataclass
class Talk:
    """A conversation whose mixture of contents changes every 12 turns."""

    seed: int
    longest: int = 4_000
    """Characters of the longest message, except for a rare paste four times as long."""
    chance: random.Random = field(init=False)
    mixture: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def exchange(self, number: int) -> tuple[str, str]:
        """The question and answer of one turn."""
        if number % 12 == 1:
            self.mixture = self.chance.choices(KINDS, weights=[6, 3, 2, 2, 1, 1, 2, 1, 1], k=3)
        return self._text(), self._text()

    def _text(self) -> str:
        kind = self.chance.choice(self.mixture)
        length = round(10 ** self.chance.uniform(1, 3.0) * self.longest / 1_000)
        text = words_of(kind, length * (4 if self.chance.random() < 0.02 else 1), self.chance)
        if self.chance.random() < 0.25:
            text = words_of("english", 300, self.chance) + "\n\n" + text  # a question about a paste
        return text

    def memories(self) -> list[MemoryItem]:
        """Memories recalled for a message."""
        found = []
        for place in range(self.chance.randint(0, 8)):
            text = words_of(self.chance.choice(["english", *self.mixture]), self.chance.randint(40, 900), self.chance)
            item = MemoryItem(
                f"fact:{self.chance.randint(1, 9_999)}{place}", "fact", text, START, None, {}, 1 - place / 10
            )
            found.append(item)
        return found


# Replaying them ---------------------------------------------------------------------------------------------------


@dataclass
class Predicted:
    """One request: the prediction, and the provider's count."""

    turn: int
    estimate: int
    actual: int
    available: int
    uncertainty: float
    known: int
    """Tokens that the provider had counted before."""
    counted_of_it: int
    """Its current count of the very same parts."""

    @property
    def error(self) -> float:
        """The error as a share of the actual figure."""
        return abs(self.estimate - self.actual) / self.actual


@dataclass
class Usage:
    """As the provider reports it."""

    input: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    output: int = 0
    final: bool = True
    predicted: int = 0


def replay(
    talk: Talk, turns: int, plan: ResolvedPlan, *, caching: bool = True, checking: bool = False
) -> Iterator[Predicted]:
    """Each turn's request, predicted, counted by the offline server's rules, and learned from.

    `checking`: with the preflight check, on a server that can't count.
    """
    clock = Clock()
    server = PromptCache(clock)
    able = Capabilities(1_000_000, 8_000, caching=caching)
    user = User(pk=1, preferred_name="Alice", time_zone="Europe/Lisbon")
    past: list[Turn] = []
    counted: cached_prefix.KnownCounts | None = None
    cut: TurnRange | None = None
    for number in range(1, turns + 1):
        asked, told = talk.exchange(number)
        known = _known(user, able, plan, past, cut, counted, talk.memories(), _message(number * 2, asked))
        compiled = assemble_from_inputs(known, 0.0)
        if checking:
            compiled = async_to_sync(ensure_fits)(compiled)
        usage = _count(compiled, server, clock)
        usage.predicted = compiled.fitted.tokens
        receipt = _book(compiled, usage)
        yield Predicted(
            number,
            compiled.fitted.tokens,
            prices.total_input(usage),
            plan.available,
            compiled.uncertainty,
            sum(compiled.prefix.known.values()),
            usage.cache_read + usage.cache_write_5m + usage.cache_write_1h - sum(_new_parts(compiled, receipt)),
        )
        counted = cached_prefix.KnownCounts(receipt.prefix["parts"], receipt.prefix["variance"])
        cut = compiled.fitted.cut_turns
        past.append(Turn(number, known.question.message, _message(number * 2 + 1, told)))


class Clock:
    """A clock that advances only on request."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _message(pk: int, text: str) -> Message:
    return Message(pk=pk, text=text, tokens=count_tokens(text), event_data={})


def _known(
    user: User,
    able: Capabilities,
    plan: ResolvedPlan,
    past: list[Turn],
    cut: TurnRange | None,
    counted: cached_prefix.KnownCounts | None,
    memories: list[MemoryItem],
    question: Message,
) -> PromptInputs:
    profile = [Line(f"fact:{n}", f"The user's cousin number {n} lives in Lisbon.", 12) for n in range(1, 20)]
    return PromptInputs(
        user=user,
        clock=ClockInputs(START + timedelta(minutes=question.pk), RelationshipStats(3, START - timedelta(days=2))),
        model=ModelInputs(MODEL, "", able),
        budget=BudgetInputs(plan, calibration.ratios(MODEL), calibration.belief(MODEL), counted),
        profile=ProfileInputs(ProfileSnapshot(pk=1), profile),
        history=HistoryInputs(tuple(past), cut=cut),
        recalled=RetrievalResult(kept=tuple(memories)),
        question=QuestionInputs(question),
    )


def _count(compiled: AssembledPrompt, server: PromptCache, clock: Clock) -> Usage:
    model = MODELS[MODEL]
    booking = server.look_up(WORKSPACE, read_prompt(compiled.request, model), model.cache_minimum)
    server.publish(booking)
    clock.now += 30
    usage = booking.usage
    return Usage(usage.plain, usage.read, usage.written_5m, usage.written_1h)


def _new_parts(compiled: AssembledPrompt, receipt: Receipt) -> Iterator[int]:
    """The provider's counts of the parts added to the known ones."""
    return (tokens for key, tokens in receipt.prefix["parts"].items() if key not in compiled.prefix.known)


def _book(compiled: AssembledPrompt, usage: Usage) -> Receipt:
    """Do the work of `budget.receipts.record.finalize_receipt`, without a row."""
    from budget.receipts.record import learned_from

    not_taken: tuple[Cut, ...] = ()
    receipt = draft_receipt(
        user_id=1,
        conversation_id=None,  # type: ignore[arg-type]
        message_id=1,
        turn=1,
        model=MODEL,
        plan=compiled.inputs.budget.plan,
        fitted=compiled.fitted,
        base_by_class=compiled.base_by_class,
        request_digest="",
        prefix=compiled.prefix.as_json(),
        not_taken=not_taken,
    )
    figures, missed = learned_from(receipt, usage)
    calibration.observe(MODEL, figures, missed)
    return receipt
