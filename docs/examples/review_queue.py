"""Review proposals in a terminal: y accepts, n rejects, anything else skips. `RECALL_KEY=rcl_… python review_queue.py`.

The key needs the scope review.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from recall_client import Recall

VERBS = {"y": "accept", "n": "reject"}


def review_queue(recall: Recall, ask: Callable[[str], str] = input) -> int:
    """Ask about each proposal; the number of decisions."""
    decided = 0
    for fact in list(recall.proposals()):
        known = fact["contradicts"]
        replaces = f"\n  replaces: {known['statement']}" if known else ""
        source = f"\n  you said: “{fact['quote']}”" if fact["quote"] else ""
        verb = VERBS.get(ask(f"{fact['statement']}{source}{replaces}\n  remember it? [y/n] ").strip().lower())
        if verb is not None:
            decided += len(recall.decide(verb, [fact["id"]])["decisions"])
    return decided


if __name__ == "__main__":
    with Recall(os.environ.get("RECALL_URL", "http://localhost:8000"), os.environ["RECALL_KEY"]) as recall:
        print(f"Decided: {review_queue(recall)}.")
