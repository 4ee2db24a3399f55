"""`manage.py train-query-encoder FILE…`: fit the query encoder to labeled questions, or judge it by them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from memory.embeddings.limits import MINILM_INT8, Vectors
from memory.embeddings.port import embedder
from memory.network.adapted import save
from memory.network.contrastive import EPOCHS, TrainingQuestion, fit
from memory.query_encoder.encoder import WEIGHTS, encode_question, pieces_of
from memory.query_encoder.labeled import Question, read_questions
from memory.query_encoder.labeled import judge as judge_nearest
from memory.retrieval.query import parse_question

AT: Final = (0.0, 0.2, 0.25, 0.3, 0.35, 0.4)
"""Cosines from which a memory is near."""


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit the query encoder to labeled questions (tests/memory/data/asked); a minute an epoch for 3,000 questions."
        " --judge FILE prints how good it is on that file, beside the published model."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--judge", type=Path, metavar="FILE")
        parser.add_argument("--epochs", type=int, default=EPOCHS)

    def handle(self, *args: Any, files: Sequence[Path], judge: Path | None, epochs: int, **options: Any) -> None:
        if files:
            save(fit([_example(one) for path in files for one in _read(path)], self._report, epochs=epochs), WEIGHTS)
        if judge:
            questions = _read(judge)
            for name, encoder in (("published", _embedded), ("fitted", encode_question)):
                cosines = [_memories(tuple(one.memories)) @ encoder(query_of(one)) for one in questions]
                for least in AT:
                    self.stdout.write(f"{name}, from {least:.2f}: {judge_nearest(questions, cosines, least)}")

    def _report(self, epoch: int, loss: float) -> None:
        self.stdout.write(f"epoch {epoch + 1}: loss {loss:.3f}")
        self.stdout.flush()


def _read(path: Path) -> list[Question]:
    return read_questions(path.read_text("utf-8"))


def query_of(question: Question) -> str:
    """As retrieval embeds it: in the third person, without the speakers' names."""
    return parse_question(question.text, question.speakers, datetime(2026, 1, 1, tzinfo=UTC)).semantic_query


def _example(question: Question) -> TrainingQuestion:
    query = query_of(question)
    others = _memories(tuple(question.memories))
    if question.answers:
        return TrainingQuestion(pieces_of(query), _embedded(query), others, question.answers, question.helps)
    return TrainingQuestion(pieces_of(query), _embedded(query), others, question.helps)


@cache
def _memories(texts: Sequence[str]) -> Vectors:
    return embedder(MINILM_INT8).embed(texts)


def _embedded(text: str) -> Vectors:
    vector: Vectors = embedder(MINILM_INT8).embed([text])[0]
    return vector
