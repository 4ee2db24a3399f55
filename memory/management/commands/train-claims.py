"""`manage.py train-claims FILE…`: fit the claim classifiers of the rule engine to labeled messages and lists."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from django.core.management.base import BaseCommand, CommandParser
from numpy.typing import NDArray

from memory.embeddings.port import embedder
from memory.evaluation.librarian.labels import LabeledMessage, find_stated, read_labels
from memory.evaluation.librarian.run import utterances_of
from memory.librarian.engine import ExtractionInput
from memory.librarian.rules.claims import FORMS, MAX_CONTEXT, WEIGHTS, Candidate, context, features
from memory.librarian.rules.engine import candidates
from memory.ports.source import Utterance
from memory.text.made_up import is_made_up
from recall.cpu_limit import CpuLimit

TOLERATED_WEIGHT: Final = 0.15
"""Of a statement that a reader might take as well, next to one that is wanted."""
FILTERED_WEIGHT: Final = 0.2
"""Of a statement in a message that a filter drops: it teaches what made-up messages are like, not what claims are."""
UNREAL: Final = {"fiction", "role play", "homework", "joke", "paste", "quotation", "third party"}
"""Traps that take the whole message."""
RIDGE: Final = 0.5
"""Strength of the penalty on a vector's weights; the features' is a tenth. Chosen by leaving out one set at a time."""
STEPS: Final = 25
NO_CONTEXT: Final = -3.0
"""Score of the message around a listed sentence: of an ordinary one."""
AT: Final = (0.0, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9)

type Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate or a whole message, and whether it is wanted."""

    text: str
    wanted: float
    weight: float = 1.0
    candidate: Candidate | None = None
    message: str = ""


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit the weights of memory/librarian/rules/claims.json to sets of labeled messages (*.jsonl) and lists (*.txt;"
        " + and - mark sentences to keep or not, = and ~ real and made-up messages). First print how good the weights"
        " are on each set when they are fitted to the others."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")

    def handle(self, *args: Any, files: Sequence[Path], **options: Any) -> None:
        sets = [read_labels(path) for path in files if path.suffix == ".jsonl"]
        lines = [line for path in files if path.suffix == ".txt" for line in path.read_text("utf-8").splitlines()]
        messages = [
            *([Example(one.text, float(one.trap in UNREAL)) for one in labeled] for labeled in sets),
            [Example(line[2:], float(line[0] == "~")) for line in lines if line[:2] in {"= ", "~ "}],
        ]
        claims = [
            *([example for one in labeled for example in _labeled(one)] for labeled in sets),
            [example for line in lines if line[:2] in {"+ ", "- "} for example in _listed(line)],
        ]
        for left_out, path in enumerate(path for path in files if path.suffix == ".jsonl"):
            inside = [number for number in range(len(claims)) if number != left_out]
            unreal, claim = _fit_chain(messages, claims, inside)
            self._report(path.name, claims[left_out], _chance(claim, _inputs(claims[left_out], unreal)))
        weights = dict(zip(("unreal", "claim"), _fit_chain(messages, claims, range(len(claims))), strict=True))
        rounded = {name: [round(float(value), 3) for value in fitted] for name, fitted in weights.items()}
        WEIGHTS.write_text(json.dumps(rounded) + "\n", encoding="utf-8")

    def _report(self, name: str, examples: Sequence[Example], chance: Matrix) -> None:
        wanted, weight = _columns(examples)
        self.stdout.write(f"{name}, judged by the others: {len(examples)} candidates.")
        for least in AT:
            right = int(((chance >= least) & (weight == 1) & (wanted == 1)).sum())
            wrong = int(((chance >= least) & (wanted == 0)).sum())
            share = 100 * right / max(1, right + wrong)
            self.stdout.write(f"  from {least:.2f}: {right:4d} right, {wrong:3d} wrong, precision {share:.1f} %")


def _labeled(message: LabeledMessage) -> Iterable[Example]:
    """Each judged candidate of a message."""
    utterances = utterances_of(message)
    is_filtered = is_made_up(message.text)
    for candidate in _judged(utterances[-1], ExtractionInput(utterances, "", message.zone)):
        statement = candidate.fact.statement
        right, sought = message.is_right(statement), bool(find_stated(message.facts, [statement]))
        weight = TOLERATED_WEIGHT if right and not sought else FILTERED_WEIGHT if is_filtered else 1.0
        yield Example(statement, float(right), weight, candidate, message.text)


def _listed(line: str) -> Iterable[Example]:
    """The candidates of a listed sentence, and of the same without “I”: “Waiting for the bus”."""
    mark, _, text = line.partition(" ")
    bare = next((text.removeprefix(start) for start in ("I'm ", "I've ", "I ") if text.startswith(start)), "")
    for words in (text, f"{bare[0].upper()}{bare[1:]}") if bare else (text,):
        said = Utterance(1, 1, "user", words, datetime(2026, 3, 4, 12, tzinfo=UTC))
        for candidate in _judged(said, ExtractionInput([said], "", ZoneInfo("UTC"))):
            yield Example(candidate.fact.statement, float(mark == "+"), 1.0, candidate)


def _judged(said: Utterance, reading: ExtractionInput) -> Iterable[Candidate]:
    return (
        candidate
        for candidate in candidates(said, reading, CpuLimit(60))
        if candidate.form in FORMS and candidate.fact.confidence > 0
    )


def _fit_chain(
    messages: Sequence[Sequence[Example]], claims: Sequence[Sequence[Example]], inside: Sequence[int]
) -> tuple[Matrix, Matrix]:
    """Both classifiers from the parts `inside`. The second sees scores of the first from parts it was not fitted to."""
    inputs, wanted = [], []
    for number in inside:
        others = [other for other in inside if other != number] or inside
        inputs.append(_inputs(claims[number], _fit_messages([messages[other] for other in others])))
        wanted.append(_columns(claims[number]))
    right, weight = np.hstack([columns[0] for columns in wanted]), np.hstack([columns[1] for columns in wanted])
    claim = _fit(np.vstack(inputs), right, weight, RIDGE)
    return _fit_messages([messages[number] for number in inside]), claim


def _fit_messages(parts: Sequence[Sequence[Example]]) -> Matrix:
    examples = [example for part in parts for example in part]
    return _fit(_constant(_embed([one.text for one in examples])), *_columns(examples), 2 * RIDGE)


def _inputs(examples: Sequence[Example], unreal: Matrix) -> Matrix:
    scores = _constant(_embed([example.message for example in examples])) @ unreal
    rows = [
        [*features(one.candidate), context(score if one.message else NO_CONTEXT)]
        for one, score in zip(examples, scores, strict=True)
        if one.candidate
    ]
    return _constant(np.hstack([np.array(rows), _embed([example.text for example in examples])]))


def _columns(examples: Sequence[Example]) -> tuple[Matrix, Matrix]:
    return np.array([example.wanted for example in examples]), np.array([example.weight for example in examples])


_vectors: dict[str, Sequence[float]] = {}


def _embed(texts: Sequence[str]) -> Matrix:
    new = [text for text in dict.fromkeys(one[:MAX_CONTEXT] for one in texts) if text not in _vectors]
    _vectors.update(zip(new, embedder().embed(new) if new else (), strict=True))
    return np.array([_vectors[text[:MAX_CONTEXT]] for text in texts], dtype=np.float64)


def _constant(rows: Matrix) -> Matrix:
    return np.hstack([np.ones((len(rows), 1)), rows])


def _fit(inputs: Matrix, wanted: Matrix, weight: Matrix, ridge: float) -> Matrix:
    """Logistic regression with a ridge penalty, by Newton's method."""
    size = inputs.shape[1]
    penalty = np.full(size, ridge)
    penalty[: size - embedder().dimension] = ridge / 10
    penalty[0] = 0.01
    fitted = np.zeros(size)
    for _ in range(STEPS):
        chance = _chance(fitted, inputs)
        slope = inputs.T @ (weight * (chance - wanted)) + penalty * fitted
        curve = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs + np.diag(penalty)
        fitted -= np.linalg.solve(curve, slope)
    return fitted


def _chance(fitted: Matrix, inputs: Matrix) -> Matrix:
    return np.asarray(1 / (1 + np.exp(-np.clip(inputs @ fitted, -30, 30))))
