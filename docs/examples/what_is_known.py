"""What does Recall know about something, and why? `RECALL_KEY=rcl_… python what_is_known.py sister`.

The key needs the scope memory:read.
"""

from __future__ import annotations

import os
import sys

from recall_client import Recall


def what_is_known(recall: Recall, question: str) -> list[str]:
    """A line for each memory: its score, where it stands, and what it says."""
    return [f"{found['score']:.2f}  {found['ref']}  {found['text']}" for found in recall.search(question)]


if __name__ == "__main__":
    with Recall(os.environ.get("RECALL_URL", "http://localhost:8000"), os.environ["RECALL_KEY"]) as recall:
        print("\n".join(what_is_known(recall, " ".join(sys.argv[1:]))) or "Nothing.")
