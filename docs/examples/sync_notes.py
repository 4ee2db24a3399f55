"""Sync a folder of Markdown files to Recall: `RECALL_KEY=rcl_… python sync_notes.py ~/notes`.

New, changed and deleted files follow; what you edited in Recall is kept. The key needs the scope memory:write.
"""

from __future__ import annotations

import base64
import os
import sys
from collections import Counter
from pathlib import Path

from recall_client import Recall


def sync_notes(recall: Recall, folder: Path) -> Counter[str]:
    """Number of files by result: new, changed, unchanged, kept, skipped, removed."""
    files = [
        {
            "external_id": str(path.relative_to(folder)),
            "name": str(path.relative_to(folder)),
            "content": base64.b64encode(path.read_bytes()).decode(),
        }
        for path in sorted(folder.rglob("*.md"))
    ]
    results = recall.post("/memory/sync", {"origin": "notes", "at": "/reference/notes", "files": files})
    return Counter(result["what"] for result in results)


if __name__ == "__main__":
    with Recall(os.environ.get("RECALL_URL", "http://localhost:8000"), os.environ["RECALL_KEY"]) as recall:
        for result, number in sync_notes(recall, Path(sys.argv[1]).expanduser()).items():
            print(f"{number} {result}")
