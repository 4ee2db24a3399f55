"""Search your memory and see the scores: `RECALL_KEY=rcl_… python search_memory.py sister`.

The key needs the scope memory:read.
"""

from __future__ import annotations

import os
import sys

from recall_client import Recall


def search_memory(recall: Recall, question: str) -> list[str]:
    """One line for each memory: its score, its reference and its text."""
    return [f"{found['score']:.2f}  {found['ref']}  {found['text']}" for found in recall.search(question)]


if __name__ == "__main__":
    with Recall(os.environ.get("RECALL_URL", "http://localhost:8000"), os.environ["RECALL_KEY"]) as recall:
        print("\n".join(search_memory(recall, " ".join(sys.argv[1:]))) or "No memories found.")
