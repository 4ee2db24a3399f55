"""`manage.py train-claims FILE…`: fit the claim classifier of the rule engine to labeled messages."""

import json
from collections.abc import Sequence
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
from memory.librarian.rules.claims import FORMS, WEIGHTS, Candidate, features
from memory.librarian.rules.engine import candidates
from memory.ports.source import Utterance
from recall.cpu_limit import CpuLimit

TOLERATED_WEIGHT: Final = 0.3
"""Of a statement that a reader might take as well, next to one that is wanted."""
RIDGE: Final = 0.25
"""Strength of the penalty on the vector's weights; the signs' is a fifth. Chosen by cross-validation."""
FOLDS: Final = 5
STEPS: Final = 25

type Matrix = NDArray[np.float64]


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit the weights of memory/librarian/rules/claims.json to labeled messages (*.jsonl) and lists of"
        " sentences (*.txt),"
        " and print how good they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")

    def handle(self, *args: Any, files: Sequence[Path], **options: Any) -> None:
        labeled = [path for path in files if path.suffix == ".jsonl"]
        rows = [row for path in labeled for message in read_labels(path) for row in _labeled(message)]
        rows += [
            row
            for path in files
            if path not in labeled
            for line in path.read_text("utf-8").splitlines()
            for row in _listed(line)
        ]
        inputs, wanted, weight, fold = _matrices(rows)
        held = np.zeros(len(rows))
        for number in range(FOLDS):
            inside = fold != number
            held[~inside] = _chance(_fit(inputs[inside], wanted[inside], weight[inside]), inputs[~inside])
        self.stdout.write(f"{len(rows)} candidates, {int((wanted == 0).sum())} of them wrong. Each judged by the rest:")
        for least in (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
            right = ((held >= least) & (weight == 1) & (wanted == 1)).sum()
            wrong = ((held >= least) & (wanted == 0)).sum()
            self.stdout.write(
                f"  from {least:.2f}: {right:4d} right, {wrong:3d} wrong, precision"
                f" {100 * right / max(1, right + wrong):.1f} %"
            )
        fitted = [round(float(one), 3) for one in _fit(inputs, wanted, weight)]
        WEIGHTS.write_text(json.dumps(fitted) + "\n", encoding="utf-8")


def _labeled(message: LabeledMessage) -> list[tuple[Candidate, float, float, str]]:
    """Each judged candidate of a message, whether it is right, its weight, and the message."""
    utterances = utterances_of(message)
    reading = ExtractionInput(utterances, "", message.zone)
    rows = []
    for one in candidates(utterances[-1], reading, CpuLimit(60)):
        if one.form in FORMS and one.fact.confidence > 0:
            right = message.is_right(one.fact.statement)
            sought = bool(find_stated(message.facts, [one.fact.statement]))
            rows.append((one, float(right), 1.0 if sought or not right else TOLERATED_WEIGHT, message.id))
    return rows


def _listed(line: str) -> list[tuple[Candidate, float, float, str]]:
    """The candidates of a line of a list: “+ ” marks what lasts, “- ” what passes."""
    mark, _, text = line.partition(" ")
    said = Utterance(1, 1, "user", text, datetime(2026, 3, 4, 12, tzinfo=UTC))
    found = candidates(said, ExtractionInput([said], "", ZoneInfo("UTC")), CpuLimit(60))
    return [(one, float(mark == "+"), 1.0, text) for one in found if one.form in FORMS and one.fact.confidence > 0]


def _matrices(rows: Sequence[tuple[Candidate, float, float, str]]) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    vectors = embedder().embed([one.fact.statement for one, *_ in rows])
    signs = np.array([features(one) for one, *_ in rows])
    inputs = np.hstack([np.ones((len(rows), 1)), signs, vectors]).astype(np.float64)
    names = {name: number for number, name in enumerate(sorted({row[3] for row in rows}))}
    columns = np.array([(right, weight, names[name] % FOLDS) for _, right, weight, name in rows], dtype=np.float64)
    return inputs, columns[:, 0], columns[:, 1], columns[:, 2]


def _fit(inputs: Matrix, wanted: Matrix, weight: Matrix) -> Matrix:
    """Logistic regression with a ridge penalty, by Newton's method."""
    size = inputs.shape[1]
    penalty = np.full(size, RIDGE)
    penalty[: size - embedder().dimension] = RIDGE / 5
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
