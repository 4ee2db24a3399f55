"""Ratios of the benches, kept in `bench/results/*.json`, and what has become worse since a revision.

    .venv/bin/python -m bench.turn --record
    .venv/bin/python -m bench.results [REVISION]        (make bench-check)

A ratio is a figure of one run divided by another of the same run, so it can be compared with one that was measured on
another machine, or while it was busy. The smaller, the better.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "results"
TOLERATED: Final = 1.1
"""A ratio may be so many times that of the revision."""


def record(bench: str, ratios: Mapping[str, float]) -> None:
    """Keep the ratios of a run, with its date, cores and the load of the last minute."""
    FOLDER.mkdir(exist_ok=True)
    run = {
        "bench": bench,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": os.process_cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "ratios": {name: round(ratio, 3) for name, ratio in ratios.items()},
    }
    (FOLDER / f"{bench}.json").write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def worse(before: Mapping[str, float], now: Mapping[str, float]) -> Iterator[str]:
    """The ratios that are no longer TOLERATED, or gone."""
    for name, ratio in before.items():
        if name not in now:
            yield f"{name}: {ratio}, no longer measured"
        elif now[name] > ratio * TOLERATED:
            yield f"{name}: {ratio} → {now[name]}"


def _ratios(text: str) -> Mapping[str, float]:
    ratios: Mapping[str, float] = json.loads(text)["ratios"]
    return ratios


def _at(revision: str, path: Path) -> str:
    """The file's text at a revision; empty if it wasn't there."""
    command = ["git", "show", f"{revision}:./{path.name}"]
    shown = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    return shown.stdout if shown.returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="HEAD", help="a git revision, such as the last release")
    options = parser.parse_args()
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        before, now = _at(options.revision, path), _ratios(path.read_text("utf-8"))
        found += [f"{path.stem}, {one}" for one in worse(_ratios(before) if before else {}, now)]
        print(f"{path.stem}: {', '.join(f'{name} {ratio}' for name, ratio in now.items())}")
    print(*[f"WORSE: {one}" for one in found] or [f"Nothing is worse than at {options.revision}."], sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
