"""What it is worth that a question carries the names and content words of the turns before it.

The questions were labeled before the code (`tests/memory/data/README.md`): most of them refer to what was said, the
traps do not. They are too few to choose weights by.
"""

import json
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from accounts.models import User
from memory.embeddings.port import embedder
from memory.models import Fact
from memory.retrieval.recall import retrieve
from recall.environment import BASE_DIR

WORLDS: Final = json.loads((BASE_DIR / "tests/memory/data" / "follow_ups.json").read_text())["worlds"]
TRAPS: Final = ("topic_shift", "none")
NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
AMONG: Final = 3

pytestmark = pytest.mark.django_db


def found(user: User, world: dict[str, Any], *, context: bool) -> dict[str, float]:
    """Follow-up → share of its evidence among the first three."""
    memories = world["memories"]
    vectors = embedder().embed([memory["text"] for memory in memories])
    facts = Fact.objects.bulk_create(
        Fact(user=user, statement=memory["text"], status="active", vector=vector.tolist(), embedded_by=embedder().name)
        for memory, vector in zip(memories, vectors, strict=True)
    )
    refs = {memory["id"]: fact.ref for memory, fact in zip(memories, facts, strict=True)}
    shares = {}
    for one in world["follow_ups"]:
        said = [text for turn in one["turns"][-2:] for text in turn] if context else []
        kept = retrieve(user, one["question"], now=NOW, top_k=AMONG, context=said).kept
        wanted = {refs[evidence] for evidence in one["evidence"]}
        shares[one["id"]] = len(wanted & {item.ref for item in kept}) / len(wanted)
    Fact.objects.all().delete()
    return shares


def test_earlier_turns_bring_up_whom_a_follow_up_means_and_mislead_few_others(alice: User) -> None:
    kind = {one["id"]: one["refers_by"] in TRAPS for world in WORLDS for one in world["follow_ups"]}
    alone: dict[str, float] = {}
    together: dict[str, float] = {}
    for world in WORLDS:
        alone |= found(alice, world, context=False)
        together |= found(alice, world, context=True)

    def mean(shares: dict[str, float], *, traps: bool) -> float:
        chosen = [share for name, share in shares.items() if kind[name] is traps]
        return sum(chosen) / len(chosen)

    figures = {
        "referring": (mean(alone, traps=False), mean(together, traps=False)),
        "traps": (mean(alone, traps=True), mean(together, traps=True)),
    }
    assert figures["referring"][1] >= max(0.9, figures["referring"][0] + 0.2), figures
    assert figures["traps"][1] >= figures["traps"][0] - 0.15, figures  # one of seven


def test_the_set_is_what_its_description_says() -> None:
    follow_ups = [one for world in WORLDS for one in world["follow_ups"]]
    assert len(follow_ups) == len({follow_up["id"] for follow_up in follow_ups}) == 40
    assert sum(follow_up["refers_by"] == "pronoun" for follow_up in follow_ups) == 26
    assert sum(follow_up["refers_by"] in TRAPS for follow_up in follow_ups) == 7
