"""`manage.py train-tagger FILE…`: fit the tagger of the librarian to marked messages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from memory.librarian.tagger.marked import HEADS, MarkedMessage, judge, read_marked
from memory.librarian.tagger.tags import WEIGHTS
from memory.network.adapted import save
from memory.network.training import EPOCHS, fit

AT: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9)


def read_file(path: Path) -> list[MarkedMessage]:
    """The marked messages of a file, one a line."""
    return [read_marked(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit memory/librarian/tagger/weights.safetensors to marked messages, one a line; 2,500 messages take a minute"
        " an epoch on two cores. --judge FILE prints how good the weights are on that file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--judge", type=Path, metavar="FILE", help="print precision and recall on these messages")
        parser.add_argument("--epochs", type=int, default=EPOCHS)

    def handle(self, *args: Any, files: Sequence[Path], judge: Path | None, epochs: int, **options: Any) -> None:
        if files:
            examples = [message.example for path in files for message in read_file(path)]
            save(fit(examples, HEADS, self._report, epochs=epochs), WEIGHTS)
        if judge:
            self._judge(read_file(judge))

    def _report(self, epoch: int, loss: float) -> None:
        self.stdout.write(f"epoch {epoch + 1}: loss {loss:.3f}")
        self.stdout.flush()

    def _judge(self, messages: Sequence[MarkedMessage]) -> None:
        for least in AT:
            self.stdout.write(f"from {least:.1f}: {judge(messages, least)}")
