"""Retrieval latency, from a question's text to ranked, explained memories, and how it grows with the collection.

    .venv/bin/python -m bench.retrieval [--users 1000] [--items 1000] [--large 100000] [--keep FOLDER] [--record]

Real rows in a PostgreSQL of its own: `--users` users with `--items` items each (nine of ten are passages of messages,
the others facts and episodes), one with ten times and one with `--large` as many. 10,000 passages are real texts with
real vectors (`bench/retrieval/real_texts.py`), the rest are synthetic (`bench/retrieval/synthetic_rows.py`); the
questions are real. `--keep` leaves the database in a folder and uses it again the next time, even if retrieval has
changed by then; migrations are applied. Filtered searches match a fifth of what can be filtered: a project, a kind of
fact, a stretch of time.

Every query is timed as a whole, its embedding included; each user's first one doesn't count, because it reads what the
others find in memory. "cpu" is processor time, the server's included: the cost of a query even on a busy machine. The
statements of one query are counted, and each is explained: a sequential scan of a table that users share ends the run
with an error. All settings are those of the embedded server, except for durability: writing a fact doesn't wait for a
disk.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psutil

from bench.own_database import policies_off, prepare
from bench.results import Figures, arguments, percentiles, record

if TYPE_CHECKING:
    from accounts.models import User
    from memory.retrieval.candidates import Filters

REAL_USERS: Final = 8
REAL_ROWS: Final = {"small": 890, "middle": 890, "large": 2_000}
"""Real passages of each of the first users, of the one with ten times as many items, and of the large one."""
WRITER_FACTS: Final = 1_000
PEOPLE: Final = 100
QUESTIONS: Final = 4
"""Questions that count, per user of PEOPLE; the same total for each larger collection."""
PROJECT: Final = "/projects/bench"
KIND: Final = "preference"
A_FIFTH: Final = UUID(int=2**128 // 5)
"""A fifth of the conversations have a smaller id."""
FIFTH_OF_TIME: Final = timedelta(days=146)
PAGES: Final = 300
PAGE: Final = 2_500
"""Characters per page of the indexed text."""
SHARED: Final = ("memory_", "chat_", "accounts_", "budget_")
"""Name prefixes of the tables that users share."""
SMALL_TABLE: Final = 1_000_000
"""Bytes up to which reading a whole table is as fast as using its index."""

TARGETS: Final[Mapping[str, str]] = {
    "small": "p50 ≤ 8, p95 ≤ 15",
    "middle": "p50 ≤ 15",
    "large": "p95 ≤ 30",
    "statements": "≤ 3",
    "memory": "< 400 MB",
    "fact": "p50 ≤ 12",
    "chunks": "≥ 60",
    "wall": "≤ 5 %",
}


COLUMNS: Final = ("p50", "p95", "embedding", "database", "ranking", "cpu")


def log(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


# The database ----------------------------------------------------------------------------------------------------


@contextmanager
def database(folder: Path, *, keep: bool) -> Iterator[None]:
    """A non-durable server on `folder`, with Django set up on it and its tables up to date."""
    from recall.process import embedded_postgres

    cluster = embedded_postgres.open_cluster(folder, durable=False)
    process = cluster.start({**embedded_postgres.THROW_AWAY, "max_wal_size": "8GB"})
    try:
        embedded_postgres.wait_until_ready(cluster, lambda: process.poll() is None)
        embedded_postgres.ensure_database(folder)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield
        from django.db import connections

        connections.close_all()
    finally:
        embedded_postgres.stop(process)
        if not keep:
            embedded_postgres.discard(cluster)


# Loading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Size:
    users: int
    items: int
    large: int


def email(name: str) -> str:
    return f"{name}@bench.invalid"


def load(size: Size) -> None:
    """Fill the empty database."""
    from django.db.models import Count

    from accounts.models import User
    from bench.retrieval import real_texts, synthetic_rows
    from memory.embeddings.port import embedder
    from memory.models import Chunk

    began = time.perf_counter()
    names = [*(f"small{number}" for number in range(size.users)), "middle", "large", "writer", "reader"]
    made = User.objects.bulk_create(User(email=email(name), password="!", preferred_name="Bench") for name in names)
    people = {user.email.partition("@")[0]: user for user in made}
    real = {f"small{number}": REAL_ROWS["small"] for number in range(min(REAL_USERS, size.users))}
    real |= {"middle": REAL_ROWS["middle"], "large": REAL_ROWS["large"]}
    wanted = {name: size.items for name in names if name.startswith("small")}
    wanted |= {"middle": 10 * size.items, "large": size.large}
    real = {name: min(rows, wanted[name] * REAL_ROWS["small"] // 1_000) for name, rows in real.items()}
    real_texts.store_for([(people[name], rows) for name, rows in real.items()], real_texts.corpus())
    log(f"real texts stored after {time.perf_counter() - began:.0f} s")
    centres = real_texts.embed_all(log)
    log(f"real texts embedded after {time.perf_counter() - began:.0f} s")
    source = synthetic_rows.Filler(1, centres, embedder().name)

    def fill() -> None:
        there = dict(Chunk.objects.values_list("user").annotate(Count("pk")))
        rows = source.fill({people[name].pk: items for name, items in wanted.items()}, there, log)
        rows += source.add_facts([people["writer"].pk] * WRITER_FACTS)
        synthetic_rows.settle_sequences()
        log(f"{rows} rows made after {time.perf_counter() - began:.0f} s")

    tables = ("memory_chunk", "memory_fact", "memory_episode", "chat_message", "chat_conversation")
    synthetic_rows.without_indexes(tables, fill, log)
    log(f"loaded after {time.perf_counter() - began:.0f} s")


def loaded_in(folder: Path, size: Size) -> None:
    """Load in a separate process, unless the folder has been loaded: its memory use isn't retrieval's."""
    note, wanted = folder / "loaded.json", [size.users, size.items, size.large]
    if note.exists():
        if json.loads(note.read_text()) != wanted:
            raise SystemExit(f"{folder} was loaded with --users, --items, --large {note.read_text()}.")
        return
    began = time.perf_counter()
    options = ["--users", str(size.users), "--items", str(size.items), "--large", str(size.large)]
    subprocess.run([sys.executable, "-m", "bench.retrieval", "--load-only", *options], check=True)
    note.write_text(json.dumps(wanted))
    print(f"Loaded in {time.perf_counter() - began:.0f} s.\n")


def build_personal_indexes() -> None:
    """Do for the larger collections what the clock does."""
    from accounts.models import User
    from memory.index import large_collections
    from memory.models import PersonalIndex
    from recall.db.acting import by

    for user in User.objects.filter(email__in=[email("middle"), email("large")]):
        if not PersonalIndex.objects.for_user(user).filter(built_at__isnull=False).exists():
            began = time.perf_counter()
            with by("index builds"):
                large_collections.build(user)
            print(f"{user.email}: words counted, indexes built in {time.perf_counter() - began:.0f} s.\n")


def print_tables() -> Figures:
    """Rows and megabytes of the larger tables."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, reltuples::bigint, pg_table_size(oid), pg_relation_size(oid), pg_indexes_size(oid)"
            " FROM pg_class WHERE relkind = 'r' AND relname = ANY(%s) ORDER BY relname",
            [["memory_chunk", "memory_fact", "memory_episode", "chat_message", "chat_conversation"]],
        )
        rows = cursor.fetchall()
    print(f"{'table':<20} {'rows':>10} {'in line MB':>11} {'aside MB':>9} {'indexes MB':>11}")
    for name, count, table, heap, indexes in rows:
        print(f"{name:<20} {count:>10,} {heap >> 20:>11,} {table - heap >> 20:>9,} {indexes >> 20:>11,}")
    print()
    items = sum(count for name, count, *_ in rows if name.startswith("memory_"))
    size, indexes = sum(table + indexes for _, _, table, _, indexes in rows), sum(row[4] for row in rows)
    return {
        "stored, items": (items, ""),
        "stored, size": (size / 1e6, "MB"),
        "stored, an item": (size / items / 1e3, "kB"),
        "stored, indexes of an item": (indexes / items / 1e3, "kB"),
    }


