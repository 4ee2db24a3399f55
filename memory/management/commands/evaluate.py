"""`manage.py evaluate FILE…`: how much evidence retrieval finds, compared with simple baselines."""

import json
import signal
from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.embeddings.port import embedder
from memory.evaluation.datasets import Conversation, UnknownLayoutError, read
from memory.evaluation.retrieval.ablation import compare, kept_figures, variants
from memory.evaluation.retrieval.ablation import render as render_ablation
from memory.evaluation.retrieval.product import recall_itself
from memory.evaluation.retrieval.run import evaluate
from memory.evaluation.retrieval.table import figures, ratios, render
from memory.retrieval.ranking import MEASURED, PROFILES, RankingProfile

INTERRUPTED: Final = 130
"""The exit code of a program that Ctrl-C ended."""

type Keep = Callable[[str, Path, dict[str, tuple[float, str]], Mapping[str, float]], None]
"""Keeps the figures and ratios of a file under the name of what measured them."""


class Command(BaseCommand):
    help = (
        "Ask every question of conversations with known answers through Recall's own retrieval. Prints how much of the"
        " evidence it finds, next to five baselines. Works with a temporary user."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON in one of the two layouts")
        parser.add_argument("--run", type=Path, metavar="OUT.jsonl", help="write one line per question for the scorer")
        parser.add_argument("--profile", choices=sorted(PROFILES), default=MEASURED.name, help="the ranking's weights")
        parser.add_argument(
            "--baselines", action=BooleanOptionalAction, default=True, help="compute the baselines in the same run"
        )
        parser.add_argument("--limit", type=_positive, metavar="N", help="ask only N questions of each conversation")
        parser.add_argument(
            "--ablation",
            action="store_true",
            help="print what each part of the ranking and each kind of question is worth instead, over conversations",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the figures as JSON")
        parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")

    def handle(self, *args: Any, files: Sequence[Path], as_json: bool, ablation: bool, **options: Any) -> None:
        keep: Keep = _recorder(options["profile"]) if options["record"] else lambda bench, path, figures, ratios: None
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a SIGTERM cleans up like Ctrl-C
        evaluations = []
        try:
            if ablation:
                self._ablate(files, PROFILES[options["profile"]], keep)
                return
            with lines_to(options["run"]) as write:
                for path, conversations in [(path, _read(path)) for path in files]:
                    evaluation = evaluate(
                        path.name,
                        conversations,
                        recall_itself(PROFILES[options["profile"]]),
                        baselines_by=embedder() if options["baselines"] else None,
                        limit=options["limit"],
                        tell=self.stderr.write,
                        write=write,
                    )
                    evaluations.append(evaluation)
                    if not as_json:
                        self.stdout.write(render(evaluation) + "\n")
                    keep("evaluate", path, figures(evaluation), ratios(evaluation))
        except KeyboardInterrupt:
            raise CommandError("Interrupted. The temporary user was removed.", returncode=INTERRUPTED) from None
        if as_json:
            self.stdout.write(json.dumps([asdict(evaluation) for evaluation in evaluations], indent=2))

    def _ablate(self, files: Sequence[Path], profile: RankingProfile, keep: Keep) -> None:
        products = {name: recall_itself(variant) for name, variant in variants(profile).items()}
        for path, conversations in [(path, _read(path)) for path in files]:
            found = compare(conversations, products, self.stderr.write)
            self.stdout.write("\n".join(render_ablation(path.name, found)) + "\n")
            keep("ablation", path, kept_figures(found), {})


def _recorder(profile: str) -> Keep:
    """A function that keeps the figures in `bench/results`. Made before the run, so that its load isn't the run's."""
    from bench.results import record  # only here: the application doesn't import the benches

    def keep(bench: str, path: Path, figures: dict[str, tuple[float, str]], ratios: Mapping[str, float]) -> None:
        kind = "" if profile == MEASURED.name else f".{profile}"
        record(f"{bench}.{path.stem}{kind}", figures, ratios)

    return keep


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _read(path: Path) -> Sequence[Conversation]:
    try:
        return read(path)
    except UnknownLayoutError as unknown:
        raise CommandError(str(unknown)) from unknown
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


@contextmanager
def lines_to(path: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that writes a line to the file, or nowhere."""
    if path is None:
        yield lambda line: None
        return
    try:
        out = path.open("w", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    with out:
        yield lambda line: print(line, file=out)
