"""`manage.py evaluate-librarian FILE…`: precision and recall of the librarian on labeled messages."""

from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.evaluation.datasets import UnknownLayoutError, read
from memory.evaluation.librarian.labels import UnknownLabelsError, read_labels
from memory.evaluation.librarian.run import evaluate_messages
from memory.evaluation.librarian.sample import UnknownSampleError, count_verdicts, draw, proposals, rates
from memory.evaluation.librarian.table import render
from memory.evaluation.librarian.updates import evaluate_updates, read_messages
from memory.librarian.engine import ExtractionEngine, ExtractionError
from memory.librarian.model_engine import ModelEngine
from memory.librarian.rules.engine import RuleEngine

UNREADABLE = (UnknownLabelsError, UnknownLayoutError, UnknownSampleError, ExtractionError)


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Run an engine of the librarian on labeled messages (*.jsonl) and print precision, recall, wrong attributions"
        " and junk; or on conversations without labels (*.json) and write a sample of its proposals to check by hand;"
        " or on known facts and later messages (*.tsv, *.talk) and print what they change of them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--engine", choices=("rules", "model"), default="rules")
        parser.add_argument("--misses", action="store_true", help="also list missed facts and wrong statements")
        parser.add_argument("--sample", type=_positive, metavar="N", help="proposals to sample from conversations")
        parser.add_argument("--seed", type=int, default=1, help="random seed of the sample")
        parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="where the sample is written")
        parser.add_argument("--checked", type=Path, metavar="FILE.jsonl", help="summarize a sample checked by hand")

    def handle(self, *args: Any, files: Sequence[Path], engine: str, checked: Path | None, **options: Any) -> None:
        if not files and checked is None:
            raise CommandError("Name at least one file, or a checked sample with --checked.")
        reader = ModelEngine(settings.ENVIRONMENT.librarian_model) if engine == "model" else RuleEngine()
        try:
            for path in files:
                self._evaluate(path, reader, **options)
            if checked is not None:
                self.stdout.write(rates(count_verdicts(checked)))
        except UNREADABLE as wrong:
            raise CommandError(str(wrong)) from wrong
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error

    def _evaluate(self, path: Path, engine: ExtractionEngine, *, misses: bool, **options: Any) -> None:
        if path.suffix in (".tsv", ".talk"):
            counts = evaluate_updates(read_messages(path))
            self.stdout.write(f"{path.name}\n{counts}\n" + "\n".join(counts.misses if misses else ()))
            return
        if path.suffix == ".json":  # conversations without labels
            self._sample(path, engine, **options)
            return
        evaluation = evaluate_messages(path.name, read_labels(path), engine)
        self.stdout.write(render(evaluation) + "\n")
        if misses:
            self.stdout.write("\n".join(evaluation.misses))

    def _sample(
        self, path: Path, engine: ExtractionEngine, *, sample: int | None, out: Path | None, seed: int, **_: Any
    ) -> None:
        conversations = read(path)
        found = list(proposals(conversations, engine))
        said = sum(item.role == "user" for conversation in conversations for item in conversation.items)
        self.stdout.write(f"{path.name}, read by {engine.version}: {said:,} user messages, {len(found):,} proposals.")
        if sample is not None and out is not None:
            picked = draw(found, sample, seed)
            out.write_text("".join(f"{one.line()}\n" for one in picked), encoding="utf-8")
            self.stdout.write(f"{len(picked)} of them, by seed {seed}, are in {out}. Add a verdict to each.")
        elif sample is not None:
            raise CommandError("--sample needs --out FILE.jsonl.")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError("must be a positive whole number")
    return int(text)