# Reading ---------------------------------------------------------------------------------------------------------


@dataclass
class Timings:
    """Milliseconds of each query: the total, and its steps."""

    whole: list[float] = field(default_factory=list)
    steps: list[Mapping[str, float]] = field(default_factory=list)
    processor: float = 0.0
    """Total processor seconds, in this process and the server's: the cost of a query however busy the machine is."""

    def row(self, name: str, target: str) -> str:
        return f"{name:<24} " + " ".join(f"{figure:>9.1f}" for figure in self.figures()) + f"   {target}"

    def figures(self) -> tuple[float, ...]:
        """In the order of COLUMNS."""
        steps = (self.step("embed"), sum(map(self.step, ("read", "fetch"))), self.step("rank"))
        return (*percentiles(self.whole), *steps, 1_000 * self.processor / len(self.whole))

    def named(self, name: str) -> Figures:
        return {f"{name}, {column}": (figure, "ms") for column, figure in zip(COLUMNS, self.figures(), strict=True)}

    def step(self, name: str) -> float:
        """The median of a step; 0: there is no such step."""
        return statistics.median(steps.get(name, 0.0) for steps in self.steps)


@dataclass(frozen=True, slots=True)
class Group:
    """Users with collections of one size, who ask `each` questions that count."""

    people: Sequence[User]
    items: int
    each: int


