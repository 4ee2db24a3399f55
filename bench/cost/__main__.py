"""Cost of conversations, next to the cheapest way to send them.

    .venv/bin/python -m bench.cost [--turns 1000] [--plans small standard long] [--processes 2]

Conversations of 10, 40, 200 and 1,000 turns, in one go, with pauses and with tools (`bench/cost/conversations.py`), are
sent by the code that sends real ones (`bench/cost/replay.py`), and billed by the provider's cache rules and the offline
server's tokenizer (`bench/cost/meter.py`). Next to them are the same turns in other layouts
(`bench/cost/alternatives.py`), and the cheapest schedule, found by a search that knows the future
(`bench/cost/optimum.py`). No database, no network, no key. Then each target is printed with "reached" or "missed";
docs/cost.md explains them.
"""

import os
import secrets
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from bench.results import arguments, record

PLANS: Final = ("small", "standard", "long")
TURNS: Final = 1_000


def prepare() -> None:
    """Configure this process and its children: none of the developer's own settings, and no database."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "recall.settings",
        "SECRET_KEY": secrets.token_hex(),
        "LOG_LEVEL": "ERROR",
    }
    import django

    django.setup()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="of the longest conversation")
    parser.add_argument("--plans", nargs="+", choices=PLANS, default=PLANS)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    prepare()
    from bench.cost.compare import compare, figures, ratios, table, targets
    from bench.cost.conversations import SCENES

    jobs = [(scene.name, plan, options.turns) for scene in SCENES for plan in options.plans]
    results = []
    with ProcessPoolExecutor(options.processes, mp_context=get_context("fork")) as pool:
        for result in pool.map(compare, *zip(*jobs, strict=True)):
            folds = ", ".join(f"{why} {times}" for why, times in result.folds.items())
            print(
                f"  {result.scene}, {result.plan}: {result.lasted:.0f} s; folded: {folds}", file=sys.stderr, flush=True
            )
            results.append(result)
    print("\n".join([*table(results), *targets(results)]))
    if options.record:
        record("cost", figures(results), ratios(results))


if __name__ == "__main__":
    main()
