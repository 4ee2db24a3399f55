"""Time to the first page: `python -m bench.process.startup` starts Recall in an empty folder, stops it and restarts it.

Cold: no database, no tables, no static files collected. Warm: everything exists. In both cases the packages are
installed and the embedding model's graph is built; the time runs from the command to the response of the sign-in page.
"""

import shutil
import statistics
import time
import urllib.request

import psutil

from bench.results import Figures, arguments, record
from recall.process import embedded_postgres
from tests.running import App, open_folder, wait_until

WARM_STARTS = 5
MEGABYTE = 2**20


def main() -> None:
    options = arguments(__doc__).parse_args()
    with open_folder() as folder:
        print(f"{psutil.cpu_count()} cores, load {psutil.getloadavg()[0]:.1f}")
        try:
            cold = measure(App(folder))
            print(f"cold start: page after {cold}")
            warm = [measure(App(folder)) for _ in range(WARM_STARTS)]
            print(f"warm starts: {', '.join(map(str, warm))}")
            print(f"warm start, median: page after {statistics.median(m.page for m in warm):.1f} s")
            figures = cold.named("cold") | {"warm, page": (statistics.median(m.page for m in warm), "s")}
            figures |= measure_memory(App(folder))
        finally:
            shutil.rmtree(embedded_postgres.socket_dir(folder), ignore_errors=True)
    if options.record:
        record("process.startup", figures, {"warm start over a cold one": figures["warm, page"][0] / cold.page})


class Measured:
    """Seconds to the first page, to a working worker, and to the end after SIGTERM."""

    def __init__(self, page: float, worker: float, stop: float) -> None:
        self.page, self.worker, self.stop = page, worker, stop

    def __str__(self) -> str:
        return f"{self.page:.1f} s (worker {self.worker:.1f} s, stop {self.stop:.1f} s)"

    def named(self, name: str) -> Figures:
        return {f"{name}, {what}": (getattr(self, what), "s") for what in ("page", "worker", "stop")}


def measure(app: App) -> Measured:
    """Start, request the page, stop."""
    began = time.monotonic()
    wait_until(lambda: answers(app))
    page = time.monotonic() - began
    app.wait_until_ready()
    worker = time.monotonic() - began
    stopping = time.monotonic()
    assert app.stop() == 0, app.output()
    return Measured(page, worker, time.monotonic() - stopping)


def answers(app: App) -> bool:
    try:
        with urllib.request.urlopen(f"{app.url}/accounts/login/", timeout=60) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def measure_memory(app: App) -> Figures:
    """Memory of each process five seconds after its start, with shared pages counted once (PSS)."""
    app.wait_until_ready()
    time.sleep(5)
    found: Figures = {}
    for name in ("postgres", "offline", "web", "worker"):
        leader = psutil.Process(app.pid(name))
        found[f"memory, {name}"] = (report(name, [leader, *leader.children(recursive=True)]), "MB")
    found["memory, supervisor"] = (report("supervisor", [psutil.Process(app.supervisor.pid)]), "MB")
    app.stop()
    return found


def report(name: str, processes: list[psutil.Process]) -> float:
    """Print and return their megabytes."""
    # Only Linux knows the proportional size.
    sizes = [getattr(info, "pss", info.rss) for process in processes if (info := process.memory_full_info())]
    megabytes = float(sum(sizes) / MEGABYTE)
    print(f"{name:<11} {megabytes:5.0f} MB in {len(processes)} process{'es' if len(processes) > 1 else ''}")
    return megabytes


if __name__ == "__main__":
    main()
