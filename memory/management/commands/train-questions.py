"""`manage.py train-questions FILE…`: fit the classifier of questions to labeled questions."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from django.core.management.base import BaseCommand, CommandParser
from numpy.typing import NDArray

from memory.network.adapted import save, softmax
from memory.query_encoder.encoder import encode_question
from memory.retrieval.asked_attribute import LABELS, WEIGHTS, probabilities
from memory.retrieval.query import in_third_person

FOLDS: Final = 5
STEPS: Final = 500
RATE: Final = 0.05
RIDGE: Final = 3e-5
"""Strength of the penalty on the weights; chosen by cross-validation."""
MOMENTS: Final = (0.9, 0.999)
AT: Final = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8)

type Array = NDArray[Any]
type Question = tuple[str, str]
"""A label, one of LABELS, and a question."""


def read_file(path: Path) -> list[Question]:
    """The questions of a file: a label, a tab and a question in each line.

    Raises:
        ValueError: an unknown label.
    """
    questions = [tuple(line.split("\t", 1)) for line in path.read_text("utf-8").splitlines() if line.strip()]
    for label, text in questions:
        if label not in LABELS:
            raise ValueError(f"There is no label {label}: {text}")
    return [(label, text) for label, text in questions]


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit memory/retrieval/asked_attribute.safetensors to questions: in each line a label, a tab and a question."
        " First print how good it is on each fifth, fitted to the others. --judge FILE prints it for that file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--judge", type=Path, metavar="FILE", help="print how good the weights are on this file")

    def handle(self, *args: Any, files: Sequence[Path], judge: Path | None, **options: Any) -> None:
        if files:
            questions = [question for path in files for question in read_file(path)]
            vectors, labels = vectors_of(questions), labels_of(questions)
            self._report("left out", labels, _left_out(vectors, labels))
            weight, bias = fit(vectors, labels)
            save({"weight": weight, "bias": bias}, WEIGHTS)
        if judge:
            questions = read_file(judge)
            self._report(judge.name, labels_of(questions), probabilities(vectors_of(questions)))

    def _report(self, name: str, labels: Array, chances: Array) -> None:
        best, chance, none = chances.argmax(1), chances.max(1), labels == 0
        wanted = len(labels) - int(none.sum())
        for least in AT:
            said = (best > 0) & (chance >= least)
            right, all_said, wrongly = (int(which.sum()) for which in (said & (best == labels), said, said & none))
            self.stdout.write(
                f"{name}, from {least}: precision {100 * right / max(1, all_said):.1f} %, recall "
                f"{100 * right / wanted:.1f} % of {wanted}; {wrongly} of {len(labels) - wanted} that ask for none"
            )


def vectors_of(questions: Iterable[Question]) -> Array:
    """The vectors as retrieval makes them: (questions, 384)."""
    return np.stack([encode_question(in_third_person(text)) for _, text in questions])


def labels_of(questions: Iterable[Question]) -> Array:
    """The labels' numbers: (questions,)."""
    return np.array([LABELS.index(label) for label, _ in questions])


def _left_out(vectors: Array, labels: Array) -> Array:
    """The probabilities of each question, fitted to the other parts."""
    order = list(range(len(labels)))
    random.Random(1).shuffle(order)  # noqa: S311 -- an order, no secret
    fold = np.array(order) % FOLDS
    chances = np.zeros((len(labels), len(LABELS)), np.float32)
    for number in range(FOLDS):
        weight, bias = fit(vectors[fold != number], labels[fold != number])
        chances[fold == number] = softmax(vectors[fold == number] @ weight + bias)
    return chances


def fit(vectors: Array, labels: Array) -> tuple[Array, Array]:
    """Weight (384, labels) and bias (labels,) with the least cross-entropy plus RIDGE; Adam over all questions."""
    values: list[Array] = [np.zeros((vectors.shape[1], len(LABELS)), np.float32), np.zeros(len(LABELS), np.float32)]
    means = [np.zeros_like(one) for one in values]
    squares = [np.zeros_like(one) for one in values]
    wanted = np.eye(len(LABELS), dtype=np.float32)[labels]
    first, second = MOMENTS
    for step in range(1, STEPS + 1):
        slopes = (softmax(vectors @ values[0] + values[1]) - wanted) / len(labels)
        for number, gradient in enumerate((vectors.T @ slopes + RIDGE * values[0], slopes.sum(0))):
            means[number] = first * means[number] + (1 - first) * gradient
            squares[number] = second * squares[number] + (1 - second) * gradient**2
            size = np.sqrt(squares[number] / (1 - second**step)) + 1e-8
            values[number] = values[number] - RATE * means[number] / (1 - first**step) / size
    return values[0], values[1]
