"""`manage.py evaluate-memory`: scenarios, contradiction matrix, deletion and forget scope, in a database of its own."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.evaluation import throwaway
from chat.evaluation.cases import load_matrix, load_scenarios
from chat.evaluation.deletion import KINDS, Step, run_kind
from chat.evaluation.matrix import COLUMNS, GAPS, Row, run_case
from chat.evaluation.person import Worker
from chat.evaluation.scenarios import Outcome, run_scenario
from chat.evaluation.scope import ScopeOutcome, load_scope_cases, run_scope_case
from chat.evaluation.scorecard import PAGE, render
from recall.process.static_files import collect_if_changed

SHORT: Final = 10
"""`--short` runs every tenth case."""
VARIANTS: Final = (False, True)
"""As is, and with every proposal accepted."""


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Talk to Recall as simulated users and judge what it answers and what its prompts contain. Runs in a database"
        " of its own, against the offline server."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
        parser.add_argument("--engine", choices=("rules", "model"), default="rules", help="the librarian's engine")
        parser.add_argument("--only", default="", metavar="ID", help="cases whose id starts with this")
        parser.add_argument("--short", action="store_true", help="a tenth of the cases")
        parser.add_argument("--file", type=Path, metavar="FILE", help="scenarios of your own, as JSON lines")
        parser.add_argument("--held-out", action="store_true", help="also name the failures of held-out scenarios")
        parser.add_argument("--known", action="store_true", help="with a failure, print what was known")
        parser.add_argument("--write", action="store_true", help="put the figures into docs/evaluation.md")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the outcomes as JSON")

    def run_from_argv(self, argv: list[str]) -> None:
        if throwaway.is_inside():
            super().run_from_argv(argv)
        else:
            engine = "model" if "model" in argv or "--engine=model" in argv else "rules"
            raise SystemExit(throwaway.run_inside(argv[1:], LIBRARIAN_ENGINE=engine))

    def handle(self, *args: Any, part: Sequence[str] | None, only: str, short: bool, **options: Any) -> None:
        if not throwaway.is_inside():
            raise CommandError("Run it as a command of manage.py: it starts an installation of its own.")
        call_command("migrate", verbosity=0, interactive=False)
        collect_if_changed()
        self.options = options
        found: dict[str, list[Any]] = {}
        with Worker() as worker:
            for name in part or (["scenarios"] if options["file"] else PARTS):
                found[name] = PARTS[name](self, worker, only, SHORT if short else 1)
        if options["write"]:
            PAGE.write_text(render(options["engine"], found, PAGE.read_text()))
        if options["as_json"]:
            self.stdout.write(json.dumps({name: [asdict(item) for item in all_] for name, all_ in found.items()}))

    def scenarios(self, worker: Worker, only: str, step: int) -> list[Outcome]:
        """Run every scenario, as is and with every proposal accepted."""
        outcomes = []
        file = self.options["file"]
        scenarios = load_scenarios(file) if file else load_scenarios()
        for scenario in _some(scenarios, lambda one: one.id, only, step):
            for accept in VARIANTS:
                outcome = run_scenario(scenario, worker, accept=accept)
                outcomes.append(outcome)
                if not outcome.held_out or self.options["held_out"]:
                    self._tell(f"{outcome.id}, {outcome.variant}", outcome.failures, outcome.statements)
        self._summarize_scenarios(outcomes)
        return outcomes

    def matrix(self, worker: Worker, only: str, step: int) -> list[Row]:
        """Run every wording of every case, minutes and months apart, as is and with every proposal accepted."""
        rows = []
        cases = [(case, gap) for case in load_matrix() for gap in GAPS]
        for case, gap in _some(cases, lambda pair: f"{pair[0].case}-{pair[0].id}", only, step):
            for accept in VARIANTS:
                row = run_case(case, gap, worker, accept=accept)
                rows.append(row)
                wrong = [f"{column}: {failure}" for column in COLUMNS for failure in row.failures[column]]
                self._tell(f"{row.case}-{row.id}, {row.gap}, {row.variant}", wrong, row.statements)
        self._summarize_matrix(rows)
        return rows

    def deletion(self, worker: Worker, only: str, step: int) -> list[Step]:
        """Run every step for every kind of memory."""
        steps: list[Step] = []
        for kind in _some(KINDS, lambda one: one, only, 1):
            done = run_kind(kind, worker)
            steps += done
            for one in done:
                self._tell(f"{kind}, {one.name}", one.failures, ())
            self._say(f"{kind:14} {sum(not item.failures for item in done)}/{len(done)} steps")
        return steps

    def scope(self, worker: Worker, only: str, step: int) -> list[ScopeOutcome]:
        """Run every case of forget scope."""
        outcomes = []
        for case in _some(load_scope_cases(), lambda one: one.id, only, step):
            outcome = run_scope_case(case, worker)
            outcomes.append(outcome)
            if not outcome.held_out or self.options["held_out"]:
                self._tell(outcome.id, outcome.failures, outcome.statements)
        self._summarize_scope(outcomes)
        return outcomes

    def _tell(self, name: str, failures: Sequence[str], statements: Sequence[str]) -> None:
        if not failures:
            return
        self._say(f"✗ {name}")
        for failure in failures:
            self._say(f"    {' '.join(failure.split())}")
        for statement in statements if self.options["known"] else ():
            self._say(f"      · {statement}")

    def _say(self, text: str) -> None:
        """Print a line, unless the outcomes are printed as JSON."""
        if not self.options["as_json"]:
            self.stdout.write(text)

    def _summarize_scenarios(self, outcomes: Sequence[Outcome]) -> None:
        halves = [("looked at", False), ("held out", True)]
        for half, held_out in halves:
            for variant in ("as is", "accepted"):
                some = [one for one in outcomes if one.held_out == held_out and one.variant == variant]
                self._say(f"{half}, {variant}: {sum(item.passed for item in some)} of {len(some)}")
        self._summarize_categories(outcomes)
        self._say(f"{sum(one.seconds for one in outcomes) / max(1, len(outcomes)):.2f} s a scenario")

    def _summarize_scope(self, outcomes: Sequence[ScopeOutcome]) -> None:
        for name, held_out in (("looked at", False), ("held out", True)):
            some = [outcome for outcome in outcomes if outcome.held_out == held_out]
            self._say(f"{name}: {sum(not item.failures for item in some)} of {len(some)}")
        self._summarize_categories(outcomes)

    def _summarize_categories(self, outcomes: Sequence[Outcome | ScopeOutcome]) -> None:
        right = Counter(outcome.category for outcome in outcomes if not outcome.failures)
        every = Counter(outcome.category for outcome in outcomes)
        self._say("  ".join(f"{name} {right[name]}/{every[name]}" for name in every))

    def _summarize_matrix(self, rows: Sequence[Row]) -> None:
        for case in dict.fromkeys(row.case for row in rows):
            some = [row for row in rows if row.case == case]
            held = {column: sum(not row.failures[column] for row in some) for column in COLUMNS}
            self._say(f"{case:12} " + "  ".join(f"{name} {held[name]}/{len(some)}" for name in COLUMNS))
        self._say(f"{sum(row.seconds for row in rows) / max(1, len(rows)):.2f} s a row")


PARTS: Final[dict[str, Callable[[Command, Worker, str, int], list[Any]]]] = {
    "scenarios": Command.scenarios,
    "matrix": Command.matrix,
    "deletion": Command.deletion,
    "scope": Command.scope,
}


def _some[T](cases: Iterable[T], name: Callable[[T], str], only: str, step: int) -> list[T]:
    return [case for case in cases if name(case).startswith(only)][::step]