def ask(people: Sequence[User], questions: Iterator[str], each: int, filters: Filters | None = None) -> Timings:
    """Each user asks one question as a warm-up, then `each` questions that count.

    What a user's first question reads is still on disk, or in the system's memory at best.
    """
    from django.utils import timezone

    from memory.retrieval.candidates import EVERYTHING
    from memory.retrieval.recall import retrieve
    from recall.db.acting import act_for

    seen, only = Timings(), filters or EVERYTHING
    for user in people:
        act_for(user.pk)
        retrieve(user, next(questions), now=timezone.now(), filters=only)
        processor = processor_seconds()
        for _ in range(each):
            question, now = next(questions), timezone.now()
            began = time.perf_counter()
            found = retrieve(user, question, now=now, filters=only)
            seen.whole.append(1_000 * (time.perf_counter() - began))
            seen.steps.append(found.timings)
        seen.processor += processor_seconds() - processor
    return seen


def filtered() -> Mapping[str, Filters]:
    """The filtered searches; what `mark_filtered` marked, or what was said in a fifth of the time."""
    from django.utils import timezone

    from memory.retrieval.candidates import Filters

    now = timezone.now()
    return {
        "a project": Filters(scope=PROJECT),
        "a kind": Filters(kinds=frozenset({KIND})),
        "dates": Filters(since=now - 3 * FIFTH_OF_TIME, until=now - 2 * FIFTH_OF_TIME),
    }


def mark_filtered(people: Sequence[User]) -> None:
    """Put a fifth of the conversations into a project, and give a fifth of the facts a kind; once a database."""
    from django.db.models import F

    from chat.models import Conversation
    from memory.models import Fact

    Conversation.objects.filter(user__in=people, pk__lt=A_FIFTH, scope="").update(scope=PROJECT)
    some = Fact.objects.alias(part=F("pk") % 5).filter(user__in=people, part=0)
    some.exclude(kind=KIND).update(kind=KIND)


def walled(people: Sequence[User], questions: Iterator[str], each: int) -> tuple[list[float], list[float]]:
    """Milliseconds of the same questions, asked by the same role with the tables' policies and without them.

    Which is asked first alternates. Each is asked once before, which doesn't count: it plans the statements again.
    """
    from django.utils import timezone

    from memory.retrieval.recall import retrieve
    from recall.db.acting import as_user

    behind: list[float] = []
    without: list[float] = []
    for user in people:
        for number in range(each):
            question, now = next(questions), timezone.now()
            for is_behind in (True, False) if number % 2 else (False, True):
                with nullcontext() if is_behind else policies_off(), as_user(user.pk):
                    retrieve(user, question, now=now)
                    began = time.perf_counter()
                    retrieve(user, question, now=now)
                    (behind if is_behind else without).append(1_000 * (time.perf_counter() - began))
    return behind, without


