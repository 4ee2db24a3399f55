"""Speed and memory of importing a ChatGPT export and Recall's own archive.

    .venv/bin/python -m bench.process.imports [--megabytes 50] [--limit 0]

On a throw-away server, the way a worker does it: the file is stored as rows, read in slices, and indexed by its words.
`--limit` reads only that many conversations. Then everything is exported, and imported into an empty account.
"""

import io
import json
import random
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.own_database import own_database
from bench.results import Figures, arguments, record

MEGABYTE = 1_000_000
TURNS = 12
FIGURES: Figures = {}
"""Seconds and rates of each step of the run, and the memory at its end."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--limit", type=int, default=0)
    options = parser.parse_args()
    with own_database() as folder:
        measure(folder / "conversations.json", options.megabytes, options.limit)
    if options.record:
        record("process.imports", FIGURES)


def measure(path: Path, megabytes: int, limit: int) -> None:
    """Create the export, and print the time of each step."""
    from accounts.models import User
    from chat.archive.export import stream_archive
    from chat.archive.restore import restore_archive
    from chat.importing import jobs
    from chat.importing.entries import parse_entry, raw_entries
    from chat.models import Conversation, Message
    from recall.llm import tokens

    tokens.exact()
    with path.open("wb") as file:
        file.writelines(export(megabytes * MEGABYTE))
    print(f"export of {path.stat().st_size / MEGABYTE:.0f} MB; memory before: {memory():.0f} MB")
    with timed("split only") as told, path.open("rb") as file:
        count = sum(1 for _ in raw_entries(file))
        told["conversations"] = count
    with timed("split and parse") as told, path.open("rb") as file:
        told["conversations"] = sum(len(parse_entry(raw)) for raw in raw_entries(file))
    user = User.objects.create_user("bench@example.org")
    with timed("kept as rows"), path.open("rb") as file:
        job = jobs.accept(user, path.name, path.stat().st_size, iter(lambda: file.read(MEGABYTE), b""))
    with timed("imported") as told:
        while jobs.run_import(job.pk):
            if limit and Conversation.objects.count() >= limit:
                break
        told["conversations"] = Conversation.objects.count()
    print(f"{Message.objects.count():,} messages; memory after: {memory():.0f} MB at most")
    with timed("exported"):
        packed = b"".join(stream_archive(user))
    print(f"archive of {len(packed) / MEGABYTE:.1f} MB; memory after: {memory():.0f} MB at most")
    other = User.objects.create_user("other@example.org")
    with timed("archive brought in") as told:
        told["conversations"] = restore_archive(other, io.BytesIO(packed))["chat.conversation"]
    print(f"memory after: {memory():.0f} MB at most")
    FIGURES["memory"] = (memory(), "MB")


class timed:  # noqa: N801 - read as a word
    """Prints how long its block took, and the rate per second."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.told: dict[str, int] = {}

    def __enter__(self) -> dict[str, int]:
        self.began = time.perf_counter()
        return self.told

    def __exit__(self, *_: Any) -> None:
        took = time.perf_counter() - self.began
        rates = ", ".join(f"{number / took:,.0f} {name} a second" for name, number in self.told.items())
        print(f"{self.what:<20} {took:7.2f} s  {rates}")
        FIGURES[self.what] = (took, "s")
        FIGURES.update({f"{self.what}, {name}": (number / took, f"{name}/s") for name, number in self.told.items()})


def memory() -> float:
    """Peak megabytes of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def export(size: int) -> Iterator[bytes]:
    """A conversations.json of about this many bytes."""
    written, number, rng = 1, 0, random.Random(7)
    yield b"["
    while written < size:
        one = json.dumps(conversation(number, rng)).encode()
        yield b"," * bool(number) + one
        written, number = written + len(one), number + 1
    yield b"]"


def conversation(number: int, rng: random.Random) -> dict[str, Any]:
    """A conversation of a few turns, with an occasional second answer."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    before = "root"
    for place in range(TURNS * 2):
        key = f"{number}-{place}"
        role = "assistant" if place % 2 else "user"
        message = {
            "id": key,
            "author": {"role": role, "metadata": {}},
            "create_time": 1_700_000_000.5 + number * 3600 + place,
            "content": {"content_type": "text", "parts": [sentences(rng, 12 if place % 2 else 2)]},
            "metadata": {"model_slug": "gpt-5", "finish_details": {"type": "stop"}, "request_id": key * 3},
            "recipient": "all",
        }
        mapping[key] = {"id": key, "message": message, "parent": before, "children": []}
        mapping[before]["children"].append(key)
        before = key
    return {
        "title": f"Conversation {number}",
        "create_time": 1_700_000_000.0 + number * 3600,
        "conversation_id": f"c-{number}",
        "current_node": before,
        "mapping": mapping,
    }


SYLLABLES = ["ba", "co", "di", "fe", "gu", "la", "me", "ni", "po", "ru", "sa", "ti", "vo", "ze", "lin", "mar", "ten"]


def sentences(rng: random.Random, how_many: int) -> str:
    """Sentences of invented words, some of them frequent."""
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) for _ in range(how_many * 12)]
    lines = [words[place : place + 12] for place in range(0, len(words), 12)]
    return " ".join(f"{' '.join(line).capitalize()}." for line in lines)


if __name__ == "__main__":
    main()
