"""`manage.py train-network NAME FILE…`: fit one of the networks of `memory/` to labeled texts, or judge it by them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from django.core.management.base import BaseCommand, CommandParser

from memory.answers import labeled as answers
from memory.answers.answers import WEIGHTS as ANSWERS
from memory.answers.answers import chance
from memory.embeddings.limits import MINILM_INT8, Vectors
from memory.embeddings.port import embedder
from memory.evaluation.librarian.labels import LabeledMessage, find_stated, read_labels
from memory.evaluation.librarian.run import utterances_of
from memory.forget_requests import labeled as forget_requests
from memory.forget_requests.requests import WEIGHTS as FORGET_REQUESTS
from memory.librarian.claims import labeled as claims
from memory.librarian.claims.claims import JUNK, KEEP, around
from memory.librarian.claims.claims import WEIGHTS as CLAIMS
from memory.librarian.engine import ExtractionInput
from memory.librarian.rules.engine import candidates
from memory.librarian.rules.judged import UNJUDGED
from memory.librarian.tagger import marked as tagger
from memory.librarian.tagger.tags import WEIGHTS as TAGGER
from memory.network.adapted import Weights, mixed, save, trained
from memory.network.training import EPOCHS, Example, Head, fit
from memory.query_encoder.encoder import WEIGHTS as QUESTIONS
from memory.query_encoder.encoder import encode_question
from memory.query_encoder.labeled import Question, judge, read_questions
from memory.retrieval.reading import odds
from memory.secrets import marked as secrets
from memory.secrets.learned import WEIGHTS as SECRETS
from memory.secrets.secrets_filter import find_secrets
from memory.speech_acts import labeled as speech_acts
from memory.speech_acts.network import WEIGHTS as SPEECH_ACTS
from memory.updates import labeled as updates
from memory.updates.pairs import WEIGHTS as UPDATES
from memory.updates.pairs import read
from memory.updates.talks import read_talks
from recall.cpu_limit import CpuLimit

MESSAGE: Final = re.compile(r"(?:message|said): ")
"""How a line of a talk starts that the user wrote."""
ASKS_PERHAPS: Final = re.compile(r"(?i)forget|delete")
"""In messages that were labeled for something else: a few of these ask to forget it."""
AT: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Probabilities from which marks and changes are judged."""