def cost_of_wall(name: str, group: Group, questions: Iterator[str]) -> Figures:
    """The median of a query with row-level security and of one without, printed in a row."""
    behind, without = map(statistics.median, walled(group.people, questions, group.each))
    more = 100 * (behind / without - 1)
    print(
        f"{f'row-level security, {group.items:,} items':<32} {behind:>9.2f} ms, without {without:.2f} ms:"
        f" {more:+.1f} % ({TARGETS['wall']})"
    )
    named = {"with": (behind, "ms"), "without": (without, "ms"), "more": (more, "%")}
    return {f"{name}, {what} row-level security": figure for what, figure in named.items()}


def processor_seconds() -> float:
    """Processor seconds of this process and of the server's."""
    own, server = psutil.Process().cpu_times(), psutil.Process(server_pid())
    ended = server.cpu_times()
    seconds = own.user + own.system + ended.children_user + ended.children_system
    for process in server.children():
        with suppress(psutil.NoSuchProcess):  # ended in the meantime
            seconds += sum(process.cpu_times()[:2])
    return float(seconds)


def server_pid() -> int:
    """The server's first process."""
    from django.conf import settings

    first_line = (Path(settings.VAR_DIR) / "postgres" / "postmaster.pid").read_text().splitlines()[0]
    return int(first_line)


def questions_of(texts: Sequence[str], seed: int = 1) -> Iterator[str]:
    """An endless stream of real questions, in random order."""
    chance = random.Random(seed)
    while True:
        yield chance.choice(texts)


@dataclass(frozen=True, slots=True)
class Statement:
    sql: str
    parameters: Any

    def explained(self, options: str) -> Any:
        """Explained with the generic plan that serves all values, as the statement is executed (`PLANNED_ONCE`)."""
        from django.db import connection

        from recall.db.prepared import numbered

        sql, names = numbered(self.sql)
        places = ", ".join(["%s"] * len(names))
        with connection.cursor() as cursor:
            cursor.execute(f"PREPARE explained AS {sql}")
            try:
                values = f"({places})" if names else ""
                cursor.execute(f"EXPLAIN ({options}) EXECUTE explained {values}", [self.parameters[n] for n in names])
                return cursor.fetchall()
            finally:
                cursor.execute("DEALLOCATE explained")

    def scanned(self) -> set[str]:
        """Shared tables that it reads completely, except small ones."""
        return {
            name for name in _scanned(self.explained("FORMAT JSON")[0][0][0]["Plan"]) if table_bytes(name) > SMALL_TABLE
        }

    @property
    def is_query(self) -> bool:
        return self.sql.lstrip().upper().startswith(("SELECT", "WITH"))


