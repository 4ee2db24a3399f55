"""Chat with Recall in a terminal: `RECALL_KEY=rcl_… python talk.py "Where does my sister live?"`.

The key needs the scope chat:write.
"""

from __future__ import annotations

import os
import sys

from recall_client import Recall


def talk(recall: Recall, messages: list[str]) -> None:
    """Send the messages in one conversation and print the answers as they're written."""
    conversation = None
    for text in messages:
        answer = recall.send(text, conversation)
        for piece in answer:
            print(piece, end="", flush=True)
        print(f"\n{answer.error}" if answer.error else "")
        conversation = answer.conversation


if __name__ == "__main__":
    with Recall(os.environ.get("RECALL_URL", "http://localhost:8000"), os.environ["RECALL_KEY"]) as recall:
        talk(recall, sys.argv[1:])
