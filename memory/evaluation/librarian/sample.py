"""Samples an engine's proposals on unlabeled conversations for a check by hand, and summarizes the verdicts.

The sample has one JSON object per line: `statement`, `kind`, `quote`, `message`, `conversation`, `decided`, and
an empty `verdict`. The reviewer writes one of `VERDICTS` there.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, get_args
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError

from memory.evaluation.datasets import Conversation, Item
from memory.librarian.decision import Outcome, decide
from memory.librarian.engine import ExtractionEngine, ExtractionInput
from memory.ports.source import Utterance

type Verdict = Literal["right", "junk", "wrong_attribution", "wrong"]
VERDICTS: Final[tuple[str, ...]] = get_args(Verdict.__value__)
ZONE: Final = ZoneInfo("UTC")
"""The files have no time zones."""


class UnknownSampleError(Exception):
    """The file isn't a checked sample; the message says why."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A proposal with its evidence."""

    statement: str
    kind: str
    quote: str
    message: str
    conversation: str
    decided: str
    verdict: str = ""

    def line(self) -> str:
        """The proposal as one line of the sample's file."""
        return json.dumps(asdict(self), ensure_ascii=False)


class _Checked(BaseModel):
    model_config = ConfigDict(extra="ignore")

    verdict: Verdict


def proposals(conversations: Iterable[Conversation], engine: ExtractionEngine) -> Iterator[Sampled]:
    """Proposals for the user's messages that the decision doesn't drop; one extraction per message.

    Raises:
        ExtractionError: the engine failed.
    """
    for conversation in conversations:
        user_items = (item for item in conversation.items if item.role == "user")
        for number, item in enumerate(user_items, start=1):
            yield from _of_message(conversation, number, item, engine)


def draw(found: Sequence[Sampled], size: int, seed: int) -> list[Sampled]:
    """`size` proposals at random, or all; the same ones for the same seed."""
    return random.Random(seed).sample(found, min(size, len(found)))  # noqa: S311 - no secret hangs on it


def count_verdicts(path: Path) -> Counter[str]:
    """How often each verdict was given.

    Raises:
        UnknownSampleError: a line has no verdict of `VERDICTS`.
        OSError: the file cannot be read.
    """
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return Counter(_verdict(path, number, line) for number, line in enumerate(lines, start=1))


def rates(verdicts: Counter[str]) -> str:
    """The share of each verdict, as one line."""
    total = verdicts.total()
    shares = (f"{verdict.replace('_', ' ')} {100 * verdicts[verdict] / max(total, 1):.1f} %" for verdict in VERDICTS)
    return f"Checked by hand: {total} proposals; {', '.join(shares)}."


def _of_message(conversation: Conversation, number: int, item: Item, engine: ExtractionEngine) -> Iterator[Sampled]:
    utterance = Utterance(number, number, "user", item.text, item.when)
    for proposal in engine.extract(ExtractionInput([utterance], "", ZONE)).facts:
        decision = decide(proposal, [utterance], ())
        if decision.outcome != Outcome.DROP:
            decided = f"{decision.outcome.value}: {decision.reason}"
            said, kind = item.text, proposal.kind.value
            yield Sampled(proposal.statement, kind, proposal.quote, said, conversation.id, decided)


def _verdict(path: Path, number: int, line: str) -> str:
    try:
        return _Checked.model_validate_json(line).verdict
    except ValidationError as error:
        raise UnknownSampleError(
            f"{path.name}, line {number}: verdict must be one of {', '.join(VERDICTS)}."
        ) from error