def _scanned(plan: Mapping[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan" and plan["Relation Name"].startswith(SHARED):
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from _scanned(part)


def table_bytes(name: str) -> int:
    """Size of the table without its indexes."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(%s::regclass)", [name])
        size: int = cursor.fetchone()[0]
        return size


def statements_of(work: Callable[[], object]) -> list[Statement]:
    """The statements sent to the database while `work` runs."""
    from django.db import connection

    sent: list[Statement] = []

    def note(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        sent.append(Statement(sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        work()
    return sent


def check_statements(user: User, question: str, *, explain: bool) -> int:
    """The number of statements per query; ends the run if one scans a shared table."""
    from django.utils import timezone

    from memory.retrieval.recall import retrieve
    from recall.db.acting import act_for

    act_for(user.pk)
    sent = statements_of(partial(retrieve, user, question, now=timezone.now()))
    for number, statement in enumerate((one for one in sent if one.is_query), start=1):
        if explain:
            print(f"\n{user.email}, statement {number} for “{question}”:")
            print("\n".join(row[0] for row in statement.explained("ANALYZE, BUFFERS")))
        if scanned := statement.scanned():
            raise SystemExit(f"A query of {user.email} scans the whole of {', '.join(scanned)}:\n{statement.sql}")
    return len(sent)


# Writing ---------------------------------------------------------------------------------------------------------


def add_facts(user: User, texts: Iterator[str], how_many: int = 60) -> list[float]:
    """Milliseconds for each fact that the assistant is asked to remember; nothing is kept."""
    from django.db import transaction
    from django.utils import timezone

    from memory.librarian.remember import propose
    from memory.ports.source import Utterance
    from recall.db.acting import act_for

    act_for(user.pk)
    took = []
    for _ in range(how_many):
        said = next(texts)
        message = Utterance(0, 1, "user", f"Please remember: {said}", timezone.now())
        began = time.perf_counter()
        with transaction.atomic():
            propose(user, f"The user said: {said}", message)
            took.append(1_000 * (time.perf_counter() - began))
            transaction.set_rollback(True)
    return took[5:]


@dataclass(frozen=True, slots=True)
class Indexed:
    """How long it took to index a long text."""

    chunks: int
    words: float
    """Seconds until it was found by words."""
    vectors: float
    """Further seconds until it was also found by meaning."""


def index_text(user: User, text: str) -> Indexed:
    """Chunk and index a text as documents, and embed its passages; nothing is kept."""
    from memory.documents.revisions import MAX_TEXT
    from memory.index.indexer import embed_pending, index_document
    from memory.models import Chunk, Document
    from recall.db.acting import act_for

    act_for(user.pk)
    began = time.perf_counter()
    for number, start in enumerate(range(0, len(text), MAX_TEXT)):
        part = text[start : start + MAX_TEXT]
        document = Document.objects.create(
            user=user, path=f"/reference/part {number}", title=f"Part {number}", text=part, source="upload"
        )
        index_document(document)
    found = time.perf_counter()
    while embed_pending():
        pass
    done = time.perf_counter()
    chunks = Chunk.objects.for_user(user).count()
    Document.objects.for_user(user).delete()
    return Indexed(chunks, found - began, done - found)


def long_text(passages: Sequence[str]) -> str:
    """Prose of PAGES pages."""
    chance, pages = random.Random(1), []
    for _ in range(PAGES):
        page = ""
        while len(page) < PAGE:
            page += chance.choice(passages) + ("\n\n" if chance.random() < 0.2 else " ")
        pages.append(page[:PAGE])
    return "\n\n".join(pages)


# The run ---------------------------------------------------------------------------------------------------------


def measure(size: Size, *, explain: bool) -> Figures:
    """All figures, in tables."""
    from accounts.models import User
    from bench.retrieval.real_texts import corpus
    from memory.embeddings.port import embedder

    texts = corpus()
    questions = questions_of(texts.questions)
    embedder().embed(["so that the model is loaded"])
    users = {user.email.partition("@")[0]: user for user in User.objects.filter(email__endswith="@bench.invalid")}
    small = [users[f"small{number}"] for number in range(min(PEOPLE, size.users))]
    mark_filtered([*small, users["middle"]])
    groups = {
        "small": Group(small, size.items, QUESTIONS),
        "middle": Group([users["middle"]], 10 * size.items, PEOPLE),
        "large": Group([users["large"]], size.large, PEOPLE),
    }
    figures = measure_queries(groups, questions)
    figures["memory"] = (psutil.Process().memory_info().rss / 2**20, "MB")
    smaller = {name: groups[name] for name in ("small", "middle")}
    figures |= measure_filtered(smaller, questions)
    for name, group in smaller.items():
        figures |= cost_of_wall(name, group, questions)

    print(f"\n{'':<44} {'figure':>9}   target")
    asked = [users[name] for name in ("small0", "middle", "large")]
    figures["statements"] = (max(check_statements(user, next(questions), explain=explain) for user in asked), "")
    line("SQL statements a query", f"{figures['statements'][0]}", "statements")
    line("memory of this process, MB", f"{figures['memory'][0]:.0f}", "memory")
    passages = [item.text[:600] for _, items in texts.sessions for item in items]
    return figures | measure_writing(users, questions, passages)


def measure_queries(groups: Mapping[str, Group], questions: Iterator[str]) -> Figures:
    """Queries of collections of each size."""
    print(f"{'milliseconds a query':<24} " + " ".join(f"{column:>9}" for column in COLUMNS) + "   target")
    figures: Figures = {}
    for name, group in groups.items():
        asked = [next(questions) for _ in range(len(group.people) * (group.each + 1))]
        seen = ask(group.people, iter(asked), group.each)
        figures |= {f"{name}, items": (group.items, "")} | seen.named(name)
        print(seen.row(f"{group.items:,} items", TARGETS[name]), flush=True)
        if name == "large":
            print(ask(group.people, iter(asked), group.each).row("  the same asked again", ""), flush=True)
    return figures


def measure_filtered(groups: Mapping[str, Group], questions: Iterator[str]) -> Figures:
    """The same with each filter."""
    figures: Figures = {}
    for name, group in groups.items():
        for what, filters in filtered().items():
            seen = ask(group.people, questions, group.each, filters)
            figures |= seen.named(f"{name}, {what}")
            print(seen.row(f"{group.items:,} items, {what}", TARGETS[name]), flush=True)
    return figures


def measure_writing(users: Mapping[str, User], questions: Iterator[str], passages: Sequence[str]) -> Figures:
    """A fact that is added, and a long text that is indexed."""
    fact = percentiles(add_facts(users["writer"], questions))
    line(f"adding a fact to {WRITER_FACTS:,}, ms p50 (p95)", f"{fact[0]:.1f} ({fact[1]:.1f})", "fact")
    indexed = index_text(users["reader"], long_text(passages))
    rates = {
        "cut and indexed by words": indexed.chunks / indexed.words,
        "embedded": indexed.chunks / indexed.vectors,
        "both": indexed.chunks / (indexed.words + indexed.vectors),
    }
    line(f"a text of {PAGES} pages: passages", f"{indexed.chunks:,}", "")
    for name, rate in rates.items():
        line(f"{name}, passages/s", f"{rate:.0f}", "chunks" if name == "both" else "")
    named: Figures = {f"indexing, {name}": (rate, "passages/s") for name, rate in rates.items()}
    return named | {"adding a fact, p50": (fact[0], "ms"), "adding a fact, p95": (fact[1], "ms")}


def due(figures: Figures) -> Figures:
    """What one database carries, by arithmetic, with two digits: two cores half busy, 64 GB of memory, 1 TB of disk."""
    carried = {
        "questions a second": 0.5 * 2_000 / figures["small, cpu"][0],
        "users by memory": 64e9 / (1e6 * figures["stored, indexes of an item"][0]),
        "users by size": 1e12 / (1e6 * figures["stored, an item"][0]),
    }
    return {f"due, {what}": (int(float(f"{number:.2g}")), "") for what, number in carried.items()}


def ratios_of(figures: Figures) -> dict[str, float]:
    """What grows with a collection, a filter and row-level security, named by the sizes measured."""
    items = {name: f"{figures[f'{name}, items'][0]:,} items" for name in ("small", "middle", "large")}

    def over(name: str, base: str) -> float:
        return figures[name][0] / figures[base][0]

    ratios = {
        f"{items[name]} over {items['small']}": over(f"{name}, p50", "small, p50") for name in ("middle", "large")
    }
    for name in ("small", "middle"):
        with_it, without = (f"{name}, {what} row-level security" for what in ("with", "without"))
        ratios[f"row-level security, {items[name]}"] = over(with_it, without)
        for what in filtered():
            ratios[f"{what} over all, {items[name]}"] = over(f"{name}, {what}, p50", f"{name}, p50")
    return ratios


def line(name: str, figure: str, target: str) -> None:
    print(f"{name:<44} {figure:>9}   {TARGETS.get(target, '')}", flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--users", type=int, default=1_000, help="people with --items items each")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=100_000, help="items of the person who has most")
    parser.add_argument("--keep", type=Path, help="a folder for the database, kept for the next run")
    parser.add_argument("--explain", action="store_true", help="print each statement's plan, as it was carried out")
    parser.add_argument("--load-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = Size(options.users, options.items, options.large)
    if options.load_only:  # the child of `loaded_in`, with its parent's server and settings
        import django

        django.setup()
        from recall.db.acting import by

        with by("migrations"):  # COPY, and indexes built again
            load(size)
        return
    folder = (options.keep or Path(tempfile.mkdtemp(prefix="recall-bench-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder, LOG_LEVEL="WARNING")
    try:
        with database(folder, keep=options.keep is not None):
            loaded_in(folder, size)
            build_personal_indexes()
            figures = print_tables() | measure(size, explain=options.explain)
            figures |= due(figures)
            if options.record:
                record("retrieval", figures, ratios_of(figures))
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
