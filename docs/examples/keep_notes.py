"""Keep a folder of Markdown files in step: `RECALL_KEY=rcl_… python keep_notes.py ~/notes`.

New, changed and vanished files follow; what was edited in Recall is kept. The key needs the scope memory:write.
"""

from __future__ import annotations

import base64
import os
import sys
from collections import Counter
from pathlib import Path

from recall_client import Recall


def keep_notes(recall: Recall, folder: Path) -> Counter[str]:
    """What became of the files: new, changed, unchanged, kept, skipped, removed."""
    files = [
        {
            "external_id": str(path.relative_to(folder)),
            "name": str(path.relative_to(folder)),
            "content": base64.b64encode(path.read_bytes()).decode(),
        }
        for path in sorted(folder.rglob("*.md"))
    ]
    followed = recall.post("/memory/sync", {"origin": "notes", "at": "/reference/notes", "files": files})
    return Counter(one["what"] for one in followed)


if __name__ == "__main__":
    with Recall(os.environ.get("RECALL_URL", "http://localhost:8000"), os.environ["RECALL_KEY"]) as recall:
        for what, number in keep_notes(recall, Path(sys.argv[1]).expanduser()).items():
            print(f"{number} {what}")
