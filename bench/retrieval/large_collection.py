"""Recall over one large collection, and what its indexed search loses against an exact scan.

    .venv/bin/python -m bench.retrieval.large_collection [FILE …]

On a throw-away server: the conversations of the files (without files, those of `../shared/bench`) are imported for one
user, and every question is asked over all of them, where `manage.py evaluate` asks it over its own conversation. First
by comparing every row; then as a collection beyond `PersonalIndex.COUNTED`, roughly first; then as one beyond
`PersonalIndex.LARGE`, by its own indexes. It prints the percentage of the evidence among the first five, ten and twenty
results, the time per question, and how much of the first ten is that of comparing every row.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.own_database import own_database
from bench.results import Figures, arguments, record
from bench.retrieval.real_texts import FILES

if TYPE_CHECKING:
    from accounts.models import User
    from memory.evaluation.datasets import Conversation

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
    parser = arguments(__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    options = parser.parse_args()
    files = options.files or FILES
    if missing := [str(file) for file in files if not file.exists()]:
        raise SystemExit(f"There is no {missing[0]}. Name the files with conversations and questions.")
    with own_database():
        figures = measure(files)
    if options.record:
        same = {how: figures[f"{how}, first ten"][0] for how in ("roughly first", "own index")}
        record("retrieval.large_collection", figures, {f"every row over {how}": 100 / same[how] for how in same})


def measure(files: Sequence[Path]) -> Figures:
    """Import, ask in each way, print."""
    from accounts.models import User
    from memory.evaluation.retrieval import product
    from memory.index import large_collections
    from memory.models import Chunk, PersonalIndex

    person = User.objects.create_user("crowded@bench.invalid")
    imported = [import_file(person, file) for file in files]
    product.index(person)
    passages = Chunk.objects.for_user(person).count()
    print(f"{passages:,} passages of one person\n")
    print(f"{'':44}" + "".join(f"{f'R@{k}':>8}" for k in AMONG) + f"{'p50 ms':>9}{'p95 ms':>8}")
    figures, exact = ask_all(person, imported, "every row")
    build(person)
    more, rough = ask_all(person, imported, "roughly first")
    figures |= more | agreement("roughly first", exact, rough)
    PersonalIndex.LARGE, large_collections.WORTH_AN_INDEX = INDEXED_FROM, INDEXED_FROM  # type: ignore[misc]
    build(person)
    more, indexed = ask_all(person, imported, "own index")
    return {"passages": (passages, "")} | figures | more | agreement("own index", exact, indexed)


def build(person: User) -> None:
    """Count the words, and build the indexes of a collection that is large enough."""
    from memory.index import large_collections
    from recall.db.acting import by

    with by("index builds"):
        large_collections.build(person)


def agreement(how: str, exact: Sequence[Sequence[int]], found: Sequence[Sequence[int]]) -> Figures:
    """The share of the first ten that are those of comparing every row; printed."""
    same = [
        len(set(one[:10]) & set(other[:10])) / len(one[:10]) for one, other in zip(exact, found, strict=True) if one
    ]
    share = 100 * statistics.mean(same)
    print(f"{how}: {share:.1f} % of the first ten are those of comparing every row")
    return {f"{how}, first ten": (share, "%")}


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


def ask_all(person: User, imported: Sequence[Imported], how: str) -> tuple[Figures, list[Sequence[int]]]:
    """Print one line per file: how much of the evidence was found, and how fast. The messages found by each question
    are returned, too."""
    from memory.evaluation.retrieval import metrics, product
    from memory.retrieval.ranking import MEASURED

    figures: Figures = {}
    rankings: list[Sequence[int]] = []
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
                rankings.append(answer.ranked)
                evidence = {file.messages[conversation.id, item] for item in question.evidence}
                for k in AMONG:
                    found[k].append(metrics.recall(evidence, answer.ranked, k))
        shares = {k: 100 * statistics.mean(found[k]) for k in AMONG}
        median, late = statistics.median(took), statistics.quantiles(took, n=20)[-1]
        columns = "".join(f"{share:8.1f}" for share in shares.values())
        print(f"{f'{file.file}, {how}':44}{columns}{median:9.1f}{late:8.1f}", flush=True)
        name = f"{file.file}, {how}"
        figures |= {f"{name}, R@{k}": (share, "%") for k, share in shares.items()}
        figures |= {f"{name}, p50": (median, "ms"), f"{name}, p95": (late, "ms")}
    return figures, rankings


if __name__ == "__main__":
    main()
