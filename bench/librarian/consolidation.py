"""Time to consolidate one user's memory (target: 10,000 facts in under 5 s).

    .venv/bin/python -m bench.librarian.consolidation [--facts 10000] [--episodes 400]

On a throw-away server: facts of every source, age and importance, and overlapping episodes in twenty conversations. The
first run does the work, the second finds nothing to do; both times are printed, with what the first one did.
"""

import random
import time
from datetime import datetime, timedelta
from typing import Any

from bench.own_database import own_database
from bench.results import Figures, arguments, record


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--episodes", type=int, default=400)
    options = parser.parse_args()
    with own_database():
        figures = measure(options.facts, options.episodes)
    if options.record:
        record("librarian.consolidation", figures)


def measure(facts: int, episodes: int) -> Figures:
    """Create the memory, consolidate it twice, and print how long each run took."""
    from django.utils import timezone

    from memory.consolidation.consolidate import consolidate

    now = timezone.now()
    user = make_person(facts, episodes, now)
    figures: Figures = {"facts": (facts, ""), "episodes": (episodes, "")}
    for name in ("first run", "second run"):
        started = time.perf_counter()
        report = consolidate(user, now)
        figures[name] = (time.perf_counter() - started, "s")
        print(f"{name:<10} {figures[name][0]:6.2f} s   {' '.join(report.sentences())}")
    return figures


def make_person(facts: int, episodes: int, now: datetime) -> Any:
    """A user with this many facts, each with a vector, and this many episodes."""
    import numpy as np

    from accounts.models import User
    from chat.models import Conversation
    from memory.embeddings.limits import DIMENSION
    from memory.embeddings.port import embedder
    from memory.models import Episode, Fact

    chance, noise = random.Random(1), np.random.default_rng(1)
    user = User.objects.create_user("bench@example.org", None, preferred_name="Bench")
    for start in range(0, facts, 1_000):
        vectors = noise.normal(size=(1_000, DIMENSION)).astype("float32")
        Fact.objects.bulk_create(
            Fact(
                user=user,
                statement=f"The user once saw place {number} with friend {number % 97}.",
                status=Fact.Status.ACTIVE,
                source=chance.choice([Fact.Source.IMPORTED, Fact.Source.IMPORTED, Fact.Source.STATED]),
                importance=chance.random(),
                recorded_at=now - timedelta(days=chance.randrange(400)),
                times_used=chance.choice([0, 0, 0, 1, 5]),
                valid_until=now - timedelta(days=1) if chance.random() < 0.05 else None,
                tokens=12,
                vector=vectors[number - start],
                embedded_by=embedder().name,
            )
            for number in range(start, min(start + 1_000, facts))
        )
    conversations = [Conversation.objects.create(user=user) for _ in range(20)]
    spans = {(chance.randrange(20), chance.randrange(1, 400), chance.randrange(12)) for _ in range(episodes)}
    Episode.objects.bulk_create(
        Episode(
            user=user,
            conversation=conversations[talk],
            first_turn=first,
            last_turn=first + length,
            title=f"Turns {first} to {first + length}",
            summary="The user compared two things and chose one of them, for a reason.",
            significance=chance.random(),
            tokens=20,
        )
        for talk, first, length in sorted(spans)
    )
    return user


if __name__ == "__main__":
    main()
