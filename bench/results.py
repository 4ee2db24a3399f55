"""The benches' results, `bench/results/*.json`: the figures of the docs, and what has become worse since a release.

    .venv/bin/python -m bench.retrieval --record
    .venv/bin/python -m bench.results --write           the docs' tables, from all files
    .venv/bin/python -m bench.results [REVISION]        (make bench-check)

A block of a page starts with `[figures]: ../bench/tables/load.md` and ends with `[/figures]: #`, which show nothing.
Between them is the text of that file, with the figure of `bench/results/load.json` for `{load: its name}`, and its
date, cores and load for `{load: run}`. A file with a note wasn't written by a run.

A ratio is a figure of one run divided by another of the same run, or by a constant, so it can be compared with one that
was measured on another machine, or while it was busy. The smaller, the better.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "bench" / "results"
PAGES: Final = ROOT / "docs"
TOLERATED: Final = 1.1
"""A ratio may be so many times that of the revision."""
LOAD_BEFORE: Final = os.getloadavg()[0]
"""Of the minute before the run: afterwards, the bench's own is in it."""
_BLOCK: Final = re.compile(r"(?<=\[figures\]: \.\./)(\S+)\n\n(?:.*?\n\n)??(?=\[/figures\]: #)", re.DOTALL)
_FIGURE: Final = re.compile(r"\{([\w.-]+): ([^{}]+)\}")

type Figures = dict[str, tuple[float, str]]
"""Name → value and unit."""


# Recording -------------------------------------------------------------------------------------------------------


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """A bench's parser, with `--record`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    return parser


def record(bench: str, figures: Figures, ratios: Mapping[str, float] | None = None) -> None:
    """Keep the figures and ratios of a run."""
    run = {
        "bench": bench,
        "command": command(sys.orig_argv[1:]),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": os.process_cpu_count(),
        "load": round(LOAD_BEFORE, 1),
        "figures": {name: {"value": rounded(value), "unit": unit} for name, (value, unit) in figures.items()},
        "ratios": {name: round(ratio, 3) for name, ratio in (ratios or {}).items()},
    }
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{bench}.json").write_text(_one_line_a_figure(json.dumps(run, indent=2, ensure_ascii=False)) + "\n")


def command(argv: list[str]) -> str:
    """The command line without this machine's folders."""
    return " ".join(["python", *(Path(part).name if "/" in part else part for part in argv)])


def rounded(value: float) -> float:
    """A count as it is, a measured value with three digits or its whole part."""
    return round(value) if isinstance(value, int) or abs(value) >= 100 else round(value, 1 if abs(value) >= 10 else 2)


def _one_line_a_figure(text: str) -> str:
    return re.sub(r'\{\s+"value": (.+),\s+"unit": (.+)\s+\}', r'{"value": \1, "unit": \2}', text)


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The median, and the 95th percentile."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


# The docs --------------------------------------------------------------------------------------------------------


def render(page: str) -> str:
    """The page with the figures that are kept.

    Raises:
        KeyError: a file has no figure of this name.
    """
    return _BLOCK.sub(lambda block: f"{block[1]}\n\n{fill((ROOT / block[1]).read_text().strip())}\n\n", page)


def fill(table: str) -> str:
    """The table with each figure in its place."""
    return _FIGURE.sub(lambda place: _shown(_run(place[1]), place[2]), table)


def _run(bench: str) -> Mapping[str, Any]:
    run: Mapping[str, Any] = json.loads((FOLDER / f"{bench}.json").read_text())
    return run


def _shown(run: Mapping[str, Any], name: str) -> str:
    if name != "run":
        return f"{run['figures'][name]['value']:,}"
    load = "load not recorded" if run["load"] is None else f"load {run['load']}"
    return f"{date.fromisoformat(run['date']):%B %-d, %Y}, {run['cores']} cores, {load}"


def write() -> None:
    """Write the docs' blocks from the files."""
    for page in sorted(PAGES.glob("*.md")):
        before = page.read_text()
        if (after := render(before)) != before:
            page.write_text(after)
            print(f"{page.name} written")


# What is worse ---------------------------------------------------------------------------------------------------


def worse(before: Mapping[str, float], now: Mapping[str, float]) -> Iterator[str]:
    """The ratios that are no longer TOLERATED, or gone."""
    for name, ratio in before.items():
        if name not in now:
            yield f"{name}: {ratio}, no longer measured"
        elif now[name] > ratio * TOLERATED:
            yield f"{name}: {ratio} → {now[name]}"


def check(revision: str) -> int:
    """Print the ratios, and those that are worse than at the revision; 1 if there are any, or no files."""
    files = sorted(FOLDER.glob("*.json"))
    if not files:
        print(f"WORSE: there are no results in {FOLDER.relative_to(ROOT)}.")
        return 1
    found = []
    for path in files:
        now = _run(path.stem)["ratios"]
        found += [f"{path.stem}, {one}" for one in worse(_ratios_at(revision, path), now)]
        print(f"{path.stem}: {', '.join(f'{name} {ratio}' for name, ratio in now.items()) or 'no ratios'}")
    print(*[f"WORSE: {one}" for one in found] or [f"Nothing is worse than at {revision}."], sep="\n")
    return int(bool(found))


def last_release() -> str:
    """The last tag; without one, the last commit, which has each file as it was last changed."""
    return _git("describe", "--tags", "--abbrev=0").strip() or "HEAD"


def _ratios_at(revision: str, path: Path) -> Mapping[str, float]:
    """The file's ratios at a revision; none if it wasn't there."""
    text = _git("show", f"{revision}:./{path.relative_to(ROOT)}")
    ratios: Mapping[str, float] = json.loads(text)["ratios"] if text else {}
    return ratios


def _git(*command: str) -> str:
    """What git prints; empty if it fails."""
    done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", help="to compare with; default: the last release")
    parser.add_argument("--write", action="store_true", help="write the docs' figures instead")
    options = parser.parse_args()
    if options.write:
        write()
    else:
        sys.exit(check(options.revision or last_release()))


if __name__ == "__main__":
    main()