def read_tags(path: Path) -> list[tagger.MarkedMessage]:
    """The marked messages of a file, one a line."""
    return [tagger.read_marked(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_updates(path: Path) -> list[updates.LabeledPair]:
    """The labeled pairs of a file, one a line (*.tsv), or those of its talks (*.talk)."""
    text = path.read_text("utf-8")
    if path.suffix == ".talk":
        chance = Random(path.name)  # noqa: S311 -- a choice of examples, no secret
        return [pair for talk in read_talks(text) for said in talk for pair in said.labeled(chance)]
    return [updates.read_labeled(line) for line in text.splitlines() if line.strip()]


def lines_of(path: Path) -> list[str]:
    """The marked messages of a file, one a line; or those of its pairs or talks, which are plain."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    if path.suffix == ".talk":
        return [line[begun.end() :] for line in lines if (begun := MESSAGE.match(line))]
    if path.suffix == ".tsv":
        return [updates.read_labeled(line).pair.message for line in lines]
    return lines


def read_secrets(path: Path) -> list[secrets.MarkedSecrets]:
    """The messages of a file."""
    return [secrets.read_secrets(line) for line in lines_of(path)]


def read_acts(path: Path) -> list[speech_acts.LabeledMessage]:
    """The labeled messages of a file; or its messages that facts are learned from (*.jsonl), which state something."""
    if path.suffix == ".jsonl":
        return [speech_acts.read_line(f"+ {message.text}") for message in read_labels(path) if message.facts]
    return [speech_acts.read_line(line) for line in lines_of(path)]


def read_forget_requests(path: Path) -> list[forget_requests.LabeledMessage]:
    """The labeled messages of a file; or those of its pairs (*.tsv), or with other signs, that ask for nothing."""
    lines = lines_of(path)
    if path.suffix != ".tsv" and "\t" in lines[0]:
        return [forget_requests.read_line(line) for line in lines]
    others = [line if path.suffix == ".tsv" else speech_acts.read_line(line).pieces.text for line in lines]
    return [forget_requests.read_line(f"N\t{text}") for text in others if not ASKS_PERHAPS.search(text)]


def learn_secrets(path: Path) -> list[Example]:
    """The same to learn from, and twice each of those with secrets, with other secrets."""
    lines, chance = lines_of(path), Random(path.name)  # noqa: S311 -- examples, no secret
    more = [line for _ in range(2) for line in secrets.exchanged(lines, chance)]
    return [secrets.read_secrets(line).example for line in (*lines, *more)]


def read_claims(path: Path) -> list[claims.LabeledStatement]:
    """The labeled statements of a file; or those read in its labeled messages (*.jsonl), without the tolerated."""
    if path.suffix == ".jsonl":
        return [statement for message in read_labels(path) for statement in _stated(message)]
    return claims.read_statements(path.read_text("utf-8").splitlines())


def _stated(message: LabeledMessage) -> Iterator[claims.LabeledStatement]:
    utterances = utterances_of(message)
    for candidate in candidates(utterances[-1], ExtractionInput(utterances, "", message.zone), CpuLimit(60)):
        fact = candidate.fact
        is_wanted = bool(find_stated(message.facts, [fact.statement]))
        if candidate.form not in UNJUDGED and fact.confidence > 0 and is_wanted == message.is_right(fact.statement):
            yield claims.LabeledStatement(fact.statement, around(message.text, fact.quote), KEEP if is_wanted else JUNK)


def judge_claims(statements: Sequence[claims.LabeledStatement]) -> Iterator[str]:
    """How good what is kept is, from each probability on."""
    chances = claims.chances_of(statements)
    return (f"from {least:.2f}: {claims.judge(statements, chances, least)}" for least in AT)


def judge_tags(messages: Sequence[tagger.MarkedMessage]) -> Iterator[str]:
    """How good the marks are, from each probability on."""
    return (f"from {least:.2f}: {tagger.judge(messages, least)}" for least in AT)


def judge_updates(pairs: Sequence[updates.LabeledPair]) -> Iterator[str]:
    """How good the changes are, from each probability on."""
    found = [read(pair.pair) for pair in pairs]
    return (f"from {least:.2f}: {updates.judge(pairs, found, least)}" for least in AT)


def judge_secrets(messages: Sequence[secrets.MarkedSecrets]) -> Iterator[str]:
    """What the filter masks, with the network and with its patterns."""
    found = [[place for _, place in find_secrets(message.pieces.text)] for message in messages]
    yield str(secrets.judge(messages, found))


def read_asked(path: Path) -> list[Question]:
    """The labeled questions of a file."""
    return read_questions(path.read_text("utf-8"))


def learn_answers(path: Path) -> list[Example]:
    """What is learned from labeled questions (*.ask), or from pairs (*.tsv)."""
    if path.suffix == ".tsv":
        return [pair.example for pair in answers.read_pairs(path.read_text("utf-8").splitlines())]
    chance = Random(path.name)  # noqa: S311 -- a choice of examples, no secret
    return [pair.example for one in read_asked(path) for pair in answers.pairs_of(one, _cosines(one), chance)]


def _cosines(question: Question) -> Vectors:
    return np.array(embedder(MINILM_INT8).embed(question.memories) @ encode_question(question.text))


def judge_answers(questions: Sequence[Question]) -> Iterator[str]:
    """How often what answers is the likeliest, by what retrieval takes for it, and how often nothing is likely."""
    read = [np.array([*map(odds, _read(one), _cosines(one))]) for one in questions]
    return (f"from {least}: {judge(questions, read, least)}" for least in range(6))


def _read(question: Question) -> list[float]:
    return [chance(question.text, memory) for memory in question.memories]


@dataclass(frozen=True, slots=True)
class Network:
    """A network that can be fitted."""

    weights: Path
    heads: Sequence[Head]
    read: Callable[[Path], Sequence[Any]]
    judge: Callable[[Sequence[Any]], Iterator[str]]
    learn: Callable[[Path], Sequence[Example]] | None = None
    """What is learned from a file, if it isn't the example of each that is read."""
    epochs: int = EPOCHS
    first: int = 0
    """The first layer that is fitted; those below stay as they are in `base`, which halves the time."""
    base: Path | None = None
    """The weights of the network whose adapters the fitting starts from."""

    def examples(self, path: Path) -> Sequence[Example]:
        """What is learned from a file."""
        return self.learn(path) if self.learn else [one.example for one in self.read(path)]


NETWORKS: Final = {
    "tagger": Network(TAGGER, tagger.HEADS, read_tags, judge_tags),
    "answers": Network(
        ANSWERS, answers.HEADS, read_asked, judge_answers, learn_answers, epochs=7, first=3, base=QUESTIONS
    ),
    "updates": Network(UPDATES, updates.HEADS, read_updates, judge_updates, epochs=6, first=3, base=TAGGER),
    "claims": Network(CLAIMS, claims.HEADS, read_claims, judge_claims, epochs=4, first=3, base=TAGGER),
    "speech-acts": Network(
        SPEECH_ACTS, speech_acts.HEADS, read_acts, speech_acts.judge, epochs=6, first=3, base=TAGGER
    ),
    "forget-requests": Network(
        FORGET_REQUESTS,
        forget_requests.HEADS,
        read_forget_requests,
        forget_requests.judge,
        epochs=6,
        first=3,
        base=TAGGER,
    ),
    "secrets": Network(SECRETS, secrets.HEADS, read_secrets, judge_secrets, learn_secrets, first=3, base=TAGGER),
}


def _begun(network: Network, *, more: bool) -> Weights | None:
    """What the fitting starts from: the present weights, the adapters of its base, or nothing."""
    if more:
        return trained(network.weights)
    if network.base is None:
        return None
    return {name: array for name, array in trained(network.base).items() if not name.startswith("head.")}


class Command(BaseCommand):
    requires_system_checks = ()  # the checks need a database, and this command uses none
    help = (
        "Fit a network to labeled texts (tests/memory/data); 2,000 texts take up to a minute an epoch on two cores."
        " --judge FILE prints how good the weights are on that file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", choices=NETWORKS)
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--judge", type=Path, metavar="FILE")
        parser.add_argument("--epochs", type=int)
        parser.add_argument("--more", action="store_true", help="continue from the present weights")
        parser.add_argument("--share", type=float, default=1, help="of the new weights, with --more")

    def handle(
        self,
        *args: Any,
        network: str,
        files: Sequence[Path],
        judge: Path | None,
        epochs: int | None,
        more: bool,
        share: float,
        **options: Any,
    ) -> None:
        chosen = NETWORKS[network]
        if files:
            examples = [example for path in files for example in chosen.examples(path)]
            begun = _begun(chosen, more=more)
            count = epochs or chosen.epochs
            fitted = fit(examples, chosen.heads, self._report, epochs=count, adapters=begun, first=chosen.first)
            save(mixed(trained(chosen.weights), fitted, share) if more else fitted, chosen.weights)
        for line in chosen.judge(chosen.read(judge)) if judge else ():
            self.stdout.write(line)

    def _report(self, epoch: int, loss: float) -> None:
        self.stdout.write(f"epoch {epoch + 1}: loss {loss:.3f}")
        self.stdout.flush()
