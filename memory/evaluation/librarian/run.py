"""Runs an extraction engine on labeled messages, decides on its proposals and counts; in memory, without rows.

    recall            labeled facts that any proposed statement states
    precision         proposed statements that state a labeled fact, among those that are not merely tolerated
    wrong attribution proposed statements that attribute a fact to the wrong person
    junk              proposed statements from messages without anything durable (traps), unless tolerated

A statement counts as proposed unless the decision drops it. Every message is a conversation without known facts.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from statistics import median

from memory.evaluation.librarian.labels import Label, LabeledMessage, find_stated
from memory.librarian.decision import Outcome, decide
from memory.librarian.engine import ExtractionEngine, ExtractionInput, ProposedFact
from memory.ports.source import Utterance
from memory.ports.spending import Usage


@dataclass(slots=True)
class Tally:
    """Counts of one category, kind or file."""

    facts: int = 0
    found: int = 0
    statements: int = 0
    right: int = 0
    tolerated: int = 0
    misgiven: int = 0
    junk: int = 0
    kept_wrong: int = 0
    """Wrong statements that are stored without asking."""

    @property
    def recall(self) -> float | None:
        """Share of the labeled facts that were stated; None without any."""
        return self.found / self.facts if self.facts else None

    @property
    def precision(self) -> float | None:
        """Share of right statements among those that are right or wrong; None without any."""
        counted = self.statements - self.tolerated
        return self.right / counted if counted else None

    @property
    def wrong(self) -> int:
        """Statements that are neither right nor tolerated."""
        return self.statements - self.right - self.tolerated


@dataclass(slots=True)
class Evaluation:
    """All counts of one file."""

    file: str
    engine: str
    messages: int = 0
    whole: Tally = field(default_factory=Tally)
    by_category: dict[str, Tally] = field(default_factory=dict)
    by_kind: dict[str, Tally] = field(default_factory=dict)
    """Facts by their first acceptable kind; statements by the kind proposed."""
    right_kind: int = 0
    """Right statements whose kind is one of those their fact accepts."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Number of proposals by outcome and reason, dropped ones included."""
    dates: int = 0
    right_dates: int = 0
    """Found facts whose day is the one that the statement's value or validity names."""
    milliseconds: list[float] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    misses: list[str] = field(default_factory=list)
    """One line per missed fact or wrong statement, for the file that patterns may be written against."""

    @property
    def median_ms(self) -> float:
        """Median time of an extraction, in milliseconds."""
        return median(self.milliseconds) if self.milliseconds else 0.0


def evaluate_messages(file: str, messages: Iterable[LabeledMessage], engine: ExtractionEngine) -> Evaluation:
    """Run `engine` over the messages, one extraction each.

    Raises:
        ReadingFailed: the engine failed.
    """
    evaluation = Evaluation(file, engine.version)
    for message in messages:
        _count(evaluation, message, _proposed(evaluation, message, engine))
    return evaluation


def _proposed(evaluation: Evaluation, message: LabeledMessage, engine: ExtractionEngine) -> list[ProposedFact]:
    """The engine's proposals for one message that the decision doesn't drop."""
    utterances = utterances_of(message)
    began = time.perf_counter()
    extraction = engine.extract(ExtractionInput(utterances, "", message.zone))
    evaluation.milliseconds.append((time.perf_counter() - began) * 1000)
    evaluation.usage += extraction.usage
    evaluation.messages += 1
    kept = []
    for proposal in extraction.facts:
        decision = decide(proposal, utterances, ())
        evaluation.outcomes[f"{decision.outcome.value}: {decision.reason}"] += 1
        if decision.outcome != Outcome.DROP:
            kept.append(proposal)
        unasked = decision.outcome == Outcome.KEEP
        evaluation.whole.kept_wrong += unasked and not message.is_right(proposal.statement)
    return kept


def utterances_of(message: LabeledMessage) -> list[Utterance]:
    """The message, after what the assistant had said."""
    said = [Utterance(1, 1, "assistant", message.before, message.said_at)] if message.before else []
    return [*said, Utterance(2, 2, "user", message.text, message.said_at)]


def _count(evaluation: Evaluation, message: LabeledMessage, proposals: Sequence[ProposedFact]) -> None:
    statements = [proposal.statement for proposal in proposals]
    stated = find_stated(message.facts, statements)
    category = evaluation.by_category.setdefault(message.category, Tally())
    for label in message.facts:
        for tally in (evaluation.whole, category, _kind(evaluation, label.kinds[0].value)):
            tally.facts += 1
            tally.found += label in stated
        if label not in stated:
            evaluation.misses.append(f"- {message.id} missed: {label.about}")
    for proposal in proposals:
        for tally in (evaluation.whole, category, _kind(evaluation, proposal.kind.value)):
            _count_statement(tally, message, proposal.statement)
        if not message.is_right(proposal.statement):
            evaluation.misses.append(f"! {message.id} wrong: {proposal.statement}")
        evaluation.right_kind += _has_right_kind(message, proposal)
    _count_dates(evaluation, message, stated, proposals)


def _kind(evaluation: Evaluation, kind: str) -> Tally:
    return evaluation.by_kind.setdefault(kind, Tally())


def _count_statement(tally: Tally, message: LabeledMessage, statement: str) -> None:
    tally.statements += 1
    if any(label.is_stated_by(statement) for label in message.facts):
        tally.right += 1
    elif message.is_right(statement):
        tally.tolerated += 1
    else:
        tally.misgiven += message.is_misattributed(statement)
        tally.junk += bool(message.trap)


def _has_right_kind(message: LabeledMessage, proposal: ProposedFact) -> bool:
    stated = [label for label in message.facts if label.is_stated_by(proposal.statement)]
    return any(proposal.kind in label.kinds for label in stated)


def _count_dates(
    evaluation: Evaluation, message: LabeledMessage, stated: Sequence[Label], proposals: Sequence[ProposedFact]
) -> None:
    for label in stated:
        if label.value_date is None:
            continue
        days = [day for fact in proposals if label.is_stated_by(fact.statement) for day in _days(fact, message)]
        evaluation.dates += 1
        evaluation.right_dates += label.value_date in days
        if label.value_date not in days:
            evaluation.misses.append(f"- {message.id} day {label.value_date}: {[str(day) for day in days]}")


def _days(proposal: ProposedFact, message: LabeledMessage) -> list[date]:
    """The days a proposal names: the first in its value, and the start of its validity, in the user's zone."""
    first, _, _ = proposal.value.partition("/")
    moments: list[Callable[[], date]] = [lambda: date.fromisoformat(first)]
    if proposal.valid_from is not None:
        since: datetime = proposal.valid_from
        moments.append(lambda: since.astimezone(message.zone).date())
    days = []
    for moment in moments:
        try:
            days.append(moment())
        except ValueError:  # the value isn't a day
            continue
    return days
