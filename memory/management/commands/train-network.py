"""`manage.py train-network NAME FILE…`: fit one of the networks of `memory/` to labelled texts, or judge it by them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from memory.librarian.tagger import marked as tagger
from memory.librarian.tagger.tags import WEIGHTS as TAGGER
from memory.librarian.updates import labelled as updates
from memory.librarian.updates.pairs import WEIGHTS as UPDATES
from memory.librarian.updates.pairs import read
from memory.librarian.updates.talks import read_talks
from memory.network.adapted import Weights, save, trained
from memory.network.training import EPOCHS, Head, fit
from memory.secrets import marked as secrets
from memory.secrets.learned import WEIGHTS as SECRETS
from memory.secrets.secrets_filter import find_secrets

MESSAGE: Final = "message: "
"""How a line of a talk begins that the user wrote."""
AT: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Probabilities from which marks and changes are judged."""


def read_tags(path: Path) -> list[tagger.MarkedMessage]:
    """The marked messages of a file, one a line."""
    return [tagger.read_marked(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_updates(path: Path) -> list[updates.LabelledPair]:
    """The labelled pairs of a file, one a line (*.tsv), or those of its talks (*.talk)."""
    text = path.read_text("utf-8")
    if path.suffix == ".talk":
        chance = Random(path.name)  # noqa: S311 -- a choice of examples, no secret
        return [pair for talk in read_talks(text) for said in talk for pair in said.labelled(chance)]
    return [updates.read_labelled(line) for line in text.splitlines() if line.strip()]


def secret_lines(path: Path) -> list[str]:
    """The marked messages of a file, one a line; or those of its pairs or talks, which have no secrets."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    if path.suffix == ".talk":
        return [line.removeprefix(MESSAGE) for line in lines if line.startswith(MESSAGE)]
    if path.suffix == ".tsv":
        return [updates.read_labelled(line).pair.message for line in lines]
    return lines


def read_secrets(path: Path) -> list[secrets.MarkedSecrets]:
    """The messages of a file."""
    return [secrets.read_secrets(line) for line in secret_lines(path)]


def learn_secrets(path: Path) -> list[secrets.MarkedSecrets]:
    """The same, and twice each of those with secrets, with other secrets."""
    lines, chance = secret_lines(path), Random(path.name)  # noqa: S311 -- examples, no secret
    more = [line for _ in range(2) for line in secrets.exchanged(lines, chance)]
    return [secrets.read_secrets(line) for line in (*lines, *more)]


def judge_tags(messages: Sequence[tagger.MarkedMessage]) -> Iterator[str]:
    """How good the marks are, from each probability on."""
    return (f"from {least:.2f}: {tagger.judge(messages, least)}" for least in AT)


def judge_updates(pairs: Sequence[updates.LabelledPair]) -> Iterator[str]:
    """How good the changes are, from each probability on."""
    found = [read(pair.pair) for pair in pairs]
    return (f"from {least:.2f}: {updates.judge(pairs, found, least)}" for least in AT)


def judge_secrets(messages: Sequence[secrets.MarkedSecrets]) -> Iterator[str]:
    """What the filter masks, with the network and with its patterns."""
    found = [[place for _, place in find_secrets(message.pieces.text)] for message in messages]
    yield str(secrets.judge(messages, found))


@dataclass(frozen=True, slots=True)
class Network:
    """A network that can be fitted."""

    weights: Path
    heads: Sequence[Head]
    read: Callable[[Path], Sequence[Any]]
    judge: Callable[[Sequence[Any]], Iterator[str]]
    learn: Callable[[Path], Sequence[Any]] | None = None
    """What is learned from a file, if it is more than what is read."""
    epochs: int = EPOCHS
    first: int = 0
    """The first layer that is fitted. If it isn't 0, those below are the tagger's, which halves the time."""


NETWORKS: Final = {
    "tagger": Network(TAGGER, tagger.HEADS, read_tags, judge_tags),
    "updates": Network(UPDATES, updates.HEADS, read_updates, judge_updates, epochs=6, first=3),
    "secrets": Network(SECRETS, secrets.HEADS, read_secrets, judge_secrets, learn_secrets, first=3),
}


def _begun(network: Network, *, more: bool) -> Weights | None:
    """What the fitting begins with: the present weights, the tagger's adapters, or nothing."""
    if more:
        return trained(network.weights)
    without_head = {name: array for name, array in trained(TAGGER).items() if not name.startswith("head.")}
    return without_head if network.first else None


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit a network to labelled texts (tests/memory/data); 2,000 texts take up to a minute an epoch on two cores."
        " --judge FILE prints how good the weights are on that file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", choices=NETWORKS)
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--judge", type=Path, metavar="FILE")
        parser.add_argument("--epochs", type=int)
        parser.add_argument("--more", action="store_true", help="continue from the present weights")

    def handle(
        self,
        *args: Any,
        network: str,
        files: Sequence[Path],
        judge: Path | None,
        epochs: int | None,
        more: bool,
        **options: Any,
    ) -> None:
        chosen = NETWORKS[network]
        if files:
            examples = [one.example for path in files for one in (chosen.learn or chosen.read)(path)]
            begun = _begun(chosen, more=more)
            count = epochs or chosen.epochs
            fitted = fit(examples, chosen.heads, self._report, epochs=count, adapters=begun, first=chosen.first)
            save(fitted, chosen.weights)
        for line in chosen.judge(chosen.read(judge)) if judge else ():
            self.stdout.write(line)

    def _report(self, epoch: int, loss: float) -> None:
        self.stdout.write(f"epoch {epoch + 1}: loss {loss:.3f}")
        self.stdout.flush()
