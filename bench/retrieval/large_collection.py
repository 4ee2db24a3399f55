"""Recall over one large collection, and what its indexed search loses against an exact scan.

    .venv/bin/python -m bench.retrieval.large_collection [FILE …]

On a throw-away server: the conversations of the files (without files, those of `../shared/bench`) are imported for one
user, and every question is asked over all of them, where `manage.py evaluate` asks it over its own conversation. First
in the way a collection of that size is searched, by comparing every row; then as one beyond `PersonalIndex.LARGE`, by
its own indexes. It prints the percentage of the evidence among the first five, ten and twenty results, and the time per
question.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.own_database import own_database

if TYPE_CHECKING:
    from accounts.models import User
    from memory.evaluation.datasets import Conversation

FILES: Final = ("locomo_dev.json", "beam100k_dev.json")
FOLDER: Final = Path(__file__).resolve().parents[3] / "shared" / "bench"
AMONG: Final = (5, 10, 20)
INDEXED_FROM: Final = 500
"""Rows of a table from which it gets its own indexes here."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The conversations of a file, and the message of each of their items."""

    file: str
    conversations: Sequence[Conversation]
    messages: Mapping[tuple[str, Any], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    files = parser.parse_args().files or [FOLDER / name for name in FILES]
    if missing := [str(file) for file in files if not file.exists()]:
        raise SystemExit(f"There is no {missing[0]}. Name the files with conversations and questions.")
    with own_database():
        measure(files)


def measure(files: Sequence[Path]) -> None:
    """Import, ask twice, print."""
    from accounts.models import User
    from memory.evaluation.retrieval import product
    from memory.index import large_collections
    from memory.models import Chunk, PersonalIndex

    person = User.objects.create_user("crowded@bench.invalid")
    imported = [import_file(person, file) for file in files]
    product.index(person)
    print(f"{Chunk.objects.for_user(person).count():,} passages of one person\n")
    print(f"{'':44}" + "".join(f"{f'R@{k}':>8}" for k in AMONG) + f"{'p50 ms':>9}{'p95 ms':>8}")
    ask_all(person, imported, "every row compared")
    PersonalIndex.LARGE, large_collections.WORTH_AN_INDEX = INDEXED_FROM, INDEXED_FROM  # type: ignore[misc]
    large_collections.build(person)
    ask_all(person, imported, "by indexes of its own")


def import_file(person: User, file: Path) -> Imported:
    """Import a file's conversations, as the product does."""
    from memory.evaluation.datasets import read
    from memory.evaluation.retrieval import product

    conversations = read(file)
    messages = {
        (conversation.id, item): message
        for conversation in conversations
        for item, message in product.store(person, conversation).items()
    }
    return Imported(file.name, conversations, messages)


def ask_all(person: User, imported: Sequence[Imported], how: str) -> None:
    """Print one line per file: how much of the evidence was found, and how fast."""
    from memory.evaluation.retrieval import metrics, product
    from memory.retrieval.ranking import MEASURED

    for file in imported:
        found: dict[int, list[float]] = defaultdict(list)
        took: list[float] = []
        for conversation in file.conversations:
            for question in conversation.questions:
                if not question.evidence or question.category == metrics.ADVERSARIAL:
                    continue
                began = time.perf_counter()
                answer = product.ask(MEASURED, person, question.text, conversation.ended_at)
                took.append(1_000 * (time.perf_counter() - began))
                evidence = {file.messages[conversation.id, item] for item in question.evidence}
                for k in AMONG:
                    found[k].append(metrics.recall(evidence, answer.ranked, k))
        shares = "".join(f"{100 * statistics.mean(found[k]):8.1f}" for k in AMONG)
        late = statistics.quantiles(took, n=20)[-1]
        print(f"{f'{file.file}, {how}':44}{shares}{statistics.median(took):9.1f}{late:8.1f}", flush=True)


if __name__ == "__main__":
    main()
